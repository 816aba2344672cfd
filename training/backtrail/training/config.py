"""Every hyper-parameter of a training run, in one documented dataclass."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Config"]

Returns = Literal["episode", "to_go", "lamer"]
Key = Literal["task", "task_attempt", "state", "state_visits", "batch", "episode"]

_COUNTS = (
    "tasks",
    "group",
    "max_tokens",
    "attempts",
    "posterior_every",
    "posterior_rows",
    "min_group",
    "epochs",
    "minibatches",
    "micro_tokens",
    "sft_batch",
    "eval_episodes",
)
_SHARES = (
    "min_p",
    "reflect_negative",
    "reflect_positive",
    "gamma",
    "attempt_gamma",
    "gamma_explore",
    "clip_low",
    "forgetful",
    "noise",
    "disturb",
    "rollback_mix",
)


@dataclass(frozen=True)
class Config:
    """A training run but for its model, its seed and its folder. Presets (`backtrail.training.presets`) differ in some.

    Attributes:
        tasks: Tasks of one update.
        group: Rollouts of each task (G).
        max_steps: Steps of an episode; 0 for the environment's own limit.
        max_tokens: Longest response, in tokens.
        temperature: Of everything but the explore text.
        explore_temperature: Of the explore text (SGE's strategy); None for `temperature`.
        min_p: Of the min-p baseline; 0 for none. Truncation makes stored log-probabilities inexact: for experiments only.
        reflect_negative: Probability that a rollout is shown a failed episode of its task (SGE).
        reflect_positive: Probability that it is shown a successful one (SGE).
        attempts: Tries of a task in one trajectory, with a reflection after each that fails (LaMer); 1 for none.

        returns: The return of a step: "episode" (reward of the whole trajectory, GRPO), "to_go" (discounted from the step
            on, GiGPO and EAPO), "lamer" (discounted within an attempt and across attempts).
        gamma: Discount per step of "to_go" and "lamer".
        attempt_gamma: Discount per attempt of "lamer".
        alpha_task: Weight of the task reward.
        alpha_format: Weight of the format reward (EAPO Eq. 10, alpha_1).
        alpha_explore: Weight of the exploration reward (EAPO Eq. 10, alpha_2).
        format_reward: "bonus" (1 if all parts are there, EAPO) or "penalty" (-1 if one is missing: no pay for longer episodes).
        count_twice: Add format and exploration once more, the latter times gamma_explore squared (released EAPO code).
        centre_explore: Subtract from the exploration reward its mean over the state's group, so that it cannot pay for
            longer episodes.
        explore: What the exploration reward is: "none", "posterior" (EAPO Eqs. 6-9), "novelty" (1 at the first sight of a
            state in the trajectory, else 0: exploring at every state).
        gamma_explore: The discount of delayed exploratory gain, applied twice.
        reading: Whether the exploration reward of a step is about the texts written in it ("current", the released code) or
            those carried into it ("previous", the formula).
        probability: The probability of a text: "token_mean" (geometric mean over tokens), "sequence" (joint) or "ratio"
            (geometric mean relative to the prior, at most 1).
        gate: Give no exploration reward to a step whose explore or memory is empty or whose response is invalid.
        next_tokens: Tokens of the next observation that are appended to the memory in the second term.
        posterior_update: When q_phi learns: "batch_after" (scored first, then one update on the batch) or
            "sample_before" (each sample before it is scored, the released code).
        posterior_every: Updates between two of q_phi.
        posterior_lr: Learning rate of q_phi.
        posterior_kl: Weight of the KL to the prior in q_phi's objective (EAPO Eq. 8).
        posterior_trust: Largest mean KL per token between q_phi before and after an update; a larger step is taken back.
        posterior_rows: Texts of a batch that an update of q_phi learns from, at most.
        posterior_rank: LoRA rank of q_phi; 0 trains a full copy (the released code).

        groups: Keys of the groups, each with its weight: (("task", 1.0), ("state", 1.0)) is GiGPO.
        fallback: Keys for transitions whose group is smaller than min_group, tried in order.
        min_group: Smallest group with a baseline of its own.
        singleton: Advantage of a transition that no key helps: "zero", or "raw" (its return, the released code).
        norm: "group" divides by the group's standard deviation, "batch" by that of all advantages, "none" by nothing.
        clip_low: PPO clip below 1.
        clip_high: PPO clip above 1.
        dual_clip: Bound of the loss for negative advantages (verl uses 3); 0 for none.
        aggregation: Token losses are averaged over "token" (all tokens of the batch, DAPO), "sequence" (within each
            response, then over responses, GRPO), "constant" (by max_tokens, Dr. GRPO) or "trajectory" (tokens of the
            trajectory).
        kl: Weight of the KL to the model before the loop (k3 estimator); 0 for none.
        dynamic_sampling: Rounds of further tasks drawn to replace those whose rollouts all earn the same (DAPO); 0 for none.
        overlong: Tokens before max_tokens from where a response is penalised, linearly to -1 (DAPO); 0 for none.

        iterations: Updates from fresh rollouts.
        epochs: Passes over the rollouts of one iteration.
        minibatches: Optimiser steps of one pass.
        lr: Learning rate (AdamW).
        warmup: Iterations over which it rises.
        beta2: Of AdamW.
        weight_decay: Of AdamW.
        grad_clip: Largest norm of the gradient.
        lora_rank: LoRA rank of the policy; 0 trains all weights.
        micro_tokens: The most rows times columns of one forward pass.

        sft_steps: Optimiser steps of the warm start on demonstrations; 0 for none.
        sft_batch: Demonstrated steps of each.
        sft_lr: Its learning rate, rising over 20 steps and falling to a tenth.
        demonstrations: Episodes to demonstrate.
        forgetful: Share of demonstrated episodes whose demonstrator forgets where it has been.
        noise: Share of the actions in those episodes that are random.
        disturb: Share of demonstrated steps in which something else is done than is demonstrated, to show recoveries.
        rollback_steps: Optimiser steps of the learning-to-rollback stage; 0 for none.
        rollback_pairs: Verified pairs to collect for it.
        rollback_lr: Its learning rate.
        rollback_mix: Share of demonstrations in its batches, against forgetting.

        eval_every: Iterations between evaluations; 0 evaluates at the start and the end only.
        eval_episodes: Episodes of an evaluation.
        eval_temperature: Temperature of an evaluation.
        save_every: Iterations between checkpoints; 0 saves at the end only.
        probe_tolerance: Largest difference between sampler and learner, in nats, before the run stops.

    Raises:
        ValueError: If a value makes no sense; the message names it.
    """

    # collect
    tasks: int = 8
    group: int = 8
    max_steps: int = 0
    max_tokens: int = 64
    temperature: float = 1.0
    explore_temperature: float | None = None
    min_p: float = 0.0
    reflect_negative: float = 0.0
    reflect_positive: float = 0.0
    attempts: int = 1
    # reward
    returns: Returns = "episode"
    gamma: float = 0.95
    attempt_gamma: float = 0.6
    alpha_task: float = 1.0
    alpha_format: float = 0.0
    alpha_explore: float = 0.0
    format_reward: Literal["bonus", "penalty"] = "penalty"
    count_twice: bool = False
    centre_explore: bool = True
    explore: Literal["none", "posterior", "novelty"] = "none"
    gamma_explore: float = 0.9
    reading: Literal["current", "previous"] = "current"
    probability: Literal["token_mean", "sequence", "ratio"] = "token_mean"
    gate: bool = True
    next_tokens: int = 256
    posterior_update: Literal["batch_after", "sample_before"] = "batch_after"
    posterior_every: int = 1
    posterior_lr: float = 1e-4
    posterior_kl: float = 0.1
    posterior_trust: float = 0.1
    posterior_rows: int = 512
    posterior_rank: int = 8
    # group and advantage
    groups: tuple[tuple[Key, float], ...] = (("task", 1.0),)
    fallback: tuple[Key, ...] = ()
    min_group: int = 2
    singleton: Literal["zero", "raw"] = "zero"
    norm: Literal["none", "group", "batch"] = "group"
    # loss
    clip_low: float = 0.2
    clip_high: float = 0.2
    dual_clip: float = 0.0
    aggregation: Literal["token", "sequence", "constant", "trajectory"] = "token"
    kl: float = 0.0
    dynamic_sampling: int = 0
    overlong: int = 0
    # update
    iterations: int = 40
    epochs: int = 1
    minibatches: int = 2
    lr: float = 3e-4
    warmup: int = 0
    beta2: float = 0.99
    weight_decay: float = 0.0
    grad_clip: float = 1.0
    lora_rank: int = 0
    micro_tokens: int = 8192
    # before the loop
    sft_steps: int = 200
    sft_batch: int = 64
    sft_lr: float = 2e-3
    demonstrations: int = 1000
    forgetful: float = 0.0
    noise: float = 0.0
    disturb: float = 0.0
    rollback_steps: int = 0
    rollback_pairs: int = 2000
    rollback_lr: float = 5e-4
    rollback_mix: float = 0.5
    # beside the loop
    eval_every: int = 10
    eval_episodes: int = 100
    eval_temperature: float = 0.4
    save_every: int = 5
    probe_tolerance: float = 1e-4

    def __post_init__(self):
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise ValueError(f"Expected {name} of 1 or more, got {getattr(self, name)}")
        for name in _SHARES:
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"Expected {name} from 0 to 1, got {getattr(self, name)}")
        if self.temperature <= 0:
            raise ValueError(f"Expected a temperature above 0 to learn from, got {self.temperature}")
        if not self.groups:
            raise ValueError('Expected one group or more, such as (("task", 1.0),), got none')
        if self.dual_clip and self.dual_clip <= 1:
            raise ValueError(f"Expected dual_clip of 0 or above 1, got {self.dual_clip}")
        if self.overlong > self.max_tokens:
            raise ValueError(f"Expected overlong of at most max_tokens ({self.max_tokens}), got {self.overlong}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON takes them."""
        return dataclasses.asdict(self)
