"""Tasks in the notebook: notes are written, changed, merged, moved, renamed, deleted and read."""

from __future__ import annotations

import random
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import notes
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.stored import NOTEBOOK, draw_names, draw_sentences, layout, stored
from backtrail.envs.androidworld.tasks.words import answered

__all__ = ["TASKS"]

_FOLDERS = ("Work", "Home", "Ideas", "Travel", "School", "Archive", "Club", "Projects")
_THINGS = (
    "milk", "bread", "apples", "rice", "candles", "soap", "pencils", "tea", "onions", "yeast", "cheese", "matches",
    "lemons", "paper", "honey", "tape",
)  # fmt: skip


class _Notes(PhoneTask):
    """A change of the notebook."""

    family = "notes"
    apps = ("Markor",)

    def before(self) -> dict[str, str]:
        """Return the notes that there are, by name, with their texts."""
        return dict(zip(self.parameters["names"], self.parameters["texts"], strict=True))

    def after(self) -> dict[str, str]:
        """Return the notes that there should be."""
        return self.before()

    def folders(self) -> list[str]:
        """Return the folders of the notebook."""
        return []

    def prepare(self, phone: Phone) -> None:
        """Write the notes and make the folders."""
        for name, text in self.before().items():
            notes.add_note(phone, name, text)
        for name in self.folders():
            notes.add_folder(phone, name)

    def done(self, phone: Phone) -> bool:
        """Whether the notebook has these notes and folders, and the phone no other files."""
        files = {f"{NOTEBOOK}/{name}": text for name, text in self.after().items()}
        return stored(phone) == layout(files, [f"{NOTEBOOK}/{name}" for name in self.folders()])


def _draw(rng: random.Random, count: int = 4) -> dict[str, Any]:
    """Draw notes with names that are much alike; the first one is ``name``."""
    names = draw_names(rng, rng.choice((".md", ".txt")), count)
    return {"name": names[0], "names": names, "texts": draw_sentences(rng, count)}


def _read(oracle: Oracle, name: str) -> str:
    """Open a note and return what it says."""
    oracle.open("Markor")
    oracle.tap(name)
    return next(element.text for element in oracle.backend.elements() if element.hint == "Write here")


def _write(oracle: Oracle, text: str) -> None:
    """Put a text into the note that is open."""
    oracle.type("Write here", text)
    oracle.tap("Save")


def _new(oracle: Oracle, name: str) -> None:
    """Begin a note; open it if it is there already."""
    oracle.open("Markor")
    if oracle.sees(name):
        return oracle.tap(name)
    oracle.tap("Create a new file or folder")
    oracle.type("Name", name)
    return oracle.tap("OK")


class WriteNote(_Notes):
    """Write a new note."""

    template = 'Create a note in Markor with the name {new} and the text: "{text}"'
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw its name and text, and other notes."""
        found = _draw(rng)
        name, *names = found["names"]
        text, *texts = found["texts"]
        return {"new": name, "text": text, "names": names, "texts": texts}

    def after(self) -> dict[str, str]:
        """Return the note with the others."""
        return {**self.before(), self.parameters["new"]: self.parameters["text"]}

    def solve(self, oracle: Oracle) -> None:
        """Begin a note and write it."""
        _new(oracle, self.parameters["new"])
        _write(oracle, self.parameters["text"])


class AddLine(_Notes):
    """Add a line to a note."""

    template = 'Add a line at the {end} of the note {name} in Markor: "{line}" Keep the rest of the note as it is.'
    steps = 10

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw notes, the line and its place."""
        line, *texts = draw_sentences(rng, 7)
        found = {**_draw(rng), "line": line, "end": rng.choice(("beginning", "end"))}
        return {**found, "texts": ["\n".join(texts[:3]), *texts[3:]]}

    def after(self) -> dict[str, str]:
        """Return the note with the line, and the others."""
        return {**self.before(), self.parameters["name"]: self._changed(self.before()[self.parameters["name"]])}

    def solve(self, oracle: Oracle) -> None:
        """Read it and write it anew."""
        text = _read(oracle, self.parameters["name"])
        if self.parameters["line"] not in text:
            _write(oracle, self._changed(text))

    def _changed(self, text: str) -> str:
        lines = (
            [self.parameters["line"], text]
            if self.parameters["end"] == "beginning"
            else [text, self.parameters["line"]]
        )
        return "\n".join(lines)


class ReplaceWord(_Notes):
    """Replace an entry of a list in a note."""

    template = "In the note {name} in Markor, replace {old} by {new}; change nothing else."
    steps = 10

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw notes with lists, and the entry."""
        things = rng.sample(_THINGS, 7)
        lists = [rng.sample(things[:6], 5) for _ in range(4)]
        old = rng.choice(lists[0])
        return {**_draw(rng), "texts": ["\n".join(each) for each in lists], "old": old, "new": things[6]}

    def after(self) -> dict[str, str]:
        """Return the note with the other entry, and the others."""
        return {**self.before(), self.parameters["name"]: self._changed(self.before()[self.parameters["name"]])}

    def solve(self, oracle: Oracle) -> None:
        """Read it and write it anew."""
        _write(oracle, self._changed(_read(oracle, self.parameters["name"])))

    def _changed(self, text: str) -> str:
        return text.replace(self.parameters["old"], self.parameters["new"])


class MergeNotes(_Notes):
    """Write two notes into a new one."""

    template = (
        "Create a note {new} in Markor that has the text of {first} and then, after one empty line, that of {second}. "
        "Keep both notes."
    )
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw notes."""
        found = _draw(rng, 5)
        new, first, second = found["names"][4], *rng.sample(found["names"][:4], 2)
        return {**found, "names": found["names"][:4], "texts": found["texts"][:4], "new": new, "first": first, "second": second}  # fmt: skip

    def after(self) -> dict[str, str]:
        """Return the new note with all others."""
        notes = self.before()
        return {
            **notes,
            self.parameters["new"]: f"{notes[self.parameters['first']]}\n\n{notes[self.parameters['second']]}",
        }

    def solve(self, oracle: Oracle) -> None:
        """Read both and write the new one."""
        texts = [_read(oracle, self.parameters[name]) for name in ("first", "second")]
        _new(oracle, self.parameters["new"])
        _write(oracle, "\n\n".join(texts))


