"""The catalogue: equal bytes from equal rows, whole or not there at all, shared, and refused if it is damaged."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backtrail.envs.webshop import generate
from backtrail.envs.webshop.catalogue import (
    META,
    Catalogue,
    default_folder,
    digest_of,
    generated,
    generated_folder,
    open_catalogue,
)
from backtrail.envs.webshop.catalogue_build import build, document
from backtrail.envs.webshop.errors import CatalogueError
from backtrail.envs.webshop.loader import listings
from backtrail.envs.webshop.nouns import Nouns, find_nouns
from backtrail.envs.webshop.records import load_array, save_array
from backtrail.envs.webshop.source import OfficialFiles

COUNT = 120
ROWS = list(generate.rows(COUNT, 0))


def make(folder: Path, rows: Any = ROWS, label: str = "test", nouns: Nouns | str = "test", **changes: Any) -> Catalogue:
    return build(rows, folder, label=label, nouns=nouns, **changes)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return make(tmp_path_factory.mktemp("catalogue") / "shop")


@pytest.fixture
def copied(shop: Catalogue, tmp_path: Path) -> Path:
    """A copy that may be damaged."""
    shutil.copytree(shop.folder, tmp_path / "shop")
    return tmp_path / "shop"


@pytest.fixture(scope="module")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arrays")


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def rewrite(folder: Path, **changes: Any) -> None:
    """Change the meta file and give it the right digest."""
    meta = json.loads((folder / META).read_text()) | changes
    (folder / META).write_text(json.dumps(meta | {"digest": digest_of(meta)}))


def run(code: str, **environment: str) -> subprocess.Popen[str]:
    """Start some code in another process."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(process: subprocess.Popen[str]) -> str:
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    return out


# ---- what it holds ----------------------------------------------------------------------------------


def test_products_are_those_of_the_rows(shop: Catalogue) -> None:
    expected = [listing for _, listing in listings(ROWS)]
    assert len(shop) == len(expected) == COUNT
    for number, listing in enumerate(expected):
        product = shop.product(shop.asin(number))
        assert product.nouns == tuple(ROWS[number]["nouns"])
        assert min(listing.pricing) <= product.price <= max(listing.pricing)
        same = {name: getattr(product, name) for name in type(product).__slots__ if name != "price"}
        assert same == {name: getattr(listing.product, name) for name in same}


@pytest.mark.parametrize(
    "asin", ["", "B", "B0000000000", "B\0", "B00000000é", "?", "\ud800", "zzzzzzzzzz", "!" * 10, "A" * 999]
)
def test_an_unknown_asin_is_a_key_error(shop: Catalogue, asin: str) -> None:
    with pytest.raises(KeyError):
        shop.product(asin)


def test_an_asin_is_known_as_it_is_written(shop: Catalogue) -> None:
    for changed in (shop.asin(0).lower(), shop.asin(0) + " ", shop.asin(0) + "\0", shop.asin(0)[:-1]):
        with pytest.raises(KeyError):
            shop.product(changed)


def test_search_asks_the_index_for_fifty(shop: Catalogue) -> None:
    numbers = {shop.asin(number): number for number in range(len(shop))}
    for number in (0, 7, 119):
        product = shop.product(shop.asin(number))
        found = shop.search(product.title.lower())
        assert found[0] == product.asin or shop.product(found[0]).title == product.title
        assert len(found) == len(set(found)) <= 50 and set(found) <= set(numbers)
    assert shop.search("qqqqqq") == ()
    assert shop.search(ROWS[0]["product"]["name"]) is shop.search(ROWS[0]["product"]["name"])


def test_a_document_is_title_description_first_bullet_and_options(shop: Catalogue) -> None:
    product = next(p for p in map(shop.product, map(shop.asin, range(COUNT))) if len(p.options) == 2)
    (one, values), (other, more) = product.options
    options = f"{one}: {', '.join(values)}, and {other}: {', '.join(more)}"
    assert document(product) == f"{product.title} {product.description} {product.bullets[0]} {options}".lower()


