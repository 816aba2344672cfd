"""What several families of tasks draw and compare: people with near-equal names, phone numbers, dates, answers."""

from __future__ import annotations

import random
import re
from datetime import date, timedelta
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.extras import digits
from backtrail.envs.androidworld.phone.apps.people import add_contact

__all__ = ["answered", "day_words", "draw_day", "draw_number", "draw_numbers", "draw_people", "put_people", "same"]

_FIRST = (
    "Ada", "Bruno", "Carla", "Dario", "Elif", "Felix", "Greta", "Hugo", "Irma", "Jonas", "Kira", "Levi", "Mona", "Nils",
    "Olga", "Pavel", "Rosa", "Stefan", "Tara", "Ugo", "Vera", "Wanda", "Yusuf", "Zoe",
)  # fmt: skip
_LAST = (
    "Abara", "Bellini", "Costa", "Drake", "Egger", "Falk", "Grau", "Hansen", "Iwata", "Jansen", "Keller", "Lund", "Moreau",
    "Novak", "Okoro", "Petrov", "Quist", "Rossi", "Stone", "Toth", "Urban", "Vance", "Weiss", "Young",
)  # fmt: skip
_TODAY = date(2023, 10, 15)
_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")


def draw_number(rng: random.Random) -> str:
    """Return a phone number of ten digits with its country code."""
    return f"+1555{rng.randrange(2, 10)}{rng.randrange(10**6):06d}"


def draw_numbers(rng: random.Random, count: int) -> list[str]:
    """Return different phone numbers."""
    numbers: list[str] = []
    while len(numbers) < count:
        number = draw_number(rng)
        if number not in numbers:
            numbers.append(number)
    return numbers


def draw_people(rng: random.Random, count: int = 6) -> list[list[str]]:
    """Return people as [first name, last name, number]; the second and third share a name with the first."""
    first, last = rng.sample(_FIRST, count), rng.sample(_LAST, count)
    first[1], last[2] = first[0], last[0]
    return [list(person) for person in zip(first, last, draw_numbers(rng, count), strict=True)]


def put_people(phone: Phone, people: list[list[str]]) -> None:
    """Save people as contacts."""
    for first, last, number in people:
        add_contact(phone, first, last, number)


def draw_day(rng: random.Random, first: int = 1, last: int = 45) -> date:
    """Return a day so many days after the one on which the phone's clock begins."""
    return _TODAY + timedelta(days=rng.randint(first, last))


def day_words(day: date) -> str:
    """Return a day as goals say it, e.g. "October 20, 2023"."""
    return f"{day:%B} {day.day}, {day.year}"


def answered(phone: Phone, wanted: str) -> bool:
    """Whether the numbers or times in the answer are those in ``wanted``, whatever words are around them."""
    return _values(phone.state["answer"]) == _values(wanted)


def same(one: str, other: str) -> bool:
    """Whether two phone numbers have the same digits."""
    return digits(one) == digits(other)


def _values(text: str) -> list[Any]:
    """Return numbers as such (1.5 is 1.50) and times as they are written."""
    found = _NUMBER.findall(re.sub(r"(?<=\d),(?=\d{3})", "", text))
    return [each if each.count(".") > 1 or ":" in each else float(each) for each in found]
