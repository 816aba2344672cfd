"""Pages of Settings: installed apps, their notifications, storage."""

from __future__ import annotations

import posixpath

from backtrail.envs.androidworld.phone.app import App
from backtrail.envs.androidworld.phone.apps.settings_parts import toggle
from backtrail.envs.androidworld.phone.device import Phone
from backtrail.envs.androidworld.phone.ui import Ui

__all__ = [
    "app_notifications",
    "app_storage",
    "apps",
    "info",
    "mute",
    "notifications",
    "storage",
    "storage_summary",
]

_SYSTEM, _TOTAL = 5.4, 8.0  # gigabytes of the system and of the whole phone
_KINDS = (
    ("Images", "picture", (".jpg", ".jpeg", ".png", ".svg", ".gif", ".webp")),
    ("Videos", "play", (".mp4", ".mkv", ".3gp", ".webm")),
    ("Audio", "volume", (".mp3", ".m4a", ".wav", ".ogg")),
    ("Documents & other", "file", ()),
)


def installed(phone: Phone) -> list[App]:
    """Return the apps that a user sees, by label."""
    return sorted((app for app in phone.apps.values() if not app.hidden), key=lambda app: app.label.lower())


def mute(phone: Phone, package: str, muted: bool = True) -> None:
    """Turn an app's notifications off, or on."""
    silent = [each for each in phone.data("settings")["muted"] if each != package]
    phone.data("settings")["muted"] = sorted([*silent, package] if muted else silent)


def apps(ui: Ui) -> None:
    """Draw the list of apps."""
    all_apps = installed(ui.phone)
    ui.header(f"All {len(all_apps)} apps")
    for app in all_apps:
        stopped = "Stopped" if app.package in ui.data["stopped"] else f"{_size(ui.phone, app):.1f} MB"
        ui.row(app.label, stopped, icon=app.icon, tap=lambda app=app: ui.phone.go("app", key=app.key))


def _size(phone: Phone, app: App) -> float:
    """Return what an app takes up in megabytes: 12, and a tenth for each thing that it keeps."""
    return 12 + 0.1 * sum(len(value) for value in phone.data(app.key).values() if isinstance(value, list))


def info(ui: Ui) -> None:
    """Draw what there is to an app."""
    phone, app = ui.phone, ui.phone.apps[ui.args["key"]]
    stopped = app.package in ui.data["stopped"]
    ui.row(app.label, app.package, icon=app.icon)
    ui.buttons(("Open", lambda: _start(ui, app)), ("Force stop", None if stopped else lambda: ui.overlay("stop")))
    silent = app.package in ui.data["muted"]
    ui.row(
        "Notifications", "Off" if silent else "On", icon="bell", tap=lambda: phone.go("app_notifications", key=app.key)
    )
    ui.row(
        "Storage & cache",
        f"{_size(phone, app):.1f} MB",
        icon="folder",
        tap=lambda: phone.go("app_storage", key=app.key),
    )
    ui.row("Battery", "Optimized", icon="battery")
    ui.text("version 1.0", 36, color=(95, 99, 104))
    if ui.state.get("overlay") == "stop":
        question = "If you force stop an app, it may misbehave."
        ui.confirm(f"Force stop? {question}", "OK", lambda: ui.data["stopped"].append(app.package))


def _start(ui: Ui, app: App) -> None:
    ui.data["stopped"] = [each for each in ui.data["stopped"] if each != app.package]
    ui.phone.open(app.key)


def app_notifications(ui: Ui) -> None:
    """Draw the switch of an app's notifications."""
    app = ui.phone.apps[ui.args["key"]]
    silent = app.package in ui.data["muted"]
    ui.row(
        f"All {app.label} notifications",
        switch=not silent,
        tap=lambda: mute(ui.phone, app.package, not silent),
        icon=app.icon,
    )
    if silent:
        ui.text("This app does not show notifications.", color=(95, 99, 104))


def app_storage(ui: Ui) -> None:
    """Draw what an app keeps, and the button that deletes it."""
    phone, app = ui.phone, ui.phone.apps[ui.args["key"]]
    ui.row(app.label, icon=app.icon)
    ui.buttons(("Clear storage", lambda: ui.overlay("clear")), ("Clear cache", lambda: phone.toast("Cache cleared")))
    ui.row("App size", "12.0 MB")
    ui.row("User data", f"{_size(phone, app) - 12:.1f} MB")
    if ui.state.get("overlay") == "clear":

        def clear() -> None:
            phone.state["apps"][app.key] = app.fresh()
            phone.toast("Storage cleared")

        ui.confirm(f"Delete all data of {app.label}? This cannot be undone.", "Delete", clear)


def notifications(ui: Ui) -> None:
    """Draw what holds for all notifications."""
    ui.row("App settings", "Notifications of each app", icon="app", tap=lambda: ui.phone.go("apps"))
    toggle(ui, "Notification history", "notification_history_enabled", icon="clock")
    toggle(ui, "Bubbles", "notification_bubbles", "Conversations float above apps", icon="message")
    ui.header("Privacy")
    toggle(ui, "Notifications on lock screen", "lock_screen_show_notifications", icon="lock")
    ui.header("General")
    ui.row("Do Not Disturb", icon="stop", tap=lambda: ui.phone.go("dnd"))
    toggle(ui, "Notification dot on app icon", "notification_badging", icon="bell")


def _sizes(phone: Phone) -> dict[str, float]:
    """Return how many gigabytes users' files of each kind take up: 5 megabytes each."""
    sizes = {name: 0.0 for name, _, _ in _KINDS}
    for path in phone.files.all():
        ending = posixpath.splitext(path)[1].lower()
        name = next((name for name, _, endings in _KINDS if ending in endings), _KINDS[-1][0])
        sizes[name] += 0.005
    return sizes


def storage_summary(phone: Phone) -> str:
    """Return how full the phone is, in words."""
    used = _SYSTEM + sum(_sizes(phone).values())
    return f"{round(100 * used / _TOTAL)}% used - {_TOTAL - used:.2f} GB free"


def storage(ui: Ui) -> None:
    """Draw what takes up how much."""
    sizes = _sizes(ui.phone)
    used = _SYSTEM + sum(sizes.values())
    ui.text(f"{used:.2f} GB used of {_TOTAL:.0f} GB", 60)
    ui.progress("Used storage", min(used / _TOTAL, 1.0))
    ui.row("Free space", f"{_TOTAL - used:.2f} GB", icon="folder")
    ui.row("Apps", f"{len(installed(ui.phone))} installed", icon="app", tap=lambda: ui.phone.go("apps"))
    for name, icon, _ in _KINDS:
        ui.row(name, f"{sizes[name] * 1000:.0f} MB", icon=icon)
    ui.row("System", f"{_SYSTEM:.1f} GB", icon="settings")
