"""A whole training run: warm start, rollback stage, loop, evaluation; it goes on where it was stopped."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from backtrail.agents.models.base import Sampling
from backtrail.training.checkpoint import latest, load_checkpoint, read_state, save_checkpoint
from backtrail.training.config import Config
from backtrail.training.demonstrations import demonstrate, encode
from backtrail.training.grpo import grpo, strategies_for
from backtrail.training.learner import Row
from backtrail.training.metrics import Metrics, keep
from backtrail.training.posterior import Posterior
from backtrail.training.rollback import as_demonstrations, measure, save_pairs
from backtrail.training.rollback_collect import collect as collect_pairs
from backtrail.training.rollback_collect import heldout
from backtrail.training.run import Progress, Run, Setup, open_folder, reload, save_model

__all__ = ["STAGES", "train"]

STAGES = ("sft", "rollback", "rl")

SAVE_IMITATION_EVERY = 200
"""Optimiser steps between two checkpoints of the stages that imitate."""


def train(
    setup: Setup,
    config: Config,
    folder: str | Path,
    *,
    progress: Progress = lambda stage, done, total, values: None,
    tensorboard: bool = False,
    wandb: str | None = None,
    accelerator: Any = None,
) -> Path:
    """Train a model, or go on with a run that was stopped, at any point and in any way.

    A run that was killed and resumed takes the same updates as one that was not.

    Args:
        setup: What is trained on what.
        config: The hyper-parameters.
        folder: The run's folder: new, or that of the run to go on with.
        progress: Called as it goes on.
        tensorboard: Whether to write TensorBoard's files too.
        wandb: Project at Weights & Biases, None for none.
        accelerator: accelerate's, if several processes train together (`backtrail.training.processes`).

    Returns:
        The folder of the trained model.

    Raises:
        ValueError: If the folder holds another run, or there is nobody to demonstrate the benchmark.
        RuntimeError: If a batch was lost to faults altogether; what was done until the last checkpoint is kept.
    """
    demonstrated = config.sft_steps or (config.rollback_steps and config.rollback_mix)
    if demonstrated and setup.benchmark != "alfworld":
        raise ValueError(
            f"Demonstrations are those of a rule-based searcher that knows alfworld alone, not {setup.benchmark}: "
            "leave the warm start out (sft_steps=0, rollback_mix=0) or begin with a trained model"
        )
    folder = Path(folder)
    first = accelerator is None or accelerator.is_main_process
    if first:
        open_folder(folder, setup, config, _about())
    if accelerator is not None:
        accelerator.wait_for_everyone()
    metrics = Metrics(folder, tensorboard=tensorboard, wandb=wandb, config=config.to_dict()) if first else None
    run = Run(setup, config, folder, metrics, progress, accelerator)
    try:
        checkpoint = latest(folder / "checkpoints")
        state = read_state(checkpoint) if checkpoint else {"stage": STAGES[0], "done": 0}
        start = STAGES.index(state["stage"])
        if metrics is not None:
            keep(folder / "metrics.jsonl", state["stage"], state["done"], STAGES[:start])
            keep(folder / "evaluations.jsonl", state["stage"], state["done"], STAGES[:start], evaluations=True)
        for place, stage in enumerate(STAGES[start:], start):
            resumed = checkpoint if place == start else None
            done = state["done"] if place == start else 0
            if stage == "rl":
                _reinforce(run, done, resumed)
            else:
                _imitate(run, stage, done, resumed)
        if first:
            save_model(run.learner, folder / "model")
    finally:
        run.close()
    return folder / "model"


def _imitate(run: Run, stage: str, done: int, checkpoint: Path | None) -> None:
    """Fit responses: those of demonstrations, or verified rollbacks mixed with demonstrations."""
    config = run.config
    steps, peak = (config.sft_steps, config.sft_lr) if stage == "sft" else (config.rollback_steps, config.rollback_lr)
    run.begin()
    if checkpoint is not None:
        load_checkpoint(checkpoint, run.learner)
    if done == steps:
        return
    rows, mixed = _rows(run, stage)
    if stage == "rollback" and done == 0:
        _measure(run, 0)
    for step in range(done, steps):
        rng = np.random.default_rng([run.setup.seed, 4 + (stage == "rollback"), step])
        chosen = [_draw(rng, rows, mixed, config.rollback_mix) for _ in range(config.sft_batch)]
        lr = peak * min(1.0, (step + 1) / 20) * (1 - 0.9 * step / steps)
        loss = run.learner.imitate(chosen, lr)
        if (step + 1) % 10 == 0 or step + 1 == steps:
            run.log(stage, step, {"loss": loss, "lr": lr})
        if stage == "rollback" and step + 1 == steps:
            _measure(run, steps)
        if run.first and (step + 1 == steps or (step + 1) % SAVE_IMITATION_EVERY == 0):
            save_checkpoint(run.folder / "checkpoints", stage, step + 1, run.learner)
        run.progress(stage, step + 1, steps, {"loss": loss})


def _draw(rng: np.random.Generator, rows: Sequence[Row], mixed: Sequence[Row], share: float) -> Row:
    source = mixed if mixed and rng.random() < share else rows
    return source[int(rng.integers(len(source)))]


def _rows(run: Run, stage: str) -> tuple[list[Row], list[Row]]:
    """Return the rows a stage fits, and those that are mixed in."""
    config, tokenizer = run.config, run.loaded.tokenizer
    agent = run.make_agent(run.sampler, run.sampling())
    if run.demonstrations is None and (stage == "sft" or config.rollback_mix):
        shown = demonstrate(
            run.train_recipe,
            agent,
            config.demonstrations,
            run.setup.seed,
            forgetful=config.forgetful,
            noise=config.noise,
            disturb=config.disturb,
        )
        run.demonstrations = [encode(tokenizer, each.prompt, each.response) for each in shown]
    demonstrations = run.demonstrations or []
    if stage == "sft":
        return demonstrations, []
    pairs, report = collect_pairs(run.train_recipe, config.rollback_pairs, run.setup.seed)
    if run.first:
        save_pairs(run.folder / "rollback.jsonl", pairs)
        (run.folder / "rollback.json").write_text(json.dumps(asdict(report), indent=2), "utf-8")
    learned = as_demonstrations([pair for pair in pairs if not heldout(pair)], agent)
    return [encode(tokenizer, each.prompt, each.response) for each in learned], demonstrations


def _measure(run: Run, step: int) -> None:
    """Write how often the model takes a step back, as the fingerprint verifies."""
    run.sync()
    greedy = Sampling(0.0, max_tokens=run.config.max_tokens)
    found = measure(
        run.sampler,
        lambda model: run.make_agent(model, greedy),
        run.evaluation_recipe,
        run.config.eval_episodes,
        run.setup.seed,
        batch=run.setup.slots,
    )
    rates = {"verified": found.total, **{f"verified/{kind}": rate for kind, rate in found.kinds.items()}}
    numbers = {name: rate.verified / rate.shown for name, rate in rates.items()}
    counts = {name.replace("verified", "shown"): float(rate.shown) for name, rate in rates.items()}
    run.log("rollback-evaluation", step, numbers | counts | {"valid": found.valid / found.total.shown})


def _reinforce(run: Run, done: int, checkpoint: Path | None) -> None:
    """Run the loop."""
    config, start = run.config, run.folder / "start"
    if checkpoint is None and run.first:
        save_model(run.learner, start)
    if run.accelerator is not None:
        run.accelerator.wait_for_everyone()
    before = reload(run, start) if config.explore == "posterior" or config.kl else None
    posterior = _posterior(run, before) if before is not None and config.explore == "posterior" else None
    reference = before.model.requires_grad_(False) if before is not None and config.kl else None
    del before  # q_phi has its own copy
    run.begin()
    run.strategies = strategies_for(run)
    if checkpoint is not None:
        run.strategies = load_checkpoint(checkpoint, run.learner, posterior=posterior) or run.strategies
    grpo(run, done, posterior, reference)


def _posterior(run: Run, before: Any) -> Posterior:
    from backtrail.training.posterior_lm import LMPosterior

    return LMPosterior(before, run.config, run.setup.seed)


def _about() -> dict[str, Any]:
    """Return what a run was made with."""
    names = ("backtrail", "torch", "transformers", "numpy", "gymnasium")
    return {"versions": {name: version(name) for name in names}, "python": platform.python_version()}
