"""What tasks on files and notes share: names that are much alike, and all that is in the shared storage."""

from __future__ import annotations

import posixpath
import random
from collections.abc import Iterable, Mapping

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import storage
from backtrail.envs.androidworld.phone.files import SHARED

__all__ = ["NOTEBOOK", "draw_names", "draw_sentences", "layout", "put", "stored"]

NOTEBOOK = "Documents/Markor"
"""Where the notes are in the shared storage."""

_FIRST = (
    "quiet", "silver", "early", "narrow", "golden", "northern", "gentle", "distant", "amber", "hidden", "rapid", "velvet",
    "winter", "copper", "sunny", "little",
)  # fmt: skip
_SECOND = (
    "report", "garden", "budget", "journey", "letter", "invoice", "harvest", "concert", "workshop", "recital", "survey",
    "kitchen", "meeting", "library", "marathon", "orchard",
)  # fmt: skip
_SENTENCES = (
    "The plumber comes on Thursday at nine", "Bring two extra chairs for the guests", "Window seat, third row, left side",
    "Ask Mona about the spare key", "The code of the gate is 4471", "Water the basil every second day",
    "Return the ladder to the neighbours", "Tickets are at the front desk", "Buy batteries before the trip",
    "The choir sings again in November", "Leave the car at the north entrance", "Print the map on thick paper",
    "Dentist moved to the new building", "Paint the fence once it is dry", "The lamp needs a smaller bulb",
    "Order more envelopes and stamps",
)  # fmt: skip


def draw_names(rng: random.Random, ending: str, count: int = 4) -> list[str]:
    """Return different names with an ending, the others much like the first."""
    first, other = rng.sample(_FIRST, 2)
    second, last = rng.sample(_SECOND, 2)
    stems = [
        f"{first}_{second}", f"{first}_{second}_{rng.choice(('final', 'copy', 'old', '2023'))}", f"{other}_{second}",
        f"{first}_{last}", f"{other}_{last}",
    ]  # fmt: skip
    return [f"{stem}{ending}" for stem in stems[:count]]


def draw_sentences(rng: random.Random, count: int) -> list[str]:
    """Return different sentences."""
    return rng.sample(_SENTENCES, count)


def put(phone: Phone, files: Mapping[str, str], folders: Iterable[str] = ()) -> None:
    """Write files and make folders; paths are those below the shared storage."""
    for path, text in files.items():
        storage.write(phone, f"{SHARED}/{path}", text)
    for path in folders:
        storage.make(phone, f"{SHARED}/{path}")


def stored(phone: Phone) -> dict[str, str | None]:
    """Return what is in the shared storage but for apps' own folders: files with their text, folders with None.

    White space at the end of a text is left out: enter, which follows typed text, adds a line.
    """
    paths = {path.removeprefix(f"{SHARED}/"): text for path, text in phone.state["files"].items() if SHARED in path}
    return {
        path: text if text is None else text.rstrip()
        for path, text in paths.items()
        if path != SHARED and path.split("/")[0] != "Android"
    }


def layout(files: Mapping[str, str], folders: Iterable[str] = ()) -> dict[str, str | None]:
    """Return what `stored` gives for a phone with exactly these files, and these folders beside those of a new phone."""
    above: set[str] = {*storage.PLACES, NOTEBOOK, "VLCVideos", *folders}
    for path in [*files, *folders]:
        while path := posixpath.dirname(path):
            above.add(path)
    return {**dict.fromkeys(above), **{path: text.rstrip() for path, text in files.items()}}
