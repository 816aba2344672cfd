"""Draws views. Every piece (a text, an icon, a rounded corner) is drawn once on its ground and kept, so a screen is copies of pieces."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from backtrail.envs.androidworld.phone.decode import fitted
from backtrail.envs.androidworld.phone.icons import draw_icon
from backtrail.envs.androidworld.phone.letters import plain, write
from backtrail.envs.androidworld.phone.views import HEIGHT, WIDTH, Bounds, Color, Scene, View

__all__ = ["font_of", "line_height", "render", "text_width", "wrapped"]

Picture = NDArray[np.uint8]

_FINE = 4  # pieces with curves are drawn so much larger and then reduced
_ACCENT: Color = (26, 115, 232)
_GREY: Color = (189, 193, 198)
_HINT: Color = (128, 134, 139)
_MARK = 100  # largest side of a switch, check box or radio button
_PADDING = 24  # pixels between the edge of a view and its text
_EDGE = 2  # pixels that letters may reach beyond the width of a text
_WHITE: Color = (255, 255, 255)


def render(root: View, scale: float = 1.0) -> Picture:
    """Return a new picture of a tree of views, (height, width, 3).

    Args:
        root: The screen.
        scale: Size of the picture relative to the screen.
    """
    height, width = round(HEIGHT * scale), round(WIDTH * scale)
    canvas = np.empty((height, width * 3), np.uint8)  # flat rows: filling them copies bytes, which is ten times faster
    canvas[:] = _row(width, root.fill or _WHITE)
    _draw(root, canvas, scale, root.fill or _WHITE)
    return canvas.reshape(height, width, 3)


def text_width(text: str, size: int) -> int:
    """Return how wide a line of text is, in pixels."""
    return _width(text, size)


def line_height(size: int) -> int:
    """Return the distance of two lines, in pixels."""
    return round(size * 1.3)


@lru_cache(maxsize=4096)
def wrapped(text: str, size: int, width: int) -> tuple[str, ...]:
    """Break a text into lines that are at most ``width`` pixels wide; words that are longer are cut."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if _width(longer, size) <= width:
                line = longer
                continue
            if line:
                lines.append(line)
            line = word
            while _width(line, size) > width and len(line) > 1:
                ends = range(1, min(len(line), width))  # no character is narrower than a pixel
                fits = max(1, bisect_right(ends, width, key=lambda end: _width(line[:end], size)))
                lines.append(line[:fits])
                line = line[fits:]
        lines.append(line)
    return tuple(lines)


def _draw(view: View, canvas: Picture, scale: float, ground: Color) -> None:
    box = _scaled(view.bounds, scale)
    left, top, right, bottom = box
    if right <= left or bottom <= top:
        return
    if view.dim:
        part = canvas[max(top, 0) : bottom, 3 * max(left, 0) : 3 * right]
        np.right_shift(part, 1, out=part)
    if view.fill is not None:
        _fill(canvas, box, view.fill, round(view.radius * scale), ground)
        ground = view.fill
    if view.kind in ("Switch", "CheckBox", "RadioButton") and view.checked is not None:
        _paste(
            canvas,
            box,
            _mark(view.kind, view.checked, min(right - left, bottom - top, round(_MARK * scale)), ground),
            "center",
        )
    elif view.value is not None:
        _slider(canvas, box, view.value, scale, view.kind == "SeekBar")
    elif view.icon:
        side = min(right - left, bottom - top, round((view.size + 14) * scale))
        _paste(canvas, box, draw_icon(view.icon, side, view.color, ground), "center")
    elif view.strokes:
        _strokes(canvas, box, view, scale, ground)
    elif view.scene is not None:
        _paste(canvas, box, _drawn(view.scene, right - left, bottom - top), "left")
    elif view.picture:
        whole = _scaled(view.whole or view.bounds, scale)
        piece = fitted(view.picture, whole[2] - whole[0], whole[3] - whole[1], ground)
        if piece is not None:
            _paste(canvas, box, piece, "center", whole)
    if view.kind == "EditText":
        color = _ACCENT if view.focused else _HINT
        _rectangle(canvas, left, bottom - max(1, round(4 * scale)), right, bottom, color)
    _write(view, canvas, box, scale, ground)
    for child in view.children:
        _draw(child, canvas, scale, ground)


