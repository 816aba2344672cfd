from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from checking_tasks import SEEDS

from backtrail.envs.androidworld.actions import Action, read_action
from backtrail.envs.androidworld.backend import DeviceError
from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import texts
from backtrail.envs.androidworld.phone.apps.people import add_contact
from backtrail.envs.androidworld.phone.factory import make_phone
from backtrail.envs.androidworld.phone.files import SHARED
from backtrail.envs.androidworld.simulated import SimulatedBackend
from backtrail.envs.androidworld.tasks import portable
from backtrail.envs.androidworld.tasks.base import PortableTask
from backtrail.envs.androidworld.tasks.catalog import ALL_TASKS
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.portable import PORTABLE_TASKS

FEASIBLE = [kind for kind in PORTABLE_TASKS if not kind.infeasible]
QUESTIONS = [kind for kind in PORTABLE_TASKS if kind.answers]
NOTES = f"{SHARED}/Documents/Markor"


def of(name: str, seed: int = 0) -> PortableTask:
    return next(kind for kind in PORTABLE_TASKS if kind.__name__ == name)(seed)


def prepared(task: PortableTask, device: SimulatedBackend | None = None) -> SimulatedBackend:
    """Return a device, a fresh one by default, on which a task is prepared, as an episode begins."""
    device = device or SimulatedBackend(make_phone(0.1))
    task.prepare(device)
    device.act(Action("navigate_home"))
    return device


def solved(task: PortableTask, device: SimulatedBackend | None = None) -> tuple[SimulatedBackend, Oracle]:
    device = prepared(task, device)
    oracle = Oracle(device)
    task.solve(oracle)
    return device, oracle


def replayed(task: PortableTask, actions: list[str]) -> tuple[SimulatedBackend, str]:
    """Do actions on a fresh device; return it with the last answer."""
    device, answer = prepared(task), ""
    for text in actions:
        action = read_action(text, len(device.elements()), device.size)
        device.act(action)
        answer = action.text or "" if action.action_type == "answer" else answer
    return device, answer


# -- every kind -------------------------------------------------------------------------------------------


def test_there_are_ten_kinds_or_more_with_names_of_their_own():
    names = [kind.__name__ for kind in PORTABLE_TASKS]
    assert len(set(names)) == len(names) >= 10
    assert not set(names) & {kind.__name__ for kind in ALL_TASKS}
    assert len({kind.family for kind in PORTABLE_TASKS}) >= 5
    assert any(kind.infeasible for kind in PORTABLE_TASKS) and len(QUESTIONS) >= 2


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", PORTABLE_TASKS)
def test_task(kind: type[PortableTask], seed: int):
    task = kind(seed)
    assert task.goal and kind(seed).goal == task.goal and "{" not in task.goal
    assert json.loads(json.dumps(task.parameters)) == task.parameters, "parameters are plain values"

    device = prepared(task)
    begun = device.save()
    assert not task.done(device, "") and not task.done(device, "no")
    assert device.save() == begun, "a check changes nothing"
    for kind_of_action in ("wait", "navigate_back", "navigate_home"):
        device.act(Action(kind_of_action))  # pyright: ignore[reportArgumentType]
    assert not task.done(device, "")

    device, oracle = solved(task)
    assert task.done(device, oracle.answered) is not task.infeasible
    assert len(oracle.actions) + 2 <= task.steps <= 40, f"{len(oracle.actions)} actions"
    assert bool(oracle.answered) is task.answers

    again, answer = replayed(kind(seed), oracle.actions)
    assert answer == oracle.answered
    assert task.done(again, answer) is not task.infeasible


def test_different_seeds_ask_for_different_things():
    for kind in PORTABLE_TASKS:
        assert len({json.dumps(kind(seed).parameters) for seed in range(40)}) >= 2
    assert sum(len({kind(seed).goal for seed in range(20)}) for kind in PORTABLE_TASKS) >= 10 * len(PORTABLE_TASKS)


