"""What Settings changes: Android's settings by namespace, networks, paired devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.app import Data

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "FONT_SIZES",
    "FRESH",
    "LANGUAGES",
    "TIMEOUTS",
    "VOLUMES",
    "add_network",
    "airplane_mode",
    "bluetooth",
    "brightness",
    "clock_text",
    "connect",
    "get",
    "joined",
    "namespace_of",
    "number",
    "pair",
    "put",
    "set_airplane_mode",
    "set_bluetooth",
    "set_brightness",
    "set_up",
    "set_wifi",
    "wifi",
]

FRESH: dict[str, dict[str, str]] = {
    "global": {
        "adaptive_battery_management_enabled": "1",
        "airplane_mode_on": "0",
        "auto_time": "1",
        "auto_time_zone": "1",
        "bluetooth_on": "1",
        "data_roaming": "0",
        "device_name": "sdk_gphone64_x86_64",
        "low_power": "0",
        "mobile_data": "1",
        "mode_ringer": "2",
        "wifi_on": "1",
        "zen_mode": "0",
    },
    "system": {
        "accelerometer_rotation": "0",
        "font_scale": "1.0",
        "haptic_feedback_enabled": "1",
        "screen_brightness": "102",
        "screen_brightness_mode": "0",
        "screen_off_timeout": "60000",
        "show_password": "1",
        "sound_effects_enabled": "1",
        "status_bar_show_battery_percent": "0",
        "system_locales": "en-US",
        "time_12_24": "24",
        "vibrate_when_ringing": "0",
        "volume_alarm": "6",
        "volume_music": "5",
        "volume_notification": "5",
        "volume_ring": "5",
        "volume_voice": "4",
    },
    "secure": {
        "accessibility_captioning_enabled": "0",
        "accessibility_display_inversion_enabled": "0",
        "accessibility_display_magnification_enabled": "0",
        "bluetooth_name": "sdk_gphone64_x86_64",
        "clipboard_show_access_notifications": "1",
        "high_text_contrast_enabled": "0",
        "location_mode": "3",
        "lock_screen_show_notifications": "1",
        "lockscreen.disabled": "0",
        "night_display_activated": "0",
        "notification_badging": "1",
        "notification_bubbles": "1",
        "notification_history_enabled": "0",
        "speak_password": "0",
        "ui_night_mode": "1",
    },
}
"""Settings of a new phone by namespace."""

TIMEOUTS = {
    "15 seconds": "15000",
    "30 seconds": "30000",
    "1 minute": "60000",
    "2 minutes": "120000",
    "5 minutes": "300000",
    "10 minutes": "600000",
    "30 minutes": "1800000",
}
"""What the screen timeout can be, in milliseconds."""

FONT_SIZES = {"Small": "0.85", "Default": "1.0", "Large": "1.15", "Largest": "1.3"}

VOLUMES = {
    "volume_music": ("Media volume", 15),
    "volume_voice": ("Call volume", 5),
    "volume_ring": ("Ring & notification volume", 7),
    "volume_alarm": ("Alarm volume", 7),
}
"""Key of each volume, its label and its highest step."""

LANGUAGES = {
    "en-US": "English (United States)",
    "en-GB": "English (United Kingdom)",
    "de-DE": "German (Germany)",
    "es-ES": "Spanish (Spain)",
    "fr-FR": "French (France)",
    "it-IT": "Italian (Italy)",
    "nl-NL": "Dutch (Netherlands)",
    "pt-BR": "Portuguese (Brazil)",
    "sv-SE": "Swedish (Sweden)",
}


def set_up(phone: Phone) -> None:
    """Give a phone the settings of a new one."""
    for namespace, values in FRESH.items():
        phone.settings[namespace].clear()
        phone.settings[namespace].update(values)


def namespace_of(key: str) -> str:
    """Return the namespace of a setting of a new phone.

    Raises:
        KeyError: If a new phone has no such setting.
    """
    for namespace, values in FRESH.items():
        if key in values:
            return namespace
    raise KeyError(f"expected a setting of a new phone, got {key!r}; see FRESH")


def get(phone: Phone, key: str) -> str:
    """Return a setting; what a new phone has if it is not set."""
    namespace = namespace_of(key)
    return phone.settings[namespace].get(key, FRESH[namespace][key])


def put(phone: Phone, key: str, value: str) -> None:
    """Change a setting."""
    phone.settings[namespace_of(key)][key] = value


def wifi(phone: Phone) -> bool:
    """Whether Wi-Fi is on: "1", or "2" if it was turned on in airplane mode."""
    return get(phone, "wifi_on") in ("1", "2")


def set_wifi(phone: Phone, on: bool) -> None:
    """Turn Wi-Fi on or off; turned on, it connects to a network that it knows."""
    put(phone, "wifi_on", ("2" if airplane_mode(phone) else "1") if on else "0")
    rows = phone.data("settings")["networks"]
    known = next((row for row in rows if row["saved"]), None)
    if on and known is not None and not any(row["connected"] for row in rows):
        known["connected"] = True


def joined(phone: Phone) -> str:
    """Return the name of the network that the phone is connected to; "" for none."""
    rows = phone.data("settings")["networks"] if wifi(phone) else []
    return next((row["ssid"] for row in rows if row["connected"]), "")


def bluetooth(phone: Phone) -> bool:
    """Whether Bluetooth is on."""
    return get(phone, "bluetooth_on") == "1"


def set_bluetooth(phone: Phone, on: bool) -> None:
    """Turn Bluetooth on or off; off ends its connections."""
    put(phone, "bluetooth_on", "1" if on else "0")
    if not on:
        for row in phone.data("settings")["devices"]:
            row["connected"] = False


def airplane_mode(phone: Phone) -> bool:
    """Whether airplane mode is on."""
    return get(phone, "airplane_mode_on") == "1"


def set_airplane_mode(phone: Phone, on: bool) -> None:
    """Turn airplane mode on or off; Wi-Fi and Bluetooth go off with it ("3" and "2") and come back after it."""
    if on == airplane_mode(phone):
        return
    had_wifi, had_bluetooth = get(phone, "wifi_on"), get(phone, "bluetooth_on")
    put(phone, "airplane_mode_on", "1" if on else "0")
    if on:
        set_wifi(phone, False)
        set_bluetooth(phone, False)
        put(phone, "wifi_on", "3" if had_wifi == "1" else had_wifi)
        put(phone, "bluetooth_on", "2" if had_bluetooth == "1" else had_bluetooth)
    else:
        set_wifi(phone, had_wifi in ("2", "3"))
        set_bluetooth(phone, had_bluetooth in ("1", "2"))


def number(phone: Phone, key: str, least: int, most: int) -> int:
    """Return a setting as a number within limits; what a new phone has if it is no number."""
    value = get(phone, key)
    if not value.isdecimal():
        value = FRESH[namespace_of(key)][key]
    return min(max(int(value), least), most)


def brightness(phone: Phone) -> int:
    """Return the screen's brightness, 1 to 255."""
    return number(phone, "screen_brightness", 1, 255)


