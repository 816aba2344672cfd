"""Chrome by touch: addresses, back and forward, tabs, bookmarks, history, forms and the puzzles of local pages."""

from __future__ import annotations

import json
from itertools import pairwise
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st
from touching import Hand

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.browser import Browser
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.web import forms, full, install_page, open_url, page_at, short
from backtrail.envs.androidworld.phone.apps.web_pages import colors, maze, product, read_page
from backtrail.envs.androidworld.phone.apps.web_sites import NEWS, SITES, WIKI

ADDRESS = "Search or type web address"


@pytest.fixture
def hand() -> Hand:
    phone = Phone([Launcher(), Browser()])
    phone.launch("chrome")
    return Hand(phone)


def go(hand: Hand, address: str) -> None:
    hand.type(ADDRESS, address)
    hand.phone.enter()
    hand.check()


def show(hand: Hand, *blocks: dict) -> None:
    """Write a page with some blocks into the downloads and open it."""
    hand.phone.files.write("/sdcard/Download/task.html", json.dumps({"title": "Task", "blocks": blocks}))
    go(hand, "/sdcard/Download/task.html")


def test_links_lead_on_and_back_leads_back(hand: Hand) -> None:
    assert hand.phone.activity == "com.android.chrome/org.chromium.chrome.browser.ChromeTabbedActivity"
    hand.tap("Wiki of Sarn", "Port Ellery")
    assert hand.sees("wiki.example/port-ellery")
    hand.tap("Sarn")
    assert hand.sees("National day: 3 May.")
    hand.back()
    assert hand.sees("wiki.example/port-ellery")
    hand.tap("More options", "Forward")
    assert hand.sees("wiki.example/sarn")
    hand.back(3)
    assert hand.sees("Chrome") and hand.phone.top["app"] == "chrome"
    hand.back()
    assert hand.phone.top["app"] == "launcher"


def test_the_browser_opens_where_it_was_left(hand: Hand) -> None:
    hand.tap("Wiki of Sarn", "Ebble")
    hand.phone.press_home()
    hand.tap("Chrome")
    assert hand.sees("wiki.example/ebble")
    hand.back()
    assert hand.sees("wiki.example")


def test_going_elsewhere_forgets_what_was_ahead(hand: Hand) -> None:
    hand.tap("Wiki of Sarn", "Ebble")
    hand.back()
    hand.tap("Sarn")
    hand.tap("More options")
    assert not hand.sees("Forward")
    assert [page["url"] for page in hand.phone.data("chrome")["tabs"][0]["pages"]][1:] == [WIKI, f"{WIKI}sarn"]


def test_words_in_the_address_bar_are_searched(hand: Hand) -> None:
    go(hand, "first climbed")
    hand.tap("Mount Corrow")
    assert hand.sees("A hut at 1,950 metres is open from June to September.")
    go(hand, "nothing like this")
    assert hand.sees('Nothing was found for "nothing like this"')


def test_what_cannot_be_reached_says_why(hand: Hand) -> None:
    go(hand, "foo.example")
    assert hand.sees("ERR_NAME_NOT_RESOLVED")
    go(hand, "file:///sdcard/Download/no.html")
    assert hand.sees("ERR_FILE_NOT_FOUND")
    hand.phone.settings["global"]["airplane_mode_on"] = "1"
    go(hand, "news.example")
    assert hand.sees("No internet")
    hand.phone.settings["global"]["airplane_mode_on"] = "0"
    hand.tap("Reload")
    assert hand.sees("The Sarn Courier")


def test_tabs_are_opened_chosen_and_closed(hand: Hand) -> None:
    hand.tap("Wiki of Sarn", "More options", "New tab", "The Sarn Courier")
    hand.tap("2 open tabs, tap to switch tabs", "Wiki of Sarn")
    assert hand.sees("wiki.example")
    hand.tap("2 open tabs, tap to switch tabs", "Close Wiki of Sarn tab", "The Sarn Courier")
    assert hand.sees("news.example") and hand.sees("1 open tab, tap to switch tabs")
    hand.tap("1 open tab, tap to switch tabs", "Close The Sarn Courier tab")
    assert hand.sees("New tab")


