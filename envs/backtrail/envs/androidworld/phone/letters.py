"""Letters with accents, which Pillow's own font does not have: plain letters, with the accents drawn on them."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Any

from PIL import ImageDraw, ImageFont

from backtrail.envs.androidworld.phone.views import Color

__all__ = ["plain", "write"]

_LINES = {
    "GRAVE": ((-1, -1, 1, 1),),
    "ACUTE": ((-1, 1, 1, -1),),
    "CIRCUMFLEX": ((-1, 1, 0, -1, 1, 1),),
    "CARON": ((-1, -1, 0, 1, 1, -1),),
    "TILDE": ((-1.3, 0.7, -0.4, -0.5, 0.4, 0.5, 1.3, -0.7),),
    "MACRON": ((-1, 0, 1, 0),),
    "DOT": ((0, -0.3, 0, 0.3),),
    "DIAERESIS": ((-0.8, -0.3, -0.8, 0.3), (0.8, -0.3, 0.8, 0.3)),
    "RING": ((-0.7, 0, 0, -0.7, 0.7, 0, 0, 0.7, -0.7, 0),),
    "CEDILLA": ((0, -1, 0.4, 0, -0.5, 1),),
}
"""By the second word of the name in Unicode, strokes about the middle of the accent, in units of its half height."""


def plain(text: str) -> str:
    """Return a text without its accents: the letters that are drawn, and as wide."""
    return text if text.isascii() else _parted(text)[0]


def write(
    pen: ImageDraw.ImageDraw,
    at: tuple[float, float],
    text: str,
    font: ImageFont.FreeTypeFont,
    fill: Color,
    **options: Any,
) -> None:
    """Draw a line of text, accents included.

    Args:
        pen: Draws.
        at: The left end of the line's middle.
        text: The line.
        font: Its font.
        fill: Its colour.
        options: More for `ImageDraw.text`.
    """
    letters, accents = (text, ()) if text.isascii() else _parted(text)
    pen.text(at, letters, font=font, fill=fill, anchor="lm", **options)
    half = font.size / 11
    for place, kind in accents:
        end, wide = font.getlength(letters[: place + 1]), font.getlength(letters[place])
        _, top, _, bottom = pen.textbbox(at, letters[place], font=font, anchor="lm")
        x = at[0] + end - wide / 2
        y = bottom + half if kind == "CEDILLA" else top - 1.4 * half
        for line in _LINES[kind]:
            points = [(x + half * a, y + half * b) for a, b in zip(line[::2], line[1::2], strict=True)]
            pen.line(points, fill=fill, width=max(1, round(font.size / 14)), joint="curve")


@lru_cache(maxsize=1024)
def _parted(text: str) -> tuple[str, tuple[tuple[int, str], ...]]:
    """Return the letters, and the accents as the place of their letter with what they are."""
    letters, accents = "", []
    for each in unicodedata.normalize("NFD", text):
        words = unicodedata.name(each, "").split()
        kind = words[1] if words[:1] == ["COMBINING"] and len(words) > 1 else ""
        if kind in _LINES and letters:
            accents.append((len(letters) - 1, kind))
        elif not unicodedata.combining(each):
            letters += each
    return letters, tuple(accents)
