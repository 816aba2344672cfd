"""Sports activities: recording, reading, finding, changing, deleting one or several, statistics, units."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from touching import Hand, hand_in

from backtrail.envs.androidworld.phone import databases
from backtrail.envs.androidworld.phone.apps import opentracks_data as data
from backtrail.envs.androidworld.phone.apps import opentracks_words as words
from backtrail.envs.androidworld.phone.apps.opentracks import OpenTracks
from backtrail.envs.androidworld.phone.identity import phone_fingerprint

DATABASE = "/data/data/de.dennisguse.opentracks/databases/database.db"


@pytest.fixture
def hand() -> Hand:
    return hand_in(OpenTracks())


def fill(hand: Hand, count: int, kind: str = "running") -> list[int]:
    """Add activities named Outing 0, 1, ..., one a day backwards, of 10, 11, ... minutes, and return their ids."""
    ids = [
        data.add_track(hand.phone, f"Outing {n}", kind, hand.phone.now - timedelta(days=n), 600 + 60 * n, 1000.0 * n)
        for n in range(count)
    ]
    hand.phone.changed()
    return ids


def names(hand: Hand) -> list[str]:
    return [row["name"] for row in data.tracks(hand.phone)]


# -- the list and its rows --------------------------------------------------------------------------------


def test_a_new_phone_has_no_activities(hand: Hand) -> None:
    assert hand.sees("No activities yet") and hand.sees("Record")


def test_a_row_says_what_was_done_when_how_long_and_how_far(hand: Hand) -> None:
    start = datetime(2023, 10, 5, 17, 30, tzinfo=UTC)
    data.add_track(hand.phone, "Lake", "snow boarding", start, 5400, 2500, note="Powder")
    hand.phone.changed()
    for text in ("Lake", "Oct 5", "17:30", "1:30:00  (1.55 mi)", "snow boarding · Powder", "snow boarding"):
        assert hand.sees(text), text


def test_activities_are_in_order_of_their_start_the_newest_first(hand: Hand) -> None:
    fill(hand, 40)
    assert names(hand) == [f"Outing {n}" for n in range(40)]
    hand.tap("Outing 39")
    assert hand.sees("Wednesday, September 6, 2023, 15:34")


@pytest.mark.parametrize(
    ("days", "said"),
    [(0, "Today"), (1, "Yesterday"), (2, "Friday"), (6, "Monday"), (7, "Oct 8"), (-1, "Oct 16"), (365, "Oct 15, 2022")],
)
def test_days_are_named_as_they_are_seen_from_today(hand: Hand, days: int, said: str) -> None:
    data.add_track(hand.phone, "x", "running", hand.phone.now - timedelta(days=days), 60)
    assert words.day(hand.phone, data.tracks(hand.phone)[0]) == said


@pytest.mark.parametrize(
    ("metres", "miles", "kilometres"),
    [(0, "0.00 ft", "0.00 m"), (500, "1640.42 ft", "500.00 m"), (805, "0.50 mi", "0.81 km"),
     (16093.44, "10.00 mi", "16.09 km")],
)  # fmt: skip
def test_units(hand: Hand, metres: float, miles: str, kilometres: str) -> None:
    assert words.distance(hand.phone, metres) == miles
    hand.tap("More options", "Settings", "Unit system", "Metric (km, m)")
    assert words.distance(hand.phone, metres) == kilometres
    assert words.speed(hand.phone, 100, 36) == "10.00 km/h" and words.height(hand.phone, 12.4) == "12 m"
    assert words.speed(hand.phone, 0, 36) == words.speed(hand.phone, 100, 0) == words.UNKNOWN


@given(st.integers(0, 400_000))
def test_times_are_written_so_that_they_can_be_read_back(seconds: int) -> None:
    parts = words.elapsed(seconds).split(":")
    assert sum(int(part) * 60**power for power, part in enumerate(reversed(parts))) == seconds
    assert all(len(part) == 2 for part in parts[1:]) and len(parts) == (3 if seconds >= 3600 else 2)


@pytest.mark.parametrize(
    ("kind", "icon"),
    [("running", "run"), ("Snow Boarding", "snow"), ("skate boarding", "skate"), ("mountain_biking", "bike"),
     ("chess", "person")],
)  # fmt: skip
def test_a_type_has_its_icon_however_it_is_spelt(kind: str, icon: str) -> None:
    assert data.icon_of(kind) == icon


def test_search_finds_words_of_name_note_and_type(hand: Hand) -> None:
    fill(hand, 3)
    data.add_track(hand.phone, "Harbour", "sailing", hand.phone.now, 60, note="With the Whole family")
    hand.tap("Search")
    hand.type("Search activities", "whole sail")
    assert hand.sees("Harbour") and not hand.sees("Outing 1")
    hand.type("Search activities", "nothing of it")
    assert hand.sees("No activities found")


# -- one activity -----------------------------------------------------------------------------------------


def test_a_page_has_all_that_was_measured(hand: Hand) -> None:
    number = data.add_track(
        hand.phone, "Hill", "hiking", hand.phone.now, 7200, 8046.72, note="Steep", climb=152.4, moving=3600
    )
    row = hand.phone.data(data.KEY)["tracks"][0]
    assert row["_id"] == number and row["stoptime"] - row["starttime"] == row["totaltime"] == 7_200_000
    row["maxspeed"] = 2.2352
    hand.phone.changed()
    hand.tap("Hill")
    texts = hand.texts()
    for text in ("Steep", "hiking", "5.00 mi", "1:00:00", "2:00:00", "2.50 mph", "Sunday, October 15, 2023, 15:34"):
        assert text in texts, text
    assert texts.count("5.00 mph") == 2 and texts.count("500 ft") == 2


def test_what_is_written_about_an_activity_is_changed(hand: Hand) -> None:
    number = fill(hand, 2)[1]
    before = data.track(hand.phone, number) or {}
    hand.tap("Outing 1", "Edit", "Activity type", "cycling")
    hand.type("Name", "  Tour ")
    hand.back()
    hand.type("Description", "With\nBen")
    hand.tap("Save")
    after = data.track(hand.phone, number)
    told = {"name": "Tour", "category": "cycling", "activity_type": "cycling", "description": "With\nBen"}
    assert after == {**before, **told} and names(hand) == ["Outing 0", "Tour"]
    hand.tap("Edit", "Activity type", "None")
    hand.type("Name", " ")
    hand.tap("Save")
    assert hand.sees("Please enter a name") and data.track(hand.phone, number) == after


def test_an_activity_is_deleted_after_a_question(hand: Hand) -> None:
    fill(hand, 3)
    hand.tap("Outing 1", "Delete", "Cancel")
    assert len(names(hand)) == 3
    hand.tap("Delete", "Delete")
    assert names(hand) == ["Outing 0", "Outing 2"] and hand.sees("OpenTracks") and hand.sees("Activity deleted")


def test_several_are_chosen_and_deleted(hand: Hand) -> None:
    fill(hand, 4)
    hand.hold("Outing 1")
    hand.tap("Outing 3", "Outing 2", "Outing 3")
    assert hand.sees("2 selected")
    hand.tap("Delete", "Delete")
    assert names(hand) == ["Outing 0", "Outing 3"] and hand.sees("2 activities deleted")
    hand.hold("Outing 0")
    hand.tap("Select all")
    assert hand.sees("2 selected")
    hand.tap("Cancel selection", "Outing 3")
    assert hand.sees("1.86 mi")


# -- recording --------------------------------------------------------------------------------------------


def test_a_recording_is_paused_goes_on_and_is_saved(hand: Hand) -> None:
    hand.tap("Record")
    began = hand.phone.state["now"] - 1  # the tap took a second
    hand.phone.pass_time(59)
    assert hand.sees("01:00") and hand.sees("Recording")
    hand.tap("Pause")
    hand.phone.pass_time(600)
    assert hand.sees("01:00") and hand.sees("Paused")
    hand.tap("Resume")
    hand.phone.pass_time(9)
    hand.tap("Stop")
    ended = hand.phone.state["now"] - 1
    hand.phone.pass_time(300)
    assert hand.sees("01:10")
    hand.tap("Activity type", "walking")
    hand.type("Name", "Evening")
    hand.tap("Save")
    (row,) = data.tracks(hand.phone)
    assert (row["name"], row["category"], row["totaltime"]) == ("Evening", "walking", 70_000)
    assert (row["starttime"], row["stoptime"]) == (1000 * began, 1000 * ended)
    assert (row["movingtime"], row["totaldistance"]) == (0, 0)
    assert hand.sees("OpenTracks") and hand.sees("Evening") and hand.sees("Record")


def test_a_recording_goes_on_behind_other_pages_and_is_found_again(hand: Hand) -> None:
    hand.tap("Record")
    hand.back()
    hand.phone.pass_time(58)
    assert hand.sees("Tap to see it")
    hand.tap("Show recording")
    assert hand.sees("01:01")
    hand.tap("Stop")
    hand.back()
    hand.tap("Recording stopped", "Resume", "Stop", "Discard", "Cancel")
    assert data.recording(hand.phone)["state"] == "stopped"
    hand.tap("Discard", "Discard")
    assert hand.sees("No activities yet") and data.recording(hand.phone) == data.fresh()["recording"]


def test_a_recording_without_a_name_is_not_saved(hand: Hand) -> None:
    hand.tap("Record", "Stop")
    assert hand.sees("2023-10-15T15:34:01+00:00"), "a name is proposed"
    hand.type("name", "")
    hand.tap("Save")
    assert hand.sees("Please enter a name") and not names(hand)
    with pytest.raises(ValueError, match="got one that is recording"):
        data.run_recording(hand.phone)
        data.save_recording(hand.phone, "x", "", "")


def test_the_type_of_recordings_is_set_once_for_all(hand: Hand) -> None:
    hand.tap("More options", "Settings", "Default activity type", "rowing")
    hand.back()
    hand.tap("Record", "Stop", "Save")
    assert [row["category"] for row in data.tracks(hand.phone)] == ["rowing"]


def test_when_a_recording_began_makes_no_other_state(hand: Hand) -> None:
    later = hand_in(OpenTracks())
    later.phone.pass_time(70)
    for each in (hand, later):
        each.tap("Record")
    before = phone_fingerprint(hand.phone, "")
    assert phone_fingerprint(later.phone, "") == before
    hand.phone.pass_time(70)
    assert phone_fingerprint(hand.phone, "") == before
    hand.tap("Pause")
    assert phone_fingerprint(hand.phone, "") != before


# -- statistics -------------------------------------------------------------------------------------------


def test_statistics_add_up_by_type_and_time(hand: Hand) -> None:
    fill(hand, 17)
    data.add_track(hand.phone, "Regatta", "sailing", hand.phone.now - timedelta(days=2), 60, 16093.44)
    hand.tap("More options", "Aggregated statistics")
    assert hand.sees("running (17)") and hand.sees(words.elapsed(60 * sum(range(10, 27)))) and hand.sees("sailing (1)")
    hand.tap("This month")
    assert hand.sees("running (15)")
    hand.tap("This week")
    assert hand.sees("running (7)") and hand.sees("1:31:00") and hand.sees("13.05 mi") and hand.sees("10.00 mi")


def test_statistics_of_what_is_chosen(hand: Hand) -> None:
    fill(hand, 3)
    hand.hold("Outing 0")
    hand.tap("Outing 2", "Aggregated statistics")
    assert hand.sees("running (2)") and hand.sees("22:00") and not hand.sees("This week")


def test_statistics_of_nothing(hand: Hand) -> None:
    hand.tap("More options", "Aggregated statistics", "This week")
    assert hand.sees("No activities in this time") and data.totals([]) == []


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)))
def test_a_week_begins_on_the_last_monday(day: date) -> None:
    monday = data.week_of(day)
    assert monday.weekday() == 0 and monday <= day < monday + timedelta(days=7)


# -- the database -----------------------------------------------------------------------------------------


def test_rows_that_come_from_elsewhere_are_shown_whatever_is_null(hand: Hand) -> None:
    databases.query(
        hand.phone,
        DATABASE,
        "INSERT INTO tracks (name, starttime) VALUES ('Odd', 99999999999999999); "
        "INSERT INTO tracks (category) VALUES ('surfing')",
    )
    hand.phone.changed()
    hand.tap("Odd")
    assert hand.sees("0.00 ft") and hand.sees("Friday, December 31, 9999, 23:59")
    hand.back()
    hand.tap("surfing")
    hand.tap("Edit")
    hand.type("Name", "Waves")
    hand.tap("Save")
    assert names(hand) == ["Odd", "Waves"]


def test_the_file_has_what_was_added(hand: Hand) -> None:
    fill(hand, 2)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(databases.dump(hand.phone, DATABASE))
        found = connection.execute("SELECT name, totaltime, length(uuid) FROM tracks ORDER BY _id").fetchall()
    assert found == [("Outing 0", 600_000, 16), ("Outing 1", 660_000, 16)]
    before = hand.phone.save()
    databases.load(hand.phone, DATABASE, databases.dump(hand.phone, DATABASE))
    assert hand.phone.save() == before


def test_there_is_no_such_activity(hand: Hand) -> None:
    with pytest.raises(KeyError, match="id of an activity"):
        data.change_track(hand.phone, 77, "x", "", "")
    assert data.track(hand.phone, 77) is None


def test_pages_have_their_activities(hand: Hand) -> None:
    fill(hand, 1)
    assert hand.phone.activity == "de.dennisguse.opentracks/de.dennisguse.opentracks.TrackListActivity"
    hand.tap("Outing 0")
    assert hand.phone.activity.endswith(".TrackRecordedActivity")
