"""Tasks on pages of the web, most of them files on the phone."""

from __future__ import annotations

import json
import random
from collections import deque
from math import prod
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.web import KEY, forms
from backtrail.envs.androidworld.phone.apps.web_pages import maze
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.words import answered, draw_number, draw_people

__all__ = ["TASKS", "BrowserBook", "BrowserForm", "BrowserMaze", "BrowserProduct", "BrowserTimetable"]

_APP = "Chrome"
_DOWNLOADS = "/storage/emulated/0/Download"

_COURSES = ("Pottery for beginners", "Evening choir", "Bread baking", "Bicycle repair", "Watercolours", "Chess for all")
_HOTELS = (
    "Hotel Anchor",
    "Hotel Birch",
    "Hotel Corrow View",
    "Hotel Dolphin",
    "Hotel Ebble",
    "Hotel Fern",
    "Hotel Gull",
)
_TOWNS = ("Port Ellery", "Brackwater", "Tallow Hill", "Vessel Bridge", "Corrow Hut", "Gull Island")
_DAYS = ("Monday", "Wednesday", "Friday", "Saturday", "Sunday")
_NAMES = ("task.html", "page.html", "offer.html", "today.html", "info.html", "notice.html")
_WAYS = {"Up": (-1, 0), "Down": (1, 0), "Left": (0, -1), "Right": (0, 1)}

Block = dict[str, Any]


