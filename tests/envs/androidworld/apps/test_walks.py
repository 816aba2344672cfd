"""Whatever is touched in the apps, in any order: nothing breaks, nothing depends on anything but the touches."""

from __future__ import annotations

import random

import pytest
from checking_tasks import prepared

from backtrail.envs.androidworld.elements import elements
from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.views import to_xml
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.catalog import ALL_TASKS

KINDS = {kind.apps: kind for kind in reversed(ALL_TASKS)}
"""Tasks that fill the apps: for each set of apps the first kind."""


def wander(phone: Phone, rng: random.Random, home: str) -> None:
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
        phone.launch(home)


@pytest.mark.parametrize("kind", KINDS.values())
def test_a_walk_breaks_nothing_and_can_be_walked_again(kind: type[PhoneTask]) -> None:
    ends = []
    for _ in range(2):
        phone, rng = prepared(kind(1)).phone, random.Random(7)
        home = next(app.key for app in phone.apps.values() if app.label == kind.apps[0])
        phone.launch(home)
        for step in range(150):
            wander(phone, rng, home)
            if step % 10 == 0:
                screen, saved = to_xml(phone.tree), phone.save()
                phone.load(saved)
                assert to_xml(phone.tree) == screen and phone.save() == saved
        ends.append(phone.save())
    assert ends[0] == ends[1]
