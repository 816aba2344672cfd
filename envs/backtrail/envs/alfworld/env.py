"""ALFWorld: household tasks as a text game.

Description:
    An agent in a furnished room carries out an instruction such as "put a clean mug in desk": it walks between
    receptacles, opens them, takes and moves objects, and cleans, heats, cools, slices or lights them. Six task types.
    Shridhar et al., "ALFWorld: Aligning Text and Embodied Environments for Interactive Learning", ICLR 2021.

Observation:
    ``Dict(goal=FreeText, text=FreeText)``: the instruction, and what the game says, byte for byte as TextWorld says it.

Actions:
    One command as a string, e.g. ``go to desk 1``, ``take mug 2 from desk 1``. ``info["admissible_actions"]`` lists all
    that do something here. Any other string changes nothing ("Nothing happens.") and ``info["action_error"]`` says why.

Reward:
    1 in the step that wins, else 0.

Termination:
    When the goal holds. ``max_episode_steps`` (50) truncates.

Registered ids:
    ``backtrail/ALFWorld-v0``
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import gymnasium as gym
from gymnasium import spaces

from backtrail.envs.alfworld import explain, text
from backtrail.envs.alfworld.engine import Action, Engine
from backtrail.envs.alfworld.expert import shortest_plan
from backtrail.envs.alfworld.game import GameError, Names, State
from backtrail.envs.alfworld.place import Place, pack, unpack
from backtrail.envs.alfworld.tasks import Tasks
from backtrail.envs.alfworld.textworld import TextWorldEngine
from backtrail.envs.core import ExplorableEnv, Snapshot, SnapshotError, digest, sanitize_action
from backtrail.envs.spaces import FreeText

_MAX_ACTION = 1024


class ALFWorldEnv(ExplorableEnv[dict[str, str], str]):
    """The ALFWorld text game as an explorable Gymnasium environment.

    Example:
        >>> import gymnasium as gym
        >>> import backtrail.envs
        >>> env = gym.make("backtrail/ALFWorld-v0", task_id="valid_seen/pick_and_place_simple/0000")
        >>> observation, info = env.reset(seed=0)
        >>> info["data"], info["task_id"]
        ('generated:v1', 'valid_seen/pick_and_place_simple/0000')
        >>> observation, reward, terminated, truncated, info = env.step("dance")
        >>> observation["text"], info["action_error"][:23]
        ('Nothing happens.', "unknown command 'dance'")
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(
        self,
        data: str = "generated",
        split: str = "train",
        task_types: Sequence[str] | None = None,
        task_id: str | None = None,
        engine: Literal["native", "textworld"] = "native",
        names: Names = "numbered",
        fingerprint: Literal["physical", "exact", "observation"] = "physical",
        show_admissible: bool = False,
        expert: bool = False,
        render_mode: str | None = None,
    ):
        """Make the environment; games are read when an episode needs them.

        Args:
            data: "generated" (made up here, no download), "generated-small" (the same in rooms of seven receptacles), "official" (the games that ``backtrail data alfworld`` fetched,
                or those in the folder ALFWORLD_DATA), or a folder of official games.
            split: "train", "valid_seen" or "valid_unseen" (rooms that train never shows).
            task_types: Only games of these types.
            task_id: Always play this game.
            engine: "native", or "textworld" for the original stack (extra ``alfworld``; snapshots replay).
            names: "numbered" (``desk 1``), or "textworld" for the identifiers TextWorld shows without ALFWorld's names.
            fingerprint: "physical" (what commands, rewards and the future depend on), "exact" (also what was taken from
                where, which ``look`` shows), or "observation" (of the text alone, as text-matching methods group).
            show_admissible: Append the admissible actions to the text.
            expert: Put the shortest plan from here into ``info["expert_plan"]`` (reads hidden state; slow).
            render_mode: None or "ansi".

        Raises:
            ValueError, FileNotFoundError: If there are no such games.
        """
        for value, allowed in ((engine, ("native", "textworld")), (fingerprint, ("physical", "exact", "observation"))):
            if value not in allowed:
                raise ValueError(f"Expected one of {', '.join(allowed)}, got {value!r}")
        self.tasks = Tasks(data, split, task_types, names)
        self.task_id = self.tasks.check(task_id) if task_id is not None else None
        self.snapshot_kind = "native" if engine == "native" else "replay"
        self.render_mode = render_mode
        space = spaces.Dict({"goal": FreeText(), "text": FreeText()})
        self.observation_space = space  # pyright: ignore[reportAttributeAccessIssue]  # Gymnasium types Dict by its spaces
        self.action_space = FreeText(_MAX_ACTION)
        self._fingerprint, self._show_admissible, self._expert = fingerprint, show_admissible, expert
        self._engine: Engine | TextWorldEngine | None = None
        self._episode_id = ""
        self._history: list[str] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """Start an episode: of ``options["task_id"]``, else of the ``task_id`` given at construction, else of a random game.

        Raises:
            ValueError: If there is no such game or option.
            GameError: If the game's file is damaged or of unknown rules. The running episode stays as it is then (with
                ``engine="textworld"`` it is over).
        """
        super().reset(seed=seed)
        if unknown := set(options or {}) - {"task_id"}:
            raise ValueError(f"Expected the option task_id, got {', '.join(sorted(map(repr, unknown)))}")
        wanted = (options or {}).get("task_id")
        wanted = self.task_id if wanted is None else wanted
        if wanted is None:
            task_id = self.tasks.ids[int(self.np_random.integers(len(self.tasks.ids)))]
        else:
            task_id = self.tasks.check(wanted)
        self._engine = self._load(task_id)
        self._episode_id = task_id
        self._state: State = self._engine.start
        self._before, self._action = self._state, None
        self._text = text.intro(self._engine.game) if isinstance(self._engine, Engine) else self._engine.intro
        self._error = ""
        self._won = self._engine.won(self._state)
        self._history = []
        return self._observe(), self._info()

    def step(self, action: str) -> tuple[dict[str, str], float, bool, bool, dict[str, Any]]:
        """Carry out one command.

        Raises:
            gymnasium.error.ResetNeeded: Before the first reset.
            gymnasium.error.InvalidAction: If the action is not a string; nothing has changed then.
        """
        engine = self._playing
        command, self._error = sanitize_action(action, _MAX_ACTION)
        before = self._state
        meaning: Action | None = engine.options(before).find(command.strip())
        self._state, self._text, self._won = engine.step(before, command)
        self._before, self._action = before, meaning
        if meaning is None and not self._error:
            self._error = explain.why_not(self._native, before, command)
        if self.snapshot_kind == "replay":
            self._history.append(command)
        return self._observe(), float(self._won), self._won, False, self._info()

    def fingerprint(self) -> str:
        """Return the identity of the state, at the level chosen at construction."""
        if self._fingerprint == "physical":
            return self._playing.fingerprint(self._state)
        seen = self._state if self._fingerprint == "exact" else self._text
        return f"alfworld-1-{self._fingerprint}:{digest(f'{self._playing.game.digest}{seen!r}')}"

    def snapshot(self) -> Snapshot:
        """Return the present place: the state itself (native), or the commands that led here (textworld)."""
        world = self._world
        place = Place(self._state, self._text, self._error, self._before, self._action, tuple(self._history))
        return Snapshot(self._family, world, pack(place))

    def restore(self, snapshot: Snapshot) -> tuple[dict[str, str], dict[str, Any]]:
        """Put the game back, and return what was seen there.

        Raises:
            SnapshotError: If the snapshot is of another game or engine, or damaged; nothing has changed then.
        """
        engine = self._playing
        snapshot.check(self._family, self._world)
        place = unpack(self._native, snapshot.payload)
        if isinstance(engine, TextWorldEngine) and engine.rewind(place.history) != place.state:
            engine.rewind(tuple(self._history))
            raise SnapshotError("The commands in the snapshot do not lead to its state")
        self._state, self._text, self._error, self._before, self._action, history = place
        self._won, self._history = engine.won(self._state), list(history)
        return self._observe(), self._info()

    def undo_actions(self) -> list[str]:
        """Return the inverse command of the last step (go back, put back, close, ...); none for heat, cool, clean, slice."""
        if self._action is None:
            return []
        return explain.inverses(self._native, self._before, self._action, self._state)

    def expert_plan(self) -> list[str]:
        """Return a shortest list of commands that wins from here; empty if the game is won or cannot be won any more."""
        return shortest_plan(self._native, self._state) or []

    def facts(self) -> frozenset[str]:
        """Return the PDDL facts that hold and can change: the state, written out (for audits)."""
        return explain.facts(self._playing.game, self._state)

    def render(self) -> str | None:
        """Return the last text in mode "ansi"."""
        return self._text if self.render_mode == "ansi" and self._engine else None

    @property
    def _family(self) -> str:
        return "alfworld/1" if self.snapshot_kind == "native" else "alfworld-replay/1"

    @property
    def _world(self) -> str:
        return f"{self._playing.game.digest} {self.tasks.names}"

    @property
    def _playing(self) -> Engine | TextWorldEngine:
        if self._engine is None:
            raise gym.error.ResetNeeded("Expected reset() before anything else on ALFWorld")
        return self._engine

    @property
    def _native(self) -> Engine:
        engine = self._playing
        return engine if isinstance(engine, Engine) else engine.native

    def _load(self, task_id: str) -> Engine | TextWorldEngine:
        if self.snapshot_kind == "native":
            return self.tasks.engine(task_id)
        game = self.tasks.game(task_id, any_rules=True)
        after = self._engine if isinstance(self._engine, TextWorldEngine) else None
        self._engine = None  # TextWorld has one game at a time: from here on the last one is gone
        content = self.tasks.content(task_id)
        try:
            return TextWorldEngine(content, game, self.tasks.names, after=after)
        except gym.error.DependencyNotInstalled:
            raise
        except (
            Exception
        ) as error:  # ok: the original stack's parsers raise whatever comes, and all of it means a bad file
            raise GameError(f"{task_id}: TextWorld cannot load the game: {error!r}") from error

    def _observe(self) -> dict[str, str]:
        said = self._text
        if self._show_admissible:
            said = f"{said}\n\nAdmissible actions: {'; '.join(self._playing.options(self._state).commands)}"
        return {"goal": self._playing.game.task, "text": said}

    def _info(self) -> dict[str, Any]:
        engine = self._playing
        info: dict[str, Any] = {
            "task_id": self._episode_id,
            "task_type": engine.game.goal.task_type,
            "data": engine.game.data,
            "admissible_actions": list(engine.options(self._state).commands),
            "action_error": self._error,
            "success": self._won,
        }
        if self._expert:
            info["expert_plan"] = self.expert_plan()
        return info
