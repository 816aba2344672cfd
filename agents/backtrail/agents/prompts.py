"""The words that agents say to models: Jinja2 templates in files, one set per agent, one description per benchmark."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import gymnasium as gym
import numpy as np

from backtrail.agents.models.base import Message, Prompt

__all__ = ["Prompts", "load_prompts"]


class Prompts:
    """The prompt of one agent for one benchmark.

    Attributes:
        name: The agent's set of templates: "explorer", "brief", "react" or "direct".
        benchmark: The description of the world: "alfworld", or "general" for any text environment.
        hash: SHA-256 over the texts of all templates that take part; part of every result.

    Example:
        >>> prompts = Prompts("direct", "alfworld")
        >>> system, user = prompts.render({"goal": "find a pen", "text": "You see a desk 1.", "history": []})
        >>> system.role, user.content.splitlines()[0]
        ('system', 'Goal: find a pen')
    """

    def __init__(self, name: str, benchmark: str):
        """Load the templates.

        Raises:
            ValueError: If there is no such agent or benchmark.
            gymnasium.error.DependencyNotInstalled: If jinja2 is missing.
        """
        try:
            import jinja2
        except ImportError as error:
            raise gym.error.DependencyNotInstalled(
                'Prompts are Jinja2 templates, and jinja2 is missing. Run: pip install "backtrail[models]"'
            ) from error
        texts = _templates()
        sets = sorted({path.partition("/")[0] for path in texts if path.endswith("/system.j2")})
        worlds = sorted(path[len("worlds/") : -len(".j2")] for path in texts if path.startswith("worlds/"))
        if name not in sets or benchmark not in worlds:
            raise ValueError(
                f"Expected prompts of {', '.join(sets)} for {', '.join(worlds)}; got {name!r} for {benchmark!r}"
            )
        self.name, self.benchmark = name, benchmark
        shared = [path for path in texts if "/" not in path]
        used = {path: texts[path] for path in sorted([*shared, f"worlds/{benchmark}.j2", *_both(name)])}
        self.hash = hashlib.sha256("".join(f"{path}\n{text}\n" for path, text in used.items()).encode()).hexdigest()
        environment = jinja2.Environment(
            loader=jinja2.DictLoader(used),
            undefined=jinja2.StrictUndefined,
            autoescape=False,  # the reader is a model, not a browser
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._system, self._user = (environment.get_template(path) for path in _both(name))

    def render(
        self, variables: Mapping[str, Any], *, rollback: bool = False, images: Sequence[np.ndarray] = ()
    ) -> Prompt:
        """Return a system message, unless its template is empty, and a user message.

        Args:
            variables: ``goal``, ``text`` (the observation), optionally ``admissible`` (a list of actions), and what the
                agent carries forward: ``explore`` and ``memory``, or ``history`` (a list of steps).
            rollback: Whether to offer the rollback action.
            images: Pictures that belong to the observation.
        """
        shown = {"admissible": None, **variables}
        system = self._system.render(benchmark=self.benchmark, rollback=rollback)
        user = Message("user", self._user.render(shown).strip(), tuple(images))
        return (Message("system", system.strip()), user) if system.strip() else (user,)


@cache
def load_prompts(name: str, benchmark: str) -> Prompts:
    """Return the prompts of an agent for a benchmark, compiled once in a process: a batch has an agent for every row."""
    return Prompts(name, benchmark)


def _both(name: str) -> tuple[str, str]:
    return f"{name}/system.j2", f"{name}/user.j2"


@cache
def _templates() -> dict[str, str]:
    """Return the texts of all templates by their path below the folder ``prompts``."""
    found: dict[str, str] = {}
    for entry in (resources.files("backtrail.agents") / "prompts").iterdir():
        if entry.name.endswith(".j2"):
            found[entry.name] = entry.read_text(encoding="utf-8")
        elif entry.is_dir():
            inside = [file for file in entry.iterdir() if file.name.endswith(".j2")]
            found |= {f"{entry.name}/{file.name}": file.read_text(encoding="utf-8") for file in inside}
    return found