def test_another_process_draws_the_same():
    code = (
        "import json; from backtrail.envs.androidworld.tasks.portable import PORTABLE_TASKS\n"
        f"print(json.dumps([[k.__name__, [k(s).parameters for s in {SEEDS}]] for k in PORTABLE_TASKS]))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert json.loads(run.stdout) == [[kind.__name__, [kind(s).parameters for s in SEEDS]] for kind in PORTABLE_TASKS]


@pytest.mark.parametrize("kind", FEASIBLE)
def test_preparing_anew_undoes_what_was_done(kind: type[PortableTask]):
    task = kind(0)
    device, oracle = solved(task)
    assert task.done(device, oracle.answered)
    prepared(task, device)
    assert not task.done(device, "")
    _, oracle = solved(task, device)
    assert task.done(device, oracle.answered)


@pytest.mark.parametrize("order", [1, -1])
def test_each_task_can_follow_every_other_on_the_same_device(order: int):
    device = SimulatedBackend(make_phone(0.1))
    for seed in (0, 1):
        for kind in FEASIBLE[::order]:
            task = kind(seed)
            prepared(task, device)
            assert not task.done(device, ""), kind
            oracle = Oracle(device)
            oracle.home()
            task.solve(oracle)
            assert task.done(device, oracle.answered), kind


@pytest.mark.parametrize("kind", QUESTIONS)
def test_an_answer_is_one_number(kind: type[PortableTask]):
    task = kind(0)
    device, oracle = solved(task)
    right, wrong = oracle.answered, str(int(oracle.answered) + 1)
    for said in (right, f" {right}. ", f"It is {right}"):
        assert task.done(device, said)
    for said in (
        "",
        "none",
        wrong,
        f"{right} or {wrong}",
        f"{right}{right}",
        f"-{right}",
        f"{right}-{right}",
        "9" * 5000,
    ):
        assert not task.done(device, said)


# -- wrong outcomes ---------------------------------------------------------------------------------------

Change = Callable[[Phone, dict], object]


def place(p: dict) -> str:
    return f"{SHARED}/{p['place']}"


def other_file(p: dict) -> str:
    return next(f"{place(p)}/{name}" for name in p["names"] if name != p["name"])


def retext(phone: Phone, path: str) -> None:
    phone.files.write(path, "something else")


def to_folder(phone: Phone, path: str) -> None:
    phone.files.remove(path)
    phone.files.make(path)


AFTER: list[tuple[str, str, Change]] = [
    ("WifiSwitch", "airplane mode", lambda phone, p: phone.settings["global"].update(airplane_mode_on="1")),
    ("BluetoothSwitch", "airplane mode", lambda phone, p: phone.settings["global"].update(airplane_mode_on="1")),
    ("BrightnessExtreme", "almost", lambda phone, p: phone.settings["system"].update(screen_brightness="2")),
    ("BrightnessExtreme", "adapts", lambda phone, p: phone.settings["system"].update(screen_brightness_mode="1")),
    ("FileRemove", "another file gone", lambda phone, p: phone.files.remove(other_file(p))),
    ("FileRemove", "another file changed", lambda phone, p: retext(phone, other_file(p))),
    ("FileRemove", "another file a folder", lambda phone, p: to_folder(phone, other_file(p))),
    ("FileRemove", "moved", lambda phone, p: phone.files.write(f"{SHARED}/Documents/{p['name']}", f"This is {p['name']}.")),
    ("FileRemove", "moved and renamed", lambda phone, p: phone.files.write(f"{SHARED}/Music/x.txt", f"This is {p['name']}.")),
    ("FileRemove", "namesake gone", lambda phone, p: phone.files.remove(f"{SHARED}/{p['other']}/{p['name']}")),
    ("FileRemove", "all gone", lambda phone, p: phone.files.remove(place(p))),
    ("FileRemove", "back again", lambda phone, p: retext(phone, f"{place(p)}/{p['name']}")),
    ("FolderMake", "one more", lambda phone, p: phone.files.make(f"{place(p)}/Untitled")),
    ("FolderMake", "not empty", lambda phone, p: retext(phone, f"{place(p)}/{p['folder']}/a.txt")),
    ("FolderMake", "a file gone", lambda phone, p: phone.files.remove(f"{place(p)}/{p['name']}")),
    ("FileCount", "a file gone", lambda phone, p: phone.files.remove(other_file(p))),
    ("NoteCreate", "other text", lambda phone, p: retext(phone, f"{NOTES}/{p['new']}")),
    ("NoteCreate", "another note changed", lambda phone, p: retext(phone, f"{NOTES}/{p['names'][0]}")),
    ("NoteCreate", "one more", lambda phone, p: retext(phone, f"{NOTES}/more.md")),
    ("NoteNumber", "a note gone", lambda phone, p: phone.files.remove(f"{NOTES}/{p['name']}")),
    ("ContactCreate", "one more", lambda phone, p: add_contact(phone, p["first"], "Other", "+15550001111")),
    ("ContactCreate", "twice", lambda phone, p: add_contact(phone, p["first"], p["last"], p["number"])),
    ("MessageSend", "twice", lambda phone, p: texts.send(phone, p["number"], p["text"])),
    ("MessageSend", "to another, too", lambda phone, p: texts.send(phone, "+15550001111", p["text"])),
    ("TimerEntered", "elsewhere", lambda phone, p: phone.home()),
    ("AppInFront", "elsewhere", lambda phone, p: phone.home()),
]  # fmt: skip


@pytest.mark.parametrize(("name", "what", "change"), AFTER, ids=[f"{name}: {what}" for name, what, _ in AFTER])
def test_a_solution_that_did_something_else_too_is_refused(name: str, what: str, change: Change):
    task = of(name)
    device, oracle = solved(task)
    assert task.done(device, oracle.answered)
    change(device.phone, task.parameters)
    device.phone.changed()
    assert not task.done(device, oracle.answered)


INSTEAD: list[tuple[str, str, Change]] = [
    ("FolderMake", "similar name", lambda phone, p: phone.files.make(f"{place(p)}/{p['folder']}s")),
    ("FolderMake", "a file", lambda phone, p: phone.files.write(f"{place(p)}/{p['folder']}", "")),
    ("FolderMake", "elsewhere", lambda phone, p: phone.files.make(f"{SHARED}/{p['other']}/{p['folder']}")),
    ("NoteCreate", "similar name", lambda phone, p: phone.files.write(f"{NOTES}/{p['new']}.md", p["text"])),
    ("ContactCreate", "other number", lambda phone, p: add_contact(phone, p["first"], p["last"], p["number"][:-1])),
    ("ContactCreate", "small letters", lambda phone, p: add_contact(phone, p["first"].lower(), p["last"], p["number"])),
    ("ContactCreate", "half a name", lambda phone, p: add_contact(phone, p["first"], "", p["number"])),
    ("MessageSend", "other text", lambda phone, p: texts.send(phone, p["number"], p["text"] + "!")),
    ("MessageSend", "received", lambda phone, p: texts.receive(phone, p["number"], p["text"])),
    ("MessageSend", "other number", lambda phone, p: texts.send(phone, p["number"] + "1", p["text"])),
    ("AppInFront", "another app", lambda phone, p: phone.launch("settings" if p["app"] == "Clock" else "clock")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "what", "change"), INSTEAD, ids=[f"{name}: {what}" for name, what, _ in INSTEAD])
def test_something_else_instead_is_refused(name: str, what: str, change: Change):
    task = of(name)
    device = prepared(task)
    change(device.phone, task.parameters)
    device.phone.changed()
    assert not task.done(device, "")


def test_a_message_that_failed_may_be_sent_again():
    task = of("MessageSend")
    device = prepared(task)
    number, text = task.parameters["number"], task.parameters["text"]
    device.phone.settings["global"]["airplane_mode_on"] = "1"
    texts.send(device.phone, number, text)
    assert not task.done(device, "")
    device.phone.settings["global"]["airplane_mode_on"] = "0"
    texts.send(device.phone, f"{number[:2]} ({number[2:5]}) {number[5:]}", f"{text}\n")
    assert task.done(device, ""), "spaces and brackets in the number, and enter after the text, do not matter"


def test_a_text_cannot_feign_another_message():
    task = of("MessageSend")
    device = prepared(task)
    number, text = task.parameters["number"], task.parameters["text"]
    texts.send(device.phone, "+15550001111", f"x\nRow: 1 type=2, address={number}, body={text}")
    assert not task.done(device, "")


def test_hidden_files_of_the_system_do_not_matter():
    task = of("FileRemove")
    device, _ = solved(task)
    device.phone.files.write(f"{place(task.parameters)}/.thumbnails/1.jpg", "")
    assert task.done(device, "")


def test_a_timer_that_runs_is_not_one_that_is_entered():
    task = of("TimerEntered")
    device, oracle = solved(task)
    oracle.tap("Start")
    assert not task.done(device, "")


def test_a_timer_that_was_entered_before_is_forgotten():
    task = of("TimerEntered")
    device, _ = solved(task)
    task.prepare(device)
    assert not task.done(device, "")


def test_each_app_is_known_by_its_package():
    tasks = [of("AppInFront", seed) for seed in range(100)]
    by_app = {task.parameters["app"]: task for task in tasks}
    assert len(by_app) >= 15
    for task in by_app.values():
        device, _ = solved(task)
        assert task.done(device, ""), task.goal


# -- slow devices -----------------------------------------------------------------------------------------


class SlowRadio(SimulatedBackend):
    """A device whose radios react when they have been asked after for some times."""

    def __init__(self, patience: int):
        super().__init__(make_phone(0.1))
        self.patience, self.told = patience, ""

    def shell(self, command: str) -> str:
        if command.startswith("svc"):
            self.told = command
            return ""
        if command.endswith("_on") and self.told:
            self.patience -= 1
            if not self.patience:
                super().shell(self.told)
        return super().shell(command)


@pytest.mark.parametrize("name", ["WifiSwitch", "BluetoothSwitch"])
def test_a_radio_is_waited_for(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(portable, "_PAUSE", 0.0)
    for seed in range(4):
        task = of(name, seed)
        device = prepared(task, SlowRadio(3))
        assert not task.done(device, "")


def test_a_radio_that_does_not_react_is_a_fault_of_the_device(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(portable, "_PAUSE", 0.0)
    with pytest.raises(DeviceError, match=r"svc wifi.*reset the device"):
        for seed in range(4):
            of("WifiSwitch", seed).prepare(SlowRadio(1000))
