"""Joplin: notebooks, notes, to-dos, Markdown, moving, sorting, the trash; what is written is saved at once."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from touching import Hand, hand_in

from backtrail.envs.androidworld.phone import Phone, databases
from backtrail.envs.androidworld.phone.apps import joplin_data as data
from backtrail.envs.androidworld.phone.apps.joplin import Joplin
from backtrail.envs.androidworld.phone.apps.joplin_parts import lines, tick_line
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.identity import phone_fingerprint

PATH = "/data/data/net.cozic.joplin/databases/joplin.sqlite"


@pytest.fixture
def hand() -> Hand:
    return hand_in(Joplin())


def fill(hand: Hand, notebook: str, *titles: str, todo: bool = False, body: str = "") -> str:
    """Make a notebook with notes, a minute between two, and show it."""
    number = data.add_folder(hand.phone, notebook)
    for title in titles:
        hand.phone.pass_time(60)
        data.add_note(hand.phone, number, title, body, is_todo=todo)
    hand.phone.changed()
    hand.tap("Sidebar", notebook)
    return number


def titles(phone: Phone, notebook: str = "") -> list[str]:
    return [row["title"] for row in data.notes(phone, notebook)]


def row_of(hand: Hand, title: str) -> data.Row:
    return next(row for row in data.notes(hand.phone) if row["title"] == title)


# -- notebooks --------------------------------------------------------------------------------------------


def test_a_new_phone_has_no_notebooks_and_none_is_lost_without_a_title(hand: Hand) -> None:
    assert hand.sees("You have no notebooks yet") and not hand.sees("Add new")
    hand.tap("New notebook", "Save")
    assert hand.sees("Please enter a title") and not data.folders(hand.phone)


def test_a_notebook_is_made_shown_renamed_and_put_into_another(hand: Hand) -> None:
    hand.tap("New notebook")
    hand.type("Enter notebook title", "Work")
    hand.tap("Save")
    assert hand.sees("Work") and hand.sees("No notes here yet")
    data.add_folder(hand.phone, "House")
    hand.phone.changed()
    hand.tap("Actions", "Edit notebook")
    hand.type("Enter notebook title", "Job")
    hand.tap("None", "House", "Save", "Sidebar")
    assert [(row["title"], depth) for row, depth in data.folders(hand.phone)] == [("House", 0), ("Job", 1)]
    assert hand.sees("Job")


def test_a_notebook_cannot_be_put_into_itself(hand: Hand) -> None:
    number = fill(hand, "Work")
    inner = data.add_folder(hand.phone, "Inner", number)
    hand.tap("Actions", "Edit notebook", "None", "Inner")
    assert hand.sees("A notebook cannot be put into itself")
    hand.tap("Save")
    assert data.folders(hand.phone)[0][0]["parent_id"] == ""
    with pytest.raises(ValueError, match="outside of 'Work'"):
        data.change_folder(hand.phone, number, "Work", inner)


def test_a_deleted_notebook_takes_its_notes_to_the_trash(hand: Hand) -> None:
    fill(hand, "Work", "Report")
    hand.tap("Actions", "Delete notebook", "Cancel")
    assert titles(hand.phone) == ["Report"]
    hand.tap("Sidebar")
    hand.hold("Work")
    hand.tap("Delete", "Delete")
    assert not data.folders(hand.phone) and not titles(hand.phone)
    hand.tap("Sidebar", "Trash", "Report", "Actions", "Restore note")
    assert titles(hand.phone) == ["Report"]
    assert [row["title"] for row, _ in data.folders(hand.phone)] == ["Restored items"]


# -- notes ------------------------------------------------------------------------------------------------


def test_a_note_is_written_in_the_notebook_that_is_shown(hand: Hand) -> None:
    data.add_folder(hand.phone, "A first one")
    number = fill(hand, "Work")
    hand.tap("Add new", "New note")
    hand.type("Add title", "Report")
    hand.back()
    hand.type("Add body", "one\ntwo")
    hand.back()
    hand.tap("Save")
    (row,) = data.notes(hand.phone, number)
    assert (row["title"], row["body"], row["is_todo"]) == ("Report", "one\ntwo", 0)
    assert re.fullmatch("[0-9a-f]{32}", row["id"])
    assert hand.sees("two") and hand.sees("Edit"), "the note is shown"
    hand.back()
    assert hand.sees("Report") and hand.sees("Sidebar")


def test_what_is_written_stays_however_one_leaves(hand: Hand) -> None:
    fill(hand, "Work")
    hand.tap("Add new", "New to-do")
    hand.type("Add to-do title", "Call")
    hand.phone.press_home()
    assert titles(hand.phone) == ["Call"] and row_of(hand, "Call")["is_todo"] == 1


def test_a_note_without_a_letter_is_none(hand: Hand) -> None:
    fill(hand, "Work")
    hand.tap("Add new", "New note", "Back", "Sidebar")
    assert not titles(hand.phone)


def test_a_note_is_changed_also_where_ticked_ones_are_hidden(hand: Hand) -> None:
    number = fill(hand, "Work")
    data.add_note(hand.phone, number, "Call", "old", is_todo=True, done=True)
    hand.phone.changed()
    hand.tap("Call", "Edit")
    hand.phone.data("joplin")["show_completed"] = False
    hand.type("Add body", "new")
    assert hand.phone.data("joplin")["notes"][0]["body"] == "new"


def test_a_note_becomes_a_todo_and_back(hand: Hand) -> None:
    fill(hand, "Work", "Report")
    hand.tap("Report", "Actions", "Convert to todo", "to-do: Report")
    assert row_of(hand, "Report")["is_todo"] == 1 and row_of(hand, "Report")["todo_completed"]
    hand.tap("Actions", "Convert to note")
    assert row_of(hand, "Report")["is_todo"] == 0 and not row_of(hand, "Report")["todo_completed"]


def test_a_todo_is_ticked_in_the_list_and_goes_below_the_open_ones(hand: Hand) -> None:
    number = fill(hand, "Work", "One", "Two", todo=True)
    assert titles(hand.phone, number) == ["Two", "One"]
    hand.tap("to-do: Two")
    assert titles(hand.phone, number) == ["One", "Two"] and row_of(hand, "Two")["todo_completed"]
    hand.tap("to-do: Two")
    assert row_of(hand, "Two")["todo_completed"] == 0
    hand.tap("to-do: Two", "Sort notes by", "Show completed to-dos", "Close")
    assert hand.sees("One") and not hand.sees("Two")


def test_several_notes_are_moved_copied_and_deleted_at_once(hand: Hand) -> None:
    home = data.add_folder(hand.phone, "House")
    work = fill(hand, "Work", "One", "Two", "Three")
    hand.hold("One")
    hand.tap("Three")
    assert hand.sees("2 selected")
    hand.tap("Move to notebook", "House")
    assert sorted(titles(hand.phone, home)) == ["One", "Three"] and titles(hand.phone, work) == ["Two"]
    hand.hold("Two")
    hand.tap("Duplicate")
    assert titles(hand.phone, work) == ["Two - Copy", "Two"]
    hand.hold("Two")
    hand.tap("Select all", "Delete")
    assert not titles(hand.phone, work) and len(data.thrown_away(hand.phone)) == 2
    assert hand.sees("Sidebar"), "nothing is selected any more"


def test_back_ends_a_selection_and_changes_nothing(hand: Hand) -> None:
    fill(hand, "Work", "One", "Two")
    hand.hold("One")
    hand.back()
    assert hand.sees("Sidebar") and hand.sees("Work") and len(titles(hand.phone)) == 2


def test_the_trash_gives_back_or_deletes_for_good(hand: Hand) -> None:
    number = fill(hand, "Work", *(names := ("One", "Two", "Three")))
    for title in names:
        hand.tap(title, "Actions", "Delete")
    assert not titles(hand.phone) and hand.sees("No notes here yet")
    hand.tap("Sidebar", "Trash", "Two", "Actions", "Restore note")
    assert titles(hand.phone, number) == ["Two"]
    hand.tap("One", "Actions", "Permanently delete note", "Delete")
    assert [row["title"] for row in data.thrown_away(hand.phone)] == ["Three"]
    hand.tap("Actions", "Empty trash", "Empty trash")
    assert hand.sees("The trash is empty") and titles(hand.phone) == ["Two"]


# -- finding ----------------------------------------------------------------------------------------------


def test_notes_are_sorted_as_chosen(hand: Hand) -> None:
    fill(hand, "Work", "beta", "Alpha", "gamma")
    data.change_note(hand.phone, row_of(hand, "beta")["id"], body="newer")
    hand.phone.changed()
    assert titles(hand.phone) == ["beta", "gamma", "Alpha"]
    hand.tap("Sort notes by", "Created date")
    assert titles(hand.phone) == ["gamma", "Alpha", "beta"]
    hand.tap("Title", "Reverse sort order", "Close")
    assert titles(hand.phone) == ["Alpha", "beta", "gamma"]
    assert hand.texts().index("Alpha") < hand.texts().index("beta") < hand.texts().index("gamma")
    hand.tap("Sidebar", "Configuration", "Reverse sort order")
    assert titles(hand.phone) == ["gamma", "beta", "Alpha"]


def test_search_finds_words_of_title_and_body_in_all_notebooks(hand: Hand) -> None:
    fill(hand, "House", "Pie", body="Add the Cinnamon")
    fill(hand, "Work", "Report on cinnamon", "Letter")
    hand.tap("Search")
    hand.type("Search in all notes", "cinnamon")
    assert hand.sees("Pie") and hand.sees("Report on cinnamon") and not hand.sees("Letter")
    hand.type("Search in all notes", "cinnamon the")
    assert hand.sees("Pie") and not hand.sees("Report on cinnamon")
    hand.type("Search in all notes", "nothing like it")
    assert hand.sees("No notes found")
    assert data.search(hand.phone, "  ") == []


def test_properties_say_where_and_when(hand: Hand) -> None:
    fill(hand, "Work", "Report", body="two words")
    hand.tap("Report", "Actions", "Properties")
    assert all(hand.sees(each) for each in ("Work", "Note", "2", "15/10/2023 15:35", row_of(hand, "Report")["id"]))


# -- Markdown ---------------------------------------------------------------------------------------------


def test_markdown_is_shown_without_its_marks_and_boxes_can_be_ticked(hand: Hand) -> None:
    body = "# Big\nSome **bold** [link](http://x)\n- [ ] milk\n- [x] bread\n  1. deep\n> said\n```\n- raw\n```"
    fill(hand, "Work", "", body=body)
    hand.tap("# Big")  # without a title it goes by its first line
    for words in ("Big", "Some bold link", "milk", "bread", "1.", "deep", "said", "- raw"):
        assert hand.sees(words), words
    hand.tap("milk")
    assert row_of(hand, "")["body"] == body.replace("[ ] milk", "[x] milk")
    hand.tap("bread")
    assert row_of(hand, "")["body"] == body.replace("[ ] milk", "[x] milk").replace("[x] bread", "[ ] bread")


@given(st.lists(st.sampled_from(["- [ ] a", "* [x] b", "# c", "```", "> d", "1. e [x]", "", "[ ] f", "  - [X] g"])))
def test_ticking_changes_the_mark_of_one_line_and_no_more(parts: list[str]) -> None:
    body = "\n".join(parts)
    found = list(lines(body))
    assert len(found) == len(body.split("\n"))
    for place, (kind, _, mark, _) in enumerate(found):
        if kind == "box":
            after = tick_line(body, place)
            assert (list(lines(after))[place][2] == " ") != (mark == " ")
            assert [a for n, a in enumerate(after.split("\n")) if n != place] == [
                p for n, p in enumerate(parts) if n != place
            ]
            assert tick_line(after, place).lower() == body.lower()


# -- data -------------------------------------------------------------------------------------------------


def test_errors_say_what_is_missing(hand: Hand) -> None:
    number = data.add_folder(hand.phone, "Work")
    note = data.add_note(hand.phone, number, "x")
    with pytest.raises(KeyError, match="id of a notebook"):
        data.add_note(hand.phone, "none", "x")
    with pytest.raises(KeyError, match="id of a note"):
        data.change_note(hand.phone, "none", title="x")
    with pytest.raises(ValueError, match="got colour"):
        data.change_note(hand.phone, note, colour="red")
    assert titles(hand.phone) == ["x"]


def test_when_and_after_what_something_came_about_is_no_part_of_the_state() -> None:
    marks = []
    for detour in (False, True):
        phone = Phone([Launcher(), Joplin()])
        house = data.add_folder(phone, "House")
        if detour:
            phone.pass_time(90)
            data.add_note(phone, data.add_folder(phone, "Cellar"), "Wine")
            data.delete_folder(phone, data.add_folder(phone, "Cellar"))
            data.delete_folder(phone, data.folders(phone)[0][0]["id"])
            data.purge(phone)
        work = data.add_folder(phone, "Work")
        data.add_note(phone, house, "Lamp")
        data.add_note(phone, work, "Report", "text")
        marks.append(phone_fingerprint(phone, ""))
    assert marks[0] == marks[1]


def test_in_which_order_notes_came_about_or_were_changed_is_part_of_the_state() -> None:
    marks = set()
    for first, second, changed in (("A", "B", ""), ("B", "A", ""), ("A", "B", "A"), ("B", "A", "B")):
        phone = Phone([Launcher(), Joplin()])
        house = data.add_folder(phone, "House")
        ids = {title: data.add_note(phone, house, title) for title in (first, second)}
        phone.pass_time(60)
        if changed:
            data.change_note(phone, ids[changed], body="")
        phone.state["now"] = 0
        marks.add(phone_fingerprint(phone, ""))
    assert len(marks) == 4


def test_a_todo_is_ticked_where_it_was_found_but_not_in_the_trash(hand: Hand) -> None:
    fill(hand, "Work", "Call", todo=True)
    hand.tap("Search")
    hand.type("Search in all notes", "call")
    hand.back()
    hand.tap("to-do: Call")
    assert row_of(hand, "Call")["todo_completed"]
    data.delete_note(hand.phone, row_of(hand, "Call")["id"])
    hand.back()
    hand.tap("Sidebar", "Trash", "to-do: Call")
    assert data.thrown_away(hand.phone)[0]["todo_completed"]


def test_another_program_reads_and_writes_the_tables(hand: Hand) -> None:
    number = fill(hand, "Work", "Report", todo=True)
    said = databases.query(
        hand.phone, PATH, "SELECT title, is_todo, author, latitude FROM notes; SELECT title FROM folders"
    )
    assert said == "Report|1||0.0\nWork\n"
    databases.query(hand.phone, PATH, f"UPDATE notes SET title = 'Letter' WHERE parent_id = '{number}'")
    assert titles(hand.phone) == ["Letter"]
    databases.query(hand.phone, PATH, "DELETE FROM notes; DELETE FROM folders; DELETE FROM notes_normalized")
    hand.phone.changed()
    assert hand.sees("You have no notebooks yet") and not titles(hand.phone)
