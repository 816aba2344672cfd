"""Tasks on the phone book."""

from __future__ import annotations

import random
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.extras import digits
from backtrail.envs.androidworld.phone.apps.people import contacts, star
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.words import draw_number, draw_people, put_people, same

__all__ = [
    "TASKS",
    "ContactsAdd",
    "ContactsChangeNumber",
    "ContactsDelete",
    "ContactsDraft",
    "ContactsStar",
    "add_by_form",
    "book",
    "entries",
]

_APP = "Contacts"

Entry = tuple[str, tuple[str, ...], bool, str, tuple[str, ...]]
"""Name, digits of the numbers, whether it is a favourite, company and addresses."""


def book(phone: Phone) -> list[Entry]:
    """Return what is in the phone book, sorted."""
    return sorted(
        (p.name, tuple(digits(n) for n, _ in p.phones), p.starred, p.company, tuple(email for email, _ in p.emails))
        for p in contacts(phone)
    )


def entries(people: list[list[str]], starred: str = "") -> list[Entry]:
    """Return what `book` returns if just these people are in it; ``starred`` is the name of a favourite."""
    names = [(f"{first} {last}", number) for first, last, number in people]
    return sorted((name, (digits(number),), name == starred, "", ()) for name, number in names)


def add_by_form(oracle: Oracle, first: str, last: str, number: str) -> None:
    """Add a contact in the app."""
    oracle.open(_APP)
    oracle.tap("Create contact")
    oracle.type("First name", first)
    oracle.type("Last name", last)
    oracle.type("Phone", number)
    oracle.tap("Save")


class _Contact(PhoneTask):
    """Something is to be done to the first of some people, all of whom are in the phone book."""

    family = "contacts"
    apps = (_APP,)

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw people with near-equal names."""
        people = draw_people(rng)
        return {"name": f"{people[0][0]} {people[0][1]}", "people": people, "number": draw_number(rng)}

    def prepare(self, phone: Phone) -> None:
        """Save all of them."""
        put_people(phone, self.parameters["people"])


class ContactsAdd(_Contact):
    """Add a person to the phone book, in which people with near-equal names are."""

    template = "Add a new contact in the Contacts app: {name}, phone number {number}."
    steps = 15

    def prepare(self, phone: Phone) -> None:
        """Save the others."""
        put_people(phone, self.parameters["people"][1:])

    def done(self, phone: Phone) -> bool:
        """There is one more contact, with this name and number."""
        (first, last, _), *others = self.parameters["people"]
        return book(phone) == entries([[first, last, self.parameters["number"]], *others])

    def solve(self, oracle: Oracle) -> None:
        """Fill in the form."""
        first, last, _ = self.parameters["people"][0]
        add_by_form(oracle, first, last, self.parameters["number"])


class ContactsChangeNumber(_Contact):
    """Give a contact another number."""

    template = "{name} has a new phone number. Change it in the Contacts app to {number}, in place of the old one."
    steps = 15

    def done(self, phone: Phone) -> bool:
        """The contact has the new number alone; everything else is as it was."""
        (first, last, _), *others = self.parameters["people"]
        return book(phone) == entries([[first, last, self.parameters["number"]], *others])

    def solve(self, oracle: Oracle) -> None:
        """Open the contact's form."""
        oracle.open(_APP)
        oracle.tap(self.parameters["name"], "Edit contact")
        oracle.type("phone0", self.parameters["number"])
        oracle.tap("Save")


class ContactsDelete(_Contact):
    """Delete a contact."""

    template = "Delete {name} from the Contacts app."
    steps = 15

    def done(self, phone: Phone) -> bool:
        """The contact is gone, and no other."""
        return book(phone) == entries(self.parameters["people"][1:])

    def solve(self, oracle: Oracle) -> None:
        """Use the menu of the contact's page."""
        oracle.open(_APP)
        oracle.tap(self.parameters["name"], "More options", "Delete", "Delete")


class ContactsStar(_Contact):
    """Make a contact the only favourite."""

    template = "Make {name} a favorite in the Contacts app, and {old} no longer one."
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw people; the last is the favourite so far."""
        drawn = super().draw(rng)
        first, last, _ = drawn["people"][-1]
        return {**drawn, "old": f"{first} {last}"}

    def prepare(self, phone: Phone) -> None:
        """Save all of them, with the old favourite."""
        super().prepare(phone)
        star(phone, next(person.id for person in contacts(phone) if person.name == self.parameters["old"]))

    def done(self, phone: Phone) -> bool:
        """The contact is the only favourite; everything else is as it was."""
        return book(phone) == entries(self.parameters["people"], starred=self.parameters["name"])

    def solve(self, oracle: Oracle) -> None:
        """Touch the star on both pages."""
        for name, button in (
            (self.parameters["name"], "Add to favorites"),
            (self.parameters["old"], "Remove from favorites"),
        ):
            oracle.open(_APP)
            oracle.tap(name)
            if oracle.sees(button):
                oracle.tap(button)


class ContactsDraft(_Contact):
    """Fill in the form of a new contact and leave it open."""

    template = (
        "Open the form of a new contact in the Contacts app and enter the first name {first}, the last name {last} and the "
        "phone number {number} with the label {label}. Do not save it: leave the form open."
    )
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw people and a label."""
        drawn = super().draw(rng)
        first, last, _ = drawn["people"][0]
        return {**drawn, "first": first, "last": last, "label": rng.choice(("Home", "Work", "Main", "Pager", "Other"))}

    def prepare(self, phone: Phone) -> None:
        """Save the others."""
        put_people(phone, self.parameters["people"][1:])

    def done(self, phone: Phone) -> bool:
        """The form of a new contact is open with all this, and nothing was saved."""
        top, p = phone.top, self.parameters
        if (top["app"], top["page"]) != ("contacts", "edit") or "id" in top["args"]:
            return False
        typed = {key: text.strip() for key, text in top["state"].get("fields", {}).items() if text.strip()}
        names = {"first": p["first"], "last": p["last"]}
        return (
            same(typed.pop("phone0", ""), p["number"])
            and typed == names
            and top["state"].get("labels", {}).get("phone0") == p["label"]
            and book(phone) == entries(p["people"][1:])
        )

    def solve(self, oracle: Oracle) -> None:
        """Fill in the form."""
        oracle.open(_APP)
        oracle.tap("Create contact")
        for field, value in (("First name", "first"), ("Last name", "last"), ("Phone", "number")):
            oracle.type(field, self.parameters[value])
        oracle.tap("Mobile Phone", self.parameters["label"])


TASKS: tuple[type[PhoneTask], ...] = (ContactsAdd, ContactsChangeNumber, ContactsDelete, ContactsDraft, ContactsStar)
