"""The learning-to-rollback stage: pairs of a step and the action seen to take it back, and how often a model can.

The stage is EAPO's (arXiv 2605.08978): a teacher is shown the states before and after a step and proposes the action
that returns; what does return, judged by fingerprint, is learned. How pairs are collected (`rollback_collect`),
balanced and written is ours.
"""

from __future__ import annotations

import copy
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from gymnasium.error import DependencyNotInstalled

from backtrail.agents.base import Task
from backtrail.agents.explorer import Explorer
from backtrail.agents.models.base import Message, Model, Prompt, Sampling
from backtrail.agents.response import Parsed, Response, parse, render
from backtrail.envs.core import ExplorableEnv, digest
from backtrail.training.demonstrations import Demonstration
from backtrail.training.rollback_collect import (
    RollbackPair,
    RollbackReport,
    RollbackStep,
    Walk,
    collect,
    explorable,
    heldout,
    note,
)
from backtrail.training.workers import EnvRecipe

__all__ = [
    "ModelTeacher",
    "RollbackPair",
    "RollbackRate",
    "RollbackReport",
    "RollbackStep",
    "as_demonstrations",
    "collect",
    "heldout",
    "load_pairs",
    "measure",
    "rollback_prompt",
    "save_pairs",
    "to_dataset",
]

_ASK = """\
Somebody works on this goal in an interactive environment: {goal}

Before their last action they saw:
{before}

Then they did: {action}

Now they see:
{after}
{possible}
Which single action, done now, brings the environment back to exactly where it was before? Answer with the action alone,
in the form the environment takes it: <action>...</action>"""


class ModelTeacher:
    """A language model that is shown both states and says how to get back.

    Attributes:
        name: The model's.
    """

    def __init__(self, model: Model, sampling: Sampling | None = None, attempts: int = 3):
        """Make a teacher that answers ``attempts`` times; each answer has a seed of its own, not the sampling's."""
        self.name, self._model, self._sampling, self._attempts = model.name, model, sampling or Sampling(), attempts

    def __call__(
        self, goal: str, before_text: str, after_text: str, action_taken: str, admissible: Sequence[str]
    ) -> list[str]:
        """Return the different actions of its answers, in their order.

        Raises:
            ModelError: If the model cannot answer.
        """
        possible = f"\nPossible actions: {'; '.join(admissible)}\n" if admissible else ""
        text = _ASK.format(goal=goal, before=before_text, action=action_taken, after=after_text, possible=possible)
        seeds = [int(digest(f"{attempt} {text}")[:8], 16) for attempt in range(self._attempts)]
        samplings = [replace(self._sampling, seed=seed) for seed in seeds]
        answers = self._model.generate([(Message("user", text),)] * self._attempts, samplings)
        actions = [parse(each.text, ("action",), cut=each.finish == "length").action for each in answers]
        return [action for action in dict.fromkeys(actions) if action]


# ---- what the model reads and writes


def rollback_prompt(agent: Explorer, step: RollbackStep) -> Prompt:
    """Return the agent's own prompt after a step, carrying the wish to go back: for training, measuring and use.

    Explore is "go back", memory where the agent was and what it did there; the texts carried before the step stand
    beside them, so that they can be carried on after the way back. All is written from what was shown.

    Args:
        agent: Whose prompt; the episode it is in is left as it is.
        step: The step to take back.

    Raises:
        ModelError: If the prompt is too long for the agent.
    """
    asking = copy.copy(agent)
    asking.reset(Task("", "", step.goal))
    explore = "go back" if step.explore_before in ("", "nothing") else f"go back; {step.explore_before}"
    memory = f"{step.memory_before}; {note(step)}" if step.memory_before not in ("", "nothing") else note(step)
    asking.keep(step.before_text, Parsed(explore, memory, step.action_taken, valid=True))
    prompt, _ = asking.request({"goal": step.goal, "text": step.after_text}, {"admissible_actions": step.admissible})
    return prompt


def as_demonstrations(pairs: Sequence[RollbackPair], agent: Explorer) -> list[Demonstration]:
    """Return the pairs as the agent is asked and should answer: the action, and the texts carried before the step.

    Take the held-out pairs out first: ``[pair for pair in pairs if not heldout(pair)]``.

    Args:
        pairs: The pairs.
        agent: Whose prompts are to be learned; its model is not used.
    """
    return [Demonstration(rollback_prompt(agent, pair), _answer(pair), pair.task_id, True) for pair in pairs]


def _answer(pair: RollbackPair) -> str:
    return render(Response(pair.explore_before or "nothing", pair.memory_before or "nothing", pair.action))


# ---- files


def save_pairs(path: str | Path, pairs: Sequence[RollbackPair]) -> None:
    """Write pairs as JSON lines."""
    lines = [json.dumps(asdict(pair), ensure_ascii=False) + "\n" for pair in pairs]
    Path(path).write_text("".join(lines), encoding="utf-8")


