"""What the pages of Settings are made of."""

from __future__ import annotations

from backtrail.envs.androidworld.phone.apps.asking import ask, asked
from backtrail.envs.androidworld.phone.apps.settings_values import get, put
from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["rename", "toggle"]


def rename(ui: Ui, key: str) -> None:
    """Draw the dialog ``key``, if it is open: it changes a name among the settings; an empty one is not taken."""

    def done(name: str) -> None:
        if name:
            put(ui.phone, key, name)
        else:
            ui.phone.toast("Name cannot be empty")

    if asked(ui, key):
        ask(ui, key, "Device name", "Name", "OK", done)


def toggle(
    ui: Ui,
    title: str,
    key: str,
    subtitle: str = "",
    *,
    on: str = "1",
    off: str = "0",
    icon: str = "",
) -> bool:
    """Draw the switch of a setting; return whether it is on."""
    value = get(ui.phone, key) == on
    ui.row(title, subtitle, icon=icon, switch=value, tap=lambda: put(ui.phone, key, off if value else on))
    return value
