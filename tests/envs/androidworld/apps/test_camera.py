"""The camera: each press of the shutter is one file."""

from __future__ import annotations

import json

import pytest
from touching import Hand

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.camera import Camera, photos, take_photo, videos
from backtrail.envs.androidworld.phone.apps.launcher import Launcher


@pytest.fixture
def phone() -> Phone:
    return Phone([Launcher(), Camera()])


@pytest.fixture
def hand(phone: Phone) -> Hand:
    hand = Hand(phone)
    hand.tap("Camera")
    return hand


def test_a_photo_is_one_file_named_by_the_phones_clock(phone: Phone, hand: Hand):
    assert phone.activity == "com.android.camera2/com.android.camera.CameraLauncher"
    hand.tap("Flash off", "Shutter")
    assert phone.files.all() == ["/storage/emulated/0/Pictures/IMG_20231015_153402.jpg"] == photos(phone)
    about = json.loads(phone.files.read(photos(phone)[0]) or "")
    assert about["type"] == "photo" and about["flash"] == "auto" and about["camera"] == "back"
    hand.tap("Switch to front camera", "Shutter")
    assert len(photos(phone)) == 2 and videos(phone) == []


def test_photos_of_one_second_have_names_of_their_own(phone: Phone):
    assert take_photo(phone) != take_photo(phone)
    assert len(photos(phone)) == 2


def test_a_video_lasts_as_long_as_it_is_recorded(phone: Phone, hand: Hand):
    hand.tap("Video", "Start recording")
    phone.pass_time(8)
    assert videos(phone) == [] and hand.sees("00:09")
    hand.check()
    hand.tap("Stop recording")
    assert phone.files.all() == videos(phone) and photos(phone) == []
    assert json.loads(phone.files.read(videos(phone)[0]) or "")["duration"] == 9


def test_leaving_ends_a_video(phone: Phone, hand: Hand):
    hand.tap("Video", "Start recording")
    phone.pass_time(4)
    phone.press_home()
    assert len(videos(phone)) == 1
    phone.pass_time(10)
    assert len(videos(phone)) == 1


def test_the_last_photo_is_shown_and_deleted(phone: Phone, hand: Hand):
    assert not hand.sees("Last photo or video")
    hand.tap("Grid lines off", "Shutter", "Last photo or video")
    assert hand.sees("Pictures/IMG_20231015_153402.jpg")
    hand.tap("Delete", "Cancel")
    assert len(photos(phone)) == 1
    hand.tap("Delete")
    hand.tap("Delete")
    assert photos(phone) == [] and phone.top["page"] == "main" and not hand.sees("Last photo or video")


def test_a_photo_that_something_else_deleted_is_not_offered(phone: Phone, hand: Hand):
    hand.tap("Shutter")
    phone.files.remove(photos(phone)[0])
    phone.changed()
    assert not hand.sees("Last photo or video")
