"""The SQLite databases of apps: made of their tables when somebody reads one, read back into them when somebody writes one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.schemas import DATABASES, Table

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["Error", "clear", "dump", "load", "paths", "query", "select"]

Row = dict[str, Any]
Error = sqlite3.Error

_MAGIC = b"SQLite format 3\0"


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
            numbers = [row[key] for row in found[table.name] if isinstance(row[key], int)]  # some keys are text
            phone.state["next"] = max([phone.state["next"], *(number + 1 for number in numbers)])


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
