"""`Searcher`: plays ALFWorld by rules from what it has been shown, and says what it explores and remembers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from backtrail.agents.base import Agent, AgentError, Task, Turn
from backtrail.agents.response import Response, render
from backtrail.envs.alfworld.tables import CONTAINS, OBJECT_TYPES

__all__ = ["Searcher"]

_OBJECTS = frozenset(name.lower() for name in OBJECT_TYPES)
_RECEPTACLES = frozenset(name.lower() for name in CONTAINS)
_TREATMENTS = (
    ("clean", "sinkbasin", re.compile(r"\b(clean|wash|rins)")),
    ("heat", "microwave", re.compile(r"\b(hot|heat|warm)")),
    ("cool", "fridge", re.compile(r"\b(cold|cool|chill)")),
)
_ROOM = re.compile(r"Looking quickly around you, you see (.+?)\.\n")
_CONTENTS = re.compile(r"(?:On the (.+?)|The ([a-z]+ \d+) is open\. In it), you see (.+?)\.")
_CLOSED = re.compile(r"The ([a-z]+ \d+) is closed\.")
_TAKEN = re.compile(r"You pick up the (.+?) from the ")
_MOVED = re.compile(r"You move the (.+?) to the ")
_TREATED = re.compile(r"You (?:clean|heat|cool) the (.+?) using the ")
_THING = re.compile(r"\ba ([a-z]+ \d+)")


class Searcher(Agent):
    """Looks into one receptacle after the other until it has what the goal asks for; never reads hidden state.

    Its explore text is the list of receptacles it has not looked into, the next first; its memory is what it wants, where it
    has seen it, or that it holds it. It is a baseline, and the demonstrator of the warm start: with faults, so that there is something to
    learn beyond copying it.

    Example:
        >>> import gymnasium as gym
        >>> import backtrail.envs
        >>> env = gym.make("backtrail/ALFWorld-v0", data="generated-small", task_id="train/pick_and_place_simple/0000")
        >>> observation, info = env.reset(seed=0)
        >>> searcher = Searcher()
        >>> searcher.reset(Task("", info["task_id"], observation["goal"]))
        >>> while not info["success"]:
        ...     turn = searcher.act(observation, info)
        ...     observation, *_, info = env.step(turn.action)
        >>> turn.explore, turn.action.split()[0]
        ('nothing', 'move')
    """

    name = "searcher"

    def __init__(self, forgetful: float = 0.0, noise: float = 0.0):
        """Make the agent.

        Args:
            forgetful: Share of episodes in which it keeps no list: it looks anywhere, at random, as often as not again.
            noise: Share of steps of those episodes in which it does something random.
        """
        self._forgetful, self._noise = forgetful, noise

    def reset(self, task: Task) -> None:
        """Begin an episode: read the goal, know nothing of the room."""
        super().reset(task)
        self._rng = np.random.default_rng([task.seed, 1])
        self._forgets = bool(self._rng.random() < self._forgetful)
        self._read_goal(task.goal)
        self._room: list[str] = []
        self._unseen: list[str] = []
        self._where: dict[str, str] = {}
        self._closed: set[str] = set()
        self._treated: set[str] = set()
        self._placed: set[str] = set()
        self._held = self._last = self._seen_last = ""

    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Turn:
        """Return the next step of the search, with the response a model would write.

        Raises:
            AgentError: If the first observation is not ALFWorld's.
        """
        self._look(observation["text"])
        if not self._room:
            raise AgentError(f"The searcher plays ALFWorld only, and cannot read {observation['text'][:80]!r}")
        action, explore, memory = self._decide()
        if self._forgets and self._rng.random() < self._noise:
            possible = info["admissible_actions"]
            action = possible[int(self._rng.integers(len(possible)))]
        self.did(action)
        return Turn(action, response=render(Response(explore, memory, action)), explore=explore, memory=memory)

    def mistake(self) -> Turn:
        """Return what one would say who takes the target to be where it is not: at the receptacle seen last."""
        place = self._seen_last or self._room[0]
        thing = f"{self._target} 1"
        action, explore, memory = f"take {thing} from {place}", self._listing(), f"{thing} at {place}"
        return Turn(action, response=render(Response(explore, memory, action)), explore=explore, memory=memory)

    def did(self, action: str) -> None:
        """Learn what was really done, where that is not what it said."""
        self._last = action

    # ---- the goal

    def _read_goal(self, goal: str) -> None:
        words = re.findall(r"[a-z]+", goal.lower())
        things = [word for word in words if word in _OBJECTS]
        self._lamp = next((word for word in things if word.endswith("lamp")), "")
        self._target = next((word for word in things if not word.endswith("lamp")), "")
        places = [word for word in words if word in _RECEPTACLES and word != self._target]
        self._place = places[-1] if places else ""
        self._number = 2 if {"two", "pair"} & set(words) else 1
        found = [(verb, tool) for verb, tool, pattern in _TREATMENTS if pattern.search(goal.lower())]
        self._treatment, self._tool = found[0] if found else ("", "")

    # ---- what is seen

    def _look(self, text: str) -> None:
        if match := _ROOM.search(text):
            self._room = _THING.findall(match[1])
            self._unseen = list(self._room)
        for pattern, into in ((_TREATED, self._treated), (_MOVED, self._placed)):
            if match := pattern.search(text):
                into.add(match[1])
        if _MOVED.search(text):
            self._held = ""
        if match := _TAKEN.search(text):
            self._held = match[1]
            self._placed.discard(match[1])
        for first, second, items in _CONTENTS.findall(text):
            self._seen(first or second, _THING.findall(items))
        self._closed |= set(_CLOSED.findall(text))
        if text.startswith("Nothing happens") and self._last.startswith("examine "):
            self._drop(self._last[len("examine ") :])
        self._nothing = text.startswith("Nothing happens")

    def _seen(self, receptacle: str, items: list[str]) -> None:
        self._where = {item: place for item, place in self._where.items() if place != receptacle}
        self._where |= dict.fromkeys(items, receptacle)
        self._closed.discard(receptacle)
        self._seen_last = receptacle
        self._drop(receptacle)

    def _drop(self, receptacle: str) -> None:
        self._unseen = [each for each in self._unseen if each != receptacle]

    # ---- what is done

    def _decide(self) -> tuple[str, str, str]:
        """Return the action, what is worth exploring, and what is remembered."""
        here = next((place for item, place in self._where.items() if self._wanted(item)), "")
        if self._held:
            memory = f"holding {self._held}"
            if self._treatment and self._held in self._treated:
                memory += f" {self._treatment}"
            goals = self._delivery()
            return (*goals, memory) if goals else (self._search(), self._listing(), memory)
        if here:
            item = next(item for item in self._where if self._wanted(item))
            step = self._enter(here) or f"take {item} from {here}"
            return step, self._listing(), f"{item} at {here}"
        return self._search(), self._listing(), f"want {self._target}"

    def _wanted(self, item: str) -> bool:
        if item.split()[0] != self._target or item in self._placed:
            return False
        return self._lamp != "" or self._where[item].split()[0] != self._place or self._treatment != ""

    def _delivery(self) -> tuple[str, str] | None:
        """Return what to do with the held thing, and what is still to explore; None while its place is unknown."""
        if self._held.split()[0] != self._target:
            return self._enter(self._room[0]) or f"move {self._held} to {self._room[0]}", "nothing"
        if self._lamp:
            lamp = next((item for item in self._where if item.split()[0] == self._lamp), "")
            return (self._go(self._where[lamp]) or f"use {lamp}", "nothing") if lamp else None
        if self._treatment and self._held not in self._treated:
            tool = next((each for each in self._room if each.split()[0] == self._tool), self._room[0])
            return self._go(tool) or f"{self._treatment} {self._held} with {tool}", "nothing"
        used = [self._where.get(item, "") for item in sorted(self._placed)]
        options = [each for each in self._room if each.split()[0] == self._place]
        place = next((each for each in used if each in options), options[-1] if options else self._room[0])
        return self._enter(place) or f"move {self._held} to {place}", "nothing"

    def _search(self) -> str:
        if self._forgets:
            self._unseen = [self._room[int(self._rng.integers(len(self._room)))]]
        elif not self._unseen:
            self._unseen = list(self._room)
        return self._enter(self._unseen[0]) or f"examine {self._unseen[0]}"

    def _listing(self) -> str:
        return ", ".join(self._unseen) or "nothing"

    def _enter(self, receptacle: str) -> str:
        """Return the step towards seeing into a receptacle; "" if it is open before the agent."""
        return self._go(receptacle) or (f"open {receptacle}" if receptacle in self._closed else "")

    def _go(self, receptacle: str) -> str:
        arrived = self._last in (f"go to {receptacle}", f"open {receptacle}", f"examine {receptacle}")
        arrived |= self._last.endswith((f" to {receptacle}", f" from {receptacle}", f" with {receptacle}"))
        if arrived and self._nothing and self._last.startswith("go to "):
            return f"examine {receptacle}"
        return "" if arrived else f"go to {receptacle}"
