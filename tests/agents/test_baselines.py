"""The baseline agents, on real environments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from backtrail.agents import Agent, AgentError, Expert, Human, Null, Random, Replay, Task, Turn
from backtrail.envs import Fingerprint, Record
from backtrail.envs.testing import Corridor

ID = "backtrail/ALFWorld-v0"


def play(agent: Agent, env: gym.Env, seed: int = 0, limit: int = 60) -> tuple[bool, list[str]]:
    observation, info = env.reset(seed=seed)
    agent.reset(Task(ID, info["task_id"], observation["goal"], seed))
    actions = []
    for _ in range(limit):
        actions.append(agent.act(observation, info).action)
        observation, _, terminated, truncated, info = env.step(actions[-1])
        if terminated or truncated:
            break
    return info["success"], actions


def test_the_expert_wins_and_the_null_agent_does_not() -> None:
    expert = Expert()
    for seed in range(10):
        assert play(expert, gym.make(ID, **expert.env_options), seed)[0]
        assert not play(Null(), gym.make(ID), seed)[0]


def test_the_expert_needs_a_plan_to_follow() -> None:
    with pytest.raises(AgentError, match="no expert"):
        play(Expert(), Corridor(3))


def test_the_random_agent_draws_by_the_seed_of_the_task() -> None:
    walks = [play(Random(), gym.make(ID), seed)[1] for seed in (1, 1, 2)]
    assert walks[0] == walks[1] != walks[2]
    assert len(set(walks[0])) > 10
    with pytest.raises(AgentError, match="lists none"):
        agent = Random()
        agent.reset(Task(ID, "", ""))
        agent.act({}, {"admissible_actions": []})


def test_a_recorded_run_is_repeated(tmp_path: Path) -> None:
    recorded = [play(Random(), Record(Fingerprint(gym.make(ID)), tmp_path), seed)[1] for seed in range(3)]
    agent = Replay(tmp_path)
    for seed, actions in enumerate(recorded):
        assert play(agent, gym.make(ID), seed)[1] == actions
    with pytest.raises(AgentError, match="No recorded episode of 'elsewhere'"):
        agent.reset(Task(ID, "elsewhere", ""))
    with pytest.raises(AgentError, match="found none"):
        Replay(tmp_path / "empty")


def test_a_person_can_ask_what_is_possible_and_leave(capsys: pytest.CaptureFixture[str]) -> None:
    lines = iter(["?", "right"])

    def ask(prompt: str) -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    agent = Human(ask)
    observation: dict[str, Any] = {"goal": "", "text": "room 0"}
    assert agent.act(observation, {"admissible_actions": ["left", "right"], "action_error": "no such door"}) == Turn(
        "right"
    )
    shown = capsys.readouterr().err
    assert "room 0" in shown and "no such door" in shown and "left\nright" in shown
    with pytest.raises(AgentError, match="closed"):
        agent.act(observation, {})


def test_an_agent_is_a_few_lines() -> None:
    class Walker(Agent):
        name = "walker"

        def act(self, observation: Any, info: Any) -> Turn:
            return Turn("right" if "right" in info["admissible_actions"] else "open")

    assert play(Walker(), Corridor(6)) == (True, ["right"] * (len(play(Walker(), Corridor(6))[1]) - 1) + ["open"])
    with pytest.raises(TypeError):
        Agent()  # pyright: ignore[reportAbstractUsage]
