"""The bars of the system, and its short messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.draw import text_width
from backtrail.envs.androidworld.phone.page import GREY, SURFACE, WHITE
from backtrail.envs.androidworld.phone.views import HEIGHT, NAVIGATION, STATUS, WIDTH, View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["navigation_bar", "status_bar", "toast_view"]

SYSTEM = "com.android.systemui"


def status_bar(phone: Phone) -> View:
    """Return the bar at the top: the time, and what is on."""
    bar = View("FrameLayout", (0, 0, WIDTH, STATUS), package=SYSTEM, resource=f"{SYSTEM}:id/status_bar", fill=SURFACE)
    clock = View(
        "TextView",
        (30, 0, 330, STATUS),
        phone.now.strftime("%H:%M"),
        package=SYSTEM,
        resource=f"{SYSTEM}:id/clock",
        size=38,
    )
    bar.children.append(clock)
    x = WIDTH - 60
    for key, icon, description in (
        ("", "battery", "Battery 100 percent."),
        ("wifi_on", "wifi", "Wifi signal full."),
        ("bluetooth_on", "bluetooth", "Bluetooth on."),
    ):
        if not key or phone.settings["global"].get(key) == "1":
            bar.children.append(
                View("ImageView", (x - 40, 25, x + 20, 85), description=description, icon=icon, package=SYSTEM, size=30)
            )
            x -= 70
    return bar


def navigation_bar(phone: Phone) -> View:
    """Return the bar at the bottom: back, home, recent apps."""
    top = HEIGHT - NAVIGATION
    bar = View("FrameLayout", (0, top, WIDTH, HEIGHT), package=SYSTEM, resource=f"{SYSTEM}:id/nav_bar", fill=SURFACE)
    for place, (icon, name, tap) in enumerate(
        (("back", "Back", phone.back), ("home", "Home", phone.home), ("recents", "Overview", None))
    ):
        box = (90 + 320 * place, top, 350 + 320 * place, HEIGHT)
        bar.children.append(
            View(
                "ImageView",
                box,
                description=name,
                icon=icon,
                on_tap=tap,
                package=SYSTEM,
                color=GREY,
                resource=f"{SYSTEM}:id/{icon}",
            )
        )
    return bar


def toast_view(text: str) -> View:
    """Return a short message above everything."""
    width = min(WIDTH - 160, text_width(text, 38) + 100)
    left = (WIDTH - width) // 2
    return View(
        "Toast",
        (left, HEIGHT - 420, left + width, HEIGHT - 310),
        text,
        package=SYSTEM,
        fill=(50, 52, 56),
        color=WHITE,
        size=38,
        align="center",
        radius=50,
    )
