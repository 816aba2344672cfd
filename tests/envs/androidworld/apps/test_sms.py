"""Simple SMS Messenger by touch; the rows are those of the telephony provider."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from touching import Hand

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.calls import call_state
from backtrail.envs.androidworld.phone.apps.contacts import Contacts, add_contact, contacts
from backtrail.envs.androidworld.phone.apps.dialer import Dialer
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.sms import Sms
from backtrail.envs.androidworld.phone.apps.texts import (
    FAILED,
    SENT,
    messages,
    receive,
    receive_later,
    send,
    sent,
    threads,
)


@pytest.fixture
def hand() -> Hand:
    phone = Phone([Launcher(), Contacts(), Dialer(), Sms()])
    phone.launch("sms")
    return Hand(phone)


def bodies(phone: Phone) -> list[tuple[str, str]]:
    return [(row["address"], row["body"]) for row in sent(phone)]


def test_it_begins_empty(hand: Hand) -> None:
    assert hand.sees("No stored conversations have been found")
    hand.tap("Start a conversation")
    assert hand.sees("New conversation")


def test_a_message_to_a_new_number(hand: Hand) -> None:
    hand.tap("New conversation")
    hand.type("Add Contact or Number…", "+15551230001")
    hand.tap("Confirm")
    hand.type("Type a message…", "Hello there")
    hand.phone.enter()  # a new line, which is not sent along
    hand.tap("SMS")
    assert bodies(hand.phone) == [("+15551230001", "Hello there")]
    (row,) = messages(hand.phone)
    assert row["type"] == SENT and row["date"] == (hand.phone.state["now"] - 1) * 1000 and row["read"] == 1
    assert hand.sees("Hello there") and not any(text.startswith("Sending") for text in hand.texts())
    hand.phone.state["keyboard"] = False
    hand.back()
    assert hand.sees("+15551230001")


def test_nothing_is_sent_without_text(hand: Hand) -> None:
    hand.tap("New conversation")
    hand.type("Add Contact or Number…", "5551230001")
    hand.phone.enter()
    hand.type("Type a message…", "  ")
    hand.tap("SMS")
    assert messages(hand.phone) == []


def test_a_conversation_needs_a_number(hand: Hand) -> None:
    hand.tap("New conversation")
    hand.type("Add Contact or Number…", "Ada")
    hand.tap("Confirm")
    assert hand.sees("New conversation") and hand.sees("Enter a phone number or choose a contact")


def test_a_message_to_a_contact(hand: Hand) -> None:
    add_contact(hand.phone, "Ada", "Byron", "+15551230001")
    add_contact(hand.phone, "Bea", number="+15551230002")
    hand.phone.launch("sms")
    hand.tap("New conversation")
    hand.type("Add Contact or Number…", "ad")
    assert not hand.sees("Bea")
    hand.tap("Ada Byron")
    hand.type("Type a message…", "Hi")
    hand.tap("SMS")
    assert bodies(hand.phone) == [("+15551230001", "Hi")]


def test_reading_and_replying(hand: Hand) -> None:
    receive(hand.phone, "5551230001", "older", seconds_ago=100)
    receive(hand.phone, "5551230002", "newer")
    hand.phone.launch("sms")
    assert hand.texts().index("newer") < hand.texts().index("older")
    assert hand.sees("Unread")
    hand.tap("newer")
    hand.type("Type a message…", "Reply")
    hand.tap("SMS")
    assert bodies(hand.phone) == [("5551230002", "Reply")]
    assert [row["read"] for row in messages(hand.phone)] == [0, 1, 1]
    assert messages(hand.phone)[1]["thread_id"] == messages(hand.phone)[2]["thread_id"]


def test_a_sent_message_is_sent_again(hand: Hand) -> None:
    send(hand.phone, "5551230001", "First", seconds_ago=20)
    receive(hand.phone, "5551230001", "What was that?", seconds_ago=10)
    hand.phone.launch("sms")
    hand.tap("(555) 123-0001")
    hand.hold("First")
    hand.tap("Resend")
    assert bodies(hand.phone) == [("5551230001", "First")] * 2 and len(messages(hand.phone)) == 3


def test_a_message_is_copied_and_pasted(hand: Hand) -> None:
    receive(hand.phone, "5551230001", "12 High Street")
    hand.phone.launch("sms")
    hand.tap("(555) 123-0001")
    hand.hold("12 High Street")
    assert not hand.sees("Resend")
    hand.tap("Copy to clipboard")
    assert hand.phone.state["clipboard"] == "12 High Street"
    hand.type("Type a message…", "At ")
    hand.hold("At ")
    hand.tap("Paste", "SMS")
    assert bodies(hand.phone) == [("5551230001", "At 12 High Street")]


def test_a_message_is_forwarded(hand: Hand) -> None:
    receive(hand.phone, "5551230001", "12 High Street")
    hand.phone.launch("sms")
    hand.tap("(555) 123-0001")
    hand.hold("12 High Street")
    hand.tap("Forward message")
    hand.type("Add Contact or Number…", "5551230002")
    hand.tap("Confirm", "SMS")
    assert bodies(hand.phone) == [("5551230002", "12 High Street")]
    assert not hand.see("thread_type_message") and hand.sees("Type a message…")


def test_messages_are_deleted(hand: Hand) -> None:
    for body in ("one", "two", "three"):
        receive(hand.phone, "5551230001", body)
    hand.phone.launch("sms")
    hand.tap("(555) 123-0001")
    hand.hold("one")
    hand.tap("three")
    assert hand.sees("2 / 3")
    hand.tap("Delete", "No")
    assert len(messages(hand.phone)) == 3
    hand.hold("one")
    hand.tap("three", "Delete", "Yes")
    assert [row["body"] for row in messages(hand.phone)] == ["two"]


def test_back_ends_a_selection(hand: Hand) -> None:
    receive(hand.phone, "5551230001", "one")
    hand.phone.launch("sms")
    hand.hold("(555) 123-0001")
    assert hand.sees("1 / 1")
    hand.back()
    assert not hand.sees("1 / 1") and hand.sees("Search")


def test_conversations_are_deleted(hand: Hand) -> None:
    for number in ("5551230001", "5551230002", "5551230003"):
        receive(hand.phone, number, "hi")
    hand.phone.launch("sms")
    hand.hold("(555) 123-0001")
    hand.tap("(555) 123-0003", "Delete", "Yes")
    assert [row["address"] for row in threads(hand.phone)] == ["5551230002"]
    hand.tap("(555) 123-0002", "More options", "Delete conversation", "Yes")
    assert messages(hand.phone) == [] and hand.sees("No stored conversations have been found")


def test_marking_as_read_and_unread(hand: Hand) -> None:
    receive(hand.phone, "5551230001", "hi")
    hand.phone.launch("sms")
    hand.hold("(555) 123-0001")
    hand.tap("Mark as read")
    assert messages(hand.phone)[0]["read"] == 1
    hand.hold("(555) 123-0001")
    hand.tap("Mark as unread")
    assert messages(hand.phone)[0]["read"] == 0
    hand.tap("(555) 123-0001", "More options", "Mark as unread")
    assert messages(hand.phone)[0]["read"] == 0 and hand.sees("Unread")


def test_searching_people_and_texts(hand: Hand) -> None:
    add_contact(hand.phone, "Ada", number="5551230001")
    receive(hand.phone, "5551230001", "cake at eight")
    receive(hand.phone, "5551230002", "your parcel")
    hand.phone.launch("sms")
    hand.type("Search", "PARCEL")
    assert hand.sees("your parcel") and not hand.sees("Ada")
    hand.type("Search", "ada")
    assert hand.sees("Ada") and not hand.sees("your parcel")
    hand.type("Search", "zzz")
    assert hand.sees("No items found")
    hand.type("Search", "cake")
    hand.tap("cake at eight")
    assert hand.sees("Type a message…")


def test_calling_and_adding_the_sender(hand: Hand) -> None:
    receive(hand.phone, "5551230002", "call me")
    hand.phone.launch("sms")
    hand.tap("(555) 123-0002", "More options", "Add number to contact")
    hand.type("First name", "Bea")
    hand.tap("Save")
    hand.back()
    assert contacts(hand.phone)[0].phones == [("5551230002", "Mobile")]
    hand.tap("Dial number")
    assert call_state(hand.phone) == "OFFHOOK"


def test_airplane_mode_keeps_messages_back(hand: Hand) -> None:
    phone = hand.phone
    phone.settings["global"]["airplane_mode_on"] = "1"
    phone.open("sms", "thread", address="5551230001")
    phone.changed()
    hand.type("Type a message…", "Hi")
    hand.tap("SMS")
    assert [row["type"] for row in messages(phone)] == [FAILED] and sent(phone) == []
    phone.settings["global"]["airplane_mode_on"] = "0"
    hand.tap("Hi")
    assert bodies(phone) == [("5551230001", "Hi")] and len(messages(phone)) == 1


def test_messages_arrive_with_time(hand: Hand) -> None:
    phone = hand.phone
    receive_later(phone, 10, "5551230001", "later")
    phone.open("sms", "thread", address="5551230001")
    phone.pass_time(9)
    assert messages(phone) == [] and hand.sees("No messages yet")
    phone.pass_time(1)
    assert hand.sees("later") and messages(phone)[0]["read"] == 1 and phone.data("sms")["coming"] == []


def test_a_long_thread_begins_with_its_end(hand: Hand) -> None:
    for n in range(40):
        receive(hand.phone, "5551230001", f"message {n}", seconds_ago=100 - n)
    hand.phone.launch("sms")
    hand.tap("(555) 123-0001")
    assert hand.sees("message 39") and not hand.sees("message 0")
    hand.phone.swipe((500, 600), (500, 2000))
    assert not hand.sees("message 39")


def test_nobody_writes_to_a_sender_without_a_number(hand: Hand) -> None:
    receive(hand.phone, "BANK", "Your code is 1")
    hand.phone.launch("sms")
    hand.tap("BANK")
    assert hand.sees("You cannot reply to this sender") and not hand.sees("SMS")


def test_the_page_can_be_opened_with_a_message(hand: Hand) -> None:
    hand.phone.open("sms", "thread", address="+15551230001", body="Prepared")
    hand.phone.changed()
    hand.tap("SMS")
    assert bodies(hand.phone) == [("+15551230001", "Prepared")] and hand.sees("Type a message…")


@given(st.lists(st.tuples(st.sampled_from(["5551230001", "+15551230001", "5551230002", "BANK"]), st.booleans())))
def test_one_thread_for_each_number(steps: list[tuple[str, bool]]) -> None:
    phone = Phone([Launcher(), Sms()])
    for address, mine in steps:
        (send if mine else receive)(phone, address, "x")
    rows = messages(phone)
    groups = {(row["address"][-10:], row["thread_id"]) for row in rows}
    assert len(rows) == len(steps) and len(groups) == len({number for number, _ in groups}) == len(threads(phone))
    assert len({row["_id"] for row in rows}) == len(rows)
