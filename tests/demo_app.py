"""A small app for tests of the phone: switches, a slider, a form, a list, dialogs, a canvas, and pages with hardly anything."""

from __future__ import annotations

from functools import partial

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["Demo", "demo_phone"]


class Demo(App):
    key = "demo"
    label = "Demo"
    package = "org.example.demo"
    activity = "org.example.demo.Main"

    def fresh(self) -> Data:
        return {"wifi": True, "bluetooth": False, "brightness": 0.4, "rows": ["ok"], "strokes": []}

    def draw(self, ui: Ui) -> None:
        {"main": _main, "form": _form, "list": _list, "canvas": _canvas}.get(ui.page, _bare)(ui)


def demo_phone(page: str = "main", **data: object) -> Phone:
    """Return a phone that shows a page of the demo app with some of its data changed."""
    phone = Phone([Launcher(), Demo()])
    phone.data("demo").update(data)
    phone.launch("demo")
    if page != "main":
        phone.go(page)
    phone.changed()
    return phone


def _main(ui: Ui) -> None:
    data = ui.data
    ui.bar("Demo", ("search", "Search", None), menu=[("Form", partial(ui.phone.go, "form"))])
    with ui.scroll():
        wifi, bluetooth = data["wifi"], data["bluetooth"]
        ui.row("Wi-Fi", "On" if wifi else "Off", switch=wifi, tap=lambda: data.update(wifi=not wifi))
        ui.row("Bluetooth", switch=bluetooth, tap=lambda: data.update(bluetooth=not bluetooth))
        ui.slider("Brightness", data["brightness"], lambda share: data.update(brightness=share))
        for number in range(30):
            ui.row(f"Row {number}", "More about it", icon="file", tap=partial(ui.overlay, "ask"))
    ui.floating("add", "New", partial(ui.phone.go, "form"))
    if ui.state.get("overlay") == "ask":
        ui.confirm("Really?", "Yes", partial(ui.phone.toast, "Done"))


def _form(ui: Ui) -> None:
    ui.bar("Form")
    ui.field("first", "First name")
    ui.field("secret", "Password", password=True)
    ui.button("Save", ui.phone.close, enabled=bool(ui.typed("first")))


def _list(ui: Ui) -> None:
    ui.bar("List")
    with ui.scroll():
        for row in ui.data["rows"]:
            ui.row(row)


def _canvas(ui: Ui) -> None:
    ui.bar("Canvas")
    box = (ui.left, ui.top, ui.right, ui.bottom)
    ui.add(
        View("Canvas", box, strokes=tuple(tuple(stroke) for stroke in ui.data["strokes"]), on_stroke=lambda a, b: None)
    )


def _bare(ui: Ui) -> None:
    ui.bar(ui.page)
    ui.text("Nothing here")
