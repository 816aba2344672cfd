"""Pages of the clock: alarms, the choice of a time, and an alarm that rings."""

from __future__ import annotations

from collections.abc import Callable

from backtrail.envs.androidworld.phone.app import Data
from backtrail.envs.androidworld.phone.apps import clock_data
from backtrail.envs.androidworld.phone.apps.asking import ask, asked, open_question
from backtrail.envs.androidworld.phone.apps.settings_values import clock_text
from backtrail.envs.androidworld.phone.page import GREY, SURFACE, WHITE
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["alarms", "picker", "ringing"]

_WEEK = (6, 0, 1, 2, 3, 4, 5)  # the bits of a week that begins on Sunday
_SNOOZE = 600  # seconds


def alarms(ui: Ui) -> None:
    """Draw the alarms; the one that is open shows all that can be changed."""
    rows = clock_data.alarms(ui.phone)
    with ui.scroll(keep=20):
        if not rows:
            ui.gap(500)
            ui.text("No Alarms", 52, GREY, align="center")
        for row in rows:
            _card(ui, row)
        ui.gap(230)
    ui.floating("add", "Add alarm", lambda: ui.phone.go("time", id=0))
    if asked(ui, "label"):
        row = next(row for row in rows if row["_id"] == ui.state["alarm"])
        ask(ui, "label", "Add label", "Label", "OK", lambda label: row.update(label=label))


def _card(ui: Ui, row: Data) -> None:
    opened = ui.state.get("open") == row["_id"]
    on = bool(row["enabled"])
    time = clock_text(ui.phone, row["hour"], row["minutes"])

    def fold() -> None:
        ui.state["open"] = 0 if opened else row["_id"]

    if opened or row["label"]:
        name = row["label"] or "Add label"
        ui.row(name, icon="edit" if opened else "", tap=lambda: _ask_label(ui, row) if opened else fold())
    top = ui.top
    change = (lambda: ui.phone.go("time", id=row["_id"])) if opened else fold
    ui.add(
        View(
            "TextView",
            (ui.left + 24, top, ui.right - 260, top + 150),
            time,
            on_tap=change,
            size=100,
            resource=ui.id("digital_clock"),
            color=(32, 33, 36) if on else GREY,
        )
    )
    ui.add(
        View(
            "Switch",
            (ui.right - 220, top + 35, ui.right - 60, top + 115),
            description=f"{time} alarm",
            checked=on,
            on_tap=lambda: row.update(enabled=int(not on), snoozed=0),
            resource=ui.id("onoff"),
        )
    )
    ui.top += 150
    ui.row(
        _when(ui, row),
        trailing="" if opened else "Expand",
        tap=fold,
        description="Collapse alarm" if opened else "Expand alarm",
    )
    if opened:
        _days(ui, row)
        vibrate = bool(row["vibrate"])
        ui.row("Vibrate", icon="volume", check=vibrate, tap=lambda: row.update(vibrate=int(not vibrate)))

        def delete() -> None:
            ui.data["alarm_templates"].remove(row)
            ui.phone.toast("Alarm deleted")

        ui.row("Delete", icon="delete", tap=delete)
    ui.line()


def _when(ui: Ui, row: Data) -> str:
    """Say on which days an alarm rings."""
    days = [place for place in _WEEK if row["daysofweek"] >> place & 1]
    if len(days) == 7:
        return "Every day"
    if days:
        return ", ".join(clock_data.DAYS[place][:3] for place in days)
    if not row["enabled"]:
        return "Not scheduled"
    now = ui.phone.now
    return "Today" if (row["hour"], row["minutes"]) > (now.hour, now.minute) else "Tomorrow"


def _days(ui: Ui, row: Data) -> None:
    side, step = 110, (ui.right - ui.left - 48) // 7
    for number, place in enumerate(_WEEK):
        on = bool(row["daysofweek"] >> place & 1)
        left = ui.left + 24 + number * step + (step - side) // 2

        def flip(place: int = place) -> None:
            row["daysofweek"] ^= 1 << place

        ui.add(
            View(
                "CheckBox",
                (left, ui.top + 10, left + side, ui.top + 10 + side),
                clock_data.DAYS[place][0],
                description=clock_data.DAYS[place],
                on_tap=flip,
                selected=on,
                align="center",
                fill=ui.app.tint if on else SURFACE,
                color=WHITE if on else GREY,
                radius=side // 2,
            )
        )
    ui.top += side + 30


def _ask_label(ui: Ui, row: Data) -> None:
    ui.state["alarm"] = row["_id"]
    open_question(ui, "label", row["label"])


