"""An app like Pro Expense: what was spent and earned, by category."""

from __future__ import annotations

from functools import partial

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import expense_data as data
from backtrail.envs.androidworld.phone.apps import expense_pages as pages
from backtrail.envs.androidworld.phone.apps.drawer import drawer_bar
from backtrail.envs.androidworld.phone.page import GREY, WHITE
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["Expense"]

_RECENT = 8  # rows of the home page


class Expense(App):
    """Records expenses."""

    key = data.KEY
    label = "Pro Expense"
    package = "com.arduia.expense"
    activity = "com.arduia.expense.ui.MainActivity"
    icon = "money"
    tint = (20, 108, 148)

    def fresh(self) -> Data:
        """Return no expenses, in dollars."""
        return {"expense": [], "currency": "$"}

    def draw(self, ui: Ui) -> None:
        """Draw a page: "main", "logs", "statistics", "settings", "feedback", "about", "detail" or "entry"."""
        draw = {"main": _home, "logs": _logs}.get(ui.page) or pages.PAGES[ui.page]
        draw(ui)


# -- home -------------------------------------------------------------------------------------------------


def _home(ui: Ui) -> None:
    phone = ui.phone
    drawer_bar(ui, "Pro Expense", pages.SECTIONS)
    rows = data.expenses(phone)
    with ui.scroll():
        _card(ui, [row for row in rows if data.day_of(row).date().replace(day=1) == phone.now.date().replace(day=1)])
        if rows:
            with ui.columns(3, 1) as following:
                ui.header("Recent")
                following()
                ui.text("See all", 36, ui.app.tint, "center", "see_all").on_tap = partial(phone.go, "logs")
        else:
            ui.gap(200)
            ui.text("Nothing recorded yet", 48, GREY, "center")
            ui.text("Tap + to add an expense", 40, GREY, "center")
        for row in rows[:_RECENT]:
            _row(ui, row)
        ui.gap(220)
    ui.floating("add", "Add expense", partial(phone.go, "entry", id=0), "fb_add")


def _card(ui: Ui, rows: list[data.Row]) -> None:
    """Draw the sums of this month."""
    income = sum(row["amount"] for row in rows if row["category"] == data.INCOME)
    spent = sum(row["amount"] for row in rows) - income
    top = ui.top + 20
    box = (ui.left + 36, top, ui.right - 36, top + 380)
    card = ui.add(View("FrameLayout", box, fill=ui.app.tint, radius=40, resource=ui.id("mc_graph")))
    x, end, middle = box[0] + 24, box[2] - 24, (box[0] + box[2]) // 2
    soft = (205, 226, 238)

    def words(text: str, place: tuple[int, int, int, int], size: int, color: tuple[int, int, int], name: str) -> None:
        card.children.append(View("TextView", place, text, size=size, color=color, resource=ui.id(name)))

    words(f"{ui.phone.now:%B %Y}", (x, top + 16, end, top + 90), 40, soft, "tv_month")
    words("Outcome", (x, top + 100, middle, top + 150), 36, soft, "tv_outcome")
    words(data.money(ui.phone, spent), (x, top + 150, end, top + 250), 76, WHITE, "tv_outcome_value")
    words("Income", (x, top + 270, middle, top + 350), 36, soft, "tv_income")
    words(data.money(ui.phone, income), (middle, top + 270, end, top + 350), 46, WHITE, "tv_income_value")
    ui.top = box[3] + 20


# -- logs -------------------------------------------------------------------------------------------------


def _logs(ui: Ui) -> None:
    phone, state = ui.phone, ui.state
    rows = data.expenses(phone)
    if state.get("category"):
        rows = [row for row in rows if row["category"] == state["category"]]
    if state.get("oldest first"):
        rows.reverse()
    chosen: list[int] | None = state.get("chosen") if state.get("overlay") in ("choosing", "delete") else None
    if chosen is None:
        order = "Newest first" if state.get("oldest first") else "Oldest first"
        drawer_bar(
            ui,
            "Expense Logs",
            pages.SECTIONS,
            ("sort", order, lambda: state.update({"oldest first": not state.get("oldest first")})),
            ("search", "Filter", partial(ui.overlay, "filter")),
        )
    else:
        _choosing_bar(ui, rows, chosen)
    with ui.scroll():
        _list(ui, rows, chosen)
        ui.gap(220)
    if chosen is None:
        ui.floating("add", "Add expense", partial(phone.go, "entry", id=0), "fb_add")
    if state.get("overlay") == "filter":
        labels = ["All categories", *data.CATEGORIES.values()]
        ui.choose(
            "Filter", labels, labels[state.get("category", 0)], lambda label: state.update(category=labels.index(label))
        )
    if state.get("overlay") == "delete" and chosen is not None:
        pages.ask_delete(ui, chosen, lambda: None)


def _list(ui: Ui, rows: list[data.Row], chosen: list[int] | None) -> None:
    if not rows:
        ui.gap(500)
        ui.text("No expenses", 48, GREY, "center")
    day = ""
    for row in rows:
        this = _day(ui, row)
        if this != day:
            ui.header(this)
            day = this
        _row(ui, row, chosen)


def _choosing_bar(ui: Ui, rows: list[data.Row], chosen: list[int]) -> None:
    ui.bar(
        f"{len(chosen)} selected",
        ("tasks", "Select all", lambda: ui.state.update(chosen=[row["expense_id"] for row in rows])),
        ("delete", "Delete", partial(ui.overlay, "delete") if chosen else None),
        ("close", "Cancel selection", partial(ui.overlay, "")),
        up=False,
    )


def _row(ui: Ui, row: data.Row, chosen: list[int] | None = None) -> None:
    """Draw an expense; with what is chosen, a tap chooses it, otherwise it opens it."""
    number, label = row["expense_id"], data.CATEGORIES[row["category"]]
    sign = "+" if row["category"] == data.INCOME else "-"

    def open_it() -> None:
        ui.phone.go("detail", id=number)

    def choose() -> None:
        if ui.page == "main":
            return open_it()
        kept = list(chosen or [])
        ui.state["chosen"] = [each for each in kept if each != number] if number in kept else [*kept, number]
        return ui.overlay("choosing")

    ui.row(
        row["name"] or label,
        label if ui.page == "logs" else f"{label} · {_day(ui, row)}",
        icon=pages.ICONS[row["category"]],
        trailing=f"{sign} {data.money(ui.phone, row['amount'])}",
        tap=open_it if chosen is None else choose,
        hold=choose,
        check=None if chosen is None else number in chosen,
        selected=chosen is not None and number in chosen,
    )


def _day(ui: Ui, row: data.Row) -> str:
    day = data.day_of(row).date()
    days = (ui.phone.now.date() - day).days
    return {0: "Today", 1: "Yesterday"}.get(days) or f"{day:%b %-d, %Y}"
