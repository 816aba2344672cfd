"""Phone by touch: keypad, recent calls, favourites, and the call itself on the phone's clock."""

from __future__ import annotations

import pytest
from touching import Hand

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.calls import (
    INCOMING,
    MISSED,
    OUTGOING,
    REJECTED,
    answer,
    call_state,
    calls,
    hang_up,
    log_call,
    place_call,
    ring,
)
from backtrail.envs.androidworld.phone.apps.contacts import Contacts, add_contact, contacts, star
from backtrail.envs.androidworld.phone.apps.dialer import Dialer
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.sms import Sms

KEYS = {"1": "1", "2": "2,ABC", "3": "3,DEF", "5": "5,JKL", "0": "0,+"}


@pytest.fixture
def hand() -> Hand:
    phone = Phone([Launcher(), Contacts(), Dialer(), Sms()])
    phone.launch("phone")
    return Hand(phone)


def test_it_begins_with_an_empty_log(hand: Hand) -> None:
    assert hand.sees("Your call log is empty")
    hand.tap("Favorites tab")
    assert hand.sees("No favorites yet")
    assert (
        hand.phone.activity == "com.google.android.dialer/com.google.android.dialer.extensions.GoogleDialtactsActivity"
    )


def test_dialling_a_number_and_hanging_up(hand: Hand) -> None:
    hand.tap("key pad", *(KEYS[key] for key in "55512300123"), "backspace", "dial")
    assert call_state(hand.phone) == "OFFHOOK" and hand.sees("(555) 123-0012") and hand.sees("Hold")
    assert hand.phone.activity.startswith("com.google.android.dialer/")
    begun = hand.phone.state["now"] - 1
    hand.phone.pass_time(10)
    hand.tap("End call")
    assert call_state(hand.phone) == "IDLE" and hand.sees("Call ended")
    (row,) = calls(hand.phone)
    assert (row["number"], row["type"], row["date"]) == ("5551230012", OUTGOING, begun * 1000)
    assert row["duration"] == hand.phone.state["now"] - 1 - begun - 4


def test_a_call_lasts_until_it_is_hung_up(hand: Hand) -> None:
    hand.tap("key pad")
    hand.type("digits", "5551234567")
    hand.phone.enter()
    assert hand.sees("Calling…")
    hand.phone.pass_time(64)
    assert hand.sees("01:00") or hand.sees("01:01")
    hand.tap("Hold")
    assert hand.sees("On hold")
    hand.tap("Hold", "Mute", "Speaker", "Keypad", "1", "2,ABC")
    assert hand.sees("12")
    hand.tap("Hide keypad")
    hand.phone.press_home()
    assert call_state(hand.phone) == "OFFHOOK"
    hand.tap("Phone", "Return to call in progress", "End call")
    assert call_state(hand.phone) == "IDLE" and not hand.sees("Return to call in progress")


def test_an_incoming_call_is_answered_declined_or_missed(hand: Hand) -> None:
    phone = hand.phone
    phone.press_home()
    for end in ("Answer", "Decline", "miss"):
        ring(phone, "5551230000")
        phone.changed()
        assert call_state(phone) == "RINGING" and hand.sees("Incoming call") and hand.sees("(555) 123-0000")
        if end == "miss":
            hang_up(phone, by_caller=True)
        else:
            hand.tap(end)
        if end == "Answer":
            assert call_state(phone) == "OFFHOOK" and hand.sees("Hold")
            hand.tap("End call")
        assert call_state(phone) == "IDLE"
    assert [row["type"] for row in calls(phone)] == [MISSED, REJECTED, INCOMING]
    assert [row["new"] for row in calls(phone)] == [1, 0, 0]


def test_calling_back_from_the_log(hand: Hand) -> None:
    add_contact(hand.phone, "Ada", number="5550000001")
    log_call(hand.phone, "5550000001", MISSED, seconds_ago=60)
    log_call(hand.phone, "5550000002", INCOMING, seconds_ago=90000, duration=65)
    hand.phone.launch("phone")
    assert hand.sees("Missed, 15:33") and hand.sees("Incoming, Oct 14")
    hand.tap("Call Ada")
    assert hand.sees("Ada") and hand.sees("(555) 000-0001") and call_state(hand.phone) == "OFFHOOK"


def test_the_details_of_calls(hand: Hand) -> None:
    log_call(hand.phone, "5550000002", INCOMING, duration=65)
    log_call(hand.phone, "5550000003", OUTGOING)
    hand.phone.launch("phone")
    hand.tap("(555) 000-0002")
    assert hand.sees("1 min 5 sec") and hand.sees("Not in your contacts")
    hand.tap("Add to contacts")
    hand.type("First name", "Bea")
    hand.tap("Save")
    hand.back()
    assert contacts(hand.phone)[0].name == "Bea" and hand.sees("Bea")
    hand.tap("Delete calls", "Delete")
    assert [row["number"] for row in calls(hand.phone)] == ["5550000003"]


def test_clearing_the_log_asks_first(hand: Hand) -> None:
    log_call(hand.phone, "5550000002", INCOMING)
    hand.phone.launch("phone")
    hand.tap("More options", "Clear call history", "Cancel")
    assert len(calls(hand.phone)) == 1
    hand.tap("More options", "Clear call history", "Clear")
    assert calls(hand.phone) == [] and hand.sees("Your call log is empty")


def test_favourites_are_called_with_one_touch(hand: Hand) -> None:
    star(hand.phone, add_contact(hand.phone, "Ada", number="5550000001"))
    add_contact(hand.phone, "Bea")
    hand.phone.launch("phone")
    hand.tap("Favorites tab")
    assert not hand.sees("Call Bea")
    hand.tap("Call Ada")
    assert call_state(hand.phone) == "OFFHOOK"


def test_searching_people_and_numbers(hand: Hand) -> None:
    add_contact(hand.phone, "Ada", number="5550000001")
    hand.phone.launch("phone")
    hand.type("Search contacts", "ad")
    hand.tap("Ada")
    assert hand.sees("Calling…")
    hand.tap("End call")
    hand.type("Search contacts", "5559990000")
    hand.tap("Send a message")
    assert hand.phone.activity.startswith("com.simplemobiletools.smsmessenger/")


def test_the_contacts_tab_leads_to_contacts(hand: Hand) -> None:
    add_contact(hand.phone, "Ada", number="5550000001")
    hand.phone.launch("phone")
    hand.tap("Contacts tab", "Ada", "Call")
    assert call_state(hand.phone) == "OFFHOOK"
    hand.tap("End call")
    assert hand.phone.activity.startswith("com.google.android.contacts/")


def test_the_dial_button_brings_back_the_last_number(hand: Hand) -> None:
    log_call(hand.phone, "5550000002", OUTGOING)
    hand.phone.launch("phone")
    hand.tap("key pad", "dial")
    assert hand.sees("5550000002") and call_state(hand.phone) == "IDLE"
    hand.tap("dial")
    assert call_state(hand.phone) == "OFFHOOK"


def test_no_call_in_airplane_mode_or_beside_another(hand: Hand) -> None:
    phone = hand.phone
    phone.settings["global"]["airplane_mode_on"] = "1"
    place_call(phone, "5550000002")
    assert call_state(phone) == "IDLE"
    phone.settings["global"]["airplane_mode_on"] = "0"
    place_call(phone, "5550000002")
    place_call(phone, "5550000003")
    ring(phone, "5550000004")
    answer(phone)
    assert phone.data("phone")["call"]["number"] == "5550000002"
    assert [(row["number"], row["type"]) for row in calls(phone)] == [("5550000004", MISSED)]
