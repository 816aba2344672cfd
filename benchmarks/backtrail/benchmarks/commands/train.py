"""``backtrail train``: train an agent, on a laptop or on several GPUs."""

from __future__ import annotations

import json
import os
import shutil
import time
import traceback
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import gymnasium as gym
import typer
from rich.progress import Progress, TaskID, TextColumn
from rich.text import Text

from backtrail.agents import AgentError
from backtrail.benchmarks.commands.console import bad_input, emit_json, fail, note, progress_bar, stdout
from backtrail.benchmarks.commands.options import Env, Json, Seed, env_kwargs
from backtrail.benchmarks.commands.settings import read_settings
from backtrail.training.presets import PRESETS, TINY
from backtrail.training.presets import preset as make_config

if TYPE_CHECKING:
    from backtrail.benchmarks.catalog import Benchmark
    from backtrail.training.config import Config

__all__ = ["train"]

_STAGES = {"sft": "Warm start", "rollback": "Rollback stage", "rl": "Training"}


def train(
    env: Env,
    preset: Annotated[str, typer.Option(metavar="NAME", help=f"The method: {', '.join(PRESETS)}.")],
    more: Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE", help="Further settings, as --set.")] = None,
    model: Annotated[
        str, typer.Option(metavar="MODEL", help="tiny, a folder, or a name on the Hugging Face hub.")
    ] = "tiny",
    start: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN", help="Begin with the model of another run, and leave out what comes before the loop."
        ),
    ] = None,
    seed: Seed = 0,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the run folder; made from the options by default.")
    ] = None,
    runs: Annotated[Path, typer.Option("--runs", metavar="FOLDER", help="Where run folders are.")] = Path("runs"),
    data: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="Trained on: generated, official, or a folder; alfworld: generated-small (its default).",
        ),
    ] = None,
    types: Annotated[
        str | None,
        typer.Option(
            metavar="TYPES", help="Task types to train and evaluate on (a,b), or all; alfworld: pick_and_place_simple."
        ),
    ] = None,
    evaluate_data: Annotated[
        str | None, typer.Option(metavar="WHERE", help="Evaluated on; by default what is trained on.")
    ] = None,
    evaluate_split: Annotated[
        str | None, typer.Option(metavar="NAME", help="Split to evaluate on; alfworld: valid_unseen, webshop: valid.")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Updates from fresh rollouts; short for --set iterations=N.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any setting of Config, e.g. lr=1e-4; may be repeated."),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="brief (short prompt; for tiny) or explorer (instructions; for others)."),
    ] = None,
    workers: Annotated[
        str, typer.Option(metavar="KIND", help="Where environments step: serial, processes or threads.")
    ] = "serial",
    generator: Annotated[str, typer.Option(metavar="NAME", help="What draws responses: hf or vllm.")] = "hf",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run if it is there.")] = False,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Write TensorBoard's files too.")] = False,
    wandb: Annotated[str | None, typer.Option(metavar="PROJECT", help="Log to Weights & Biases too.")] = None,
    keep_rollouts: Annotated[
        bool, typer.Option("--keep-rollouts", help="Write every step of every rollout to the run folder.")
    ] = False,
    as_json: Json = False,
    no_progress: Annotated[bool, typer.Option("--no-progress", help="No progress bars.")] = False,
) -> None:
    """Train an agent, evaluate it in rooms it has not seen, and write a report.

    After Ctrl-C or a crash the same command with --resume goes on from the last checkpoint. To train on several GPUs put
    `accelerate launch --no_python` before the command.
    """
    from backtrail.benchmarks.catalog import find_benchmark

    with bad_input():
        benchmark = find_benchmark(env)
        begun = None if start is None else _started(start)
        model = model if start is None else str(start / "model")
        small = _origin(model, begun) == "tiny"
        config = _config(preset, small, [*(settings or ()), *(more or ())], iterations, begun is not None)
        _one_of("--workers", workers, ("serial", "processes", "threads"))
        _one_of("--generator", generator, ("hf", "vllm"))
        player = _one_of("--agent", agent or ("brief" if small else "explorer"), ("brief", "explorer"))
        data = data or benchmark.training_data
        wanted = _types(types or benchmark.training_types, benchmark.task_types)
        measured = _one_of("--evaluate-split", evaluate_split or benchmark.training_split, benchmark.splits)
        setup = {
            "model": _absolute(model),
            "env_id": benchmark.env_id,
            "train": _world(benchmark, data, "train", wanted),
            "evaluate": _world(benchmark, evaluate_data or data, measured, wanted),
            "agent": player,
            "benchmark": benchmark.name,
            "seed": seed,
            "workers": workers,
            "generator": generator,
            "keep_rollouts": keep_rollouts,
            "start": begun,
        }
        folder = runs / (name or f"{benchmark.name}-{preset}-{Path(model).name}-seed{seed}")
        first = os.environ.get("RANK", "0") == "0"
        if first and not resume and (folder / "training.json").exists():
            raise ValueError(f"There is a run in {folder}: go on with it by --resume, or give another --name")
    watch = _Watch(folder)
    sinks = {"tensorboard": tensorboard, "wandb": wandb}
    _train(setup, config, folder, watch, sinks, first, no_progress or not first)
    if first:
        _tell(folder, watch, as_json)


