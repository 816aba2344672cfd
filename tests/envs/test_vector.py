"""make_vec: text comes through, in this process and from spawned workers."""

from __future__ import annotations

import pytest

from backtrail.envs import Fingerprint, Rollback, VisitCount, make_vec
from backtrail.envs.testing import Corridor

ID = "backtrail/ALFWorld-v0"
SPLITS = {ID: "valid_seen", "backtrail/WebShop-v0": "test", "backtrail/AndroidWorld-v0": "test"}
WRAPPERS = (Fingerprint, VisitCount, Rollback)


def ends(action: str) -> bool:
    """Whether an action ends the episode."""
    return action == "click[buy now]" or '"status"' in action


def play(env_id: str, mode: str, context: str | None = None) -> list[object]:
    envs = make_vec(env_id, 3, mode, wrappers=WRAPPERS, context=context, split=SPLITS[env_id])  # pyright: ignore[reportArgumentType]
    observations, infos = envs.reset(seed=7)
    seen: list[object] = [observations["text"], list(infos["fingerprint"]), list(infos["task_id"])]
    for step in range(12):
        lists = [[action for action in names if not ends(action)] for names in infos["admissible_actions"]]
        actions = ["rollback" if step % 4 == 3 else possible[step % len(possible)] for possible in lists]
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        seen += [observations["text"], rewards.tolist(), list(infos["fingerprint"]), infos["visits"].tolist()]
        seen += [terminated.tolist(), truncated.tolist(), [list(names) for names in infos["admissible_actions"]]]
        if step % 4 == 3:
            assert list(infos["rollback"]["status"]) == ["exact"] * 3
    envs.close()
    return seen


@pytest.mark.parametrize("env_id", SPLITS)
@pytest.mark.parametrize("context", ["spawn", "fork"])
def test_async_equals_sync(env_id: str, context: str) -> None:
    assert play(env_id, "async", context) == play(env_id, "sync")


def test_any_function_that_makes_an_environment_will_do() -> None:
    envs = make_vec(Corridor, 2, "sync")
    observations, _ = envs.reset(seed=0)
    assert len(observations["text"]) == 2
    envs.close()


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="sync"):
        make_vec(ID, 2, "ray")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="at least 1"):
        make_vec(ID, 0)
