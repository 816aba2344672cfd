"""Tasks on the collection of recipes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.recipe_data import FIELDS, add_recipe, recipes
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.words import answered

__all__ = ["TASKS", "RecipeAdd", "RecipeDelete", "RecipeDeleteWith", "RecipeHowLong"]

_APP = "Broccoli"

_MAIN = ("Leek", "Lentil", "Mushroom", "Pumpkin", "Spinach", "Tomato", "Zucchini", "Bean", "Carrot", "Potato")
_DISH = ("soup", "pie", "salad", "stew", "gratin", "risotto")
_MORE = ("cumin", "feta", "ginger", "honey", "lemon", "mint", "mustard", "rosemary", "sage", "walnuts")
_BASE = ("butter", "flour", "garlic", "milk", "oil", "onions", "rice", "salt")
_SERVINGS = ("2 servings", "3 servings", "4 servings", "6 servings")
_MINUTES = (15, 20, 25, 35, 40, 45, 55, 70, 80, 95)
_STEPS = (
    "Cut everything and fry it in oil.", "Boil it until it is soft.", "Bake it until it is brown.", "Stir from time to time.",
    "Mix all and let it rest.", "Season to taste and serve hot.", "Let it cool before it is served.",
)  # fmt: skip

Entry = dict[str, str]
"""Values by field."""


def draw_recipe(rng: random.Random, title: str, more: Sequence[str]) -> Entry:
    """Return a recipe with some of these ingredients beside plain ones."""
    ingredients = ", ".join([title.split()[0].lower(), *rng.sample(_BASE, 2), rng.choice(more)])
    return {
        "title": title,
        "description": rng.choice(("", "For guests", "From an old notebook", "Quick and simple")),
        "servings": rng.choice(_SERVINGS),
        "preparationTime": f"{rng.choice(_MINUTES)} min",
        "source": "",
        "ingredients": ingredients,
        "directions": " ".join(rng.sample(_STEPS, 2)),
    }


def cooked(phone: Phone) -> list[list[str]]:
    """Return the fields of all recipes, sorted, with single spaces; no recipe may have become a favourite."""
    return sorted([" ".join(row[name].split()) for name in FIELDS] + [str(row["favorite"])] for row in recipes(phone))


class _Recipe(PhoneTask):
    """Some recipes are there, with near-equal titles; the first is meant."""

    family = "recipe"
    apps = (_APP,)
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw recipes; two have a title that begins as that of the first."""
        main, dish = rng.choice(_MAIN), rng.choice(_DISH)
        title, extra = f"{main} {dish}", rng.sample(_MORE, 2)
        titles = [title, f"{title} with {extra[0]}", f"{title} with {extra[1]}"]
        others = [f"{one} {two}" for one in _MAIN for two in _DISH if f"{one} {two}" != title]
        titles += rng.sample(others, rng.randint(5, 9))
        rows = [draw_recipe(rng, each, _MORE) for each in titles]
        return {"title": title, "one": rows[0], "others": rows[1:]}

    def prepare(self, phone: Phone) -> None:
        """Write all of them down."""
        self.put(phone, [*self.parameters["others"], self.parameters["one"]])

    def put(self, phone: Phone, rows: list[Entry]) -> None:
        """Write recipes down."""
        for row in rows:
            add_recipe(phone, **row)

    def are(self, phone: Phone, rows: list[Entry]) -> bool:
        """Whether just these recipes are there."""
        return cooked(phone) == sorted([row[name] for name in FIELDS] + ["0"] for row in rows)


