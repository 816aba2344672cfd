"""A believable online shop out of a seed: products, attributes and instructions in WebShop's official schema.

Product `i` depends on the seed and on `i` alone, so that a larger shop begins with the smaller one and any number of
processes can share the work. Three listings in four have near-duplicates, as when many sellers offer the same thing;
they differ in an attribute, in an option or in the price, and only their pages tell which one is wanted.

Example:
    >>> from backtrail.envs.webshop.generate import row
    >>> row(7) == row(7, seed=0)
    True
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from backtrail.envs.webshop.families import Draw, Offer, Trait, offer
from backtrail.envs.webshop.wares import POOLS, cased, titled
from backtrail.envs.webshop.wording import (
    ASKS,
    BULLETS,
    CLOSERS,
    DESCRIPTIONS,
    GIFTS,
    NOT_NOUNS,
    OPTION_PHRASES,
    POLITE,
)

__all__ = ["LIMIT", "VERSION", "asin", "row", "rows"]

VERSION = "v1"
"""Changes when any byte of any product does."""

LIMIT = 10_000_000
"""How many products a shop can have."""

_CODES = 36**8
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def rows(count: int = 1000, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the first `count` products of the shop with that seed, one at a time; see `row`.

    Raises:
        ValueError: If the count is negative or more than `LIMIT`, or the seed is negative.
    """
    if not 0 <= count <= LIMIT:
        raise ValueError(f"Expected count to be from 0 to {LIMIT:,}, got {count!r}")
    return (row(number, seed) for number in range(count))


def row(number: int, seed: int = 0) -> dict[str, Any]:
    """Make one product of a shop and what goes with it.

    Returns:
        ``product``, its entry in items_shuffle.json; ``attributes``, its entry in items_ins_v2.json; ``human``, its
        list in items_human_ins.json (may be empty); and ``nouns``, those of its title in lower case and with repeats.

    Raises:
        ValueError: If the number is not from 0 up to `LIMIT`, or the seed is negative.
    """
    if not 0 <= number < LIMIT or seed < 0:
        raise ValueError(
            f"Expected a number from 0 to {LIMIT - 1:,} and a seed of at least 0, got {number!r} and {seed!r}"
        )
    draw = Draw(seed, 0, number)
    return _listing(offer(number, seed, draw), asin(number, seed), draw)


def asin(number: int, seed: int = 0) -> str:
    """Return the identifier of a product, "B0" and eight digits or letters; no two numbers of a shop share one."""
    # Multiplying by a number that has no factor in common with 36 is reversible, and so is reading backwards.
    code = (number * 1_723_456_789_013 + seed * 7_654_321 + 987_654_321_987) % _CODES
    code = int(_base36(code)[::-1], 36) * 604_462_909_807 % _CODES
    return "B0" + _base36(code)


def _base36(code: int) -> str:
    text = ""
    for _ in range(8):
        code, digit = divmod(code, 36)
        text = _DIGITS[digit] + text
    return text


