"""AndroidWorld's own task classes on the simulated phone: unmodified, they prepare it, judge it, and clean up after themselves.

    python -m backtrail.benchmarks.android_tasks [TASK ...] [--seed 0]

needs the package android_world, which no index has: `backtrail doctor` says how to install it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import gymnasium as gym

from backtrail.benchmarks.android_solutions import solution
from backtrail.envs.androidworld.actions import Action
from backtrail.envs.androidworld.backend import DeviceError, Element
from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.factory import make_phone
from backtrail.envs.androidworld.phone.identity import phone_facts
from backtrail.envs.androidworld.simulated import SimulatedBackend
from backtrail.envs.androidworld.tasks.oracle import NotThere, Oracle
from backtrail.envs.androidworld.world import World, WorldTask

__all__ = ["Outcome", "Runner", "main"]


@dataclass(frozen=True)
class Outcome:
    """What came of a task.

    Attributes:
        name: Of the task.
        how: "screen", "state" or "answer": how it was done; "" if nobody wrote down how.
        before, after: Its check before and after it was done; None if it did not come to that.
        steps: Actions on the screen.
        left: How many facts of the phone are not as before when the task has cleaned up; automatic time, which AndroidWorld
            switches off for good, aside.
        wrong: What went wrong, "" if nothing.
    """

    name: str
    how: str = ""
    before: float | None = None
    after: float | None = None
    steps: int = 0
    left: int = 0
    wrong: str = ""


class _Device:
    """AndroidWorld's environment with what an `Oracle` needs of a phone: elements and actions go through the former."""

    def __init__(self, environment: Any, phone: Phone):
        self.environment, self.phone = environment, phone

    def elements(self) -> list[Element]:
        return [_element(each) for each in self.environment.get_state().ui_elements]

    def act(self, action: Action) -> None:
        kinds = import_module("android_world.env.json_action")
        self.environment.execute_action(kinds.JSONAction(**json.loads(action.to_json())))


def _element(each: Any) -> Element:
    box = each.bbox_pixels
    return Element(
        class_name=each.class_name or "",
        text=each.text or "",
        description=each.content_description or "",
        resource_id=each.resource_name or "",
        package=each.package_name or "",
        bounds=(box.x_min, box.y_min, box.x_max, box.y_max),
        hint=each.hint_text or "",
        checked=bool(each.is_checked),
        clickable=bool(each.is_clickable),
        editable=bool(each.is_editable),
        scrollable=bool(each.is_scrollable),
    )


class Runner:
    """Runs tasks one after the other, each on a phone as it came out of the box. Close it after use."""

    def __init__(self, scale: float = 0.25):
        """Build AndroidWorld's environment around a phone.

        Raises:
            gymnasium.error.DependencyNotInstalled: If android_world or android_env is missing.
        """
        self.phone = make_phone(scale)
        self.world = World(SimulatedBackend(self.phone))
        self._fresh = self.phone.save()
        self._facts = _facts(self.phone)

    def run(self, name: str, seed: int = 0) -> Outcome:
        """Prepare a task, check it, do it, check it again and clean up.

        Whatever the task's code raises is in the outcome: it must not end the run.
        """
        found = solution(name)
        outcome = Outcome(name, found[0] if found else "")
        self.phone.load(self._fresh)
        try:
            return self._run(self.world.prepare(name, seed), outcome, seed)
        except DeviceError as error:
            return replace(outcome, wrong=str(error)[:200])

    def close(self) -> None:
        """Stop what the environment has started."""
        self.world.close()

    def _run(self, task: WorldTask, outcome: Outcome, seed: int) -> Outcome:
        environment = self.world.environment
        outcome = replace(outcome, before=task.score(""))
        hand = Oracle(_Device(environment, self.phone))
        found = solution(task.name)
        if found is not None:
            with self.world.inside(seed, f"doing {task.name}"):
                environment.reset(go_home=True)  # the check may have opened something
                try:
                    found[1](hand, task.task)
                except NotThere as error:
                    outcome = replace(outcome, wrong=str(error)[:200])
            if not outcome.wrong:
                outcome = replace(outcome, after=task.score(hand.answered))
        task.tear_down()
        return replace(outcome, steps=len(hand.actions), left=len(_facts(self.phone) ^ self._facts))


def _facts(phone: Phone) -> frozenset[str]:
    return frozenset(fact for fact in phone_facts(phone) if not fact.startswith("/settings/global/auto_time"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run tasks and print a table; return 1 if one whose solution is written down did not come out right."""
    parser = argparse.ArgumentParser(prog="android_tasks", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("tasks", nargs="*", help="names of tasks (default: all that are written down)")
    parser.add_argument("--seed", type=int, default=0, help="of the parameters")
    parser.add_argument("--all", action="store_true", help="also those that nobody wrote down: prepare and check them")
    options = parser.parse_args(arguments)
    try:
        runner = Runner()
    except gym.error.DependencyNotInstalled as error:
        sys.stderr.write(f"{error}\n")
        return 2
    outcomes = []
    names = options.tasks or [name for name in runner.world.names if options.all or solution(name)]
    with suppress(KeyboardInterrupt):
        for name in names:
            outcomes.append(runner.run(name, options.seed))
            sys.stdout.write(f"{_row(outcomes[-1])}\n")
            sys.stdout.flush()
    runner.close()
    good = [each for each in outcomes if each.after == 1.0]
    kinds = {how: sum(each.how == how for each in good) for how in ("screen", "state", "answer")}
    ready = sum(each.before is not None for each in outcomes)
    counts = ", ".join(f"{number} by {how}" for how, number in kinds.items())
    clean = sum(each.before is not None and not each.left for each in outcomes)
    sys.stdout.write(
        f"{ready} of {len(outcomes)} prepare and check; {len(good)} come out right: {counts}; {clean} leave nothing behind\n"
    )
    return int(len(good) < sum(bool(each.how) for each in outcomes))


def _row(outcome: Outcome) -> str:
    before, after = ("-" if each is None else f"{each:g}" for each in (outcome.before, outcome.after))
    return f"{outcome.name:50} {outcome.how or '-':7} {before:>4} {after:>4} {outcome.steps:4} {outcome.left:4}  {outcome.wrong}".rstrip()


if __name__ == "__main__":
    raise SystemExit(main())
