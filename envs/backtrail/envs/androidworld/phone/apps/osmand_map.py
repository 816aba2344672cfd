"""The map as a picture: where points are on it, what is drawn, and which names there is room for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from backtrail.envs.androidworld.phone.apps import osmand_places as places
from backtrail.envs.androidworld.phone.apps.osmand_places import Place, Point
from backtrail.envs.androidworld.phone.draw import font_of, text_width
from backtrail.envs.androidworld.phone.icons import draw_icon
from backtrail.envs.androidworld.phone.letters import write
from backtrail.envs.androidworld.phone.views import Bounds, Color

__all__ = ["ZOOMS", "Button", "Frame", "Map", "Pin", "fit", "labels", "pin_box"]

ZOOMS = (9, 17)
"""The smallest and the largest."""

_TILE = 1024  # pixels of the whole world at zoom 0
_LAND: Color = (242, 239, 233)
_HOME: Color = (248, 247, 242)
_WOOD: Color = (204, 225, 187)
_WATER: Color = (158, 203, 222)
_BUILT: Color = (226, 221, 217)
_LIMIT: Color = (168, 116, 170)
_INK: Color = (58, 58, 62)
_ROADS: dict[str, tuple[int, Color, Color]] = {
    "path": (5, (196, 140, 108), (196, 140, 108)),
    "road": (13, (190, 186, 178), (255, 255, 255)),
    "main": (18, (205, 160, 70), (252, 214, 130)),
    "motorway": (22, (190, 82, 96), (236, 146, 160)),
}
"""Width in pixels, color of the edge and of the middle."""
_LABELS = {"Town": 44, "Village": 36, "Hamlet": 31, "Peak": 31, "Castle": 31}
_FROM = {"Town": 8, "Village": 10, "Hamlet": 11, "Peak": 11, "Castle": 13}
"""The zoom from which a kind of place is shown."""
_PINS = {"star": (236, 170, 0), "flag": (214, 60, 50), "place": (33, 118, 210), "check": (45, 150, 80)}
_SIDE = 72  # pixels of a pin
_FINE = 4
_RIM = 4  # pixels of white around a name


@dataclass(frozen=True)
class Pin:
    """Something marked: "star" for a favourite, "flag" for a marker, "place" for what is chosen, "check" for an end."""

    kind: str
    point: Point


@dataclass(frozen=True)
class Button:
    """A round button: icon, and the middle in pixels."""

    icon: str
    x: int
    y: int
    radius: int = 66


@dataclass(frozen=True)
class Frame:
    """A part of the map.

    Attributes:
        center: The point in the middle.
        zoom: One more is twice as large.
        width, height: In pixels.
    """

    center: Point
    zoom: int
    width: int
    height: int

    def at(self, point: Point) -> tuple[int, int]:
        """Return where a point is, in pixels from the upper left corner."""
        x, y = _world(point, self.zoom)
        middle = _world(self.center, self.zoom)
        return round(x - middle[0] + self.width / 2), round(y - middle[1] + self.height / 2)

    def moved(self, across: float, down: float) -> Point:
        """Return the centre after the map was pushed by so many pixels, at most to the edge of the world."""
        x, y = _world(self.center, self.zoom)
        side = _TILE * 2**self.zoom
        x, y = min(max(x - across, 0), side), min(max(y - down, 0), side)
        latitude = math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * y / side))))
        return round(min(max(latitude, -85.0), 85.0), 6), round(x / side * 360 - 180, 6)


def fit(points: Sequence[Point], width: int, height: int) -> tuple[Point, int]:
    """Return centre and zoom that show all the points in a part of so many pixels."""
    low = min(point[0] for point in points), min(point[1] for point in points)
    high = max(point[0] for point in points), max(point[1] for point in points)
    center = (round((low[0] + high[0]) / 2, 6), round((low[1] + high[1]) / 2, 6))
    for zoom in range(14, ZOOMS[0], -1):
        frame = Frame(center, zoom, width, height)
        ends = [frame.at(point) for point in (low, high)]
        if all(100 < x < width - 100 and 100 < y < height - 100 for x, y in ends):
            return center, zoom
    return center, ZOOMS[0]


def _world(point: Point, zoom: int) -> tuple[float, float]:
    """Return pixels from the world's upper left corner, in the Mercator projection of web maps."""
    side, latitude = _TILE * 2**zoom, math.radians(point[0])
    return (point[1] + 180) / 360 * side, (1 - math.asinh(math.tan(latitude)) / math.pi) / 2 * side


