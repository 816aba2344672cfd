"""Whatever is touched in the apps, in any order: nothing breaks, nothing depends on anything but the touches."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from backtrail.envs.androidworld.elements import elements
from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.app import App
from backtrail.envs.androidworld.phone.apps import expense_data, music_data, recipe_data
from backtrail.envs.androidworld.phone.apps.expense import Expense
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.music import Music
from backtrail.envs.androidworld.phone.apps.recipe import Recipe
from backtrail.envs.androidworld.phone.views import to_xml

APPS = {"expense": Expense, "recipe": Recipe, "music": Music}


def phone_with(app: App) -> Phone:
    phone = Phone([Launcher(), app])
    for number in range(14):
        if app.key == "expense":
            day = phone.now - timedelta(days=2 * number)
            expense_data.add_expense(phone, f"Expense {number}", 100 * number + 7, number % 11 + 1, created=day)
        elif app.key == "recipe":
            recipe_data.add_recipe(phone, f"Recipe {number}", ingredients="pumpkin\nsalt", directions="Cook.\nEat.")
        else:
            music_data.add_song(phone, f"Song {number}", f"Artist {number % 3}", 20_000 * number)
    phone.launch(app.key)
    return phone


def wander(phone: Phone, rng: random.Random) -> None:
    """Do one thing at random, mostly a tap on something."""
    each = rng.choice([each for each in elements(phone.tree) if each.package != "com.android.systemui"])
    x, y = each.center
    draw = rng.random()
    if draw < 0.72:
        phone.tap(x, y)
    elif draw < 0.79:
        phone.hold(x, y)
    elif draw < 0.86:
        phone.swipe((540, 1500), (540, rng.choice([600, 2000])))
    elif draw < 0.93:
        phone.type(rng.choice(["12", "soup", " ", "a"]))
    elif draw < 0.98 or phone.top["app"] == "launcher":
        phone.back()
    else:
        phone.pass_time(rng.randrange(500))
    if phone.top["app"] == "launcher":
        phone.launch(next(key for key in APPS if key in phone.apps))


@pytest.mark.parametrize("name", APPS)
def test_a_walk_breaks_nothing_and_can_be_walked_again(name: str) -> None:
    ends = []
    for _ in range(2):
        phone, rng = phone_with(APPS[name]()), random.Random(7)
        for step in range(200):
            wander(phone, rng)
            if step % 10 == 0:
                screen, saved = to_xml(phone.tree), phone.save()
                phone.load(saved)
                assert to_xml(phone.tree) == screen and phone.save() == saved
        ends.append(phone.save())
    assert ends[0] == ends[1]
