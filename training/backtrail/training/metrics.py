"""What a run says about itself: JSON lines always, TensorBoard and Weights & Biases where asked for, and alarms."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gymnasium.error import DependencyNotInstalled

__all__ = ["Metrics", "alarms", "keep", "read_metrics"]


class Metrics:
    """Writes one row of numbers per iteration of a stage.

    Rows are in ``metrics.jsonl``; a number that is not finite becomes null there. A resumed run takes out the rows of what
    it does again (`keep`), so the file holds each iteration once.
    """

    def __init__(self, folder: Path, *, tensorboard: bool = False, wandb: str | None = None, config: Any = None):
        """Open the sinks.

        Args:
            folder: The run's.
            tensorboard: Whether to write event files below ``tensorboard``.
            wandb: Project at Weights & Biases, None for none.
            config: What the run is, for Weights & Biases.

        Raises:
            gymnasium.error.DependencyNotInstalled: If a sink's package is missing.
        """
        self._path = folder / "metrics.jsonl"
        self._writer = _tensorboard(folder / "tensorboard") if tensorboard else None
        self._wandb = _wandb(wandb, folder, config) if wandb else None

    def log(self, stage: str, iteration: int, values: Mapping[str, Any]) -> None:
        """Write one row."""
        row = {"stage": stage, "iteration": iteration} | {name: _finite(value) for name, value in values.items()}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        numbers = {f"{stage}/{name}": value for name, value in values.items() if isinstance(value, int | float)}
        if self._writer is not None:
            for name, value in numbers.items():
                self._writer.add_scalar(name, value, iteration)
        if self._wandb is not None:
            self._wandb.log(numbers | {f"{stage}/iteration": iteration})

    def close(self) -> None:
        """Close the sinks."""
        if self._writer is not None:
            self._writer.close()
        if self._wandb is not None:
            self._wandb.finish()


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a run; a last line that was cut off is left out."""
    rows = []
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except ValueError:
            break
    return rows


def keep(path: Path, stage: str, done: int, before: Sequence[str] = (), *, evaluations: bool = False) -> None:
    """Drop the rows of what a resumed run does again; if interrupted, the old file stays.

    Args:
        path: The file of rows; it need not exist.
        stage: The stage to go on with.
        done: How many of its iterations are done. An evaluation is numbered by the iterations before it, and is done too.
        before: The stages that are done.
        evaluations: Whether all rows are of evaluations; otherwise those whose stage ends in "-evaluation" are.
    """

    def kept(row: Mapping[str, Any]) -> bool:
        own = row["stage"].removesuffix("-evaluation")
        last = done if evaluations or own != row["stage"] else done - 1
        return own in before or (own == stage and row["iteration"] <= last)

    if path.exists():
        draft = path.with_name(path.name + ".part")
        draft.write_text("".join(json.dumps(row) + "\n" for row in read_metrics(path) if kept(row)), "utf-8")
        draft.replace(path)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _tensorboard(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise DependencyNotInstalled("TensorBoard is missing. Run: pip install tensorboard") from error
    return SummaryWriter(str(folder))


def _wandb(project: str, folder: Path, config: Any) -> Any:
    try:
        import wandb  # pyright: ignore[reportMissingImports]  # optional
    except ImportError as error:
        raise DependencyNotInstalled("Weights & Biases is missing. Run: pip install wandb") from error
    return wandb.init(project=project, name=folder.name, dir=str(folder), config=config)


WINDOW = 5
"""Iterations over which a trend is looked at."""


def alarms(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what looks wrong in the latest iterations of the loop, in words.

    The bounds are ours; each is where a run that was looked at had stopped learning, or could not.

    Args:
        rows: The loop's rows of `Metrics`, oldest first.
    """
    if not rows:
        return []
    found, last = [], rows[-1]

    def value(name: str) -> float:
        number = last.get(name)
        return math.nan if number is None else float(number)

    if value("advantage/zero_advantage") > 0.8:
        found.append(
            f"{value('advantage/zero_advantage'):.0%} of transitions have no advantage: tasks are too easy or too hard"
        )
    if value("advantage/singleton") > 0.6:
        found.append(f"{value('advantage/singleton'):.0%} of transitions are alone in their group")
    if value("clipped_low") + value("clipped_high") > 0.3:
        found.append(f"{value('clipped_low') + value('clipped_high'):.0%} of tokens are clipped: lower lr or epochs")
    if value("invalid_rate") > 0.3:
        found.append(f"{value('invalid_rate'):.0%} of responses lack the required form")
    for part in ("explore", "memory", "action"):
        entropies, now = _series(rows, f"entropy/{part}"), value(f"entropy/{part}")
        if entropies and now < 0.1 * entropies[0]:
            found.append(
                f"the entropy of the {part} text fell to {now:.2g} nats, from {entropies[0]:.2g}: it has collapsed"
            )
    if _rise(rows, "explore/lost") > 0.05 and _rise(rows, "success") <= 0:
        found.append("the exploration reward rises on lost trajectories while success does not: it is being gamed")
    if _rise(rows, "reward/format") > 0.05 and _rise(rows, "success") < -0.05:
        found.append("the format reward rises while success falls: the form is being paid for")
    if not math.isfinite(value("grad_norm")) and value("rows") > 0:
        found.append("the gradient is not finite: the step was left out")
    return found


def _series(rows: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    """Return a number over the iterations that have it; null in a file and NaN in a row of this run are the same."""
    return [float(row[name]) for row in rows if row.get(name) is not None and math.isfinite(row[name])]


def _rise(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    """Return by how much a number's mean over the last window exceeds that over the one before; NaN if it is too early."""
    values = _series(rows, name)
    if len(values) < 2 * WINDOW:
        return math.nan
    return (sum(values[-WINDOW:]) - sum(values[-2 * WINDOW : -WINDOW])) / WINDOW
