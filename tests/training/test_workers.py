"""Workers of every kind: the same results, and a fault costs one trajectory."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import gymnasium as gym
import pytest
from faulty_env import CRASH, HANG, RAISE

from backtrail.training.workers import EnvRecipe, Observed, Serial, Workers
from backtrail.training.workers_process import Processes, Threads

ALFWORLD = EnvRecipe("backtrail/ALFWorld-v0", max_steps=8, rollback=("act",))
FAULTY = EnvRecipe("faulty_env:Faulty-v0")

SHORT = 2.0
"""Seconds: long enough for a healthy step of `Faulty` on a busy machine, as a fault in its place would fail a test."""

KINDS: dict[str, Callable[[EnvRecipe, int], Workers]] = {
    "serial": Serial,
    "threads": Threads,
    "processes": lambda recipe, slots: Processes(recipe, slots, per_process=2),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Callable[[EnvRecipe, int], Workers]:
    return KINDS[request.param]


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    """Two processes of two environments each; slots 0 and 1 share one."""
    with Processes(FAULTY, 4, per_process=2, timeout=5) as workers:
        yield workers


def begin(workers: Workers, *slots: int, seed: int = 0) -> dict[int, Observed]:
    return workers.reset([(slot, seed, None) for slot in slots])


def play(workers: Workers) -> list[dict[int, Observed]]:
    """Three episodes a slot, of different lengths, with good, bad and rollback actions chosen from what is observed."""
    log = [workers.reset([(slot, 10 + slot, None) for slot in range(3)])]
    now = dict(log[0])
    for turn in range(20):
        actions = {}
        for slot, seen in now.items():
            choices = [*seen.info["admissible_actions"], "no such thing", "rollback"]
            actions[slot] = choices[(7 * turn + 3 * slot) % len(choices)]
        if turn % 3 == 0:
            del actions[turn % 2]  # any subset
        log.append(workers.step(actions))
        now |= log[-1]
        if over := [slot for slot, seen in log[-1].items() if seen.done]:
            log.append(workers.reset([(slot, 100 * turn + slot, None) for slot in over]))
            now |= log[-1]
    return log


def bare(log: list[dict[int, Observed]]) -> list[dict[int, Observed]]:
    return [
        {slot: dataclasses.replace(seen, seconds=0.0) for slot, seen in observed_all.items()} for observed_all in log
    ]


def test_all_kinds_return_the_same():
    with ExitStack() as stack:
        logs = [bare(play(stack.enter_context(make(ALFWORLD, 3)))) for make in KINDS.values()]
    assert logs[0] == logs[1] == logs[2]
    seen = [observed for observed_all in logs[0] for observed in observed_all.values()]
    assert not any(observed.fault for observed in seen)
    assert any(observed.truncated for observed in seen) and any("rollback" in observed.info for observed in seen)
    assert [list(a) for a in logs[0]] == [list(b) for b in logs[2]], "the order is that of the requests"


def test_a_task_can_be_asked_for(kind: Callable[[EnvRecipe, int], Workers]):
    wanted = "valid_seen/pick_and_place_simple/0000"
    with kind(ALFWORLD, 2) as workers:
        seen = workers.reset([(1, 5, wanted), (0, 5, None)])
    assert list(seen) == [1, 0]
    assert seen[1].info["task_id"] == wanted != seen[0].info["task_id"]


def test_info_holds_what_the_trainer_reads_and_no_more():
    with Serial(FAULTY, 1) as workers:
        info = begin(workers, 0)[0].info
    assert set(info) == {
        "task_id",
        "data",
        "fingerprint",
        "visits",
        "admissible_actions",
        "action_error",
        "success",
    }
    assert info["fingerprint"] and info["visits"] == 0 and info["data"] == "unknown"


@pytest.mark.filterwarnings("ignore:.*reward is a NaN")
@pytest.mark.parametrize("action", ["raise", "nan"])
def test_an_exception_costs_one_trajectory(kind: Callable[[EnvRecipe, int], Workers], action: str):
    with kind(FAULTY, 2) as workers:
        begin(workers, 0, 1)
        seen = workers.step({0: action, 1: "go"})
        assert seen[0].fault in ("RuntimeError: out of order", "ValueError: Expected a finite reward, got nan")
        assert seen[0].truncated and not seen[0].terminated and seen[0].observation["text"] == ""
        assert not seen[1].fault
        again = workers.step({0: "go", 1: "go"})
        assert again[0].fault == seen[0].fault and again[1].observation["text"] == "step 2"
        assert begin(workers, 0)[0].observation["text"] == "step 0"
        assert workers.step({0: "go"})[0].observation["text"] == "step 1"


def test_a_reset_can_fail_too(kind: Callable[[EnvRecipe, int], Workers]):
    with kind(FAULTY, 1) as workers:
        assert begin(workers, 0, seed=RAISE)[0].fault == "RuntimeError: out of order"
        assert not begin(workers, 0)[0].fault


def test_an_environment_that_cannot_be_made_says_why():
    with Serial(EnvRecipe("backtrail/NoSuchEnv-v0"), 1) as workers:
        assert "NoSuchEnv" in begin(workers, 0)[0].fault


def test_an_environment_without_texts_says_what_to_do():
    with Serial(EnvRecipe("FrozenLake-v1"), 1) as workers:
        assert "wrapper" in begin(workers, 0)[0].fault


def test_a_death_costs_the_episodes_of_its_process(processes: Processes):
    before = begin(processes, 0, 1, 2)
    seen = processes.step({0: "crash", 2: "go"})
    assert seen[0].fault == "WorkerDied: the process ended with exit code 7" and seen[0].truncated
    assert not seen[2].fault, "another process is another matter"
    beside = processes.step({1: "go", 2: "go"})
    assert "slot 0 of the same process" in beside[1].fault and beside[1].truncated, "it was not in flight, and is lost"
    assert beside[2].observation["text"] == "step 2"
    after = begin(processes, 0, 1)
    assert not after[0].fault and not after[1].fault
    assert after[0].observation["goal"] == after[1].observation["goal"] != before[0].observation["goal"]


def test_those_in_flight_beside_a_death_are_lost_if_unanswered(processes: Processes):
    begin(processes, 0, 1)
    seen = processes.step({0: "go", 1: "crash"})
    assert not seen[0].fault, "it was answered before"
    assert processes.step({0: "go"})[0].fault
    begin(processes, 0, 1)
    seen = processes.step({0: "crash", 1: "go"})
    assert seen[0].fault and "slot 0" in seen[1].fault


def test_a_process_that_dies_in_reset(processes: Processes):
    assert "exit code 7" in begin(processes, 3, seed=CRASH)[3].fault
    assert not begin(processes, 3)[3].fault


def test_a_process_that_is_killed_between_two_steps(processes: Processes):
    pid = int(begin(processes, 2)[2].observation["goal"].split()[1])
    os.kill(pid, 9)
    assert processes.step({2: "go"})[2].fault == "WorkerDied: the process ended with exit code -9"
    assert not begin(processes, 2)[2].fault


def test_a_stuck_step_is_reported():
    with Processes(FAULTY, 3, per_process=2, timeout=SHORT) as workers:
        begin(workers, 0, 1, 2)
        seen = workers.step({0: "hang", 1: "go", 2: "go"})
        assert seen[0].fault == "TimeOut: step took more than 2 seconds" and seen[0].truncated
        assert "slot 0" in seen[1].fault and not seen[2].fault
        assert all(not observed.fault for observed in begin(workers, 0, 1).values())


def test_a_stuck_reset_is_reported():
    # Time enough to import and make the environment, once.
    with Processes(FAULTY, 1, reset_timeout=5) as workers:
        assert begin(workers, 0, seed=HANG)[0].fault == "TimeOut: reset took more than 5 seconds"
        assert not begin(workers, 0)[0].fault


def test_a_stuck_thread_is_given_up():
    with Threads(FAULTY, 2, timeout=SHORT, reset_timeout=2) as workers:
        begin(workers, 0, 1)
        seen = workers.step({0: "hang", 1: "go"})
        assert seen[0].fault == "TimeOut: step took more than 2 seconds"
        assert not seen[1].fault
        assert begin(workers, 0)[0].observation["text"] == "step 0"
        assert "TimeOut: reset" in begin(workers, 0, seed=HANG)[0].fault
        assert [seen.observation["text"] for seen in begin(workers, 0, 1).values()] == ["step 0", "step 0"]


def test_an_interrupted_call_leaves_no_answers_behind(processes: Processes):
    def interrupted(_: list[int]) -> list[int]:
        raise KeyboardInterrupt

    begin(processes, 0, 1)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(processes, "_wait", interrupted)
        processes.step({0: "go", 1: "go"})
    assert processes.step({1: "go"})[1].observation["text"] == "step 2", "the step was taken, its answer not"


def test_processes_are_replaced_after_some_episodes_but_not_in_the_middle_of_one():
    def process(seen: Observed) -> str:
        return seen.observation["goal"]

    with Processes(FAULTY, 2, per_process=2, recycle=2) as workers:
        first = process(begin(workers, 0, 1)[0])
        assert process(begin(workers, 0)[0]) == first, "slot 1 is in an episode"
        assert [workers.step({1: "go"})[1].done for _ in range(3)] == [False, False, True]
        assert process(begin(workers, 0)[0]) != first
        assert not workers.step({0: "go"})[0].fault


@pytest.mark.parametrize("make", [Threads, Processes])
def test_all_slots_advance_at_the_same_time(make: Callable[[EnvRecipe, int], Workers], tmp_path: Path):
    with make(EnvRecipe("faulty_env:Faulty-v0", {"meeting": str(tmp_path)}), 3) as workers:
        begin(workers, 0, 1, 2)
        seen = workers.step(dict.fromkeys((0, 1, 2), "meet 3"))  # returns once three are there
    assert [observed.fault for observed in seen.values()] == ["", "", ""]


def test_the_mistakes_of_the_caller_raise():
    with Serial(FAULTY, 2) as workers:
        with pytest.raises(gym.error.ResetNeeded):
            workers.step({0: "go"})
        with pytest.raises(ValueError, match="slots from 0 to 1"):
            begin(workers, 2)
        with pytest.raises(ValueError, match="twice"):
            begin(workers, 0, 0)
        begin(workers, 0)
        assert [workers.step({0: "go"})[0].terminated for _ in range(3)][-1]
        with pytest.raises(gym.error.ResetNeeded):
            workers.step({0: "go"})
        assert workers.reset([]) == workers.step({}) == {}
    with pytest.raises(ValueError, match="at least 1 slot"):
        Serial(FAULTY, 0)
    with pytest.raises(ValueError, match="per_process"):
        Processes(FAULTY, 1, per_process=0)
    with pytest.raises(ValueError, match="timeout"):
        Threads(FAULTY, 1, timeout=0)
    with pytest.raises(ValueError, match="JSON"):
        EnvRecipe("backtrail/ALFWorld-v0", {"fn": len})
    with pytest.raises(ValueError, match="max_steps"):
        EnvRecipe("backtrail/ALFWorld-v0", max_steps=-1)


def test_closing_twice_is_fine_and_a_reset_starts_anew(kind: Callable[[EnvRecipe, int], Workers]):
    workers = kind(FAULTY, 1)
    workers.close()
    begin(workers, 0)
    workers.close()
    workers.close()
    with pytest.raises(gym.error.ResetNeeded):
        workers.step({0: "go"})
    assert not begin(workers, 0)[0].fault
    workers.close()
