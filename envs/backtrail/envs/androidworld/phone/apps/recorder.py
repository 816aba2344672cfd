"""The audio recorder: recordings are files that say how long they are."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps.asking import ask, asked, open_question
from backtrail.envs.androidworld.phone.device import Phone
from backtrail.envs.androidworld.phone.files import SHARED
from backtrail.envs.androidworld.phone.page import GREY
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["FORMATS", "RECORDS", "Recorder", "add_recording", "recorded", "recordings", "rename", "set_up"]

RECORDS = f"{SHARED}/Android/data/com.dimowner.audiorecorder/files/Music/records"
"""Where recordings are."""

FORMATS = {"m4a": 16000, "wav": 88200, "3gp": 1600}
"""Endings of recordings, and their bytes per second."""


def set_up(phone: Phone) -> None:
    """Make the folder of recordings, which is there once the app is installed."""
    phone.files.make(RECORDS)


def recordings(phone: Phone) -> list[str]:
    """Return the file names of the recordings."""
    return [name for name in phone.files.names(RECORDS) if name.rpartition(".")[2] in FORMATS]


def recorded(phone: Phone, name: str) -> Data:
    """Return what a recording's file says: "duration" in seconds (0 if it says nothing), "created" and "format"."""
    text = phone.files.read(f"{RECORDS}/{name}") or ""
    try:
        about = json.loads(text)
    except json.JSONDecodeError:
        about = {}
    about = about if isinstance(about, dict) else {}
    duration = about.get("duration", 0)
    return {
        "duration": round(duration) if isinstance(duration, int | float) else 0,
        "created": str(about.get("created", "")),
        "format": name.rpartition(".")[2],
    }


def add_recording(phone: Phone, name: str, seconds: int, ending: str = "m4a") -> str:
    """Keep a recording and return its path.

    Args:
        phone: The phone.
        name: Its name without its ending.
        seconds: How long it is.
        ending: One of `FORMATS`.
    """
    path = f"{RECORDS}/{name}.{ending}"
    about = {"type": "recording", "duration": seconds, "created": phone.now.isoformat(), "format": ending}
    phone.files.write(path, json.dumps(about))
    return path


def rename(phone: Phone, name: str, to: str) -> bool:
    """Give a recording another name (both with the ending); False if that is taken or no name."""
    if not to.rpartition(".")[0].strip() or "/" in to or (to != name and phone.files.exists(f"{RECORDS}/{to}")):
        return False
    if to != name:
        phone.files.move(f"{RECORDS}/{name}", f"{RECORDS}/{to}")
    return True


class Recorder(App):
    """Records, and lists what was recorded."""

    key = "recorder"
    label = "Audio Recorder"
    package = "com.dimowner.audiorecorder"
    activity = "com.dimowner.audiorecorder.app.main.MainActivity"
    icon = "mic"
    tint = (57, 73, 171)

    def fresh(self) -> Data:
        """Return its data on a new phone: not yet set up; "kept" and "since" are as those of a stopwatch."""
        return {"welcomed": False, "format": "m4a", "state": "idle", "kept": 0, "since": 0, "count": 0, "ask": True}

    def activity_of(self, page: str) -> str:
        """Return the class of the activity that shows a page."""
        names = {
            "records": "records.RecordsActivity",
            "record": "info.ActivityInformation",
            "settings": "settings.SettingsActivity",
        }
        return f"com.dimowner.audiorecorder.app.{names.get(page, 'main.MainActivity')}"

    def draw(self, ui: Ui) -> None:
        """Draw a page."""
        if ui.page == "main" and not ui.data["welcomed"]:
            _setup(ui) if ui.state.get("started") else _welcome(ui)
        elif ui.page == "main":
            _main(ui)
        elif ui.page == "records":
            _records(ui)
        elif ui.page == "record":
            _record(ui)
        else:
            ui.bar("Settings")
            _formats(ui)
            on = ui.data["ask"]
            ui.row("Ask for a name after recording", switch=on, tap=lambda: ui.data.update(ask=not on))


