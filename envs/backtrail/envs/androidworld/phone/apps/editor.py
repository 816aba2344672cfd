"""The page of a note: its text with a cursor at the start or at the end, a clipboard, and a preview."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.apps import browse, storage
from backtrail.envs.androidworld.phone.draw import line_height, wrapped
from backtrail.envs.androidworld.phone.page import GREY, MARGIN
from backtrail.envs.androidworld.phone.views import View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["draw_editor", "keep", "share_dialog"]

_FIELD = "text"
_SIZE = 44
_MARKED = (255, 224, 178)


def keep(phone: Phone) -> None:
    """Write the note that is open to its file, if its text has changed."""
    page = phone.top
    path = page["args"]["path"]
    before = phone.files.read(path)
    text = page["state"].get("fields", {}).get(_FIELD)
    if before is not None and text is not None and text + page["state"].get("after", "") != before:
        storage.write(phone, path, text + page["state"].get("after", ""))


def share_dialog(ui: Ui, text: str) -> None:
    """Draw the dialog that says where a text can go: a text message, if the phone has that app, or the clipboard."""
    phone = ui.phone
    ways = {"Copy to clipboard": lambda: _copy(ui, text)}
    if "sms" in phone.apps:
        ways = {phone.apps["sms"].label: lambda: phone.hand_over("sms", "new", body=text), **ways}
    with ui.dialog("Share", ("Cancel", None), height=150 * len(ways) + 20):
        for name, way in ways.items():

            def go(way: Callable[[], object] = way) -> None:
                ui.overlay("")
                way()

            ui.row(name, tap=go)


def draw_editor(ui: Ui) -> None:
    """Draw a note; the part after the cursor is in ``ui.state["after"]``."""
    phone, path = ui.phone, ui.args["path"]
    before = ui.typed(_FIELD, phone.files.read(path) or "")
    text = before + ui.state.get("after", "")
    preview = ui.state.get("preview", False)
    ui.bar(
        posixpath.basename(path),
        ("edit", "Edit", lambda: ui.state.update(preview=False))
        if preview
        else ("play", "View mode", lambda: _preview(ui)),
        ("check", "Save", lambda: _save(ui)),
        menu=[
            ("Select all", lambda: _mark(ui)),
            ("Copy all", lambda: _copy(ui, text)),
            ("Cut all", lambda: _cut(ui, text)),
            ("Paste", lambda: _paste(ui, before)),
            ("Move cursor to start", lambda: _jump(ui, "", text)),
            ("Move cursor to end", lambda: _jump(ui, text, "")),
            ("Rename", lambda: browse.ask_name(ui, "rename", posixpath.basename(path))),
            ("Share", lambda: ui.overlay("share")),
            ("Info", lambda: phone.go("info", path=path)),
        ],
    )
    overlay = ui.state.get("overlay", "")
    if overlay in ("marked", "paste"):
        _tools(ui, overlay, before, text)
    ui.line()
    if preview:
        _formatted(ui, text)
    else:
        _text(ui, before, ui.state.get("after", ""), overlay == "marked")
    if overlay == "share":
        share_dialog(ui, text)
    elif overlay == "rename":
        browse.name_dialog(ui, "Rename", "OK", lambda name: _rename(ui, path, name))


def _text(ui: Ui, before: str, after: str, marked: bool) -> None:
    """Draw the field with the text up to the cursor, and below it the text after the cursor."""
    width = ui.right - ui.left - MARGIN - 48
    with ui.scroll("text"):
        top = ui.top
        ui.top += line_height(_SIZE) * len(wrapped(before, _SIZE, width)) + 40
        focused = ui.phone.state["focus"] == _FIELD
        ui.add(
            View(
                "EditText", (ui.left + 24, top, ui.right - 24, ui.top), before, hint="Write here", field=_FIELD,
                focused=focused, multiline=True, wrap=True, size=_SIZE, fill=_MARKED if marked else None,
                on_hold=lambda: ui.overlay("paste"), resource=ui.id("document__fragment__edit__highlighting_editor"),
            )
        )  # fmt: skip
        if after:
            ui.text(after, _SIZE, resource="after_cursor")
        below = (ui.left, ui.top, ui.right, ui.top + 500)
        ui.add(View("View", below, on_tap=lambda: ui.phone.focus(_FIELD), on_hold=lambda: ui.overlay("paste")))
        ui.gap(100 if after else 500)


def _tools(ui: Ui, overlay: str, before: str, text: str) -> None:
    """Draw what a selection, or a long press, offers."""
    close = ui.overlay
    if overlay == "marked":
        ui.buttons(
            ("Cut", lambda: (close(""), _cut(ui, text))),
            ("Copy", lambda: (close(""), _copy(ui, text))),
            ("Paste", lambda: (close(""), _paste(ui, "", whole=True))),
        )
    else:
        ui.buttons(("Paste", lambda: (close(""), _paste(ui, before))), ("Select all", lambda: _mark(ui)))


def _mark(ui: Ui) -> None:
    ui.state["preview"] = False
    ui.overlay("marked")


def _copy(ui: Ui, text: str) -> None:
    ui.phone.state["clipboard"] = text
    ui.phone.toast("Copied")


def _cut(ui: Ui, text: str) -> None:
    ui.phone.state["clipboard"] = text
    _jump(ui, "", "")


def _paste(ui: Ui, before: str, whole: bool = False) -> None:
    """Put the clipboard where the cursor is, or in the place of the whole text."""
    _jump(ui, before + ui.phone.state["clipboard"], "" if whole else ui.state.get("after", ""))


def _jump(ui: Ui, before: str, after: str) -> None:
    """Put the cursor between two parts of the text."""
    ui.fill(_FIELD, before)
    ui.state.update(after=after, preview=False)
    ui.phone.focus(_FIELD)


def _save(ui: Ui) -> None:
    keep(ui.phone)
    browse.hide_keyboard(ui.phone)
    ui.phone.toast("Saved")


def _preview(ui: Ui) -> None:
    keep(ui.phone)
    browse.hide_keyboard(ui.phone)
    ui.state["preview"] = True


def _rename(ui: Ui, path: str, name: str) -> str:
    keep(ui.phone)
    wrong = storage.rename(ui.phone, path, name)
    if not wrong:
        ui.phone.swap("edit", path=posixpath.join(posixpath.dirname(path), name.strip()))
    return wrong


# -- preview ----------------------------------------------------------------------------------------------


def _formatted(ui: Ui, text: str) -> None:
    """Draw a text as Markdown shows it: headings, lists, boxes to tick."""
    with ui.scroll("preview"):
        for line in text.split("\n"):
            heading = re.match(r"(#{1,4}) +(.+)", line)
            ticked = re.match(r"\s*[-*] \[([ xX])\] +(.+)", line)
            entry = re.match(r"\s*[-*+] +(.+)", line)
            if heading:
                ui.text(_plain(heading[2]), 72 - 8 * len(heading[1]))
            elif ticked:
                ui.row(_plain(ticked[2]), check=ticked[1] != " ")
            elif entry:
                ui.text(f"-  {_plain(entry[1])}", _SIZE)
            elif re.fullmatch(r"(-{3,}|\*{3,})", line):
                ui.line()
            elif line.startswith("> "):
                ui.text(_plain(line[2:]), _SIZE, GREY)
            elif line:
                ui.text(_plain(line), _SIZE)
            else:
                ui.gap(30)


def _plain(text: str) -> str:
    """Return a line without the signs for bold, slanted, code and links."""
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    return re.sub(r"(\*\*|__|\*|`)(.+?)\1", r"\2", text)
