"""What a state of the shop shows: texts, buttons, links and options, as the original's observations have them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

from backtrail.envs.webshop.catalogue import Catalogue
from backtrail.envs.webshop.items import Product
from backtrail.envs.webshop.state import State

__all__ = ["BASE", "MISSPELT", "PAGE_SIZE", "Node", "Pages", "place", "url", "written_options"]

BASE = "http://127.0.0.1:3000"
"""Start of every address, as in the original's text environment."""

PAGE_SIZE = 10

MISSPELT = "instruction text".replace("r", "", 1)
"""A label of the page after a purchase, as the original has it."""

_CACHED = 1024  # products of which the parts that never change are kept
_BLANK = " \n\t\f\r"


class Node(NamedTuple):
    """A piece of visible text, and what it is to a buyer."""

    kind: Literal["text", "button", "link", "option"]
    text: str
    name: str = ""
    """Of an option: what it is an option of."""


_BACK, _PREV, _NEXT = Node("button", "Back to Search"), Node("button", "< Prev"), Node("button", "Next >")
_SEARCH, _BUY = Node("button", "Search"), Node("button", "Buy Now")
_SUBS = tuple(Node("button", name) for name in ("Description", "Features", "Reviews"))
_ATTRIBUTES = Node("button", "Attributes")
_NOTHING: dict[str, Node] = {}


class Pages:
    """Draws the states of one shop. Keeps what never changes about the last thousand products."""

    def __init__(self, catalogue: Catalogue, show_attributes: bool = False, strict: bool = False):
        """Draw from ``catalogue``; see `backtrail.envs.webshop.shop.Shop` for the switches."""
        self.catalogue = catalogue
        self.show_attributes = show_attributes
        self.strict = strict
        self._card = lru_cache(_CACHED)(self._make_card)
        self._item = lru_cache(_CACHED)(self._make_item)
        self._clicks = lru_cache(_CACHED)(self._make_clicks)

    # -- what was found -----------------------------------------------------------------------------------

    def hits(self, state: State) -> tuple[str, ...]:
        """Return the ASINs that the state's search finds, all pages together.

        The first word of a search may be "<r>" (50 random products), "<c>" (a category) or "<q>" (products listed under
        the search that follows); the last two may find more than 50.
        """
        if state.drawn:
            return tuple(self.catalogue.asin(number) for number in state.drawn)
        first, *others = state.keywords or ("",)
        if first == "<c>" and others:
            return self.catalogue.in_category(others[0].strip())
        if first == "<q>":
            return self.catalogue.of_query(" ".join(others).strip())
        return self.catalogue.search(" ".join((first, *others)))

    def shown(self, state: State) -> tuple[str, ...]:
        """Return the ASINs on the state's page of results: at most ten, none past the end."""
        number = state.number or 0
        return self.hits(state)[(number - 1) * PAGE_SIZE : number * PAGE_SIZE] if number else ()

    # -- what is seen -------------------------------------------------------------------------------------

    def nodes(self, instruction: str, state: State) -> list[Node]:
        """Return the pieces of visible text from top to bottom."""
        page = state.page
        if page == "index":
            return [*_texts("WebShop", "Instruction: ", instruction), _SEARCH]
        if page == "done":
            return _receipt(state)
        nodes = [*_texts("Instruction:", instruction), _BACK]
        if page == "results":
            number = state.number or 0
            hits = self.hits(state)
            nodes.append(Node("text", f"Page {number} (Total results: {len(hits)})"))
            if number > 1:
                nodes.append(_PREV)
            nodes.append(_NEXT)
            for asin in hits[(number - 1) * PAGE_SIZE : number * PAGE_SIZE] if number else ():
                nodes += self._card(asin)
            return nodes
        nodes.append(_PREV)
        nodes += self._item(state.asin or "") if page == "item" else _sub_page(self._product(state), state.sub)
        return nodes

    def text(self, instruction: str, state: State) -> str:
        """Return the observation of mode "text"."""
        return " [SEP] ".join([node.text.strip() for node in self.nodes(instruction, state)])

    def text_rich(self, instruction: str, state: State) -> str:
        """Return the observation of mode "text_rich": one piece a line, with marks for what can be clicked and what was.

        A strict shop takes an option for chosen as the original does: if its value stands in quotes anywhere in the
        address. There a chosen value with quotes, backslashes or letters beyond ASCII never shows.
        """
        address = url(state) if self.strict and state.page == "item" else ""
        lines, clicked = [], []
        for kind, text, name in self.nodes(instruction, state):
            if kind == "button":
                text = f"[button] {text} [button_]"
            elif kind == "link":
                mark = "clicked button" if text in state.visited else "button"
                text = f"\n[{mark}] {text} [{mark}_]"
            elif kind == "option":
                chosen = f'"{text}"' in address if self.strict else (name, text) in state.options
                if chosen:
                    clicked.append(f"You have clicked {text}.\n")
                mark = "clicked button" if chosen else "button"
                text = f"  [{mark}] {text} [{mark}_]"
            lines.append(f"{text}\n")
        return "".join([*reversed(clicked), *lines])

    def clickables(self, state: State) -> dict[str, Node]:
        """Return what can be clicked, by the words in an action that click it, in the original's order.

        It is not to be changed. The search page lists "search", its button, which only a search presses.
        """
        page = state.page
        if page == "index":
            return {"search": _SEARCH}
        if page == "done":
            return _NOTHING
        if page == "item":
            return self._clicks(state.asin or "")
        found = {"back to search": _BACK}
        if page == "sub" or (state.number or 0) > 1:
            found["< prev"] = _PREV
        if page == "results":
            found["next >"] = _NEXT
            for asin in self.shown(state):
                found[asin.lower()] = Node("link", asin)
        return found

    # -- parts that never change --------------------------------------------------------------------------

    def _make_card(self, asin: str) -> tuple[Node, ...]:
        product = self.catalogue.product(asin)
        return Node("link", asin), *_texts(product.title, product.tag)

    def _make_item(self, asin: str) -> tuple[Node, ...]:
        product = self.catalogue.product(asin)
        nodes: list[Node] = []
        for name, values in product.options:
            nodes += _texts(name)
            nodes += [Node("option", value, name) for value in values if value]
        nodes += _texts(product.title, f"Price: {product.tag}", "Rating: N.A.")
        return *nodes, *self._buttons, _BUY

    def _make_clicks(self, asin: str) -> dict[str, Node]:
        found = {node.text.lower(): node for node in (_BACK, _PREV, *self._buttons, _BUY)}
        for name, values in self.catalogue.product(asin).options:
            for value in values:
                found[value] = Node("option", value, name)  # a value of two options belongs to the last one
        return found

    @property
    def _buttons(self) -> tuple[Node, ...]:
        return (*_SUBS, _ATTRIBUTES) if self.show_attributes else _SUBS

    def _product(self, state: State) -> Product:
        return self.catalogue.product(state.asin or "")


