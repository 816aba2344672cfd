"""The trainer learns: the smallest task there is, through everything a real run goes through."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bandit_env import GOAL, PLACES

pytest.importorskip("transformers")

from making_runs import loaded

from backtrail.agents.base import Task
from backtrail.agents.explorer import BriefExplorer
from backtrail.agents.models.base import Sampling
from backtrail.agents.models.hf import HFModel
from backtrail.agents.models.hf_load import Loaded
from backtrail.agents.sge import Plan
from backtrail.training.advantage import episode_returns, grouped_advantage, step_returns
from backtrail.training.collect import Job, collect
from backtrail.training.demonstrations import encode
from backtrail.training.learner import Learner
from backtrail.training.presets import preset
from backtrail.training.rewards import assemble
from backtrail.training.update import improve, probe
from backtrail.training.workers import EnvRecipe, Serial

VERBS = ("go to", "open", "close", "examine")
CONFIG = preset("grpo", tasks=6, group=16, max_tokens=24, lr=5e-4, minibatches=2)
HOW = Sampling(CONFIG.temperature, max_tokens=CONFIG.max_tokens)


def imitator(tiny: Path) -> Loaded:
    """Return a model that answers in the required form, with each verb in some of its answers."""
    learner, rng = Learner(loaded(tiny), CONFIG), np.random.default_rng(0)
    agent = BriefExplorer(HFModel(learner.loaded), HOW)
    rows = []
    for place in PLACES:
        for verb in VERBS:
            agent.reset(Task("bandit", place, GOAL, 0))
            prompt, _ = agent.request({"goal": GOAL, "text": f"you are at {place}."}, {})
            response = f"<explore>{place}</explore>\n<memory>none</memory>\n<action>{verb} {place}</action>"
            rows.append(encode(learner.loaded.tokenizer, prompt, response))
    for _ in range(40):
        learner.imitate([rows[int(place)] for place in rng.integers(len(rows), size=12)], 3e-3)
    return learner.loaded


def curve(start: Loaded, seed: int, iterations: int, sign: float) -> list[float]:
    """Return the share of successes before each update and after the last, of 96 rollouts each."""
    rng, rates = np.random.default_rng(seed), []
    learner = Learner(replace(start, model=copy.deepcopy(start.model)), CONFIG)
    model = HFModel(learner.loaded)

    with Serial(EnvRecipe("bandit_env:Bandit-v0"), CONFIG.tasks * CONFIG.group) as workers:
        for iteration in range(iterations + 1):
            jobs = [
                Job(f"{iteration}.{task}.{member}", task, int(rng.integers(2**31)))
                for task in range(CONFIG.tasks)
                for member in range(CONFIG.group)
            ]
            steps = collect(jobs, workers, model, BriefExplorer, lambda task_id, job: Plan(HOW)).transitions
            rates.append(float(np.mean([step.success for step in steps])))
            probe(learner, steps, CONFIG.probe_tolerance)
            parts = assemble(steps, CONFIG, None)
            earned, outcome = step_returns(steps, parts, CONFIG), episode_returns(steps, parts, CONFIG)
            advantages = sign * grouped_advantage(steps, earned, outcome, CONFIG).values
            if iteration < iterations:
                improve(learner, steps, advantages, CONFIG, lr=CONFIG.lr, seed=(seed, iteration))
    return rates


def test_what_is_rewarded_is_done_more_often_and_less_if_the_sign_is_wrong(tiny: Path) -> None:
    """The bounds are from six seeds: 0.06 to 0.15 at first, 0.93 to 0.99 after six updates.

    With the advantages negated it was 0.00 to 0.06 after each of three, on average 0.13 to 0.33 of what it was at first.
    """
    start = imitator(tiny)
    rates = curve(start, 0, 6, 1.0)
    assert rates[0] < 0.5 and rates[-1] > 0.8, rates
    wrong = curve(start, 0, 3, -1.0)
    assert np.mean(wrong[1:]) < 0.6 * wrong[0], wrong
