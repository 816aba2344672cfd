"""Identity of a screen of the phone: of all that it says (`state_fingerprint`), and of its build alone (`screen_fingerprint`).

Both digest the activity and the nodes in order. Left out as volatile: the system's bars and messages, the keyboard, focus,
cursor, bounds and scroll offsets (the rows that are visible tell them). A text that is a running time, a date of today's kind
or a percentage is masked by the rules in `MASKS`, unless it is something that can be tapped or edited, for that is a setting.

Views and elements give different fingerprints of the same screen: compare like with like.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from backtrail.envs.androidworld.backend import Element
from backtrail.envs.androidworld.elements import INPUT_METHODS, SYSTEM
from backtrail.envs.androidworld.phone.views import View
from backtrail.envs.core import digest

__all__ = ["MASKS", "perceptual_hash", "screen_fingerprint", "state_fingerprint"]

Picture = NDArray[np.uint8]
Screen = View | Sequence[Element]

_VERSION = "android-1"

_TIME = r"\d{1,3}:\d{2}(:\d{2})?([.,]\d{1,3})?( ?[AaPp]\.?[Mm]\.?)?"
_DAY = r"(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?"
_MONTH = r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"

MASKS: tuple[tuple[str, str], ...] = (
    (rf"{_TIME}( ?[/\u2013-] ?{_TIME})?", "<time>"),
    (rf"{_DAY},? {_MONTH} \d{{1,2}}", "<date>"),
    (r"(just now|(\d+|an?) (sec|second|min|minute|hour)s?\.? ago)", "<ago>"),
    (r"\d{1,3}([.,]\d+)? ?%( charged| used)?", "<percent>"),
)
"""What is masked: a pattern that the whole text must match, and what stands for it."""

_MASKS = tuple((re.compile(pattern, re.IGNORECASE), mask) for pattern, mask in MASKS)

_CANVASES = ("SurfaceView", "GLSurfaceView", "TextureView", "WebView", "Canvas")

_SIDE, _KEPT = 64, 16  # of the reduced picture, and of the frequencies that make the hash


def state_fingerprint(activity: str, screen: Screen, picture: Callable[[], Picture] | None = None) -> str:
    """Return the identity of what a screen says.

    Args:
        activity: As package/class.
        screen: The root of the views, or the elements.
        picture: Returns the screenshot, (height, width, 3). Called for elements only, and only where they cannot tell (a
            canvas, or nothing that has words); its perceptual hash is then part of the identity.
    """
    if isinstance(screen, View):
        return _digest("state", "views", activity, _state_of_view(screen, 0, False))
    lines = [_state_of_element(each) for each in screen if not _foreign(each.package)]
    if picture is not None and _needs_picture(screen):
        lines.append(perceptual_hash(picture()))
    return _digest("state", "elements", activity, lines)


def screen_fingerprint(activity: str, screen: Screen) -> str:
    """Return the identity of how a screen is built: no texts, no states, and rows of one kind count once.

    Args:
        activity: As package/class.
        screen: The root of the views, or the elements.
    """
    if isinstance(screen, View):
        return _digest("screen", "views", activity, _build_of_view(screen, 0))
    kinds = {f"{_short(e.class_name)}|{_tail(e.resource_id)}" for e in screen if not _foreign(e.package)}
    return _digest("screen", "elements", activity, sorted(kinds))


def perceptual_hash(picture: Picture) -> str:
    """Return 256 bits in hexadecimal that stay equal, or nearly so, where a picture changes little.

    The picture without the system's bars is reduced to 64 x 64 grey values; the bits say which of the 16 x 16 lowest frequencies
    of its cosine transform are above their median (pHash, Zauner 2010).
    """
    height = picture.shape[0]
    inner = picture[height * 5 // 100 : height - height * 6 // 100]
    step = max(1, min(inner.shape[:2]) // 256)  # four pixels a part and side say enough, and cost a twentieth
    inner = inner[::step, ::step]
    rows, columns = _edges(inner.shape[0]), _edges(inner.shape[1])
    grey = inner.mean(axis=2, dtype=np.float64)
    sums = np.add.reduceat(np.add.reduceat(grey, rows[:-1], axis=0), columns[:-1], axis=1)
    small = sums / np.outer(np.diff(rows), np.diff(columns))
    low = np.round(_cosines() @ small @ _cosines().T, 6)
    return np.packbits(low > np.median(low)).tobytes().hex()


# -- views ------------------------------------------------------------------------------------------------


def _state_of_view(view: View, depth: int, tappable: bool) -> Iterator[str]:
    if _foreign(view.package):
        return
    tappable = tappable or view.on_tap is not None or view.on_hold is not None or bool(view.field)
    text = view.text if tappable else _masked(view.text)
    value = view.value if view.on_slide is not None else None  # the others show progress
    flags = f"{view.checked}{view.selected:d}{view.enabled:d}{value}"
    yield f"{depth}|{view.kind}|{_tail(view.resource)}|{text!r}|{view.description!r}|{flags}"
    if view.strokes:
        yield repr(view.strokes)
    if view.scene is not None:
        yield repr(view.scene)
    if view.picture:
        yield hashlib.blake2b(view.picture, digest_size=16).hexdigest()
    for child in view.children:
        yield from _state_of_view(child, depth + 1, tappable)


def _build_of_view(view: View, depth: int) -> Iterator[str]:
    if _foreign(view.package):
        return
    yield f"{depth}|{view.kind}|{_tail(view.resource)}"
    if view.scroll:
        yield from sorted({f"{depth + 1}|{child.kind}|{_tail(child.resource)}" for child in view.children})
        return
    for child in view.children:
        yield from _build_of_view(child, depth + 1)


# -- elements ---------------------------------------------------------------------------------------------


def _state_of_element(each: Element) -> str:
    kind = _short(each.class_name)
    fixed = each.clickable or each.long_clickable or each.editable or each.checkable or kind == "SeekBar"
    text = each.text if fixed else _masked(each.text)
    flags = f"{each.checked if each.checkable else None}{each.selected:d}{each.enabled:d}"
    return f"{kind}|{_tail(each.resource_id)}|{text!r}|{each.description!r}|{flags}"


def _needs_picture(screen: Sequence[Element]) -> bool:
    own = [each for each in screen if not _foreign(each.package)]
    return not any(each.text or each.description for each in own) or any(
        _short(each.class_name) in _CANVASES for each in own
    )


# -- both -------------------------------------------------------------------------------------------------


def _digest(level: str, source: str, activity: str, lines: Iterator[str] | Sequence[str]) -> str:
    return digest("\n".join((_VERSION, level, source, activity, *lines)))


def _foreign(package: str) -> bool:
    return package == SYSTEM or package.startswith(INPUT_METHODS)


def _short(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _tail(resource: str) -> str:
    return resource.rsplit("/", 1)[-1]


@lru_cache(maxsize=4096)
def _masked(text: str) -> str:
    text = " ".join(text.split())
    return next((mask for pattern, mask in _MASKS if pattern.fullmatch(text)), text)


def _edges(length: int) -> NDArray[np.intp]:
    """Return where the 64 parts of an axis begin, and its end; an axis must have at least 64."""
    if length < _SIDE:
        raise ValueError(f"Expected a picture of at least {_SIDE} pixels a side between the bars, got {length}")
    return np.linspace(0, length, _SIDE + 1).astype(np.intp)


@lru_cache(maxsize=1)
def _cosines() -> NDArray[np.float64]:
    """Return the lowest rows of the matrix of the cosine transform, (16, 64)."""
    frequency, place = np.arange(_KEPT)[:, None], np.arange(_SIDE)[None, :]
    return np.cos(np.pi * frequency * (2 * place + 1) / (2 * _SIDE))
