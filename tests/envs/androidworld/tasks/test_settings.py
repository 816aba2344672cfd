from __future__ import annotations

import pytest
from checking_tasks import prepared, solved, task_of

from backtrail.envs.androidworld.phone.apps import settings_values
from backtrail.envs.androidworld.tasks import settings
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle


@pytest.mark.parametrize("kind", [kind for kind in settings.TASKS if not kind.infeasible])
def test_another_setting_must_not_change(kind: type[PhoneTask]):
    task = kind(0)
    phone = solved(task).phone
    settings_values.put(phone, "speak_password", "1")
    assert not task.done(phone)


def test_brightness_has_to_be_near():
    task = task_of("SetBrightness")
    phone = prepared(task).phone
    for off, fine in ((0, True), (3, True), (-3, True), (5, False), (-5, False)):
        settings_values.set_brightness(phone, 1 + round(2.54 * (task.parameters["percent"] + off)))
        assert task.done(phone) is fine


def test_the_guest_network_is_another_one():
    task = task_of("JoinNetwork")
    phone = prepared(task).phone
    settings_values.connect(phone, task.parameters["others"][0])
    assert not task.done(phone)
    settings_values.connect(phone, task.parameters["ssid"])
    assert not task.done(phone), "a network is known that should not be"


def test_a_second_device_is_one_too_many():
    task = task_of("PairDevice")
    phone = prepared(task).phone
    settings_values.pair(phone, task.parameters["name"])
    assert task.done(phone)
    settings_values.pair(phone, next(name for name in task.parameters["order"] if name != task.parameters["name"]))
    assert not task.done(phone)


def test_what_is_missing_is_nowhere_in_the_settings():
    words = (
        "nfc",
        "hotspot",
        "satellite",
        "fingerprint",
        "face",
        "always-on",
        "refresh",
        "saver",
        "wireless",
        "spatial",
    )
    backend = prepared(task_of("UseMissingFeature"))
    oracle = Oracle(backend)
    oracle.open("Settings")
    titles = [e.text for e in backend.elements() if e.resource_id == "android:id/title"][1:]
    oracle.tap("System")
    assert len(titles) > 8
    for title in dict.fromkeys([*titles, "Security", "Privacy", "System"]):
        oracle.open("Settings")
        oracle.tap(title)
        seen = [e.text.lower() for e in backend.elements()]
        oracle.do("swipe", direction="up")
        seen += [e.text.lower() for e in backend.elements()]
        found = [text for text in seen for word in words if word in text]
        assert set(found) <= {"battery saver", "wireless keyboard", "interface"}, f"{title} has {found}"
