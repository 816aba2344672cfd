"""The data of the music app: songs are files; playlists and the queue are rows with the columns of its tables."""

from __future__ import annotations

import json
import posixpath
import zlib
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.files import SHARED

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "KEY",
    "MUSIC",
    "Row",
    "add_playlist",
    "add_song",
    "add_to_playlist",
    "delete_playlist",
    "export_playlist",
    "length",
    "move_in_playlist",
    "playlist",
    "playlist_songs",
    "playlists",
    "remove_from_playlist",
    "rename_playlist",
    "songs",
]

KEY = "music"
MUSIC = f"{SHARED}/Music"
"""Where songs are, also in directories below."""

Row = dict[str, Any]

_ENDINGS = (".mp3", ".m4a", ".ogg", ".flac", ".wav")


# -- songs ------------------------------------------------------------------------------------------------


def songs(phone: Phone) -> list[Row]:
    """Return all songs by title.

    A song is a file whose text may be JSON with "title", "artist", "album" and "duration" (milliseconds). Rows have the columns of
    ``SongEntity`` but its key and its playlist; ids come from the names, so that they stay as long as the file does.
    """
    found = [
        _song(path, phone.files.read(path) or "")
        for path in phone.files.all()
        if path.startswith(f"{MUSIC}/") and path.lower().endswith(_ENDINGS)
    ]
    return sorted(found, key=lambda row: (row["title"].lower(), row["data"]))


def add_song(phone: Phone, title: str, artist: str, duration: int, album: str = "Singles") -> str:
    """Write a song of so many milliseconds to the music directory and return its path."""
    path = f"{MUSIC}/{title.replace('/', '_')}.mp3"
    tags = {"title": title, "artist": artist, "album": album, "duration": duration}
    phone.files.write(path, json.dumps(tags))
    return path


def length(rows: Collection[Row]) -> str:
    """Return how long songs are together, as m:ss or h:mm:ss."""
    seconds = sum(row["duration"] for row in rows) // 1000
    hours, minutes = divmod(seconds // 60, 60)
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


def _song(path: str, text: str) -> Row:
    try:
        tags = json.loads(text)
    except ValueError:
        tags = {}
    tags = tags if isinstance(tags, dict) else {}
    title = str(tags.get("title") or posixpath.basename(path).rsplit(".", 1)[0])
    artist, album = str(tags.get("artist") or "Unknown artist"), str(tags.get("album") or "Unknown album")
    duration = tags.get("duration")
    return {
        "id": zlib.crc32(path.encode()),
        "title": title,
        "track_number": 0,
        "year": 0,
        "duration": duration if isinstance(duration, int) else 0,
        "data": path,
        "date_modified": 0,
        "album_id": zlib.crc32(album.encode()),
        "album_name": album,
        "artist_id": zlib.crc32(artist.encode()),
        "artist_name": artist,
        "composer": "",
        "album_artist": artist,
    }


# -- playlists --------------------------------------------------------------------------------------------


def playlists(phone: Phone) -> list[Row]:
    """Return all playlists (playlist_id, playlist_name) by name."""
    return sorted(phone.data(KEY)["PlaylistEntity"], key=lambda row: (row["playlist_name"].lower(), row["playlist_id"]))


def playlist(phone: Phone, number: int) -> Row | None:
    """Return the playlist with an id; None if there is none."""
    return next((row for row in phone.data(KEY)["PlaylistEntity"] if row["playlist_id"] == number), None)


def playlist_songs(phone: Phone, number: int) -> list[Row]:
    """Return the rows of ``SongEntity`` of a playlist in its order, which is that of song_key."""
    rows = [row for row in phone.data(KEY)["SongEntity"] if row["playlist_creator_id"] == number]
    return sorted(rows, key=lambda row: row["song_key"])


def add_playlist(phone: Phone, name: str, rows: Sequence[Row] = ()) -> int:
    """Make a playlist of songs and return its id."""
    number = phone.new_id()
    phone.data(KEY)["PlaylistEntity"].append({"playlist_id": number, "playlist_name": name})
    add_to_playlist(phone, number, rows)
    return number


def add_to_playlist(phone: Phone, number: int, rows: Sequence[Row]) -> int:
    """Put songs at the end of a playlist; those that it has already are left out. Returns how many were added."""
    known = {row["id"] for row in playlist_songs(phone, number)}
    new = list({row["id"]: row for row in rows if row["id"] not in known}.values())
    for row in new:
        own = {"song_key": phone.new_id(), "playlist_creator_id": number}
        phone.data(KEY)["SongEntity"].append({**row, **own})
    return len(new)


def remove_from_playlist(phone: Phone, key: int) -> None:
    """Take the song with a song_key out of its playlist."""
    data = phone.data(KEY)
    data["SongEntity"] = [row for row in data["SongEntity"] if row["song_key"] != key]


def move_in_playlist(phone: Phone, key: int, by: int) -> None:
    """Let the song with a song_key change places with the one before (-1) or after (1) it."""
    own = next((row for row in phone.data(KEY)["SongEntity"] if row["song_key"] == key), None)
    if own is None:
        return
    rows = playlist_songs(phone, own["playlist_creator_id"])
    place = rows.index(own) + by
    if 0 <= place < len(rows):
        own["song_key"], rows[place]["song_key"] = rows[place]["song_key"], own["song_key"]


def rename_playlist(phone: Phone, number: int, name: str) -> None:
    """Give a playlist another name."""
    row = playlist(phone, number)
    if row is not None:
        row["playlist_name"] = name


def delete_playlist(phone: Phone, number: int) -> None:
    """Delete a playlist; its songs stay on the phone."""
    data = phone.data(KEY)
    data["PlaylistEntity"] = [row for row in data["PlaylistEntity"] if row["playlist_id"] != number]
    data["SongEntity"] = [row for row in data["SongEntity"] if row["playlist_creator_id"] != number]


def export_playlist(phone: Phone, number: int, directory: str) -> str:
    """Write a playlist as an m3u file into a directory of the shared storage and return its path.

    Raises:
        KeyError: If there is no such playlist.
    """
    row = playlist(phone, number)
    if row is None:
        raise KeyError(f"Expected the id of a playlist, got {number}")
    path = f"{SHARED}/{directory}/{row['playlist_name'].replace('/', '_')}.m3u"
    lines = ["#EXTM3U"]
    for song in playlist_songs(phone, number):
        lines += [f"#EXTINF:{song['duration'] // 1000},{song['artist_name']} - {song['title']}", song["data"]]
    phone.files.write(path, "\n".join(lines) + "\n")
    return path
