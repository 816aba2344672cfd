"""Pictures and videos as they are shown: their pixels, or for what the phone made itself what its file tells of it."""

from __future__ import annotations

import posixpath
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.apps import storage
from backtrail.envs.androidworld.phone.decode import is_picture
from backtrail.envs.androidworld.phone.draw import line_height, wrapped
from backtrail.envs.androidworld.phone.files import as_bytes
from backtrail.envs.androidworld.phone.page import SURFACE, WHITE
from backtrail.envs.androidworld.phone.views import Bounds, Color, View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["picture_view", "words"]

_SKIES: tuple[Color, ...] = (
    (174, 203, 250),
    (253, 214, 181),
    (200, 230, 201),
    (225, 190, 231),
    (178, 223, 219),
    (255, 204, 188),
)
_HILLS: tuple[Color, ...] = ((56, 106, 82), (121, 85, 72), (69, 90, 100), (85, 110, 46), (94, 53, 177), (46, 91, 140))
_DARK: Color = (60, 64, 67)

_SMALLEST = 18  # pixels


def words(phone: Phone, path: str) -> str:
    """Return the text that can be read in a picture; "" for none."""
    text = storage.picture(phone, path).get("text", "")
    return text if isinstance(text, str) else ""


def picture_view(phone: Phone, path: str, box: Bounds, small: bool = False) -> View:
    """Return a picture, or what stands for a video, in a box.

    A file is a PNG or JPEG, or a JSON object with "text" (shown as on paper), "strokes" (lines of a drawing, as fractions) or
    neither (a landscape in colours of its own). Of any other the picture says that it cannot be shown.
    """
    known, name = storage.picture(phone, path), posixpath.basename(path)
    view = View("ImageView", box, description=name)
    text, strokes = words(phone, path), _strokes(known.get("strokes"))
    if storage.kind(phone, path) == "Video":
        left, top, right, bottom = box
        x, y, half = (left + right) // 2, (top + bottom) // 2, 50 if small else 100
        badge = (x - half, y - half, x + half, y + half)
        view.fill = _DARK
        view.children = [View("ImageView", badge, icon="play", size=half, fill=WHITE, radius=half)]
    elif text:
        view.fill = (250, 249, 244)
        view.children = _paper(text, box, 18 if small else 42)
    elif strokes:
        view.fill, view.strokes = WHITE, strokes
    elif known:
        view.fill = _SKIES[zlib.crc32(path.encode()) % len(_SKIES)]
        view.children = _landscape(path, box)
    elif is_picture(content := _content(phone.files.read(path) or "")):
        view.fill, view.picture = SURFACE if small else None, content
    else:
        view.fill, view.children = _DARK, _broken(box, 26 if small else 46)
    return view


@lru_cache(maxsize=256)
def _content(text: str) -> bytes:
    """Return what a file holds: the same object each time, which knows its hash."""
    return as_bytes(text)


def _strokes(found: object) -> tuple[tuple[float, float, float, float], ...]:
    """Return the lines of a drawing; none if the file was not written by one who draws."""
    lines = [tuple(each[:4]) for each in found if isinstance(each, list)] if isinstance(found, list) else []
    good = all(len(line) == 4 and all(isinstance(n, int | float) and abs(n) < 10 for n in line) for line in lines)
    return tuple((x1, y1, x2, y2) for x1, y1, x2, y2 in lines) if good else ()


def _broken(box: Bounds, size: int) -> list[View]:
    left, top, right, bottom = box
    middle, half = (top + bottom) // 2, 3 * size
    return [
        View("ImageView", (left, middle - half, right, middle), icon="broken", color=WHITE, size=2 * size),
        View("TextView", (left, middle, right, middle + half), "Can't show this picture", color=WHITE, size=size, align="center"),
    ]  # fmt: skip


def _paper(text: str, box: Bounds, size: int) -> list[View]:
    """Return the lines of a text, from the top of a box on; a long text is written smaller."""
    left, top, right, bottom = box
    while True:
        step, margin = line_height(size), size
        lines = wrapped(text, size, right - left - 2 * margin - 48)
        if step * len(lines) <= bottom - top - 2 * margin or size <= _SMALLEST:
            break
        size -= 2
    room = max(1, (bottom - top - 2 * margin) // step)
    return [
        View("TextView", (left + margin, y, right - margin, y + step), line, size=size)
        for y, line in zip(range(top + margin, bottom, step), lines[:room], strict=False)
        if line
    ]


def _landscape(path: str, box: Bounds) -> list[View]:
    left, top, right, bottom = box
    seed = zlib.crc32(path.encode())
    height, width = bottom - top, right - left
    horizon = bottom - height * (30 + seed % 25) // 100
    hill = _HILLS[seed // 7 % len(_HILLS)]
    sun = min(width, height) // 6
    x, y = left + width * (15 + seed // 11 % 55) // 100, top + height // 6
    near = (max(0, hill[0] - 25), max(0, hill[1] - 25), max(0, hill[2] - 25))
    return [
        View("View", (x, y, x + sun, y + sun), fill=(255, 245, 200), radius=sun // 2),
        View("View", (left, horizon, right, bottom), fill=hill),
        View("View", (left, (horizon + bottom) // 2, right, bottom), fill=near),
    ]
