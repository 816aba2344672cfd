"""`write_training_report`: training runs, one or several methods over seeds, as one HTML file; and its numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from backtrail.benchmarks.catalog import find_benchmark
from backtrail.benchmarks.report import TEMPLATES, caution, load_templates, save_page
from backtrail.benchmarks.results import ResultsError
from backtrail.benchmarks.statistics import Interval, t_interval
from backtrail.benchmarks.training_runs import (
    Evaluation,
    Method,
    TrainingRun,
    by_seed,
    load_training,
    methods_of,
)

__all__ = ["evaluation_numbers", "load_training", "training_numbers", "write_training_report"]

Row = dict[str, Any]


def write_training_report(folders: Sequence[str | Path], path: str | Path, *, baseline: str | None = None) -> Row:
    """Write the report of training runs: one file without external parts.

    Runs that differ in their seeds only are shown together, as one method.

    Args:
        folders: Run folders; their runs may still go on.
        path: The HTML file to write; folders above it are made.
        baseline: The method the others are compared with, by its label; the first one by default.

    Returns:
        The numbers of its tables, see `training_numbers`.

    Raises:
        ResultsError: If a folder holds no training run, a damaged one, or the same run as another; or there is no such
            method.
        gymnasium.error.DependencyNotInstalled: If the extra ``report`` is missing.
    """
    path = Path(path)
    methods = methods_of([load_training(folder) for folder in folders])
    numbers = training_numbers(methods, baseline)
    try:
        from backtrail.benchmarks.training_plots import training_plots

        drawn = training_plots(methods)
        templates = load_templates()
    except ImportError as error:
        raise gym.error.DependencyNotInstalled(
            f'The report needs jinja2 and matplotlib ({error}). Run: pip install "backtrail[report]"'
        ) from error
    templates.filters |= {"signed": _signed, "plain": _plain}
    page = templates.get_template("training.html.j2").render(
        title=methods[0].runs[0].name if len(numbers["runs"]) == 1 else ", ".join(method.label for method in methods),
        methods=numbers["methods"],
        runs=numbers["runs"],
        baseline=numbers["baseline"],
        labels=[(label, caution(label)) for label in numbers["data"]],
        about=[(run.name, {**run.setup, **run.about}) for method in methods for run in method.runs],
        plots=drawn,
        style=(TEMPLATES / "report.css").read_text(encoding="utf-8"),
    )
    save_page(page, path)
    return numbers


def training_numbers(methods: Sequence[Method], baseline: str | None = None) -> Row:
    """Return what the tables of a report hold, as JSON takes it.

    Intervals of one run's success are Wilson's, over its episodes; those of a method are Student's t over its seeds.

    Args:
        methods: What `methods_of` returned.
        baseline: The method that the others are compared with; None for the first.

    Returns:
        "runs", "methods", "baseline" (None for one method) and "data".

    Raises:
        ResultsError: If there is no method called ``baseline``.
    """
    if not methods:
        raise ResultsError("Expected at least one training run, got none")
    known = {method.label: method for method in methods}
    if baseline is not None and baseline not in known:
        raise ResultsError(f"Expected a baseline of {', '.join(known)}, got {baseline!r}")
    against = known[baseline or methods[0].label] if len(methods) > 1 else None
    runs = [_run(method, run) for method in methods for run in method.runs]
    return {
        "runs": runs,
        "methods": [_method(method, against) for method in methods],
        "baseline": against.label if against else None,
        "data": sorted({label for run in runs for label in (run["train_data"], run["evaluation_data"])}),
    }


# ---- one run


def _run(method: Method, run: TrainingRun) -> Row:
    found = run.evaluations
    best = max(found, key=lambda each: each.success.value, default=None)  # the first of equals
    return {
        "folder": str(run.folder),
        "name": run.name,
        "method": method.label,
        "seed": run.seed,
        "finished": run.finished,
        "iterations": run.iterations,
        "planned": run.config["iterations"],
        "seconds": run.seconds,
        "train_data": _data(run.setup, "train"),
        "evaluation_data": _data(run.setup, "evaluate"),
        "evaluations": {
            "first": evaluation_numbers(found[0]) if found else None,
            "last": evaluation_numbers(found[-1]) if found else None,
            "best": evaluation_numbers(best) if best else None,
        },
        "exploration_degree": run.last("rl-evaluation", "exploration_degree"),
        "rollback": {"before": run.rollbacks[0], "after": run.rollbacks[-1]} if len(run.rollbacks) > 1 else None,
        "alarms": [alarm._asdict() for alarm in run.alarms],
    }


def evaluation_numbers(found: Evaluation) -> Row:
    """Return an evaluation as JSON takes it."""
    return {**found._asdict(), "success": found.success._asdict()}


def _data(setup: Row, which: str) -> str:
    """Return which data an environment is made with; "generated" and "simulated" data begin with these words."""
    options, benchmark = setup[which], find_benchmark(setup["env_id"])
    name, types = options.get("data") or benchmark.data or "simulated", options.get("task_types")
    made_up = name.startswith(("generated", "simulated"))
    parts = [name if made_up else f"{benchmark.name} ({name})", options.get("split", "train")]
    return "/".join(parts + ([",".join(types)] if types else []))


# ---- runs of one method


def _method(method: Method, baseline: Method | None) -> Row:
    final = by_seed(method, lambda run: run.evaluations[-1].success.value if run.evaluations else None)
    run = method.runs[0]
    return {
        "label": method.label,
        "n": len(method.runs),
        "seeds": [run.seed for run in method.runs],
        "finished": all(run.finished for run in method.runs),
        "success": {**_seeds(final, bounds=(0.0, 1.0)), "by_seed": {str(seed): value for seed, value in final.items()}},
        "steps": _seeds(by_seed(method, lambda run: run.evaluations[-1].steps if run.evaluations else None)),
        "exploration_degree": _seeds(
            by_seed(method, lambda run: run.last("rl-evaluation", "exploration_degree")), bounds=(0.0, 1.0)
        ),
        "difference": _difference(method, baseline) if baseline and baseline is not method else None,
        "model": run.setup["model"],
        "settings": _settings(run.config),
    }


def _seeds(values: dict[int, float], bounds: tuple[float, float] | None = None) -> Row:
    """Return mean and t interval over seeds; a share's interval is cut at what a share can be."""
    found = t_interval(list(values.values()))
    if found is not None and bounds:
        found = Interval(found.value, max(bounds[0], found.low), min(bounds[1], found.high))
    mean = float(np.mean(list(values.values()))) if values else None
    return {"mean": mean, "low": found.low if found else None, "high": found.high if found else None, "n": len(values)}


def _difference(method: Method, baseline: Method) -> Row | None:
    """Return the difference of the last evaluations, method minus baseline, over the seeds that both have."""
    mine, other = (
        by_seed(each, lambda run: run.evaluations[-1].success.value if run.evaluations else None)
        for each in (method, baseline)
    )
    common = {seed: mine[seed] - other[seed] for seed in sorted(mine.keys() & other.keys())}
    return {**_seeds(common), "seeds": list(common)} if common else None


def _settings(config: Row) -> dict[str, Row]:
    """Return the settings that are not the defaults, each with its default."""
    from backtrail.training.config import Config

    defaults = json.loads(json.dumps(Config().to_dict()))
    return {
        name: {"value": value, "default": defaults.get(name)}
        for name, value in config.items()
        if name not in defaults or value != defaults[name]
    }


# ---- words


def _signed(value: float | None) -> str:
    return "none" if value is None else f"{100 * value:+.1f}"


def _plain(value: Any) -> str:
    """Return a setting as the option --set takes it."""
    if isinstance(value, list | tuple):
        items = [":".join(map(_plain, item)) if isinstance(item, list | tuple) else _plain(item) for item in value]
        return ",".join(items) or "none"
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
