"""The prompts: what they say, and how they are identified."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import gymnasium as gym
import pytest

import backtrail.agents
import backtrail.envs
from backtrail.agents import prompts as module
from backtrail.agents.prompts import Prompts
from backtrail.agents.response import parse

NAMES = ("explorer", "react", "direct")
BENCHMARKS = ("alfworld", "android", "general", "webshop")
FIRST = {"explore": "", "memory": "", "history": []}


@pytest.mark.parametrize("benchmark", BENCHMARKS)
@pytest.mark.parametrize("name", NAMES)
def test_the_example_is_what_the_agent_must_write(name: str, benchmark: str) -> None:
    agent = {
        kind.template: kind for kind in (backtrail.agents.Explorer, backtrail.agents.ReAct, backtrail.agents.Direct)
    }
    system, user = Prompts(name, benchmark).render({"goal": "G", "text": "T", **FIRST})
    assert (system.role, user.role) == ("system", "user")
    shown = system.content[system.content.index("Response format") :]
    parsed = parse(shown, agent[name].required)
    assert parsed.valid and parsed.action in shown
    for message in (system.content, user.content):
        assert "{{" not in message and "{%" not in message and "\n\n\n" not in message and message == message.strip()


def test_goal_observation_and_what_is_carried_are_shown_as_they_are() -> None:
    odd = "{{ goal }} {% x %} <b> & 'é'\n  indented"
    history = [{"text": f"saw {odd}", "thought": f"thought {odd}", "action": f"did {odd}"}]
    variables = {"goal": odd, "text": f"T {odd}", "explore": f"E {odd}", "memory": f"M {odd}", "history": history}
    shown = {name: Prompts(name, "general").render(variables)[1].content for name in NAMES}
    for content in shown.values():
        assert f"Goal: {odd}" in content and f"T {odd}" in content
    assert f"E {odd}" in shown["explorer"] and f"M {odd}" in shown["explorer"]
    assert f"saw {odd}" in shown["react"] and f"thought {odd}" in shown["react"] and f"did {odd}" in shown["react"]
    assert f"saw {odd}" in shown["direct"] and f"did {odd}" in shown["direct"]
    assert "saw" not in shown["explorer"] and "thought" not in shown["direct"].lower()


@pytest.mark.parametrize("benchmark", BENCHMARKS)
@pytest.mark.parametrize("name", NAMES)
def test_rollback_and_possible_actions_are_shown_on_request_only(name: str, benchmark: str) -> None:
    prompts = Prompts(name, benchmark)
    variables = {"goal": "G", "text": "T", **FIRST}
    plain = "".join(message.content for message in prompts.render(variables))
    assert "rollback" not in plain.lower() and "Possible actions" not in plain
    system, user = prompts.render({**variables, "admissible": ["hop", "skip"]}, rollback=True)
    assert "- rollback: " in system.content and "\n\n\n" not in system.content
    assert user.content.endswith("Possible actions now:\n- hop\n- skip")


def test_the_actions_of_alfworld_are_all_named() -> None:
    said = Prompts("explorer", "alfworld").render({"goal": "G", "text": "T", **FIRST})[0].content
    lines = said[said.index("Actions\n") :].splitlines()
    forms = {word for line in lines if line.startswith("- ") for word in re.findall(r"\b[a-z]+\b", line)}
    env = gym.make("backtrail/ALFWorld-v0", expert=True)
    used: set[str] = set()
    for seed in range(12):
        _, info = env.reset(seed=seed)
        for action in info["expert_plan"]:
            used.update(name.split()[0] for name in info["admissible_actions"])
            _, _, _, _, info = env.step(action)
    assert {"take", "move", "clean", "heat", "use"} <= used <= forms


def test_the_hash_is_of_the_templates_that_take_part(monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = {(name, benchmark): Prompts(name, benchmark).hash for name in NAMES for benchmark in BENCHMARKS}
    assert len(set(hashes.values())) == 12 and all(re.fullmatch("[0-9a-f]{64}", text) for text in hashes.values())
    changed = {**module._templates()}
    changed["worlds/alfworld.j2"] += "!"
    monkeypatch.setattr(module, "_templates", lambda: changed)
    for (name, benchmark), before in hashes.items():
        assert (Prompts(name, benchmark).hash == before) == (benchmark != "alfworld")


def test_unknown_prompts_are_refused() -> None:
    for name, benchmark in (("seer", "alfworld"), ("react", "chess"), ("worlds", "general")):
        with pytest.raises(
            ValueError, match=f"direct, explorer, react for alfworld, android, general, webshop; got '{name}'"
        ):
            Prompts(name, benchmark)


def test_a_missing_jinja2_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(gym.error.DependencyNotInstalled, match=r'pip install "backtrail\[models\]"'):
        Prompts("direct", "general")


def test_the_templates_are_files_of_the_package() -> None:
    folder = Path(backtrail.agents.__file__).parent / "prompts"
    paths = {path.relative_to(folder).as_posix() for path in folder.rglob("*.j2")}
    assert paths == set(module._templates()) and len(paths) == 14
