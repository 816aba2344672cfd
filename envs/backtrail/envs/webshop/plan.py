"""The oracle: a way from any page to a purchase that earns all there is. It reads the goal's product, which no buyer knows."""

from __future__ import annotations

import re

from backtrail.envs.webshop.fuzzy import token_set_ratio
from backtrail.envs.webshop.items import Goal, Product
from backtrail.envs.webshop.pages import PAGE_SIZE
from backtrail.envs.webshop.shop import Shop
from backtrail.envs.webshop.state import State

__all__ = ["purchase_plan"]


def purchase_plan(shop: Shop, state: State) -> list[str]:
    """Return actions that find the goal's product, choose what the goal asks for and buy; empty after the purchase.

    The search is for the product's title, the likeliest to find it, or for everything of its kind. It is short, but not
    always the shortest: a wittier search may bring the product to the first page.
    """
    if state.page == "done":
        return []
    goal = shop.goal(state.goal)
    product = shop.catalogue.product(goal.asin)
    if state.asin == goal.asin and state.page in ("item", "sub"):
        way = ["click[< prev]"] if state.page == "sub" else []
        chosen = dict(state.options)
    else:
        way, chosen = _to_product(shop, state, product), {}
    wanted = _wanted(goal, product)
    picked = [f"click[{value}]" for name, value in wanted.items() if chosen.get(name) != value]
    return [*way, *picked, "click[buy now]"]


def _to_product(shop: Shop, state: State, product: Product) -> list[str]:
    """Return the actions that open a product."""
    back = ["click[< prev]"] * (state.page in ("item", "sub")) + ["click[< prev]"] * (state.page == "sub")
    hits = shop.pages.hits(state) if state.keywords else ()
    if product.asin in hits and state.number:
        away = hits.index(product.asin) // PAGE_SIZE + 1 - state.number
        turns = ["click[next >]"] * away if away > 0 else ["click[< prev]"] * -away
        return [*back, *turns, f"click[{product.asin.lower()}]"]
    title = " ".join(re.sub(r"[\[\]]", " ", product.title).lower().split())
    query = title if product.asin in shop.catalogue.search(title) else f"<q> {product.query}"
    found, _, _, _ = shop.step(state, f"search[{query}]")
    turns = ["click[next >]"] * (shop.pages.hits(found).index(product.asin) // PAGE_SIZE)
    return [f"search[{query}]", *turns, f"click[{product.asin.lower()}]"]


def _wanted(goal: Goal, product: Product) -> dict[str, str]:
    """Return the option values that the goal asks for, by the names they are chosen under."""
    owner = {value: name for name, values in product.options for value in values}  # of two, the last: so it is clicked
    wanted = {}
    for each in goal.options:
        value = each[1] if isinstance(each, tuple) else max(owner, key=lambda known: token_set_ratio(known, each))
        wanted[owner[value]] = value
    return wanted
