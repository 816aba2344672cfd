"""The keyboard on the screen: a window above the app, which types into the field that has the cursor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.views import HEIGHT as SCREEN
from backtrail.envs.androidworld.phone.views import NAVIGATION, WIDTH, View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["HEIGHT", "PACKAGE", "draw"]

HEIGHT = 620
"""Of the keyboard, in pixels."""

PACKAGE = "com.google.android.inputmethod.latin"

_ROWS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm.")
_KEY = 120


def draw(phone: Phone) -> View:
    """Return the keyboard's window."""
    top = SCREEN - NAVIGATION - HEIGHT
    board = View("FrameLayout", (0, top, WIDTH, SCREEN - NAVIGATION), package=PACKAGE, fill=(232, 234, 237))
    for number, letters in enumerate(_ROWS):
        width = WIDTH // 10
        left = (WIDTH - width * len(letters)) // 2
        for place, letter in enumerate(letters):
            box = (
                left + place * width + 5,
                top + 10 + number * _KEY,
                left + (place + 1) * width - 5,
                top + (number + 1) * _KEY,
            )
            board.children.append(_key(letter, box, lambda letter=letter: phone.type(letter)))
    y = top + 10 + 4 * _KEY
    last = (
        ("delete", 20, 220, lambda: phone.erase(1)),
        ("space", 240, 820, lambda: phone.type(" ")),
        ("enter", 840, 1060, phone.enter),
    )
    for name, left, right, tap in last:
        board.children.append(_key(name, (left, y, right, y + _KEY - 10), tap))
    return board


def _key(name: str, box: tuple[int, int, int, int], tap: Callable[[], object]) -> View:
    return View(
        "Key",
        box,
        name,
        description=name,
        package=PACKAGE,
        on_tap=tap,
        align="center",
        fill=(255, 255, 255),
        radius=14,
        size=40,
    )
