"""Pieces that several apps draw: bars with a button of their own, pictures of people, a field that can paste, dates as words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.draw import line_height, text_width, wrapped
from backtrail.envs.androidworld.phone.page import GREY, LINE, MARGIN, SURFACE, WHITE, Do
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import Bounds, Color, View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "cut", "digits", "empty", "entry", "face", "head", "is_number", "labelled", "line", "pad", "person_row", "pretty", "same_number", "search",
    "when",
]  # fmt: skip

INK: Color = (32, 33, 36)
_TINTS: tuple[Color, ...] = (
    (194, 24, 91), (123, 31, 162), (48, 63, 159), (2, 119, 189), (0, 121, 107), (85, 139, 47), (230, 81, 0), (93, 64, 55),
)  # fmt: skip

# -- numbers and dates ------------------------------------------------------------------------------------


def digits(number: str) -> str:
    """Return a phone number without anything but digits."""
    return re.sub(r"\D", "", number)


def is_number(text: str) -> bool:
    """Whether a text can be a phone number: at least three digits, and nothing but digits, spaces and punctuation."""
    return len(digits(text)) >= 3 and re.fullmatch(r"[\d\s()+*#.,;-]+", text.strip()) is not None


def same_number(one: str, other: str) -> bool:
    """Whether two numbers reach the same phone; a country code may be left out."""
    a, b = digits(one), digits(other)
    return a == b if min(len(a), len(b)) < 7 else a[-10:] == b[-10:]


def pretty(number: str) -> str:
    """Return a phone number as phones show it; one with an unknown shape stays as it is."""
    n = digits(number)
    if number.strip().startswith("+") or re.search(r"[^\d\s()+-]", number):
        return number.strip()
    if len(n) == 10:
        return f"({n[:3]}) {n[3:6]}-{n[6:]}"
    if len(n) == 11 and n[0] == "1":
        return f"1 {n[1:4]}-{n[4:7]}-{n[7:]}"
    return f"{n[:3]}-{n[3:]}" if len(n) == 7 else number.strip()


def when(phone: Phone, seconds: float) -> str:
    """Return a time as a list shows it: the hour if it is today, else the date."""
    then, now = datetime.fromtimestamp(seconds, UTC), phone.now
    if then.date() == now.date():
        return then.strftime("%H:%M")
    return then.strftime("%b %-d") if then.year == now.year else then.strftime("%b %-d, %Y")


def cut(text: str, size: int, width: int) -> str:
    """Return the first line of a text, shortened with dots to fit into so many pixels."""
    line = text.split("\n")[0]
    if text_width(line, size) <= width and line == text:
        return line
    while line and text_width(f"{line}…", size) > width:
        line = line[:-1]
    return f"{line}…"


def line(box: Bounds, text: str, size: int, color: Color = INK) -> View:
    """Return a text in one line; where it does not fit it ends in dots, and accessibility says all of it."""
    shown = cut(text, size, box[2] - box[0] - 48)
    return View("TextView", box, shown, description=text if shown != text else "", size=size, color=color)


# -- bars -------------------------------------------------------------------------------------------------


def head(
    ui: Ui,
    left: tuple[str, str, Do],
    title: str,
    *buttons: tuple[str, str, Do],
    save: tuple[str, Do] | None = None,
    fill: Color = WHITE,
) -> None:
    """Draw a bar at the top whose first button does what the page wants.

    Args:
        ui: Where to draw.
        left: Icon, description and what it does.
        title: The page's title.
        *buttons: At the end, likewise.
        save: A button with a text at the very end: (text, what it does).
        fill: Colour of the bar.
    """
    top, bottom = ui.top, ui.top + 150
    bar = ui.add(View("LinearLayout", (ui.left, top, ui.right, bottom), fill=fill))
    bar.children.append(
        View(
            "ImageButton",
            (ui.left + 12, top + 15, ui.left + 132, top + 135),
            description=left[1],
            icon=left[0],
            on_tap=left[2],
        )
    )
    end = ui.right - 24
    if save is not None:
        box = (end - 220, top + 25, end, top + 125)
        view = View("Button", box, save[0], on_tap=save[1], fill=ui.app.tint, color=WHITE, radius=50, align="center")
        view.resource = ui.id("toolbar_button")
        bar.children.append(view)
        end -= 240
    for icon, description, do in reversed(buttons):
        box = (end - 120, top + 15, end, top + 135)
        bar.children.append(View("ImageButton", box, description=description, icon=icon, on_tap=do, color=GREY))
        end -= 120
    text = line((ui.left + 132, top, end, bottom), title, 50)
    text.resource = ui.id("title")
    bar.children.append(text)
    ui.top = bottom


def search(ui: Ui, key: str, hint: str, *buttons: tuple[str, str, Do], enter: Do = None) -> str:
    """Draw a round search field over the whole width and return what is in it; it can be cleared."""
    top, text = ui.top + 12, ui.typed(key)
    pill = View("LinearLayout", (ui.left + 36, top, ui.right - 36, top + 132), fill=SURFACE, radius=66)
    left, right = pill.bounds[0], pill.bounds[2]
    shown = [*([("close", "Clear text", lambda: ui.fill(key, ""))] if text else []), *buttons]
    end = right - 24 - 110 * len(shown)
    pill.children.append(View("ImageView", (left + 20, top, left + 120, top + 132), icon="search", color=GREY))
    pill.children.append(
        _plain(ui, View("EditText", (left + 110, top + 8, end, top + 124), text, hint=hint, field=key))
    )
    pill.children[-1].on_tap = enter
    for place, (icon, description, do) in enumerate(shown):
        box = (end + 110 * place, top + 11, end + 110 * (place + 1), top + 121)
        pill.children.append(View("ImageButton", box, description=description, icon=icon, on_tap=do, color=GREY))
    ui.add(pill)
    ui.top += 156
    return text


def _plain(ui: Ui, view: View) -> View:
    """Complete a field that lies on a coloured shape: it has no line below."""
    view.focused, view.size, view.resource = ui.phone.state["focus"] == view.field, 44, ui.id(view.field)
    left, _, right, bottom = view.bounds
    view.children = [View("View", (left, bottom - 8, right, bottom), fill=SURFACE)]
    return view


# -- people and lists -------------------------------------------------------------------------------------


def face(box: Bounds, name: str) -> View:
    """Return the round picture of a person: the first letter of the name."""
    letter = name[:1].upper() if name[:1].isalpha() else ""
    tint, side = _TINTS[sum(map(ord, name)) % len(_TINTS)], box[2] - box[0]
    view = View("ImageView", box, fill=tint, radius=side // 2, color=WHITE, size=side // 2)
    if letter:
        view.children = [View("TextView", box, letter, color=WHITE, size=side // 2, align="center")]
    else:
        view.icon = "person"
    return view


def person_row(
    ui: Ui,
    name: str,
    subtitle: str = "",
    *,
    tap: Do = None,
    hold: Do = None,
    trailing: str = "",
    strong: bool = False,
    selected: bool = False,
    warn: bool = False,
    button: tuple[str, str, Do] | None = None,
) -> None:
    """Draw a row of a list with a person: picture, name, a second text, a short text or a button at the end."""
    height = 190 if subtitle else 160
    top, bottom = ui.top, ui.top + height
    row = View("LinearLayout", (ui.left, top, ui.right, bottom), on_tap=tap, on_hold=hold, selected=selected)
    row.fill = (214, 228, 253) if selected else None
    ui.add(row)
    middle = (top + bottom) // 2
    row.children.append(face((ui.left + MARGIN, middle - 55, ui.left + MARGIN + 110, middle + 55), name))
    x, end = ui.left + MARGIN + 130, ui.right - MARGIN
    if button is not None:
        box = (end - 100, middle - 60, end + 20, middle + 60)
        row.children.append(
            View("ImageButton", box, description=button[1], icon=button[0], on_tap=button[2], color=GREY)
        )
        end -= 110
    if trailing:
        width = text_width(trailing, 34) + 40
        row.children.append(
            View("TextView", (end - width, top + 20, end + 20, top + 90), trailing, size=34, color=GREY)
        )
    color = (217, 48, 37) if warn else INK
    free = end - (text_width(trailing, 34) + 40 if trailing else 0)
    row.children.append(line((x, top + 14, free, top + 100) if subtitle else (x, top, free, bottom), name, 46, color))
    row.children[-1].resource = ui.id("name")
    if subtitle:
        row.children.append(line((x, top + 96, end, bottom - 14), subtitle, 38, INK if strong else GREY))
        row.children[-1].resource = ui.id("detail")
    if strong:
        dot = (ui.left + 12, middle - 12, ui.left + 36, middle + 12)
        row.children.append(View("ImageView", dot, description="Unread", fill=ui.app.tint, radius=12))
    ui.top = bottom


def empty(ui: Ui, text: str, icon: str = "person") -> None:
    """Draw what an empty list shows."""
    ui.gap(360)
    ui.add(View("ImageView", (ui.left, ui.top, ui.right, ui.top + 200), icon=icon, color=LINE, size=180))
    ui.top += 220
    ui.text(text, 44, GREY, "center", resource="empty")


def labelled(
    ui: Ui,
    box: Bounds,
    icon: str,
    name: str,
    tap: Do,
    *,
    fill: Color = SURFACE,
    color: Color = GREY,
    selected: bool = False,
) -> None:
    """Draw a round button with its name below; ``box`` is both together and can be tapped everywhere."""
    left, top, right, bottom = box
    side, middle = bottom - top - 90, (left + right) // 2
    cell = View("Button", box, description=name, on_tap=tap, selected=selected)
    round_box = (middle - side // 2, top, middle + side // 2, top + side)
    cell.children = [
        View("ImageView", round_box, icon=icon, fill=fill, color=color, radius=side // 2, size=side * 2 // 5),
        View("TextView", (left, bottom - 80, right, bottom), cut(name, 36, right - left), size=36, align="center"),
    ]
    ui.add(cell)


def pad(ui: Ui, box: Bounds, description: str, tap: Callable[[], object]) -> None:
    """Draw a round button with the nine dots of a keypad."""
    left, top, right, bottom = box
    view = View("ImageButton", box, description=description, on_tap=tap, fill=ui.app.tint, radius=48)
    view.resource = ui.id("fab")
    for n in range(9):
        x, y = (left + right) // 2 + (n % 3 - 1) * 30, (top + bottom) // 2 + (n // 3 - 1) * 30
        view.children.append(View("ImageView", (x - 9, y - 9, x + 9, y + 9), fill=WHITE, radius=9))
    ui.add(view)


# -- a field that can paste -------------------------------------------------------------------------------


def entry(ui: Ui, key: str, hint: str, right: int, value: str = "", most: int = 6) -> str:
    """Draw a round field of many lines at the bottom of the page, up to ``right``; a long press offers to paste.

    The page's ``bottom`` is moved above it. Returns what is in it: ``value`` until something is typed.
    """
    text = ui.typed(key, value)
    left, width = ui.left + 30, right - ui.left - 30 - 96
    lines = min(most, len(wrapped(text, 44, width)))
    box = (left, ui.bottom - 60 - line_height(44) * lines - 30, right, ui.bottom - 30)
    inner = (box[0] + 24, box[1] + 10, box[2] - 24, box[3] - 10)
    view = _plain(ui, View("EditText", inner, text, hint=hint, field=key, multiline=True, wrap=True))
    view.on_hold = lambda: ui.overlay(f"paste {key}")
    ui.add(View("LinearLayout", box, fill=SURFACE, radius=50, children=[view]))
    ui.bottom = box[1] - 20
    if ui.state.get("overlay") == f"paste {key}":
        _bubble(ui, (left + 40, box[1] - 150), _pasting(ui, key, text))
    return text


def _pasting(ui: Ui, key: str, text: str) -> Sequence[tuple[str, Callable[[], object]]]:
    held = ui.phone.state["clipboard"]
    paste = [("Paste", lambda: ui.fill(key, text + held))] if held else []
    return [*paste, ("Clear", lambda: ui.fill(key, ""))]


def _bubble(ui: Ui, corner: tuple[int, int], entries: Sequence[tuple[str, Callable[[], object]]]) -> None:
    """Draw the small menu of a long press on a field."""
    x, y = corner
    for text, tap in entries:
        width = text_width(text, 42) + 90

        def do(tap: Callable[[], object] = tap) -> None:
            ui.overlay("")
            tap()

        box = (x, y, x + width, y + 120)
        ui.add(View("Button", box, text, on_tap=do, fill=(60, 64, 67), color=WHITE, align="center"))
        x += width
