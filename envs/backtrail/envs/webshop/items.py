"""What a shop holds: products and the goals that ask for them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Goal", "Product"]


@dataclass(frozen=True, slots=True)
class Product:
    """One product, as the shop's loader leaves it.

    Attributes:
        asin: Its identifier, as in the source (most are upper case).
        title: Name on the page and in the search index.
        description: Long text.
        bullets: Feature lines; at least one.
        tag: The price as shown, e.g. "$19.99 to $27.99".
        price: The hidden price that is judged, in dollars; drawn from the shown range.
        options: Option names with their values, in the order of the page; names and values are lower case.
        attributes: What the reward's attribute match looks at.
        category: One of a few departments.
        query: The search that the listing was found by; lower case.
        product_category: Path of categories, separated by a single right-pointing angle quotation mark.
        image: Address of its main picture, "" for none.
        nouns: Nouns of the title in lower case, with repeats, for the reward's type match.
    """

    asin: str
    title: str
    description: str
    bullets: tuple[str, ...]
    tag: str
    price: float
    options: tuple[tuple[str, tuple[str, ...]], ...]
    attributes: tuple[str, ...]
    category: str
    query: str
    product_category: str
    image: str
    nouns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Goal:
    """An instruction and the product it was made from.

    Attributes:
        index: Its place in the shuffled list of goals, which splits refer to.
        asin: The product.
        instruction: What the buyer asks for, with options and price limit.
        attributes: Attributes asked for; at least one.
        options: Options asked for: values (human goals) or (name, value) pairs (synthetic goals). The reward matches the two
            differently, as the original does.
        price_upper: The most it may cost, in dollars; 1,000,000 where the instruction names no limit.
        weight: Chance of being drawn, relative to the other goals.
    """

    index: int
    asin: str
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str, ...] | tuple[tuple[str, str], ...]
    price_upper: float
    weight: float
