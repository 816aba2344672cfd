"""A run on disk: its recipe, its episodes, its failures. One process writes, any number read.

``runs/<name>/`` holds ``config.json`` (the whole recipe, written once), ``episodes.jsonl`` (a line for each finished
episode), ``failures.jsonl`` (faults of the machinery, which are never scored), ``steps/`` (the recorded episodes) and
``summary.json`` (made from the others). A line counts once its newline is on the disk: what a crash cut off is dropped on
reading and overwritten on going on. Any other damage is an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO, Self

from backtrail.benchmarks.recipe import FORMAT, RunConfig

try:
    import fcntl
except ImportError:  # Windows: nothing keeps two writers apart there
    fcntl = None

__all__ = ["ResultsError", "RunFolder", "hold", "read_wall", "write_json"]


class ResultsError(ValueError):
    """A run folder is missing, damaged, in use, or of another recipe."""


class RunFolder:
    """A run folder, open for reading (`open`) or for writing (`start`, a context manager).

    Attributes:
        path: The folder.
        config: The recipe.
        episodes: The finished episodes.
        failures: The faults so far.
    """

    def __init__(self, path: Path, config: RunConfig, episodes: list[dict[str, Any]], failures: list[dict[str, Any]]):
        """Hold what was read; use `open` or `start`."""
        self.path, self.config, self.episodes, self.failures = path, config, episodes, failures
        self._files: list[BinaryIO] = []

    @classmethod
    def open(cls, path: str | Path) -> RunFolder:
        """Read a run; its writer may still be at work.

        Raises:
            ResultsError: If there is no run, or it is damaged; the message names file and line.
        """
        path = Path(path)
        config = read_config(path / "config.json")
        episodes = list(_read_lines(path / "episodes.jsonl"))
        _check_episodes(path / "episodes.jsonl", config, episodes)
        return cls(path, config, episodes, list(_read_lines(path / "failures.jsonl")))

    @classmethod
    def start(cls, path: str | Path, config: RunConfig, *, resume: bool = False) -> RunFolder:
        """Begin a run, or go on with one.

        Args:
            path: The run folder.
            config: The recipe.
            resume: Go on if there is a run of this recipe already; without it that is an error.

        Raises:
            ResultsError: If the folder is in use, damaged, no run folder, or holds a run that may not be gone on with.
        """
        path = Path(path)
        new = not (path / "config.json").exists()
        _refuse(path, new, resume)
        path.mkdir(parents=True, exist_ok=True)
        files = [_open_to_append(path / name) for name in ("episodes.jsonl", "failures.jsonl")]
        try:
            _lock(files[0], path)
            _check_workers(files[1], path)
            if new:
                write_json(path / "config.json", config.to_json())
            for file in files:
                _cut_tail(file)
            run = cls.open(path)
            if differences := run.config.differences(config):
                raise ResultsError(
                    f"{path} holds a run of another recipe ({'; '.join(differences)}): choose another name, or the same options"
                )
        except BaseException:
            for file in files:
                file.close()
            raise
        run._files = files
        return run

    def add_episode(self, row: dict[str, Any]) -> None:
        """Append a finished episode; it is on the disk when this returns."""
        self._append(0, row)
        self.episodes.append(row)

    def add_failure(self, row: dict[str, Any]) -> None:
        """Append a fault; it is on the disk when this returns."""
        self._append(1, row)
        self.failures.append(row)

    def _append(self, index: int, row: dict[str, Any]) -> None:
        if not self._files:
            raise ResultsError(f"{self.path} was opened for reading, or is closed: expected RunFolder.start")
        line = json.dumps(row, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        file = self._files[index]
        if file.write(line) != len(line):  # unbuffered: one system call, which Ctrl-C does not split
            raise OSError(f"{file.name} could not be written whole: is the disk full?")
        os.fsync(file.fileno())

    def close(self) -> None:
        """Let the folder go."""
        for file in self._files:
            file.close()
        self._files = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a JSON file that is there whole or not at all."""
    draft = path.with_name(f"{path.name}.tmp")
    with draft.open("w", encoding="utf-8") as file:
        json.dump(value, file, indent=1, allow_nan=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _refuse(path: Path, new: bool, resume: bool) -> None:
    if not new and not resume:
        raise ResultsError(
            f"There is a run at {path} already: add --resume to go on with it, or choose another name with --name"
        )
    if path.exists() and not path.is_dir():
        raise ResultsError(f"Expected {path} to be a folder or free, found a file: choose another name with --name")
    if new and path.exists() and not all(map(_left_by_a_start, path.iterdir())):
        raise ResultsError(
            f"Expected a free place or a run at {path}, found a folder without config.json: choose another name with --name"
        )


def _left_by_a_start(entry: Path) -> bool:
    """Whether a start that was killed may have left this, without any result in it."""
    empty = entry.name in ("episodes.jsonl", "failures.jsonl") and entry.stat().st_size == 0
    return empty or entry.name == "config.json.tmp"


def _open_to_append(path: Path) -> BinaryIO:
    path.touch()
    return path.open("r+b", buffering=0)


def _lock(file: BinaryIO, path: Path) -> None:
    """Keep other writers out until the file is closed, however this process ends."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ResultsError(f"Another process is writing to {path}: wait for it, or stop it") from None


def hold(path: Path) -> BinaryIO:
    """Let a worker say that it writes to a run; until it closes the file, or ends, no other session starts there."""
    file = (path / "failures.jsonl").open("rb", buffering=0)
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_SH)
    return file


def _check_workers(file: BinaryIO, path: Path) -> None:
    """Raise if workers of a session whose parent was killed are still at their last episode."""
    _lock(file, path)
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_UN)


def _cut_tail(file: BinaryIO) -> None:
    """Cut off a last line without its newline, and stand at the end."""
    file.seek(0)
    data = file.read()
    end = data.rfind(b"\n") + 1
    file.truncate(end)
    file.seek(end)


def read_config(path: Path) -> RunConfig:
    """Read a config.json; raises `ResultsError` if it is missing, damaged or foreign."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultsError(f"Expected a run folder at {path.parent}, with a config.json: {error.strerror}") from None
    except ValueError as error:
        raise ResultsError(f"{path} is damaged (JSON expected): {error}") from None
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        raise ResultsError(f"{path} is no run of format {FORMAT!r}")
    known = {each.name for each in fields(RunConfig)}
    try:
        return RunConfig(**{key: value for key, value in data.items() if key in known})
    except TypeError as error:
        raise ResultsError(f"{path} is not complete: {error}") from None


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    for number, line in enumerate(lines[:-1], 1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ResultsError(f"{path}, line {number}, is damaged (JSON expected): {error}") from None
        if not isinstance(row, dict) or not isinstance(row.get("episode"), str):
            raise ResultsError(f'{path}, line {number}, is no row of a run: expected a JSON object with an "episode"')
        yield row


def _check_episodes(path: Path, config: RunConfig, rows: list[dict[str, Any]]) -> None:
    planned = {episode.id for episode in config.episodes()}
    seen: dict[str, int] = {}
    for number, row in enumerate(rows, 1):
        name = row["episode"]
        if name not in planned:
            raise ResultsError(f"{path}, line {number}: episode {name!r} is not in the plan of config.json")
        if name in seen:
            raise ResultsError(f"{path}, line {number}: episode {name!r} is on line {seen[name]} already")
        seen[name] = number


def read_wall(path: Path) -> float:
    """Return the wall-clock seconds that the sessions of a run have taken so far; a session that was killed is not known."""
    try:
        return float(json.loads((path / "summary.json").read_text(encoding="utf-8"))["time"]["wall"] or 0.0)
    except (OSError, ValueError, KeyError, TypeError):
        return 0.0  # no summary yet
