"""An app like OpenTracks: sports activities, recorded and looked up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import opentracks_data as data
from backtrail.envs.androidworld.phone.apps import opentracks_pages as pages
from backtrail.envs.androidworld.phone.apps import opentracks_words as words
from backtrail.envs.androidworld.phone.apps.drawer import hide_keyboard
from backtrail.envs.androidworld.phone.page import GREY, LINE
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["OpenTracks"]

_DATE = 230  # width of the day and the time at the end of a row


class OpenTracks(App):
    """Records sports activities."""

    key = data.KEY
    label = "OpenTracks"
    package = "de.dennisguse.opentracks"
    activity = "de.dennisguse.opentracks.TrackListActivity"
    icon = "run"
    tint = (204, 85, 0)
    volatile = App.volatile | {"uuid", "since", "started", "ended"}

    def fresh(self) -> Data:
        """Return no activities."""
        return data.fresh()

    def activity_of(self, page: str) -> str:
        """Return the activity: most pages have their own."""
        names = {
            "detail": "TrackRecordedActivity",
            "edit": "TrackEditActivity",
            "record": "TrackRecordingActivity",
            "stopped": "TrackStoppedActivity",
            "statistics": "ui.aggregatedStatistics.AggregatedStatisticsActivity",
            "settings": "settings.SettingsActivity",
        }
        return f"{self.package}.{names.get(page, 'TrackListActivity')}"

    def draw(self, ui: Ui) -> None:
        """Draw a page: "main", "search", "detail", "edit", "record", "stopped", "statistics" or "settings"."""
        draw = {"main": _list, "search": _search}.get(ui.page) or pages.PAGES[ui.page]
        draw(ui)


def _list(ui: Ui) -> None:
    phone, state = ui.phone, ui.state
    rows = data.tracks(phone)
    chosen: list[int] | None = state.get("chosen") if state.get("overlay") in ("choosing", "delete") else None
    if chosen is None:
        entries = [
            ("Aggregated statistics", partial(phone.go, "statistics", ids=None)),
            ("Settings", partial(phone.go, "settings")),
        ]
        ui.bar("OpenTracks", ("search", "Search", partial(phone.go, "search")), up=False, menu=entries)
    else:
        _choosing_bar(ui, rows, chosen)
    _under_way(ui)
    with ui.scroll():
        if not rows:
            ui.gap(500)
            ui.text("No activities yet", 50, GREY, "center")
            ui.text("Tap the round button to record the first one", 40, GREY, "center")
        _rows(ui, rows, chosen)
        ui.gap(220)
    if chosen is None:
        _record_button(ui)
    if state.get("overlay") == "delete" and chosen is not None:
        pages.ask_delete(ui, chosen, lambda: None)


def _choosing_bar(ui: Ui, rows: Sequence[data.Row], chosen: list[int]) -> None:
    some = bool(chosen)
    ui.bar(
        f"{len(chosen)} selected",
        ("sort", "Aggregated statistics", partial(ui.phone.go, "statistics", ids=chosen) if some else None),
        ("tasks", "Select all", lambda: ui.state.update(chosen=[row["_id"] for row in rows])),
        ("delete", "Delete", partial(ui.overlay, "delete") if some else None),
        ("close", "Cancel selection", partial(ui.overlay, "")),
        up=False,
    )


def _under_way(ui: Ui) -> None:
    """Draw a row for the recording, if there is one."""
    state = data.recording(ui.phone)["state"]
    if state == "idle":
        return
    texts = {
        "recording": ("Recording", "Tap to see it"),
        "paused": ("Recording paused", "Tap to see it"),
        "stopped": ("Recording stopped", "Tap to save or discard it"),
    }
    title, subtitle = texts[state]
    ui.row(title, subtitle, icon="record", tap=partial(_open_recording, ui), selected=True)


def _open_recording(ui: Ui) -> None:
    ui.phone.go("stopped" if data.recording(ui.phone)["state"] == "stopped" else "record")


def _record_button(ui: Ui) -> None:
    def start() -> None:
        data.run_recording(ui.phone)
        ui.phone.go("record")

    if data.recording(ui.phone)["state"] == "idle":
        ui.floating("record", "Record", start, "track_list_fab_action")
    else:
        ui.floating("clock", "Show recording", partial(_open_recording, ui), "track_list_fab_action")


def _search(ui: Ui) -> None:
    ui.bar("Search")
    typed = ui.field("words", "Search activities", enter=partial(hide_keyboard, ui), resource="search_src_text")
    rows = data.search(data.tracks(ui.phone), typed) if typed.strip() else []
    with ui.scroll():
        if typed.strip() and not rows:
            ui.gap(200)
            ui.text("No activities found", 50, GREY, "center")
        _rows(ui, rows, None)


# -- rows -------------------------------------------------------------------------------------------------


def _rows(ui: Ui, rows: Sequence[data.Row], chosen: list[int] | None) -> None:
    for row in rows:
        _row(ui, row, chosen)
        ui.line()


def _row(ui: Ui, row: data.Row, chosen: list[int] | None) -> None:
    """Draw an activity; with what is chosen, a tap chooses it, otherwise it opens it."""
    number = row["_id"]
    below = " · ".join(text for text in (row["category"], row["description"]) if text)
    height = 220 if below else 170
    box = (ui.left, ui.top, ui.right, ui.top + height)
    ui.top += height

    def choose() -> None:
        kept = list(chosen or [])
        ui.state["chosen"] = [each for each in kept if each != number] if number in kept else [*kept, number]
        ui.overlay("choosing")

    on = chosen is not None and number in chosen
    view = View(
        "LinearLayout", box, selected=on, fill=(255, 236, 217) if on else None, resource=ui.id("track_list_item"),
        on_tap=partial(ui.phone.go, "detail", id=number) if chosen is None else choose,
        on_hold=choose if ui.page == "main" else None,
    )  # fmt: skip
    view.children = _parts(ui, row, below, box)
    ui.add(view)


def _parts(ui: Ui, row: data.Row, below: str, box: tuple[int, int, int, int]) -> list[View]:
    left, top, right, _ = box
    x, middle, end = left + 150, right - 36 - _DATE, right - 36

    def text(words: str, place: tuple[int, int, int, int], size: int, name: str) -> View:
        color = GREY if size < 40 else (32, 33, 36)
        return View("TextView", place, words, size=size, color=color, resource=ui.id(f"track_list_item_{name}"))

    times = f"{words.elapsed(row['totaltime'] // 1000)}  ({words.distance(ui.phone, row['totaldistance'])})"
    parts = [
        View("ImageView", (left + 36, top + 30, left + 132, top + 126), icon=data.icon_of(row["category"]), size=60,
             description=row["category"] or "Activity", fill=LINE, radius=48, color=ui.app.tint,
             resource=ui.id("track_list_item_icon")),
        text(row["name"], (x, top + 14, middle, top + 84), 46, "name"),
        text(words.day(ui.phone, row), (middle, top + 14, end, top + 84), 36, "date"),
        text(times, (x, top + 88, middle, top + 146), 38, "time_distance"),
        text(f"{data.start_of(row):%H:%M}", (middle, top + 88, end, top + 146), 36, "time"),
    ]  # fmt: skip
    if below:
        parts.append(text(below, (x, top + 150, end, top + 206), 34, "category_description"))
    return parts
