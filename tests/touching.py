"""A hand for tests: it finds things on the phone's screen by what they say, and touches them."""

from __future__ import annotations

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.views import View, find

__all__ = ["Hand"]


class Hand:
    """Touches a phone as a person does: only what can be seen, by text or description."""

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
            x, y = self._middle(self._found(word))
            self.phone.tap(x, y)

    def hold(self, words: str) -> None:
        """Press for long."""
        x, y = self._middle(self._found(words))
        self.phone.hold(x, y)

    def type(self, field: str, text: str) -> None:
        """Replace what is in a field, named by its hint or key, as an agent does: tap, clear, type."""
        view = next((v for v in self.phone.tree.walk() if v.field and field in (v.field, v.hint)), None)
        assert view is not None, f"no field {field!r} on {self.texts()}"
        x, y = self._middle(view)
        self.phone.tap(x, y)
        self.phone.erase()
        self.phone.type(text)

    def slide(self, description: str, share: float) -> None:
        """Tap a slider at a fraction of its length."""
        left, top, right, bottom = self._found(description).bounds
        self.phone.tap(left + round(share * (right - left)), (top + bottom) // 2)

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
