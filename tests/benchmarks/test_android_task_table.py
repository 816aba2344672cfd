"""The page that lists AndroidWorld's tasks says of each what the code does."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from backtrail.benchmarks.android_solutions import solution
from backtrail.envs.androidworld.running import on_the_phone

_PATH = Path(__file__).parents[2] / "docs" / "android-tasks.md"
if not _PATH.exists():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)
PAGE = _PATH.read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| `")]
NAMES = [row[0].strip("`") for row in ROWS]


def test_there_are_116_tasks_none_twice() -> None:
    assert len(ROWS) == 116 and len(set(NAMES)) == 116
    assert all(len(row) == 4 and all(row) for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_row_says_how_the_task_is_done(row: list[str]) -> None:
    name, _, how, why = row
    found = solution(name.strip("`"))
    assert how == (found[0] if found else "emulator only")
    assert on_the_phone(name.strip("`")) is (found is not None)
    assert why.startswith("needs ") is (found is None)


def test_the_text_counts_as_the_table_does() -> None:
    how = Counter(row[2] for row in ROWS)
    begin = " ".join(PAGE.split("## All tasks")[0].split())
    done = how["screen"] + how["answer"] + how["state"]
    assert f"AndroidWorld has {len(ROWS)} tasks. {done} of them **run on" in begin
    assert f"{how['screen']} are done by screen, {how['answer']} by answer, {how['state']} by state." in begin
    (other,) = [row[0] for row in ROWS if row[2] == "emulator only"]
    assert f"The other one, {other}," in begin and f"All {done} came out right" in begin


def test_groups_and_tasks_are_sorted() -> None:
    table = PAGE.split("| --- |")[-1]
    groups = re.split(r"^\| \*\*(.+)\*\* .*$", table, flags=re.MULTILINE)[1:]
    assert groups[::2] == sorted(groups[::2], key=str.lower)
    for tasks in groups[1::2]:
        names = re.findall(r"^\| `(\w+)`", tasks, flags=re.MULTILINE)
        assert names and names == sorted(names)


def test_notes_name_tasks_of_the_table() -> None:
    notes = PAGE.split("## Notes")[1]
    named = re.findall(r"`([A-Z]\w{7,})`", notes)
    assert len(named) > 15 and set(named) <= set(NAMES)
    for row in ROWS:
        assert "(see notes)" not in row[3] or row[0] in notes, row[0]


def test_the_names_are_those_of_android_world() -> None:
    registry = pytest.importorskip(
        "android_world.registry", reason="android_world is not installed", exc_type=ImportError
    )
    tasks = registry.TaskRegistry()
    assert sorted(NAMES) == sorted(tasks.get_registry(tasks.ANDROID_WORLD_FAMILY))
