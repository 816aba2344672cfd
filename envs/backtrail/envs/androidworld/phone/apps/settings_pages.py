"""Pages of Settings: battery, sound, display and what else there is."""

from __future__ import annotations

from backtrail.envs.androidworld.phone.apps.asking import open_question
from backtrail.envs.androidworld.phone.apps.settings_parts import rename, toggle
from backtrail.envs.androidworld.phone.apps.settings_values import (
    FONT_SIZES,
    LANGUAGES,
    TIMEOUTS,
    VOLUMES,
    brightness,
    clock_text,
    get,
    number,
    put,
    set_brightness,
)
from backtrail.envs.androidworld.phone.ui import Ui

__all__ = [
    "about",
    "accessibility",
    "add_language",
    "battery",
    "date",
    "display",
    "do_not_disturb",
    "font_size",
    "languages",
    "location",
    "privacy",
    "security",
    "sound",
    "system",
    "timeout",
    "wallpaper",
]

WALLPAPERS = ("Blue hour", "Dunes", "Forest path", "Harbor at night", "Plain gray")
LOCKS = {"None": "1", "Swipe": "0"}


def battery(ui: Ui) -> None:
    """Draw the battery's level and its saver."""
    ui.text("100%", 96)
    ui.progress("Battery level", 1.0)
    ui.text("Full. Charging is not needed.", 38, color=(95, 99, 104))
    toggle(ui, "Battery Saver", "low_power", "Turns off some features", icon="battery")
    toggle(ui, "Adaptive preferences", "adaptive_battery_management_enabled", "Battery for apps you use", icon="app")
    toggle(ui, "Battery percentage", "status_bar_show_battery_percent", "Show in status bar", icon="settings")


def sound(ui: Ui) -> None:
    """Draw volumes and what makes a sound."""
    for key, (label, most) in VOLUMES.items():
        ui.text(label, 42)
        ui.slider(
            label,
            number(ui.phone, key, 0, most) / most,
            lambda share, key=key, most=most: put(ui.phone, key, str(round(share * most))),
        )
    dnd = "On" if get(ui.phone, "zen_mode") != "0" else "Off"
    ui.row("Do Not Disturb", dnd, icon="stop", tap=lambda: ui.phone.go("dnd"))
    toggle(ui, "Vibrate for calls", "vibrate_when_ringing", icon="phone")
    toggle(ui, "Touch sounds", "sound_effects_enabled", icon="volume")
    toggle(ui, "Touch vibration", "haptic_feedback_enabled", icon="bell")


def do_not_disturb(ui: Ui) -> None:
    """Draw whether the phone is silent."""
    on = get(ui.phone, "zen_mode") != "0"
    ui.text("Only get notified by important people and apps." if on else "Silence calls, messages and alerts.")
    ui.button("Turn off now" if on else "Turn on now", lambda: put(ui.phone, "zen_mode", "0" if on else "1"))


def display(ui: Ui) -> None:
    """Draw what concerns the screen."""
    phone = ui.phone
    ui.header("Brightness")
    level = brightness(phone)
    ui.row("Brightness level", f"{round((level - 1) / 2.54)}%", icon="sun", tap=lambda: ui.overlay("brightness"))
    toggle(ui, "Adaptive brightness", "screen_brightness_mode", "Follows the light around you")
    ui.header("Lock display")
    after = next((name for name, ms in TIMEOUTS.items() if ms == get(phone, "screen_off_timeout")), "Other")
    ui.row("Screen timeout", f"After {after} of inactivity", tap=lambda: phone.go("timeout"))
    ui.header("Appearance")
    toggle(ui, "Dark theme", "ui_night_mode", on="2", off="1")
    size = next((name for name, scale in FONT_SIZES.items() if scale == get(phone, "font_scale")), "Other")
    ui.row("Font size", size, tap=lambda: phone.go("font"))
    ui.header("Color")
    toggle(ui, "Night Light", "night_display_activated", "Amber tint in the evening")
    ui.header("Other display controls")
    toggle(ui, "Auto-rotate screen", "accelerometer_rotation")
    if ui.state.get("overlay") == "brightness":
        with ui.dialog("", height=60):
            ui.slider(
                "Display brightness", (level - 1) / 254, lambda share: set_brightness(phone, 1 + round(254 * share))
            )


def timeout(ui: Ui) -> None:
    """Draw when the screen goes off."""
    now = get(ui.phone, "screen_off_timeout")
    for name, value in TIMEOUTS.items():
        ui.row(name, radio=value == now, tap=lambda value=value: put(ui.phone, "screen_off_timeout", value))


def font_size(ui: Ui) -> None:
    """Draw sizes of text, and an example."""
    now = get(ui.phone, "font_scale")
    size = round(42 * float(now)) if now in FONT_SIZES.values() else 42
    ui.text("Make the text on screen smaller or larger.", size)
    for name, value in FONT_SIZES.items():
        ui.row(name, radio=value == now, tap=lambda value=value: put(ui.phone, "font_scale", value))


def wallpaper(ui: Ui) -> None:
    """Draw pictures for the home screen."""
    ui.header("Wallpapers")
    now = ui.data["wallpaper"]
    for name in WALLPAPERS:
        ui.row(name, icon="picture", radio=name == now, tap=lambda name=name: ui.data.update(wallpaper=name))
    toggle(ui, "Dark theme", "ui_night_mode", on="2", off="1", icon="sun")


