"""How alike two strings are: the rule of thefuzz 0.19, and the words for colours."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backtrail.envs.webshop.colors import COLORS, plain_color
from backtrail.envs.webshop.fuzzy import token_set_ratio

ROOT = Path(__file__).resolve().parents[3]
COLOR_SET = ROOT.parent / "shared" / "data" / "webshop" / "traces" / "color_set.json"
WORDS = st.lists(st.text("abcdefgxyz", min_size=1, max_size=6), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("fuzzy was a bear", "fuzzy fuzzy was a bear", 100),  # a word counts once
        ("long lasting", "LONG-LASTING!", 100),
        ("rubber sole", "synthetic sole", 53),
        ("size", "('size', 'x-large')", 100),
        ("black_style_99496x", "black style", 69),  # "_" joins words
        ("m\xfcsli", "msli", 100),  # letters of Latin-1 are dropped ...
        ("m\xfcsli", "musli", 89),
        ("\u65e5\u672c", "\u65e5\u672c", 100),  # ... those beyond are not
        ("", "", 0),
        ("!?", "!?", 0),
        ("\xe9", "a", 0),
    ],
)
def test_examples(a: str, b: str, expected: int) -> None:
    assert token_set_ratio(a, b) == expected


@given(st.text(), st.text())
def test_any_two_strings_have_a_score(a: str, b: str) -> None:
    assert 0 <= token_set_ratio(a, b) <= 100


@given(WORDS, WORDS)
def test_words_that_are_all_in_the_other_string_are_a_full_match(words: list[str], more: list[str]) -> None:
    assert token_set_ratio(" ".join(words), " ".join([*more, *words])) == 100


@given(WORDS, WORDS, st.randoms(use_true_random=False))
def test_order_repeats_case_and_punctuation_do_not_count(a: list[str], b: list[str], rng: random.Random) -> None:
    other = [word.upper() for word in (*a, a[0])]
    rng.shuffle(other)
    assert token_set_ratio(" ".join(a), " ".join(b)) == token_set_ratio(" - ".join(other), " ".join(b))


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("navy blue", "blue"),  # the first in the list, not in the option
        ("rose gold", "gold"),
        ("bordered", "red"),  # within a word
        ("x-large", "x-large"),
        (("color", "navy blue"), ("color", "navy blue")),  # a pair holds a colour only as a whole
        (("color", "red"), "red"),
        (("red", "small"), "red"),
    ],
)
def test_the_first_colour_stands_for_the_option(option: str | tuple[str, str], expected: object) -> None:
    assert plain_color(option) == expected


def test_the_colours_are_the_originals() -> None:
    if not COLOR_SET.exists():
        pytest.skip(f"no list of the original's colours at {COLOR_SET}")
    assert list(COLORS) == json.loads(COLOR_SET.read_text(encoding="utf-8"))
