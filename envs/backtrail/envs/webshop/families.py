"""Families of near-duplicates in the generated shop: what several listings have in common and where they differ."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from backtrail.envs.webshop.wares import BRANDS, POOLS, Kind, Option, titled
from backtrail.envs.webshop.wares_body import BEAUTY, FASHION
from backtrail.envs.webshop.wares_home import GARDEN, GROCERY
from backtrail.envs.webshop.wares_tech import ELECTRONICS

__all__ = ["KINDS", "Draw", "Offer", "Trait", "offer"]

KINDS = {"beauty": BEAUTY, "electronics": ELECTRONICS, "garden": GARDEN, "fashion": FASHION, "grocery": GROCERY}
"""Departments with their kinds of products."""

_TURNS = ("beauty", "electronics", "garden", "fashion") * 9 + ("grocery",) * 5
"""Departments as often as in the official shop of 1,000 products."""

_CHOICE = {"beauty": 0.36, "electronics": 0.27, "garden": 0.5, "fashion": 0.84, "grocery": 0.4}
"""Share of the families that leave a choice to the buyer."""

_SIZES = (1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 5)
_SEATS = tuple((family, place) for family, size in enumerate(_SIZES) for place in range(size))
"""Who is whose relative among as many listings in a row: number of the family, place in it."""

_T = TypeVar("_T")


class Draw:
    """Random choices that are the same on every machine and Python version.

    Of the module `random`, only ``random()`` after seeding with a whole number is promised to stay as it is.

    Attributes:
        unit: Returns the next number from 0 up to, not including, 1.
    """

    __slots__ = ("unit",)

    def __init__(self, seed: int, stream: int, number: int) -> None:
        self.unit = random.Random((seed << 1 | stream) << 40 | number).random

    def chance(self, share: float) -> bool:
        """Return whether something that happens in `share` of all cases happens."""
        return self.unit() < share

    def between(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        return low + int(self.unit() * (high - low + 1))

    def pick(self, options: Sequence[_T]) -> _T:
        """Return one of the options, all equally likely."""
        return options[int(self.unit() * len(options))]

    def some(self, options: Sequence[_T], number: int) -> list[_T]:
        """Return `number` different options, or all if there are fewer, in random order."""
        left = list(options)
        return [left.pop(int(self.unit() * len(left))) for _ in range(min(number, len(left)))]


class Trait(NamedTuple):
    """An attribute, and whether a product "is" it, "has" it or is "for" it."""

    role: str
    text: str


class Offer(NamedTuple):
    """What a listing offers, before it is put into words.

    Attributes:
        category: Department.
        kind: Kind of product.
        brand: Invented name of the seller.
        head: What the product is called.
        style: Words in front of that.
        traits: All attributes, in no order.
        cents: Price, about.
        options: Option names with their values.
    """

    category: str
    kind: Kind
    brand: str
    head: str
    style: str
    traits: tuple[Trait, ...]
    cents: int
    options: dict[str, tuple[str, ...]]


_TRAITS = {
    kind.query: tuple(
        Trait(role, text)
        for role, texts in (("is", kind.features), ("has", kind.parts), ("for", kind.uses))
        for text in texts
    )
    for kinds in KINDS.values()
    for kind in kinds
}


def offer(number: int, seed: int, draw: Draw) -> Offer:
    """Return what listing `number` offers: the first of its family, or a relative that is drawn from `draw`."""
    block = number // len(_SEATS)
    # Multiplying by a number without a factor in common mixes the block, so that relatives are not neighbours.
    family, place = _SEATS[(number * 13 + block * 7) % len(_SEATS)]
    first = _first(block * len(_SIZES) + family, seed)
    return _relative(first, draw) if place else first


def _first(family: int, seed: int) -> Offer:
    draw = Draw(seed, 1, family)
    # Taking turns keeps the departments at their shares, however few products there are.
    category = _TURNS[(family * 17 + seed) % len(_TURNS)]
    kind = draw.pick(KINDS[category])
    head = draw.pick(kind.heads)
    low, high = kind.cents
    unit = draw.unit()
    return Offer(
        category,
        kind,
        draw.pick(BRANDS),
        head,
        _style(kind.styles, head, draw),
        tuple(draw.some(_TRAITS[kind.query], 0 if draw.chance(0.18) else draw.between(1, 6))),
        low + int((high - low) * unit * unit),
        _choices(kind, draw) if draw.chance(_CHOICE[category]) else {},
    )


def _style(styles: Sequence[str], head: str, draw: Draw) -> str:
    """Return one or two styles that repeat neither each other nor the head."""
    said = set(titled(head).split())
    first, second = ([word for word in style.split() if word not in said] for style in draw.some(styles, 2))
    if draw.chance(0.5):
        first += [word for word in second if word not in first and "'" not in word]
    return " ".join(first or second)


def _choices(kind: Kind, draw: Draw) -> dict[str, tuple[str, ...]]:
    """Return option names with their values; one of them at least."""
    kept = [option for option in kind.options if draw.chance(0.9)] or [draw.pick(kind.options)]
    return {option.name: _values(option, draw) for option in kept}


def _values(option: Option, draw: Draw) -> tuple[str, ...]:
    """Return a stretch of the sizes, or some of the colors."""
    pool = POOLS[option.pool]
    number = min(draw.between(option.low, option.high), len(pool))
    if option.name != "Size":
        return tuple(draw.some(pool, number))
    start = draw.between(0, len(pool) - number)
    return pool[start : start + number]


def _relative(item: Offer, draw: Draw) -> Offer:
    """Return nearly the same: of another brand perhaps, and with other attributes, option values or another price."""
    if draw.chance(0.6):
        item = item._replace(brand=draw.pick(BRANDS))
    change = draw.unit()
    if change < 0.45 or (change < 0.75 and not item.options):
        kept = draw.some(item.traits, max(len(item.traits) - 1, 0))
        others = [trait for trait in _TRAITS[item.kind.query] if trait not in item.traits]
        return item._replace(traits=(*kept, *draw.some(others, draw.between(0, 2))))
    if change < 0.75:
        option = draw.pick([option for option in item.kind.options if option.name in item.options])
        return item._replace(options={**item.options, option.name: _values(option, draw)})
    return item._replace(cents=item.cents * draw.between(60, 180) // 100)
