"""Tasks on text messages."""

from __future__ import annotations

import random
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.extras import digits
from backtrail.envs.androidworld.phone.apps.texts import RECEIVED, SENT, messages, receive, send
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.words import answered, draw_number, draw_people, put_people

__all__ = [
    "TASKS",
    "SmsDeleteConversation",
    "SmsForwardAddress",
    "SmsReplyToLatest",
    "SmsResend",
    "SmsSendToContact",
    "SmsSendToNumber",
    "SmsWhenToMeet",
    "put_messages",
    "texts_of",
]

_APP = "SMS Messenger"
_MINUTE = 60

_TEXTS = (
    "I will be ten minutes late.", "The parcel has arrived.", "Please bring the blue folder.", "Dinner is at seven tonight.",
    "Can you water the plants?", "The meeting moved to room 12.", "Thank you for the lovely evening!", "I found your umbrella.",
    "The train is full, I take the next one.", "Happy birthday, see you on Friday!", "The key is under the flower pot.",
    "Do you still need the ladder?", "We are out of coffee again.", "My flight lands at noon.", "The game starts at three.",
    "Could you feed the cat tomorrow?", "The report is ready.", "Let us talk about it on Monday.", "I left my scarf at your place.",
    "The plumber comes on Tuesday.",
)  # fmt: skip
_STREETS = ("Lark Street", "Harbour Road", "Mill Lane", "Cedar Avenue", "Station Square", "Orchard Row", "Quay Street")
_TOWNS = ("Port Ellery", "Brackwater", "Tallow Hill", "Vessel Bridge")
_PLACES = ("at the station", "at the museum", "at the fish market", "in front of the library", "at the bakery")

Text = list[Any]
"""Type, number, text and how many minutes ago."""


def put_messages(phone: Phone, texts: list[Text]) -> None:
    """Write messages into the phone, the oldest first."""
    for kind, number, body, minutes in sorted(texts, key=lambda text: -text[3]):
        (receive if kind == RECEIVED else send)(phone, number, body, seconds_ago=minutes * _MINUTE)


def texts_of(phone: Phone) -> list[tuple[int, str, str]]:
    """Return type, digits and text of all messages, sorted."""
    return sorted((row["type"], digits(row["address"]), row["body"].strip()) for row in messages(phone))


def _expected(texts: list[Text], *more: tuple[str, str]) -> list[tuple[int, str, str]]:
    """Return what `texts_of` returns with these messages, and those that were sent: (number, text)."""
    new = [(SENT, digits(number), body) for number, body in more]
    return sorted([(kind, digits(number), body) for kind, number, body, _ in texts] + new)


def _write(oracle: Oracle, text: str) -> None:
    oracle.type("thread_type_message", text)
    oracle.tap("Send")


class _Sms(PhoneTask):
    """People who are contacts have written; the first of them is meant."""

    family = "messages"
    apps = (_APP,)
    steps = 10

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw people, what they wrote and what was written to them, and a new text."""
        people, (text, *bodies) = draw_people(rng), rng.sample(_TEXTS, 13)
        texts: list[Text] = []
        for place, (_, _, number) in enumerate(people):
            texts.append([RECEIVED, number, bodies[2 * place], rng.randrange(10, 3000)])
            if rng.random() < 0.5:
                texts.append([SENT, number, bodies[2 * place + 1], rng.randrange(10, 3000)])
        first, last, number = people[0]
        return {"name": f"{first} {last}", "number": number, "text": text, "people": people, "texts": texts}

    def prepare(self, phone: Phone) -> None:
        """Save the contacts and the messages."""
        put_people(phone, self.parameters["people"])
        put_messages(phone, self.parameters["texts"])

    def sent(self) -> tuple[str, str]:
        """Return what is to be sent: number and text."""
        return self.parameters["number"], self.parameters["text"]

    def done(self, phone: Phone) -> bool:
        """The one message was sent; all others are as they were."""
        return texts_of(phone) == _expected(self.parameters["texts"], self.sent())


class SmsSendToNumber(_Sms):
    """Send a text to a number that is nobody's."""

    template = 'Send a text message to {number} with SMS Messenger: "{text}"'
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the number."""
        return {**super().draw(rng), "number": draw_number(rng)}

    def solve(self, oracle: Oracle) -> None:
        """Begin a conversation; enter goes on from the number."""
        oracle.open(_APP)
        oracle.tap("New conversation")
        oracle.type("new_conversation_address", self.parameters["number"])
        _write(oracle, self.parameters["text"])


class SmsSendToContact(_Sms):
    """Send a text to a contact with whom there is no conversation yet."""

    template = 'Send {name} a text message with SMS Messenger: "{text}"'
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Leave out the messages with the person."""
        drawn = super().draw(rng)
        return {**drawn, "texts": [text for text in drawn["texts"] if text[1] != drawn["number"]]}

    def solve(self, oracle: Oracle) -> None:
        """Choose the contact for a new conversation."""
        oracle.open(_APP)
        oracle.tap("New conversation", self.parameters["name"])
        _write(oracle, self.parameters["text"])


