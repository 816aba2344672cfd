"""UI elements: which views are elements, and how a screen reads as text."""

from __future__ import annotations

from demo_app import demo_phone

from backtrail.envs.androidworld.backend import Element
from backtrail.envs.androidworld.elements import describe, elements
from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.views import View


def named(phone: Phone, words: str) -> Element:
    return next(each for each in elements(phone.tree) if words in (each.text, each.description, each.hint))


def test_elements_are_leaves_and_what_is_described_or_scrolls_in_the_order_of_the_tree() -> None:
    leaf, described = View("TextView", (0, 0, 9, 9), "leaf"), View("ImageView", (0, 9, 9, 18), description="x")
    described.children = [View("TextView", (0, 9, 9, 18), "inner")]
    scrolls = View(
        "RecyclerView", (0, 18, 9, 99), scroll="list", reach=5, children=[View("View", (0, 20, 9, 30), "row")]
    )
    fits = View("RecyclerView", (0, 18, 9, 99), scroll="list", children=[View("View", (0, 20, 9, 30), "other")])
    root = View("FrameLayout", (0, 0, 99, 99), children=[leaf, described, scrolls, fits])
    found = [each.text or each.description or each.class_name for each in elements(root)]
    assert found == ["leaf", "x", "inner", "androidx.recyclerview.widget.RecyclerView", "row", "other"]


def test_what_is_outside_the_screen_or_empty_is_left_out() -> None:
    boxes = [(-9, 0, 0, 9), (1080, 0, 1090, 9), (0, 2400, 9, 2500), (5, 5, 5, 9), (-9, 0, 1, 9)]
    root = View("FrameLayout", (0, 0, 1080, 2400), children=[View("View", box, str(box)) for box in boxes])
    assert [each.text for each in elements(root)] == ["(-9, 0, 1, 9)"]


def test_an_element_tells_its_state() -> None:
    phone = demo_phone()
    brightness = named(phone, "Brightness")
    assert brightness.class_name == "android.widget.SeekBar" and brightness.text == "40%"
    switches = [each for each in elements(phone.tree) if each.checkable]
    assert [each.checked for each in switches] == [True, False] and all(each.clickable for each in switches)
    new = named(phone, "New")
    assert new.package == "org.example.demo" and new.resource_id == "org.example.demo:id/fab" and new.clickable
    x, y = new.center
    phone.tap(x, y)
    field = named(phone, "First name")
    assert field.editable and not field.focused and not named(phone, "Save").enabled
    phone.tap(*field.center)
    assert named(phone, "First name").focused


def test_a_tap_on_the_text_of_a_row_does_what_the_row_does() -> None:
    phone = demo_phone()
    phone.tap(*named(phone, "Wi-Fi").center)
    assert phone.data("demo")["wifi"] is False


def test_a_dialog_covers_the_page_and_what_floats_on_it() -> None:
    phone = demo_phone()
    phone.tap(*named(phone, "Row 3").center)
    words = [each.text or each.description for each in elements(phone.tree) if each.package == "org.example.demo"]
    assert words == ["", "Really?", "Cancel", "Yes"]


def test_the_keyboard_is_no_element_and_covers_nothing_that_was_moved() -> None:
    phone = demo_phone("form")
    before = len(elements(phone.tree))
    phone.focus("first")
    assert len(elements(phone.tree)) == before
    assert not any("inputmethod" in each.package for each in elements(phone.tree))


def test_a_password_is_not_told() -> None:
    phone = demo_phone("form")
    phone.focus("secret")
    phone.type("abc")
    assert named(phone, "Password").text == "•••" and named(phone, "Password").password
    assert "abc" not in describe(elements(phone.tree))


def test_a_screen_reads_as_numbered_lines() -> None:
    phone = demo_phone("form")
    phone.focus("first")
    phone.type('Ann "A"')
    assert describe(elements(phone.tree)).splitlines() == [
        '0 button "Navigate up"',
        '1 text "Form"',
        '2 field "First name": "Ann \\"A\\"" focused',
        '3 field "Password": empty',
        '4 button "Save"',
    ]


def test_flags_are_told_where_they_matter() -> None:
    lines = describe(elements(demo_phone().tree)).splitlines()
    assert {"4 list scrollable", "5 switch on", '7 text "On"', "8 switch off", '10 slider "Brightness" "40%"'} <= set(
        lines
    )
    assert '4 button "Save" disabled' in describe(elements(demo_phone("form").tree)).splitlines()


def test_numbers_are_places_in_the_list_and_bounds_are_told_on_demand() -> None:
    found = elements(demo_phone().tree)
    for line in describe(found, bounds=True).splitlines():
        number = int(line.split()[0])
        assert line.endswith(str(list(found[number].bounds)))
        assert found[number].package == "org.example.demo"


def test_a_short_message_is_told() -> None:
    phone = demo_phone()
    phone.toast("Saved")
    phone.changed()
    assert describe(elements(phone.tree)).splitlines()[-1].endswith('message "Saved"')


def test_an_element_without_words_is_named_by_its_resource() -> None:
    only = Element("android.widget.ImageButton", resource_id="a.b:id/send_now", clickable=True)
    assert describe([only, Element("android.view.View"), Element("x.y.WebView", text="a\nb")]) == (
        '0 button "send now"\n2 webview "a\\nb"'
    )


def test_what_repeats_the_description_of_its_whole_is_not_told() -> None:
    card = Element(
        "android.widget.FrameLayout", description="Breads, Bread, 12 pieces", bounds=(0, 0, 90, 90), clickable=True
    )
    box, outside = (10, 10, 80, 50), (10, 95, 80, 99)
    kept = (
        Element("android.widget.TextView", "2", bounds=box),  # a part of a word
        Element("android.widget.TextView", "new", bounds=box),
        Element("android.widget.TextView", "Bread", bounds=box, clickable=True),
        Element("android.widget.TextView", "Bread", bounds=box, selected=True),
        Element("android.widget.TextView", "Bread", bounds=box, package="another.app"),
        Element("android.widget.TextView", "Bread", bounds=outside),
    )
    left_out = (
        Element("android.widget.TextView", "Bread", bounds=box),
        Element("android.widget.TextView", "12 pie…", bounds=box),
        Element("android.widget.ImageView", description="12", bounds=box),
    )
    for part in kept:
        assert len(describe([card, part]).splitlines()) == 2, part
    for part in left_out:
        assert len(describe([card, part]).splitlines()) == 1, part
    assert describe([card, left_out[0], kept[-1], left_out[0]]).splitlines()[1:] == ['2 text "Bread"', '3 text "Bread"']
    silent = Element("android.widget.FrameLayout", description="Bread", bounds=(0, 0, 90, 90))
    assert len(describe([silent, left_out[0]]).splitlines()) == 2  # a picture's description is not a card's
