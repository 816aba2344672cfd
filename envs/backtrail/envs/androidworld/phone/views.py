"""What is on the screen: a tree of views, from which the picture, the accessibility tree and hit-testing all come."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

__all__ = ["HEIGHT", "NAVIGATION", "STATUS", "WIDTH", "Bounds", "Color", "Scene", "View", "find", "to_xml"]

WIDTH, HEIGHT = 1080, 2400
"""Size of the screen in pixels."""

STATUS, NAVIGATION = 110, 126
"""Height of the status bar and of the navigation bar in pixels."""

Bounds = tuple[int, int, int, int]
"""Left, top, right and bottom in pixels; right and bottom are outside."""

Color = tuple[int, int, int]


class Scene(Protocol):
    """A picture that is drawn when somebody looks. It can be hashed, and its ``repr`` says all that it shows."""

    def draw(self) -> NDArray[np.uint8]:
        """Return its pixels, (height, width, 3), in the size of its view."""
        ...


@dataclass(slots=True)
class View:
    """A rectangle of the screen with what it shows and what it does.

    Attributes:
        kind: Android class without its package, e.g. "TextView"; `classes` has the package.
        bounds: Where it is.
        text: Visible text; for a field what was typed.
        description: What accessibility says of a picture.
        resource: Resource id, e.g. "com.android.settings:id/title".
        package: The app's.
        hint: What an empty field shows.
        on_tap: What a tap does; a view with it is clickable.
        on_hold: What a long press does.
        on_slide: What a tap or swipe on a slider does; called with the fraction from the left, 0 to 1.
        on_stroke: What a swipe on a canvas does; called with its start and end as fractions of the view.
        field: Key under which what is typed is kept; a view with it is editable.
        scroll: Key under which the scroll offset is kept; a view with it is a scroll container.
        reach: How far a scroll container can be scrolled, in pixels.
        checked: State of a switch, check box or radio button; None for other views.
        value: Fraction of a slider or progress bar; None for other views.
        multiline: Whether enter starts a new line in the field.
        fill: Colour of the rectangle; None for none.
        dim: Whether it darkens what is below it.
        radius: Radius of its corners in pixels.
        color: Colour of the text or icon.
        size: Height of the text in pixels.
        align: Where the text is in the rectangle: "left" or "center".
        wrap: Whether the text is broken into lines.
        icon: Name of a drawn icon (`backtrail.envs.androidworld.phone.icons`), "" for none.
        strokes: Lines of a canvas: (x1, y1, x2, y2) as fractions of the view.
        picture: A PNG or JPEG file, drawn as large as fits; b"" for none.
        scene: A picture that is drawn when somebody looks; None for none. Not inside a scroll container.
        whole: Where a picture would be if a scroll container did not cut it; None where none does.
    """

    kind: str = "View"
    bounds: Bounds = (0, 0, 0, 0)
    text: str = ""
    description: str = ""
    resource: str = ""
    package: str = ""
    hint: str = ""
    on_tap: Callable[[], object] | None = None
    on_hold: Callable[[], object] | None = None
    on_slide: Callable[[float], object] | None = None
    on_stroke: Callable[[tuple[float, float], tuple[float, float]], object] | None = None
    field: str = ""
    scroll: str = ""
    reach: int = 0
    checked: bool | None = None
    value: float | None = None
    enabled: bool = True
    selected: bool = False
    focused: bool = False
    multiline: bool = False
    password: bool = False
    fill: Color | None = None
    radius: int = 0
    color: Color = (32, 33, 36)
    size: int = 42
    dim: bool = False
    align: str = "left"
    wrap: bool = False
    icon: str = ""
    strokes: tuple[tuple[float, float, float, float], ...] = ()
    picture: bytes = b""
    scene: Scene | None = None
    whole: Bounds | None = None
    children: list[View] = dataclasses.field(default_factory=list)

    def walk(self) -> Iterator[View]:
        """Yield the view and all below it, in drawing order."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def classes(self) -> str:
        """The full class name."""
        return (
            "androidx.recyclerview.widget.RecyclerView"
            if self.kind == "RecyclerView"
            else f"android.widget.{self.kind}"
        )

    @property
    def clickable(self) -> bool:
        """Whether a tap does something."""
        return self.enabled and (self.on_tap is not None or bool(self.field))


def find(root: View, x: int, y: int, wanted: Callable[[View], bool]) -> View | None:
    """Return the topmost view at a point that is wanted."""
    found = None
    for view in root.walk():
        left, top, right, bottom = view.bounds
        if left <= x < right and top <= y < bottom and wanted(view):
            found = view
    return found


def to_xml(root: View) -> str:
    """Return the tree in the form of ``uiautomator dump``."""
    lines = ["<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">"]
    _node(root, 0, lines)
    return "".join([*lines, "</hierarchy>"])


def _node(view: View, place: int, lines: list[str]) -> None:
    left, top, right, bottom = view.bounds
    flags = {
        "checkable": view.checked is not None,
        "checked": bool(view.checked),
        "clickable": view.clickable,
        "enabled": view.enabled,
        "focusable": view.clickable,
        "focused": view.focused,
        "scrollable": view.reach > 0,
        "long-clickable": view.on_hold is not None,
        "password": view.password,
        "selected": view.selected,
    }
    words = {
        "index": str(place),
        "text": view.text,
        "resource-id": view.resource,
        "class": view.classes,
        "package": view.package,
        "content-desc": view.description,
        **{name: "true" if on else "false" for name, on in flags.items()},
        "bounds": f"[{left},{top}][{right},{bottom}]",
    }
    lines.append(f"<node {' '.join(f'{name}={quoteattr(word)}' for name, word in words.items())}>")
    for number, child in enumerate(view.children):
        _node(child, number, lines)
    lines.append("</node>")
