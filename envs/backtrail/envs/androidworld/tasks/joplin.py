"""Tasks on notes and to-dos in the notebooks of Joplin."""

from __future__ import annotations

import random
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import joplin_data as data
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.words import answered

__all__ = ["TASKS", "NotebookAddTodo", "NotebookCountOpen", "NotebookMoveNote"]

_APP = "Joplin"

_PLACES = ("Allotment", "Choir", "Cellar", "Kitchen", "Library", "Orchestra", "Rowing club", "Workshop")
_MORE = ("archive", "ideas", "2022", "plans")
_DO = ("Call", "Check", "Clean", "Collect", "Fix", "Order", "Paint", "Sort", "Weigh", "Write to")
_WHAT = ("the boxes", "the door", "the lamp", "the list", "the neighbours", "the paper", "the shelf", "the tools")
_BODIES = (
    "Ask first whether it is still needed.", "Best done in the morning.", "It took two hours last time.", "Not urgent.",
    "The key is under the bench.", "Take a photo of it before.", "Needs:\n- gloves\n- a bucket\n- patience",
)  # fmt: skip

Entry = list[Any]
"""Notebook, title, body, whether it is a to-do, whether that is done."""


def kept(phone: Phone) -> list[Entry]:
    """Return all notes, sorted, with single spaces in their texts; none may lie in the trash."""
    named = {row["id"]: row["title"] for row, _ in data.folders(phone)}
    rows = phone.data(data.KEY)["notes"]
    found = [
        [named.get(row["parent_id"], ""), row["title"].strip(), " ".join(row["body"].split()), bool(row["is_todo"]),
         bool(row["todo_completed"])]
        for row in rows
    ]  # fmt: skip
    return sorted(found + [["trash", row["title"], "", False, False] for row in data.thrown_away(phone)])


class _Notebooks(PhoneTask):
    """Some notebooks are there, two of them with near-equal names; the first is meant."""

    family = "notebooks"
    apps = (_APP,)
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw notebooks and what is in them; no two entries have the same title."""
        places = rng.sample(_PLACES, 4)
        notebooks = [places[0], f"{places[0]} {rng.choice(_MORE)}", *places[1:]]
        titles = [f"{do} {what}" for do in _DO for what in _WHAT]
        rng.shuffle(titles)
        counts = [rng.randint(5, 7), *(rng.randint(2, 4) for _ in notebooks[1:])]
        rows = [
            draw_entry(rng, name, titles.pop())
            for name, count in zip(notebooks, counts, strict=True)
            for _ in range(count)
        ]
        return {"notebook": notebooks[0], "notebooks": notebooks, "rows": rows, "title": titles.pop()}

    def prepare(self, phone: Phone) -> None:
        """Make the notebooks and write everything down."""
        ids = {name: data.add_folder(phone, name) for name in self.parameters["notebooks"]}
        for name, title, body, todo, done in self.parameters["rows"]:
            data.add_note(phone, ids[name], title, body, is_todo=todo, done=done)

    def are(self, phone: Phone, rows: list[Entry]) -> bool:
        """Whether just these entries are there, in just these notebooks."""
        names = sorted(row["title"] for row, _ in data.folders(phone))
        wanted = sorted([name, title, " ".join(body.split()), *marks] for name, title, body, *marks in rows)
        return kept(phone) == wanted and names == sorted(self.parameters["notebooks"])


def draw_entry(rng: random.Random, notebook: str, title: str) -> Entry:
    """Return a note or a to-do."""
    todo = rng.random() < 0.6
    return [notebook, title, rng.choice(_BODIES), todo, todo and rng.random() < 0.4]


class NotebookAddTodo(_Notebooks):
    """Write a to-do down."""

    template = 'Add a to-do to the notebook "{notebook}" in Joplin: its title is "{title}" and its text "{body}"'

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a text of one line."""
        return {**super().draw(rng), "body": rng.choice(_BODIES[:-1])}

    def done(self, phone: Phone) -> bool:
        """There is one more open to-do, and nothing else has changed."""
        wanted = self.parameters
        return self.are(phone, [*wanted["rows"], [wanted["notebook"], wanted["title"], wanted["body"], True, False]])

    def solve(self, oracle: Oracle) -> None:
        """Begin it in the list of the notebook."""
        oracle.open(_APP)
        oracle.tap("Sidebar", self.parameters["notebook"], "Add new", "New to-do")
        oracle.type("Add to-do title", self.parameters["title"])
        oracle.type("Add body", self.parameters["body"])
        oracle.tap("Save")


class NotebookMoveNote(_Notebooks):
    """Move a note, but not the one of the same title in another notebook."""

    template = 'In Joplin, move "{title}" from the notebook "{notebook}" to the notebook "{target}".'

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Let the notebook with the near-equal name have an entry of the same title, and the own one a longer title."""
        drawn = super().draw(rng)
        first, second, *others = drawn["notebooks"]
        title, body = drawn["title"], rng.choice(_BODIES)
        one = [first, title, body, False, False]
        more = [[second, title, body, False, False], [first, f"{title} again", body, False, False]]
        return {**drawn, "rows": [*drawn["rows"], *more, one], "one": one, "target": rng.choice(others)}

    def done(self, phone: Phone) -> bool:
        """It lies in the other notebook, and nothing else has changed."""
        rows, one = self.parameters["rows"], self.parameters["one"]
        return self.are(phone, [*rows[:-1], [self.parameters["target"], *one[1:]]])

    def solve(self, oracle: Oracle) -> None:
        """Choose the notebook on the page of the note."""
        wanted = self.parameters
        oracle.open(_APP)
        oracle.tap("Sidebar", wanted["notebook"], wanted["title"], "Move to notebook", wanted["target"])


class NotebookCountOpen(_Notebooks):
    """Say how many to-dos are open."""

    template = (
        'How many to-dos in the notebook "{notebook}" in Joplin are not ticked off yet? Answer with the number alone.'
    )
    steps = 10
    answers = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Let there be to-dos of both kinds and a plain note in the notebook."""
        drawn = super().draw(rng)
        own = [row for row in drawn["rows"] if row[0] == drawn["notebook"]]
        for row, marks in zip(own, ([True, False], [True, True], [False, False]), strict=False):
            row[3:] = marks
        return {**drawn, "count": sum(todo and not done for *_, todo, done in own)}

    def done(self, phone: Phone) -> bool:
        """The answer is the number, and nothing has changed."""
        return answered(phone, str(self.parameters["count"])) and self.are(phone, self.parameters["rows"])

    def solve(self, oracle: Oracle) -> None:
        """Count the boxes that are not ticked in the list of the notebook."""
        oracle.open(_APP)
        oracle.tap("Sidebar", self.parameters["notebook"])
        boxes = [each for each in oracle.backend.elements() if each.class_name.endswith("CheckBox")]
        oracle.answer(str(sum(not each.checked for each in boxes)))


TASKS: tuple[type[PhoneTask], ...] = (NotebookAddTodo, NotebookCountOpen, NotebookMoveNote)
