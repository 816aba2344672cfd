"""The words for colours that the reward knows: 'light blue suede' and 'sky blue' are both just 'blue' to it."""

from __future__ import annotations

__all__ = ["COLORS", "plain_color"]

# fmt: off
COLORS = (
    "alabaster", "apricot", "aqua", "ash", "asphalt", "azure", "banana", "beige", "black", "blue", "blush",
    "bordeaux", "bronze", "brown", "burgundy", "camel", "camo", "caramel", "champagne", "charcoal", "cheetah",
    "chestnut", "chocolate", "christmas", "coffee", "cognac", "copper", "coral", "cranberry", "cream", "crystal",
    "dark", "denim", "eggplant", "elephant", "espresso", "fuchsia", "gold", "granite", "grape", "graphite", "grass",
    "gray", "green", "grey", "heather", "indigo", "ivory", "ivy", "khaki", "lavender", "lemon", "leopard", "light",
    "lilac", "lime", "magenta", "maroon", "mauve", "merlot", "midnight", "mint", "mocha", "multicolor", "mushroom",
    "mustard", "natural", "navy", "nude", "olive", "orange", "peach", "pewter", "pink", "plum", "purple", "rainbow",
    "red", "rose", "royal", "rust", "sand", "sapphire", "seashell", "silver", "skull", "slate", "steel", "stone",
    "stonewash", "sunflower", "tan", "taupe", "teal", "tiger", "turquoise", "violet", "walnut", "wheat", "white",
    "wine", "yellow",
)
# fmt: on
"""In the order in which they are tried."""


def plain_color(option: str | tuple[str, str]) -> str | tuple[str, str]:
    """Return the first colour that is *in* an option, or the option as it is.

    In a string that means part of it, within words too ('bordered' is 'red'). In a (name, value) pair it means one of the
    two, whole. Both are the rule of the original's reward.
    """
    for color in COLORS:
        if color in option:
            return color
    return option
