"""Playing many episodes at once with one model: every call of the model answers all environments that are waiting."""

from __future__ import annotations

import time
import traceback
from collections import deque
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from backtrail.agents.model_agent import ModelAgent
from backtrail.agents.models.base import Completion, Model, ModelError, Prompt, Sampling
from backtrail.benchmarks.catalog import make_model_agent
from backtrail.benchmarks.episode import Outcome, Seat, failure
from backtrail.benchmarks.recipe import Episode, RunConfig

__all__ = ["play_batched"]


def play_batched(
    config: RunConfig, steps: Path, episodes: Sequence[Episode], model: Model, batch: int
) -> Generator[Outcome]:
    """Play episodes of a model agent, up to ``batch`` at a time, and yield what became of each, in the order they end.

    A fault of one environment or of one answer fails that episode alone. What an agent draws depends on its episode's seed
    and step, never on which others share a call.

    Args:
        config: The recipe.
        steps: Where the recorded episodes go.
        episodes: Which to play.
        model: Answers; it is not closed here.
        batch: Environments at a time.
    """
    waiting, free, busy = deque(episodes), deque[_Lane](), list[_Lane]()
    try:
        while waiting or busy:
            while waiting and len(busy) < batch:
                lane = free.popleft() if free else _Lane(config, steps, model)
                outcome = lane.begin(waiting.popleft())
                if outcome is None:
                    busy.append(lane)
                else:
                    yield outcome
            for lane, outcome in _tick(busy, model):
                busy.remove(lane)
                if outcome.finished:
                    free.append(lane)
                else:
                    lane.close()  # the next episode gets a new environment
                yield outcome
    finally:
        for lane in (*free, *busy):
            lane.close()


class _Lane:
    """One environment with its agent, and the request that it waits with."""

    def __init__(self, config: RunConfig, steps: Path, model: Model):
        self._made = (config, steps, model)
        self._seat: Seat | None = None
        self.asked: tuple[Prompt, Sampling] | None = None

    def begin(self, episode: Episode) -> Outcome | None:
        """Begin an episode and ask; return a failure if that cannot be done."""
        self.episode = episode
        return self._guarded(self._begin)

    def go_on(self, completion: Completion, seconds: float) -> Outcome | None:
        """Carry out an answer and ask again; return the outcome if the episode is over."""
        return self._guarded(lambda: self._go_on(completion, seconds))

    def fail(self, fault: Exception) -> Outcome:
        """Return the failure of the episode."""
        trace = "".join(traceback.format_exception(fault))
        return failure(self.episode, f"{type(fault).__name__}: {fault}", trace)

    def close(self) -> None:
        """Close the environment."""
        if self._seat is not None:
            self._seat.close()
            self._seat = None

    def _guarded(self, work: Any) -> Outcome | None:
        try:
            return work()
        except Exception as fault:  # noqa: BLE001  # ok: environments and agents are foreign code, and one fault is no end
            return self.fail(fault)

    def _begin(self) -> None:
        config, steps, model = self._made
        if self._seat is None:
            self._seat = Seat(config, steps, make_model_agent(config, model))
        self._seat.begin(self.episode)
        self._ask()

    def _go_on(self, completion: Completion, seconds: float) -> Outcome | None:
        assert self._seat is not None and isinstance(self._seat.agent, ModelAgent)
        self._seat.spent(seconds)
        row = self._seat.move(self._seat.agent.read(completion))
        if row is not None:
            return Outcome(True, row)
        self._ask()
        return None

    def _ask(self) -> None:
        assert self._seat is not None and isinstance(self._seat.agent, ModelAgent)
        self.asked = self._seat.agent.request(self._seat.observation, self._seat.info)


def _tick(lanes: Sequence[_Lane], model: Model) -> list[tuple[_Lane, Outcome]]:
    """Answer all lanes with one call and let them go on; return those whose episode is over."""
    asked = [lane.asked for lane in lanes if lane.asked is not None]
    started = time.perf_counter()
    try:
        answers: list[Completion | ModelError] = list(model.generate([p for p, _ in asked], [s for _, s in asked]))
    except ModelError as fault:
        # one by one where there are several: the fault may be of one prompt alone
        answers = [fault] if len(asked) == 1 else [_alone(model, *each) for each in asked]
    share = (time.perf_counter() - started) / max(1, len(lanes))
    over: list[tuple[_Lane, Outcome]] = []
    for lane, answer in zip(lanes, answers, strict=True):
        outcome = lane.fail(answer) if isinstance(answer, ModelError) else lane.go_on(answer, share)
        if outcome is not None:
            over.append((lane, outcome))
    return over


def _alone(model: Model, prompt: Prompt, sampling: Sampling) -> Completion | ModelError:
    try:
        return model.generate([prompt], [sampling])[0]
    except ModelError as fault:
        return fault
