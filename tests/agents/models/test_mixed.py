"""The rule of the hot span: by ids, by text, and as a table over batches."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_tiny import build_plain

from backtrail.agents.models import UnsupportedError
from backtrail.agents.models.mixed import MarkerTable, SpanState, piece_temperatures, temperatures, token_pieces

HOT, COLD = 1.2, 0.7
H, C = HOT, COLD


def test_the_opening_marker_is_cold_and_the_closing_one_hot() -> None:
    assert temperatures([1, 5, 2, 5], [1], [2], HOT, COLD) == [C, H, H, C]
    assert temperatures([1, 2, 5, 3, 4, 5], [1, 2], [3, 4], HOT, COLD) == [C, C, H, H, H, C]


@pytest.mark.parametrize(
    ("token_ids", "expected"),
    [
        ([], []),
        ([3, 4, 5], [C, C, C]),  # closing what is not open
        ([1, 5, 2, 1, 2], [C, C, C, C, C]),  # half a marker opens nothing; complete only after the last token
        ([1, 2, 1, 2, 3, 4, 5], [C, C, H, H, H, H, C]),  # opening twice, closed once
        ([1, 2, 5, 5], [C, C, H, H]),  # never closed
        ([1, 1, 2, 5], [C, C, C, H]),
        ([1, 2, 3, 4, 1, 2, 3, 4], [C, C, H, H, C, C, H, H]),
    ],
)
def test_multi_token_markers(token_ids: list[int], expected: list[float]) -> None:
    assert temperatures(token_ids, [1, 2], [3, 4], HOT, COLD) == expected


def test_what_was_given_before_counts() -> None:
    assert temperatures([2, 5, 3, 4, 5], [1, 2], [3, 4], HOT, COLD, before=[1]) == [C, H, H, H, C]
    assert piece_temperatures(["e>", "x", "</e>", "y"], "<e>", "</e>", HOT, COLD, before="so: <") == [C, H, H, C]


def test_markers_cross_the_borders_of_tokens() -> None:
    assert piece_temperatures(["a<", "e", ">\n", "b", ".</", "e", "><e>c", "d"], "<e>", "</e>", HOT, COLD) == (
        [C, C, C, H, H, H, H, H]
    )
    assert piece_temperatures(["a<e>b</e>c", "d"], "<e>", "</e>", HOT, COLD) == [C, C]


@pytest.mark.parametrize(("open", "close"), [("", "x"), ("x", ""), ("x", "x"), ("x", "ax"), ("ax", "x")])
def test_ambiguous_markers_are_refused(open: str, close: str) -> None:
    for build in (
        lambda: piece_temperatures([], open, close, HOT, COLD),
        lambda: temperatures([], [ord(c) for c in open], [ord(c) for c in close], HOT, COLD),
        lambda: MarkerTable([], open, close),
    ):
        with pytest.raises(ValueError, match="Expected"):
            build()


def test_markers_must_be_ascii() -> None:
    with pytest.raises(UnsupportedError, match="ASCII"):
        MarkerTable(["a"], "«", "»")


MARKERS = st.tuples(st.text("ab<", min_size=1, max_size=4), st.text("ab<", min_size=1, max_size=4)).filter(
    lambda pair: not pair[0].endswith(pair[1]) and not pair[1].endswith(pair[0])
)
PIECES = st.lists(st.text("ab<é\ufffd", max_size=4), min_size=1, max_size=12)


@given(MARKERS, st.text("ab<", max_size=12))
def test_ids_and_text_agree_where_a_token_is_a_character(markers: tuple[str, str], text: str) -> None:
    open, close = markers
    ids = [[ord(character) for character in part] for part in (text, open, close)]
    assert temperatures(ids[0], ids[1], ids[2], HOT, COLD) == piece_temperatures(list(text), open, close, HOT, COLD)


@given(MARKERS, PIECES, st.text("ab<é", max_size=5), st.data())
def test_the_table_agrees_with_the_rule(
    markers: tuple[str, str], pieces: list[str], before: str, data: st.DataObject
) -> None:
    tokens = data.draw(st.lists(st.integers(0, len(pieces) - 1), max_size=20))
    table = MarkerTable(pieces, *markers)
    state, inside = table.start(before)
    found = []
    for token in tokens:
        found.append(HOT if inside else COLD)
        state, inside = table.advance(state, inside, token)
    expected = piece_temperatures([pieces[token] for token in tokens], *markers, HOT, COLD, before=before)
    assert found == expected


@given(MARKERS, PIECES, st.integers(1, 4), st.data())
def test_a_batch_agrees_with_the_rule(
    markers: tuple[str, str], pieces: list[str], rows: int, data: st.DataObject
) -> None:
    torch = pytest.importorskip("torch")
    length = data.draw(st.integers(0, 12))
    token = st.integers(0, len(pieces) - 1)
    tokens = [data.draw(st.lists(token, min_size=length, max_size=length)) for _ in range(rows)]
    before = [data.draw(st.text("ab<", max_size=4)) for _ in range(rows)]
    span = SpanState(MarkerTable(pieces, *markers), before)
    generated = torch.tensor(tokens, dtype=torch.long).reshape(rows, length)
    steps = [span.inside(generated[:, :column]).tolist() for column in range(length)]
    for row in range(rows):
        expected = piece_temperatures([pieces[t] for t in tokens[row]], *markers, HOT, COLD, before=before[row])
        assert [HOT if step[row] else COLD for step in steps] == expected


def test_a_batch_whose_past_changes_is_read_again() -> None:
    torch = pytest.importorskip("torch")
    span = SpanState(MarkerTable(["<e>", "</e>", "x"], "<e>", "</e>"), ["", ""])
    tokens = torch.tensor([[0, 2], [2, 2]])
    assert span.inside(tokens).tolist() == [True, False]
    assert span.inside(tokens.flip(0)).tolist() == [False, True]
    assert span.inside(torch.tensor([[0, 1, 2], [2, 0, 2]])).tolist() == [False, True]
    assert span.inside(torch.tensor([[0], [2]])).tolist() == [True, False]


def test_pieces_join_to_the_text(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(build_plain(tmp_path / "tiny"))
    pieces = token_pieces(tokenizer, len(tokenizer) + 5)
    assert pieces[-5:] == [""] * 5
    text = "go to desk 1.\n<explore> Why not?\n</explore>"
    assert "".join(pieces[token] for token in tokenizer(text)["input_ids"]) == text
