"""Settings: every page by touch; values under Android's keys."""

from __future__ import annotations

import pytest
from touching import Hand

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.settings import Settings, set_up
from backtrail.envs.androidworld.phone.apps.settings_values import FRESH, add_network, get, joined, namespace_of, put


@pytest.fixture
def phone() -> Phone:
    phone = Phone([Launcher(), Settings()])
    set_up(phone)
    return phone


@pytest.fixture
def hand(phone: Phone) -> Hand:
    hand = Hand(phone)
    hand.tap("Settings")
    return hand


def test_a_new_phone_has_the_settings_of_one(phone: Phone):
    assert phone.settings == FRESH
    phone.settings["global"]["wifi_on"] = "0"
    assert FRESH["global"]["wifi_on"] == "1"
    with pytest.raises(KeyError, match="wifi"):
        namespace_of("wifi")


def test_activities_are_those_of_android(phone: Phone, hand: Hand):
    assert phone.activity == "com.android.settings/.Settings"
    hand.tap("Network & internet")
    assert phone.activity == "com.android.settings/.SubSettings"


def test_wifi_goes_off_and_comes_back(phone: Phone, hand: Hand):
    hand.tap("Network & internet", "Internet", "Wi-Fi")
    assert phone.settings["global"]["wifi_on"] == "0" and joined(phone) == ""
    assert not hand.sees("HomeNet")
    hand.tap("Wi-Fi")
    assert phone.settings["global"]["wifi_on"] == "1" and joined(phone) == "AndroidWifi"


def test_a_secured_network_wants_its_password(phone: Phone, hand: Hand):
    hand.tap("Network & internet", "Internet", "HomeNet", "Connect")
    assert joined(phone) == "AndroidWifi"
    hand.type("Password", "wrongword")
    phone.back()
    hand.tap("Connect")
    assert joined(phone) == "AndroidWifi" and hand.sees("Check password and try again")
    hand.type("Password", "sunflower22")
    phone.back()
    hand.tap("Connect")
    assert joined(phone) == "HomeNet"
    hand.tap("HomeNet", "Forget")
    assert joined(phone) == "" and hand.sees("Internet")


def test_an_open_network_is_joined_by_a_tap_and_others_by_name(phone: Phone, hand: Hand):
    add_network(phone, "Library")
    hand.tap("Network & internet", "Internet", "Library")
    assert joined(phone) == "Library"
    hand.tap("Add network", "Connect")
    assert hand.sees("Network name")
    hand.type("Network name", "Attic")
    phone.back()
    hand.tap("Connect")
    assert joined(phone) == "Attic"


def test_airplane_mode_takes_the_radios_along(phone: Phone, hand: Hand):
    hand.tap("Network & internet", "Airplane mode")
    assert [get(phone, key) for key in ("airplane_mode_on", "wifi_on", "bluetooth_on")] == ["1", "3", "2"]
    hand.tap("Internet", "Wi-Fi")
    assert get(phone, "wifi_on") == "2"
    phone.back()
    hand.tap("Airplane mode")
    assert [get(phone, key) for key in ("airplane_mode_on", "wifi_on", "bluetooth_on")] == ["0", "1", "1"]


def test_what_was_off_before_airplane_mode_stays_off(phone: Phone, hand: Hand):
    put(phone, "bluetooth_on", "0")
    hand.tap("Network & internet", "Airplane mode", "Airplane mode")
    assert [get(phone, key) for key in ("wifi_on", "bluetooth_on")] == ["1", "0"]


def test_bluetooth_and_its_devices(phone: Phone, hand: Hand):
    hand.tap("Connected devices", "Bluetooth", "Use Bluetooth")
    assert get(phone, "bluetooth_on") == "0"
    hand.tap("Pair new device")
    assert get(phone, "bluetooth_on") == "1"
    hand.tap("Car Audio")
    assert hand.sees("Pair with Car Audio?")
    hand.tap("Pair")
    assert phone.top["page"] == "bluetooth" and hand.sees("Connected")
    hand.tap("Car Audio", "Disconnect")
    assert hand.sees("Not connected")
    hand.tap("Forget", "Forget device")
    assert not hand.sees("Car Audio")


@pytest.mark.parametrize(("share", "level"), [(0.0, "1"), (0.999, "255")])
def test_brightness_reaches_both_ends(phone: Phone, hand: Hand, share: float, level: str):
    hand.tap("Display", "Brightness level")
    hand.slide("Display brightness", share)
    assert phone.settings["system"]["screen_brightness"] == level
    phone.back()
    assert phone.top["page"] == "display" and hand.sees("0%" if level == "1" else "100%")


