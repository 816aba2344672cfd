"""Recipes: writing, reading, finding, sorting into categories, cooking, deleting."""

from __future__ import annotations

import pytest
from touching import Hand, hand_in

from backtrail.envs.androidworld.phone.apps import recipe_data as data
from backtrail.envs.androidworld.phone.apps.recipe import Recipe

COLUMNS = {
    "recipeId", "title", "imageName", "description", "servings", "preparationTime", "source", "ingredients", "directions",
    "favorite",
}  # fmt: skip


@pytest.fixture
def hand() -> Hand:
    return hand_in(Recipe())


def titles(hand: Hand) -> list[str]:
    return [row["title"] for row in data.recipes(hand.phone)]


def fill(hand: Hand, *names: str) -> list[int]:
    ids = [data.add_recipe(hand.phone, name, ingredients=f"some {name}") for name in names]
    hand.phone.changed()
    return ids


def test_a_new_phone_has_no_recipes(hand: Hand) -> None:
    assert hand.sees("No recipes found")


def test_a_recipe_is_written_with_all_its_fields(hand: Hand) -> None:
    hand.tap("New recipe")
    values = {
        "Title": "Baked Cod",
        "Description": "A quick meal",
        "Servings": "2 servings",
        "Preparation time": "30 mins",
        "Source": "Mum",
        "Ingredients": "cod\nlemon",
        "Directions": "Bake.\nServe.",
    }
    for label, text in values.items():
        hand.type(label, text)
        hand.back()
    hand.tap("Save")
    (row,) = data.recipes(hand.phone)
    assert set(row) == COLUMNS and row["favorite"] == 0 and row["imageName"] == ""
    assert [row[name] for name in data.FIELDS] == list(values.values())
    assert hand.sees("Baked Cod") and hand.sees("The recipe was saved")


def test_a_recipe_without_title_is_not_saved(hand: Hand) -> None:
    hand.tap("New recipe")
    hand.type("Title", "  ")
    hand.type("Servings", "2")
    hand.tap("Save")
    assert hand.sees("Please enter a title") and hand.sees("New recipe") and not titles(hand)


def test_what_was_written_is_shown_line_by_line(hand: Hand) -> None:
    data.add_recipe(hand.phone, "Soup", ingredients="water\nsalt", directions="Boil it.", servings="6 servings")
    hand.phone.changed()
    hand.tap("Soup")
    for words in ("6 servings", "-  water", "-  salt", "Boil it."):
        assert hand.sees(words), words


def test_a_recipe_is_changed(hand: Hand) -> None:
    fill(hand, "Soup")
    hand.tap("Soup", "Edit")
    hand.type("Title", "Stew")
    hand.tap("Save")
    assert titles(hand) == ["Stew"] and hand.sees("Stew")


def test_a_recipe_is_deleted_after_a_question(hand: Hand) -> None:
    fill(hand, "Soup", "Stew")
    hand.tap("Soup", "More options", "Delete", "Cancel")
    assert titles(hand) == ["Soup", "Stew"]
    hand.tap("More options", "Delete", "Delete")
    assert titles(hand) == ["Stew"] and hand.sees("Recipes") and hand.sees("The recipe was deleted")


def test_recipes_are_in_order_of_title_without_regard_to_case(hand: Hand) -> None:
    fill(hand, "beta", "Alpha", "Gamma", *(f"zeta {n:02}" for n in range(30)))
    assert hand.texts().index("Alpha") < hand.texts().index("beta") < hand.texts().index("Gamma")
    hand.tap("zeta 29")
    assert hand.sees("some zeta 29")


def test_search_finds_words_of_all_texts(hand: Hand) -> None:
    fill(hand, "Soup", "Stew")
    data.add_recipe(hand.phone, "Pie", directions="Add the Cinnamon")
    hand.tap("Search")
    hand.type("Search in recipes", "cinnamon the")
    assert hand.sees("Pie") and not hand.sees("Soup")
    hand.type("Search in recipes", "nothing like it")
    assert hand.sees("No recipes found")


def test_favourites(hand: Hand) -> None:
    fill(hand, "Soup", "Stew")
    hand.tap("Stew", "Mark as favorite")
    assert [row["favorite"] for row in data.recipes(hand.phone)] == [0, 1]
    hand.back()
    hand.tap("All recipes", "Favorites")
    assert hand.sees("Stew") and not hand.sees("Soup")
    hand.tap("Stew", "Remove from favorites")
    hand.back()
    assert hand.sees("No recipes found")


def test_categories_are_made_given_shown_renamed_and_deleted(hand: Hand) -> None:
    (number, _) = fill(hand, "Soup", "Stew")
    hand.tap("Open navigation drawer", "Categories", "Add category", "Save")
    assert hand.sees("Please enter a name")
    hand.type("Name", "Winter")
    hand.tap("Save", "Add category")
    hand.type("Name", "Winter")
    hand.tap("Save")
    assert hand.sees("There is already such a category")
    hand.tap("Cancel")
    hand.back()
    hand.tap("Soup", "Edit", "Categories", "Winter", "OK", "Save")
    (category,) = data.categories_of(hand.phone, number)
    assert hand.sees("Winter")
    hand.back()
    hand.tap("All recipes", "Winter")
    assert hand.sees("Soup") and not hand.sees("Stew")
    hand.tap("Open navigation drawer", "Categories", "Winter")
    assert hand.sees("Edit category")
    hand.type("Name", "Cold days")
    hand.tap("Save")
    assert data.categories(hand.phone) == [{"categoryId": category, "name": "Cold days"}]
    hand.tap("Cold days", "Delete", "Delete")
    assert not data.categories(hand.phone) and titles(hand) == ["Soup", "Stew"]
    assert not data.categories_of(hand.phone, number) and hand.sees("No categories yet")


def test_a_copy_is_equal_but_for_its_id(hand: Hand) -> None:
    (number,) = fill(hand, "Soup")
    data.change_recipe(hand.phone, number, [data.add_category(hand.phone, "Winter")])
    hand.tap("Soup", "More options", "Duplicate")
    first, second = data.recipes(hand.phone)
    assert data.categories_of(hand.phone, second["recipeId"]) == data.categories_of(hand.phone, number) != []
    assert first["recipeId"] != second["recipeId"] and {**first, "recipeId": 0} == {**second, "recipeId": 0}


def test_cooking_goes_step_by_step(hand: Hand) -> None:
    data.add_recipe(hand.phone, "Soup", ingredients="water", directions="Boil.\nServe.")
    hand.phone.changed()
    hand.tap("Soup", "More options", "Cook")
    assert hand.sees("Ingredients (1 of 3)") and hand.sees("water")
    hand.tap("Next", "Next", "Next")
    assert hand.sees("Directions (3 of 3)") and hand.sees("Serve.")
    hand.tap("Previous")
    assert hand.sees("Boil.")


def test_the_calendar_says_what_is_in_season_and_finds_it(hand: Hand) -> None:
    fill(hand, "Pumpkin soup")
    hand.tap("Open navigation drawer", "Seasonal calendar")
    assert hand.sees("October")
    hand.tap("Previous month", "Next month", "Pumpkin", "Pumpkin soup")
    assert hand.sees("some Pumpkin soup")


def test_there_are_no_other_fields(hand: Hand) -> None:
    with pytest.raises(ValueError, match="got colour"):
        data.add_recipe(hand.phone, "x", colour="red")
    with pytest.raises(KeyError, match="id of a recipe"):
        data.change_recipe(hand.phone, 77, title="x")
    assert not titles(hand)
