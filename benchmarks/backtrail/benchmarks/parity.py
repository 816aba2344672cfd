"""Parity: the native ALFWorld engine and the original stack play the same games and must say the same, byte for byte."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from backtrail.envs.alfworld import text
from backtrail.envs.alfworld.engine import Engine, Options
from backtrail.envs.alfworld.expert import shortest_plan
from backtrail.envs.alfworld.game import Names, State
from backtrail.envs.alfworld.tasks import Tasks
from backtrail.envs.alfworld.textworld import TextWorldEngine

__all__ = ["Difference", "Parity", "compare"]


class Difference(NamedTuple):
    """One thing that came out differently."""

    task_id: str
    step: int
    command: str
    what: str
    native: str
    textworld: str


@dataclass
class Parity:
    """What a comparison found.

    Attributes:
        games: Games compared.
        steps: Steps compared.
        invalid: Steps among them with a command that is not admissible.
        verbs: Steps by what the command does.
        differences: Everything that differed.
    """

    games: int = 0
    steps: int = 0
    invalid: int = 0
    verbs: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    def add(self, other: Parity) -> None:
        """Add the findings of another comparison."""
        self.games += other.games
        self.steps += other.steps
        self.invalid += other.invalid
        self.verbs += other.verbs
        self.differences += other.differences


def compare(
    data: str,
    task_ids: Sequence[str],
    steps: int = 100,
    seed: int = 0,
    *,
    names: Names = "numbered",
    invalid: float = 0.15,
    workers: int = 1,
) -> Iterator[Parity]:
    """Walk through games with both engines and compare text, admissible commands, score, done and state after every step.

    The walk mixes admissible commands, commands of the expert (so that games are won and every verb occurs), and commands
    that are not admissible.

    Args:
        data: As in `ALFWorldEnv`.
        task_ids: The games.
        steps: Steps per game; a won game goes on.
        seed: Seed of the walks.
        names: How entities are named.
        invalid: Share of commands that are not admissible.
        workers: Processes.

    Yields:
        The findings of each game, in the order of ``task_ids``.

    Raises:
        gymnasium.error.DependencyNotInstalled: If the extra ``alfworld`` is missing.
    """
    jobs: list[tuple[str, str, int, int, Names, float]] = [
        (data, task_id, steps, seed, names, invalid) for task_id in task_ids
    ]
    if workers < 2:
        yield from map(_compare_game, jobs)
        return
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(_compare_game, jobs)


_last: list[TextWorldEngine] = []
"""The engine of the last game in this process: its library is used again."""


def _compare_game(job: tuple[str, str, int, int, Names, float]) -> Parity:
    data, task_id, steps, seed, names, invalid = job
    tasks = Tasks(data, "train", None, names)
    native = Engine(tasks.game(task_id))
    original = TextWorldEngine(tasks.content(task_id), native.game, names, after=_last[0] if _last else None)
    _last[:] = [original]
    walk = _Walk(native, np.random.default_rng([seed, *task_id.encode()]), invalid)
    found = Parity(games=1)
    mine, theirs = native.start, original.start

    def check(step: int, command: str, **pairs: tuple[object, object]) -> None:
        found.differences += [
            Difference(task_id, step, command, what, repr(a), repr(b)) for what, (a, b) in pairs.items() if a != b
        ]

    check(0, "", text=(text.intro(native.game), original.intro), state=(mine, theirs))
    check(0, "", commands=(native.options(mine).commands, original.options(theirs).commands))
    own_help = data == "generated"  # generated games do not carry ALFWorld's help text
    for step in range(1, steps + 1):
        command, verb = walk.next(mine)
        mine, said, won = native.step(mine, command)
        theirs, heard, truly = original.step(theirs, command)
        if not (own_help and verb == "help"):
            check(step, command, text=(said, heard))
        check(step, command, won=(won, truly), score=((int(won), won), original.verdict), state=(mine, theirs))
        check(step, command, commands=(native.options(mine).commands, original.options(theirs).commands))
        found.steps += 1
        found.invalid += verb == "invalid"
        found.verbs[verb] += 1
    return found


class _Walk:
    """Chooses the commands of a comparison."""

    def __init__(self, engine: Engine, rng: np.random.Generator, invalid: float):
        self._engine, self._rng, self._invalid = engine, rng, invalid
        self._known = list(engine.options(engine.start).commands)

    def next(self, state: State) -> tuple[str, str]:
        """Return a command and what it does ("invalid" for nothing)."""
        options = self._engine.options(state)
        self._known += [command for command in options.here if command not in self._known]
        draw = self._rng.random()
        command = ""
        if draw < self._invalid:
            command = self._wrong(options)
        elif draw < self._invalid + 0.25:
            command = next(iter(shortest_plan(self._engine, state) or ()), "look")
        elif draw < self._invalid + 0.6:
            command = self._pick(list(options.here))
        else:
            command = self._pick(list(options.commands))
        action = options.find(command.strip())
        return command, action[0] if action else "invalid"

    def _wrong(self, options: Options) -> str:
        """Return what is not admissible: a command of another place or time, a misspelt one, or noise."""
        noise = ["", "   ", "go to nowhere 1", "put it in/on it", "take all", "\u00e9\u4e2d\n", "examine help", "go to"]
        while True:
            command = self._pick(self._known)
            forms = [command] * 6 + [command.upper(), f"{command[:-1]} ", f"{command} please", self._pick(noise)]
            command = self._pick(forms)
            if options.find(command.strip()) is None:
                return command

    def _pick(self, values: list[str]) -> str:
        return values[int(self._rng.integers(len(values)))]
