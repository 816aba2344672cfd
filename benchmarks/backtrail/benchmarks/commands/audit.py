"""``backtrail audit``: are the scores sound, is the fingerprint the state, does going back arrive?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from backtrail.benchmarks.commands.console import bad_input, counter, emit_json, note, stdout
from backtrail.benchmarks.commands.options import Data, Env, EnvOption, Json, Seed, env_kwargs, read_options

if TYPE_CHECKING:
    from backtrail.benchmarks.catalog import Benchmark

__all__ = ["audit"]

_SHOWN_DIFFERENCES = 5
_LEGEND = (
    "collision: one fingerprint for several states; split: several for one state; "
    "fork: the same fingerprint and action, another outcome. Only the first level has to be without any."
)


def audit(
    env: Env,
    data: Data = None,
    split: Annotated[str | None, typer.Option(metavar="NAME", help="Only this split; by default all.")] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", metavar="N", min=1, help="Score only N tasks a split.")
    ] = None,
    steps: Annotated[int, typer.Option(metavar="N", min=0, help="Steps of the fingerprint walk.")] = 20_000,
    pairs: Annotated[int, typer.Option(metavar="N", min=0, help="Steps to go back over, for each method.")] = 10_000,
    parity: Annotated[bool, typer.Option("--parity", help="Compare with the original stack instead.")] = False,
    games: Annotated[int, typer.Option(metavar="N", min=1, help="Parity: games of each split and task type.")] = 2,
    game_steps: Annotated[int, typer.Option(metavar="N", min=1, help="Parity: steps in each game.")] = 100,
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="Parity: processes.")] = 1,
    option: EnvOption = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Audit an environment; exits with 1 if anything is unsound.

    The null agent must win nothing and the oracle everything. Equal fingerprints must mean equal states and equal futures.
    Going back by restoring must always arrive; how often it can be done by acting is counted.
    """
    from backtrail.benchmarks.catalog import find_benchmark

    with bad_input():
        benchmark = find_benchmark(env)
        splits = [split] if split else list(benchmark.splits)
        kwargs = [env_kwargs(benchmark, data, each, None) | read_options(option) for each in splits]
        if parity:
            if benchmark.name != "alfworld":
                raise ValueError(f"Only alfworld has an original stack to compare with, got {benchmark.name}")
            ids = [
                task_id
                for each in kwargs
                for kind in benchmark.task_types
                for task_id in _task_ids(benchmark.env_id, {**each, "task_types": [kind]}, games)
            ]
            sound = _parity(kwargs[0].get("data", "generated"), ids, game_steps, workers, seed, as_json)
        else:
            sound = _audit(benchmark, kwargs, limit, steps, pairs, seed, as_json)
    if not sound:
        raise typer.Exit(1)


def _audit(
    benchmark: Benchmark,
    kwargs: list[dict[str, Any]],
    limit: int | None,
    steps: int,
    pairs: int,
    seed: int,
    as_json: bool,
) -> bool:
    from backtrail.benchmarks import audit as library

    env_id = benchmark.env_id
    scores: dict[str, library.ScoreAudit] = {}
    for each in kwargs:
        ids = _task_ids(env_id, each, limit)
        with counter(f"Scoring {each['split']}") as move:
            tick = _ticker(len(ids), move)
            scores[each["split"]] = library.audit_scores(env_id, ids, each, tick)
    prints: dict[str, library.FingerprintAudit] = {}
    for level in benchmark.levels if steps else ():
        with counter(f"Walking ({level} fingerprint)") as move:
            tick = _ticker(steps, move)
            parts = [
                library.audit_fingerprints(env_id, level, share, each, seed=seed, tick=tick)
                for each, share in zip(kwargs, _shares(steps, len(kwargs)), strict=True)
            ]
        prints[level] = sum(parts[1:], parts[0])
    backs: dict[str, library.RollbackAudit] = {}
    for method in ("restore", "act") if pairs else ():
        with counter(f"Going back ({method})") as move:
            tick = _ticker(pairs, move)
            parts = [
                library.audit_rollback(env_id, method, share, each, seed=seed, tick=tick)
                for each, share in zip(kwargs, _shares(pairs, len(kwargs)), strict=True)
            ]
        backs[method] = library.merge_rollbacks(parts)
    restored = backs["restore"].totals if backs else Counter[str]()
    sound = all(score.sound for score in scores.values()) and all(
        prints[level].sound for level in prints if level == benchmark.levels[0]
    )
    sound &= set(restored) <= {"exact"}
    if as_json:
        emit_json(
            {
                "env_id": env_id,
                "options": kwargs,
                "seed": seed,
                "scores": {name: vars(score) for name, score in scores.items()},
                "fingerprints": {level: vars(found) for level, found in prints.items()},
                "rollback": {method: found.verbs for method, found in backs.items()},
                "sound": sound,
            }
        )
    else:
        _show(scores, prints, backs)
        whole = "Sound." if prints and backs else "Sound as far as it was looked at."
        stdout().print(Text(whole if sound else "NOT sound.", "green" if sound else "bold red"))
    return sound


