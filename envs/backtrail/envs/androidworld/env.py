"""AndroidWorld: tasks on a phone.

Description:
    An agent uses the apps of an Android phone to carry out an instruction such as "Create a contact for Ana Silva with the
    number 555 0143", after AndroidWorld (Rawles et al., "AndroidWorld: A Dynamic Benchmarking Environment for Autonomous
    Agents", ICLR 2025). The phone is simulated (``device="simulated"``) or an Android emulator (``"emulator"``). The tasks are our
    own for the simulated phone (``tasks="own"``), our own for every device (``"portable"``), or the classes of the package
    android_world (``"android_world"``).

Observation:
    ``Dict(goal=FreeText, text=FreeText, screenshot=Box(H, W, 3, uint8))``: the instruction, the numbered elements of the screen,
    and its picture. ``screenshot=False`` leaves the picture out.

Actions:
    One JSON object as a string, as AndroidWorld's agents write it: ``{"action_type": "click", "index": 4}``. Types: click,
    double_tap, long_press (index, or x and y), input_text (text), scroll, swipe (direction), open_app (app_name),
    navigate_back, navigate_home, keyboard_enter, wait, answer (text), status (goal_status: complete or infeasible). What is
    not valid changes nothing and ``info["action_error"]`` says why.

Reward:
    The task's own score, from 0 to 1, in the step that ends the episode, else 0. ``info["success"]`` is a score of 1.

Termination:
    When the agent says so: ``{"action_type": "status", "goal_status": "complete"}``. The task's own budget of steps truncates
    (``info["budget"]``), and ``max_episode_steps`` (120).

Registered ids:
    ``backtrail/AndroidWorld-v0``
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
from gymnasium import spaces

from backtrail.envs.androidworld.actions import Action, ActionError, read_action
from backtrail.envs.androidworld.backend import DeviceError, Element
from backtrail.envs.androidworld.elements import describe
from backtrail.envs.androidworld.fingerprint import screen_fingerprint, state_fingerprint
from backtrail.envs.androidworld.options import Device, Level, check_options, label_of, make_device
from backtrail.envs.androidworld.phone.identity import phone_facts, phone_fingerprint
from backtrail.envs.androidworld.running import Running, TaskSet, make_source
from backtrail.envs.androidworld.screen import Frame, admissible, undo_of
from backtrail.envs.androidworld.simulated import SimulatedBackend
from backtrail.envs.core import ExplorableEnv, Snapshot, SnapshotError, digest, sanitize_action
from backtrail.envs.spaces import FreeText, picture_space

_MAX_ACTION = 8192
_FAMILY = "androidworld/2"
_NEEDED = "Expected reset() before anything else on AndroidWorld, and after its device has failed"

Observation = dict[str, Any]


class AndroidWorldEnv(ExplorableEnv[Observation, str]):
    """Tasks on a phone as an explorable Gymnasium environment."""

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 2}
    snapshot_kind = "native"

    def __init__(
        self,
        device: Device = "simulated",
        tasks: TaskSet | None = None,
        split: str = "train",
        task_types: Sequence[str] | None = None,
        task_id: str | None = None,
        screenshot: bool = True,
        scale: float = 0.5,
        bounds: bool = False,
        fingerprint: Level | None = None,
        show_admissible: bool = False,
        expert: bool = False,
        budget: bool = True,
        device_options: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
    ):
        """Make the environment with a phone of its own.

        Args:
            device: "simulated": a phone in this process; "emulator": a running or launched Android emulator.
            tasks: "own" (the simulated phone's; the default there), "portable" (the default on an emulator) or
                "android_world" (needs the package android_world).
            split: "train", "valid" or "test": the same kinds of tasks with other parameters.
            task_types: Only tasks of these families.
            task_id: Always this task.
            screenshot: Whether observations have the picture.
            scale: Its size relative to the screen; coordinates in actions are always those of the screen.
            bounds: Whether the text says where elements are.
            fingerprint: "physical" (the simulated phone's own state; the default there), "state" (what the screen shows: more
                cannot be known of a real phone; the default there), or "screen" (its structure alone).
            show_admissible: Append the admissible actions to the text.
            expert: Put a plan that was tried out into ``info["expert_plan"]`` (reads hidden state; slow; not on an emulator).
            budget: Whether a registered environment ends episodes after the steps that their task allows.
            device_options: Arguments of `backtrail.envs.androidworld.emulator.EmulatorBackend`.
            render_mode: None, "rgb_array" or "ansi".

        Raises:
            ValueError: On an unknown value or task, or values that do not go together.
            gymnasium.error.DependencyNotInstalled: If the device or the tasks need what is not installed.
            DeviceError: If the emulator does not come up or does not answer.
        """
        simulated = device == "simulated"
        tasks = ("own" if simulated else "portable") if tasks is None else tasks
        level = ("physical" if simulated else "state") if fingerprint is None else fingerprint
        check_options(device, tasks, level, scale, expert)
        self.render_mode = render_mode
        self.backend = make_device(device, scale, device_options)
        try:
            self.tasks = make_source(tasks, self.backend, split, task_types)
            self.task_id = self.tasks.check(task_id) if task_id is not None else None
            self._data = label_of(self.backend, tasks)
        except BaseException:
            self.backend.close()
            raise
        self._frame = Frame(self.backend.size, scale)
        parts: dict[str, spaces.Space[Any]] = {"goal": FreeText(), "text": FreeText(1 << 18)}
        if screenshot:
            parts["screenshot"] = picture_space(*self._frame.size)
        self.observation_space = spaces.Dict(parts)  # pyright: ignore[reportAttributeAccessIssue]  # typed by its spaces
        self.action_space = FreeText(_MAX_ACTION)
        self._screenshot, self._bounds, self._level = screenshot, bounds, level
        self._show_admissible, self._expert, self._budget = show_admissible, expert, budget
        self._task: Running | None = None
        self._lost = False
        self._episode_id = ""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode: of ``options["task_id"]``, else of the ``task_id`` given at construction, else of a random task.

        Raises:
            ValueError: If there is no such task or option.
            DeviceError: If the device fails or the task cannot be prepared; the next reset starts afresh.
        """
        super().reset(seed=seed)
        if unknown := set(options or {}) - {"task_id"}:
            raise ValueError(f"Expected the option task_id, got {', '.join(sorted(map(repr, unknown)))}")
        wanted = (options or {}).get("task_id")
        wanted = self.task_id if wanted is None else wanted
        task_id = self.tasks.ids[int(self.np_random.integers(len(self.tasks.ids)))] if wanted is None else wanted
        self.tasks.check(task_id)
        self._leave()
        self.backend.reset()
        self._task = self.tasks.begin(task_id)
        self._episode_id = task_id
        self._error, self._answer, self._score, self._over = "", "", 0.0, False
        self._undo: tuple[str, ...] = ()
        self._plan: tuple[str, ...] = ()
        return self._observe(), self._info()

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out one action.

        Raises:
            gymnasium.error.ResetNeeded: Before the first reset, and after the device has failed.
            gymnasium.error.InvalidAction: If the action is not a string; nothing has changed then.
            DeviceError: If the device fails; the episode counts for nothing. `restore` or `reset` go on.
        """
        task = self._playing
        text, self._error = sanitize_action(action, _MAX_ACTION)
        self._plan = self._plan[1:] if self._plan[:1] == (text,) else ()
        before, activity, done = self.elements, self._activity, None
        if not self._error and self._over:
            self._error = "the episode is over: reset the environment"
        elif not self._error:
            done = self._act(task, text)
        seen = self._observe()
        if done is not None:
            target = before[done.index] if done.index is not None else None
            self._undo = undo_of(done, target, activity != self._activity)
        over = done is not None and done.action_type == "status"
        return seen, self._score if over else 0.0, over, False, self._info()

    def _act(self, task: Running, text: str) -> Action | None:
        """Carry out an action and return it; None if it is not valid."""
        try:
            found = read_action(text, len(self.elements), self.backend.size)
            self._lost = True  # until the screen is seen again: a device may fail in the middle
            if found.action_type != "status":
                self.backend.act(found)
        except ActionError as error:
            self._error = str(error)
            return None
        if found.action_type == "status":
            self._score, self._over = task.score(found.goal_status or "", self._answer), True
        elif found.action_type == "answer":
            self._answer = found.text or ""
        return found

    def fingerprint(self) -> str:
        """Return the identity of the state, at the level chosen at construction."""
        task = self._playing
        if self._level == "physical":
            assert isinstance(self.backend, SimulatedBackend)  # see check_options
            return phone_fingerprint(self.backend.phone, f"{self._episode_id} {self._over}")
        if not self._print:
            self._print = f"{self._shown()}-{digest(f'{task.goal} {self._over} {self._answer}')[:8]}"
        return self._print

    def snapshot(self) -> Snapshot:
        """Return the present place: the phone's whole state, or the name of the emulator's snapshot, which has an end."""
        _ = self._playing
        mine = (self._error, self._answer, self._score, self._over, self._undo, self._plan)
        return Snapshot(_FAMILY, self._world, (self.backend.save(), *mine))

    def restore(self, snapshot: Snapshot) -> tuple[Observation, dict[str, Any]]:
        """Put the phone back, and return what was seen there.

        Raises:
            SnapshotError: If the snapshot is of another task, damaged or no longer kept; nothing has changed then.
            DeviceError: If the device fails.
        """
        if self._task is None:
            raise gym.error.ResetNeeded(_NEEDED)
        snapshot.check(_FAMILY, self._world)
        payload = snapshot.payload
        kinds = (str, str, str, float, bool, tuple, tuple)
        if not isinstance(payload, tuple) or [type(part) for part in payload] != list(kinds):
            raise SnapshotError(
                "Expected the phone's state with error, answer, score, end, undo and plan, got something else"
            )
        if not (0 <= payload[3] <= 1 and all(isinstance(action, str) for action in (*payload[5], *payload[6]))):
            raise SnapshotError("Expected a score from 0 to 1, and undo actions and plan as text")
        try:
            self.backend.restore(payload[0])
        except DeviceError:
            self._lost = True
            raise
        _, self._error, self._answer, self._score, self._over, self._undo, self._plan = payload
        return self._observe(), self._info()

    def undo_actions(self) -> list[str]:
        """Return actions that may take the last step back: back, the same tap again, the opposite scroll, an erased field."""
        _ = self._playing
        possible = self._admissible()
        return [action for action in self._undo if action in possible]

    def expert_plan(self) -> list[str]:
        """Return actions that were tried out on this phone, put back afterwards, and reach the goal; empty if none do.

        As long as they are followed the plan is the rest of them; after any other action a new one is made.
        """
        task = self._playing
        if self._over:
            return []
        if not self._plan:
            self._plan = tuple(task.plan())
        return list(self._plan)

    def facts(self) -> frozenset[str]:
        """Return what is true of the simulated phone and can change, written out (for audits).

        Raises:
            NotImplementedError: On an emulator, of which this cannot be known.
        """
        if not isinstance(self.backend, SimulatedBackend):
            raise NotImplementedError("Expected the simulated phone: what is true of an emulator cannot be listed")
        _ = self._playing
        return phone_facts(self.backend.phone) | {f"over {self._over}"}

    def action_kind(self, action: str) -> str:
        """Return the type of an action."""
        try:
            return read_action(action, 1 << 30, (1 << 30, 1 << 30)).action_type
        except ActionError:
            return "other"

    def render(self) -> Any:
        """Return the picture of the screen, or the text in mode "ansi"."""
        if self._task is None or self._lost or self.render_mode is None:
            return None
        text = self.render_mode == "ansi"
        return describe(self.elements, bounds=self._bounds) if text else self.backend.screenshot()

    def close(self) -> None:
        """Let go of the device and of all that was started for it."""
        self._leave()
        self.tasks.close()
        self.backend.close()

    @property
    def _playing(self) -> Running:
        if self._task is None or self._lost:
            raise gym.error.ResetNeeded(_NEEDED)
        return self._task

    @property
    def _world(self) -> str:
        return f"{self._data} {self._episode_id}"

    def _leave(self) -> None:
        """End the task under way, if there is one; what it leaves behind if it cannot clean up goes with the next reset."""
        task, self._task = self._task, None
        if task is not None:
            with contextlib.suppress(DeviceError):
                task.close()

    def _look(self) -> None:
        """See the screen as it is now, once for everything that is asked of it."""
        self._lost = True  # until all of it was seen
        self.elements: list[Element] = self.backend.elements()
        self._activity = self.backend.activity()
        self._picture = {"screenshot": self._frame.fit(self.backend.screenshot())} if self._screenshot else {}
        self._print, self._lost = "", False

    def _shown(self) -> str:
        """Return the identity of what the screen shows, or of its build."""
        of = state_fingerprint if self._level == "state" else screen_fingerprint
        if isinstance(self.backend, SimulatedBackend):
            return of(self._activity, self.backend.phone.tree)
        if self._level == "screen":
            return screen_fingerprint(self._activity, self.elements)
        return state_fingerprint(self._activity, self.elements, self.backend.screenshot)

    def _observe(self) -> Observation:
        self._look()
        said = describe(self.elements, bounds=self._bounds)
        if self._show_admissible:
            said = f"{said}\n\nAdmissible actions: {'; '.join(self._admissible())}"
        return {"goal": self._playing.goal, "text": said, **self._picture}

    def _admissible(self) -> list[str]:
        return [] if self._over else admissible(self.elements)

    def _info(self) -> dict[str, Any]:
        task, height, width = self._playing, *self.backend.size
        info: dict[str, Any] = {
            "task_id": self._episode_id,
            "task_type": task.family,
            "data": self._data,
            "admissible_actions": self._admissible(),
            "action_error": self._error,
            "dropped": self.backend.dropped,
            "success": self._score == 1.0,
            "score": self._score,
            "activity": self._activity,
            "screen": (width, height),
            "tree": self.backend.tree,
            "budget": task.steps if self._budget else None,
        }
        if self._expert:
            info["expert_plan"] = self.expert_plan()
        return info
