"""The data of the recipe app: rows with the columns of its tables ``recipes``, ``categories`` and ``recipes_with_categories``."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "FIELDS",
    "KEY",
    "SEASONS",
    "Row",
    "add_category",
    "add_recipe",
    "categories",
    "categories_of",
    "change_recipe",
    "copy_recipe",
    "delete_category",
    "delete_recipe",
    "favourite",
    "recipe",
    "recipes",
    "rename_category",
    "search",
]

KEY = "recipe"

Row = dict[str, Any]
"""recipeId, title, imageName, description, servings, preparationTime, source, ingredients, directions, favorite (0 or 1)."""

FIELDS = ("title", "description", "servings", "preparationTime", "source", "ingredients", "directions")
"""What is written in a recipe's form."""

SEASONS = {
    1: ("Kale", "Leek", "Parsnip"),
    2: ("Kale", "Leek", "Parsnip"),
    3: ("Leek", "Spinach", "Spring onion"),
    4: ("Asparagus", "Radish", "Rhubarb", "Spinach"),
    5: ("Asparagus", "Radish", "Rhubarb", "Strawberry"),
    6: ("Cherry", "Cucumber", "Pea", "Strawberry", "Zucchini"),
    7: ("Bean", "Cucumber", "Raspberry", "Tomato", "Zucchini"),
    8: ("Bean", "Corn", "Plum", "Tomato", "Zucchini"),
    9: ("Apple", "Corn", "Pear", "Plum", "Pumpkin"),
    10: ("Apple", "Beetroot", "Broccoli", "Mushroom", "Pumpkin"),
    11: ("Beetroot", "Carrot", "Leek", "Pumpkin"),
    12: ("Cabbage", "Carrot", "Kale", "Parsnip"),
}
"""What is in season in each month."""


def recipes(phone: Phone) -> list[Row]:
    """Return all recipes by title."""
    return sorted(phone.data(KEY)["recipes"], key=lambda row: (row["title"].lower(), row["recipeId"]))


def recipe(phone: Phone, number: int) -> Row | None:
    """Return the recipe with an id; None if there is none."""
    return next((row for row in phone.data(KEY)["recipes"] if row["recipeId"] == number), None)


def search(rows: Collection[Row], words: str) -> list[Row]:
    """Return the recipes that have all the words in title, description, source, ingredients or directions."""
    wanted = words.lower().split()
    texts = ("title", "description", "source", "ingredients", "directions")
    return [row for row in rows if all(any(word in row[name].lower() for name in texts) for word in wanted)]


def add_recipe(phone: Phone, title: str, **fields: str) -> int:
    """Add a recipe and return its id.

    Args:
        phone: The phone.
        title: Its title.
        **fields: Others of `FIELDS`; empty where left out.

    Raises:
        ValueError: If there is no such field.
    """
    row: Row = {"recipeId": phone.new_id(), "imageName": "", "favorite": 0, **dict.fromkeys(FIELDS, "")}
    row.update(_checked({"title": title, **fields}))
    phone.data(KEY)["recipes"].append(row)
    return row["recipeId"]


def copy_recipe(phone: Phone, number: int) -> int:
    """Add a recipe that is equal to another, also in its categories, but is no favourite; return its id.

    Raises:
        KeyError: If there is no such recipe.
    """
    row = recipe(phone, number)
    if row is None:
        raise KeyError(f"Expected the id of a recipe, got {number}")
    new = add_recipe(phone, **{name: row[name] for name in FIELDS})
    _assign(phone, new, categories_of(phone, number))
    return new


def change_recipe(phone: Phone, number: int, categories: Collection[int] | None = None, **fields: str) -> None:
    """Change fields of a recipe, and its categories if they are given.

    Raises:
        KeyError: If there is no such recipe.
        ValueError: If there is no such field.
    """
    row = recipe(phone, number)
    if row is None:
        raise KeyError(f"Expected the id of a recipe, got {number}")
    row.update(_checked(fields))
    if categories is not None:
        _assign(phone, number, categories)


def favourite(phone: Phone, number: int) -> None:
    """Make a recipe a favourite, or none if it is one."""
    row = recipe(phone, number)
    if row is not None:
        row["favorite"] = 1 - row["favorite"]


def delete_recipe(phone: Phone, number: int) -> None:
    """Delete a recipe."""
    _assign(phone, number, ())
    data = phone.data(KEY)
    data["recipes"] = [row for row in data["recipes"] if row["recipeId"] != number]


# -- categories -------------------------------------------------------------------------------------------


def categories(phone: Phone) -> list[Row]:
    """Return all categories (categoryId, name) by name."""
    return sorted(phone.data(KEY)["categories"], key=lambda row: (row["name"].lower(), row["categoryId"]))


def categories_of(phone: Phone, number: int) -> list[int]:
    """Return the ids of a recipe's categories."""
    return [row["categoryId"] for row in phone.data(KEY)["recipes_with_categories"] if row["recipeId"] == number]


def add_category(phone: Phone, name: str) -> int:
    """Add a category and return its id."""
    number = phone.new_id()
    phone.data(KEY)["categories"].append({"categoryId": number, "name": name})
    return number


def rename_category(phone: Phone, number: int, name: str) -> None:
    """Give a category another name."""
    for row in phone.data(KEY)["categories"]:
        if row["categoryId"] == number:
            row["name"] = name


def delete_category(phone: Phone, number: int) -> None:
    """Delete a category; its recipes stay."""
    data = phone.data(KEY)
    for table in ("categories", "recipes_with_categories"):
        data[table] = [row for row in data[table] if row["categoryId"] != number]


def _assign(phone: Phone, number: int, categories: Collection[int]) -> None:
    data = phone.data(KEY)
    others = [row for row in data["recipes_with_categories"] if row["recipeId"] != number]
    data["recipes_with_categories"] = others + [{"recipeId": number, "categoryId": each} for each in categories]


def _checked(fields: dict[str, str]) -> dict[str, str]:
    unknown = sorted(set(fields) - set(FIELDS))
    if unknown:
        raise ValueError(f"Expected fields among {', '.join(FIELDS)}, got {', '.join(unknown)}")
    return fields
