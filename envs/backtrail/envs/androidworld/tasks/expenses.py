"""Tasks on the expense book."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.expense_data import CATEGORIES, add_expense, expenses, money
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.words import answered

__all__ = [
    "TASKS",
    "ExpenseAdd",
    "ExpenseAddSeveral",
    "ExpenseDelete",
    "ExpenseDeleteDuplicates",
    "ExpenseSpentOn",
    "add_by_form",
    "draw_expenses",
    "put_expenses",
    "spent",
]

_APP = "Pro Expense"

_NAMES = {
    "Bakery": 3, "Greengrocer": 3, "Pizza": 3, "Rent": 4, "Light bulbs": 4, "Electricity": 4, "Birthday gift": 5, "Picnic": 5,
    "Cinema": 6, "Board game": 6, "Concert": 6, "Tram ticket": 7, "Fuel": 7, "Ferry": 7, "Raincoat": 8, "Shoes": 8,
    "Pharmacy": 9, "Dentist": 9, "Evening class": 10, "Textbook": 10, "Flood relief": 11, "Animal shelter": 11,
}  # fmt: skip
_NOTES = ("Paid by card", "Cash", "For both of us", "Half of it is a deposit", "Special offer", "Once a year")

Entry = list[Any]
"""Name, cents, category, note and when (ISO, UTC; "" for whenever it is written down)."""


def draw_expenses(rng: random.Random, count: int) -> list[Entry]:
    """Return expenses with different names from the first half of October."""
    rows: list[Entry] = []
    for name in rng.sample(list(_NAMES), count):
        then = datetime(2023, 10, rng.randint(1, 14), rng.randrange(24), rng.randrange(60), tzinfo=UTC)
        rows.append([name, rng.randrange(150, 25000), _NAMES[name], rng.choice(("", *_NOTES)), then.isoformat()])
    return rows


def put_expenses(phone: Phone, rows: list[Entry]) -> None:
    """Write expenses down."""
    for name, cents, category, note, then in rows:
        add_expense(phone, name, cents, category, note, datetime.fromisoformat(then))


def spent(phone: Phone, known: list[Entry]) -> list[Entry]:
    """Return all expenses, sorted; those that are not among the known ones without their time."""
    left, found = [list(row) for row in known], []
    for row in expenses(phone):
        then = datetime.fromtimestamp(row["created_date"] / 1000, UTC).isoformat()
        entry = [row["name"].strip(), row["amount"], row["category"], row["note"].strip(), then]
        if entry in left:
            left.remove(entry)
        else:
            entry[-1] = ""
        found.append(entry)
    return sorted(found)


def add_by_form(oracle: Oracle, entry: Entry) -> None:
    """Add an expense in the app."""
    name, cents, category, note, _ = entry
    oracle.open(_APP)
    oracle.tap("Add expense")
    oracle.type("Name", name)
    oracle.type("Amount", _plain(cents))
    oracle.tap(CATEGORIES[category])
    if note:
        oracle.type("Note", note)
    oracle.tap("Save")


def _plain(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


def _delete(oracle: Oracle, entry: Entry) -> None:
    """Delete an expense in the log, which is found by name and amount."""
    oracle.open(_APP)
    oracle.tap("See all")
    shown = f"- {money(oracle.phone, entry[1])}"
    place = oracle.place(
        lambda e: (
            e.text == entry[0]
            and any(o.text == shown and o.bounds[1] <= e.center[1] < o.bounds[3] for o in oracle.backend.elements())
        ),
        f"{entry[0]} {shown}",
    )
    oracle.do("click", index=place)
    oracle.tap("Delete", "Delete")


class _Expense(PhoneTask):
    """Some expenses are written down."""

    family = "expense"
    apps = (_APP,)

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw an expense that is meant and others, of which one has its name and another its amount."""
        one, same, other, *more = draw_expenses(rng, rng.randint(8, 14))
        same[0], same[2], other[1] = one[0], one[2], one[1]
        same[1] = one[1] + rng.choice((-30, 100, 255))
        return {"name": one[0], "amount": f"${_plain(one[1])}", "one": one, "others": [same, other, *more]}

    def prepare(self, phone: Phone) -> None:
        """Write all of them down, by time."""
        put_expenses(phone, sorted([self.parameters["one"], *self.parameters["others"]], key=lambda row: row[-1]))

    def are(self, phone: Phone, *more: Entry) -> bool:
        """Whether just the other expenses and these are written down."""
        rows = [*self.parameters["others"], *more]
        return spent(phone, rows) == sorted(rows)


