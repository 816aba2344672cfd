"""Pictures and videos as they are shown: what their file tells of them, or a landscape in colours of their own."""

from __future__ import annotations

import posixpath
import zlib
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.apps import storage
from backtrail.envs.androidworld.phone.draw import line_height, wrapped
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


_SMALLEST = 18  # pixels


def words(phone: Phone, path: str) -> str:
    """Return the text that can be read in a picture; "" for none."""
    text = storage.picture(phone, path).get("text", "")
    return text if isinstance(text, str) else ""


def picture_view(phone: Phone, path: str, box: Bounds, small: bool = False) -> View:
    """Return a picture, or what stands for a video, in a box.

    A file may be a JSON object with "text" (shown as on paper) and "strokes" (lines of a drawing, as fractions).
    """
    known, name = storage.picture(phone, path), posixpath.basename(path)
    view = View("ImageView", box, description=name)
    text, strokes = words(phone, path), known.get("strokes", [])
    if storage.kind(phone, path) == "Video":
        left, top, right, bottom = box
        x, y, half = (left + right) // 2, (top + bottom) // 2, 50 if small else 100
        badge = (x - half, y - half, x + half, y + half)
        view.fill = (60, 64, 67)
        view.children = [View("ImageView", badge, icon="play", size=half, fill=(255, 255, 255), radius=half)]
    elif text:
        view.fill = (250, 249, 244)
        view.children = _paper(text, box, 18 if small else 42)
    elif strokes:
        view.fill, view.strokes = (255, 255, 255), tuple(tuple(stroke[:4]) for stroke in strokes)
    else:
        view.fill = _SKIES[zlib.crc32(path.encode()) % len(_SKIES)]
        view.children = _landscape(path, box)
    return view


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
