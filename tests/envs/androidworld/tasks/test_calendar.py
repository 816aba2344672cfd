from __future__ import annotations

import pytest
from checking_tasks import prepared, solved, task_of

from backtrail.envs.androidworld.phone.apps import events
from backtrail.envs.androidworld.tasks import calendar
from backtrail.envs.androidworld.tasks.base import PhoneTask


@pytest.mark.parametrize("kind", calendar.TASKS)
def test_all_other_events_must_stay_as_they_are(kind: type[PhoneTask]):
    task = kind(0)
    for harm in ("lost", "changed", "added"):
        phone = solved(task).phone
        row = events.events(phone)[-1]
        if harm == "lost":
            events.delete_event(phone, row["id"])
        elif harm == "changed":
            events.change_event(phone, row["id"], start_ts=row["start_ts"] + 60)
        else:
            events.add_event(phone, "One more", row["start_ts"], row["end_ts"])
        assert not task.done(phone), harm


def test_the_event_of_the_same_title_on_another_day_is_not_the_one():
    task = task_of("DeleteEvent")
    phone = prepared(task).phone
    events.delete_event(phone, events.events(phone)[1]["id"])
    assert not task.done(phone)


@pytest.mark.parametrize(
    "changes", [{"location": "Elsewhere"}, {"repeat_interval": events.DAY}, {"flags": events.ALL_DAY}]
)
def test_an_event_has_to_be_as_it_was_told(changes: dict[str, object]):
    task = task_of("AddEvent")
    phone = solved(task).phone
    new = next(row for row in events.events(phone) if row["title"] == task.parameters["title"] and row["id"])
    events.change_event(phone, events.events(phone)[-1]["id"], **changes)
    assert new and not task.done(phone)


def test_a_moved_event_keeps_its_length():
    task = task_of("MoveEventTime")
    phone = solved(task).phone
    row = events.events(phone)[0]
    events.change_event(phone, row["id"], end_ts=row["end_ts"] + 900)
    assert not task.done(phone)


@pytest.mark.parametrize("changes", [{"repeat_limit": 1800000000}, {"repeat_rule": 127}, {"repeat_interval": 0}])
def test_a_repeated_event_goes_on_for_ever(changes: dict[str, object]):
    task = task_of("AddRepeatedEvent")
    phone = solved(task).phone
    events.change_event(phone, events.events(phone)[-1]["id"], **changes)
    assert not task.done(phone)


@pytest.mark.parametrize(("said", "fine"), [("{}", True), ("At {}.", True), ("{} or 07:00", False), ("noon", False)])
def test_answer_with_a_time(said: str, fine: bool):
    task = task_of("WhenIsEvent")
    phone = prepared(task).phone
    minutes = task.parameters["events"][0][2]
    phone.state["answer"] = said.format(f"{minutes // 60:02d}:{minutes % 60:02d}")
    assert task.done(phone) is fine


def test_answer_with_a_title():
    task = task_of("FirstEvent")
    phone = prepared(task).phone
    day = [row for row in task.parameters["events"] if row[1] == task.parameters["date"]]
    for place, (title, *_) in enumerate(sorted(day, key=lambda row: row[2])):
        phone.state["answer"] = f' "{title}". '
        assert task.done(phone) is (place == 0)