def _welcome(ui: Ui) -> None:
    ui.gap(350)
    box = (ui.left + 340, ui.top, ui.right - 340, ui.top + 400)
    ui.add(View("ImageView", box, icon="mic", color=ui.app.tint, size=300))
    ui.top += 440
    ui.text("Audio Recorder", 80, align="center")
    ui.text("Record voices and sounds, and keep them under a name.", 46, GREY, align="center")
    ui.top = ui.bottom - 220
    ui.button("Get started", lambda: ui.state.update(started=True), resource="btn_action")


def _setup(ui: Ui) -> None:
    ui.bar("Setup", up=False)
    _formats(ui)
    ui.top = ui.bottom - 220
    ui.button("Apply", lambda: ui.data.update(welcomed=True), resource="btn_apply")


def _formats(ui: Ui) -> None:
    ui.header("Recording format")
    for ending in FORMATS:
        ui.row(ending.upper(), radio=ui.data["format"] == ending, tap=lambda e=ending: ui.data.update(format=e))


def _length(seconds: int) -> str:
    hours = f"{seconds // 3600}:" if seconds >= 3600 else ""
    return f"{hours}{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def _seconds(ui: Ui) -> int:
    data = ui.data
    return data["kept"] + (ui.phone.state["now"] - data["since"] if data["state"] == "recording" else 0)


def _main(ui: Ui) -> None:
    data, phone = ui.data, ui.phone
    buttons = (("sort", "Records", lambda: phone.go("records")), ("settings", "Settings", lambda: phone.go("settings")))
    ui.bar("Audio Recorder", *buttons, up=False)
    ui.gap(250)
    words = {"idle": "Tap the button to record", "recording": "Recording", "paused": "Paused"}[data["state"]]
    ui.text(words, 46, GREY, align="center", resource="txt_record_info")
    ui.text(_length(_seconds(ui)), 190, ui.app.tint, align="center", resource="txt_progress")
    ui.gap(60)
    _wave(ui)
    names = recordings(phone)
    if data["state"] == "idle" and names:
        ui.text(f"{len(names)} recording{'s' if len(names) > 1 else ''}", 40, GREY, align="center")
    if not phone.state["keyboard"]:
        _buttons(ui)
    if asked(ui, "name"):
        saved = ui.state["saved"]
        ask(ui, "name", "Save recording", "Name", "Save", lambda name: _renamed(ui, saved, name, "name"))
    if asked(ui, "discard"):
        ui.confirm("Delete this recording? It has not been saved.", "Delete", lambda: _clear(ui))


def _wave(ui: Ui) -> None:
    """Draw a wave that grows with the recording."""
    box = (ui.left + 60, ui.top, ui.right - 60, ui.top + 300)
    heights = [abs((7 * n * n + 3 * n) % 17 - 8) / 20 + 0.03 for n in range(min(_seconds(ui) * 2, 60))]
    lines = tuple((n / 60 + 0.005, 0.5 - h, n / 60 + 0.005, 0.5 + h) for n, h in enumerate(heights))
    ui.add(View("View", box, description="Waveform", strokes=lines, color=ui.app.tint, fill=(240, 242, 250)))
    ui.top += 340


def _buttons(ui: Ui) -> None:
    data, phone = ui.data, ui.phone
    ui.top = ui.bottom - 330

    def record() -> None:
        data.update(state="recording", since=phone.state["now"])

    def pause() -> None:
        data.update(kept=_seconds(ui), state="paused")

    if data["state"] == "idle":
        ui.icons(("mic", "Record", record), size=220)
        return
    middle = ("pause", "Pause", pause) if data["state"] == "recording" else ("mic", "Resume", record)
    ui.icons(
        ("delete", "Delete recording", lambda: ui.overlay("discard")),
        middle,
        ("stop", "Stop", lambda: _stop(ui)),
        size=220,
    )


