"""Draws the blocks of a page of the browser."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.apps.pictures import picture_view
from backtrail.envs.androidworld.phone.apps.web import KEY, visit
from backtrail.envs.androidworld.phone.draw import line_height, text_width, wrapped
from backtrail.envs.androidworld.phone.page import GREY, LINE, SURFACE, WHITE
from backtrail.envs.androidworld.phone.views import Color, View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.app import Data
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["draw_page"]

_BLACK, _GREEN, _BLUE, _AMBER = (0, 0, 0), (0, 128, 0), (26, 13, 171), (251, 188, 4)
_MOVES = {"Up": (-1, 0), "Down": (1, 0), "Left": (0, -1), "Right": (0, 1)}


def draw_page(ui: Ui, page: Data, entry: dict[str, Any]) -> None:
    """Draw a page; ``entry`` is the visit to it, whose "memory" its puzzles and forms write."""
    memory = entry["memory"]
    if memory.get("done"):
        _heading(ui, "Success!")
        return
    for place, block in enumerate(page["blocks"]):
        _DRAW[block["kind"]](ui, block, memory, f"{entry['loads']} {place}")


def _heading(ui: Ui, text: str) -> None:
    ui.gap(20)
    ui.text(text, 62)


def _text(ui: Ui, text: str) -> None:
    ui.text(text, 42)


def _link(ui: Ui, text: str, tap: Callable[[], object]) -> None:
    width = ui.right - ui.left - 96
    lines = wrapped(text, 44, width - 48)
    box = (ui.left + 48, ui.top, ui.right - 48, ui.top + line_height(44) * len(lines) + 44)
    ui.add(View("TextView", box, text, size=44, color=_BLUE, wrap=True, on_tap=tap))
    ui.top = box[3]


def _picture(ui: Ui, path: str) -> None:
    height = ui.bottom - ui.top - 40  # what fills the page does not scroll
    ui.add(picture_view(ui.phone, path, (ui.left, ui.top, ui.right, ui.top + height)))
    ui.top += height


def _button(ui: Ui, block: Data, memory: Data, key: str) -> None:
    def press() -> None:
        if "to" in block:
            visit(ui.phone, block["to"])
        else:
            memory[key] = block.get("says", "")

    _small(ui, block["text"], press)
    if memory.get(key):
        ui.text(memory[key], 42)


def _small(ui: Ui, text: str, tap: Callable[[], object], x: int | None = None) -> int:
    """Draw a grey button as wide as its text; returns where it ends. Without ``x`` it has a line of its own."""
    left = ui.left + 60 if x is None else x
    box = (left, ui.top + 15, left + text_width(text, 42) + 90, ui.top + 125)
    view = View("Button", box, text, on_tap=tap, fill=SURFACE, radius=16, size=42, align="center")
    ui.add(view)
    if x is None:
        ui.top += 140
    return box[2]


def _row(ui: Ui, *entries: tuple[str, Callable[[], object]]) -> None:
    """Draw grey buttons beside each other."""
    x = ui.left + 60
    for text, tap in entries:
        x = _small(ui, text, tap, x) + 20
    ui.top += 140


# -- forms ------------------------------------------------------------------------------------------------


def _form(ui: Ui, block: Data, memory: Data, key: str) -> None:
    def text_of(field: Data) -> str:
        return ui.typed(f"{key} {field['name']}")

    def send() -> None:
        missing = [field for field in block["fields"] if field.get("required") and not text_of(field).strip()]
        if missing:
            memory[key] = f"Please fill out this field: {missing[0]['hint']}"
            return
        values = {field["name"]: text_of(field).strip() for field in block["fields"]}
        ui.phone.data(KEY)["forms"].append({"name": block["name"], "values": values, "time": ui.phone.state["now"]})
        right = all(values.get(name, "").lower() == want.lower() for name, want in block.get("expect", {}).items())
        memory[key] = block.get("thanks", "Success!") if right else block.get("wrong", "That is not right.")

    for field in block["fields"]:
        ui.field(f"{key} {field['name']}", field["hint"], enter=send, resource=field["name"])
    _small(ui, block.get("submit", "Submit"), send)
    if memory.get(key):
        ui.text(memory[key], 44)


# -- puzzles ----------------------------------------------------------------------------------------------


def _cells(ui: Ui, rows: list[str], side: int, draw: Callable[[int, int, tuple[int, int, int, int]], View]) -> None:
    for row, cells in enumerate(rows):
        for column in range(len(cells)):
            x, y = ui.left + 60 + column * side, ui.top + 20 + row * side
            ui.add(View("View", (x, y, x + side, y + side), fill=_BLACK))
            ui.add(draw(row, column, (x + 3, y + 3, x + side - 3, y + side - 3)))
    ui.top += 40 + side * len(rows)


def _maze(ui: Ui, block: Data, memory: Data, key: str) -> None:
    rows, (at_row, at_column) = block["rows"], memory.get(key, [0, 0])

    def cell(row: int, column: int, box: tuple[int, int, int, int]) -> View:
        kind = rows[row][column]
        if [row, column] == [at_row, at_column]:
            return View("TextView", box, "X", fill=WHITE, size=80, align="center")
        name, fill = {"#": ("Wall", _BLACK), "$": ("Goal", _GREEN)}.get(kind, ("Free", WHITE))
        return View("View", box, description=name, fill=fill)

    def move(way: str) -> None:
        row, column = at_row + _MOVES[way][0], at_column + _MOVES[way][1]
        if 0 <= row < len(rows) and 0 <= column < len(rows[row]) and rows[row][column] != "#":
            memory[key] = [row, column]
            memory["done"] = rows[row][column] == "$"

    _cells(ui, rows, min(200, (ui.right - ui.left - 120) // max(map(len, rows))), cell)
    _row(ui, *((way, lambda way=way: move(way)) for way in _MOVES))


def _lights(ui: Ui, block: Data, memory: Data, key: str) -> None:
    rows = memory.get(key, block["rows"])

    def toggle(row: int, column: int) -> None:
        near = {(row, column), *((row + down, column + right) for down, right in _MOVES.values())}
        swap = {"#": ".", ".": "#"}
        memory[key] = [
            "".join(swap[lamp] if (r, c) in near else lamp for c, lamp in enumerate(lamps))
            for r, lamps in enumerate(rows)
        ]
        memory["done"] = "#" not in "".join(memory[key])

    def cell(row: int, column: int, box: tuple[int, int, int, int]) -> View:
        on = rows[row][column] == "#"
        name = f"Row {row + 1} column {column + 1} {'on' if on else 'off'}"
        view = View("Button", box, description=name, fill=_AMBER if on else LINE, selected=on)
        view.on_tap = lambda: toggle(row, column)
        return view

    _cells(ui, rows, min(200, (ui.right - ui.left - 120) // max(map(len, rows))), cell)


def _product(ui: Ui, block: Data, memory: Data, key: str) -> None:
    count, numbers = memory.get(key, 1), block["numbers"]
    if count <= len(numbers):
        ui.gap(60)
        ui.text(str(numbers[count - 1]), 96, align="center")
        _small(ui, "Click Me", lambda: memory.update({key: count + 1}), (ui.left + ui.right) // 2 - 130)
        ui.top += 140
        return
    right = str(prod(numbers))
    ui.gap(60)

    def check() -> None:
        memory["answer"] = ui.typed(key).strip() == right

    ui.field(key, "Enter the product", enter=check, resource="answer")
    _small(ui, "Submit", check)
    if memory.get("answer"):
        _heading(ui, "Success!")


def _colors(ui: Ui, block: Data, memory: Data, key: str) -> None:
    middle, strokes = (ui.left + ui.right) // 2, memory.get(key, [])
    for place, color in enumerate(block["targets"]):
        x = middle - 270 + place * 190
        box = (x, ui.top + 20, x + 160, ui.top + 180)
        ui.add(View("View", box, description=f"Color {place + 1} #{color}", fill=_color(color)))
    ui.top += 200
    box = (middle - 350, ui.top, middle + 350, ui.top + 700)
    ui.add(View("View", (box[0] - 3, box[1] - 3, box[2] + 3, box[3] + 3), fill=_BLACK))
    pen = memory.get("pen", "000000")

    def stroke(start: tuple[float, float], end: tuple[float, float]) -> None:
        memory[key] = [*strokes, [pen, *start, *(min(max(share, 0), 1) for share in end)]]

    canvas = View("View", box, description="Canvas", fill=WHITE, on_stroke=stroke)
    for each in strokes:
        canvas.children += _stroke(box, each)
    ui.add(canvas)
    ui.top += 720
    ui.text("Available Colors:", 40, GREY, "center")
    for place, color in enumerate(block["palette"]):
        x, y = middle - 400 + place % 8 * 100, ui.top + place // 8 * 100
        view = View(
            "Button", (x, y, x + 84, y + 84), description=f"#{color}", fill=_color(color), selected=color == pen
        )
        view.on_tap = lambda color=color: memory.update(pen=color)
        ui.add(view)
    ui.top += 100 * ((len(block["palette"]) + 7) // 8)

    def submit() -> None:
        memory["answer"] = set(block["targets"]) <= {each[0] for each in strokes}

    _row(ui, ("Clear", lambda: memory.update({key: []})), ("Submit", submit))
    if memory.get("answer"):
        ui.text("Success!", 44, align="center")


def _stroke(box: tuple[int, int, int, int], stroke: list[Any]) -> list[View]:
    """Return a stroke as little squares."""
    left, top, right, bottom = box
    name, x1, y1, x2, y2 = stroke
    count = max(1, round(30 * max(abs(x2 - x1), abs(y2 - y1))))
    views = []
    for n in range(count + 1):
        x = round(left + (x1 + (x2 - x1) * n / count) * (right - left))
        y = round(top + (y1 + (y2 - y1) * n / count) * (bottom - top))
        square = (max(x - 13, left), max(y - 13, top), min(x + 13, right), min(y + 13, bottom))
        views.append(View("View", square, fill=_color(name)))
    return views


def _color(name: str) -> Color:
    return int(name[:2], 16), int(name[2:4], 16), int(name[4:], 16)


_DRAW: dict[str, Callable[[Ui, Data, Data, str], None]] = {
    "heading": lambda ui, block, memory, key: _heading(ui, block["text"]),
    "text": lambda ui, block, memory, key: _text(ui, block["text"]),
    "link": lambda ui, block, memory, key: _link(ui, block["text"], lambda: visit(ui.phone, block["to"])),
    "picture": lambda ui, block, memory, key: _picture(ui, block["path"]),
    "button": _button, "form": _form, "maze": _maze, "lights": _lights, "product": _product, "colors": _colors,
}  # fmt: skip
