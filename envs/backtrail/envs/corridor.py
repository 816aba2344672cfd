"""A corridor with a door: the smallest explorable environment, for tests and examples."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium import spaces

from backtrail.envs.core import ExplorableEnv, Snapshot, SnapshotError, digest, sanitize_action
from backtrail.envs.spaces import FreeText

__all__ = ["Corridor"]


class Corridor(ExplorableEnv[dict[str, str], str]):
    """A corridor of rooms with a door at the far end.

    Actions are ``left``, ``right`` and ``open`` (at the last room, which wins).
    """

    metadata = {"render_modes": []}
    snapshot_kind = "native"

    def __init__(self, rooms: int = 5):
        """Make a corridor of ``rooms`` rooms; episodes begin in one of all but the last."""
        self.rooms = rooms
        space = spaces.Dict({"goal": FreeText(64), "text": FreeText(64)})
        self.observation_space = space  # pyright: ignore[reportAttributeAccessIssue]  # Gymnasium types Dict by its spaces
        self.action_space = FreeText(64)
        self._room, self._last = -1, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """Begin somewhere."""
        super().reset(seed=seed)
        self._room, self._last = int(self.np_random.integers(self.rooms - 1)), 0
        return self._observe(), self._info("")

    def step(self, action: str) -> tuple[dict[str, str], float, bool, bool, dict[str, Any]]:
        """Walk, or open the door."""
        if self._room < 0:
            raise gym.error.ResetNeeded("Expected reset() before step()")
        command, error = sanitize_action(action, 64)
        before, won = self._room, False
        if command in self._possible():
            self._room += {"left": -1, "right": 1}.get(command, 0)
            won = command == "open"
        else:
            error = error or f"expected one of {', '.join(self._possible())}, got {command!r}"
        self._last = self._room - before
        return self._observe(), float(won), won, False, self._info(error, won)

    def fingerprint(self) -> str:
        """Return the digest of the room."""
        return f"corridor-1:{digest(f'{self.rooms} {self._room}')}"

    def snapshot(self) -> Snapshot:
        """Return the room and the last step."""
        return Snapshot("corridor/1", str(self.rooms), (self._room, self._last))

    def restore(self, snapshot: Snapshot) -> tuple[dict[str, str], dict[str, Any]]:
        """Go to the room of a snapshot."""
        snapshot.check("corridor/1", str(self.rooms))
        match snapshot.payload:
            case (int(room), int(last)) if 0 <= room < self.rooms:
                self._room, self._last = room, last
            case other:
                raise SnapshotError(f"Expected a room below {self.rooms} and a step, got {other!r}")
        return self._observe(), self._info("")

    def undo_actions(self) -> list[str]:
        """Return the opposite step."""
        return {1: ["left"], -1: ["right"]}.get(self._last, [])

    def facts(self) -> frozenset[str]:
        """Return where the agent is."""
        return frozenset({f"in room {self._room}"})

    def _possible(self) -> list[str]:
        last = self._room == self.rooms - 1
        return [*(["left"] if self._room else []), "open" if last else "right"]

    def _observe(self) -> dict[str, str]:
        return {"goal": "find the door and open it", "text": f"room {self._room}"}

    def _info(self, error: str, won: bool = False) -> dict[str, Any]:
        common = {"task_id": f"corridor/{self.rooms}", "data": "corridor", "success": won}
        return {**common, "admissible_actions": self._possible(), "action_error": error}
