from __future__ import annotations

import pytest
from touching import Hand

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import notes, storage
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.notes import Notes, note

NEW = "Create a new file or folder"


@pytest.fixture
def phone() -> Phone:
    phone = Phone([Launcher(), Notes()])
    notes.set_up(phone)
    return phone


@pytest.fixture
def hand(phone: Phone) -> Hand:
    hand = Hand(phone)
    hand.tap("Markor")
    return hand


def test_an_empty_notebook_says_so(hand: Hand) -> None:
    assert hand.sees("This folder is empty") and hand.sees(notes.NOTEBOOK)
    assert hand.phone.activity == "net.gsantner.markor/net.gsantner.markor.activity.MainActivity"


@pytest.mark.parametrize(
    ("name", "kind", "made"),
    [
        ("plan", "Markdown", "plan.md"),
        ("plan", "Plain text", "plan.txt"),
        ("plan.txt", "Markdown", "plan.txt"),
        ("plan.md", "Markdown", "plan.md"),
    ],
)
def test_a_new_note(hand: Hand, name: str, kind: str, made: str) -> None:
    hand.tap(NEW)
    hand.type("name", name)
    hand.tap(kind, "OK")
    assert hand.phone.activity.endswith(".DocumentActivity") and hand.sees(made)
    hand.type("text", "Some words")
    hand.back(2)
    assert note(hand.phone, made) == "Some words"
    assert hand.sees(made)


def test_a_note_without_an_ending(hand: Hand) -> None:
    hand.tap(NEW)
    hand.type("name", "merged")
    hand.type("ending", "")
    hand.tap("OK")
    assert notes.notes(hand.phone) == ["merged"]


def test_names_that_cannot_be(hand: Hand) -> None:
    notes.add_note(hand.phone, "a.md", "kept")
    hand.tap(NEW, "OK")
    assert hand.sees("New file") and notes.notes(hand.phone) == ["a.md"]
    hand.type("name", "a")
    hand.tap("OK")
    assert hand.sees("New file") and hand.sees("An item with this name already exists")
    assert note(hand.phone, "a.md") == "kept"
    hand.tap("Cancel")
    assert not hand.sees("New file") and not hand.phone.state["keyboard"]


def test_folders_and_notes_in_them(hand: Hand) -> None:
    hand.tap(NEW)
    hand.type("name", "work")
    hand.tap("Folder", "work", NEW)
    hand.type("name", "one")
    hand.tap("OK")
    hand.back()
    assert notes.notes(hand.phone) == ["work/one.md"]
    assert hand.sees("one.md")
    hand.back()
    assert hand.sees("work") and not hand.sees("one.md")


def test_text_is_kept_when_the_app_is_left_or_saved(hand: Hand) -> None:
    notes.add_note(hand.phone, "a.md", "one")
    hand.phone.launch("notes")
    hand.tap("a.md")
    hand.type("text", "two")
    hand.back()  # hides the keyboard
    hand.tap("Home")
    assert note(hand.phone, "a.md") == "two"
    hand.tap("Markor", "a.md")
    hand.type("text", "three")
    hand.tap("Save")
    assert note(hand.phone, "a.md") == "three" and hand.sees("Saved")


def test_reading_leaves_the_date_and_writing_changes_it(hand: Hand) -> None:
    path = notes.add_note(hand.phone, "a.md", "one", at=1690000000)
    hand.phone.launch("notes")
    hand.tap("a.md", "View mode")
    hand.back()
    assert storage.modified(hand.phone, path) == 1690000000
    hand.tap("a.md")
    hand.type("text", "two")
    hand.back(2)
    assert storage.modified(hand.phone, path) == pytest.approx(hand.phone.state["now"], abs=10)


def test_adding_above_by_moving_the_cursor(hand: Hand) -> None:
    notes.add_note(hand.phone, "a.md", "old text\n")
    hand.phone.launch("notes")
    hand.tap("a.md", "More options", "Move cursor to start")
    hand.phone.type("head")
    hand.phone.enter()
    hand.phone.enter()
    hand.check()
    assert hand.sees("old text\n")
    hand.back(2)
    assert note(hand.phone, "a.md") == "head\n\nold text\n"
    hand.tap("a.md", "More options", "Move cursor to end")
    hand.phone.type("foot")
    hand.back(2)
    assert note(hand.phone, "a.md") == "head\n\nold text\nfoot"


def test_adding_above_by_cutting_and_pasting(hand: Hand) -> None:
    notes.add_note(hand.phone, "a.md", "old")
    hand.phone.launch("notes")
    hand.tap("a.md", "More options", "Cut all")
    hand.phone.type("new ")
    hand.tap("More options", "Paste")
    hand.back(2)
    assert note(hand.phone, "a.md") == "new old"


