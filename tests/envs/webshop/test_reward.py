"""The reward: its parts one by one, and 1,900 purchases that the original judged."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backtrail.envs.webshop.catalogue import Catalogue
from backtrail.envs.webshop.catalogue_build import build
from backtrail.envs.webshop.items import Goal, Product
from backtrail.envs.webshop.nouns import find_nouns
from backtrail.envs.webshop.reward import score
from backtrail.envs.webshop.source import OfficialFiles

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT.parent / "shared" / "data" / "webshop"

KETTLE = Product(
    asin="B000000001",
    title="Steel Kettle with Whistle",
    description="It keeps water hot.",
    bullets=("Easy to clean.", "Dishwasher safe."),
    tag="$20.0 to $30.0",
    price=25.0,
    options=(("color", ("navy blue", "red")), ("size", ("1 liter", "2 liter"))),
    attributes=("stainless steel", "heavy duty"),
    category="garden",
    query="kettles",
    product_category="Home \u203a Kitchen \u203a Kettles",
    image="",
    nouns=("steel", "kettle", "whistle"),
)
GOAL = Goal(
    0, KETTLE.asin, "", ("stainless steel", "easy to clean"), (("color", "red"), ("size", "1 liter")), 30.0, 1.0
)
OTHER = replace(KETTLE, query="pans", product_category="Home \u203a Pans", nouns=("pan", "lid"))


def judge(product: Product = KETTLE, goal: Goal = GOAL, **options: str) -> tuple[float, dict[str, float | bool]]:
    return score(product, goal, KETTLE, options)


def test_the_right_purchase_earns_all() -> None:
    reward, details = judge(color="red", size="1 liter")
    assert reward == 1.0
    assert details == {
        "r_type": 1.0,
        "r_att": 1.0,
        "w_att": 2 / 5,
        "query_match": True,
        "category_match": True,
        "title_score": 1.0,
        "r_option": 1.0,
        "w_option": 2 / 5,
        "r_price": True,
        "w_price": 1 / 5,
    }


@pytest.mark.parametrize(
    ("options", "matched"),
    [
        ({}, 0),
        ({"color": "red"}, 1),
        ({"size": "red", "color": "1 liter"}, 2),  # which option a value is of does not count
        ({"color": "bordered"}, 1),  # any colour in a value stands for it
        ({"color": "navy blue", "size": "2 liter"}, 0),
    ],
)
def test_options_count_one_by_one(options: dict[str, str], matched: int) -> None:
    reward, details = score(KETTLE, GOAL, KETTLE, options)
    assert details["r_option"] == matched / 2 and reward == (3 + matched) / 5


def test_human_goals_ask_for_values_alone() -> None:
    goal = replace(GOAL, options=("dark red", "1-liter"))
    assert judge(goal=goal, color="red", size="1 liter")[1]["r_option"] == 0.5  # "dark" comes first among the colours
    assert judge(goal=goal, color="dark teal", size="1 liter")[1]["r_option"] == 1.0


def test_a_goal_without_options_has_no_weight_for_them() -> None:
    reward, details = judge(goal=replace(GOAL, options=()))
    assert reward == 1.0 and "r_option" not in details and details["w_price"] == 1 / 3


@pytest.mark.parametrize("attribute", ["Heavy-Duty", "heavy", "steel kettle", "dishwasher safe", "water hot"])
def test_attributes_are_looked_for_everywhere(attribute: str) -> None:
    assert judge(goal=replace(GOAL, attributes=(attribute,)))[1]["r_att"] == 1.0


@pytest.mark.parametrize(
    "attribute", ["cotton", "Dishwasher Safe"]
)  # only an attribute of the product may differ in case
def test_attributes_that_are_not_found(attribute: str) -> None:
    assert judge(goal=replace(GOAL, attributes=(attribute,)))[1]["r_att"] == 0.0


def test_the_hidden_price_is_judged() -> None:
    assert judge(goal=replace(GOAL, price_upper=25.0))[1]["r_price"] is True
    assert judge(goal=replace(GOAL, price_upper=24.99))[1]["r_price"] is False


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"query": "kettles", "nouns": ("steel",)}, 1.0),
        ({"nouns": ("steel",)}, 1.0),  # 1 of 3 nouns is enough
        ({"nouns": ("pan",)}, 0.0),
        ({"query": "kettles", "nouns": ("pan",)}, 0.0),  # not even the same search makes up for it
        ({"product_category": "Garden\u203aHome \u203a Kitchen", "nouns": ("kettle",)}, 1.0),
    ],
)
def test_the_kind_of_product(changes: dict[str, Any], expected: float) -> None:
    assert judge(replace(OTHER, **changes))[1]["r_type"] == expected


def test_a_weak_title_counts_less() -> None:
    long = replace(KETTLE, nouns=tuple(f"noun{i}" for i in range(11)))
    for common, expected in ((0, 0.0), (1, 0.1), (2, 0.5), (3, 1.0)):
        assert score(replace(OTHER, nouns=long.nouns[:common]), GOAL, long, {})[1]["r_type"] == expected
    twice = replace(KETTLE, nouns=("kettle", "kettle", "lid"))
    assert score(twice, GOAL, twice, {})[1]["title_score"] == 2 / 3  # of its own title, as the original counts
    bare = replace(KETTLE, nouns=())
    assert score(OTHER, GOAL, bare, {})[1]["title_score"] == 0.2


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], dict[str, Catalogue]]:
    path = DATA / "traces" / "reward_golden.json.gz"
    if not path.exists():
        pytest.skip(f"no purchases that the original judged at {path}")
    pytest.importorskip("ijson", reason="reading the official files needs the extra `webshop`")
    nouns = find_nouns(str(DATA / "traces" / "nouns_by_name.json"))
    sources = {"recovered": DATA / "recovered", "edge250": DATA / "synth" / "edge250"}

    def made(name: str, source: Path) -> Catalogue:
        return build(OfficialFiles(source), tmp_path_factory.mktemp(name) / "catalogue", nouns=nouns, price_seed=0)

    with gzip.open(path) as file:
        return json.load(file), {name: made(name, source) for name, source in sources.items()}


def test_every_reward_is_the_originals_bit_for_bit(
    judged: tuple[list[dict[str, Any]], dict[str, Catalogue]],
) -> None:
    purchases, catalogues = judged
    assert len(purchases) == 1900
    for case in purchases:
        catalogue = catalogues[case["data"]]
        goal = catalogue.goals("human" if case["human"] else "synthetic")[case["goal_idx"]]
        found = score(catalogue.product(case["asin"]), goal, catalogue.product(goal.asin), case["options"])
        assert found == (case["reward"], case["info"]), case
