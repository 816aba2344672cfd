"""Environments for trainers in the manner of verl-agent (GiGPO; LaMer's fork): all step at once, groups share a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backtrail.agents.response import parse
from backtrail.training.workers import Observed, Workers

__all__ = ["VerlAgentEnvironments"]


class VerlAgentEnvironments:
    """``groups`` times ``group_size`` environments; environment i belongs to group i // group_size.

    Anchor observations, by which GiGPO groups steps, are fingerprints. Prompts, ``uid`` and ``traj_uid`` are the trainer's.
    """

    def __init__(self, workers: Workers, groups: int, group_size: int, *, seed: int = 0, by_visits: bool = False):
        """Take over workers, one slot for each environment.

        Args:
            workers: Of any kind.
            groups: Tasks at once.
            group_size: Environments of each.
            seed: Of the first group; the groups of all resets count on from it.
            by_visits: Make anchors of fingerprint and visits: GiGPO then groups as EAPO does.

        Raises:
            ValueError: If the workers have another number of slots.
        """
        if workers.slots != groups * group_size:
            raise ValueError(f"Expected workers with {groups} x {group_size} slots, got {workers.slots}")
        self._workers, self._size, self._seed, self._by_visits = workers, group_size, seed, by_visits
        self._requests: list[tuple[int, int, str | None]] = []

    def reset(self, kwargs: Sequence[Mapping[str, Any]] | None = None) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Begin the episodes of new tasks.

        Args:
            kwargs: ``seed`` and ``task_id`` of each environment; None takes the next seed for each group.

        Returns:
            Observations (``text``: list of str, ``image``: list of arrays or None, ``anchor``: list of str) and infos.

        Raises:
            ValueError: If there are not kwargs for each environment.
        """
        n = self._workers.slots
        if kwargs is None:
            self._requests = [(slot, self._seed + slot // self._size, None) for slot in range(n)]
            self._seed += n // self._size
        else:
            given = zip(range(n), kwargs, strict=True)
            self._requests = [(slot, int(each.get("seed", 0)), each.get("task_id")) for slot, each in given]
        return self.restart()

    def restart(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Begin the episodes of the same tasks again (LaMer's next attempt)."""
        self._now = self._workers.reset(self._requests)
        return self._observations(), [_info(seen, True) for seen in self._now.values()]

    def step(self, text_actions: Sequence[str]) -> tuple[dict[str, Any], np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Carry out the actions in the responses; where an episode is over nothing happens any more, for no reward.

        Returns:
            Observations as of `reset`, rewards (float32, shape (n,)), dones (bool, shape (n,)) and infos, which have
            ``won``, ``is_action_valid`` and ``fault`` beside what the environment says.
        """
        parsed = [parse(text, ("action",)) for text in text_actions]
        given = {slot: each.action for slot, each in zip(range(self._workers.slots), parsed, strict=True)}
        seen = self._workers.step({slot: action for slot, action in given.items() if not self._now[slot].done})
        self._now |= seen
        rewards = np.array([seen[slot].reward if slot in seen else 0.0 for slot in given], np.float32)
        dones = np.array([observed.done for observed in self._now.values()])
        infos = [_info(self._now[slot], each.valid) for slot, each in enumerate(parsed)]
        return self._observations(), rewards, dones, infos

    def close(self) -> None:
        """Close the workers."""
        self._workers.close()

    def _observations(self) -> dict[str, Any]:
        seen = [(each.observation, each.info) for each in self._now.values()]
        images = [observation.get("screenshot") for observation, _ in seen]
        return {
            "text": [
                f"Goal: {observation.get('goal', '')}\n\n{observation.get('text', '')}" for observation, _ in seen
            ],
            "image": None if all(image is None for image in images) else images,
            "anchor": [f"{i['fingerprint']} {i['visits']}" if self._by_visits else i["fingerprint"] for _, i in seen],
        }


def _info(seen: Observed, valid: bool) -> dict[str, Any]:
    return {**seen.info, "won": bool(seen.info["success"]), "is_action_valid": np.array(valid), "fault": seen.fault}
