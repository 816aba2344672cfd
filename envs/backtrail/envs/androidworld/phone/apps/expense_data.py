"""The data of the expense app: rows with the columns of its ``expense`` table."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "CATEGORIES",
    "INCOME",
    "KEY",
    "Row",
    "add_expense",
    "change_expense",
    "day_of",
    "delete_expenses",
    "expense",
    "expenses",
    "money",
    "parse_amount",
    "totals",
]

KEY = "expense"

Row = dict[str, Any]
"""expense_id, name, amount (cents), category, note, created_date and modified_date (milliseconds)."""

CATEGORIES = {
    1: "Others",
    2: "Income",
    3: "Food",
    4: "Housing",
    5: "Social",
    6: "Entertainment",
    7: "Transportation",
    8: "Clothes",
    9: "Health Care",
    10: "Education",
    11: "Donation",
}
"""Label by number."""

INCOME = 2
"""The category that counts as earned, not as spent."""

_AMOUNT = re.compile(r"\d{1,7}([.,]\d{1,2})?")


def expenses(phone: Phone) -> list[Row]:
    """Return all rows, the newest first."""
    return sorted(phone.data(KEY)["expense"], key=lambda row: (-row["created_date"], -row["expense_id"]))


def expense(phone: Phone, number: int) -> Row | None:
    """Return the row with an id; None if there is none."""
    return next((row for row in phone.data(KEY)["expense"] if row["expense_id"] == number), None)


def add_expense(
    phone: Phone, name: str, amount: int, category: int, note: str = "", created: datetime | None = None
) -> int:
    """Add an expense and return its id.

    Args:
        phone: The phone.
        name: What it was for.
        amount: In cents.
        category: A number of `CATEGORIES`.
        note: A longer text.
        created: When it was (UTC); now by default.

    Raises:
        ValueError: If there is no such category.
    """
    _check(category)
    now = round(phone.now.timestamp() * 1000)
    row = {
        "expense_id": phone.new_id(),
        "name": name,
        "amount": amount,
        "category": category,
        "note": note,
        "created_date": now if created is None else round(created.timestamp() * 1000),
        "modified_date": now,
    }
    phone.data(KEY)["expense"].append(row)
    return row["expense_id"]


def change_expense(
    phone: Phone, number: int, name: str, amount: int, category: int, note: str, created: datetime
) -> None:
    """Change an expense; the arguments are those of `add_expense`.

    Raises:
        KeyError: If there is no such expense.
        ValueError: If there is no such category.
    """
    _check(category)
    row = expense(phone, number)
    if row is None:
        raise KeyError(f"Expected the id of an expense, got {number}")
    row.update(name=name, amount=amount, category=category, note=note, created_date=round(created.timestamp() * 1000))
    row["modified_date"] = round(phone.now.timestamp() * 1000)


def delete_expenses(phone: Phone, numbers: Collection[int]) -> None:
    """Delete the expenses with some ids."""
    data = phone.data(KEY)
    data["expense"] = [row for row in data["expense"] if row["expense_id"] not in numbers]


def totals(rows: Collection[Row]) -> dict[int, int]:
    """Return cents by category, the largest first."""
    sums: dict[int, int] = {}
    for row in rows:
        sums[row["category"]] = sums.get(row["category"], 0) + row["amount"]
    return dict(sorted(sums.items(), key=lambda item: (-item[1], item[0])))


def day_of(row: Row) -> datetime:
    """Return when an expense was (UTC)."""
    return datetime.fromtimestamp(row["created_date"] / 1000, UTC)


def parse_amount(text: str) -> int | None:
    """Return cents for an amount that was typed, e.g. "12.5"; None if it is none, or zero."""
    text = text.strip()
    if not _AMOUNT.fullmatch(text):
        return None
    whole, _, part = text.replace(",", ".").partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0")) or None


def money(phone: Phone, cents: int) -> str:
    """Return an amount in the currency that is set."""
    return f"{phone.data(KEY)['currency']}{cents // 100:,}.{cents % 100:02}"


def _check(category: int) -> None:
    if category not in CATEGORIES:
        raise ValueError(f"Expected a category from 1 to {len(CATEGORIES)}, got {category}")
