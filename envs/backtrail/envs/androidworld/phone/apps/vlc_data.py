"""The data of the media player: films and sounds are files; playlists are rows with the columns of its tables."""

from __future__ import annotations

import json
import posixpath
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.apps import storage
from backtrail.envs.androidworld.phone.files import SHARED

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "KEY",
    "VIDEOS",
    "Row",
    "add_playlist",
    "add_to_playlist",
    "add_video",
    "clock",
    "delete_file",
    "delete_playlist",
    "entries",
    "media",
    "move_in_playlist",
    "name",
    "playlist",
    "playlists",
    "remove_from_playlist",
    "rename_playlist",
    "seconds",
    "set_up",
]

KEY = "vlc"
VIDEOS = f"{SHARED}/VLCVideos"
"""Where films are; they are found in all of the shared storage."""

Row = dict[str, Any]

_IDS = 10**6


def set_up(phone: Phone) -> None:
    """Make the folder of films, which AndroidWorld makes when it installs the app."""
    phone.files.make(VIDEOS)


# -- files ------------------------------------------------------------------------------------------------


def media(phone: Phone, kind: str = "Video") -> list[str]:
    """Return the paths of all films ("Video") or sounds ("Audio") of the shared storage, by name."""
    shared = [path for path in phone.files.all() if path.startswith(f"{SHARED}/") and "/." not in path]
    return sorted((path for path in shared if storage.kind(phone, path) == kind), key=lambda path: (_key(path), path))


def name(path: str) -> str:
    """Return the name of a file."""
    return posixpath.basename(path)


def add_video(phone: Phone, title: str, length: int, folder: str = VIDEOS) -> str:
    """Write a film of so many seconds and return its path."""
    path = f"{folder}/{title}"
    phone.files.write(path, json.dumps({"type": "video", "duration": length}))
    return path


def seconds(phone: Phone, path: str) -> int:
    """Return how long a film or sound is; 0 if nobody knows."""
    known = storage.picture(phone, path)
    length = known.get("duration", 0)
    if not isinstance(length, int | float) or not 0 <= length < 10**9:
        return 0
    return round(length if "type" in known else length / 1000)  # songs say it in milliseconds


def clock(length: int) -> str:
    """Return seconds as m:ss or h:mm:ss."""
    hours, minutes = divmod(length // 60, 60)
    return f"{hours}:{minutes:02}:{length % 60:02}" if hours else f"{minutes}:{length % 60:02}"


def delete_file(phone: Phone, path: str) -> None:
    """Delete a file, and take it out of all playlists."""
    storage.remove(phone, path)
    for row in playlists(phone):
        number = row["id_playlist"]
        paths = entries(phone, number)
        if path in paths:
            _put(phone, number, [each for each in paths if each != path])


def _key(path: str) -> str:
    return name(path).lower()


# -- playlists --------------------------------------------------------------------------------------------


def playlists(phone: Phone) -> list[Row]:
    """Return all playlists (id_playlist, name) by name."""
    return sorted(phone.data(KEY)["Playlist"], key=lambda row: (row["name"].lower(), row["id_playlist"]))


def playlist(phone: Phone, number: int) -> Row | None:
    """Return the playlist with an id; None if there is none."""
    return next((row for row in phone.data(KEY)["Playlist"] if row["id_playlist"] == number), None)


def entries(phone: Phone, number: int) -> list[str]:
    """Return the paths of what is in a playlist, in its order; a file may be gone."""
    data = phone.data(KEY)
    known = {row["id_media"]: row for row in data["Media"]}
    rows = [row for row in data["PlaylistMediaRelation"] if row["playlist_id"] == number and row["media_id"] in known]
    return [_path(phone, known[row["media_id"]]) for row in sorted(rows, key=lambda row: row["position"])]


def add_playlist(phone: Phone, title: str, paths: Sequence[str] = ()) -> int:
    """Make a playlist of files and return its id."""
    rows = phone.data(KEY)["Playlist"]
    number = max((row["id_playlist"] for row in rows), default=0) + 1
    rows.append({"id_playlist": number, "name": title})
    add_to_playlist(phone, number, paths)
    return number


def add_to_playlist(phone: Phone, number: int, paths: Sequence[str]) -> int:
    """Put files at the end of a playlist; those that it has already are left out. Returns how many were added."""
    before = entries(phone, number)
    after = list(dict.fromkeys([*before, *paths]))
    _put(phone, number, after)
    return len(after) - len(before)


def remove_from_playlist(phone: Phone, number: int, place: int) -> None:
    """Take the file at a place out of a playlist."""
    paths = entries(phone, number)
    _put(phone, number, paths[:place] + paths[place + 1 :])


def move_in_playlist(phone: Phone, number: int, place: int, by: int) -> None:
    """Let the file at a place change places with the one before (-1) or after (1) it."""
    paths = entries(phone, number)
    other = place + by
    if 0 <= place < len(paths) and 0 <= other < len(paths):
        paths[place], paths[other] = paths[other], paths[place]
        _put(phone, number, paths)


def rename_playlist(phone: Phone, number: int, title: str) -> None:
    """Give a playlist another name."""
    row = playlist(phone, number)
    if row is not None:
        row["name"] = title


def delete_playlist(phone: Phone, number: int) -> None:
    """Delete a playlist; its files stay."""
    data = phone.data(KEY)
    data["Playlist"] = [row for row in data["Playlist"] if row["id_playlist"] != number]
    _put(phone, number, ())


def _put(phone: Phone, number: int, paths: Sequence[str]) -> None:
    """Let a playlist have these files; the tables keep no file that is in no playlist, and one order of rows."""
    data = phone.data(KEY)
    others = [row for row in data["PlaylistMediaRelation"] if row["playlist_id"] != number]
    own = [
        {"media_id": _media_id(phone, path), "playlist_id": number, "position": place}
        for place, path in enumerate(paths)
    ]
    rows = sorted([*others, *own], key=lambda row: (row["playlist_id"], row["position"]))
    used = {row["media_id"] for row in rows}
    data["PlaylistMediaRelation"] = rows
    data["Media"] = sorted((row for row in data["Media"] if row["id_media"] in used), key=lambda row: row["id_media"])


def _media_id(phone: Phone, path: str) -> int:
    """Return the id of a file in ``Media``, where it is put if need be; ids come from the paths, so that they stay."""
    rows = phone.data(KEY)["Media"]
    known = next((row["id_media"] for row in rows if _path(phone, row) == path), None)
    if known is not None:
        return known
    taken, number = {row["id_media"] for row in rows}, zlib.crc32(path.encode()) % _IDS + 1
    while number in taken:
        number += 1
    rows.append({"id_media": number, "filename": name(path), "path": path})
    return number


def _path(phone: Phone, row: Row) -> str:
    """Return where the file of a row of ``Media`` is: rows that others have written say only what it is called."""
    path = row.get("path", "")
    if name(path) == row["filename"]:
        return path
    found = (each for kind in ("Video", "Audio") for each in media(phone, kind) if name(each) == row["filename"])
    return next(found, f"{VIDEOS}/{row['filename']}")
