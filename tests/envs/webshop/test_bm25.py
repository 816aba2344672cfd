"""The search: Lucene's ranking, from an index that is saved, opened and shared."""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from backtrail.envs.webshop import bm25, postings
from backtrail.envs.webshop.analysis import analyze
from backtrail.envs.webshop.bm25 import Engine, Index
from backtrail.envs.webshop.errors import CatalogueError

DATA = ROOT.parent / "shared" / "data" / "webshop"
PRODUCTS = DATA / "recovered" / "items_shuffle_1000.json"
GENERATOR = ROOT.parent / "shared" / "prototypes" / "webshop" / "gen_synth.py"
HAS_NUMBA = importlib.util.find_spec("numba") is not None
ENGINES = ["numpy", pytest.param("numba", marks=pytest.mark.skipif(not HAS_NUMBA, reason="numba is not installed"))]

WORDS = ["red", "shoe", "shoes", "lamp", "tea", "the", "of", "x", "café", "\U0001f600", "running"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=70).map(" ".join)
CORPUS = st.dictionaries(st.text("ABab01", min_size=1, max_size=3), TEXT, min_size=1, max_size=30)


def documents(path: Path) -> Iterator[tuple[str, str]]:
    """Yield ids and texts of official products: title, description, first feature and options, in lower case."""
    for product in json.loads(path.read_text(encoding="utf-8")):
        options = []
        for name, values in (product["customization_options"] or {}).items():
            if values is not None:
                shown = [value["value"].strip().replace("/", " | ").lower() for value in values]
                options.append(f"{name.lower()}: {', '.join(shown)}")
        features = product["small_description"]
        first = features[0] if isinstance(features, list) else features
        text = " ".join([product["name"], product["full_description"], first, ", and ".join(options)])
        yield product["asin"], text.lower()


def plain_ranking(corpus: dict[str, str], query: str, k: int) -> list[tuple[str, float]]:
    """The formula, one number after the other."""
    one = np.float32(1)
    bags = {name: Counter(analyze(text)) for name, text in corpus.items()}
    filled = [bag.total() for bag in bags.values() if bag]
    average = np.float32(sum(filled) / max(len(filled), 1))
    scores: dict[str, float] = {}
    for term, times in Counter(analyze(query)).items():
        having = sum(term in bag for bag in bags.values())
        weight = np.float32(times) * np.float32(math.log(1 + (len(filled) - having + 0.5) / (having + 0.5)))
        for name, bag in bags.items():
            if term in bag:
                length = np.float32(kept_length(bag.total()))
                norm = one / (np.float32(0.9) * ((one - np.float32(0.4)) + np.float32(0.4) * length / average))
                part = weight - weight / (one + np.float32(bag[term]) * norm)
                scores[name] = scores.get(name, 0.0) + float(part)
    found = [(name, float(np.float32(score))) for name, score in scores.items()]
    return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:k]


def kept_length(length: int) -> int:
    """What is left of a length in one byte: all of it up to 39, then four bits of what exceeds 24."""
    lost = max((length - 24).bit_length() - 4, 0) if length > 24 else 0
    return 24 + (length - 24 >> lost << lost) if lost else length


def hits(index: Index, ids: list[str], query: str, k: int = 50) -> list[tuple[str, float]]:
    numbers, scores = index.rank(query, k)
    return [(ids[number], float(score)) for number, score in zip(numbers, scores, strict=True)]


@pytest.fixture(scope="module")
def official() -> tuple[Index, list[str]]:
    if not PRODUCTS.exists():
        pytest.skip(f"no official products: {PRODUCTS}")
    found = list(documents(PRODUCTS))
    return Index.build(found), [name for name, _ in found]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    Index.build([("B", "red shoes for running"), ("A", "tea"), ("C", "")]).save(tmp_path / "search")
    return tmp_path / "search"


# -- the same as Lucene ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_the_official_1000_products_are_ranked_as_by_lucene(official: tuple[Index, list[str]], engine: Engine):
    index, ids = official
    queries, rankings = json.loads((DATA / "search" / "rank_java_1k.json").read_text())
    index.engine = engine
    assert [[ids[number] for number in index.search(query)] for query in queries] == rankings


