"""Contacts by touch: the list, a contact's page, the form; the rows are those of Android's contacts provider."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from touching import Hand

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import people
from backtrail.envs.androidworld.phone.apps.contacts import Contacts, add_contact, contact, contacts, delete_contact
from backtrail.envs.androidworld.phone.apps.dialer import Dialer
from backtrail.envs.androidworld.phone.apps.extras import digits, is_number, pretty, same_number
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.people import Person, name_of, save_contact, star
from backtrail.envs.androidworld.phone.apps.sms import Sms


@pytest.fixture
def hand() -> Hand:
    phone = Phone([Launcher(), Contacts(), Dialer(), Sms()])
    phone.launch("contacts")
    return Hand(phone)


def names(phone: Phone) -> list[str]:
    return [person.name for person in contacts(phone)]


def test_an_empty_list_says_so(hand: Hand) -> None:
    assert hand.sees("No contacts yet")
    assert hand.phone.activity == "com.google.android.contacts/com.android.contacts.activities.PeopleActivity"


def test_a_contact_is_made_with_all_its_parts(hand: Hand) -> None:
    hand.tap("Create contact")
    for field, text in (
        ("First name", "Ada"),
        ("Last name", "Byron"),
        ("Company", "Engines"),
        ("Phone", "+15551234567"),
    ):
        hand.type(field, text)
        hand.back()
    hand.type("email0", "ada@engine.example")
    hand.back()
    hand.tap("Mobile Phone", "Work", "Save")
    assert hand.sees("Contact saved") and hand.sees("Ada Byron") and hand.sees("Engines")
    (person,) = contacts(hand.phone)
    assert person.phones == [("+15551234567", "Work")] and person.emails == [("ada@engine.example", "Home")]
    hand.back()
    assert hand.sees("Ada Byron") and hand.sees("1 contact")


def test_the_form_has_the_hints_and_the_label_that_drafts_are_read_by(hand: Hand) -> None:
    hand.tap("Create contact")
    hand.type("First name", "Ada")
    hand.type("Phone", "555-123-4567")
    hand.back()
    hand.tap("Mobile Phone", "Work")
    fields = {view.hint: view.text for view in hand.phone.tree.walk() if view.field}
    assert fields == {"First name": "Ada", "Last name": "", "Company": "", "Phone": "555-123-4567", "Email": ""}
    label = hand.see("Work Phone")
    assert label is not None and label.text == "Work"
    assert contacts(hand.phone) == []


def test_an_empty_form_is_not_saved(hand: Hand) -> None:
    hand.tap("Create contact", "Save")
    assert hand.sees("Create contact") and hand.sees("Nothing to save: add a name or a number")
    hand.type("First name", "   ")
    hand.tap("Save")
    assert contacts(hand.phone) == []


def test_a_number_alone_is_enough(hand: Hand) -> None:
    hand.tap("Create contact")
    hand.type("Phone", "5550001111")
    hand.tap("Save")
    assert names(hand.phone) == ["5550001111"]


def test_leaving_a_changed_form_asks_first(hand: Hand) -> None:
    hand.tap("Create contact", "Cancel")
    assert hand.sees("No contacts yet")
    hand.tap("Create contact")
    hand.type("First name", "Ada")
    hand.tap("Cancel", "Keep editing")
    assert hand.sees("Ada")
    hand.tap("Cancel", "Discard")
    assert hand.sees("No contacts yet") and contacts(hand.phone) == []


def test_more_numbers_can_be_added_and_taken_away(hand: Hand) -> None:
    add_contact(hand.phone, "Ada", number="5550000001")
    hand.phone.launch("contacts")
    hand.tap("Ada", "Edit contact", "Add phone")
    hand.type("phone1", "5550000002")
    hand.tap("Save")
    assert [number for number, _ in contacts(hand.phone)[0].phones] == ["5550000001", "5550000002"]
    hand.tap("Edit contact")
    hand.type("phone0", "")
    hand.tap("Save")
    assert [number for number, _ in contacts(hand.phone)[0].phones] == ["5550000002"]
    assert hand.sees("(555) 000-0002") and not hand.sees("(555) 000-0001")


def test_editing_keeps_what_is_not_touched(hand: Hand) -> None:
    number = add_contact(hand.phone, "Ada", "Byron", "5550000001", "Work", "Engines", "a@b.example")
    star(hand.phone, number)
    hand.phone.launch("contacts")
    hand.tap("Ada Byron", "Edit contact")
    hand.type("Last name", "Lovelace")
    hand.tap("Save")
    person = Person(number, "Ada", "Lovelace", "Engines", True, [("5550000001", "Work")], [("a@b.example", "Home")])
    assert contacts(hand.phone) == [person]


def test_a_star_is_set_and_taken_away(hand: Hand) -> None:
    add_contact(hand.phone, "Ada")
    hand.phone.launch("contacts")
    hand.tap("Ada", "Add to favorites")
    assert contacts(hand.phone)[0].starred
    hand.tap("Remove from favorites")
    assert not contacts(hand.phone)[0].starred


def test_deleting_asks_first(hand: Hand) -> None:
    add_contact(hand.phone, "Ada", number="5550000001")
    add_contact(hand.phone, "Bea")
    hand.phone.launch("contacts")
    hand.tap("Ada", "More options", "Delete", "Cancel")
    assert names(hand.phone) == ["Ada", "Bea"]
    hand.tap("More options", "Delete", "Delete")
    assert names(hand.phone) == ["Bea"] and hand.sees("Bea")
    assert all(row["raw_contact_id"] == contacts(hand.phone)[0].id for row in hand.phone.data("contacts")["data"])


def test_searching_names_companies_and_numbers(hand: Hand) -> None:
    add_contact(hand.phone, "Ada", "Byron", "555-000-0001")
    add_contact(hand.phone, "Bea", company="Adastra")
    add_contact(hand.phone, "Cleo", number="5550000002")
    hand.phone.launch("contacts")
    for words, found in (("ad", {"Ada Byron", "Bea"}), ("0000002", {"Cleo"}), ("zz", set())):
        hand.type("Search contacts", words)
        assert {name for name in ("Ada Byron", "Bea", "Cleo") if hand.sees(name)} == found
    assert hand.sees("No results")
    hand.tap("Clear text")
    assert hand.sees("3 contacts")


def test_a_long_list_scrolls(hand: Hand) -> None:
    for n in range(40):
        add_contact(hand.phone, f"Person {n:02d}")
    hand.phone.launch("contacts")
    hand.tap("Person 39")
    assert hand.sees("Person 39") and hand.sees("Call")


def test_calling_and_writing_from_a_contact(hand: Hand) -> None:
    add_contact(hand.phone, "Ada", number="5550000001")
    hand.phone.launch("contacts")
    hand.tap("Ada", "Text")
    assert hand.phone.activity.startswith("com.simplemobiletools.smsmessenger/")
    hand.back()
    hand.tap("Call")
    assert hand.phone.activity.startswith("com.google.android.dialer/") and hand.sees("Calling…")


def test_the_form_can_be_opened_with_a_name_and_a_number(hand: Hand) -> None:
    hand.phone.open("contacts", "edit", name="Ada King Byron", number="+15550000001")
    hand.phone.changed()
    hand.tap("Save")
    (person,) = contacts(hand.phone)
    assert (person.first, person.last, person.phones) == ("Ada", "King Byron", [("+15550000001", "Mobile")])


def test_functions_need_something_to_save(hand: Hand) -> None:
    with pytest.raises(ValueError, match="nothing can be saved"):
        add_contact(hand.phone, "")
    assert hand.phone.data("contacts") == people.fresh()


text = st.text(st.characters(categories=["L", "N"]), max_size=8)
labelled = st.lists(st.tuples(text.filter(bool), st.sampled_from(["Mobile", "Home", "Work", "Other"])), max_size=3)


@given(first=text.filter(bool), last=text, company=text, phones=labelled, emails=labelled)
def test_what_is_saved_is_read_back(first: str, last: str, company: str, phones: list, emails: list) -> None:
    phone = Phone([Launcher(), Contacts()])
    person = Person(first=first, last=last, company=company, phones=phones, emails=emails)
    person.id = save_contact(phone, person)
    assert contact(phone, person.id) == person
    assert save_contact(phone, person) == person.id and contact(phone, person.id) == person
    delete_contact(phone, person.id)
    assert phone.data("contacts") == people.fresh()


def test_numbers_are_recognised_and_shown_as_phones_do() -> None:
    assert pretty("5551234567") == "(555) 123-4567" and pretty("15551234567") == "1 555-123-4567"
    assert pretty("5551234") == "555-1234" and pretty("+15551234567") == "+15551234567" and pretty("123") == "123"
    assert is_number("+1 (555) 123-4567") and not is_number("Ada") and not is_number("12")
    assert same_number("+15551234567", "555-123-4567") and not same_number("123", "5123")


@given(st.text("0123456789", min_size=3, max_size=12))
def test_showing_a_number_keeps_its_digits(number: str) -> None:
    assert digits(pretty(number)) == number


def test_names_are_found_by_number(hand: Hand) -> None:
    add_contact(hand.phone, "Ada", number="(555) 123-4567")
    assert name_of(hand.phone, "+15551234567") == "Ada" and name_of(hand.phone, "5550000000") == ""
    assert name_of(Phone([Launcher()]), "5551234567") == ""
