"""Phone: favourites, recent calls, contacts and the keypad; `call_page` draws the call itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import calls
from backtrail.envs.androidworld.phone.apps.call_page import draw_call, draw_pad
from backtrail.envs.androidworld.phone.apps.calls import (
    INCOMING,
    MISSED,
    OUTGOING,
    REJECTED,
    clear_calls,
    current,
    open_call,
    place_call,
)
from backtrail.envs.androidworld.phone.apps.extras import (
    cut,
    digits,
    empty,
    face,
    is_number,
    labelled,
    pad,
    person_row,
    pretty,
    search,
    when,
)
from backtrail.envs.androidworld.phone.apps.people import KEY as PEOPLE
from backtrail.envs.androidworld.phone.apps.people import Person, contacts, name_of, person_with
from backtrail.envs.androidworld.phone.apps.texts import open_thread
from backtrail.envs.androidworld.phone.page import GREY, SURFACE, WHITE
from backtrail.envs.androidworld.phone.views import View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["Dialer"]

_KINDS = {INCOMING: "Incoming", OUTGOING: "Outgoing", MISSED: "Missed", REJECTED: "Declined"}
_TABS = (("star", "Favorites"), ("clock", "Recents"), ("person", "Contacts"))
_BAR = 190


class Dialer(App):
    """Google's Phone.

    Pages: "main"; "dialpad" (number); "details" (number); "call".
    """

    key = calls.KEY
    label = "Phone"
    package = "com.google.android.dialer"
    activity = "com.google.android.dialer.extensions.GoogleDialtactsActivity"
    icon = "phone"
    tint = (11, 87, 208)

    def fresh(self) -> Data:
        """Return the data of a phone that never called."""
        return calls.fresh()

    def activity_of(self, page: str) -> str:
        """Return the class of the activity that shows a page."""
        return {
            "call": "com.android.incallui.InCallActivity",
            "details": "com.android.dialer.calldetails.CallDetailsActivity",
        }.get(page, self.activity)

    def draw(self, ui: Ui) -> None:
        """Draw a page."""
        {"main": _main, "dialpad": _dialpad, "details": _details, "call": draw_call}[ui.page](ui)

    def tick(self, phone: Phone) -> None:
        """Let the other side answer."""
        call = current(phone)
        if call is not None and not call["incoming"] and call["since"] is None:
            answered = call["begun"] + calls.PICK_UP
            call["since"] = answered if phone.state["now"] >= answered else None


def _main(ui: Ui) -> None:
    chosen = ui.state.get("tab", "Recents")
    menu = [("Clear call history", lambda: ui.overlay("clear"))]
    words = search(ui, "search", "Search contacts", ("more", "More options", lambda: ui.overlay("menu")))
    if current(ui.phone) is not None:
        _return_row(ui)
    top = ui.top
    with ui.scroll(f"{chosen} list", keep=_BAR):
        if words.strip():
            _found(ui, words.strip())
        else:
            {"Favorites": _favorites, "Recents": _recents, "Contacts": _contacts}[chosen](ui)
    _tabs(ui, chosen)
    box = (ui.right - 230, ui.bottom - _BAR - 220, ui.right - 60, ui.bottom - _BAR - 50)
    pad(ui, box, "key pad", lambda: ui.phone.go("dialpad", number=""))
    if ui.state.get("overlay") == "menu":
        ui.top = top
        ui.menu(menu)
    elif ui.state.get("overlay") == "clear":
        ui.confirm("Clear call history?", "Clear", lambda: clear_calls(ui.phone))


def _tabs(ui: Ui, chosen: str) -> None:
    top, width = ui.bottom - _BAR, (ui.right - ui.left) // len(_TABS)
    ui.add(View("FrameLayout", (ui.left, top, ui.right, ui.bottom), fill=SURFACE))
    for place, (icon, name) in enumerate(_TABS):
        x, on = ui.left + place * width, name == chosen
        color = ui.app.tint if on else GREY
        cell = View("FrameLayout", (x, top, x + width, ui.bottom), description=f"{name} tab", selected=on, fill=SURFACE)
        cell.on_tap = lambda name=name: ui.state.update(tab=name)
        cell.children = [
            View("ImageView", (x, top + 20, x + width, top + 100), icon=icon, color=color, size=46),
            View("TextView", (x, top + 105, x + width, top + 165), name, color=color, size=34, align="center"),
        ]
        ui.add(cell)


def _return_row(ui: Ui) -> None:
    box = (ui.left, ui.top, ui.right, ui.top + 120)
    view = View("TextView", box, "Return to call in progress", color=WHITE, fill=(24, 128, 56), align="center", size=40)
    view.on_tap = lambda: open_call(ui.phone)
    ui.add(view)
    ui.top += 120


def _favorites(ui: Ui) -> None:
    starred = [person for person in contacts(ui.phone) if person.starred]
    if not starred:
        empty(ui, "No favorites yet", "star")
        return
    width, top = (ui.right - ui.left) // 3, ui.top
    for place, person in enumerate(starred):
        x, y = ui.left + place % 3 * width, top + 30 + place // 3 * 370
        number = person.phones[0][0] if person.phones else ""
        cell = View("FrameLayout", (x, y, x + width, y + 350), description=f"Call {person.name}")
        cell.on_tap = lambda number=number, id=person.id: (
            place_call(ui.phone, number) if number else ui.phone.hand_over(PEOPLE, "view", id=id)
        )
        ui.add(cell)
        cell.children.append(face((x + 60, y + 10, x + width - 60, y + width - 110), person.name))
        name = cut(person.name, 38, width - 20)
        ui.add(View("TextView", (x, y + 270, x + width, y + 330), name, size=38, align="center"))
    ui.top = top + 30 + (len(starred) + 2) // 3 * 370


def _recents(ui: Ui) -> None:
    log = calls.calls(ui.phone)
    if not log:
        empty(ui, "Your call log is empty", "clock")
    for row in log:
        number = row["number"]
        name = name_of(ui.phone, number) or pretty(number)
        person_row(
            ui,
            name,
            f"{_KINDS[row['type']]}, {when(ui.phone, row['date'] / 1000)}",
            warn=row["type"] == MISSED,
            tap=lambda number=number: ui.phone.go("details", number=number),
            button=("phone", f"Call {name}", lambda number=number: place_call(ui.phone, number)),
        )


def _contacts(ui: Ui) -> None:
    ui.row("Create new contact", icon="add", tap=lambda: ui.phone.hand_over(PEOPLE, "edit"))
    for person in contacts(ui.phone):
        person_row(ui, person.name, tap=lambda id=person.id: ui.phone.hand_over(PEOPLE, "view", id=id))


def _found(ui: Ui, words: str) -> None:
    """Draw what matches the words in the search field."""
    for person in _matches(ui.phone, words):
        _person(ui, person)
    if is_number(words):
        _number_rows(ui, words)
    elif not _matches(ui.phone, words):
        empty(ui, "No contacts found", "search")


def _person(ui: Ui, person: Person) -> None:
    for number, label in person.phones:
        tap = lambda number=number: place_call(ui.phone, number)
        person_row(ui, person.name, f"{label} {pretty(number)}", tap=tap)


def _matches(phone: Phone, words: str) -> list[Person]:
    number = digits(words) if is_number(words) or words.isdigit() else ""
    return [
        person
        for person in contacts(phone)
        if words.lower() in person.name.lower() or (number and any(number in digits(own) for own, _ in person.phones))
    ]


def _number_rows(ui: Ui, number: str) -> None:
    """Draw what can be done with a number that was typed."""
    shown, phone = pretty(number), ui.phone
    ui.row(f"Call {shown}", icon="phone", tap=lambda: place_call(phone, number))
    if person_with(phone, number) is None:
        ui.row("Create new contact", icon="person", tap=lambda: phone.hand_over(PEOPLE, "edit", number=number))
    ui.row("Send a message", icon="message", tap=lambda: open_thread(phone, number))


def _dialpad(ui: Ui) -> None:
    ui.bar("", menu=[("Clear number", lambda: ui.fill("digits", ""))])
    number = ui.typed("digits", ui.args["number"])
    high = 0 if ui.phone.state["keyboard"] else 1120
    with ui.scroll(keep=high + 160):
        for person in _matches(ui.phone, number) if len(number) >= 2 else ():
            _person(ui, person)
        if is_number(number):
            _number_rows(ui, number)
    top = ui.bottom - high - 160
    field = View("EditText", (ui.left + 150, top + 10, ui.right - 150, top + 140), number, field="digits", size=66)
    field.align, field.resource, field.description = "center", ui.id("digits"), "Phone number"
    field.focused = ui.phone.state["focus"] == "digits"
    field.on_tap = lambda: _dial(ui, number)  # the enter key dials
    ui.add(field)
    if number:
        box = (ui.right - 140, top + 20, ui.right - 20, top + 130)
        erase = View("ImageButton", box, description="backspace", icon="left", color=GREY)
        erase.on_tap, erase.on_hold = lambda: ui.fill("digits", number[:-1]), lambda: ui.fill("digits", "")
        ui.add(erase)
    if high:
        ui.top = top + 160
        draw_pad(ui, lambda key: ui.fill("digits", number + key))
        middle = (ui.left + ui.right) // 2
        box = (middle - 110, ui.bottom - 200, middle + 110, ui.bottom - 30)
        dial = View("ImageButton", box, description="dial", icon="phone", fill=(24, 128, 56), color=WHITE, radius=85)
        dial.on_tap, dial.resource = lambda: _dial(ui, number), ui.id("dialpad_voice_call_button")
        ui.add(dial)


def _dial(ui: Ui, number: str) -> None:
    """Call what was typed; with nothing typed, put the number that was called last into the field."""
    if number:
        place_call(ui.phone, number)
        return
    last = next((row["number"] for row in calls.calls(ui.phone) if row["type"] == OUTGOING), "")
    ui.fill("digits", last)


def _details(ui: Ui) -> None:
    number, phone = ui.args["number"], ui.phone
    person = person_with(phone, number)
    ui.bar("Call details", ("delete", "Delete calls", lambda: ui.overlay("delete")))
    name = person.name if person is not None else pretty(number)
    person_row(ui, name, pretty(number) if person is not None else "Not in your contacts")
    entries = [
        ("phone", "Call", lambda: place_call(phone, number)),
        ("message", "Message", lambda: open_thread(phone, number)),
        (
            ("add", "Add to contacts", lambda: phone.hand_over(PEOPLE, "edit", number=number))
            if person is None
            else ("person", "View contact", lambda: phone.hand_over(PEOPLE, "view", id=person.id))
        ),
    ]
    width = (ui.right - ui.left) // len(entries)
    for place, (icon, words, tap) in enumerate(entries):
        labelled(
            ui, (ui.left + place * width, ui.top + 20, ui.left + (place + 1) * width, ui.top + 240), icon, words, tap
        )
    ui.top += 260
    ui.line()
    with ui.scroll():
        for row in calls.calls(phone):
            if digits(row["number"]) == digits(number):
                _call_row(ui, row)
    if ui.state.get("overlay") == "delete":
        ui.confirm(f"Delete all calls with {name}?", "Delete", lambda: _delete(ui, number))


def _call_row(ui: Ui, row: Mapping[str, Any]) -> None:
    length = row["duration"]
    lasted = f"{length // 60} min {length % 60} sec" if length else ""
    ui.row(f"{_KINDS[row['type']]} call", when(ui.phone, row["date"] / 1000), icon="phone", trailing=lasted)


def _delete(ui: Ui, number: str) -> None:
    clear_calls(ui.phone, number)
    ui.phone.close()
