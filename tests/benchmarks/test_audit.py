"""The audit finds nothing in ALFWorld, and finds what is planted."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest
from typer.testing import CliRunner

from backtrail.benchmarks.audit import audit_fingerprints, audit_rollback, audit_scores
from backtrail.benchmarks.commands import app
from backtrail.envs.alfworld import ALFWorldEnv
from backtrail.envs.alfworld.tasks import Tasks

ID = "backtrail/ALFWorld-v0"
VALID: dict[str, Any] = {"split": "valid_seen"}
IDS = Tasks("generated", "valid_seen", None, "numbered").ids[::20]


class Blurred(ALFWorldEnv):
    """Its fingerprint does not know where the agent is."""

    def fingerprint(self) -> str:
        return super().fingerprint() if self._state.location % 3 else "somewhere"


class Nervous(ALFWorldEnv):
    """Its fingerprint depends on more than the state."""

    counter = itertools.count()

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} {next(self.counter) % 2}"


class Generous(ALFWorldEnv):
    """Anything wins."""

    def step(self, action: str) -> Any:
        observation, _, _, _, info = super().step(action)
        return observation, 1.0, True, False, {**info, "success": True}


class Hopeless(ALFWorldEnv):
    """Nothing wins."""

    def step(self, action: str) -> Any:
        observation, _, _, truncated, info = super().step(action)
        return observation, 0.0, False, truncated, {**info, "success": False}


class Slippery(ALFWorldEnv):
    """Restores another place."""

    def restore(self, snapshot: Any) -> Any:
        result = super().restore(snapshot)
        self._state = self._state._replace(opened=self._state.opened ^ 1)
        return result


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    kinds = (Blurred, Nervous, Generous, Hopeless, Slippery)
    for kind in kinds:
        gym.register(f"test/{kind.__name__}-v0", lambda kind=kind, **kwargs: kind(**kwargs), max_episode_steps=50)
    yield
    for kind in kinds:
        del gym.registry[f"test/{kind.__name__}-v0"]


def test_scores() -> None:
    found = audit_scores(ID, IDS, VALID)
    assert found.sound and found.tasks == len(IDS) and sum(found.plan_lengths.values()) == len(IDS)
    assert audit_scores("test/Generous-v0", IDS, VALID).null_wins == list(IDS)
    assert audit_scores("test/Hopeless-v0", IDS[:3], VALID).oracle_losses == list(IDS[:3])


def test_fingerprints() -> None:
    found = audit_fingerprints(ID, "physical", 500, VALID)
    assert found.sound and found.states == found.fingerprints > 100 and found.futures > 100
    assert audit_fingerprints(ID, "observation", 500, VALID).collisions
    blurred = audit_fingerprints("test/Blurred-v0", "physical", 500, VALID)
    assert blurred.collisions and blurred.forks and not blurred.sound
    assert audit_fingerprints("test/Nervous-v0", "physical", 300, VALID).splits


def test_rollback() -> None:
    restored, acted = (audit_rollback(ID, method, 400, VALID) for method in ("restore", "act"))
    assert restored.totals == {"exact": 400} and acted.totals.total() == 400
    assert acted.verbs["open"]["exact"] == acted.verbs["open"].total()
    assert "exact" not in acted.verbs.get("slice", {})
    assert set(audit_rollback("test/Slippery-v0", "restore", 50, VALID).totals) != {"exact"}


def test_the_command() -> None:
    arguments = ["audit", "alfworld", "--split", "valid_seen", "-n", "6", "--steps", "200", "--pairs", "100"]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0 and "Sound." in shown.stdout and "collisions" in shown.stdout
    found = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert found["sound"] and found["scores"]["valid_seen"]["tasks"] == 6
    assert CliRunner().invoke(app, ["audit", "atari"]).exit_code == 2


@pytest.mark.textworld
@pytest.mark.usefixtures("textworld")
def test_the_parity_command() -> None:
    arguments = [
        "audit",
        "alfworld",
        "--parity",
        "--split",
        "valid_seen",
        "--games",
        "1",
        "--game-steps",
        "5",
        "--json",
    ]
    found = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert (found["games"], found["steps"], found["differences"]) == (6, 30, [])
