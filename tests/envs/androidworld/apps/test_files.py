from __future__ import annotations

import pytest
from touching import Hand

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.app import App
from backtrail.envs.androidworld.phone.apps import browse, files, storage
from backtrail.envs.androidworld.phone.apps.files import STORAGE, Files
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.files import SHARED
from backtrail.envs.androidworld.phone.ui import Ui

DOWNLOAD, DOCUMENTS = f"{SHARED}/Download", f"{SHARED}/Documents"


class Chrome(App):
    key, label, package = "chrome", "Chrome", "com.android.chrome"

    def draw(self, ui: Ui) -> None:
        ui.bar(f"Showing {ui.args.get('path')}")


@pytest.fixture
def phone() -> Phone:
    phone = Phone([Launcher(), Files(), Chrome()])
    files.set_up(phone)
    storage.write(phone, f"{DOWNLOAD}/alpha.txt", "first\nsecond", 1697000000)
    storage.write(phone, f"{DOWNLOAD}/beta.pdf", "x" * 5000, 1690000000)
    storage.write(phone, f"{DOWNLOAD}/gamma.jpg", "{}", 1695000000)
    storage.write(phone, f"{DOCUMENTS}/alpha.txt", "another")
    return phone


@pytest.fixture
def hand(phone: Phone) -> Hand:
    return Hand(phone)


def visit(hand: Hand, *names: str) -> None:
    hand.tap("Files", "Show roots", STORAGE, *names)


def order(hand: Hand) -> list[str]:
    return [text for text in hand.texts() if text in ("alpha.txt", "beta.pdf", "gamma.jpg")]


def test_the_storage_has_androids_directories_and_they_can_be_entered_and_left(hand: Hand) -> None:
    visit(hand)
    for name in storage.PLACES:
        hand._found(name)
    hand.phone.launch("files")
    hand.tap("Show roots", STORAGE, "Music")
    assert hand.sees("No items") and hand.sees(f"{STORAGE}  >  Music")
    hand.back()
    assert hand.sees("Alarms")
    hand.back()
    assert hand.phone.top["app"] == "launcher"


def test_rows_say_date_size_and_kind(hand: Hand) -> None:
    visit(hand, "Download")
    assert hand.sees("Oct 11 · 12 B · Text") and hand.sees("Jul 22 · 5.00 kB · PDF")
    hand.back()
    assert hand.sees("15:34 · 3 items")


def test_places_show_files_of_a_kind_from_everywhere(hand: Hand) -> None:
    hand.tap("Files")
    assert hand.texts().index("beta.pdf") > hand.texts().index("gamma.jpg")  # the newest first
    hand.tap("Show roots", "Images")
    assert hand.sees("gamma.jpg") and not hand.sees("alpha.txt")
    hand.tap("Show roots", "Audio")
    assert hand.sees("No items")
    hand.tap("Show roots")
    hand.back()
    assert hand.sees("No items") and not hand.sees(STORAGE)


def test_sorting(hand: Hand) -> None:
    visit(hand, "Download")
    assert order(hand) == ["alpha.txt", "beta.pdf", "gamma.jpg"]
    hand.tap("More options", "Sort by…", "Date modified")
    assert order(hand) == ["alpha.txt", "gamma.jpg", "beta.pdf"]
    hand.tap("More options", "Sort by…", "Size")
    assert order(hand) == ["beta.pdf", "alpha.txt", "gamma.jpg"]


def test_text_and_pictures_open_and_other_files_tell_about_themselves(hand: Hand) -> None:
    visit(hand, "Download", "alpha.txt")
    assert hand.sees("first\nsecond")
    hand.tap("Get info")
    assert hand.sees(DOWNLOAD) and hand.sees("2023-10-11 04:53")
    hand.back(2)
    hand.tap("gamma.jpg")
    assert any(view.kind == "ImageView" and view.description == "gamma.jpg" for view in hand.phone.tree.walk())
    hand.back()
    hand.tap("beta.pdf")
    assert hand.sees("5.00 kB")


def test_a_web_page_is_offered_to_the_browser(hand: Hand) -> None:
    storage.write(hand.phone, f"{DOWNLOAD}/task.html", "<p>")
    visit(hand, "Download", "task.html")
    assert hand.sees("Open with")
    hand.tap("Chrome")
    assert hand.phone.activity.startswith("com.android.chrome/") and hand.sees(f"Showing {DOWNLOAD}/task.html")


def test_moving_a_file_to_another_folder(hand: Hand) -> None:
    visit(hand, "Download")
    hand.hold("gamma.jpg")
    hand.tap("More options", "Move to…", "Pictures", "Move here")
    assert storage.listing(hand.phone, f"{SHARED}/Pictures") == [f"{SHARED}/Pictures/gamma.jpg"]
    assert not hand.phone.files.exists(f"{DOWNLOAD}/gamma.jpg")
    assert hand.sees("Moved 1 item to Pictures") and order(hand) == ["alpha.txt", "beta.pdf"]
    assert storage.modified(hand.phone, f"{SHARED}/Pictures/gamma.jpg") == 1695000000


