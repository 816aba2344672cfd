"""Icons, as strokes and shapes in a square from 0 to 100; drawn larger and reduced, so that they are smooth."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from backtrail.envs.androidworld.phone.views import Color

__all__ = ["ICONS", "draw_icon"]

_FINE = 4

Shape = tuple[str, tuple[float, ...]]
"""A kind and its numbers: "line" and "poly" have points, "ring" and "disc" a box, "box" and "frame" a box and a radius."""

ICONS: dict[str, tuple[Shape, ...]] = {
    "app": (("frame", (18, 18, 82, 82, 14)),),
    "back": (("line", (62, 20, 32, 50, 62, 80)),),
    "arrow": (("line", (46, 22, 20, 50, 46, 78)), ("line", (20, 50, 82, 50))),
    "home": (("ring", (26, 26, 74, 74)),),
    "recents": (("frame", (28, 28, 72, 72, 6)),),
    "more": (("disc", (44, 18, 56, 30)), ("disc", (44, 44, 56, 56)), ("disc", (44, 70, 56, 82))),
    "add": (("line", (50, 18, 50, 82)), ("line", (18, 50, 82, 50))),
    "close": (("line", (24, 24, 76, 76)), ("line", (76, 24, 24, 76))),
    "check": (("line", (18, 52, 40, 74, 82, 28)),),
    "search": (("ring", (18, 18, 62, 62)), ("line", (58, 58, 82, 82))),
    "delete": (("line", (22, 28, 78, 28)), ("frame", (30, 28, 70, 84, 4)), ("line", (42, 18, 58, 18))),
    "edit": (("line", (22, 78, 30, 58, 70, 18, 82, 30, 42, 70, 22, 78)),),
    "send": (("poly", (16, 20, 86, 50, 16, 80, 26, 50)),),
    "menu": (("line", (18, 28, 82, 28)), ("line", (18, 50, 82, 50)), ("line", (18, 72, 82, 72))),
    "person": (("disc", (34, 16, 66, 48)), ("poly", (18, 84, 26, 60, 50, 54, 74, 60, 82, 84))),
    "phone": (("poly", (24, 18, 40, 16, 48, 38, 38, 46, 56, 64, 64, 54, 86, 62, 84, 78, 72, 86, 40, 72, 18, 38)),),
    "message": (("box", (14, 20, 86, 66, 8)), ("poly", (26, 64, 50, 64, 26, 86))),
    "clock": (("ring", (14, 14, 86, 86)), ("line", (50, 28, 50, 52, 66, 60))),
    "folder": (("poly", (12, 24, 42, 24, 50, 34, 88, 34, 88, 80, 12, 80)),),
    "file": (("frame", (24, 12, 76, 88, 6)), ("line", (36, 40, 64, 40)), ("line", (36, 56, 64, 56))),
    "note": (("frame", (20, 14, 80, 86, 6)), ("line", (34, 36, 66, 36)), ("line", (34, 52, 66, 52)), ("line", (34, 68, 54, 68))),
    "calendar": (("frame", (16, 20, 84, 84, 6)), ("line", (16, 40, 84, 40)), ("line", (34, 12, 34, 28)), ("line", (66, 12, 66, 28))),
    "money": (("ring", (14, 14, 86, 86)), ("line", (60, 34, 44, 34, 40, 42, 60, 56, 56, 66, 38, 66)), ("line", (50, 26, 50, 74))),
    "food": (("line", (30, 14, 30, 86)), ("line", (22, 14, 22, 34, 38, 34, 38, 14)), ("line", (68, 86, 68, 14, 58, 40, 68, 52))),
    "tasks": (("line", (16, 28, 24, 36, 36, 20)), ("line", (48, 28, 84, 28)), ("line", (16, 66, 24, 74, 36, 58)), ("line", (48, 66, 84, 66))),
    "picture": (("frame", (14, 18, 86, 82, 6)), ("poly", (20, 76, 42, 46, 56, 62, 66, 52, 80, 76)), ("disc", (60, 28, 72, 40))),
    "broken": (("frame", (14, 18, 86, 82, 6)), ("line", (58, 18, 40, 42, 60, 58, 42, 82))),
    "camera": (("frame", (12, 28, 88, 82, 8)), ("ring", (34, 38, 66, 70)), ("line", (36, 28, 42, 18, 58, 18, 64, 28))),
    "mic": (("box", (38, 12, 62, 56, 12)), ("line", (26, 48, 32, 66, 50, 72, 68, 66, 74, 48)), ("line", (50, 72, 50, 88))),
    "stop": (("box", (26, 26, 74, 74, 6)),),
    "play": (("poly", (32, 20, 80, 50, 32, 80)),),
    "pause": (("box", (28, 22, 42, 78, 3)), ("box", (58, 22, 72, 78, 3))),
    "brush": (("line", (82, 18, 46, 58)), ("poly", (46, 54, 32, 60, 20, 84, 42, 78, 52, 62))),
    "globe": (("ring", (14, 14, 86, 86)), ("line", (14, 50, 86, 50)), ("ring", (34, 14, 66, 86))),
    "settings": (("ring", (26, 26, 74, 74)), ("disc", (42, 42, 58, 58)), ("line", (50, 8, 50, 26)), ("line", (50, 74, 50, 92)), ("line", (8, 50, 26, 50)), ("line", (74, 50, 92, 50)), ("line", (20, 20, 33, 33)), ("line", (67, 67, 80, 80)), ("line", (80, 20, 67, 33)), ("line", (33, 67, 20, 80))),
    "wifi": (("line", (12, 42, 30, 28, 50, 24, 70, 28, 88, 42)), ("line", (28, 58, 50, 46, 72, 58)), ("disc", (43, 68, 57, 82))),
    "bluetooth": (("line", (28, 32, 70, 68, 50, 86, 50, 14, 70, 32, 28, 68)),),
    "battery": (("box", (32, 20, 68, 88, 4)), ("box", (42, 10, 58, 20, 2))),
    "star": (("poly", (50, 12, 61, 38, 89, 40, 67, 58, 75, 86, 50, 70, 25, 86, 33, 58, 11, 40, 39, 38)),),
    "bell": (("poly", (24, 70, 32, 58, 34, 36, 50, 20, 66, 36, 68, 58, 76, 70)), ("disc", (42, 72, 58, 86))),
    "sun": (("ring", (34, 34, 66, 66)), ("line", (50, 10, 50, 24)), ("line", (50, 76, 50, 90)), ("line", (10, 50, 24, 50)), ("line", (76, 50, 90, 50))),
    "volume": (("poly", (16, 38, 32, 38, 52, 20, 52, 80, 32, 62, 16, 62)), ("line", (64, 36, 72, 50, 64, 64))),
    "lock": (("box", (24, 44, 76, 86, 6)), ("line", (34, 44, 34, 26, 42, 16, 58, 16, 66, 26, 66, 44))),
    "share": (("disc", (16, 40, 34, 58)), ("disc", (64, 14, 82, 32)), ("disc", (64, 68, 82, 86)), ("line", (26, 48, 72, 24)), ("line", (26, 50, 72, 76))),
    "sort": (("line", (18, 28, 82, 28)), ("line", (18, 50, 62, 50)), ("line", (18, 72, 42, 72))),
    "left": (("line", (60, 24, 36, 50, 60, 76)),),
    "right": (("line", (40, 24, 64, 50, 40, 76)),),
    "down": (("poly", (26, 38, 74, 38, 50, 66)),),
    "copy": (("frame", (34, 14, 82, 66, 4)), ("frame", (18, 32, 66, 84, 4))),
}  # fmt: skip


@lru_cache(maxsize=512)
def draw_icon(name: str, side: int, color: Color, ground: Color) -> NDArray[np.uint8]:
    """Return an icon as a square picture, (side, side, 3).

    Raises:
        KeyError: If there is no such icon.
    """
    full = max(1, side) * _FINE
    image = Image.new("RGB", (full, full), ground)
    pen, line = ImageDraw.Draw(image), max(_FINE, round(full * 0.08))
    for kind, numbers in ICONS[name]:
        n = [number * full / 100 for number in numbers]
        if kind == "line":
            pen.line(n, fill=color, width=line, joint="curve")
        elif kind == "poly":
            pen.polygon(n, fill=color)
        elif kind == "ring":
            pen.ellipse(n, outline=color, width=line)
        elif kind == "disc":
            pen.ellipse(n, fill=color)
        elif kind == "box":
            pen.rounded_rectangle(n[:4], n[4], fill=color)
        else:
            pen.rounded_rectangle(n[:4], n[4], outline=color, width=line)
    return np.asarray(image.resize((max(1, side), max(1, side)), Image.Resampling.BOX))
