"""`run`: play what a recipe plans and is not there yet, and keep everything that is finished."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backtrail.benchmarks.recipe import Episode, RunConfig
from backtrail.benchmarks.results import RunFolder, read_wall, write_json
from backtrail.benchmarks.summary import summary
from backtrail.benchmarks.workers import play_all

__all__ = ["Progress", "RunStopped", "run"]

_STOP_AFTER = 10


class RunStopped(RuntimeError):
    """So many episodes in a row have failed that something is wrong with all of them."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        done: Episodes finished, those of earlier sessions included.
        planned: Episodes in the plan.
        successes: Episodes won.
        failures: Faults in this session.
        given_up: Episodes that have failed too often to be tried again.
    """

    done: int
    planned: int
    successes: int
    failures: int
    given_up: int


def run(
    config: RunConfig,
    output_dir: str | Path = "runs",
    *,
    resume: bool = False,
    workers: int = 1,
    retries: int = 3,
    batch: int = 16,
    progress: Callable[[Progress], None] | None = None,
) -> dict[str, Any]:
    """Play the episodes of a recipe into ``output_dir/name`` and return the summary, which is written there too.

    Every finished episode is on the disk before the next result is looked at. A run that ended early, by whatever cause,
    goes on with ``resume=True`` and ends as if it had never stopped, times aside.

    Args:
        config: The recipe (`backtrail.benchmarks.plan.plan`).
        output_dir: Where run folders are.
        resume: Go on with the run if there is one.
        workers: How many processes play; 0 or 1 plays in this one.
        batch: Environments that share a call of the model, for agents that have one.
        retries: How often an episode that fails is tried in all, once in each session.
        progress: Called at the start and after every episode.

    Raises:
        ResultsError: If the folder is taken, in use, damaged, or holds another recipe.
        RunStopped: If ten episodes in a row failed; what was finished before is kept.
        KeyboardInterrupt: On Ctrl-C; what was finished before is kept.
        ValueError: If ``workers`` is negative, or ``retries`` or ``batch`` below 1.
        gymnasium.error.DependencyNotInstalled: If the model's extra is missing.
        backtrail.agents.models.ModelError: If the model cannot be loaded.
    """
    if workers < 0 or retries < 1 or batch < 1:
        raise ValueError(f"Expected workers >= 0, retries >= 1, batch >= 1, got {workers}, {retries} and {batch}")
    path = Path(output_dir) / config.name
    started = time.perf_counter()
    with RunFolder.start(path, config, resume=resume) as folder:
        earlier = read_wall(path)
        try:
            _play(folder, workers, retries, batch, progress or (lambda _: None))
        finally:
            result = _conclude(path, earlier + time.perf_counter() - started)
    return result


def _play(folder: RunFolder, workers: int, retries: int, batch: int, progress: Callable[[Progress], None]) -> None:
    planned = folder.config.episodes()
    todo = _unfinished(folder, planned, retries)
    given_up = len(planned) - len(folder.episodes) - len(todo)
    successes, failures, in_a_row = sum(row["success"] for row in folder.episodes), 0, 0
    progress(Progress(len(folder.episodes), len(planned), successes, failures, given_up))
    # closing() ends the workers now, not when Python collects the generator
    with closing(play_all(folder.config, folder.path / "steps", todo, workers, batch)) as outcomes:
        for outcome in outcomes:
            if outcome.finished:
                folder.add_episode(outcome.row)
                successes, in_a_row = successes + outcome.row["success"], 0
            else:
                folder.add_failure(outcome.row)
                failures, in_a_row = failures + 1, in_a_row + 1
            progress(Progress(len(folder.episodes), len(planned), successes, failures, given_up))
            if in_a_row == _STOP_AFTER:
                raise RunStopped(f"{in_a_row} episodes in a row have failed, the last one with {outcome.row['error']}")


def _unfinished(folder: RunFolder, planned: list[Episode], retries: int) -> list[Episode]:
    finished = {row["episode"] for row in folder.episodes}
    faults = Counter(row["episode"] for row in folder.failures)
    return [episode for episode in planned if episode.id not in finished and faults[episode.id] < retries]


def _conclude(path: Path, wall: float) -> dict[str, Any]:
    """Write the summary of what is on the disk, which is the truth even after Ctrl-C in the middle of a write."""
    run = RunFolder.open(path)
    result = summary(run.config, run.episodes, run.failures, wall)
    write_json(path / "summary.json", result)
    return result
