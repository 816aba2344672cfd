from __future__ import annotations

import pytest
from checking_tasks import prepared, solved, task_of

from backtrail.envs.androidworld.phone.apps.notes import add_note, note, notes, remove_note
from backtrail.envs.androidworld.tasks import notes as family
from backtrail.envs.androidworld.tasks.base import PhoneTask


@pytest.mark.parametrize("kind", family.TASKS)
def test_all_other_notes_must_stay_as_they_are(kind: type[PhoneTask]):
    task = kind(0)
    for harm in ("lost", "changed", "added"):
        phone = solved(task).phone
        other = notes(phone)[-1]
        if harm == "lost":
            remove_note(phone, other)
        else:
            text = note(phone, other) or ""
            add_note(phone, other if harm == "changed" else "one more.md", f"{text} and more")
        assert not task.done(phone), harm


def test_a_name_that_is_much_alike_is_another_note():
    task = task_of("DeleteNote")
    phone = prepared(task).phone
    remove_note(phone, task.parameters["names"][1])
    assert not task.done(phone)


def test_the_order_of_merged_notes_counts():
    task = task_of("MergeNotes")
    phone = prepared(task).phone
    first, second = (note(phone, task.parameters[name]) for name in ("first", "second"))
    for text, fine in (
        (f"{first}\n\n{second}\n", True),
        (f"{second}\n\n{first}", False),
        (f"{first}\n{second}", False),
    ):
        add_note(phone, task.parameters["new"], text)
        assert task.done(phone) is fine


@pytest.mark.parametrize("end", ["beginning", "end"])
def test_the_place_of_a_line_counts(end: str):
    task = next(t for seed in range(40) if (t := task_of("AddLine", seed)).parameters["end"] == end)
    phone = prepared(task).phone
    name, line = task.parameters["name"], task.parameters["line"]
    text = note(phone, name)
    for changed, place in ((f"{line}\n{text}", "beginning"), (f"{text}\n{line}\n", "end")):
        add_note(phone, name, changed)
        assert task.done(phone) is (place == end)


@pytest.mark.parametrize(("said", "fine"), [("{}", True), ("It is {}.", True), ("1{}", False), ("many", False)])
def test_answer(said: str, fine: bool):
    task = task_of("CountOpenEntries")
    phone = prepared(task).phone
    phone.state["answer"] = said.format(task.parameters["count"])
    assert task.done(phone) is fine
