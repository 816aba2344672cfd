"""Playing episodes in this process or in several, with a worker's death no more than one failure."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
import threading
from collections import deque
from collections.abc import Generator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NoReturn, cast

from backtrail.benchmarks.batch import play_batched
from backtrail.benchmarks.catalog import MODEL_AGENTS
from backtrail.benchmarks.episode import Outcome, Player, failure
from backtrail.benchmarks.recipe import Episode, RunConfig
from backtrail.benchmarks.results import hold

__all__ = ["play_all"]

_GRACE = 5.0
"""Seconds that a worker gets to close its environment."""


def play_all(
    config: RunConfig, steps: Path, episodes: Sequence[Episode], workers: int = 1, batch: int = 16
) -> Generator[Outcome]:
    """Play episodes and yield what became of each, in the order in which they end.

    Args:
        config: The recipe.
        steps: Where the recorded episodes go.
        episodes: Which to play.
        workers: How many processes; 0 or 1 plays here.
        batch: Environments that share a call of the model, where the agent has one; that plays here.
    """
    if config.agent["name"] in MODEL_AGENTS:
        yield from _play_with_model(config, steps, episodes, batch)
    elif workers <= 1 or len(episodes) <= 1:
        yield from _play_here(config, steps, episodes)
    else:
        yield from _play_in_processes(config, steps, episodes, workers)


def _play_with_model(config: RunConfig, steps: Path, episodes: Sequence[Episode], batch: int) -> Generator[Outcome]:
    from backtrail.agents.models.load import load_model

    options = config.agent["options"]
    model = load_model(options["model"], **options.get("model_options", {}))
    try:
        yield from play_batched(config, steps, episodes, model, batch)
    finally:
        model.close()


def _play_here(config: RunConfig, steps: Path, episodes: Sequence[Episode]) -> Generator[Outcome]:
    player = Player(config, steps)
    try:
        for episode in episodes:
            yield player.play(episode)
    finally:
        player.close()


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Generator[None]:
    """Start processes that ignore Ctrl-C from the first moment; the parent decides what it means."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Worker:
    """A process that plays, and the parent's end of the line to it."""

    def __init__(self, config: RunConfig, steps: Path):
        # A fresh interpreter: forking would copy the threads and locks of whatever the parent has loaded.
        context = multiprocessing.get_context("spawn")
        self.connection, end = context.Pipe()
        self.process = context.Process(target=_serve, args=(end, config, steps))
        with _deaf_to_ctrl_c():
            self.process.start()
        end.close()  # now the line breaks when the process ends
        self.episode: Episode | None = None

    def give(self, episode: Episode) -> None:
        self.episode = episode
        with contextlib.suppress(OSError):  # it has died; receive() says so
            self.connection.send(episode)

    def receive(self) -> Outcome:
        assert self.episode is not None
        try:
            outcome = self.connection.recv()
        except (EOFError, OSError):
            self.process.join(_GRACE)
            return failure(self.episode, f"WorkerDied: the process ended with exit code {self.process.exitcode}")
        self.episode = None
        return outcome

    def end(self, now: bool) -> None:
        self.connection.close()
        if now:
            self.process.terminate()
        self.process.join(_GRACE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _play_in_processes(config: RunConfig, steps: Path, episodes: Sequence[Episode], workers: int) -> Generator[Outcome]:
    left = deque(episodes)
    pool: list[_Worker] = []
    finished = False
    try:
        for _ in range(min(workers, len(episodes))):
            pool.append(_Worker(config, steps))
            pool[-1].give(left.popleft())
        while busy := {worker.connection: worker for worker in pool if worker.episode}:
            for line in wait(list(busy)):
                worker = busy[cast("Connection", line)]
                outcome = worker.receive()
                if worker.episode:  # it has died in the middle
                    pool.remove(worker)
                    worker.end(now=True)
                    if not left:
                        yield outcome
                        continue
                    worker = _Worker(config, steps)
                    pool.append(worker)
                if left:
                    worker.give(left.popleft())
                yield outcome
        finished = True
    except KeyboardInterrupt:
        for worker in pool:  # what is finished already is not thrown away
            if worker.episode and worker.connection.poll():
                yield worker.receive()
        raise
    finally:
        for worker in pool:
            worker.end(now=not finished)


def _serve(line: Connection, config: RunConfig, steps: Path) -> None:
    """Play what comes over the line until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    player = Player(config, steps)
    with hold(steps.parent):
        try:
            while True:
                line.send(player.play(line.recv()))
        except (EOFError, OSError):
            pass  # the parent is done, or dead
        finally:
            player.close()


def _leave(*_: object) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)
