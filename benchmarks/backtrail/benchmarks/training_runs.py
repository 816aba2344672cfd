"""Training runs as their folders hold them, put together over seeds, and the intervals between seeds."""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from backtrail.benchmarks.results import ResultsError
from backtrail.benchmarks.statistics import Interval, success_rate

__all__ = [
    "Alarm",
    "Evaluation",
    "Method",
    "TrainingRun",
    "alarm_kind",
    "by_seed",
    "load_training",
    "methods_of",
]

FORMAT = 1

_NO_RECIPE = ("seed", "workers", "slots", "timeout", "keep_rollouts")
"""Parts of a setup that may differ between runs of one method: they do not change what is learned, but for the seed."""

Row = dict[str, Any]


class Evaluation(NamedTuple):
    """One evaluation on held-out tasks.

    Attributes:
        stage: The stage it was made in.
        iteration: Updates made before it.
        successes: Episodes that succeeded.
        n: Episodes.
        success: The success rate with Wilson's 95 % interval.
        steps: Mean steps of an episode.
    """

    stage: str
    iteration: int
    successes: int
    n: int
    success: Interval
    steps: float


class Alarm(NamedTuple):
    """What a run said looked wrong.

    Attributes:
        first: The iteration it first appeared in.
        times: In how many iterations it appeared.
        text: Its words the first time.
    """

    first: int
    times: int
    text: str


@dataclass(frozen=True)
class TrainingRun:
    """A run folder that `backtrail.training.pipeline.train` wrote.

    Attributes:
        folder: Where it is.
        setup: What was trained on what, by the names of ``Setup``.
        config: The hyper-parameters, by the names of ``Config``.
        about: Versions of packages and Python.
        rows: Rows of metrics.jsonl.
        evaluations: In the order they were made.
    """

    folder: Path
    setup: Row
    config: Row
    about: Row
    rows: tuple[Row, ...]
    evaluations: tuple[Evaluation, ...]

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.resolve().name

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.setup["seed"]

    @cached_property
    def iterations(self) -> int:
        """How many iterations of the loop are done."""
        return 1 + max((row["iteration"] for row in self.rows if row["stage"] == "rl"), default=-1)

    @property
    def finished(self) -> bool:
        """Whether it ran to its end."""
        return self.iterations >= self.config["iterations"] and (self.folder / "model").is_dir()

    def series(self, stage: str, name: str) -> dict[int, float]:
        """Return a number of a stage by iteration, where it was measured."""
        found = {row["iteration"]: row.get(name) for row in self.rows if row["stage"] == stage}
        return {iteration: float(value) for iteration, value in found.items() if value is not None}

    def last(self, stage: str, name: str) -> float | None:
        """Return the last value of a number, None if it was not measured."""
        return next(reversed(self.series(stage, name).values()), None)

    @cached_property
    def alarms(self) -> list[Alarm]:
        """What looked wrong, in the order it first appeared."""
        found: dict[str, Alarm] = {}
        for row in self.rows:
            for text in row.get("alarms") or () if row["stage"] == "rl" else ():
                kind = alarm_kind(text)
                old = found.get(kind, Alarm(row["iteration"], 0, text))
                found[kind] = old._replace(times=old.times + 1)
        return list(found.values())

    @cached_property
    def rollbacks(self) -> list[dict[str, tuple[int, int]]]:
        """For each measurement of the rollback stage, by kind of action: steps taken back, and steps shown."""
        rows = [row for row in self.rows if row["stage"] == "rollback-evaluation"]
        return [
            {
                name.partition("/")[2]: (round(row[name.replace("shown", "verified", 1)] * shown), round(shown))
                for name, shown in row.items()
                if name.startswith("shown/")
            }
            for row in rows
        ]

    @property
    def seconds(self) -> float:
        """Seconds that the iterations of the loop and the evaluations took; the warm start is not timed."""
        loop = sum(self.series("rl", "seconds").values())
        parts = ("seconds/environment", "seconds/generation")
        return loop + sum(sum(self.series("rl-evaluation", part).values()) for part in parts)


class Method(NamedTuple):
    """Runs that differ in their seeds only.

    Attributes:
        label: What tables and plots call them.
        runs: By seed.
    """

    label: str
    runs: tuple[TrainingRun, ...]


def alarm_kind(text: str) -> str:
    """Return an alarm without its numbers: the same for one that comes back with others."""
    return re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "#", text)