def _write(view: View, canvas: Picture, box: Bounds, scale: float, ground: Color) -> None:
    text = "*" * len(view.text) if view.password else view.text
    color = view.color if text else _HINT
    text = text or view.hint
    if view.icon or not text:
        return
    color = color if view.enabled else _GREY
    left, top, right, bottom = box
    size, pad = max(6, round(view.size * scale)), 0 if view.align == "center" else round(_PADDING * scale)
    if not view.wrap:
        line = text.split("\n")[0]
        room = view.bounds[2] - view.bounds[0] - (0 if view.align == "center" else _PADDING)
        if view.kind != "EditText" and _width(line, view.size) > room:  # at full size: small letters run wider
            line = _shortened(line, size, right - left - pad - _EDGE)
        _paste(canvas, (left + pad, top, right, bottom), _text(line, size, color, ground), view.align)
        return
    step = line_height(size)
    lines = wrapped(text, size, max(1, right - left - 2 * pad))
    at = max(top, (top + bottom - step * len(lines)) // 2)
    for line in lines:
        if line:
            _paste(
                canvas, (left + pad, at, right, min(at + step, bottom)), _text(line, size, color, ground), view.align
            )
        at += step


def _scaled(bounds: Bounds, scale: float) -> Bounds:
    if scale == 1:
        return bounds
    left, top, right, bottom = bounds
    return round(left * scale), round(top * scale), round(right * scale), round(bottom * scale)


def _paste(canvas: Picture, box: Bounds, piece: Picture, align: str, whole: Bounds | None = None) -> None:
    """Copy a piece into a box, in the middle of the height of it or of ``whole``; what does not fit is cut off."""
    left, top, right, bottom = whole or box
    height, width = piece.shape[:2]
    y = (top + bottom - height) // 2
    x = (left + right - width) // 2 if align == "center" else left
    left, top, right, bottom = box
    x0, y0 = max(x, left, 0), max(y, top, 0)
    x1, y1 = min(x + width, right, canvas.shape[1] // 3), min(y + height, bottom, canvas.shape[0])
    if x1 > x0 and y1 > y0:
        flat = piece.reshape(height, 3 * width)
        canvas[y0:y1, 3 * x0 : 3 * x1] = flat[y0 - y : y1 - y, 3 * (x0 - x) : 3 * (x1 - x)]


def _rectangle(canvas: Picture, left: int, top: int, right: int, bottom: int, color: Color) -> None:
    left, top = max(left, 0), max(top, 0)
    if right > left:
        canvas[top:bottom, 3 * left : 3 * right] = _row(min(right, canvas.shape[1] // 3) - left, color)


def _fill(canvas: Picture, box: Bounds, color: Color, radius: int, ground: Color) -> None:
    left, top, right, bottom = box
    radius = min(radius, (right - left) // 2, (bottom - top) // 2)
    if radius < 2 or color == ground:
        _rectangle(canvas, left, top, right, bottom, color)
        return
    corners = _corners(radius, color, ground)
    _rectangle(canvas, left + radius, top, right - radius, bottom, color)
    _rectangle(canvas, left, top + radius, right, bottom - radius, color)
    for number, piece in enumerate(corners):
        x = left if number % 2 == 0 else right - radius
        y = top if number < 2 else bottom - radius
        _paste(canvas, (x, y, x + radius, y + radius), piece, "left")


def _slider(canvas: Picture, box: Bounds, value: float, scale: float, knob: bool) -> None:
    left, top, right, bottom = box
    middle, thick = (top + bottom) // 2, max(1, round(5 * scale))
    at = left + round(value * (right - left))
    _rectangle(canvas, left, middle - thick, right, middle + thick, _GREY)
    _rectangle(canvas, left, middle - thick, at, middle + thick, _ACCENT)
    if knob:
        half = max(3, round(26 * scale))
        _rectangle(canvas, at - half // 2, middle - half, at + half // 2, middle + half, _ACCENT)


def _strokes(canvas: Picture, box: Bounds, view: View, scale: float, ground: Color) -> None:
    left, top, right, bottom = box
    image = Image.new("RGB", (right - left, bottom - top), ground)
    pen = ImageDraw.Draw(image)
    for x1, y1, x2, y2 in view.strokes:
        ends = (x1 * image.width, y1 * image.height, x2 * image.width, y2 * image.height)
        pen.line(ends, fill=view.color, width=max(1, round(10 * scale)))
    _paste(canvas, box, np.asarray(image), "left")


# -- pieces -----------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)  # several megabytes each
def _drawn(scene: Scene, width: int, height: int) -> Picture:
    pixels = scene.draw()
    if pixels.shape[:2] == (height, width):
        return pixels
    return np.asarray(Image.fromarray(pixels).resize((width, height), Image.Resampling.BOX, reducing_gap=1.0))


@lru_cache(maxsize=64)
def font_of(size: int) -> ImageFont.FreeTypeFont:
    """Return the font of all texts in a size."""
    font = ImageFont.load_default(size=size)  # part of Pillow: the same on every machine
    if isinstance(font, ImageFont.FreeTypeFont):
        return font
    raise ImportError("Expected Pillow with FreeType, got one without: install Pillow from a wheel")


@lru_cache(maxsize=8192)
def _width(text: str, size: int) -> int:
    return round(font_of(size).getlength(plain(text)))


@lru_cache(maxsize=4096)
def _shortened(text: str, size: int, width: int) -> str:
    """Return a line that is too wide as far as it fits, with an ellipsis in place of the rest."""
    fits = bisect_right(range(len(text)), width, key=lambda end: _width(f"{text[:end]}…", size))
    return f"{text[: max(0, fits - 1)].rstrip()}…"


@lru_cache(maxsize=2048)
def _text(text: str, size: int, color: Color, ground: Color) -> Picture:
    image = Image.new("RGB", (max(1, _width(text, size) + _EDGE), line_height(size)), ground)
    write(ImageDraw.Draw(image), (0, line_height(size) / 2), text, font_of(size), color)
    return np.asarray(image)


@lru_cache(maxsize=512)
def _row(width: int, color: Color) -> Picture:
    """Return a row of pixels, flat."""
    return np.tile(np.array(color, np.uint8), width)


@lru_cache(maxsize=256)
def _corners(radius: int, color: Color, ground: Color) -> tuple[Picture, ...]:
    """Return the upper left, upper right, lower left and lower right corner of a rounded rectangle."""
    image = Image.new("RGB", (radius * _FINE, radius * _FINE), ground)
    ImageDraw.Draw(image).ellipse((0, 0, 2 * radius * _FINE, 2 * radius * _FINE), fill=color)
    corner = np.asarray(image.resize((radius, radius), Image.Resampling.BOX))
    flipped = (corner, corner[:, ::-1], corner[::-1], corner[::-1, ::-1])
    return tuple(np.ascontiguousarray(each) for each in flipped)


@lru_cache(maxsize=256)
def _mark(kind: str, on: bool, side: int, ground: Color) -> Picture:
    """Return a switch, check box or radio button."""
    height = max(8, round(side * 0.62))
    width = height * 2 if kind == "Switch" else height
    image = Image.new("RGB", (width * _FINE, height * _FINE), ground)
    pen, color = ImageDraw.Draw(image), _ACCENT if on else _GREY
    w, h, line = image.width, image.height, max(2, image.height // 12)
    if kind == "Switch":
        pen.rounded_rectangle((0, h // 8, w - 1, h - h // 8), h // 2, fill=color)
        x = w - h + h // 5 if on else h // 5
        pen.ellipse((x, h // 5, x + h - 2 * (h // 5), h - h // 5), fill=_WHITE)
    elif kind == "CheckBox":
        pen.rounded_rectangle(
            (line, line, w - line, h - line), h // 8, fill=color if on else ground, outline=color, width=line
        )
        if on:
            pen.line([(w * 0.24, h * 0.52), (w * 0.43, h * 0.7), (w * 0.77, h * 0.32)], fill=_WHITE, width=line * 2)
    else:
        pen.ellipse((line, line, w - line, h - line), outline=color, width=line)
        if on:
            pen.ellipse((w * 0.28, h * 0.28, w * 0.72, h * 0.72), fill=color)
    return np.asarray(image.resize((width, height), Image.Resampling.BOX))
