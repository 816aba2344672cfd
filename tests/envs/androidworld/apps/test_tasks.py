"""Tasks.org by touch; the rows are those of its database."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from touching import Hand

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.tasks import Tasks
from backtrail.envs.androidworld.phone.apps.todo import (
    add_list,
    add_task,
    complete,
    day_of,
    delete_task,
    due_ms,
    fresh,
    has_time,
    list_of,
    lists,
    move,
    save_task,
    task,
    tasks,
)


@pytest.fixture
def hand() -> Hand:
    phone = Phone([Launcher(), Tasks()])
    phone.launch("tasks")
    return Hand(phone)


def titles(phone: Phone) -> list[str]:
    return [row["title"] for row in tasks(phone)]


def test_it_begins_empty(hand: Hand) -> None:
    assert hand.sees("No tasks here") and hand.sees("My Tasks")
    assert hand.phone.activity == "org.tasks/com.todoroo.astrid.activity.MainActivity"


def test_a_task_is_made_with_all_its_parts(hand: Hand) -> None:
    hand.tap("Create new task")
    hand.type("Task name", "Buy milk")
    hand.phone.enter()
    hand.tap("No due date", "Pick a date", "20 October 2023", "No time", "Pick a time", "14 hours", "30 minutes", "OK")
    hand.tap("No start date", "Day before due", "Priority High")
    hand.type("Description", "Two litres")
    hand.tap("Save")
    (row,) = tasks(hand.phone)
    assert (row["title"], row["importance"], row["notes"], row["completed"]) == ("Buy milk", 0, "Two litres", 0)
    assert row["dueDate"] == round(datetime(2023, 10, 20, 14, 30, 1, tzinfo=UTC).timestamp()) * 1000
    assert row["hideUntil"] == round(datetime(2023, 10, 19, tzinfo=UTC).timestamp()) * 1000
    assert row["created"] == row["modified"] == (hand.phone.state["now"] - 1) * 1000
    assert hand.sees("No tasks here")  # it has not begun
    hand.tap("More options", "Show unstarted")
    assert hand.sees("Buy milk") and hand.sees("Fri, Oct 20, 14:30") and hand.sees("High priority")


def test_a_date_without_a_time_is_at_noon(hand: Hand) -> None:
    hand.tap("Create new task")
    hand.type("Task name", "Call")
    hand.tap("No due date", "Tomorrow", "Save")
    (row,) = tasks(hand.phone)
    assert row["dueDate"] == round(datetime(2023, 10, 16, 12, tzinfo=UTC).timestamp()) * 1000 and row["importance"] == 2
    hand.tap("Call", "Monday, October 16, 2023", "No date", "Save")
    assert tasks(hand.phone)[0]["dueDate"] == 0 and hand.sees("No due date")


def test_a_task_needs_a_name(hand: Hand) -> None:
    hand.tap("Create new task", "Save")
    assert hand.sees("Enter a name for the task") and tasks(hand.phone) == []
    hand.tap("Discard")
    assert hand.sees("No tasks here")


def test_leaving_a_changed_form_asks_first(hand: Hand) -> None:
    number = add_task(hand.phone, "Call")
    hand.phone.launch("tasks")
    hand.tap("Call", "Priority High", "Discard", "Keep editing")
    assert hand.sees("Edit task")
    hand.tap("Discard", "Discard")
    row = task(hand.phone, number)
    assert row is not None and row["importance"] == 2 and hand.sees("Call")


def test_ticking_off_and_showing_completed(hand: Hand) -> None:
    add_task(hand.phone, "Call")
    hand.phone.launch("tasks")
    hand.tap("Complete Call")
    assert tasks(hand.phone)[0]["completed"] == (hand.phone.state["now"] - 1) * 1000 and hand.sees("Task completed")
    assert not hand.sees("Call")
    hand.tap("More options", "Show completed")
    assert hand.sees("Completed") and hand.sees("Call")
    hand.tap("Complete Call")
    assert tasks(hand.phone)[0]["completed"] == 0
    hand.tap("Complete Call", "More options", "Clear completed", "Delete")
    assert tasks(hand.phone) == []


def test_tasks_stand_below_their_day(hand: Hand) -> None:
    add_task(hand.phone, "Later", due=due_ms(date(2023, 10, 24)))
    add_task(hand.phone, "Soon", due=due_ms(date(2023, 10, 16)))
    add_task(hand.phone, "Now", due=due_ms(date(2023, 10, 15), time(18)))
    add_task(hand.phone, "Late", due=due_ms(date(2023, 10, 10)))
    add_task(hand.phone, "Never")
    hand.phone.launch("tasks")
    texts = [text for text in hand.texts() if text not in ("My Tasks", "15:34")]
    assert texts == [
        "Overdue", "Late", "Tue, Oct 10", "Today", "Now", "Today, 18:00", "Tomorrow", "Soon", "Tomorrow", "Tue, Oct 24",
        "Later", "Tue, Oct 24", "No due date", "Never",
    ]  # fmt: skip


def test_sorting(hand: Hand) -> None:
    add_task(hand.phone, "B", importance=0)
    add_task(hand.phone, "A", importance=3)
    hand.phone.launch("tasks")
    hand.tap("Sort", "Title")
    assert hand.texts().index("A") < hand.texts().index("B")
    hand.tap("Sort", "Priority")
    assert hand.texts().index("B") < hand.texts().index("A") and hand.sees("No priority")


def test_deleting_asks_first(hand: Hand) -> None:
    add_task(hand.phone, "Call")
    add_task(hand.phone, "Write")
    hand.phone.launch("tasks")
    hand.tap("Call", "Delete task", "Cancel")
    assert titles(hand.phone) == ["Call", "Write"]
    hand.tap("Delete task", "Delete")
    assert titles(hand.phone) == ["Write"]
    hand.hold("Write")
    hand.tap("Delete")
    assert tasks(hand.phone) == []


def test_lists(hand: Hand) -> None:
    hand.tap("Menu", "Create new list", "Save")
    assert hand.sees("Enter a name")
    hand.type("Display name", "Default list")
    hand.tap("Save")
    assert hand.sees("This name is taken")
    hand.type("Display name", "Work")
    hand.tap("Save", "Create new task")
    hand.type("Task name", "Report")
    hand.tap("Save")
    assert hand.sees("Report") and list_of(hand.phone, tasks(hand.phone)[0]["_id"]) == "Work"
    hand.tap("Report", "Work", "Default list", "Save")
    assert hand.sees("No tasks here") and list_of(hand.phone, tasks(hand.phone)[0]["_id"]) == "Default list"
    move(hand.phone, tasks(hand.phone)[0]["_id"], "Work")
    hand.tap("Menu", "Work", "More options", "Delete list", "Delete")
    assert lists(hand.phone) == ["Default list"] and tasks(hand.phone) == [] and hand.sees("My Tasks")


def test_today_has_what_is_due(hand: Hand) -> None:
    add_task(hand.phone, "Soon", due=due_ms(date(2023, 10, 16)))
    add_task(hand.phone, "Now", due=due_ms(date(2023, 10, 15)))
    hand.phone.launch("tasks")
    hand.tap("Menu", "Today")
    assert hand.sees("Now") and not hand.sees("Soon")


def test_searching_titles_and_notes(hand: Hand) -> None:
    add_task(hand.phone, "Call", notes="about the PARTY")
    complete(hand.phone, add_task(hand.phone, "Write to Ada"))
    hand.phone.launch("tasks")
    hand.tap("Search")
    hand.type("Search tasks", "party")
    assert hand.sees("Call") and not hand.sees("Write to Ada")
    hand.type("Search tasks", "ada")
    hand.tap("Write to Ada")
    assert hand.sees("Edit task")
    hand.back()
    hand.type("Search tasks", "zzz")
    assert hand.sees("No matching tasks")


def test_a_task_that_repeats_is_due_again(hand: Hand) -> None:
    add_task(hand.phone, "Water", due=due_ms(date(2023, 10, 31)))
    hand.phone.launch("tasks")
    hand.tap("Water", "Does not repeat", "Every month", "Save", "Complete Water")
    (row,) = tasks(hand.phone)
    assert day_of(row["dueDate"]) == date(2023, 11, 30) and row["completed"] == 0 and hand.sees("Rescheduled")


def test_a_long_title_is_seen_whole(hand: Hand) -> None:
    title = "Read the very long book about the history of everything that there is in the world and beyond it"
    add_task(hand.phone, title)
    hand.phone.launch("tasks")
    assert hand.sees(title)


def test_functions_check_what_they_get(hand: Hand) -> None:
    for wrong in (
        lambda: add_task(hand.phone, " "),
        lambda: add_list(hand.phone, "Today"),
        lambda: save_task(hand.phone, 0, {"title": ""}),
    ):
        with pytest.raises(ValueError, match="Expected"):
            wrong()
    number = add_task(hand.phone, "Call")
    with pytest.raises(ValueError, match="Expected one of the lists"):
        move(hand.phone, number, "Nowhere")
    delete_task(hand.phone, number)
    assert hand.phone.data("tasks") == fresh()


@given(st.dates(date(2000, 1, 1), date(2099, 1, 1)), st.none() | st.times())
def test_due_dates_keep_the_day_and_say_whether_they_have_a_time(day: date, clock: time | None) -> None:
    clock = clock.replace(second=0, microsecond=0, tzinfo=None) if clock is not None else None
    ms = due_ms(day, clock)
    assert day_of(ms) == day and has_time(ms) == (clock is not None)
