"""Which databases apps have, and the tables in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["DATABASES", "Database", "Table"]


@dataclass(frozen=True)
class Table:
    """A table of a database.

    Attributes:
        name: Its name; the app keeps the rows under it in its data, with columns of the same names and units. BLOB columns are
            kept as hexadecimal text, for data must be plain values.
        columns: Definitions as in ``CREATE TABLE``, comma separated; the first is the key.
        kept: Whether the app has the rows; a table of which the phone makes no use is always empty.
    """

    name: str
    columns: str
    kept: bool = True
    names: tuple[str, ...] = field(init=False)
    blobs: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Take the definitions apart."""
        words = [each.split() for each in self.columns.split(",")]
        object.__setattr__(self, "names", tuple(each[0].strip('"') for each in words))
        object.__setattr__(self, "blobs", frozenset(each[0] for each in words if "BLOB" in each))
        object.__setattr__(self, "columns", ", ".join(" ".join(each) for each in words))

    @property
    def empty(self) -> dict[str, Any]:
        """What a row has where the app says nothing: NULL, or zero and no text where that is not allowed."""
        words = [each.split() for each in self.columns.split(",")]
        filling = {True: {"INTEGER": 0, "REAL": 0.0, "TEXT": ""}, False: {}}
        return {each[0].strip('"'): filling["NOT" in each].get(each[1]) for each in words}


@dataclass(frozen=True)
class Database:
    """A file with tables, of an app of the phone."""

    app: str
    tables: tuple[Table, ...]


_EVENTS = """
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, start_ts INTEGER NOT NULL, end_ts INTEGER NOT NULL, title TEXT NOT NULL,
    location TEXT NOT NULL, description TEXT NOT NULL, reminder_1_minutes INTEGER NOT NULL,
    reminder_2_minutes INTEGER NOT NULL, reminder_3_minutes INTEGER NOT NULL, reminder_1_type INTEGER NOT NULL,
    reminder_2_type INTEGER NOT NULL, reminder_3_type INTEGER NOT NULL, repeat_interval INTEGER NOT NULL,
    repeat_rule INTEGER NOT NULL, repeat_limit INTEGER NOT NULL, repetition_exceptions TEXT NOT NULL,
    attendees TEXT NOT NULL, import_id TEXT NOT NULL, time_zone TEXT NOT NULL, flags INTEGER NOT NULL,
    event_type INTEGER NOT NULL, parent_id INTEGER NOT NULL, last_updated INTEGER NOT NULL, source TEXT NOT NULL,
    availability INTEGER NOT NULL, color INTEGER NOT NULL, type INTEGER NOT NULL
"""
_EXPENSE = """
    expense_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name TEXT, amount INTEGER NOT NULL, category INTEGER NOT NULL,
    note TEXT, created_date INTEGER NOT NULL, modified_date INTEGER NOT NULL
"""
_RECIPES = """
    recipeId INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, title TEXT NOT NULL, imageName TEXT NOT NULL,
    description TEXT NOT NULL, servings TEXT NOT NULL, preparationTime TEXT NOT NULL, source TEXT NOT NULL,
    ingredients TEXT NOT NULL, directions TEXT NOT NULL, favorite INTEGER NOT NULL
"""
_TASKS = """
    _id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, title TEXT, importance INTEGER NOT NULL, dueDate INTEGER NOT NULL,
    hideUntil INTEGER NOT NULL, created INTEGER NOT NULL, modified INTEGER NOT NULL, completed INTEGER NOT NULL,
    deleted INTEGER NOT NULL, notes TEXT, estimatedSeconds INTEGER NOT NULL, elapsedSeconds INTEGER NOT NULL,
    timerStart INTEGER NOT NULL, notificationFlags INTEGER NOT NULL, lastNotified INTEGER NOT NULL, recurrence TEXT,
    repeat_from INTEGER NOT NULL, calendarUri TEXT, remoteId TEXT, collapsed INTEGER NOT NULL, parent INTEGER NOT NULL,
    "order" INTEGER, read_only INTEGER NOT NULL
"""
_SMS = """
    _id INTEGER PRIMARY KEY, thread_id INTEGER, address TEXT, person INTEGER, date INTEGER, date_sent INTEGER,
    protocol INTEGER, read INTEGER, status INTEGER, type INTEGER, reply_path_present INTEGER, subject TEXT, body TEXT,
    service_center TEXT, locked INTEGER, sub_id INTEGER, error_code INTEGER, creator TEXT, seen INTEGER
"""
_PLAYLISTS = "playlist_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, playlist_name TEXT NOT NULL"
_SONGS = """
    song_key INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, playlist_creator_id INTEGER NOT NULL, id INTEGER NOT NULL,
    title TEXT NOT NULL, track_number INTEGER NOT NULL, year INTEGER NOT NULL, duration INTEGER NOT NULL,
    data TEXT NOT NULL, date_modified INTEGER NOT NULL, album_id INTEGER NOT NULL, album_name TEXT NOT NULL,
    artist_id INTEGER NOT NULL, artist_name TEXT NOT NULL, composer TEXT, album_artist TEXT
"""
_QUEUE = """
    _id INTEGER NOT NULL, title TEXT NOT NULL, track INTEGER NOT NULL, year INTEGER NOT NULL, duration INTEGER NOT NULL,
    _data TEXT NOT NULL, date_modified INTEGER NOT NULL, album_id INTEGER NOT NULL, album TEXT NOT NULL,
    artist_id INTEGER NOT NULL, artist TEXT NOT NULL, composer TEXT
"""
_TRACKS = """
    _id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name TEXT, description TEXT, category TEXT, starttime INTEGER,
    stoptime INTEGER, numpoints INTEGER, totaldistance REAL, totaltime INTEGER, movingtime INTEGER, avgspeed REAL,
    avgmovingspeed REAL, maxspeed REAL, minelevation REAL, maxelevation REAL, elevationgain REAL, icon TEXT, uuid BLOB,
    elevationloss REAL, starttime_offset INTEGER, activity_type TEXT
"""
_VLC = (
    Table("Playlist", "id_playlist INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name TEXT NOT NULL"),
    Table("Media", "id_media INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, filename TEXT NOT NULL"),
    Table(
        "PlaylistMediaRelation",
        "media_id INTEGER NOT NULL, playlist_id INTEGER NOT NULL, position INTEGER NOT NULL",
    ),
)
_NOTES = """
    id TEXT PRIMARY KEY NOT NULL, parent_id TEXT NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL,
    created_time INTEGER NOT NULL, updated_time INTEGER NOT NULL, is_conflict INTEGER NOT NULL, latitude REAL NOT NULL,
    longitude REAL NOT NULL, altitude REAL NOT NULL, author TEXT NOT NULL, source_url TEXT NOT NULL,
    is_todo INTEGER NOT NULL, todo_due INTEGER NOT NULL, todo_completed INTEGER NOT NULL, source TEXT NOT NULL,
    source_application TEXT NOT NULL, application_data TEXT NOT NULL, "order" REAL NOT NULL,
    user_created_time INTEGER NOT NULL, user_updated_time INTEGER NOT NULL, encryption_cipher_text TEXT NOT NULL,
    encryption_applied INTEGER NOT NULL, markup_language INTEGER NOT NULL, is_shared INTEGER NOT NULL,
    share_id TEXT NOT NULL, conflict_original_id TEXT NOT NULL, master_key_id TEXT NOT NULL, user_data TEXT NOT NULL
"""
_FOLDERS = """
    id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL, created_time INTEGER NOT NULL, updated_time INTEGER NOT NULL,
    user_created_time INTEGER NOT NULL, user_updated_time INTEGER NOT NULL, deleted_time INTEGER NOT NULL DEFAULT 0,
    encryption_cipher_text TEXT NOT NULL, encryption_applied INTEGER NOT NULL, parent_id TEXT NOT NULL,
    is_shared INTEGER NOT NULL, share_id TEXT NOT NULL, master_key_id TEXT NOT NULL, icon TEXT NOT NULL,
    user_data TEXT NOT NULL
"""
_WORDS = """
    id TEXT PRIMARY KEY NOT NULL, parent_id TEXT NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL,
    latitude REAL NOT NULL, longitude REAL NOT NULL, altitude REAL NOT NULL, source_url TEXT NOT NULL,
    is_todo INTEGER NOT NULL, todo_due INTEGER NOT NULL, todo_completed INTEGER NOT NULL,
    user_created_time INTEGER NOT NULL, user_updated_time INTEGER NOT NULL
"""
_MARKERS = """
    marker_id TEXT PRIMARY KEY, marker_lat REAL, marker_lon REAL, marker_description TEXT, marker_active INTEGER,
    marker_added INTEGER, marker_visited INTEGER, group_name TEXT, group_key TEXT, marker_color INTEGER, marker_next_key TEXT,
    marker_disabled INTEGER, marker_selected INTEGER, marker_map_object_name TEXT, title TEXT
"""
_MUSIC = "/data/data/code.name.monkey.retromusic/databases"

