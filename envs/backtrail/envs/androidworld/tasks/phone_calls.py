"""Tasks on calls."""

from __future__ import annotations

import random
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.calls import INCOMING, MISSED, OUTGOING, calls, current, log_call
from backtrail.envs.androidworld.phone.apps.extras import digits
from backtrail.envs.androidworld.phone.apps.people import Person, save_contact
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.contacts import book, entries
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.words import draw_number, draw_numbers, draw_people, put_people

__all__ = ["TASKS", "PhoneCallBack", "PhoneCallNumber", "PhoneCallOneOfTwo", "PhoneCallStranger", "PhoneDeleteCalls"]

_APP = "Phone"
_MINUTE = 60

Call = list[Any]
"""Number, type and how many minutes ago."""


def _log(phone: Phone) -> list[tuple[str, int]]:
    """Return digits and type of the calls in the log and of the one that is going on, sorted."""
    rows = [(digits(row["number"]), row["type"]) for row in calls(phone)]
    call = current(phone)
    if call is not None:
        rows.append((digits(call["number"]), INCOMING if call["incoming"] else OUTGOING))
    return sorted(rows)


class _Calls(PhoneTask):
    """People are in the phone book, and some of them in the call log."""

    family = "phone"
    apps = (_APP,)
    steps = 10

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw people with near-equal names and past calls, each at a minute of its own."""
        people = draw_people(rng)
        ago = rng.sample(range(20, 4000), 6)
        kinds = (INCOMING, OUTGOING, MISSED)
        log: list[Call] = [[rng.choice(people)[2], rng.choice(kinds), minutes] for minutes in ago]
        first, last, number = people[0]
        return {"name": f"{first} {last}", "number": number, "people": people, "log": log}

    def prepare(self, phone: Phone) -> None:
        """Save the contacts and the calls."""
        put_people(phone, self.parameters["people"])
        for number, kind, minutes in sorted(self.parameters["log"], key=lambda call: -call[2]):
            log_call(phone, number, kind, minutes * _MINUTE, 0 if kind == MISSED else 30 + minutes % 200)

    def done(self, phone: Phone) -> bool:
        """The number, and no other, has been called, or is being called."""
        expected = [(digits(number), kind) for number, kind, _ in self.parameters["log"]]
        return _log(phone) == sorted([*expected, (digits(self.parameters["number"]), OUTGOING)])


class PhoneCallOneOfTwo(_Calls):
    """Call one of the two numbers of a contact."""

    template = "Call the {label} number of {name}."
    apps = (_APP, "Contacts")

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a second number for each of the first three people."""
        drawn = super().draw(rng)
        place, label = rng.choice(((0, "mobile"), (1, "work"), (1, "work")))
        more = [n for n in draw_numbers(rng, 9) if all(n != person[2] for person in drawn["people"])][:3]
        return {**drawn, "label": label, "more": more, "number": (drawn["number"], more[0])[place]}

    def prepare(self, phone: Phone) -> None:
        """Save people with two numbers, too."""
        people = self.parameters["people"]
        for (first, last, number), work in zip(people, self.parameters["more"], strict=False):
            save_contact(phone, Person(first=first, last=last, phones=[(number, "Mobile"), (work, "Work")]))
        put_people(phone, people[len(self.parameters["more"]) :])
        for number, kind, minutes in sorted(self.parameters["log"], key=lambda call: -call[2]):
            log_call(phone, number, kind, minutes * _MINUTE)

    def solve(self, oracle: Oracle) -> None:
        """Use the contact's page."""
        oracle.open(_APP)
        oracle.tap("Contacts tab", self.parameters["name"])
        oracle.tap(f"Call {self.parameters['label'].capitalize()} {self.parameters['number']}")


class PhoneCallNumber(_Calls):
    """Call a number that is nobody's."""

    template = "Call {number} with the Phone app."

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the number."""
        return {**super().draw(rng), "number": draw_number(rng)}

    def solve(self, oracle: Oracle) -> None:
        """Type it on the keypad; enter calls."""
        oracle.open(_APP)
        oracle.tap("key pad")
        oracle.type("digits", self.parameters["number"])


class PhoneCallBack(_Calls):
    """Call whoever's call was missed last."""

    template = "Call back the person whose call I missed last. The call log is in the Phone app."

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Let the last missed call come from the first person; another was answered later, another missed before."""
        drawn = super().draw(rng)
        _, (_, _, second), (_, _, third), *_ = drawn["people"]
        last: list[Call] = [[drawn["number"], MISSED, 9], [second, INCOMING, 4], [third, MISSED, 15]]
        return {**drawn, "log": [*drawn["log"], *last]}

    def solve(self, oracle: Oracle) -> None:
        """Use the button in the log."""
        oracle.open(_APP)
        oracle.tap(f"Call {self.parameters['name']}")


class PhoneDeleteCalls(_Calls):
    """Delete the calls with one contact from the log."""

    template = "Delete all calls with {name} from the call log of the Phone app, and no others."

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Let there be two calls with the person, and some with those of near-equal names."""
        drawn = super().draw(rng)
        numbers = [drawn["number"], *(person[2] for person in drawn["people"][:3])]
        more = [[number, rng.choice((INCOMING, OUTGOING, MISSED)), 11 + place] for place, number in enumerate(numbers)]
        return {**drawn, "log": [*drawn["log"], *more]}

    def done(self, phone: Phone) -> bool:
        """Just these calls are gone."""
        kept = [(digits(n), kind) for n, kind, _ in self.parameters["log"] if n != self.parameters["number"]]
        return _log(phone) == sorted(kept) and book(phone) == entries(self.parameters["people"])

    def solve(self, oracle: Oracle) -> None:
        """Use the page of the calls with the contact."""
        oracle.open(_APP)
        oracle.tap(self.parameters["name"], "Delete calls", "Delete")


class PhoneCallStranger(_Calls):
    """Call somebody who is neither in the phone book nor in the log; people with near-equal names are."""

    template = "Call {name}. The number is among my contacts."
    infeasible = True

    def prepare(self, phone: Phone) -> None:
        """Leave the person out."""
        people, number = self.parameters["people"], self.parameters["number"]
        put_people(phone, people[1:])
        for other, kind, minutes in self.parameters["log"]:
            if other != number:
                log_call(phone, other, kind, minutes * _MINUTE)

    def done(self, phone: Phone) -> bool:
        """It cannot be done."""
        return False

    def solve(self, oracle: Oracle) -> None:
        """Search in vain."""
        oracle.open("Contacts")
        oracle.type("search", self.parameters["name"])


TASKS: tuple[type[PhoneTask], ...] = (
    PhoneCallOneOfTwo, PhoneCallBack, PhoneCallNumber, PhoneCallStranger, PhoneDeleteCalls,
)  # fmt: skip
