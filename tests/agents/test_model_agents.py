"""The agents with a model, on real episodes; the model is scripted and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import backtrail.envs  # noqa: F401  # registers the ids
from backtrail.agents import Direct, Explorer, ModelAgent, ReAct, Task, Turn
from backtrail.agents.model_agent import act_all
from backtrail.agents.models import Completion, Model, ModelError, Sampling
from backtrail.agents.models.base import Finish, Prompt
from backtrail.agents.response import Response, render
from backtrail.envs import Fingerprint, Rollback, VisitCount

ID = "backtrail/ALFWorld-v0"
KINDS = (Explorer, ReAct, Direct)
LOOK = render(Response("what the drawers hold", "nothing seen", "look"))

Script = Callable[[Prompt, Sampling], str]


class Scripted(Model):
    """Answers by a function of prompt and sampling; keeps the calls."""

    name = "scripted"

    def __init__(self, answer: Script | str, finish: Finish = "stop", **details: int):
        self._answer, self.details = answer, details
        self._finish: Finish = finish
        self.calls: list[list[tuple[Prompt, Sampling]]] = []

    def generate(self, prompts: Sequence[Prompt], sampling: Sequence[Sampling]) -> list[Completion]:
        self.calls.append(list(zip(prompts, sampling, strict=True)))
        return [self._complete(*asked) for asked in self.calls[-1]]

    @property
    def prompts(self) -> list[Prompt]:
        return [prompt for call in self.calls for prompt, _ in call]

    def _complete(self, prompt: Prompt, sampling: Sampling) -> Completion:
        text = self._answer if isinstance(self._answer, str) else self._answer(prompt, sampling)
        return Completion(text, self._finish, len(whole(prompt).split()), len(text.split()))


def whole(prompt: Prompt) -> str:
    return "\n".join(message.content for message in prompt)


def wanderer(prompt: Prompt, sampling: Sampling) -> str:
    """Walk at random, by the seed, to what the prompt says or to where the last memory was."""
    assert sampling.seed is not None
    draw = np.random.default_rng(sampling.seed).integers(1000)
    place = ("desk", "drawer", "shelf", "fridge")[draw % 4]
    return f"<thought>{draw}</thought>" + render(
        Response(f"{place} {draw}", f"saw {draw}", f"go to {place} {1 + draw % 2}")
    )


def began(agent: ModelAgent, seed: int = 0, goal: str = "find it") -> ModelAgent:
    agent.reset(Task(ID, "t", goal, seed))
    return agent


def walk(agent: ModelAgent, env: gym.Env, seed: int = 0, steps: int = 50) -> Iterator[tuple[dict[str, Any], Turn]]:
    """Play an episode; yield what was shown and the turn, step by step."""
    observation, info = env.reset(seed=seed)
    agent.reset(Task(ID, info["task_id"], observation["goal"], seed))
    for _ in range(steps):
        turn = agent.act(observation, info)
        yield observation, turn
        observation, _, terminated, truncated, info = env.step(turn.action)
        if terminated or truncated:
            return


class Watched(dict[str, Any]):
    """An info that remembers what was read of it."""

    def __init__(self, info: Mapping[str, Any]):
        super().__init__(info)
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return super().get(key, default)


@pytest.mark.parametrize("kind", KINDS)
def test_hidden_info_never_reaches_a_prompt(kind: type[ModelAgent]) -> None:
    env = Rollback(VisitCount(Fingerprint(gym.make(ID, expert=True))))
    for shown in (False, True):
        model = Scripted(wanderer)
        agent = kind(model, benchmark="alfworld", show_admissible=shown)
        observation, info = env.reset(seed=1)
        agent.reset(Task(ID, info["task_id"], observation["goal"], 1))
        for _ in range(20):
            watched = Watched(info | {"expert_plan": ["secret plan"], "fingerprint": "secret print", "visits": 987654})
            turn = agent.act(observation, watched)
            assert watched.read == ({"admissible_actions"} if shown else set())
            said = whole(model.prompts[-1])
            assert "secret" not in said and "987654" not in said and info["task_id"] not in said
            assert all(f"- {action}\n" in f"{said}\n" for action in info["admissible_actions"]) == shown
            observation, _, terminated, _, info = env.step(turn.action)
            assert not terminated


def test_the_explorer_carries_its_last_explore_and_memory_and_nothing_else() -> None:
    model = Scripted(wanderer)
    env = gym.make(ID)
    steps = list(walk(Explorer(model, benchmark="alfworld"), env))
    assert len(steps) == 50
    size = len(whole(model.prompts[0])) + 500
    for number, prompt in enumerate(model.prompts):
        observation, said = steps[number][0], prompt[1].content
        assert len(prompt) == 2 and observation["goal"] in said and observation["text"] in said
        assert len(whole(prompt)) - len(observation["text"]) < size
        if number:
            turn = steps[number - 1][1]
            assert turn.explore in said and turn.memory in said
            assert turn.action not in said and turn.response not in said
        assert number < 2 or f"{steps[number - 2][1].memory}\n" not in said


def test_the_explorer_keeps_the_last_of_each_that_it_wrote() -> None:
    answers = iter(
        [
            LOOK,
            "<explore>new</explore>",
            "<memory>seen</memory><action>look</action>",
            "nonsense",
            LOOK,
        ]
    )
    model = Scripted(lambda prompt, sampling: next(answers))
    agent = began(Explorer(model))
    turns = [agent.act({"goal": "g", "text": "t"}, {}) for _ in range(5)]
    users = [prompt[1].content for prompt in model.prompts]
    assert [turn.valid for turn in turns] == [True, False, False, False, True]
    assert [turn.action for turn in turns] == ["look", "", "look", "nonsense", "look"]
    assert "what the drawers hold" in users[1] and "nothing seen" in users[1]
    assert "new" in users[2] and "nothing seen" in users[2]
    assert "new" in users[3] and "seen" in users[3] and "nothing seen" not in users[3]
    assert users[4] == users[3]
    began(agent)
    assert whole(agent.request({"goal": "g", "text": "t"}, {})[0]) == whole(model.prompts[0])


@pytest.mark.parametrize("kind", [ReAct, Direct])
def test_the_baselines_show_the_last_steps(kind: type[Direct]) -> None:
    model = Scripted(lambda prompt, sampling: f"<think>{'x' * 999}</think>" + wanderer(prompt, sampling))
    steps = list(walk(kind(model, history=3), gym.make(ID)))
    for number, prompt in enumerate(model.prompts):
        said = prompt[1].content
        assert said.count("\nAction: ") == min(number, 3) and "xxx" not in said
        told = [f"Observation: {seen['text']}" for seen, _ in steps[max(0, number - 3) : number]]
        assert [said.index(text) for text in told] == sorted(said.index(text) for text in told)
        for _, turn in steps[max(0, number - 3) : number]:
            assert f"Action: {turn.action}" in said
            thought = turn.response.partition("<thought>")[2].partition("<")[0]
            assert (f"Thought: {thought}\n" in said) == (kind is ReAct)
    assert all(turn.valid for _, turn in steps)
    assert "Action:" not in whole(began(kind(model, history=0)).request({"text": "t"}, {})[0])
    with pytest.raises(ValueError, match="at least 0"):
        kind(model, history=-1)


@pytest.mark.parametrize("kind", KINDS)
def test_many_environments_with_one_call_are_as_one_by_one(kind: type[ModelAgent]) -> None:
    options: dict[str, Any] = {"benchmark": "alfworld", "sampling": Sampling(temperature=0.7, max_tokens=99)}
    single = [list(walk(kind(Scripted(wanderer), **options), gym.make(ID), seed, 12)) for seed in range(5)]
    model = Scripted(wanderer)
    agents = [kind(model, **options) for _ in range(5)]
    envs = [gym.make(ID) for _ in agents]
    seen = [env.reset(seed=seed) for seed, env in enumerate(envs)]
    for seed, (agent, (observation, info)) in enumerate(zip(agents, seen, strict=True)):
        agent.reset(Task(ID, info["task_id"], observation["goal"], seed))
    for number in range(12):
        turns = act_all(agents, [observation for observation, _ in seen], [info for _, info in seen])
        assert turns == [steps[number][1] for steps in single]
        stepped = [env.step(turn.action) for env, turn in zip(envs, turns, strict=True)]
        seen = [(observation, info) for observation, _, _, _, info in stepped]
    assert [len(call) for call in model.calls] == [5] * 12
    asked = [sampling for call in model.calls for _, sampling in call]
    assert len({sampling.seed for sampling in asked}) == 60  # each step of each task draws on its own
    assert {(sampling.temperature, sampling.max_tokens) for sampling in asked} == {(0.7, 99)}


def test_a_batch_is_of_one_model_and_complete() -> None:
    assert act_all([], [], []) == []
    observation = {"goal": "g", "text": "t"}
    agents = [began(Direct(Scripted(LOOK))) for _ in range(2)]
    with pytest.raises(ValueError, match="share one model"):
        act_all(agents, [observation] * 2, [{}] * 2)
    with pytest.raises(ValueError, match="shorter"):
        act_all(agents[:1], [], [])

    class Silent(Scripted):
        def generate(self, prompts: Sequence[Prompt], sampling: Sequence[Sampling]) -> list[Completion]:
            return []

    with pytest.raises(ModelError, match="Expected 1 responses from scripted, got 0"):
        began(Direct(Silent(LOOK))).act(observation, {})


def test_a_fault_of_the_model_leaves_the_agent_where_it_was() -> None:
    down = True

    def answer(prompt: Prompt, sampling: Sampling) -> str:
        if down:
            raise ModelError("server down")
        return LOOK

    model = Scripted(answer)
    agent = began(ReAct(model))
    with pytest.raises(ModelError, match="server down"):
        agent.act({"goal": "g", "text": "t"}, {})
    down = False
    agent.act({"goal": "g", "text": "t"}, {})
    assert model.calls[0] == model.calls[1]
    with pytest.raises(RuntimeError, match="before read"):
        agent.read(Completion(LOOK, "stop", 1, 1))


@pytest.mark.parametrize("kind", KINDS)
def test_rollback_is_mentioned_only_where_the_agent_was_told_of_it(kind: type[ModelAgent]) -> None:
    for offered in (False, True):
        env = gym.make(ID)
        model = Scripted(wanderer)
        list(walk(kind(model, benchmark="alfworld", rollback=offered), Rollback(env) if offered else env, steps=5))
        assert all(("rollback" in whole(prompt)) == offered for prompt in model.prompts)


def test_any_action_is_passed_on_as_it_is() -> None:
    env = gym.make(ID)
    for action in ("DANCE on desk 1", '{"action_type": "click"}', "go to  desk 1!"):
        ((_, turn),) = walk(Explorer(Scripted(render(Response("e", "m", action)))), env, steps=1)
        assert turn.action == action and turn.valid


def test_a_turn_holds_all_that_was_said() -> None:
    turn = began(Explorer(Scripted(LOOK))).act({"goal": "g", "text": "t"}, {})
    assert (turn.response, turn.explore, turn.memory) == (LOOK, "what the drawers hold", "nothing seen")
    assert turn.usage["completion_tokens"] == len(LOOK.split()) and turn.usage["prompt_tokens"] > 100
    assert isinstance(turn.completion, Completion) and turn.completion.text == LOOK


def test_a_response_that_was_cut_off_is_read() -> None:
    text = "<explore>e</explore><memory>m</memory><action>go to desk 1"
    ends: list[tuple[Finish, bool]] = [("stop", True), ("length", False)]
    for finish, valid in ends:
        turn = began(Explorer(Scripted(text, finish))).act({"goal": "g", "text": "t"}, {})
        assert (turn.action, turn.explore, turn.valid) == ("go to desk 1", "e", valid)


def test_history_is_dropped_to_keep_a_prompt_short() -> None:
    free = Scripted(wanderer)
    list(walk(ReAct(free), gym.make(ID)))
    longest = max(len(whole(prompt)) for prompt in free.prompts)
    limit = longest // 2
    for model, chars in ((Scripted(wanderer), limit), (Scripted(wanderer, max_prompt_tokens=limit // 3), None)):
        steps = list(walk(ReAct(model, max_prompt_chars=chars), gym.make(ID)))
        prompts = model.prompts
        assert len(steps) == 50 and limit // 2 < max(len(whole(prompt)) for prompt in prompts) <= limit
        assert f"Action: {steps[-2][1].action}" in whole(prompts[-1])  # the newest is kept
        assert prompts[:10] == free.prompts[:10]


@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_that_cannot_be_shortened_is_a_fault(kind: type[ModelAgent]) -> None:
    model = Scripted(LOOK)
    with pytest.raises(ModelError, match=rf"prompt of {kind.name} has \d+ characters .* at most 800"):
        began(kind(model, max_prompt_chars=800)).act({"goal": "g", "text": "t" * 800}, {})
    assert not model.calls
    estimated = began(kind(Scripted(LOOK, max_prompt_tokens=5)))
    assert estimated.act({"goal": "g", "text": "t"}, {}).action == "look"  # left to the model, which counts tokens


def test_a_picture_goes_with_the_observation() -> None:
    picture = np.zeros((2, 3, 3), np.uint8)
    prompt, _ = began(Direct(Scripted(LOOK))).request({"goal": "g", "text": "t", "screenshot": picture}, {})
    assert prompt[1].images == (picture,) and prompt[0].images == ()


def test_the_goal_may_come_from_the_task_alone() -> None:
    assert "Goal: find it" in whole(began(Explorer(Scripted(LOOK))).request({"text": "t"}, {})[0])


def test_agents_say_which_prompts_they_use() -> None:
    hashes = {kind(Scripted(LOOK), benchmark=name).prompt_hash for kind in KINDS for name in ("alfworld", "general")}
    assert len(hashes) == 6
    with pytest.raises(ValueError, match="chess"):
        Explorer(Scripted(LOOK), benchmark="chess")
