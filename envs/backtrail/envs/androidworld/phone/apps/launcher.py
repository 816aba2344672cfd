"""The home screen: an icon for each app."""

from __future__ import annotations

from backtrail.envs.androidworld.phone.app import App
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["Launcher"]

_COLUMNS = 4


class Launcher(App):
    """The home screen."""

    key = "launcher"
    label = "Home"
    package = "com.google.android.apps.nexuslauncher"
    activity = "com.google.android.apps.nexuslauncher.NexusLauncherActivity"
    hidden = True

    def draw(self, ui: Ui) -> None:
        """Draw the date and the apps by name."""
        ui.background((52, 84, 130))
        day = ui.phone.now.strftime("%A, %B %-d")
        box = (ui.left + 48, ui.top + 60, ui.right, ui.top + 180)
        ui.add(View("TextView", box, day, color=(255, 255, 255), size=64, resource=ui.id("date")))
        apps = sorted((app for app in ui.phone.apps.values() if not app.hidden), key=lambda app: app.label.lower())
        width = (ui.right - ui.left) // _COLUMNS
        for place, app in enumerate(apps):
            x, y = ui.left + place % _COLUMNS * width, ui.top + 260 + place // _COLUMNS * 320

            def start(key: str = app.key) -> None:
                ui.phone.open(key)

            cell = ui.add(View("TextView", (x, y, x + width, y + 300), description=app.label, on_tap=start))
            cell.children = [
                View(
                    "ImageView",
                    (x + 55, y + 20, x + width - 55, y + 180),
                    icon=app.icon,
                    fill=app.tint,
                    color=(255, 255, 255),
                    radius=80,
                    size=84,
                ),
                View(
                    "TextView",
                    (x + 10, y + 190, x + width - 10, y + 260),
                    app.label,
                    color=(255, 255, 255),
                    size=32,
                    align="center",
                ),
            ]