class _Page(PhoneTask):
    """A page is a file among the downloads; another file lies beside it."""

    family = "browser"
    apps = (_APP,)

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the name of the file, and what is on the page."""
        file, beside = rng.sample(_NAMES, 2)
        return {"file": file, "beside": beside, **self.content(rng)}

    def content(self, rng: random.Random) -> dict[str, Any]:
        """Draw further parameters: among them "title" and "blocks"."""
        raise NotImplementedError

    def prepare(self, phone: Phone) -> None:
        """Write both files."""
        p = self.parameters
        beside = {"title": "Nothing here", "blocks": [{"kind": "text", "text": "This page is empty."}]}
        phone.files.write(f"{_DOWNLOADS}/{p['file']}", json.dumps({"title": p["title"], "blocks": p["blocks"]}))
        phone.files.write(f"{_DOWNLOADS}/{p['beside']}", json.dumps(beside))

    def visits(self, phone: Phone) -> list[dict[str, Any]]:
        """Return what each visit to the page keeps."""
        pages = [entry for tab in phone.data(KEY)["tabs"] for entry in tab["pages"]]
        return [entry["memory"] for entry in pages if entry["url"] == f"file://{_DOWNLOADS}/{self.parameters['file']}"]

    def show(self, oracle: Oracle) -> None:
        """Open the page, whatever the browser shows."""
        oracle.open(_APP)
        if not oracle.sees(self.parameters["file"]):
            oracle.tap("Go to the home page")
        oracle.tap(self.parameters["file"])


class BrowserForm(_Page):
    """Fill in a form and send it."""

    template = "Open {file} from the Download folder with Chrome and sign up there: {listed}. Send the form once, with just these values."
    steps = 15

    def content(self, rng: random.Random) -> dict[str, Any]:
        """Draw values for some fields, in some order."""
        first, last, _ = draw_people(rng)[0]
        course = rng.choice(_COURSES)
        values = {
            "Name": f"{first} {last}",
            "E-mail": f"{first}.{last}@mail.example".lower(),
            "Phone number": draw_number(rng),
            "Number of seats": str(rng.randint(2, 9)),
            "Town": rng.choice(_TOWNS),
        }
        hints = rng.sample(list(values), rng.randint(3, 4))
        fields = [{"name": hint.lower().replace(" ", "_"), "hint": hint, "required": True} for hint in hints]
        return {
            "title": course,
            "blocks": [
                {"kind": "heading", "text": course},
                {"kind": "text", "text": "There are still some places. Sign up with this form."},
                {
                    "kind": "form",
                    "name": "course",
                    "fields": fields,
                    "submit": "Sign up",
                    "thanks": "You are signed up.",
                },
            ],
            "values": {field["name"]: values[field["hint"]] for field in fields},
            "listed": ", ".join(f"{hint} {values[hint]}" for hint in hints),
        }

    def done(self, phone: Phone) -> bool:
        """The form was sent once, with the right values."""
        return forms(phone, "course") == [self.parameters["values"]]

    def solve(self, oracle: Oracle) -> None:
        """Fill in the fields: enter in the last one sends the form."""
        self.show(oracle)
        for name, value in self.parameters["values"].items():
            oracle.type(name, value)


class BrowserTimetable(_Page):
    """Find a time on a page."""

    template = (
        "Open {file} from the Download folder with Chrome. At what time does the first boat to {town} leave on a {day}? "
        "Answer with the time, as HH:MM."
    )
    steps = 10
    answers = True

    def content(self, rng: random.Random) -> dict[str, Any]:
        """Draw two boats for each town and day, not in the order of their times."""
        towns, days = rng.sample(_TOWNS, 3), rng.sample(_DAYS, 3)
        blocks: list[Block] = [{"kind": "heading", "text": "Boats of the Ebble line"}]
        lines: dict[str, tuple[str, str]] = {}
        for day in days:
            blocks.append({"kind": "heading", "text": day})
            for town in rng.sample(towns, len(towns)):
                times = [f"{t // 60:02d}:{t % 60:02d}" for t in rng.sample(range(6 * 60, 22 * 60, 5), 2)]
                text = f"To {town}: {times[0]} and {times[1]} from quay {rng.randint(1, 4)}"
                blocks.append({"kind": "text", "text": text})
                lines[f"{day} {town}"] = (min(times), text)
        day, town = rng.choice(days), rng.choice(towns)
        time, line = lines[f"{day} {town}"]
        return {"title": "Boats", "blocks": blocks, "day": day, "town": town, "time": time, "line": line}

    def done(self, phone: Phone) -> bool:
        """The answer is the time."""
        return answered(phone, self.parameters["time"])

    def solve(self, oracle: Oracle) -> None:
        """Read the line."""
        self.show(oracle)
        oracle.find(self.parameters["line"])
        oracle.answer(self.parameters["time"])


class BrowserBook(_Page):
    """Press the button of the offer that is meant."""

    template = "Open {file} from the Download folder with Chrome and book the cheapest hotel that has {wish}. Press no other button."
    steps = 10

    def content(self, rng: random.Random) -> dict[str, Any]:
        """Draw offers; a cheaper one lacks what is wished for."""
        wish, other = rng.sample(("breakfast", "parking", "a balcony", "a sauna"), 2)
        names, prices = rng.sample(_HOTELS, 5), sorted(rng.sample(range(45, 190), 5))
        has = [(other,), (wish,), (wish, other), (other,), (wish,)]  # by price: the second is meant
        offers = list(zip(names, prices, has, strict=True))
        blocks: list[Block] = [{"kind": "heading", "text": "A night in Port Ellery"}]
        for name, price, extras in rng.sample(offers, len(offers)):
            blocks.append({"kind": "text", "text": f"{name}: {price} crowns a night, with {' and '.join(extras)}"})
            blocks.append({"kind": "button", "text": f"Book {name}", "says": f"{name} is booked."})
        return {"title": "Hotels", "blocks": blocks, "wish": wish, "hotel": names[1]}

    def done(self, phone: Phone) -> bool:
        """The right hotel is booked, and no other."""
        said = {text for memory in self.visits(phone) for text in memory.values()}
        return said == {f"{self.parameters['hotel']} is booked."}

    def solve(self, oracle: Oracle) -> None:
        """Press the button."""
        self.show(oracle)
        oracle.tap(f"Book {self.parameters['hotel']}")


class BrowserMaze(_Page):
    """Find the way through a maze."""

    template = "Open {file} from the Download folder with Chrome and move the X to the green cell with the buttons below the maze."
    steps = 20

    def content(self, rng: random.Random) -> dict[str, Any]:
        """Draw the number that the maze is made from."""
        return {"title": "Maze", "blocks": [maze(rng.randrange(2**32))]}

    def done(self, phone: Phone) -> bool:
        """The goal was reached."""
        return any(memory.get("done") for memory in self.visits(phone))

    def solve(self, oracle: Oracle) -> None:
        """Go the shortest way."""
        self.show(oracle)
        oracle.tap(*_way(self.parameters["blocks"][0]["rows"]))


def _way(rows: list[str]) -> list[str]:
    """Return the shortest way from the upper left to the goal."""
    ways: dict[tuple[int, int], list[str]] = {(0, 0): []}
    waiting = deque(ways)
    while waiting:
        row, column = waiting.popleft()
        if rows[row][column] == "$":
            return ways[row, column]
        for name, (down, right) in _WAYS.items():
            place = (row + down, column + right)
            inside = 0 <= place[0] < len(rows) and 0 <= place[1] < len(rows[0])
            if inside and place not in ways and rows[place[0]][place[1]] != "#":
                ways[place] = [*ways[row, column], name]
                waiting.append(place)
    return []


class BrowserProduct(_Page):
    """Multiply numbers that are shown one after the other."""

    template = (
        "Open {file} from the Download folder with Chrome. Click the button until no more number appears, then enter the product "
        "of all the numbers that you saw and submit it."
    )
    steps = 20

    def content(self, rng: random.Random) -> dict[str, Any]:
        """Draw the numbers."""
        return {
            "title": "Numbers",
            "blocks": [{"kind": "product", "numbers": [rng.randint(2, 9) for _ in range(rng.randint(3, 5))]}],
        }

    def done(self, phone: Phone) -> bool:
        """The right product was entered."""
        return any(memory.get("answer") is True for memory in self.visits(phone))

    def solve(self, oracle: Oracle) -> None:
        """Click through the numbers; enter submits."""
        self.show(oracle)
        numbers = self.parameters["blocks"][0]["numbers"]
        oracle.tap(*("Click Me" for _ in numbers))
        oracle.type("Enter the product", str(prod(numbers)))


TASKS: tuple[type[PhoneTask], ...] = (BrowserBook, BrowserForm, BrowserMaze, BrowserProduct, BrowserTimetable)
