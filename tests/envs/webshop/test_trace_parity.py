"""The shop against the original, step by step: every recorded episode, every observation, and the HTML's structure."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from backtrail.envs.webshop.catalogue import Catalogue
from backtrail.envs.webshop.catalogue_build import build
from backtrail.envs.webshop.nouns import find_nouns
from backtrail.envs.webshop.sessions import Sessions
from backtrail.envs.webshop.shop import Shop
from backtrail.envs.webshop.source import OfficialFiles
from backtrail.envs.webshop.state import State

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT.parent / "shared" / "data" / "webshop"
SOURCES = {"edge250": DATA / "synth" / "edge250", "recovered": DATA / "recovered"}
TRACES = ("edge250_attrs", "edge250_human0", "edge250_human1", "real1k_human0")
RESETS_BEFORE = 21
"""The original resets once when it is made, and the recorder drew twenty visits before the first episode."""

pytestmark = pytest.mark.skipif(not DATA.exists(), reason=f"no recorded episodes of the original at {DATA}")

Trace = dict[str, Any]
Moment = tuple[dict[str, Any], State, Sessions]


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Trace], Catalogue]:
    """Gives the catalogue that a trace was recorded with; each is built once."""
    pytest.importorskip("ijson", reason="reading the official files needs the extra `webshop`")
    nouns = find_nouns(str(DATA / "traces" / "nouns_by_name.json"))
    made: dict[tuple[str, int], Catalogue] = {}

    def of(trace: Trace) -> Catalogue:
        name, seed = Path(trace["meta"]["data"]).name, trace["meta"]["pre_seed"]
        if (name, seed) not in made:
            folder = tmp_path_factory.mktemp(name) / "catalogue"
            made[name, seed] = build(OfficialFiles(SOURCES[name]), folder, nouns=nouns, price_seed=seed)
        return made[name, seed]

    return of


def load(name: str) -> Trace:
    with gzip.open(DATA / "traces" / f"{name}.json.gz") as file:
        return json.load(file)


def sessions(trace: Trace, catalogue: Catalogue, attributes: bool) -> Sessions:
    shop = Shop(
        catalogue, "human" if trace["meta"]["human_goals"] else "synthetic", strict=True, show_attributes=attributes
    )
    rng = random.Random(233)
    rng.shuffle(list(range(len(shop.goals))))
    return Sessions(shop, rng)


def replay(name: str, catalogue: Callable[[Trace], Catalogue]) -> Iterator[Moment]:
    """Play a trace again; check what steps return, and yield every recorded view with the state that it is of."""
    trace = load(name)
    visits = sessions(trace, catalogue(trace), name.endswith("attrs"))
    for _ in range(RESETS_BEFORE):
        visits.reset()
    for episode in trace["episodes"]:
        if "reset_raises" in episode:
            with pytest.raises(IndexError):
                visits.reset(episode["session"])
            assert episode["reset_raises"] == "IndexError"
            continue
        state = visits.reset(episode["session"])
        assert state.session == episode["session_id"]
        goal = visits.shop.goal(state.goal)
        assert (goal.asin, goal.instruction) == (episode["goal"]["asin"], episode["goal"]["instruction_text"])
        yield episode["reset"], state, visits
        for step in episode["steps"]:
            if "raises" in step:
                with pytest.raises((TypeError, KeyError)) as raised:
                    visits.step(step["action"])
                assert f"{raised.type.__name__}: {raised.value}" == step["raises"]
                continue
            state, reward, done, _ = visits.step(step["action"])
            assert (reward, done) == (step["reward"], step["done"]), step["action"]
            if "verbose_info" in step:
                assert visits.verbose_info == step["verbose_info"]
            yield step, state, visits


@pytest.mark.parametrize("name", TRACES)
def test_every_observation_is_the_originals(name: str, catalogue: Callable[[Trace], Catalogue]) -> None:
    for recorded, state, visits in replay(name, catalogue):
        shop = visits.shop
        assert shop.url(state) == recorded["url"]
        assert shop.text(state) == recorded["text"]
        assert shop.text_rich(state) == recorded["text_rich"]
        assert shop.available(state) == recorded["avail"]
        assert visits.view == recorded["session"]


@pytest.mark.parametrize("name", TRACES)
def test_random_visits_draw_the_originals_names_and_goals(name: str, catalogue: Callable[[Trace], Catalogue]) -> None:
    trace = load(name)
    visits = sessions(trace, catalogue(trace), False)
    visits.reset()
    drawn = [visits.reset() for _ in trace["meta"]["fresh_resets"]]
    assert [[state.session, state.goal] for state in drawn] == trace["meta"]["fresh_resets"]


class Structure(HTMLParser):
    """Collects what an agent can act on or refer to, and the visible text as the original reads it."""

    def __init__(self, page: str):
        super().__init__()
        self.elements: list[tuple[str | None, ...]] = []
        self.texts: list[str] = []
        self._hidden, self._data = 0, ""
        self.feed(page)
        self.close()
        self._end_text()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._end_text()
        self._hidden += tag in ("head", "script")
        given = dict(attrs)
        if tag in ("form", "input", "button", "a", "label") or "id" in given:
            known = ("id", "class", "type", "name", "value", "for")
            self.elements.append((tag, *[given.get(name) for name in known]))

    def handle_endtag(self, tag: str) -> None:
        self._end_text()
        self._hidden -= tag in ("head", "script")

    def handle_comment(self, data: str) -> None:
        self._end_text()

    def handle_data(self, data: str) -> None:
        self._data += data

    def _end_text(self) -> None:
        text, self._data = self._data, ""
        blank = not text.strip(" \n\t\f\r")
        if text and not self._hidden and not (blank and "\n" in text):
            self.texts.append(text.strip())


@pytest.mark.parametrize("name", TRACES)
def test_html_has_the_originals_structure(name: str, catalogue: Callable[[Trace], Catalogue]) -> None:
    compared = 0
    for recorded, state, visits in replay(name, catalogue):
        page = Structure(visits.shop.html(state))
        assert " [SEP] ".join(page.texts) == recorded["text"]
        if "html" in recorded:
            compared += 1
            assert page.elements == Structure(recorded["html"]).elements
    assert compared >= 27
