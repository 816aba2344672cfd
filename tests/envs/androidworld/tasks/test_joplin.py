"""Tasks on notebooks: solved by touch, and refused where something else was done."""

from __future__ import annotations

import pytest
from checking_tasks import SEEDS, prepared, solved

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import joplin_data as data
from backtrail.envs.androidworld.tasks import joplin as family
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.joplin import NotebookAddTodo, NotebookCountOpen, NotebookMoveNote


def ids(phone: Phone) -> dict[str, str]:
    """Return the ids of notebooks by title."""
    return {row["title"]: row["id"] for row, _ in data.folders(phone)}


@pytest.mark.parametrize("kind", family.TASKS)
def test_nothing_else_may_change(kind: type[PhoneTask]) -> None:
    task = kind(1)
    phone = solved(task).phone
    saved, number, home = phone.save(), data.notes(phone)[0]["id"], next(iter(ids(phone).values()))
    for change in (
        lambda: data.add_note(phone, home, "Else"),
        lambda: data.add_folder(phone, "Else"),
        lambda: data.delete_note(phone, number),
        lambda: data.complete(phone, number),
        lambda: data.change_note(phone, number, body="Else"),
    ):
        phone.load(saved)
        assert task.done(phone)
        change()
        assert not task.done(phone)


@pytest.mark.parametrize("change", ["none", "notebook", "title", "body", "kind", "done"])
def test_each_part_of_a_new_todo_counts(change: str) -> None:
    task = NotebookAddTodo(0)
    phone, wanted = prepared(task).phone, task.parameters
    home = ids(phone)[wanted["notebooks"][1 if change == "notebook" else 0]]
    title, body = ("Else" if change == part else wanted[part] for part in ("title", "body"))
    data.add_note(phone, home, title, body, is_todo=change != "kind", done=change == "done")
    assert task.done(phone) is (change == "none")


@pytest.mark.parametrize("seed", SEEDS)
def test_only_the_note_of_that_title_in_that_notebook_moves_to_that_notebook(seed: int) -> None:
    task = NotebookMoveNote(seed)
    phone, wanted = prepared(task).phone, task.parameters
    saved, named = phone.save(), {number: title for title, number in ids(phone).items()}
    like_it = [row["id"] for row in data.notes(phone) if row["title"].startswith(wanted["title"])]
    assert len(like_it) == 3
    right = []
    for number in like_it:
        for target, title in named.items():
            phone.load(saved)
            row = data.note(phone, number)
            assert row is not None
            from_there = named[row["parent_id"]]
            data.change_note(phone, number, parent_id=target)
            if task.done(phone):
                right.append((row["title"], from_there, title))
    assert right == [(wanted["title"], wanted["notebook"], wanted["target"])]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_count_is_of_open_todos_of_this_notebook(seed: int) -> None:
    task = NotebookCountOpen(seed)
    phone, wanted = prepared(task).phone, task.parameters
    own = [row for row in wanted["rows"] if row[0] == wanted["notebook"]]
    assert 1 <= wanted["count"] < sum(row[3] for row in own) < len(own)
    for answer in range(12):
        phone.state["answer"] = f"There are {answer}"
        assert task.done(phone) is (answer == wanted["count"])