def _show(scores: dict[str, Any], prints: dict[str, Any], backs: dict[str, Any]) -> None:
    from backtrail.benchmarks.commands.tables import table

    console = stdout()
    console.print(Text("Scores", "bold"))
    made = table("split", "tasks", "null agent won", "oracle won", "oracle's steps, median")
    for split, score in scores.items():
        won = score.tasks - len(score.oracle_losses)
        lengths = sorted(score.plan_lengths.elements())
        median = str(lengths[len(lengths) // 2]) if lengths else "-"
        made.add_row(split, f"{score.tasks:,}", f"{len(score.null_wins):,}", f"{won:,}", median)
    console.print(made)
    if prints:
        console.print(Text("\nFingerprints against the true state", "bold"))
        made = table(
            "fingerprint", "steps", "states", "fingerprints", "collisions", "splits", "repeated futures", "forks"
        )
        for level, found in prints.items():
            counts = (
                found.steps,
                found.states,
                found.fingerprints,
                found.collisions,
                found.splits,
                found.futures,
                found.forks,
            )
            made.add_row(level, *(f"{count:,}" for count in counts))
        console.print(made)
        console.print(Text(_LEGEND, "dim"), soft_wrap=True)
    for method, found in backs.items():
        statuses = ("exact", "approximate", "failed", "unsupported")
        console.print(Text(f"\nGoing back one step by method {method}, verified", "bold"))
        made = table("action", *statuses, "exact (%)")
        for verb, counts in [*found.verbs.items(), ("all", found.totals)]:
            share = 100 * counts["exact"] / counts.total()
            made.add_row(verb, *(f"{counts[status]:,}" for status in statuses), f"{share:.1f}")
        console.print(made)


def _parity(data: str, ids: list[str], steps: int, workers: int, seed: int, as_json: bool) -> bool:
    from backtrail.benchmarks.parity import Parity, compare

    total = Parity()
    with counter("Playing both engines") as move:
        for done, found in enumerate(compare(data, ids, steps, seed, workers=workers), 1):
            total.add(found)
            move(done, len(ids))
    if as_json:
        emit_json({**vars(total), "differences": [each._asdict() for each in total.differences]})
        return not total.differences
    verbs = ", ".join(f"{verb} {count:,}" for verb, count in total.verbs.most_common())
    share = 100 * total.invalid / total.steps
    stdout().print(
        Text(f"{total.games:,} games, {total.steps:,} steps ({share:.0f} % invalid): {verbs}"), soft_wrap=True
    )
    stdout().print(Text(f"{len(total.differences):,} differences", "red" if total.differences else "green"))
    for each in total.differences[:_SHOWN_DIFFERENCES]:
        note(
            f"{each.task_id}, step {each.step}, {each.command!r}: {each.what}\n  native     {each.native}\n  textworld  {each.textworld}"
        )
    return not total.differences


def _task_ids(env_id: str, kwargs: dict[str, Any], limit: int | None) -> list[str]:
    import gymnasium as gym

    import backtrail.envs  # noqa: F401  # registers the ids
    from backtrail.benchmarks.plan import spread

    env = gym.make(env_id, **kwargs)
    ids = list(env.get_wrapper_attr("tasks").ids)
    env.close()
    return spread(ids, limit) if limit else ids


def _shares(total: int, parts: int) -> list[int]:
    return [total * (k + 1) // parts - total * k // parts for k in range(parts)]


def _ticker(total: int, move: Any) -> Any:
    done = 0

    def tick(n: int) -> None:
        nonlocal done
        done += n
        move(done, total)

    return tick
