"""Tasks on recipes: solved by touch, and refused where something else was done."""

from __future__ import annotations

import pytest
from checking_tasks import SEEDS, prepared, solved

from backtrail.envs.androidworld.phone.apps.recipe_data import add_recipe, delete_recipe, favourite, recipes
from backtrail.envs.androidworld.tasks import recipes as family
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.recipes import RecipeAdd, RecipeDelete, RecipeDeleteWith, RecipeHowLong


@pytest.mark.parametrize("kind", family.TASKS)
def test_nothing_else_may_change(kind: type[PhoneTask]) -> None:
    task = kind(1)
    phone = solved(task).phone
    saved, number = phone.save(), recipes(phone)[0]["recipeId"]
    for change in (
        lambda: add_recipe(phone, "Toast"),
        lambda: delete_recipe(phone, number),
        lambda: favourite(phone, number),
    ):
        phone.load(saved)
        assert task.done(phone)
        change()
        assert not task.done(phone)


@pytest.mark.parametrize("field", ["title", "servings", "preparationTime", "ingredients", "directions", "source"])
def test_each_part_of_a_new_recipe_counts(field: str) -> None:
    task = RecipeAdd(0)
    phone = prepared(task).phone
    add_recipe(phone, **{**task.parameters["one"], field: "Else"})
    assert not task.done(phone)


def test_a_recipe_whose_title_goes_on() -> None:
    task = RecipeDelete(0)
    phone = prepared(task).phone
    delete_recipe(
        phone, next(r["recipeId"] for r in recipes(phone) if r["title"].startswith(f"{task.parameters['title']} "))
    )
    assert not task.done(phone)


def test_what_only_names_the_ingredient_stays() -> None:
    task = RecipeDeleteWith(0)
    phone = prepared(task).phone
    for row in recipes(phone):
        if task.parameters["ingredient"] in f"{row['ingredients']} {row['description']}":
            delete_recipe(phone, row["recipeId"])
    assert not task.done(phone)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_time_of_the_recipe_alone(seed: int) -> None:
    task = RecipeHowLong(seed)
    phone = prepared(task).phone
    times = {row["preparationTime"] for row in [task.parameters["one"], *task.parameters["others"][:2]]}
    assert len(times) == 3
    for time in times:
        phone.state["answer"] = time
        assert task.done(phone) is (time == f"{task.parameters['minutes']} min")
