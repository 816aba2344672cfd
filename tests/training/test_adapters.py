"""Our environments in other trainers."""

from __future__ import annotations

import functools
import importlib.util
import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from faulty_env import RAISE

from backtrail.training.adapters.trl import TRLEnvironment
from backtrail.training.adapters.verl_agent import VerlAgentEnvironments
from backtrail.training.workers import EnvRecipe, Serial

ALFWORLD = EnvRecipe("backtrail/ALFWorld-v0")
FAULTY = EnvRecipe("faulty_env:Faulty-v0")
TASK = "valid_seen/pick_and_place_simple/0000"


def plan() -> list[str]:
    """The actions that win `TASK`."""
    return gym.make("backtrail/ALFWorld-v0", expert=True, task_id=TASK).reset(seed=0)[1]["expert_plan"]


# -- TRL --------------------------------------------------------------------------------------------------


def test_trl_environment_as_trl_calls_it():
    env = TRLEnvironment(ALFWORLD)
    shown = env.reset(prompt=[{"role": "user", "content": "Play."}], task_id=TASK, other=1)
    assert "Goal: " in shown and "-= Welcome" in shown
    said = [env.act(action=action) for action in plan()][-1]
    assert said.endswith("The episode is over.") and env.act(action="look") == "The episode is over."
    assert env.get_reward() == 1.0
    assert env.observed[-1].info["success"]
    env.reset(seed=3)
    assert env.get_reward() == 0.0


def test_trl_environment_reports_a_fault_as_no_reward():
    env = TRLEnvironment(FAULTY)
    env.reset(seed=0)
    env.act("go")
    assert env.get_reward() == 0.5
    assert env.act("raise") == "The episode is over."
    assert env.get_reward() is None
    env.reset(seed=RAISE)
    assert env.get_reward() is None


def test_trl_environment_needs_a_task():
    with pytest.raises(ValueError, match="task_id or seed"):
        TRLEnvironment(FAULTY).reset(prompt=[])


@pytest.mark.slow
def test_trl_trains_on_it(tmp_path: Path):
    """One step of the real trainer. The responses are scripted (noise calls no tools); TRL does all the rest."""
    pytest.importorskip("trl")
    torch = pytest.importorskip("torch")
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl.trainer.grpo_config import GRPOConfig
    from trl.trainer.grpo_trainer import GRPOTrainer

    from backtrail.agents.models.tiny import build_tiny

    folder = build_tiny()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    spec = importlib.util.find_spec("trl")
    assert spec is not None and spec.origin is not None
    tokenizer.chat_template = (Path(spec.origin).parent / "chat_templates" / "qwen3.jinja").read_text("utf-8")
    model = AutoModelForCausalLM.from_pretrained(folder)
    before = {name: weights.clone() for name, weights in model.named_parameters()}
    arguments = GRPOConfig(
        output_dir=str(tmp_path),
        use_cpu=True,
        max_steps=1,
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=2048,
        learning_rate=1e-3,
        report_to="none",
        save_strategy="no",
        logging_steps=1,
        disable_tqdm=True,
    )
    rows = [{"prompt": [{"role": "user", "content": "Act until the goal is reached."}], "task_id": TASK}]
    trainer = GRPOTrainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        environment_factory=functools.partial(TRLEnvironment, ALFWORLD),
    )
    calls = [{"name": "act", "arguments": {"action": action}} for action in plan()]
    acting = "\n".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls)
    prompts: list[str] = []

    def scripted(prompt_ids: list[list[int]], *_: Any, **__: Any) -> tuple[list[list[int]], None]:
        first = not prompts
        prompts.extend(tokenizer.decode(ids) for ids in prompt_ids)
        texts = [acting if first and i % 2 else "I stop." for i in range(len(prompt_ids))]
        return [[*tokenizer(f"{text}<|im_end|>").input_ids, tokenizer.eos_token_id] for text in texts], None

    trainer._generate_single_turn = scripted
    trainer.train()
    assert len(prompts) == 4 + 2, "two rollouts called the tool and went on"
    assert all("-= Welcome" in prompt and '"name": "act"' in prompt for prompt in prompts[:4])
    assert all("The episode is over." in prompt for prompt in prompts[4:])
    assert [env.get_reward() for env in trainer.environments or ()] == [0.0, 1.0, 0.0, 1.0]
    log = next(entry for entry in trainer.state.log_history if "reward" in entry)
    assert log["reward"] == pytest.approx(0.5)
    assert log["tools/failure_frequency"] == 0.0
    assert any(not torch.equal(before[name], weights) for name, weights in model.named_parameters())


# -- verl-agent -------------------------------------------------------------------------------------------


def say(action: str) -> str:
    return f"<think>Hm.</think><action>{action}</action>"


def test_verl_agent_groups_share_a_task():
    envs = VerlAgentEnvironments(Serial(ALFWORLD, 6), groups=2, group_size=3, seed=4)
    observations, infos = envs.reset()
    assert [len(observations[key]) for key in ("text", "anchor")] == [6, 6] and observations["image"] is None
    tasks = [info["task_id"] for info in infos]
    assert tasks[0] == tasks[1] == tasks[2] != tasks[3] == tasks[4] == tasks[5]
    assert len(set(observations["anchor"])) == 2
    again, _ = envs.restart()
    assert again == observations
    assert [info["task_id"] for info in envs.reset()[1]] != tasks
    envs.close()


def test_verl_agent_steps_all_and_leaves_alone_what_is_over():
    actions = plan()
    envs = VerlAgentEnvironments(Serial(ALFWORLD, 2), groups=1, group_size=2)
    envs.reset([{"task_id": TASK, "seed": 1}] * 2)
    observations, rewards, dones, infos = [envs.step([say(action), "look"]) for action in actions][-1]
    assert rewards.dtype == np.float32 and rewards.tolist() == [1.0, 0.0]
    assert dones.dtype == np.bool_ and dones.tolist() == [True, False]
    assert [info["won"] for info in infos] == [True, False]
    assert [bool(info["is_action_valid"]) for info in infos] == [True, False]
    after, rewards, dones, _ = envs.step([say("look"), say("look")])
    assert rewards.tolist() == [0.0, 0.0] and dones.tolist() == [True, False]
    assert after["anchor"][0] == observations["anchor"][0]


def test_verl_agent_anchors_are_fingerprints_and_on_request_visits():
    plain, deep = (VerlAgentEnvironments(Serial(ALFWORLD, 1), 1, 1, by_visits=by_visits) for by_visits in (False, True))
    (here,), (first,) = plain.reset()[0]["anchor"], deep.reset()[0]["anchor"]
    assert first == f"{here} 0"
    for visits in (1, 2):
        assert plain.step([say("look")])[0]["anchor"] == [here]
        assert deep.step([say("look")])[0]["anchor"] == [f"{here} {visits}"]


def test_verl_agent_goes_on_after_a_fault():
    envs = VerlAgentEnvironments(Serial(FAULTY, 2), groups=1, group_size=2)
    envs.reset()
    _, rewards, dones, infos = envs.step([say("raise"), say("go")])
    assert dones.tolist() == [True, False] and rewards.tolist() == [0.0, 0.5]
    assert infos[0]["fault"] == "RuntimeError: out of order" and infos[1]["fault"] == ""
    envs.step([say("go"), say("go")])
    assert not any(info["fault"] for info in envs.reset()[1])


def test_verl_agent_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="2 x 3 slots"):
        VerlAgentEnvironments(Serial(FAULTY, 5), groups=2, group_size=3)
    with pytest.raises(ValueError):
        VerlAgentEnvironments(Serial(FAULTY, 2), 1, 2).reset([{}])
