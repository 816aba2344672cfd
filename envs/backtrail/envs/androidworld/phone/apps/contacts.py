"""Contacts: the list, a contact's page, and the form."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import people
from backtrail.envs.androidworld.phone.apps.calls import place_call
from backtrail.envs.androidworld.phone.apps.extras import (
    digits,
    empty,
    face,
    head,
    labelled,
    person_row,
    pretty,
    search,
)
from backtrail.envs.androidworld.phone.apps.people import (
    EMAIL_LABELS,
    PHONE_LABELS,
    Person,
    add_contact,
    contact,
    contacts,
    delete_contact,
    name_of,
    save_contact,
    star,
)
from backtrail.envs.androidworld.phone.apps.texts import open_thread
from backtrail.envs.androidworld.phone.page import GREY, SURFACE
from backtrail.envs.androidworld.phone.views import View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["Contacts", "add_contact", "contact", "contacts", "delete_contact", "name_of", "save_contact", "star"]

_LABELS = {"phone": tuple(PHONE_LABELS), "email": tuple(EMAIL_LABELS)}
_YELLOW = (249, 171, 0)


class Contacts(App):
    """Google's Contacts.

    Pages: "main"; "view" (id); "edit" (id, or nothing for a new one; name, number, company and email fill the form in).
    """

    key = people.KEY
    label = "Contacts"
    package = "com.google.android.contacts"
    activity = "com.android.contacts.activities.PeopleActivity"
    icon = "person"
    tint = (11, 87, 208)

    def fresh(self) -> Data:
        """Return a phone book without anybody."""
        return people.fresh()

    def activity_of(self, page: str) -> str:
        """Return the class of the activity that shows a page."""
        return {
            "view": "com.google.android.apps.contacts.quickcontact.QuickContactActivity",
            "edit": "com.google.android.apps.contacts.editor.ContactEditorActivity",
        }.get(page, self.activity)

    def draw(self, ui: Ui) -> None:
        """Draw a page."""
        {"main": _main, "view": _view, "edit": _edit}[ui.page](ui)


def _main(ui: Ui) -> None:
    words = search(ui, "search", "Search contacts").lower().strip()
    found = [person for person in contacts(ui.phone) if _matches(person, words)]
    with ui.scroll():
        if not words and found:
            ui.text(f"{len(found)} contact{'s' * (len(found) != 1)}", 36, GREY)
        letter = ""
        for person in found:
            if not words and person.name[0].upper() != letter:
                letter = person.name[0].upper()
                ui.header(letter)
            number = pretty(person.phones[0][0]) if words and person.phones else ""
            person_row(ui, person.name, number, tap=lambda id=person.id: ui.phone.go("view", id=id))
        if not found:
            empty(ui, "No results" if words else "No contacts yet", "search" if words else "person")
    ui.floating("add", "Create contact", lambda: ui.phone.go("edit"), resource="floating_action_button")


def _matches(person: Person, words: str) -> bool:
    number = digits(words)
    texts = (person.name, person.company, *(email for email, _ in person.emails))
    in_text = any(words in text.lower() for text in texts)
    return in_text or bool(number and any(number in digits(own) for own, _ in person.phones))


# -- a contact's page -------------------------------------------------------------------------------------


def _view(ui: Ui) -> None:
    phone, person = ui.phone, contact(ui.phone, ui.args["id"])
    if person is None:
        ui.bar("")
        empty(ui, "This contact was deleted")
        return
    named = "Remove from favorites" if person.starred else "Add to favorites"
    ui.bar(
        "",
        ("edit", "Edit contact", lambda: phone.go("edit", id=person.id)),
        ("star", named, lambda: star(phone, person.id, not person.starred)),
        menu=[("Delete", lambda: ui.overlay("delete")), ("Copy number", lambda: _copy(ui, person))],
    )
    if person.starred:
        box = (ui.right - 252, ui.top - 135, ui.right - 132, ui.top - 15)
        ui.add(View("ImageView", box, icon="star", color=_YELLOW))
    with ui.scroll():
        middle = (ui.left + ui.right) // 2
        ui.add(face((middle - 160, ui.top + 30, middle + 160, ui.top + 350), person.name))
        ui.top += 370
        ui.text(person.name, 66, align="center", resource="large_title")
        if person.company and person.company != person.name:
            ui.text(person.company, 42, GREY, "center", resource="organization_name")
        _actions(ui, person)
        if person.phones or person.emails:
            ui.header("Contact info")
        for number, label in person.phones:
            _number_row(ui, number, label)
        for email, label in person.emails:
            ui.row(email, label, icon="file", tap=lambda email=email: phone.toast(f"No app can write to {email}"))
    if ui.state.get("overlay") == "delete":
        ui.confirm("Delete this contact?", "Delete", lambda: _delete(ui, person))


def _actions(ui: Ui, person: Person) -> None:
    """Draw the round buttons below the name."""

    def reach(by: Callable[[Phone, str], None]) -> None:
        if person.phones:
            by(ui.phone, person.phones[0][0])
        else:
            ui.phone.go("edit", id=person.id)

    entries = (("phone", "Call", lambda: reach(place_call)), ("message", "Text", lambda: reach(open_thread)))
    width = (ui.right - ui.left) // len(entries)
    for place, (icon, name, tap) in enumerate(entries):
        x = ui.left + place * width
        labelled(ui, (x, ui.top + 30, x + width, ui.top + 260), icon, name, tap)
    ui.top += 290


def _number_row(ui: Ui, number: str, label: str) -> None:
    shown, phone = pretty(number), ui.phone
    row = ui.row(shown, label, icon="phone", tap=lambda: place_call(phone, number), description=f"Call {label} {shown}")
    _, top, right, bottom = row.bounds
    view = View("ImageButton", (right - 160, top + 30, right - 40, bottom - 30), description=f"Text {shown}")
    view.icon, view.color, view.on_tap = "message", GREY, lambda: open_thread(phone, number)
    ui.add(view)


def _copy(ui: Ui, person: Person) -> None:
    if person.phones:
        ui.phone.state["clipboard"] = person.phones[0][0]
        ui.phone.toast("Number copied")
    else:
        ui.phone.toast("No number")


def _delete(ui: Ui, person: Person) -> None:
    delete_contact(ui.phone, person.id)
    ui.phone.close()
    ui.phone.toast(f"{person.name} deleted")


# -- the form ---------------------------------------------------------------------------------------------


def _edit(ui: Ui) -> None:
    old = contact(ui.phone, ui.args.get("id", 0)) or _prefilled(ui)
    title = "Edit contact" if old.id else "Create contact"
    head(ui, ("close", "Cancel", lambda: _leave(ui, old)), title, save=("Save", lambda: _save(ui, old)))
    with ui.scroll():
        middle = (ui.left + ui.right) // 2
        ui.add(
            View("ImageView", (middle - 110, ui.top + 20, middle + 110, ui.top + 240), description="Contact photo",
                 icon="person", fill=SURFACE, radius=110, color=GREY, size=110)
        )  # fmt: skip
        ui.top += 260
        ui.field("first", "First name", old.first)
        ui.field("last", "Last name", old.last)
        ui.field("company", "Company", old.company)
        _values(ui, "phone", "Phone", old.phones)
        _values(ui, "email", "Email", old.emails)
        ui.gap(60)
    overlay = ui.state.get("overlay", "")
    if overlay == "leave":
        ui.confirm("Discard your changes?", "Discard", ui.phone.close, "Keep editing")
    elif overlay.startswith("label "):
        key = overlay.removeprefix("label ")
        kind = key.rstrip("0123456789")
        have = _label(ui, old, key)
        ui.choose(
            "Select label", _LABELS[kind], have, lambda label: ui.state.setdefault("labels", {}).update({key: label})
        )


def _prefilled(ui: Ui) -> Person:
    """Return what the page was opened with, as a person that has no id yet."""
    first, _, last = ui.args.get("name", "").strip().partition(" ")
    number, email = ui.args.get("number", ""), ui.args.get("email", "")
    phones = [(number, "Mobile")] if number else []
    emails = [(email, "Home")] if email else []
    return Person(first=first, last=last.strip(), company=ui.args.get("company", ""), phones=phones, emails=emails)


def _values(ui: Ui, kind: str, hint: str, old: list[tuple[str, str]]) -> None:
    """Draw the fields for numbers or addresses, each with its label below, and a button for one more."""
    for place in range(_count(ui, kind, old)):
        key = f"{kind}{place}"
        ui.field(key, hint, old[place][0] if place < len(old) else "")
        label = _label_of(ui, key, old, place)
        box = (ui.left + 72, ui.top + 10, ui.left + 470, ui.top + 110)
        ui.add(
            View("Spinner", box, label, description=f"{label} {hint}", fill=SURFACE, radius=20, size=40,
                 on_tap=lambda key=key: ui.overlay(f"label {key}"), resource=ui.id("kind"))
        )  # fmt: skip
        ui.add(View("ImageView", (box[2] - 80, box[1], box[2] - 10, box[3]), icon="down", color=GREY, size=30))
        ui.top += 130
    count = _count(ui, kind, old)
    more = f"Add {hint.lower()}"
    box = (ui.left + 48, ui.top, ui.left + 430, ui.top + 110)
    view = View("Button", box, more, on_tap=lambda: ui.state.update({kind: count + 1}), color=ui.app.tint, size=40)
    ui.add(view)
    ui.top += 120


def _count(ui: Ui, kind: str, old: list[tuple[str, str]]) -> int:
    return ui.state.get(kind, max(1, len(old)))


def _label_of(ui: Ui, key: str, old: list[tuple[str, str]], place: int) -> str:
    default = old[place][1] if place < len(old) else _LABELS[key.rstrip("0123456789")][0]
    return ui.state.get("labels", {}).get(key, default)


def _label(ui: Ui, old: Person, key: str) -> str:
    values = old.phones if key.startswith("phone") else old.emails
    return _label_of(ui, key, values, int(key.lstrip("phonemail")))


def _entered(ui: Ui, old: Person) -> Person:
    """Return the person that the form describes."""
    lists: dict[str, list[tuple[str, str]]] = {}
    for kind, values in (("phone", old.phones), ("email", old.emails)):
        lists[kind] = []
        for place in range(_count(ui, kind, values)):
            key = f"{kind}{place}"
            text = ui.typed(key, values[place][0] if place < len(values) else "").strip()
            if text:
                lists[kind].append((text, _label_of(ui, key, values, place)))
    return Person(
        id=old.id,
        first=ui.typed("first", old.first).strip(),
        last=ui.typed("last", old.last).strip(),
        company=ui.typed("company", old.company).strip(),
        starred=old.starred,
        phones=lists["phone"],
        emails=lists["email"],
    )


def _leave(ui: Ui, old: Person) -> None:
    if _entered(ui, old) == old:
        ui.phone.close()
    else:
        ui.overlay("leave")


def _save(ui: Ui, old: Person) -> None:
    person = _entered(ui, old)
    if not person.name:
        ui.phone.toast("Nothing to save: add a name or a number")
        return
    number = save_contact(ui.phone, person)
    if old.id:
        ui.phone.close()
    else:
        ui.phone.swap("view", id=number)
    ui.phone.toast("Contact saved")
