"""Tasks in which one app says what is to be done in another."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import events, notes
from backtrail.envs.androidworld.phone.apps.expense_data import CATEGORIES
from backtrail.envs.androidworld.phone.apps.texts import RECEIVED
from backtrail.envs.androidworld.tasks import contacts as book
from backtrail.envs.androidworld.tasks import expenses
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.messages import put_messages, texts_of
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.words import day_words, draw_day, draw_numbers, draw_people, put_people

__all__ = ["TASKS", "ContactFromMessage", "ExpenseFromReceipt", "MessageFromNote", "NoteFromEvent"]

_MESSENGER, _CALENDAR, _NOTES = "SMS Messenger", "Simple Calendar Pro", "Markor"

_TRADES = ("plumber", "dentist", "electrician", "piano teacher", "gardener", "painter", "vet", "bicycle mechanic")
_EVENTS = (
    "Team lunch",
    "Chess evening",
    "Parents' meeting",
    "Choir rehearsal",
    "Book club",
    "Yoga class",
    "Quiz night",
)
_PLACES = (
    "Harbour Road 12",
    "Room 4",
    "Clock museum",
    "Mill Lane 7",
    "Town hall",
    "Cafe Gull",
    "Station Square 3",
    "Library",
)
_SHOPS = (("Harbour Market", 3), ("Corner Books", 10), ("Boot Room", 8), ("Tallow Hardware", 4), ("Ebble Pharmacy", 9))
_GOODS = (
    "apples",
    "batteries",
    "bread",
    "candles",
    "cheese",
    "envelopes",
    "gloves",
    "matches",
    "pencils",
    "soap",
    "tape",
    "tea",
)
_FILES = ("garage.md", "list.md", "letter.md", "shed.md", "trip.md", "winter.md", "receipt.md", "door.md")


class _Two(PhoneTask):
    """One app is read, another written."""

    family = "composite"


class ContactFromMessage(_Two):
    """Save somebody whose name and number a contact has written."""

    apps = (_MESSENGER, "Contacts")
    template = (
        "{friend} texted me the name and the number of a {trade}. Save the {trade} as a new contact, under that name."
    )
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw friends and craftspeople; two friends recommend somebody for the same trade, one friend two people."""
        people = draw_people(rng, 8)
        friends, (one, two, three) = people[:5], people[5:]
        trade, other = rng.sample(_TRADES, 2)
        said = "Try this {}: {} {}, {}"
        texts = [
            [RECEIVED, friends[0][2], said.format(trade, *one), 40],
            [RECEIVED, friends[0][2], said.format(other, *two), 35],
            [RECEIVED, friends[1][2], said.format(trade, *three), 30],
        ]
        friend = f"{friends[0][0]} {friends[0][1]}"
        return {"friend": friend, "trade": trade, "people": friends, "one": one, "texts": texts}

    def prepare(self, phone: Phone) -> None:
        """Save the friends and their messages."""
        put_people(phone, self.parameters["people"])
        put_messages(phone, self.parameters["texts"])

    def done(self, phone: Phone) -> bool:
        """There is one more contact, with this name and number; no message was sent or deleted."""
        people = [self.parameters["one"], *self.parameters["people"]]
        return book.book(phone) == book.entries(people) and len(texts_of(phone)) == len(self.parameters["texts"])

    def solve(self, oracle: Oracle) -> None:
        """Read the message, then fill in the form."""
        oracle.open(_MESSENGER)
        oracle.tap(self.parameters["friend"])
        oracle.find(self.parameters["texts"][0][2])
        book.add_by_form(oracle, *self.parameters["one"])


class _Notebook(_Two):
    """Notes are in the notebook; none of them may change."""

    def notes_are(self, phone: Phone, texts: dict[str, str]) -> bool:
        """Whether just these notes are there, apart from spaces around them."""
        found = {name: (notes.note(phone, name) or "").strip() for name in notes.notes(phone)}
        return found == {name: text.strip() for name, text in texts.items()}


