"""Tasks for every Android device on files and notes."""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from backtrail.envs.androidworld.backend import CommandError, DeviceBackend
from backtrail.envs.androidworld.phone.apps.files import STORAGE
from backtrail.envs.androidworld.phone.files import SHARED
from backtrail.envs.androidworld.tasks.base import PortableTask
from backtrail.envs.androidworld.tasks.oracle import NotThere, Oracle
from backtrail.envs.androidworld.tasks.stored import NOTEBOOK, draw_names, draw_sentences

__all__ = ["TASKS"]

_ENDINGS = {
    "Alarms": (".ogg", ".mp3"), "DCIM": (".jpg", ".mp4"), "Download": (".zip", ".pdf"), "Movies": (".mp4", ".webm"),
    "Music": (".mp3", ".wav"), "Pictures": (".png", ".jpg"), "Podcasts": (".mp3", ".ogg"),
    "Ringtones": (".ogg", ".wav"),
}  # fmt: skip
"""Folders with the kinds of files that are found there."""
_LOCKED = ("attic", "bicycle", "cellar", "garage", "garden gate", "letterbox", "locker", "shed")


def _fill(device: DeviceBackend, folder: str, files: Mapping[str, str]) -> None:
    """Let a folder hold these files and nothing else, but for hidden ones."""
    device.shell(f"mkdir -p {shlex.quote(folder)} && rm -rf {shlex.quote(folder)}/*")
    for name, text in files.items():
        device.push(f"{folder}/{name}", text.encode())


def _holds(device: DeviceBackend, folder: str, files: Mapping[str, str], folders: Iterable[str] = ()) -> bool:
    """Whether a folder holds these files, these folders, and nothing else.

    Space at the end of a text does not count, nor do hidden names: the system makes some by itself.
    """
    found = _said(device, f"ls -1 {shlex.quote(folder)}")
    if found is None or sorted(found.splitlines()) != sorted([*files, *folders]):
        return False
    texts = {name: _said(device, f"cat {shlex.quote(f'{folder}/{name}')}") for name in files}
    return all(text is not None and text.strip() == files[name].strip() for name, text in texts.items())


def _answers(answer: str, number: int) -> bool:
    """Whether this is the one number in an answer."""
    return re.findall(r"(?<!\d)-?\d+", answer) == [str(number)]


def _said(device: DeviceBackend, command: str) -> str | None:
    """Return what a command prints; None if it fails, as those on files do where there is no such file."""
    try:
        return device.shell(command)
    except CommandError:
        return None


# -- files ------------------------------------------------------------------------------------------------


class _Files(PortableTask):
    """A folder of the shared storage holds files with names that are much alike."""

    family = "files"
    apps = ("Files",)
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the folder, its files, and another folder that has one of them, too."""
        place, other = rng.sample(list(_ENDINGS), 2)
        names = draw_names(rng, rng.choice(_ENDINGS[place]), 5)
        return {"place": place, "other": other, "name": names[0], "names": rng.sample(names, 5)}

    def before(self) -> dict[str, str]:
        """Return the files with their texts."""
        return {name: f"This is {name}." for name in self.parameters["names"]}

    def prepare(self, device: DeviceBackend) -> None:
        """Write the files."""
        name = self.parameters["name"]
        _fill(device, f"{SHARED}/{self.parameters['place']}", self.before())
        _fill(device, f"{SHARED}/{self.parameters['other']}", {name: f"This is another {name}."})

    def kept(self, device: DeviceBackend, files: Mapping[str, str], folders: Iterable[str] = ()) -> bool:
        """Whether the folder holds just that, and the other one what it held."""
        place, other, name = (self.parameters[key] for key in ("place", "other", "name"))
        there = _holds(device, f"{SHARED}/{other}", {name: f"This is another {name}."})
        return there and _holds(device, f"{SHARED}/{place}", files, folders)

    def enter(self, oracle: Oracle) -> None:
        """Go to the folder."""
        oracle.open("Files")
        oracle.tap("Show roots", STORAGE, self.parameters["place"])


class FileRemove(_Files):
    """Delete a file; one of the same name elsewhere stays."""

    template = "Delete the file {name} that is in the folder {place} of the shared storage, and no other file."

    def done(self, device: DeviceBackend, answer: str) -> bool:
        """Whether this file alone is gone, and was not moved elsewhere under its name or another."""
        name, other, before = self.parameters["name"], self.parameters["other"], self.before()
        named = device.shell(f"find {SHARED} -type f -name {shlex.quote(name)} 2>/dev/null || true")
        saying = device.shell(f"grep -rlF {shlex.quote(before.pop(name))} {SHARED} 2>/dev/null || true")
        return (named, saying) == (f"{SHARED}/{other}/{name}\n", "") and self.kept(device, before)

    def solve(self, oracle: Oracle) -> None:
        """Choose it and confirm."""
        self.enter(oracle)
        oracle.hold(self.parameters["name"])
        oracle.tap("Delete", "OK")


class FolderMake(_Files):
    """Make a folder."""

    template = "Create an empty folder named {folder} in the folder {place} of the shared storage."

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw its name."""
        return {**super().draw(rng), "folder": draw_names(rng, "", 1)[0]}

    def done(self, device: DeviceBackend, answer: str) -> bool:
        """Whether it is there, is empty, and everything else is as it was."""
        folder = self.parameters["folder"]
        return self.kept(device, self.before(), [folder]) and _holds(
            device, f"{SHARED}/{self.parameters['place']}/{folder}", {}
        )

    def solve(self, oracle: Oracle) -> None:
        """Use the menu of its place."""
        self.enter(oracle)
        oracle.tap("More options", "New folder")
        oracle.type("Name", self.parameters["folder"])


