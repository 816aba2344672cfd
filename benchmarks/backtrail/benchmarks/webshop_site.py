"""The pages of WebShop for a browser, each at an address that holds the whole state.

Nothing else remembers a visit, so that the browser's back button undoes a step, two tabs are two visits, and an address works
after a restart. What an address says is checked, and a score is never read from it: a purchase is made again whenever its
page is looked at. Earlier visits are counted in the address too: along the way that led there.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np

from backtrail.envs.core import SnapshotError
from backtrail.envs.webshop import html
from backtrail.envs.webshop.env import WebShopEnv
from backtrail.envs.webshop.items import Product
from backtrail.envs.webshop.picture import picture
from backtrail.envs.webshop.state import State, pack, unpack

__all__ = ["HEAD", "LONGEST", "BadAddress", "Site", "View"]

_HELD = ("page", "keywords", "number", "drawn", "asin", "options", "sub", "visited")
"""What of a state an address holds: all that later pages depend on."""

_MARK = 4  # characters that an earlier place takes in an address
_REMEMBERED = 64  # earlier places
_LAST_PAGE = 10**6

LONGEST = 4096
"""Characters that an address or an action has at most."""

HEAD = """<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<script src="/shop.js" defer></script>
"""
"""What every page's head has beside the shop's own."""

_CHANGED = "This address was cut off or changed: it leads to no page of the shop"

_PARTS = {"r_att": "Attributes", "r_option": "Options", "r_price": "Price"}


class BadAddress(Exception):
    """An address, or what came with it, leads nowhere."""


@dataclass(frozen=True, slots=True)
class View:
    """What is at an address.

    Attributes:
        token: The address's own part.
        state: The place in the shop.
        observation: The environment's observation of it.
        info: The environment's info, with "fingerprint" and "visits".
        trail: Marks of the earlier places, with this one.
    """

    token: str
    state: State
    observation: dict[str, str]
    info: dict[str, Any]
    trail: str


class Site:
    """The pages of one environment. Before each answer it is put to the place that the address names."""

    def __init__(self, env: WebShopEnv, seed: int = 0):
        """Show the shop of ``env``; ``seed`` picks the task of the first page."""
        self.env, self._seed = env, seed
        self._world = env.catalogue.digest[:12]

    def start(self, task_id: str | None = None, seed: int | None = None) -> str:
        """Return the address of the first page of a task.

        Raises:
            BadAddress: If there is no such task.
        """
        options = {"task_id": task_id} if task_id is not None else None
        try:
            _, info = self.env.reset(seed=self._seed if seed is None else seed, options=options)
        except ValueError as error:
            raise BadAddress(str(error)) from error
        return self._address(info["task_id"], "")

    def view(self, token: str, tried: str = "") -> View:
        """Return what is at an address; ``tried`` is an action that did nothing there, to say why.

        Raises:
            BadAddress: If the shop has no such place.
        """
        place, _, trail = token.partition("~")
        if len(token) > LONGEST or not re.fullmatch(f"([A-Za-z0-9_-]{{{_MARK}}}){{0,{_REMEMBERED}}}", trail):
            raise BadAddress(_CHANGED)
        observation, info = self._go(place)
        state = self._state
        if tried and state.page != "done":
            observation, _, _, _, after = self.env.step(tried)
            if not after["action_error"]:  # it does something here: then that is not what was meant
                observation, after = self._go(place)
            info = after
        fingerprint = self.env.fingerprint()
        mark = _mark(fingerprint)
        visits = sum(trail[start : start + _MARK] == mark for start in range(0, len(trail), _MARK))
        info |= {"fingerprint": fingerprint, "visits": visits}
        return View(token, state, observation, info, (trail + mark)[-_MARK * _REMEMBERED :])

    def act(self, token: str, action: str) -> str:
        """Carry out an action at an address; return the next address. After a purchase nothing more is done.

        Raises:
            BadAddress: If the shop has no such place.
        """
        if len(action) > LONGEST:
            raise BadAddress(f"Expected an action of at most {LONGEST:,} characters, got {len(action):,}")
        view = self.view(token)
        if view.state.page == "done":
            return f"/visit/{token}"
        info = self.env.step(action)[-1]
        refused = f"?{urlencode({'tried': action})}" if info["action_error"] else ""
        return self._address(info["task_id"], view.trail) + refused

    def page(self, view: View) -> str:
        """Return the page of a place: the shop's own, and around it what a visitor may want to know."""
        links = partial(_link, view.token)
        page = html.render(
            self.env.shop.pages, view.observation["goal"], view.state, links, stylesheet="/shop.css", images=_picture_of
        )
        error = view.info["action_error"]
        refused = f'\n<p id="refused" role="status">Nothing happened: {escape(error)}.</p>' if error else ""
        page = page.replace("</head>", f"{HEAD}</head>", 1).replace("<body>", f"<body>{refused}", 1)
        start, _, end = page.rpartition("</body>")
        return f"{start}{self._strip(view)}\n</body>{end}"

    def picture(self, asin: str) -> str:
        """Return the picture of a product as SVG.

        Raises:
            BadAddress: If there is no such product.
        """
        try:
            return picture(self.env.catalogue.product(asin))
        except KeyError:
            raise BadAddress(f"There is no product {asin} in this shop") from None

    # -- addresses ----------------------------------------------------------------------------------------

    @property
    def _state(self) -> State:
        return unpack(self.env.snapshot().payload[0])

    def _address(self, task_id: str, trail: str) -> str:
        """Return the address of where the environment is."""
        place = base64.urlsafe_b64encode(zlib.compress(self._written(task_id), 9)).decode().rstrip("=")
        return f"/visit/{place}{'~' if trail else ''}{trail}"

    def _written(self, task_id: str) -> bytes:
        """Write down where the environment is; equal places have one spelling."""
        state = replace(self._state, options=tuple(sorted(dict(self._state.options).items())))
        values = [self._world, task_id, *(getattr(state, name) for name in _HELD)]
        return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()

    def _go(self, place: str) -> tuple[dict[str, str], dict[str, Any]]:
        """Put the environment where `_address` was called; return the observation and the info there."""
        try:
            written = _decompressed(place)
            world, task_id, *values = json.loads(written)
            if world != self._world:
                raise BadAddress("This address is of another shop: of other products, or of another version")
            held = dict(zip(_HELD, map(_tuples, values), strict=True))
            bought = held["page"] == "done"
            task_id = self.env.reset(options={"task_id": task_id})[1]["task_id"]
            here = self.env.snapshot()
            state = replace(self._state, **held | ({"page": "item"} if bought else {}))
            observation, info = self.env.restore(replace(here, payload=(pack(state), None, "")))
            if bought:
                observation, _, _, _, info = self.env.step("click[buy now]")
            if self._written(task_id) != written or (state.number or 0) > _LAST_PAGE:
                raise BadAddress("This address is spelt in a way that no page of the shop is")
        except (ValueError, TypeError, zlib.error, RecursionError, SnapshotError) as error:
            raise BadAddress(_CHANGED) from error
        return observation, info

    # -- around the shop ----------------------------------------------------------------------------------

    def _strip(self, view: View) -> str:
        """Return what follows the shop's own page and is no part of it."""
        info = view.info
        label = escape(info["data"])
        if info["data"].startswith("generated"):
            label = f"<strong>Generated data</strong> ({label}), not the official benchmark's"
        told = {
            "Task": f"<code>{escape(info['task_id'])}</code>",
            "Data": label,
            "State": f"<code>{info['fingerprint'].rpartition(':')[2][:8]}</code>",
            "Earlier visits": str(info["visits"]),
        }
        facts = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in told.items())
        links = {"Same task again": info["task_id"], "New task": self._next(info["task_id"])}
        paths = {name: f"/?{urlencode({'task_id': task_id})}" for name, task_id in links.items()}
        ways = " ".join(f'<a href="{escape(path)}">{name}</a>' for name, path in paths.items())
        score = _score(info) if view.state.page == "done" else ""
        return f'{score}<footer id="backtrail">\n<dl>{facts}</dl>\n<nav>{ways}</nav>\n</footer>'

    def _next(self, task_id: str) -> str:
        """Return the task after one, in the order of the goals; after the last comes the first."""
        tasks = self.env.tasks
        place = int(np.searchsorted(tasks.goals, tasks.goal(task_id), "right"))
        return tasks.ids[place % len(tasks.ids)]


