"""Files as users see them: kinds, sizes, dates and names, for the apps that list, move and delete them."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.files import SHARED, as_bytes

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "MEDIA",
    "ORDERS",
    "PLACES",
    "copy",
    "date",
    "free",
    "icon",
    "in_order",
    "kind",
    "listing",
    "make",
    "modified",
    "move",
    "picture",
    "remove",
    "rename",
    "search",
    "short",
    "size",
    "write",
    "wrong_name",
]

PLACES = (
    "Alarms", "Audiobooks", "DCIM", "Documents", "Download", "Movies", "Music", "Notifications", "Pictures", "Podcasts",
    "Recordings", "Ringtones",
)  # fmt: skip
"""Directories that Android makes in the shared storage."""

ORDERS = ("Name", "Date modified", "Size", "Type")
"""Orders of a listing: dates newest first, sizes largest first."""

MEDIA = ("Image", "Video")
"""Kinds that a gallery shows."""

_KINDS = {
    "Text": ("note", ("txt", "md", "csv", "log", "json", "xml", "todo", "org")),
    "Web page": ("globe", ("html", "htm")),
    "Image": ("picture", ("jpg", "jpeg", "png", "gif", "webp", "bmp", "svg")),
    "Video": ("play", ("mp4", "mkv", "webm", "3gp", "avi", "mov")),
    "Audio": ("volume", ("mp3", "m4a", "wav", "ogg", "flac", "aac", "amr")),
    "PDF": ("file", ("pdf",)),
}
_BEGIN = 1697384040  # files that came with the phone


def kind(phone: Phone, path: str) -> str:
    """Return what a path is: "Folder", "Text", "Image", "Video", "Audio", "PDF", "Web page" or "File"."""
    if phone.files.is_directory(path):
        return "Folder"
    ending = path.rpartition(".")[2].lower()
    return next((name for name, (_, endings) in _KINDS.items() if ending in endings), "File")


def icon(phone: Phone, path: str) -> str:
    """Return the name of the icon for a path."""
    what = kind(phone, path)
    return "folder" if what == "Folder" else _KINDS.get(what, ("file",))[0]


def modified(phone: Phone, path: str) -> int:
    """Return when a file was last written, in seconds; when the phone began if nobody noted it."""
    return _times(phone).get(phone.files.full(path), _BEGIN)


def date(phone: Phone, path: str) -> str:
    """Return when a file was last written, in words: the time today, else the day."""
    then = phone.now.fromtimestamp(modified(phone, path), phone.now.tzinfo)
    if then.date() == phone.now.date():
        return then.strftime("%H:%M")
    return then.strftime("%b %-d" if then.year == phone.now.year else "%b %-d, %Y")


def size(phone: Phone, path: str) -> int:
    """Return the size of a file in bytes; of a directory that of all that is in it."""
    within = [path] if phone.files.read(path) is not None else _below(phone, path)
    return sum(len(as_bytes(phone.files.read(each) or "")) for each in within)


def picture(phone: Phone, path: str) -> dict[str, Any]:
    """Return what is known of a picture, video or recording: the JSON object in its file, empty if there is none."""
    try:
        known = json.loads(phone.files.read(path) or "{}")
    except (json.JSONDecodeError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}


def listing(phone: Phone, folder: str, order: str = "Name") -> list[str]:
    """Return the paths in a directory, directories first, without hidden ones; ``order`` is one of `ORDERS`."""
    paths = [posixpath.join(phone.files.full(folder), name) for name in phone.files.names(folder) if name[0] != "."]
    return sorted(in_order(phone, paths, order), key=lambda path: not phone.files.is_directory(path))


def in_order(phone: Phone, paths: Sequence[str], order: str) -> list[str]:
    """Return paths in one of `ORDERS`; by name they stay as they are."""
    keys = {
        "Date modified": lambda path: -modified(phone, path),
        "Size": lambda path: -size(phone, path),
        "Type": lambda path: kind(phone, path),
    }
    return sorted(paths, key=keys[order]) if order in keys else list(paths)


def search(phone: Phone, folder: str, words: str, inside: bool = False) -> list[str]:
    """Return the paths below a directory whose name has ``words`` in it; ``inside``: or whose text has."""
    words = words.strip().lower()
    if not words:
        return []
    found = []
    for path in _below(phone, folder):
        text = (phone.files.read(path) or "").lower() if inside else ""
        if words in posixpath.basename(path).lower() or words in text:
            found.append(path)
    return found


def wrong_name(phone: Phone, folder: str, name: str) -> str:
    """Return what is wrong with a name for something new in a directory; "" if nothing."""
    if not name.strip():
        return "The name must not be empty"
    if "/" in name or "\n" in name or name in (".", ".."):
        return "The name has characters that are not allowed"
    if phone.files.exists(posixpath.join(folder, name.strip())):
        return "An item with this name already exists"
    return ""


def free(phone: Phone, folder: str, name: str) -> str:
    """Return a path in a directory that is not taken: ``name``, or "name (1)" and so on."""
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem:
        stem, dot, ending = name, "", ""
    path, number = posixpath.join(folder, name), 0
    while phone.files.exists(path):
        number += 1
        path = posixpath.join(folder, f"{stem} ({number}){dot}{ending}")
    return path


def write(phone: Phone, path: str, text: str, at: int | None = None) -> None:
    """Write a file and note the time, ``at`` in seconds; None for now."""
    phone.files.write(path, text)
    _stamp(phone, path, at)


def make(phone: Phone, path: str) -> None:
    """Make a directory and note the time."""
    phone.files.make(path)
    _stamp(phone, path)


def remove(phone: Phone, path: str) -> None:
    """Remove a file or directory."""
    phone.files.remove(path)
    _retime(phone, path, "")


def rename(phone: Phone, path: str, name: str) -> str:
    """Give a file or directory another name; return what is wrong with it, "" if it was done."""
    name, folder = name.strip(), posixpath.dirname(path)
    if name == posixpath.basename(path):
        return ""
    wrong = wrong_name(phone, folder, name)
    if not wrong:
        to = posixpath.join(folder, name)
        phone.files.move(path, to)
        _retime(phone, path, to)
    return wrong


def move(phone: Phone, path: str, folder: str) -> str:
    """Move a file or directory into a directory, under another name if its own is taken; return the new path.

    Raises:
        ValueError: If a directory would move into itself.
    """
    if posixpath.dirname(path) == folder:
        return path
    to = _target(phone, path, folder)
    phone.files.move(path, to)
    _retime(phone, path, to)
    return to


def copy(phone: Phone, path: str, folder: str) -> str:
    """Copy a file or directory into a directory, under another name if its own is taken; return the new path.

    Raises:
        ValueError: If a directory would be copied into itself.
    """
    to = _target(phone, path, folder)
    phone.files.copy(path, to)
    _stamp(phone, to)
    return to


def _target(phone: Phone, path: str, folder: str) -> str:
    if folder == path or folder.startswith(f"{path}/"):
        raise ValueError(f"Expected a directory outside {path!r}, got {folder!r}: choose another one")
    return free(phone, folder, posixpath.basename(path))


def _times(phone: Phone) -> dict[str, int]:
    return phone.state["apps"].get("files", {}).get("modified", {})


def _below(phone: Phone, folder: str) -> list[str]:
    """Return the paths of what is in a directory and in those below it, without hidden ones."""
    found = []
    for path in listing(phone, folder):
        found.append(path)
        if phone.files.is_directory(path):
            found += _below(phone, path)
    return found


def _stamp(phone: Phone, path: str, at: int | None = None) -> None:
    times = phone.state["apps"].setdefault("files", {}).setdefault("modified", {})
    times[phone.files.full(path)] = phone.state["now"] if at is None else at


def _retime(phone: Phone, path: str, to: str) -> None:
    """Let the noted times follow what has moved; "" for what is gone."""
    path, times = phone.files.full(path), _times(phone)
    for each in [each for each in times if each == path or each.startswith(f"{path}/")]:
        when = times.pop(each)
        if to:
            times[phone.files.full(to) + each[len(path) :]] = when


def short(path: str) -> str:
    """Return a path as users know it, from the shared storage on."""
    return path.removeprefix(SHARED) or "/"
