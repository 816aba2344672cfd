"""A page while it is drawn: where the next thing goes, containers, and what lies above the page."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.views import HEIGHT, NAVIGATION, STATUS, WIDTH, Bounds, Color, View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.app import App, Data
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["GREY", "LINE", "MARGIN", "SURFACE", "WHITE", "Do", "Page"]

MARGIN = 48
GREY: Color = (95, 99, 104)
SURFACE: Color = (241, 243, 244)
LINE: Color = (224, 226, 230)
WHITE: Color = (255, 255, 255)

Do = Callable[[], object] | None


class Page:
    """Draws one page of an app.

    Attributes:
        phone: The phone.
        app: The app that draws.
        page, args: Which page, and what it was opened with.
        state: What this visit to the page keeps: plain values of the app's choosing, beside "fields" (what is typed), "scroll"
            and "overlay" (the dialog or menu that is open, "" for none; back closes it).
        data: The app's data.
        left, top, right, bottom: The free part of the page; what is drawn next begins at ``top``.
    """

    def __init__(self, phone: Phone, app: App, root: View, region: Bounds):
        """Draw into ``region`` of ``root`` the page that is on top of the phone's stack."""
        self.phone, self.app = phone, app
        top = phone.top
        self.page: str = top["page"]
        self.args: Data = top["args"]
        self.state: Data = top["state"]
        self.data: Data = phone.data(app.key)
        self.left, self.top, self.right, self.bottom = region
        self._content = View("FrameLayout", region, resource="android:id/content")
        root.children.append(self._content)
        self._root = root
        self._into = [self._content]
        self._above: list[View] = []

    def add(self, view: View) -> View:
        """Add a view of one's own to what is being drawn; returns it."""
        self._into[-1].children.append(view)
        return view

    def background(self, color: Color) -> None:
        """Give the page a colour other than white; call it first."""
        self._content.fill = color

    # -- containers ---------------------------------------------------------------------------------------

    @contextmanager
    def scroll(self, key: str = "list", keep: int = 0) -> Generator[None]:
        """Draw a part that can be scrolled, down to ``keep`` pixels above the bottom of the page."""
        top, bottom = self.top, self.bottom - keep
        offset = self.state.get("scroll", {}).get(key, 0)
        box = self.add(View("RecyclerView", (self.left, top, self.right, bottom), scroll=key))
        self._into.append(box)
        self.top = top - offset
        yield
        self._into.pop()
        box.reach = max(0, self.top + offset + 40 - bottom)
        if offset > box.reach:  # the content has become shorter
            _shift(box.children, offset - box.reach)
            self.state.setdefault("scroll", {})[key] = box.reach
        box.children = _clipped(box.children, box.bounds)
        self.top = bottom

    @contextmanager
    def columns(self, *shares: float) -> Generator[Callable[[], None]]:
        """Draw beside each other: call what is yielded to go on to the next column; ``shares`` are their widths."""
        left, right, top = self.left, self.right, self.top
        total, place, lowest = sum(shares), 0, self.top
        self.right = left + round((right - left) * shares[0] / total)

        def following() -> None:
            nonlocal place, lowest
            place, lowest = place + 1, max(lowest, self.top)
            self.left, self.top = self.right, top
            self.right = left + round((right - left) * sum(shares[: place + 1]) / total)

        yield following
        self.left, self.right, self.top = left, right, max(lowest, self.top)

    # -- above the page -----------------------------------------------------------------------------------

    def overlay(self, name: str) -> None:
        """Open a dialog or menu of this page (to be drawn while ``state["overlay"]`` is its name); "" closes it."""
        self.state["overlay"] = name

    def id(self, name: str) -> str:
        """Return a resource id of the app; "" for none, and a full one as it is."""
        return name if not name or ":" in name else f"{self.app.package}:id/{name}"

    def finish(self) -> None:
        """Put what lies above the page on top of it and give every view its package."""
        self._root.children += self._above
        for view in self._root.walk():
            view.package = view.package or self.app.package

    @contextmanager
    def panel(self, box: Bounds, inside: Bounds | None = None, dim: bool = True) -> Generator[View]:
        """Draw a panel above the page; a tap beside it closes it. Inside, draw its content; what is yielded is its view.

        Args:
            box: Where it is.
            inside: Its free part; all of it if that is None.
            dim: Whether the page is darkened.
        """
        whole = (0, STATUS, WIDTH, HEIGHT - NAVIGATION)
        panel = View(
            "FrameLayout", box, on_tap=lambda: None, fill=(250, 250, 252), radius=36, resource=self.id("panel")
        )
        outside = View("FrameLayout", whole, on_tap=self.closing(None), dim=dim, resource=self.id("touch_outside"))
        self._above += [outside, panel]
        kept = self.left, self.top, self.right, self.bottom
        self.left, self.top, self.right, self.bottom = inside or box
        self._into.append(panel)
        yield panel
        self._into.pop()
        self.left, self.top, self.right, self.bottom = kept

    @contextmanager
    def drawer(self, width: int = 780) -> Generator[View]:
        """Draw what comes in from the left; inside, draw its content."""
        with self.panel((0, STATUS, width, HEIGHT - NAVIGATION)) as panel:
            panel.radius = 0
            yield panel

    def closing(self, tap: Do) -> Callable[[], Any]:
        """Return what closes the dialog or menu that is open and then does something."""

        def do() -> None:
            self.overlay("")
            self.phone.unfocus()
            if tap is not None:
                tap()

        return do

    def _take(self, height: int) -> Bounds:
        """Take the next part of the page, of so many pixels."""
        box = (self.left, self.top, self.right, self.top + height)
        self.top += height
        return box


def _shift(views: Sequence[View], pixels: int) -> None:
    for view in views:
        left, top, right, bottom = view.bounds
        view.bounds = (left, top + pixels, right, bottom + pixels)
        _shift(view.children, pixels)


def _clipped(views: Sequence[View], within: Bounds) -> list[View]:
    """Return the views that can be seen inside a box, cut to it."""
    kept = []
    for view in views:
        left, top, right, bottom = view.bounds
        view.whole = view.whole or view.bounds if view.picture else None
        view.bounds = (left, max(top, within[1]), right, min(bottom, within[3]))
        if view.bounds[3] > view.bounds[1]:
            view.children = _clipped(view.children, within)
            kept.append(view)
    return kept
