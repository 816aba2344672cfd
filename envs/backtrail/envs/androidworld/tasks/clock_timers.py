"""Tasks in the clock that are not about alarms: timers, the stopwatch and world clocks."""

from __future__ import annotations

import random
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import clock_data
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle

__all__ = ["TASKS"]


def _open(oracle: Oracle, tab: str) -> None:
    oracle.open("Clock")
    oracle.tap(tab)


class StartTimer(PhoneTask):
    """Start a timer."""

    family = "clock"
    apps = ("Clock",)
    template = "Start a timer of {length}, and leave other timers alone."
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw its length, and that of a timer that is there already."""
        hours, minutes, seconds = rng.choice((0, 0, 1, 2, 12)), rng.randint(2, 59), rng.randrange(0, 60, 5)
        other = rng.choice((0, hours * 3600 + minutes * 60 + seconds + 600))
        units = {"hour": hours, "minute": minutes, "second": seconds}
        words = [f"{count} {unit}{'' if count == 1 else 's'}" for unit, count in units.items() if count]
        length = " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
        return {"length": length, "hours": hours, "minutes": minutes, "seconds": seconds, "other": other}

    def prepare(self, phone: Phone) -> None:
        """Put another timer, which does not run."""
        if self.parameters["other"]:
            clock_data.add_timer(phone, self.parameters["other"], start=False)

    def done(self, phone: Phone) -> bool:
        """Whether exactly this timer runs, beside the other one."""
        found = [[row["length"], row["state"]] for row in clock_data.timers(phone)]
        other = [[self.parameters["other"], "reset"]] if self.parameters["other"] else []
        return found == [*other, [self._length, "running"]]

    def solve(self, oracle: Oracle) -> None:
        """Tap the digits and start it."""
        _open(oracle, "Timer")
        if oracle.sees("Add timer"):
            oracle.tap("Add timer")
        hours, minutes, seconds = (self.parameters[unit] for unit in ("hours", "minutes", "seconds"))
        for digit in f"{hours:02d}{minutes:02d}{seconds:02d}".lstrip("0"):
            oracle.tap(digit)
        oracle.tap("Start")

    @property
    def _length(self) -> int:
        return self.parameters["hours"] * 3600 + self.parameters["minutes"] * 60 + self.parameters["seconds"]


class UseStopwatch(PhoneTask):
    """Let the stopwatch run, pause it, or put it back."""

    family = "clock"
    apps = ("Clock",)
    template = "{doing}."
    steps = 15

    _DOING = {
        "run": "Let the stopwatch of the clock run on; do not reset it",
        "pause": "Pause the stopwatch of the clock; do not reset it",
        "reset": "Stop the stopwatch of the clock and put it back to zero",
        "laps": "Start the stopwatch of the clock, note {} with its lap button, and then pause it",
    }

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw what to do, and what the stopwatch shows."""
        what, laps = rng.choice([*self._DOING, "laps"]), rng.randint(1, 5)
        doing = self._DOING[what].format("one lap" if laps == 1 else f"{laps} laps")
        return {"what": what, "doing": doing, "kept": rng.randint(40, 900), "laps": laps}

    def prepare(self, phone: Phone) -> None:
        """Let the stopwatch have run for some time, with laps, unless it should start."""
        if self.parameters["what"] == "laps":
            return
        watch = phone.data("clock")["stopwatch"]
        watch.update(kept=self.parameters["kept"], laps=self._laps)
        if self.parameters["what"] != "run":
            clock_data.run_stopwatch(phone)

    def done(self, phone: Phone) -> bool:
        """Whether it is in this state, and has forgotten nothing unless it should."""
        watch = phone.data("clock")["stopwatch"]
        if self.parameters["what"] == "reset":
            return not watch["running"] and not watch["laps"] and clock_data.stopwatch_seconds(phone) == 0
        if self.parameters["what"] == "laps":
            return not watch["running"] and len(watch["laps"]) == self.parameters["laps"]
        kept = watch["laps"] == self._laps and clock_data.stopwatch_seconds(phone) >= self.parameters["kept"]
        return kept and watch["running"] == (self.parameters["what"] == "run")

    def solve(self, oracle: Oracle) -> None:
        """Tap its buttons."""
        _open(oracle, "Stopwatch")
        if self.parameters["what"] == "run":
            oracle.tap("Start")
        elif self.parameters["what"] == "laps":
            self._note_laps(oracle)
        elif oracle.sees("Pause"):
            oracle.tap("Pause")
        if self.parameters["what"] == "reset":
            oracle.tap("Reset")

    def _note_laps(self, oracle: Oracle) -> None:
        if oracle.sees("Start"):
            oracle.tap("Start")
        noted = sum(element.text.startswith("# ") for element in oracle.backend.elements())
        oracle.tap(*["Lap"] * (self.parameters["laps"] - noted), "Pause")

    @property
    def _laps(self) -> list[int]:
        return [self.parameters["kept"] // 4 * (number + 1) for number in range(self.parameters["laps"])]


class AddWorldClock(PhoneTask):
    """Add a city to the world clock."""

    family = "clock"
    apps = ("Clock",)
    template = "Add a world clock for {city} to the clock."
    steps = 10

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a city, and others that are there already."""
        city, *others = rng.sample(list(clock_data.CITIES), 3)
        return {"city": city, "others": others}

    def prepare(self, phone: Phone) -> None:
        """Put the others."""
        for city in self.parameters["others"]:
            clock_data.add_city(phone, city)

    def done(self, phone: Phone) -> bool:
        """Whether it is the only one that was added."""
        return sorted(clock_data.cities(phone)) == sorted([self.parameters["city"], *self.parameters["others"]])

    def solve(self, oracle: Oracle) -> None:
        """Search for it."""
        _open(oracle, "Clock")
        oracle.tap("Add city")
        oracle.type("Search for a city", self.parameters["city"])
        oracle.do("click", index=oracle.place(lambda e: e.text == self.parameters["city"] and not e.editable))


TASKS: tuple[type[PhoneTask], ...] = (StartTimer, UseStopwatch, AddWorldClock)
