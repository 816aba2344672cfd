"""Pictures of products for the shop's web pages, drawn where there is no photograph."""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Iterable
from functools import cache

from backtrail.envs.webshop.families import KINDS
from backtrail.envs.webshop.icons import DEPARTMENTS, ICONS
from backtrail.envs.webshop.items import Product
from backtrail.envs.webshop.wares import COLORS

__all__ = ["picture"]

_FIELDS = ("#e3ebf1", "#efe6dc", "#e5ede1", "#f0e3e4", "#e8e4f0", "#dfecec", "#f1ebd8", "#e6e8ec")
_FALLBACK = (
    "#3e7cb1",
    "#c8553d",
    "#588157",
    "#8e5572",
    "#d19c3f",
    "#3a8f8a",
    "#6d6a9c",
    "#b5657a",
    "#5f7a8c",
    "#a1764a",
)
_FIXED = {"n": "#3a3f47", "w": "#fffdf8", "g": "#bcc4cb", "k": "#b48a5f", "v": "#5f8f62", "u": "#8bb27f"}

_USUAL = {
    "coffee": ("#6b4c3b", "#8a3f33", "#3f5a55"),
    "compact": ("#d9a98a", "#e7c3a5", "#b07a58", "#8a5a44"),
    "hair": ("#3b2a24", "#5a3a2a", "#8a5a34", "#c79a5b", "#7a2f35"),
    "lipstick": ("#b5303f", "#d0607a", "#8e2f45", "#c9705a"),
    "tea": ("#b8722f", "#7f8f3c", "#a8472f"),
}
"""Colors of what does not come in any color."""

_ICON_OF = {kind.query: kind.icon for kinds in KINDS.values() for kind in kinds}
_COLOR_WORDS = re.compile(rf"\b(?:{'|'.join(sorted(COLORS, key=len, reverse=True))})\b")


def picture(product: Product) -> str:
    """Draw a product as a self-contained SVG image: an icon of its kind, in its color if it names one.

    The same product looks the same everywhere; the background and what it does not say follow from its identifier.
    """
    number = zlib.crc32(product.asin.encode())
    icon = _icon(product)
    likely = _USUAL.get(icon, _FALLBACK)
    main = COLORS.get(_color(product)) or likely[number % len(likely)]
    field = _FIELDS[number // 16 % len(_FIELDS)]
    fills = {**_FIXED, "a": main, "d": _mixed(main, "#1d2129", 0.3), "h": _mixed(main, "#ffffff", 0.45)}
    shapes = "".join(_shape(shape, fills) for shape in _shapes(icon))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200" role="img">'
        f"<title>{html.escape(product.title)}</title>"
        f'<rect width="200" height="200" rx="14" fill="{field}"/>'
        f'<circle cx="100" cy="100" r="80" fill="{_mixed(field, "#ffffff", 0.5)}"/>'
        '<ellipse cx="100" cy="164" rx="52" ry="5" fill="#1d2129" opacity=".08"/>'
        f'<g stroke="#1d2129" stroke-opacity=".14" stroke-linejoin="round" stroke-linecap="round">{shapes}</g></svg>'
    )


def _icon(product: Product) -> str:
    return _ICON_OF.get(product.query) or DEPARTMENTS.get(product.category, "box")


def _color(product: Product) -> str:
    """Return the first color that its options or its title name, or ""."""
    found = _named(value for name, values in product.options if name == "color" for value in values)
    return found or _named([product.title.lower()])


def _named(texts: Iterable[str]) -> str:
    return next((match[0] for text in texts if (match := _COLOR_WORDS.search(text))), "")


@cache
def _shapes(icon: str) -> tuple[tuple[str, str, str], ...]:
    """Return the fill, the form and the numbers of each shape of a drawing."""
    return tuple(
        (fill, form, rest) for fill, form, rest in (shape.split(maxsplit=2) for shape in ICONS[icon].split(";"))
    )


def _shape(shape: tuple[str, str, str], fills: dict[str, str]) -> str:
    fill, form, rest = fills[shape[0]], shape[1], shape[2]
    if form == "p":
        return f'<path d="{rest}" fill="{fill}"/>'
    if form == "l":
        width, _, path = rest.partition(" ")
        return f'<path d="{path}" fill="none" stroke="{fill}" stroke-width="{width}" stroke-opacity="1"/>'
    if form == "o":
        x, y, across, down = rest.split()
        return f'<ellipse cx="{x}" cy="{y}" rx="{across}" ry="{down}" fill="{fill}"/>'
    x, y, width, height, radius = rest.split()
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}" fill="{fill}"/>'


def _mixed(color: str, other: str, share: float) -> str:
    """Return a color with a share of another one."""
    pairs = zip(bytes.fromhex(color[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(one * (1 - share) + two * share) for one, two in pairs).hex()
