"""Record: episodes on disk that play again, step by step."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from PIL import Image

from backtrail.envs import Fingerprint, Record, Rollback, VisitCount, make_vec
from backtrail.envs.testing import Corridor
from backtrail.envs.wrappers.record import read_episode, replay


class Painter(gym.Env):
    """Shows a picture and a number; actions move a dot."""

    observation_space = spaces.Dict(
        screenshot=spaces.Box(0, 255, (8, 6, 3), np.uint8), count=spaces.Box(0, 99, (1,), np.float32)
    )
    action_space = spaces.Dict(x=spaces.Discrete(6), y=spaces.Discrete(8))

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        super().reset(seed=seed)
        self.screen = self.np_random.integers(256, size=(8, 6, 3), dtype=np.uint8)
        return self._look(), {}

    def step(self, action: dict[str, int]) -> tuple[Any, float, bool, bool, dict]:
        self.screen[action["y"], action["x"]] = 255
        return self._look(), 0.5, False, False, {}

    def _look(self) -> dict[str, np.ndarray]:
        return {"screenshot": self.screen.copy(), "count": np.array([(self.screen == 255).sum() % 99], np.float32)}


def play(env: Record, seed: int | None, actions: list[Any]) -> Path:
    env.reset(seed=seed)
    for action in actions:
        env.step(action)
    assert env.path is not None
    return env.path


@pytest.mark.parametrize("seed", [3, None])
@pytest.mark.parametrize(
    ("make", "actions"),
    [
        (lambda: Corridor(4), ["right", "sing", "left", ""]),
        (lambda: gym.make("FrozenLake-v1"), [2, 1, 2, 1]),
        (lambda: gym.make("CartPole-v1"), [1, 0, 1]),
        (Painter, [{"x": 1, "y": 2}, {"x": 5, "y": 7}]),
    ],
)
def test_a_record_plays_again(tmp_path: Path, make: Any, actions: list[Any], seed: int | None) -> None:
    path = play(Record(VisitCount(Fingerprint(make())), tmp_path), seed, actions)
    found = replay(path, VisitCount(Fingerprint(make())))
    assert found.exact and found.steps == len(actions), found.differences


def test_a_changed_world_is_noticed(tmp_path: Path) -> None:
    path = play(Record(Fingerprint(Corridor(4)), tmp_path), 3, ["right", "left"])
    found = replay(path, Fingerprint(Corridor(5)))
    assert not found.exact
    assert any("fingerprint" in line for line in found.differences)


def test_pictures_are_png_beside_the_lines(tmp_path: Path) -> None:
    env = Record(Painter(), tmp_path)
    path = play(env, 0, [{"x": 1, "y": 2}])
    name = read_episode(path)[1]["observation"]["screenshot"]["png"]
    picture = np.asarray(Image.open(tmp_path / name))
    assert (picture == env.unwrapped.screen).all()  # pyright: ignore[reportAttributeAccessIssue]


def test_numbers_go_on_and_nothing_is_overwritten(tmp_path: Path) -> None:
    for _ in range(2):
        env = Record(Corridor(3), tmp_path)
        play(env, 0, [])
        play(env, 1, ["right"])
        env.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"episode-{n:06d}.jsonl" for n in range(4)]


def test_notes_go_with_the_next_step(tmp_path: Path) -> None:
    env = Record(Corridor(3), tmp_path)
    env.reset(seed=0)
    env.annotate(response="<action>right</action>", usage={"tokens": 3})
    env.step("right")
    env.step("left")
    env.close()
    assert env.path is not None
    _, first, second = read_episode(env.path)
    assert first["note"] == {"response": "<action>right</action>", "usage": {"tokens": 3}} and "note" not in second


def test_a_killed_writer_loses_at_most_its_last_line(tmp_path: Path) -> None:
    path = play(Record(Corridor(4), tmp_path), 0, ["right", "left"])
    whole = path.read_text()
    path.write_text(whole[:-20])
    assert len(read_episode(path)) == 2
    path.write_text(whole.replace("right", 'ri"ght', 1))
    with pytest.raises(ValueError, match=r"line [12],"):
        read_episode(path)
    path.write_text("hello\n")
    with pytest.raises(ValueError, match="damaged"):
        read_episode(path)
    path.write_text('{"format": "other"}\n')
    with pytest.raises(ValueError, match="backtrail-episode-1"):
        read_episode(path)


def test_wrong_actions_are_recorded_as_they_were(tmp_path: Path) -> None:
    env = Record(Corridor(3), tmp_path)
    path = play(env, 0, ["x" * 500, "\ud800"])
    assert [row["action"] for row in read_episode(path)[1:]] == ["x" * 500, "\ud800"]
    assert replay(path, Corridor(3)).exact
    with pytest.raises(gym.error.ResetNeeded):
        Record(Corridor(3), tmp_path / "new").step("left")


def test_lines_are_json_of_plain_values(tmp_path: Path) -> None:
    path = play(Record(Fingerprint(gym.make("CartPole-v1")), tmp_path), 0, [0])
    head = json.loads(path.read_text().split("\n")[0])
    assert head["seed"] == 0 and head["format"] == "backtrail-episode-1" and "CartPole" in head["env"]


def test_a_trainers_rollback_is_recorded_and_played_again(tmp_path: Path) -> None:
    env = Record(VisitCount(Fingerprint(Rollback(Corridor(5)))), tmp_path)
    env.reset(seed=1)
    for action in ("right", "left", "sing"):
        env.step(action)
    env.rollback(2)
    env.step("rollback")
    env.close()
    assert env.path is not None
    found = replay(env.path, VisitCount(Fingerprint(Rollback(Corridor(5)))))
    assert found.exact and found.steps == 5, found.differences


def test_another_stack_is_refused(tmp_path: Path) -> None:
    path = play(Record(Fingerprint(Corridor(4)), tmp_path), 3, ["right"])
    with pytest.raises(ValueError, match="recorded with"):
        replay(path, Corridor(4))


def test_pictures_of_nested_spaces_have_names_of_their_own(tmp_path: Path) -> None:
    eye = spaces.Dict({"img/x": spaces.Box(0, 255, (2, 2, 3), np.uint8)})

    class Eyes(Painter):
        observation_space = spaces.Dict(left=eye, right=eye)

        def _look(self) -> Any:
            return {"left": {"img/x": self.screen[:2, :2].copy()}, "right": {"img/x": self.screen[2:4, 2:4].copy()}}

    env = Record(Eyes(), tmp_path)
    env.reset(seed=0)
    assert len(list(tmp_path.glob("*.png"))) == 2


@pytest.mark.parametrize("action", [[0.3], np.array([0.3]), np.array([0.3], np.float32)])
def test_actions_of_any_precision_are_played_as_they_were(tmp_path: Path, action: Any) -> None:
    path = play(Record(gym.make("Pendulum-v1"), tmp_path), 0, [action] * 3)
    assert replay(path, gym.make("Pendulum-v1")).exact


def test_many_record_into_one_folder(tmp_path: Path) -> None:
    (tmp_path / "episode-backup.jsonl").write_text("mine\n")
    for _ in range(2):
        envs = make_vec(functools.partial(_recorded, tmp_path), 4, "async")
        envs.reset(seed=0)
        envs.close()
    assert len(list(tmp_path.glob("episode-0*.jsonl"))) == 8


def _recorded(folder: Path) -> gym.Env:
    return Record(Corridor(3), folder)


@pytest.mark.parametrize("line", ["[1]", "5", "[" * 5000, '{"format": "backtrail-episode-1"}', '{"info": []}'])
def test_what_is_no_record_is_a_value_error(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(ValueError, match=r"x\.jsonl"):
        read_episode(path)
