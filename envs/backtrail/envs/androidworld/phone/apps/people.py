"""The contacts provider: people with names, numbers and addresses, in rows as Android's contacts database has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.apps.extras import same_number

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.app import Data
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "EMAIL_LABELS", "KEY", "PHONE_LABELS", "Person", "add_contact", "contact", "contacts", "delete_contact", "fresh",
    "name_of", "person_with", "save_contact", "star",
]  # fmt: skip

KEY = "contacts"

PHONE_LABELS = {"Mobile": 2, "Home": 1, "Work": 3, "Main": 12, "Work Fax": 4, "Home Fax": 5, "Pager": 6, "Other": 7}
"""Labels of a number with Android's codes (``data2`` of a phone row)."""

EMAIL_LABELS = {"Home": 1, "Work": 2, "Other": 3, "Mobile": 4}
"""Labels of an e-mail address with Android's codes."""

_NAME, _PHONE, _EMAIL, _COMPANY = (
    f"vnd.android.cursor.item/{kind}" for kind in ("name", "phone_v2", "email_v2", "organization")
)


@dataclass
class Person:
    """A contact as the screens show it; phones and emails are pairs of value and label."""

    id: int = 0
    first: str = ""
    last: str = ""
    company: str = ""
    starred: bool = False
    phones: list[tuple[str, str]] = field(default_factory=list)
    emails: list[tuple[str, str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The display name: the full name, or else the first thing that is known."""
        full = " ".join(part for part in (self.first, self.last) if part)
        values = [self.company, *(value for value, _ in self.phones), *(value for value, _ in self.emails)]
        return full or next((value for value in values if value), "")


def fresh() -> Data:
    """Return the tables of a phone without contacts."""
    return {"raw_contacts": [], "data": []}


def contacts(phone: Phone) -> list[Person]:
    """Return all contacts by name."""
    tables = phone.state["apps"].get(KEY)
    if tables is None:
        return []
    people = {row["_id"]: Person(id=row["_id"], starred=row["starred"] == 1) for row in tables["raw_contacts"]}
    for row in tables["data"]:
        _read(row, people[row["raw_contact_id"]])
    return sorted(people.values(), key=lambda person: (person.name.lower(), person.id))


def contact(phone: Phone, number: int) -> Person | None:
    """Return the contact with an id; None if it was deleted."""
    return next((person for person in contacts(phone) if person.id == number), None)


def person_with(phone: Phone, number: str) -> Person | None:
    """Return the first contact that has a phone number."""
    return next((p for p in contacts(phone) if any(same_number(own, number) for own, _ in p.phones)), None)


def name_of(phone: Phone, number: str) -> str:
    """Return the name of whoever has a phone number, "" for nobody known."""
    person = person_with(phone, number)
    return person.name if person is not None else ""


def add_contact(
    phone: Phone,
    first: str,
    last: str = "",
    number: str = "",
    label: str = "Mobile",
    company: str = "",
    email: str = "",
) -> int:
    """Add a contact and return its id."""
    phones = [(number, label)] if number else []
    emails = [(email, "Home")] if email else []
    return save_contact(phone, Person(first=first, last=last, company=company, phones=phones, emails=emails))


def save_contact(phone: Phone, person: Person) -> int:
    """Write a contact, a new one if its id is 0, and return its id.

    Raises:
        ValueError: If nothing is known of the person.
    """
    if not person.name:
        raise ValueError("Expected a name, company, number or address, got none: nothing can be saved")
    tables = phone.data(KEY)
    number = person.id or phone.new_id()
    old = next((row for row in tables["raw_contacts"] if row["_id"] == number), None)
    if old is None:
        old = {"_id": number, "contact_id": number, "display_name": "", "starred": int(person.starred), "deleted": 0}
        tables["raw_contacts"].append(old)
    old["display_name"] = person.name
    kept = [row for row in tables["data"] if row["raw_contact_id"] != number]
    tables["data"] = [*kept, *_rows(phone, number, person)]
    return number


def delete_contact(phone: Phone, number: int) -> None:
    """Delete the contact with an id; nothing if there is none."""
    tables = phone.data(KEY)
    tables["raw_contacts"] = [row for row in tables["raw_contacts"] if row["_id"] != number]
    tables["data"] = [row for row in tables["data"] if row["raw_contact_id"] != number]


def star(phone: Phone, number: int, on: bool = True) -> None:
    """Make a contact a favourite, or no longer one."""
    for row in phone.data(KEY)["raw_contacts"]:
        if row["_id"] == number:
            row["starred"] = int(on)


def _read(row: dict[str, Any], person: Person) -> None:
    """Take over what one row of the table ``data`` says."""
    kind = row["mimetype"]
    if kind == _NAME:
        person.first, person.last = row["data2"], row["data3"]
    elif kind == _COMPANY:
        person.company = row["data1"]
    elif kind == _PHONE:
        person.phones.append((row["data1"], _label(PHONE_LABELS, row["data2"])))
    elif kind == _EMAIL:
        person.emails.append((row["data1"], _label(EMAIL_LABELS, row["data2"])))


def _rows(phone: Phone, number: int, person: Person) -> list[dict[str, Any]]:
    def row(kind: str, first: str, second: str | int, third: str = "") -> dict[str, Any]:
        values = {"data1": first, "data2": second, "data3": third}
        return {"_id": phone.new_id(), "raw_contact_id": number, "mimetype": kind, **values}

    rows = []
    full = " ".join(part for part in (person.first, person.last) if part)
    if full:
        rows.append(row(_NAME, full, person.first, person.last))
    if person.company:
        rows.append(row(_COMPANY, person.company, 1))
    rows += [row(_PHONE, value, PHONE_LABELS[label]) for value, label in person.phones]
    rows += [row(_EMAIL, value, EMAIL_LABELS[label]) for value, label in person.emails]
    return rows


def _label(labels: dict[str, int], code: int) -> str:
    return next((label for label, each in labels.items() if each == code), "Other")
