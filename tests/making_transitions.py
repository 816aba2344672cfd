"""Transitions for tests, without a model or an environment: one, a trajectory, or batches that hypothesis draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from backtrail.training.transition import Transition


def transition(*, tokens: int = 2, **overrides: Any) -> Transition:
    """Return a valid first step that says something and earns nothing, with a response of so many tokens."""
    fields: dict[str, Any] = {
        "task_id": "task",
        "episode": "episode",
        "step": 0,
        "goal": "open the door",
        "observation": "a hall",
        "next_observation": "a room",
        "explore": "the door may be locked",
        "memory": "the key is in the hall",
        "explore_before": "look for a key",
        "memory_before": "a door in the hall",
        "action": "take key",
        "valid": True,
        "fingerprint": "hall",
        "visits": 0,
        "reward": 0.0,
        "success": False,
        "prompt_ids": (1, 2, 3),
        "token_ids": tuple(range(4, 4 + tokens)),
    } | overrides
    length = len(fields["token_ids"])
    fields = {"logprobs": (-0.5,) * length, "temperatures": (1.0,) * length, **fields}
    return Transition(**fields)


def rollout(
    episode: str,
    rewards: Sequence[float],
    *,
    states: Sequence[str] = (),
    attempt: int = 0,
    step: int = 0,
    **overrides: Any,
) -> list[Transition]:
    """Return one attempt of a trajectory, a step for each reward.

    Args:
        episode: Its name.
        rewards: What each step earns.
        states: The fingerprint of each step, from which visits are counted; by default all different.
        attempt: Which attempt.
        step: Number of its first step.
        overrides: Fields of all steps.
    """
    states = states or [f"state {number}" for number in range(len(rewards))]
    seen: Counter[str] = Counter()
    steps = []
    for number, (reward, state) in enumerate(zip(rewards, states, strict=True)):
        fields: dict[str, Any] = {"fingerprint": state, "visits": seen[state], "reward": reward} | overrides
        steps.append(transition(episode=episode, attempt=attempt, step=step + number, **fields))
        seen[state] += 1
    return steps


@st.composite
def batches(draw: st.DrawFn, *, attempts: int = 1) -> list[Transition]:
    """Draw trajectories of two tasks over three states, in any order of rows, with reflections between attempts."""
    rows: list[Transition] = []
    for number in range(draw(st.integers(1, 6))):
        task_id, step = draw(st.sampled_from("ab")), 0
        for attempt in range(draw(st.integers(1, attempts))):
            common: dict[str, Any] = {"task_id": task_id, "episode": f"episode {number}", "attempt": attempt}
            if attempt:
                rows.append(transition(step=step, reflection=True, **(common | {"attempt": attempt - 1})))
                step += 1
            rewards = draw(st.lists(st.sampled_from([0.0, 0.0, 0.5, 1.0]), min_size=1, max_size=5))
            states = draw(st.lists(st.sampled_from("xyz"), min_size=len(rewards), max_size=len(rewards)))
            texts = st.sampled_from(["", " ", "something"])
            for row in rollout("", rewards, states=states, step=step):
                changes = {"valid": draw(st.booleans()), "explore": draw(texts), "memory_before": draw(texts)}
                changes |= {name: getattr(row, name) for name in ("fingerprint", "visits", "reward", "step")}
                rows.append(transition(tokens=draw(st.integers(1, 9)), **changes, **common))
            step += len(rewards)
    return draw(st.permutations(rows))
