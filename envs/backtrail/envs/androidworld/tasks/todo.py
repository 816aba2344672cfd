"""Tasks on the to-do list."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.todo import (
    PRIORITIES,
    add_task,
    complete,
    day_of,
    due_ms,
    tasks,
)
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.words import answered, day_words, draw_day

__all__ = ["TASKS", "TasksAdd", "TasksComplete", "TasksDelete", "TasksHowManyDue", "TasksPostpone"]

_APP = "Tasks"

_VERBS = ("Buy", "Check", "Clean", "Collect", "Fix", "Move", "Paint", "Return", "Sell", "Sort")
_THINGS = (
    "the bicycle",
    "the books",
    "the boxes",
    "the camera",
    "the curtains",
    "the garden chairs",
    "the ladder",
    "the skis",
)
_NOTES = (
    "Ask the neighbour first",
    "Before the guests come",
    "It has to be done by daylight",
    "Twice, to be sure",
    "Not urgent",
)

Entry = list[Any]
"""Title, day it is due ("" for none), priority (0 high to 3 none), description, and whether it is completed."""


def to_do(phone: Phone) -> list[Entry]:
    """Return all tasks, sorted."""
    return sorted(
        [row["title"], day_of(row["dueDate"]).isoformat() if row["dueDate"] else "", row["importance"],
         (row["notes"] or "").strip(), bool(row["completed"])]
        for row in tasks(phone)
    )  # fmt: skip


class _ToDo(PhoneTask):
    """Some tasks are there, one of which is meant."""

    family = "tasks"
    apps = (_APP,)
    steps = 10

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the task that is meant and others, of which one has its verb and one its thing."""
        verbs, things = rng.sample(_VERBS, 7), rng.sample(_THINGS, 7)
        verbs[1], things[2] = verbs[0], things[0]
        rows: list[Entry] = []
        for verb, thing in zip(verbs, things, strict=True):
            day = draw_day(rng, -4, 12).isoformat() if rng.random() < 0.8 else ""
            rows.append([f"{verb} {thing}", day, rng.randrange(4), rng.choice(("", *_NOTES)), False])
        return {"title": rows[0][0], "one": rows[0], "others": rows[1:]}

    def prepare(self, phone: Phone) -> None:
        """Add all of them, in the order of their titles."""
        self.put(phone, [self.parameters["one"], *self.parameters["others"]])

    def put(self, phone: Phone, rows: list[Entry]) -> None:
        """Add tasks."""
        for title, day, importance, notes, done in sorted(rows):
            due = due_ms(date.fromisoformat(day)) if day else 0
            number = add_task(phone, title, due=due, importance=importance, notes=notes)
            if done:
                complete(phone, number)

    def are(self, phone: Phone, *first: Entry) -> bool:
        """Whether just the other tasks and these are there."""
        return to_do(phone) == sorted([*first, *self.parameters["others"]])


