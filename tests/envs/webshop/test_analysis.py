"""Text to terms: equal to Lucene's English analyser, whatever the text."""

from __future__ import annotations

import gzip
import hashlib
import json

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from backtrail.envs.webshop import analysis
from backtrail.envs.webshop.analysis import analyze
from backtrail.envs.webshop.porter import stem

GOLDEN = ROOT.parent / "shared" / "data" / "webshop" / "search" / "analyzer_golden.json.gz"
PIECES = [
    *"abZ12_.,;:'\"#*-sS ", *"\u202f\u2019\u00b7\u05d0\u05d1\u30ab\u3042\u4e00\u0e01\u0e31\ud55c\u0301",
    *"\u200d\u00ad\ufe0f\ufe0e\u20e3\u2708\u2139\u0130\u03a3\U0001f600\U0001f3fd\U0001f1e6\U000e0067\U000e007f",
    "\U00010400", "ing", "ed",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join) | st.text(max_size=60)


@pytest.mark.skipif(not GOLDEN.exists(), reason=f"no golden terms: {GOLDEN}")
def test_30000_strings_give_the_terms_that_lucene_gives():
    golden = json.loads(gzip.decompress(GOLDEN.read_bytes()))
    assert len(golden) == 30_000
    assert {text: analyze(text) for text in golden} == golden


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Women's shoes, the dresses' and O'Neill\u2019S", ["women", "shoe", "dress", "o'neil"]),
        ("don't can't it's its' s's 's", ["don't", "can't", "it", "s", "s"]),
        (
            "wi-fi 3.5mm 1,000.50 a.b.c x:y 4:3 1;2 a;b",
            ["wi", "fi", "3.5mm", "1,000.50", "a.b.c", "x:y", "4", "3", "1;2", "b"],
        ),
        ("_id snake_case __ a__1 '90s", ["_id", "snake_cas", "a__1", "90"]),
        ("café \u0130STANBUL \u039f\u0394\u039f\u03a3", ["café", "istanbul", "\u03bf\u03b4\u03bf\u03c3"]),
        ("\u65e5\u672c\u8a9e \u3072\u3089", ["\u65e5", "\u672c", "\u8a9e", "\u3072", "\u3089"]),
        ("\u30ab\u30bf\u30ab\u30ca \ud55c\uad6d\uc5b4", ["\u30ab\u30bf\u30ab\u30ca", "\ud55c\uad6d\uc5b4"]),
        ("\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22", ["\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22"]),
        ('\u05e6\u05d4"\u05dc \u05e8\u05d7\' \u05d0"', ['\u05e6\u05d4"\u05dc', "\u05e8\u05d7'", "\u05d0"]),
        ("a\u202fb 1\u202f2 x\u00a0b a\u00adb", ["a\u202fb", "1\u202f2", "x", "b", "a\u00adb"]),
        ("\U0001f600\U0001f601 \U0001f44d\U0001f3fd", ["\U0001f600", "\U0001f601", "\U0001f44d\U0001f3fd"]),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467", ["\U0001f468\u200d\U0001f469\u200d\U0001f467"]),
        ("\u2708\ufe0f \u2606\u2605 \u00a9 x\u2122", ["\u2708\ufe0f", "\u2605", "\u00a9", "x", "\u2122"]),
        ("\U0001f1e9\U0001f1ea\U0001f1eb \U0001f1e9", ["\U0001f1e9\U0001f1ea"]),
        ("#\ufe0f\u20e3 *\u20e3 1\ufe0f\u20e3 # 12", ["#\ufe0f\u20e3", "*\u20e3", "1\ufe0f\u20e3", "12"]),
        ("\u2139abc \u24c2\ufe0f \U0001f170x", ["\u2139abc", "\u24dc\ufe0f", "\U0001f170x"]),
        ("\ua7c2 \ua7c7", ["\ua7c3"]),  # letters of Unicode 12.0 and 13.0
        ("The and WITH not", []),
        ("", []),
    ],
    ids=ascii,
)
def test_what_is_a_term(text: str, terms: list[str]):
    assert analyze(text) == terms


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("a" * 300, [255, 45]),
        ("ab_" * 100, [255, 45]),
        ("\U00010400" * 200, [127, 73]),  # two units each
        ("x" * 254 + "\U00010400y", [254, 2]),  # a pair is not cut
        ("1" * 255 + ".5", [255, 1]),
        ("\u0301".join("a" * 300), [255, 255, 87]),
    ],
    ids=ascii,
)
def test_long_words_are_cut_after_255_units_of_utf_16(text: str, lengths: list[int]):
    assert [len(term) for term in analyze(text)] == lengths


