"""A hand for tests: it finds things on the phone's screen by what they say, and touches them."""

from __future__ import annotations

import dataclasses
from operator import attrgetter

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.app import App
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.draw import render
from backtrail.envs.androidworld.phone.views import View, find

__all__ = ["Hand", "hand_in"]

_TOUCHES = ("on_tap", "on_hold", "on_slide", "on_stroke")
_SHOWN = [each.name for each in dataclasses.fields(View) if each.name not in (*_TOUCHES, "children")]


class Hand:
    """Touches a phone as a person does: only what can be seen, by text or description.

    After each touch it checks what holds for every app, and goes on with the phone as it was saved and loaded: what the test has
    taken out of the phone's state before is not the phone's any more.
    """

    def __init__(self, phone: Phone):
        self.phone = phone

    def see(self, words: str) -> View | None:
        """Return the topmost view that says so: its text, description or hint is ``words``."""
        said = [v for v in self.phone.tree.walk() if words in (v.text, v.description, v.hint)]
        return next((view for view in reversed(said) if self._uncovered(view)), None)

    def sees(self, words: str) -> bool:
        """Whether something on the screen says so."""
        return self.see(words) is not None

    def texts(self) -> list[str]:
        """Return all texts on the screen, from top to bottom."""
        return [view.text for view in self.phone.tree.walk() if view.text and self._uncovered(view)]

    def tap(self, *words: str) -> None:
        """Tap one thing after the other, scrolling down to it if need be."""
        for word in words:
            self.phone.tap(*self._middle(self._found(word)))
            self.check()

    def hold(self, words: str) -> None:
        """Press for long."""
        self.phone.hold(*self._middle(self._found(words)))
        self.check()

    def type(self, field: str, text: str) -> None:
        """Replace what is in a field, named by its hint or key, as an agent does: tap, clear, type."""
        view = next((v for v in self.phone.tree.walk() if v.field and field in (v.field, v.hint)), None)
        assert view is not None, f"no field {field!r} on {self.texts()}"
        self.phone.tap(*self._middle(view))
        self.phone.erase()
        self.phone.type(text)
        self.check()

    def slide(self, description: str, share: float) -> None:
        """Tap a slider at a fraction of its length."""
        left, top, right, bottom = self._found(description).bounds
        self.phone.tap(left + round(share * (right - left)), (top + bottom) // 2)
        self.check()

    def back(self, times: int = 1) -> None:
        """Press back."""
        for _ in range(times):
            self.phone.back()
            self.check()

    def check(self) -> None:
        """Check that drawing changes nothing, and that a phone which is put back, this one or another, goes on from there."""
        screen = _looks(self.phone)  # before it is saved: a page begins its state when it is first drawn
        saved = self.phone.save()
        render(self.phone.tree, 0.1)
        self.phone.changed()
        assert _looks(self.phone) == screen, "drawn again it looks different"
        assert self.phone.save() == saved, "drawing has changed something"
        for phone in (Phone(list(self.phone.apps.values())), self.phone):
            phone.load(saved)
            assert _looks(phone) == screen, "what was loaded looks different"
            assert phone.save() == saved, "what was loaded is something else"

    def _found(self, words: str) -> View:
        for _ in range(40):
            view = self.see(words)
            if view is not None:
                return view
            box = next((v for v in self.phone.tree.walk() if v.reach), None)
            before = self.phone.save()
            if box is not None:
                self.phone.scroll(box, 700)
            if self.phone.save() == before:
                break
        raise AssertionError(f"nothing says {words!r} on {self.texts()}")

    def _middle(self, view: View) -> tuple[int, int]:
        left, top, right, bottom = view.bounds
        return (left + right) // 2, (top + bottom) // 2

    def _uncovered(self, view: View) -> bool:
        """Whether the middle of a view is not covered by something that is drawn later and is not part of it."""
        x, y = self._middle(view)
        above = find(self.phone.tree, x, y, lambda each: each.fill is not None or each.on_tap is not None)
        if above is None or above is view:
            return True
        order = list(self.phone.tree.walk())
        return order.index(above) < order.index(view) or any(each is above for each in view.walk())


def hand_in(app: App) -> Hand:
    """Return a hand on a phone that has one app, which is open."""
    hand = Hand(Phone([Launcher(), app]))
    hand.tap(app.label)
    return hand


def _looks(phone: Phone) -> list[tuple[object, ...]]:
    """Return all that can be told of each view on the screen, of what a touch does only whether it does something."""
    shown, touches = attrgetter(*_SHOWN), attrgetter(*_TOUCHES)
    return [(shown(v), len(v.children), *(each is None for each in touches(v))) for v in phone.tree.walk()]