def test_a_file_is_not_replaced_by_one_of_its_name(hand: Hand) -> None:
    visit(hand, "Download")
    hand.hold("alpha.txt")
    hand.tap("More options", "Copy to…", "Documents", "Copy here")
    assert hand.phone.files.read(f"{DOCUMENTS}/alpha.txt") == "another"
    assert hand.phone.files.read(f"{DOCUMENTS}/alpha (1).txt") == "first\nsecond"
    assert hand.phone.files.exists(f"{DOWNLOAD}/alpha.txt")


def test_several_files_into_a_folder_made_on_the_way(hand: Hand) -> None:
    visit(hand, "Download")
    hand.hold("alpha.txt")
    hand.tap("beta.pdf", "gamma.jpg", "gamma.jpg")
    assert hand.sees("2 selected")
    hand.tap("More options", "Move to…", "Documents", "New folder")
    hand.type("name", "old")
    hand.tap("OK", "Move here")
    assert hand.phone.files.names(f"{DOCUMENTS}/old") == ["alpha.txt", "beta.pdf"]
    assert hand.phone.files.names(DOWNLOAD) == ["gamma.jpg"]


def test_a_folder_does_not_go_into_itself_nor_a_file_to_where_it_is(hand: Hand) -> None:
    visit(hand)
    hand.hold("Download")
    hand.tap("More options", "Move to…")
    assert not next(
        view for view in hand.phone.tree.walk() if view.kind == "LinearLayout" and not view.enabled
    ).clickable
    hand.tap("Move here")
    assert hand.sees("Already in this folder")
    hand.tap("Cancel")
    assert hand.phone.top["page"] == "select"
    with pytest.raises(ValueError, match="outside"):
        storage.move(hand.phone, DOWNLOAD, f"{DOWNLOAD}/deeper")
    with pytest.raises(ValueError, match="outside"):
        storage.copy(hand.phone, DOWNLOAD, DOWNLOAD)


def test_deleting_asks_first(hand: Hand) -> None:
    visit(hand, "Download")
    hand.hold("beta.pdf")
    hand.tap("Delete", "Cancel")
    assert hand.phone.files.exists(f"{DOWNLOAD}/beta.pdf")
    hand.tap("Delete", "OK")
    assert order(hand) == ["alpha.txt", "gamma.jpg"] and not hand.phone.files.exists(f"{DOWNLOAD}/beta.pdf")
    assert hand.phone.top["page"] == "main"


def test_select_all_and_letting_go(hand: Hand) -> None:
    visit(hand, "Download")
    hand.tap("More options", "Select all")
    assert hand.sees("3 selected")
    hand.tap("alpha.txt", "beta.pdf", "gamma.jpg")
    assert hand.phone.top["page"] == "main"


@pytest.mark.parametrize("name", ["", "  ", "a/b", "beta.pdf", ".."])
def test_names_that_cannot_be(hand: Hand, name: str) -> None:
    visit(hand, "Download")
    hand.hold("alpha.txt")
    hand.tap("More options", "Rename")
    hand.type("name", name)
    hand.tap("OK")
    assert hand.sees("Rename")  # the dialog stays
    hand.tap("Cancel")
    assert hand.phone.files.read(f"{DOWNLOAD}/alpha.txt") == "first\nsecond"
    assert hand.phone.files.read(f"{DOWNLOAD}/beta.pdf") == "x" * 5000


def test_renaming_and_making_folders(hand: Hand) -> None:
    visit(hand, "Download")
    hand.hold("alpha.txt")
    hand.tap("More options", "Rename")
    assert hand.phone.state["keyboard"]
    hand.type("name", "omega.txt")
    hand.tap("OK")
    assert hand.sees("omega.txt") and not hand.phone.state["keyboard"]
    hand.tap("More options", "New folder")
    hand.type("name", "Trips")
    hand.phone.enter()
    hand.tap("Trips")
    assert hand.sees("No items") and hand.phone.files.is_directory(f"{DOWNLOAD}/Trips")


def test_searching(hand: Hand) -> None:
    visit(hand)
    hand.tap("Search")
    hand.type("query", "ALPHA")
    assert hand.sees("/Download") and hand.sees("/Documents") and not hand.sees("beta.pdf")
    hand.type("query", "zzz")
    assert hand.sees("No matches for “zzz”")


def test_times_follow_what_is_renamed_and_go_with_what_is_removed(phone: Phone) -> None:
    storage.rename(phone, DOWNLOAD, "Loads")
    assert storage.modified(phone, f"{SHARED}/Loads/alpha.txt") == 1697000000
    storage.remove(phone, f"{SHARED}/Loads")
    phone.files.write(f"{SHARED}/Loads/alpha.txt", "new")
    assert storage.modified(phone, f"{SHARED}/Loads/alpha.txt") != 1697000000


def test_sizes_in_words() -> None:
    assert [browse.size_words(n) for n in (0, 999, 1000, 5_250_000)] == ["0 B", "999 B", "1.00 kB", "5.25 MB"]
