"""Building the official catalogue from a folder: what the command line does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backtrail.benchmarks.webshop_data import build_from
from backtrail.envs.webshop import generate
from backtrail.envs.webshop.catalogue import open_catalogue
from backtrail.envs.webshop.errors import CatalogueError

pytest.importorskip("ijson", reason="reading the official files needs the extra `webshop`")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    rows = list(generate.rows(40, 0))
    tables = {
        "items_shuffle": [row["product"] for row in rows],
        "items_ins_v2": {row["product"]["asin"]: row["attributes"] for row in rows},
        "items_human_ins": {row["product"]["asin"]: row["human"] for row in rows if row["human"]},
    }
    for name, table in tables.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(table), encoding="utf-8")
    return tmp_path


def test_the_counts_are_those_of_the_catalogue(source: Path) -> None:
    stages: list[str] = []
    counts = build_from(source, source / "catalogue", "approx", lambda stage, done, total: stages.append(stage))
    catalogue = open_catalogue(source / "catalogue")
    assert counts == {source_: len(catalogue.goals(source_)) for source_ in ("human", "synthetic")} | {"products": 40}
    assert (catalogue.label, catalogue.nouns_name) == ("webshop:own-40", "approx")
    reading = [f"Reading items_{name}.json" for name in ("ins_v2", "human_ins", "shuffle")]
    goals = [f"Drawing {name} goals" for name in ("human", "synthetic")]
    assert list(dict.fromkeys(stages)) == [*reading, *goals, "Indexing products"]


def test_seeds_are_handed_on(source: Path) -> None:
    build_from(source, source / "catalogue", "approx", price_seed=1, goal_seed=2, shuffle_seed=3)
    assert open_catalogue(source / "catalogue").meta["seeds"] == {"price": 1, "goal": 2, "shuffle": 3}


def test_nothing_is_built_without_nouns(source: Path) -> None:
    with pytest.raises(CatalogueError, match="Expected nouns to be"):
        build_from(source, source / "catalogue", "large")
    assert not (source / "catalogue").exists()
