"""Fetching the official ALFWorld games: a download that can be gone on with, a careful unpacking, a check of what came."""

from __future__ import annotations

import hashlib
import http.client
import re
import shutil
import stat
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from backtrail.envs.alfworld.tasks import SPLITS, Tasks

__all__ = ["ALFWORLD_SHA256", "ALFWORLD_URL", "DownloadError", "check_alfworld", "fetch", "unpack"]

ALFWORLD_URL = "https://github.com/alfworld/alfworld/releases/download/0.4.2/json_2.1.3_tw-pddl.zip"
"""The archive that ALFWorld's own ``alfworld-download`` fetches (36,507,267 bytes)."""

ALFWORLD_SHA256 = "5df77ea759f2211a4106082839ddbbb790f1ba4e7d097ed732cf453f72aa36cf"
"""As three independent projects that pin this archive have it."""

GAMES = {"train": 3553, "valid_seen": 140, "valid_unseen": 134}
"""Split to its number of games: those that ALFWorld plays (Shridhar et al., ICLR 2021, table 1)."""

LABEL = "alfworld:json_2.1.3"

_BLOCK = 1 << 18
_TRIES = 5
_BUSY = (429, 500, 502, 503, 504)

Progress = Callable[[int, int], None]


class DownloadError(RuntimeError):
    """Data could not be fetched or unpacked, or is not what was expected."""


def fetch(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    progress: Progress | None = None,
    timeout: float = 30.0,
    wait: float = 2.0,
) -> None:
    """Download a file; what an earlier try has fetched (``target`` + ``.part``) is gone on with where the server allows.

    Nothing is done if the file is there and has the right checksum.

    Args:
        url: Where from.
        target: Where to; there whole or not at all.
        sha256: What the file must be.
        progress: Called with (bytes so far, bytes in all or 0).
        timeout: Seconds without an answer after which a try ends.
        wait: Seconds before another try after the connection was cut.

    Raises:
        DownloadError: If the server cannot be reached, refuses, or sends something else.
    """
    if sha256 is not None and target.exists() and _sha256(target) == sha256:
        return
    part = target.with_name(f"{target.name}.part")
    target.parent.mkdir(parents=True, exist_ok=True)
    reason = ""
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(wait)
        try:
            _fetch_rest(url, part, timeout, progress or (lambda done, total: None))
            break
        except _CutError as cut:
            reason = str(cut)
    else:
        raise DownloadError(f"{url}: {_TRIES} tries have failed, the last one because {reason}. Run it again to go on.")
    if sha256 is not None and (found := _sha256(part)) != sha256:
        size = part.stat().st_size
        part.unlink()
        raise DownloadError(
            f"{url}: expected a file with SHA-256 {sha256}, got {size:,} bytes with {found}. They were deleted."
        )
    part.replace(target)


class _CutError(Exception):
    """A try ended early; another one may get further."""


