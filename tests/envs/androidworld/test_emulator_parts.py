"""The parts of the emulator's device that can be looked at without one."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import gymnasium as gym
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backtrail.envs.androidworld.accessibility import elements_of_forest, elements_of_xml
from backtrail.envs.androidworld.adb import find_adb
from backtrail.envs.androidworld.backend import DeviceError, Element
from backtrail.envs.androidworld.controller import extra
from backtrail.envs.androidworld.doctor import doctor
from backtrail.envs.androidworld.hands import typed_lines
from backtrail.envs.androidworld.launch import find_emulator, free_console_port

XML = """<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>
<hierarchy rotation="0"><node index="0" text="" class="android.widget.FrameLayout" package="a.b" bounds="[0,0][100,200]">
<node text="On &amp; off" resource-id="a.b:id/toggle" class="android.widget.Switch" package="a.b" content-desc="Wi-Fi"
 checkable="true" checked="true" clickable="true" enabled="true" focused="false" long-clickable="true" scrollable="false"
 selected="false" password="false" bounds="[10,-5][90,40]" /></node></hierarchy>"""


def node(**fields: object) -> SimpleNamespace:
    flags = "checked checkable clickable editable enabled focused long_clickable scrollable selected password"
    texts = "class_name text content_description view_id_resource_name package_name hint_text"
    known = {f"is_{flag}": False for flag in flags.split()} | dict.fromkeys(texts.split(), "")
    box = SimpleNamespace(left=0, top=0, right=9, bottom=9)
    return SimpleNamespace(**(known | {"child_ids": [], "is_visible_to_user": True, "bounds_in_screen": box} | fields))


def forest(*nodes: SimpleNamespace) -> SimpleNamespace:
    return SimpleNamespace(windows=[SimpleNamespace(tree=SimpleNamespace(nodes=list(nodes)))])


def test_a_dump_gives_every_node_in_order():
    frame, switch = elements_of_xml(XML)
    assert (frame.class_name, frame.bounds) == ("android.widget.FrameLayout", (0, 0, 100, 200))
    assert switch == Element(
        "android.widget.Switch",
        text="On & off",
        description="Wi-Fi",
        resource_id="a.b:id/toggle",
        package="a.b",
        bounds=(10, -5, 90, 40),
        checked=True,
        checkable=True,
        clickable=True,
        long_clickable=True,
    )
    assert switch.center == (50, 17)


@pytest.mark.parametrize("text", ["", "ERROR: could not get idle state.", XML[:200]])
def test_what_is_no_dump_is_a_fault_of_the_device(text: str):
    with pytest.raises(DeviceError, match="Expected the XML of a uiautomator dump"):
        elements_of_xml(text)


def test_a_forest_gives_visible_leaves_and_described_or_scrollable_nodes():
    found = elements_of_forest(
        forest(
            node(class_name="frame", child_ids=[1]),
            node(class_name="described", child_ids=[1], content_description="x"),
            node(class_name="list", child_ids=[1], is_scrollable=True),
            node(class_name="leaf", text="t"),
            node(class_name="hidden", is_visible_to_user=False),
        )
    )
    assert [element.class_name for element in found] == ["described", "list", "leaf"]


@example("100%s %%ss")
@given(st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.just("\n")))
def test_ascii_is_typed_as_it_is(text: str):
    lines, dropped = typed_lines(text)
    assert dropped == ""
    for line, pieces in zip(text.split("\n"), lines, strict=True):
        assert "".join(piece.replace("%s", " ") for piece in pieces) == line
        assert all(piece and (" " not in piece) for piece in pieces)


@given(st.text())
def test_everything_is_either_typed_or_reported(text: str):
    lines, dropped = typed_lines(text)
    typed = "".join(piece for pieces in lines for piece in pieces)
    assert typed.isascii()
    assert not any(" " <= c <= "~" for c in dropped)


def test_accents_are_taken_off():
    assert typed_lines("Café 世\tx") == ([["Cafe", "%s", "x"]], "世\t")


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "grpc", None)
    with pytest.raises(gym.error.DependencyNotInstalled, match=r"backtrail\[android\]"):
        extra("grpc")


def test_tools_are_looked_for_in_the_sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tool = tmp_path / "emulator" / "emulator"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("ANDROID_HOME", str(tmp_path))
    assert find_emulator() == str(tool)
    for find in (find_emulator, find_adb):
        with pytest.raises(FileNotFoundError, match="Expected"):
            find(tmp_path / "nothing")


def test_ports_for_emulators_are_even_and_in_their_range():
    port = free_console_port()
    assert port % 2 == 0
    assert 5554 <= port <= 5680


def test_doctor_looks_at_everything_and_says_what_to_do():
    found = {finding.name: finding for finding in doctor()}
    assert {"android_env", "android_world", "adb", "emulator", "kvm", "ffmpeg"} <= found.keys()
    assert all(finding.detail for finding in found.values())
    if found["android_world"].status == "missing":
        assert "--no-deps" in found["android_world"].detail


def test_doctor_names_the_owner_of_a_port():
    import socket

    from backtrail.envs.androidworld.doctor import _listeners, _owner

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        sockets = _listeners(listener.getsockname()[1])
        if sockets:  # Linux
            assert "python" in _owner(sockets).lower()
