"""Tasks on the phone book: solved by touch, and refused where something else was done."""

from __future__ import annotations

import pytest
from checking_tasks import prepared, solved

from backtrail.envs.androidworld.phone.apps.people import add_contact, contacts, delete_contact, save_contact, star
from backtrail.envs.androidworld.tasks import contacts as family
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.contacts import (
    ContactsAdd,
    ContactsChangeNumber,
    ContactsDelete,
    ContactsDraft,
    ContactsStar,
)


def test_another_number_is_refused() -> None:
    task = ContactsAdd(0)
    phone = prepared(task).phone
    first, last, _ = task.parameters["people"][0]
    add_contact(phone, first, last, "+15550000000")
    assert not task.done(phone)


def test_the_number_may_be_written_in_any_way_and_with_any_label() -> None:
    task = ContactsAdd(0)
    phone = prepared(task).phone
    first, last, _ = task.parameters["people"][0]
    number = task.parameters["number"]
    add_contact(phone, first, last, f"{number[:2]} ({number[2:5]}) {number[5:]}", "Work")
    assert task.done(phone)


@pytest.mark.parametrize("kind", family.TASKS)
def test_one_contact_too_many_is_refused(kind: type[PhoneTask]) -> None:
    task = kind(1)
    phone = solved(task).phone
    add_contact(phone, "Somebody", "Else", "555 0199")
    assert not task.done(phone)


def test_deleting_a_near_equal_name_is_refused() -> None:
    task = ContactsDelete(0)
    phone = prepared(task).phone
    first, last, _ = task.parameters["people"][1]
    delete_contact(phone, next(p.id for p in contacts(phone) if p.name == f"{first} {last}"))
    assert not task.done(phone)


def test_a_second_number_beside_the_old_one_is_refused() -> None:
    task = ContactsChangeNumber(0)
    phone = prepared(task).phone
    person = next(p for p in contacts(phone) if p.name == task.parameters["name"])
    for phones, done in (
        ([(task.parameters["number"], "Home")], True),
        ([*person.phones, (task.parameters["number"], "Home")], False),
    ):
        person.phones = phones
        save_contact(phone, person)
        assert task.done(phone) is done


def test_two_favourites_are_refused() -> None:
    task = ContactsStar(0)
    phone = solved(task).phone
    star(phone, next(p.id for p in contacts(phone) if p.name == task.parameters["old"]))
    assert not task.done(phone)


def test_a_saved_draft_is_refused() -> None:
    task = ContactsDraft(0)
    oracle = solved(task)
    oracle.tap("Save")
    assert not task.done(oracle.phone)


def test_each_part_of_the_draft_counts() -> None:
    task = ContactsDraft(0)
    oracle = solved(task)
    label = task.parameters["label"]
    oracle.tap(f"{label} Phone", "Mobile")
    assert not task.done(oracle.phone)
    oracle.tap("Mobile Phone", label)
    assert task.done(oracle.phone)
    for field in ("first", "last", "company", "phone0"):
        saved = oracle.phone.save()
        oracle.type(field, "12")
        assert not task.done(oracle.phone)
        oracle.phone.load(saved)