def set_brightness(phone: Phone, level: int) -> None:
    """Set the screen's brightness; kept within 1 to 255."""
    put(phone, "screen_brightness", str(min(max(level, 1), 255)))


def clock_text(phone: Phone, hour: int, minute: int) -> str:
    """Return a time of day as the phone's settings want it: "15:34", or "3:34 PM"."""
    if phone.settings["system"].get("time_12_24") == "24":
        return f"{hour:02d}:{minute:02d}"
    return f"{(hour + 11) % 12 + 1}:{minute:02d} {'AM' if hour < 12 else 'PM'}"


def add_network(phone: Phone, ssid: str, password: str = "") -> None:
    """Put a network within reach; without a password it is open."""
    phone.data("settings")["networks"].append(network(ssid, password))


def network(ssid: str, password: str = "", known: bool = False) -> Data:
    """Return a network's row; one that is known is connected."""
    return {"ssid": ssid, "pre_shared_key": password, "saved": known, "connected": known}


def connect(phone: Phone, ssid: str) -> None:
    """Connect to a network within reach, which is then known."""
    for row in phone.data("settings")["networks"]:
        row["connected"] = row["ssid"] == ssid
        row["saved"] = row["saved"] or row["ssid"] == ssid


def pair(phone: Phone, name: str, paired: bool = True) -> None:
    """Pair a Bluetooth device, or forget it."""
    for row in phone.data("settings")["devices"]:
        if row["name"] == name:
            row["paired"] = row["connected"] = paired
