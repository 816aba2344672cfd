"""A hand that also checks, after each touch, what holds for every app."""

from __future__ import annotations

from touching import Hand

from backtrail.envs.androidworld.phone.views import to_xml

__all__ = ["SteadyHand"]


class SteadyHand(Hand):
    """After each touch: drawing changes nothing, and the flow goes on with a phone that was saved and loaded."""

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

    def back(self, times: int = 1) -> None:
        """Press back."""
        for _ in range(times):
            self.phone.back()
            self.check()

    def check(self) -> None:
        seen = to_xml(self.phone.tree)
        saved = self.phone.save()
        self.phone.changed()
        assert to_xml(self.phone.tree) == seen
        assert self.phone.save() == saved
        self.phone.load(saved)
        assert to_xml(self.phone.tree) == seen
        assert self.phone.save() == saved
