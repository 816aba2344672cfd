"""Parts of Joplin's pages: the dark bar, the rows of notes, the choice of a notebook, Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from backtrail.envs.androidworld.phone.apps import joplin_data as data
from backtrail.envs.androidworld.phone.apps.extras import empty
from backtrail.envs.androidworld.phone.draw import line_height, wrapped
from backtrail.envs.androidworld.phone.page import GREY, LINE, SURFACE, WHITE, Do
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["choose_folder", "draw_body", "head", "lines", "name_of", "rows", "tick_line"]

Button = tuple[str, str, Do]
"""Icon, description and what it does."""

_DARK = (49, 54, 64)
_INK = (50, 55, 63)
_FADED = (160, 164, 170)
_SIZE = 44
_TALL = 128  # of a row


def name_of(row: data.Row) -> str:
    """Return what a note is called in lists: its title, or else the first words of its body."""
    return row["title"].strip() or row["body"].strip().split("\n")[0][:80] or "Untitled"


def head(
    ui: Ui, left: Button, title: str, *buttons: Button, menu: Sequence[tuple[str, Do]] = (), pick: Do = None
) -> None:
    """Draw the bar at the top.

    Args:
        ui: The page.
        left: The first button.
        title: The page's title.
        *buttons: At the end.
        menu: Entries of the menu behind the three dots; none leaves it out.
        pick: What a tap on the title does, which then names the notebook of a note.
    """
    top, height = ui.top, 150
    bar = ui.add(View("LinearLayout", (ui.left, top, ui.right, top + height), fill=_DARK))
    shown = [*buttons, *([("more", "Actions", lambda: ui.overlay("menu"))] if menu else [])]
    end = ui.right - 12 - 120 * len(shown)
    places = [ui.left + 12, *(end + 120 * place for place in range(len(shown)))]
    for x, (icon, description, do) in zip(places, [left, *shown], strict=True):
        box = (x, top + 15, x + 120, top + 135)
        bar.children.append(View("ImageButton", box, description=description, icon=icon, on_tap=do, color=WHITE))
    box = (ui.left + 132, top, end - 90 if pick else end, top + height)
    bar.children.insert(1, View("TextView", box, title, size=50, color=WHITE, on_tap=pick, resource=ui.id("title")))
    if pick:
        bar.children[1].description = "Move to notebook"
        box = (end - 90, top + 30, end, top + 120)
        bar.children.insert(2, View("ImageView", box, icon="down", color=WHITE))
    ui.top += height
    if menu and ui.state.get("overlay") == "menu":
        ui.menu(menu)


def rows(
    ui: Ui, notes: Sequence[data.Row], nothing: str, picked: Sequence[str] | None = None, *, fixed: bool = False
) -> None:
    """Draw notes one below the other, to-dos with a box to tick.

    Args:
        ui: The page; ``state["picked"]`` will be the ids of those that are selected.
        notes: What to draw.
        nothing: What is said if there are none.
        picked: Ids of those that are selected: if there are any, a tap selects; None if none can be.
        fixed: Whether nothing can be ticked.
    """
    if not notes:
        empty(ui, nothing, "note")
    for row in notes:
        number, done = row["id"], bool(row["is_todo"] and row["todo_completed"])
        chosen = number in (picked or ())
        others = [each for each in picked or () if each != number]
        after = others if chosen else [*others, number]
        select = partial(ui.state.update, picked=after, overlay="picked" if after else "")
        box = (ui.left, ui.top, ui.right, ui.top + _TALL)
        view = ui.add(View("LinearLayout", box, selected=chosen, on_hold=None if picked is None else select))
        view.fill = (216, 228, 246) if chosen else None
        view.on_tap = select if picked else partial(ui.phone.go, "note", id=number)
        x = ui.left + 24
        if row["is_todo"]:
            mark = View("CheckBox", (x, ui.top + 14, x + 100, ui.top + 114), checked=done)
            mark.description = f"to-do: {name_of(row)}"
            mark.on_tap = None if fixed else partial(data.complete, ui.phone, number)
            mark.enabled = not fixed
            view.children.append(mark)
            x += 90
        color = _FADED if done else _INK
        box = (x, ui.top, ui.right - 24, ui.top + _TALL - 3)
        view.children.append(View("TextView", box, name_of(row), size=44, color=color))
        ui.add(View("View", (ui.left, ui.top + _TALL - 3, ui.right, ui.top + _TALL), fill=LINE))
        ui.top += _TALL


def choose_folder(ui: Ui, title: str, chosen: str, tap: Callable[[str], object], *, top: bool = False) -> None:
    """Draw a dialog with the notebooks to choose one of; the choice closes it.

    Args:
        ui: The page.
        title: Of the dialog.
        chosen: Id of the notebook that is marked.
        tap: What is done with the id of the one that is chosen.
        top: Whether none ("") can be chosen.
    """
    entries = [("", "None", 0)] if top else []
    entries += [(row["id"], row["title"], depth) for row, depth in data.folders(ui.phone)]
    with ui.dialog(title, ("Cancel", None), height=min(1300, 150 * len(entries) + 20)), ui.scroll("choices"):
        left = ui.left
        for number, name, depth in entries:

            def choose(number: str = number) -> None:
                ui.overlay("")
                tap(number)

            ui.left = left + 50 * depth
            ui.row(name, radio=number == chosen, tap=choose)
        ui.left = left


# -- Markdown ---------------------------------------------------------------------------------------------

_KINDS = (
    ("heading", re.compile(r"(?P<mark>#{1,6}) +(?P<text>.+)")),
    ("box", re.compile(r"(?P<depth>\s*)[-*+] \[(?P<mark>[ xX])\] +(?P<text>.+)")),
    ("entry", re.compile(r"(?P<depth>\s*)(?P<mark>[-*+]|\d+[.)]) +(?P<text>.+)")),
    ("rule", re.compile(r"(?P<text>-{3,}|\*{3,}|_{3,})\s*")),
    ("quote", re.compile(r"> ?(?P<text>.*)")),
)


def lines(body: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield each line of a text in Markdown: its kind, its text without marks, its mark, how deep it lies.

    Kinds are "heading", "box" (to tick; the mark is " " or "x"), "entry" (of a list), "rule", "quote", "code", "plain", and ""
    for what is not shown.
    """
    fenced = False
    for line in body.split("\n"):
        if line.strip().startswith("```"):
            fenced = not fenced
            yield "", "", "", 0
        elif fenced:
            yield "code", line, "", 0
        else:
            found = ((kind, pattern.fullmatch(line)) for kind, pattern in _KINDS)
            kind, parts = next(((kind, match.groupdict()) for kind, match in found if match), ("plain", {"text": line}))
            depth = len(parts.get("depth", "").expandtabs(4)) // 2
            yield kind, _bare(parts["text"]), parts.get("mark", ""), depth


