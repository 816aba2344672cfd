"""Apps' data as SQLite files: what is dumped can be loaded, changed elsewhere, and comes back as the app's data."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backtrail.envs.androidworld.phone import Phone, databases
from backtrail.envs.androidworld.phone.apps import expense_data, texts
from backtrail.envs.androidworld.phone.factory import make_phone
from backtrail.envs.androidworld.phone.schemas import DATABASES

MMSSMS = "/data/data/com.android.providers.telephony/databases/mmssms.db"
EXPENSES = "/data/data/com.arduia.expense/databases/accounting.db"
PATHS = sorted(DATABASES)


@pytest.fixture
def phone() -> Phone:
    return make_phone()


def rows(phone: Phone, path: str, table: str) -> list[dict[str, Any]]:
    """Return what the file has, as another program reads it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(databases.dump(phone, path))
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]


def column(definition: str) -> st.SearchStrategy[Any]:
    """Return values that a column may have."""
    words = definition.split()
    whole = st.integers(-(2**62), 2**62)
    values = {
        "INTEGER": whole,
        "TEXT": st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        "REAL": st.floats(-1e9, 1e9),
        "BLOB": st.binary(max_size=16).map(bytes.hex),
    }
    return values[words[1]] if "NOT" in words or "KEY" in words else st.none() | values[words[1]]


def tables(path: str) -> st.SearchStrategy[dict[str, list[dict[str, Any]]]]:
    """Return the contents that a database may have."""
    made = {}
    for table in DATABASES[path].tables:
        if table.kept:
            columns = zip(table.names, table.columns.split(", "), strict=True)
            row = st.fixed_dictionaries({name: column(words) for name, words in columns})
            made[table.name] = st.lists(row, max_size=3, unique_by=lambda row, key=table.names[0]: row[key])
    return st.fixed_dictionaries(made)


@pytest.mark.parametrize("path", PATHS)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_what_is_dumped_and_loaded_dumps_to_the_same_bytes(path: str, data: st.DataObject) -> None:
    phone, other = make_phone(), make_phone()
    phone.data(DATABASES[path].app).update(data.draw(tables(path)))
    content = databases.dump(phone, path)
    databases.load(other, path, content)
    assert databases.dump(other, path) == content
    for table in DATABASES[path].tables:
        assert rows(other, path, table.name) == rows(phone, path, table.name)


@pytest.mark.parametrize("path", PATHS)
def test_a_file_that_was_read_back_unchanged_changes_no_row_of_the_app(phone: Phone, path: str) -> None:
    texts.receive(phone, "+15550001111", "hello")
    expense_data.add_expense(phone, "Lunch", 1250, 3)
    before = phone.save()
    databases.load(phone, path, databases.dump(phone, path))
    assert phone.save() == before


def test_another_program_may_add_rows_that_the_app_then_has(phone: Phone, tmp_path: Path) -> None:
    file = tmp_path / "accounting.db"
    file.write_bytes(databases.dump(phone, EXPENSES))
    with closing(sqlite3.connect(file)) as connection:
        values = ("Bus", 300, 7, "to work", 1697000000000, 1697000000000)
        columns = "name, amount, category, note, created_date, modified_date"
        connection.execute(f"INSERT INTO expense ({columns}) VALUES (?, ?, ?, ?, ?, ?)", values)
        connection.commit()
    databases.load(phone, EXPENSES, file.read_bytes())
    assert [(row["name"], row["amount"]) for row in expense_data.expenses(phone)] == [("Bus", 300)]


def test_numbers_given_after_a_load_are_new_ones(phone: Phone) -> None:
    databases.query(phone, EXPENSES, "INSERT INTO expense VALUES (41, 'Bus', 300, 7, '', 0, 0)")
    assert phone.new_id() == 42


def test_what_an_app_keeps_beside_the_columns_stays_with_its_row(phone: Phone) -> None:
    texts.receive(phone, "+15550001111", "one")
    texts.receive(phone, "+15550002222", "two")
    phone.data("sms")["sms"][1]["pinned"] = True
    databases.query(phone, MMSSMS, "DELETE FROM sms WHERE body = 'one'")
    assert [(row["body"], row["pinned"]) for row in phone.data("sms")["sms"]] == [("two", True)]


def test_queries_print_rows_as_sqlite3_does(phone: Phone) -> None:
    texts.send(phone, "+15550001111", "a; b")
    said = databases.query(phone, MMSSMS, "SELECT type, body, person FROM sms; SELECT 'x;y'")
    assert said == "2|a; b|\nx;y\n"


def test_deleting_all_messages_empties_the_app(phone: Phone) -> None:
    texts.receive(phone, "+15550001111", "hello")
    assert databases.query(phone, MMSSMS, "DELETE FROM sms;") == ""
    assert databases.query(phone, MMSSMS, "DELETE FROM threads;") == ""
    assert texts.messages(phone) == []


def test_a_file_that_is_no_such_database_is_refused_and_changes_nothing(phone: Phone) -> None:
    texts.receive(phone, "+15550001111", "hello")
    before = phone.save()
    foreign = databases.dump(phone, EXPENSES)
    for content in (b"", b"no database", foreign, databases.dump(phone, MMSSMS)[:700]):
        with pytest.raises(ValueError, match="tables of"):
            databases.load(phone, MMSSMS, content)
    assert phone.save() == before


@pytest.mark.parametrize(
    "sql",
    ["SELECT * FROM nothing", "DELETE FROM sms; NONSENSE", "DROP TABLE sms", "ALTER TABLE sms RENAME COLUMN body TO text",
     "UPDATE sms SET date = 'soon'", "SELECT '\0'"],
)  # fmt: skip
def test_a_statement_that_fails_changes_nothing(phone: Phone, sql: str) -> None:
    texts.receive(phone, "+15550001111", "hello")
    before = phone.save()
    with pytest.raises(databases.Error):
        databases.query(phone, MMSSMS, sql)
    assert phone.save() == before


def test_no_statement_reaches_files_of_this_machine(phone: Phone, tmp_path: Path) -> None:
    for sql in ("ATTACH DATABASE '{}' AS other", "VACUUM INTO '{}'"):
        with pytest.raises(databases.Error):
            databases.query(phone, MMSSMS, sql.format(tmp_path / "out.db"))
    assert list(tmp_path.iterdir()) == []
