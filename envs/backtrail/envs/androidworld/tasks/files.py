"""Tasks in the file manager: folders are made, files are moved, copied, renamed, deleted and found."""

from __future__ import annotations

import random
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.files import STORAGE
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.stored import draw_names, layout, put, stored

__all__ = ["TASKS"]

_ENDINGS = {
    "Audiobooks": ".mp3", "DCIM": ".jpg", "Documents": ".pdf", "Download": ".zip", "Movies": ".mp4", "Music": ".mp3",
    "Pictures": ".png", "Podcasts": ".mp3", "Recordings": ".wav",
}  # fmt: skip
"""Folders with the kind of file that is found there."""


class _Files(PhoneTask):
    """A change of the shared storage."""

    family = "files"
    apps = ("Files",)

    def before(self) -> dict[str, str]:
        """Return the files that there are: one in ``place`` with others like it, and its namesake in ``other``."""
        place, other, names = (self.parameters[name] for name in ("place", "other", "names"))
        here = {f"{place}/{name}": f"{name} in {place}" for name in names}
        return {**here, f"{other}/{names[1]}": f"{names[1]} in {other}"}

    def after(self) -> dict[str, str]:
        """Return the files that there should be."""
        return self.before()

    def folders(self) -> list[str]:
        """Return the folders that there should be beside those of a new phone."""
        return []

    def prepare(self, phone: Phone) -> None:
        """Write the files."""
        put(phone, self.before())

    def done(self, phone: Phone) -> bool:
        """Whether the shared storage has these files and folders, and no others."""
        return stored(phone) == layout(self.after(), self.folders())


def _draw(rng: random.Random) -> dict[str, Any]:
    """Draw two folders, a file and others with much the same name."""
    place, other = rng.sample(list(_ENDINGS), 2)
    names = draw_names(rng, _ENDINGS[place])
    return {"name": names[0], "place": place, "other": other, "names": names}


def _enter(oracle: Oracle, folder: str) -> None:
    """Go to a folder of the shared storage."""
    oracle.open("Files")
    oracle.tap("Show roots", STORAGE, folder)


class MakeFolder(_Files):
    """Make a folder."""

    template = 'Make a new folder with the name "{folder}" in the folder {place} of the shared storage.'
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw its name and place."""
        folder = draw_names(rng, "", 1)[0]
        return {**_draw(rng), "folder": folder}

    def prepare(self, phone: Phone) -> None:
        """Write files, and make a folder with much the same name."""
        put(phone, self.before(), [self._old])

    def folders(self) -> list[str]:
        """Return both folders."""
        return [self._old, f"{self.parameters['place']}/{self.parameters['folder']}"]

    def solve(self, oracle: Oracle) -> None:
        """Use the menu of its place."""
        _enter(oracle, self.parameters["place"])
        oracle.tap("More options", "New folder")
        oracle.type("Name", self.parameters["folder"])

    @property
    def _old(self) -> str:
        return f"{self.parameters['place']}/{self.parameters['folder']}_old"


class MoveFile(_Files):
    """Move a file to another folder."""

    template = "Move the file {name} from the folder {place} to the folder {other} of the shared storage."
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the file and both folders."""
        return _draw(rng)

    def after(self) -> dict[str, str]:
        """Return the file at its new place, with all others."""
        files, name = self.before(), self.parameters["name"]
        files[f"{self.parameters['other']}/{name}"] = files.pop(f"{self.parameters['place']}/{name}")
        return files

    def solve(self, oracle: Oracle) -> None:
        """Choose it, and pick the other folder."""
        _enter(oracle, self.parameters["place"])
        oracle.hold(self.parameters["name"])
        oracle.tap("More options", "Move to…", self.parameters["other"], "Move here")


class CopyFile(MoveFile):
    """Copy a file to another folder."""

    template = "Copy the file {name} from the folder {place} to the folder {other} of the shared storage."

    def after(self) -> dict[str, str]:
        """Return the file at both places, with all others."""
        files, name = self.before(), self.parameters["name"]
        return {**files, f"{self.parameters['other']}/{name}": files[f"{self.parameters['place']}/{name}"]}

    def solve(self, oracle: Oracle) -> None:
        """Choose it, and pick the other folder."""
        _enter(oracle, self.parameters["place"])
        oracle.hold(self.parameters["name"])
        oracle.tap("More options", "Copy to…", self.parameters["other"], "Copy here")


class DeleteFile(_Files):
    """Delete a file."""

    template = "Delete the file {name} from the folder {place} of the shared storage; keep all other files."
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the file; in the other folder there is one with the same name."""
        found = _draw(rng)
        return {**found, "names": [found["names"][1], found["name"], *found["names"][2:]]}

    def after(self) -> dict[str, str]:
        """Return all files but this one."""
        gone = f"{self.parameters['place']}/{self.parameters['name']}"
        return {path: text for path, text in self.before().items() if path != gone}

    def solve(self, oracle: Oracle) -> None:
        """Choose it and confirm."""
        _enter(oracle, self.parameters["place"])
        oracle.hold(self.parameters["name"])
        oracle.tap("Delete", "OK")


class RenameFile(_Files):
    """Give a file another name."""

    template = "Rename the file {name} in the folder {place} of the shared storage to {new}."
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the file and its new name."""
        found = _draw(rng)
        stem, dot, ending = found["name"].rpartition(".")
        return {**found, "new": f"{stem}_{rng.randint(100, 999)}{dot}{ending}"}

    def after(self) -> dict[str, str]:
        """Return the file under its new name, with all others."""
        files, place = self.before(), self.parameters["place"]
        files[f"{place}/{self.parameters['new']}"] = files.pop(f"{place}/{self.parameters['name']}")
        return files

    def solve(self, oracle: Oracle) -> None:
        """Choose it and enter the name."""
        _enter(oracle, self.parameters["place"])
        oracle.hold(self.parameters["name"])
        oracle.tap("More options", "Rename")
        oracle.type("Name", self.parameters["new"])


class FindFile(_Files):
    """Say in which folder a file is."""

    template = "In which folder of the shared storage is the file {name}? Answer with the name of the folder alone."
    steps = 10
    answers = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the file and its folder."""
        return _draw(rng)

    def done(self, phone: Phone) -> bool:
        """Whether the answer is its folder, and nothing has changed."""
        answer = phone.state["answer"].strip().strip("/.\"'").lower()
        return answer == self.parameters["place"].lower() and super().done(phone)

    def solve(self, oracle: Oracle) -> None:
        """Search for it."""
        oracle.open("Files")
        oracle.tap("Search")
        oracle.type("Search this phone", self.parameters["name"])
        seen = [element.text for element in oracle.backend.elements()]
        oracle.answer(next(text[1:] for text in seen if text.startswith("/")))


TASKS: tuple[type[PhoneTask], ...] = (MakeFolder, MoveFile, CopyFile, DeleteFile, RenameFile, FindFile)
