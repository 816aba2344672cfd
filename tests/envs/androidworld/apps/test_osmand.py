"""The map: what is on it, search, favourites, markers, tracks, directions; the files and rows that others read."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from touching import Hand

from backtrail.envs.androidworld.phone import Phone, databases
from backtrail.envs.androidworld.phone.apps import osmand_data as data
from backtrail.envs.androidworld.phone.apps import osmand_places as places
from backtrail.envs.androidworld.phone.apps.files import Files
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.osmand import OsmAnd
from backtrail.envs.androidworld.phone.apps.osmand_map import ZOOMS, Button, Frame, Map, Pin, fit, labels
from backtrail.envs.androidworld.phone.shell import Shell

SPACE = "{http://www.topografix.com/GPX/1/1}"
FILES = "/data/media/0/Android/data/net.osmand/files"
MARKERS = "/data/data/net.osmand/databases/map_markers_db"
POINTS = {place.name: place.point for place in places.PLACES}

points = st.tuples(st.floats(46.9, 47.4), st.floats(9.3, 9.8))


def phone_with_map() -> Phone:
    phone = Phone([Launcher(), OsmAnd(), Files()], 0.1, (data.set_up,))
    phone.launch("osmand")
    return phone


@pytest.fixture
def hand() -> Hand:
    return Hand(phone_with_map())


def search(hand: Hand, words: str, result: str) -> None:
    hand.tap("Search")
    hand.type("Type to search", words)
    hand.tap(result)


def waypoints(hand: Hand, name: str = "favorites.gpx") -> list[ElementTree.Element]:
    """Return the points of a file with favourites, as another program reads them."""
    found = Shell(hand.phone).run(f"cat '{FILES}/favorites/{name}'")[1]
    return ElementTree.fromstring(found.decode()).findall(f"{SPACE}wpt")


# -- the map ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Balzers", "Bendern", "Malbun", "Nendeln", "Oberplanken", "Planken", "Rotenboden", "Ruggell",
                                  "Schaan", "Schönberg", "Triesen"])  # fmt: skip
def test_places_can_be_touched_on_the_map(hand: Hand, name: str) -> None:
    hand.tap(name)
    assert hand.sees("Marker") and hand.sees(places.in_words(POINTS[name]))


def test_a_swipe_pushes_the_map_and_buttons_zoom(hand: Hand) -> None:
    def middle(name: str) -> tuple[int, int]:
        view = hand.see(name)
        assert view is not None
        return view.bounds[0], view.bounds[1]

    x, y = middle("Schaan")
    hand.phone.swipe((500, 1200), (600, 900))
    assert np.allclose(middle("Schaan"), (x + 100, y - 300), atol=2)
    hand.phone.swipe((600, 900), (500, 1200))
    assert np.allclose(middle("Schaan"), (x, y), atol=2)
    away = middle("Nendeln")[1] - y
    hand.tap("Zoom in")
    assert middle("Nendeln")[1] - middle("Schaan")[1] == pytest.approx(2 * away, abs=10)  # names differ in height
    for _ in range(12):
        hand.tap("Zoom in")
    assert not hand.sees("Schaan")
    for _ in range(12):
        hand.tap("Zoom out")
    assert hand.sees("Vaduz")


@settings(deadline=None)
@given(point=points, zoom=st.integers(*ZOOMS), across=st.integers(-900, 900), down=st.integers(-900, 900))
def test_what_was_in_the_middle_is_where_it_was_pushed(
    point: tuple[float, float], zoom: int, across: int, down: int
) -> None:
    frame = Frame(point, zoom, 1000, 2000)
    x, y = Frame(frame.moved(across, down), zoom, 1000, 2000).at(point)
    assert (x, y) == pytest.approx((500 + across, 1000 + down), abs=1 + 2 ** (zoom - 12))


@given(line=st.lists(points, min_size=1, max_size=4))
def test_what_is_to_be_shown_fits(line: list[tuple[float, float]]) -> None:
    center, zoom = fit(line, 1000, 2000)
    frame = Frame(center, zoom, 1000, 2000)
    for point in line:
        x, y = frame.at(point)
        assert zoom == ZOOMS[0] or (0 < x < 1000 and 0 < y < 2000)


@pytest.mark.parametrize("zoom", range(ZOOMS[0], 14))
def test_no_name_covers_another_or_lies_under_a_button(zoom: int) -> None:
    buttons = (Button("add", 500, 500, 200),)
    boxes = [box for _, box in labels(Frame((47.15, 9.55), zoom, 1080, 2000), buttons)]
    assert boxes
    for number, one in enumerate(boxes):
        for other in [(300, 300, 700, 700), *boxes[:number]]:
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_lines_and_pins_are_drawn_where_they_are() -> None:
    frame = Frame((47.15, 9.55), 11, 400, 600)

    plain, marked = Map(frame).draw(), Map(frame, pins=(Pin("star", frame.center),)).draw()
    changed = np.argwhere((plain != marked).any(axis=2))
    assert plain.shape == (600, 400, 3)
    assert changed.min(axis=0).tolist() >= [225, 160] and changed.max(axis=0).tolist() <= [300, 240]
    line = Map(frame, (frame.center, (47.15, 9.56))).draw()
    assert (line[300, 225] == (66, 70, 200)).all()


def test_each_button_of_the_map_and_each_entry_of_the_menu_leads_somewhere(hand: Hand) -> None:
    for name in (
        "Map markers",
        "My Places",
        "Search",
        "Navigation",
        "Configure map",
        "Maps & Resources",
        "Plan a route",
        "Settings",
    ):
        hand.tap("Menu", name)
        assert hand.sees(name) and hand.phone.top["page"] != "main"
        hand.back()
    assert hand.sees("Map")
    hand.tap("My location")
    assert hand.sees("The position is not known yet")


# -- search -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["triesen", "Triesen, Liechtenstein", "lie trie"])
def test_names_are_found_by_their_beginnings(words: str) -> None:
    assert [place.name for place in places.search(words)][:2] == ["Triesen", "Triesenberg"]


def test_names_come_before_countries() -> None:
    found = [place.name for place in places.search("s")]
    assert found[:2] == ["Sargans", "Schaan"] and found.index("Steg") < found.index("Buchs")


def test_search_shows_the_place_on_the_map(hand: Hand) -> None:
    search(hand, "mal", "Malbun")
    assert hand.sees("Village, Liechtenstein") and hand.sees("47.10262, 9.60831") and hand.sees("Malbun")
    search(hand, "47.2, 9.51", "47.20000, 9.51000")
    assert hand.sees("Location")
    hand.tap("Search")
    hand.type("Type to search", "nowhere")
    assert hand.sees("Nothing found")


def test_places_of_a_kind(hand: Hand) -> None:
    hand.tap("Search", "Peaks")
    assert hand.sees("Naafkopf") and not hand.sees("Vaduz")
    hand.tap("Peaks")
    assert hand.sees("Categories")


@pytest.mark.parametrize(("words", "point"), [
    ("47.0688832, 9.5061564", (47.0688832, 9.5061564)), ("-3 170.5", (-3.0, 170.5)), ("47.1", None), ("99, 9", None),
    ("1,2,3", None), ("Road 5, 7", None), ("nan nan", None), ("", None),
])  # fmt: skip
def test_coordinates_are_read(words: str, point: tuple[float, float] | None) -> None:
    assert places.read_coordinates(words) == point


# -- favourites -------------------------------------------------------------------------------------------


def test_a_favourite_is_in_the_file_of_its_group(hand: Hand) -> None:
    search(hand, "triesen", "Triesen")
    hand.tap("Add", "Save")
    (point,) = waypoints(hand)
    assert (point.get("lat"), point.get("lon")) == ("47.1069970", "9.5274854")
    assert point.findtext(f"{SPACE}name") == "Triesen" and point.find(f"{SPACE}desc") is None
    search(hand, "balz", "Balzers")
    hand.tap("Add")
    hand.type("Name", "Castle & <hill>")
    hand.type("Description", "by train")
    hand.back()
    hand.tap("Group", "Add group")
    hand.type("Group name", "Trips")
    hand.tap("Add", "Save")
    (point,) = waypoints(hand, "favorites-Trips.gpx")
    assert [point.findtext(f"{SPACE}{tag}") for tag in ("name", "desc", "type")] == [
        "Castle & <hill>",
        "by train",
        "Trips",
    ]
    assert len(waypoints(hand)) == 1 and hand.sees("Trips: by train") and hand.sees("Edit")


def test_a_favourite_is_listed_changed_moved_and_deleted(hand: Hand) -> None:
    data.add_favorite(hand.phone, "Cabin", POINTS["Schaan"], "Trips")
    hand.phone.changed()
    hand.tap("Menu", "My Places", "Trips")
    assert not hand.sees("Cabin")
    hand.tap("Trips", "Cabin", "Edit")
    hand.type("Name", " ")
    hand.tap("Save")
    assert hand.sees("Please enter a name")
    hand.type("Name", "House")
    hand.back()
    hand.tap("Group", "Favorites", "Save")
    (row,) = data.favorites(hand.phone)
    assert (row["name"], row["group"]) == ("House", "Favorites") and data.groups(hand.phone) == ["Favorites"]
    hand.tap("Edit", "Delete", "Delete")
    assert not data.favorites(hand.phone) and not waypoints(hand) and hand.sees("Add")


def test_favourites_that_another_program_wrote(hand: Hand) -> None:
    other = '<a:gpx xmlns:a="http://www.topografix.com/GPX/1/1"><a:wpt lat="47.1" lon="9.5"><a:name>X</a:name></a:wpt>'
    broken = '<a:wpt lat="north" lon="9.5" /><a:wpt lat="1e9" lon="0" /></a:gpx>'
    for text, names in ((other + broken, ["X"]), (other, []), ("", []), ("<gpx>\0</gpx>", [])):
        hand.phone.files.write(f"{data.FAVORITES}/favorites.gpx", text)
        assert [row["name"] for row in data.favorites(hand.phone)] == names
    data.add_favorite(hand.phone, "Y", (47.0, 9.0))
    assert len(waypoints(hand)) == 1


@given(name=st.text(min_size=1, max_size=8), point=points)
def test_a_favourite_that_was_saved_is_found_again(name: str, point: tuple[float, float]) -> None:
    phone = Phone([Launcher(), OsmAnd(), Files()], 0.1, (data.set_up,))
    data.add_favorite(phone, name, point)
    (row,) = data.favorites(phone)
    assert row["latitude"] == pytest.approx(point[0], abs=1e-7) and row["longitude"] == pytest.approx(
        point[1], abs=1e-7
    )
    assert row["name"] == "".join(each for each in name if each.isprintable() or each == "\n")


# -- markers ----------------------------------------------------------------------------------------------


def test_markers_are_rows_of_the_database(hand: Hand) -> None:
    hand.tap("Triesen", "Marker")
    _, rows = databases.select(
        hand.phone, MARKERS, "SELECT title, marker_lat, marker_lon, marker_active FROM map_markers"
    )
    assert rows == [("Triesen", 47.106997, 9.5274854, 1)]
    hand.tap("Remove marker")
    assert not data.markers(hand.phone)
    databases.query(hand.phone, MARKERS, "INSERT INTO map_markers (marker_id, marker_active) VALUES ('a', 1)")
    hand.tap("Close", "Menu", "Map markers")
    assert hand.sees("0.00000, 0.00000")


def test_markers_are_passed_made_active_and_deleted(hand: Hand) -> None:
    hand.tap("Menu", "Map markers")
    assert hand.sees("No active markers")
    hand.tap("Add marker", "Villages", "Balzers", "Mark as passed", "History", "Balzers", "Make active")
    assert hand.sees("No passed markers") and len(data.markers(hand.phone)) == 1
    hand.tap("Active", "More options", "Move all to history", "History", "More options", "Clear history")
    assert not hand.phone.data("osmand")["map_markers"]
    hand.tap("Active", "Add marker", "Villages", "Bendern", "Bendern", "Show on map")
    assert hand.sees("Remove marker")


# -- tracks -----------------------------------------------------------------------------------------------


def test_a_route_is_planned_and_saved_as_a_track(hand: Hand) -> None:
    hand.tap("Menu", "Plan a route", "Save")
    assert hand.sees("Add at least two points")
    hand.tap("Schaan", "Vaduz", "Add point", "Undo", "Undo", "Redo")
    search(hand, "47.0688832, 9.5061564", "47.06888, 9.50616")
    hand.tap("Points", "Remove point 2", "Remove point 2", "Close")
    search(hand, "balz", "Balzers")
    hand.tap("More options", "Reverse route", "Save")
    hand.type("File name", "a/b")
    hand.tap("Save")
    assert hand.sees("The name has characters that are not allowed")
    hand.type("File name", "Down, up")
    hand.tap("Save")
    assert data.track(hand.phone, "Down, up") == [POINTS["Balzers"], POINTS["Schaan"]]
    assert data.tracks(hand.phone) == ["Down, up"] and hand.phone.top["state"]["track"] == "Down, up"
    root = ElementTree.fromstring(Shell(hand.phone).run(f"cat '{FILES}/tracks/Down, up.gpx'")[1].decode())
    assert len(root.findall(f"{SPACE}trk/{SPACE}trkseg/{SPACE}trkpt")) == 2
    hand.tap("Configure map", "Track")
    assert "track" not in hand.phone.state["stack"][1]["state"]


def test_a_track_is_shown_renamed_and_deleted(hand: Hand) -> None:
    line = [POINTS["Schaan"], POINTS["Vaduz"]]
    data.save_track(hand.phone, "Way", line)
    data.save_track(hand.phone, "Other", line)
    hand.phone.changed()
    hand.tap("Menu", "My Places", "Tracks", "Way")
    assert hand.sees(f"{places.length(line) / 1000:.1f} km") and hand.sees("2.  Vaduz")
    hand.tap("More options", "Rename")
    hand.type("File name", "Other")
    hand.tap("Save")
    assert hand.sees("An item with this name already exists")
    hand.type("File name", "Path")
    hand.tap("Save")
    assert data.tracks(hand.phone) == ["Other", "Path"] and data.track(hand.phone, "Path") == line
    hand.tap("More options", "Delete", "Delete")
    assert data.tracks(hand.phone) == ["Other"]


def test_the_shell_clears_tracks_by_a_star(hand: Hand) -> None:
    data.save_track(hand.phone, "Way, there", [(47.0, 9.0)])
    assert Shell(hand.phone).run(f"rm -rf {FILES}/tracks/*")[0] == 0
    assert not data.tracks(hand.phone) and hand.phone.files.is_directory(data.TRACKS)


# -- directions and settings ------------------------------------------------------------------------------


def test_directions_follow_the_roads_in_both_ways(hand: Hand) -> None:
    hand.tap("Balzers", "Directions", "From", "Villages", "Ruggell")
    assert hand.sees("Gamprin, Bendern, Schaan, Vaduz, Triesen") and hand.sees("20.1 km") and hand.sees("24 min")
    hand.tap("On foot", "Swap")
    assert hand.sees("20.1 km") and hand.sees("268 min")


@settings(max_examples=30, deadline=None)
@given(one=st.sampled_from(places.PLACES), other=st.sampled_from(places.PLACES))
def test_every_place_is_reached_and_no_way_is_shorter_than_straight(one: places.Place, other: places.Place) -> None:
    way = places.road_way(one.point, other.point)
    assert way[0] == one.point and way[-1] == other.point
    assert places.length(way) >= places.distance(one.point, other.point) - 1e-6
    back = places.road_way(other.point, one.point)
    assert places.length(back) == pytest.approx(places.length(way))


def test_settings_change_units_and_what_is_on_the_map(hand: Hand) -> None:
    data.add_favorite(hand.phone, "Home", POINTS["Schaan"])
    hand.phone.changed()
    assert hand.sees("Favorite Home")
    hand.tap("Configure map", "Favorites")
    hand.back()
    assert not hand.sees("Favorite Home")
    hand.tap("Menu", "Settings", "Units of length", "Miles")
    hand.back()
    hand.tap("Balzers", "Directions", "From", "Villages", "Ruggell")
    assert hand.sees("12.5 mi")