class ExpenseAdd(_Expense):
    """Write an expense down; one of the same name is there."""

    template = (
        'Add an expense in Pro Expense: name "{name}", amount {amount}, category {category} and note "{note}". '
        "The date does not matter."
    )
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Let the expense have a note."""
        drawn = super().draw(rng)
        drawn["one"][3:] = [rng.choice(_NOTES), ""]
        return {**drawn, "category": CATEGORIES[drawn["one"][2]], "note": drawn["one"][3]}

    def prepare(self, phone: Phone) -> None:
        """Write the others down."""
        put_expenses(phone, self.parameters["others"])

    def done(self, phone: Phone) -> bool:
        """There is one more expense, with all this."""
        return self.are(phone, self.parameters["one"])

    def solve(self, oracle: Oracle) -> None:
        """Fill in the form."""
        add_by_form(oracle, self.parameters["one"])


class ExpenseAddSeveral(_Expense):
    """Write three expenses down."""

    template = (
        "Add these expenses in Pro Expense, given as name | amount | category, without notes: {listed}. "
        "The date does not matter."
    )
    steps = 40

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw three and others."""
        rows = draw_expenses(rng, 9)
        new = [[name, cents, category, "", ""] for name, cents, category, *_ in rows[:3]]
        listed = "; ".join(f"{name} | ${_plain(cents)} | {CATEGORIES[kind]}" for name, cents, kind, *_ in new)
        return {"listed": listed, "new": new, "others": rows[3:]}

    def prepare(self, phone: Phone) -> None:
        """Write the others down."""
        put_expenses(phone, self.parameters["others"])

    def done(self, phone: Phone) -> bool:
        """There are just these three more."""
        return self.are(phone, *self.parameters["new"])

    def solve(self, oracle: Oracle) -> None:
        """Fill in the form for each that is not there yet."""
        have = spent(oracle.phone, self.parameters["others"])
        for entry in self.parameters["new"]:
            if entry not in have:
                add_by_form(oracle, entry)


class ExpenseDelete(_Expense):
    """Delete one expense of two with the same name."""

    template = "Delete the expense {name} of {amount} from Pro Expense, and no other."
    steps = 15

    def done(self, phone: Phone) -> bool:
        """The expense is gone, and no other."""
        return self.are(phone)

    def solve(self, oracle: Oracle) -> None:
        """Find it in the log."""
        _delete(oracle, self.parameters["one"])


class ExpenseDeleteDuplicates(_Expense):
    """Delete the second copy of what was written down twice."""

    template = (
        "Some expense was entered twice by mistake in Pro Expense: two entries are equal in name, amount, category, note and "
        "date. Delete one of the two, so that each expense is there once."
    )
    steps = 15

    def prepare(self, phone: Phone) -> None:
        """Write one of them down twice."""
        super().prepare(phone)
        put_expenses(phone, [self.parameters["one"]])

    def done(self, phone: Phone) -> bool:
        """Each expense is there once."""
        return self.are(phone, self.parameters["one"])

    def solve(self, oracle: Oracle) -> None:
        """Find it in the log."""
        _delete(oracle, self.parameters["one"])


class ExpenseSpentOn(_Expense):
    """Say how much was spent on a category."""

    template = "How much did I spend on {category} in October 2023, by Pro Expense? Answer with the amount alone."
    steps = 10
    answers = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Let the category of the expense that is meant have at least two, and some expense be of September."""
        drawn = super().draw(rng)
        one, others = drawn["one"], drawn["others"]
        others[-1][2], others[-1][4] = one[2], datetime(2023, 9, rng.randint(1, 30), 12, tzinfo=UTC).isoformat()
        cents = sum(row[1] for row in [one, *others[:-1]] if row[2] == one[2])
        return {**drawn, "category": CATEGORIES[one[2]], "cents": cents}

    def done(self, phone: Phone) -> bool:
        """The answer is the sum, and no expense was changed."""
        return answered(phone, _plain(self.parameters["cents"])) and self.are(phone, self.parameters["one"])

    def solve(self, oracle: Oracle) -> None:
        """Look at the statistics."""
        oracle.open(_APP)
        oracle.tap("Open navigation drawer", "Statistics")
        oracle.find(self.parameters["category"])
        oracle.answer(_plain(self.parameters["cents"]))


TASKS: tuple[type[PhoneTask], ...] = (
    ExpenseAdd, ExpenseAddSeveral, ExpenseDelete, ExpenseDeleteDuplicates, ExpenseSpentOn,
)  # fmt: skip
