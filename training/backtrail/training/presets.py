"""What the methods are, as differences from `Config`'s defaults. docs/training.md maps each switch to its paper."""

from __future__ import annotations

from typing import Any

from backtrail.training.config import Config

__all__ = ["PRESETS", "TINY", "preset"]

_STATE_GROUPS: dict[str, Any] = {
    "returns": "to_go",
    "groups": (("state_visits", 1.0),),
    "fallback": ("state", "task"),
    "norm": "batch",
}
_EAPO: dict[str, Any] = {**_STATE_GROUPS, "alpha_format": 0.1, "explore": "posterior", "alpha_explore": 0.05}

PRESETS: dict[str, dict[str, Any]] = {
    "sft": {"iterations": 0},
    "grpo": {"aggregation": "sequence"},
    "dr-grpo": {"aggregation": "constant", "norm": "none"},
    "dapo": {"clip_high": 0.28, "dynamic_sampling": 3, "overlong": 16},
    "gigpo": {"returns": "to_go", "groups": (("task", 1.0), ("state", 1.0)), "norm": "none"},
    "lamer": {"returns": "lamer", "attempts": 3, "groups": (("task_attempt", 1.0), ("state", 1.0)), "norm": "none"},
    "sge": {
        "temperature": 0.7,
        "explore_temperature": 1.2,
        "reflect_negative": 0.25,
        "reflect_positive": 0.1,
        "dynamic_sampling": 3,
    },
    "eapo": _EAPO,
    "eapo-released": {
        **_EAPO,
        "alpha_format": 0.5,
        "alpha_explore": 1.0,
        "format_reward": "bonus",
        "count_twice": True,
        "centre_explore": False,
        "gate": False,
        "probability": "sequence",
        "posterior_update": "sample_before",
        "posterior_rank": 0,
        "posterior_kl": 1.0,
        "fallback": (),
        "singleton": "raw",
        "norm": "group",
    },
    "eapo-no-explore": {**_EAPO, "explore": "none", "alpha_explore": 0.0},
    "eapo-no-grouping": {**_EAPO, "groups": (("task", 1.0),), "fallback": (), "returns": "episode"},
    "eapo-no-format": {**_EAPO, "alpha_format": 0.0},
    "naive-explore": {"explore": "novelty", "alpha_explore": 0.2, "centre_explore": False},
}
"""Method to its settings."""

TINY: dict[str, Any] = {
    "sft_steps": 2000,
    "sft_batch": 24,
    "sft_lr": 3e-3,
    "demonstrations": 4000,
    "forgetful": 0.5,
    "noise": 0.3,
    "disturb": 0.15,
    "rollback_steps": 200,
    "rollback_pairs": 4000,
    "rollback_lr": 1e-3,
    "iterations": 16,
    "tasks": 12,
    "group": 8,
    "temperature": 0.7,
    "lr": 5e-4,
    "max_steps": 12,
    "max_tokens": 48,
    "micro_tokens": 3000,
    "posterior_rows": 128,
    "posterior_lr": 1e-3,
    "eval_every": 8,
    "eval_episodes": 200,
    "save_every": 8,
}
"""Settings for the tiny model on two CPU cores, whatever the method."""


def preset(name: str, **changes: Any) -> Config:
    """Return the settings of a method.

    Args:
        name: One of `PRESETS`.
        changes: Further settings, by the names of `Config`.

    Raises:
        ValueError: If there is no such method.
        TypeError: If there is no such setting.

    Example:
        >>> preset("gigpo", tasks=4).groups
        (('task', 1.0), ('state', 1.0))
    """
    if name not in PRESETS:
        raise ValueError(f"Expected a preset of {', '.join(PRESETS)}, got {name!r}")
    return Config(**(PRESETS[name] | changes))
