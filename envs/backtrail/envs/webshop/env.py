"""WebShop: shopping by instruction in an online shop.

Description:
    A buyer looks for a product that fits an instruction such as "find me machine washable men's shirts with color: navy, and
    price lower than 50.00 dollars": it searches, reads pages, chooses options and buys. Yao et al., "WebShop: Towards Scalable
    Real-World Web Interaction with Grounded Language Agents", NeurIPS 2022. The shop is the original's, page by page and bit
    by bit, without its server.

Observation:
    ``Dict(goal=FreeText, text=FreeText)``: the instruction, and the page as "text" (pieces joined by " [SEP] "), "text_rich"
    (with marks for buttons and chosen options) or "html".

Actions:
    ``search[words]``, on any page, or ``click[...]`` with the words of a button, link or option of the page, in lower case.
    ``info["admissible_actions"]`` lists all clicks; on the search page, one search. Any other string changes nothing and
    ``info["action_error"]`` says why.

Reward:
    In the step that buys, the score from 0 to 1: how well the product's kind, attributes, chosen options and price fit. Other
    maps of the score: see ``reward``. ``info["success"]`` means a score of 1.

Termination:
    When something is bought. ``max_episode_steps`` (15) truncates.

Registered ids:
    ``backtrail/WebShop-v0``
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, get_args

import gymnasium as gym
from gymnasium import spaces

from backtrail.envs.core import ExplorableEnv, Snapshot, SnapshotError, digest, sanitize_action
from backtrail.envs.spaces import FreeText
from backtrail.envs.webshop.catalogue import Catalogue, default_folder, generated, open_catalogue
from backtrail.envs.webshop.goals import Source
from backtrail.envs.webshop.plan import purchase_plan
from backtrail.envs.webshop.shop import Shop
from backtrail.envs.webshop.state import State, pack, unpack
from backtrail.envs.webshop.tasks import SplitBy, Tasks

_MAX_ACTION = 1024
_FAMILY = "webshop/1"

Mode = Literal["text", "text_rich", "html"]
RewardMap = Literal["score", "tenfold", "win"]
Level = Literal["physical", "exact", "observation"]


class WebShopEnv(ExplorableEnv[dict[str, str], str]):
    """WebShop as an explorable Gymnasium environment.

    Example:
        >>> import gymnasium as gym
        >>> import backtrail.envs
        >>> env = gym.make("backtrail/WebShop-v0", split="test")
        >>> observation, info = env.reset(seed=0)
        >>> observation, reward, terminated, truncated, info = env.step("search[tea]")
        >>> observation["text"].split(" [SEP] ")[2:5]
        ['Back to Search', 'Page 1 (Total results: 33)', 'Next >']
        >>> observation, reward, terminated, truncated, info = env.step("click[buy now]")
        >>> reward, info["action_error"][:35]
        (0.0, "there is no 'buy now' to click here")
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 4}
    snapshot_kind = "native"

    def __init__(
        self,
        data: str = "generated",
        split: str = "train",
        task_types: Sequence[str] | None = None,
        task_id: str | None = None,
        goals: Source = "synthetic",
        split_by: SplitBy = "product",
        observation: Mode = "text",
        reward: RewardMap = "score",
        fingerprint: Level = "physical",
        strict: bool = False,
        show_attributes: bool = False,
        show_admissible: bool = False,
        expert: bool = False,
        render_mode: str | None = None,
    ):
        """Make the environment; the generated catalogue is built at its first use.

        Args:
            data: "generated" (1,000 products made up here, no download), "generated:N" (N of them), "official" (the catalogue
                that ``backtrail data webshop`` built, or that in the folder BACKTRAIL_WEBSHOP), or a catalogue's folder.
            split: "train", "valid" or "test".
            task_types: Only goals for products of these departments.
            task_id: Always this task.
            goals: "synthetic" (an instruction for each combination of options) or "human".
            split_by: "product" (no product has goals in two splits), or as "princeton", "agentbench", "agentgym", "verl-agent"
                or "ragen" do, by the places of goals; `backtrail.envs.webshop.preset` has all of their settings.
            observation: "text", "text_rich" or "html".
            reward: What a purchase earns: "score", "tenfold" (ten times the score) or "win" (10 for a score of 1, else 0).
            fingerprint: "physical" (what later pages, rewards and actions depend on), "exact" (also which products were
                opened, which only "text_rich" and "html" mark), or "observation" (of the text alone).
            strict: Keep the original's accidents too: see `backtrail.envs.webshop.shop.Shop`.
            show_attributes: Products have the button "Attributes".
            show_admissible: Append the admissible actions to the text.
            expert: Put a plan to a perfect purchase into ``info["expert_plan"]`` (reads hidden state).
            render_mode: None or "ansi".

        Raises:
            ValueError: On an unknown value, or if there are no such goals.
            CatalogueError: If there is no such catalogue, or it is damaged.
        """
        for value, allowed in ((observation, Mode), (reward, RewardMap), (fingerprint, Level)):
            if value not in get_args(allowed):
                raise ValueError(f"Expected one of {', '.join(get_args(allowed))}, got {value!r}")
        self.catalogue = _catalogue(data)
        departments = tuple(task_types) if task_types is not None else None
        self.tasks = _tasks(self.catalogue, goals, split, split_by, departments)
        self.task_id = self.tasks.check(task_id) if task_id is not None else None
        self.shop = _shop(self.catalogue, goals, strict, show_attributes)
        self.render_mode = render_mode
        space = spaces.Dict({"goal": FreeText(), "text": FreeText(1 << 20)})
        self.observation_space = space  # pyright: ignore[reportAttributeAccessIssue]  # Gymnasium types Dict by its spaces
        self.action_space = FreeText(_MAX_ACTION)
        self._mode, self._reward, self._level = observation, reward, fingerprint
        self._show_admissible, self._expert = show_admissible, expert
        self._state: State | None = None
        self._episode_id = ""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """Start an episode: of ``options["task_id"]``, else of the ``task_id`` given at construction, else of a random goal.

        A random goal is drawn by the goals' weights, as the original draws it.

        Raises:
            ValueError: If there is no such task or option.
        """
        super().reset(seed=seed)
        if unknown := set(options or {}) - {"task_id"}:
            raise ValueError(f"Expected the option task_id, got {', '.join(sorted(map(repr, unknown)))}")
        wanted = (options or {}).get("task_id")
        wanted = self.task_id if wanted is None else wanted
        task_id = self.tasks.pick(float(self.np_random.random())) if wanted is None else self.tasks.check(wanted)
        self._state = self.shop.start(self.tasks.goal(task_id))
        self._episode_id = task_id
        self._before: State | None = None
        self._error = ""
        return self._observe(), self._info()

    def step(self, action: str) -> tuple[dict[str, str], float, bool, bool, dict[str, Any]]:
        """Carry out one action.

        Raises:
            gymnasium.error.ResetNeeded: Before the first reset.
            gymnasium.error.InvalidAction: If the action is not a string; nothing has changed then.
        """
        before = self._here
        command, self._error = sanitize_action(action, _MAX_ACTION)
        score, bought = 0.0, False
        if not self._error:
            try:
                self._state, score, bought, self._error = self.shop.step(before, command)
            except (TypeError, ValueError, LookupError) as error:  # only a strict shop, where the original raises it
                self._error = f"the original shop fails at this action ({type(error).__name__}: {error}): take another"
        self._before = before
        return self._observe(), self._earned(score), bought, False, self._info()

    def fingerprint(self) -> str:
        """Return the identity of the state, at the level chosen at construction."""
        if self._level == "observation":
            return f"webshop-1-observation:{digest(self._page)}"
        return self.shop.fingerprint(self._here) if self._level == "exact" else self._physical(self._here)

    def snapshot(self) -> Snapshot:
        """Return the present place: the state itself."""
        here = pack(self._here)
        before = pack(self._before) if self._before is not None else None
        return Snapshot(_FAMILY, self._world, (here, before, self._error))

    def restore(self, snapshot: Snapshot) -> tuple[dict[str, str], dict[str, Any]]:
        """Put the shop back, and return what was seen there.

        Raises:
            SnapshotError: If the snapshot is of another task or catalogue, or damaged; nothing has changed then.
        """
        here = self._here
        snapshot.check(_FAMILY, self._world)
        payload = snapshot.payload
        if not (isinstance(payload, tuple) and len(payload) == 3 and isinstance(payload[2], str)):
            raise SnapshotError("Expected the state, the one before and an error, got something else")
        try:
            state = _state(self.shop, payload[0])
            before = _state(self.shop, payload[1]) if payload[1] is not None else None
        except TypeError as error:  # lists have no hash
            raise SnapshotError(f"Expected a payload of plain values and tuples: {error}") from None
        if any(place.goal != here.goal or place.session != here.session for place in (state, before or state)):
            raise SnapshotError("The state is one of another visit")
        self._state, self._before, self._error = state, before, payload[2]
        return self._observe(), self._info()

    def undo_actions(self) -> list[str]:
        """Return the clicks, if any, that lead back to where the last step was taken: known exactly, as the shop is."""
        here, before = self._here, self._before
        if before is None or before == here:
            return []
        clicks = ["< prev", "next >", "back to search", before.sub.lower(), (before.asin or "").lower()]
        clicks += [value for name, value in before.options if (name, value) not in here.options]
        possible = self._admissible
        candidates = [
            action for action in (*(f"click[{words}]" for words in clicks), *possible[:1]) if action in possible
        ]
        goal = self._physical(before)
        found = [action for action in candidates if self._physical(self.shop.step(here, action)[0]) == goal]
        return list(dict.fromkeys(found))

    def expert_plan(self) -> list[str]:
        """Return actions from here to a perfect purchase; empty after a purchase."""
        return purchase_plan(self.shop, self._here)

    def facts(self) -> frozenset[str]:
        """Return what is true of the visit and can change: the physical state, written out (for audits)."""
        s = self._here
        places = {
            "page": s.page,
            "sub": s.sub,
            "words": s.keywords,
            "number": s.number,
            "drawn": s.drawn,
            "asin": s.asin,
        }
        options = [f"chosen {name!r}: {value!r}" for name, value in s.options]
        return frozenset([*(f"{name} {value!r}" for name, value in places.items()), f"bought {s.done}", *options])

    def action_kind(self, action: str) -> str:
        """Return which kind of action one is: search, product, option, or the button's name."""
        name, _, words = action.partition("[")
        target = self.shop.pages.clickables(self._here).get(words.removesuffix("]")) if name == "click" else None
        if target is None:
            return name
        return {"link": "product", "option": "option"}.get(target.kind, target.text.lower())

    def render(self) -> str | None:
        """Return the page with its buttons marked, in mode "ansi"."""
        return self.shop.text_rich(self._state) if self.render_mode == "ansi" and self._state else None

    @property
    def _here(self) -> State:
        if self._state is None:
            raise gym.error.ResetNeeded("Expected reset() before anything else on WebShop")
        return self._state

    @property
    def _world(self) -> str:
        return f"{self.catalogue.digest} {self._episode_id}"

    def _physical(self, state: State) -> str:
        return self.shop.fingerprint(replace(state, visited=()))

    def _earned(self, score: float) -> float:
        if self._reward == "win":
            return 10.0 * (score == 1)
        return 10.0 * score if self._reward == "tenfold" else float(score)

    @property
    def _page(self) -> str:
        return _shown(self.shop, self._mode, self._here)[0]

    @property
    def _admissible(self) -> tuple[str, ...]:
        return _shown(self.shop, self._mode, self._here)[1]

    def _observe(self) -> dict[str, str]:
        said = self._page
        if self._show_admissible:
            said = f"{said}\n\nAdmissible actions: {'; '.join(self._admissible)}"
        return {"goal": self.shop.goal(self._here.goal).instruction, "text": said}

    def _info(self) -> dict[str, Any]:
        state = self._here
        info: dict[str, Any] = {
            "task_id": self._episode_id,
            "task_type": self._episode_id.split("/")[1],
            "data": self.catalogue.label,
            "admissible_actions": list(self._admissible),
            "action_error": self._error,
            "success": state.reward == 1,
            "score": state.reward or 0.0,
            "score_parts": dict(state.details),
            "nouns": self.catalogue.nouns_name,
        }
        if self._expert:
            info["expert_plan"] = self.expert_plan()
        return info


