"""An app of the phone: its data, its pages and how they are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone
    from backtrail.envs.androidworld.phone.ui import Ui
    from backtrail.envs.androidworld.phone.views import Color

__all__ = ["App", "Data"]

Data = dict[str, Any]
"""Plain values that JSON can hold."""


class App:
    """Draws its pages anew whenever something has changed; keeps nothing itself: all data are in the phone's state.

    Attributes:
        key: Its name in the phone's state, e.g. "contacts".
        label: Its name on the launcher.
        package: Android package.
        activity: Class of its main activity.
        icon: Name of a drawn icon for the launcher.
        tint: Colour of that icon's background, and of the app's accents.
        hidden: Whether the launcher leaves it out.
        volatile: Columns of its data that say when or under which number something came about: two phones that differ in
            them alone are in one state.
        deadlines: Columns that hold a time to come, in seconds: what counts is how far away it is.
    """

    key: ClassVar[str] = ""
    label: ClassVar[str] = ""
    package: ClassVar[str] = ""
    activity: ClassVar[str] = ""
    icon: ClassVar[str] = "app"
    tint: ClassVar[Color] = (26, 115, 232)
    hidden: ClassVar[bool] = False
    volatile: ClassVar[frozenset[str]] = frozenset({"id", "_id", "date", "created", "modified"})
    deadlines: ClassVar[frozenset[str]] = frozenset()

    def fresh(self) -> Data:
        """Return the data of the app as it is installed."""
        return {}

    def draw(self, ui: Ui) -> None:
        """Draw the page ``ui.page`` with the arguments ``ui.args``; ``ui.state`` is what this visit to the page keeps."""
        raise NotImplementedError

    def activity_of(self, page: str) -> str:
        """Return the class of the activity that shows a page."""
        return self.activity

    def tick(self, phone: Phone) -> None:
        """Let time pass: called whenever the clock has moved (timers ring, messages arrive)."""
