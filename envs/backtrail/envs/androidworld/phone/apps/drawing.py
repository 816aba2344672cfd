"""A canvas for drawings, which are kept as files that list their strokes."""

from __future__ import annotations

import json
import posixpath
from typing import Any

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.device import Phone
from backtrail.envs.androidworld.phone.files import SHARED
from backtrail.envs.androidworld.phone.page import GREY, LINE
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import Bounds, Color, View

__all__ = ["COLORS", "ENDINGS", "PICTURES", "Draw", "add_drawing", "read_drawing", "save_drawing"]

PICTURES = f"{SHARED}/Pictures"
"""Where drawings are, unless another folder is chosen."""

ENDINGS = ("png", "jpg", "svg")

COLORS: dict[str, Color] = {
    "Black": (0, 0, 0),
    "Red": (217, 48, 37),
    "Orange": (242, 137, 0),
    "Yellow": (244, 200, 40),
    "Green": (30, 142, 62),
    "Blue": (26, 115, 232),
    "Purple": (132, 48, 206),
    "White": (255, 255, 255),
}

Stroke = list[Any]
"""Start and end as fractions of the canvas, and the name of the color."""

_FOLDERS = ("Pictures", "DCIM", "Download", "Documents")
_PIECE = 8  # pixels of a stroke in one view


def read_drawing(phone: Phone, path: str) -> list[Stroke]:
    """Return the strokes of a drawing: [x1, y1, x2, y2, color], as fractions; none if the file is no drawing."""
    try:
        about = json.loads(phone.files.read(path) or "{}")
    except json.JSONDecodeError:
        return []
    found = about.get("strokes") if isinstance(about, dict) else None
    return [_stroke(each) for each in found or () if isinstance(each, list) and len(each) >= 4]


def _stroke(found: list[Any]) -> Stroke:
    """Return a stroke of a file with a color that there is; black if it names none."""
    color = found[4] if len(found) > 4 and found[4] in COLORS else "Black"
    return [*found[:4], color]


def add_drawing(phone: Phone, path: str, strokes: list[Stroke], background: str = "White") -> None:
    """Write a drawing's file."""
    phone.files.write(path, json.dumps({"type": "drawing", "background": background, "strokes": strokes}))


def save_drawing(phone: Phone, path: str) -> None:
    """Write what is on the canvas to a file."""
    data = phone.data("draw")
    add_drawing(phone, path, data["strokes"], data["background"])
    data["path"] = path


class Draw(App):
    """Draws with a finger."""

    key = "draw"
    label = "Draw"
    package = "com.simplemobiletools.draw.pro"
    activity = "com.simplemobiletools.draw.pro.activities.MainActivity"
    icon = "brush"
    tint = (230, 81, 0)

    def fresh(self) -> Data:
        """Return an empty canvas; "undone" holds the strokes that redo brings back, "path" where it was saved."""
        return {"strokes": [], "undone": [], "color": "Black", "background": "White", "path": ""}

    def draw(self, ui: Ui) -> None:
        """Draw a page."""
        if ui.page == "open":
            _open(ui)
        else:
            _main(ui)


def _main(ui: Ui) -> None:
    data = ui.data

    def undo() -> None:
        data["undone"].append(data["strokes"].pop())

    def redo() -> None:
        data["strokes"].append(data["undone"].pop())

    ui.bar(
        "Draw",
        ("left", "Undo", undo if data["strokes"] else None),
        ("right", "Redo", redo if data["undone"] else None),
        ("check", "Save", lambda: _ask_save(ui)),
        up=False,
        menu=(
            ("Save as", lambda: _ask_save(ui)),
            ("Open file", lambda: ui.phone.go("open")),
            ("Change background", lambda: ui.overlay("background")),
            ("Clear", lambda: ui.overlay("clear")),
        ),
    )
    bottom = ui.bottom - (0 if ui.phone.state["keyboard"] else 170)
    _canvas(ui, (ui.left, ui.top, ui.right, bottom))
    if not ui.phone.state["keyboard"]:
        _palette(ui, bottom)
    overlay = ui.state.get("overlay")
    if overlay == "clear":
        ui.confirm("Clear the whole canvas?", "Clear", lambda: data.update(strokes=[], undone=[], path=""))
    elif overlay == "background":
        ui.choose("Background", list(COLORS), data["background"], lambda name: data.update(background=name))
    elif overlay == "save":
        _save(ui)
    elif overlay == "folder":
        ui.choose(
            "Select folder", _FOLDERS, ui.state["folder"], lambda name: ui.state.update(folder=name, overlay="save")
        )
    elif overlay == "replace":
        ui.confirm(f"{posixpath.basename(_path(ui))} exists. Replace it?", "Yes", lambda: _write(ui), "No")