DATABASES = {
    "/data/data/com.android.providers.telephony/databases/mmssms.db": Database(
        "sms", (Table("sms", _SMS), Table("threads", "_id INTEGER PRIMARY KEY, date INTEGER", kept=False))
    ),
    "/data/data/com.simplemobiletools.calendar.pro/databases/events.db": Database(
        "calendar", (Table("events", _EVENTS),)
    ),
    "/data/data/com.arduia.expense/databases/accounting.db": Database("expense", (Table("expense", _EXPENSE),)),
    "/data/data/com.flauschcode.broccoli/databases/broccoli": Database("recipe", (Table("recipes", _RECIPES),)),
    "/data/data/org.tasks/databases/database": Database("tasks", (Table("tasks", _TASKS),)),
    "/data/data/de.dennisguse.opentracks/databases/database.db": Database("opentracks", (Table("tracks", _TRACKS),)),
    f"{_MUSIC}/playlist.db": Database("music", (Table("PlaylistEntity", _PLAYLISTS), Table("SongEntity", _SONGS))),
    f"{_MUSIC}/music_playback_state.db": Database("music", (Table("playing_queue", _QUEUE),)),
    "/data/data/net.cozic.joplin/databases/joplin.sqlite": Database(
        "joplin", (Table("notes", _NOTES), Table("folders", _FOLDERS), Table("notes_normalized", _WORDS, kept=False))
    ),
    "/data/data/org.videolan.vlc/app_db/vlc_media.db": Database("vlc", _VLC),
    "/data/data/net.osmand/databases/map_markers_db": Database("osmand", (Table("map_markers", _MARKERS),)),
}
"""By path on the device. Schemas are those that AndroidWorld's checks read: not a column more."""
