"""Tasks on the to-do list: solved by touch, and refused where something else was done."""

from __future__ import annotations

from datetime import date

import pytest
from checking_tasks import SEEDS, prepared, solved

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.todo import add_task, complete, delete_task, due_ms, tasks
from backtrail.envs.androidworld.tasks import todo as family
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.todo import TasksAdd, TasksComplete, TasksDelete, TasksHowManyDue, TasksPostpone


@pytest.mark.parametrize("kind", family.TASKS)
def test_one_task_too_many_or_too_few(kind: type[PhoneTask]) -> None:
    task = kind(1)
    phone = solved(task).phone
    saved = phone.save()
    add_task(phone, "Something else")
    assert not task.done(phone)
    phone.load(saved)
    delete_task(phone, tasks(phone)[0]["_id"])
    assert not task.done(phone)


def test_the_day_the_priority_and_the_description_count() -> None:
    task = TasksAdd(0)
    title, day, level, notes, _ = task.parameters["one"]
    due = due_ms(date.fromisoformat(day))
    for values, right in (
        ({}, True),
        ({"due": due + 86_400_000}, False),
        ({"importance": 3}, False),
        ({"notes": "Else"}, False),
    ):
        phone = prepared(task).phone
        add_task(phone, title, **{"due": due, "importance": level, "notes": notes, **values})
        assert task.done(phone) is right


def number_of(phone: Phone, title: str) -> int:
    return next(row["_id"] for row in tasks(phone) if row["title"] == title)


def test_completing_is_not_deleting() -> None:
    task, other = TasksDelete(0), TasksComplete(0)
    phone = prepared(task).phone
    complete(phone, number_of(phone, task.parameters["title"]))
    assert not task.done(phone)
    phone = prepared(other).phone
    delete_task(phone, number_of(phone, other.parameters["title"]))
    assert not other.done(phone)


def test_a_task_with_the_same_verb_is_another() -> None:
    task = TasksComplete(0)
    phone = prepared(task).phone
    complete(phone, number_of(phone, task.parameters["others"][0][0]))
    assert not task.done(phone)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_completed_is_not_counted(seed: int) -> None:
    task = TasksHowManyDue(seed)
    phone = prepared(task).phone
    day = due_ms(date.fromisoformat(task.parameters["one"][1]))
    due = [row for row in tasks(phone) if row["dueDate"] == day]
    assert len(due) == task.parameters["count"] + 1 and sum(bool(row["completed"]) for row in due) == 1
    for count in range(9):
        phone.state["answer"] = f"There are {count}."
        assert task.done(phone) is (count == task.parameters["count"])


def test_postponing_once_more_is_too_late() -> None:
    task = TasksPostpone(0)
    phone = solved(task).phone
    row = next(row for row in tasks(phone) if row["title"] == task.parameters["title"])
    row["dueDate"] += 86_400_000
    assert not task.done(phone)
