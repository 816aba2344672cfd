"""Settings: its list, its search, and which page is drawn by whom."""

from __future__ import annotations

from collections.abc import Callable

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import settings_apps, settings_network, settings_pages
from backtrail.envs.androidworld.phone.apps.settings_values import get, network, set_up, wifi
from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["Settings", "set_up"]

_PAGES: dict[str, tuple[str, Callable[[Ui], None]]] = {
    "network": ("Network & internet", settings_network.network_page),
    "internet": ("Internet", settings_network.internet),
    "wifi": ("Network details", settings_network.wifi_details),
    "join": ("Add network", settings_network.join),
    "devices": ("Connected devices", settings_network.devices),
    "pair": ("Pair new device", settings_network.pairing),
    "device": ("Device details", settings_network.device),
    "bluetooth": ("Bluetooth", settings_network.bluetooth_page),
    "apps": ("Apps", settings_apps.apps),
    "app": ("App info", settings_apps.info),
    "app_notifications": ("Notifications", settings_apps.app_notifications),
    "app_storage": ("Storage", settings_apps.app_storage),
    "notifications": ("Notifications", settings_apps.notifications),
    "battery": ("Battery", settings_pages.battery),
    "storage": ("Storage", settings_apps.storage),
    "sound": ("Sound & vibration", settings_pages.sound),
    "dnd": ("Do Not Disturb", settings_pages.do_not_disturb),
    "display": ("Display", settings_pages.display),
    "timeout": ("Screen timeout", settings_pages.timeout),
    "font": ("Font size", settings_pages.font_size),
    "wallpaper": ("Wallpaper & style", settings_pages.wallpaper),
    "accessibility": ("Accessibility", settings_pages.accessibility),
    "security": ("Security", settings_pages.security),
    "privacy": ("Privacy", settings_pages.privacy),
    "location": ("Location", settings_pages.location),
    "system": ("System", settings_pages.system),
    "languages": ("Languages", settings_pages.languages),
    "add_language": ("Add a language", settings_pages.add_language),
    "date": ("Date & time", settings_pages.date),
    "about": ("About emulated device", settings_pages.about),
}

_MAIN = (
    ("network", "wifi", "Wi-Fi, mobile data, airplane mode"),
    ("devices", "bluetooth", "Bluetooth, pairing"),
    ("apps", "app", "All apps, force stop"),
    ("notifications", "bell", "History, bubbles, lock screen"),
    ("battery", "battery", ""),
    ("storage", "folder", ""),
    ("sound", "volume", "Volume, vibration, Do Not Disturb"),
    ("display", "sun", "Brightness, dark theme, font size"),
    ("wallpaper", "brush", "Home and lock screen picture"),
    ("accessibility", "person", "Contrast, captions, magnification"),
    ("security", "lock", "Screen lock"),
    ("privacy", "star", "Passwords, clipboard, microphone"),
    ("location", "globe", ""),
    ("system", "settings", "Languages, date and time"),
    ("about", "phone", ""),
)

_FOUND = (
    ("Wi-Fi", "internet"), ("Internet", "internet"), ("Mobile data", "network"), ("Airplane mode", "network"),
    ("Bluetooth", "bluetooth"), ("Pair new device", "pair"), ("Brightness level", "display"),
    ("Adaptive brightness", "display"), ("Dark theme", "display"), ("Font size", "font"), ("Screen timeout", "timeout"),
    ("Auto-rotate screen", "display"), ("Night Light", "display"), ("Media volume", "sound"), ("Alarm volume", "sound"),
    ("Do Not Disturb", "dnd"), ("Battery Saver", "battery"), ("Battery percentage", "battery"),
    ("Screen lock", "security"), ("Use location", "location"), ("Languages", "languages"), ("Date & time", "date"),
    ("Use 24-hour format", "date"), ("Device name", "about"), ("Android version", "about"),
    ("Color inversion", "accessibility"),
)  # fmt: skip
"""What search finds beside the pages themselves: what it is called and its page."""


class Settings(App):
    """Settings of the phone."""

    key = "settings"
    label = "Settings"
    package = "com.android.settings"
    activity = ".Settings"
    icon = "settings"
    tint = (11, 87, 208)

    def fresh(self) -> Data:
        """Return networks and Bluetooth devices within reach; the settings themselves come from `set_up`."""
        return {
            "networks": [
                network("AndroidWifi", known=True),
                network("HomeNet", "sunflower22"),
                network("CoffeeCorner"),
                network("Office-5G", "blueprint77"),
            ],
            "devices": [
                {"name": name, "address": address, "paired": paired, "connected": False}
                for name, address, paired in (
                    ("Living Room Speaker", "44:5E:F3:10:22:01", True),
                    ("Pixel Buds", "44:5E:F3:10:22:02", False),
                    ("Car Audio", "44:5E:F3:10:22:03", False),
                    ("Wireless Keyboard", "44:5E:F3:10:22:04", False),
                )
            ],
            "muted": [],
            "stopped": [],
            "wallpaper": "Blue hour",
            "microphone": True,
            "camera": True,
        }

    def activity_of(self, page: str) -> str:
        """Return the class of the activity that shows a page."""
        return ".Settings" if page == "main" else ".SubSettings"

    def draw(self, ui: Ui) -> None:
        """Draw a page."""
        if ui.page == "main":
            _main(ui)
        elif ui.page == "search":
            _search(ui)
        else:
            title, page = _PAGES[ui.page]
            ui.bar(ui.args.get("title", title))
            with ui.scroll():
                page(ui)


def _main(ui: Ui) -> None:
    ui.bar("Settings", up=False)
    with ui.scroll():
        ui.row("Search settings", icon="search", tap=lambda: ui.phone.go("search"), resource="search_action_bar")
        ui.line()
        for page, icon, summary in _MAIN:
            ui.row(
                _PAGES[page][0],
                summary or _summary(ui, page),
                icon=icon,
                tap=lambda page=page: ui.phone.go(page),
            )


def _summary(ui: Ui, page: str) -> str:
    if page == "battery":
        return "100%" + (" - Battery Saver on" if get(ui.phone, "low_power") == "1" else "")
    if page == "storage":
        return settings_apps.storage_summary(ui.phone)
    if page == "location":
        return "Off" if get(ui.phone, "location_mode") == "0" else "On"
    return get(ui.phone, "device_name")


def _search(ui: Ui) -> None:
    ui.bar("Search settings")
    wanted = ui.field("query", "Search settings", resource="search_src_text").strip().lower()
    entries = sorted({(title, page) for title, page in _FOUND} | {(_PAGES[page][0], page) for page, _, _ in _MAIN})
    found = [(title, page) for title, page in entries if wanted and wanted.replace("wifi", "wi-fi") in title.lower()]
    with ui.scroll():
        for title, page in found:
            ui.row(title, "" if title == _PAGES[page][0] else _PAGES[page][0], tap=lambda page=page: ui.phone.go(page))
        if wanted and not found:
            ui.text("No results", align="center")
        if not wanted:
            ui.text(f"Wi-Fi is {'on' if wifi(ui.phone) else 'off'}. Type what you look for.", 38)
