"""The phone: apps on a back stack, touch and keys, a clock that moves only with what is done, and its whole state as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backtrail.envs.androidworld.phone import keyboard
from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.bars import navigation_bar, status_bar, toast_view
from backtrail.envs.androidworld.phone.draw import render
from backtrail.envs.androidworld.phone.files import Files
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import HEIGHT, NAVIGATION, STATUS, WIDTH, View, find

__all__ = ["EPOCH", "Phone"]

EPOCH = 1697384040
"""Where the clock begins, in seconds: 2023-10-15 15:34 UTC, the date that AndroidWorld sets."""

LAUNCHER = "launcher"

_LONG_PRESS = 0.5  # seconds
_TAP = 24  # pixels that a finger may slip
_TOAST = 4  # seconds


class Phone:
    """A phone with some apps. Everything that can change is in `state`, so that a copy of it is a copy of the phone.

    Attributes:
        apps: Its apps by key; one of them is the launcher.
        state: Plain values: the clock, settings, files, each app's data, the back stack, what is typed and scrolled.
    """

    def __init__(self, apps: Sequence[App], scale: float = 1.0, set_ups: Sequence[Callable[[Phone], None]] = ()):
        """Install apps.

        Args:
            apps: The apps; one has the key "launcher".
            scale: Of the screenshots, relative to the screen.
            set_ups: Called at every reset: they put settings and folders onto the phone.
        """
        self.apps: dict[str, App] = {app.key: app for app in apps}
        self.scale = scale
        self._set_ups = set_ups
        self._tree: View | None = None
        self.reset()

    def reset(self) -> None:
        """Put the phone back to how it came out of the box, on the home screen."""
        self.state: Data = {
            "now": EPOCH,
            "next": 1,
            "settings": {"global": {}, "system": {}, "secure": {}},
            "files": {},
            "apps": {},
            "stack": [],
            "focus": "",
            "keyboard": False,
            "toast": ["", 0],
            "clipboard": "",
            "answer": "",
        }
        for app in self.apps.values():
            self.state["apps"][app.key] = app.fresh()
        for set_up in self._set_ups:
            set_up(self)
        self.home()
        self.changed()

    # -- what apps use ------------------------------------------------------------------------------------

    @property
    def files(self) -> Files:
        """The file system."""
        return Files(self.state["files"])

    @property
    def settings(self) -> dict[str, dict[str, str]]:
        """Android's settings by namespace: "global", "system" and "secure"; values are strings."""
        return self.state["settings"]

    @property
    def now(self) -> datetime:
        """The phone's time (UTC)."""
        return datetime.fromtimestamp(self.state["now"], UTC)

    @property
    def top(self) -> Data:
        """The page that is shown: "app", "page", "args", "state"."""
        return self.state["stack"][-1]

    def data(self, key: str) -> Data:
        """Return an app's data, to be read and changed."""
        return self.state["apps"][key]

    def new_id(self) -> int:
        """Return a number that was not given before."""
        self.state["next"] += 1
        return self.state["next"] - 1

    def go(self, page: str, **args: Any) -> None:
        """Open a page of the app that is shown, on top of the present one."""
        self._push(self.top["app"], page, args)

    def swap(self, page: str, **args: Any) -> None:
        """Open a page in the place of the present one."""
        app = self.state["stack"].pop()["app"]
        self._push(app, page, args)

    def open(self, key: str, page: str = "main", **args: Any) -> None:
        """Open an app above the home screen."""
        self.state["stack"] = [_page(LAUNCHER, "main", {})]
        if key != LAUNCHER:
            self._push(key, page, args)
        self.unfocus()

    def hand_over(self, key: str, page: str, **args: Any) -> None:
        """Open a page of another app on top of the present one, which comes back when it is closed."""
        self._push(key, page, args)

    def close(self) -> None:
        """Close the page that is shown; the home screen stays."""
        if len(self.state["stack"]) > 1:
            self.state["stack"].pop()
        self.unfocus()

    def home(self) -> None:
        """Show the home screen."""
        self.open(LAUNCHER)

    def toast(self, text: str) -> None:
        """Show a short message for a few seconds."""
        self.state["toast"] = [text, self.state["now"] + _TOAST]

    def _push(self, key: str, page: str, args: Mapping[str, Any]) -> None:
        self.state["stack"].append(_page(key, page, dict(args)))
        self.unfocus()

    def unfocus(self) -> None:
        """Take the cursor out of its field and hide the keyboard."""
        self.state["focus"], self.state["keyboard"] = "", False

    # -- what is seen -------------------------------------------------------------------------------------

    @property
    def tree(self) -> View:
        """The views of the present screen."""
        if self._tree is None:
            self._tree = self._build()
        return self._tree

    @property
    def activity(self) -> str:
        """The activity that is shown, as package/class."""
        app = self.apps[self.top["app"]]
        return f"{app.package}/{app.activity_of(self.top['page'])}"

    def screenshot(self) -> NDArray[np.uint8]:
        """Return a new picture of the screen, (height, width, 3)."""
        return render(self.tree, self.scale)

    def changed(self) -> None:
        """Say that the state has changed, so that the screen is drawn anew."""
        self._tree = None

    def _build(self) -> View:
        app = self.apps[self.top["app"]]
        root = View("FrameLayout", (0, 0, WIDTH, HEIGHT), package=app.package, fill=(255, 255, 255))
        bottom = HEIGHT - NAVIGATION - (keyboard.HEIGHT if self.state["keyboard"] else 0)
        ui = Ui(self, app, root, (0, STATUS, WIDTH, bottom))
        app.draw(ui)
        ui.finish()
        root.children.append(status_bar(self))
        if self.state["keyboard"]:
            root.children.append(keyboard.draw(self))
        root.children.append(navigation_bar(self))
        text, until = self.state["toast"]
        if text and self.state["now"] < until:
            root.children.append(toast_view(text))
        return root

    # -- touch and keys -----------------------------------------------------------------------------------

    def tap(self, x: int, y: int) -> None:
        """Tap a point of the screen, in pixels."""
        view = find(self.tree, x, y, lambda view: view.clickable or view.on_slide is not None)
        if view is not None and view.on_slide is not None and view.on_tap is None:
            self._slide(view, x)
        elif view is not None and view.field:
            self.focus(view.field)
        elif view is not None:
            self._do(view.on_tap)
        self.pass_time(1)

    def double_tap(self, x: int, y: int) -> None:
        """Tap a point twice."""
        self.tap(x, y)
        self.tap(x, y)

    def hold(self, x: int, y: int) -> None:
        """Press a point for long."""
        view = find(self.tree, x, y, lambda view: view.enabled and view.on_hold is not None)
        if view is not None:
            self._do(view.on_hold)
        self.pass_time(1)

    def swipe(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Swipe from a point to another: moves a slider, draws on a canvas, or scrolls."""
        (x, y), (to_x, to_y) = start, end
        if abs(x - to_x) + abs(y - to_y) <= _TAP:
            return self.tap(x, y)
        view = find(self.tree, x, y, lambda view: view.on_stroke is not None or view.on_slide is not None)
        if view is not None and view.on_stroke is not None:
            stroke = view.on_stroke
            self._do(lambda: stroke(_share(view, x, y), _share(view, to_x, to_y)))
        elif view is not None:
            self._slide(view, to_x)
        elif (view := find(self.tree, x, y, lambda view: bool(view.scroll))) is not None:
            self.scroll(view, y - to_y)
        self.pass_time(1)
        return None

    def scroll(self, view: View, pixels: int) -> None:
        """Move the content of a scroll container up by so many pixels (down, if negative)."""
        offsets = self.top["state"].setdefault("scroll", {})
        offsets[view.scroll] = min(max(offsets.get(view.scroll, 0) + pixels, 0), view.reach)
        self.changed()

    def focus(self, key: str) -> None:
        """Put the cursor into a field of the present page and show the keyboard."""
        self.state["focus"], self.state["keyboard"] = key, True
        self.changed()

    def type(self, text: str) -> None:
        """Type text into the field that has the cursor; nothing without one."""
        if self.state["focus"]:
            fields = self.top["state"].setdefault("fields", {})
            fields[self.state["focus"]] = self._typed() + text
            self.pass_time(0)  # apps that save while one types do so now

    def erase(self, count: int | None = None) -> None:
        """Erase the last characters of the field that has the cursor; all of them with None."""
        if self.state["focus"]:
            fields = self.top["state"].setdefault("fields", {})
            fields[self.state["focus"]] = "" if count is None else self._typed()[:-count]
            self.pass_time(0)

    def enter(self) -> None:
        """Press enter: a new line in a field of many lines; any other field does what its page does with enter."""
        view = next((view for view in self.tree.walk() if view.focused), None)
        if view is None:
            return
        if view.multiline:
            self.type("\n")
        elif view.on_tap is not None:
            self._do(view.on_tap)
        else:
            self.state["keyboard"] = False
            self.changed()
        self.pass_time(1)

    def back(self) -> None:
        """Press back: hides the keyboard, closes what lies above the page, or the page."""
        state = self.top["state"]
        if self.state["keyboard"]:
            self.state["keyboard"] = False
        elif state.get("overlay"):
            state["overlay"] = ""
        else:
            self.close()
        self.changed()
        self.pass_time(1)

    def press_home(self) -> None:
        """Press home."""
        self.home()
        self.changed()
        self.pass_time(1)

    def launch(self, key: str) -> None:
        """Start an app as a tap on the launcher does."""
        self.open(key)
        self.changed()
        self.pass_time(1)

    def pass_time(self, seconds: int) -> None:
        """Let the clock move on, and the apps with it."""
        self.state["now"] += seconds
        for app in self.apps.values():
            app.tick(self)
        self.changed()

    def _typed(self) -> str:
        """Return what the field with the cursor holds, which its page may have filled in."""
        fields = self.top["state"].get("fields", {})
        if self.state["focus"] in fields:
            return fields[self.state["focus"]]
        return next((view.text for view in self.tree.walk() if view.field == self.state["focus"]), "")

    def _slide(self, view: View, x: int) -> None:
        left, _, right, _ = view.bounds
        slide = view.on_slide
        if slide is not None:
            self._do(lambda: slide(min(max((x - left) / max(1, right - left), 0.0), 1.0)))

    def _do(self, what: Callable[[], object] | None) -> None:
        if what is not None:
            what()
        self.changed()

    # -- keeping and going back ---------------------------------------------------------------------------

    def save(self) -> str:
        """Return the whole state as JSON."""
        return json.dumps(self.state, separators=(",", ":"))

    def load(self, saved: str) -> None:
        """Put back what `save` returned."""
        self.state = json.loads(saved)
        self.changed()


def _page(app: str, page: str, args: Data) -> Data:
    return {"app": app, "page": page, "args": args, "state": {}}


def _share(view: View, x: int, y: int) -> tuple[float, float]:
    """Return a point as fractions of a view."""
    left, top, right, bottom = view.bounds
    return round((x - left) / max(1, right - left), 4), round((y - top) / max(1, bottom - top), 4)