def test_bookmarks_and_history(hand: Hand) -> None:
    go(hand, "wiki.example/brackwater")
    hand.tap("More options", "Bookmark", "More options", "Bookmarks", "Delete The Sarn Courier", "Brackwater")
    assert [mark["title"] for mark in hand.phone.data("chrome")["bookmarks"]] == ["Wiki of Sarn", "Brackwater"]
    assert hand.sees("wiki.example/brackwater")
    (row,) = hand.phone.data("chrome")["urls"]
    assert (row["title"], row["visit_count"]) == ("Brackwater", 2)
    assert row["last_visit_time"] // 1_000_000 - 11_644_473_600 <= hand.phone.state["now"]
    hand.tap("More options", "Delete bookmark", "More options", "History", "Remove Brackwater")
    assert hand.sees("You'll find your history here") and hand.phone.data("chrome")["urls"] == []


def test_a_file_is_opened_from_elsewhere(hand: Hand) -> None:
    phone = hand.phone
    phone.files.write(
        "/sdcard/Download/a.html", "<html><title>T</title><body><h1>Hi</h1><p>one <b>two</b></p></body></html>"
    )
    phone.press_home()
    phone.hand_over("chrome", "open", path="/sdcard/Download/a.html")
    phone.pass_time(1)
    assert hand.sees("Hi") and hand.sees("one") and len(phone.data("chrome")["tabs"]) == 2
    hand.back()
    assert phone.top["app"] == "launcher"
    open_url(phone, NEWS)
    phone.changed()
    assert hand.sees("The Sarn Courier")


def test_a_form_is_checked_and_sent(hand: Hand) -> None:
    fields = [{"name": "who", "hint": "Your name", "required": True}, {"name": "size", "hint": "Size"}]
    show(hand, {"kind": "form", "name": "order", "fields": fields, "submit": "Order", "thanks": "Thank you"})
    hand.tap("Order")
    assert hand.sees("Please fill out this field: Your name") and forms(hand.phone, "order") == []
    hand.type("Your name", "Ada ")
    hand.type("Size", "M")
    hand.tap("Order")
    assert hand.sees("Thank you") and forms(hand.phone, "order") == [{"who": "Ada", "size": "M"}]
    hand.tap("More options", "Reload")
    assert not hand.sees("Thank you") and not hand.sees("Ada ")


def test_a_form_can_expect_an_answer(hand: Hand) -> None:
    form = {
        "kind": "form",
        "name": "quiz",
        "fields": [{"name": "answer", "hint": "Answer"}],
        "expect": {"answer": "Sarn"},
    }
    show(hand, {**form, "wrong": "Try again"})
    hand.type("Answer", "Ebble")
    hand.tap("Submit")
    assert hand.sees("Try again")
    hand.type("Answer", "sarn")
    hand.tap("Submit")
    assert hand.sees("Success!")


def test_a_button_says_or_leads(hand: Hand) -> None:
    install_page(
        hand.phone, "https://shop.example/", {"title": "Shop", "blocks": [{"kind": "text", "text": "Welcome"}]}
    )
    show(
        hand,
        {"kind": "button", "text": "Code", "says": "4711"},
        {"kind": "button", "text": "Shop", "to": "shop.example"},
    )
    hand.tap("Code")
    assert hand.sees("4711")
    hand.tap("Shop")
    assert hand.sees("Welcome")


def test_lights_go_out(hand: Hand) -> None:
    show(hand, {"kind": "lights", "rows": ["##.", "#..", "..."]})
    hand.tap("Row 2 column 2 off")
    assert hand.sees("Row 2 column 1 off") and not hand.sees("Success!")
    hand.tap("Row 2 column 2 on", "Row 1 column 1 on")
    assert hand.sees("Success!")


def page_of(title: str, seed: int) -> str:
    return f"<html><head><title>{title}</title></head><script>const rng = new SeededRNG({seed});</script></html>"


