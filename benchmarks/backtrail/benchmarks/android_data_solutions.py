"""How tasks of AndroidWorld on files, notes, web pages and rows of databases are done on the simulated phone."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from importlib import import_module
from typing import Any

from backtrail.envs.androidworld.phone import databases
from backtrail.envs.androidworld.phone.apps import storage
from backtrail.envs.androidworld.tasks.oracle import Oracle

__all__ = [
    "add_event", "add_expenses", "add_recipes", "answer", "copy_picture", "create_folder", "create_note", "delete_all_notes",
    "delete_events", "delete_expenses", "delete_file", "delete_newest_note", "delete_note", "delete_recipes", "delete_rows",
    "draw_colors", "edit_note", "merge_notes", "move_file", "move_note", "multiply", "new_note", "rewrite_note", "solve_maze",
]  # fmt: skip

_NEW_NOTE = "Create a new file or folder"
_STORAGE = "sdk_gphone_x86_64"
_NOTES = "/storage/emulated/0/Documents/Markor"
_CATEGORIES = {
    1: "Others", 2: "Income", 3: "Food", 4: "Housing", 5: "Social", 6: "Entertainment", 7: "Transportation", 8: "Clothes",
    9: "Health Care", 10: "Education", 11: "Donation",
}  # fmt: skip


# -- files and notes --------------------------------------------------------------------------------------


def delete_file(o: Oracle, task: Any) -> None:
    """Delete a file of a folder."""
    o.open("Files")
    o.tap("Show roots", _STORAGE, task.params["subfolder"])
    o.hold(task.params["file_name"])
    o.tap("Delete", "OK")


def move_file(o: Oracle, task: Any) -> None:
    """Move a file from a folder to another."""
    wanted = task.params
    o.open("Files")
    o.tap("Show roots", _STORAGE, wanted["source_folder"])
    o.hold(wanted["file_name"])
    o.tap("More options", "Move to…", wanted["destination_folder"], "Move here")


def copy_picture(o: Oracle, task: Any) -> None:
    """Copy a picture to the downloads."""
    o.open("Simple Gallery Pro")
    o.tap("DCIM", task.params["file_name"], "Copy to", "Download", "Copy here")


def new_note(o: Oracle, name: str, text: str) -> None:
    """Write a note; a name without an ending stays without."""
    o.open("Markor")
    o.tap(_NEW_NOTE)
    o.type("Name", name)
    if "." not in name:
        o.type("Ending", " ")
    o.tap("OK")
    o.type("Write here", text)
    o.tap("Save")


def create_note(o: Oracle, task: Any) -> None:
    """Write the note that the task asks for."""
    wanted = task.params
    new_note(o, wanted["file_name"], wanted.get("text") or wanted["file_content"])


def merge_notes(o: Oracle, task: Any) -> None:
    """Write a note with the texts of three."""
    wanted = task.params
    text = "\n\n".join(wanted[f"file{number}_content"] for number in (1, 2, 3))
    new_note(o, wanted["new_file_name"], text)


def create_folder(o: Oracle, task: Any) -> None:
    """Make a folder of notes."""
    o.open("Markor")
    o.tap(_NEW_NOTE)
    o.type("Name", task.params["folder_name"])
    o.tap("Folder")


def _rename_note(o: Oracle, old: str, new: str) -> None:
    o.hold(old)
    o.tap("Rename")
    o.type("Name", new)  # and enter, which says OK


def rewrite_note(o: Oracle, task: Any) -> None:
    """Write another text into a note and rename it."""
    wanted = task.params
    o.open("Markor")
    o.tap(wanted["original_name"])
    header = wanted.get("header")
    o.type("Write here", f"{header}\n\n{wanted['original_content']}" if header else wanted["updated_content"])
    o.tap("Save")
    o.back()
    o.back()
    o.open("Markor")
    _rename_note(o, wanted["original_name"], wanted["new_name"])


def edit_note(o: Oracle, task: Any) -> None:
    """Add a header or footer to a note, or replace its text."""
    wanted = task.params
    old = (o.phone.files.read(f"{_NOTES}/{wanted['file_name']}") or "").strip("\n")
    texts_by_edit = {
        "header": f"{wanted.get('header')}\n{old}",
        "footer": f"{old}\n{wanted.get('footer')}",
        "replace": wanted.get("replace_text"),
    }
    o.open("Markor")
    o.tap(wanted["file_name"])
    o.type("Write here", texts_by_edit[wanted["edit_type"]] or "")
    o.tap("Save")


def delete_note(o: Oracle, task: Any) -> None:
    """Delete a note."""
    o.open("Markor")
    o.hold(task.params["file_name"])
    o.tap("Delete", "OK")


def delete_newest_note(o: Oracle, task: Any) -> None:
    """Delete the note that was written last."""
    names = [name for name in o.phone.files.names(_NOTES) if not o.phone.files.is_directory(f"{_NOTES}/{name}")]
    newest = max(names, key=lambda name: storage.modified(o.phone, f"{_NOTES}/{name}"))
    o.open("Markor")
    o.hold(newest)
    o.tap("Delete", "OK")


def delete_all_notes(o: Oracle, task: Any) -> None:
    """Delete all notes."""
    o.open("Markor")
    o.hold(o.phone.files.names(_NOTES)[0])
    o.tap("More options", "Select all", "Delete", "OK")


def move_note(o: Oracle, task: Any) -> None:
    """Move a note from a folder to another."""
    wanted = task.params
    o.open("Markor")
    o.tap(wanted["source_folder"])
    o.hold(wanted["file_name"])
    o.tap("More options", "Move", wanted["destination_folder"], "Move here")


# -- web pages --------------------------------------------------------------------------------------------


def _page(o: Oracle) -> None:
    """Open the page in the downloads."""
    o.open("Files")
    o.tap("Show roots", _STORAGE, "Download", "task.html")
    if o.sees("Chrome"):
        o.tap("Chrome")


def solve_maze(o: Oracle, task: Any) -> None:
    """Walk from the upper left to the lower right, by what the cells say."""
    _page(o)
    kinds = ("Wall", "Goal", "Free")
    cells = [e for e in o.backend.elements() if e.description in kinds or e.text == "X"]
    cells.sort(key=lambda e: (e.bounds[1], e.bounds[0]))
    side, free = int(len(cells) ** 0.5), [e.description != "Wall" for e in cells]
    ways: dict[int, tuple[str, ...]] = {0: ()}
    queue = [0]
    for at in queue:
        row, column = divmod(at, side)
        for name, down, right in (("Up", -1, 0), ("Down", 1, 0), ("Left", 0, -1), ("Right", 0, 1)):
            to = at + side * down + right
            if 0 <= row + down < side and 0 <= column + right < side and free[to] and to not in ways:
                ways[to] = (*ways[at], name)
                queue.append(to)
    o.tap(*ways[len(cells) - 1])


def multiply(o: Oracle, task: Any) -> None:
    """Multiply the numbers that the page shows one after the other."""
    _page(o)
    product = 1
    for _ in range(5):
        product *= int(o.backend.elements()[o.find("Click Me") - 1].text)
        o.tap("Click Me")
    o.type("Enter the product", str(product))
    if o.sees("Submit"):
        o.tap("Submit")


def draw_colors(o: Oracle, task: Any) -> None:
    """Draw a stroke in each of the three colours; scrolling the canvas is how a finger is moved over it."""
    _page(o)
    wanted = [e.description.rpartition("#")[2] for e in o.backend.elements() if e.description.startswith("Color ")]
    for color, way in zip(wanted, ("up", "down", "left"), strict=True):
        o.tap(f"#{color}")
        o.do("scroll", direction=way, index=o.find("Canvas"))
    o.tap("Submit")


# -- rows of databases ------------------------------------------------------------------------------------


def add_expenses(o: Oracle, task: Any) -> None:
    """Add expenses."""
    o.open("Pro Expense")
    for row in task.params["row_objects"]:
        o.tap("Add expense")
        o.type("Name", row.name)
        o.type("Amount", f"{row.amount / 100:.2f}")
        o.tap(_CATEGORIES[row.category])
        o.type("Note", row.note)
        o.tap("Save")


def delete_expenses(o: Oracle, task: Any) -> None:
    """Delete expenses by name."""
    o.open("Pro Expense")
    o.tap("Open navigation drawer", "Expense Logs")
    for row in task.rows_to_delete:
        o.hold(row.name)
        o.tap("Delete", "Delete")


def add_recipes(o: Oracle, task: Any) -> None:
    """Write recipes."""
    o.open("Broccoli")
    for row in task.params["row_objects"]:
        o.tap("New recipe")
        fields = {
            "Title": row.title, "Description": row.description, "Servings": row.servings,
            "Preparation time": row.preparationTime, "Ingredients": row.ingredients, "Directions": row.directions,
        }  # fmt: skip
        for label, text in fields.items():
            if text:
                o.type(label, text)
        o.tap("Save")
        while not o.sees("New recipe"):
            o.back()


def delete_recipes(o: Oracle, task: Any) -> None:
    """Delete recipes by title."""
    o.open("Broccoli")
    for row in task.rows_to_delete:
        o.tap(row.title, "More options", "Delete", "Delete")


def add_event(o: Oracle, task: Any) -> None:
    """Add an event to the calendar."""
    (row,) = task.params["row_objects"]
    start, end = (datetime.fromtimestamp(each, UTC) for each in (row.start_ts, row.end_ts))
    o.open("Simple Calendar Pro")
    o.tap("New Event")
    o.type("Title", row.title)
    o.type("Description", row.description)
    for name, moment in (("Start", start), ("End", end)):
        o.tap(f"{name} date")
        if moment.month != 10 and not o.sees("November 2023"):
            o.tap("Next month")
        o.tap(
            f"{moment.day} {moment:%B} {moment.year}",
            f"{name} time",
            f"{moment.hour} hours",
            f"{moment.minute} minutes",
            "OK",
        )
    if row.repeat_interval:
        o.tap("Repetition", {86400: "Daily", 604800: "Weekly"}[row.repeat_interval])
    o.tap("Save")


def delete_events(o: Oracle, task: Any) -> None:
    """Delete events of a day."""
    o.open("Simple Calendar Pro")
    day = datetime.fromtimestamp(task.rows_to_delete[0].start_ts, UTC)
    name = f"{day:%B} {day.day}, "
    o.do("click", index=o.place(lambda element: element.description.startswith(name), name))
    for row in task.rows_to_delete:
        o.hold(row.title)
        o.tap("Delete", "Yes")


def delete_rows(o: Oracle, task: Any) -> None:
    """Delete rows by their number, as nothing on the screen tells them apart: one of two that are equal is enough."""
    path, key = task.db_path, task.db_key
    rows = task.rows_to_delete[: 1 if "Duplicate" in type(task).__name__ else None]
    numbers = ", ".join(str(int(getattr(row, key))) for row in rows) or "NULL"
    databases.query(o.phone, path, f"DELETE FROM {task.table_name} WHERE {key} IN ({numbers})")


def answer(o: Oracle, task: Any) -> None:
    """Look up what the question is about by the search of the app, and answer as the task expects."""
    known = task.task.relevant_state.state
    for app, rows in (("Simple Calendar Pro", known.calendar.events), ("Tasks", known.tasks_app.tasks_app_tasks)):
        for title in [row.title for row in rows]:
            o.open(app)
            o.tap("Search")
            o.do("input_text", index=o.place(lambda e: e.editable, "the search field"), text=title, clear_text=True)
            o.place(lambda e, title=title: title in e.text and not e.editable, title)
    expected = import_module("android_world.task_evals.information_retrieval.proto_utils").get_expected_answer(
        task.task
    )
    o.answer(", ".join(_word(each) for each in expected))


def _word(value: Any) -> str:
    """Return a value as an answer has it."""
    match value:
        case datetime():
            return f"{value:%B %d %Y %H:%M}"
        case date():
            return f"{value:%B %d %Y}"
        case time():
            return f"{value:%H:%M}"
    return str(value)
