from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image
from touching import Hand

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import gallery, storage
from backtrail.envs.androidworld.phone.apps.files import Files, set_up
from backtrail.envs.androidworld.phone.apps.gallery import Gallery
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.files import SHARED
from backtrail.envs.androidworld.phone.shell_volume import Volume

DCIM = f"{SHARED}/DCIM"
RECEIPT = "Blue Lamp\n2023-10-11, Tea, $3.10"


@pytest.fixture
def phone() -> Phone:
    phone = Phone([Launcher(), Files(), Gallery()], scale=0.25)
    set_up(phone)
    return phone


@pytest.fixture
def hand(phone: Phone) -> Hand:
    gallery.add_picture(phone, f"{DCIM}/b.jpg", at=1690000000)
    gallery.add_picture(phone, f"{DCIM}/a.jpg", at=1695000000)
    gallery.add_picture(phone, f"{DCIM}/receipt.png", RECEIPT)
    gallery.add_picture(phone, f"{SHARED}/Pictures/c.jpg")
    phone.files.write(f"{SHARED}/Movies/clip.mp4", "{}")
    phone.files.write(f"{SHARED}/Documents/text.txt", "no picture")
    hand = Hand(phone)
    hand.tap("Simple Gallery Pro")
    return hand


def tiles(hand: Hand) -> list[str]:
    return [view.description for view in hand.phone.tree.walk() if view.on_hold is not None]


def test_without_pictures() -> None:
    hand = Hand(Phone([Launcher(), Gallery()]))
    hand.tap("Simple Gallery Pro")
    assert hand.sees("No media files have been found.")


def test_folders_with_pictures(hand: Hand) -> None:
    for label in ("DCIM (3)", "Movies (1)", "Pictures (1)"):
        assert hand.sees(label)
    assert not any("Documents" in text for text in hand.texts())


def test_pictures_of_a_folder_newest_first_or_by_name(hand: Hand) -> None:
    hand.tap("DCIM")
    assert tiles(hand) == ["receipt.png", "a.jpg", "b.jpg"]
    hand.tap("More options", "Sort by", "Name")
    assert tiles(hand) == ["a.jpg", "b.jpg", "receipt.png"]


def test_a_picture_is_shown_with_its_text_and_tells_about_itself(hand: Hand) -> None:
    hand.tap("DCIM", "receipt.png")
    assert hand.phone.activity.endswith("ViewPagerActivity")
    assert hand.sees("2023-10-11, Tea, $3.10")
    hand.tap("Properties")
    assert hand.sees(DCIM) and hand.sees(RECEIPT) and hand.sees("receipt.png")


def test_pictures_look_different(hand: Hand) -> None:
    hand.tap("DCIM", "a.jpg")
    one = hand.phone.screenshot()[100:500]
    hand.back()
    hand.tap("b.jpg")
    assert np.mean(one != hand.phone.screenshot()[100:500]) > 0.3


def test_a_swipe_shows_the_next_picture_and_the_other_way_the_one_before(hand: Hand) -> None:
    hand.tap("DCIM", "receipt.png")
    hand.phone.swipe((900, 1000), (200, 1000))
    assert hand.sees("a.jpg")
    hand.phone.swipe((900, 1000), (200, 1000))
    hand.phone.swipe((900, 1000), (200, 1000))
    assert hand.sees("b.jpg")
    hand.phone.swipe((200, 1000), (900, 1000))
    assert hand.sees("a.jpg")
    hand.back()
    assert tiles(hand)


def test_copying_a_picture_to_a_folder_without_any(hand: Hand) -> None:
    hand.tap("DCIM", "receipt.png", "Copy to", "Download", "Copy here")
    assert gallery.pictures(hand.phone, "/sdcard/Download") == [f"{SHARED}/Download/receipt.png"]
    assert hand.phone.files.exists(f"{DCIM}/receipt.png") and hand.sees("2023-10-11, Tea, $3.10")


def test_moving_the_picture_that_is_shown_goes_back_to_its_folder(hand: Hand) -> None:
    hand.tap("DCIM", "a.jpg", "More options", "Move to", "Pictures", "Move here")
    assert tiles(hand) == ["receipt.png", "b.jpg"]
    assert hand.phone.files.exists(f"{SHARED}/Pictures/a.jpg")


def test_deleting_asks_first(hand: Hand) -> None:
    hand.tap("DCIM", "a.jpg", "Delete", "No")
    assert hand.phone.files.exists(f"{DCIM}/a.jpg")
    hand.tap("Delete", "Yes")
    assert tiles(hand) == ["receipt.png", "b.jpg"] and not hand.phone.files.exists(f"{DCIM}/a.jpg")


def test_several_at_once(hand: Hand) -> None:
    hand.tap("DCIM")
    hand.hold("a.jpg")
    hand.tap("b.jpg")
    assert hand.sees("2 / 3")
    hand.tap("More options", "Move to", "Pictures", "Move here")
    assert sorted(hand.phone.files.names(f"{SHARED}/Pictures")) == ["a.jpg", "b.jpg", "c.jpg"]
    hand.hold("receipt.png")
    hand.tap("More options", "Select all", "Delete", "Yes")
    assert hand.sees("No media files have been found.")


def test_renaming_keeps_the_ending(hand: Hand) -> None:
    hand.tap("DCIM", "a.jpg", "Rename")
    hand.type("name", "trip")
    hand.tap("OK")
    assert hand.sees("trip.jpg") and hand.phone.files.exists(f"{DCIM}/trip.jpg")
    hand.back()
    hand.hold("b.jpg")
    hand.tap("More options", "Rename")
    hand.type("name", "")
    hand.tap("OK")
    assert hand.sees("Rename") and hand.phone.files.exists(f"{DCIM}/b.jpg")
    hand.type("name", "trip")
    hand.tap("OK")
    assert hand.sees("An item with this name already exists")


def test_searching(hand: Hand) -> None:
    hand.tap("Search files")
    hand.type("query", "clip")
    hand.tap("clip.mp4", "Properties")
    assert hand.sees("Video")


def test_a_picture_that_was_copied_onto_the_phone_is_like_the_others_but_for_what_it_shows(hand: Hand) -> None:
    drawn = io.BytesIO()
    Image.new("RGB", (30, 40), (0, 128, 0)).save(drawn, "PNG")
    Volume(hand.phone).write(f"{DCIM}/green.png", drawn.getvalue())
    hand.phone.changed()
    hand.tap("DCIM")
    assert tiles(hand) == ["green.png", "receipt.png", "a.jpg", "b.jpg"]
    hand.tap("green.png")
    assert tuple(hand.phone.screenshot()[300, 135]) == (0, 128, 0)
    hand.tap("Copy to", "Download", "Copy here")
    assert Volume(hand.phone).read("/sdcard/Download/green.png") == drawn.getvalue()
    hand.tap("Properties")
    assert hand.sees("Image") and hand.sees(f"{len(drawn.getvalue())} B")
    hand.back()
    hand.phone.swipe((900, 1000), (200, 1000))
    assert hand.sees("2023-10-11, Tea, $3.10")


def test_files_that_are_no_descriptions_do_no_harm(phone: Phone) -> None:
    for number, content in enumerate(("", "{", "[1]", '"x"', '{"text": 3}')):
        phone.files.write(f"{DCIM}/{number}.jpg", content)
        assert storage.picture(phone, f"{DCIM}/{number}.jpg") in ({}, {"text": 3})
    hand = Hand(phone)
    hand.tap("Simple Gallery Pro", "DCIM", "4.jpg", "Properties")
    assert not hand.sees("Text in the picture")
