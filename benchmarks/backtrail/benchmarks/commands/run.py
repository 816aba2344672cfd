"""``backtrail run``: numbers for an agent."""

from __future__ import annotations

import re
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import gymnasium as gym
import typer
from rich.progress import TextColumn

from backtrail.agents import AgentError
from backtrail.benchmarks.commands.console import bad_input, counter, emit_json, fail, note, progress_bar, stdout
from backtrail.benchmarks.commands.models import (
    BaseUrl,
    Batch,
    MaxTokens,
    MinP,
    ModelName,
    Prices,
    Sge,
    ShowAdmissible,
    Temperature,
    TopK,
    TopP,
    model_agent,
    sampling_for,
)
from backtrail.benchmarks.commands.options import (
    Data,
    Engine,
    Env,
    EnvOption,
    Json,
    OutputDir,
    Preset,
    RollbackMethods,
    Seed,
    Split,
    env_kwargs,
    methods,
    preset_of,
    read_options,
)

if TYPE_CHECKING:
    from backtrail.benchmarks.recipe import RunConfig
    from backtrail.benchmarks.results import RunFolder
    from backtrail.benchmarks.runner import Progress

__all__ = ["run"]


def run(
    env: Env,
    agent: Annotated[
        str,
        typer.Option(
            metavar="AGENT",
            help="null, random, searcher, expert, replay:FOLDER, explorer, brief, react, direct, or module:Class.",
        ),
    ],
    data: Data = None,
    preset: Preset = None,
    split: Split = None,
    task_type: Annotated[
        list[str] | None, typer.Option(metavar="TYPE", help="Only tasks of this type; may be repeated.")
    ] = None,
    task_id: Annotated[list[str] | None, typer.Option(metavar="ID", help="This task; may be repeated.")] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", metavar="N", min=1, help="So many tasks, spread evenly.")
    ] = None,
    episodes_per_task: Annotated[
        int, typer.Option("--episodes-per-task", "-k", metavar="K", min=1, help="Attempts at each task.")
    ] = 1,
    seed: Seed = 0,
    max_steps: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Step limit; the environment's own by default.")
    ] = None,
    workers: Annotated[int, typer.Option(metavar="N", min=0, help="Processes that play.")] = 1,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the run folder; made from the options by default.")
    ] = None,
    output_dir: OutputDir = Path("runs"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run if it is there.")] = False,
    retries: Annotated[int, typer.Option(metavar="N", min=1, help="How often a failed episode is tried in all.")] = 3,
    rollback: RollbackMethods = "",
    engine: Engine = None,
    option: EnvOption = None,
    model: ModelName = None,
    base_url: BaseUrl = None,
    prices: Prices = None,
    batch: Batch = 16,
    temperature: Temperature = 1.0,
    top_p: TopP = 1.0,
    top_k: TopK = 0,
    min_p: MinP = 0.0,
    max_tokens: MaxTokens = 256,
    sge: Sge = False,
    show_admissible: ShowAdmissible = False,
    as_json: Json = False,
    no_progress: Annotated[bool, typer.Option("--no-progress", help="No progress bar.")] = False,
) -> None:
    """Run an agent and write results.

    Every finished episode is kept. After Ctrl-C, a crash or a failed episode the same command with --resume goes on.
    """
    from backtrail.benchmarks.catalog import find_benchmark
    from backtrail.benchmarks.plan import plan

    with bad_input():
        benchmark = find_benchmark(env)
        split = _split(benchmark.splits, split, task_id) or benchmark.evaluation_split
        published = preset_of(benchmark, preset)
        steps = published.pop("max_episode_steps", None)
        kwargs = (
            published | env_kwargs(benchmark, data, split, engine) | ({"task_types": task_type} if task_type else {})
        )
        kwargs |= read_options(option)
        player = model_agent(_agent(agent), model, base_url, prices, show_admissible)
        drawn = sampling_for(
            player["name"], benchmark.name, temperature=temperature, top_p=top_p, top_k=top_k, min_p=min_p,
            max_tokens=max_tokens, sge=sge,
        )  # fmt: skip
        with counter("Reading tasks", no_progress) as progress:
            config = plan(
                name or _name(benchmark.name, player, split, data, preset, seed),
                benchmark.env_id,
                player,
                env_kwargs=kwargs,
                tasks=task_id,
                limit=limit,
                episodes_per_task=episodes_per_task,
                seed=seed,
                max_steps=max_steps if max_steps is not None else steps,
                rollback_methods=methods(rollback),
                sampling=drawn,
                command=f"backtrail {shlex.join(sys.argv[1:])}",
                progress=progress,
            )
    folder = output_dir / config.name
    _tell_of_other_versions(folder, config)
    summary = _run(config, output_dir, resume, workers, retries, batch, no_progress)
    _show(folder, config, summary, as_json, retries)


