"""How tasks of AndroidWorld are done on the simulated phone.

By touch ("screen"), by writing the state that the goal asks for ("state"), or by giving the answer that the task expects, once
what it is about was found on the screen ("answer"). The hand knows a task's parameters: that it can write what an agent has to
read in a picture first does not mean that an agent can read it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from backtrail.benchmarks.android_app_solutions import (
    answer_on_sports,
    count_attendees,
    count_todos,
    create_film_list,
    create_two_film_lists,
    is_todo,
    mark_place,
    plan_track,
    read_quantity,
    save_place,
)
from backtrail.benchmarks.android_data_solutions import (
    add_event,
    add_expenses,
    add_recipes,
    answer,
    copy_picture,
    create_folder,
    create_note,
    delete_all_notes,
    delete_events,
    delete_expenses,
    delete_file,
    delete_newest_note,
    delete_note,
    delete_recipes,
    delete_rows,
    draw_colors,
    edit_note,
    merge_notes,
    move_file,
    move_note,
    multiply,
    new_note,
    rewrite_note,
    solve_maze,
)
from backtrail.envs.androidworld.tasks.oracle import Oracle

__all__ = ["Kind", "Solve", "solution"]

Kind = Literal["screen", "state", "answer"]
Solve = Callable[[Oracle, Any], None]
"""Does a task: called with the hand and the task."""


def solution(name: str) -> tuple[Kind, Solve] | None:
    """Return how a task is done, by its name; None if nobody wrote it down yet."""
    if name in _SCREEN:
        return "screen", _SCREEN[name]
    for begins, kind, solve in _FAMILIES:
        if name.startswith(begins):
            return kind, solve
    return None


# -- settings, clock, small apps --------------------------------------------------------------------------


def _switch(o: Oracle, way: tuple[str, ...], label: str, on: bool) -> None:
    """Bring a switch to where it should be."""
    o.open("Settings")
    o.tap(*way)
    key = "wifi_on" if "Internet" in way else "bluetooth_on"
    if (o.phone.settings["global"].get(key) != "0") != on:
        o.tap(label)


def _wifi(o: Oracle, on: bool) -> None:
    _switch(o, ("Network & internet", "Internet"), "Wi-Fi", on)


def _bluetooth(o: Oracle, on: bool) -> None:
    _switch(o, ("Connected devices", "Bluetooth"), "Use Bluetooth", on)


def _brightness(o: Oracle, share: float) -> None:
    o.open("Settings")
    o.tap("Display", "Brightness level")
    o.slide("Display brightness", share)


def _wifi_and_app(o: Oracle, task: Any) -> None:
    _wifi(o, True)
    o.home()
    o.open(task.params["app_name"])


def _wifi_off_bluetooth_on(o: Oracle, task: Any) -> None:
    _wifi(o, False)
    o.home()
    _bluetooth(o, True)


def _timer(o: Oracle, task: Any) -> None:
    o.open("Clock")
    o.tap("Timer")
    digits = "{hours:02d}{minutes:02d}{seconds:02d}".format(**task.params).lstrip("0")
    for digit in digits:
        o.tap(digit)


def _stopwatch(o: Oracle, task: Any) -> None:
    o.open("Clock")
    o.tap("Stopwatch", "Start")


def _stopwatch_paused(o: Oracle, task: Any) -> None:
    _stopwatch(o, task)
    o.tap("Pause")


def _photo(o: Oracle, task: Any) -> None:
    o.open("Camera")
    o.tap("Shutter")


def _video(o: Oracle, task: Any) -> None:
    o.open("Camera")
    o.tap("Video", "Start recording")
    o.wait()
    o.tap("Stop recording")


def _record(o: Oracle, task: Any) -> None:
    o.open("Audio Recorder")
    if o.sees("Get started"):
        o.tap("Get started", "Apply")
    o.tap("Record")
    o.wait()
    o.tap("Stop")
    if task.params.get("file_name"):
        o.type("Name", task.params["file_name"])
    o.tap("Save")


def _drawing(o: Oracle, task: Any) -> None:
    stem, _, ending = task.params["file_name"].rpartition(".")
    o.open("Simple Draw Pro")
    o.do("swipe", direction="right")
    o.tap("Save", ending.upper())
    o.type("Filename", stem)
    o.tap("OK")


def _open_app(o: Oracle, task: Any) -> None:
    o.open(task.params["app_name"])


# -- contacts and messages --------------------------------------------------------------------------------


def _contact(o: Oracle, task: Any) -> None:
    first, _, last = task.params["name"].partition(" ")
    o.open("Contacts")
    o.tap("Create contact")
    o.type("First name", first)
    o.type("Last name", last)
    o.type("Phone", task.params["number"])
    o.tap("Save")


def _draft(o: Oracle, task: Any) -> None:
    wanted = task.params
    o.open("Contacts")
    o.tap("Create contact")
    o.type("First name", wanted["first"])
    o.type("Last name", wanted["last"])
    o.type("Phone", wanted["phone"])
    o.tap("Mobile Phone", wanted["phone_label"])


def _message(o: Oracle, task: Any) -> None:
    """Send the text that the task asks for to the number that it names."""
    if not o.phone.activity.startswith("com.simplemobiletools.smsmessenger"):
        o.open("Simple SMS Messenger")
    o.tap("New conversation")
    o.type("Add Contact or Number…", task.params["number"])
    if o.sees("Confirm"):
        o.tap("Confirm")
    o.type("Type a message…", task.params.get("message") or task.params["text"])
    o.tap("SMS")


def _note_and_message(o: Oracle, task: Any) -> None:
    new_note(o, task.params["file_name"], task.params["text"])
    o.home()
    _message(o, task)


# -- music ------------------------------------------------------------------------------------------------


def _playlist(o: Oracle, task: Any) -> None:
    """Make a playlist of the songs, one after the other, as they are chosen by name."""
    o.open("Retro Music")
    o.tap("Playlists", "New playlist")
    o.type("Playlist name", task.params["playlist_name"])
    if o.sees("Create"):
        o.tap("Create")
    o.tap("Songs")
    for file in task.params["files"]:
        o.tap(f"More options for {file.split('.')[0]}", "Add to playlist", task.params["playlist_name"])


def _saved_playlist(o: Oracle, task: Any) -> None:
    _playlist(o, task)
    o.tap("Playlists", f"More options for {task.params['playlist_name']}", "Save as file", "Download")


def _queue(o: Oracle, task: Any) -> None:
    o.open("Retro Music")
    for file in task.params["files"]:
        o.tap(f"More options for {file.split('.')[0]}", "Add to playing queue")


def _resend(o: Oracle, task: Any) -> None:
    o.open("Simple SMS Messenger")
    o.tap(task.params["name"])
    o.hold(task.params["message"])
    o.tap("Resend")


def _copy_text(o: Oracle, task: Any) -> None:
    new_note(o, "clip.md", task.params["clipboard_content"])
    o.hold("Write here")
    o.tap("Select all", "Copy")


_SCREEN: dict[str, Solve] = {
    "AudioRecorderRecordAudio": _record,
    "AudioRecorderRecordAudioWithFileName": _record,
    "BrowserDraw": draw_colors,
    "BrowserMaze": solve_maze,
    "BrowserMultiply": multiply,
    "CameraTakePhoto": _photo,
    "CameraTakeVideo": _video,
    "ClockStopWatchPausedVerify": _stopwatch_paused,
    "ClockStopWatchRunning": _stopwatch,
    "ClockTimerEntry": _timer,
    "ContactsAddContact": _contact,
    "ContactsNewContactDraft": _draft,
    "FilesDeleteFile": delete_file,
    "FilesMoveFile": move_file,
    "MarkorAddNoteHeader": rewrite_note,
    "MarkorChangeNoteContent": rewrite_note,
    "MarkorCreateFolder": create_folder,
    "MarkorCreateNote": create_note,
    "MarkorCreateNoteAndSms": _note_and_message,
    "MarkorCreateNoteFromClipboard": create_note,
    "MarkorDeleteAllNotes": delete_all_notes,
    "MarkorDeleteNewestNote": delete_newest_note,
    "MarkorDeleteNote": delete_note,
    "MarkorEditNote": edit_note,
    "MarkorMergeNotes": merge_notes,
    "MarkorMoveNote": move_note,
    "MarkorTranscribeReceipt": create_note,
    "NotesIsTodo": is_todo,
    "NotesMeetingAttendeeCount": count_attendees,
    "NotesRecipeIngredientCount": read_quantity,
    "NotesTodoItemCount": count_todos,
    "OpenAppTaskEval": _open_app,
    "OsmAndFavorite": save_place,
    "OsmAndMarker": mark_place,
    "OsmAndTrack": plan_track,
    "RetroCreatePlaylist": _playlist,
    "RetroPlayingQueue": _queue,
    "RetroPlaylistDuration": _playlist,
    "RetroSavePlaylist": _saved_playlist,
    "SaveCopyOfReceiptTaskEval": copy_picture,
    "SimpleDrawProCreateDrawing": _drawing,
    "TurnOffWifiAndTurnOnBluetooth": _wifi_off_bluetooth_on,
    "TurnOnWifiAndOpenApp": _wifi_and_app,
    "VlcCreatePlaylist": create_film_list,
    "VlcCreateTwoPlaylists": create_two_film_lists,
}

_FAMILIES: tuple[tuple[str, Kind, Solve], ...] = (
    ("SystemWifiTurnOn", "screen", lambda o, task: _wifi(o, True)),
    ("SystemWifiTurnOff", "screen", lambda o, task: _wifi(o, False)),
    ("SystemBluetoothTurnOn", "screen", lambda o, task: _bluetooth(o, True)),
    ("SystemBluetoothTurnOff", "screen", lambda o, task: _bluetooth(o, False)),
    ("SystemBrightnessMax", "screen", lambda o, task: _brightness(o, 1.0)),
    ("SystemBrightnessMin", "screen", lambda o, task: _brightness(o, 0.0)),
    ("SystemCopyToClipboard", "screen", _copy_text),
    ("SimpleSmsResend", "screen", _resend),
    ("SimpleSms", "screen", _message),
    ("ExpenseAdd", "screen", add_expenses),
    ("ExpenseDeleteDuplicates", "state", delete_rows),
    ("ExpenseDelete", "screen", delete_expenses),
    ("RecipeAdd", "screen", add_recipes),
    ("RecipeDeleteDuplicate", "state", delete_rows),
    ("RecipeDelete", "screen", delete_recipes),
    ("SimpleCalendarAdd", "screen", add_event),
    ("SimpleCalendarDelete", "screen", delete_events),
    ("SimpleCalendar", "answer", answer),
    ("SportsTracker", "answer", answer_on_sports),
    ("Tasks", "answer", answer),
)
"""By how the name begins; the first that fits."""
