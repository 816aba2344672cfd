"""Tasks on pages of the web: solved by touch, and refused where something else was done."""

from __future__ import annotations

import re
from math import prod

import pytest
from checking_tasks import SEEDS, prepared, solved

from backtrail.envs.androidworld.actions import read_action
from backtrail.envs.androidworld.tasks.browser import (
    BrowserBook,
    BrowserForm,
    BrowserMaze,
    BrowserProduct,
    BrowserTimetable,
)
from backtrail.envs.androidworld.tasks.oracle import Oracle


def test_the_second_hotel_is_one_too_many() -> None:
    task = BrowserBook(0)
    oracle = solved(task)
    other = next(
        block["text"]
        for block in task.parameters["blocks"]
        if block["kind"] == "button" and task.parameters["hotel"] not in block["text"]
    )
    oracle.tap(other)
    assert not task.done(oracle.phone)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cheaper_hotel_lacks_what_is_wished_for(seed: int) -> None:
    p = BrowserBook(seed).parameters
    offers = [block["text"] for block in p["blocks"] if block["kind"] == "text"]
    price = {text.split(":")[0]: int(text.split(": ")[1].split()[0]) for text in offers}
    good = [text.split(":")[0] for text in offers if p["wish"] in text]
    assert min(good, key=price.__getitem__) == p["hotel"] and min(price.values()) < price[p["hotel"]]


def test_a_wrong_value_and_a_form_sent_twice() -> None:
    task = BrowserForm(0)
    oracle = solved(task)
    oracle.tap("Sign up")
    assert not task.done(oracle.phone)
    wrong = BrowserForm(0)
    name = next(iter(wrong.parameters["values"]))
    wrong.parameters["values"][name] += "x"
    assert not task.done(solved(wrong).phone)


def test_a_form_that_lacks_something_is_not_sent() -> None:
    task = BrowserForm(0)
    short = BrowserForm(0)
    short.parameters["values"].popitem()
    oracle = solved(short)
    assert any(e.text.startswith("Please fill out this field") for e in oracle.backend.elements())
    assert not task.done(oracle.phone)


def test_half_of_the_maze_and_a_wrong_product() -> None:
    task = BrowserMaze(0)
    backend = prepared(task)
    for text in solved(task).actions[:-1]:
        backend.act(read_action(text, len(backend.elements()), backend.size))
    assert not task.done(backend.phone)
    task = BrowserProduct(0)
    oracle = solved(task)
    backend = prepared(task)
    for text in oracle.actions[:-1]:
        backend.act(read_action(text, len(backend.elements()), backend.size))
    hand = Oracle(backend)
    hand.type("Enter the product", "1")
    assert not task.done(backend.phone)
    hand.type("Enter the product", str(prod(task.parameters["blocks"][0]["numbers"])))
    assert task.done(backend.phone)


def test_the_time_is_that_of_the_first_boat() -> None:
    for seed in SEEDS:
        task = BrowserTimetable(seed)
        phone = prepared(task).phone
        times = sorted(re.findall(r"\d\d:\d\d", task.parameters["line"]))
        for time in times:
            phone.state["answer"] = time
            assert task.done(phone) is (time == times[0])
