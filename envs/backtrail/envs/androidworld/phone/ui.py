"""What apps draw with: a page is written from top to bottom, and whatever can be touched says what it does."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from backtrail.envs.androidworld.phone.draw import line_height, text_width, wrapped
from backtrail.envs.androidworld.phone.page import GREY, LINE, MARGIN, SURFACE, WHITE, Do, Page
from backtrail.envs.androidworld.phone.views import STATUS, WIDTH, Color, View

__all__ = ["Ui"]


class Ui(Page):
    """What apps draw pages with: rows, fields, buttons, dialogs."""

    # -- single views -------------------------------------------------------------------------------------

    def bar(
        self, title: str, *buttons: tuple[str, str, Do], up: bool = True, menu: Sequence[tuple[str, Do]] = ()
    ) -> None:
        """Draw the bar at the top: a title, buttons (icon, description, what it does) and a menu of further actions.

        Args:
            title: The page's title.
            *buttons: From left to right.
            up: Whether there is an arrow that goes back.
            menu: Entries of the menu behind the three dots; none leaves it out.
        """
        height, x = 150, self.left + MARGIN
        bar = self.add(View("LinearLayout", (self.left, self.top, self.right, self.top + height), fill=WHITE))
        if up:
            box = (self.left + 12, self.top + 15, self.left + 132, self.top + 135)
            bar.children.append(
                View("ImageButton", box, description="Navigate up", icon="arrow", on_tap=self.phone.close)
            )
            x = box[2]
        shown = [*buttons, *([("more", "More options", lambda: self.overlay("menu"))] if menu else [])]
        end = self.right - 12 - 120 * len(shown)
        bar.children.append(
            View("TextView", (x, self.top, end, self.top + height), title, resource=self.id("title"), size=54)
        )
        for place, (icon, description, do) in enumerate(shown):
            box = (end + 120 * place, self.top + 15, end + 120 * (place + 1), self.top + 135)
            bar.children.append(View("ImageButton", box, description=description, icon=icon, on_tap=do, color=GREY))
        self.top += height
        if menu and self.state.get("overlay") == "menu":
            self.menu(menu)

    def text(
        self, text: str, size: int = 42, color: Color = (32, 33, 36), align: str = "left", resource: str = ""
    ) -> View:
        """Draw a text over the whole width, broken into lines."""
        width = self.right - self.left - 2 * MARGIN
        height = line_height(size) * len(wrapped(text, size, width)) + 24
        box = self._take(height)
        box = (box[0] + 24, box[1], box[2] - 24, box[3])
        return self.add(
            View("TextView", box, text, size=size, color=color, align=align, wrap=True, resource=self.id(resource))
        )

    def header(self, text: str) -> View:
        """Draw the heading of a section."""
        return self.text(text, 36, self.app.tint)

    def gap(self, height: int = 30) -> None:
        """Leave some room."""
        self.top += height

    def row(
        self,
        title: str,
        subtitle: str = "",
        *,
        tap: Do = None,
        hold: Do = None,
        icon: str = "",
        trailing: str = "",
        switch: bool | None = None,
        check: bool | None = None,
        radio: bool | None = None,
        enabled: bool = True,
        selected: bool = False,
        resource: str = "",
        description: str = "",
    ) -> View:
        """Draw a row of a list.

        Args:
            title: Its text.
            subtitle: A second, smaller text below.
            tap: What a tap does.
            hold: What a long press does.
            icon: Before the texts.
            trailing: A short text at the end.
            switch: State of a switch at the end; None for none.
            check: State of a check box at the end; None for none.
            radio: State of a radio button at the end; None for none.
            enabled: Whether it can be used.
            selected: Whether it is marked.
            resource: Resource id of the row.
            description: For accessibility.
        """
        height = 190 if subtitle else 144
        box = self._take(height)
        left, top, right, bottom = box
        row = self.add(
            View(
                "LinearLayout", box, on_tap=tap, on_hold=hold, enabled=enabled, selected=selected, description=description,
                resource=self.id(resource), fill=(232, 240, 254) if selected else None,
            )
        )  # fmt: skip
        x = left + 24
        if icon:
            row.children.append(View("ImageView", (x, top, x + 110, bottom), icon=icon, color=GREY))
            x += 110
        end = right - 24
        for kind, on in (("Switch", switch), ("CheckBox", check), ("RadioButton", radio)):
            if on is not None:
                mark = View(kind, (end - 150, top + 30, end, bottom - 30), checked=on, enabled=enabled, on_tap=tap)
                row.children.append(mark)
                end -= 150
        if trailing:
            width = text_width(trailing, 36) + 60
            row.children.append(View("TextView", (end - width, top, end, bottom), trailing, size=36, color=GREY))
            end -= width
        middle = top + 104 if subtitle else bottom
        color = (32, 33, 36) if enabled else (154, 160, 166)
        row.children.append(
            View(
                "TextView",
                (x, top + (14 if subtitle else 0), end, middle),
                title,
                size=46,
                color=color,
                resource="android:id/title",
            )
        )
        if subtitle:
            row.children.append(
                View(
                    "TextView",
                    (x, middle, end, bottom - 14),
                    subtitle,
                    size=36,
                    color=GREY,
                    resource="android:id/summary",
                )
            )
        return row

    def field(
        self,
        key: str,
        hint: str,
        value: str = "",
        *,
        lines: int = 1,
        password: bool = False,
        enter: Do = None,
        resource: str = "",
    ) -> str:
        """Draw a field and return what is in it.

        Args:
            key: Its name on this page.
            hint: What it shows while it is empty.
            value: What it holds until something is typed.
            lines: Height in lines; a field of more than one takes enter as a new line.
            password: Whether its text is hidden.
            enter: What the enter key does in a field of one line.
            resource: Resource id.
        """
        typed: dict[str, str] = self.state.setdefault("fields", {})
        text = typed.get(key, value)
        width = self.right - self.left - 2 * MARGIN - 48
        shown = max(lines, len(wrapped(text, 46, width)) if lines > 1 else 1)
        box = self._take(line_height(46) * shown + 70)
        box = (box[0] + 24, box[1] + 10, box[2] - 24, box[3] - 10)
        focused = self.phone.state["focus"] == key
        self.add(
            View(
                "EditText", box, text, hint=hint, field=key, focused=focused, multiline=lines > 1, wrap=lines > 1, size=46,
                password=password, on_tap=enter, resource=self.id(resource or key),
            )
        )  # fmt: skip
        return text

    def typed(self, key: str, value: str = "") -> str:
        """Return what is in a field of this page."""
        return self.state.get("fields", {}).get(key, value)

    def fill(self, key: str, text: str) -> None:
        """Put a text into a field of this page."""
        self.state.setdefault("fields", {})[key] = text

    def button(self, text: str, tap: Do, *, enabled: bool = True, filled: bool = True, resource: str = "") -> View:
        """Draw a button over the whole width."""
        left, top, right, bottom = self._take(150)
        fill, color = (self.app.tint, WHITE) if filled else (SURFACE, self.app.tint)
        return self.add(
            View(
                "Button", (left + 24, top + 15, right - 24, bottom - 15), text, on_tap=tap, enabled=enabled, align="center",
                fill=fill if enabled else LINE, color=color, radius=60, resource=self.id(resource),
            )
        )  # fmt: skip

    def buttons(self, *entries: tuple[str, Do]) -> None:
        """Draw several buttons beside each other: (text, what it does)."""
        left, top, right, bottom = self._take(150)
        width = (right - left - 48) // len(entries)
        for place, (text, tap) in enumerate(entries):
            x = left + 24 + place * width
            box = (x + 8, top + 15, x + width - 8, bottom - 15)
            self.add(
                View("Button", box, text, on_tap=tap, align="center", fill=SURFACE, color=self.app.tint, radius=60)
            )

    def icons(self, *entries: tuple[str, str, Do], size: int = 120) -> None:
        """Draw round buttons beside each other: (icon, description, what it does)."""
        left, top, right, _ = self._take(size + 60)
        step = (right - left) // len(entries)
        for place, (icon, description, tap) in enumerate(entries):
            x = left + place * step + (step - size) // 2
            box = (x, top + 30, x + size, top + 30 + size)
            self.add(
                View("ImageButton", box, description=description, icon=icon, on_tap=tap, fill=SURFACE, radius=size // 2)
            )

    def floating(self, icon: str, description: str, tap: Do, resource: str = "fab") -> None:
        """Draw the round button at the lower right, above everything."""
        box = (self.right - 220, self.bottom - 230, self.right - 60, self.bottom - 70)
        view = View(
            "ImageButton", box, description=description, icon=icon, on_tap=tap, fill=self.app.tint, color=WHITE, radius=48,
            resource=self.id(resource),
        )  # fmt: skip
        self._above.insert(0, view)

    def tabs(self, chosen: str, *entries: tuple[str, Do]) -> None:
        """Draw tabs: (label, what it does)."""
        left, top, right, bottom = self._take(130)
        width = (right - left) // len(entries)
        for place, (label, tap) in enumerate(entries):
            box = (left + place * width, top, left + (place + 1) * width, bottom)
            on = label == chosen
            self.add(
                View(
                    "TextView", box, label, on_tap=tap, selected=on, align="center", color=self.app.tint if on else GREY
                )
            )
            if on:
                self.add(View("View", (box[0] + 60, bottom - 8, box[2] - 60, bottom), fill=self.app.tint))

    def slider(self, description: str, value: float, slide: Callable[[float], object]) -> View:
        """Draw a slider: ``value`` and what ``slide`` is called with are fractions."""
        left, top, right, bottom = self._take(130)
        return self.add(
            View("SeekBar", (left + 72, top, right - 72, bottom), description=description, value=value, on_slide=slide)
        )

    def progress(self, description: str, value: float) -> None:
        """Draw a bar that cannot be moved."""
        left, top, right, bottom = self._take(90)
        self.add(View("ProgressBar", (left + 72, top, right - 72, bottom), description=description, value=value))

    def line(self) -> None:
        """Draw a thin line."""
        self.add(View("View", (self.left, self.top, self.right, self.top + 3), fill=LINE))
        self.top += 3

    # -- above the page -----------------------------------------------------------------------------------

    def menu(self, entries: Sequence[tuple[str, Do]]) -> None:
        """Draw a menu at the upper right: (text, what it does); it closes before that."""
        left, top, right = self.right - 660, self.top - 120, self.right - 24
        with self.panel((left, top, right, top + 130 * len(entries) + 40), dim=False):
            for place, (text, tap) in enumerate(entries):
                box = (left, top + 20 + 130 * place, right, top + 150 + 130 * place)
                self.add(View("TextView", box, text, on_tap=self.closing(tap), size=44, resource="android:id/title"))

    @contextmanager
    def dialog(self, title: str, *buttons: tuple[str, Do], height: int = 900) -> Generator[None]:
        """Draw a dialog in the middle of the screen: inside, draw its content; buttons (text, what it does) close it first.

        Args:
            title: Its title.
            *buttons: From left to right, at the bottom.
            height: Of the content, in pixels.
        """
        top = max(STATUS + 40, (self.bottom + STATUS - height - 340) // 2)
        bottom = min(top + height + 340, self.bottom - 10)
        with self.panel((80, top, WIDTH - 80, bottom), inside=(100, top + 30, WIDTH - 100, bottom - 150)):
            if title:
                self.text(title, 54, resource="alertTitle")
            yield
            width = (WIDTH - 200) // max(1, len(buttons))
            for place, (text, tap) in enumerate(buttons):
                box = (100 + place * width, bottom - 150, 100 + (place + 1) * width, bottom - 20)
                self.add(View("Button", box, text, on_tap=self.closing(tap), align="center", color=self.app.tint))

    @contextmanager
    def sheet(self, title: str, height: int) -> Generator[None]:
        """Draw a sheet at the bottom of the page; inside, draw its content of so many pixels."""
        top, bottom = max(STATUS + 40, self.bottom - height - 130), self.bottom
        with self.panel((0, top, WIDTH, bottom), inside=(20, top + 24, WIDTH - 20, bottom - 10)):
            self.text(title, 46, self.app.tint, resource="title")
            yield

    def confirm(self, question: str, yes: str, tap: Do, no: str = "Cancel") -> None:
        """Draw a dialog with a question."""
        with self.dialog("", (no, None), (yes, tap), height=200):
            self.text(question, 46, resource="message")

    def choose(self, title: str, entries: Sequence[str], chosen: str, tap: Callable[[str], object]) -> None:
        """Draw a dialog with one of several things to choose; the choice closes it."""
        with self.dialog(title, ("Cancel", None), height=min(1200, 150 * len(entries) + 20)), self.scroll("choices"):
            for entry in entries:
                self.row(entry, radio=entry == chosen, tap=self.closing(lambda entry=entry: tap(entry)))