def _split(known: tuple[str, ...], split: str | None, task_ids: list[str] | None) -> str | None:
    """Return the split that was asked for, by name or by the ids of tasks; results must not carry another one's name."""
    named = {task_id.partition("/")[0] for task_id in task_ids or ()} & set(known)
    if len(named | ({split} if split else set())) > 1:
        wanted = f" and --split {split}" if split else ""
        raise ValueError(
            f"Expected tasks of one split in a run, got {', '.join(sorted(named))}{wanted}: make a run of each"
        )
    return named.pop() if named else split


def _agent(text: str) -> dict[str, Any]:
    from backtrail.benchmarks.catalog import parse_agent

    agent = parse_agent(text)
    if ":" in agent["name"] and "" not in sys.path:
        sys.path.insert(0, "")  # the user's own modules lie where the command is given
    if "folder" in agent["options"]:
        agent["options"]["folder"] = str(Path(agent["options"]["folder"]).expanduser().resolve())
    return agent


def _name(env: str, agent: dict[str, Any], split: str, data: str | None, preset: str | None, seed: int) -> str:
    """Return a name for the run that the same command gives again, so that --resume finds it."""
    source = [Path(data).name.replace(":", "-")] if data and data != "generated" else []
    model = [re.split("[:/]", agent["options"]["model"])[-1]] if "model" in agent["options"] else []
    last = [preset] if preset else []
    last += [f"seed{seed}"] if seed else []
    parts = [env, agent["name"].rpartition(":")[2], *model, split, *source, *last]
    return "-".join(part.strip(".") for part in parts)


def _tell_of_other_versions(folder: Path, config: RunConfig) -> None:
    from backtrail.benchmarks.results import ResultsError, read_config

    try:
        before = read_config(folder / "config.json").versions
    except ResultsError:
        return  # nothing to go on with, or said in full later
    for package, now in config.versions.items():
        if before.get(package, now) != now:
            note(f"The run was begun with {package} {before[package]} and goes on with {now}.", "yellow")


def _run(
    config: RunConfig, output_dir: Path, resume: bool, workers: int, retries: int, batch: int, hidden: bool
) -> dict[str, Any]:
    from backtrail.benchmarks.results import ResultsError
    from backtrail.benchmarks.runner import RunStopped
    from backtrail.benchmarks.runner import run as play

    last: list[Progress] = []
    with progress_bar(TextColumn("{task.fields[state]}"), hidden=hidden) as bar:
        task = bar.add_task("Episodes", total=None, state="")

        def show(now: Progress) -> None:
            last[:] = [now]
            bar.update(task, completed=now.done, total=now.planned, state=_state(now))

        try:
            return play(config, output_dir, resume=resume, workers=workers, retries=retries, batch=batch, progress=show)
        except KeyboardInterrupt:
            bar.stop()
            done, planned = (last[0].done, last[0].planned) if last else (0, 0)
            note(
                f"Stopped. {done} of {planned} episodes are finished and kept; the same command with --resume goes on."
            )
            raise typer.Exit(130) from None
        except (ResultsError, OSError, ValueError) as error:
            bar.stop()
            fail(str(error))
        except (gym.error.DependencyNotInstalled, AgentError) as error:
            bar.stop()
            fail(str(error), code=1)
        except RunStopped as error:
            bar.stop()
            fail(f"{error}. What is finished is kept; see {output_dir / config.name / 'failures.jsonl'}", code=1)


def _state(now: Progress) -> str:
    won = f"{now.successes / now.done:4.0%} won" if now.done else ""
    failed = f", {now.failures} failed" if now.failures else ""
    return f"{now.done}/{now.planned}  {won}{failed}"


def _show(folder: Path, config: RunConfig, summary: dict[str, Any], as_json: bool, retries: int) -> None:
    from backtrail.benchmarks.commands.tables import details
    from backtrail.benchmarks.results import RunFolder

    if as_json:
        emit_json({"folder": str(folder), "config": config.to_json(), "summary": summary})
    else:
        stdout().print(details(config, summary))
    note(f"Results: {folder}. A report: backtrail report {folder}")
    if missing := summary["planned"] - summary["episodes"]:
        last = RunFolder.open(folder).failures[-1]
        note(f"{missing} of {summary['planned']} episodes have no result. The last fault, in {last['episode']}:", "red")
        note(f"{last['error']}\nAll are in {folder / 'failures.jsonl'}.")
        note(_advice(RunFolder.open(folder), retries))
        raise typer.Exit(1)


def _advice(run: RunFolder, retries: int) -> str:
    faults = Counter(row["episode"] for row in run.failures)
    finished = {row["episode"] for row in run.episodes}
    worn = sum(count >= retries for episode, count in faults.items() if episode not in finished)
    if worn:
        return f"{worn} of them have been tried {retries} times and are not tried again: add --resume --retries {retries + 3}"
    return "The same command with --resume tries these episodes again, up to --retries times in all."
