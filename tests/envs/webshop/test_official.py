"""The official 1,000 products: the oracle earns everything that can be earned, and what cannot is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT

from backtrail.envs.webshop.catalogue import Catalogue
from backtrail.envs.webshop.catalogue_build import build
from backtrail.envs.webshop.goals import Source
from backtrail.envs.webshop.items import Product
from backtrail.envs.webshop.nouns import find_nouns
from backtrail.envs.webshop.plan import purchase_plan
from backtrail.envs.webshop.reward import score
from backtrail.envs.webshop.shop import Shop
from backtrail.envs.webshop.source import OfficialFiles

DATA = ROOT.parent / "shared" / "data" / "webshop"


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    if not DATA.exists():
        pytest.skip(f"no official products at {DATA}")
    pytest.importorskip("ijson")
    folder: Path = tmp_path_factory.mktemp("official") / "catalogue"
    nouns = find_nouns(str(DATA / "traces" / "nouns_by_name.json"))
    return build(OfficialFiles(DATA / "recovered"), folder, nouns=nouns)


def earned(shop: Shop, goal: int) -> float:
    state, reward = shop.start(goal), 0.0
    for action in purchase_plan(shop, state):
        state, reward, _, error = shop.step(state, action)
        assert not error
    return reward


def everything(product: Product) -> dict[str, str]:
    """Choose all of a product's options at once, which the shop does not let anybody: it can only earn more."""
    return {value: value for _, values in product.options for value in values}


@pytest.mark.parametrize("source", ["human", "synthetic"])
def test_the_oracle_earns_all_that_can_be_earned(official: Catalogue, source: Source) -> None:
    shop, products = Shop(official, source), [official.product(official.asin(n)) for n in range(len(official))]
    lost = [goal for goal in shop.goals if earned(shop, goal.index) != 1]
    assert (len(lost), len({goal.asin for goal in lost})) == {"human": (0, 0), "synthetic": (458, 17)}[source]
    # no product of its department would earn 1 with all of its options chosen at once: the colour in the goal is not
    # reduced to a plain one, that of the choice is
    for goal in {(goal.asin, goal.options): goal for goal in lost}.values():
        wanted = official.product(goal.asin)
        alike = [product for product in products if product.category == wanted.category]
        assert all(score(each, goal, wanted, everything(each))[0] < 1 for each in alike)
