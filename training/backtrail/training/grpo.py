"""The loop: collect, reward, group, advantage, update. GRPO, GiGPO, DAPO, LaMer, SGE and EAPO are settings of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from backtrail.agents.sge import Preset, Strategies
from backtrail.training.advantage import episode_returns, grouped_advantage, step_returns, uninformative_tasks
from backtrail.training.checkpoint import save_checkpoint
from backtrail.training.collect import Rollouts, exploration, require
from backtrail.training.explore import Exploration
from backtrail.training.metrics import alarms, read_metrics
from backtrail.training.posterior import Posterior
from backtrail.training.rewards import RewardParts, assemble
from backtrail.training.run import Run
from backtrail.training.transition import Transition, save_transitions, trajectories
from backtrail.training.update import Spans, improve, probe

__all__ = ["grpo"]

PARTS = tuple(field.name for field in fields(RewardParts))


def grpo(run: Run, done: int, posterior: Posterior | None, reference: Any) -> None:
    """Train to the last iteration.

    Args:
        run: Its parts; `Run.begin` was called.
        done: Iterations that are done.
        posterior: q_phi, where the exploration reward needs it.
        reference: The frozen model that a KL is to.
    """
    config, learner = run.config, run.learner
    spans = Spans(run.loaded.tokenizer, run.loaded.model.get_output_embeddings().weight.shape[0])
    explorer = Exploration(posterior, config) if posterior is not None else None
    rows = read_metrics(run.folder / "metrics.jsonl") if run.first else []
    history: list[dict[str, Any]] = [row for row in rows if row["stage"] == "rl"]
    run.sync()
    if done == 0:
        run.evaluate("rl", 0)

    for iteration in range(done, config.iterations):
        began = time.perf_counter()

        # collect
        rollouts, dropped = gather(run, iteration)
        steps = rollouts.transitions
        times = {f"seconds/{name}": value for name, value in rollouts.seconds.items()}
        difference = probe(learner, steps, config.probe_tolerance)

        # reward
        explored, explore_metrics = (None, {}) if explorer is None else explorer.reward(steps, iteration)
        parts = assemble(steps, config, explored)

        # group and advantage
        earned, outcome = step_returns(steps, parts, config), episode_returns(steps, parts, config)
        advantages = grouped_advantage(steps, earned, outcome, config)

        # update
        lr = config.lr * min(1.0, (iteration + 1) / config.warmup) if config.warmup else config.lr
        order = (run.setup.seed, 3, iteration)
        update_began = time.perf_counter()
        changes = improve(
            learner, steps, advantages.values, config, lr=lr, seed=order, reference=reference, spans=spans
        )
        times["seconds/update"] = time.perf_counter() - update_began
        run.sync()
        remember(run, steps)

        # tell
        row = {
            **summary(steps, parts),
            **changes,
            **{f"advantage/{name}": share for name, share in advantages.shares.items()},
            **explore_metrics,
            **times,
            "probe": difference,
            "faults": float(len(rollouts.faults)),
            "dropped_tasks": float(dropped),
            "lr": lr,
            "seconds": time.perf_counter() - began,
        }
        history.append(row)
        run.log("rl", iteration, row | {"alarms": alarms(history)})
        if run.setup.keep_rollouts and run.first:
            (run.folder / "rollouts").mkdir(exist_ok=True)
            save_transitions(
                run.folder / "rollouts" / f"{iteration:06}.jsonl",
                steps,
                advantage=advantages.values.tolist(),
                **{f"reward_{name}": [getattr(part, name) for part in parts] for name in PARTS},
            )
        last = iteration + 1 == config.iterations
        if last or (config.eval_every and (iteration + 1) % config.eval_every == 0):
            run.evaluate("rl", iteration + 1)
        if run.first and (last or (config.save_every and (iteration + 1) % config.save_every == 0)):
            save_checkpoint(
                run.folder / "checkpoints", "rl", iteration + 1, learner, posterior=posterior, strategies=run.strategies
            )
        run.progress("rl", iteration + 1, config.iterations, row)


def gather(run: Run, iteration: int) -> tuple[Rollouts, int]:
    """Collect the rollouts of an iteration; with dynamic sampling, those of tasks that tell something (DAPO).

    Returns:
        The rollouts, and how many tasks were dropped. What the last round draws is kept, whether it tells anything or not.

    Raises:
        RuntimeError: If all rollouts of the first round were lost to faults.
    """
    config = run.config
    found = require(run.collect(run.jobs(iteration, config.tasks)))
    dropped: set[str] = set()
    for number in range(1, config.dynamic_sampling + 1):
        flat = set(flat_tasks(found.transitions))
        if not flat:
            break
        more = run.collect(run.jobs(iteration, len(flat), number))
        kept = [step for step in found.transitions if step.task_id not in flat]
        told = {step.task_id for step in kept}
        fresh = [step for step in more.transitions if step.task_id not in told]
        if kept or fresh:  # else all of it was lost to faults, and what there is stays
            dropped |= flat
            found.transitions = kept
            found.join(replace(more, transitions=fresh))
    return found, len(dropped)


def flat_tasks(steps: Sequence[Transition]) -> list[str]:
    """Return the tasks all of whose rollouts succeeded, or failed, alike."""
    return uninformative_tasks(steps, [float(step.success) for step in steps])


def remember(run: Run, steps: Sequence[Transition]) -> None:
    """Keep the strategies of a batch for later reflections (SGE): of trajectories whose every response had the form."""
    if run.strategies is None:
        return
    for places in trajectories(steps):
        episode = [steps[place] for place in places]
        if all(step.valid for step in episode):
            run.strategies.add(episode[0].task_id, episode[0].success, [step.explore for step in episode])


def strategies_for(run: Run) -> Strategies | None:
    """Return empty buffers if the run reflects."""
    config = run.config
    if not config.reflect_negative and not config.reflect_positive:
        return None
    return Strategies(
        Preset(
            config.temperature,
            config.temperature if config.explore_temperature is None else config.explore_temperature,
            config.reflect_negative,
            config.reflect_positive,
        )
    )


def summary(steps: Sequence[Transition], parts: Sequence[RewardParts]) -> dict[str, float]:
    """Return the means over trajectories and steps of a batch."""
    paths = trajectories(steps)
    plain = [places for places in paths if steps[places[0]].mode == "plain"]
    means = {
        "success": _mean([steps[places[-1]].success for places in paths]),
        "success_plain": _mean([steps[places[-1]].success for places in plain]),
        "steps": _mean([len(places) for places in paths]),
        "trajectories": float(len(paths)),
        "staleness": float(np.ptp([step.version for step in steps])),
    }
    rewards = {f"reward/{name}": _mean([getattr(part, name) for part in parts]) for name in PARTS}
    return means | rewards | exploration(steps)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
