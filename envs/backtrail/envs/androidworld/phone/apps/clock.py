"""The clock: alarms, world clocks, timers and a stopwatch."""

from __future__ import annotations

from datetime import timedelta

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import clock_alarms, clock_data, clock_timers
from backtrail.envs.androidworld.phone.apps.settings_values import clock_text
from backtrail.envs.androidworld.phone.device import Phone
from backtrail.envs.androidworld.phone.page import GREY
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["Clock"]

_TABS = {"Alarm": "bell", "Clock": "clock", "Timer": "sort", "Stopwatch": "play"}
_GROUND = (238, 241, 250)
_BAR = 210  # height of the tabs in pixels


class Clock(App):
    """Alarms, world clocks, timers and a stopwatch."""

    key = "clock"
    label = "Clock"
    volatile = App.volatile | {"seen"}
    package = "com.google.android.deskclock"
    activity = "com.android.deskclock.DeskClock"
    icon = "clock"
    tint = (65, 105, 225)

    def fresh(self) -> Data:
        """Return the clock's data on a new phone."""
        return clock_data.fresh()

    def tick(self, phone: Phone) -> None:
        """Let alarms and timers ring."""
        ringing, ended = clock_data.advance(phone)
        for row in ended:
            label = row["label"] or clock_timers.span(row["length"])
            phone.toast(f"Time's up: {label}")
        for row in ringing:
            phone.hand_over(self.key, "ring", id=row["_id"])

    def activity_of(self, page: str) -> str:
        """Return the class of the activity that shows a page."""
        names = {
            "ring": "com.android.deskclock.alarms.AlarmActivity",
            "cities": "com.android.deskclock.worldclock.CitySelectionActivity",
        }
        return names.get(page, self.activity)

    def draw(self, ui: Ui) -> None:
        """Draw a page."""
        if ui.page == "ring":
            clock_alarms.ringing(ui)
        elif ui.page == "time":
            clock_alarms.picker(ui)
        elif ui.page == "cities":
            _cities(ui)
        else:
            _main(ui)


def _main(ui: Ui) -> None:
    tab = ui.data["tab"]
    ui.bar(tab, up=False)
    bottom, ui.bottom = ui.bottom, ui.bottom - (0 if ui.phone.state["keyboard"] else _BAR)
    {
        "Alarm": clock_alarms.alarms,
        "Clock": _world,
        "Timer": clock_timers.timers,
        "Stopwatch": clock_timers.stopwatch,
    }[tab](ui)
    if ui.bottom < bottom:
        _tabs(ui, tab, bottom)


def _tabs(ui: Ui, chosen: str, bottom: int) -> None:
    width = (ui.right - ui.left) // len(_TABS)
    for place, (name, icon) in enumerate(_TABS.items()):
        left, on = ui.left + place * width, name == chosen
        color = ui.app.tint if on else GREY
        cell = ui.add(
            View(
                "FrameLayout",
                (left, ui.bottom, left + width, bottom),
                on_tap=lambda name=name: _choose(ui, name),
                selected=on,
                fill=_GROUND,
                resource=ui.id(f"tab_menu_{name.lower()}"),
            )
        )
        cell.children = [
            View(
                "ImageView",
                (left + width // 2 - 70, ui.bottom + 25, left + width // 2 + 70, ui.bottom + 105),
                icon=icon,
                color=color,
                fill=(200, 214, 250) if on else None,
                radius=40,
            ),
            View(
                "TextView",
                (left, ui.bottom + 115, left + width, bottom - 30),
                name,
                align="center",
                size=36,
                color=color,
            ),
        ]


def _choose(ui: Ui, tab: str) -> None:
    ui.data["tab"] = tab
    ui.state.clear()


def _world(ui: Ui) -> None:
    phone, now = ui.phone, ui.phone.now
    ui.text(clock_text(phone, now.hour, now.minute), 150, align="center", resource="digital_clock")
    ui.text(f"{now:%a}, {now:%b} {now.day}", 46, GREY, align="center", resource="date")
    ui.gap(40)
    with ui.scroll(keep=20):
        for city in ui.data["cities"]:
            there = now + timedelta(minutes=clock_data.CITIES[city])
            ui.row(
                city,
                _ahead(clock_data.CITIES[city], there.date().toordinal() - now.date().toordinal()),
                trailing=clock_text(phone, there.hour, there.minute),
                hold=lambda city=city: ui.state.update(overlay="remove", city=city),
                tap=lambda: None,
            )
        ui.gap(230)
    ui.floating("add", "Add city", lambda: phone.go("cities"))
    if ui.state.get("overlay") == "remove":
        city = ui.state["city"]
        ui.confirm(f"Remove {city}?", "Remove", lambda: ui.data["cities"].remove(city))


def _ahead(minutes: int, days: int) -> str:
    day = {-1: "Yesterday", 0: "Today", 1: "Tomorrow"}[days]
    hours = f"{abs(minutes) // 60}" + (f":{abs(minutes) % 60:02d}" if minutes % 60 else "")
    if not minutes:
        return f"{day}, same time"
    return f"{day}, {hours} hr {'ahead' if minutes > 0 else 'behind'}"


def _cities(ui: Ui) -> None:
    ui.bar("Add city")
    wanted = ui.field("query", "Search for a city", resource="search_src_text").strip().lower()
    found = [city for city in clock_data.CITIES if city.lower().startswith(wanted)]

    def take(city: str) -> None:
        clock_data.add_city(ui.phone, city)
        ui.phone.close()

    with ui.scroll():
        for city in found:
            ui.row(city, check=True if city in ui.data["cities"] else None, tap=lambda city=city: take(city))
        if not found:
            ui.text("No city found", align="center")
