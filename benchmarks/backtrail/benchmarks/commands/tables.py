"""Tables of results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from backtrail.benchmarks.commands.console import plain_table
from backtrail.benchmarks.recipe import RunConfig

__all__ = ["details", "overview", "table"]

NONE = "-"
UNOFFICIAL = "This is not the official benchmark: not comparable with published scores."


def table(*columns: str) -> Table:
    """Return an empty table of numbers: all columns but the first are aligned to the right."""
    return plain_table(*columns, right=len(columns) - 1)


def percent(value: float | None) -> str:
    """Return a share as per cent."""
    return NONE if value is None else f"{value:.1%}".replace("%", " %")


def interval(low: float | None, high: float | None) -> str:
    """Return a confidence interval of a share, in per cent."""
    return NONE if low is None or high is None else f"{100 * low:.1f} to {100 * high:.1f}"


def number(value: float | None, digits: int = 1) -> str:
    """Return a number with so many digits after the point."""
    return NONE if value is None else f"{value:,.{digits}f}"


def _mean(values: dict[str, Any], digits: int = 1) -> str:
    if values["mean"] is None:
        return NONE
    return f"{values['mean']:,.{digits}f}  ({values['low']:,.{digits}f} to {values['high']:,.{digits}f})"


def agent_name(config: RunConfig) -> str:
    """Return how a table calls a run's agent."""
    return (
        f"replay:{Path(config.agent['options']['folder']).name}"
        if config.agent["name"] == "replay"
        else config.agent["name"]
    )


def data_label(config: RunConfig) -> str:
    """Return which data a run is on."""
    return config.data if isinstance(config.data, str) else ", ".join(config.data)


def _official(config: RunConfig) -> bool:
    return data_label(config).startswith(("alfworld:json_", "webshop:1k", "webshop:full"))


def details(config: RunConfig, summary: dict[str, Any]) -> Group:
    """Return the tables of one run."""
    return Group(*_details(config, summary))


def _details(config: RunConfig, summary: dict[str, Any]) -> Iterator[RenderableType]:
    done, planned = summary["episodes"], summary["planned"]
    yield Text.assemble((agent_name(config), "bold"), " on ", (config.env_id, "bold"), f", {_scope(config)}")
    yield Text(
        f"data {data_label(config)}, {done:,}/{planned:,} episodes, {summary['failures']} failed, seed {config.seed}"
    )
    if not _official(config):
        yield Text(UNOFFICIAL, "yellow")
    yield Text("")
    successes = table("Task type", "Episodes", "Successes", "Rate", "95 % interval")
    for kind, found in summary["by_task_type"].items():
        successes.add_row(kind or NONE, *_success(found))
    successes.add_section()
    successes.add_row("all", *_success(summary["success"]), style="bold")
    yield successes
    if done:
        yield Text("")
        yield _figures(config, summary)


def _scope(config: RunConfig) -> str:
    split = config.env_kwargs.get("split")
    tasks = f"{len(config.tasks):,} tasks" if len(config.tasks) != 1 else "1 task"
    attempts = f", {config.episodes_per_task} attempts each" if config.episodes_per_task > 1 else ""
    return f"{f'split {split}, ' if split else ''}{tasks}{attempts}"


def _success(found: dict[str, Any]) -> tuple[str, ...]:
    return f"{found['n']:,}", f"{found['successes']:,}", percent(found["value"]), interval(found["low"], found["high"])


def _figures(config: RunConfig, summary: dict[str, Any]) -> Table:
    figures = plain_table()
    exploration, time = summary["exploration"], summary["time"]
    figures.add_row("mean steps", _mean(summary["steps"]))
    if summary["return"]["mean"] != summary["success"]["value"]:
        figures.add_row("mean return", _mean(summary["return"], 3))
    if config.episodes_per_task > 1:
        passes = ((f"pass@{k}", f"pass^{k}", k) for k in summary["pass_at_k"])
        for at, hat, k in passes:
            figures.add_row(f"{at}, {hat}", f"{percent(summary['pass_at_k'][k])}, {percent(summary['pass_hat_k'][k])}")
    figures.add_row("invalid actions", percent(summary["invalid_action_rate"]))
    if summary["format_valid_rate"] not in (None, 1):
        figures.add_row("well-formed responses", percent(summary["format_valid_rate"]))
    figures.add_row("new states a step", number(exploration["unique_states_per_step"], 2))
    figures.add_row("steps that revisit", percent(exploration["revisit_rate"]))
    if config.rollback_methods:
        exact = exploration["rollback_success_rate"]
        suffix = "" if exact is None else f", {percent(exact)} of them exact"
        figures.add_row("steps that roll back", percent(exploration["rollback_rate"]) + suffix)
    for key, value in summary["usage"].items():
        figures.add_row(key.replace("_", " "), f"{value:,.4f}" if isinstance(value, float) else f"{value:,}")
    if time.get("tokens_per_second"):
        steps = summary["episodes"] * summary["steps"]["mean"]
        each = time["agent"] / steps if steps else 0
        figures.add_row("speed", f"{number(time['tokens_per_second'])} tokens a second, {number(each, 3)} s a step")
    wall = "" if time["wall"] is None else f"{number(time['wall'])} s wall, "
    figures.add_row("time", f"{wall}{number(time['env'])} s environment, {number(time['agent'])} s agent")
    return figures


def overview(runs: Iterable[tuple[Path, RunConfig, dict[str, Any]]]) -> Table:
    """Return a table of several runs, a row each."""
    made = table("Run", "n/N", "Success (95 %)", "Steps", "Invalid", "New/step")
    made.padding = (0, 2, 0, 0)
    made.columns[0].overflow = "fold"
    for folder, config, summary in runs:
        success = summary["success"]
        made.add_row(
            Text.assemble(folder.name, (f"\n  {agent_name(config)}, {data_label(config)}", "dim")),
            f"{summary['episodes']}/{summary['planned']}",
            f"{percent(success['value'])} ({interval(success['low'], success['high'])})",
            number(summary["steps"]["mean"]),
            percent(summary["invalid_action_rate"]),
            number(summary["exploration"]["unique_states_per_step"], 2),
        )
    return made
