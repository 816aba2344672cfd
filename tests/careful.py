"""A hand for tests that looks after every touch whether the phone keeps its laws."""

from __future__ import annotations

from touching import Hand

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.app import App
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.views import to_xml

__all__ = ["CarefulHand"]


class CarefulHand(Hand):
    """Touches a phone with one app, and checks each time that drawing changes nothing and that saving keeps all."""

    def __init__(self, app: App):
        super().__init__(Phone([Launcher(), app]))
        self.tap(app.label)

    def tap(self, *words: str) -> None:
        for word in words:
            super().tap(word)
            self.check()

    def hold(self, words: str) -> None:
        super().hold(words)
        self.check()

    def type(self, field: str, text: str) -> None:
        super().type(field, text)
        self.check()

    def back(self) -> None:
        self.phone.back()
        self.check()

    def check(self) -> None:
        """Save, draw, load into another phone of the same kind, and compare."""
        screen = to_xml(self.phone.tree)
        saved = self.phone.save()
        self.phone.changed()
        assert to_xml(self.phone.tree) == screen and self.phone.save() == saved, "drawing has changed something"
        other = Phone(list(self.phone.apps.values()))
        other.load(saved)
        assert to_xml(other.tree) == screen, "what was loaded looks different"
        self.phone.load(saved)