def accessibility(ui: Ui) -> None:
    """Draw aids for seeing and hearing."""
    ui.header("Display")
    toggle(ui, "High contrast text", "high_text_contrast_enabled", icon="note")
    toggle(ui, "Color inversion", "accessibility_display_inversion_enabled", icon="brush")
    toggle(ui, "Magnification", "accessibility_display_magnification_enabled", icon="search")
    ui.row("Font size", icon="edit", tap=lambda: ui.phone.go("font"))
    ui.header("Captions and audio")
    toggle(ui, "Show captions", "accessibility_captioning_enabled", icon="message")
    toggle(ui, "Speak passwords", "speak_password", icon="volume")


def security(ui: Ui) -> None:
    """Draw how the phone is locked."""
    ui.header("Device security")
    lock = "None" if get(ui.phone, "lockscreen.disabled") == LOCKS["None"] else "Swipe"
    ui.row("Screen lock", lock, icon="lock", tap=lambda: ui.overlay("lock"))
    toggle(ui, "Notifications on lock screen", "lock_screen_show_notifications", icon="bell")
    ui.row("Security update", "October 5, 2023", icon="check")
    if ui.state.get("overlay") == "lock":
        ui.choose("Screen lock", list(LOCKS), lock, lambda name: put(ui.phone, "lockscreen.disabled", LOCKS[name]))


def privacy(ui: Ui) -> None:
    """Draw what apps and bystanders may see."""
    for title, key, icon in (("Camera access", "camera", "camera"), ("Microphone access", "microphone", "mic")):
        on = ui.data[key]
        ui.row(title, "For apps", icon=icon, switch=on, tap=lambda key=key, on=on: ui.data.update({key: not on}))
    toggle(ui, "Show passwords", "show_password", "Shows characters as you type", icon="lock")
    toggle(ui, "Show clipboard access", "clipboard_show_access_notifications", icon="copy")
    toggle(ui, "Notifications on lock screen", "lock_screen_show_notifications", icon="bell")


def location(ui: Ui) -> None:
    """Draw the switch of the location."""
    on = toggle(ui, "Use location", "location_mode", on="3")
    ui.line()
    ui.text("Apps with your permission can see where you are." if on else "No app can see where you are.", 38)


def system(ui: Ui) -> None:
    """Draw languages and time."""
    first = get(ui.phone, "system_locales").split(",")[0]
    ui.row("Languages", LANGUAGES.get(first, first), icon="globe", tap=lambda: ui.phone.go("languages"))
    ui.row("Date & time", "UTC", icon="clock", tap=lambda: ui.phone.go("date"))
    ui.row("About emulated device", get(ui.phone, "device_name"), icon="phone", tap=lambda: ui.phone.go("about"))


def languages(ui: Ui) -> None:
    """Draw the languages in use; the first one counts."""
    codes = get(ui.phone, "system_locales").split(",")
    for place, code in enumerate(codes):
        ui.row(
            f"{place + 1}. {LANGUAGES.get(code, code)}",
            code,
            tap=lambda code=code: ui.state.update(overlay="one", code=code),
        )
    ui.row("Add a language", icon="add", tap=lambda: ui.phone.go("add_language"))
    if ui.state.get("overlay") == "one":
        code: str = ui.state["code"]
        rest = [each for each in codes if each != code]

        def keep(kept: list[str]) -> None:
            put(ui.phone, "system_locales", ",".join(kept))

        remove = ("Remove", (lambda: keep(rest)) if rest else lambda: ui.phone.toast("One language must stay"))
        with ui.dialog(
            LANGUAGES.get(code, code), ("Cancel", None), remove, ("Use first", lambda: keep([code, *rest])), height=20
        ):
            pass


def add_language(ui: Ui) -> None:
    """Draw the languages that are not in use."""
    codes = get(ui.phone, "system_locales").split(",")

    def add(code: str) -> None:
        put(ui.phone, "system_locales", ",".join([*codes, code]))
        ui.phone.close()

    for code, name in LANGUAGES.items():
        if code not in codes:
            ui.row(name, tap=lambda code=code: add(code))


def date(ui: Ui) -> None:
    """Draw the time and how it is written."""
    phone = ui.phone
    automatic = toggle(ui, "Set time automatically", "auto_time")
    ui.row("Date", f"{phone.now:%B} {phone.now.day}, {phone.now.year}", enabled=not automatic)
    ui.row("Time", clock_text(phone, phone.now.hour, phone.now.minute), enabled=not automatic)
    ui.header("Time zone")
    zone = toggle(ui, "Set time zone automatically", "auto_time_zone")
    ui.row("Time zone", "GMT+00:00 Coordinated Universal Time", enabled=not zone)
    ui.header("Time format")
    chosen = phone.settings["system"].get("time_12_24")  # none while the language decides

    def set_format(value: str | None) -> None:
        phone.settings["system"].pop("time_12_24", None)
        if value:
            phone.settings["system"]["time_12_24"] = value

    ui.row("Use locale default", switch=chosen is None, tap=lambda: set_format("12" if chosen is None else None))
    ui.row(
        "Use 24-hour format",
        clock_text(phone, 13, 0),
        switch=chosen == "24",
        tap=lambda: set_format("12" if chosen == "24" else "24"),
    )


def about(ui: Ui) -> None:
    """Draw what phone it is."""
    name = get(ui.phone, "device_name")
    ui.row("Device name", name, icon="edit", tap=lambda: open_question(ui, "device_name", name))
    for title, value in (
        ("Phone number", "+1 555-521-5554"),
        ("Model", "sdk_gphone64_x86_64"),
        ("Android version", "13"),
        ("Android security update", "October 5, 2023"),
        ("Baseband version", "1.0.0.0"),
        ("IP address", "10.0.2.16"),
        ("Build number", "TE1A.220922.010"),
    ):
        ui.row(title, value)
    rename(ui, "device_name")
