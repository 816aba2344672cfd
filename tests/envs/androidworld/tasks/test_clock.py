from __future__ import annotations

from typing import Any

import pytest
from checking_tasks import prepared, solved, task_of

from backtrail.envs.androidworld.phone.apps import clock_data


@pytest.mark.parametrize("name", ["SetAlarm", "RepeatAlarm", "DeleteAlarm", "MoveAlarm", "SwitchAlarm"])
def test_one_alarm_too_many_or_too_few_is_refused(name: str):
    task = task_of(name)
    phone = solved(task).phone
    row = clock_data.alarms(phone)[0]
    number = clock_data.add_alarm(phone, 3, 3)
    assert not task.done(phone)
    rows = phone.data("clock")["alarm_templates"]
    rows[:] = [each for each in rows if each["_id"] != number]
    assert task.done(phone)
    rows.remove(row)
    assert not task.done(phone)


def test_an_alarm_that_is_off_or_repeats_is_not_the_one():
    task = task_of("SetAlarm")
    hour, minute = task.parameters["times"][0]
    wrong: list[dict[str, Any]] = [{"enabled": False}, {"days": 3}, {"label": "Other"}]
    for changes in wrong:
        phone = prepared(task).phone
        clock_data.add_alarm(phone, hour, minute, **changes)
        assert not task.done(phone)


def test_a_timer_has_to_run_and_to_have_its_length():
    task = task_of("StartTimer")
    seconds = sum(task.parameters[unit] * size for unit, size in (("hours", 3600), ("minutes", 60), ("seconds", 1)))
    for length, start, fine in ((seconds, True, True), (seconds, False, False), (seconds + 60, True, False)):
        phone = prepared(task).phone
        clock_data.add_timer(phone, length, start)
        assert task.done(phone) is fine


@pytest.mark.parametrize(
    ("laps", "running", "fine"), [(0, False, True), (1, False, False), (-1, False, False), (0, True, False)]
)
def test_laps_are_counted_and_the_stopwatch_pauses(laps: int, running: bool, fine: bool):
    task = next(t for seed in range(40) if (t := task_of("UseStopwatch", seed)).parameters["what"] == "laps")
    phone = prepared(task).phone
    clock_data.run_stopwatch(phone)
    for _ in range(task.parameters["laps"] + laps):
        clock_data.lap_stopwatch(phone)
    clock_data.run_stopwatch(phone, running)
    assert task.done(phone) is fine


@pytest.mark.parametrize("what", ["run", "pause"])
def test_a_stopwatch_that_was_reset_first_is_refused(what: str):
    task = next(t for seed in range(40) if (t := task_of("UseStopwatch", seed)).parameters["what"] == what)
    phone = prepared(task).phone
    clock_data.reset_stopwatch(phone)
    clock_data.run_stopwatch(phone, what == "run")
    assert not task.done(phone)


@pytest.mark.parametrize("seed", range(8))
def test_lengths_are_said_as_people_say_them(seed: int):
    said = task_of("StartTimer", seed).goal
    assert " 0 " not in said and " 1 minutes" not in said and " 1 hours" not in said


def test_a_second_city_is_one_too_many():
    task = task_of("AddWorldClock")
    phone = solved(task).phone
    clock_data.add_city(phone, next(c for c in clock_data.CITIES if c not in clock_data.cities(phone)))
    assert not task.done(phone)
