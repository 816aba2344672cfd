"""Fingerprints: what makes two screens the same, and what does not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from demo_app import demo_phone
from hypothesis import given, settings
from hypothesis import strategies as st
from touching import Hand

from backtrail.envs.androidworld.backend import Element
from backtrail.envs.androidworld.elements import elements
from backtrail.envs.androidworld.fingerprint import perceptual_hash, screen_fingerprint, state_fingerprint
from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.app import App
from backtrail.envs.androidworld.phone.apps import expense_data, music_data, recipe_data
from backtrail.envs.androidworld.phone.apps.expense import Expense
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.music import Music
from backtrail.envs.androidworld.phone.apps.recipe import Recipe
from backtrail.envs.androidworld.phone.views import View


def states(phone: Phone) -> tuple[str, str]:
    """Return the fingerprints of the state from views and from elements."""
    phone.changed()
    activity = phone.activity
    return state_fingerprint(activity, phone.tree), state_fingerprint(activity, elements(phone.tree))


def screen(phone: Phone) -> str:
    return screen_fingerprint(phone.activity, phone.tree)


def after(phone: Phone, *steps: Callable[[Phone], object]) -> Phone:
    for step in steps:
        step(phone)
    return phone


def scrolled(pixels: int) -> Phone:
    return after(demo_phone(), lambda phone: phone.swipe((540, 1600), (540, 1600 - pixels)))


PAIRS: dict[str, tuple[bool, Callable[[], Phone], Callable[[], Phone]]] = {
    "clock minute ticks": (True, demo_phone, lambda: after(demo_phone(), lambda phone: phone.pass_time(61))),
    "focus moves to a field": (
        True,
        lambda: demo_phone("form"),
        lambda: after(demo_phone("form"), lambda phone: phone.focus("first")),
    ),
    "scroll is 3 pixels off": (True, lambda: scrolled(600), lambda: scrolled(603)),
    "Wi-Fi off: row and switch": (False, demo_phone, lambda: demo_phone(wifi=False)),
    "Bluetooth on: switch only": (False, demo_phone, lambda: demo_phone(bluetooth=True)),
    "brightness 40 % to 43 %": (False, demo_phone, lambda: demo_phone(brightness=0.43)),
    "other page": (False, demo_phone, lambda: demo_phone("form")),
    "text typed": (
        False,
        lambda: after(demo_phone("form"), lambda phone: phone.focus("first")),
        lambda: after(demo_phone("form"), lambda phone: phone.focus("first"), lambda phone: phone.type("Hugo")),
    ),
    "duplicate row added": (False, lambda: demo_phone("list"), lambda: demo_phone("list", rows=["ok", "ok"])),
    "two pages with hardly anything": (False, lambda: demo_phone("Storage"), lambda: demo_phone("Battery")),
}


@pytest.mark.parametrize("name", PAIRS)
def test_labelled_pairs(name: str) -> None:
    same, first, second = PAIRS[name]
    for one, other in zip(states(first()), states(second()), strict=True):
        assert (one == other) is same


def test_the_build_of_a_screen_is_the_same_whatever_it_says() -> None:
    assert screen(demo_phone()) == screen(demo_phone(wifi=False, bluetooth=True, brightness=1.0))
    assert screen(scrolled(700)) == screen(scrolled(1100))  # rows of one kind
    assert screen(demo_phone("list")) == screen(demo_phone("list", rows=["ok", "ok", "no"]))
    assert len({screen(demo_phone(page)) for page in ("main", "form", "list", "canvas")}) == 4
    asking = after(demo_phone(), lambda phone: Hand(phone).tap("Row 1"))
    assert screen(asking) != screen(demo_phone())


def test_elements_tell_the_build_too() -> None:
    def build(phone: Phone) -> str:
        return screen_fingerprint(phone.activity, elements(phone.tree))

    assert build(demo_phone()) == build(demo_phone(wifi=False)) != build(demo_phone("form"))


def test_a_message_and_the_keyboard_make_no_difference() -> None:
    phone = demo_phone("form")
    before = states(phone)
    phone.toast("Saved")
    assert states(phone) == before
    phone.focus("first")
    assert states(phone) == before


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("10:30", "10:31", True),
        ("9:05 AM", "12:00 p.m.", True),
        ("00:01.25", "12:59.99", True),
        ("0:35 / 3:20", "0:36 / 3:20", True),
        ("57%", "58 %", True),
        ("Sunday, October 15", "Mon, Oct 16", True),
        ("just now", "2 min ago", True),
        ("10:30 dentist", "10:31 dentist", False),
        ("1:2", "1:3", False),
        ("Oct 15, 2023", "Oct 16, 2023", False),
        ("5 apples", "6 apples", False),
        ("57% off", "58% off", False),
    ],
)
def test_masks_hold_for_whole_texts_only(one: str, other: str, same: bool) -> None:
    def of(text: str, clickable: bool = False) -> str:
        return state_fingerprint("a/b", [Element("android.widget.TextView", text, clickable=clickable)])

    def of_view(text: str, tap: Callable[[], None] | None = None) -> str:
        return state_fingerprint(
            "a/b", View("TextView", (0, 0, 9, 9), children=[View("TextView", text=text)], on_tap=tap)
        )

    assert (of(one) == of(other)) is same and (of_view(one) == of_view(other)) is same
    assert of(one, clickable=True) != of(other, clickable=True)
    assert of_view(one, lambda: None) != of_view(other, lambda: None)


def test_playing_music_does_not_make_every_second_a_new_state() -> None:
    phone = Phone([Launcher(), Music()])
    music_data.add_song(phone, "Moments", "Emma", 200_000)
    phone.changed()
    Hand(phone).tap("Retro Music", "Moments")
    phone.go("player")
    before = states(phone)
    phone.pass_time(42)
    assert states(phone) == before
    Hand(phone).tap("Pause")
    assert states(phone)[0] != before[0] and states(phone)[1] != before[1]


def test_what_an_app_keeps_makes_a_difference() -> None:
    def build(app: App, change: Callable[[Phone], object]) -> tuple[str, str]:
        phone = Phone([Launcher(), app])
        phone.launch(app.key)
        change(phone)
        return states(phone)

    def no(phone: Phone) -> None:
        return None

    for app, change in (
        (Expense(), lambda phone: expense_data.add_expense(phone, "Rent", 100, 4)),
        (Recipe(), lambda phone: recipe_data.add_recipe(phone, "Soup")),
        (Music(), lambda phone: music_data.add_song(phone, "Moments", "Emma", 1000)),
    ):
        assert build(app, no) == build(app, no)
        assert all(a != b for a, b in zip(build(app, no), build(app, change), strict=True))


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 1079), st.integers(120, 2250)), max_size=12))
def test_saving_loading_and_waiting_keep_the_fingerprint(taps: list[tuple[int, int]]) -> None:
    phone = Phone([Launcher(), Expense()])
    for day in range(12):
        expense_data.add_expense(phone, f"Expense {day}", 100 + day, day % 11 + 1)
    phone.launch("expense")
    for x, y in taps:
        phone.tap(x, y)
    before = states(phone)
    saved = phone.save()
    phone.pass_time(70)
    assert states(phone) == before
    other = Phone([Launcher(), Expense()])
    other.load(saved)
    assert states(other) == before


def test_order_depth_and_repeats_count() -> None:
    a, b = View("TextView", text="a"), View("TextView", text="b")

    def of(*children: View) -> str:
        return state_fingerprint("a/b", View("FrameLayout", children=list(children)))

    trees = [of(a, b), of(b, a), of(a, a, b), of(View("LinearLayout", children=[a]), b), of(View("LinearLayout"), a, b)]
    assert len(set(trees)) == len(trees)
    assert (
        of(a)
        == of(View("TextView", (5, 5, 9, 9), "a", focused=True, hint="x"))
        != of(View("TextView", text="a", enabled=False))
    )


def test_strokes_of_a_canvas_count() -> None:
    blank, line = demo_phone("canvas"), demo_phone("canvas", strokes=[[0.1, 0.1, 0.9, 0.9]])
    near = demo_phone("canvas", strokes=[[0.1, 0.1, 0.9, 0.91]])
    assert len({states(phone)[0] for phone in (blank, line, near)}) == 3


def test_a_picture_is_taken_only_where_elements_cannot_tell() -> None:
    taken = []

    def of(phone: Phone) -> str:
        def picture() -> np.ndarray:
            taken.append(phone)
            return phone.screenshot()

        return state_fingerprint(phone.activity, elements(phone.tree), picture)

    of(demo_phone())
    assert not taken
    blank, line = demo_phone("canvas"), demo_phone("canvas", strokes=[[0.1, 0.1, 0.9, 0.9], [0.1, 0.5, 0.9, 0.2]])
    assert of(blank) != of(line) and len(taken) == 2
    assert state_fingerprint("a", elements(blank.tree)) == state_fingerprint("a", elements(line.tree))


def distance(one: str, other: str) -> int:
    return (int(one, 16) ^ int(other, 16)).bit_count()


def test_the_perceptual_hash_is_near_for_near_pictures_and_far_for_others() -> None:
    rng = np.random.default_rng(0)
    picture = demo_phone().screenshot()
    near = np.clip(picture.astype(int) + rng.integers(-3, 4, picture.shape), 0, 255).astype(np.uint8)
    base = perceptual_hash(picture)
    assert len(base) == 64 and perceptual_hash(picture.copy()) == base
    assert distance(base, perceptual_hash(near)) < 12
    assert distance(base, perceptual_hash(demo_phone("form").screenshot())) > 40
    changed = picture.copy()
    changed[:100], changed[-130:] = 0, 0  # the bars
    assert perceptual_hash(changed) == base


def test_a_picture_must_be_large_enough() -> None:
    with pytest.raises(ValueError, match="at least 64 pixels a side"):
        perceptual_hash(np.zeros((60, 90, 3), np.uint8))


def test_fingerprints_are_the_same_everywhere() -> None:
    screen = [
        Element("android.widget.TextView", "a", resource_id="x:id/y"),
        Element("android.widget.Switch", checkable=True),
    ]
    root = View("FrameLayout", children=[View("TextView", text="ä", resource="x:id/y"), View("Switch", checked=True)])
    found = [of("x/y", what) for of in (state_fingerprint, screen_fingerprint) for what in (screen, root)]
    assert found == [
        "a7d0f9ce242502ce2265c6ee9ff39056",
        "5c0e0b56daf0dfa1c4aa7489af96f499",
        "0210563a0864f9cbab15ac3503e87da0",
        "04ccc31dca1910c22cb73b01cabe4ba2",
    ]
