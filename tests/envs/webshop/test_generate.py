"""The generated shop: the same bytes everywhere, the official schema and shape, and no goal that cannot be reached."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backtrail.envs.webshop.bm25 import Index
from backtrail.envs.webshop.catalogue_build import document
from backtrail.envs.webshop.colors import plain_color
from backtrail.envs.webshop.families import KINDS, Draw, offer
from backtrail.envs.webshop.generate import LIMIT, VERSION, asin, row, rows
from backtrail.envs.webshop.items import Goal, Product
from backtrail.envs.webshop.loader import Listing, listings
from backtrail.envs.webshop.reward import score
from backtrail.envs.webshop.wares import BRANDS, POOLS
from backtrail.envs.webshop.wording import NOT_NOUNS

DIGEST = "fd62a9505a4bf3f35f6920140e9c04ac259404c5a66356fbdbdc785a4c1d56fd"
"""Of the first 1,000 rows of seed 0. If it changes, so must VERSION."""

numbers = st.integers(0, LIMIT - 1)
seeds = st.integers(0, 2**32)
every_kind = [(category, kind) for category, kinds in KINDS.items() for kind in kinds]


@cache
def shop() -> list[dict[str, Any]]:
    return list(rows(1000))


@cache
def loaded() -> list[Listing]:
    return [listing for _, listing in listings(shop())]


def priced(listing: Listing) -> Product:
    """The product with the highest price that may be drawn for it."""
    return replace(listing.product, price=listing.pricing[-1])


def digest(some: Iterable[dict[str, Any]]) -> str:
    return hashlib.sha256("\n".join(map(json.dumps, some)).encode()).hexdigest()


def words(text: str) -> list[str]:
    return re.findall("[a-z0-9]+", text.lower())


# ---- the same everywhere -----------------------------------------------------------------------------------


def test_the_default_shop_never_changes_without_a_new_version():
    assert (VERSION, digest(shop())) == ("v1", DIGEST)


@pytest.mark.parametrize("hash_seed", ["0", "1", "4711"])
def test_every_process_makes_the_same_shop(hash_seed: str):
    code = (
        "import json; from backtrail.envs.webshop.generate import rows\n"
        "for each in rows(100, 5): print(json.dumps(each))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": hash_seed}, capture_output=True, check=True
    )
    assert printed.stdout.decode().splitlines() == [json.dumps(each) for each in rows(100, 5)]


@given(st.integers(0, 60), st.integers(0, 60), seeds)
@settings(max_examples=20)
def test_a_larger_shop_begins_with_the_smaller_one(one: int, other: int, seed: int):
    small, large = sorted((one, other))
    assert list(rows(small, seed)) == list(itertools.islice(rows(large, seed), small))


@given(numbers, seeds)
def test_a_row_depends_on_its_number_and_the_seed_alone(number: int, seed: int):
    made = row(number, seed)
    row(number // 2, seed + 1)
    assert row(number, seed) == made


def test_another_seed_makes_another_shop():
    titles = [{each["product"]["name"] for each in rows(200, seed)} for seed in range(4)]
    assert all(len(one & other) < 10 for one, other in itertools.combinations(titles, 2))


@pytest.mark.parametrize("arguments", [(-1, 0), (LIMIT, 0), (0, -1)])
def test_a_product_that_no_shop_has_is_refused(arguments: tuple[int, int]):
    with pytest.raises(ValueError, match=r"Expected a number from 0 to 9,999,999 and a seed of at least 0, got"):
        row(*arguments)


@pytest.mark.parametrize("count", [-1, LIMIT + 1])
def test_a_shop_of_impossible_size_is_refused_at_once(count: int):
    with pytest.raises(ValueError, match="Expected count to be from 0 to 10,000,000"):
        rows(count)


# ---- identifiers -------------------------------------------------------------------------------------------


def test_no_two_products_share_an_asin():
    assert len({asin(number) for number in range(100_000)}) == 100_000


@given(numbers, numbers, seeds)
def test_an_asin_tells_products_of_a_shop_apart(one: int, other: int, seed: int):
    assert (asin(one, seed) == asin(other, seed)) == (one == other)
    assert re.fullmatch("B0[0-9A-Z]{8}", asin(one, seed))


def test_asins_in_a_row_do_not_look_like_a_row():
    codes = [int(asin(number)[2:], 36) for number in range(1000)]
    steps = {(after - before) % 36**8 for before, after in itertools.pairwise(codes)}
    assert len(steps) > 50
    assert all(len({asin(number)[place] for number in range(1000)}) > 30 for place in range(2, 10))


# ---- schema ------------------------------------------------------------------------------------------------


@given(numbers, seeds)
@settings(max_examples=200)
def test_a_row_has_the_official_form(number: int, seed: int):
    made = row(number, seed)
    assert list(made) == ["product", "attributes", "human", "nouns"]
    assert json.loads(json.dumps(made)) == made
    product = made["product"]
    assert product["asin"] == asin(number, seed)
    assert product["category"] in KINDS
    assert product["query"] == product["query"].lower().strip()
    assert len(product["product_category"].split(" \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} ")) >= 2
    assert product["customization_options"] != {}
    for values in (product["customization_options"] or {}).values():
        assert values
        assert [value["is_selected"] for value in values] == [True] + [False] * (len(values) - 1)
    assert re.fullmatch(r"|\$[\d,]+\.\d\d( - \$[\d,]+\.\d\d)?", product["pricing"])


@given(numbers, seeds)
@settings(max_examples=200)
def test_no_text_is_empty_or_untidy(number: int, seed: int):
    made = row(number, seed)
    product = made["product"]
    texts = [product["name"], *product["small_description"], *(each["instruction"] for each in made["human"])]
    texts += [product["full_description"]] if product["full_description"] else []
    texts += [made["attributes"]["instruction"]] if "instruction" in made["attributes"] else []
    for text in [*texts, *made["attributes"]["attributes"], *made["nouns"]]:
        assert text.strip()
        assert text == text.strip()
        assert not re.search(r"  | [,.)]|\.\.|,,|\( |[{}]", text), text
    assert 2 <= len(product["small_description"]) <= 5


@given(numbers, seeds)
@settings(max_examples=200)
def test_ranges_go_up_and_prices_are_in_dollars(number: int, seed: int):
    ((_, listing),) = listings([row(number, seed)])
    assert list(listing.pricing) == sorted(listing.pricing)
    assert 1 < listing.pricing[0] < 5000
    assert len(set(listing.pricing)) == len(listing.pricing)


@given(numbers, seeds)
@settings(max_examples=200)
def test_nouns_are_words_of_the_title_in_order(number: int, seed: int):
    made = row(number, seed)
    left = iter(words(made["product"]["name"]))
    assert all(noun in left for noun in made["nouns"])
    assert made["nouns"]
    assert not NOT_NOUNS & set(made["nouns"])


@given(numbers, seeds)
@settings(max_examples=200)
def test_an_attribute_is_mentioned_somewhere_on_the_pages(number: int, seed: int):
    made = row(number, seed)
    product, attributes = made["product"], made["attributes"]["attributes"]
    pages = " ".join([product["name"], *product["small_description"], product["full_description"]]).lower()
    assert len(set(attributes)) == len(attributes)
    assert [text for text in attributes if text not in pages] == []


@given(numbers, seeds)
@settings(max_examples=200)
def test_instructions_ask_for_what_the_product_has(number: int, seed: int):
    ((made, listing),) = listings([row(number, seed)])
    values = {value for _, values in listing.product.options for value in values}
    if listing.instruction is not None:
        assert listing.asked
        assert set(listing.asked) <= set(listing.product.attributes)
        assert all(text in listing.instruction for text in (*listing.asked, listing.product.query))
    for text, asked, options in listing.human:
        assert asked
        assert set(asked) <= set(listing.product.attributes)
        assert set(options) <= values
        assert all(phrase in text for phrase in (*asked, *options))
    assert all(each["asin"] == listing.product.asin for each in made["human"])


# ---- goals can be reached ----------------------------------------------------------------------------------


def test_every_value_of_every_option_can_be_matched():
    for _, kind in every_kind:
        names = [option.name for option in kind.options]
        assert len(set(names)) == len(names)
        values = [value for option in kind.options for value in POOLS[option.pool]]
        assert len(set(values)) == len(values), kind.query  # a value of two options would belong to one of them only
        for value in values:
            assert value == value.strip().lower()
            assert not set(value) & set('/[]"\\')
            assert set(words(str(plain_color(value)))) <= set(words(value)), f"{value} is taken for another color"


def test_buying_what_is_asked_for_is_worth_everything():
    for listing in loaded():
        product = priced(listing)
        wanted = [(asked, options, dict(_named(product, options))) for _, asked, options in listing.human]
        if listing.instruction is not None:
            first = {name: values[0] for name, values in product.options}
            last = {name: values[-1] for name, values in product.options}
            wanted += [(listing.asked, tuple(chosen.items()), chosen) for chosen in (first, last)]
        for asked, options, chosen in wanted:
            goal = Goal(0, product.asin, "", asked, options, product.price, 1.0)
            assert score(product, goal, product, chosen)[0] == 1.0, (product.title, asked, options)


def _named(product: Product, values: Iterable[str]) -> Iterable[tuple[str, str]]:
    return ((name, value) for value in values for name, offered in product.options if value in offered)


# ---- shape: that of the official shop of 1,000 products (figures in the comments) -----------------------------


def test_departments_and_prices_have_the_official_shares():
    categories = Counter(listing.product.category for listing in loaded())
    assert set(categories) == set(KINDS)
    assert all(200 <= categories[name] <= 240 for name in categories if name != "grocery")  # 200 to 238
    assert 105 <= categories["grocery"] <= 130  # 117
    prices = [each["product"]["pricing"] for each in shop()]
    assert 65 <= prices.count("") <= 115  # 89
    assert 65 <= sum(" - " in price for price in prices) <= 120  # 93


def test_options_and_instructions_have_the_official_shares():
    assert 470 <= sum(not listing.product.options for listing in loaded()) <= 590  # 577
    asking = [listing for listing in loaded() if listing.instruction is not None]
    assert 370 <= len(asking) <= 460  # 415
    goals = sum(math.prod(len(values) for _, values in listing.product.options) for listing in asking)
    assert 3000 <= goals <= 8000  # 6,910
    assert 550 <= sum(len(listing.human) for listing in loaded()) <= 650
    assert 120 <= sum(not listing.product.attributes for listing in loaded()) <= 220  # 185
    assert 2.5 <= sum(len(listing.product.attributes) for listing in loaded()) / 1000 <= 3.2  # 2.8


def test_titles_are_as_long_as_those_of_listings():
    lengths = sorted(len(listing.product.title.split()) for listing in loaded())
    assert 12 <= sum(lengths) / 1000 <= 18  # 18.0
    assert lengths[0] >= 3
    assert lengths[-1] <= 45


def test_any_kind_of_product_is_on_offer():
    assert {listing.product.query for listing in loaded()} == {kind.query for _, kind in every_kind}
    assert len({kind.query for _, kind in every_kind}) == len(every_kind)
    assert all(8 <= len(kinds) <= 12 for kinds in KINDS.values())


def test_most_products_have_near_duplicates_that_are_not_the_same():
    offers = [offer(number, 0, Draw(0, 0, number)) for number in range(960)]
    alike = Counter((each.kind.query, each.head, each.style) for each in offers)
    assert sum(alike[each.kind.query, each.head, each.style] > 1 for each in offers) > 0.6 * len(offers)
    pages = {json.dumps([made["product"] | {"asin": ""}, made["attributes"]]) for made in shop()}
    assert len(pages) == len(shop())


def test_search_finds_the_goal_but_not_always_first():
    index = Index.build((listing.product.asin, document(listing.product)) for listing in loaded())
    ranks = []
    for number, listing in enumerate(loaded()):
        queries = [text for text, _, _ in listing.human] + ([listing.instruction] if listing.instruction else [])
        found = [index.search(query) for query in queries]
        ranks += [hits.index(number) if number in hits else 50 for hits in found]
    assert sum(rank < 50 for rank in ranks) > 0.9 * len(ranks)
    assert 0.2 < sum(rank == 0 for rank in ranks) / len(ranks) < 0.8


# ---- tables ------------------------------------------------------------------------------------------------


def test_brands_are_told_apart():
    assert len(set(BRANDS)) == len(BRANDS) >= 500
    assert not NOT_NOUNS & {brand.lower() for brand in BRANDS}


def test_no_attribute_plays_two_roles():
    for _, kind in every_kind:
        texts = [*kind.features, *kind.parts, *kind.uses]
        assert len(set(texts)) == len(texts), kind.query
        assert all(text == text.lower() and 1 <= len(text.split()) <= 4 for text in texts)