class FileCount(_Files):
    """Say how many files of a kind are in a folder."""

    template = (
        "How many files in the folder {place} of the shared storage have a name that ends in {ending}? "
        "Answer with a number."
    )
    answers = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw files of two kinds."""
        drawn = super().draw(rng)
        ending, second = rng.sample(_ENDINGS[drawn["place"]], 2)
        count = rng.randint(1, 5)
        names = draw_names(rng, ending, 5)[:count] + draw_names(rng, second, 5)[: rng.randint(1, 4)]
        return {**drawn, "name": names[0], "names": rng.sample(names, len(names)), "ending": ending, "count": count}

    def done(self, device: DeviceBackend, answer: str) -> bool:
        """Whether the answer is that number, and all files are as they were."""
        return _answers(answer, self.parameters["count"]) and self.kept(device, self.before())

    def solve(self, oracle: Oracle) -> None:
        """Count them."""
        self.enter(oracle)
        seen = [element.text for element in oracle.backend.elements()]
        oracle.answer(str(sum(text.endswith(self.parameters["ending"]) for text in seen)))


class FileMissing(_Files):
    """Rename a file that is not there."""

    template = "Rename the file {name} in the folder {place} of the shared storage to {new}."
    infeasible = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Leave the file out."""
        drawn = super().draw(rng)
        stem, dot, ending = drawn["name"].rpartition(".")
        names = [name for name in drawn["names"] if name != drawn["name"]]
        return {**drawn, "names": names, "new": f"{stem}_{rng.randint(100, 999)}{dot}{ending}"}

    def done(self, device: DeviceBackend, answer: str) -> bool:
        """Nothing counts as done."""
        return False

    def solve(self, oracle: Oracle) -> None:
        """Look for it."""
        self.enter(oracle)


# -- notes ------------------------------------------------------------------------------------------------


class _Notes(PortableTask):
    """Notes with names that are much alike are in Markor."""

    family = "notes"
    apps = ("Markor",)

    def before(self) -> dict[str, str]:
        """Return the notes with their texts."""
        return dict(zip(self.parameters["names"], self.parameters["texts"], strict=True))

    def prepare(self, device: DeviceBackend) -> None:
        """Write the notes."""
        _fill(device, f"{SHARED}/{NOTEBOOK}", self.before())

    def keeps(self, device: DeviceBackend, new: Mapping[str, str]) -> bool:
        """Whether the notes are there, and the new ones, and nothing else."""
        return _holds(device, f"{SHARED}/{NOTEBOOK}", {**self.before(), **new})


class NoteCreate(_Notes):
    """Write a new note."""

    template = 'In Markor, write a new note named {new} that says: "{text}"'
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw its name and text, and other notes."""
        new, *names = draw_names(rng, rng.choice((".md", ".txt")))
        text, *texts = draw_sentences(rng, 4)
        return {"new": new, "text": text, "names": names, "texts": texts}

    def done(self, device: DeviceBackend, answer: str) -> bool:
        """Whether it is there, with the others as they were."""
        return self.keeps(device, {self.parameters["new"]: self.parameters["text"]})

    def solve(self, oracle: Oracle) -> None:
        """Begin a note and write it."""
        oracle.open("Markor")
        if oracle.sees(self.parameters["new"]):
            oracle.tap(self.parameters["new"])
        else:
            oracle.tap("Create a new file or folder")
            oracle.type("Name", self.parameters["new"])
            oracle.tap("OK")
        oracle.type("Write here", self.parameters["text"])
        oracle.tap("Save")


class NoteNumber(_Notes):
    """Say which number a note gives for something."""

    template = "What is the code of the {thing}, according to the note {name} in Markor? Answer with the number alone."
    steps = 10
    answers = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw notes that give different codes for the same things."""
        names, things = draw_names(rng, rng.choice((".md", ".txt"))), rng.sample(_LOCKED, 4)
        codes = [rng.sample(range(1000, 10000), 4) for _ in names]
        texts = ["\n".join(f"{t}: {c}" for t, c in zip(things, row, strict=True)) for row in codes]
        return {"thing": things[0], "name": names[0], "code": codes[0][0], "names": names, "texts": texts}

    def done(self, device: DeviceBackend, answer: str) -> bool:
        """Whether the answer is that number, and the notes are as they were."""
        return _answers(answer, self.parameters["code"]) and self.keeps(device, {})

    def solve(self, oracle: Oracle) -> None:
        """Read the note."""
        oracle.open("Markor")
        oracle.tap(self.parameters["name"])
        text = oracle.backend.elements()[oracle.place(lambda element: element.hint == "Write here", "the text")].text
        found = [
            line.partition(": ")[2] for line in text.split("\n") if line.startswith(f"{self.parameters['thing']}: ")
        ]
        if not found:
            raise NotThere(f"The note does not say the code of the {self.parameters['thing']}")
        oracle.answer(found[0])


TASKS: tuple[type[PortableTask], ...] = (FileRemove, FolderMake, FileCount, FileMissing, NoteCreate, NoteNumber)
