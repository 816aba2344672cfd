"""Pages of the expense app beside its home and its logs: one expense, its form, statistics, settings, feedback, about."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from datetime import date, datetime
from functools import partial

from backtrail.envs.androidworld.phone.apps import expense_data as data
from backtrail.envs.androidworld.phone.apps.drawer import drawer_bar, pick_day
from backtrail.envs.androidworld.phone.page import GREY, SURFACE, WHITE
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["ICONS", "PAGES", "SECTIONS", "ask_delete"]

SECTIONS = (
    ("main", "Home"),
    ("logs", "Expense Logs"),
    ("statistics", "Statistics"),
    ("settings", "Settings"),
    ("feedback", "Feedback"),
    ("about", "About"),
)
"""What the drawer leads to: page and label."""

ICONS = {
    1: "app", 2: "money", 3: "food", 4: "home", 5: "person", 6: "play",
    7: "globe", 8: "lock", 9: "add", 10: "note", 11: "star",
}  # fmt: skip
"""Icon by category."""

_CURRENCIES = {"US dollar": "$", "Euro": "EUR ", "Pound sterling": "GBP ", "Yen": "JPY "}

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


def ask_delete(ui: Ui, numbers: Collection[int], then: Callable[[], object]) -> None:
    """Draw the question whether to delete expenses; ``then`` is done after they are deleted."""

    def delete() -> None:
        data.delete_expenses(ui.phone, numbers)
        ui.phone.toast("1 item deleted" if len(numbers) == 1 else f"{len(numbers)} items deleted")
        then()

    what = "this expense" if len(numbers) == 1 else f"{len(numbers)} expenses"
    ui.confirm(f"Delete {what}? This cannot be undone.", "Delete", delete)


# -- one expense ------------------------------------------------------------------------------------------


def _detail(ui: Ui) -> None:
    phone, number = ui.phone, ui.args["id"]
    row = data.expense(phone, number)
    if row is None:
        ui.bar("Expense Detail")
        ui.text("This expense is no longer there.", color=GREY)
        return
    ui.bar(
        "Expense Detail",
        ("edit", "Edit", partial(phone.go, "entry", id=number)),
        ("delete", "Delete", partial(ui.overlay, "delete")),
    )
    label = data.CATEGORIES[row["category"]]
    sign = "+" if row["category"] == data.INCOME else "-"
    with ui.scroll():
        ui.gap(40)
        side = 160
        x = (ui.left + ui.right - side) // 2
        box = (x, ui.top, x + side, ui.top + side)
        ui.add(
            View(
                "ImageView", box, icon=ICONS[row["category"]], description=label, fill=ui.app.tint, color=WHITE,
                radius=side // 2, size=80,
            )
        )  # fmt: skip
        ui.gap(side + 20)
        ui.text(f"{sign} {data.money(phone, row['amount'])}", 84, align="center", resource="tv_amount_value")
        ui.gap(30)
        for title, value, name in (
            ("Name", row["name"], "tv_name_value"),
            ("Category", label, "tv_category_value"),
            ("Date", f"{data.day_of(row):%A, %B %-d, %Y, %H:%M}", "tv_date_value"),
            ("Note", row["note"], "tv_note_value"),
        ):
            ui.text(title, 36, GREY)
            ui.text(value or "-", 46, resource=name)
            ui.gap(16)
            ui.line()
    if ui.state.get("overlay") == "delete":
        ask_delete(ui, [number], phone.close)


# -- the form ---------------------------------------------------------------------------------------------


def _entry(ui: Ui) -> None:
    row = data.expense(ui.phone, ui.args["id"])
    before = row or {"name": "", "amount": 0, "category": 1, "note": "", "created_date": 0}
    then = data.day_of(row) if row else ui.phone.now
    day = date.fromisoformat(ui.state["day"]) if "day" in ui.state else then.date()
    ui.bar("Edit Expense" if row else "Add Expense")
    amount = f"{before['amount'] / 100:.2f}".removesuffix(".00") if row else ""
    with ui.scroll("form", keep=170):
        ui.field("name", "Name", before["name"], resource="edt_name")
        ui.field("amount", "Amount", amount, resource="edt_amount")
        ui.header("Category")
        _chips(ui, ui.state.get("category", before["category"]))
        ui.gap(10)
        ui.row("Date", f"{day:%A, %B %-d, %Y}", icon="calendar", tap=partial(ui.overlay, "day"), resource="tv_date")
        ui.field("note", "Note", before["note"], lines=3, resource="edt_note")
    ui.button(
        "Update" if row else "Save",
        lambda: _save(ui, row, before["category"], datetime.combine(day, then.timetz())),
        resource="btn_save",
    )
    if ui.state.get("overlay") == "day":
        pick_day(ui, day, lambda day: ui.state.update(day=day.isoformat()))


def _save(ui: Ui, row: data.Row | None, category: int, created: datetime) -> None:
    before = row or {"name": "", "note": ""}
    amount = data.parse_amount(ui.typed("amount", f"{row['amount'] / 100:.2f}" if row else ""))
    if amount is None:
        ui.phone.toast("Please enter an amount")
        return
    name, note = ui.typed("name", before["name"]).strip(), ui.typed("note", before["note"]).strip()
    category = ui.state.get("category", category)
    if row:
        data.change_expense(ui.phone, row["expense_id"], name, amount, category, note, created)
        ui.phone.toast("Expense updated")
    else:
        data.add_expense(ui.phone, name, amount, category, note, created)
        ui.phone.toast("Expense saved")
    ui.phone.close()


def _chips(ui: Ui, chosen: int) -> None:
    """Draw the categories, three in a line."""
    width = (ui.right - ui.left - 60) // 3
    for place, (number, label) in enumerate(data.CATEGORIES.items()):
        x, y = ui.left + 30 + place % 3 * width, ui.top + place // 3 * 120
        on = number == chosen
        ui.add(
            View(
                "RadioButton", (x + 6, y + 8, x + width - 6, y + 112), label, selected=on, align="center", radius=52, size=36,
                fill=ui.app.tint if on else SURFACE, color=WHITE if on else (60, 64, 67),
                on_tap=partial(ui.state.update, category=number), resource=ui.id("chip_category"),
            )
        )  # fmt: skip
    ui.top += 120 * ((len(data.CATEGORIES) + 2) // 3)


# -- sections ---------------------------------------------------------------------------------------------


def _statistics(ui: Ui) -> None:
    phone, span = ui.phone, ui.state.get("span", "This month")
    drawer_bar(ui, "Statistics", SECTIONS)
    ui.tabs(span, *((name, partial(ui.state.update, span=name)) for name in ("This month", "This year", "All")))
    form = {"This month": "%Y-%m", "This year": "%Y", "All": ""}[span]
    now = phone.now.strftime(form)
    rows = [row for row in data.expenses(phone) if data.day_of(row).strftime(form) == now]
    sums = data.totals(rows)
    income = sums.pop(data.INCOME, 0)
    spent = sum(sums.values())
    with ui.scroll():
        ui.row("Outcome", trailing=data.money(phone, spent))
        ui.row("Income", trailing=data.money(phone, income))
        ui.line()
        ui.header("Outcome by category")
        if not sums:
            ui.gap(160)
            ui.text("No data for this time", 46, GREY, "center")
        for category, cents in sums.items():
            share = cents / spent
            label = data.CATEGORIES[category]
            ui.row(label, icon=ICONS[category], trailing=f"{data.money(phone, cents)} · {share:.0%}")
            ui.progress(f"Share of {label}", share)


def _settings(ui: Ui) -> None:
    drawer_bar(ui, "Settings", SECTIONS)
    current = next(name for name, sign in _CURRENCIES.items() if sign == ui.data["currency"])
    ui.row("Currency", current, icon="money", tap=partial(ui.overlay, "currency"))
    if ui.state.get("overlay") == "currency":
        ui.choose(
            "Choose currency", list(_CURRENCIES), current, lambda name: ui.data.update(currency=_CURRENCIES[name])
        )


def _feedback(ui: Ui) -> None:
    drawer_bar(ui, "Feedback", SECTIONS)

    def send() -> None:
        email = ui.typed("email").strip()
        if email and not _EMAIL.fullmatch(email):
            ui.phone.toast("This is not an email address")
        elif not ui.typed("comment").strip():
            ui.phone.toast("Please write a comment")
        else:
            ui.state["fields"] = {}
            ui.phone.toast("Thank you for your feedback")

    with ui.scroll("form"):
        ui.text("How do you like the app? What should be better?", color=GREY)
        ui.field("name", "Name")
        ui.field("email", "Email")
        ui.field("comment", "Your comment", lines=5)
        ui.gap()
        ui.button("Send feedback", send)


def _about(ui: Ui) -> None:
    drawer_bar(ui, "About", SECTIONS)
    with ui.scroll():
        ui.row("Pro Expense", "Version 1.0, simulated", icon="money")
        ui.line()
        ui.text("A simple record of what you spend and earn. Everything stays on this phone.", color=GREY)


PAGES: dict[str, Callable[[Ui], None]] = {
    "detail": _detail,
    "entry": _entry,
    "statistics": _statistics,
    "settings": _settings,
    "feedback": _feedback,
    "about": _about,
}
"""How each page is drawn."""
