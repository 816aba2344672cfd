"""Rollouts: agents in many environments at once, every call of the model answering all that wait."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from backtrail.agents.base import Task
from backtrail.agents.explorer import Explorer
from backtrail.agents.models.base import Completion, Model, Prompt, Sampling
from backtrail.agents.sge import Plan, reflect
from backtrail.envs.core import digest
from backtrail.training.lamer import reflection_prompt, with_remarks
from backtrail.training.transition import Mode, Transition
from backtrail.training.workers import Observed, Workers

__all__ = ["Job", "Rollouts", "collect", "exploration", "require"]

MakeAgent = Callable[[Model, Sampling], Explorer]
MakePlan = Callable[[str, "Job"], Plan]


@dataclass(frozen=True, slots=True)
class Job:
    """One rollout to make.

    Attributes:
        episode: What it is called; unique within a batch.
        seed: Of the environment: with one seed, one task from one start.
        draw: Of everything that is drawn in it: responses, and whether it reflects.
        task_id: The task; None to let the seed choose.
    """

    episode: str
    seed: int
    draw: int
    task_id: str | None = None


@dataclass
class Rollouts:
    """What `collect` returns.

    Attributes:
        transitions: Of all trajectories without a fault, in the order of the jobs.
        faults: Trajectories lost to the environment, each with the reason; they are in no other figure.
        seconds: Wall-clock seconds by "environment" and "generation".
    """

    transitions: list[Transition] = field(default_factory=list)
    faults: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=lambda: {"environment": 0.0, "generation": 0.0})

    def join(self, other: Rollouts) -> None:
        """Add what another call returned."""
        self.transitions += other.transitions
        self.faults |= other.faults
        for name, value in other.seconds.items():
            self.seconds[name] += value


def collect(
    jobs: Sequence[Job],
    workers: Workers,
    model: Model,
    make_agent: MakeAgent,
    make_plan: MakePlan,
    *,
    attempts: int = 1,
    version: int = 0,
) -> Rollouts:
    """Make rollouts, as many at a time as there are environments.

    What is drawn in a rollout depends on its job alone, never on which others share a call or which worker it gets.

    Args:
        jobs: The rollouts.
        workers: The environments.
        model: Answers the prompts; it must return token ids and log-probabilities.
        make_agent: Makes the agent of a rollout.
        make_plan: Says how a rollout of a task is sampled.
        attempts: Tries of the task in one rollout, with a reflection after each that fails (LaMer).
        version: The model's, for the record.
    """
    waiting, free = deque(jobs), deque(range(workers.slots))
    lanes: dict[int, _Lane] = {}
    done: dict[str, list[Transition]] = {}
    found = Rollouts()

    def stepped(seen: dict[int, Observed]) -> None:
        for slot, observed in seen.items():
            lanes[slot].take(observed)
            if lanes[slot].over:
                lane = lanes.pop(slot)
                free.append(slot)
                if lane.fault:
                    found.faults[lane.job.episode] = lane.fault
                else:
                    done[lane.job.episode] = lane.finished()

    while waiting or lanes:
        began = time.perf_counter()
        starts = []
        while waiting and free:
            lane, slot = _Lane(waiting.popleft(), model, make_agent, make_plan, attempts, version), free.popleft()
            lanes[slot] = lane
            starts.append((slot, lane.job.seed, lane.job.task_id))
        again = [(slot, lane.job.seed, lane.job.task_id) for slot, lane in lanes.items() if lane.restart]
        seen = workers.reset([*starts, *again]) if starts or again else {}
        found.seconds["environment"] += time.perf_counter() - began
        stepped(seen)
        began = time.perf_counter()
        asked = {slot: lane.ask() for slot, lane in lanes.items()}
        if not asked:
            continue  # all were lost in their reset
        answers = model.generate([prompt for prompt, _ in asked.values()], [how for _, how in asked.values()])
        actions = {}
        for slot, answer in zip(asked, answers, strict=True):
            action = lanes[slot].answer(answer)
            if action is not None:
                actions[slot] = action
        found.seconds["generation"] += time.perf_counter() - began
        began = time.perf_counter()
        seen = workers.step(actions) if actions else {}
        found.seconds["environment"] += time.perf_counter() - began
        stepped(seen)
    found.transitions = [transition for job in jobs for transition in done.get(job.episode, [])]
    return found


def require(found: Rollouts) -> Rollouts:
    """Return rollouts if there are any.

    Raises:
        RuntimeError: If every one was lost to a fault: that is no data to learn from.
    """
    if not found.transitions and found.faults:
        raise RuntimeError(
            f"Every rollout was lost to a fault of its environment, the first: {next(iter(found.faults.values()))}"
        )
    return found


class _Lane:
    """One rollout on its way."""

    def __init__(self, job: Job, model: Model, make_agent: MakeAgent, make_plan: MakePlan, attempts: int, version: int):
        self.job, self._attempts, self._version = job, attempts, version
        self._made = (model, make_agent, make_plan)
        self._agent: Explorer | None = None
        self._steps: list[Transition] = []
        self._successes: list[bool] = []
        self._remarks: list[str] = []
        self._reflecting = self.restart = self.over = False
        self.fault = ""

    def take(self, observed: Observed) -> None:
        """Take what a reset or a step returned."""
        if observed.fault:
            self.fault, self.over = observed.fault, True
            return
        if self._agent is None or self.restart:
            self._begin(observed)
            return
        info = observed.info
        self._steps[-1] = replace(
            self._steps[-1],
            next_observation=observed.observation["text"],
            reward=float(observed.reward),
            terminated=observed.terminated,
            truncated=observed.truncated,
            action_error=info["action_error"],
        )
        self._now = observed
        if observed.done:
            self._successes.append(bool(info["success"]))
            last = len(self._successes) >= self._attempts or self._successes[-1]
            self.over, self._reflecting = last, not last

    def _begin(self, observed: Observed) -> None:
        model, make_agent, make_plan = self._made
        info, goal = observed.info, observed.observation["goal"]
        if self._agent is None:
            self._plan = make_plan(info["task_id"], self.job)
            self._agent = make_agent(model, self._plan.sampling)
        seed = int(digest(f"{self.job.draw} {len(self._successes)}")[:8], 16)
        self._agent.reset(Task("", info["task_id"], goal, seed))
        self._now, self.restart = observed, False

    def ask(self) -> tuple[Prompt, Sampling]:
        """Return what to ask the model."""
        assert self._agent is not None
        if self._reflecting:
            actions = [step.action for step in self._steps if step.attempt == len(self._successes) - 1]
            memory = self._agent.carried()["memory"]
            prompt = reflection_prompt(self._now.observation["goal"], actions, memory)
            seed = int(digest(f"{self.job.draw} remark {len(self._successes)}")[:8], 16)
            return prompt, replace(self._plan.sampling, seed=seed, mixed=None)
        self._carried = self._agent.carried()
        prompt, sampling = self._agent.request(self._now.observation, self._now.info)
        return with_remarks(reflect(prompt, self._plan.reflection), self._remarks), sampling

    def answer(self, completion: Completion) -> str | None:
        """Take the model's answer; return the action, or None for a reflection."""
        assert self._agent is not None
        if completion.prompt_ids is None or completion.token_ids is None or completion.logprobs is None:
            raise ValueError("Expected a model that returns token ids and log-probabilities: hf or vllm, not a server")
        observed, reflecting = self._now, self._reflecting
        if reflecting:
            explore, memory, action, valid = "", completion.text.strip(), "", bool(completion.text.strip())
            self._remarks.append(memory)
            self._reflecting, self.restart = False, True
        else:
            turn = self._agent.read(completion)
            explore, memory, action, valid = turn.explore, turn.memory, turn.action, turn.valid
        reflection = self._plan.reflection
        mode: Mode = reflection.sign if reflection else "plain"
        self._steps.append(
            Transition(
                task_id=observed.info["task_id"],
                episode=self.job.episode,
                attempt=len(self._successes) - reflecting,
                step=len(self._steps),
                goal=observed.observation["goal"],
                observation=observed.observation["text"],
                next_observation="",
                explore=explore,
                memory=memory,
                action=action,
                valid=valid,
                fingerprint=observed.info["fingerprint"],
                visits=observed.info["visits"],
                reward=0.0,
                success=False,
                explore_before="" if reflecting else self._carried["explore"],
                memory_before="" if reflecting else self._carried["memory"],
                prompt_ids=completion.prompt_ids,
                token_ids=completion.token_ids,
                logprobs=completion.logprobs,
                temperatures=completion.temperatures or (1.0,) * len(completion.token_ids),
                mode=mode,
                reflection=reflecting,
                version=self._version,
            )
        )
        return None if reflecting else action

    def finished(self) -> list[Transition]:
        """Return the trajectory with its outcomes filled in."""
        return [replace(step, success=self._successes[step.attempt]) for step in self._steps]


def exploration(transitions: Sequence[Transition]) -> dict[str, float]:
    """Return how much was explored, over the acting steps of a batch.

    Returns:
        ``explore_rate`` (steps with an explore text), ``exploration_degree`` (steps at a state not seen before in the
        episode; our definition, the paper gives none), ``revisit_rate`` (the rest), ``invalid_rate`` (responses without the
        required form), ``error_rate`` (actions that the environment did not take) and ``tokens`` (of a response, mean).
    """
    acting = [transition for transition in transitions if not transition.reflection]
    new = float(np.mean([transition.visits == 0 for transition in acting]))
    return {
        "explore_rate": float(np.mean([bool(transition.explore) for transition in acting])),
        "exploration_degree": new,
        "revisit_rate": 1.0 - new,
        "invalid_rate": float(np.mean([not transition.valid for transition in acting])),
        "error_rate": float(np.mean([bool(transition.action_error) for transition in acting])),
        "tokens": float(np.mean([len(transition.token_ids) for transition in acting])),
    }
