"""Tasks with the camera, the audio recorder and the drawing app: something is made, kept under a name, or renamed."""

from __future__ import annotations

import random
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import camera, drawing, recorder
from backtrail.envs.androidworld.phone.apps.storage import picture
from backtrail.envs.androidworld.phone.files import SHARED
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.stored import draw_names

__all__ = ["TASKS"]

_SIDES = ("back", "front")
_COLORS = tuple(color for color in drawing.COLORS if color not in ("Black", "White"))
_FOLDERS = ("Pictures", "DCIM", "Download", "Documents")
_COUNTS = {1: "one photo", 2: "two photos", 3: "three photos"}


def _old(phone: Phone, count: int, side: str) -> None:
    """Take photos and videos before the task begins, and leave the camera as it was then."""
    phone.data("camera")["facing"] = side
    for number in range(count):
        phone.files.write(f"{camera.PHOTOS}/IMG_20231012_10{number:02d}00.jpg", '{"type": "photo", "camera": "back"}')
        phone.files.write(f"{camera.VIDEOS}/VID_20231013_11{number:02d}00.mp4", '{"type": "video", "duration": 9}')


def _since(paths: list[str]) -> list[str]:
    """Return the photos or videos that came after the task began."""
    return [path for path in paths if "_20231015_" in path]


class _Camera(PhoneTask):
    """Something that the camera takes; old photos and videos stay."""

    family = "media"
    apps = ("Camera",)

    def prepare(self, phone: Phone) -> None:
        """Leave old photos and the camera in some state."""
        _old(phone, self.parameters["old"], self.parameters["begin"])
        phone.data("camera")["mode"] = self.parameters["mode"]

    def done(self, phone: Phone) -> bool:
        """Whether what was taken is as asked for, and nothing else came or went."""
        found, others = camera.photos(phone), camera.videos(phone)
        old = self.parameters["old"]
        if len(found) - len(_since(found)) != old or len(others) - len(_since(others)) != old:
            return False
        files = phone.files.all()
        return len(files) == len(found) + len(others) and self.fits(phone, _since(found), _since(others))

    def fits(self, phone: Phone, photos: list[str], videos: list[str]) -> bool:
        """Whether these photos and videos are what was asked for."""
        raise NotImplementedError

    def _turn(self, oracle: Oracle, mode: str) -> None:
        """Choose between photos and videos, and the side."""
        oracle.tap(mode)
        if oracle.sees(f"Switch to {self.parameters['side']} camera"):
            oracle.tap(f"Switch to {self.parameters['side']} camera")


def _draw_camera(rng: random.Random) -> dict[str, Any]:
    """Draw the wanted side, and how the camera was left."""
    mode = rng.choice(("Photo", "Video"))
    return {"side": rng.choice(_SIDES), "begin": rng.choice(_SIDES), "mode": mode, "old": rng.randint(0, 3)}