def tick_line(body: str, place: int) -> str:
    """Return a text with the box in one of its lines ticked, or no longer if it is."""
    parts = body.split("\n")
    before, mark, after = re.split(r"(?<=\[)([ xX])(?=\])", parts[place], maxsplit=1)
    parts[place] = f"{before}{'x' if mark == ' ' else ' '}{after}"
    return "\n".join(parts)


def draw_body(ui: Ui, body: str, tick: Callable[[int], object] | None) -> None:
    """Draw a text in Markdown; ``tick`` is called with the number of the line whose box is tapped, None makes them fixed."""
    for place, (kind, text, mark, depth) in enumerate(lines(body)):
        match kind:
            case "heading":
                ui.gap(20)
                ui.text(text, max(46, 72 - 8 * len(mark)), _INK)
            case "box":
                _entry(ui, text, depth, "", mark != " ", partial(tick, place) if tick else None)
            case "entry":
                _entry(ui, text, depth, mark.rstrip("-*+"))
            case "rule":
                ui.line()
            case "quote":
                ui.text(text, _SIZE, GREY)
            case "code":
                ui.text(text, 40, _INK).fill = SURFACE
            case "plain" if text.strip():
                ui.text(text, _SIZE, _INK)
            case _:
                ui.gap(30)


def _entry(ui: Ui, text: str, depth: int, mark: str, ticked: bool | None = None, tap: Do = None) -> None:
    """Draw an entry of a list: a dot, number or box, and its text."""
    left = ui.left + 40 + 60 * depth
    x = left + 70
    high = line_height(_SIZE)
    height = high * len(wrapped(text, _SIZE, max(1, ui.right - 24 - x - 48))) + 24
    view = ui.add(View("LinearLayout", (ui.left, ui.top, ui.right, ui.top + height), on_tap=tap))
    if ticked is None and mark:
        box = (left - 10, ui.top, x, ui.top + high + 24)
        view.children.append(View("TextView", box, mark, size=_SIZE, color=_INK))
    elif ticked is None:
        y = ui.top + high // 2 + 6
        view.children.append(View("View", (left + 24, y, left + 38, y + 14), fill=_INK, radius=7))
    else:
        box = (left - 10, ui.top, x + 10, ui.top + high + 24)
        view.children.append(
            View("CheckBox", box, description=text, checked=ticked, on_tap=tap, enabled=tap is not None)
        )
    box = (x, ui.top, ui.right - 24, ui.top + height)
    view.children.append(View("TextView", box, text, size=_SIZE, color=_FADED if ticked else _INK, wrap=True))
    ui.top += height


def _bare(text: str) -> str:
    """Return a line without the signs for links, bold, slanted and crossed out words, and code."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"(\*\*|__|~~|\*|`)(?=\S)(.+?)(?<=\S)\1", r"\2", text)