def _one_of(option: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise ValueError(f"Expected {option} to be one of {', '.join(known)}, got {value!r}")
    return value


def _types(text: str, known: tuple[str, ...]) -> list[str] | None:
    if text == "all":
        return None
    return [_one_of("--types", word.strip(), (*known, "all")) for word in text.split(",")]


def _world(benchmark: Benchmark, data: str | None, split: str, types: list[str] | None) -> dict[str, Any]:
    """Return the options of an environment to train or evaluate in."""
    return env_kwargs(benchmark, data, split, None) | ({"task_types": types} if types else {})


def _absolute(model: str) -> str:
    return str(Path(model).expanduser().resolve()) if Path(model).expanduser().is_dir() else model


def _started(run: Path) -> dict[str, Any]:
    """Return the recipe of the run that trained a model.

    Raises:
        ValueError: If the folder is not that of a finished training run.
    """
    recipe = run / "training.json"
    if not recipe.is_file() or not (run / "model").is_dir():
        raise ValueError(f"Expected --start to be the folder of a finished training run, got {run}")
    found = json.loads(recipe.read_text("utf-8"))
    return {"setup": found["setup"], "config": found["config"]}


def _origin(model: str, start: dict[str, Any] | None) -> str:
    """Return the model that was there before any training."""
    return model if start is None else _origin(start["setup"]["model"], start["setup"]["start"])


def _config(name: str, small: bool, settings: list[str], iterations: int | None, started: bool) -> Config:
    """Return the preset, for the tiny model over what suits it, and over both what the user set."""
    given = read_settings(settings)
    if iterations is not None:
        if "iterations" in given:
            raise ValueError("Expected --iterations or --set iterations=, got both: leave one out")
        given["iterations"] = iterations
    suited = TINY | PRESETS.get(name, {}) if small else {}
    before = {"sft_steps": 0, "rollback_steps": 0} if started else {}
    return make_config(name, **(suited | before | given))


class _Watch:
    """Shows how a run goes on, and keeps how long its stages took."""

    def __init__(self, folder: Path) -> None:
        """Start the clock."""
        self.seconds: dict[str, float] = {}
        self.bar: Progress | None = None
        self._preparing = TaskID(0)
        self._path = folder / "metrics.jsonl"
        self._tasks: dict[str, TaskID] = {}
        self._since = time.monotonic()
        self._evaluation = ""
        self._seen: set[tuple[str, int]] = set()
        self._alarms: set[str] = set()

    def show(self, bar: Progress) -> None:
        """Show it on a bar, which moves without an end until the first step: before it demonstrations are made."""
        self.bar, self._preparing = bar, bar.add_task("Preparing", total=None, state="")

    def __call__(self, stage: str, done: int, total: int, values: Mapping[str, Any]) -> None:
        """Take what the trainer reports."""
        now = time.monotonic()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now
        if self.bar is None:
            return
        if stage == "rl":
            self._look()
        if not self._tasks:
            self.bar.remove_task(self._preparing)
        if stage not in self._tasks:
            self._tasks[stage] = self.bar.add_task(_STAGES.get(stage, stage), total=total, state="")
        state = f"{done}/{total}  {self._state(values)}"
        self.bar.update(self._tasks[stage], completed=done, total=total, state=state)

    def _state(self, values: Mapping[str, Any]) -> str:
        if values.get("success") is None:
            return f"loss {values['loss']:.3f}" if values.get("loss") is not None else ""
        return f"{values['success']:.0%} in training{self._evaluation}"

    def _look(self) -> None:
        """Tell of what is new in the file of metrics: evaluations, and alarms of a kind that was not told of."""
        from backtrail.benchmarks.training_runs import alarm_kind
        from backtrail.training.metrics import read_metrics

        for row in read_metrics(self._path):
            if (place := (row["stage"], row["iteration"])) in self._seen:
                continue
            self._seen.add(place)
            if row["stage"] == "rl-evaluation" and row.get("success") is not None:
                self._evaluation = f", {row['success']:.0%} held out"
                updates = f"{row['iteration']} update{'' if row['iteration'] == 1 else 's'}"
                self._say(f"After {updates}: {row['success']:.1%} success in held-out rooms")
            for alarm in row.get("alarms") or ():
                if (kind := alarm_kind(alarm)) not in self._alarms:
                    self._alarms.add(kind)
                    self._say(f"Iteration {row['iteration']}: {alarm}", "yellow")

    def _say(self, message: str, style: str = "") -> None:
        if self.bar is not None:
            self.bar.console.print(Text(message, style), soft_wrap=True)  # the bar's own console, or it tears the bar


def _train(
    setup: dict[str, Any], config: Config, folder: Path, watch: _Watch, sinks: dict[str, Any], first: bool, hidden: bool
) -> None:
    """Train; what goes wrong becomes a line and an exit code."""
    with bad_input():
        from backtrail.agents.models.hf_load import import_transformers, no_progress_bar

        transformers = import_transformers()  # says what to install, before anything is written
    with (
        no_progress_bar(transformers),
        warnings.catch_warnings(),
        progress_bar(TextColumn("{task.fields[state]}"), hidden=hidden) as bar,
    ):
        warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
        new = first and not folder.exists()
        if first:
            watch.show(bar)
        try:
            from backtrail.training.pipeline import train as run
            from backtrail.training.processes import processes
            from backtrail.training.run import Setup

            with processes() as accelerator:
                run(Setup(**setup), config, folder, progress=watch, accelerator=accelerator, **sinks)
        except KeyboardInterrupt:
            bar.stop()
            note("Stopped; go on with --resume.")
            raise typer.Exit(130) from None
        except gym.error.DependencyNotInstalled as error:
            bar.stop()
            fail(str(error), code=1)
        except (RuntimeError, ValueError, OSError, AgentError) as error:
            bar.stop()
            if not watch.seconds and isinstance(error, ValueError | OSError | AgentError):
                if new:
                    shutil.rmtree(folder, ignore_errors=True)  # so the corrected command may use the name
                fail(str(error))
            folder.mkdir(parents=True, exist_ok=True)
            where = folder / "failure.txt"
            where.write_text(traceback.format_exc(), encoding="utf-8")
            fail(
                str(error), 1, f"Where: {where}. What was done until the last checkpoint is kept: go on with --resume."
            )


def _tell(folder: Path, watch: _Watch, as_json: bool) -> None:
    """Write the report, and show what each stage brought."""
    from backtrail.benchmarks.commands.training_tables import stage_table, stages
    from backtrail.benchmarks.training_report import load_training, write_training_report

    report = folder / "report.html"
    with bad_input():
        numbers = write_training_report([folder], report)
        found = stages(load_training(folder), watch.seconds)
    if as_json:
        where = {"folder": str(folder), "model": str(folder / "model"), "report": str(report)}
        emit_json({**where, "stages": found, **numbers})
    else:
        stdout().print(stage_table(found, numbers["data"]))
    note(f"Model: {folder / 'model'}")
    note(f"Report: {report}")
