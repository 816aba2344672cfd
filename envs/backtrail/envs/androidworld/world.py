"""AndroidWorld's own task classes, unmodified, on the simulated phone or an emulator: an adapter of the package android_world.

The package draws from the global random generators and from ``uuid``, sleeps, and writes files of fixed names into the folder
for temporary files. While its code runs, these are its own; what the process had comes back afterwards.
"""

from __future__ import annotations

import logging
import math
import random
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np

from backtrail.envs.androidworld.backend import DeviceError
from backtrail.envs.androidworld.doctor import RECIPE
from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.simulated import SimulatedBackend
from backtrail.envs.androidworld.simulator import as_android_env

if TYPE_CHECKING:
    from backtrail.envs.androidworld.emulator import EmulatorBackend

__all__ = ["World", "WorldTask", "task_names"]

_STEPS = 10
"""Steps for each unit of a task's complexity, as in AndroidWorld's ``suite_utils``."""


class World:
    """AndroidWorld's own task classes, unmodified, on a device. Only one task is under way at a time.

    Attributes:
        names: Task class names of the family "android_world", sorted.
        environment: The package's ``AsyncAndroidEnv`` on the device.
    """

    def __init__(self, device: SimulatedBackend | EmulatorBackend):
        """Build the package's environment around a device, which is left as it was; an emulator keeps a snapshot for that.

        Raises:
            gymnasium.error.DependencyNotInstalled: If android_world or what it needs is missing.
            DeviceError: If the environment cannot be built.
        """
        under = device.phone if isinstance(device, SimulatedBackend) else device
        self._phone = under if isinstance(under, Phone) else None
        self._kinds = _kinds()
        self.names = tuple(sorted(self._kinds))
        self._folder = tempfile.TemporaryDirectory(prefix="backtrail-android-world-")
        kept = device.save()
        try:
            with self.inside(0, "its environment"):
                self.environment = _environment(under, device.tree)
            device.restore(kept)  # android_env has switched radios, and written settings with the port of the day
        except BaseException:
            self._folder.cleanup()
            raise

    def prepare(self, name: str, seed: int) -> WorldTask:
        """Draw a task's parameters, prepare the device for it, and go home.

        Raises:
            ValueError: If there is no such task.
            DeviceError: If the package raises anything.
        """
        if name not in self._kinds:
            raise ValueError(f"Expected the name of a task such as {self.names[0]}, got {name!r}")
        with self.inside(seed, f"preparing {name}"):
            kind = self._kinds[name]
            task = kind({**kind.generate_random_params(), "seed": seed})
            task.initialize_task(self.environment)
            self.environment.reset(go_home=True)
            return WorldTask(name, str(task.goal), int(_STEPS * task.complexity), task, self, seed)

    @contextmanager
    def inside(self, seed: int, doing: str) -> Iterator[None]:
        """Lend the package what it takes for its own: random generators, ``time.sleep``, the folder for temporary files.

        On a simulated phone ``time.sleep`` in this thread moves the phone's clock, and no other.

        Args:
            seed: Of the random generators.
            doing: What is done, for the message.

        Raises:
            DeviceError: If anything is raised inside.
        """
        data = _package("task_evals.utils.user_data_generation")  # it asks for the folder once, when it is imported
        folder, copy, sleep = tempfile.tempdir, data._TMP, time.sleep
        tempfile.tempdir = data._TMP = self._folder.name
        if self._phone is not None:
            time.sleep = _clock(self._phone)
        try:
            with _randomness(seed):
                yield
        except gym.error.Error:
            raise
        except Exception as error:  # whatever a foreign package raises: it is raised again as what it is for an episode
            raise DeviceError(f"AndroidWorld failed {doing}: {type(error).__name__}: {error}") from error
        finally:
            tempfile.tempdir, data._TMP, time.sleep = folder, copy, sleep

    def close(self) -> None:
        """Stop what the environment has started; the device stays as it is. May be called twice."""
        self.environment.close()
        self._folder.cleanup()


@dataclass
class WorldTask:
    """A task that was prepared.

    Attributes:
        name: Of its class.
        goal: What is to be done.
        steps: AndroidWorld's own budget.
        task: The package's object.
    """

    name: str
    goal: str
    steps: int
    task: Any
    _world: World = field(repr=False)
    _seed: int

    def score(self, answer: str) -> float:
        """Return from 0 to 1 how well it was done.

        Args:
            answer: What was answered last.

        Raises:
            DeviceError: If the package raises anything or says NaN.
        """
        with self._world.inside(self._seed, f"checking {self.name}"):
            self._world.environment.interaction_cache = answer
            score = float(self.task.is_successful(self._world.environment))
        if math.isnan(score):
            raise DeviceError(f"Expected a score of {self.name} from 0 to 1, AndroidWorld said NaN")
        return score

    def tear_down(self) -> None:
        """Take from the device what the task put there.

        Raises:
            DeviceError: If the package raises anything.
        """
        with self._world.inside(self._seed, f"cleaning up after {self.name}"):
            self.task.tear_down(self._world.environment)


def task_names() -> tuple[str, ...]:
    """Return the names of AndroidWorld's task classes, sorted; needs no device.

    Raises:
        gymnasium.error.DependencyNotInstalled: If android_world or what it needs is missing.
    """
    return tuple(sorted(_kinds()))


def _kinds() -> dict[str, Any]:
    with _randomness(0):
        registry = _package("registry").TaskRegistry
        return dict(registry().get_registry(registry.ANDROID_WORLD_FAMILY))


def _environment(device: Phone | EmulatorBackend, tree: str) -> Any:
    controllers = _package("env.android_world_controller")
    logging.getLogger("absl").setLevel(logging.ERROR)  # it warns of app snapshots that are missing, many times a task
    methods = controllers.A11yMethod
    controller = controllers.AndroidWorldController(
        as_android_env(device),
        a11y_method=methods.UIAUTOMATOR if tree == "uiautomator" else methods.A11Y_FORWARDER_APP,
        install_a11y_forwarding_app=False,
    )
    return _package("env.interface").AsyncAndroidEnv(controller)


def _package(part: str) -> Any:
    try:
        return import_module(f"android_world.{part}")
    except ImportError as error:
        raise gym.error.DependencyNotInstalled(
            f"AndroidWorld's tasks need the package android_world ({error}), which no index has:\n{RECIPE}"
        ) from error


@contextmanager
def _randomness(seed: int) -> Iterator[None]:
    """Seed the global generators and ``uuid.uuid4``, and put them back afterwards."""
    kept, numbers, unique = random.getstate(), np.random.get_state(), uuid.uuid4  # noqa: NPY002
    source = random.Random(seed)  # not the global one, which gives the package what it gives everywhere
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    uuid.uuid4 = lambda: uuid.UUID(int=source.getrandbits(128), version=4)
    try:
        yield
    finally:
        random.setstate(kept)
        np.random.set_state(numbers)  # noqa: NPY002
        uuid.uuid4 = unique


def _clock(phone: Phone) -> Any:
    """Return a ``time.sleep`` that moves a phone's clock, in this thread."""
    sleep, thread, left = time.sleep, threading.current_thread(), 0.0

    def wait(seconds: float) -> None:
        nonlocal left
        if threading.current_thread() is not thread:
            return sleep(seconds)
        left += seconds
        phone.pass_time(int(left))
        left -= int(left)
        return None

    return wait