def _stop(ui: Ui) -> None:
    """Keep the recording under the next free name, and ask for another."""
    data, phone = ui.data, ui.phone
    data["count"] += 1
    while phone.files.exists(f"{RECORDS}/Record-{data['count']}.{data['format']}"):
        data["count"] += 1
    path = add_recording(phone, f"Record-{data['count']}", _seconds(ui), data["format"])
    _clear(ui)
    ui.state["saved"] = posixpath.basename(path)
    if data["ask"]:
        open_question(ui, "name", f"Record-{data['count']}")
    else:
        phone.toast(f"Saved as {posixpath.basename(path)}")


def _clear(ui: Ui) -> None:
    ui.data.update(state="idle", kept=0, since=0)


def _renamed(ui: Ui, old: str, name: str, question: str) -> str:
    """Give a recording a name and return the file name that it has; ask again if that cannot be."""
    new = name + posixpath.splitext(old)[1]
    if rename(ui.phone, old, new):
        return new
    ui.phone.toast("Name is not allowed" if not name or "/" in name else "Name is taken")
    ui.overlay(question)
    return old


def _records(ui: Ui) -> None:
    phone, names = ui.phone, recordings(ui.phone)
    ui.bar("Records")
    with ui.scroll():
        if not names:
            ui.gap(500)
            ui.text("No recordings yet", 52, GREY, align="center")
        for name in names:
            about = recorded(phone, name)
            day = about["created"][:16].replace("T", " ")
            ui.row(
                posixpath.splitext(name)[0],
                f"{_length(about['duration'])}   {about['format']}   {day}",
                icon="play",
                tap=lambda name=name: phone.go("record", name=name),
                hold=lambda name=name: ui.state.update(overlay="delete", name=name),
            )
    if asked(ui, "delete"):
        _ask_delete(ui, ui.state["name"], lambda: None)


def _ask_delete(ui: Ui, name: str, after: Callable[[], object]) -> None:
    def delete() -> None:
        ui.phone.files.remove(f"{RECORDS}/{name}")
        ui.phone.toast("Recording deleted")
        after()

    ui.confirm(f"Delete {posixpath.splitext(name)[0]}?", "Delete", delete)


def _record(ui: Ui) -> None:
    phone, name = ui.phone, ui.args["name"]
    about, stem = recorded(phone, name), posixpath.splitext(name)[0]
    menu = (("Rename", lambda: open_question(ui, "rename", stem)), ("Delete", lambda: ui.overlay("delete")))
    ui.bar(stem, menu=menu)
    length, since = about["duration"], ui.state.get("since", 0)
    played = min(phone.state["now"] - since, length) if since else 0
    playing = bool(since) and played < length
    ui.gap(200)
    ui.text(f"{_length(played)} / {_length(length)}", 90, ui.app.tint, align="center")
    ui.progress("Playback position", played / length if length else 0.0)
    if playing:
        ui.icons(("stop", "Stop", lambda: ui.state.update(since=0)), size=200)
    else:
        ui.icons(("play", "Play", lambda: ui.state.update(since=phone.state["now"])), size=200)
    ui.gap(60)
    size = max(1, round(FORMATS.get(about["format"], 16000) * length / 1000))
    for title, value in (
        ("Format", about["format"]),
        ("Size", f"{size} KB"),
        ("Created", about["created"][:16].replace("T", " ")),
        ("File location", f"{RECORDS[len(SHARED) + 1 :]}/{name}"),
    ):
        ui.text(title, 36, GREY)
        ui.text(value, 42)
    if asked(ui, "rename"):
        ask(ui, "rename", "Rename", "Name", "Save", lambda new: ui.args.update(name=_renamed(ui, name, new, "rename")))
    if asked(ui, "delete"):
        _ask_delete(ui, name, phone.close)
