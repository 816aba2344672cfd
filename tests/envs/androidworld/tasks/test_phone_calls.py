"""Tasks on calls: solved by touch, and refused where something else was done."""

from __future__ import annotations

import pytest
from checking_tasks import SEEDS, prepared, solved

from backtrail.envs.androidworld.phone.apps.calls import clear_calls, hang_up, place_call
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.phone_calls import (
    PhoneCallBack,
    PhoneCallNumber,
    PhoneCallOneOfTwo,
    PhoneCallStranger,
    PhoneDeleteCalls,
)

CALLING = (PhoneCallBack, PhoneCallNumber, PhoneCallOneOfTwo)


@pytest.mark.parametrize("kind", CALLING)
def test_a_call_that_was_ended_counts_but_no_second_one(kind: type[PhoneTask]) -> None:
    task = kind(0)
    phone = solved(task).phone
    hang_up(phone)
    assert task.done(phone)
    place_call(phone, task.parameters["number"])
    assert not task.done(phone)


@pytest.mark.parametrize("kind", CALLING)
def test_another_number(kind: type[PhoneTask]) -> None:
    task = kind(0)
    phone = prepared(task).phone
    place_call(phone, task.parameters["people"][1][2])
    assert not task.done(phone)


def test_the_other_number_of_the_contact() -> None:
    task = PhoneCallOneOfTwo(0)
    phone = prepared(task).phone
    own = {task.parameters["people"][0][2], task.parameters["more"][0]}
    (other,) = own - {task.parameters["number"]}
    place_call(phone, other)
    assert not task.done(phone)


def test_the_whole_log_is_too_much() -> None:
    task = PhoneDeleteCalls(0)
    phone = prepared(task).phone
    clear_calls(phone)
    assert not task.done(phone)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_stranger_is_nowhere(seed: int) -> None:
    task = PhoneCallStranger(seed)
    oracle = solved(task)
    assert oracle.sees("No results")
    saved = oracle.phone.save()
    assert task.parameters["number"] not in saved
    place_call(oracle.phone, task.parameters["number"])
    assert not task.done(oracle.phone)
