"""Simple SMS Messenger: the conversations, a thread, and a new conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import texts
from backtrail.envs.androidworld.phone.apps.calls import place_call
from backtrail.envs.androidworld.phone.apps.extras import (
    empty,
    head,
    is_number,
    person_row,
    pretty,
    search,
    when,
)
from backtrail.envs.androidworld.phone.apps.people import KEY as PEOPLE
from backtrail.envs.androidworld.phone.apps.people import contacts, person_with
from backtrail.envs.androidworld.phone.apps.sms_thread import SELECT, count, draw_thread, selected, toggle, who
from backtrail.envs.androidworld.phone.apps.texts import (
    delete_thread,
    mark,
    messages,
    open_thread,
    receive,
    thread_of,
    threads,
)
from backtrail.envs.androidworld.phone.page import SURFACE, Do
from backtrail.envs.androidworld.phone.views import View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["Sms"]


class Sms(App):
    """Simple SMS Messenger.

    Pages: "main"; "thread" (address); "new" (body).
    """

    key = texts.KEY
    label = "SMS Messenger"
    package = "com.simplemobiletools.smsmessenger"
    activity = "com.simplemobiletools.smsmessenger.activities.MainActivity"
    icon = "message"
    tint = (255, 111, 0)

    def fresh(self) -> Data:
        """Return a phone without messages."""
        return texts.fresh()

    def activity_of(self, page: str) -> str:
        """Return the class of the activity that shows a page."""
        name = {"thread": "ThreadActivity", "new": "NewConversationActivity"}.get(page, "MainActivity")
        return f"com.simplemobiletools.smsmessenger.activities.{name}"

    def draw(self, ui: Ui) -> None:
        """Draw a page."""
        {"main": _main, "thread": draw_thread, "new": _new}[ui.page](ui)

    def tick(self, phone: Phone) -> None:
        """Let messages arrive."""
        data = phone.data(self.key)
        due = [each for each in data["coming"] if each["at"] <= phone.state["now"]]
        for each in due:
            data["coming"].remove(each)
            receive(phone, each["address"], each["body"])
        if (phone.top["app"], phone.top["page"]) == (self.key, "thread"):
            mark(phone, thread_of(phone, phone.top["args"]["address"]), read=True)


# -- conversations ----------------------------------------------------------------------------------------


def _main(ui: Ui) -> None:
    chosen = selected(ui)
    if chosen:
        _choosing(ui, chosen)
        words = ""
    else:
        words = search(ui, "search", "Search").strip().lower()
    rows = threads(ui.phone)
    with ui.scroll():
        if words:
            _found(ui, words)
        elif not rows:
            empty(ui, "No stored conversations have been found", "message")
            ui.button("Start a conversation", lambda: ui.phone.go("new"), filled=False)
        else:
            for row in rows:
                _conversation(ui, row, chosen)
    ui.floating("add", "New conversation", lambda: ui.phone.go("new"), resource="conversations_fab")
    if ui.state.get("overlay") == f"{SELECT} delete":
        ui.confirm(
            f"Delete all messages of {count(len(chosen), 'conversation')}?",
            "Yes",
            lambda: [delete_thread(ui.phone, thread) for thread in chosen],
            "No",
        )


def _conversation(ui: Ui, row: Mapping[str, Any], chosen: list[int]) -> None:
    thread, address = row["thread_id"], row["address"]
    tap = toggle(ui, thread) if chosen else lambda: open_thread(ui.phone, address)
    person_row(
        ui, who(ui.phone, address), row["body"], tap=tap, hold=toggle(ui, thread), strong=not row["read"],
        trailing=when(ui.phone, row["date"] / 1000), selected=thread in chosen,
    )  # fmt: skip


def _choosing(ui: Ui, chosen: list[int]) -> None:
    """Draw the bar that the page has while conversations are selected."""
    phone = ui.phone
    row = next((row for row in threads(phone) if row["thread_id"] == chosen[0]), None)
    buttons: list[tuple[str, str, Do]] = []
    if len(chosen) == 1 and row is not None:
        address = row["address"]
        buttons.append(("phone", "Dial number", lambda: place_call(phone, address)))
        if person_with(phone, address) is None:
            buttons.append(("person", "Add number to contact", lambda: phone.hand_over(PEOPLE, "edit", number=address)))

    def read(on: bool) -> Callable[[], None]:
        def do() -> None:
            for thread in chosen:
                mark(phone, thread, on)
            ui.overlay("")

        return do

    unread = row is not None and not row["read"]
    buttons.append(("check", "Mark as read", read(True)) if unread else ("bell", "Mark as unread", read(False)))
    buttons.append(("delete", "Delete", lambda: ui.overlay(f"{SELECT} delete")))
    title = f"{len(chosen)} / {len(threads(phone))}"
    head(ui, ("arrow", "Done", lambda: ui.overlay("")), title, *buttons, fill=SURFACE)


def _found(ui: Ui, words: str) -> None:
    """Draw the conversations and messages with the words that are searched."""
    phone = ui.phone
    people = [row for row in threads(phone) if words in who(phone, row["address"]).lower() or words in row["address"]]
    hits = [row for row in reversed(messages(phone)) if words in row["body"].lower()]
    for row in people:
        _conversation(ui, row, [])
    for row in hits:
        person_row(
            ui,
            who(phone, row["address"]),
            row["body"],
            trailing=when(phone, row["date"] / 1000),
            tap=lambda address=row["address"]: open_thread(phone, address),
        )
    if not people and not hits:
        empty(ui, "No items found", "search")


# -- a new conversation -----------------------------------------------------------------------------------


def _new(ui: Ui) -> None:
    ui.bar("New conversation")
    text = ui.typed("new_conversation_address").strip()

    def begin(address: str) -> None:
        ui.phone.swap("thread", address=address, body=ui.args.get("body", ""))

    def confirm() -> None:
        if is_number(text):
            begin(text)
        else:
            ui.phone.toast("Enter a phone number or choose a contact")

    top = ui.top
    ui.field("new_conversation_address", "Add Contact or Number…", enter=confirm)
    box = (ui.right - 200, top + 10, ui.right - 80, ui.top - 10)
    ui.add(View("ImageButton", box, description="Confirm", icon="check", on_tap=confirm, color=ui.app.tint))
    with ui.scroll():
        for person in contacts(ui.phone):
            for number, _ in person.phones:
                if text.lower() in person.name.lower() or text in number:
                    person_row(ui, person.name, pretty(number), tap=lambda number=number: begin(number))