class RecipeAdd(_Recipe):
    """Write a recipe down."""

    template = (
        'Add a recipe in Broccoli: title "{title}", servings "{servings}", preparation time "{time}", ingredients "{ingredients}" '
        'and directions "{directions}". Leave everything else empty.'
    )
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Leave out the description."""
        drawn = super().draw(rng)
        one = {**drawn["one"], "description": ""}
        return {**drawn, **one, "one": one, "time": one["preparationTime"]}

    def prepare(self, phone: Phone) -> None:
        """Write the others down."""
        self.put(phone, self.parameters["others"])

    def done(self, phone: Phone) -> bool:
        """There is one more recipe, with all this."""
        return self.are(phone, [self.parameters["one"], *self.parameters["others"]])

    def solve(self, oracle: Oracle) -> None:
        """Fill in the form."""
        oracle.open(_APP)
        oracle.tap("New recipe")
        for name, text in self.parameters["one"].items():
            if text:
                oracle.type(f"new_{name}", text)
        oracle.tap("Save")


class RecipeDelete(_Recipe):
    """Delete one of several recipes with near-equal titles."""

    template = 'Delete the recipe that is called just "{title}" from Broccoli.'

    def done(self, phone: Phone) -> bool:
        """The recipe is gone, and no other."""
        return self.are(phone, self.parameters["others"])

    def solve(self, oracle: Oracle) -> None:
        """Use the menu of its page."""
        oracle.open(_APP)
        oracle.tap(self.parameters["title"], "More options", "Delete", "Delete")


class RecipeDeleteWith(_Recipe):
    """Delete the recipes that need an ingredient, but not one that only mentions it."""

    template = "Delete all recipes from Broccoli that have {ingredient} among their ingredients, and no others."
    steps = 40

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Let some recipes have the ingredient, and the description of another name it."""
        ingredient, *rest = rng.sample(_MORE, len(_MORE))
        titles = rng.sample([f"{one} {two}" for one in _MAIN for two in _DISH], 9)
        count = rng.randint(2, 3)
        gone = [draw_recipe(rng, title, [ingredient]) for title in titles[:count]]
        others = [draw_recipe(rng, title, rest) for title in titles[count:]]
        others[0]["description"] = f"Do not add {ingredient}"
        return {"ingredient": ingredient, "gone": gone, "others": others}

    def prepare(self, phone: Phone) -> None:
        """Write all of them down."""
        self.put(phone, [*self.parameters["others"], *self.parameters["gone"]])

    def done(self, phone: Phone) -> bool:
        """Just these recipes are gone."""
        return self.are(phone, self.parameters["others"])

    def solve(self, oracle: Oracle) -> None:
        """Search for the ingredient and look at each recipe that is found."""
        left = {row["title"] for row in recipes(oracle.phone)}
        for row in self.parameters["gone"]:
            if row["title"] in left:
                oracle.open(_APP)
                oracle.tap("Search")
                oracle.type("words", self.parameters["ingredient"])
                oracle.tap(row["title"], "More options", "Delete", "Delete")


class RecipeHowLong(_Recipe):
    """Say how long a recipe takes."""

    template = (
        'How many minutes does the recipe that is called just "{title}" in Broccoli take? Answer with the number alone.'
    )
    steps = 10
    answers = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Let the recipes with near-equal titles take longer or shorter."""
        drawn = super().draw(rng)
        minutes = rng.sample(_MINUTES, 3)
        for row, each in zip([drawn["one"], *drawn["others"]], minutes, strict=False):
            row["preparationTime"] = f"{each} min"
        return {**drawn, "minutes": minutes[0]}

    def done(self, phone: Phone) -> bool:
        """The answer is the time, and no recipe was changed."""
        rows = [self.parameters["one"], *self.parameters["others"]]
        return answered(phone, str(self.parameters["minutes"])) and self.are(phone, rows)

    def solve(self, oracle: Oracle) -> None:
        """Look at its page."""
        oracle.open(_APP)
        oracle.tap(self.parameters["title"])
        oracle.find(f"{self.parameters['minutes']} min")
        oracle.answer(str(self.parameters["minutes"]))


TASKS: tuple[type[PhoneTask], ...] = (RecipeAdd, RecipeDelete, RecipeDeleteWith, RecipeHowLong)