def _picture_of(product: Product) -> str:
    """Return the address of a picture from here, wherever the photographs are."""
    return f"/picture/{quote(product.asin, safe='')}.svg"


def _link(token: str, action: str) -> str:
    """Return the address that carries out an action at another address; that of the search form names none."""
    return f"/visit/{token}/act" + (f"?{urlencode({'action': action})}" if action != "search" else "")


def _mark(fingerprint: str) -> str:
    return base64.urlsafe_b64encode(bytes.fromhex(fingerprint[-6:])).decode()


def _decompressed(place: str) -> bytes:
    """Return what an address holds.

    Raises:
        ValueError, zlib.error: If it is no whole piece of text, or a suspiciously long one.
    """
    packed = base64.b64decode(place + "=" * (-len(place) % 4), altchars=b"-_", validate=True)
    reader = zlib.decompressobj()
    text = reader.decompress(packed, 2 * LONGEST)
    if not reader.eof or reader.unused_data:
        raise ValueError("Expected one whole compressed text")
    return text


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _score(info: Mapping[str, Any]) -> str:
    """Return the score of a purchase with what it is made of."""
    parts = info["score_parts"]
    rows = [
        f"<tr><th>{name}</th><td>{parts[key]:.0%}</td><td>{parts[key.replace('r_', 'w_')]:.0%}</td></tr>"
        for key, name in _PARTS.items()
        if key in parts
    ]
    kind = [f"same search: {_yes(parts['query_match'])}", f"same category: {_yes(parts['category_match'])}"]
    kind.append(f"title alike: {parts['title_score']:.0%}")
    return (
        f'<section id="score"><h2>Score {info["score"]:.4g}: how it came about</h2>\n<table><thead><tr><th>Part</th><th>Fits</th>'
        f"<th>Weight</th></tr></thead><tbody>{''.join(rows)}</tbody></table>\n<p>All of it times {parts['r_type']:.4g} "
        f"for the kind of product ({', '.join(kind)}).</p></section>\n"
    )


def _yes(value: object) -> str:
    return "yes" if value else "no"