def test_categories_and_queries_list_their_products_in_order(shop: Catalogue) -> None:
    products = [shop.product(shop.asin(number)) for number in range(len(shop))]
    for category in {product.category for product in products}:
        assert shop.in_category(category) == tuple(p.asin for p in products if p.category == category)
    for query in {product.query for product in products}:
        assert shop.of_query(query) == tuple(p.asin for p in products if p.query == query)
    assert [shop.categories[number] for number in shop.category_numbers] == [p.category for p in products]
    assert shop.in_category("toys") == shop.of_query("toys") == ()


def test_nothing_can_be_changed(shop: Catalogue) -> None:
    for array in (shop.category_numbers, shop.cumulative_weights("synthetic")):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


# ---- one object, one digest -------------------------------------------------------------------------


def test_one_object_for_a_folder(shop: Catalogue) -> None:
    assert open_catalogue(shop.folder) is shop
    assert open_catalogue(str(shop.folder / ".." / shop.folder.name)) is shop
    assert pickle.loads(pickle.dumps(shop)) is copy.deepcopy(shop) is shop


def test_the_digest_is_of_the_contents(shop: Catalogue, tmp_path: Path) -> None:
    again = make(tmp_path / "again")
    assert again is not shop and again.digest == shop.digest
    assert files(again.folder) == files(shop.folder)
    changed = [
        make(tmp_path / "1", price_seed=1),
        make(tmp_path / "2", goal_seed=0),
        make(tmp_path / "3", shuffle_seed=1),
        make(tmp_path / "4", label="other"),
        make(tmp_path / "5", nouns=find_nouns("approx")),
        make(tmp_path / "6", ROWS[:-1]),
    ]
    assert len({shop.digest, *(catalogue.digest for catalogue in changed)}) == 7


def test_the_digest_does_not_depend_on_the_process(shop: Catalogue, tmp_path: Path) -> None:
    code = "import sys; from backtrail.envs.webshop import generate as g, catalogue_build as b; "
    code += f"print(b.build(g.rows({COUNT}, 0), sys.argv[1], label='test', nouns='test').digest)"
    processes = [run(code.replace("sys.argv[1]", repr(str(tmp_path / seed))), PYTHONHASHSEED=seed) for seed in "12"]
    assert {output(process).strip() for process in processes} == {shop.digest}


def test_building_leaves_the_global_generators_alone(tmp_path: Path) -> None:
    before, numbers = random.getstate(), pickle.dumps(np.random.get_state())  # noqa: NPY002
    make(tmp_path / "shop")
    assert random.getstate() == before
    assert pickle.dumps(np.random.get_state()) == numbers  # noqa: NPY002


def test_official_files_give_what_their_rows_give(shop: Catalogue, tmp_path: Path) -> None:
    pytest.importorskip("ijson", reason="reading the official files needs the extra `webshop`")
    tables = {
        "items_shuffle_1000": [row["product"] for row in ROWS],
        "items_ins_v2_1000": {row["product"]["asin"]: row["attributes"] for row in ROWS},
        "items_human_ins": {row["product"]["asin"]: row["human"] for row in ROWS if row["human"]},
    }
    for name, table in tables.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(table), encoding="utf-8")
    nouns = tmp_path / "nouns.json"
    nouns.write_text(json.dumps({row["product"]["name"]: row["nouns"] for row in ROWS}))
    found = find_nouns(str(nouns))
    official = build(OfficialFiles(tmp_path), tmp_path / "official", nouns=found)
    assert official.label == f"webshop:own-{COUNT}"
    assert set(official.meta["sources"]) == {
        "items_shuffle_1000.json",
        "items_ins_v2_1000.json",
        "items_human_ins.json",
    }
    same = make(tmp_path / "same", label=official.label, nouns=found)
    assert same.digest == official.digest


# ---- built whole or not at all ----------------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyboardInterrupt, CatalogueError])
def test_an_interrupted_build_leaves_nothing(copied: Path, error: type[BaseException]) -> None:
    def rows() -> Iterator[Any]:
        yield from ROWS[:100]
        raise error

    before = files(copied)
    for target in (copied, copied.parent / "new"):
        with pytest.raises(error):
            make(target, rows())
    assert list(copied.parent.iterdir()) == [copied] and files(copied) == before


