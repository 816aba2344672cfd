"""The original stack (TextWorld's PddlEnv with ALFWorld's names) behind the native engine's methods.

Slow (tens of milliseconds a step, about a second a game) and exact by definition: the reference of the parity audit, and
the way to play games whose rules or grammar the native engine does not know.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Any

import gymnasium as gym

from backtrail.envs.alfworld.engine import Engine, Options
from backtrail.envs.alfworld.game import Game, Names, State, read_state


class TextWorldEngine:
    """Plays one game file with TextWorld. Holds the running episode: `step` takes the state it returned last."""

    def __init__(
        self, content: dict[str, str], game: Game, names: Names = "numbered", *, after: TextWorldEngine | None = None
    ):
        """Load a game.

        Args:
            content: What `read_file` returns for the game file.
            game: The same game parsed.
            names: "numbered" or "textworld", as in the native engine.
            after: An engine that is no longer needed; its library is used again (TextWorld leaves one of 33 MB on the
                disk for every environment it makes).

        Raises:
            gymnasium.error.DependencyNotInstalled: If the extra ``alfworld`` is missing.
        """
        self.game = game
        self.native = Engine(self.game)  # for fingerprints and the meaning of commands, never for what happens
        self._pddl, self._env = (after._pddl, after._env) if after else _make(names)
        argv = sys.argv.copy()  # the PDDL translator overwrites it
        try:
            self._env.load(content)
        finally:
            sys.argv[:] = argv
        self._init, self._variables = _facts_of_problem(content["pddl_problem"]), _variables(self._planner.sas)
        self._state: State = self.game.start
        self._reply: Any = None
        self.verdict: tuple[int, bool] = (0, False)
        """Score and done of the last step, as TextWorld gives them."""

    @property
    def _planner(self) -> Any:
        return self._pddl._pddl_state

    @property
    def start(self) -> State:
        """Restart the episode and return its first state."""
        argv = sys.argv.copy()
        try:
            self._reply = self._env.reset()
        finally:
            sys.argv[:] = argv
        self._state = self._read(self.game.start)
        return self._state

    @property
    def intro(self) -> str:
        """The first text of the running episode."""
        return self._reply["feedback"]

    def step(self, state: State, command: str) -> tuple[State, str, bool]:
        """Carry out a command; as `Engine.step`.

        Raises:
            ValueError: If ``state`` is not the running one (TextWorld cannot go back; `rewind` replays).
        """
        if state != self._state:
            raise ValueError("TextWorld can only go on from the state it is in; use rewind(commands)")
        self._reply, score, done = self._env.step(command)
        self.verdict = score, done
        self._state = self._read(state)
        return self._state, self._reply["feedback"], bool(self._reply["won"])

    def rewind(self, commands: tuple[str, ...]) -> State:
        """Restart the episode and repeat the commands."""
        state = self.start
        for command in commands:
            state, _, _ = self.step(state, command)
        return state

    def won(self, state: State) -> bool:
        """Whether the goal holds in the running state, as TextWorld says."""
        return bool(self._reply["won"])

    def options(self, state: State) -> Options:
        """Return TextWorld's admissible commands, and what they stand for as the native engine reads them."""
        return self.native.options(state)._replace(commands=tuple(self._reply["admissible_commands"]))

    def fingerprint(self, state: State) -> str:
        """Return the fingerprint the native engine gives the same physical state."""
        return self.native.fingerprint(state)

    def _read(self, before: State) -> State:
        """Read the planner's state: its true atoms, and the initial facts that it compiled away as constant."""
        facts: dict[str, list[list[str]]] = defaultdict(list)
        for atom in _atoms(self._planner):
            predicate, _, arguments = atom.partition("(")
            facts[predicate].append(arguments[:-1].split(", "))
        for predicate, rows in self._init.items():
            facts[predicate] += [row for row in rows if f"{predicate}({', '.join(row)})" not in self._variables]
        now = read_state(facts, self.game.object_ids, self.game.receptacle_ids, self.game.location_ids)
        taken = tuple(
            (old | was) & ~has for old, was, has in zip(before.taken, before.contents, now.contents, strict=True)
        )
        return now._replace(taken=taken)


def _make(names: Names) -> tuple[Any, Any]:
    try:
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
        from textworld.core import EnvInfos
        from textworld.envs.pddl import PddlEnv
    except ImportError as error:
        raise gym.error.DependencyNotInstalled(
            f'engine="textworld" needs the original stack ({error}). Run: pip install "backtrail[alfworld]"'
        ) from error
    env = PddlEnv(EnvInfos(admissible_commands=True, won=True))
    return env, AlfredDemangler(env) if names == "numbered" else env


def _atoms(planner: Any) -> list[str]:
    from textworld.envs.pddl.logic import Atom

    atoms = (Atom * planner.downward_lib.get_state_size())()
    planner.downward_lib.get_state(atoms)
    return [atom.name.removeprefix("Atom ") for atom in atoms if atom.name.startswith("Atom ")]


def _variables(sas: str) -> set[str]:
    """Return every atom that is a value of a planner variable."""
    return {line.removeprefix("Atom ") for line in sas.split("\n") if line.startswith("Atom ")}


def _facts_of_problem(problem: str) -> dict[str, list[list[str]]]:
    text = problem.lower()
    facts: dict[str, list[list[str]]] = defaultdict(list)
    for part in text[text.index("(:init") + 6 : text.index("(:goal")].split("(")[1:]:
        predicate, *arguments = part.partition(")")[0].split()
        facts[predicate].append(arguments)
    return facts