def _canvas(ui: Ui, box: Bounds) -> None:
    data = ui.data

    def stroke(start: tuple[float, float], end: tuple[float, float]) -> None:
        x, y = (min(max(share, 0.0), 1.0) for share in end)
        data["strokes"].append([*start, x, y, data["color"]])
        data["undone"] = []

    black = tuple((x1, y1, x2, y2) for x1, y1, x2, y2, color in data["strokes"] if color == "Black")
    view = ui.add(
        View(
            "View",
            box,
            description="Canvas",
            on_stroke=stroke,
            strokes=black,
            color=COLORS["Black"],
            fill=COLORS[data["background"]],
            resource=ui.id("my_canvas"),
        )
    )
    for each in data["strokes"]:
        if each[4] != "Black":
            view.children += _pieces(box, each)


def _pieces(box: Bounds, stroke: Stroke) -> list[View]:
    """Return a coloured stroke as small views: a canvas has one colour, and a view covers what is below it."""
    left, top, right, bottom = box
    x1, x2 = (left + share * (right - left) for share in (stroke[0], stroke[2]))
    y1, y2 = (top + share * (bottom - top) for share in (stroke[1], stroke[3]))
    count = max(1, round(max(abs(x2 - x1), abs(y2 - y1)) / _PIECE))
    points = [(x1 + (x2 - x1) * n / count, y1 + (y2 - y1) * n / count) for n in range(count + 1)]
    return [
        View("View", (round(x) - 5, round(y) - 5, round(x) + 5, round(y) + 5), fill=COLORS[stroke[4]])
        for x, y in points
    ]


def _palette(ui: Ui, top: int) -> None:
    ui.add(View("View", (ui.left, top, ui.right, top + 3), fill=LINE))
    width = (ui.right - ui.left) // len(COLORS)
    for place, (name, color) in enumerate(COLORS.items()):
        left, on = ui.left + place * width, ui.data["color"] == name
        cell = ui.add(
            View(
                "RadioButton",
                (left + 6, top + 20, left + width - 6, top + 150),
                description=f"{name} color",
                on_tap=lambda name=name: ui.data.update(color=name),
                selected=on,
                fill=(210, 214, 220) if on else (241, 243, 244),
                radius=20,
            )
        )
        cell.children = [View("View", (left + 26, top + 45, left + width - 26, top + 125), fill=color, radius=40)]


def _ask_save(ui: Ui) -> None:
    ui.state.update(folder="Pictures", ending="png")
    stem, ending = posixpath.splitext(posixpath.basename(ui.data["path"]))
    if ui.data["path"]:
        ui.state["ending"] = ending[1:]
    ui.fill("name", stem or f"image_{ui.phone.now:%Y%m%d_%H%M%S}")
    ui.overlay("save")


def _path(ui: Ui) -> str:
    """Return the path that is asked for; a name that ends as a picture does keeps its ending."""
    name = ui.typed("name").strip()
    if name.rpartition(".")[2].lower() not in ENDINGS or "." not in name:
        name = f"{name}.{ui.state['ending']}"
    return f"{SHARED}/{ui.state['folder']}/{name}"


def _save(ui: Ui) -> None:
    phone = ui.phone

    def done() -> None:
        phone.state.update(focus="", keyboard=False)
        name = ui.typed("name").strip()
        if not name or "/" in name:
            phone.toast("Name cannot be empty" if not name else "Name has a character that is not allowed")
            ui.overlay("save")
        elif phone.files.exists(_path(ui)):
            ui.overlay("replace")
        else:
            _write(ui)

    def cancel() -> None:
        phone.state.update(focus="", keyboard=False)

    with ui.dialog("Save as", ("Cancel", cancel), ("OK", done), height=860):
        ui.text("Path", 34, GREY)
        ui.row(
            f"Internal/{ui.state['folder']}",
            icon="folder",
            tap=lambda: ui.overlay("folder"),
            resource="save_image_path",
        )
        ui.field("name", "Filename", resource="save_image_filename")
        for ending in ENDINGS:
            ui.row(ending.upper(), radio=ui.state["ending"] == ending, tap=lambda e=ending: ui.state.update(ending=e))


def _write(ui: Ui) -> None:
    save_drawing(ui.phone, _path(ui))
    ui.phone.toast("File saved successfully")


def _open(ui: Ui) -> None:
    phone = ui.phone
    ui.bar("Open file")
    paths = [path for path in phone.files.all() if path.startswith(SHARED) and read_drawing(phone, path)]

    def load(path: str) -> None:
        ui.data.update(strokes=read_drawing(phone, path), undone=[], path=path)
        phone.close()

    with ui.scroll():
        if not paths:
            ui.gap(500)
            ui.text("No drawings yet", 52, GREY, align="center")
        for path in paths:
            ui.row(posixpath.basename(path), posixpath.dirname(path), icon="brush", tap=lambda path=path: load(path))
