"""AndroidWorld's own task classes on both devices: the simulated phone, and a stand-in for an emulator with the phone inside."""

from __future__ import annotations

import importlib.util
import math
import random
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from backtrail.benchmarks.android_solutions import solution
from backtrail.envs.androidworld.actions import Action
from backtrail.envs.androidworld.backend import DeviceError, Element
from backtrail.envs.androidworld.doctor import RECIPE
from backtrail.envs.androidworld.emulator import EmulatorBackend
from backtrail.envs.androidworld.patience import Patience
from backtrail.envs.androidworld.phone.factory import make_phone
from backtrail.envs.androidworld.simulated import SimulatedBackend
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.world import World, task_names

sys.path.insert(0, str(Path(__file__).parent))

from standin.client import StandInProcess

HAS_WORLD = all(importlib.util.find_spec(name) is not None for name in ("android_world", "android_env"))
HAS_ADB = importlib.util.find_spec("adbutils") is not None
needs_world = pytest.mark.skipif(not HAS_WORLD, reason="needs the package android_world and the extra android")
needs_adb = pytest.mark.skipif(not HAS_ADB, reason="needs the adb client of the extra android")

QUICK = Patience(boot=20, connect=10, command=10, snapshot=10, tree=3, quiet=0.1, settle=1.5, keyboard=0.0)
TASKS = (
    "ContactsAddContact",
    "FilesDeleteFile",
    "MarkorCreateNote",
    "SimpleCalendarAnyEventsOnDate",
    "SimpleSmsSend",
    "SystemBrightnessMax",
    "SystemWifiTurnOff",
)


class Hand:
    """A device as solutions want it: what they look up of the phone is asked in its shell."""

    def __init__(self, device: EmulatorBackend):
        self._device = device
        self.phone = self

    def elements(self) -> list[Element]:
        return self._device.elements()

    def act(self, action: Action) -> None:
        self._device.act(action)

    @property
    def activity(self) -> str:
        return self._device.activity()

    @property
    def settings(self) -> dict[str, dict[str, str]]:
        lines = self._device.shell("settings list global").splitlines()
        return {"global": dict(line.split("=", 1) for line in lines)}


def globals_of_the_process() -> tuple[Any, ...]:
    numbers = np.random.get_state(legacy=False)["state"]["key"].tobytes()  # noqa: NPY002
    return random.getstate(), numbers, tempfile.gettempdir(), time.sleep, uuid.uuid4


# -- without a device -------------------------------------------------------------------------------------


@pytest.mark.skipif(HAS_WORLD, reason="needs that android_world is missing")
def test_without_the_package_it_says_how_to_install_it() -> None:
    for use in (task_names, lambda: World(SimulatedBackend(make_phone()))):
        with pytest.raises(gym.error.DependencyNotInstalled) as caught:
            use()
        assert RECIPE in str(caught.value)


@needs_world
@pytest.mark.slow
def test_names_need_no_device() -> None:
    names = task_names()
    assert len(names) == 116
    assert list(names) == sorted(names)
    assert set(TASKS) < set(names)


# -- on the simulated phone -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def simulated() -> Iterator[tuple[SimulatedBackend, World]]:
    device = SimulatedBackend(make_phone(0.25))
    fresh = device.save()
    world = World(device)
    assert device.save() == fresh, "nothing of the environment's own is left on the phone"
    yield device, world
    world.close()
    world.close()
    device.act(Action("navigate_home"))


@needs_world
@pytest.mark.slow
@pytest.mark.parametrize("name", [*TASKS[:5], "TasksDueNextWeek", "RecipeAddMultipleRecipes"])
def test_a_seed_says_all_and_the_process_does_not_notice(name: str, simulated: tuple[SimulatedBackend, World]) -> None:
    device, world = simulated
    found = []
    for seed in (7, 7, 8):
        device.reset()
        random.seed(len(found))
        before = globals_of_the_process()
        task = world.prepare(name, seed)
        assert globals_of_the_process() == before
        assert "nexuslauncher" in device.activity()
        found.append((task.goal, task.steps, device.save()))
        assert task.score("") == 0.0
        task.tear_down()
        assert globals_of_the_process() == before
    assert found[0] == found[1] != found[2]
    assert found[0][1] >= 10


