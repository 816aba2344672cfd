"""The SQLite databases of apps: made of their tables when somebody reads one, read back into them when somebody writes one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["DATABASES", "Database", "Error", "Table", "clear", "dump", "load", "paths", "query", "select"]

Row = dict[str, Any]
Error = sqlite3.Error

_MAGIC = b"SQLite format 3\0"


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
    def empty(self) -> Row:
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
    f"{_MUSIC}/playlist.db": Database("music", (Table("PlaylistEntity", _PLAYLISTS), Table("SongEntity", _SONGS))),
    f"{_MUSIC}/music_playback_state.db": Database("music", (Table("playing_queue", _QUEUE),)),
}
"""By path on the device. Schemas are those that AndroidWorld's checks read: not a column more."""


def paths(phone: Phone) -> list[str]:
    """Return the paths of the databases of the apps that a phone has."""
    return sorted(path for path, database in DATABASES.items() if database.app in phone.apps)


def dump(phone: Phone, path: str) -> bytes:
    """Return a database as the bytes of its file; equal tables give equal bytes."""
    with closing(_opened(phone, path)) as connection:
        return connection.serialize()


def load(phone: Phone, path: str, content: bytes) -> None:
    """Put the rows of a database file in the place of the app's.

    What an app keeps of a row beside the columns of the database stays with the row of the same number.

    Raises:
        ValueError: If it is no such database; nothing has changed then.
    """
    if not content.startswith(_MAGIC):
        raise ValueError(f"Expected an SQLite database with the tables of {path}, got other bytes")
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.deserialize(content)
            found = {table.name: _rows(connection, table) for table in DATABASES[path].tables}
        except (sqlite3.Error, KeyError) as error:
            raise ValueError(f"Expected an SQLite database with the tables of {path}: {error}") from None
    data = phone.data(DATABASES[path].app)
    for table in DATABASES[path].tables:
        if table.kept:
            key = table.names[0]
            known = {row[key]: row for row in data[table.name]}
            data[table.name] = [{**known.get(row[key], {}), **row} for row in found[table.name]]
            phone.state["next"] = max([phone.state["next"], *(row[key] + 1 for row in found[table.name])])


def clear(phone: Phone, path: str) -> None:
    """Empty a database: what a deleted file means, for the app makes a new one."""
    for table in DATABASES[path].tables:
        if table.kept:
            phone.data(DATABASES[path].app)[table.name] = []


def query(phone: Phone, path: str, sql: str) -> str:
    """Run statements as ``sqlite3`` on the device does and return what it prints; changes are read back into the app's data.

    Raises:
        Error: If a statement fails, or leaves no database of the app; nothing has changed then.
    """
    lines = []
    with closing(_opened(phone, path)) as connection:
        before = connection.serialize()
        try:
            connection.set_authorizer(_allowed)
            for statement in _statements(sql):
                lines += ["|".join(_word(value) for value in row) for row in connection.execute(statement)]
            connection.commit()
            connection.set_authorizer(None)
            after = connection.serialize()
            if after != before:
                load(phone, path, after)
        except (ValueError, sqlite3.Warning) as error:
            raise Error(str(error)) from None
    return "".join(f"{line}\n" for line in lines)


def select(phone: Phone, path: str, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Run one statement that only reads; return the names of the columns and the rows.

    Raises:
        Error: If it fails.
    """
    with closing(_opened(phone, path)) as connection:
        connection.set_authorizer(_allowed)
        try:
            cursor = connection.execute(sql)
            return [each[0] for each in cursor.description or ()], cursor.fetchall()
        except (ValueError, sqlite3.Warning) as error:
            raise Error(str(error)) from None


def _opened(phone: Phone, path: str) -> sqlite3.Connection:
    """Return a database in memory."""
    connection = sqlite3.connect(":memory:")
    database = DATABASES[path]
    for table in database.tables:
        connection.execute(f"CREATE TABLE {table.name} ({table.columns})")
        marks = ", ".join("?" * len(table.names))
        rows: Sequence[Row] = phone.data(database.app)[table.name] if table.kept else ()
        if "PRIMARY KEY" in table.columns:  # then their order says nothing, and must not be in the bytes
            rows = sorted(rows, key=lambda row: row[table.names[0]])
        empty = table.empty
        for row in rows:
            values = [_stored(table, name, row.get(name, empty[name])) for name in table.names]
            connection.execute(f"INSERT INTO {table.name} VALUES ({marks})", values)
    connection.commit()
    return connection


def _allowed(action: int, *names: str | None) -> int:
    """Keep statements from reaching files of this machine, as ATTACH and VACUUM INTO would."""
    return sqlite3.SQLITE_DENY if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_PRAGMA) else sqlite3.SQLITE_OK


def _stored(table: Table, name: str, value: Any) -> Any:
    return bytes.fromhex(value) if name in table.blobs and isinstance(value, str) else value


def _rows(connection: sqlite3.Connection, table: Table) -> list[Row]:
    cursor = connection.execute(f"SELECT * FROM {table.name}")
    names = [each[0] for each in cursor.description]
    rows = [{name: _plain(value) for name, value in zip(names, row, strict=True)} for row in cursor]
    kept = [{name: row[name] for name in table.names} for row in rows]
    for name, definition in zip(table.names, table.columns.split(", "), strict=True):
        words = definition.split()
        kinds = {"INTEGER": int, "REAL": (int, float), "TEXT": str, "BLOB": str}[words[1]]
        needed = "NOT" in words or "KEY" in words
        for row in kept:
            if not isinstance(row[name], kinds) and (needed or row[name] is not None):
                raise ValueError(f"Expected {words[1]} in the column {name} of {table.name}, got {row[name]!r}")
    return kept


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def _word(value: Any) -> str:
    return "" if value is None else value.hex() if isinstance(value, bytes) else str(value)


def _statements(sql: str) -> Iterator[str]:
    """Yield the statements of a text; the last one may lack its semicolon."""
    statement = ""
    for part in sql.split(";"):
        statement += part
        if sqlite3.complete_statement(f"{statement};"):
            if statement.strip():
                yield statement
            statement = ""
        else:
            statement += ";"
    if statement.strip(" ;\n\t"):
        yield statement