def url(state: State, base: str = BASE) -> str:
    """Return the original's address of the page: how it writes the options depends on the page."""
    session, options = state.session, dict(state.options)
    if state.page == "index":
        return f"{base}/{session}"
    if state.page == "done":
        return f"{base}/done/{session}/{state.asin}/{options}"
    words = "+".join(state.keywords or ())
    if state.page == "results":
        return f"{base}/search_results/{session}/{words}/{state.number}"
    if state.page == "item":
        return f"{base}/item_page/{session}/{state.asin}/{words}/{state.number}/{json.dumps(options)}"
    return f"{base}/item_sub_page/{session}/{state.asin}/{words}/{state.number}/{state.sub}/{options}"


def place(state: State) -> str:
    """Return the page that the original takes a state for, from its address: a search for such a word misleads it."""
    address = url(state)
    names = {"search_results": "results", "item_page": "item", "item_sub_page": "sub", "done": "done"}
    return next((page for name, page in names.items() if name in address), "index")


def _sub_page(product: Product, sub: str) -> Iterable[Node]:
    if sub == "Description":
        return _texts(product.description)
    if sub == "Features":
        return _texts(*[f" {line}" for line in product.bullets])
    if sub == "Attributes":
        lines = [f" {attribute}" for attribute in product.attributes]
        return _texts(*lines, product.category, product.query, product.product_category)
    return ()


def _texts(*texts: str) -> list[Node]:
    """Return nodes as an HTML parser leaves them: blank ones with a line break are none, other blank ones are a space."""
    nodes = []
    for text in texts:
        if text.strip(_BLANK):
            nodes.append(Node("text", text))
        elif text and "\n" not in text:
            nodes.append(Node("text", " "))
    return nodes


_RECEIPT = (
    *("Thank you for shopping with us!", "Your code: ", "None", " (Paste it in your MTurk interface.)"),
    *("Purchased", "asin", "{asin}", "options", "{options}", "attrs", "None", "category", "None", "query", "None"),
    *("product category", "None", "Target", "asin", "options", "attrs", "price upper", MISSPELT, "category"),
    *("product category", "query", "Goal ", "None", "Reward", "Your score (min 0.0, max 1.0)", "{reward}"),
    *("Reward Details ", "None"),
)


def _receipt(state: State) -> list[Node]:
    """Return the page after a purchase, wrong letters included; most of its fields were never filled in."""
    values = {"{asin}": state.asin or "", "{options}": written_options(state), "{reward}": str(state.reward)}
    return [Node("text", values.get(text, text)) for text in _RECEIPT]


def written_options(state: State) -> str:
    """Return the chosen options as the receipt writes them: JSON that may stand in HTML as it is, names sorted."""
    options = json.dumps(dict(state.options), sort_keys=True)
    for sign in "<>&'":
        options = options.replace(sign, f"\\u{ord(sign):04x}")
    return options
