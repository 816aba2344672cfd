"""Fetching data: from a real server on this machine that cuts, refuses and errs, and from archives that mean harm."""

import hashlib
import os
import re
import stat
import struct
import threading
import zipfile
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backtrail.benchmarks import download
from backtrail.benchmarks.download import DownloadError, check_alfworld, fetch, has_alfworld, unpack

BODY = bytes(range(256)) * 4000  # a megabyte


@dataclass
class Server:
    """What the server does, and what it was asked."""

    body: bytes = BODY
    ranges: bool = True
    cuts: list[int] = field(default_factory=list)
    """Bytes after which each of the next answers is cut off."""
    statuses: list[int] = field(default_factory=list)
    """Statuses of the next answers."""
    wrong_range: bool = False
    length: bool = True
    asked: list[str] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def server():
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            wanted = self.headers.get("Range", "")
            state.asked.append(wanted)
            if state.statuses:
                self.send_error(state.statuses.pop(0))
                return
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and state.ranges else 0
            if start >= len(state.body):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(state.body)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206 if wanted and state.ranges else 200)
            if wanted and state.ranges:
                first = start + 1 if state.wrong_range else start
                self.send_header("Content-Range", f"bytes {first}-{len(state.body) - 1}/{len(state.body)}")
            rest = state.body[start:]
            if state.length:
                self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            self.wfile.write(rest[: state.cuts.pop(0)] if state.cuts else rest)

        def log_message(self, format, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        state.url = f"http://127.0.0.1:{http.server_port}/data.zip"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield state
        http.shutdown()
        thread.join()


@pytest.fixture
def target(tmp_path) -> Path:
    return tmp_path / "new" / "data.zip"


def left(target: Path) -> list[str]:
    return sorted(file.name for file in target.parent.iterdir())


def test_a_file_is_fetched(server, target):
    seen: list[tuple[int, int]] = []
    fetch(server.url, target, progress=lambda done, total: seen.append((done, total)))
    assert target.read_bytes() == BODY
    assert seen[-1] == (len(BODY), len(BODY))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert left(target) == ["data.zip"]


def test_a_cut_connection_is_taken_up_again(server, target):
    server.cuts = [300_000, 300_000]
    fetch(server.url, target, wait=0)
    assert target.read_bytes() == BODY
    assert server.asked == ["", "bytes=300000-", "bytes=600000-"]


def test_an_interrupted_download_goes_on_in_the_next_call(server, target):
    server.cuts = [100_000] * 5
    with pytest.raises(DownloadError, match=r"5 tries have failed.*cut at 500,000 of 1,024,000 bytes\. Run it again"):
        fetch(server.url, target, wait=0)
    assert left(target) == ["data.zip.part"]
    server.asked.clear()
    fetch(server.url, target, wait=0)
    assert server.asked == ["bytes=500000-"]
    assert target.read_bytes() == BODY
    assert left(target) == ["data.zip"]


def test_a_server_without_ranges_sends_all_again(server, target):
    server.ranges = False
    server.cuts = [300_000]
    fetch(server.url, target, wait=0)
    assert server.asked == ["", "bytes=300000-"]
    assert target.read_bytes() == BODY


def test_a_server_that_sends_another_part_is_asked_for_all(server, target):
    server.wrong_range = True
    server.cuts = [300_000]
    fetch(server.url, target, wait=0)
    assert server.asked == ["", "bytes=300000-", ""]
    assert target.read_bytes() == BODY


def test_a_server_that_does_not_say_how_long(server, target):
    server.length = False
    fetch(server.url, target)
    assert target.read_bytes() == BODY


@pytest.mark.parametrize("there", [BODY, BODY + b"more"])
def test_what_is_complete_or_too_long_already(server, target, there):
    target.parent.mkdir()
    target.with_name("data.zip.part").write_bytes(there)
    fetch(server.url, target, wait=0)
    assert target.read_bytes() == BODY


def test_a_busy_server_is_asked_again(server, target):
    server.statuses = [503, 429]
    fetch(server.url, target, wait=0)
    assert target.read_bytes() == BODY


@pytest.mark.parametrize("status", [404, 403])
def test_a_refusal_is_an_error_at_once(server, target, status):
    server.statuses = [status]
    with pytest.raises(DownloadError, match=rf"data.zip: the server answered {status} "):
        fetch(server.url, target)
    assert server.asked == [""]


def test_a_file_on_this_machine_is_fetched_as_well(tmp_path, target):
    (tmp_path / "mirror.zip").write_bytes(BODY)
    fetch((tmp_path / "mirror.zip").as_uri(), target)
    assert target.read_bytes() == BODY
    with pytest.raises(DownloadError, match="No such file"):
        fetch((tmp_path / "nothing.zip").as_uri(), target)


def test_no_server_is_an_error_at_once(target):
    with pytest.raises(DownloadError, match=r"http://127.0.0.1:9/x cannot be fetched: .*refused"):
        fetch("http://127.0.0.1:9/x", target)


def test_a_bad_address_is_an_error(target):
    with pytest.raises(DownloadError, match="cannot be fetched"):
        fetch("nonsense", target)


def test_another_file_than_expected_is_deleted(server, target):
    with pytest.raises(DownloadError, match=r"expected a file with SHA-256 0000.*They were deleted"):
        fetch(server.url, target, sha256="0" * 64)
    assert left(target) == []
    for _ in range(2):
        fetch(server.url, target, sha256=hashlib.sha256(BODY).hexdigest())
    assert target.read_bytes() == BODY
    assert server.asked == ["", ""]  # the last call found it in place


# -- unpacking --------------------------------------------------------------------------------------------


def archive(path: Path, files: dict[str, bytes], **attributes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in files.items():
            member = zipfile.ZipInfo(name)
            for key, value in attributes.items():
                setattr(member, key, value)
            bundle.writestr(member, content)
    return path


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


FILES = {"top/a.txt": b"a" * 5000, "top/deep/b.txt": b"", "top/c.txt": b"c"}


def test_files_are_unpacked_once(tmp_path):
    zipped = archive(tmp_path / "x.zip", FILES | {"top/empty/": b""})
    seen: list[tuple[int, int]] = []
    assert unpack(zipped, tmp_path / "out", progress=lambda done, total: seen.append((done, total))) == 3
    assert files_in(tmp_path / "out") == FILES
    assert seen == [(1, 3), (2, 3), (3, 3)]
    (tmp_path / "out" / "top" / "c.txt").unlink()
    assert unpack(zipped, tmp_path / "out") == 1  # only what is missing


def test_files_that_are_there_are_not_replaced_unasked(tmp_path):
    zipped = archive(tmp_path / "x.zip", FILES)
    mine = tmp_path / "out" / "top" / "c.txt"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"m")
    with pytest.raises(DownloadError, match=r"c.txt is another file than the archive's.*--force"):
        unpack(zipped, tmp_path / "out")
    assert mine.read_bytes() == b"m"
    unpack(zipped, tmp_path / "out", force=True)
    assert files_in(tmp_path / "out") == FILES


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", "C:/x", "C:x", "a\\..\\..\\x", "..\\x"])
def test_an_archive_cannot_reach_outside(tmp_path, name):
    zipped = archive(tmp_path / "x.zip", {"fine.txt": b"1", name: b"2"})
    with pytest.raises(DownloadError, match="outside its folder: nothing was unpacked"):
        unpack(zipped, tmp_path / "deep" / "out")
    assert files_in(tmp_path) == {"x.zip": zipped.read_bytes()}


def test_an_archive_cannot_plant_links(tmp_path):
    zipped = archive(tmp_path / "x.zip", {"link": b"/etc"}, create_system=3, external_attr=(stat.S_IFLNK | 0o777) << 16)
    with pytest.raises(DownloadError, match="outside its folder"):
        unpack(zipped, tmp_path / "out")


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400), st.integers(0, 1000))
def test_a_damaged_archive_is_an_error_or_intact(tmp_path_factory, noise, at):
    folder = tmp_path_factory.mktemp("zip")
    zipped = archive(folder / "x.zip", FILES)
    data = bytearray(zipped.read_bytes())
    data[at % len(data) : at % len(data) + len(noise)] = noise
    zipped.write_bytes(data)
    try:
        unpack(zipped, folder / "out")
    except DownloadError:
        assert not list(folder.rglob("*.part"))
    else:
        assert set(files_in(folder / "out").values()) <= set(FILES.values())