class TasksAdd(_ToDo):
    """Add a task with a day and a priority; tasks with near-equal titles are there."""

    template = (
        'Add a task in the Tasks app: "{title}", due on {words}, with {level} priority and the description "{notes}".'
    )
    steps = 25

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw what is added."""
        drawn = super().draw(rng)
        day, level, notes = draw_day(rng), rng.randrange(3), rng.choice(_NOTES)
        one = [drawn["title"], day.isoformat(), level, notes, False]
        return {**drawn, "one": one, "words": day_words(day), "level": PRIORITIES[level].lower(), "notes": notes}

    def prepare(self, phone: Phone) -> None:
        """Add the others."""
        self.put(phone, self.parameters["others"])

    def done(self, phone: Phone) -> bool:
        """There is one more task, with all this."""
        return self.are(phone, self.parameters["one"])

    def solve(self, oracle: Oracle) -> None:
        """Fill in the form."""
        title, day, level, notes, _ = self.parameters["one"]
        oracle.open(_APP)
        oracle.tap("Create new task")
        oracle.type("title", title)
        oracle.tap("No due date")
        _pick_day(oracle, date.fromisoformat(day))
        oracle.tap(f"Priority {PRIORITIES[level]}")
        oracle.type("notes", notes)
        oracle.tap("Save")


class TasksComplete(_ToDo):
    """Tick a task off."""

    template = 'Mark the task "{title}" as completed in the Tasks app.'

    def done(self, phone: Phone) -> bool:
        """The task is completed, and no other."""
        *one, _ = self.parameters["one"]
        return self.are(phone, [*one, True])

    def solve(self, oracle: Oracle) -> None:
        """Tap its box."""
        oracle.open(_APP)
        oracle.tap(f"Complete {self.parameters['title']}")


class TasksDelete(_ToDo):
    """Delete a task."""

    template = 'Delete the task "{title}" in the Tasks app. Do not complete it.'

    def done(self, phone: Phone) -> bool:
        """The task is gone, and no other."""
        return self.are(phone)

    def solve(self, oracle: Oracle) -> None:
        """Use what a long press offers."""
        oracle.open(_APP)
        oracle.hold(self.parameters["title"])
        oracle.tap("Delete")


class TasksPostpone(_ToDo):
    """Let a task be due some days later."""

    template = 'In the Tasks app, move the due date of the task "{title}" to {days} days later than it is set to.'
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw when it is due and for how many days it is postponed."""
        drawn = super().draw(rng)
        day, days = draw_day(rng, 1, 12), rng.choice((2, 3, 5, 7, 10))
        drawn["one"][1] = day.isoformat()
        return {**drawn, "days": days, "later": (day + timedelta(days=days)).isoformat()}

    def done(self, phone: Phone) -> bool:
        """The task has the new day; everything else is as it was."""
        title, _, *rest = self.parameters["one"]
        return self.are(phone, [title, self.parameters["later"], *rest])

    def solve(self, oracle: Oracle) -> None:
        """Open the task and pick the day."""
        oracle.open(_APP)
        oracle.tap(self.parameters["title"], "Due date")
        _pick_day(oracle, date.fromisoformat(self.parameters["later"]))
        oracle.tap("Save")


class TasksHowManyDue(_ToDo):
    """Say how many tasks are due on a day."""

    template = "How many open tasks are due on {words} in the Tasks app? Answer with the number alone."
    answers = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a day; let some open tasks be due on it, a completed one, and others on the days around it."""
        drawn, day = super().draw(rng), draw_day(rng, 1, 12)
        count = rng.randint(2, 5)
        rows = [drawn["one"], *drawn["others"]]
        for place, row in enumerate(rows):
            off = 0 if place <= count else rng.choice((-2, -1, 1, 2))
            row[1] = (day + timedelta(days=off)).isoformat()
        rows[count][4] = True
        return {**drawn, "count": count, "words": day_words(day)}

    def done(self, phone: Phone) -> bool:
        """The answer is the number, and no task was changed."""
        return answered(phone, str(self.parameters["count"])) and self.are(phone, self.parameters["one"])

    def solve(self, oracle: Oracle) -> None:
        """Look at all of them."""
        oracle.open(_APP)
        for title, *_, done in [self.parameters["one"], *self.parameters["others"]]:
            if not done:
                oracle.find(title)
        oracle.answer(str(self.parameters["count"]))


def _pick_day(oracle: Oracle, day: date) -> None:
    """Choose a day for a task whose form shows what can be chosen."""
    oracle.tap("Pick a date")
    name = f"{day.day} {day:%B %Y}"
    for _ in range(3):
        if oracle.sees(name):
            break
        oracle.tap("Next month")
    oracle.tap(name)


TASKS: tuple[type[PhoneTask], ...] = (TasksAdd, TasksComplete, TasksDelete, TasksHowManyDue, TasksPostpone)