def test_a_killed_build_leaves_no_catalogue(tmp_path: Path) -> None:
    target = tmp_path / "shop"
    code = "from backtrail.envs.webshop import generate as g, catalogue_build as b; "
    code += f"b.build(g.rows(1_000_000, 0), {str(target)!r}, label='test', nouns='test')"
    process = run(code)
    while process.poll() is None and not any(path.stat().st_size for path in tmp_path.rglob("products.bin")):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with pytest.raises(CatalogueError, match="there is none"):
        open_catalogue(target)
    make(target).verify()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "source has none"),
        ([ROWS[0] | {"attributes": {}, "human": []}], "no product has an instruction"),
        ([{k: v for k, v in ROWS[0].items() if k != "nouns"}], "no nouns"),
        ([ROWS[0], ROWS[1] | {"product": {"asin": "B0"}}], "row 2"),
    ],
)
def test_rows_without_what_a_shop_needs_are_refused(tmp_path: Path, rows: list[Any], message: str) -> None:
    with pytest.raises(CatalogueError, match=message):
        make(tmp_path / "shop", rows)
    assert not list(tmp_path.iterdir())


def test_rows_do_not_know_their_label(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Expected a label"):
        build(ROWS, tmp_path / "shop", nouns="test")


def test_what_is_no_catalogue_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "thesis.tex").write_text("x")
    for target in (tmp_path / "papers", tmp_path / "papers" / "thesis.tex"):
        with pytest.raises(CatalogueError, match="is no catalogue: choose another folder"):
            make(target)
    assert (tmp_path / "papers" / "thesis.tex").read_text() == "x"
    (tmp_path / "empty").mkdir()
    make(tmp_path / "empty").verify()


def test_an_equal_catalogue_is_kept_and_a_damaged_one_replaced(copied: Path) -> None:
    kept = (copied / META).stat().st_ino
    first = make(copied)
    assert (copied / META).stat().st_ino == kept
    (copied / "products.bin").write_bytes(b"x" + (copied / "products.bin").read_bytes()[1:])
    second = make(copied)
    second.verify()
    assert second is not first and (copied / META).stat().st_ino != kept


def test_who_has_a_replaced_catalogue_open_keeps_it(copied: Path) -> None:
    old = open_catalogue(copied)
    first, goal = old.asin(0), old.goals("human")[0]
    new = make(copied, ROWS[::-1])
    assert open_catalogue(copied) is new is not old
    assert (old.asin(0), old.goals("human")[0]) == (first, goal)
    assert old.product(first).asin == first and new.asin(COUNT - 1) == first
    assert list(copied.parent.iterdir()) == [copied]


def test_rows_are_not_held(tmp_path: Path) -> None:
    def memory(work: Callable[[], object]) -> tuple[int, int]:
        tracemalloc.start()
        kept = work()
        found = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        del kept
        return found

    held, _ = memory(lambda: list(generate.rows(1500, 0)))
    _, peak = memory(lambda: make(tmp_path / "shop", generate.rows(1500, 0)))
    assert peak < held


