"""The shop: actions in, states out, by the original's rules; nothing here remembers a visit."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from backtrail.envs.core import SnapshotError, digest
from backtrail.envs.webshop import html
from backtrail.envs.webshop.catalogue import Catalogue
from backtrail.envs.webshop.goals import Source
from backtrail.envs.webshop.items import Goal
from backtrail.envs.webshop.pages import Node, Pages, place, url
from backtrail.envs.webshop.reward import score
from backtrail.envs.webshop.state import SUB_PAGES, State

__all__ = ["FINGERPRINT_VERSION", "Shop", "Step"]

FINGERPRINT_VERSION = "webshop-1"

Step = tuple[State, float, bool, str]
"""The next state, the reward, whether something was bought, and why nothing happened ("" if something did)."""

_ACTION = re.compile(r"(.+)\[(.+)\]")  # greedy: "click[a [b]]" is split at its second bracket
_NESTED = re.compile(r"click\[(.+)\]")
_DRAWN = 50
_CACHED = 1024  # goals: they are made anew each time
_TURNS = {("next >", "results"): 1, ("< prev", "results"): -1, ("< prev", "item"): 0}
"""Clicks that lead to results, by label and page, and by how many pages they go on."""
_SUBS = {name.lower(): name for name in SUB_PAGES}


class Shop:
    """Plays WebShop over a catalogue. Every method takes the state, which is immutable: an old one is as good as a new one.

    Actions are ``search[words]`` (on every page, also after a purchase) and ``click[words on a button, link or option]``.
    Anything else, and a click on what is not there, changes nothing. Nothing ends a visit but its owner.

    The original's accidents are kept with ``strict=True``. Otherwise:

    - it knows the page by the state, not by words in the address, so that a search for "search_results" is a search;
    - ``<a> x`` and a lone ``<c>`` are searches like any other, not exceptions; ``<r>`` in a small shop draws all there is;
    - a product whose ASIN has small letters can be opened, and an option called "search" or "attributes" be chosen;
    - an option with brackets can be clicked (``click[a [b]]``);
    - `text_rich` marks the options that were chosen, no others.

    One shop serves any number of environments and threads.
    """

    def __init__(
        self, catalogue: Catalogue, source: Source = "synthetic", strict: bool = False, show_attributes: bool = False
    ):
        """Open a shop.

        Args:
            catalogue: What it sells.
            source: Which goals its buyers have: "human" or "synthetic".
            strict: Keep the original's accidents too: see above.
            show_attributes: Put the button "Attributes" on the pages of products.
        """
        self.catalogue = catalogue
        self.source: Source = source
        self.strict = strict
        self.goals = catalogue.goals(source)
        self._goal = lru_cache(_CACHED)(self.goals.__getitem__)
        self.pages = Pages(catalogue, show_attributes, strict)
        self._world = f"{catalogue.digest} {source}"

    def __reduce__(self) -> tuple[Any, ...]:
        return Shop, (self.catalogue, self.source, self.strict, self.pages.show_attributes)

    def goal(self, index: int) -> Goal:
        """Return a goal by its place in the list of goals."""
        return self._goal(index)

    def start(self, goal: int, session: str | None = None) -> State:
        """Return the first state of a visit.

        Args:
            goal: Place of the goal in the list of goals; as in any list, -1 is the last.
            session: Identifier that the addresses show; the goal's number by default.

        Raises:
            IndexError: If there is no such goal.
        """
        count = len(self.goals)
        if not -count <= goal < count:
            raise IndexError(f"Expected one of {count:,} {self.source} goals, from 0 on, got {goal}")
        goal %= count
        return State(goal, str(goal) if session is None else session)

    def step(self, state: State, action: str, rng: random.Random | None = None) -> Step:
        """Carry out one action.

        Args:
            state: Where the buyer is.
            action: ``search[...]`` or ``click[...]``.
            rng: What ``search[<r>]`` draws from. By default one draw belongs to a goal, so that a state and an action
                always lead to the same state.

        Raises:
            TypeError, IndexError, KeyError, ValueError: Only if strict, where the original does: ``search[<a> x]``,
                ``search[<c>]``, opening a product whose ASIN has small letters, ``search[<r>]`` in a shop of less than 50.
        """
        name, argument = self._parse(state, action)
        if name == "search" and argument:
            return self._results(state, tuple(argument.split(" ")), 1, rng), 0.0, False, ""
        if name == "click" and argument:
            target = self.pages.clickables(state).get(argument)
            if target is not None and (argument != "search" or (target.kind == "option" and not self.strict)):
                if argument == "buy now":
                    return self._buy(state)
                return self._click(state, argument, target, rng), 0.0, False, ""
        return state, 0.0, False, self._why_not(state, action, name, argument)

    # -- what is seen -------------------------------------------------------------------------------------

    def text(self, state: State) -> str:
        """Return what the page says, pieces joined by " [SEP] "; chosen options do not show in it."""
        return self.pages.text(self.goal(state.goal).instruction, state)

    def text_rich(self, state: State) -> str:
        """Return what the page says, a piece a line, with marks for buttons and for what was clicked."""
        return self.pages.text_rich(self.goal(state.goal).instruction, state)

    def html(self, state: State, links: html.Links = html.action_link, stylesheet: str = "") -> str:
        """Return the page as HTML: see `backtrail.envs.webshop.html.render`."""
        return html.render(self.pages, self.goal(state.goal).instruction, state, links, stylesheet)

    def url(self, state: State) -> str:
        """Return the original's address of the page."""
        return url(state)

    def available(self, state: State) -> dict[str, Any]:
        """Return what the original's ``get_available_actions`` does: ``has_search_bar`` and ``clickables``."""
        return {"has_search_bar": state.page == "index", "clickables": list(self.pages.clickables(state))}

    def admissible(self, state: State) -> list[str]:
        """Return actions that do something here, each ready to be carried out.

        One for every button, link and option. A search is possible on every page, with any words, so there is no list of
        them; on the search page, where nothing else can be done, the list is the one search that needs no thought: for the
        words of the instruction.
        """
        if state.page == "index":
            words = re.sub(r"[\[\]\s]+", " ", self.goal(state.goal).instruction).strip().lower()
            return [f"search[{words}]"]
        return [
            f"click[{label}]"
            for label, node in self.pages.clickables(state).items()
            if node.kind == "button" or self._works(state, label, node)
        ]

    def fingerprint(self, state: State) -> str:
        """Return the identity of the state: what all future observations and rewards depend on.

        Left out are the session's name, how often things were done, the order in which options were chosen and what an
        earlier purchase was worth.
        """
        s = state
        key = (s.goal, s.page, s.sub, s.keywords, s.number, s.drawn, s.asin, sorted(s.options), s.visited, s.done)
        return f"{FINGERPRINT_VERSION}:{digest(f'{self._world}{key!r}')}"

    def observation_fingerprint(self, state: State) -> str:
        """Return the identity of what mode "text" shows: many states may share it, as chosen options do not show."""
        return f"{FINGERPRINT_VERSION}-observation:{digest(f'{self._world}{self.text(state)}')}"

    def check(self, state: State) -> State:
        """Return the state if this shop has such a place.

        Raises:
            SnapshotError: If its goal or a product does not exist here, or an option was not to be chosen.
        """
        try:
            if state.goal >= len(self.goals) or any(number >= len(self.catalogue) for number in state.drawn):
                raise SnapshotError("The state is of another shop: its goal or search does not exist here")
            offered = self.catalogue.product(state.asin).options if state.asin is not None else ()
            for asin in state.visited:
                self.catalogue.product(asin)
        except KeyError as error:
            raise SnapshotError(f"The state is of another shop: there is no product {error} here") from None
        values = dict(offered)
        if any(value not in values.get(name, ()) for name, value in state.options):
            raise SnapshotError(f"The state has an option that {state.asin} does not: {state.options!r}")
        return state

    # -- what actions do ----------------------------------------------------------------------------------

    def _parse(self, state: State, action: str) -> tuple[str, str | None]:
        found = _ACTION.match(action)
        if found is None:
            return action, None
        name, argument = found[1], found[2].lower()
        nested = None if self.strict else _NESTED.match(action)
        if nested is not None and name != "click" and nested[1].lower() in self.pages.clickables(state):
            return "click", nested[1].lower()
        return name, argument

    def _click(self, state: State, label: str, target: Node, rng: random.Random | None) -> State:
        """Do what a clickable does. It goes by the label, even if that is on an option of the product."""
        if label == "back to search":
            return State(state.goal, state.session, done=state.done, reward=state.reward, details=state.details)
        here = place(state) if self.strict else state.page
        turn = _TURNS.get((label, here))
        if turn is not None:
            return self._results(state, state.keywords or ("",), (state.number or 0) + turn, rng)
        if (label, here) == ("< prev", "sub"):
            return replace(state, page="item", sub="")
        if label in _SUBS and (self.strict or label != "attributes" or self.pages.show_attributes):
            return replace(state, page="sub", sub=_SUBS[label], actions=_count(state, _SUBS[label]))
        return self._open(state, label, target) if target.kind == "link" else _choose(state, target)

    def _results(self, state: State, keywords: tuple[str, ...], number: int, rng: random.Random | None) -> State:
        drawn: tuple[int, ...] = ()
        if keywords[0] == "<r>":
            rng = rng or random.Random(f"{self._world} {state.goal}")
            count = len(self.catalogue)
            drawn = tuple(rng.sample(range(count), _DRAWN if self.strict else min(_DRAWN, count)))
        elif self.strict and keywords[0] == "<a>":
            raise TypeError("'NoneType' object is not subscriptable")
        elif self.strict and keywords == ("<c>",):
            raise IndexError("list index out of range")
        return replace(
            state,
            page="results",
            keywords=keywords,
            number=number,
            drawn=drawn,
            asin=None,
            options=(),
            sub="",
            actions=_count(state, "search"),
        )

    def _open(self, state: State, label: str, target: Node) -> State:
        asin = label.upper() if self.strict else target.text
        self.catalogue.product(asin)
        visited = state.visited if asin in state.visited else tuple(sorted((*state.visited, asin)))
        return replace(state, page="item", asin=asin, visited=visited, actions=_count(state, "asin"))

    def _buy(self, state: State) -> Step:
        goal = self.goal(state.goal)
        product = self.catalogue.product(state.asin or "")
        reward, details = score(product, goal, self.catalogue.product(goal.asin), dict(state.options))
        bought = replace(
            state,
            page="done",
            sub="",
            actions=_count(state, "purchase"),
            done=True,
            reward=reward,
            details=tuple(details.items()),
        )
        return bought, reward, True, ""

    # -- why an action does nothing -----------------------------------------------------------------------

    def _works(self, state: State, label: str, node: Node) -> bool:
        """Whether a link or an option can be clicked: the original's grammar and ASINs in capitals do not reach all."""
        if node.kind == "link":
            return not self.strict or label.upper() == node.text
        return self._parse(state, f"click[{label}]") == ("click", label) and (label != "search" or not self.strict)

    def _why_not(self, state: State, action: str, name: str, argument: str | None) -> str:
        shown = action if len(action) <= 60 else f"{action[:57]}..."
        if argument is None:
            return _why_no_action(action, shown)
        if name not in ("search", "click"):
            if name.lower() in ("search", "click"):
                return f"names of actions are in small letters: expected '{name.lower()}[...]', got {shown!r}"
            if "[" in name:
                return f"expected one action with one pair of brackets, got {shown!r}"
            return f"unknown action {name[:60]!r}: expected search[words] or click[words of a button, link or option]"
        if state.page == "done":
            return "the purchase is made: there is nothing to click here"
        if state.page == "index":
            return "there is nothing to click on the search page: expected search[words]"
        there = {action[6:-1]: action for action in self.admissible(state)}
        near = get_close_matches(argument, there, n=3) or list(there)[:12]
        shown = ", ".join(there[label] for label in near)
        return f"there is no {argument[:60]!r} to click here: expected one of {shown}"


def _why_no_action(action: str, shown: str) -> str:
    start = action.strip()
    if not start:
        return "the action is empty: expected search[words] or click[words of a button, link or option]"
    if start in ("search[]", "search"):
        return "the search is empty: expected search[words]"
    if "\n" in start and "[" in start:
        return f"expected an action on one line, got {shown!r}"
    return f"expected search[words] or click[words of a button, link or option], got {shown!r}"


def _choose(state: State, target: Node) -> State:
    options = dict(state.options)
    options[target.name] = target.text
    return replace(state, page="item", options=tuple(options.items()), actions=_count(state, "options"))


def _count(state: State, action: str) -> tuple[tuple[str, int], ...]:
    counts = dict(state.actions)
    counts[action] = counts.get(action, 0) + 1
    return tuple(counts.items())