# -- names ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def labels(frame: Frame, buttons: tuple[Button, ...] = ()) -> tuple[tuple[Place, Bounds], ...]:
    """Return the places that are shown with the boxes of dot and name.

    None covers another or lies under a button; the important come first, and a name is right or left of its dot.
    """
    found: list[tuple[Place, Bounds]] = []
    taken = [(b.x - b.radius, b.y - b.radius, b.x + b.radius, b.y + b.radius) for b in buttons]
    for place in sorted(places.PLACES, key=lambda each: places.KINDS.index(each.kind)):
        if frame.zoom < _FROM[place.kind]:
            continue
        x, y = frame.at(place.point)
        width, half = text_width(place.name, _LABELS[place.kind]) + 50, _LABELS[place.kind] * 2 // 3
        for box in ((x - 22, y - half, x + width, y + half), (x - width, y - half, x + 22, y + half)):
            if _inside(box, frame) and not any(_meet(box, other) for other in taken):
                found.append((place, box))
                taken.append(box)
                break
    return tuple(found)


def pin_box(frame: Frame, point: Point) -> Bounds | None:
    """Return the box of a pin, whose tip is on the point; None if it is not on the map."""
    x, y = frame.at(point)
    box = (x - _SIDE // 2, y - _SIDE, x + _SIDE // 2, y)
    return box if _inside(box, frame) else None


def _inside(box: Bounds, frame: Frame) -> bool:
    return min(box) >= 0 and box[2] <= frame.width and box[3] <= frame.height


def _meet(one: Bounds, other: Bounds) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


# -- the picture ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Map:
    """A map to look at.

    Attributes:
        frame: Which part.
        line: A track or route to draw.
        pins: What is marked.
        buttons: What lies on it.
        cross: Whether the middle is marked.
    """

    frame: Frame
    line: tuple[Point, ...] = ()
    pins: tuple[Pin, ...] = ()
    buttons: tuple[Button, ...] = ()
    cross: bool = False

    def draw(self) -> NDArray[np.uint8]:
        """Return its pixels, (height, width, 3)."""
        frame = self.frame
        image = Image.new("RGB", (frame.width, frame.height), _LAND)
        pen = ImageDraw.Draw(image)
        _land(pen, frame)
        _roads(pen, frame)
        _names(image, frame, self.buttons)
        if self.line:
            pen.line([frame.at(point) for point in self.line], fill=(66, 70, 200), width=14, joint="curve")
            for point in self.line:
                x, y = frame.at(point)
                pen.ellipse((x - 13, y - 13, x + 13, y + 13), fill=(255, 255, 255), outline=(66, 70, 200), width=5)
        for pin in self.pins:
            box = pin_box(frame, pin.point)
            if box is not None:
                shape, mask = _pin(pin.kind)
                image.paste(shape, box[:2], mask)
        if self.cross:
            x, y = frame.width // 2, frame.height // 2
            for ends in (
                (x - 60, y, x - 14, y),
                (x + 14, y, x + 60, y),
                (x, y - 60, x, y - 14),
                (x, y + 14, x, y + 60),
            ):
                pen.line(ends, fill=(220, 60, 40), width=8)
        for button in self.buttons:
            shape, mask = _button(button.icon, button.radius)
            image.paste(shape, (button.x - button.radius - 6, button.y - button.radius - 6), mask)
        _scale(pen, frame)
        return np.asarray(image)


def _line(frame: Frame, points: Iterable[Point]) -> list[tuple[int, int]]:
    return [frame.at(point) for point in points]


def _land(pen: ImageDraw.ImageDraw, frame: Frame) -> None:
    pen.polygon(_line(frame, places.BORDER), fill=_HOME)
    for wood in places.WOODS:
        pen.polygon(_rounded(_line(frame, wood)), fill=_WOOD)
    for place in places.PLACES:
        if place.kind in ("Town", "Village"):
            x, y = frame.at(place.point)
            across = (9 if place.kind == "Town" else 6) * 2 ** (frame.zoom - 8)
            pen.polygon(_rounded([(x - across, y), (x, y - across), (x + across, y), (x, y + across)]), fill=_BUILT)
    for name, points in places.RIVERS:
        wide = 4 * 2 ** (frame.zoom - 11) if name == "Rhine" else 2 * 2 ** (frame.zoom - 11)
        pen.line(_line(frame, points), fill=_WATER, width=round(min(max(wide * 6, 4), 160)), joint="curve")
    border = _line(frame, (*places.BORDER, places.BORDER[0]))
    pen.line(border, fill=(226, 205, 226), width=16, joint="curve")
    pen.line(border, fill=_LIMIT, width=4, joint="curve")


def _rounded(points: list[tuple[int, int]]) -> list[tuple[float, float]]:
    """Cut the corners of a polygon twice, after Chaikin."""
    line: list[tuple[float, float]] = [(float(x), float(y)) for x, y in points]
    for _ in range(2):
        pairs = [(a, b, share) for a, b in zip(line, [*line[1:], line[0]], strict=True) for share in (0.75, 0.25)]
        line = [(share * a[0] + (1 - share) * b[0], share * a[1] + (1 - share) * b[1]) for a, b, share in pairs]
    return line


def _roads(pen: ImageDraw.ImageDraw, frame: Frame) -> None:
    named = {place.name: place.point for place in places.PLACES}
    grown = min(max(1.25 ** (frame.zoom - 11), 0.5), 3.0)
    for kind, (width, edge, middle) in _ROADS.items():
        lines = [
            _line(frame, (named[each] if isinstance(each, str) else each for each in stops))
            for name, stops in places.ROADS
            if name == kind
        ]
        for color, wide in ((edge, width), (middle, width - 6)):
            for points in lines if wide > 0 else ():
                pen.line(points, fill=color, width=max(2, round(wide * grown)), joint="curve")


def _names(image: Image.Image, frame: Frame, buttons: tuple[Button, ...]) -> None:
    pen = ImageDraw.Draw(image)
    for place, box in labels(frame, buttons):
        x, y = frame.at(place.point)
        if place.kind == "Peak":
            pen.polygon((x - 14, y + 10, x + 14, y + 10, x, y - 16), fill=(150, 96, 60))
        elif place.kind == "Castle":
            pen.rectangle((x - 11, y - 11, x + 11, y + 11), fill=(110, 82, 62))
        else:
            pen.ellipse((x - 10, y - 10, x + 10, y + 10), fill=(255, 255, 255), outline=_INK, width=5)
        left = x + 26 if box[2] > x + 30 else box[0] + 4
        color = (120, 80, 52) if place.kind == "Peak" else _INK
        piece = _label(place.name, _LABELS[place.kind], color)
        image.paste(piece, (left - _RIM, y - piece.height // 2), piece)


@lru_cache(maxsize=64)
def _label(name: str, size: int, color: Color) -> Image.Image:
    """Return a name with a white rim."""
    box = (text_width(name, size) + 2 * _RIM, 2 * size)
    piece = Image.new("RGBA", box, (255, 255, 255, 0))
    pen, white = ImageDraw.Draw(piece), (255, 255, 255)
    write(pen, (_RIM, size), name, font_of(size), color, stroke_width=_RIM, stroke_fill=white)
    return piece


def _scale(pen: ImageDraw.ImageDraw, frame: Frame) -> None:
    """Draw a ruler at the bottom: the longest round distance that is not longer than a quarter of the map."""
    side = _TILE * 2**frame.zoom
    metres = math.cos(math.radians(frame.center[0])) * 40_075_017 / side
    rounds = [step * 10**power for power in range(6, 0, -1) for step in (5, 2, 1)]
    shown = next((each for each in rounds if each / metres <= frame.width / 4), 10)
    left, bottom, wide = 370, frame.height - 40, round(shown / metres)
    pen.line((left, bottom - 18, left, bottom, left + wide, bottom, left + wide, bottom - 18), fill=_INK, width=5)
    words = f"{shown // 1000} km" if shown >= 1000 else f"{shown} m"
    pen.text((left + 14, bottom - 14), words, font=font_of(30), fill=_INK, anchor="ls",
             stroke_width=3, stroke_fill=(255, 255, 255))  # fmt: skip


@lru_cache(maxsize=8)
def _pin(kind: str) -> tuple[Image.Image, Image.Image]:
    side, color = _SIDE * _FINE, _PINS[kind]
    mask = Image.new("L", (side, side), 0)
    pen = ImageDraw.Draw(mask)
    pen.ellipse((side * 0.12, 0, side * 0.88, side * 0.76), fill=255)
    pen.polygon((side * 0.2, side * 0.58, side * 0.8, side * 0.58, side * 0.5, side - 1), fill=255)
    shape = Image.new("RGB", (_SIDE, _SIDE), color)
    shape.paste(Image.fromarray(draw_icon(kind, 40, (255, 255, 255), color)), (16, 7))
    return shape, mask.resize((_SIDE, _SIDE), Image.Resampling.BOX)


@lru_cache(maxsize=24)
def _button(icon: str, radius: int) -> tuple[Image.Image, Image.Image]:
    """Return a white disc with a grey rim and its mask."""
    side = 2 * radius + 12
    mask = Image.new("L", (side * _FINE, side * _FINE), 0)
    ImageDraw.Draw(mask).ellipse((0, 0, side * _FINE - 1, side * _FINE - 1), fill=255)
    shape = Image.new("RGB", (side * _FINE, side * _FINE), (196, 198, 202))
    edge = 5 * _FINE
    ImageDraw.Draw(shape).ellipse((edge, edge, side * _FINE - edge, side * _FINE - edge), fill=(255, 255, 255))
    shape = shape.resize((side, side), Image.Resampling.BOX)
    sign = Image.fromarray(draw_icon(icon, round(radius * 1.1), (70, 74, 80), (255, 255, 255)))
    shape.paste(sign, ((side - sign.width) // 2, (side - sign.width) // 2))
    return shape, mask.resize((side, side), Image.Resampling.BOX)
