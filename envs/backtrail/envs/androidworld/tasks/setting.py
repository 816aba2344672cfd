"""What tasks in Settings share: a change of settings that leaves all others as they were, and ways to the switches."""

from __future__ import annotations

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import settings_values
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle

__all__ = ["ON_OFF", "Setting", "all_settings", "go", "switch"]

ON_OFF = ("off", "on")


class Setting(PhoneTask):
    """A change of settings, from the values of `before` to those of `after`."""

    family = "settings"
    apps = ("Settings",)

    def before(self) -> dict[str, str]:
        """Return what is not as on a new phone when the task begins."""
        return {}

    def after(self) -> dict[str, str]:
        """Return what has to be changed."""
        return {}

    def prepare(self, phone: Phone) -> None:
        """Set what the phone begins with."""
        for key, value in self.before().items():
            settings_values.put(phone, key, value)

    def done(self, phone: Phone) -> bool:
        """Whether the settings are as asked for, and all others as they were."""
        return phone.settings == all_settings({**self.before(), **self.after()})


def all_settings(changes: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return the settings of a new phone with some changes."""
    return {
        space: {key: changes.get(key, value) for key, value in values.items()}
        for space, values in settings_values.FRESH.items()
    }


def go(oracle: Oracle, *pages: str) -> None:
    """Open Settings and tap its pages, one after the other."""
    oracle.open("Settings")
    oracle.tap(*pages)


def switch(oracle: Oracle, words: str, on: bool) -> None:
    """Tap a switch, unless it is as it should be."""
    number = oracle.find(words)
    seen = oracle.backend.elements()
    middle = seen[number].center[1]
    if any(e.class_name.endswith("Switch") and e.bounds[1] <= middle < e.bounds[3] and e.checked != on for e in seen):
        oracle.tap_in(words, "Switch")
