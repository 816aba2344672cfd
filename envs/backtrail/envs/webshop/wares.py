"""What the generated shop is made of: kinds of products, option values, colours and invented brands."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

__all__ = ["BRANDS", "COLORS", "POOLS", "Kind", "Option", "cased", "kind", "titled"]

_ACRONYMS = {"aux", "b", "bpa", "c", "e", "gmo", "hdmi", "ips", "led", "pc", "pu", "ssd", "usb", "uv", "v", "vga"}


class Option(NamedTuple):
    """An option that a kind of product may come with: name, pool of its values, fewest and most values."""

    name: str
    pool: str
    low: int
    high: int


class Kind(NamedTuple):
    """One kind of product.

    Attributes:
        query: The search that its listings are found by.
        path: Its categories, with a single angle quotation mark in between.
        icon: The drawing that stands for it.
        cents: Lowest and highest usual price.
        heads: What a title calls it.
        styles: Words in front of that in a title.
        features: Attributes that it is ("cruelty free").
        parts: Attributes that it has ("shea butter").
        uses: Attributes that it is for ("dry lips").
        notes: Sentences that are true of any such product.
        options: What a buyer may choose.
    """

    query: str
    path: str
    icon: str
    cents: tuple[int, int]
    heads: tuple[str, ...]
    styles: tuple[str, ...]
    features: tuple[str, ...]
    parts: tuple[str, ...]
    uses: tuple[str, ...]
    notes: tuple[str, ...]
    options: tuple[Option, ...]


def kind(
    query: str,
    path: str,
    icon: str,
    cents: tuple[int, int],
    *,
    heads: str,
    styles: str,
    features: str,
    parts: str,
    uses: str,
    notes: tuple[str, ...],
    options: str,
) -> Kind:
    """Make a `Kind` from lists with commas and a path with ``>``; an option is written ``Name:pool:low-high``."""
    choices: list[Option] = []
    for text in _words(options):
        name, pool, numbers = text.split(":")
        low, _, high = numbers.partition("-")
        choices.append(Option(name, pool, int(low), int(high)))
    return Kind(
        query,
        path.replace(">", "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"),
        icon,
        cents,
        _words(heads),
        _words(styles),
        _words(features),
        _words(parts),
        _words(uses),
        notes,
        tuple(choices),
    )


@cache
def cased(text: str) -> str:
    """Return a phrase with capitals where no sentence goes without them."""
    return " ".join(word.upper() if word in _ACRONYMS else word for word in text.split())


@cache
def titled(text: str) -> str:
    """Return a phrase with capitals as in a title; a shop has a few thousand different ones."""
    return " ".join(word.upper() if word in _ACRONYMS else word.title().replace("'S", "'s") for word in text.split())


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(","))


COLORS = {
    "black": "#2f3136",
    "white": "#f1f1ec",
    "grey": "#9a9da3",
    "charcoal": "#4a4e55",
    "silver": "#c3c8ce",
    "navy": "#26365f",
    "navy blue": "#2b3c6b",
    "royal blue": "#3058b8",
    "sky blue": "#7db6e0",
    "teal": "#23807f",
    "mint green": "#a3d9c0",
    "army green": "#5c6644",
    "forest green": "#2f5d46",
    "sage green": "#a3b496",
    "olive": "#77753a",
    "lime": "#b5cf45",
    "yellow": "#f0cd4a",
    "mustard yellow": "#cf9f2c",
    "orange": "#e58a3a",
    "coral": "#ee8070",
    "red": "#c83e3e",
    "wine red": "#74283c",
    "burgundy": "#6d2438",
    "pink": "#eda3b8",
    "dusty pink": "#d3a0a2",
    "hot pink": "#e0559a",
    "purple": "#7a519f",
    "lavender": "#b7a6d8",
    "brown": "#7a5539",
    "dark brown": "#523a2a",
    "coffee": "#6b4c3b",
    "khaki": "#b8a67c",
    "beige": "#ddcdb0",
    "ivory": "#f0e8d5",
    "cream": "#f3e9cf",
    "gold": "#d0a950",
    "rose gold": "#d8a48f",
    "turquoise": "#4cc0ba",
}
"""Colour names that options use, and how they look."""

POOLS = {
    "wear color": _words(
        "black, white, grey, charcoal, navy blue, royal blue, sky blue, teal, army green, forest green, "
        "sage green, olive,"
        "mustard yellow, orange, coral, red, wine red, pink, dusty pink, purple, lavender, brown, khaki, beige, ivory"
    ),
    "home color": _words(
        "black, white, grey, charcoal, navy, sky blue, teal, sage green, forest green, mustard yellow, "
        "coral, burgundy,"
        "dusty pink, lavender, dark brown, coffee, beige, ivory, cream, gold, turquoise"
    ),
    "tech color": _words(
        "black, white, grey, silver, navy blue, mint green, red, pink, purple, rose gold, yellow, orange"
    ),
    "wood color": _words("black, white, grey, natural oak, dark brown, walnut brown, weathered grey, honey pine"),
    "lip color": _words(
        "bare peach, brick red, deep plum, dusty pink, faded coral, soft mauve, ripe cherry, "
        "warm brown, cool pink, cocoa"
    ),
    "face shade": _words(
        "01 porcelain, 02 ivory, 03 warm beige, 04 sand, 05 honey, 06 amber, 07 chestnut, 08 cocoa, 09 deep espresso"
    ),
    "hair color": _words(
        "1b off black, 2 dark brown, 4 medium brown, 6 chestnut, 27 honey blonde, 60 ash blonde, 99 wine red"
    ),
    "nail color": _words(
        "milky white, rose pink, brick red, sea blue, lilac mist, cocoa brown, moss green, silver glitter"
    ),
    "scent": _words(
        "unscented, lavender, vanilla, citrus, rose, eucalyptus mint, coconut, cedarwood, green tea, "
        "sea salt, jasmine, peony"
    ),
    "warm scent": _words(
        "amber wood, fresh linen, night jasmine, citrus grove, smoked cedar, white musk, fig leaf, rain"
    ),
    "alpha": _words("x-small, small, medium, large, x-large, xx-large, 3x-large, 4x-large"),
    "waist": _words(
        "28w x 30l, 30w x 30l, 32w x 30l, 32w x 32l, 34w x 30l, 34w x 32l, 36w x 32l, 38w x 32l, 40w x 34l"
    ),
    "her shoe": _words("5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 11"),
    "his shoe": _words("7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5, 11, 11.5, 12, 13, 14"),
    "cup": _words("32b, 34a, 34b, 34c, 36b, 36c, 36d, 38c, 38d, 40d"),
    "toddler": _words("2t, 3t, 4t, 5-6 years, 7-8 years, 9-10 years, 11-12 years"),
    "band": _words("38mm, 40mm, 41mm, 42mm, 44mm, 45mm"),
    "sock pack": _words("3 pairs, 6 pairs, 9 pairs, 12 pairs"),
    "bag size": _words("small, medium, large, one size"),
    "bottle pack": _words(
        "8 fl oz (pack of 1), 8 fl oz (pack of 2), 12 fl oz (pack of 1), 12 fl oz (pack of 3), 16 fl oz (pack of 2)"
    ),
    "small bottle": _words("0.5 fl oz, 1 fl oz, 1.7 fl oz, 2 fl oz, 3.4 fl oz"),
    "tube pack": _words("1 count (pack of 1), 1 count (pack of 2), 1 count (pack of 3), 1 count (pack of 6)"),
    "piece set": _words("5 piece set, 8 piece set, 10 piece set, 12 piece set, 15 piece set"),
    "inches hair": _words("12 inch, 14 inch, 16 inch, 18 inch, 20 inch, 22 inch, 24 inch"),
    "bristle": _words("extra soft, soft, medium bristle, firm"),
    "head pack": _words("2 count, 4 count, 6 count, 8 count, 12 count"),
    "cable": _words("1 foot, 3 feet, 6 feet, 10 feet, 15 feet, 25 feet, 50 feet"),
    "cable pack": _words("1-pack, 2-pack, 3-pack, 5-pack"),
    "phone model": _words(
        "5.4 inch phone, 6.1 inch phone, 6.4 inch phone, 6.5 inch phone, 6.7 inch phone, 6.8 inch phone"
    ),
    "tablet": _words("7 inch, 8 inch, 9.7 inch, 10.2 inch, 10.9 inch, 11 inch, 12.9 inch"),
    "storage": _words("32gb, 64gb, 128gb, 256gb, 512gb, 1tb"),
    "wattage": _words("18 watt, 20 watt, 30 watt, 45 watt, 65 watt, 100 watt"),
    "screen": _words("15.6 inch, 21.5 inch, 24 inch, 27 inch, 32 inch, 34 inch"),
    "desk bundle": _words(
        "8gb memory 256gb drive, 16gb memory 512gb drive, 32gb memory 1tb drive, 64gb memory 2tb drive"
    ),
    "camera kit": _words("camera only, one battery kit, two battery kit, tripod kit, carrying bag kit"),
    "speaker set": _words("single, pair, pair with mount, pair with remote"),
    "pillow": _words(
        "12 x 20 inch, 16 x 16 inch, 18 x 18 inch, 20 x 20 inch, 22 x 22 inch, 24 x 24 inch, 26 x 26 inch"
    ),
    "rug": _words("2 x 3 feet, 2 x 6 feet, 3 x 5 feet, 4 x 6 feet, 5 x 7 feet, 6 x 9 feet, 8 x 10 feet, 9 x 12 feet"),
    "curtain": _words(
        "42 x 45 inch, 42 x 63 inch, 52 x 63 inch, 52 x 84 inch, 52 x 95 inch, 52 x 108 inch, 70 x 84 inch"
    ),
    "bed": _words("twin, twin xl, full, queen, king, california king"),
    "table size": _words("31 inch, 35 inch, 39 inch, 43 inch, 47 inch, 55 inch, 63 inch"),
    "shelf": _words("2 tier, 3 tier, 4 tier, 5 tier, 6 tier"),
    "canvas": _words("8 x 12 inch, 12 x 16 inch, 16 x 20 inch, 16 x 24 inch, 20 x 30 inch, 24 x 36 inch"),
    "frame": _words("unframed, black frame, white frame, oak frame"),
    "light warmth": _words("warm white, neutral white, cool white, dimmable white"),
    "chair pack": _words("set of 1, set of 2, set of 4, set of 6"),
    "lantern": _words("6 inch, 8 inch, 10 inch, 13 inch, 16 inch"),
    "snack flavor": _words(
        "sea salt, honey roasted, dark cocoa, peanut butter, maple pecan, cinnamon apple, "
        "salted caramel, berry crunch,"
        "coconut almond, smoky paprika, lime chili, cheddar, vanilla oat, ginger molasses"
    ),
    "savory flavor": _words(
        "original, teriyaki, cracked pepper, sweet heat, smoked hickory, garlic herb, lime chili, sesame"
    ),
    "tea flavor": _words(
        "mint leaf, chamomile honey, ginger lemon, hibiscus berry, jasmine, roasted barley, "
        "spiced orange, peach, rooibos"
    ),
    "roast": _words("light roast, medium roast, dark roast, decaf, hazelnut, french vanilla, mocha"),
    "drink flavor": _words(
        "lemon lime, black cherry, mango, blood orange, watermelon, strawberry, peach tea, cucumber, ginger"
    ),
    "candy flavor": _words(
        "sour apple, watermelon, cherry, orange, blue raspberry, assorted fruit, licorice, root beer, grape"
    ),
    "spice": _words("mild, medium hot, hot, extra hot, smoky, herbed, lemon pepper, roasted garlic"),
    "bar pack": _words("1.4 ounce (pack of 6), 1.4 ounce (pack of 12), 2 ounce (pack of 8), 2 ounce (pack of 24)"),
    "bag pack": _words(
        "4 ounce (pack of 1), 4 ounce (pack of 3), 8 ounce (pack of 1), 8 ounce (pack of 6), "
        "1 pound (pack of 1), 5 pound bag"
    ),
    "tea pack": _words("20 count (pack of 1), 20 count (pack of 6), 50 count (pack of 1), 100 count (pack of 1)"),
    "can pack": _words("12 fl oz (pack of 6), 12 fl oz (pack of 12), 12 fl oz (pack of 24), 16 fl oz (pack of 8)"),
    "jar pack": _words(
        "2.5 ounce (pack of 1), 2.5 ounce (pack of 4), 6 ounce (pack of 1), 6 ounce (pack of 3), 16 ounce jar"
    ),
    "box pack": _words("7 ounce (pack of 1), 7 ounce (pack of 4), 12 ounce (pack of 2), 12 ounce (pack of 6)"),
}
"""Values of options, in the order in which a page lists them."""

_STARTS = _words(
    "Quilv, Vashk, Threm, Ombr, Zelv, Korth, Nuvr, Brask, Yarl, Dremp, Plov, Wexl, Haldr, Jurn, "
    "Skelv, Fenth, Grevv, Tolmb,"
    "Ulvr, Raskv, Mirvt, Iskr, Caldw, Ebrun, Ostv, Pemb, Lunk, Sorv, Tarq, Vond"
)

_ENDS = _words(
    "andic, ovarn, ettick, umble, eddoch, arquin, ovesh, imund, ushel, ondry, askew, orrin, ivett, "
    "unkel, aptik, oona, elwick,"
    "imber, ossa, ilda"
)

BRANDS = tuple(start + end for end in _ENDS for start in _STARTS)
"""Invented names; none is meant to be anybody's."""
