"""Expenses: adding, changing, deleting one or several, sums, statistics."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from touching import Hand, hand_in

from backtrail.envs.androidworld.phone.apps import expense_data as data
from backtrail.envs.androidworld.phone.apps.expense import Expense


@pytest.fixture
def hand() -> Hand:
    return hand_in(Expense())


def fill(hand: Hand, count: int) -> list[int]:
    """Add expenses named Expense 0, 1, ..., one a day backwards, and return their ids."""
    days = [hand.phone.now - timedelta(days=day) for day in range(count)]
    ids = [
        data.add_expense(hand.phone, f"Expense {n}", 1000 + n, n % 11 + 1, created=day) for n, day in enumerate(days)
    ]
    hand.phone.changed()
    return ids


def test_a_new_phone_has_no_expenses(hand: Hand) -> None:
    assert hand.sees("Nothing recorded yet") and hand.texts().count("$0.00") == 2


def test_an_expense_is_added_with_all_its_fields(hand: Hand) -> None:
    hand.tap("Add expense")
    hand.type("Name", "School Supplies")
    hand.type("Amount", "137.5")
    hand.back()
    hand.tap("Education", "Date", "12 October 2023")
    hand.type("Note", "for Emma")
    hand.tap("Save")
    (row,) = data.expenses(hand.phone)
    assert (row["name"], row["amount"], row["category"], row["note"]) == ("School Supplies", 13750, 10, "for Emma")
    assert datetime.fromtimestamp(row["created_date"] / 1000, UTC).date().isoformat() == "2023-10-12"
    assert hand.sees("School Supplies") and hand.sees("- $137.50") and hand.sees("Expense saved")


@pytest.mark.parametrize("amount", ["", "0", "0.00", "twelve", "1.234", "-3", "."])
def test_what_is_no_amount_is_not_saved(hand: Hand, amount: str) -> None:
    hand.tap("Add expense")
    hand.type("Name", "Rent")
    hand.type("Amount", amount)
    hand.tap("Save")
    assert hand.sees("Please enter an amount") and hand.sees("Add Expense") and not data.expenses(hand.phone)


@given(st.integers(1, 999_999_999))
def test_amounts_are_read_as_they_are_written(cents: int) -> None:
    assert data.parse_amount(f"{cents // 100}.{cents % 100:02}") == cents
    assert data.parse_amount(f"{cents / 100}") == cents


def test_an_expense_is_changed(hand: Hand) -> None:
    (number,) = fill(hand, 1)
    before = dict(data.expenses(hand.phone)[0])
    hand.tap("Expense 0", "Edit")
    hand.type("Amount", "20")
    hand.back()
    hand.tap("Food", "Update")
    (row,) = data.expenses(hand.phone)
    assert hand.sees("- $20.00") and hand.sees("Food")
    assert row["modified_date"] > before["modified_date"]
    assert {k for k in row if row[k] != before[k]} == {"amount", "category", "modified_date"}
    assert row["expense_id"] == number


def test_one_is_deleted_after_a_question(hand: Hand) -> None:
    keep = fill(hand, 2)[1]
    hand.tap("Expense 0", "Delete", "Cancel")
    assert len(data.expenses(hand.phone)) == 2
    hand.tap("Delete", "Delete")
    assert [row["expense_id"] for row in data.expenses(hand.phone)] == [keep]
    assert hand.sees("Pro Expense") and not hand.sees("Expense 0")


def test_several_are_chosen_by_a_long_press_and_deleted(hand: Hand) -> None:
    fill(hand, 4)
    hand.tap("Open navigation drawer", "Expense Logs")
    hand.hold("Expense 1")
    hand.tap("Expense 3", "Expense 0", "Expense 0")
    assert hand.sees("2 selected")
    hand.tap("Delete")
    assert hand.sees("Delete 2 expenses? This cannot be undone.")
    hand.tap("Delete")
    assert [row["name"] for row in data.expenses(hand.phone)] == ["Expense 0", "Expense 2"]
    assert hand.sees("Expense Logs")


def test_back_ends_choosing_and_then_leads_home(hand: Hand) -> None:
    fill(hand, 2)
    hand.tap("See all")
    hand.hold("Expense 1")
    assert hand.sees("1 selected")
    hand.back()
    assert hand.sees("Expense Logs") and len(data.expenses(hand.phone)) == 2
    hand.back()
    assert hand.sees("Pro Expense")


def test_select_all(hand: Hand) -> None:
    fill(hand, 30)
    hand.tap("See all")
    hand.hold("Expense 1")
    hand.tap("Select all", "Delete", "Delete")
    assert not data.expenses(hand.phone) and hand.sees("No expenses")


def test_logs_are_sorted_and_filtered(hand: Hand) -> None:
    fill(hand, 13)
    hand.tap("See all")
    assert hand.texts().index("Expense 0") < hand.texts().index("Expense 1")
    hand.tap("Oldest first")
    assert hand.texts().index("Expense 12") < hand.texts().index("Expense 11")
    hand.tap("Filter", "Others")
    assert [text for text in hand.texts() if text.startswith("Expense ")] == ["Expense Logs", "Expense 11", "Expense 0"]


def test_sums_are_of_this_month_and_statistics_of_the_time_that_is_chosen(hand: Hand) -> None:
    for day, cents, category in ((1, 300, 3), (2, 100, 4), (3, 5000, 2), (40, 9900, 3)):
        data.add_expense(hand.phone, f"day {day}", cents, category, created=hand.phone.now - timedelta(days=day))
    hand.phone.changed()
    assert hand.sees("$4.00") and hand.sees("$50.00")
    hand.tap("Open navigation drawer", "Statistics")
    assert hand.sees("$3.00 · 75%") and hand.sees("$1.00 · 25%")
    hand.tap("All")
    assert hand.sees("$102.00 · 99%")


def test_the_currency_is_set(hand: Hand) -> None:
    fill(hand, 1)
    hand.tap("Open navigation drawer", "Settings", "Currency", "Euro")
    hand.back()
    assert hand.sees("- EUR 10.00")


def test_feedback_wants_a_comment_and_a_proper_address(hand: Hand) -> None:
    hand.tap("Open navigation drawer", "Feedback", "Send feedback")
    assert hand.sees("Please write a comment")
    hand.type("Your comment", "fine")
    hand.type("Email", "nobody")
    hand.tap("Send feedback")
    assert hand.sees("This is not an email address")
    hand.type("Email", "a@b.org")
    hand.tap("Send feedback")
    assert hand.sees("Thank you for your feedback")


def test_the_rows_fit_the_table(hand: Hand) -> None:
    fill(hand, 3)
    base = sqlite3.connect(":memory:")
    base.execute(
        "CREATE TABLE expense (expense_id INTEGER PRIMARY KEY, name TEXT, amount INTEGER, category INTEGER, note TEXT, "
        "created_date INTEGER, modified_date INTEGER)"
    )
    columns = [row[1] for row in base.execute("PRAGMA table_info(expense)")]
    assert all(sorted(row) == sorted(columns) for row in data.expenses(hand.phone))


def test_an_expense_that_is_gone_is_said_to_be(hand: Hand) -> None:
    (number,) = fill(hand, 1)
    hand.tap("Expense 0")
    data.delete_expenses(hand.phone, [number])
    hand.phone.changed()
    assert hand.sees("This expense is no longer there.")


def test_there_is_no_twelfth_category(hand: Hand) -> None:
    with pytest.raises(ValueError, match="category from 1 to 11"):
        data.add_expense(hand.phone, "x", 1, 12)
    with pytest.raises(KeyError, match="id of an expense"):
        data.change_expense(hand.phone, 99, "x", 1, 1, "", hand.phone.now)
    assert not data.expenses(hand.phone)