@needs_world
@pytest.mark.slow
def test_sleep_moves_the_clock_of_the_phone_alone(simulated: tuple[SimulatedBackend, World]) -> None:
    device, world = simulated
    before = device.phone.now
    with world.inside(0, "waiting"):
        time.sleep(0.75)
        time.sleep(86400.25)
    assert (device.phone.now - before).total_seconds() == 86401


@needs_world
@pytest.mark.slow
def test_whatever_the_package_raises_is_a_fault_of_the_device(
    simulated: tuple[SimulatedBackend, World], monkeypatch: pytest.MonkeyPatch
) -> None:
    device, world = simulated
    device.reset()
    monkeypatch.delitem(device.phone.apps, "osmand")
    before = globals_of_the_process()
    with pytest.raises(DeviceError, match="failed preparing OsmAndMarker: FileNotFoundError") as caught:
        world.prepare("OsmAndMarker", 0)
    assert isinstance(caught.value.__cause__, FileNotFoundError)
    assert globals_of_the_process() == before
    with pytest.raises(ValueError, match="name of a task such as AudioRecorder"):
        world.prepare("OsmAnd", 0)

    class Odd:
        def is_successful(self, environment: Any) -> float:
            return math.nan

        def tear_down(self, environment: Any) -> None:
            raise KeyError("recents")

    task = replace(world.prepare("SystemWifiTurnOff", 0), task=Odd())
    with pytest.raises(DeviceError, match="said NaN"):
        task.score("")
    with pytest.raises(DeviceError, match="cleaning up after SystemWifiTurnOff: KeyError"):
        task.tear_down()


# -- on an emulator ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stand_in() -> Iterator[StandInProcess]:
    process = StandInProcess("--device", "standin.phone:PhoneDevice", "--console", "0")
    yield process
    process.close()


def connect(stand_in: StandInProcess, **options: Any) -> EmulatorBackend:
    return EmulatorBackend(**stand_in.ports, patience=QUICK, **options)


@pytest.fixture(scope="module")
def emulated(stand_in: StandInProcess) -> Iterator[tuple[EmulatorBackend, World]]:
    device = connect(stand_in)
    device.reset()
    device.shell("settings put global airplane_mode_on 1")
    before = device.shell("settings list global")
    world = World(device)
    assert device.shell("settings list global") == before, "nothing of the environment's own is left on the device"
    yield device, world
    world.close()
    assert device.elements(), "the device is left as it is"
    device.close()


def solve(device: EmulatorBackend, world: World, name: str) -> tuple[float, float]:
    """Return a task's score before and after it was done."""
    device.reset()
    task = world.prepare(name, 3)
    before = task.score("")
    found = solution(name)
    assert found is not None
    hand = Oracle(Hand(device))
    hand.home()
    found[1](hand, task.task)
    after = task.score(hand.answered)
    task.tear_down()
    return before, after


@needs_world
@needs_adb
@pytest.mark.slow
@pytest.mark.parametrize("name", [*TASKS, "SimpleSmsReply"])
def test_tasks_are_prepared_done_and_judged_over_the_wire(name: str, emulated: tuple[EmulatorBackend, World]) -> None:
    assert solve(*emulated, name) == (0.0, 1.0)


@needs_world
@needs_adb
@pytest.mark.slow
@pytest.mark.parametrize("name", ["ContactsAddContact", "RecipeDeleteSingleRecipe", "SimpleCalendarAddOneEvent"])
def test_a_seed_means_the_same_on_both_devices(
    name: str, simulated: tuple[SimulatedBackend, World], emulated: tuple[EmulatorBackend, World]
) -> None:
    goals = []
    for device, world in (simulated, emulated):
        device.reset()
        task = world.prepare(name, 11)
        goals.append((task.name, task.goal, task.steps))
        task.tear_down()
    assert goals[0] == goals[1]


@needs_world
@needs_adb
@pytest.mark.slow
def test_trees_of_uiautomator_do_for_tasks_that_need_no_hints(stand_in: StandInProcess) -> None:
    device = connect(stand_in, tree="uiautomator")
    device.reset()
    world = World(device)
    assert solve(device, world, "SystemBrightnessMax") == (0.0, 1.0)
    assert solve(device, world, "SimpleCalendarAnyEventsOnDate") == (0.0, 1.0)
    world.close()
    device.close()