class NoteFromEvent(_Notebook):
    """Write down where an event takes place."""

    apps = (_CALENDAR, _NOTES)
    template = (
        'Look up in Simple Calendar Pro where "{title}" takes place on {words}. Create the note {file} in Markor with that place '
        "as its only text."
    )
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw events; the one that is meant takes place elsewhere a week later, and another on the same day."""
        title, *titles = rng.sample(_EVENTS, 4)
        place, *places = rng.sample(_PLACES, 6)
        day, (file, *files) = draw_day(rng, 1, 20), rng.sample(_FILES, 3)
        rows = [[title, day, place], [title, day + timedelta(days=7), places[0]], [titles[0], day, places[1]]]
        rows += [[each, draw_day(rng, 1, 20), places[2 + n]] for n, each in enumerate(titles[1:])]
        had = {each: f"{rng.choice(_GOODS).capitalize()} and {rng.choice(_GOODS)}" for each in files}
        planned = [[name, each.isoformat(), rng.randint(8, 20), where] for name, each, where in rows]
        return {
            "title": title, "day": day.isoformat(), "words": day_words(day), "place": place, "file": file, "events": planned,
            "notes": had,
        }  # fmt: skip

    def prepare(self, phone: Phone) -> None:
        """Write the events and the other notes down."""
        for title, day, hour, place in self.parameters["events"]:
            start = events.midnight(date.fromisoformat(day)) + hour * 3600
            events.add_event(phone, title, start, start + 3600, location=place)
        for name, text in self.parameters["notes"].items():
            notes.add_note(phone, name, text)

    def done(self, phone: Phone) -> bool:
        """The note says the place; the other notes and the events are as they were."""
        kept = sorted([row["title"], row["location"]] for row in events.events(phone))
        wanted = sorted([title, place] for title, _, _, place in self.parameters["events"])
        new = {self.parameters["file"]: self.parameters["place"]}
        return kept == wanted and self.notes_are(phone, {**self.parameters["notes"], **new})

    def solve(self, oracle: Oracle) -> None:
        """Search the event, then write the note."""
        p, day = self.parameters, date.fromisoformat(self.parameters["day"])
        oracle.open(_CALENDAR)
        oracle.tap("Search")
        oracle.type("query", p["title"])
        oracle.place(lambda e: e.text.startswith(f"{day:%b} {day.day}, {day.year}"), p["title"])
        oracle.open(_NOTES)
        if not oracle.sees(p["file"]):
            oracle.tap("Create a new file or folder")
            oracle.type("new_file_dialog__name", p["file"])
            oracle.tap("OK")
        else:
            oracle.tap(p["file"])
        oracle.type("document__fragment__edit__highlighting_editor", p["place"])
        oracle.tap("Save")


class ExpenseFromReceipt(_Notebook):
    """Write down as an expense what a receipt says."""

    apps = (_NOTES, expenses.ExpenseAdd.apps[0])
    template = (
        "The note {file} in Markor is a receipt. Add its total as an expense in Pro Expense, with the shop as the name and the "
        "category {category}, without a note. The date does not matter."
    )
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a receipt, another one beside it, and expenses."""
        (file, beside), shops = rng.sample(_FILES, 2), rng.sample(_SHOPS, 2)
        receipts, sums = zip(*(_receipt(rng, shop) for shop, _ in shops), strict=True)
        shop, kind = shops[0]
        return {
            "file": file, "category": CATEGORIES[kind], "one": [shop, sums[0], kind, "", ""],
            "others": expenses.draw_expenses(rng, 5), "notes": dict(zip((file, beside), receipts, strict=True)),
        }  # fmt: skip

    def prepare(self, phone: Phone) -> None:
        """Write the receipts and the expenses down."""
        for name, text in self.parameters["notes"].items():
            notes.add_note(phone, name, text)
        expenses.put_expenses(phone, self.parameters["others"])

    def done(self, phone: Phone) -> bool:
        """There is one more expense, with all this; the notes are as they were."""
        rows = [*self.parameters["others"], self.parameters["one"]]
        return expenses.spent(phone, rows) == sorted(rows) and self.notes_are(phone, self.parameters["notes"])

    def solve(self, oracle: Oracle) -> None:
        """Read the receipt, then fill in the form."""
        oracle.open(_NOTES)
        oracle.tap(self.parameters["file"])
        expenses.add_by_form(oracle, self.parameters["one"])


def _receipt(rng: random.Random, shop: str) -> tuple[str, int]:
    """Return the text of a receipt and its total in cents."""
    prices = {name: rng.randrange(90, 2500) for name in rng.sample(_GOODS, rng.randint(2, 4))}
    total = sum(prices.values())
    lines = [f"{name}: {cents / 100:.2f}" for name, cents in prices.items()]
    return "\n".join([shop, *lines, f"Total: {total / 100:.2f}", f"Paid: {(total // 1000 + 1) * 10}.00 in cash"]), total


class MessageFromNote(_Notebook):
    """Text a contact the code that a note says."""

    apps = (_NOTES, _MESSENGER)
    template = (
        "Text {name} the door code of the {room}, which is in the note {file} in Markor. Send nothing but the code."
    )
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw people and codes of several rooms."""
        people, rooms = draw_people(rng), rng.sample(("garage", "cellar", "office", "attic", "workshop"), 3)
        codes = [str(rng.randrange(1000, 10000)) for _ in rooms]
        place, (first, last, number) = rng.randrange(3), people[0]
        file, other = rng.sample(_FILES, 2)
        text = "\n".join(["Door codes", *(f"{room}: {code}" for room, code in zip(rooms, codes, strict=True))])
        had = {file: text, other: f"Door codes, old\n{rooms[place]}: {rng.randrange(1000, 10000)}"}
        return {
            "name": f"{first} {last}", "number": number, "room": rooms[place], "code": codes[place], "file": file,
            "people": people, "notes": had, "texts": [[RECEIVED, n, "Hello!", 90] for n in draw_numbers(rng, 2)],
        }  # fmt: skip

    def prepare(self, phone: Phone) -> None:
        """Save the contacts, the notes and some messages."""
        put_people(phone, self.parameters["people"])
        put_messages(phone, self.parameters["texts"])
        for name, text in self.parameters["notes"].items():
            notes.add_note(phone, name, text)

    def done(self, phone: Phone) -> bool:
        """The code was sent to the contact; the notes and the other messages are as they were."""
        sent = [[2, self.parameters["number"], self.parameters["code"], 0]]
        wanted = sorted((kind, number.strip("+"), body) for kind, number, body, _ in [*self.parameters["texts"], *sent])
        return texts_of(phone) == wanted and self.notes_are(phone, self.parameters["notes"])

    def solve(self, oracle: Oracle) -> None:
        """Read the note, then write the message."""
        oracle.open(_NOTES)
        oracle.tap(self.parameters["file"])
        oracle.open(_MESSENGER)
        oracle.tap("New conversation", self.parameters["name"])
        oracle.type("thread_type_message", self.parameters["code"])
        oracle.tap("Send")


TASKS: tuple[type[PhoneTask], ...] = (ContactFromMessage, ExpenseFromReceipt, MessageFromNote, NoteFromEvent)
