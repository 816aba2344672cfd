"""Films and sounds: listing, choosing, playlists, files that come and go, the player's clock, the database."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from touching import Hand, hand_in

from backtrail.envs.androidworld.phone import Phone, databases
from backtrail.envs.androidworld.phone.apps import files, vlc_player
from backtrail.envs.androidworld.phone.apps import vlc_data as data
from backtrail.envs.androidworld.phone.apps.files import Files
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.vlc import Vlc
from backtrail.envs.androidworld.phone.files import SHARED, as_text
from backtrail.envs.androidworld.phone.film import describe_film
from backtrail.envs.androidworld.phone.identity import phone_fingerprint

DATABASE = "/data/data/org.videolan.vlc/app_db/vlc_media.db"
LENGTHS = {"hike.mp4": 75, "Lake.mp4": 200, "lake_cut.mp4": 31, "snow.mp4": 20}


@pytest.fixture
def hand() -> Hand:
    hand = hand_in(Vlc())
    for name, length in LENGTHS.items():
        data.add_video(hand.phone, name, length)
    hand.phone.changed()
    return hand


def paths(*names: str) -> list[str]:
    return [f"{data.VIDEOS}/{name}" for name in names]


def lists(phone: Phone) -> dict[str, list[str]]:
    """Return the playlists as another program reads them from the database: names of files by name of playlist, in order."""
    sql = (
        "SELECT name, filename, position FROM PlaylistMediaRelation JOIN Playlist ON id_playlist = playlist_id "
        "JOIN Media ON id_media = media_id ORDER BY name, position"
    )
    found: dict[str, list[str]] = {row["name"]: [] for row in data.playlists(phone)}
    for title, name, position in databases.select(phone, DATABASE, sql)[1]:
        assert position == len(found[title]), "positions count from 0"
        found[title].append(name)
    return found


def mp4(ticks: int, rate: int, version: int = 0) -> bytes:
    """Return a file with the boxes of a film but no picture."""

    def box(name: bytes, content: bytes, long: bool = False) -> bytes:
        size = len(content) + (16 if long else 8)
        return b"\0\0\0\1" + name + size.to_bytes(8) + content if long else size.to_bytes(4) + name + content

    wide = 8 if version else 4
    header = bytes([version, 0, 0, 0]) + bytes(2 * wide) + rate.to_bytes(4) + ticks.to_bytes(wide) + bytes(80)
    return (
        box(b"ftyp", b"isom")
        + box(b"mdat", b"\xff\xfe" * 3000, long=bool(version))
        + box(b"moov", box(b"mvhd", header))
    )


# -- files ------------------------------------------------------------------------------------------------


def test_a_new_phone_has_no_media_and_no_playlists() -> None:
    hand = hand_in(Vlc())
    assert hand.sees("No media files found")
    hand.tap("Playlists")
    assert hand.sees("No playlists yet")
    hand.tap("More", "History")
    assert hand.sees("Nothing was played yet")


def test_films_are_listed_by_name_with_their_length(hand: Hand) -> None:
    shown = [text for text in hand.texts() if text.endswith(".mp4")]
    assert shown == ["hike.mp4", "Lake.mp4", "lake_cut.mp4", "snow.mp4"] and hand.sees("3:20 · VLCVideos")
    hand.tap("More options", "Sort by…", "Length, descending")
    shown = [text for text in hand.texts() if text.endswith(".mp4")]
    assert shown == ["Lake.mp4", "hike.mp4", "lake_cut.mp4", "snow.mp4"]


def test_sounds_are_listed_apart(hand: Hand) -> None:
    hand.phone.files.write(f"{SHARED}/Music/song.mp3", json.dumps({"title": "Song", "duration": 61_000}))
    hand.phone.files.write(f"{SHARED}/Download/page.html", "<p>")
    hand.phone.changed()
    assert not hand.sees("song.mp3")
    hand.tap("Audio")
    assert (
        hand.sees("song.mp3") and hand.sees("1:01 · Music") and not hand.sees("snow.mp4") and not hand.sees("page.html")
    )


def test_folders_are_gone_through(hand: Hand) -> None:
    hand.tap("Browse", "Internal memory", "VLCVideos")
    assert hand.sees("snow.mp4") and hand.sees("0:20") and hand.sees("Internal memory > VLCVideos")
    hand.tap("More actions for snow.mp4", "Information")
    assert hand.sees("0:20") and hand.sees(data.VIDEOS)


def test_search_finds_words_of_names(hand: Hand) -> None:
    data.add_playlist(hand.phone, "Lake and snow", paths("snow.mp4"))
    hand.tap("Search")
    hand.type("words", "lake")
    assert (
        hand.sees("Lake.mp4") and hand.sees("lake_cut.mp4") and hand.sees("Lake and snow") and not hand.sees("hike.mp4")
    )
    hand.type("words", "lake zoo")
    assert hand.sees("Nothing found")


def test_a_film_is_deleted_after_a_question_from_phone_and_playlists(hand: Hand) -> None:
    data.add_playlist(hand.phone, "Mine", paths("snow.mp4", "hike.mp4"))
    hand.tap("More actions for snow.mp4", "Delete", "Cancel")
    assert hand.phone.files.exists(*paths("snow.mp4"))
    hand.tap("More actions for snow.mp4", "Delete", "Delete")
    assert not hand.phone.files.exists(*paths("snow.mp4")) and lists(hand.phone) == {"Mine": ["hike.mp4"]}


# -- playlists --------------------------------------------------------------------------------------------


def test_a_playlist_has_the_files_in_the_order_in_which_they_were_chosen(hand: Hand) -> None:
    hand.hold("snow.mp4")
    hand.tap("hike.mp4", "Lake.mp4", "hike.mp4", "lake_cut.mp4", "Add to playlist")
    hand.type("New playlist", "Winter")
    hand.tap("Save")
    assert lists(hand.phone) == {"Winter": ["snow.mp4", "Lake.mp4", "lake_cut.mp4"]}
    assert hand.sees("3 tracks added to Winter")
    hand.tap("Playlists", "Winter")
    assert hand.sees("3 tracks · 4:11") and hand.sees("1 of 3 · 0:20")


def test_enter_saves_too(hand: Hand) -> None:
    hand.tap("More actions for snow.mp4", "Add to playlist")
    hand.type("New playlist", "Winter")
    hand.phone.enter()
    hand.check()
    assert lists(hand.phone) == {"Winter": ["snow.mp4"]} and not hand.sees("Add to playlist")


def test_a_playlist_needs_a_name_of_its_own(hand: Hand) -> None:
    data.add_playlist(hand.phone, "Winter")
    hand.tap("More actions for snow.mp4", "Add to playlist", "Save")
    assert hand.sees("Please enter a name")
    hand.type("New playlist", "winter ")
    hand.tap("Save")
    assert hand.sees("There is already such a playlist") and hand.sees("Add to playlist")
    hand.tap("Cancel")
    assert lists(hand.phone) == {"Winter": []}


def test_files_are_put_behind_those_that_a_playlist_has_each_once(hand: Hand) -> None:
    data.add_playlist(hand.phone, "Winter", paths("snow.mp4"))
    for _ in range(2):
        hand.hold("snow.mp4")
        hand.tap("hike.mp4", "Add to playlist", "Winter")
        assert lists(hand.phone) == {"Winter": ["snow.mp4", "hike.mp4"]}
        hand.phone.pass_time(5)
    hand.tap("More actions for hike.mp4", "Add to playlist", "Winter")
    assert hand.sees("Already in Winter")


def test_entries_move_and_go(hand: Hand) -> None:
    data.add_playlist(hand.phone, "Winter", paths("snow.mp4", "hike.mp4", "Lake.mp4"))
    hand.tap("Playlists", "Winter", "More actions for snow.mp4")
    assert hand.sees("Move down") and not hand.sees("Move up")
    hand.tap("Move down", "More actions for Lake.mp4", "Move up")
    assert lists(hand.phone) == {"Winter": ["hike.mp4", "Lake.mp4", "snow.mp4"]}
    hand.tap("More actions for Lake.mp4", "Remove from playlist")
    assert lists(hand.phone) == {"Winter": ["hike.mp4", "snow.mp4"]} and hand.phone.files.exists(*paths("Lake.mp4"))


def test_a_playlist_is_renamed_and_deleted_and_its_files_stay(hand: Hand) -> None:
    data.add_playlist(hand.phone, "Winter", paths("snow.mp4"))
    hand.tap("Playlists", "More actions for Winter", "Rename")
    hand.type("Name", "Cold days")
    hand.tap("OK")
    assert lists(hand.phone) == {"Cold days": ["snow.mp4"]}
    hand.tap("Cold days", "More options", "Delete", "Cancel", "More options", "Delete", "Delete")
    assert not lists(hand.phone) and hand.sees("No playlists yet") and hand.phone.files.exists(*paths("snow.mp4"))


def test_a_file_that_is_gone_is_still_named_in_its_playlist(hand: Hand) -> None:
    data.add_playlist(hand.phone, "Winter", paths("snow.mp4", "hike.mp4"))
    hand.phone.files.remove(*paths("snow.mp4"))
    hand.phone.changed()
    hand.tap("Playlists", "Winter")
    assert hand.sees("No longer on this phone")
    hand.tap("snow.mp4")
    assert hand.sees("This file is no longer there") and hand.sees("Winter")


# -- the database -----------------------------------------------------------------------------------------


def test_the_tables_have_no_row_that_nothing_needs(hand: Hand) -> None:
    phone = hand.phone
    fresh = phone.save()
    number = data.add_playlist(phone, "Winter", paths("snow.mp4"))
    data.delete_playlist(phone, number)
    assert phone.save() == fresh


@given(seed=st.integers(0, 10**6))
def test_playlists_are_what_was_last_done_to_them_whatever_the_way(seed: int) -> None:
    rng, phone = random.Random(seed), hand_in(Vlc()).phone
    number, other = data.add_playlist(phone, "One"), data.add_playlist(phone, "Two", paths("x.mp4", "y.mp4"))
    wanted: list[str] = []
    for _ in range(12):
        place = rng.randrange(len(wanted) + 1)
        if place == len(wanted) or rng.random() < 0.5:
            (path,) = paths(f"{rng.randrange(6)}.mp4")
            wanted += [path] if path not in wanted else []
            data.add_to_playlist(phone, number, [path])
        elif rng.random() < 0.5:
            del wanted[place]
            data.remove_from_playlist(phone, number, place)
        elif place + 1 < len(wanted):
            wanted[place : place + 2] = wanted[place + 1], wanted[place]
            data.move_in_playlist(phone, number, place, 1)
        assert data.entries(phone, number) == wanted and data.entries(phone, other) == paths("x.mp4", "y.mp4")
    again = hand_in(Vlc()).phone
    data.add_playlist(again, "One", wanted)
    data.add_playlist(again, "Two", paths("x.mp4", "y.mp4"))
    assert again.data(data.KEY) == phone.data(data.KEY)


def test_what_another_program_writes_is_shown(hand: Hand) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(databases.dump(hand.phone, DATABASE))
        connection.execute("INSERT INTO Playlist VALUES (7, 'Theirs')")
        connection.execute("INSERT INTO Media VALUES (3, 'snow.mp4'), (4, 'unknown.mp4')")
        connection.execute("INSERT INTO PlaylistMediaRelation VALUES (4, 7, 1), (3, 7, 0), (99, 7, 2)")
        connection.commit()
        databases.load(hand.phone, DATABASE, connection.serialize())
    hand.phone.changed()
    assert data.entries(hand.phone, 7) == paths("snow.mp4", "unknown.mp4")
    hand.tap("Playlists", "Theirs")
    assert hand.sees("1 of 2 · 0:20") and hand.sees("No longer on this phone")
    content = databases.dump(hand.phone, DATABASE)
    databases.load(hand.phone, DATABASE, content)
    assert databases.dump(hand.phone, DATABASE) == content


def test_films_of_one_name_in_two_folders_are_two(hand: Hand) -> None:
    other = data.add_video(hand.phone, "snow.mp4", 99, f"{SHARED}/Movies")
    number = data.add_playlist(hand.phone, "Both", [other, *paths("snow.mp4")])
    databases.load(hand.phone, DATABASE, databases.dump(hand.phone, DATABASE))
    assert data.entries(hand.phone, number) == [other, *paths("snow.mp4")]


# -- the player -------------------------------------------------------------------------------------------


def test_a_film_plays_by_the_phones_clock_until_it_ends(hand: Hand) -> None:
    hand.tap("snow.mp4")
    assert hand.phone.activity == "org.videolan.vlc/org.videolan.vlc.gui.video.VideoPlayerActivity"
    assert hand.sees("This phone shows no moving pictures: the name stands for the film") and hand.sees("0:01")
    hand.phone.pass_time(5)
    assert hand.sees("0:06")
    hand.tap("Pause")
    hand.phone.pass_time(100)
    assert hand.sees("0:06") and not vlc_player.playing(hand.phone)
    hand.tap("Play")
    hand.slide("Position", 0.5)
    assert abs(vlc_player.position(hand.phone) - 11) <= 1
    hand.phone.pass_time(9)
    assert hand.sees("VLC") and not vlc_player.current(hand.phone)


def test_a_playlist_plays_one_film_after_the_other(hand: Hand) -> None:
    data.add_playlist(hand.phone, "Winter", paths("snow.mp4", "gone.mp4", "hike.mp4", "Lake.mp4"))
    hand.tap("Playlists", "Winter", "Play all")
    assert hand.sees("1 of 3")
    hand.phone.pass_time(29)
    assert hand.sees("2 of 3") and hand.sees("hike.mp4") and hand.sees("0:10")
    hand.tap("Next", "Next")
    assert hand.sees("3 of 3") and hand.sees("Lake.mp4")
    hand.tap("Previous", "Previous", "Previous")
    assert hand.sees("1 of 3") and hand.sees("snow.mp4")
    hand.back()
    assert not vlc_player.playing(hand.phone) and hand.sees("Winter")
    hand.back()
    hand.tap("More", "History")
    assert [text for text in hand.texts() if text.endswith(".mp4")] == ["snow.mp4", "hike.mp4", "Lake.mp4"]


def test_where_a_film_is_counts_not_when_it_was_played(hand: Hand) -> None:
    fresh, prints = hand.phone.save(), []
    for wait in (0, 500):
        hand.phone.load(fresh)
        hand.phone.pass_time(wait)
        hand.tap("Lake.mp4")
        hand.phone.pass_time(10)
        prints.append(phone_fingerprint(hand.phone, ""))
    hand.phone.pass_time(1)
    assert prints[0] == prints[1] != phone_fingerprint(hand.phone, "")


def test_files_hands_films_and_sounds_over() -> None:
    hand = Hand(Phone([Launcher(), Files(), Vlc()], set_ups=[files.set_up]))
    data.add_video(hand.phone, "snow.mp4", 20)
    hand.tap("Files", "Show roots", "Videos", "snow.mp4", "VLC")
    assert vlc_player.playing(hand.phone) and vlc_player.current(hand.phone) == paths("snow.mp4")[0]
    assert hand.sees("0:20") and hand.phone.top["app"] == "vlc"
    hand.back()
    assert hand.phone.top["app"] == "files" and not vlc_player.playing(hand.phone)


# -- lengths ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 1])
def test_the_length_of_a_real_film_is_read_from_its_header(hand: Hand, version: int) -> None:
    content = mp4(90_000 * 83, 90_000, version)
    assert describe_film(content) == {"type": "video", "duration": 83}
    hand.phone.files.write(f"{data.VIDEOS}/real.mp4", as_text(content))
    assert data.seconds(hand.phone, *paths("real.mp4")) == 83
    assert len(hand.phone.files.read(*paths("real.mp4")) or "") < 100, "the pictures are not kept"


@given(content=st.binary(max_size=80) | st.binary(max_size=80).map(lambda tail: b"\0\0\0\x08ftyp" + tail))
def test_the_length_of_what_is_no_film_is_unknown(content: bytes) -> None:
    assert describe_film(content) is None
    whole = mp4(5000, 1000)
    for end in (4, 12, 20, 6000, len(whole) - 90):
        assert describe_film(whole[:end]) is None
    assert describe_film(whole.replace(b"isom", b"M4A ")) is None, "sound is no film"


@pytest.mark.parametrize(
    "text", ["", "[]", '{"duration": "long"}', '{"duration": -4}', "data:application/octet-stream;base64,AAAAA"]
)
def test_a_file_that_does_not_say_its_length_is_played_for_a_second(hand: Hand, text: str) -> None:
    hand.phone.files.write(f"{data.VIDEOS}/odd.mp4", text)
    hand.phone.changed()
    assert data.seconds(hand.phone, *paths("odd.mp4")) == 0
    hand.tap("odd.mp4")
    assert hand.sees("VLC") and not vlc_player.current(hand.phone)