@pytest.mark.slow
def test_100000_products_are_ranked_as_by_lucene(tmp_path: Path):
    golden = DATA / "search" / "rank_java_100k.json"
    if not golden.exists() or not GENERATOR.exists():
        pytest.skip(f"no golden ranking or no generator: {golden}, {GENERATOR}")
    subprocess.run([sys.executable, GENERATOR, "100000", "1", tmp_path], check=True, capture_output=True)
    found = list(documents(tmp_path / "items_shuffle.json"))
    ids = [name for name, _ in found]
    Index.build(found, tmp_path).save(tmp_path / "search")
    index = Index.open(tmp_path / "search")
    queries, rankings = json.loads(golden.read_text())
    for engine in ("numpy", "numba") if HAS_NUMBA else ("numpy",):
        index.engine = engine
        assert [[ids[number] for number in index.search(query)] for query in queries] == rankings


@given(CORPUS, TEXT, st.integers(1, 12))
def test_rankings_and_scores_follow_the_formula(corpus: dict[str, str], query: str, k: int):
    index = Index.build(corpus.items())
    assert hits(index, list(corpus), query, k) == plain_ranking(corpus, query, k)


def test_lengths_lose_bits_above_39():
    corpus = {f"{length:04}": " ".join(["red"] * length) for length in [1, 39, 40, 41, 42, 55, 56, 59, 60, 1000, 5000]}
    assert hits(Index.build(corpus.items()), list(corpus), "red") == plain_ranking(corpus, "red", 50)
    assert [kept_length(length) for length in (39, 40, 41, 55, 56, 59, 60)] == [39, 40, 40, 54, 56, 56, 60]


@pytest.mark.parametrize("times", [255, 256, 65_536])
def test_a_word_may_occur_any_number_of_times(times: int):
    corpus = {"A": "red " * times, "B": "red tea", "C": "tea"}
    assert hits(Index.build(corpus.items()), list(corpus), "red tea") == plain_ranking(corpus, "red tea", 50)


# -- what a ranking does not depend on -------------------------------------------------------------------------


@pytest.mark.skipif(not HAS_NUMBA, reason="numba is not installed")
@given(CORPUS, TEXT, st.integers(1, 12))
def test_numba_and_numpy_agree(corpus: dict[str, str], query: str, k: int):
    index, found = Index.build(corpus.items()), []
    for engine in ("numpy", "numba"):
        index.engine = engine
        found.append(hits(index, list(corpus), query, k))
    assert found[0] == found[1]


def test_the_loop_that_numba_compiles_is_right_as_python(monkeypatch: pytest.MonkeyPatch):
    small = {"C": "red tea", "A": "red red shoe", "B": "tea red"}
    index = Index.build(small.items())
    monkeypatch.setattr(bm25, "_compiled_rank", lambda: bm25._rank)
    index.engine = "numba"
    assert hits(index, list(small), "red tea", 2) == plain_ranking(small, "red tea", 2)


@given(CORPUS, TEXT, st.randoms(use_true_random=False))
def test_the_order_of_the_documents_does_not_matter(corpus: dict[str, str], query: str, random: Any):
    shuffled = list(corpus)
    random.shuffle(shuffled)
    first = hits(Index.build(corpus.items()), list(corpus), query)
    assert hits(Index.build((name, corpus[name]) for name in shuffled), shuffled, query) == first


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_the_size_of_a_block_does_not_matter(block: int, monkeypatch: pytest.MonkeyPatch):
    corpus = {f"{n}": " ".join(WORDS[: n % 12]) + f" word{n % 7}" * (n % 5) for n in range(60)}
    whole = Index.build(corpus.items())
    monkeypatch.setattr(postings, "_BLOCK", block)
    parts = Index.build(corpus.items())
    for name, values in whole._arrays.items():
        assert np.array_equal(values, parts._arrays[name]), name
        assert values.dtype == parts._arrays[name].dtype


@given(CORPUS, TEXT)
def test_a_saved_index_answers_as_the_one_that_was_built(
    tmp_path_factory: pytest.TempPathFactory, corpus: dict[str, str], query: str
):
    folder = tmp_path_factory.mktemp("index") / "search"
    built = Index.build(corpus.items())
    built.save(folder)
    opened = Index.open(folder)
    assert hits(opened, list(corpus), query) == hits(built, list(corpus), query)
    assert len(opened) == len(built) == len(corpus)
    with pytest.raises(ValueError, match="read-only"):
        opened._arrays["norms"][0] = 0


