"""What an agent can do on a screen, and how the screen fits into an observation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from backtrail.envs.androidworld.actions import Action
from backtrail.envs.androidworld.backend import Element

__all__ = ["Frame", "admissible", "undo_of"]

_OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}


class Frame:
    """Pictures of one size, whatever the screen does.

    A screen that is turned on its side is shown smaller, in the upper left corner: all of it, and nothing distorted.
    """

    def __init__(self, screen: tuple[int, int], scale: float):
        """Fit a screen of (height, width) pixels at a scale."""
        self.size = (round(screen[0] * scale), round(screen[1] * scale))

    def fit(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return a picture, (height, width, 3), at the size of the frame."""
        (height, width), (high, wide) = self.size, picture.shape[:2]
        if (high, wide) == (height, width):
            return picture
        factor = min(height / high, width / wide)
        shape = (max(1, round(wide * factor)), max(1, round(high * factor)))
        small = np.asarray(Image.fromarray(picture).resize(shape, Image.Resampling.BOX, reducing_gap=2.0))
        framed = np.zeros((height, width, 3), np.uint8)
        framed[: shape[1], : shape[0]] = small
        return framed


def admissible(elements: Sequence[Element]) -> list[str]:
    """Return actions that may do something here, but for those with text or points of the agent's choice."""
    actions: list[Action] = [Action("status", goal_status="complete")]
    for number, element in enumerate(elements):
        if element.clickable or element.editable:
            actions.append(Action("click", index=number))
        if element.editable and element.text:
            actions.append(Action("input_text", index=number, text="", clear_text=True))
        if element.long_clickable:
            actions.append(Action("long_press", index=number))
        if element.scrollable:
            actions += [Action("scroll", index=number, direction=each) for each in ("down", "up")]
    actions += [Action(kind) for kind in ("navigate_back", "navigate_home", "keyboard_enter", "wait")]
    return [action.to_json() for action in actions]


def undo_of(action: Action, target: Element | None, moved: bool) -> tuple[str, ...]:
    """Return what may take an action back, the likeliest first.

    Args:
        action: What was done.
        target: The element that it named by its number.
        moved: Whether it led to another activity.
    """
    back = Action("navigate_back").to_json()
    match action.action_type:
        case "scroll":
            opposite = Action("scroll", index=action.index, direction=_OPPOSITE[action.direction or "down"])
            return (opposite.to_json(),)
        case "input_text" if action.index is not None:
            return Action("input_text", index=action.index, text="", clear_text=True).to_json(), back
        case "click" if target is not None and not moved:
            again = Action("click", index=action.index).to_json()
            return (again, back) if target.checkable or target.selected else (back, again)
        case "navigate_home" | "wait" | "answer" | "status":
            return ()
        case _:
            return (back,)