class TakePhotos(_Camera):
    """Take some photos."""

    template = "Take {words} with the {side} camera, and nothing else."
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw how many."""
        count = rng.choice(list(_COUNTS))
        return {**_draw_camera(rng), "count": count, "words": _COUNTS[count]}

    def fits(self, phone: Phone, photos: list[str], videos: list[str]) -> bool:
        """Whether there are so many photos of this camera and no videos."""
        sides = [picture(phone, path).get("camera") for path in photos]
        return not videos and sides == [self.parameters["side"]] * self.parameters["count"]

    def solve(self, oracle: Oracle) -> None:
        """Turn to the camera and tap the shutter, as often as photos are missing."""
        oracle.open("Camera")
        self._turn(oracle, "Photo")
        for _ in range(self.parameters["count"] - len(_since(camera.photos(oracle.phone)))):
            oracle.tap("Shutter")


class TakeVideo(_Camera):
    """Record a video of some length."""

    template = "Record one video of at least {seconds} seconds with the {side} camera, and nothing else."
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw its length."""
        return {**_draw_camera(rng), "seconds": rng.choice((5, 8, 10, 15, 20))}

    def fits(self, phone: Phone, photos: list[str], videos: list[str]) -> bool:
        """Whether there is one video of this camera that is long enough, and no photo."""
        if photos or len(videos) != 1:
            return False
        about = picture(phone, videos[0])
        return about.get("camera") == self.parameters["side"] and about.get("duration", 0) >= self.parameters["seconds"]

    def solve(self, oracle: Oracle) -> None:
        """Record, wait, and stop."""
        oracle.open("Camera")
        if not oracle.sees("Stop recording"):
            self._turn(oracle, "Video")
            oracle.tap("Start recording")
        for _ in range(self.parameters["seconds"] // 5 + 1):
            oracle.wait()
        oracle.tap("Stop recording")


# -- recordings -------------------------------------------------------------------------------------------


class _Recordings(PhoneTask):
    """A change of the recordings, of which there are some already."""

    family = "media"
    apps = ("Audio Recorder",)

    def prepare(self, phone: Phone) -> None:
        """Put the recordings; the app may not have been opened before."""
        phone.data("recorder")["welcomed"] = self.parameters["welcomed"]
        for place, name in enumerate(self.parameters["names"]):
            recorder.add_recording(phone, name, 12 + 7 * place)

    def _open(self, oracle: Oracle) -> None:
        oracle.open("Audio Recorder")
        if oracle.sees("Get started"):
            oracle.tap("Get started")
        if oracle.sees("Apply"):
            oracle.tap("Apply")

    def _rename(self, oracle: Oracle, old: str) -> None:
        oracle.tap("Records", old, "More options", "Rename")
        oracle.type("Name", self.parameters["name"])
        oracle.tap("Save")


def _draw_recordings(rng: random.Random) -> dict[str, Any]:
    """Draw names of recordings, much like ``name``."""
    name, *names = draw_names(rng, "")
    return {"name": name, "names": names, "welcomed": rng.choice((True, False))}


def _lengths(phone: Phone) -> dict[str, int]:
    """Return the recordings without their endings, with their length in seconds."""
    return {name.rpartition(".")[0]: recorder.recorded(phone, name)["duration"] for name in recorder.recordings(phone)}


class RecordAudio(_Recordings):
    """Record something and give it a name."""

    template = "Record at least {seconds} seconds of sound with the Audio Recorder and save it with the name {name}."
    steps = 25

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw name and length."""
        return {**_draw_recordings(rng), "seconds": rng.choice((3, 5, 8, 10, 15))}

    def done(self, phone: Phone) -> bool:
        """Whether there is one more recording, of this name and long enough."""
        found = _lengths(phone)
        length = found.pop(self.parameters["name"], 0)
        old = {name: 12 + 7 * place for place, name in enumerate(self.parameters["names"])}
        return length >= self.parameters["seconds"] and found == old

    def solve(self, oracle: Oracle) -> None:
        """Record, wait, stop and enter the name."""
        self._open(oracle)
        saved = [name for name in _lengths(oracle.phone) if name not in self.parameters["names"]]
        if saved:  # with another name, if the question for it was not answered
            self._rename(oracle, saved[0])
            return
        if not oracle.sees("Stop"):
            oracle.tap("Record")
        if oracle.sees("Resume"):
            oracle.tap("Resume")
        for _ in range(self.parameters["seconds"] // 5 + 1):
            oracle.wait()
        oracle.tap("Stop")
        oracle.type("Name", self.parameters["name"])
        oracle.tap("Save")


class RenameRecording(_Recordings):
    """Give a recording another name."""

    template = "Rename the recording {old} in the Audio Recorder to {name}."
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw both names."""
        found = _draw_recordings(rng)
        return {**found, "old": rng.choice(found["names"])}

    def done(self, phone: Phone) -> bool:
        """Whether it has the name, and all others are as they were."""
        names = [
            self.parameters["name"] if each == self.parameters["old"] else each for each in self.parameters["names"]
        ]
        return _lengths(phone) == {name: 12 + 7 * place for place, name in enumerate(names)}

    def solve(self, oracle: Oracle) -> None:
        """Open it and enter the name."""
        self._open(oracle)
        self._rename(oracle, self.parameters["old"])


# -- drawings ---------------------------------------------------------------------------------------------


class SaveDrawing(PhoneTask):
    """Draw something and save it."""

    family = "media"
    apps = ("Draw",)
    template = (
        "Clear the canvas in Draw, draw at least one {color} line and no other, and save it as {name} in {folder}."
    )
    steps = 25

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a color, a name and a folder; and what was drawn before."""
        color, other = rng.sample(_COLORS, 2)
        name, old = draw_names(rng, f".{rng.choice(drawing.ENDINGS)}", 2)
        words = {"color": color.lower(), "name": name, "folder": rng.choice(_FOLDERS)}
        return {**words, "old": old, "other": other, "paint": color}

    def prepare(self, phone: Phone) -> None:
        """Leave a line on the canvas, and a drawing in the folder."""
        line = [0.1, 0.2, 0.8, 0.3, self.parameters["other"]]
        phone.data("draw").update(strokes=[line], color=self.parameters["other"])
        drawing.add_drawing(phone, self._path("old"), [line])

    def done(self, phone: Phone) -> bool:
        """Whether the file has lines of this color alone, and the other drawing is as it was."""
        strokes = drawing.read_drawing(phone, self._path("name"))
        old = [0.1, 0.2, 0.8, 0.3, self.parameters["other"]]
        kept = drawing.read_drawing(phone, self._path("old")) == [old] and len(phone.files.all()) == 2
        return kept and bool(strokes) and all(each[4] == self.parameters["paint"] for each in strokes)

    def solve(self, oracle: Oracle) -> None:
        """Clear the canvas, choose the color, swipe, and save."""
        oracle.open("Draw")
        oracle.tap("More options", "Clear")
        oracle.do("click", index=oracle.place(lambda e: e.text == "Clear" and e.class_name.endswith("Button")))
        oracle.tap(f"{self.parameters['paint']} color")
        oracle.do("swipe", direction="left")
        oracle.tap("Save")
        oracle.type("Filename", self.parameters["name"])
        if self.parameters["folder"] != "Pictures":
            oracle.tap("Internal/Pictures", self.parameters["folder"])
        oracle.tap("OK")

    def _path(self, name: str) -> str:
        return f"{SHARED}/{self.parameters['folder']}/{self.parameters[name]}"


TASKS: tuple[type[PhoneTask], ...] = (TakePhotos, TakeVideo, RecordAudio, RenameRecording, SaveDrawing)
