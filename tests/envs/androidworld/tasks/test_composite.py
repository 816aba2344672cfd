"""Tasks with two apps: solved by touch, and refused where something else was done."""

from __future__ import annotations

from checking_tasks import prepared, solved

from backtrail.envs.androidworld.phone.apps.events import delete_event, events
from backtrail.envs.androidworld.phone.apps.expense_data import add_expense
from backtrail.envs.androidworld.phone.apps.notes import add_note
from backtrail.envs.androidworld.phone.apps.people import add_contact
from backtrail.envs.androidworld.phone.apps.texts import send
from backtrail.envs.androidworld.tasks.composite import (
    ContactFromMessage,
    ExpenseFromReceipt,
    MessageFromNote,
    NoteFromEvent,
)


def test_the_contact_is_the_one_that_this_friend_named() -> None:
    task = ContactFromMessage(0)
    number = task.parameters["one"][2]
    others = [text[2] for text in task.parameters["texts"][1:]]
    assert all(number not in text for text in others)
    for text, done in ((task.parameters["texts"][0][2], True), *((text, False) for text in others)):
        phone = prepared(task).phone
        name, found = text.split(": ")[1].split(", ")
        first, last = name.split()
        add_contact(phone, first, last, found)
        assert task.done(phone) is done


def test_the_friend_is_not_answered() -> None:
    task = ContactFromMessage(0)
    phone = solved(task).phone
    send(phone, task.parameters["people"][0][2], "Thank you!")
    assert not task.done(phone)


def test_the_place_is_that_of_the_day() -> None:
    task = NoteFromEvent(0)
    places = [place for _, _, _, place in task.parameters["events"]]
    for text in places:
        phone = prepared(task).phone
        add_note(phone, task.parameters["file"], f"{text}\n")
        assert task.done(phone) is (text == places[0])


def test_notes_and_events_stay() -> None:
    task = NoteFromEvent(0)
    phone = solved(task).phone
    saved = phone.save()
    delete_event(phone, events(phone)[0]["id"])
    assert not task.done(phone)
    phone.load(saved)
    add_note(phone, next(iter(task.parameters["notes"])), "Else")
    assert not task.done(phone)


def test_the_total_is_not_what_was_paid() -> None:
    task = ExpenseFromReceipt(0)
    receipt = task.parameters["notes"][task.parameters["file"]]
    shop, cents, category, *_ = task.parameters["one"]
    amounts = [round(100 * float(line.split(": ")[1].split()[0])) for line in receipt.split("\n")[1:]]
    assert cents == sum(amounts[:-2]) == amounts[-2] and receipt.startswith(shop)
    for amount in set(amounts):
        phone = prepared(task).phone
        add_expense(phone, shop, amount, category)
        assert task.done(phone) is (amount == cents)


def test_the_code_is_that_of_the_room_and_comes_alone() -> None:
    task = MessageFromNote(0)
    number, code = task.parameters["number"], task.parameters["code"]
    codes = [line.split(": ")[1] for line in task.parameters["notes"][task.parameters["file"]].split("\n")[1:]]
    assert code in codes and len(set(codes)) == 3
    for text in (*codes, f"{task.parameters['room']}: {code}"):
        phone = prepared(task).phone
        send(phone, number, text)
        assert task.done(phone) is (text == code)
