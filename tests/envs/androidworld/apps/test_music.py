"""Music: songs from files, the queue on the phone's clock, playlists and their order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from touching import Hand, hand_in

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import music_data as data
from backtrail.envs.androidworld.phone.apps import music_player as player
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.music import Music

NAMES = ("Bright Lights", "Dreamer's Awake", "Golden Days", "Moments", "Night Drive")


@pytest.fixture
def hand() -> Hand:
    hand = hand_in(Music())
    for name in NAMES:
        data.add_song(hand.phone, name, "Emma" if name < "G" else "Noah", 200_000)
    hand.phone.changed()
    return hand


def queued(hand: Hand) -> list[str]:
    return [row["title"] for row in player.queue(hand.phone)]


def in_playlist(hand: Hand, name: str) -> list[str]:
    number = next(row["playlist_id"] for row in data.playlists(hand.phone) if row["playlist_name"] == name)
    return [row["title"] for row in data.playlist_songs(hand.phone, number)]


def test_songs_are_the_files_of_the_music_directory(hand: Hand) -> None:
    assert hand.sees("5 songs") and [row["title"] for row in data.songs(hand.phone)] == list(NAMES)
    hand.phone.files.write("/sdcard/Music/more/Plain.ogg", "no tags")
    hand.phone.files.write("/sdcard/Music/cover.jpg", "{}")
    hand.phone.files.remove("/sdcard/Music/Moments.mp3")
    hand.phone.changed()
    assert hand.sees("Plain") and hand.sees("Unknown artist · 0:00") and not hand.sees("Moments")
    assert not hand.sees("cover")


def test_a_phone_without_songs_says_so() -> None:
    hand = hand_in(Music())
    assert hand.sees("No songs on this phone")
    hand.tap("Artists")
    assert hand.sees("No artists")
    hand.tap("Playlists")
    assert hand.sees("No playlists yet")


def test_a_tap_plays_from_there_on_by_the_clock(hand: Hand) -> None:
    hand.tap("Night Drive")
    assert queued(hand) == list(NAMES) and player.playing(hand.phone)
    hand.phone.pass_time(60)
    assert player.position(hand.phone) == 61_000


def test_the_player_pauses_skips_and_shows_the_time(hand: Hand) -> None:
    hand.tap("Bright Lights")
    left, top, right, bottom = next(v.bounds for v in hand.phone.tree.walk() if v.resource.endswith("mini_player"))
    hand.phone.tap(left + 300, (top + bottom) // 2)
    hand.phone.pass_time(8)
    assert hand.sees("0:10") and hand.sees("3:20")
    hand.tap("Pause")
    at = player.position(hand.phone)
    hand.phone.pass_time(100)
    assert player.position(hand.phone) == at and hand.sees("Play")
    hand.tap("Play", "Next")
    assert hand.sees("Dreamer's Awake")
    hand.tap("Previous", "Previous")
    assert hand.sees("Night Drive")
    hand.tap("Repeat: off")
    assert player.repeat(hand.phone) == "all"
    assert right > left


def test_songs_follow_each_other_and_stop_at_the_end(hand: Hand) -> None:
    hand.tap("Moments")
    hand.phone.pass_time(210)
    row = player.current(hand.phone)
    assert row is not None and row["title"] == "Night Drive" and player.position(hand.phone) == 11_000
    hand.phone.pass_time(3600)
    assert not player.playing(hand.phone) and player.position(hand.phone) == 0


@given(st.lists(st.integers(0, 3_000), min_size=1, max_size=8), st.sampled_from(["off", "all", "one"]))
def test_it_makes_no_difference_in_how_many_pieces_time_passes(pieces: list[int], repeat: str) -> None:
    phones = [Phone([Launcher(), Music()]) for _ in range(2)]
    for phone, times in zip(phones, ([sum(pieces)], pieces), strict=True):
        for number, length in enumerate((0, 90_000, 130_000)):
            data.add_song(phone, f"Song {number}", "A", length)
        player.play(phone, data.songs(phone), 1)
        phone.data(data.KEY)["player"]["repeat"] = repeat
        for seconds in times:
            phone.pass_time(seconds)
    states = [(phone.data(data.KEY)["player"]["place"], player.position(phone)) for phone in phones]
    assert states[0] == states[1] and player.playing(phones[0]) == player.playing(phones[1])


def test_songs_are_added_to_the_queue_in_order_without_being_played(hand: Hand) -> None:
    for name in ("Moments", "Bright Lights"):
        hand.tap(f"More options for {name}", "Add to playing queue")
    assert queued(hand) == ["Moments", "Bright Lights"] and not player.playing(hand.phone)
    hand.tap("More options for Golden Days", "Play next")
    assert queued(hand) == ["Moments", "Golden Days", "Bright Lights"]
    first = player.queue(hand.phone)[0]
    assert {"_id", "title", "track", "year", "duration", "_data", "date_modified", "album_id", "album", "artist_id",
            "artist", "composer"} <= set(first)  # fmt: skip


def test_the_queue_is_changed_and_cleared(hand: Hand) -> None:
    hand.tap("Golden Days")
    hand.phone.go("queue")
    hand.phone.changed()
    hand.tap("More options for Golden Days", "Move up")
    assert queued(hand)[:3] == ["Bright Lights", "Golden Days", "Dreamer's Awake"]
    hand.tap("More options for Bright Lights", "Remove from queue")
    row = player.current(hand.phone)
    assert row is not None and row["title"] == "Golden Days"
    hand.tap("More options for Golden Days", "Remove from queue")
    row = player.current(hand.phone)
    assert row is not None and row["title"] == "Dreamer's Awake" and player.playing(hand.phone)
    hand.tap("Clear queue", "Clear")
    assert not queued(hand) and hand.sees("The queue is empty") and not player.playing(hand.phone)


def test_a_playlist_is_made_of_songs_in_the_order_in_which_they_were_chosen(hand: Hand) -> None:
    hand.hold("Moments")
    hand.tap("Bright Lights", "Night Drive", "Night Drive")
    assert hand.sees("2 selected")
    hand.tap("Add to playlist", "New playlist", "Create")
    assert hand.sees("Please enter a name")
    hand.type("Playlist name", "R&B Favorites 7")
    hand.tap("Create", "Playlists")
    assert in_playlist(hand, "R&B Favorites 7") == ["Moments", "Bright Lights"]
    assert hand.sees("2 songs · 6:40")
    columns = {"song_key", "playlist_creator_id", "id", "title", "track_number", "year", "duration", "data",
               "date_modified", "album_id", "album_name", "artist_id", "artist_name", "composer",
               "album_artist"}  # fmt: skip
    assert all(set(row) == columns for row in hand.phone.data("music")["SongEntity"])


def test_songs_are_added_once_and_moved(hand: Hand) -> None:
    hand.tap("Playlists", "New playlist")
    hand.type("Playlist name", "Mix")
    hand.tap("Create", "Songs")
    for name in ("Moments", "Golden Days", "Moments"):
        hand.tap(f"More options for {name}", "Add to playlist", "Mix")
    assert hand.sees("Already in Mix") and in_playlist(hand, "Mix") == ["Moments", "Golden Days"]
    hand.tap("Playlists", "Mix", "More options for 2. Golden Days", "Move up")
    assert in_playlist(hand, "Mix") == ["Golden Days", "Moments"]
    hand.tap("More options for 2. Moments", "Move down")
    assert in_playlist(hand, "Mix") == ["Golden Days", "Moments"]
    hand.tap("More options for 1. Golden Days", "Remove from playlist")
    assert in_playlist(hand, "Mix") == ["Moments"]
    hand.tap("Play all")
    assert queued(hand) == ["Moments"]


def test_a_playlist_is_renamed_exported_and_deleted(hand: Hand) -> None:
    data.add_playlist(hand.phone, "Old", data.songs(hand.phone)[:2])
    hand.phone.changed()
    hand.tap("Playlists", "More options for Old", "Rename")
    hand.type("Playlist name", "New")
    hand.tap("Rename", "More options for New", "Save as file", "Download")
    text = hand.phone.files.read("/sdcard/Download/New.m3u")
    assert text is not None and "/storage/emulated/0/Music/Bright Lights.mp3" in text.splitlines()
    hand.tap("New", "More options", "Delete", "Cancel", "More options", "Delete", "Delete")
    assert not data.playlists(hand.phone) and not hand.phone.data("music")["SongEntity"]
    assert hand.sees("No playlists yet")


def test_artists_search_and_order(hand: Hand) -> None:
    hand.tap("Artists", "Noah")
    assert hand.sees("Moments") and not hand.sees("Bright Lights")
    hand.back()
    hand.tap("Search")
    hand.type("Search songs and artists", "emma light")
    assert hand.sees("Bright Lights") and not hand.sees("Golden Days")
    hand.type("Search songs and artists", "xyz")
    assert hand.sees("Nothing found")
    hand.back()
    hand.back()
    data.add_song(hand.phone, "Aaa", "Zoe", 1000)
    hand.phone.changed()
    hand.tap("Songs", "6 songs", "Artist")
    assert hand.texts().index("Aaa") > hand.texts().index("Moments")
