"""Pages of the recipe app for one recipe: reading it, writing it, cooking it step by step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from backtrail.envs.androidworld.phone.apps import recipe_data as data
from backtrail.envs.androidworld.phone.page import GREY, WHITE
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["PAGES"]

_LABELS = {
    "title": "Title",
    "description": "Description",
    "servings": "Servings",
    "preparationTime": "Preparation time",
    "source": "Source",
    "ingredients": "Ingredients",
    "directions": "Directions",
}

_LINES = {"description": 2, "ingredients": 4, "directions": 5}


# -- reading ----------------------------------------------------------------------------------------------


def _detail(ui: Ui) -> None:
    phone, number = ui.phone, ui.args["id"]
    row = data.recipe(phone, number)
    if row is None:
        ui.bar("Recipe")
        ui.text("This recipe is no longer there.", color=GREY)
        return

    def copy() -> None:
        data.copy_recipe(phone, number)
        phone.toast("The recipe was copied")

    ui.bar(
        "",
        ("edit", "Edit", partial(phone.go, "form", id=number)),
        menu=[("Cook", partial(phone.go, "cook", id=number)), ("Duplicate", copy), ("Delete", partial(ui.overlay, "delete"))],
    )  # fmt: skip
    with ui.scroll():
        _head(ui, row)
        for name in ("source", "ingredients", "directions"):
            _part(ui, row, name)
        ui.gap(40)
    if ui.state.get("overlay") == "delete":

        def delete() -> None:
            data.delete_recipe(phone, number)
            phone.toast("The recipe was deleted")
            phone.close()

        ui.confirm(f"Delete the recipe “{row['title']}”?", "Delete", delete)


def _head(ui: Ui, row: data.Row) -> None:
    phone = ui.phone
    box = (ui.left, ui.top, ui.right, ui.top + 300)
    picture = View("ImageView", box, icon="food", fill=(200, 230, 201), color=ui.app.tint, size=150)
    picture.description = "Recipe photo"
    place = (ui.right - 180, ui.top + 150, ui.right - 40, ui.top + 290)
    on = bool(row["favorite"])
    picture.children = [
        View(
            "ImageButton", place, icon="star", fill=WHITE, radius=70, color=(249, 171, 0) if on else (189, 193, 198),
            description="Remove from favorites" if on else "Mark as favorite", selected=on,
            on_tap=partial(data.favourite, phone, row["recipeId"]), resource=ui.id("button_favorite"),
        )
    ]  # fmt: skip
    ui.add(picture)
    ui.gap(320)
    ui.text(row["title"], 64, resource="details_title")
    named = {each["categoryId"]: each["name"] for each in data.categories(phone)}
    labels = [named[each] for each in data.categories_of(phone, row["recipeId"])]
    if labels:
        ui.text(", ".join(labels), 38, ui.app.tint, resource="details_categories")
    if row["description"]:
        ui.text(row["description"], 44, GREY, resource="details_description")
    ui.gap(10)
    for name, icon in (("servings", "person"), ("preparationTime", "clock")):
        if row[name]:
            ui.row(row[name], _LABELS[name], icon=icon)


def _part(ui: Ui, row: data.Row, name: str) -> None:
    lines = [line.strip() for line in row[name].split("\n") if line.strip()]
    if not lines:
        return
    ui.line()
    ui.header(_LABELS[name])
    for number, line in enumerate(lines, 1):
        sign = {"ingredients": "-  ", "directions": f"{number}.  "}.get(name, "") if len(lines) > 1 else ""
        ui.text(sign + line, 44, resource=f"details_{name}")


# -- writing ----------------------------------------------------------------------------------------------


def _form(ui: Ui) -> None:
    phone, number = ui.phone, ui.args["id"]
    row = data.recipe(phone, number)
    chosen: list[int] = ui.state.get("categories", data.categories_of(phone, number))
    rows = data.categories(phone)
    ui.bar("Edit recipe" if row else "New recipe", ("check", "Save", lambda: _save(ui, row, chosen)))
    with ui.scroll("form"):
        for name, label in _LABELS.items():
            before = row[name] if row else ""
            ui.field(name, label, before, lines=_LINES.get(name, 1), resource=f"new_{name}")
            if name == "title":
                labels = [each["name"] for each in rows if each["categoryId"] in chosen]
                ui.row("Categories", ", ".join(labels) or "None", icon="folder", tap=partial(ui.overlay, "categories"))
    if ui.state.get("overlay") == "categories":
        _choose_categories(ui, chosen)


def _choose_categories(ui: Ui, chosen: list[int]) -> None:
    rows = data.categories(ui.phone)
    with ui.dialog("Categories", ("OK", None), height=min(1200, max(1, len(rows)) * 150 + 20)), ui.scroll("categories"):
        if not rows:
            ui.text("There are no categories yet.", color=GREY)
        for row in rows:
            number = row["categoryId"]
            others = [each for each in chosen if each != number]
            after = others if number in chosen else [*chosen, number]
            ui.row(row["name"], check=number in chosen, tap=partial(ui.state.update, categories=after))


def _save(ui: Ui, row: data.Row | None, chosen: list[int]) -> None:
    fields = {name: ui.typed(name, row[name] if row else "").strip() for name in data.FIELDS}
    if not fields["title"]:
        ui.phone.toast("Please enter a title")
        return
    if row:
        data.change_recipe(ui.phone, row["recipeId"], chosen, **fields)
    else:
        data.change_recipe(ui.phone, data.add_recipe(ui.phone, fields["title"]), chosen, **fields)
    ui.phone.toast("The recipe was saved")
    ui.phone.close()


# -- cooking ----------------------------------------------------------------------------------------------


def _cook(ui: Ui) -> None:
    row = data.recipe(ui.phone, ui.args["id"])
    steps = [line.strip() for line in row["directions"].split("\n") if line.strip()] if row else []
    parts = [("Ingredients", row["ingredients"]), *(("Directions", step) for step in steps)] if row else []
    place = min(ui.state.get("step", 0), max(0, len(parts) - 1))
    ui.bar(row["title"] if row else "Recipe")
    if not any(text for _, text in parts):
        ui.gap(400)
        ui.text("This recipe has no ingredients or directions yet.", 46, GREY, "center")
        return
    title, text = parts[place]
    with ui.scroll("step", keep=170):
        ui.gap(60)
        ui.header(f"{title} ({place + 1} of {len(parts)})")
        ui.text(text or "No ingredients", 60, resource="step_text")
    with ui.columns(1, 1) as following:
        ui.button("Previous", partial(ui.state.update, step=place - 1), enabled=place > 0, filled=False)
        following()
        ui.button("Next", partial(ui.state.update, step=place + 1), enabled=place < len(parts) - 1)


PAGES: dict[str, Callable[[Ui], None]] = {"detail": _detail, "form": _form, "cook": _cook}
"""How each page is drawn."""
