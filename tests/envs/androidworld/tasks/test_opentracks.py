"""Tasks on sports activities: solved by touch, and refused where something else was done."""

from __future__ import annotations

from datetime import timedelta

import pytest
from checking_tasks import SEEDS, prepared, solved

from backtrail.envs.androidworld.phone.apps import opentracks_data as data
from backtrail.envs.androidworld.tasks import opentracks as family
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.opentracks import SportsCorrect, SportsDelete, SportsRecord, SportsTimeOfWeek


@pytest.mark.parametrize("kind", family.TASKS)
def test_nothing_else_may_change(kind: type[PhoneTask]) -> None:
    task = kind(1)
    phone = solved(task).phone
    saved, number = phone.save(), data.tracks(phone)[-1]["_id"]
    for change in (
        lambda: data.add_track(phone, "Stroll", "walking", phone.now, 60),
        lambda: data.delete_tracks(phone, [number]),
        lambda: data.change_track(phone, number, "Stroll", "walking", ""),
        lambda: data.run_recording(phone),
    ):
        phone.load(saved)
        assert task.done(phone)
        change()
        assert not task.done(phone)


def test_an_activity_whose_name_goes_on() -> None:
    task = SportsDelete(0)
    phone = prepared(task).phone
    longer = next(row for row in data.tracks(phone) if row["name"].startswith(f"{task.parameters['name']} "))
    data.delete_tracks(phone, [longer["_id"]])
    assert not task.done(phone)


@pytest.mark.parametrize("wrong", ["kind", "note"])
def test_both_the_type_and_the_note_count(wrong: str) -> None:
    task = SportsCorrect(0)
    wanted = task.parameters
    phone = prepared(task).phone
    number = next(row["_id"] for row in data.tracks(phone) if row["name"] == wanted["name"])
    kind, note = (wanted["one"][name] if name == wrong else wanted[name] for name in ("kind", "note"))
    data.change_track(phone, number, wanted["name"], kind, note)
    assert not task.done(phone)
    data.change_track(phone, number, wanted["name"], wanted["kind"], wanted["note"])
    assert task.done(phone)


@pytest.mark.parametrize(
    ("seconds", "pause", "kind", "note", "done"),
    [(0, 1, "", "", True), (5, 9, "", "", True), (-1, 1, "", "", False), (0, 0, "", "", False),
     (0, 1, "chess", "", False), (0, 1, "", "Fine", False)],
)  # fmt: skip
def test_a_recording_is_long_enough_and_was_paused(seconds: int, pause: int, kind: str, note: str, done: bool) -> None:
    task = SportsRecord(0)
    phone = prepared(task).phone
    data.run_recording(phone)
    phone.pass_time(task.parameters["seconds"] + seconds)
    data.pause_recording(phone)
    phone.pass_time(pause)
    data.stop_recording(phone)
    assert not task.done(phone)
    data.save_recording(phone, task.parameters["name"], kind or task.parameters["kind"], note)
    assert task.done(phone) is done


@pytest.mark.parametrize("seed", SEEDS)
def test_only_the_type_and_only_this_week(seed: int) -> None:
    task = SportsTimeOfWeek(seed)
    phone = prepared(task).phone
    kind, minutes = task.parameters["kind"], task.parameters["minutes"]
    monday = phone.now.date() - timedelta(days=6)
    rows = [(row["category"], data.start_of(row).date(), row["totaltime"] // 60_000) for row in data.tracks(phone)]
    assert sum(long for each, day, long in rows if each == kind and day >= monday) == minutes
    for wrong in (sum(r[2] for r in rows if r[0] == kind), sum(r[2] for r in rows if r[1] >= monday)):
        assert wrong > minutes, "there is something that may confuse"
        phone.state["answer"] = str(wrong)
        assert not task.done(phone)
    phone.state["answer"] = f"{minutes} minutes"
    assert task.done(phone)