def way(rows: list[str]) -> list[tuple[int, int]]:
    """Return a way through a maze, by breadth."""
    ways = [[(0, 0)]]
    for found in ways:
        row, column = found[-1]
        if rows[row][column] == "$":
            return found
        for step in ((row + 1, column), (row, column + 1), (row - 1, column), (row, column - 1)):
            inside = 0 <= step[0] < len(rows) and 0 <= step[1] < len(rows)
            if inside and rows[step[0]][step[1]] != "#" and all(step not in other for other in ways):
                ways.append([*found, step])
    raise AssertionError("no way")


@pytest.mark.parametrize("seed", [0, 7, 4_294_967_295])
def test_the_maze(hand: Hand, seed: int) -> None:
    hand.phone.files.write("/sdcard/Download/task.html", page_of("Maze Puzzle", seed))
    go(hand, "/sdcard/Download/task.html")
    hand.tap("Up", "Left")
    steps = way(maze(seed)["rows"])
    for before, after in pairwise(steps):
        assert not hand.sees("Success!")
        down, right = after[0] - before[0], after[1] - before[1]
        hand.tap({(1, 0): "Down", (-1, 0): "Up", (0, 1): "Right", (0, -1): "Left"}[down, right])
    assert hand.sees("Success!") and not hand.sees("Up")


@given(st.integers(0, 2**32 - 1))
def test_every_maze_has_a_way(seed: int) -> None:
    rows = maze(seed)["rows"]
    assert rows[0][0] == "." and rows[3][3] == "$" and way(rows)[-1] == (3, 3)


def test_the_product_of_five_numbers(hand: Hand) -> None:
    hand.phone.files.write("/sdcard/Download/task.html", page_of("Memory Task", 5))
    go(hand, "/sdcard/Download/task.html")
    numbers = []
    while hand.sees("Click Me"):
        numbers.append(int([text for text in hand.texts() if text.isdigit()][1]))  # the first is the number of tabs
        hand.tap("Click Me")
    assert numbers == product(5)["numbers"] and len(numbers) == 5
    hand.type("Enter the product", "1")
    hand.tap("Submit")
    assert not hand.sees("Success!")
    hand.type("Enter the product", str(prod(product(5)["numbers"])))
    hand.tap("Submit")
    assert hand.sees("Success!")


def test_drawing_with_three_colours(hand: Hand) -> None:
    hand.phone.files.write("/sdcard/Download/task.html", page_of("Color Challenge", 5))
    go(hand, "/sdcard/Download/task.html")
    canvas = hand.see("Canvas")
    assert canvas is not None
    left, top, _, _ = canvas.bounds
    for place, color in enumerate(colors(5)["targets"]):
        hand.tap("Submit")
        assert not hand.sees("Success!")
        hand.tap(f"#{color}")
        hand.phone.swipe((left + 50, top + 100 * place + 50), (left + 600, top + 100 * place + 90))
        hand.check()
    hand.tap("Submit")
    assert hand.sees("Success!")
    hand.tap("More options", "Reload", "Submit")
    assert not hand.sees("Success!")


def test_pages_that_are_broken_are_shown_as_text(hand: Hand) -> None:
    for content in (
        "{",
        '{"a": 1}',
        '{"blocks": [1]}',
        '{"blocks": [{"kind": "form"}]}',
        '{"blocks": [{"kind": "?"}]}',
    ):
        assert read_page(content) == {"title": "", "blocks": [{"kind": "text", "text": content}]}
    hand.phone.files.write("/sdcard/Download/task.html", '{"blocks": [{"kind": "maze"}]}')
    go(hand, "/sdcard/Download/task.html")
    assert hand.sees('{"blocks": [{"kind": "maze"}]}')


def test_addresses() -> None:
    assert full("news.example") == NEWS and short(NEWS) == "news.example"
    assert full("/sdcard/a.html") == "file:///storage/emulated/0/a.html" == full("file:///sdcard/a.html")
    assert full("two words") == "https://search.example/?q=two words"


def test_all_links_of_the_little_web_lead_somewhere() -> None:
    phone = Phone([Launcher(), Browser()])
    for page in SITES.values():
        for block in page["blocks"]:
            assert block["kind"] != "link" or page_at(phone, block["to"]) is not None
