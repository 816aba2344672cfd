"""The audio recorder: recordings are files with the name that was given."""

from __future__ import annotations

import pytest
from touching import Hand

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.recorder import (
    RECORDS,
    Recorder,
    add_recording,
    recorded,
    recordings,
    set_up,
)


@pytest.fixture
def phone() -> Phone:
    phone = Phone([Launcher(), Recorder()])
    set_up(phone)
    return phone


@pytest.fixture
def hand(phone: Phone) -> Hand:
    hand = Hand(phone)
    hand.tap("Audio Recorder", "Get started", "Apply")
    return hand


def test_the_folder_is_there_from_the_start(phone: Phone):
    assert phone.files.is_directory(RECORDS) and recordings(phone) == []


def test_the_welcome_is_shown_once(phone: Phone, hand: Hand):
    assert hand.sees("Record")
    phone.launch("recorder")
    assert hand.sees("Record") and not hand.sees("Get started")


def test_a_recording_is_saved_under_a_name(phone: Phone, hand: Hand):
    hand.tap("Record")
    phone.pass_time(20)
    hand.tap("Pause")
    phone.pass_time(50)
    hand.check()
    hand.tap("Resume")
    phone.pass_time(4)
    assert recordings(phone) == []
    hand.tap("Stop")
    hand.type("Name", "meeting.m4a")
    hand.tap("Save")
    assert recordings(phone) == ["meeting.m4a.m4a"]
    assert recorded(phone, "meeting.m4a.m4a")["duration"] == 26
    assert phone.files.all() == [f"{RECORDS}/meeting.m4a.m4a"]


def test_cancel_keeps_the_name_that_was_proposed(phone: Phone, hand: Hand):
    hand.tap("Record", "Stop", "Cancel", "Record", "Stop", "Cancel")
    assert recordings(phone) == ["Record-1.m4a", "Record-2.m4a"]


@pytest.mark.parametrize(
    ("name", "words"), [("", "Name is not allowed"), ("a/b", "Name is not allowed"), ("memo", "Name is taken")]
)
def test_a_name_that_cannot_be_is_asked_for_again(phone: Phone, hand: Hand, name: str, words: str):
    add_recording(phone, "memo", 5)
    hand.tap("Record", "Stop")
    hand.type("Name", name)
    hand.tap("Save")
    assert hand.sees(words) and hand.sees("Save recording")
    assert recordings(phone) == ["memo.m4a", "Record-1.m4a"]
    hand.type("Name", "other")
    hand.tap("Save")
    assert recordings(phone) == ["memo.m4a", "other.m4a"]


def test_a_recording_is_thrown_away(phone: Phone, hand: Hand):
    hand.tap("Record", "Delete recording", "Delete")
    assert recordings(phone) == [] and hand.sees("Record")


def test_recording_goes_on_when_the_app_is_left(phone: Phone, hand: Hand):
    hand.tap("Record")
    phone.press_home()
    phone.pass_time(10)
    phone.launch("recorder")
    hand.tap("Stop", "Save")
    assert recorded(phone, "Record-1.m4a")["duration"] == 13


def test_formats_and_no_question(phone: Phone, hand: Hand):
    hand.tap("Settings", "WAV", "Ask for a name after recording")
    phone.back()
    hand.tap("Record", "Stop")
    assert recordings(phone) == ["Record-1.wav"] and hand.sees("Saved as Record-1.wav")


def test_the_list_renames_plays_and_deletes(phone: Phone, hand: Hand):
    add_recording(phone, "lecture", 65)
    add_recording(phone, "diary", 7)
    hand.tap("Records", "lecture", "Play")
    phone.pass_time(9)
    assert hand.sees("00:10 / 01:05")
    hand.tap("More options", "Rename")
    hand.type("Name", "diary")
    hand.tap("Save")
    assert hand.sees("Name is taken")
    hand.type("Name", "talk")
    hand.tap("Save")
    assert recordings(phone) == ["diary.m4a", "talk.m4a"] and hand.sees("talk")
    hand.tap("More options", "Delete", "Delete")
    assert recordings(phone) == ["diary.m4a"] and phone.top["page"] == "records"
    hand.hold("diary")
    hand.tap("Delete")
    assert recordings(phone) == [] and hand.sees("No recordings yet")


def test_files_of_others_are_listed_too(phone: Phone, hand: Hand):
    phone.files.write(f"{RECORDS}/song.m4a", "no JSON\n")
    phone.files.write(f"{RECORDS}/note.txt", "x")
    hand.tap("Records", "song")
    assert hand.sees("00:00 / 00:00") and recordings(phone) == ["song.m4a"]