def _catalogue(data: str) -> Catalogue:
    """Open the catalogue that an environment is to use.

    Raises:
        ValueError: If the number of products is none.
        CatalogueError: If it cannot be opened.
    """
    kind, _, number = data.partition(":")
    if kind == "generated":
        if number and not (number.isascii() and number.isdigit() and 0 < int(number) <= 10_000_000):
            raise ValueError(f"Expected generated:N with 1 to 10,000,000 products, got {data!r}")
        return _generated(int(number or 1000))
    return open_catalogue(default_folder() if data == "official" else data)


@lru_cache(maxsize=4)
def _generated(count: int) -> Catalogue:
    return generated(count)


@lru_cache(maxsize=16)
def _tasks(
    catalogue: Catalogue, source: Source, split: str, split_by: SplitBy, departments: tuple[str, ...] | None
) -> Tasks:
    return Tasks(catalogue, source, split, split_by, departments)


@lru_cache(maxsize=8)
def _shop(catalogue: Catalogue, source: Source, strict: bool, show_attributes: bool) -> Shop:
    return Shop(catalogue, source, strict, show_attributes)


@lru_cache(maxsize=1024)
def _shown(shop: Shop, mode: Mode, state: State) -> tuple[str, tuple[str, ...]]:
    """Return the page of a state and what is admissible there: rollouts of one task meet the same states."""
    draw = {"text": shop.text, "text_rich": shop.text_rich, "html": shop.html}
    return draw[mode](state), tuple(shop.admissible(state))


@lru_cache(maxsize=1024)
def _state(shop: Shop, payload: Any) -> State:
    """Return the state of a payload, once it was checked.

    Raises:
        SnapshotError: If the shop has no such place.
    """
    return shop.check(unpack(payload))
