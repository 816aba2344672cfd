"""Goals and prices: the original's random draws in the original's order, checked against recordings of it."""

from __future__ import annotations

import bisect
import gzip
import hashlib
import itertools
import json
import random
import string
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from backtrail.envs.webshop import generate
from backtrail.envs.webshop.catalogue import Catalogue
from backtrail.envs.webshop.catalogue_build import build
from backtrail.envs.webshop.goals import NO_LIMIT, Goals, Source, price_limit
from backtrail.envs.webshop.items import Goal
from backtrail.envs.webshop.nouns import find_nouns
from backtrail.envs.webshop.source import OfficialFiles

DATA = ROOT.parent / "shared" / "data" / "webshop"
TRACES = ["edge250_human0", "edge250_human1", "edge250_attrs", "real1k_human0"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return build(generate.rows(200, 0), tmp_path_factory.mktemp("c") / "shop", label="test", nouns="test")


# ---- against the original ---------------------------------------------------------------------------


@cache
def trace(name: str) -> dict[str, Any]:
    path = DATA / "traces" / f"{name}.json.gz"
    if not path.exists():
        pytest.skip(f"no recording of the original at {path}")
    return json.loads(gzip.decompress(path.read_bytes()))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Builds the catalogue that a recording was made on."""
    pytest.importorskip("ijson", reason="reading the official files needs the extra `webshop`")

    @cache
    def build_like(name: str, goal_seed: int | None = None) -> Catalogue:
        meta = trace(name)["meta"]
        files = OfficialFiles(DATA / ("recovered" if name.startswith("real1k") else "synth/edge250"))
        target = tmp_path_factory.mktemp("recorded") / name
        return build(files, target, nouns=find_nouns("approx"), price_seed=meta["pre_seed"], goal_seed=goal_seed)

    return build_like


def source_of(name: str) -> Source:
    return "human" if trace(name)["meta"]["human_goals"] else "synthetic"


def in_original_form(catalogue: Catalogue, goal: Goal, source: Source) -> dict[str, Any]:
    product = catalogue.product(goal.asin)
    human = source == "human"
    return {
        "asin": goal.asin,
        "category": product.category,
        "query": product.query,
        "name": product.title,
        "product_category": product.product_category,
        "instruction_text": goal.instruction,
        "attributes": list(goal.attributes),
        "price_upper": goal.price_upper if goal.price_upper < NO_LIMIT else 1000000,
        "goal_options": list(goal.options) if human else dict(goal.options),  # type: ignore[arg-type]
        "weight": int(goal.weight) if human else goal.weight,
    }


def short_sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", TRACES)
def test_prices_are_those_of_the_original(recorded: Any, name: str) -> None:
    catalogue, meta = recorded(name), trace(name)["meta"]
    asins = [catalogue.asin(number) for number in range(len(catalogue))]
    assert len(asins) == meta["n_products"]
    assert short_sha256(json.dumps({asin: catalogue.product(asin).price for asin in asins})) == meta["prices_sha"]


@pytest.mark.parametrize("name", TRACES)
def test_goals_are_those_of_the_original(recorded: Any, name: str) -> None:
    catalogue, meta, source = recorded(name), trace(name)["meta"], source_of(name)
    goals = [in_original_form(catalogue, goal, source) for goal in catalogue.goals(source)]
    assert len(goals) == meta["n_goals"]
    assert goals[: len(meta["first_goals"])] == meta["first_goals"]
    assert short_sha256(json.dumps(goals, sort_keys=True)) == meta["goals_sha"]
    assert short_sha256(repr([goal["weight"] for goal in goals])) == meta["weights_sha"]
    for episode in trace(name)["episodes"]:
        if isinstance(episode["session"], int) and episode["session"] < len(goals):
            assert episode["goal"] == goals[episode["session"]]


@pytest.mark.parametrize("name", TRACES)
def test_cumulative_weights_draw_what_the_original_draws(recorded: Any, name: str) -> None:
    catalogue, meta, source = recorded(name), trace(name)["meta"], source_of(name)
    rng = random.Random(233)
    rng.shuffle(list(range(meta["n_goals"])))
    sums = catalogue.cumulative_weights(source)

    def reset() -> list[Any]:
        """A random session's name and its goal; the original looks one place too far, except at the end."""
        session = "".join(rng.choices(string.ascii_lowercase, k=10))
        return [session, min(bisect.bisect(sums, rng.uniform(0, float(sums[-1]))), len(sums) - 2)]

    reset()  # when the environment is made
    assert [reset() for _ in meta["fresh_resets"]] == meta["fresh_resets"]


def test_agentgym_draws_price_limits_from_233(recorded: Any) -> None:
    """Goal 6 of AgentGym's published list."""
    goal = recorded("real1k_human0", 233).goals("synthetic")[6]
    assert goal.price_upper == 50.0
    assert ("color", "navy") in goal.options and ("size", "x-large") in goal.options


def test_the_goal_seed_changes_price_limits_alone(recorded: Any) -> None:
    one, other = recorded("edge250_human0"), recorded("edge250_human0", 233)
    assert all(one.product(one.asin(k)) == other.product(one.asin(k)) for k in range(len(one)))
    pairs = list(zip(one.goals("synthetic"), other.goals("synthetic"), strict=True))
    assert all((a.asin, a.attributes, a.options) == (b.asin, b.attributes, b.options) for a, b in pairs)
    assert 0 < sum(a.price_upper != b.price_upper for a, b in pairs) < len(pairs)


# ---- laws -------------------------------------------------------------------------------------------


@given(st.floats(0, 2000), st.integers(0, 1 << 30))
def test_a_price_limit_is_among_the_next_four_tens(price: float, seed: int) -> None:
    limit = price_limit(price, random.Random(seed))
    above = [ten for ten in range(10, 1000, 10) if ten > price][:4]
    if len(above) < 2:
        assert limit == NO_LIMIT
    else:
        assert limit in above[1:]  # the larger of two


@pytest.mark.parametrize(
    ("price", "limited"), [(969.99, True), (970.0, True), (979.99, True), (980.0, False), (985.0, False)]
)
def test_from_980_dollars_on_there_is_no_limit(price: float, limited: bool) -> None:
    assert (price_limit(price, random.Random(0)) < NO_LIMIT) == limited


def test_a_synthetic_instruction_gives_every_combination_of_options_once(shop: Catalogue) -> None:
    found: dict[str, list[Any]] = {}
    for goal in shop.goals("synthetic"):
        found.setdefault(goal.asin, []).append(goal.options)
    assert len(found) > 20
    for asin, chosen in found.items():
        options = dict(shop.product(asin).options)
        names = sorted(options)
        every = [tuple(zip(names, values, strict=True)) for values in itertools.product(*(options[n] for n in names))]
        assert Counter(chosen) == Counter(every)


def test_the_order_is_one_shuffle_of_the_combinations_in_the_order_of_products(shop: Catalogue) -> None:
    goals = shop.goals("synthetic")
    places = list(range(len(goals)))
    random.Random(233).shuffle(places)
    unshuffled = [goal.asin for _, goal in sorted(zip(places, goals, strict=True), key=lambda pair: pair[0])]
    numbers = {shop.asin(number): number for number in range(len(shop))}
    assert [numbers[asin] for asin in unshuffled] == sorted(numbers[asin] for asin in unshuffled)


def test_instructions_say_options_and_limit(shop: Catalogue) -> None:
    for goal in shop.goals("synthetic"):
        said = " with " + ", and ".join(f"{name}: {value}" for name, value in goal.options) if goal.options else ""  # type: ignore[misc]
        if goal.price_upper < NO_LIMIT:
            said += f", and price lower than {goal.price_upper:.2f} dollars"
        assert goal.instruction.startswith("Find me ") and goal.instruction.endswith(said)
        assert shop.product(goal.asin).price < goal.price_upper
    assert all("., and price" not in goal.instruction for goal in shop.goals("human"))


def test_weights(shop: Catalogue) -> None:
    goals = shop.goals("synthetic")
    asks = Counter(attribute for goal in goals for attribute in goal.attributes)
    for goal in goals:
        assert goal.weight == pytest.approx(sum(1 / asks[name] for name in goal.attributes) / len(goal.attributes))
    assert {goal.weight for goal in shop.goals("human")} == {1.0}
    for source in ("human", "synthetic"):
        sums = shop.cumulative_weights(source)
        assert sums[0] == 0.0 and len(sums) == len(shop.goals(source)) + 1
        np.testing.assert_allclose(np.diff(sums), [goal.weight for goal in shop.goals(source)], rtol=1e-9)


@pytest.mark.parametrize("source", ["human", "synthetic"])
def test_goals_are_a_sequence(shop: Catalogue, source: Source) -> None:
    goals = shop.goals(source)
    every = list(goals)
    assert isinstance(goals, Goals) and [goal.index for goal in every] == list(range(len(goals)))
    assert goals[-1] == every[-1] and list(goals[3:9:2]) == every[3:9:2]
    assert [shop.asin(number) for number in goals.products] == [goal.asin for goal in every]
    for outside in (len(goals), -len(goals) - 1):
        with pytest.raises(IndexError):
            goals[outside]


def test_human_instructions_without_attributes_make_no_goal(tmp_path: Path) -> None:
    (row,) = generate.rows(1, 0)
    said = {"instruction": "...i want it...", "instruction_options": ["red"], "instruction_attributes": ["soft"]}
    row["human"] = [said, said | {"instruction_attributes": []}]
    row["product"]["pricing"] = "$2,000.00"
    (goal,) = build([row], tmp_path / "shop", label="test", nouns="test").goals("human")
    assert (goal.instruction, goal.options, goal.price_upper) == ("i want it", ("red",), NO_LIMIT)


def test_an_option_without_values_leaves_no_synthetic_goal(tmp_path: Path) -> None:
    rows = [row for row in generate.rows(60, 0) if "instruction" in row["attributes"]][:2]
    rows[0]["product"]["customization_options"] = {"Size": []}
    catalogue = build(rows, tmp_path / "shop", label="test", nouns="test")
    assert {goal.asin for goal in catalogue.goals("synthetic")} == {rows[1]["product"]["asin"]}


def test_many_goals_are_small(tmp_path: Path) -> None:
    row = next(row for row in generate.rows(60, 0) if "instruction" in row["attributes"])
    values = [{"value": f"v{k}"} for k in range(400)]
    row["product"]["customization_options"] = {"A": values, "B": values}
    goals = build([row], tmp_path / "shop", label="test", nouns="test").goals("synthetic")
    assert len(goals) == 160_000
    assert len(set(goals[:1000])) == 1000
    # four bytes for the order and eight for the running sum
    folder = tmp_path / "shop" / "goals" / "synthetic"
    assert sum(path.stat().st_size for path in folder.iterdir()) < 12 * 160_000 + 10_000