def test_merging_by_the_clipboard(hand: Hand) -> None:
    notes.add_note(hand.phone, "a.md", "one")
    notes.add_note(hand.phone, "b.md", "two")
    hand.phone.launch("notes")
    hand.tap("b.md")
    hand.hold("two")
    hand.tap("Select all", "Copy")
    assert hand.phone.state["clipboard"] == "two"
    hand.back()
    hand.tap("a.md")
    hand.tap("one")
    hand.phone.enter()
    hand.hold("one\n")
    hand.tap("Paste")
    hand.back(2)
    assert note(hand.phone, "a.md") == "one\ntwo" and note(hand.phone, "b.md") == "two"


def test_pasting_over_all(hand: Hand) -> None:
    hand.phone.state["clipboard"] = "from elsewhere"
    notes.add_note(hand.phone, "a.md", "one")
    hand.phone.launch("notes")
    hand.tap("a.md", "More options", "Select all", "Paste", "Save")
    assert note(hand.phone, "a.md") == "from elsewhere"


def test_the_preview_shows_markdown(hand: Hand) -> None:
    notes.add_note(hand.phone, "a.md", "# Title\n\nA **bold** [link](x)\n- entry\n- [x] done\n> quote\n---\nend")
    hand.phone.launch("notes")
    hand.tap("a.md", "View mode")
    for text in ("Title", "A bold link", "-  entry", "done", "quote", "end"):
        assert hand.sees(text)
    assert next(view for view in hand.phone.tree.walk() if view.kind == "CheckBox").checked
    hand.tap("Edit")
    assert any(view.field == "text" for view in hand.phone.tree.walk())


def test_renaming_from_the_list_and_from_the_note(hand: Hand) -> None:
    notes.add_note(hand.phone, "a.md", "one")
    hand.phone.launch("notes")
    hand.hold("a.md")
    hand.tap("Rename")
    hand.type("name", "b.md")
    hand.tap("OK", "b.md")
    hand.type("text", "changed")
    hand.tap("More options", "Rename")
    hand.type("name", "c.txt")
    hand.tap("OK")
    assert hand.sees("c.txt") and hand.sees("changed")
    hand.back()
    assert notes.notes(hand.phone) == ["c.txt"] and note(hand.phone, "c.txt") == "changed"


def test_moving_to_a_folder(hand: Hand) -> None:
    notes.add_note(hand.phone, "from/a.md", "one")
    notes.add_folder(hand.phone, "to")
    hand.phone.launch("notes")
    hand.tap("from")
    hand.hold("a.md")
    hand.tap("More options", "Move", "Navigate up")
    hand.tap("More options", "Move")
    hand.tap("Cancel", "More options", "Move", "to", "Move here")
    assert notes.notes(hand.phone) == ["to/a.md"] and hand.sees("This folder is empty")


def test_deleting(hand: Hand) -> None:
    for name in ("a.md", "b.md", "c.md"):
        notes.add_note(hand.phone, name, name)
    hand.phone.launch("notes")
    hand.hold("b.md")
    hand.tap("Delete")
    assert hand.sees("Confirm delete")
    hand.tap("Cancel", "Delete", "OK")
    assert notes.notes(hand.phone) == ["a.md", "c.md"]
    hand.tap("More options", "Select all", "Delete", "OK")
    assert notes.notes(hand.phone) == [] and hand.sees("This folder is empty")


def test_sorting_by_date_shows_the_newest_first(hand: Hand) -> None:
    notes.add_note(hand.phone, "a.md", at=1690000000)
    notes.add_note(hand.phone, "b.md", at=1695000000)
    hand.phone.launch("notes")
    hand.tap("Sort by", "Date modified")
    assert hand.texts().index("b.md") < hand.texts().index("a.md")


def test_searching_names_and_texts(hand: Hand) -> None:
    notes.add_note(hand.phone, "a.md", "milk and honey")
    notes.add_note(hand.phone, "work/milk.md", "x")
    notes.add_note(hand.phone, "c.md", "bread")
    hand.phone.launch("notes")
    hand.tap("Search")
    hand.type("query", "MILK")
    assert hand.sees("a.md") and hand.sees("milk.md") and not hand.sees("c.md")
    hand.type("query", "zzz")
    assert hand.sees("Nothing found")
    hand.type("query", "bread")
    hand.tap("c.md")
    assert hand.sees("bread")


def test_sharing_copies_to_the_clipboard(hand: Hand) -> None:
    notes.add_note(hand.phone, "a.md", "one")
    hand.phone.launch("notes")
    hand.tap("a.md", "More options", "Share", "Copy to clipboard")
    assert hand.phone.state["clipboard"] == "one" and hand.sees("Copied")


def test_a_long_note_scrolls(hand: Hand) -> None:
    notes.add_note(hand.phone, "a.md", "\n".join(f"line {n}" for n in range(200)))
    hand.phone.launch("notes")
    hand.tap("a.md", "View mode")
    hand.tap("line 150")
    assert not hand.sees("line 0")