class DeleteNote(_Notes):
    """Delete a note."""

    template = "Delete the note {name} in Markor and keep all others."
    steps = 10

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw notes."""
        return _draw(rng)

    def after(self) -> dict[str, str]:
        """Return the others."""
        return {name: text for name, text in self.before().items() if name != self.parameters["name"]}

    def solve(self, oracle: Oracle) -> None:
        """Choose it and confirm."""
        oracle.open("Markor")
        oracle.hold(self.parameters["name"])
        oracle.tap("Delete", "OK")


class DeleteNewestNote(_Notes):
    """Delete the note that was changed last."""

    template = "Delete the note in Markor that was changed last, and no other."
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw notes and how many days ago they were changed."""
        found = _draw(rng)
        ages = rng.sample(range(1, 40), len(found["names"]))
        return {"names": found["names"], "texts": found["texts"], "ages": ages}

    def prepare(self, phone: Phone) -> None:
        """Write the notes."""
        for (name, text), age in zip(self.before().items(), self.parameters["ages"], strict=True):
            notes.add_note(phone, name, text, phone.state["now"] - age * 86400)

    def after(self) -> dict[str, str]:
        """Return the others."""
        return {name: text for name, text in self.before().items() if name != self._newest}

    def solve(self, oracle: Oracle) -> None:
        """Sort them by date, then choose the first and confirm."""
        oracle.open("Markor")
        oracle.tap("Sort by", "Date modified")
        oracle.hold(self._newest)
        oracle.tap("Delete", "OK")

    @property
    def _newest(self) -> str:
        ages = self.parameters["ages"]
        return self.parameters["names"][ages.index(min(ages))]


class MoveNote(_Notes):
    """Move a note into a folder."""

    template = "Move the note {name} in Markor into the folder {folder}."
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw notes and folders."""
        folders = rng.sample(_FOLDERS, 3)
        return {**_draw(rng), "folder": folders[0], "folders": sorted(folders)}

    def folders(self) -> list[str]:
        """Return the folders."""
        return self.parameters["folders"]

    def after(self) -> dict[str, str]:
        """Return the note in the folder, and the others where they were."""
        found, name = self.before(), self.parameters["name"]
        found[f"{self.parameters['folder']}/{name}"] = found.pop(name)
        return found

    def solve(self, oracle: Oracle) -> None:
        """Choose it and pick the folder."""
        oracle.open("Markor")
        oracle.hold(self.parameters["name"])
        oracle.tap("More options", "Move", self.parameters["folder"], "Move here")


class RenameNote(_Notes):
    """Give a note another name."""

    template = "Rename the note {name} in Markor to {new}."
    steps = 10

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw notes and the new name."""
        found = _draw(rng, 5)
        return {**found, "names": found["names"][:4], "texts": found["texts"][:4], "new": found["names"][4]}

    def after(self) -> dict[str, str]:
        """Return the note under its new name, and the others."""
        found = self.before()
        found[self.parameters["new"]] = found.pop(self.parameters["name"])
        return found

    def solve(self, oracle: Oracle) -> None:
        """Choose it and enter the name."""
        oracle.open("Markor")
        oracle.hold(self.parameters["name"])
        oracle.tap("Rename")
        oracle.type("Name", self.parameters["new"])


class CountOpenEntries(_Notes):
    """Say how many entries of a list are not ticked."""

    template = "How many entries of the list in the Markor note {name} are not ticked yet? Answer with a number."
    steps = 10
    answers = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw lists with different numbers of such entries."""
        counts = rng.sample(range(1, 8), 4)
        texts = []
        for count in counts:
            marks = [" "] * count + ["x"] * rng.randint(1, 4)
            rng.shuffle(marks)
            things = rng.sample(_THINGS, len(marks))
            texts.append("\n".join(f"- [{mark}] {thing}" for mark, thing in zip(marks, things, strict=True)))
        return {**_draw(rng), "texts": texts, "count": counts[0]}

    def done(self, phone: Phone) -> bool:
        """Whether the answer is that number, and nothing has changed."""
        return answered(phone, str(self.parameters["count"])) and super().done(phone)

    def solve(self, oracle: Oracle) -> None:
        """Read the note and count."""
        oracle.answer(str(_read(oracle, self.parameters["name"]).count("- [ ]")))


TASKS: tuple[type[PhoneTask], ...] = (
    WriteNote, AddLine, ReplaceWord, MergeNotes, DeleteNote, DeleteNewestNote, MoveNote, RenameNote, CountOpenEntries,
)  # fmt: skip
