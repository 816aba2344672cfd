"""An app like Joplin: notes and to-dos in notebooks, written in Markdown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import joplin_data as data
from backtrail.envs.androidworld.phone.apps import joplin_pages as pages
from backtrail.envs.androidworld.phone.apps.drawer import hide_keyboard
from backtrail.envs.androidworld.phone.apps.joplin_parts import choose_folder, head, rows
from backtrail.envs.androidworld.phone.page import GREY, WHITE, Do
from backtrail.envs.androidworld.phone.ui import Ui

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["Joplin"]

_TRASH = "trash"


class Joplin(App):
    """Keeps notes.

    Pages: "main" (``state["folder"]`` is the notebook that is shown, "" for all notes), "note", "edit", "folder", "properties",
    "search", "config".
    """

    key = data.KEY
    label = "Joplin"
    package = "net.cozic.joplin"
    activity = "net.cozic.joplin.MainActivity"
    icon = "joplin"
    tint = (16, 83, 184)
    volatile = frozenset({"created_time", "updated_time", "user_created_time", "user_updated_time"})

    def fresh(self) -> Data:
        """Return no notes and no notebooks."""
        return data.fresh()

    def tick(self, phone: Phone) -> None:
        """Save what is being written."""
        if (phone.top["app"], phone.top["page"]) == (self.key, "edit"):
            pages.keep(phone)

    def draw(self, ui: Ui) -> None:
        """Draw a page."""
        {"main": _main, "search": _search, "config": _config, **pages.PAGES}[ui.page](ui)


# -- lists ------------------------------------------------------------------------------------------------


def _main(ui: Ui) -> None:
    phone, place = ui.phone, _place(ui)
    home = data.folder(phone, place)
    title = home["title"] if home else "Trash" if place == _TRASH else "All notes"
    picked: list[str] = ui.state.get("picked", []) if ui.state.get("overlay") in ("picked", "move") else []
    notes = data.thrown_away(phone) if place == _TRASH else data.notes(phone, place)
    if picked:
        _selection_head(ui, picked, [row["id"] for row in notes])
    else:
        left = ("menu", "Sidebar", partial(ui.overlay, "drawer"))
        search, sort = partial(phone.go, "search"), partial(ui.overlay, "sort")
        sorting = [] if place == _TRASH else [("sort", "Sort notes by", sort)]
        head(ui, left, title, ("search", "Search", search), *sorting, menu=_menu(ui, place))
    with ui.scroll():
        if place == _TRASH:
            rows(ui, notes, "The trash is empty", fixed=True)
        elif data.folders(phone):
            rows(ui, notes, "No notes here yet", picked)
        else:
            _first_steps(ui)
        ui.gap(240)
    if data.folders(phone) and place != _TRASH and not picked:
        ui.floating("add", "Add new", partial(ui.overlay, "add"))
    _overlays(ui, place, picked)


def _place(ui: Ui) -> str:
    """Return the notebook that is shown; all notes if it is no longer there."""
    place: str = ui.state.get("folder", "")
    return place if place == _TRASH or data.folder(ui.phone, place) else ""


def _first_steps(ui: Ui) -> None:
    ui.gap(400)
    ui.text("You have no notebooks yet", 50, GREY, "center")
    ui.text("Notes are kept in notebooks: make one first", 40, GREY, "center")
    ui.gap(40)
    ui.button("New notebook", partial(ui.phone.go, "folder", id=""))


def _menu(ui: Ui, place: str) -> list[tuple[str, Do]]:
    if place == _TRASH:
        return [("Empty trash", partial(ui.overlay, "empty"))]
    if not place:
        return []
    ask = partial(_ask_to_delete, ui, place)
    return [("Edit notebook", partial(ui.phone.go, "folder", id=place)), ("Delete notebook", ask)]


def _selection_head(ui: Ui, picked: list[str], shown: list[str]) -> None:
    phone = ui.phone

    def each(do: Callable[[Phone, str], object], said: str) -> None:
        for number in picked:
            do(phone, number)
        phone.toast(said)
        ui.state.update(picked=[], overlay="")

    head(
        ui,
        ("close", "Cancel selection", partial(ui.state.update, picked=[], overlay="")),
        f"{len(picked)} selected",
        ("check", "Select all", partial(ui.state.update, picked=shown)),
        ("copy", "Duplicate", partial(each, data.copy_note, "Copied")),
        ("delete", "Delete", partial(each, data.delete_note, "Moved to the trash")),
        pick=partial(ui.overlay, "move"),
    )


def _overlays(ui: Ui, place: str, picked: list[str]) -> None:
    phone, state, overlay = ui.phone, ui.state, ui.state.get("overlay")

    def new(todo: bool) -> None:
        parent = place or data.folders(phone)[0][0]["id"]
        phone.go("edit", id="", parent=parent, todo=todo)

    def move(to: str) -> None:
        for number in picked:
            data.change_note(phone, number, parent_id=to)
        state.update(picked=[])

    held = data.folder(phone, state.get("held", ""))
    if overlay == "drawer":
        _drawer(ui, place)
    elif overlay == "sort":
        _sort(ui)
    elif overlay == "add" and data.folders(phone):
        ui.top = ui.bottom - 430
        ui.menu([("New to-do", partial(new, True)), ("New note", partial(new, False))])
    elif overlay == "move":
        choose_folder(ui, "Move to notebook", "", move)
    elif overlay == "held" and held:
        with ui.dialog(held["title"], ("Cancel", None), height=300):
            ui.row("Edit", tap=lambda: (ui.overlay(""), phone.go("folder", id=held["id"])))
            ui.row("Delete", tap=partial(_ask_to_delete, ui, held["id"]))
    elif overlay == "delete" and held:
        question = f"Move the notebook “{held['title']}” and all notes in it to the trash?"
        ui.confirm(question, "Delete", partial(data.delete_folder, phone, held["id"]))
    elif overlay == "empty":
        ui.confirm("Delete all notes in the trash for good?", "Empty trash", partial(data.purge, phone))


def _ask_to_delete(ui: Ui, number: str) -> None:
    ui.state.update(held=number, overlay="delete")


def _sort(ui: Ui) -> None:
    settings = ui.data
    with ui.dialog("Sort notes by", ("Close", None), height=900):
        for name in data.SORTS:
            ui.row(name, radio=settings["sort"] == name, tap=partial(settings.update, sort=name))
        ui.line()
        for key, label in _SWITCHES.items():
            ui.row(label, check=settings[key], tap=partial(_turn, ui, key))


_SWITCHES = {
    "reverse": "Reverse sort order",
    "todos_first": "Uncompleted to-dos on top",
    "show_completed": "Show completed to-dos",
}


def _turn(ui: Ui, key: str) -> None:
    ui.data[key] = not ui.data[key]


# -- drawer -----------------------------------------------------------------------------------------------


def _drawer(ui: Ui, place: str) -> None:
    phone = ui.phone

    def show(number: str) -> None:
        ui.state.update(folder=number, overlay="", scroll={})

    def leave(page: str, **args: str) -> None:
        ui.overlay("")
        phone.go(page, **args)

    with ui.drawer(840) as panel:
        panel.fill = WHITE
        with ui.scroll("drawer", keep=450):
            ui.row("All notes", icon="note", selected=place == "", tap=partial(show, ""))
            for row, depth in data.folders(phone):
                hold = partial(ui.state.update, held=row["id"], overlay="held")
                ui.left = 50 * depth
                ui.row(
                    row["title"], icon="folder", selected=place == row["id"], tap=partial(show, row["id"]), hold=hold
                )
            ui.left = 0
            ui.row("Trash", icon="delete", selected=place == _TRASH, tap=partial(show, _TRASH))
        ui.line()
        ui.row("New notebook", icon="add", tap=partial(leave, "folder", id=""))
        ui.row("Configuration", icon="settings", tap=partial(leave, "config"))
        ui.row("Synchronise", icon="share", tap=partial(phone.toast, "Synchronisation is not set up"))


# -- search and configuration -----------------------------------------------------------------------------


def _search(ui: Ui) -> None:
    head(ui, ("arrow", "Back", ui.phone.close), "Search")
    words = ui.field("words", "Search in all notes", enter=partial(hide_keyboard, ui))
    with ui.scroll():
        if words.strip():
            rows(ui, data.search(ui.phone, words), "No notes found")


def _config(ui: Ui) -> None:
    head(ui, ("arrow", "Back", ui.phone.close), "Configuration")
    with ui.scroll():
        ui.header("Note list")
        ui.row("Sort notes by", ui.data["sort"], tap=partial(ui.overlay, "sort"))
        for key, label in _SWITCHES.items():
            ui.row(label, switch=ui.data[key], tap=partial(_turn, ui, key))
        ui.line()
        ui.header("About")
        ui.row("Joplin", "Version 1.0, simulated")
        ui.text("Notes and to-dos in Markdown. They stay on this phone.", color=GREY)
    if ui.state.get("overlay") == "sort":
        ui.choose("Sort notes by", data.SORTS, ui.data["sort"], lambda name: ui.data.update(sort=name))