def _fetch_rest(url: str, part: Path, timeout: float, progress: Progress) -> None:
    """Make one try to get what is missing."""
    have = part.stat().st_size if part.exists() else 0
    try:
        request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
        with urllib.request.urlopen(request, timeout=timeout) as response:
            _save(response, part, have, progress)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and have:
            _judge_416(part, have, error.headers.get("Content-Range"))
        elif error.code in _BUSY:
            raise _CutError(f"the server answered {error.code} {error.reason}") from None
        else:
            raise DownloadError(f"{url}: the server answered {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:  # URLError is an OSError
        raise DownloadError(f"{url} cannot be fetched: {getattr(error, 'reason', error)}") from None


def _save(response: Any, part: Path, have: int, progress: Progress) -> None:
    if response.status == 206 and _first_byte(response.headers.get("Content-Range")) != have:
        part.unlink()
        raise _CutError("the server sent another part of the file than was asked for")
    if response.status != 206:
        have = 0  # the server sends the whole file
    length = response.headers.get("Content-Length")
    total = have + int(length) if length else 0
    with part.open("ab" if have else "wb") as file:
        while block := _read(response):
            file.write(block)
            have += len(block)
            progress(have, total)
    if total and have < total:
        raise _CutError(f"the connection was cut at {have:,} of {total:,} bytes")


def _read(response: Any) -> bytes:
    """Return the next block; a cut connection is an end."""
    try:
        return response.read(_BLOCK)
    except (TimeoutError, ConnectionError, http.client.IncompleteRead):
        return b""


def _first_byte(content_range: str | None) -> int:
    found = re.match(r"bytes (\d+)-", content_range or "")
    return int(found[1]) if found else -1


def _judge_416(part: Path, have: int, content_range: str | None) -> None:
    """Judge what is there when the server has nothing from there on: all of it, or something else."""
    found = re.match(r"bytes \*/(\d+)", content_range or "")
    if not (found and int(found[1]) == have):
        part.unlink()
        raise _CutError("what was there belonged to another file")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unpack(archive: Path, folder: Path, *, force: bool = False, progress: Progress | None = None) -> int:
    """Unpack a zip file and return how many files were written. Files that are there already stay.

    Args:
        archive: The zip file.
        folder: Where to; nothing is written outside it.
        force: Replace files that differ from the archive's.
        progress: Called with (files looked at, files in all).

    Raises:
        DownloadError: If the archive is damaged or reaches outside the folder, the disk is too small, or a file that is
            there differs from the archive's.
    """
    try:
        with zipfile.ZipFile(archive) as bundle:
            members = [member for member in bundle.infolist() if not member.is_dir()]
            targets = [_target(member, folder) for member in members]
            folder.mkdir(parents=True, exist_ok=True)
            need, free = sum(member.file_size for member in members), shutil.disk_usage(folder).free
            if need > free:
                raise DownloadError(f"Expected {need / 1e6:,.0f} MB free for {folder}, got {free / 1e6:,.0f} MB")
            written = 0
            for done, (member, target) in enumerate(zip(members, targets, strict=True), 1):
                written += _unpack_one(bundle, member, target, force)
                if progress:
                    progress(done, len(members))
            return written
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise DownloadError(f"{archive} is not an intact zip file ({error}): fetch it again") from None


def _target(member: zipfile.ZipInfo, folder: Path) -> Path:
    """Return where a member goes; refuse whatever would leave the folder, and links."""
    path = PurePosixPath(member.filename)
    foreign = path.is_absolute() or PureWindowsPath(member.filename).drive or "\\" in member.filename
    if foreign or ".." in path.parts or stat.S_ISLNK(member.external_attr >> 16):
        raise DownloadError(
            f"The archive holds {member.filename!r}, which reaches outside its folder: nothing was unpacked"
        )
    return folder.joinpath(*path.parts)


def _unpack_one(bundle: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, force: bool) -> bool:
    if target.exists():
        if target.stat().st_size == member.file_size and zlib.crc32(target.read_bytes()) == member.CRC:
            return False
        if not force:
            raise DownloadError(
                f"{target} is another file than the archive's: use another --folder, or --force to replace it"
            )
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f"{target.name}.part")
    try:
        with bundle.open(member) as source, draft.open("wb") as file:
            shutil.copyfileobj(source, file, _BLOCK)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return True


def has_alfworld(folder: Path) -> bool:
    """Whether a folder holds as many game files as the archive (a quick look: `check_alfworld` reads them)."""
    root = folder / "json_2.1.1"
    return all(sum(1 for _ in (root / split).glob("*/*/game.tw-pddl")) >= number for split, number in GAMES.items())


def check_alfworld(folder: Path, progress: Progress | None = None) -> dict[str, int]:
    """Read every game in a folder and return their number in each split.

    Checked are the numbers of games (3553, 140 and 134), that each file is whole and can be played, and that rules and
    grammar are those of json_2.1.3.

    Raises:
        DownloadError: If any of that is not so.
    """
    found = {split: _tasks(folder, split) for split in SPLITS}
    counts = {split: len(tasks.ids) if tasks else 0 for split, tasks in found.items()}
    if counts != GAMES:
        raise DownloadError(f"Expected ALFWorld games {GAMES} in {folder}, found {counts}")
    games = [(tasks, task_id) for tasks in found.values() if tasks for task_id in tasks.ids]
    for done, (tasks, task_id) in enumerate(games, 1):
        try:
            label = tasks.game(task_id).data
        except ValueError as error:
            raise DownloadError(str(error)) from None
        if label != LABEL:
            raise DownloadError(f"Expected the rules and grammar of {LABEL} in {task_id}, found those of {label}")
        if progress:
            progress(done, len(games))
    return counts


def _tasks(folder: Path, split: str) -> Tasks | None:
    try:
        return Tasks(str(folder), split, None, "numbered")
    except FileNotFoundError:
        return None
