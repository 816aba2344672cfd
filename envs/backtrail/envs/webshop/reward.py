"""What a purchase is worth: how well the product, its options and its price fit the goal.

The reward of Yao et al., "WebShop: Towards Scalable Real-World Web Interaction with Grounded Language Agents", NeurIPS 2022,
equal bit for bit to the authors' code (of May 2024), including what that does beyond the paper.
"""

from __future__ import annotations

from collections.abc import Mapping

from backtrail.envs.webshop.colors import plain_color
from backtrail.envs.webshop.fuzzy import token_set_ratio
from backtrail.envs.webshop.items import Goal, Product

__all__ = ["score"]

_ALIKE = 85  # a token_set_ratio above this is a match
_THEN = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"  # between the parts of a path of categories


def score(
    product: Product, goal: Goal, goal_product: Product, options: Mapping[str, str]
) -> tuple[float, dict[str, float | bool]]:
    """Return the reward, 0 to 1, and what it is made of.

    ``r_type * (attributes matched + options matched + price fits) / (attributes + options + 1)``

    Args:
        product: What was bought; its hidden price is judged.
        goal: What was asked for.
        goal_product: The product that the goal was made from.
        options: The chosen values by option name; a value counts whatever its name is.

    Returns:
        The reward, and its parts under the original's names: ``r_type``, ``r_att``, ``w_att``, ``query_match``,
        ``category_match``, ``title_score``, ``r_option`` and ``w_option`` (only if the goal asks for options),
        ``r_price``, ``w_price``.
    """
    r_type, kind = _type(product, goal_product)
    attributes = sum(_has_attribute(product, wanted) for wanted in goal.attributes)
    chosen = [str(plain_color(value)) for value in options.values()]
    matched = sum(_has_option(chosen, wanted) for wanted in goal.options)
    affordable = product.price <= goal.price_upper
    parts = len(goal.attributes) + len(goal.options) + 1
    reward = (attributes + matched + affordable) / parts * r_type
    details: dict[str, float | bool] = {
        "r_type": r_type,
        "r_att": attributes / len(goal.attributes),
        "w_att": len(goal.attributes) / parts,
        **kind,
    }
    if goal.options:
        details |= {"r_option": matched / len(goal.options), "w_option": len(goal.options) / parts}
    return reward, details | {"r_price": affordable, "w_price": 1 / parts}


def _type(product: Product, wanted: Product) -> tuple[float, dict[str, float | bool]]:
    """Return how well the kind of product fits: by search, by category, by the nouns of the titles."""
    same_query = product.query == wanted.query
    same_category = len(_categories(product) & _categories(wanted)) >= 2
    nouns = wanted.nouns  # with repeats, so that a title's score with itself may be less than 1
    title = len(set(product.nouns) & set(nouns)) / len(nouns) if nouns else 0.2
    if title == 0:
        r_type = 0.0
    elif title < 0.1:
        r_type = 0.1
    else:
        r_type = 1.0 if same_query or same_category or title > 0.2 else 0.5
    return r_type, {"query_match": same_query, "category_match": same_category, "title_score": title}


def _categories(product: Product) -> set[str]:
    return {part.strip() for part in product.product_category.split(_THEN)}


def _has_attribute(product: Product, wanted: str) -> bool:
    return (
        any(token_set_ratio(attribute, wanted) > _ALIKE for attribute in product.attributes)
        or wanted in product.title.lower()
        or wanted in " ".join(product.bullets).lower()
        or wanted in product.description.lower()
    )


def _has_option(chosen: list[str], wanted: str | tuple[str, str]) -> bool:
    # a (name, value) pair is compared as Python writes the tuple, quotes and all: so does the original
    text = str(plain_color(wanted))
    return any(token_set_ratio(value, text) > _ALIKE for value in chosen)
