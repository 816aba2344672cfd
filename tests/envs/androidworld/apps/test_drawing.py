"""The canvas: swipes are strokes, and a saved drawing is a file that lists them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from touching import Hand

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.drawing import PICTURES, Draw, read_drawing
from backtrail.envs.androidworld.phone.apps.launcher import Launcher


def new_phone() -> Phone:
    return Phone([Launcher(), Draw()])


@pytest.fixture
def phone() -> Phone:
    return new_phone()


@pytest.fixture
def hand(phone: Phone) -> Hand:
    hand = Hand(phone)
    hand.tap("Draw")
    return hand


def strokes(phone: Phone) -> list[list[object]]:
    return phone.data("draw")["strokes"]


def test_a_swipe_is_a_stroke_in_the_chosen_color(phone: Phone, hand: Hand):
    phone.swipe((200, 600), (800, 1200))
    hand.tap("Red color")
    phone.swipe((800, 600), (200, 1200))
    assert [stroke[4] for stroke in strokes(phone)] == ["Black", "Red"]
    assert all(0 <= share <= 1 for stroke in strokes(phone) for share in stroke[:4] if isinstance(share, float))
    picture = phone.screenshot()
    assert picture[700, 300].tolist() == [0, 0, 0] and picture[700, 700].tolist() == [217, 48, 37]
    hand.check()


def test_undo_redo_and_clear(phone: Phone, hand: Hand):
    for x in (200, 400, 600):
        phone.swipe((x, 600), (x, 1200))
    hand.tap("Undo", "Undo", "Redo")
    assert [round(stroke[0] * 1080) for stroke in phone.data("draw")["strokes"]] == [200, 400]
    phone.swipe((800, 600), (800, 1200))
    hand.tap("Redo")
    assert len(strokes(phone)) == 3
    hand.tap("More options", "Clear", "Cancel")
    assert len(strokes(phone)) == 3
    hand.tap("More options", "Clear", "Clear")
    assert strokes(phone) == []
    hand.tap("Undo")
    assert strokes(phone) == []


@pytest.mark.parametrize(
    ("typed", "choice", "name"),
    [
        ("dolor_a1.svg", "PNG", "dolor_a1.svg"),
        ("dolor", "JPG", "dolor.jpg"),
        ("v1.2", "PNG", "v1.2.png"),
        ("png", "PNG", "png.png"),
    ],
)
def test_a_drawing_is_saved_under_the_name_that_was_typed(phone: Phone, hand: Hand, typed: str, choice: str, name: str):
    phone.swipe((200, 600), (800, 1200))
    hand.tap("Save", choice)
    hand.type("Filename", typed)
    hand.tap("OK")
    assert phone.files.all() == [f"{PICTURES}/{name}"]
    assert read_drawing(phone, f"{PICTURES}/{name}") == strokes(phone)
    assert json.loads(phone.files.read(f"{PICTURES}/{name}") or "")["type"] == "drawing"


def test_an_empty_name_and_a_taken_one_are_not_written_over(phone: Phone, hand: Hand):
    phone.files.write(f"{PICTURES}/cat.png", "old")
    hand.tap("Save")
    hand.type("Filename", "")
    hand.tap("OK")
    assert hand.sees("Save as") and hand.sees("Name cannot be empty")
    hand.type("Filename", "cat")
    hand.tap("OK", "No")
    assert phone.files.read(f"{PICTURES}/cat.png") == "old"
    hand.tap("Save")
    hand.type("Filename", "cat")
    hand.tap("OK", "Yes")
    assert phone.files.read(f"{PICTURES}/cat.png") != "old"


def test_another_folder(phone: Phone, hand: Hand):
    hand.tap("Save", "Internal/Pictures", "Download")
    hand.type("Filename", "plan")
    hand.tap("OK")
    assert phone.files.all() == ["/storage/emulated/0/Download/plan.png"]


def test_a_drawing_is_opened_again(phone: Phone, hand: Hand):
    phone.swipe((200, 600), (800, 1200))
    hand.tap("Save")
    hand.type("Filename", "one")
    hand.tap("OK", "More options", "Clear", "Clear", "More options", "Open file", "one.png")
    assert len(strokes(phone)) == 1
    phone.files.write(f"{PICTURES}/notes.png", "no drawing")
    hand.tap("More options", "Open file")
    assert not hand.sees("notes.png")


def test_the_background_changes(phone: Phone, hand: Hand):
    hand.tap("More options", "Change background", "Yellow")
    assert phone.screenshot()[1000, 500].tolist() == [244, 200, 40]


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["draw", "Undo", "Redo"]), max_size=12))
def test_redo_undoes_undo(steps: list[str]):
    phone = new_phone()
    phone.launch("draw")
    hand, done, undone = Hand(phone), [], []
    for number, step in enumerate(steps):
        if step == "draw":
            phone.swipe((100 + 50 * number, 600), (100 + 50 * number, 900))
            done, undone = [*done, number], []
        else:
            hand.tap(step)
            if step == "Undo" and done:
                undone.append(done.pop())
            elif step == "Redo" and undone:
                done.append(undone.pop())
    assert [round((stroke[0] * 1080 - 100) / 50) for stroke in phone.data("draw")["strokes"]] == done


def test_strokes_of_others_are_black(phone: Phone):
    phone.files.write(
        f"{PICTURES}/a.png", '{"strokes": [[0, 0, 1, 1], [0, 1, 1, 0, "Pink"], [1], "x", [0, 0, 0, 1, "Red"]]}'
    )
    assert read_drawing(phone, f"{PICTURES}/a.png") == [
        [0, 0, 1, 1, "Black"],
        [0, 1, 1, 0, "Black"],
        [0, 0, 0, 1, "Red"],
    ]
