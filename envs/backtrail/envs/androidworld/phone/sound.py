"""What the phone keeps of a song that is copied onto it: what its tags say and how long it is, not the sound."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["describe_song"]

_TAGS = {b"TIT2": "title", b"TPE1": "artist", b"TALB": "album"}
_ENCODINGS = ("latin-1", "utf-16", "utf-16-be", "utf-8")

# Layer III of ISO/IEC 11172-3 (MPEG 1) and 13818-3 (MPEG 2): kilobits a second, and samples a second of MPEG 1
_RATES_1 = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_RATES_2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_SAMPLES = (44100, 48000, 32000)


def describe_song(content: bytes) -> dict[str, str | int] | None:
    """Return an MP3 file's title, artist, album (as far as its tags say) and "duration" in milliseconds; None for other files.

    The length comes from the number of frames in a Xing or Info header, or else from size and bit rate.
    """
    tagged = content[:3] == b"ID3" and len(content) > 10 and content[3] in (3, 4)
    if not tagged and not re.match(rb"\xff[\xe2\xe3\xf2\xf3\xfa\xfb]", content):
        return None
    end = 10 + _size(content[6:10], 7) if tagged else 0
    tags = dict(_tags(content[10:end], content[3])) if tagged else {}
    return {**tags, "duration": _length(content[end:])}


def _size(four: bytes, bits: int) -> int:
    number = 0
    for each in four:
        number = number << bits | each
    return number


def _tags(frames: bytes, version: int) -> Iterator[tuple[str, str]]:
    """Yield what the frames of an ID3 tag (version 2.3 or 2.4) say."""
    place = 0
    while place + 10 < len(frames) and frames[place]:
        size = _size(frames[place + 4 : place + 8], 7 if version == 4 else 8)
        name, value = frames[place : place + 4], frames[place + 10 : place + 10 + size]
        if name in _TAGS and value and value[0] < len(_ENCODINGS):
            yield _TAGS[name], value[1:].decode(_ENCODINGS[value[0]], "replace").strip("\0")
        place += 10 + size


def _length(sound: bytes) -> int:
    """Return how long MPEG frames are, in milliseconds."""
    first = re.search(rb"\xff[\xe2\xe3\xf2\xf3\xfa\xfb][^\x00\xf0-\xff]", sound[:4096], re.DOTALL)
    if first is None:
        return 0
    head = sound[first.start() :]
    version = head[1] >> 3 & 3  # 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5
    rate = (_RATES_1 if version == 3 else _RATES_2)[head[2] >> 4]
    samples = _SAMPLES[min(head[2] >> 2 & 3, 2)] // {3: 1, 2: 2, 0: 4}.get(version, 1)
    counted = re.search(rb"(?:Xing|Info)...[\x01\x03\x05\x07\x09\x0b\x0d\x0f](....)", head[:200], re.DOTALL)
    if counted:
        return round(1000 * int.from_bytes(counted[1]) * (1152 if version == 3 else 576) / samples)
    return round(8 * len(head) / rate) if rate else 0
