"""Which games there are, and what a wrong wish is answered."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from backtrail.envs.alfworld.game import GameError
from backtrail.envs.alfworld.tasks import SPLITS, Tasks, find_root

ID = "backtrail/ALFWorld-v0"


def put_game(root: Path, task_id: str, content: str = '{"solvable": true}') -> None:
    path = root / task_id / "game.tw-pddl"
    path.parent.mkdir(parents=True)
    path.write_text(content)


@pytest.mark.official
def test_the_official_splits_have_their_sizes(official: Path) -> None:
    assert [len(Tasks(str(official), split, None, "numbered").ids) for split in SPLITS] == [3553, 140, 134]
    looks = Tasks(str(official), "valid_unseen", ["look_at_obj_in_light"], "numbered").ids
    assert len(looks) == 18 and all("/look_at_obj_in_light-" in i for i in looks)


@pytest.mark.official
def test_the_folder_is_found_by_argument_and_by_variable(official: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (official, official / "json_2.1.1"):
        if folder.is_dir():
            assert gym.make(ID, data=str(folder), split="valid_seen").reset(seed=0)[1]["data"] == "alfworld:json_2.1.3"
    monkeypatch.setenv("ALFWORLD_DATA", str(official))
    assert gym.make(ID, data="official", split="valid_seen").reset(seed=0)[1]["data"] == "alfworld:json_2.1.3"
    assert gym.make(ID).reset(seed=0)[1]["data"] == "generated:v1", "the variable alone changes nothing"


def test_ids_are_sorted_relative_folders_without_movable_sliced_and_unsolvable(tmp_path: Path) -> None:
    for task_id in ("train/pick_and_place_simple-B-None-C-1/trial_2", "train/pick_and_place_simple-A-None-C-1/trial_1"):
        put_game(tmp_path, task_id)
    put_game(tmp_path, "train/pick_and_place_with_movable_recep-A-B-C-1/trial_1")
    put_game(tmp_path, "train/pick_cool_then_place_in_recep-AppleSliced-None-C-1/trial_1")
    put_game(tmp_path, "train/pick_and_place_simple-Z-None-C-1/trial_1", '{"solvable": false}')
    (tmp_path / "train" / "pick_and_place_simple-Empty-None-C-1").mkdir()
    assert Tasks(str(tmp_path), "train", None, "numbered").ids == (
        "train/pick_and_place_simple-A-None-C-1/trial_1",
        "train/pick_and_place_simple-B-None-C-1/trial_2",
    )


def test_an_empty_folder_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError, match="backtrail data alfworld"):
        gym.make(ID, data=str(tmp_path))
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        gym.make(ID, data="official")
    (tmp_path / "train").mkdir()
    assert find_root(tmp_path) == tmp_path.resolve()
    with pytest.raises(FileNotFoundError, match="No ALFWorld games"):
        gym.make(ID, data=str(tmp_path))


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"split": "test"}, "valid_unseen"),
        ({"task_types": ["cook"]}, "pick_two_obj_and_place"),
        ({"task_id": "train/nothing/0000"}, "ids look like"),
        ({"task_id": 3}, "ids look like"),
        ({"task_id": "../../etc/passwd"}, "ids look like"),
        ({"names": "roman"}, "numbered"),
        ({"engine": "turbo"}, "textworld"),
        ({"fingerprint": "vague"}, "physical"),
    ],
)
def test_wrong_arguments(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gym.make(ID, **kwargs)


def test_a_wrong_task_at_reset_leaves_the_episode(tmp_path: Path) -> None:
    env = gym.make(ID).unwrapped
    env.reset(seed=0)
    before = env.get_wrapper_attr("fingerprint")()
    with pytest.raises(ValueError, match="Unknown task id"):
        env.reset(options={"task_id": "train/look_at_obj_in_light/9999"})
    assert env.get_wrapper_attr("fingerprint")() == before
    env.step("look")


@pytest.mark.official
def test_a_damaged_game_at_reset_leaves_the_episode(official: Path, tmp_path: Path) -> None:
    good, bad = Tasks(str(official), "valid_seen", None, "numbered").ids[:2]
    root = find_root(official)
    shutil.copytree(root / good, tmp_path / good)
    put_game(tmp_path, bad, json.dumps({"pddl_domain": "", "grammar": "", "pddl_problem": ""}))
    env = gym.make(ID, data=str(tmp_path), split="valid_seen").unwrapped
    _, info = env.reset(options={"task_id": good})
    with pytest.raises(GameError, match=bad.replace(".", r"\.")):
        env.reset(options={"task_id": bad})
    assert env.step("look")[4]["task_id"] == info["task_id"]