def test_every_character_is_classed_as_in_unicode_12_1():
    """The digest is that of what Lucene 9.5 on Java 17 makes of these 71,712 characters in three surroundings."""
    planes = [(0x20, 0xD800), (0xE000, 0x11000), (0x1B000, 0x1B300), (0x1F000, 0x1FB00), (0x20000, 0x20050)]
    characters = [chr(code) for start, end in [*planes, (0xE0000, 0xE01F0)] for code in range(start, end)]
    terms = hashlib.blake2b(digest_size=16)
    for start in range(0, len(characters), 64):
        text = " ".join(f"ab{c}cd 1{c}2 {c}" for c in characters[start : start + 64])
        terms.update("\n".join(analyze(text)).encode() + b"\0")
    assert terms.hexdigest() == "d03b854720f1594df6cfe3e660a166e3"


@given(TEXTS, TEXTS)
def test_a_space_always_separates(a: str, b: str):
    assert analyze(f"{a} {b}") == analyze(a) + analyze(b)


@given(TEXTS)
def test_terms_come_out_the_same_again(text: str):
    terms = analyze(text)
    assert analyze(text) == terms
    assert "" not in terms


@given(st.text("aZ1_.,;:'\"- #", max_size=80))
def test_the_short_way_for_ascii_is_the_general_way(text: str):
    assert analysis._ASCII_WORD.findall(text) == analysis._tokens(text)


@pytest.mark.parametrize("letter", ["_", "\u200d", "'", "a'", "\U0001f600\u200d", "\u0301", "\u05d0'"])
def test_long_runs_cost_no_more_than_their_length(letter: str):
    analyze(letter * 20_000 + "\u00e9")  # minutes, if the time grew with the square


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("ties", "ti"), ("cats", "cat"), ("gas", "ga"), ("as", "as"),
        ("feed", "feed"), ("exceed", "exce"), ("plastered", "plaster"), ("bled", "bled"), ("sing", "sing"),
        ("motoring", "motor"), ("conflated", "conflat"), ("troubled", "troubl"), ("sized", "size"), ("hopping", "hop"),
        ("falling", "fall"), ("hissing", "hiss"), ("fizzed", "fizz"), ("failing", "fail"), ("filing", "file"),
        ("happy", "happi"), ("sky", "sky"), ("relational", "relat"), ("conditional", "condit"), ("valenci", "valenc"),
        ("analogousli", "analog"), ("vietnamization", "vietnam"), ("formaliti", "formal"), ("sensibiliti", "sensibl"),
        ("analogy", "analog"), ("triplicate", "triplic"), ("formative", "form"), ("hopefulness", "hope"),
        ("revival", "reviv"), ("inference", "infer"), ("replacement", "replac"), ("adoption", "adopt"),
        ("adjustment", "adjust"), ("union", "union"), ("probate", "probat"), ("rate", "rate"), ("cease", "ceas"),
        ("enroll", "enrol"), ("roll", "roll"), ("y", "y"), ("", ""),
        ("\U0001f600s", "\U0001f600"),  # three units: long enough for a plural
    ],
)  # fmt: skip
def test_stems(word: str, expected: str):
    assert stem(word) == expected