def load_pairs(path: str | Path) -> list[RollbackPair]:
    """Read what `save_pairs` wrote.

    Raises:
        ValueError: If a line is not a pair.
    """
    found: list[RollbackPair] = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").split("\n"), 1):
        if line:
            try:
                row = json.loads(line)
                found.append(
                    RollbackPair(**row | {"trail": tuple(row["trail"]), "admissible": tuple(row["admissible"])})
                )
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError(f"Expected a rollback pair in line {number} of {path}: {error!r}") from error
    return found


def to_dataset(pairs: Sequence[RollbackPair], agent: Explorer) -> Any:
    """Return a Hugging Face ``datasets.Dataset`` with a row for each pair, as trainers of other projects take it.

    Columns: messages (the prompt and the assistant's answer), task_id, kind, action_taken, action, teacher, heldout.

    Raises:
        gymnasium.error.DependencyNotInstalled: If datasets is missing.
    """
    try:
        import datasets
    except ImportError as error:
        raise DependencyNotInstalled(
            'The export needs datasets. Run: pip install "backtrail[train]" datasets'
        ) from error
    rows: list[dict[str, Any]] = []
    for pair in pairs:
        chat = [*rollback_prompt(agent, pair), Message("assistant", _answer(pair))]
        told = {name: getattr(pair, name) for name in ("task_id", "kind", "action_taken", "action", "teacher")}
        messages = [{"role": message.role, "content": message.content} for message in chat]
        rows.append({"messages": messages, **told, "heldout": heldout(pair)})
    return datasets.Dataset.from_list(rows)


# ---- measuring


class Rate(NamedTuple):
    """How many of the steps shown were taken back, and Wilson's 95 % interval of the rate."""

    verified: int
    shown: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RollbackRate:
    """How well a model takes steps back.

    Attributes:
        total: Over all steps.
        kinds: By kind of action, in alphabetical order.
        valid: How many answers had the required form.
    """

    total: Rate
    kinds: Mapping[str, Rate]
    valid: int


def measure(
    model: Model,
    agent_factory: Callable[[Model], Explorer],
    recipe: EnvRecipe,
    pairs: int | Sequence[RollbackPair],
    seed: int,
    *,
    walk: Walk = "random",
    batch: int = 64,
) -> RollbackRate:
    """Ask a model to take steps back that can be taken back, do what it says, and compare fingerprints.

    Each step is reached anew by repeating the actions of its trail, so that any environment whose episodes can be
    repeated will do.

    Args:
        model: Answers the prompts, many in one call.
        agent_factory: Makes the agent whose prompts and sampling are used, e.g. ``BriefExplorer``.
        recipe: The environment, best of a split that was not trained on.
        pairs: How many steps to find by `collect`, or pairs that were collected from this recipe.
        seed: Of collecting and sampling.
        walk: As in `collect`.
        batch: Prompts in one call of the model.

    Raises:
        ValueError: If there are no steps, or the pairs come from another recipe.
        ModelError: If the model cannot answer.
    """
    shown = collect(recipe, pairs, seed, walk=walk)[0] if isinstance(pairs, int) else pairs
    if not shown:
        raise ValueError("Expected steps that can be taken back, got none: give other pairs, another recipe or seed")
    agent, env, valid = agent_factory(model), replace(recipe, rollback=()).make(), 0
    asked: Counter[str] = Counter(pair.kind for pair in shown)
    arrived: Counter[str] = Counter()
    for start in range(0, len(shown), batch):
        some = shown[start : start + batch]
        samplings = [replace(agent.sampling, seed=seed + start + number) for number in range(len(some))]
        answers = model.generate([rollback_prompt(agent, pair) for pair in some], samplings)
        for pair, answer in zip(some, answers, strict=True):
            parsed = parse(answer.text, agent.required, cut=answer.finish == "length")
            valid += parsed.valid
            arrived[pair.kind] += _returns(explorable(env.unwrapped), pair, parsed.action)
    env.close()
    kinds = {kind: _rate(arrived[kind], asked[kind]) for kind in sorted(asked)}
    return RollbackRate(_rate(arrived.total(), asked.total()), kinds, valid)


def _returns(bottom: ExplorableEnv, pair: RollbackPair, action: str) -> bool:
    """Go to the state after the step, act, and tell whether this is the state before it."""
    bottom.reset(seed=pair.seed)
    for taken in (*pair.trail, pair.action_taken):
        bottom.step(taken)
    if bottom.fingerprint() != pair.fingerprint_after:
        raise ValueError(f"The actions of a pair of {pair.task_id!r} lead elsewhere: expected pairs of the same recipe")
    over = bottom.step(action)[2]
    return not over and bottom.fingerprint() == pair.fingerprint_before


def _rate(verified: int, shown: int) -> Rate:
    """Wilson's score interval (JASA 22, 1927, 209-212)."""
    z2, rate = 1.959964**2, verified / shown
    centre = (rate + z2 / (2 * shown)) / (1 + z2 / shown)
    half = math.sqrt(z2 * (rate * (1 - rate) / shown + z2 / (4 * shown * shown))) / (1 + z2 / shown)
    return Rate(verified, shown, max(0.0, min(rate, centre - half)), min(1.0, max(rate, centre + half)))
