"""Tasks on the expense book: solved by touch, and refused where something else was done."""

from __future__ import annotations

import pytest
from checking_tasks import SEEDS, prepared, solved

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.expense_data import add_expense, delete_expenses, expenses
from backtrail.envs.androidworld.tasks import expenses as family
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.expenses import (
    ExpenseAdd,
    ExpenseAddSeveral,
    ExpenseDelete,
    ExpenseDeleteDuplicates,
    ExpenseSpentOn,
)
from backtrail.envs.androidworld.tasks.oracle import Oracle


@pytest.mark.parametrize("kind", family.TASKS)
def test_one_expense_too_many_or_too_few(kind: type[PhoneTask]) -> None:
    task = kind(1)
    phone = solved(task).phone
    saved = phone.save()
    add_expense(phone, "Chewing gum", 99, 3)
    assert not task.done(phone)
    phone.load(saved)
    delete_expenses(phone, [expenses(phone)[0]["expense_id"]])
    assert not task.done(phone)


@pytest.mark.parametrize("place, value", [(0, "Else"), (1, 99), (2, 1), (3, "Else")])
def test_each_part_of_a_new_expense_counts(place: int, value: object) -> None:
    task = ExpenseAdd(0)
    right = list(task.parameters["one"][:4])
    wrong = [*right[:place], value, *right[place + 1 :]]
    for row, done in ((right, True), (wrong, False)):
        phone = prepared(task).phone
        add_expense(phone, *row)
        assert task.done(phone) is done


def test_two_of_three_are_not_enough_and_the_third_can_be_added() -> None:
    task = ExpenseAddSeveral(0)
    backend = prepared(task)
    for name, cents, category, *_ in task.parameters["new"][:2]:
        add_expense(backend.phone, name, cents, category)
    assert not task.done(backend.phone)
    task.solve(Oracle(backend))
    assert task.done(backend.phone)


def number_of(phone: Phone, entry: list[object]) -> list[int]:
    return [row["expense_id"] for row in expenses(phone) if [row["name"], row["amount"]] == entry[:2]]


def test_the_other_of_the_same_name_or_amount() -> None:
    task = ExpenseDelete(0)
    for entry in task.parameters["others"][:2]:
        phone = prepared(task).phone
        delete_expenses(phone, number_of(phone, entry))
        assert not task.done(phone)


def test_both_copies_are_too_many_and_either_will_do() -> None:
    task = ExpenseDeleteDuplicates(0)
    phone = prepared(task).phone
    copies = number_of(phone, task.parameters["one"])
    assert len(copies) == 2
    saved = phone.save()
    for gone, done in ((copies, False), (copies[:1], True), (copies[1:], True)):
        phone.load(saved)
        delete_expenses(phone, gone)
        assert task.done(phone) is done


@pytest.mark.parametrize("seed", SEEDS)
def test_september_does_not_count(seed: int) -> None:
    task = ExpenseSpentOn(seed)
    phone = prepared(task).phone
    category = task.parameters["one"][2]
    rows = [row for row in expenses(phone) if row["category"] == category]
    later = [row for row in rows if row["created_date"] >= 1696118400_000]
    assert len(rows) > len(later) >= 2
    for some, done in ((rows, False), (later, True)):
        phone.state["answer"] = f"${sum(row['amount'] for row in some) / 100:,}"
        assert task.done(phone) is done