def test_progress_says_what_is_done(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    make(tmp_path / "shop", progress=lambda *values: told.append(values))
    assert told[0] == ("Reading products", COUNT, 0)
    assert told[-1] == ("Indexing products", COUNT, COUNT)


# ---- damage -----------------------------------------------------------------------------------------


def test_every_file_is_missed_and_its_size_checked(copied: Path) -> None:
    for name, content in files(copied).items():
        path = copied / name
        for damaged in (None, content[:-1], content + b"\0", b""):
            path.unlink()
            if damaged is not None:
                path.write_bytes(damaged)
            if damaged != content:
                with pytest.raises(CatalogueError):
                    open_catalogue(copied)
            path.write_bytes(content)
    open_catalogue(copied).verify()


def test_a_flipped_bit_is_found_in_every_file(copied: Path) -> None:
    for name, content in files(copied).items():
        for place in {0, len(content) // 2, len(content) - 1}:
            changed = bytes([content[place] ^ 1])
            (copied / name).write_bytes(content[:place] + changed + content[place + 1 :])
            with pytest.raises(CatalogueError):
                Catalogue(copied).verify()
        (copied / name).write_bytes(content)


@settings(max_examples=200)
@given(place=st.integers(0, 127), byte=st.integers(0, 255))
@example(place=26, byte=66)  # a TypeError in numpy
@example(place=21, byte=66)
def test_whatever_is_in_the_head_of_an_array_nothing_but_a_catalogue_error_comes(
    arrays: Path, place: int, byte: int
) -> None:
    path = arrays / "numbers.npy"
    save_array(path, range(9), "<u4")
    whole = path.read_bytes()
    path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
    with contextlib.suppress(CatalogueError):
        assert len(load_array(path, "<u4")) <= 9


def test_whatever_is_in_the_meta_file_nothing_but_a_catalogue_error_comes(copied: Path) -> None:
    path = copied / META
    whole = path.read_bytes()
    meta = json.loads(whole)

    @settings(max_examples=60)
    @given(st.integers(0, len(whole) - 1), st.binary(max_size=3))
    def change(place: int, content: bytes) -> None:
        path.write_bytes(whole[:place] + content + whole[place + 1 :])
        with contextlib.suppress(CatalogueError):
            assert Catalogue(copied).meta == meta

    change()


@pytest.mark.parametrize("changes", [{"schema": 0}, {"schema": "1"}, {"analyzer": "other"}])
def test_another_version_is_refused_by_name(copied: Path, changes: dict[str, Any]) -> None:
    rewrite(copied, **changes)
    with pytest.raises(CatalogueError, match=r"of another version.*Build it again"):
        open_catalogue(copied)


def test_another_number_of_goals_or_products_is_refused(copied: Path, shop: Catalogue) -> None:
    for name in shop.meta["counts"]:
        rewrite(copied, counts=shop.meta["counts"] | {name: 7})
        with pytest.raises(CatalogueError, match="it should hold"):
            open_catalogue(copied)


def test_no_catalogue_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r'"backtrail data webshop SOURCE".*BACKTRAIL_WEBSHOP.*data="generated"'):
        open_catalogue(tmp_path / "nowhere")


# ---- the generated one, and processes ---------------------------------------------------------------


def test_where_catalogues_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("BACKTRAIL_WEBSHOP", raising=False)
    cache = tmp_path / ".cache" / "backtrail" / "webshop"
    assert default_folder() == cache / "official"
    assert generated_folder(1000) == cache / f"generated-{generate.VERSION}-1000-0"
    monkeypatch.setenv("BACKTRAIL_WEBSHOP", "/data/shop")
    assert default_folder() == Path("/data/shop")


def test_the_generated_catalogue_is_built_at_first_use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    catalogue = generated(COUNT)
    assert (len(catalogue), catalogue.label) == (COUNT, f"generated:{generate.VERSION}.{COUNT}")
    assert catalogue.nouns_name == f"generated:{generate.VERSION}"
    assert catalogue.folder == generated_folder(COUNT)
    assert generated(COUNT) is catalogue
    assert generated(COUNT, 1).digest != catalogue.digest


def test_a_damaged_generated_catalogue_is_built_again(
    monkeypatch: pytest.MonkeyPatch, shop: Catalogue, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    shutil.copytree(shop.folder, generated_folder(COUNT))
    (generated_folder(COUNT) / "products.bin").unlink()
    generated(COUNT).verify()


def test_processes_that_build_at_the_same_time_share_one(tmp_path: Path) -> None:
    code = (
        f"from backtrail.envs.webshop.catalogue import generated; c = generated({COUNT}); c.verify(); print(c.digest)"
    )
    digests = {output(process) for process in [run(code, HOME=str(tmp_path)) for _ in range(3)]}
    assert len(digests) == 1
    (folder,) = (tmp_path / ".cache" / "backtrail" / "webshop").iterdir()
    assert Catalogue(folder).digest == digests.pop().strip()


def test_processes_that_open_one_see_the_same(shop: Catalogue) -> None:
    title = shop.product(shop.asin(3)).title
    code = f"from backtrail.envs.webshop.catalogue import open_catalogue; c = open_catalogue({str(shop.folder)!r}); "
    code += f"print(ascii((c.search({title!r}), c.goals('human')[5], c.goals('synthetic')[-1], c.product(c.asin(7)))))"
    outputs = {output(process) for process in [run(code) for _ in range(2)]}
    seen = (shop.search(title), shop.goals("human")[5], shop.goals("synthetic")[-1], shop.product(shop.asin(7)))
    assert outputs == {ascii(seen) + "\n"}
