"""Pages of the sports tracker beside its list: an activity, its form, recording, statistics by type, settings."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from functools import partial

from backtrail.envs.androidworld.phone.apps import opentracks_data as data
from backtrail.envs.androidworld.phone.apps import opentracks_words as words
from backtrail.envs.androidworld.phone.apps.drawer import hide_keyboard
from backtrail.envs.androidworld.phone.page import GREY, LINE
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["PAGES", "ask_delete"]

_UNITS = {"Imperial (mi, ft)": False, "Metric (km, m)": True}
_NO_KIND = "None"

Cell = tuple[str, str, str]
"""Label, value and resource id of something measured."""


def ask_delete(ui: Ui, numbers: Collection[int], then: Callable[[], object]) -> None:
    """Draw the question whether to delete activities; ``then`` is done after they are deleted."""

    def delete() -> None:
        data.delete_tracks(ui.phone, numbers)
        ui.phone.toast("Activity deleted" if len(numbers) == 1 else f"{len(numbers)} activities deleted")
        then()

    what = "this activity" if len(numbers) == 1 else f"{len(numbers)} activities"
    ui.confirm(f"Delete {what}? There is no way to get them back.", "Delete", delete)


def _cells(ui: Ui, *cells: Cell, size: int = 60) -> None:
    """Draw values below their labels, two in a line."""
    for place in range(0, len(cells), 2):
        with ui.columns(1, 1) as following:
            for label, value, name in cells[place : place + 2]:
                ui.text(label, 36, GREY)
                ui.text(value, size, resource=name)
                following()
        ui.gap(10)


def _head(ui: Ui, kind: str, title: str, subtitle: str, names: tuple[str, str]) -> None:
    """Draw the icon of a type with two texts beside it."""
    with ui.columns(1, 5) as following:
        box = (ui.left + 50, ui.top + 16, ui.left + 166, ui.top + 132)
        ui.add(
            View(
                "ImageView", box, icon=data.icon_of(kind), description=kind or "Activity", fill=LINE, radius=58,
                color=ui.app.tint, size=72, resource=ui.id("stats_activity_type_icon"),
            )
        )  # fmt: skip
        following()
        ui.gap(8 if subtitle else 30)
        ui.text(title, 54, resource=names[0])
        if subtitle:
            ui.text(subtitle, 42, GREY, resource=names[1])
    ui.top = max(ui.top, box[3]) + 20


# -- one activity -----------------------------------------------------------------------------------------


def _detail(ui: Ui) -> None:
    phone, number = ui.phone, ui.args["id"]
    row = data.track(phone, number)
    if row is None:
        ui.bar("Activity")
        ui.text("This activity is no longer there.", color=GREY)
        return
    ui.bar(
        row["name"],
        ("edit", "Edit", partial(phone.go, "edit", id=number)),
        ("delete", "Delete", partial(ui.overlay, "delete")),
    )
    start, total, moving = data.start_of(row), row["totaltime"] // 1000, row["movingtime"] // 1000
    metres, fastest = row["totaldistance"], row["maxspeed"]
    with ui.scroll():
        _head(ui, row["category"], row["name"], row["description"], ("stats_name_value", "stats_description_value"))
        if row["category"]:
            ui.row("Activity type", trailing=row["category"], resource="stats_activity_type")
        ui.text(
            f"{start:%A, %B} {start.day}, {start.year}, {start:%H:%M}", 42, GREY, resource="stats_start_datetime_value"
        )
        ui.line()
        _cells(
            ui,
            ("Distance", words.distance(phone, metres), "stats_distance_value"),
            ("Moving time", words.elapsed(moving), "stats_moving_time_value"),
            ("Started", f"{start:%H:%M}", "stats_start_time_value"),
            ("Total time", words.elapsed(total), "stats_total_time_value"),
        )
        ui.line()
        _cells(
            ui,
            ("Max. speed", words.speed(phone, fastest, 1), "stats_max_speed_value"),
            ("Avg. moving speed", words.speed(phone, metres, moving), "stats_moving_speed_value"),
            ("Avg. speed", words.speed(phone, metres, total), "stats_average_speed_value"),
        )
        ui.line()
        _cells(
            ui,
            ("Elevation gain", words.height(phone, row["elevationgain"]), "stats_altitude_gain_value"),
            ("Elevation loss", words.height(phone, row["elevationloss"]), "stats_altitude_loss_value"),
        )
    if ui.state.get("overlay") == "delete":
        ask_delete(ui, [number], phone.close)


# -- what is written about it -----------------------------------------------------------------------------


def _form(ui: Ui, name: str, kind: str, note: str) -> tuple[str, str, str]:
    """Draw the fields of an activity and return what is in them: name, type and note."""
    kind = ui.state.get("kind", kind)

    def ask() -> None:
        hide_keyboard(ui)
        ui.overlay("kind")

    name = ui.field("name", "Name", name, resource="track_edit_name")
    ui.row("Activity type", kind or _NO_KIND, icon=data.icon_of(kind), tap=ask, resource="track_edit_activity_type")
    note = ui.field("note", "Description", note, lines=3, resource="track_edit_description")
    if ui.state.get("overlay") == "kind":
        _choose_kind(ui, kind, lambda chosen: ui.state.update(kind=chosen))
    return name.strip(), kind, note.strip()


def _choose_kind(ui: Ui, kind: str, tap: Callable[[str], object]) -> None:
    more = [] if kind in data.KINDS or not kind else [kind]
    entries = [_NO_KIND, *more, *data.KINDS]
    ui.choose("Activity type", entries, kind or _NO_KIND, lambda name: tap("" if name == _NO_KIND else name))


def _edit(ui: Ui) -> None:
    phone, number = ui.phone, ui.args["id"]
    row = data.track(phone, number)
    if row is None:
        ui.bar("Edit activity")
        ui.text("This activity is no longer there.", color=GREY)
        return

    def save() -> None:
        if not typed[0]:
            return phone.toast("Please enter a name")
        data.change_track(phone, number, *typed)
        return phone.close()

    ui.bar("Edit activity", ("check", "Save", save))
    typed = _form(ui, row["name"], row["category"], row["description"])


# -- recording --------------------------------------------------------------------------------------------


def _record(ui: Ui) -> None:
    phone, state = ui.phone, data.recording(ui.phone)["state"]
    if state not in ("recording", "paused"):
        ui.bar("Recording")
        ui.text("Nothing is recorded now.", color=GREY)
        return

    def stop() -> None:
        data.stop_recording(phone)
        phone.swap("stopped")

    ui.bar("Recording")
    ui.gap(60)
    on = state == "recording"
    ui.text("Recording" if on else "Paused", 46, ui.app.tint if on else GREY, "center", "stats_state")
    ui.text(words.elapsed(data.recorded_seconds(phone)), 190, align="center", resource="stats_total_time_value")
    ui.text("Total time", 40, GREY, "center")
    ui.gap(40)
    ui.line()
    _cells(
        ui,
        ("Distance", words.distance(phone, 0.0), "stats_distance_value"),
        ("Speed", words.UNKNOWN, "stats_speed_value"),
        ("Moving time", words.elapsed(0), "stats_moving_time_value"),
        ("Elevation", words.UNKNOWN, "stats_elevation_value"),
    )
    ui.line()
    ui.text("The phone is not moving.", 38, GREY, "center")
    ui.top = ui.bottom - 330
    first = ("pause", "Pause", partial(data.pause_recording, phone))
    again = ("record", "Resume", partial(data.run_recording, phone))
    ui.icons(first if on else again, ("stop", "Stop", stop), size=220)


def _stopped(ui: Ui) -> None:
    phone, row = ui.phone, data.recording(ui.phone)
    if row["state"] != "stopped":
        ui.bar("Recorded")
        ui.text("Nothing is waiting to be saved.", color=GREY)
        return

    def save() -> None:
        if not typed[0]:
            return phone.toast("Please enter a name")
        data.save_recording(phone, *typed)
        phone.toast("Activity saved")
        return phone.close()

    def go_on() -> None:
        data.run_recording(phone)
        phone.swap("record")

    def discard() -> None:
        data.discard_recording(phone)
        phone.toast("Recording discarded")
        phone.close()

    ui.bar(
        "Recorded",
        ("delete", "Discard", partial(ui.overlay, "discard")),
        ("play", "Resume", go_on),
        ("check", "Save", save),
    )
    typed = _form(ui, datetime.fromtimestamp(row["started"], UTC).isoformat(), ui.data["kind"], "")
    ui.gap(40)
    ui.text(words.elapsed(row["kept"]), 120, align="center", resource="time")
    _cells(
        ui,
        ("Distance", words.distance(phone, 0.0), "distance"),
        ("Avg. moving speed", words.UNKNOWN, "speed"),
    )
    if ui.state.get("overlay") == "discard":
        ui.confirm("Discard this recording? It has not been saved.", "Discard", discard)


# -- statistics and settings ------------------------------------------------------------------------------


def _statistics(ui: Ui) -> None:
    phone, span, ids = ui.phone, ui.state.get("span", "All"), ui.args["ids"]
    rows, today = data.tracks(phone), phone.now.date()
    ui.bar("Aggregated statistics")
    if ids is None:
        ui.tabs(
            span,
            *((name, partial(ui.state.update, span=name, scroll={})) for name in ("All", "This month", "This week")),
        )
        first = {"This month": today.replace(day=1), "This week": data.week_of(today)}.get(span)
        rows = [row for row in rows if first is None or first <= data.start_of(row).date() <= today]
    else:
        rows = [row for row in rows if row["_id"] in ids]
    with ui.scroll():
        if not rows:
            ui.gap(400)
            ui.text("No activities in this time", 48, GREY, "center")
        for total in data.totals(rows):
            title = f"{total.kind or 'no type'} ({total.number})"
            _head(ui, total.kind, title, "", ("aggregated_stats_type_label", ""))
            _cells(
                ui,
                ("Distance", words.distance(phone, total.metres), "aggregated_stats_distance"),
                ("Total time", words.elapsed(total.seconds), "aggregated_stats_time"),
                ("Avg. moving speed", words.speed(phone, total.metres, total.moving), "aggregated_stats_avg_rate"),
                ("Max. speed", words.speed(phone, total.fastest, 1), "aggregated_stats_max_rate"),
                size=54,
            )
            ui.line()


def _settings(ui: Ui) -> None:
    settings = ui.data
    ui.bar("Settings")
    current = next(name for name, metric in _UNITS.items() if metric == settings["metric"])
    with ui.scroll():
        ui.header("Units")
        ui.row("Unit system", current, icon="globe", tap=partial(ui.overlay, "units"))
        ui.line()
        ui.header("Recording")
        kind = settings["kind"]
        ui.row("Default activity type", kind or _NO_KIND, icon=data.icon_of(kind), tap=partial(ui.overlay, "kind"))
        ui.line()
        ui.header("About")
        ui.row("OpenTracks", "Version 1.0, simulated", icon="run")
        ui.text("Activities stay on this phone: nothing is sent anywhere.", color=GREY)
    if ui.state.get("overlay") == "units":
        ui.choose("Unit system", list(_UNITS), current, lambda name: settings.update(metric=_UNITS[name]))
    if ui.state.get("overlay") == "kind":
        _choose_kind(ui, settings["kind"], lambda chosen: settings.update(kind=chosen))


PAGES: dict[str, Callable[[Ui], None]] = {
    "detail": _detail,
    "edit": _edit,
    "record": _record,
    "stopped": _stopped,
    "statistics": _statistics,
    "settings": _settings,
}
"""How each page is drawn."""
