"""Which games there are: generated ones, or a folder of official ones; named by task ids and loaded on demand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import gymnasium as gym

from backtrail.envs.alfworld import generate
from backtrail.envs.alfworld.engine import Engine
from backtrail.envs.alfworld.game import Game, Names, load_game, parse_game, read_file
from backtrail.envs.alfworld.goal import TASK_TYPES

SPLITS = ("train", "valid_seen", "valid_unseen")

SMALL = "generated-small"
GENERATED = ("generated", SMALL)
"""Data that is made here: full rooms, and rooms of a few receptacles."""

_FILE = "game.tw-pddl"
_PARSED_GAMES = 256


def default_folder() -> Path:
    """Return where the official games are kept: ``ALFWORLD_DATA``, or where ALFWorld's own downloader puts them."""
    return Path(os.environ.get("ALFWORLD_DATA") or Path.home() / ".cache" / "alfworld")


class Tasks:
    """The games of one data set and split.

    Attributes:
        ids: The task ids, sorted: ``split/task/trial`` for official games, ``split/task_type/number`` for generated ones.
    """

    def __init__(self, data: str, split: str, task_types: Sequence[str] | None, names: Names):
        """Find the games.

        Args:
            data: One of `GENERATED`, "official" (the games in `default_folder`), or a folder of official games.
            split: "train", "valid_seen" or "valid_unseen".
            task_types: Only games of these types; None for all.
            names: How entities are named.

        Raises:
            ValueError: On an unknown split or task type.
            FileNotFoundError: If there are no games in the folder.
        """
        types = TASK_TYPES if task_types is None else tuple(task_types)
        if split not in SPLITS:
            raise ValueError(f"Expected split to be one of {', '.join(SPLITS)}, got {split!r}")
        if not types:
            raise ValueError("Expected at least one task type, or None for all")
        if unknown := [kind for kind in types if kind not in TASK_TYPES]:
            raise ValueError(f"Expected task_types among {', '.join(TASK_TYPES)}, got {', '.join(map(repr, unknown))}")
        if names not in ("numbered", "textworld"):
            raise ValueError(f'Expected names to be "numbered" or "textworld", got {names!r}')
        self.names: Names = names
        self.small = data == SMALL
        self.root = None if data in GENERATED else find_root(default_folder() if data == "official" else Path(data))
        self.ids = _ids(self.root, split, types, _changed(self.root, split), self.small)
        if not self.ids:
            raise FileNotFoundError(f"No ALFWorld games of type {', '.join(types)} under {self.root}/{split}")

    def check(self, task_id: object) -> str:
        """Return ``task_id`` if there is such a game, of whatever split.

        Raises:
            ValueError: If there is not; the message shows what ids look like.
        """
        if isinstance(task_id, str):
            split = task_id.partition("/")[0]
            if split in SPLITS and task_id in _known_ids(self.root, split, _changed(self.root, split), self.small):
                return task_id
        where = f"under {self.root}" if self.root else "among the generated games"
        raise ValueError(f"Unknown task id {task_id!r} {where}; ids look like {self.ids[0]!r}")

    def engine(self, task_id: str) -> Engine:
        """Return the native engine of a game; games stay parsed and are shared in the process."""
        return _engine(self.root, task_id, self.names, self.small)

    def game(self, task_id: str, *, any_rules: bool = False) -> Game:
        """Parse a game.

        Raises:
            GameError: If its file is damaged, or its rules are unknown and ``any_rules`` is false.
        """
        return _game(self.root, task_id, self.names, any_rules, self.small)

    def content(self, task_id: str) -> dict[str, str]:
        """Return a game in the form of an official file.

        Raises:
            gymnasium.error.DependencyNotInstalled: For a generated game, if the extra ``alfworld`` (which holds the
                official rules and grammar) is missing.
        """
        if self.root is not None:
            return read_file(self.root / task_id / _FILE)
        try:
            from alfworld.info import ALFRED_PDDL_PATH, ALFRED_TWL2_PATH
        except ImportError as error:
            raise gym.error.DependencyNotInstalled(
                'Playing generated games with TextWorld needs ALFWorld\'s grammar. Run: pip install "backtrail[alfworld]"'
            ) from error
        game = generate.generate(task_id, self.small)
        grammar = Path(ALFRED_TWL2_PATH).read_text(encoding="utf-8").replace("UNKNOWN GOAL", game.task)
        domain = Path(ALFRED_PDDL_PATH).read_text(encoding="utf-8")
        return {"pddl_domain": domain, "grammar": grammar, "pddl_problem": game.problem}


@lru_cache(maxsize=_PARSED_GAMES)
def _engine(root: Path | None, task_id: str, names: Names, small: bool) -> Engine:
    """Return an engine; it holds no episode, so environments and threads share it."""
    return Engine(_game(root, task_id, names, False, small))


def _game(root: Path | None, task_id: str, names: Names, any_rules: bool, small: bool) -> Game:
    if root is not None:
        return load_game(root / task_id / _FILE, names, any_rules=any_rules)
    game = generate.generate(task_id, small)
    label = f"{SMALL}:{generate.VERSION}.{generate.SMALL_VERSION}" if small else f"generated:{generate.VERSION}"
    return parse_game(game.problem, f"{game.task}.", label, names=names)


def _kind(task_id: str) -> str:
    return task_id.split("/")[1].partition("-")[0]


def find_root(folder: Path) -> Path:
    """Return the folder that holds the splits: the given one or its ``json_2.1.1``.

    Raises:
        FileNotFoundError: If neither holds a split.
    """
    folder = folder.expanduser().resolve()
    for root in (folder / "json_2.1.1", folder):
        if any((root / split).is_dir() for split in SPLITS):
            return root
    raise FileNotFoundError(
        f"Expected ALFWorld games at {folder} (folders {', '.join(SPLITS)}, or json_2.1.1 with them), found none. "
        'Fetch them with "backtrail data alfworld", set ALFWORLD_DATA, or use data="generated".'
    )


def _changed(root: Path | None, split: str) -> int:
    """Return when a split's folder was last changed, so that a listing is not kept for longer."""
    folder = root / split if root else None
    return folder.stat().st_mtime_ns if folder and folder.is_dir() else 0


@lru_cache(maxsize=64)
def _ids(root: Path | None, split: str, types: tuple[str, ...], changed: int, small: bool) -> tuple[str, ...]:
    """Return the task ids of a split: one tuple for all environments of the process."""
    return tuple(task_id for task_id in _known_ids(root, split, changed, small) if _kind(task_id) in types)


@lru_cache(maxsize=16)
def _known_ids(root: Path | None, split: str, changed: int, small: bool) -> dict[str, None]:
    """List a split; of official games as ALFWorld does: no movable-receptacle or sliced tasks, none marked unsolvable."""
    if root is None:
        return dict.fromkeys(generate.task_ids(split, TASK_TYPES, small))
    files = sorted((root / split).glob(f"*/*/{_FILE}"))
    kept = [f for f in files if "movable" not in f.parts[-3] and "Sliced" not in f.parts[-3]]
    return {f.parent.relative_to(root).as_posix(): None for f in kept if b'"solvable": false' not in f.read_bytes()}
