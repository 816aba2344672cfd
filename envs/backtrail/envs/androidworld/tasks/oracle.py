"""The hand that solves tasks: it touches what the screen shows and writes down each touch as an action."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from backtrail.envs.androidworld.actions import Action
from backtrail.envs.androidworld.backend import Element
from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.simulated import SimulatedBackend

__all__ = ["NotThere", "Oracle", "Touchable"]

_SCROLLS = 30


class Touchable(Protocol):
    """What an oracle needs of a phone."""

    def elements(self) -> list[Element]:
        """Return the UI elements of the present screen."""
        ...

    def act(self, action: Action) -> None:
        """Carry out a valid action."""
        ...


class NotThere(Exception):
    """What the oracle looks for is not on the screen: it cannot go on."""


class Oracle:
    """Acts on a phone and keeps what it did.

    Attributes:
        actions: The actions so far, as JSON.
        answered: The last answer.
    """

    def __init__(self, backend: Touchable):
        """Act on ``backend``."""
        self.backend = backend
        self.actions: list[str] = []
        self.answered = ""

    @property
    def phone(self) -> Phone:
        """The simulated phone that is touched, to look something up that a person would read from the screen."""
        return cast(SimulatedBackend, self.backend).phone

    def do(self, kind: str, **values: object) -> None:
        """Carry out an action of a type with its fields."""
        action = Action(kind, **values)  # pyright: ignore[reportArgumentType]
        self.backend.act(action)
        self.actions.append(action.to_json())

    def open(self, app: str) -> None:
        """Open an app by its label."""
        self.do("open_app", app_name=app)

    def tap(self, *words: str) -> None:
        """Tap what says so, one after the other, scrolling to it if need be."""
        for each in words:
            self.do("click", index=self.find(each))

    def tap_in(self, words: str, kind: str) -> None:
        """Tap the first element of a kind (e.g. "Switch") that lies on the height of what says so."""
        row = self.backend.elements()[self.find(words)]
        middle = row.center[1]
        self.do(
            "click", index=self.place(lambda e: e.class_name.endswith(kind) and e.bounds[1] <= middle < e.bounds[3])
        )

    def hold(self, words: str) -> None:
        """Press for long what says so."""
        self.do("long_press", index=self.find(words))

    def type(self, field: str, text: str) -> None:
        """Replace what is in a field, named by its hint, its text or the end of its resource id."""
        place = self.place(
            lambda e: e.editable and (field in (e.hint, e.text) or e.resource_id.endswith(f"/{field}")), field
        )
        self.do("input_text", index=place, text=text, clear_text=True)

    def slide(self, description: str, share: float) -> None:
        """Tap a slider at a fraction of its length."""
        place = self.place(lambda e: e.class_name.endswith("SeekBar") and _says(e, description), description)
        left, top, right, bottom = self.backend.elements()[place].bounds
        self.do("click", x=left + round(share * (right - left - 1)), y=(top + bottom) // 2)

    def back(self) -> None:
        """Press back."""
        self.do("navigate_back")

    def home(self) -> None:
        """Press home."""
        self.do("navigate_home")

    def wait(self) -> None:
        """Let some seconds pass."""
        self.do("wait")

    def answer(self, text: str) -> None:
        """Answer the question."""
        self.do("answer", text=text)
        self.answered = text

    def finish(self, status: str = "complete") -> None:
        """Say that the task is done, or cannot be."""
        self.do("status", goal_status=status)

    def sees(self, words: str) -> bool:
        """Whether something on the screen says so, without scrolling."""
        return any(_says(element, words) for element in self.backend.elements())

    def find(self, words: str) -> int:
        """Return the number of the element that says so, scrolling to it.

        Raises:
            NotThere: If nothing does, however far it scrolls.
        """
        return self.place(lambda element: _says(element, words), words)

    def place(self, wanted: Callable[[Element], bool], name: str = "") -> int:
        """Return the number of the first element that is wanted, scrolling down and then up for it.

        Raises:
            NotThere: If there is none.
        """
        for direction in ("down", "up"):
            for _ in range(_SCROLLS):
                seen = self.backend.elements()
                found = [number for number, element in enumerate(seen) if wanted(element)]
                if found:
                    return found[0]
                box = next((n for n, element in enumerate(seen) if element.scrollable), None)
                if box is None:
                    break
                self.do("scroll", direction=direction, index=box)
                if self.backend.elements() == seen:
                    self.actions.pop()
                    break
        raise NotThere(
            f"Nothing on the screen is {name!r}: {[e.text or e.description for e in self.backend.elements()]}"
        )


def _says(element: Element, words: str) -> bool:
    return words in (element.text, element.description, element.hint)
