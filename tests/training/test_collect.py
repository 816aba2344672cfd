"""Rollouts: what is in a transition, what it does not depend on, and what a fault costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faulty_env import CRASH, HANG, RAISE

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from making_runs import RECIPE, SAMPLING, jobs, loaded, make_agent, roll

from backtrail.agents.base import Task
from backtrail.agents.models.base import Completion, MixedTemperature, Model, Prompt, Sampling
from backtrail.agents.models.hf import HFModel
from backtrail.agents.response import Response, parse, render
from backtrail.agents.sge import Plan, Reflection
from backtrail.training.collect import Job, collect, exploration, require
from backtrail.training.transition import Transition, trajectories
from backtrail.training.workers import EnvRecipe, Serial, Workers
from backtrail.training.workers_process import Processes, Threads

FAULTY = EnvRecipe("faulty_env:Faulty-v0")


class Scripted(Model):
    """Answers with what a function says to the text of a prompt; its tokens are bytes."""

    def __init__(self, say: Callable[[str], str]):
        self.name, self.details, self._say = "scripted", {}, say
        self.asked: list[tuple[Prompt, Sampling]] = []
        self.answers: list[Completion] = []

    def generate(self, prompts: Sequence[Prompt], sampling: Sequence[Sampling]) -> list[Completion]:
        assert prompts, "nobody is asked nothing"
        self.asked += zip(prompts, sampling, strict=True)
        found = [self._answer(prompt) for prompt in prompts]
        self.answers += found
        return found

    def _answer(self, prompt: Prompt) -> Completion:
        ids, text = tuple(prompt[-1].content.encode()), self._say(prompt[-1].content)
        tokens = tuple(text.encode()) or (0,)
        numbers = tuple(-0.01 * (place % 7) for place in range(len(tokens)))
        return Completion(text, "stop", len(ids), len(tokens), 0.0, ids, tokens, numbers, (1.0,) * len(tokens))


def does(action: str) -> str:
    return render(Response("here", "this", action))


def shown(step: Transition) -> str:
    """Return the prompt of a step of `Scripted`."""
    return bytes(step.prompt_ids).decode()


def without_rounding(steps: Sequence[Transition]) -> list[Transition]:
    return [replace(step, logprobs=(0.0,) * len(step.logprobs)) for step in steps]


# ---- what rollouts do not depend on


@pytest.fixture(scope="module")
def model(warm: Path) -> HFModel:
    return HFModel(loaded(warm))


@pytest.fixture(scope="module")
def alone(model: HFModel) -> list[Transition]:
    """Rollouts made one after the other."""
    return roll(model, jobs(6), Serial(RECIPE, 1)).transitions


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: Serial(RECIPE, 4), id="four slots"),
        pytest.param(lambda: Serial(RECIPE, 64), id="more slots than rollouts"),
        pytest.param(lambda: Threads(RECIPE, 3), id="threads"),
        pytest.param(lambda: Processes(RECIPE, 3, per_process=2), id="processes", marks=pytest.mark.slow),
    ],
)
def test_rollouts_do_not_depend_on_slots_or_workers(
    make: Callable[[], Workers], model: HFModel, alone: list[Transition]
):
    steps = roll(model, jobs(6), make()).transitions
    assert without_rounding(steps) == without_rounding(alone)
    for ours, theirs in zip(steps, alone, strict=True):
        np.testing.assert_allclose(ours.logprobs, theirs.logprobs, atol=1e-5)


def test_rollouts_do_not_depend_on_what_shares_a_call(model: HFModel, alone: list[Transition]):
    chosen = jobs(6)[1::2]
    names = {job.episode for job in chosen}
    steps = roll(model, [*reversed(chosen)]).transitions
    assert {step.episode for step in steps} == names
    expected = [step for job in reversed(chosen) for step in alone if step.episode == job.episode]
    assert without_rounding(steps) == without_rounding(expected)


def test_a_rollout_depends_on_its_seed_and_its_draw(alone: list[Transition]):
    starts = {step.episode: step for step in alone if step.step == 0}
    one, same_task, other = (starts[f"episode {place}"] for place in range(3))
    assert one.task_id == same_task.task_id and one.observation == same_task.observation
    assert one.token_ids != same_task.token_ids and one.task_id != other.task_id


# ---- what is in a transition


def test_transitions_are_what_the_model_and_the_environment_said():
    model = Scripted(lambda prompt: does("look") if "look" not in prompt else "no form")
    found = roll(model, jobs(3), Serial(RECIPE, 1))
    steps, env = found.transitions, RECIPE.make()
    assert [(answer.prompt_ids, answer.token_ids, answer.logprobs) for answer in model.answers] == [
        (step.prompt_ids, step.token_ids, step.logprobs) for step in steps
    ]
    for places in trajectories(steps):
        path = [steps[place] for place in places]
        job = next(job for job in jobs(3) if job.episode == path[0].episode)
        observation, info = env.reset(seed=job.seed)
        carried = ("", "")
        for step in path:
            assert (step.goal, step.observation) == (observation["goal"], observation["text"])
            assert (step.fingerprint, step.visits) == (info["fingerprint"], info["visits"])
            assert (step.explore_before, step.memory_before) == carried
            parsed = parse(bytes(step.token_ids).decode(), ("explore", "memory", "action"))
            assert (step.explore, step.memory) == (parsed.explore, parsed.memory)
            assert (step.action, step.valid) == (parsed.action, parsed.valid)
            observation, reward, terminated, truncated, info = env.step(step.action)
            assert step.next_observation == observation["text"] and step.action_error == info["action_error"]
            assert (step.reward, step.terminated, step.truncated) == (reward, terminated, truncated)
            carried = (parsed.explore or carried[0], parsed.memory or carried[1])
            assert step.mode == "plain" and not step.reflection and step.attempt == 0
        assert path[-1].truncated and len(path) == RECIPE.max_steps
    env.close()
    assert {job.episode for job in jobs(3)} == {step.episode for step in steps} and not found.faults


def test_a_prompt_is_the_agents_own_with_what_was_carried():
    model = Scripted(lambda prompt: does("look"))
    steps = roll(model, jobs(1)).transitions
    agent = make_agent(model, SAMPLING)
    agent.reset(Task("", steps[0].task_id, steps[0].goal, 0))
    for step in steps:
        prompt, _ = agent.request({"goal": step.goal, "text": step.observation}, {})
        assert shown(step) == prompt[-1].content
        agent.follow(parse(does("look"), agent.required))


def test_explored_shares_are_of_acting_steps():
    steps = roll(Scripted(lambda prompt: does("look")), jobs(1)).transitions
    found = exploration([*steps, replace(steps[0], step=4, reflection=True, valid=False)])
    assert found["exploration_degree"] == 0.25 and found["revisit_rate"] == 0.75, "looking goes nowhere"
    assert found["explore_rate"] == 1.0 and found["invalid_rate"] == found["error_rate"] == 0.0


def test_a_model_without_log_probabilities_is_refused():
    class Server(Scripted):
        def _answer(self, prompt: Prompt) -> Completion:
            return replace(super()._answer(prompt), logprobs=None)

    with pytest.raises(ValueError, match="hf or vllm"):
        roll(Server(does), jobs(1))


# ---- SGE


def test_a_reflection_is_in_the_prompt_that_is_learned_from():
    model = Scripted(lambda prompt: does("look"))
    hot = replace(SAMPLING, mixed=MixedTemperature("<explore>", "</explore>", 1.2))
    signs: dict[str, Any] = {"episode 0": None, "episode 1": "negative", "episode 2": "positive"}

    def plan(task_id: str, job: Job) -> Plan:
        sign = signs[job.episode]
        return Plan(hot, Reflection(sign, ("try the fridge",)) if sign else None)

    steps = roll(model, jobs(3), plan=plan).transitions
    for step in steps:
        assert step.mode == (signs[step.episode] or "plain")
        assert ("try the fridge" in shown(step)) == (step.mode != "plain"), "at each step"
        assert not step.reflection, "it acts"
    assert all(how.mixed == hot.mixed for _, how in model.asked)


# ---- LaMer


def attempts(
    say: Callable[[str], str], recipe: EnvRecipe = RECIPE, number: int = 3
) -> tuple[list[Transition], Scripted]:
    model = Scripted(say)
    return roll(model, jobs(1), Serial(recipe, 2), attempts=number).transitions, model


def lamer(prompt: str) -> str:
    if "This attempt failed" in prompt:
        return f"remark after {prompt.count('look')} looks"
    return does("look")


def test_attempts_that_fail_are_followed_by_a_remark_and_the_same_start():
    steps, model = attempts(lamer)
    length = RECIPE.max_steps
    assert [step.step for step in steps] == list(range(3 * length + 2))
    assert [step.attempt for step in steps] == [0] * (length + 1) + [1] * (length + 1) + [2] * length
    assert [step.step for step in steps if step.reflection] == [length, 2 * length + 1]
    starts = [steps[0], steps[length + 1], steps[2 * length + 2]]
    assert len({(step.observation, step.fingerprint, step.task_id, step.goal) for step in starts}) == 1
    assert all(step.visits == 0 and step.explore_before == step.memory_before == "" for step in starts)
    for step in steps:
        assert shown(step).count("remark after") == (0 if step.reflection else step.attempt)
    assert not any(step.success for step in steps)
    assert len({how.seed for _, how in model.asked}) == len(model.asked), "no two draws share their luck"


def test_a_remark_is_asked_for_with_what_was_done_and_remembered():
    steps, _ = attempts(lambda prompt: lamer(prompt) if "done:" in prompt or "this" not in prompt else "no form")
    remark = next(step for step in steps if step.reflection)
    assert "memory: this" in shown(remark), "what the last response left out is still in force"
    assert "done: look; " in shown(remark) and remark.goal in shown(remark)
    assert (remark.explore, remark.action, remark.reward) == ("", "", 0.0)
    assert remark.memory == bytes(remark.token_ids).decode() and remark.valid
    empty, _ = attempts(lambda prompt: "" if "This attempt failed" in prompt else does("look"))
    assert [step.valid for step in empty if step.reflection] == [False, False]


def test_success_is_that_of_the_attempt_and_ends_the_trajectory():
    recipe = EnvRecipe("faulty_env:Faulty-v0", max_steps=2)  # cut off before its third step, which succeeds
    steps, _ = attempts(lamer, recipe)
    assert len(steps) == 3 * 2 + 2 and not any(step.success for step in steps)
    steps, _ = attempts(lamer, FAULTY)
    assert len(steps) == 3 and all(step.success and step.attempt == 0 for step in steps) and steps[-1].terminated
    whole = EnvRecipe("backtrail/ALFWorld-v0", {"data": "generated-small"}, max_steps=15)
    steps, _ = attempts(second_time_lucky(whole), whole)
    won = [step.success for step in steps if step.attempt == 1]
    assert won and all(won) and not any(step.success for step in steps if step.attempt == 0)
    assert steps[-1].reward == 1.0 and steps[-1].attempt == 1


def second_time_lucky(recipe: EnvRecipe) -> Callable[[str], str]:
    """Return what a player says who does nothing in the first attempt, and what is best in the second."""
    env = replace(recipe, options={**recipe.options, "expert": True}).make()
    plan = list(env.reset(seed=jobs(1)[0].seed)[1]["expert_plan"])
    assert 0 < len(plan) <= 15
    env.close()

    def say(prompt: str) -> str:
        if "This attempt failed" in prompt:
            return "do not only look"
        return does(plan.pop(0)) if "do not only look" in prompt else does("look")

    return say


# ---- faults


@pytest.mark.parametrize(
    "seed", [RAISE, pytest.param(CRASH, marks=pytest.mark.slow), pytest.param(HANG, marks=pytest.mark.slow)]
)
def test_a_fault_in_a_reset_costs_one_trajectory(seed: int):
    some = jobs(3)
    some[1] = replace(some[1], seed=seed)
    workers = Serial(FAULTY, 1) if seed == RAISE else Processes(FAULTY, 1, timeout=60, reset_timeout=5)
    found = require(roll(Scripted(lambda prompt: does("wait")), some, workers))
    assert found.faults.keys() == {"episode 1"} and found.faults["episode 1"]
    calm = roll(Scripted(lambda prompt: does("wait")), [some[0], some[2]], Serial(FAULTY, 1)).transitions
    fields = [(step.episode, step.step, step.token_ids, step.reward, step.success) for step in found.transitions]
    assert fields == [(step.episode, step.step, step.token_ids, step.reward, step.success) for step in calm]


@pytest.mark.parametrize("action", ["raise", "nan"])
def test_a_fault_in_a_step_costs_one_trajectory(action: str):
    def say(prompt: str) -> str:
        return does(action if "step 1" in prompt and next(turns) == 1 else "wait")

    turns = iter(range(99))
    found = require(roll(Scripted(say), jobs(4), Serial(FAULTY, 1)))
    assert list(found.faults) == ["episode 1"], "neither its first step nor the others are in question"
    assert [step.episode for step in found.transitions] == [f"episode {place}" for place in (0, 2, 3) for _ in range(3)]


def test_a_fault_in_a_later_attempt_costs_the_whole_trajectory():
    recipe = replace(FAULTY, max_steps=2)
    found = roll(
        Scripted(lambda prompt: lamer(prompt) if "Remarks" not in prompt else does("raise")),
        jobs(2),
        Serial(recipe, 2),
        attempts=2,
    )
    assert found.faults.keys() == {"episode 0", "episode 1"} and not found.transitions


def test_all_lost_is_an_error_with_the_reason():
    found = collect(
        [replace(job, seed=RAISE) for job in jobs(3)],
        Serial(FAULTY, 2),
        Scripted(does),
        make_agent,
        lambda task_id, job: Plan(SAMPLING),
    )
    assert len(found.faults) == 3
    with pytest.raises(RuntimeError, match=r"Every rollout was lost .* out of order"):
        require(found)
    assert require(collect([], Serial(FAULTY, 1), Scripted(does), make_agent, lambda *_: Plan(SAMPLING))).faults == {}