def load_training(folder: str | Path) -> TrainingRun:
    """Read the folder of a training run, which may still go on.

    Raises:
        ResultsError: If there is none, it is of another format, or it is damaged.
    """
    folder = Path(folder)
    try:
        recipe = json.loads((folder / "training.json").read_text("utf-8"))
        if recipe["format"] != FORMAT:
            raise ResultsError(
                f"Expected a training run of format {FORMAT} in {folder}, got format {recipe['format']!r}"
            )
        about = {key: value for key, value in recipe.items() if key not in ("format", "setup", "config")}
        rows = tuple(row for row in _lines(folder / "metrics.jsonl") if {"stage", "iteration"} <= row.keys())
        evaluations = tuple(_evaluation(row) for row in _lines(folder / "evaluations.jsonl") if row["episodes"])
        return TrainingRun(folder, recipe["setup"], recipe["config"], about, rows, evaluations)
    except ResultsError:
        raise
    except OSError as error:
        raise ResultsError(
            f"Expected the folder of a training run (with training.json), got {folder}: {error}"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResultsError(f"The training run in {folder} is damaged: {error!r}") from error


def _lines(path: Path) -> list[Row]:
    """Read JSON lines; a last line that is being written is left out."""
    lines = path.read_text("utf-8").split("\n") if path.exists() else []
    return [json.loads(line) for line in lines[:-1] if line]


def _evaluation(row: Row) -> Evaluation:
    tasks: dict[str, list[bool]] = defaultdict(list)
    for episode in row["episodes"]:
        tasks[episode["task_id"]].append(bool(episode["success"]))
    n, won = len(row["episodes"]), sum(map(sum, tasks.values()))
    success = success_rate([(sum(tried), len(tried)) for tried in tasks.values()])
    steps = sum(episode["steps"] for episode in row["episodes"]) / n
    return Evaluation(row["stage"], row["iteration"], won, n, success, steps)


# ---- runs of one method


def methods_of(runs: Sequence[TrainingRun]) -> list[Method]:
    """Put together the runs that differ in their seeds only, in the order given.

    A method is called as its folders are, without the seed and without what all methods' names share; where folders of one
    method have different names, as the preset its settings are those of.

    Raises:
        ResultsError: If two runs of a method have the same seed.
    """
    found: dict[str, list[TrainingRun]] = defaultdict(list)
    for run in runs:
        found[json.dumps(_recipe(run.setup, run.config), sort_keys=True)].append(run)
    for group in found.values():
        group.sort(key=lambda run: run.seed)
        for one, other in itertools.pairwise(group):
            if one.seed == other.seed:
                raise ResultsError(
                    f"{one.folder} and {other.folder} are the same training with the same seed: leave one of them out"
                )
    labels = _shortened([_label(group) for group in found.values()])
    return [
        Method(f"{label} ({labels[:place].count(label) + 1})" if labels.count(label) > 1 else label, tuple(group))
        for place, (label, group) in enumerate(zip(labels, found.values(), strict=True))
    ]


def _recipe(setup: Row, config: Row) -> Row:
    """Return what makes a method: a model that was trained before is what it was trained by, wherever it lies."""
    kept = {key: value for key, value in setup.items() if key not in _NO_RECIPE}
    if start := kept.pop("start", None):
        kept["model"] = _recipe(**start)
    return {"setup": kept, "config": config}


def _label(group: Sequence[TrainingRun]) -> str:
    names = {re.sub(r"[-_.]?s(eed)?[-_]?\d+(?=$|[-_.])", "", run.name, count=1) or run.name for run in group}
    return names.pop() if len(names) == 1 else _preset(group[0].config)


def _preset(config: Row) -> str:
    """Return the preset with the most settings that are all as in a config; "grpo" has the fewest and fits most."""
    from backtrail.training.presets import PRESETS

    settings = json.loads(json.dumps(PRESETS))
    fitting = [name for name in settings if all(config.get(key) == value for key, value in settings[name].items())]
    return max(fitting, key=lambda name: len(settings[name]), default="own settings")


def _shortened(labels: Sequence[str]) -> list[str]:
    """Leave out the words that all labels begin or end with, as long as each keeps one."""
    parts = [label.split("-") for label in labels]
    for end in (0, -1):
        while len(set(labels)) > 1 and all(len(each) > 1 for each in parts) and len({each[end] for each in parts}) == 1:
            for each in parts:
                del each[end]
    return ["-".join(each) for each in parts]


def by_seed(method: Method, value: Callable[[TrainingRun], float | None]) -> dict[int, float]:
    """Return a number of each run of a method, by seed, where there is one."""
    found = {run.seed: value(run) for run in method.runs}
    return {seed: number for seed, number in found.items() if number is not None}
