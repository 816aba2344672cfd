"""What WebShop's loader makes of the rows of its official files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from backtrail.envs.webshop.errors import CatalogueError
from backtrail.envs.webshop.items import Product

__all__ = ["Listing", "Row", "field", "listings"]

Row = dict[str, Any]
"""One product and all that is said about it: "product", "attributes", "human" and perhaps "nouns", in the official forms."""

_LONGEST_ASIN = 10


@dataclass(frozen=True, slots=True)
class Listing:
    """What the loader makes of a row.

    Attributes:
        product: The product; its price is not drawn yet (0), its nouns are those of the row, if any.
        pricing: One price, or the ends of a range, in dollars.
        instruction: The synthetic instruction without options and price limit; None if there is none.
        asked: Attributes that it asks for.
        human: Human instructions: text, attributes, option values.
    """

    product: Product
    pricing: tuple[float, ...]
    instruction: str | None
    asked: tuple[str, ...]
    human: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]


def listings(rows: Iterable[Row], name: str = "rows") -> Iterator[tuple[Row, Listing]]:
    """Yield the rows that become products, with what the original's loader makes of them.

    It drops products without an ASIN ("nan" or longer than ten characters) and repeated ones.

    Args:
        rows: The rows in the order of the file.
        name: Where they come from, for messages.

    Raises:
        CatalogueError: If a row has another form; the message says which row and what was expected.
    """
    seen: set[str] = set()
    for number, row in enumerate(rows, 1):
        where = f"{name}, row {number}"
        asin = field(row["product"], "asin", str, where)
        if asin == "nan" or len(asin) > _LONGEST_ASIN or asin in seen:
            continue
        seen.add(asin)
        yield row, _listing(row, f"{where} ({asin})")


def _listing(row: Row, where: str) -> Listing:
    given, entry, human = row["product"], row["attributes"], row["human"]
    if not (isinstance(entry, dict) and isinstance(human, list)):
        raise CatalogueError(
            f"{where}: expected its attributes to be an object and its human instructions to be a list"
        )
    if not (given["asin"].isascii() and given["asin"].isprintable() and given["asin"]):
        raise CatalogueError(f"{where}: expected an ASIN of letters and digits, got {given['asin']!r}")
    bullets = given.get("small_description")
    pricing, tag = _pricing(given.get("pricing"), where)
    attributes = field(entry, "attributes", list, where) if "attributes" in entry else ["DUMMY_ATTR"]
    instruction = entry.get("instruction")
    product = Product(
        asin=given["asin"],
        title=field(given, "name", str, where),
        description=field(given, "full_description", str, where),
        bullets=_texts(bullets if isinstance(bullets, list) else [bullets], "small_description", where),
        tag=tag,
        price=0.0,
        options=_options(given.get("customization_options"), where),
        attributes=_texts(attributes, "attributes", where),
        category=field(given, "category", str, where),
        query=field(given, "query", str, where).lower().strip(),
        product_category=field(given, "product_category", str, where),
        image=_image(given.get("images")),
        nouns=_texts(row.get("nouns", []), "nouns", where),
    )
    if not product.bullets:
        raise CatalogueError(f"{where}: expected at least one line of small_description, got none")
    asked = () if instruction is None else _texts(entry.get("instruction_attributes"), "instruction_attributes", where)
    if instruction is not None and not (isinstance(instruction, str) and asked):
        raise CatalogueError(f"{where}: expected an instruction to be text and to ask for at least one attribute")
    return Listing(product, pricing, instruction, asked, tuple(_human(e, where) for e in human))


def _human(entry: Any, where: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return a human instruction: text, attributes (without any it makes no goal), values of options."""
    text = field(entry, "instruction", str, f"{where}, human instruction")
    asked = _texts(entry.get("instruction_attributes"), "instruction_attributes", where)
    return text, asked, _texts(entry.get("instruction_options"), "instruction_options", where)


def _pricing(text: Any, where: str) -> tuple[tuple[float, ...], str]:
    """Return one price or two, and how they are shown; a third price is not looked at."""
    if not text:
        return (100.0,), "$100.0"
    try:
        prices = tuple(float(Decimal(re.sub(r"[^\d.]", "", part))) for part in text.split("$")[1:])
    except (AttributeError, InvalidOperation):
        prices = ()
    if not prices:
        raise CatalogueError(f"{where}: expected pricing such as '$9.99' or '$5.00 - $7.50', got {text!r}")
    return prices[:2], " to ".join(f"${price}" for price in prices[:2])


def _options(given: Any, where: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return option names with their values; of two names that differ in case, the last has its values in the first's place."""
    if not given:
        return ()
    if not isinstance(given, dict):
        raise CatalogueError(f"{where}: expected customization_options to be an object, got {type(given).__name__}")
    options: dict[str, tuple[str, ...]] = {}
    for name, values in given.items():
        if values is None:
            continue
        if not isinstance(values, list):
            raise CatalogueError(f"{where}: expected option {name!r} to be a list, got {type(values).__name__}")
        texts = (field(value, "value", str, f"{where}, option {name!r}") for value in values)
        options[name.lower()] = tuple(text.strip().replace("/", " | ").lower() for text in texts)
    return tuple(options.items())


def _image(given: Any) -> str:
    first = given[0] if isinstance(given, list) and given else None
    return first if isinstance(first, str) else ""


def _texts(given: Any, name: str, where: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise CatalogueError(f"{where}: expected {name} to be a list of strings, got {_short(given)}")
    return tuple(given)


def field(given: Any, name: str, kind: type[Any], where: str) -> Any:
    """Return a field of an object.

    Raises:
        CatalogueError: If there is no such object, or the field is missing or of another type.
    """
    if not isinstance(given, dict):
        raise CatalogueError(f"{where}: expected an object, got {_short(given)}")
    if not isinstance(given.get(name), kind):
        raise CatalogueError(f"{where}: expected {name} to be of type {kind.__name__}, got {_short(given.get(name))}")
    return given[name]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
