"""The official files: read as a stream, turned into products as the original's loader does, and refused if they are damaged."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from backtrail.envs.webshop.errors import CatalogueError
from backtrail.envs.webshop.loader import Listing, listings
from backtrail.envs.webshop.source import OfficialFiles

pytest.importorskip("ijson", reason="reading the official files needs the extra `webshop`")

DATA = ROOT.parent / "shared" / "data" / "webshop"
PRODUCT = {
    "asin": "B000000001",
    "name": "Oak Shelf",
    "full_description": "A shelf.",
    "pricing": "$10.50",
    "images": ["https://shop/shelf.jpg", "https://shop/back.jpg"],
    "product_category": "Home \u203a Furniture \u203a Shelves",
    "small_description": ["Made of oak ", "Two boards "],
    "customization_options": {"Color": [{"value": "Brown", "image": None}]},
    "category": "garden",
    "query": " Wall Shelves ",
    "page": 3,
    "average_rating": 4.5,
}
ENTRY = {
    "attributes": ["solid wood"],
    "instruction": "Find me solid wood shelves",
    "instruction_attributes": ["solid wood"],
}
SAID = {
    "asin": "B000000001",
    "instruction": "i want a shelf.",
    "attributes": ["solid wood"],
    "options": ["color: brown"],
}
SAID |= {"instruction_attributes": ["solid wood"], "instruction_options": ["brown"]}


def row(entry: Any = ENTRY, human: Any = (), **changes: Any) -> dict[str, Any]:
    return {"product": PRODUCT | changes, "attributes": entry, "human": list(human)}


def one(given: dict[str, Any]) -> Listing:
    ((_, listing),) = listings([given])
    return listing


def options(*values: str) -> list[dict[str, Any]]:
    return [{"value": value} for value in values]


def write(folder: Path, products: Any = None, entries: Any = None, human: Any = None, suffix: str = "") -> Path:
    """Write files in the official form."""
    folder.mkdir(exist_ok=True)
    files = {"items_shuffle": products or [PRODUCT], "items_ins_v2": entries or {PRODUCT["asin"]: ENTRY}}
    for name, content in (files | ({"items_human_ins": human} if human is not None else {})).items():
        (folder / f"{name}{suffix}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


# ---- the loader's rules -----------------------------------------------------------------------------


def test_a_row_becomes_a_product() -> None:
    listing = one(row(human=[SAID]))
    product = listing.product
    assert (product.asin, product.title, product.description) == ("B000000001", "Oak Shelf", "A shelf.")
    assert product.bullets == ("Made of oak ", "Two boards ")
    assert product.options == (("color", ("brown",)),)
    assert product.attributes == ("solid wood",)
    assert (product.category, product.query) == ("garden", "wall shelves")
    assert product.product_category == "Home \u203a Furniture \u203a Shelves"
    assert product.image == "https://shop/shelf.jpg"
    assert (listing.instruction, listing.asked) == ("Find me solid wood shelves", ("solid wood",))
    assert listing.human == (("i want a shelf.", ("solid wood",), ("brown",)),)


@pytest.mark.parametrize(
    ("shown", "pricing", "tag"),
    [
        ("$10.50", (10.5,), "$10.5"),
        ("$25.00", (25.0,), "$25.0"),
        ("$1,299.99", (1299.99,), "$1299.99"),
        ("$19.99 - $27.99", (19.99, 27.99), "$19.99 to $27.99"),
        ("$5.00 - $7.50 - $9.99", (5.0, 7.5), "$5.0 to $7.5"),
        ("", (100.0,), "$100.0"),
        (None, (100.0,), "$100.0"),
    ],
)
def test_prices(shown: str | None, pricing: tuple[float, ...], tag: str) -> None:
    listing = one(row(pricing=shown))
    assert (listing.pricing, listing.product.tag) == (pricing, tag)


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ("", ()),
        ({}, ()),
        (None, ()),
        ({"Color": None, "Size": options("M")}, (("size", ("m",)),)),
        ({"Color": options(" Red/Blue ", "red/blue", "")}, (("color", ("red | blue", "red | blue", "")),)),
        ({"COLOR": options("a"), "Size": options("m"), "color": options("b")}, (("color", ("b",)), ("size", ("m",)))),
        ({"Color": []}, (("color", ()),)),
    ],
)
def test_options(given_: Any, expected: Any) -> None:
    assert one(row(customization_options=given_)).product.options == expected


def test_what_may_be_absent() -> None:
    assert one(row(small_description="one line")).product.bullets == ("one line",)
    assert one(row(images=[])).product.image == ""
    assert one(row(images=None)).product.image == ""
    assert one(row(entry={})).product.attributes == ("DUMMY_ATTR",)
    assert one(row(entry={"attributes": []})).product.attributes == ()
    assert one(row(entry={"attributes": ["x"]})).instruction is None
    assert one(row() | {"nouns": ["oak", "shelf"]}).product.nouns == ("oak", "shelf")


def test_products_without_an_asin_and_repeated_ones_are_dropped() -> None:
    given_ = [row(), row(asin="nan"), row(asin="B0000000011"), row(name="Again"), row(asin="B000000002")]
    assert [listing.product.asin for _, listing in listings(given_)] == ["B000000001", "B000000002"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"asin": None}, "asin to be of type str, got None"),
        ({"asin": ""}, "letters and digits"),
        ({"asin": "B0ü"}, "letters and digits"),
        ({"name": None}, "name to be of type str, got None"),
        ({"full_description": 5}, "full_description to be of type str, got 5"),
        ({"small_description": []}, "at least one line"),
        ({"small_description": [None]}, "small_description to be a list of strings"),
        ({"pricing": "free"}, "expected pricing such as"),
        ({"pricing": "$"}, "expected pricing such as"),
        ({"pricing": 9.99}, "expected pricing such as"),
        ({"customization_options": ["Color"]}, "customization_options to be an object, got list"),
        ({"customization_options": {"Color": "red"}}, "option 'Color' to be a list, got str"),
        ({"customization_options": {"Color": [{"price": "$1"}]}}, "value to be of type str, got None"),
        ({"customization_options": {"Color": ["red"]}}, "expected an object, got 'red'"),
        ({"category": None}, "category to be"),
        ({"query": None}, "query to be"),
        ({"product_category": None}, "product_category to be"),
        ({"entry": []}, "attributes to be an object"),
        ({"entry": {"attributes": "x"}}, "attributes to be of type list, got 'x'"),
        ({"entry": {"attributes": [1]}}, "attributes to be a list of strings"),
        ({"entry": {"instruction": "Find me"}}, "instruction_attributes to be a list of strings, got None"),
        ({"entry": {"instruction": "Find me", "instruction_attributes": []}}, "at least one attribute"),
        ({"entry": {"instruction": 7, "instruction_attributes": ["x"]}}, "an instruction to be text"),
        ({"human": [7]}, "expected an object, got 7"),
        ({"human": [SAID | {"instruction_options": None}]}, "instruction_options to be a list of strings"),
    ],
)
def test_a_row_in_another_form_is_refused_by_its_number(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CatalogueError, match=message) as raised:
        list(listings([row(asin="B000000009"), row(**changes)], "shop.json"))
    assert "shop.json, row 2" in str(raised.value)


# ---- files ------------------------------------------------------------------------------------------


def test_rows_are_those_of_the_files(tmp_path: Path) -> None:
    products = [PRODUCT, PRODUCT | {"asin": "B000000002", "name": "“Ünïcode” 日本 \U0001f600"}]
    human = {"B000000002": [SAID | {"worker_id": "A1", "assignment_id": "3X"}]}
    files = OfficialFiles(write(tmp_path, products, human=human))
    assert list(files.rows()) == [row(), {"product": products[1], "attributes": {}, "human": [SAID]}]
    checksums = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in tmp_path.iterdir()}
    assert files.sha256 == checksums
    assert files.label == "webshop:own-2"


def test_numbers_are_plain(tmp_path: Path) -> None:
    (product,) = (given_["product"] for given_ in OfficialFiles(write(tmp_path)).rows())
    assert {type(product["page"]), type(product["average_rating"])} == {int, float}


def test_the_label_is_known_at_the_end(tmp_path: Path) -> None:
    files = OfficialFiles(write(tmp_path))
    with pytest.raises(RuntimeError, match="all rows have been read"):
        _ = files.label


def test_progress_ends_at_the_end_of_every_file(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    files = OfficialFiles(write(tmp_path, [PRODUCT | {"asin": f"B{k:09}"} for k in range(1000)], {"B000000000": ENTRY}))
    list(files.rows(lambda *values: told.append(values)))
    ends = {stage: (done, total) for stage, done, total in told}
    sizes = {f"Reading {p.name}": (p.stat().st_size, p.stat().st_size) for p in (files.products, files.attributes)}
    assert ends == sizes
    assert len(told) > 4


@pytest.mark.parametrize("suffix", ["", "_1000"])
def test_the_files_of_a_set_are_found(tmp_path: Path, suffix: str) -> None:
    write(tmp_path, human={}, suffix=suffix)
    files = OfficialFiles(tmp_path)
    assert files.products.name == f"items_shuffle{suffix}.json"
    assert files.attributes.name == f"items_ins_v2{suffix}.json"
    assert files.human is not None and files.human.name == f"items_human_ins{suffix}.json"


def test_one_of_two_sets_must_be_named(tmp_path: Path) -> None:
    write(write(tmp_path), suffix="_1000", human={})
    with pytest.raises(CatalogueError, match="two sets of products"):
        OfficialFiles(tmp_path)
    files = OfficialFiles(tmp_path / "items_shuffle.json")
    assert (files.attributes.name, files.human) == ("items_ins_v2.json", None)
    assert OfficialFiles(tmp_path / "items_shuffle_1000.json").attributes.name == "items_ins_v2_1000.json"


@pytest.mark.parametrize("name", ["items_shuffle_1000.json", "items_ins_v2_1000.json"])
def test_a_missing_or_empty_file_is_named_with_where_to_get_it(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, suffix="_1000") / name
    path.write_bytes(b"")
    with pytest.raises(CatalogueError, match=f"{name} is empty.*drive.google.com"):
        OfficialFiles(tmp_path)
    path.unlink()
    with pytest.raises(CatalogueError, match=f"Expected .*{name}, it is not there.*drive.google.com"):
        OfficialFiles(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("items_shuffle.json", b"<!DOCTYPE html><title>Quota exceeded", "expected a JSON list, it begins with b'<!DOC"),
        ("items_shuffle.json", b"version https://git-lfs.github.com/spec/v1\n", "it begins with b'version"),
        ("items_shuffle.json", b'{"item": {"asin": "B000000001"}}', "expected a JSON list"),
        ("items_shuffle.json", b"[]", "holds no products"),
        ("items_shuffle.json", b"[7]", "row 1: expected an object, got 7"),
        ("items_human_ins.json", b'{"B000000001": []} [', "damaged or cut off after entry 1"),
        ("items_shuffle.json", b'[{"asin": "\xff"}]', "damaged or cut off after entry 0"),
        ("items_ins_v2.json", b"[]", "expected a JSON object"),
        ("items_ins_v2.json", b'{"B000000002": {}}', "no entry for any product"),
        ("items_human_ins.json", b'{"B000000001": ', "items_human_ins.json is damaged or cut off after entry 0"),
    ],
)
def test_a_file_that_is_something_else_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (write(tmp_path, human={}) / name).write_bytes(content)
    with pytest.raises(CatalogueError, match=message) as raised:
        list(listings(OfficialFiles(tmp_path).rows(), name))
    assert name in str(raised.value)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("files"), [PRODUCT, PRODUCT | {"asin": "B000000002"}], human={"B0": [SAID]})


@pytest.mark.parametrize("name", ["items_shuffle.json", "items_ins_v2.json", "items_human_ins.json"])
def test_wherever_a_file_is_cut_it_is_refused(damaged: Path, name: str) -> None:
    path = damaged / name
    whole = path.read_bytes()

    @given(st.integers(1, len(whole) - 1))
    def cut(size: int) -> None:
        path.write_bytes(whole[:size])
        with pytest.raises(CatalogueError, match=name):
            list(OfficialFiles(damaged).rows())

    try:
        cut()
    finally:
        path.write_bytes(whole)


def test_whichever_byte_is_wrong_nothing_but_a_catalogue_error_comes(damaged: Path) -> None:
    path = damaged / "items_shuffle.json"
    whole = path.read_bytes()

    @given(st.integers(0, len(whole) - 1), st.integers(0, 255))
    def flip(place: int, byte: int) -> None:
        path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
        try:
            assert len(list(listings(OfficialFiles(damaged).rows()))) in (1, 2)
        except CatalogueError as error:
            assert "row" in str(error) or path.name in str(error)

    try:
        flip()
    finally:
        path.write_bytes(whole)


def test_without_ijson_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = OfficialFiles(write(tmp_path))
    monkeypatch.setitem(sys.modules, "ijson", None)
    with pytest.raises(gym.error.DependencyNotInstalled, match=r'pip install "backtrail\[webshop\]"'):
        list(files.rows())


# ---- data beside the checkout -----------------------------------------------------------------------


def shared(name: str) -> Path:
    if not (DATA / name).is_dir():
        pytest.skip(f"no WebShop data at {DATA / name}")
    return DATA / name


def test_the_official_thousand() -> None:
    files = OfficialFiles(shared("recovered"))
    found = [listing for _, listing in listings(files.rows())]
    assert files.label == "webshop:1k"
    prices = Counter((listing.product.tag == "$100.0", len(listing.pricing)) for listing in found)
    assert len(found) == 1000 and prices[False, 2] == 93
    assert sum(not listing.product.options for listing in found) == 523 + 54  # none given, or only null lists
    assert sorted(Counter(listing.product.category for listing in found).values()) == [117, 200, 216, 229, 238]
    assert sum(listing.instruction is not None for listing in found) == 415
    assert sum(len(listing.human) for listing in found) == 13


EDGES: dict[str, dict[str, Any]] = {
    "B0EDGE0001": {
        "description": "line1\nline2\r\n  indented\ttab <script>alert(1)</script> <!-- comment --> &lt; 5 < 6"
    },
    "B0EDGE0002": {
        "options": (
            ("color", ("one size", "red | blue", "padded", 'café "noir"', "it's")),
            ("size", ("one size", "color", "a [b]", "x]y", "[z", "")),
        )
    },
    "B0EDGE0003": {
        "options": (
            (
                "kind",
                ("features", "description", "back to search", "next >", "buy now", "search", "b0edge0001", "prev"),
            ),
        )
    },
    "B0EDGE0004": {"title": "  Zqx leading spaces title  ", "description": "   ", "tag": "$1299.99"},
    "B0EDGE0005": {"bullets": ("", "  ", "x"), "tag": "$100.0", "options": ()},
    "B0EDGE0006": {"title": "Zqx three prices", "tag": "$5.0 to $7.5", "options": (("color", ("blue",)),)},
    "B0EDGE0007": {"tag": "$985.0"},
    "B0EDGE0008": {"tag": "$5000.0"},
    "B0EDGE0010": {"title": "the of and to", "bullets": ("of",)},
    "B0EDGE0011": {"query": "edge cases"},
    "B0EDGE0012": {"product_category": "A \u203a A \u203a B"},
    "B0EDGE0013": {"title": "", "product_category": ""},
    "b0edge0014": {"asin": "b0edge0014"},
    "B0EDGE0015": {
        "options": (("option name with spaces & <tags>", ("<i>v< | i>", "{{x}}", "100%", "back\\slash", "日本")),)
    },
}


def test_adversarial_products() -> None:
    found = {
        listing.product.asin: listing.product for _, listing in listings(OfficialFiles(shared("synth/edge250")).rows())
    }
    assert len(found) == 264  # of 267: "nan", a long one and a repeated one are dropped
    assert {asin for asin in found if asin.lower().startswith("b0edge")} == set(EDGES)
    for asin, expected in EDGES.items():
        assert {name: getattr(found[asin], name) for name in expected} == expected