class SmsReplyToLatest(_Sms):
    """Answer the message that came last, whoever sent it."""

    template = 'Reply in SMS Messenger to the text message that I received last: "{text}"'

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Let the first person write last, but something was sent to another after that."""
        drawn = super().draw(rng)
        number, other = drawn["number"], drawn["people"][1][2]
        texts = [text for text in drawn["texts"] if text[1] != number and text[0] == RECEIVED]
        bodies = rng.sample([body for body in _TEXTS if body not in (drawn["text"], *(text[2] for text in texts))], 2)
        texts += [[RECEIVED, number, bodies[0], 5], [SENT, other, bodies[1], 2]]
        return {**drawn, "texts": texts}

    def solve(self, oracle: Oracle) -> None:
        """Open the sender's conversation."""
        oracle.open(_APP)
        oracle.tap(self.parameters["name"])
        _write(oracle, self.parameters["text"])


class SmsResend(_Sms):
    """Send once more what was sent to a contact last."""

    template = (
        "{name} did not get the last text message that I sent. Send the same text to {name} again with SMS Messenger."
    )

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Let two messages have gone to the person; the later one is meant."""
        drawn = super().draw(rng)
        kept = [text for text in drawn["texts"] if text[1] != drawn["number"]]
        older = rng.choice([body for body in _TEXTS if body not in (drawn["text"], *(text[2] for text in kept))])
        mine = [[SENT, drawn["number"], older, 90], [SENT, drawn["number"], drawn["text"], 30]]
        return {**drawn, "texts": [*kept, *mine]}

    def solve(self, oracle: Oracle) -> None:
        """Choose the message and send it again."""
        oracle.open(_APP)
        oracle.tap(self.parameters["name"])
        oracle.hold(self.parameters["text"])
        oracle.tap("Resend")


class SmsDeleteConversation(_Sms):
    """Delete all messages with a contact."""

    template = "Delete the whole conversation with {name} in SMS Messenger."

    def done(self, phone: Phone) -> bool:
        """Just these messages are gone."""
        return texts_of(phone) == _expected([t for t in self.parameters["texts"] if t[1] != self.parameters["number"]])

    def solve(self, oracle: Oracle) -> None:
        """Choose the conversation."""
        oracle.open(_APP)
        oracle.hold(self.parameters["name"])
        oracle.tap("Delete", "Yes")


class SmsForwardAddress(_Sms):
    """Send a contact the address that another one wrote."""

    template = "Text {name} the address that {other} sent me in SMS Messenger, and nothing else."
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw an address, and another that somebody else sent."""
        drawn = super().draw(rng)
        streets = rng.sample(_STREETS, 2)
        first, second = (f"{rng.randint(1, 99)} {street}, {rng.choice(_TOWNS)}" for street in streets)
        (_, _, number), near, other = drawn["people"][:3]
        kept = [text for text in drawn["texts"] if text[1] not in (number, near[2])]
        kept += [[RECEIVED, other[2], first, 8], [RECEIVED, near[2], second, 6]]
        return {**drawn, "other": f"{other[0]} {other[1]}", "text": first, "texts": kept}

    def solve(self, oracle: Oracle) -> None:
        """Look the address up and write it."""
        oracle.open(_APP)
        oracle.tap(self.parameters["other"])
        oracle.find(self.parameters["text"])
        oracle.open(_APP)
        oracle.tap("New conversation", self.parameters["name"])
        _write(oracle, self.parameters["text"])


class SmsWhenToMeet(_Sms):
    """Say which time was agreed on with a contact in the end."""

    template = (
        "At what time do I meet {name}, by our last text messages in SMS Messenger? Answer with the time, as HH:MM."
    )
    steps = 10
    answers = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a first proposal, another, and what others propose."""
        drawn = super().draw(rng)
        minutes = rng.sample(range(8 * 60, 21 * 60, 5), 2 + len(drawn["people"]))
        first, last, *others = (f"{each // 60:02d}:{each % 60:02d}" for each in minutes)
        place, number = rng.choice(_PLACES), drawn["number"]
        texts: list[Text] = [
            [RECEIVED, number, f"Shall we meet {place} at {first}?", 60],
            [SENT, number, "That is a bit early for me.", 55],
            [RECEIVED, number, f"Then let us say {last}, same place.", 50],
            [SENT, number, "Fine, see you there!", 45],
        ]
        for time, (_, _, other) in zip(others, drawn["people"][1:], strict=False):
            texts.append([RECEIVED, other, f"Shall we meet {rng.choice(_PLACES)} at {time}?", rng.randrange(10, 40)])
        return {**drawn, "time": last, "texts": texts}

    def done(self, phone: Phone) -> bool:
        """The answer is the time of the last proposal, and no message was sent or deleted."""
        return answered(phone, self.parameters["time"]) and texts_of(phone) == _expected(self.parameters["texts"])

    def solve(self, oracle: Oracle) -> None:
        """Read the conversation."""
        oracle.open(_APP)
        oracle.tap(self.parameters["name"])
        oracle.find(f"Then let us say {self.parameters['time']}, same place.")
        oracle.answer(self.parameters["time"])


TASKS: tuple[type[PhoneTask], ...] = (
    SmsDeleteConversation, SmsForwardAddress, SmsReplyToLatest, SmsResend, SmsSendToContact, SmsSendToNumber, SmsWhenToMeet,
)  # fmt: skip