def test_brightness_follows_a_swipe(phone: Phone, hand: Hand):
    hand.tap("Display", "Brightness level")
    slider = hand.see("Display brightness")
    assert slider is not None
    left, top, right, bottom = slider.bounds
    phone.swipe(((left + right) // 2, (top + bottom) // 2), (1079, (top + bottom) // 2))
    assert get(phone, "screen_brightness") == "255"


@pytest.mark.parametrize(
    ("way", "key", "before", "after"),
    [
        (("Network & internet", "Mobile data"), "mobile_data", "1", "0"),
        (("Notifications", "Notification history"), "notification_history_enabled", "0", "1"),
        (("Battery", "Battery Saver"), "low_power", "0", "1"),
        (("Battery", "Battery percentage"), "status_bar_show_battery_percent", "0", "1"),
        (("Sound & vibration", "Touch sounds"), "sound_effects_enabled", "1", "0"),
        (("Sound & vibration", "Do Not Disturb", "Turn on now"), "zen_mode", "0", "1"),
        (("Display", "Adaptive brightness"), "screen_brightness_mode", "0", "1"),
        (("Display", "Dark theme"), "ui_night_mode", "1", "2"),
        (("Display", "Auto-rotate screen"), "accelerometer_rotation", "0", "1"),
        (("Display", "Screen timeout", "5 minutes"), "screen_off_timeout", "60000", "300000"),
        (("Display", "Font size", "Large"), "font_scale", "1.0", "1.15"),
        (("Accessibility", "Color inversion"), "accessibility_display_inversion_enabled", "0", "1"),
        (("Security", "Screen lock", "None"), "lockscreen.disabled", "0", "1"),
        (("Privacy", "Show passwords"), "show_password", "1", "0"),
        (("Location", "Use location"), "location_mode", "3", "0"),
        (("System", "Date & time", "Set time automatically"), "auto_time", "1", "0"),
        (("System", "Date & time", "Use 24-hour format"), "time_12_24", "24", "12"),
        (("System", "Languages", "Add a language", "French (France)"), "system_locales", "en-US", "en-US,fr-FR"),
    ],
)
def test_a_setting_changes_and_nothing_else(
    phone: Phone, hand: Hand, way: tuple[str, ...], key: str, before: str, after: str
):
    assert get(phone, key) == before
    hand.tap(*way)
    expected = {namespace: dict(values) for namespace, values in FRESH.items()}
    expected[namespace_of(key)][key] = after
    assert phone.settings == expected


def test_volumes_are_steps(phone: Phone, hand: Hand):
    hand.tap("Sound & vibration")
    hand.slide("Media volume", 0.999)
    hand.slide("Alarm volume", 0.0)
    hand.slide("Ring & notification volume", 0.5)
    assert [get(phone, f"volume_{name}") for name in ("music", "alarm", "ring")] == ["15", "0", "4"]


def test_languages_are_ordered_and_one_stays(phone: Phone, hand: Hand):
    hand.tap("System", "Languages", "1. English (United States)", "Remove")
    assert get(phone, "system_locales") == "en-US"
    hand.tap("Add a language", "German (Germany)", "2. German (Germany)", "Use first")
    assert get(phone, "system_locales") == "de-DE,en-US"
    hand.tap("2. English (United States)", "Remove")
    assert get(phone, "system_locales") == "de-DE"


def test_the_device_is_renamed_but_not_to_nothing(phone: Phone, hand: Hand):
    hand.tap("About emulated device", "Device name")
    hand.type("Name", "  ")
    hand.tap("OK")
    assert get(phone, "device_name") == "sdk_gphone64_x86_64" and hand.sees("Name cannot be empty")
    hand.tap("Device name")
    hand.type("Name", "Kitchen phone")
    hand.tap("OK")
    assert get(phone, "device_name") == "Kitchen phone" and not phone.state["keyboard"]
    assert get(phone, "bluetooth_name") == "sdk_gphone64_x86_64"


def test_an_app_is_stopped_muted_and_cleared(phone: Phone, hand: Hand):
    phone.data("settings")["wallpaper"] = "Dunes"
    hand.tap("Apps", "Settings", "Notifications", "All Settings notifications")
    assert phone.data("settings")["muted"] == ["com.android.settings"]
    phone.back()
    hand.tap("Force stop")
    hand.tap("OK", "Force stop")
    assert phone.data("settings")["stopped"] == ["com.android.settings"] and not phone.top["state"].get("overlay")
    hand.tap("Storage & cache", "Clear storage", "Delete")
    assert phone.data("settings") == Settings().fresh()
    phone.back()
    hand.tap("Open")
    assert phone.top["page"] == "main"


def test_search_leads_to_pages(phone: Phone, hand: Hand):
    hand.tap("Search settings")
    hand.type("Search settings", "wifi")
    hand.tap("Wi-Fi")
    assert phone.top["page"] == "internet"
    phone.back()
    hand.type("Search settings", "quux")
    assert hand.sees("No results")


def test_wallpaper_and_storage(phone: Phone, hand: Hand):
    hand.tap("Wallpaper & style", "Forest path")
    assert phone.data("settings")["wallpaper"] == "Forest path"
    phone.back()
    phone.files.write("/sdcard/Pictures/a.jpg", "{}")
    hand.tap("Storage")
    assert hand.sees("5 MB") and hand.sees("Free space")


@pytest.mark.parametrize(
    ("key", "value", "way"),
    [
        ("screen_brightness", "dim", ("Display", "Brightness level")),
        ("volume_music", "99", ("Sound & vibration",)),
        ("system_locales", "xx-YY", ("System", "Languages", "1. xx-YY")),
        ("font_scale", "2.0", ("Display", "Font size")),
        ("lockscreen.disabled", "?", ("Security", "Screen lock")),
        ("screen_off_timeout", "1", ("Display", "Screen timeout")),
    ],
)
def test_values_that_something_else_has_set_are_survived(
    phone: Phone, hand: Hand, key: str, value: str, way: tuple[str, ...]
):
    put(phone, key, value)
    hand.tap(*way)
    assert get(phone, key) == value