def test_a_file_that_is_no_archive(tmp_path):
    (tmp_path / "x.zip").write_bytes(b"<html>Sign in</html>")
    with pytest.raises(DownloadError, match="is not an intact zip file"):
        unpack(tmp_path / "x.zip", tmp_path / "out")


def test_a_wrong_checksum_in_the_archive_is_found(tmp_path):
    zipped = archive(tmp_path / "x.zip", {"a.txt": b"a" * 100})
    data = zipped.read_bytes()
    (crc,) = struct.unpack("<I", data[14:18])
    zipped.write_bytes(data.replace(struct.pack("<I", crc), struct.pack("<I", crc ^ 1)))
    with pytest.raises(DownloadError, match=r"x.zip is not an intact zip file \(Bad CRC-32"):
        unpack(zipped, tmp_path / "out")
    assert files_in(tmp_path / "out") == {}


def test_a_disk_that_is_too_small(tmp_path, monkeypatch):
    monkeypatch.setattr(download.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 10})())
    with pytest.raises(DownloadError, match=r"Expected 0 MB free for .*, got 0 MB"):
        unpack(archive(tmp_path / "x.zip", FILES), tmp_path / "out")
    assert files_in(tmp_path / "out") == {}


# -- what came --------------------------------------------------------------------------------------------