def _listing(item: Offer, code: str, draw: Draw) -> dict[str, Any]:
    traits = draw.some(item.traits, len(item.traits))
    title = _title(item, traits, draw)
    bullets, description = _texts(item, traits, draw)
    product = {
        "asin": code,
        "name": title,
        "full_description": description,
        "pricing": _price(item, draw),
        "images": [],
        "product_category": item.kind.path,
        "average_rating": "",
        "small_description": bullets,
        "customization_options": {
            name: [{"is_selected": place == 0, "value": value} for place, value in enumerate(values)]
            for name, values in item.options.items()
        }
        or "",
        "category": item.category,
        "query": item.kind.query,
        "page": draw.between(1, 400),
    }
    attributes: dict[str, Any] = {"attributes": [trait.text for trait in traits]}
    if traits and draw.chance(0.58 if len(traits) > 2 else 0.28):
        asked = draw.some(traits, draw.between((len(traits) + 1) // 2, min(len(traits), 5)))
        attributes["instruction"] = _instruction(item.kind.query, asked)
        attributes["instruction_attributes"] = [trait.text for trait in asked]
    human = [_human(item, code, traits, draw)] if traits and draw.chance(0.7) else []
    return {"product": product, "attributes": attributes, "human": human, "nouns": _nouns(title)}


def _price(item: Offer, draw: Draw) -> str:
    """Return a price as the source writes it: "", "$12.99" or "$12.99 - $15.99"."""
    kind = draw.unit()
    if kind < 0.089:
        return ""
    cents = item.cents * draw.between(95, 106) // 100
    cents = cents // 100 * 100 + draw.pick((99, 99, 99, 95, 49, 90, draw.between(0, 98)))
    if kind < 0.182:
        return f"${cents / 100:,.2f} - ${cents * draw.between(108, 190) // 100 / 100:,.2f}"
    return f"${cents / 100:,.2f}"


def _title(item: Offer, traits: Sequence[Trait], draw: Draw) -> str:
    """Return a title that names some of the attributes."""
    said: dict[str, list[str]] = {"is": [], "has": [], "for": []}
    for trait in traits:
        if draw.chance(0.75):
            said[trait.role].append(titled(trait.text))
    equipped = " with " + " and ".join(said["has"][:2]) if said["has"] else ""
    purpose = " for " + " and ".join(said["for"][:2]) if said["for"] else ""
    claims = [*said["is"], *said["has"][2:], *said["for"][2:]]
    head = titled(item.head)
    order = draw.unit()
    if order < 0.5:
        text = ", ".join([f"{item.brand} {item.style} {head}{equipped}{purpose}", *claims])
    elif order < 0.75:
        named = " ".join([item.brand, *claims[:1], item.style, head])
        text = " - ".join([f"{named}{purpose}{equipped}", *claims[1:]])
    else:
        text = ", ".join([f"{item.style} {head}{purpose}", *claims, f"by {item.brand}{equipped}"])
    if item.category == "electronics" and draw.chance(0.4):
        text += f" {draw.pick(_DIGITS[10:])}{draw.pick(_DIGITS[10:])}{draw.between(10, 990)}"
    if draw.chance(0.35) and titled(item.kind.query) not in text:
        text += f" - {titled(item.kind.query)}"
    if draw.chance(0.35):
        text += f", {draw.pick(GIFTS)}"
    if draw.chance(0.5):
        text += f" ({_variant(item, draw)})"
    return text


def _variant(item: Offer, draw: Draw) -> str:
    """Return which color, size or the like the listing is about."""
    option = draw.pick(item.kind.options)
    values = item.options.get(option.name) or POOLS[option.pool]
    return titled(draw.pick(values).replace(" (", ", ").replace(")", ""))


def _texts(item: Offer, traits: Sequence[Trait], draw: Draw) -> tuple[list[str], str]:
    """Return two to five feature lines and a description; together they mention every attribute."""
    plural = _plural(item.head)
    words = {
        "head": cased(item.head),
        "query": item.kind.query,
        "brand": item.brand,
        "this": "these" if plural else "this",
        "This": "These" if plural else "This",
        "be": "are" if plural else "is",
        "come": "come" if plural else "comes",
        "do": "do" if plural else "does",
    }
    turn = draw.between(0, 4)

    def say(sentences: dict[str, tuple[str, ...]], trait: Trait) -> str:
        nonlocal turn
        turn += 1  # one after the other, so that no listing says the same twice in a row
        choice, text = sentences[trait.role], cased(trait.text)
        return choice[turn % len(choice)].format(x=text, X=text[0].upper() + text[1:], **words)

    plain = draw.some([*item.kind.notes, *CLOSERS[item.category]], 6)
    bullets = [say(BULLETS, trait) for trait in traits[:5]]
    described = [say(DESCRIPTIONS, trait) for trait in traits[5:]]
    number = draw.between(0, 4)
    described += [say(DESCRIPTIONS, trait) for trait in draw.some(traits[:5], number - len(described))]
    wanted = draw.between(2, 5)
    for place, bullet in enumerate(bullets):
        if len(plain) > 3 and draw.chance(0.4):
            bullets[place] = f"{bullet} {plain.pop()}"
    while len(bullets) < wanted:
        bullets.append(plain.pop())
    while len(described) < number and plain:
        described.append(plain.pop())
    return bullets, " ".join(described)


def _instruction(query: str, asked: Sequence[Trait]) -> str:
    by_role = _by_role(asked)
    purpose = f" for {', '.join(by_role['for'])}" if by_role["for"] else ""
    equipped = f" with {', '.join(by_role['has'])}" if by_role["has"] else ""
    return " ".join(["Find me", *([", ".join(by_role["is"])] if by_role["is"] else []), query]) + purpose + equipped


def _human(item: Offer, code: str, traits: Sequence[Trait], draw: Draw) -> dict[str, Any]:
    """Return an instruction as a person might write it."""
    asked = draw.some(traits, draw.between(1, 3))
    by_role = _by_role(asked)
    chosen = {name: draw.pick(values) for name, values in item.options.items() if draw.chance(0.7)}
    phrases = [draw.pick(OPTION_PHRASES[name]).format(v=value) for name, value in chosen.items()]
    thing = f"{', '.join(by_role['is'])} {item.head}".strip()
    text = draw.pick(ASKS).format(
        thing=("some " if _plural(item.head) else "an " if thing[0] in "aeiou" else "a ") + thing,
        head=item.head,
        purpose=" for " + " and ".join(by_role["for"]) if by_role["for"] else "",
        equipped=" with " + " and ".join(by_role["has"]) if by_role["has"] else "",
        choice="".join(phrase for phrase in phrases if not phrase.startswith(".")),
    )
    text += "".join(phrase for phrase in phrases if phrase.startswith("."))
    return {
        "asin": code,
        "instruction": f"{text}{draw.pick(POLITE)}.",
        "attributes": [trait.text for trait in traits],
        "options": [],
        "instruction_attributes": [trait.text for trait in asked],
        "instruction_options": list(chosen.values()),
    }


def _by_role(traits: Sequence[Trait]) -> dict[str, list[str]]:
    return {role: [trait.text for trait in traits if trait.role == role] for role in ("is", "has", "for")}


def _plural(head: str) -> bool:
    return head.endswith("s") and not head.endswith("ss")


def _nouns(title: str) -> list[str]:
    return [word for word in re.findall("[a-z0-9]+", title.lower()) if word[0] > "9" and word not in NOT_NOUNS]
