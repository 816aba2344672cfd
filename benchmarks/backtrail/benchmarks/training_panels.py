"""What the plots of a training report show, as data: which numbers of metrics.jsonl, in which panel, in what words."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["LEVELS", "PARTS", "PLOTS", "TRAINING", "Line", "Panel"]


class Line(NamedTuple):
    """A number to draw.

    Attributes:
        stage: The stage of its rows.
        name: Its key in them.
        label: What the legend calls it.
    """

    stage: str
    name: str
    label: str


class Panel(NamedTuple):
    """Lines that share their axes.

    Attributes:
        ylabel: What they measure.
        lines: The lines.
        share: Whether they are shares, shown as per cent.
        mark: Where to draw a dotted line; the axis reaches it.
    """

    ylabel: str
    lines: tuple[Line, ...]
    share: bool = False
    mark: float | None = None


PARTS = {
    "environment": "environment",
    "generation": "generation",
    "probe": "check of the sampler",
    "posterior_score": "scoring by q_phi",
    "posterior_update": "update of q_phi",
    "update": "update of the policy",
    "sync": "weights to the sampler",
}
"""Numbers ``seconds/<key>`` and what they are called."""

LEVELS = {
    "state_visits": "same state and visits",
    "state": "same state",
    "task_attempt": "same task and attempt",
    "task": "same task",
    "episode": "same episode",
    "batch": "whole batch",
    "none": "none: no baseline",
}
"""Numbers ``advantage/level/<key>`` and what they are called."""

TRAINING, HELD_OUT = "rl", "rl-evaluation"
PLOTS: tuple[tuple[str, tuple[Panel, ...], str], ...] = (
    (
        "Success in training",
        (Panel("success rate", (Line(TRAINING, "success", "all rollouts"),), share=True),),
        "Share of the rollouts of an iteration that succeeded, in training rooms and at the temperature of training.",
    ),
    (
        "Steps of an episode",
        (Panel("steps", (Line(TRAINING, "steps", "training"), Line(HELD_OUT, "steps", "held-out rooms"))),),
        "Mean length of an episode. Those that fail run to the step limit.",
    ),
    (
        "Exploration",
        (
            Panel(
                "share of steps",
                (
                    Line(TRAINING, "exploration_degree", "exploration degree"),
                    Line(TRAINING, "revisit_rate", "revisit rate"),
                ),
                share=True,
            ),
        ),
        (
            "Exploration degree: steps taken in a state that is new in the episode (our definition; the paper gives none). "
            "Revisit rate: all others."
        ),
    ),
    (
        "Mistakes",
        (
            Panel(
                "share of steps",
                (
                    Line(TRAINING, "invalid_rate", "response lacks the form"),
                    Line(TRAINING, "error_rate", "action not accepted"),
                ),
                share=True,
            ),
        ),
        "Responses without the required form, and actions that the environment did not take.",
    ),
    (
        "Entropy",
        (
            Panel(
                "nats a token",
                tuple(Line(TRAINING, f"entropy/{part}", part) for part in ("explore", "memory", "action")),
                mark=0.0,
            ),
        ),
        "Mean entropy of the policy over the tokens of each part of a response. One that falls to 0 has collapsed.",
    ),
    (
        "Exploration reward",
        (
            Panel(
                "mean reward",
                (
                    Line(TRAINING, "explore/won", "won trajectories"),
                    Line(TRAINING, "explore/lost", "lost trajectories"),
                ),
                mark=0.0,
            ),
            Panel("AUC", (Line(TRAINING, "explore/auc", "AUC"),), mark=0.5),
        ),
        (
            "Reward of a step for its explore and memory texts. AUC: the chance that a step of a won trajectory earns more "
            "than one of a lost trajectory; at the dotted 0.5 the reward does not tell them apart."
        ),
    ),
    (
        "Steps that teach nothing",
        (
            Panel(
                "share of steps",
                (
                    Line(TRAINING, "advantage/singleton", "alone in the group"),
                    Line(TRAINING, "advantage/zero_variance", "group all alike"),
                    Line(TRAINING, "advantage/zero_advantage", "no advantage"),
                ),
                share=True,
            ),
        ),
        (
            "Alone: the group of the first key is too small, before any fallback. All alike: all in the group earn the same. "
            "No advantage: the step has no part in the update."
        ),
    ),
    (
        "Size of the update",
        (
            Panel(
                "share of tokens",
                (
                    Line(TRAINING, "clipped_low", "clipped below"),
                    Line(TRAINING, "clipped_high", "clipped above"),
                ),
                share=True,
            ),
            Panel("gradient norm", (Line(TRAINING, "grad_norm", "gradient norm"),), mark=0.0),
        ),
        "Share of tokens whose ratio was clipped, and the norm of the gradient before it was cut.",
    ),
    (
        "Imitation",
        (
            Panel("loss of the warm start", (Line("sft", "loss", "demonstrations"),), mark=0.0),
            Panel("loss of the rollback stage", (Line("rollback", "loss", "rollbacks"),), mark=0.0),
        ),
        "Cross-entropy a token in the stages before the loop, by optimiser step.",
    ),
)
"""Title, panels and caption of each plot of lines."""
