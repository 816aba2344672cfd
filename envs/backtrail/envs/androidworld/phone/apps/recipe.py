"""An app like Broccoli: a collection of recipes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import recipe_data as data
from backtrail.envs.androidworld.phone.apps import recipe_pages as pages
from backtrail.envs.androidworld.phone.apps.drawer import drawer_bar, hide_keyboard
from backtrail.envs.androidworld.phone.page import GREY, SURFACE
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["Recipe"]

_SECTIONS = (
    ("main", "Recipes"),
    ("categories", "Categories"),
    ("seasons", "Seasonal calendar"),
    ("about", "About"),
)

_ALL, _FAVOURITES, _NONE = "All recipes", "Favorites", "Recipes without category"


class Recipe(App):
    """Keeps recipes."""

    key = data.KEY
    label = "Broccoli"
    package = "com.flauschcode.broccoli"
    activity = "com.flauschcode.broccoli.MainActivity"
    icon = "food"
    tint = (56, 142, 60)

    def fresh(self) -> Data:
        """Return no recipes and no categories."""
        return {"recipes": [], "categories": [], "recipes_with_categories": []}

    def activity_of(self, page: str) -> str:
        """Return the activity: a recipe, its form and its cooking have their own."""
        names = {"detail": "recipe.details.RecipeDetails", "form": "recipe.crud.CreateAndEditRecipe"}
        name = {**names, "cook": "recipe.cooking.CookingAssistant"}.get(page, "Main")
        return f"{self.package}.{name}Activity"

    def draw(self, ui: Ui) -> None:
        """Draw a page: "main", "search", "categories", "seasons", "about", "detail", "form" or "cook"."""
        draw = {
            "main": _list,
            "search": _search,
            "categories": _categories,
            "seasons": _seasons,
            "about": _about,
            **pages.PAGES,
        }[ui.page]
        draw(ui)


# -- recipes ----------------------------------------------------------------------------------------------


def _list(ui: Ui) -> None:
    phone, shown = ui.phone, ui.state.get("shown", _ALL)
    drawer_bar(ui, "Recipes", _SECTIONS, ("search", "Search", partial(phone.go, "search", words="")))
    named = {row["name"]: row["categoryId"] for row in data.categories(phone)}
    ui.row(shown, icon="down", tap=partial(ui.overlay, "shown"), resource="spinner")
    ui.line()
    rows = data.recipes(phone)
    if shown == _FAVOURITES:
        rows = [row for row in rows if row["favorite"]]
    elif shown == _NONE:
        rows = [row for row in rows if not data.categories_of(phone, row["recipeId"])]
    elif shown in named:
        rows = [row for row in rows if named[shown] in data.categories_of(phone, row["recipeId"])]
    with ui.scroll():
        if not rows:
            ui.gap(500)
            ui.text("No recipes found", 50, GREY, "center")
            if shown == _ALL:
                ui.text("Tap + to write down the first one", 40, GREY, "center")
        _cards(ui, rows)
        ui.gap(220)
    ui.floating("add", "New recipe", partial(phone.go, "form", id=0), "fab_create_recipe")
    if ui.state.get("overlay") == "shown":
        ui.choose(
            "Show", [_ALL, _FAVOURITES, _NONE, *named], shown, lambda name: ui.state.update(shown=name, scroll={})
        )


def _cards(ui: Ui, rows: Sequence[data.Row]) -> None:
    for row in rows:
        top, height = ui.top + 12, 210
        box = (ui.left + 30, top, ui.right - 30, top + height)
        card = ui.add(
            View(
                "LinearLayout", box, fill=(245, 248, 245), radius=24, resource=ui.id("recipe_card"),
                on_tap=partial(ui.phone.go, "detail", id=row["recipeId"]),
            )
        )  # fmt: skip
        middle = top + 110 if row["description"] else top + height
        end = box[2] - (110 if row["favorite"] else 20)
        card.children = [
            View("ImageView", (box[0] + 20, top + 25, box[0] + 180, top + height - 25), icon="food", fill=(200, 230, 201),
                 radius=24, color=ui.app.tint, size=70),
            View("TextView", (box[0] + 190, top + 10, end, middle), row["title"], size=46,
                 resource=ui.id("card_text_view_title")),
        ]  # fmt: skip
        if row["description"]:
            place = (box[0] + 190, middle, end, top + height - 20)
            card.children.append(
                View(
                    "TextView",
                    place,
                    row["description"],
                    size=36,
                    color=GREY,
                    resource=ui.id("card_text_view_description"),
                )
            )
        if row["favorite"]:
            place = (box[2] - 110, top + 50, box[2] - 10, top + 160)
            card.children.append(View("ImageView", place, icon="star", description="Favorite", color=(249, 171, 0)))
        ui.top = top + height + 12


def _search(ui: Ui) -> None:
    phone = ui.phone
    ui.bar("Search")
    words = ui.field("words", "Search in recipes", ui.args["words"], enter=partial(hide_keyboard, ui))
    rows = data.search(data.recipes(phone), words) if words.strip() else []
    with ui.scroll():
        if words.strip() and not rows:
            ui.gap(200)
            ui.text("No recipes found", 50, GREY, "center")
        _cards(ui, rows)


# -- categories -------------------------------------------------------------------------------------------


def _categories(ui: Ui) -> None:
    phone, state = ui.phone, ui.state
    drawer_bar(ui, "Categories", _SECTIONS)
    rows = data.categories(phone)

    def start(number: int, name: str) -> None:
        state.update(category=number, overlay="name")
        ui.fill("name", name)

    def save() -> None:
        name = ui.typed("name").strip()
        taken = any(row["name"] == name and row["categoryId"] != state["category"] for row in rows)
        if taken or not name:
            phone.toast("There is already such a category" if taken else "Please enter a name")
            return ui.overlay("name")
        hide_keyboard(ui)
        if state["category"]:
            return data.rename_category(phone, state["category"], name)
        data.add_category(phone, name)
        return None

    def ask() -> None:
        hide_keyboard(ui)
        ui.overlay("delete")

    with ui.scroll():
        if not rows:
            ui.gap(500)
            ui.text("No categories yet", 50, GREY, "center")
        for row in rows:
            number = row["categoryId"]
            count = sum(number in data.categories_of(phone, each["recipeId"]) for each in data.recipes(phone))
            ui.row(
                row["name"],
                "1 recipe" if count == 1 else f"{count} recipes",
                icon="folder",
                tap=partial(start, number, row["name"]),
            )
        ui.gap(220)
    ui.floating("add", "Add category", partial(start, 0, ""), "fab_create_category")
    if state.get("overlay") == "name":
        new = not state["category"]
        more = () if new else (("Delete", ask),)
        title, cancel = "New category" if new else "Edit category", ("Cancel", partial(hide_keyboard, ui))
        with ui.dialog(title, cancel, *more, ("Save", save), height=220):
            ui.field("name", "Name")
    if state.get("overlay") == "delete":
        ui.confirm(
            "Delete this category? Its recipes stay.", "Delete", partial(data.delete_category, phone, state["category"])
        )


# -- seasons and about ------------------------------------------------------------------------------------


def _seasons(ui: Ui) -> None:
    phone = ui.phone
    month = ui.state.get("month", phone.now.month)
    drawer_bar(ui, "Seasonal calendar", _SECTIONS)

    def turn(months: int) -> None:
        ui.state["month"] = (month - 1 + months) % 12 + 1

    with ui.columns(1, 3, 1) as following:
        ui.icons(("left", "Previous month", partial(turn, -1)), size=90)
        following()
        ui.gap(40)
        ui.text(f"{date(2000, month, 1):%B}", 50, align="center", resource="month")
        following()
        ui.icons(("right", "Next month", partial(turn, 1)), size=90)
    ui.add(View("View", (ui.left, ui.top, ui.right, ui.top + 3), fill=SURFACE))
    with ui.scroll():
        for name in data.SEASONS[month]:
            count = len(data.search(data.recipes(phone), name))
            words = "1 recipe" if count == 1 else f"{count} recipes"
            ui.row(name, words, icon="sun", tap=partial(phone.go, "search", words=name))


def _about(ui: Ui) -> None:
    drawer_bar(ui, "About", _SECTIONS)
    ui.row("Broccoli", "Version 1.0, simulated", icon="food")
    ui.line()
    ui.text("Your recipes in one place. They stay on this phone.", color=GREY)
