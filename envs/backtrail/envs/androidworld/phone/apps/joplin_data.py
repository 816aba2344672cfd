"""The data of Joplin: rows with the columns of its tables ``notes`` and ``folders``, and notes that were deleted."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.app import Data
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "KEY",
    "SORTS",
    "Row",
    "add_folder",
    "add_note",
    "change_folder",
    "change_note",
    "complete",
    "copy_note",
    "delete_folder",
    "delete_note",
    "folder",
    "folders",
    "fresh",
    "note",
    "notes",
    "purge",
    "restore",
    "search",
    "thrown_away",
    "within",
]

KEY = "joplin"

Row = dict[str, Any]
"""A note: id, parent_id (of its notebook), title, body, is_todo (0 or 1), todo_completed (ms, 0 if it is open), times (ms).

A notebook: id, parent_id ("" at the top), title, times (ms).
"""

SORTS = ("Updated date", "Created date", "Title")
"""By what notes can be sorted."""

_RESTORED = "Restored items"


def fresh() -> Data:
    """Return no notes and no notebooks; "trash" has the notes that were deleted, the others say how lists are sorted."""
    return {
        "folders": [],
        "notes": [],
        "trash": [],
        "sort": SORTS[0],
        "reverse": True,
        "todos_first": True,
        "show_completed": True,
    }


# -- notebooks --------------------------------------------------------------------------------------------


def folders(phone: Phone) -> list[tuple[Row, int]]:
    """Return all notebooks as the drawer has them, by title, each before those in it, with how deep it lies."""
    rows = sorted(phone.data(KEY)["folders"], key=lambda row: (row["title"].lower(), row["id"]))
    known = {row["id"] for row in rows}

    def below(parent: str, depth: int) -> list[tuple[Row, int]]:
        inside = [row for row in rows if (row["parent_id"] if row["parent_id"] in known else "") == parent]
        return [each for row in inside for each in [(row, depth), *below(row["id"], depth + 1)]]

    return below("", 0)


def folder(phone: Phone, number: str) -> Row | None:
    """Return the notebook with an id; None if there is none."""
    return next((row for row in phone.data(KEY)["folders"] if row["id"] == number), None)


def within(phone: Phone, number: str) -> set[str]:
    """Return the ids of a notebook and of all that lie in it."""
    found = {number}
    while more := {row["id"] for row in phone.data(KEY)["folders"] if row["parent_id"] in found} - found:
        found |= more
    return found


def add_folder(phone: Phone, title: str, parent: str = "") -> str:
    """Add a notebook and return its id, which its title gives it: the order in which notebooks come about says nothing."""
    rows = phone.data(KEY)["folders"]
    number = _new_id(f"folder {title}", rows)
    rows.append({"id": number, "title": title, "parent_id": parent, **_times(phone)})
    return number


def change_folder(phone: Phone, number: str, title: str, parent: str) -> None:
    """Give a notebook a title and a place.

    Raises:
        KeyError: If there is no such notebook.
        ValueError: If it would lie in itself.
    """
    row = folder(phone, number)
    if row is None:
        raise KeyError(f"Expected the id of a notebook, got {number!r}")
    if parent in within(phone, number):
        raise ValueError(f"Expected a notebook outside of {row['title']!r} to put it into, got {parent!r}")
    row.update(title=title, parent_id=parent, **_updated(phone))


def delete_folder(phone: Phone, number: str) -> None:
    """Delete a notebook and all that lie in it; their notes go to the trash."""
    gone = within(phone, number)
    for row in [row for row in phone.data(KEY)["notes"] if row["parent_id"] in gone]:
        delete_note(phone, row["id"])
    data = phone.data(KEY)
    data["folders"] = [row for row in data["folders"] if row["id"] not in gone]


# -- notes ------------------------------------------------------------------------------------------------


def note(phone: Phone, number: str) -> Row | None:
    """Return the note with an id, from the trash as well; None if there is none."""
    data = phone.data(KEY)
    return next((row for row in [*data["notes"], *data["trash"]] if row["id"] == number), None)


def notes(phone: Phone, parent: str = "") -> list[Row]:
    """Return the notes of a notebook, or all, sorted as chosen."""
    return _sorted(phone, [row for row in phone.data(KEY)["notes"] if parent in ("", row["parent_id"])])


def thrown_away(phone: Phone) -> list[Row]:
    """Return the notes in the trash, last deleted first."""
    return phone.data(KEY)["trash"][::-1]


def search(phone: Phone, words: str) -> list[Row]:
    """Return the notes that have all the words in title or body, sorted as chosen; none without words."""
    wanted = words.lower().split()
    if not wanted:
        return []
    rows = phone.data(KEY)["notes"]
    return _sorted(phone, [row for row in rows if all(w in f"{row['title']}\n{row['body']}".lower() for w in wanted)])


def add_note(
    phone: Phone, parent: str, title: str, body: str = "", *, is_todo: bool = False, done: bool = False
) -> str:
    """Add a note to a notebook and return its id.

    Raises:
        KeyError: If there is no such notebook.
    """
    _check(phone, parent)
    rows, now = phone.data(KEY)["notes"], phone.state["now"] * 1000
    number = _new_id("note", [*rows, *phone.data(KEY)["trash"]])
    row = {"id": number, "parent_id": parent, "title": title, "body": body, **_times(phone), "is_todo": int(is_todo)}
    row.update(todo_due=0, todo_completed=now if is_todo and done else 0, markup_language=1)
    rows.append(row)
    return number


def copy_note(phone: Phone, number: str) -> str:
    """Add a note that is equal to another but for its title, which says so; return its id."""
    row = _known(phone, number)
    title = f"{row['title']} - Copy"
    return add_note(
        phone, row["parent_id"], title, row["body"], is_todo=bool(row["is_todo"]), done=bool(row["todo_completed"])
    )


def change_note(phone: Phone, number: str, **columns: Any) -> None:
    """Change columns of a note: title, body, parent_id, is_todo or todo_completed.

    Raises:
        KeyError: If there is no such note outside of the trash, or no such notebook.
        ValueError: If there is no such column.
    """
    row, known = _known(phone, number), ("title", "body", "parent_id", "is_todo", "todo_completed")
    unknown = sorted(set(columns) - set(known))
    if unknown:
        raise ValueError(f"Expected columns among {', '.join(known)}, got {', '.join(unknown)}")
    if "parent_id" in columns:
        _check(phone, columns["parent_id"])
    row.update(columns, **_updated(phone))
    rows = phone.data(KEY)["notes"]  # whichever changed last comes last: times alone would not tell states apart
    rows.remove(row)
    rows.append(row)


def complete(phone: Phone, number: str) -> None:
    """Tick a to-do off, or no longer if it is."""
    done = _known(phone, number)["todo_completed"]
    change_note(phone, number, todo_completed=0 if done else phone.state["now"] * 1000)


def delete_note(phone: Phone, number: str) -> None:
    """Put a note into the trash."""
    row, data = _known(phone, number), phone.data(KEY)
    data["notes"].remove(row)
    data["trash"].append(row)


def restore(phone: Phone, number: str) -> None:
    """Take a note out of the trash, back into its notebook; if that is gone, into one for such notes."""
    data = phone.data(KEY)
    for row in [row for row in data["trash"] if row["id"] == number]:
        data["trash"].remove(row)
        if folder(phone, row["parent_id"]) is None:
            made = [each["id"] for each in data["folders"] if each["title"] == _RESTORED]
            row["parent_id"] = made[0] if made else add_folder(phone, _RESTORED)
        data["notes"].append(row)


def purge(phone: Phone, numbers: Collection[str] | None = None) -> None:
    """Delete notes in the trash for good; all of them with None."""
    data = phone.data(KEY)
    data["trash"] = [row for row in data["trash"] if numbers is not None and row["id"] not in numbers]


def _sorted(phone: Phone, rows: list[Row]) -> list[Row]:
    """Return notes as the settings say; of equal ones the title decides."""
    data = phone.data(KEY)
    keys: dict[str, Callable[[Row], Any]] = {
        "Updated date": lambda row: row["user_updated_time"],
        "Created date": lambda row: row["user_created_time"],
        "Title": lambda row: row["title"].lower(),
    }
    rows = sorted(rows, key=lambda row: (row["title"].lower(), row["id"]))
    rows.sort(key=keys[data["sort"]], reverse=data["reverse"])
    if data["todos_first"]:
        rows.sort(key=lambda row: not row["is_todo"] or row["todo_completed"] > 0)
    return [row for row in rows if data["show_completed"] or not (row["is_todo"] and row["todo_completed"])]


def _known(phone: Phone, number: str) -> Row:
    row = next((row for row in phone.data(KEY)["notes"] if row["id"] == number), None)
    if row is None:
        raise KeyError(f"Expected the id of a note, got {number!r}")
    return row


def _check(phone: Phone, parent: str) -> None:
    if folder(phone, parent) is None:
        raise KeyError(f"Expected the id of a notebook, got {parent!r}")


def _times(phone: Phone) -> Row:
    now = phone.state["now"] * 1000
    return {"created_time": now, "user_created_time": now, **_updated(phone)}


def _updated(phone: Phone) -> Row:
    now = phone.state["now"] * 1000
    return {"updated_time": now, "user_updated_time": now}


def _new_id(kind: str, rows: list[Row]) -> str:
    """Return the first id of a kind that no row has: 32 hexadecimal letters."""
    taken, count = {row["id"] for row in rows}, 0
    while (found := hashlib.blake2b(f"{kind} {count}".encode(), digest_size=16).hexdigest()) in taken:
        count += 1
    return found