def picker(ui: Ui) -> None:
    """Draw the choice of an alarm's time: first the hour, then the minute."""
    phone = ui.phone
    row = next((row for row in ui.data["alarm_templates"] if row["_id"] == ui.args["id"]), None)
    start = (row["hour"], row["minutes"]) if row else (phone.now.hour, phone.now.minute)
    hour, minute = ui.state.get("time", start)
    part = ui.state.get("part", "hour")
    ui.bar("Select time")
    long = phone.settings["system"].get("time_12_24") == "24"

    def choose(hour: int, minute: int, part: str) -> None:
        ui.state.update(time=[hour, minute], part=part)

    _face(ui, hour, minute, part, long, choose)
    if part == "hour":
        shown = range(24) if long else (12, *range(1, 12))
        half = 0 if long or hour < 12 else 12
        hours = [(f"{each:02d}" if long else f"{each}", each if long else each % 12 + half) for each in shown]
        _grid(
            ui,
            [
                (text, "hours", value == hour, lambda value=value: choose(value, minute, "minute"))
                for text, value in hours
            ],
            4,
        )
    else:
        _grid(
            ui,
            [
                (f"{each:02d}", "minutes", each == minute, lambda each=each: choose(hour, each, "minute"))
                for each in range(60)
            ],
            6,
        )

    def done() -> None:
        if row is None:
            clock_data.add_alarm(phone, hour, minute)
        else:
            row.update(hour=hour, minutes=minute, enabled=1, snoozed=0)
        phone.close()
        phone.toast(f"Alarm set for {clock_text(phone, hour, minute)}")

    ui.top = ui.bottom - 170
    ui.buttons(("Cancel", phone.close), ("OK", done))


def _face(ui: Ui, hour: int, minute: int, part: str, long: bool, choose: Callable[[int, int, str], None]) -> None:
    """Draw the time that is chosen, and which half of the day."""
    parts = ((f"{hour if long else (hour + 11) % 12 + 1:02d}", "hour", 120), (f"{minute:02d}", "minute", 420))
    for text, name, left in parts:
        on = name == part
        ui.add(
            View(
                "TextView",
                (left, ui.top + 20, left + 240, ui.top + 200),
                text,
                description=f"Select {name}",
                on_tap=lambda name=name: choose(hour, minute, name),
                size=120,
                align="center",
                fill=(200, 214, 250) if on else SURFACE,
                radius=20,
                selected=on,
            )
        )
    ui.add(View("TextView", (360, ui.top + 20, 420, ui.top + 200), ":", size=110, align="center"))
    for place, name in enumerate(() if long else ("AM", "PM")):
        on = (hour >= 12) == (name == "PM")
        box = (720, ui.top + 20 + 92 * place, 900, ui.top + 108 + 92 * place)
        ui.add(
            View(
                "RadioButton",
                box,
                name,
                on_tap=lambda place=place: choose(hour % 12 + 12 * place, minute, part),
                align="center",
                fill=(200, 214, 250) if on else SURFACE,
                radius=16,
                selected=on,
            )
        )
    ui.top += 240


def _grid(ui: Ui, cells: list[tuple[str, str, bool, Callable[[], object]]], columns: int) -> None:
    width = (ui.right - ui.left - 96) // columns
    height = min(170, (ui.bottom - 190 - ui.top) // (len(cells) // columns))
    for place, (text, unit, on, tap) in enumerate(cells):
        left, top = ui.left + 48 + place % columns * width, ui.top + place // columns * height
        box = (left + 6, top + 6, left + width - 6, top + height - 6)
        ui.add(
            View(
                "TextView",
                box,
                text,
                description=f"{int(text)} {unit}",
                on_tap=tap,
                selected=on,
                align="center",
                fill=ui.app.tint if on else SURFACE,
                color=WHITE if on else (32, 33, 36),
                radius=30,
            )
        )


def ringing(ui: Ui) -> None:
    """Draw an alarm that rings."""
    row = next((row for row in ui.data["alarm_templates"] if row["_id"] == ui.args["id"]), None)
    now = ui.phone.now
    ui.background((226, 233, 252))
    ui.gap(300)
    ui.text(row["label"] if row and row["label"] else "Alarm", 64, align="center")
    ui.text(clock_text(ui.phone, now.hour, now.minute), 150, align="center")
    ui.gap(600)

    def snooze() -> None:
        if row is not None:
            row.update(enabled=1, snoozed=ui.phone.state["now"] + _SNOOZE)
        ui.phone.close()
        ui.phone.toast("Snoozing for 10 minutes")

    ui.button("Snooze", snooze, filled=False)
    ui.button("Stop", ui.phone.close)
