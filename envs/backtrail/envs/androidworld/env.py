"""AndroidWorld: tasks on a phone.

Description:
    An agent uses the apps of an Android phone to carry out an instruction such as "Create a contact for Ana Silva with the
    number 555 0143". The phone is simulated, with tasks of our own modelled on AndroidWorld's (Rawles et al., "AndroidWorld: A
    Dynamic Benchmarking Environment for Autonomous Agents", ICLR 2025).

Observation:
    ``Dict(goal=FreeText, text=FreeText, screenshot=Box(H, W, 3, uint8))``: the instruction, the numbered elements of the screen,
    and its picture. ``screenshot=False`` leaves the picture out.

Actions:
    One JSON object as a string, as AndroidWorld's agents write it: ``{"action_type": "click", "index": 4}``. Types: click,
    double_tap, long_press (index, or x and y), input_text (text), scroll, swipe (direction), open_app (app_name),
    navigate_back, navigate_home, keyboard_enter, wait, answer (text), status (goal_status: complete or infeasible). What is
    not valid changes nothing and ``info["action_error"]`` says why.

Reward:
    1 in the step that ends the episode, if the task's own check of the phone holds, else 0.

Termination:
    When the agent says so: ``{"action_type": "status", "goal_status": "complete"}``. ``max_episode_steps`` (40) truncates.

Registered ids:
    ``backtrail/AndroidWorld-v0``
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from backtrail.envs.androidworld.actions import Action, ActionError, read_action
from backtrail.envs.androidworld.elements import describe
from backtrail.envs.androidworld.fingerprint import screen_fingerprint, state_fingerprint
from backtrail.envs.androidworld.phone.factory import make_phone
from backtrail.envs.androidworld.phone.identity import phone_facts, phone_fingerprint
from backtrail.envs.androidworld.phone.views import HEIGHT, WIDTH
from backtrail.envs.androidworld.simulated import SimulatedBackend
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import NotThere, Oracle
from backtrail.envs.androidworld.tasks.pack import Tasks
from backtrail.envs.core import ExplorableEnv, Snapshot, SnapshotError, digest, sanitize_action
from backtrail.envs.spaces import FreeText

_MAX_ACTION = 8192
_FAMILY = "androidworld-simulated/1"
_DATA = "simulated-phone:v1"

Level = Literal["physical", "state", "screen"]

Observation = dict[str, Any]


class AndroidWorldEnv(ExplorableEnv[Observation, str]):
    """Tasks on the simulated phone as an explorable Gymnasium environment."""

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 2}
    snapshot_kind = "native"

    def __init__(
        self,
        data: Literal["simulated"] = "simulated",
        split: str = "train",
        task_types: Sequence[str] | None = None,
        task_id: str | None = None,
        screenshot: bool = True,
        scale: float = 0.5,
        bounds: bool = False,
        fingerprint: Level = "physical",
        show_admissible: bool = False,
        expert: bool = False,
        render_mode: str | None = None,
    ):
        """Make the environment with a phone of its own.

        Args:
            data: "simulated": the simulated phone with tasks of our own.
            split: "train", "valid" or "test": the same kinds of tasks with other parameters.
            task_types: Only tasks of these families.
            task_id: Always this task.
            screenshot: Whether observations have the picture.
            scale: Its size relative to the screen of 1080 x 2400 pixels; coordinates in actions are always those of the screen.
            bounds: Whether the text says where elements are.
            fingerprint: "physical" (the phone's own state), "state" (what the screen shows, as on a real phone, where more
                cannot be known), or "screen" (its structure alone).
            show_admissible: Append the admissible actions to the text.
            expert: Put a plan that was tried out into ``info["expert_plan"]`` (reads hidden state; slow).
            render_mode: None, "rgb_array" or "ansi".

        Raises:
            ValueError: On an unknown value or task.
        """
        if data != "simulated":
            raise ValueError(f"Expected data to be simulated, got {data!r}")
        if fingerprint not in get_args(Level):
            raise ValueError(f"Expected one of {', '.join(get_args(Level))}, got {fingerprint!r}")
        if not 0.05 <= scale <= 1:
            raise ValueError(f"Expected a scale from 0.05 to 1, got {scale}")
        self.tasks = Tasks(split, task_types)
        self.task_id = self.tasks.check(task_id) if task_id is not None else None
        self.backend = SimulatedBackend(make_phone(scale))
        self.render_mode = render_mode
        parts: dict[str, spaces.Space[Any]] = {"goal": FreeText(), "text": FreeText(1 << 18)}
        if screenshot:
            shape = (round(HEIGHT * scale), round(WIDTH * scale), 3)
            parts["screenshot"] = spaces.Box(0, 255, shape, np.uint8)
        self.observation_space = spaces.Dict(parts)  # pyright: ignore[reportAttributeAccessIssue]  # typed by its spaces
        self.action_space = FreeText(_MAX_ACTION)
        self._screenshot, self._bounds, self._level = screenshot, bounds, fingerprint
        self._show_admissible, self._expert = show_admissible, expert
        self._task: PhoneTask | None = None
        self._episode_id = ""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode: of ``options["task_id"]``, else of the ``task_id`` given at construction, else of a random task.

        Raises:
            ValueError: If there is no such task or option.
        """
        super().reset(seed=seed)
        if unknown := set(options or {}) - {"task_id"}:
            raise ValueError(f"Expected the option task_id, got {', '.join(sorted(map(repr, unknown)))}")
        wanted = (options or {}).get("task_id")
        wanted = self.task_id if wanted is None else wanted
        task_id = self.tasks.ids[int(self.np_random.integers(len(self.tasks.ids)))] if wanted is None else wanted
        self._task = self.tasks.make(self.tasks.check(task_id))
        self._episode_id = task_id
        self.backend.reset()
        self._task.prepare(self.backend.phone)
        self.backend.phone.home()
        self.backend.phone.changed()
        self._error, self._success, self._over = "", False, False
        self._undo: tuple[str, ...] = ()
        self._plan: tuple[str, ...] = ()
        return self._observe(), self._info()

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out one action.

        Raises:
            gymnasium.error.ResetNeeded: Before the first reset.
            gymnasium.error.InvalidAction: If the action is not a string; nothing has changed then.
        """
        task = self._playing
        text, self._error = sanitize_action(action, _MAX_ACTION)
        over = False
        self._plan = self._plan[1:] if self._plan[:1] == (text,) else ()
        if not self._error and self._over:
            self._error = "the episode is over: reset the environment"
        elif not self._error:
            over = self._act(task, text)
        return self._observe(), float(over and self._success), over, False, self._info()

    def _act(self, task: PhoneTask, text: str) -> bool:
        """Carry out an action; return whether it ends the episode."""
        before = self.backend.activity()
        try:
            found = read_action(text, len(self.backend.elements()), self.backend.size)
            self._undo = ()
            if found.action_type == "status":
                self._over = True
                wants = "infeasible" if task.infeasible else "complete"
                self._success = found.goal_status == wants and (task.infeasible or task.done(self.backend.phone))
                return True
            self.backend.act(found)
            self._undo = _undo_of(found, before != self.backend.activity())
        except (ActionError, ValueError) as error:
            self._error = str(error)
        return False

    def fingerprint(self) -> str:
        """Return the identity of the state, at the level chosen at construction."""
        task = self._playing
        if self._level == "physical":
            return phone_fingerprint(self.backend.phone, f"{self._episode_id} {self._over}")
        of = state_fingerprint if self._level == "state" else screen_fingerprint
        return f"{of(self.backend.activity(), self.backend.phone.tree)}-{digest(f'{task.goal} {self._over}')[:8]}"

    def snapshot(self) -> Snapshot:
        """Return the present place: the phone's whole state."""
        _ = self._playing
        payload = (self.backend.save(), self._error, self._success, self._over, self._undo, self._plan)
        return Snapshot(_FAMILY, self._world, payload)

    def restore(self, snapshot: Snapshot) -> tuple[Observation, dict[str, Any]]:
        """Put the phone back, and return what was seen there.

        Raises:
            SnapshotError: If the snapshot is of another task, or damaged; nothing has changed then.
        """
        _ = self._playing
        snapshot.check(_FAMILY, self._world)
        payload = snapshot.payload
        kinds = (str, str, bool, bool, tuple, tuple)
        if not isinstance(payload, tuple) or [type(part) for part in payload] != list(kinds):
            raise SnapshotError("Expected the phone's state with an error, success, end and undo, got something else")
        if not all(isinstance(action, str) for action in (*payload[4], *payload[5])):
            raise SnapshotError("Expected undo actions and plan as text")
        self.backend.restore(payload[0])
        _, self._error, self._success, self._over, self._undo, self._plan = payload
        return self._observe(), self._info()

    def undo_actions(self) -> list[str]:
        """Return actions that may take the last step back: back, the same tap again, the opposite scroll, an erased field."""
        possible = self._admissible()
        return [action for action in self._undo if action in possible]

    def expert_plan(self) -> list[str]:
        """Return actions that were tried out on this phone, put back afterwards, and reach the goal; empty if none do.

        As long as they are followed the plan is the rest of them; after any other action a new one is made.
        """
        if self._over:
            return []
        if not self._plan:
            task, phone = self._playing, self.backend.phone
            kept = phone.save()
            found = _solved(task, self.backend, first_home=False) or _solved(task, self.backend, first_home=True)
            phone.load(kept)
            self._plan = tuple(found)
        return list(self._plan)

    def facts(self) -> frozenset[str]:
        """Return what is true of the phone and can change, written out (for audits)."""
        return phone_facts(self.backend.phone) | {f"over {self._over}"}

    def action_kind(self, action: str) -> str:
        """Return the type of an action."""
        try:
            return read_action(action, 1 << 30, (1 << 30, 1 << 30)).action_type
        except ActionError:
            return "other"

    def render(self) -> Any:
        """Return the picture of the screen, or the text in mode "ansi"."""
        if self._task is None or self.render_mode is None:
            return None
        return self.backend.screenshot() if self.render_mode == "rgb_array" else self._text()

    @property
    def _playing(self) -> PhoneTask:
        if self._task is None:
            raise gym.error.ResetNeeded("Expected reset() before anything else on AndroidWorld")
        return self._task

    @property
    def _world(self) -> str:
        return f"{_DATA} {self._episode_id}"

    def _text(self) -> str:
        return describe(self.backend.elements(), bounds=self._bounds)

    def _observe(self) -> Observation:
        said = self._text()
        if self._show_admissible:
            said = f"{said}\n\nAdmissible actions: {'; '.join(self._admissible())}"
        seen: Observation = {"goal": self._playing.goal, "text": said}
        if self._screenshot:
            seen["screenshot"] = self.backend.screenshot()
        return seen

    def _admissible(self) -> list[str]:
        """Return actions that may do something here, but for those with text or points of the agent's choice."""
        if self._over:
            return []
        actions: list[Action] = [Action("status", goal_status="complete")]
        for number, element in enumerate(self.backend.elements()):
            if element.clickable or element.editable:
                actions.append(Action("click", index=number))
            if element.long_clickable:
                actions.append(Action("long_press", index=number))
            if element.scrollable:
                actions += [Action("scroll", index=number, direction=each) for each in ("down", "up")]
        actions += [Action(kind) for kind in ("navigate_back", "navigate_home", "keyboard_enter", "wait")]
        return [action.to_json() for action in actions]

    def _info(self) -> dict[str, Any]:
        task = self._playing
        info: dict[str, Any] = {
            "task_id": self._episode_id,
            "task_type": task.family,
            "data": _DATA,
            "admissible_actions": self._admissible(),
            "action_error": self._error,
            "success": self._success,
            "activity": self.backend.activity(),
            "budget": task.steps,
        }
        if self._expert:
            info["expert_plan"] = self.expert_plan()
        return info


def _undo_of(action: Action, moved: bool) -> tuple[str, ...]:
    """Return what may take an action back, the likeliest first."""
    back = Action("navigate_back").to_json()
    if action.action_type == "scroll":
        opposite = {"up": "down", "down": "up", "left": "right", "right": "left"}[action.direction or "down"]
        return (Action("scroll", index=action.index, direction=opposite).to_json(),)
    if action.action_type == "click" and not moved and action.index is not None:
        return Action("click", index=action.index).to_json(), back
    return () if action.action_type in ("navigate_home", "wait", "answer") else (back,)


def _solved(task: PhoneTask, backend: SimulatedBackend, *, first_home: bool) -> list[str]:
    """Solve a task; return the actions, none if it did not work. The phone is not put back."""
    oracle = Oracle(backend)
    try:
        if first_home:
            oracle.home()
        if task.infeasible or not task.done(backend.phone):
            task.solve(oracle)
    except (NotThere, ValueError):
        return []
    if not (task.infeasible or task.done(backend.phone)):
        return []
    oracle.finish("infeasible" if task.infeasible else "complete")
    return oracle.actions
