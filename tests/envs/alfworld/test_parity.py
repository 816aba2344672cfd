"""The native engine against the original stack, byte for byte (a slice; ``backtrail audit alfworld --parity`` does more)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from backtrail.benchmarks.parity import Parity, compare
from backtrail.envs import Snapshot, SnapshotError, testing
from backtrail.envs.alfworld import ALFWorldEnv
from backtrail.envs.alfworld.goal import TASK_TYPES
from backtrail.envs.alfworld.tasks import SPLITS, Tasks

pytestmark = [pytest.mark.textworld, pytest.mark.usefixtures("textworld")]


def gather(data: str, ids: list[str], steps: int, **kwargs: Any) -> Parity:
    total = Parity()
    for found in compare(data, ids, steps, workers=2, **kwargs):
        total.add(found)
    return total


@pytest.mark.official
@pytest.mark.slow
def test_official_games_of_every_split_and_type(official: Path) -> None:
    ids = []
    for split in SPLITS:
        for kind in TASK_TYPES:
            found = Tasks(str(official), split, [kind], "numbered").ids
            ids += [found[0], found[len(found) // 2]][: 2 if split == "train" else 1]
    total = gather(str(official), ids, 84, seed=1)
    assert total.games == 24 and total.steps >= 2000 and total.invalid > 0.12 * total.steps
    assert not total.differences
    assert {"go", "take", "move", "open", "heat", "cool", "clean", "use", "examine", "inspect", "look"} <= set(
        total.verbs
    )


def test_generated_games() -> None:
    ids = [f"valid_unseen/{kind}/0003" for kind in TASK_TYPES]
    total = gather("generated", ids[:3], 40, seed=2)
    assert total.steps == 120 and not total.differences


def test_names_as_textworld_shows_them() -> None:
    total = gather("generated", ["valid_seen/pick_and_place_simple/0001"], 30, names="textworld")
    assert not total.differences


def test_the_original_stack_keeps_the_laws_too() -> None:
    def make() -> gym.Env:
        return gym.make("backtrail/ALFWorld-v0", engine="textworld", task_id="valid_seen/look_at_obj_in_light/0002")

    walk = [3, 1, 4, 1, 5]
    for law in (testing.check_restore, testing.check_bytes, testing.check_undo):
        law(make, 0, walk)


def test_both_engines_give_the_same_fingerprints() -> None:
    task_id = "valid_seen/pick_clean_then_place_in_recep/0004"
    envs = [gym.make("backtrail/ALFWorld-v0", engine=engine, task_id=task_id) for engine in ("native", "textworld")]
    plan = gym.make("backtrail/ALFWorld-v0", task_id=task_id, expert=True).reset(seed=0)[1]["expert_plan"]
    shown: list[tuple[Any, ...]] = [env.reset(seed=0) for env in envs]
    for action in [*plan, "dance"]:
        assert shown[0] == shown[1]
        assert envs[0].get_wrapper_attr("fingerprint")() == envs[1].get_wrapper_attr("fingerprint")()
        shown = [env.step(action) for env in envs]
    assert shown[0] == shown[1] and shown[0][4]["success"]


def test_the_original_stack_refuses_snapshots_of_the_native_engine() -> None:
    task_id = "valid_seen/look_at_obj_in_light/0002"
    native, original = (ALFWorldEnv(engine=engine, task_id=task_id) for engine in ("native", "textworld"))
    for env in (native, original):
        env.reset(seed=0)
    with pytest.raises(SnapshotError, match="alfworld-replay"):
        original.restore(native.snapshot())
    place = original.snapshot()
    here = original.fingerprint()
    moved = ((*place.payload[0][:1], 0, *place.payload[0][2:]), *place.payload[1:])
    for payload in (moved, (*place.payload[:-1], (3,))):
        with pytest.raises(SnapshotError):
            original.restore(Snapshot(place.env, place.world, payload))
        assert original.fingerprint() == here
    original.step("look")
