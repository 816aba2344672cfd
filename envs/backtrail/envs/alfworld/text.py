"""What the game says: ALFWorld's sentences, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator

from backtrail.envs.alfworld.game import Game, State

NOTHING = "Nothing happens."


def bits(mask: int) -> Iterator[int]:
    """Yield the members of a set held as a bit mask, in ascending order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def listing(names: list[str]) -> str:
    """Join names as the text grammar does: ``a, b, and c``; ``nothing`` for none."""
    if len(names) < 2:
        return names[0] if names else "nothing"
    return f"{', '.join(names[:-1])}, and {names[-1]}"


def _objects(game: Game, members: Iterator[int]) -> str:
    return listing([f"a {game.objects[k]}" for k in members])


def receptacle(game: Game, state: State, r: int) -> str:
    """Describe a receptacle and, unless it is closed, what is in it."""
    name = game.receptacles[r]
    if game.openable >> r & 1:
        if not state.opened >> r & 1:
            return f"The {name} is closed."
        return f"The {name} is open. In it, you see {_objects(game, bits(state.contents[r]))}."
    return f"On the {name}, you see {_objects(game, bits(state.contents[r]))}."


def examined(game: Game, state: State, k: int) -> str:
    """Describe an object."""
    name = game.objects[k]
    if game.containers >> k & 1:
        return f"This is a normal {name}. In it, you see {_objects(game, iter(game.inside.get(k, ())))}."
    clean, hot, cool, cut = (mask >> k & 1 for mask in (state.clean, state.hot, state.cool, state.sliced))
    if cut and (clean or hot or cool):
        heat = "hot" if hot else "cool" if cool else ""
        return f"This is a {' and '.join(filter(None, (heat, 'clean' if clean else '')))} sliced {name}."
    if clean and (hot or cool):
        return f"This is a {'hot' if hot else 'cool'} and clean {name}."
    for holds, word in ((hot, "hot"), (clean, "clean"), (cool, "cold")):
        if holds:
            return f"This is a {word} {name}."
    if game.toggleable & state.toggled >> k & 1:
        return f"This {name} is on."
    if cut and game.sliceable >> k & 1:
        return f"This is a sliced {name}."
    return f"There's nothing special about {name}."


def look(game: Game, state: State) -> str:
    """Describe the place. Of the things here only those once taken out of a receptacle here are listed, as in TextWorld."""
    here = game.at[state.location]
    if not here:
        return room("nothing")
    lying = [k for k in bits(state.floor[state.location]) for r in here if state.taken[r] >> k & 1]
    facing = listing([game.receptacles[r] for r in here])
    return f"You are facing the {facing}. Next to it, you see {_objects(game, iter(lying))}."


def room(seen: str) -> str:
    """Describe the middle of the room."""
    return f"You are in the middle of a room. Looking quickly around you, you see {seen}."


def intro(game: Game) -> str:
    """Return the first text of a game."""
    seen = look(game, game.start)
    if not game.at[game.start.location]:
        seen = room(listing([f"a {name}" for name in game.receptacles]))
    return f"-= Welcome to TextWorld, ALFRED! =-\n\n{seen}\n\nYour task is to: {game.task}"
