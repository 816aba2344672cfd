"""The page of a call, and the keys of a telephone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.apps.calls import answer, current, hang_up
from backtrail.envs.androidworld.phone.apps.extras import empty, face, labelled, pretty
from backtrail.envs.androidworld.phone.apps.people import KEY as PEOPLE
from backtrail.envs.androidworld.phone.apps.people import name_of
from backtrail.envs.androidworld.phone.page import GREY, SURFACE, WHITE
from backtrail.envs.androidworld.phone.views import View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["draw_call", "draw_pad"]

_KEYS = (
    ("1", ""), ("2", "ABC"), ("3", "DEF"), ("4", "GHI"), ("5", "JKL"), ("6", "MNO"), ("7", "PQRS"), ("8", "TUV"),
    ("9", "WXYZ"), ("*", ""), ("0", "+"), ("#", ""),
)  # fmt: skip
_RED, _GREEN = (217, 48, 37), (24, 128, 56)


def draw_pad(ui: Ui, press: Callable[[str], object]) -> None:
    """Draw the twelve keys, 920 pixels high; ``press`` is called with the key."""
    width, height = (ui.right - ui.left) // 3, 230
    for place, (key, letters) in enumerate(_KEYS):
        x, y = ui.left + place % 3 * width, ui.top + place // 3 * height
        box = (x + 12, y + 10, x + width - 12, y + height - 10)
        name = f"{key},{letters}" if letters else key
        view = View("FrameLayout", box, description=name, fill=SURFACE, radius=90, on_tap=lambda key=key: press(key))
        if key == "0":
            view.on_hold = lambda: press("+")
        view.children = [
            View("TextView", (box[0], y + 30, box[2], y + 130), key, size=70, align="center"),
            View("TextView", (box[0], y + 130, box[2], y + 190), letters, size=34, align="center", color=GREY),
        ]
        ui.add(view)
    ui.top += 4 * height


def draw_call(ui: Ui) -> None:
    """Draw the call that is going on."""
    call = current(ui.phone)
    if call is None:
        ui.bar("")
        empty(ui, "Call ended", "phone")
        return
    ui.gap(120)
    name = name_of(ui.phone, call["number"])
    ui.text(_status(ui, call), 42, GREY, "center", resource="contactgrid_status_text")
    ui.text(name or pretty(call["number"]), 76, align="center", resource="contactgrid_contact_name")
    if name:
        ui.text(pretty(call["number"]), 44, GREY, "center", resource="contactgrid_number")
    if call["keypad"] and not call["ringing"]:
        ui.gap(40)
        ui.text(call["tones"] or " ", 60, align="center", resource="incall_tones")
        draw_pad(ui, lambda key: call.update(tones=call["tones"] + key))
        ui.button("Hide keypad", lambda: call.update(keypad=False), filled=False)
    else:
        middle = (ui.left + ui.right) // 2
        ui.add(face((middle - 190, ui.top + 70, middle + 190, ui.top + 450), name or call["number"]))
        if not call["ringing"]:
            _controls(ui, call)
    _ends(ui, call)


def _status(ui: Ui, call: dict[str, Any]) -> str:
    if call["ringing"]:
        return "Incoming call"
    if call["held"]:
        return "On hold"
    if call["since"] is None:
        return "Calling…"
    seconds = ui.phone.state["now"] - call["since"]
    return f"{seconds // 60:02d}:{seconds % 60:02d}"


def _controls(ui: Ui, call: dict[str, Any]) -> None:
    def turn(what: str) -> Callable[[], object]:
        return lambda: call.update({what: not call[what]})

    def add() -> None:
        ui.phone.hand_over(PEOPLE, "main")

    entries = (
        ("mic", "Mute", call["muted"], turn("muted")),
        ("menu", "Keypad", False, turn("keypad")),
        ("volume", "Speaker", call["speaker"], turn("speaker")),
        ("add", "Add call", False, add),
        ("pause", "Hold", call["held"], turn("held")),
        ("message", "Message", False, lambda: ui.phone.toast("Send the message after the call")),
    )
    top, width = ui.bottom - 900, (ui.right - ui.left) // 3
    for place, (icon, name, on, tap) in enumerate(entries):
        x, y = ui.left + place % 3 * width, top + place // 3 * 290
        fill, color = (ui.app.tint, WHITE) if on else (SURFACE, GREY)
        labelled(ui, (x, y, x + width, y + 260), icon, name, tap, fill=fill, color=color, selected=on)


def _ends(ui: Ui, call: dict[str, Any]) -> None:
    """Draw the buttons that end or answer the call."""
    middle, top = (ui.left + ui.right) // 2, ui.bottom - 310
    if call["ringing"]:
        box = (ui.left + 60, top, middle - 60, ui.bottom - 30)
        labelled(ui, box, "phone", "Decline", lambda: hang_up(ui.phone), fill=_RED, color=WHITE)
        box = (middle + 60, top, ui.right - 60, ui.bottom - 30)
        labelled(ui, box, "phone", "Answer", lambda: answer(ui.phone), fill=_GREEN, color=WHITE)
    else:
        box = (middle - 200, top, middle + 200, ui.bottom - 30)
        labelled(ui, box, "phone", "End call", lambda: hang_up(ui.phone), fill=_RED, color=WHITE)
