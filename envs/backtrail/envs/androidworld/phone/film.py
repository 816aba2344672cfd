"""What the phone keeps of a film that is copied onto it: how long it is, not the pictures."""

from __future__ import annotations

__all__ = ["describe_film"]

_BOXES = 64  # at most, at the top of a file and in its "moov"


def describe_film(content: bytes) -> dict[str, str | int] | None:
    """Return an MP4 film's "type" ("video") and "duration" in whole seconds; None for other files, and those that do not say.

    The length is in the movie header box of ISO/IEC 14496-12: ticks, and ticks a second.
    """
    if content[4:8] != b"ftyp" or content[8:12] == b"M4A ":  # that is sound
        return None
    movie = _box(content, b"moov", 0)
    header = None if movie is None else _box(content, b"mvhd", movie)
    if header is None:
        return None
    wide = content[header : header + 1] == b"\x01"  # version 1 has times of eight bytes
    start, size = (header + 20, 12) if wide else (header + 12, 8)
    length = content[start : start + size]
    rate, ticks = int.from_bytes(length[:4]), int.from_bytes(length[4:])
    return {"type": "video", "duration": round(ticks / rate)} if rate and len(length) == size else None


def _box(content: bytes, name: bytes, start: int) -> int | None:
    """Return where the content of the first box of a name begins, from the box at an offset on."""
    for _ in range(_BOXES):
        head = content[start : start + 16]
        size, begin = int.from_bytes(head[:4]), 8
        if size == 1:  # then eight more bytes have the size
            size, begin = int.from_bytes(head[8:16]), 16
        if head[4:8] == name:
            return start + begin
        start += size
    return None