def test_too_few_games_are_not_the_official_ones(tmp_path):
    with pytest.raises(DownloadError, match=r"found \{'train': 0, 'valid_seen': 0, 'valid_unseen': 0\}"):
        check_alfworld(tmp_path)
    game = tmp_path / "json_2.1.1" / "train" / "pick_and_place_simple-A-None-B-1" / "trial" / "game.tw-pddl"
    game.parent.mkdir(parents=True)
    game.write_text("{}")
    assert not has_alfworld(tmp_path)
    with pytest.raises(DownloadError, match=r"Expected ALFWorld games \{'train': 3553.*found \{'train': 1"):
        check_alfworld(tmp_path)


@pytest.mark.parametrize("content", ["{", "{}", '{"pddl_domain": "", "grammar": "", "pddl_problem": ""}'])
def test_games_that_are_damaged_or_of_other_rules_are_named(tmp_path, monkeypatch, content):
    monkeypatch.setattr(download, "GAMES", {"train": 1, "valid_seen": 0, "valid_unseen": 0})
    game = tmp_path / "train" / "pick_and_place_simple-A-None-B-1" / "trial" / "game.tw-pddl"
    game.parent.mkdir(parents=True)
    game.write_text(content)
    with pytest.raises(DownloadError, match=re.escape("pick_and_place_simple-A-None-B-1")):
        check_alfworld(tmp_path)


def official_folder() -> Path | None:
    given = os.environ.get("ALFWORLD_DATA")
    return Path(given) if given and has_alfworld(Path(given)) else None


@pytest.mark.official
@pytest.mark.slow
@pytest.mark.skipif(official_folder() is None, reason="ALFWORLD_DATA does not hold the official games")
def test_the_official_games_pass(tmp_path):
    folder = official_folder()
    assert folder is not None
    seen: list[tuple[int, int]] = []
    assert check_alfworld(folder, lambda done, total: seen.append((done, total))) == download.GAMES
    assert seen[-1] == (3827, 3827)
