"""Environment workers with time-outs: `Processes` for environments that compute, `Threads` for those that wait."""

from __future__ import annotations

import contextlib
import multiprocessing
import queue
import signal
import sys
import threading
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection, wait
from typing import Literal, NoReturn

from backtrail.training.workers import Call, Cell, EnvRecipe, Observed, Workers, lost

__all__ = ["Processes", "Threads"]

_GRACE = 5.0
"""Seconds that a worker gets to close its environments."""

_START = 120.0
"""Seconds that a process gets to start and import: a busy machine is slow, and nobody waits for it twice."""


class _Process:
    """A process with a cell, and the parent's end of the line to it.

    The child works through its calls in their order and answers each as soon as it is done, so that every call has a
    deadline of its own, counted from the answer before.
    """

    def __init__(self, recipe: EnvRecipe, start: str):
        context = multiprocessing.get_context(start)
        self.line, end = context.Pipe()
        # A daemon: one that hangs must not keep the interpreter from ending.
        self._process = context.Process(target=_serve, args=(end, recipe), daemon=True)  # pyright: ignore[reportAttributeAccessIssue]
        self._process.start()
        end.close()  # now the line breaks when the process ends
        self.episodes = 0
        self.waiting: dict[int, Call] = {}  # calls without an answer, the first of which is being carried out
        self.since = time.monotonic()
        self._ready = False

    def give(self, ticket: int, calls: dict[int, Call], limits: Mapping[str, float]) -> None:
        """Let the process carry out calls, once it is ready."""
        self.waiting, self._ticket, self._limits = calls, ticket, limits
        self.episodes += sum(call.method == "reset" for call in calls.values())
        if self._ready:
            self._send()

    def receive(self) -> tuple[int, Observed] | None:
        """Return the next answer; None if what came was none of the present calls.

        Raises:
            EOFError, OSError: If the process has died.
        """
        answer = self.line.recv()
        if answer is None:
            self._ready = True
            self._send()
            return None
        ticket, slot, observed = answer
        self.since = time.monotonic()
        if ticket != self._ticket:
            return None  # of calls that were interrupted
        del self.waiting[slot]
        return slot, observed

    @property
    def limit(self) -> float:
        """The most seconds of what the process does now."""
        return self._limits[next(iter(self.waiting.values())).method] if self._ready else _START

    def late(self) -> str:
        """Return the fault of taking too long."""
        return _late(next(iter(self.waiting.values())).method, self.limit) if self._ready else _late("start", _START)

    def died(self) -> str:
        """Return the fault of having died."""
        self._process.join(_GRACE)
        return f"WorkerDied: the process ended with exit code {self._process.exitcode}"

    def leave(self) -> None:
        """Let the process close its environments and end, if it is idle."""
        self.line.close()

    def end(self, now: bool) -> None:
        """See to it that the process ends."""
        self.line.close()
        if now:
            self._process.terminate()
        self._process.join(_GRACE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _send(self) -> None:
        self.since = time.monotonic()
        with contextlib.suppress(OSError):  # it has died; receive() says so
            self.line.send((self._ticket, self.waiting))


def _serve(line: Connection, recipe: EnvRecipe) -> None:
    """Carry out what comes over the line until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    signal.signal(signal.SIGTERM, _leave)
    cell = Cell(recipe)
    try:
        line.send(None)
        while True:
            ticket, calls = line.recv()
            for slot, call in calls.items():
                line.send((ticket, slot, cell.do(call)))
    except (EOFError, OSError):
        pass  # the parent is done, or dead
    finally:
        cell.close()


def _leave(*_: object) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)


class Processes(Workers):
    """Environments spread over processes, which advance at the same time; those of one process, one after another.

    A process is started when one of its slots is reset, and ended if a call in it takes too long. What else was in an
    episode in a process that ended is lost with it and says so, at once or when it is stepped next. An environment must
    not start processes with `multiprocessing`; those of `subprocess` are fine.

    As always with processes, a script that uses this needs ``if __name__ == "__main__":``.
    """

    def __init__(
        self,
        recipe: EnvRecipe,
        slots: int,
        per_process: int = 1,
        *,
        timeout: float = 60.0,
        reset_timeout: float = 300.0,
        recycle: int = 0,
        start: Literal["spawn", "forkserver"] = "spawn",
    ):
        """Prepare ``slots`` environments.

        Args:
            recipe: How to make them.
            slots: How many.
            per_process: How many share a process: slots 0 to per_process - 1 the first, and so on.
            timeout: The most seconds of a step.
            reset_timeout: The most seconds of a reset, the making of the environment included.
            recycle: Episodes after which a process is replaced, as soon as none of its environments is in one: against
                memory that only grows. 0 for never.
            start: How processes start. Never by plain fork, which copies the threads and locks of torch.

        Raises:
            ValueError: If a number makes no sense.
        """
        super().__init__(recipe, slots)
        if per_process < 1 or recycle < 0:
            raise ValueError(f"Expected per_process above 0 and recycle of 0 or more, got {per_process} and {recycle}")
        self._limits = _checked(timeout, reset_timeout)
        self._per_process, self._recycle, self._start = per_process, recycle, start
        self._pool: dict[int, _Process] = {}
        self._ticket = 0

    def _run(self, calls: Mapping[int, Call]) -> dict[int, Observed]:
        self._ticket += 1
        batches: dict[int, dict[int, Call]] = {}
        for slot, call in calls.items():
            batches.setdefault(slot // self._per_process, {})[slot] = call
        for index, batch in batches.items():
            self._process(index, batch).give(self._ticket, batch, self._limits)
        seen: dict[int, Observed] = {}
        while busy := [index for index in batches if index in self._pool and self._pool[index].waiting]:
            for index in self._wait(busy):
                process = self._pool[index]
                try:
                    if process.line.poll() and (answer := process.receive()):
                        seen[answer[0]] = answer[1]
                        continue
                except (EOFError, OSError):
                    seen |= self._bury(index, process.died())
                    continue
                if process.waiting and time.monotonic() - process.since > process.limit:
                    seen |= self._bury(index, process.late())
        return seen

    def close(self) -> None:
        """End the processes; those that are idle close their environments first."""
        super().close()
        pool, self._pool = list(self._pool.values()), {}
        for process in pool:
            process.leave()  # all of them before waiting for any
        for process in pool:
            process.end(now=bool(process.waiting))

    def _process(self, index: int, batch: Mapping[int, Call]) -> _Process:
        """Return the process of some slots, a new one if there is none or its time has come."""
        process = self._pool.get(index)
        if process and self._recycle and process.episodes >= self._recycle and not (self._open & self._members(index)):
            process.end(now=False)
            process = None
        if process is None:
            process = self._pool[index] = _Process(self.recipe, self._start)
        return process

    def _wait(self, busy: list[int]) -> list[int]:
        """Return the processes that have something to say or are late."""
        deadlines = {index: self._pool[index].since + self._pool[index].limit for index in busy}
        talking = wait([self._pool[index].line for index in busy], max(0.0, min(deadlines.values()) - time.monotonic()))
        now = time.monotonic()
        return [index for index in busy if self._pool[index].line in talking or now > deadlines[index]]

    def _bury(self, index: int, fault: str) -> dict[int, Observed]:
        """End a process; return what its calls without an answer observed, and remember which other episodes are lost."""
        process = self._pool.pop(index)
        seconds = time.monotonic() - process.since
        guilty = next(iter(process.waiting))
        process.end(now=True)
        beside = f"WorkerDied: slot {guilty} of the same process failed ({fault})"
        for slot in self._members(index) - process.waiting.keys():
            self._lost[slot] = beside
        return {slot: lost(fault if slot == guilty else beside, seconds) for slot in process.waiting}

    def _members(self, index: int) -> set[int]:
        first = index * self._per_process
        return set(range(first, min(first + self._per_process, self.slots)))


class _Lane:
    """A thread with one environment, which only this thread touches."""

    def __init__(self, recipe: EnvRecipe, results: queue.SimpleQueue[tuple[_Lane, int, Observed]]):
        self.calls: queue.SimpleQueue[tuple[int, Call] | None] = queue.SimpleQueue()
        # Not an executor's thread: the interpreter would wait at its end for one that hangs.
        self.thread = threading.Thread(target=self._serve, args=(Cell(recipe), results), daemon=True)
        self.thread.start()

    def _serve(self, cell: Cell, results: queue.SimpleQueue[tuple[_Lane, int, Observed]]) -> None:
        while (item := self.calls.get()) is not None:
            results.put((self, item[0], cell.do(item[1])))
        cell.close()


class Threads(Workers):
    """A thread for each environment: for those that wait for something outside, such as an emulator or a server.

    An environment is made, used and closed in one thread only. If a call takes too long its thread is given up, with what
    it holds, and the slot gets a new one; should the call end after all, that thread closes its environment.
    """

    def __init__(self, recipe: EnvRecipe, slots: int, *, timeout: float = 60.0, reset_timeout: float = 300.0):
        """Prepare ``slots`` environments.

        Args:
            recipe: How to make them.
            slots: How many.
            timeout: The most seconds of a step.
            reset_timeout: The most seconds of a reset, the making of the environment included.

        Raises:
            ValueError: If there is no slot or no time.
        """
        super().__init__(recipe, slots)
        self._limits = _checked(timeout, reset_timeout)
        self._lanes: dict[int, _Lane] = {}
        self._results: queue.SimpleQueue[tuple[_Lane, int, Observed]] = queue.SimpleQueue()
        self._ticket = 0

    def _run(self, calls: Mapping[int, Call]) -> dict[int, Observed]:
        self._ticket += 1  # an interrupted call may have left results behind
        method = next(iter(calls.values())).method
        started = time.monotonic()
        slots: dict[_Lane, int] = {}
        for slot, call in calls.items():
            if slot not in self._lanes:
                self._lanes[slot] = _Lane(self.recipe, self._results)
            self._lanes[slot].calls.put((self._ticket, call))
            slots[self._lanes[slot]] = slot
        seen: dict[int, Observed] = {}
        while len(seen) < len(calls):
            try:
                lane, ticket, observed = self._results.get(
                    timeout=max(0.0, started + self._limits[method] - time.monotonic())
                )
            except queue.Empty:
                break
            if ticket == self._ticket and lane in slots:
                seen[slots[lane]] = observed
        for slot in calls.keys() - seen.keys():
            self._lanes.pop(slot).calls.put(None)
            seen[slot] = lost(_late(method, self._limits[method]), time.monotonic() - started)
        return seen

    def close(self) -> None:
        """Close the environments; those that do not close in time are left to their threads."""
        super().close()
        lanes, self._lanes = list(self._lanes.values()), {}
        for lane in lanes:
            lane.calls.put(None)
        deadline = time.monotonic() + _GRACE
        for lane in lanes:
            lane.thread.join(max(0.0, deadline - time.monotonic()))


def _checked(timeout: float, reset_timeout: float) -> dict[str, float]:
    """Return the most seconds of a call by its method.

    Raises:
        ValueError: If one is not above 0.
    """
    if not (timeout > 0 and reset_timeout > 0):
        raise ValueError(f"Expected timeout and reset_timeout above 0 seconds, got {timeout} and {reset_timeout}")
    return {"step": timeout, "reset": reset_timeout}


def _late(method: str, limit: float) -> str:
    """Return the fault of a call that took too long."""
    return f"TimeOut: {method} took more than {limit:g} seconds"
