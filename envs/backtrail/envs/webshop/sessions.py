"""The original's table of visits: who comes back under a known name finds the goal of the first time."""

from __future__ import annotations

import random
import string
from bisect import bisect
from typing import Any

from backtrail.envs.webshop.shop import Shop, Step
from backtrail.envs.webshop.state import State

__all__ = ["Sessions"]


class Sessions:
    """Visits to one shop as the original's server keeps them: for comparisons with it, and for its users.

    - A visit is known by its name as a string, so 5 and "5" are the same one.
    - ``reset(5)`` is a visit with goal 5, unless the name "5" is taken: then its goal stays what it was.
    - Any other visit that is new draws its goal by weight.
    - That something was bought, and what it was worth, stays with the name for good.

    The table grows with every new name, as the original's does.
    """

    def __init__(self, shop: Shop, rng: random.Random):
        """Keep the visits to ``shop``.

        Args:
            shop: The shop.
            rng: Draws names, goals and random results, in the original's order. For its stream, seed a generator with 233
                and shuffle a list as long as the list of goals with it.
        """
        self.shop = shop
        self.rng = rng
        self._weights = shop.catalogue.cumulative_weights(shop.source)
        self._states: dict[str, State] = {}
        self._present = ""

    def reset(self, session: int | str | None = None) -> State:
        """Begin a visit, or come back to one: at the search page either way.

        Args:
            session: A goal's number, a name, or None for a random name of ten letters.

        Raises:
            IndexError: If there is no goal of that number. Nothing has changed then.
        """
        name = "".join(self.rng.choices(string.ascii_lowercase, k=10)) if session is None else str(session)
        known = self._states.get(name)
        if known is not None:
            state = State(known.goal, name, done=known.done, reward=known.reward, details=known.details)
        else:
            state = self.shop.start(session if isinstance(session, int) else self._draw(), name)
        self._states[name] = state
        self._present = name
        return state

    def step(self, action: str) -> Step:
        """Carry out an action in the present visit: see `backtrail.envs.webshop.shop.Shop.step`."""
        result = self.shop.step(self.state, action, self.rng)
        self._states[self._present] = result[0]
        return result

    @property
    def state(self) -> State:
        """Where the present visit is.

        Raises:
            LookupError: Before the first reset.
        """
        if not self._present:
            raise LookupError("Expected reset() before anything else")
        return self._states[self._present]

    @property
    def view(self) -> dict[str, Any]:
        """The present visit as the original's server writes it down; ``asins`` sorted."""
        state = self.state
        return {
            "keywords": None if state.keywords is None else list(state.keywords),
            "page": state.number,
            "asin": state.asin,
            "asins": list(state.visited),
            "options": dict(state.options),
            "actions": dict(state.actions),
            "done": state.done,
        }

    @property
    def verbose_info(self) -> dict[str, float | bool] | None:
        """The parts of the last purchase's reward, None before one."""
        return dict(self.state.details) or None

    def _draw(self) -> int:
        # the first weight's interval leads to goal 1, and no draw to goal 0: so it is in the original
        at = bisect(self._weights, self.rng.uniform(0, float(self._weights[-1])))
        return min(at, len(self._weights) - 2)
