"""The clock: alarms, cities, timers and the stopwatch by touch; they follow the phone's own time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from touching import Hand

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.clock import Clock
from backtrail.envs.androidworld.phone.apps.clock_data import (
    add_alarm,
    add_timer,
    alarms,
    cities,
    remaining,
    stopwatch_seconds,
    timers,
)
from backtrail.envs.androidworld.phone.apps.clock_timers import span
from backtrail.envs.androidworld.phone.apps.launcher import Launcher

DAY = 86400


def new_phone() -> Phone:
    phone = Phone([Launcher(), Clock()])
    phone.settings["system"]["time_12_24"] = "24"
    return phone


@pytest.fixture
def phone() -> Phone:
    return new_phone()


@pytest.fixture
def hand(phone: Phone) -> Hand:
    phone.launch("clock")
    return Hand(phone)


def described(phone: Phone) -> list[str]:
    return [view.description for view in phone.tree.walk() if view.description]


def test_it_is_the_real_activity(phone: Phone, hand: Hand):
    assert phone.activity == "com.google.android.deskclock/com.android.deskclock.DeskClock"


def test_an_alarm_is_added_by_hour_and_minute(phone: Phone, hand: Hand):
    hand.tap("Alarm", "Add alarm", "6 hours")
    hand.tap("45 minutes", "OK")
    new = [row for row in alarms(phone) if row["enabled"]]
    assert [(row["hour"], row["minutes"], row["daysofweek"]) for row in new] == [(6, 45, 0)]
    assert hand.sees("06:45") and hand.sees("Tomorrow")


def test_twelve_hours_have_halves(phone: Phone, hand: Hand):
    del phone.settings["system"]["time_12_24"]
    hand.tap("Alarm", "Add alarm", "12 hours", "5 minutes", "AM", "OK")
    hand.tap("Add alarm", "12 hours", "5 minutes", "PM", "OK")
    assert [(row["hour"], row["minutes"]) for row in alarms(phone) if row["enabled"]] == [(0, 5), (12, 5)]
    assert hand.sees("12:05 AM") and hand.sees("12:05 PM")


def test_cancel_adds_no_alarm(phone: Phone, hand: Hand):
    before = alarms(phone)
    hand.tap("Alarm", "Add alarm", "6 hours", "Cancel")
    assert alarms(phone) == before


def test_an_alarm_is_changed(phone: Phone, hand: Hand):
    hand.tap("Alarm", "08:30", "Friday", "Saturday", "Vibrate", "Add label")
    hand.type("Label", "Swim")
    hand.tap("OK", "08:30", "7 hours", "15 minutes", "OK")
    row = next(row for row in alarms(phone) if row["_id"] == 1)
    assert (row["hour"], row["minutes"], row["enabled"], row["vibrate"], row["label"]) == (7, 15, 1, 0, "Swim")
    assert row["daysofweek"] == 0b0101111 and hand.sees("Mon, Tue, Wed, Thu, Sat")
    hand.tap("07:15 alarm")
    first = alarms(phone)[0]
    assert (first["_id"], first["enabled"]) == (1, 0)


def test_deleting_all_alarms_leaves_a_word(phone: Phone, hand: Hand):
    hand.tap("Alarm", "08:30", "Delete", "09:00", "Delete")
    assert alarms(phone) == [] and hand.sees("No Alarms")


def test_an_alarm_rings_once_and_is_off(phone: Phone, hand: Hand):
    add_alarm(phone, 15, 40, label="Tea")
    phone.pass_time(6 * 60)
    assert hand.sees("Tea") and hand.sees("Snooze")
    hand.check()
    hand.tap("Stop")
    assert phone.top["page"] == "main" and not any(row["enabled"] for row in alarms(phone))


def test_a_snoozed_alarm_comes_back(phone: Phone, hand: Hand):
    add_alarm(phone, 15, 40)
    phone.pass_time(6 * 60)
    hand.tap("Snooze")
    phone.pass_time(590)
    assert not hand.sees("Snooze")
    phone.pass_time(20)
    assert hand.sees("Snooze")


@given(hour=st.integers(0, 23), minute=st.integers(0, 59), days=st.integers(1, 127))
def test_a_repeated_alarm_rings_on_its_days_alone(hour: int, minute: int, days: int):
    phone = new_phone()
    phone.pass_time(1)
    add_alarm(phone, hour, minute, days)
    rung = []
    for _ in range(7 * 24):
        phone.pass_time(3600)
        if phone.top["page"] == "ring":
            now = phone.state["now"]
            due = now - (now - hour * 3600 - minute * 60) % DAY
            rung.append(datetime.fromtimestamp(due, UTC).weekday())
            phone.close()
    assert sorted(rung) == [place for place in range(7) if days >> place & 1]


def test_an_alarm_that_is_off_is_silent(phone: Phone):
    add_alarm(phone, 15, 40, enabled=False)
    phone.pass_time(3600)
    assert phone.top["page"] == "main"


def test_cities_show_their_time(phone: Phone, hand: Hand):
    hand.tap("Add city")
    hand.type("Search for a city", "tok")
    assert not hand.sees("Paris")
    hand.tap("Tokyo")
    assert cities(phone) == ["Tokyo"] and hand.sees("00:34") and hand.sees("Tomorrow, 9 hr ahead")
    hand.tap("Add city", "New York", "Add city", "Tokyo")
    assert cities(phone) == ["Tokyo", "New York"] and hand.sees("11:34")
    hand.hold("Tokyo")
    hand.tap("Remove")
    assert cities(phone) == ["New York"]
    hand.tap("Add city")
    hand.type("Search for a city", "zz")
    assert hand.sees("No city found")


def test_a_timer_is_typed_but_not_started(phone: Phone, hand: Hand):
    hand.tap("Timer")
    assert not hand.sees("Start")
    hand.tap("1", "1", "5", "3", "0")
    assert hand.sees("01h 15m 30s") and "1 hours, 15 minutes, 30 seconds" in described(phone)
    assert timers(phone) == []
    hand.tap("Backspace")
    assert hand.sees("00h 11m 53s")
    hand.tap("00")
    assert hand.sees("11h 53m 00s")
    hand.tap("9")
    assert hand.sees("11h 53m 00s")


def test_a_timer_runs_pauses_and_resets(phone: Phone, hand: Hand):
    hand.tap("Timer", "2", "00", "Start")
    row = timers(phone)[0]
    assert row["length"] == 120 and row["state"] == "running"
    phone.pass_time(30)
    left = remaining(phone, row)
    assert left == 120 - 31
    hand.tap("Pause")
    phone.pass_time(100)
    assert remaining(phone, timers(phone)[0]) == left and hand.sees(span(left))
    hand.tap("Add 1 minute")
    assert remaining(phone, timers(phone)[0]) == left + 60
    hand.tap("Reset")
    assert remaining(phone, timers(phone)[0]) == max(120, left + 60)
    hand.tap("Delete")
    assert timers(phone) == [] and hand.sees("00h 00m 00s")


def test_a_timer_rings_and_goes_on_below_zero(phone: Phone, hand: Hand):
    add_timer(phone, 60)
    hand.tap("Timer")
    phone.pass_time(57)
    assert timers(phone)[0]["state"] == "running"
    phone.pass_time(3)
    assert timers(phone)[0]["state"] == "expired" and hand.sees("Time's up: 01:00")
    phone.pass_time(10)
    assert hand.sees(span(remaining(phone, timers(phone)[0]))) and remaining(phone, timers(phone)[0]) < 0
    hand.check()
    hand.tap("Stop")
    assert timers(phone)[0]["state"] == "reset"


def test_more_timers_and_names(phone: Phone, hand: Hand):
    hand.tap("Timer", "5", "00", "Start", "Add timer", "Cancel", "Add timer", "3", "0", "Start")
    assert [row["length"] for row in timers(phone)] == [300, 30]
    hand.tap("05:00 timer")
    hand.type("Label", "Eggs")
    hand.tap("OK")
    assert [row["label"] for row in timers(phone)] == ["Eggs", ""]


def test_the_stopwatch_runs_on_the_phones_time(phone: Phone, hand: Hand):
    hand.tap("Stopwatch")
    texts = [view.text for view in phone.tree.walk()]
    assert texts.count("Stopwatch") == 2 and "Start" in described(phone)
    hand.tap("Start")
    assert {"Pause", "Lap"} <= set(described(phone))
    phone.pass_time(70)
    hand.tap("Lap")
    phone.press_home()
    phone.pass_time(10)
    phone.launch("clock")
    hand.tap("Pause")
    kept = stopwatch_seconds(phone)
    assert kept == 84 and hand.sees("01:24.00") and hand.sees("# 1    01:11.00")
    phone.pass_time(5)
    assert stopwatch_seconds(phone) == kept
    hand.tap("Reset")
    assert stopwatch_seconds(phone) == 0 and "Reset" not in described(phone)


def test_a_daily_alarm_rings_once_a_day_even_on_the_second(phone: Phone):
    add_alarm(phone, 15, 40, days=127)
    phone.pass_time(6 * 60)
    assert phone.top["page"] == "ring" and phone.now.second == 0
    phone.close()
    phone.pass_time(30)
    assert phone.top["page"] == "main"
    phone.pass_time(DAY)
    assert phone.top["page"] == "ring"
