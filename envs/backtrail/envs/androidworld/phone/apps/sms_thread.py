"""A conversation of Simple SMS Messenger, and what its pages share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.apps.calls import place_call
from backtrail.envs.androidworld.phone.apps.extras import entry, head, is_number, pretty
from backtrail.envs.androidworld.phone.apps.people import KEY as PEOPLE
from backtrail.envs.androidworld.phone.apps.people import name_of, person_with
from backtrail.envs.androidworld.phone.apps.texts import (
    FAILED,
    RECEIVED,
    delete_messages,
    delete_thread,
    mark,
    messages,
    send,
    thread_of,
)
from backtrail.envs.androidworld.phone.draw import line_height, text_width, wrapped
from backtrail.envs.androidworld.phone.page import GREY, LINE, SURFACE, WHITE, Do
from backtrail.envs.androidworld.phone.views import View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["SELECT", "count", "draw_thread", "selected", "toggle", "who"]

SELECT = "select"
"""The overlay while messages or conversations are selected, so that back ends that."""

_TIME_GAP = 300_000  # ms between messages, after which the time is shown


def who(phone: Phone, address: str) -> str:
    """Return what a number or sender is called on the screen."""
    return name_of(phone, address) or (pretty(address) if is_number(address) else address)


def selected(ui: Ui) -> list[int]:
    """Return the ids of what is selected on the page."""
    return ui.state.get("selected", []) if ui.state.get("overlay", "").startswith(SELECT) else []


def toggle(ui: Ui, number: int) -> Callable[[], None]:
    """Return what selects a message or conversation, or the opposite."""

    def do() -> None:
        chosen = selected(ui)
        chosen = [each for each in chosen if each != number] if number in chosen else [*chosen, number]
        ui.state["selected"] = chosen
        ui.overlay(SELECT if chosen else "")

    return do


def count(number: int, what: str) -> str:
    """Return a number with its noun, e.g. "2 messages"."""
    return f"{number} {what}{'s' * (number != 1)}"


def draw_thread(ui: Ui) -> None:
    """Draw the messages with one number and the field for the next."""
    phone, address = ui.phone, ui.args["address"]
    rows = messages(phone, thread_of(phone, address))
    chosen = [number for number in selected(ui) if any(row["_id"] == number for row in rows)]
    if chosen:
        _chosen_bar(ui, rows, chosen)
    else:
        _thread_bar(ui, address)
    _composer(ui, address)
    key = f"messages {len(rows)} {phone.state['keyboard']}"
    ui.state.setdefault("scroll", {}).setdefault(key, 1_000_000)  # begins with the last message, as far down as it goes
    with ui.scroll(key):
        ui.gap(20)
        before = 0
        for row in rows:
            if row["date"] - before > _TIME_GAP:
                then = datetime.fromtimestamp(row["date"] / 1000, UTC)
                ui.text(then.strftime("%b %-d, %Y, %H:%M"), 34, GREY, "center", resource="thread_date_time")
            before = row["date"]
            _bubble(ui, row, chosen)
        if not rows:
            ui.text("No messages yet", 40, GREY, "center")
    overlay = ui.state.get("overlay")
    if overlay == "delete":
        ui.confirm("Delete this conversation?", "Yes", lambda: _delete_thread(ui, address), "No")
    elif overlay == f"{SELECT} delete":
        question = f"Delete {count(len(chosen), 'message')}?"
        ui.confirm(question, "Yes", lambda: delete_messages(phone, chosen), "No")


def _thread_bar(ui: Ui, address: str) -> None:
    phone = ui.phone
    buttons: list[tuple[str, str, Do]] = []
    if is_number(address):
        buttons.append(("phone", "Dial number", lambda: place_call(phone, address)))
    menu: list[tuple[str, Do]] = [
        ("Delete conversation", lambda: ui.overlay("delete")),
        ("Mark as unread", lambda: (mark(phone, thread_of(phone, address), read=False), phone.close())),
    ]
    if person_with(phone, address) is None:
        menu.insert(0, ("Add number to contact", lambda: phone.hand_over(PEOPLE, "edit", number=address)))
    ui.bar(who(phone, address), *buttons, menu=menu)
    ui.line()


def _delete_thread(ui: Ui, address: str) -> None:
    delete_thread(ui.phone, thread_of(ui.phone, address))
    ui.phone.close()


def _chosen_bar(ui: Ui, rows: list[dict[str, Any]], chosen: list[int]) -> None:
    """Draw the bar that the page has while messages are selected."""
    phone, row = ui.phone, next(row for row in rows if row["_id"] == chosen[0])

    def then(tap: Callable[[], object]) -> Callable[[], None]:
        def do() -> None:
            ui.overlay("")
            tap()

        return do

    def copy() -> None:
        phone.state["clipboard"] = row["body"]
        phone.toast("Text copied")

    buttons: list[tuple[str, str, Do]] = []
    if len(chosen) == 1:
        buttons.append(("copy", "Copy to clipboard", then(copy)))
        buttons.append(("share", "Forward message", then(lambda: phone.go("new", body=row["body"]))))
        if row["type"] != RECEIVED:
            buttons.append(("send", "Resend", then(lambda: _resend(phone, row))))
    buttons.append(("delete", "Delete", lambda: ui.overlay(f"{SELECT} delete")))
    head(ui, ("arrow", "Done", lambda: ui.overlay("")), f"{len(chosen)} / {len(rows)}", *buttons, fill=SURFACE)


def _resend(phone: Phone, row: Mapping[str, Any]) -> None:
    """Send a message again; one that failed is replaced."""
    if row["type"] == FAILED:
        delete_messages(phone, [row["_id"]])
    send(phone, row["address"], row["body"])


def _bubble(ui: Ui, row: dict[str, Any], chosen: list[int]) -> None:
    most, mine = 760, row["type"] != RECEIVED
    lines = wrapped(row["body"], 42, most - 96)
    width = min(most, max(text_width(line, 42) for line in lines) + 100)
    height = line_height(42) * len(lines) + 50
    left = ui.right - 40 - width if mine else ui.left + 40
    box = (left, ui.top + 10, left + width, ui.top + 10 + height)
    view = View("TextView", box, row["body"], size=42, wrap=True, radius=40, resource=ui.id("thread_message_body"))
    view.fill, view.color = (ui.app.tint, WHITE) if mine else (SURFACE, (32, 33, 36))
    if row["_id"] in chosen:
        view.fill, view.color, view.selected = (66, 103, 178), WHITE, True
    view.on_hold = toggle(ui, row["_id"])
    if chosen:
        view.on_tap = view.on_hold
    elif row["type"] == FAILED:
        view.on_tap = lambda: _resend(ui.phone, row)
    ui.add(view)
    ui.top = box[3] + 10
    if row["type"] == FAILED:
        note = "Message has not been sent. Tap it to retry."
        ui.add(
            View("TextView", (ui.left + 300, ui.top, ui.right - 40, ui.top + 60), note, size=32, color=(217, 48, 37))
        )
        ui.top += 70


def _composer(ui: Ui, address: str) -> None:
    """Draw the field and the button that sends, at the bottom of the page."""
    if not is_number(address):
        ui.bottom -= 120
        box = (ui.left, ui.bottom, ui.right, ui.bottom + 110)
        ui.add(View("TextView", box, "You cannot reply to this sender", size=38, color=GREY, align="center"))
        return
    low = ui.bottom
    text = entry(ui, "thread_type_message", "Type a message…", ui.right - 210, ui.args.get("body", ""))
    box = (ui.right - 195, low - 150, ui.right - 25, low - 30)
    button = View("Button", box, "SMS", description="Send", align="center", radius=50, size=38, color=WHITE)
    button.fill, button.enabled = ui.app.tint if text.strip() else LINE, bool(text.strip())
    button.on_tap, button.resource = lambda: _send(ui, address, text.strip()), ui.id("thread_send_message")
    ui.add(button)


def _send(ui: Ui, address: str, body: str) -> None:
    ui.fill("thread_type_message", "")
    send(ui.phone, address, body)
