"""Pages of the clock: timers and the stopwatch."""

from __future__ import annotations

from collections.abc import Callable

from backtrail.envs.androidworld.phone.app import Data
from backtrail.envs.androidworld.phone.apps import clock_data
from backtrail.envs.androidworld.phone.apps.asking import ask, asked, open_question
from backtrail.envs.androidworld.phone.page import GREY, SURFACE, WHITE
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import Color, View

__all__ = ["span", "stopwatch", "timers"]

_KEYS = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "00", "0", "back")
_DIGITS = 6


def span(seconds: int) -> str:
    """Return a time span as "1:02:03" or "02:03"; with a minus if it is over."""
    sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return sign + (f"{hours}:{minutes:02d}:{seconds % 60:02d}" if hours else f"{minutes:02d}:{seconds % 60:02d}")


def timers(ui: Ui) -> None:
    """Draw the timers, or the number pad that makes one."""
    rows = clock_data.timers(ui.phone)
    if not rows or ui.state.get("adding"):
        _pad(ui, bool(rows))
        return
    with ui.scroll(keep=20):
        for row in rows:
            _timer(ui, row)
        ui.gap(230)
    ui.floating("add", "Add timer", lambda: ui.state.update(adding=True))
    if asked(ui, "label"):
        row = next(row for row in rows if row["_id"] == ui.state["timer"])
        ask(ui, "label", "Timer label", "Label", "OK", lambda label: row.update(label=label))


def _pad(ui: Ui, cancel: bool) -> None:
    digits = ui.state.get("digits", "")
    padded = digits.rjust(_DIGITS, "0")
    hours, minutes, seconds = int(padded[:2]), int(padded[2:4]), int(padded[4:])
    view = ui.text(
        f"{hours:02d}h {minutes:02d}m {seconds:02d}s", 120, ui.app.tint, align="center", resource="timer_setup_time"
    )
    view.description = f"{hours} hours, {minutes} minutes, {seconds} seconds"
    ui.gap(20)
    side, step = 230, 290
    left, top = (ui.left + ui.right - 3 * step) // 2, ui.top
    for place, key in enumerate(_KEYS):
        x, y = left + place % 3 * step + (step - side) // 2, top + place // 3 * 250
        box = (x, y, x + side, y + side)
        back = key == "back"
        ui.add(
            View(
                "Button",
                box,
                on_tap=lambda key=key: _press(ui, key),
                align="center",
                fill=SURFACE,
                radius=side // 2,
                size=70,
                resource=ui.id(f"timer_setup_digit_{key}"),
                text="" if back else key,
                icon="left" if back else "",
                description="Backspace" if back else "",
            )
        )
    ui.top = top + 4 * 250 + 20
    total = hours * 3600 + minutes * 60 + seconds

    def start() -> None:
        clock_data.add_timer(ui.phone, total)
        ui.state.update(digits="", adding=False)

    def give_up() -> None:
        ui.state.update(digits="", adding=False)

    if total:
        _key(ui, left + step + 25, "Start", "play", start, ui.app.tint)
    if cancel:
        _key(ui, left + 25, "Cancel", "close", give_up, GREY)


def _key(ui: Ui, x: int, name: str, icon: str, tap: Callable[[], object], fill: Color) -> None:
    box = (x, ui.top, x + 240, ui.top + 200)
    ui.add(
        View("ImageButton", box, description=name, icon=icon, on_tap=tap, fill=fill, color=WHITE, radius=80, size=80)
    )


def _press(ui: Ui, key: str) -> None:
    digits = ui.state.get("digits", "")
    if key == "back":
        ui.state["digits"] = digits[:-1]
    elif len(digits + key) <= _DIGITS:
        ui.state["digits"] = (digits + key).lstrip("0")


def _timer(ui: Ui, row: Data) -> None:
    phone, running = ui.phone, row["state"] == "running"
    left = clock_data.remaining(phone, row)

    def delete() -> None:
        ui.data["timers"].remove(row)

    def name() -> None:
        ui.state["timer"] = row["_id"]
        open_question(ui, "label", row["label"])

    ui.row(row["label"] or f"{span(row['length'])} timer", icon="edit", tap=name, description="Edit label")
    time = ui.text(
        span(left), 140, ui.app.tint if left > 0 else (217, 48, 37), align="center", resource="timer_time_text"
    )
    time.description = f"{'Remaining' if left >= 0 else 'Over by'} {span(abs(left))}"
    ui.progress("Remaining time", min(max(left / row["length"], 0.0), 1.0))

    def longer() -> None:
        if row["state"] in ("running", "expired"):
            row.update(left=max(left, 0) + 60)
            clock_data.start_timer(phone, row)
        else:
            row["left"] += 60
        row["length"] = max(row["length"], row["left"])

    reset = ("stop", "Reset", lambda: clock_data.reset_timer(row))
    if row["state"] == "expired":
        ui.icons(
            ("add", "Add 1 minute", longer),
            ("stop", "Stop", lambda: clock_data.reset_timer(row)),
            ("delete", "Delete", delete),
            size=150,
        )
    elif running:
        ui.icons(
            ("add", "Add 1 minute", longer),
            ("pause", "Pause", lambda: clock_data.pause_timer(phone, row)),
            reset,
            ("delete", "Delete", delete),
            size=150,
        )
    else:
        ui.icons(
            ("add", "Add 1 minute", longer),
            ("play", "Start", lambda: clock_data.start_timer(phone, row)),
            reset,
            ("delete", "Delete", delete),
            size=150,
        )
    ui.line()


def stopwatch(ui: Ui) -> None:
    """Draw the stopwatch and its laps."""
    phone, watch = ui.phone, ui.data["stopwatch"]
    seconds = clock_data.stopwatch_seconds(phone)
    ui.gap(120)
    ui.text(f"{span(seconds)}.00", 170, ui.app.tint, align="center", resource="stopwatch_time_text")
    ui.gap(60)
    if watch["running"]:
        ui.icons(
            ("tasks", "Lap", lambda: clock_data.lap_stopwatch(phone)),
            ("pause", "Pause", lambda: clock_data.run_stopwatch(phone, False)),
            size=200,
        )
    elif seconds or watch["laps"]:
        ui.icons(
            ("stop", "Reset", lambda: clock_data.reset_stopwatch(phone)),
            ("play", "Start", lambda: clock_data.run_stopwatch(phone)),
            size=200,
        )
    else:
        ui.icons(("play", "Start", lambda: clock_data.run_stopwatch(phone)), size=200)
    ui.gap(30)
    with ui.scroll(keep=20):
        laps = watch["laps"]
        for number in range(len(laps), 0, -1):
            before = laps[number - 2] if number > 1 else 0
            ui.row(f"# {number}    {span(laps[number - 1] - before)}.00", trailing=f"{span(laps[number - 1])}.00")
