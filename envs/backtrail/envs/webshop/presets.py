"""How published set-ups use WebShop: which goals, which split, which reward, how many steps."""

from __future__ import annotations

from typing import Any

__all__ = ["PRESETS", "preset"]

PRESETS: dict[str, dict[str, Any]] = {
    "princeton": {
        "goals": "human",
        "split_by": "princeton",
        "reward": "tenfold",
        "strict": True,
        "max_episode_steps": 100,
    },
    "agentbench": {
        "goals": "human",
        "split_by": "agentbench",
        "reward": "score",
        "strict": True,
        "max_episode_steps": 20,
    },
    "agentgym": {
        "goals": "synthetic",
        "split_by": "agentgym",
        "reward": "score",
        "strict": True,
        "max_episode_steps": 50,
    },
    "verl-agent": {
        "goals": "synthetic",
        "split_by": "verl-agent",
        "reward": "win",
        "strict": True,
        "max_episode_steps": 15,
    },
    "ragen": {"goals": "synthetic", "split_by": "ragen", "reward": "score", "strict": True, "max_episode_steps": 9},
}
"""Name to the arguments of ``gymnasium.make("backtrail/WebShop-v0", ...)``.

- princeton (WebShop's own baselines): human goals, 0 to 499 test, 500 to 1,499 valid, the rest train; rewards times ten; 100
  steps.
- agentbench (AgentBench): human goals, 0 to 199 test, 1,000 to 11,999 train; 20 rounds.
- agentgym (AgentGym): the synthetic goals of the 1,000 products, all in one pool; its lists of task ids decide what is trained
  on, so every split holds all goals here. Its controller sets the number of rounds; 50 is ours. Build the catalogue with
  ``--goal-seed 233``, as AgentGym draws the price limits.
- verl-agent (GiGPO): synthetic goals, 0 to 499 test, the rest train; 10 for a perfect purchase, else 0; 15 steps. There every
  group of environments shuffles the goals with a seed of its own, which lets the two sets overlap; here they never do.
- ragen (RAGEN): synthetic goals, 0 to 499 test, 500 to 1,499 valid, the rest train; 9 actions. Its further permutation only
  changes which seed means which goal.
"""


def preset(name: str) -> dict[str, Any]:
    """Return a published set-up as arguments of ``gymnasium.make``.

    Raises:
        ValueError: If there is none of that name.

    Example:
        >>> preset("verl-agent")["max_episode_steps"]
        15
    """
    if name not in PRESETS:
        raise ValueError(f"Expected a preset among {', '.join(PRESETS)}, got {name!r}")
    return dict(PRESETS[name])
