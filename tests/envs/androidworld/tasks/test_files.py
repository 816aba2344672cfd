from __future__ import annotations

import pytest
from checking_tasks import SEEDS, prepared, solved, task_of

from backtrail.envs.androidworld.phone.files import SHARED
from backtrail.envs.androidworld.tasks import files
from backtrail.envs.androidworld.tasks.base import PhoneTask


@pytest.mark.parametrize("kind", files.TASKS)
def test_other_files_and_folders_must_stay(kind: type[PhoneTask]):
    task = kind(0)
    place = f"{SHARED}/{task.parameters['place']}"
    phone = solved(task).phone
    phone.files.remove(f"{place}/{task.parameters['names'][-1]}")
    assert not task.done(phone)
    phone = solved(task).phone
    phone.files.remove(f"{SHARED}/Alarms")
    assert not task.done(phone)
    phone = solved(task).phone
    phone.files.make(f"{place}/Untitled")
    assert not task.done(phone)


def test_the_file_of_the_same_name_elsewhere_is_not_the_one():
    task = task_of("DeleteFile")
    phone = prepared(task).phone
    phone.files.remove(f"{SHARED}/{task.parameters['other']}/{task.parameters['name']}")
    assert not task.done(phone)


def test_a_copy_is_not_a_move_and_a_move_no_copy():
    for first, second in (("MoveFile", "CopyFile"), ("CopyFile", "MoveFile")):
        for seed in SEEDS:
            task = task_of(first, seed)
            phone = solved(task).phone
            other = task_of(second, seed)
            other.parameters = task.parameters
            assert not other.done(phone)


def test_a_similar_name_is_not_the_name():
    task = task_of("MakeFolder")
    phone = prepared(task).phone
    phone.files.make(f"{SHARED}/{task.parameters['place']}/{task.parameters['folder']}s")
    assert not task.done(phone)


@pytest.mark.parametrize(("said", "fine"), [("{}", True), (" {}. ", True), ("not {}", False), ("", False)])
def test_answer(said: str, fine: bool):
    task = task_of("FindFile")
    phone = prepared(task).phone
    phone.state["answer"] = said.format(task.parameters["place"])
    assert task.done(phone) is fine
    phone.state["answer"] = task.parameters["other"]
    assert not task.done(phone)