def test_two_builds_write_the_same_bytes(tmp_path: Path):
    corpus = {f"{n}": " ".join(WORDS[: n % 12]) for n in range(40)}
    for name in ("one", "two"):
        Index.build(corpus.items()).save(tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


# -- queries ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("query", ["", "   ", "the of and", "unheard words", "?!", "\ud800", "_", "x" * 1000])
def test_a_query_without_a_known_word_finds_nothing(engine: Engine, query: str):
    index = Index.build([("A", "red shoes"), ("B", "the tea of a lamp")])
    index.engine = engine
    assert index.search(query) == []


def test_fewer_documents_than_asked_for():
    index = Index.build([("B", "red"), ("A", "red"), ("C", "tea")])
    assert index.search("red", k=1000) == [1, 0]
    assert index.search("red", k=1) == [1]
    with pytest.raises(ValueError, match="at least 1, got 0"):
        index.search("red", k=0)


def test_a_repeated_word_counts_as_often():
    index = Index.build([("A", "red tea lamp"), ("B", "tea lamp lamp")])
    (_, once), (_, twice) = index.rank("red"), index.rank("red red")
    assert twice[0] == 2 * once[0]


def test_documents_without_words():
    index = Index.build([("A", ""), ("B", "the"), ("C", "red")])
    assert index.search("red the") == [2]
    assert Index.build([("A", "")]).search("red") == []


def test_no_documents_are_refused():
    with pytest.raises(CatalogueError, match="got none"):
        Index.build([])


# -- without numba ---------------------------------------------------------------------------------------------


def test_without_numba_a_large_index_is_searched_with_numpy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(bm25, "NUMBA_FROM", 0)
    bm25._compiled_rank.cache_clear()
    index = Index.build([("A", "red shoes"), ("B", "tea")])
    assert index.search("tea") == [1]
    index.engine = "numba"
    with pytest.raises(gym.error.DependencyNotInstalled, match=r"backtrail\[webshop\]"):
        index.search("tea")
    bm25._compiled_rank.cache_clear()


# -- damage ----------------------------------------------------------------------------------------------------

FILES = ["documents", "counts", "starts", "norms", "ranks", "spellings", "edges", "numbers"]


def refused(folder: Path) -> str:
    with pytest.raises(CatalogueError, match="Build it again: backtrail data webshop SOURCE") as caught:
        Index.open(folder)
    return str(caught.value)


@pytest.mark.parametrize("name", [*(f"{name}.npy" for name in FILES), "meta.json"])
def test_a_missing_or_broken_file_is_refused(saved: Path, name: str):
    whole = (saved / name).read_bytes()
    for damaged in (None, b"", whole[: len(whole) // 2], b"\0" * len(whole)):
        (saved / name).unlink(missing_ok=True)
        if damaged is not None:
            (saved / name).write_bytes(damaged)
        assert name in refused(saved)
    (saved / name).write_bytes(whole)
    assert Index.open(saved).search("tea") == [1]


@pytest.mark.parametrize("name", FILES)
def test_arrays_of_other_lengths_types_or_shapes_are_refused(saved: Path, name: str):
    values = np.load(saved / f"{name}.npy")
    for other in (values[:-1], np.append(values, values[-1:]), values.astype(np.float64), values[:, None], values[:0]):
        np.save(saved / f"{name}.npy", other)
        assert str(saved) in refused(saved)


@pytest.mark.parametrize("name", ["starts", "edges"])
def test_offsets_out_of_order_are_refused(saved: Path, name: str):
    values = np.load(saved / f"{name}.npy")
    values[1] = values[-1] + 1
    np.save(saved / f"{name}.npy", values)
    assert "do not belong together" in refused(saved)


def test_another_version_is_refused(saved: Path):
    meta = json.loads((saved / "meta.json").read_text())
    (saved / "meta.json").write_text(json.dumps(meta | {"version": "lucene-english-bm25-0"}))
    assert "expected version 'lucene-english-bm25-1', got 'lucene-english-bm25-0'" in refused(saved)


@pytest.mark.parametrize("meta", ["[]", "{}", '{"version": 1}', "null", '{"version": "x", "documents": "y"}'])
def test_meta_of_another_form_is_refused(saved: Path, meta: str):
    (saved / "meta.json").write_text(meta)
    refused(saved)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["documents", "numbers"])
def test_numbers_of_nothing_are_refused_when_they_are_met(saved: Path, engine: Engine, name: str):
    values = np.load(saved / f"{name}.npy")
    np.save(saved / f"{name}.npy", np.full_like(values, 4_000_000_000))
    index = Index.open(saved)
    index.engine = engine
    with pytest.raises(CatalogueError, match="damaged"):
        index.search("red tea")
