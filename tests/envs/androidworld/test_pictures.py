"""Pictures that are copied onto the phone: what is in the file is on the screen, and whatever is no picture does no harm."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import unicodedata
import warnings
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image
from touching import Hand

from backtrail.envs.androidworld.fingerprint import state_fingerprint
from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import gallery, storage
from backtrail.envs.androidworld.phone.apps.browser import Browser
from backtrail.envs.androidworld.phone.apps.files import Files
from backtrail.envs.androidworld.phone.apps.gallery import Gallery
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.web import open_url
from backtrail.envs.androidworld.phone.decode import fitted, is_picture
from backtrail.envs.androidworld.phone.draw import render, text_width
from backtrail.envs.androidworld.phone.factory import make_phone
from backtrail.envs.androidworld.phone.identity import phone_fingerprint
from backtrail.envs.androidworld.phone.views import HEIGHT, WIDTH, View
from backtrail.envs.androidworld.simulated import SimulatedBackend

RED, BLUE, GREEN, WHITE, BLACK = (255, 0, 0), (0, 0, 255), (0, 128, 0), (255, 255, 255), (0, 0, 0)
PATH = "/sdcard/DCIM/half.png"
CANNOT = "Can't show this picture"


def written(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def halves(left: tuple[int, int, int] = RED, right: tuple[int, int, int] = BLUE) -> Image.Image:
    """Return a picture of two colours, 200 x 100."""
    image = Image.new("RGB", (200, 100), left)
    image.paste(right, (100, 0, 200, 100))
    return image


def phone_with(content: bytes, path: str = PATH, scale: float = 0.25) -> Phone:
    phone = Phone([Launcher(), Files(), Gallery(), Browser()], scale)
    SimulatedBackend(phone).push(path, content)
    return phone


def viewing(content: bytes, scale: float = 0.25) -> Phone:
    """Return a phone whose gallery shows a picture."""
    phone = phone_with(content, scale=scale)
    phone.open("gallery", "view", path=phone.files.full(PATH))
    phone.changed()
    return phone


def is_about(color: NDArray[np.uint8], wanted: tuple[int, int, int]) -> bool:
    return bool(np.all(np.abs(color.astype(int) - wanted) < 12))  # a JPEG is not exact


# -- files as pixels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize(
    ("width", "height", "shape"), [(50, 200, (25, 50, 3)), (400, 40, (40, 80, 3)), (9, 1, (1, 2, 3))]
)
def test_a_picture_fills_a_box_and_keeps_its_shape(kind: str, width: int, height: int, shape: tuple[int, ...]) -> None:
    piece = fitted(written(halves(), kind), width, height, WHITE)
    assert piece is not None and piece.shape == shape and piece.dtype == np.uint8
    assert shape[0] < 9 or (is_about(piece[1, 1], RED) and is_about(piece[-2, -2], BLUE))


def test_the_longest_and_thinnest_pictures() -> None:
    assert is_picture(written(Image.new("L", (4096, 1)))) and not is_picture(written(Image.new("L", (4097, 1))))
    piece = fitted(written(Image.new("RGB", (1, 4096), RED)), 100, 100, WHITE)
    assert piece is not None and piece.shape == (100, 1, 3) and is_about(piece[50, 0], RED)
    assert fitted(written(halves()), 0, 9, WHITE) is None


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_shows_the_ground(mode: str) -> None:
    image = Image.new("RGBA", (100, 100), (0, 0, 0, 0))
    image.paste((90, 90, 90, 255), (50, 0, 100, 100))
    piece = fitted(written(image.convert(mode)), 40, 40, GREEN)
    assert piece is not None and is_about(piece[20, 5], GREEN) and is_about(piece[20, 35], (90, 90, 90))
    half = fitted(written(Image.new("RGBA", (9, 9), (255, 255, 255, 128))), 9, 9, BLACK)
    assert half is not None and is_about(half[4, 4], (128, 128, 128))


@pytest.mark.parametrize("mode", ["1", "L", "P", "CMYK", "I;16"])
def test_other_ways_to_keep_colors(mode: str) -> None:
    if mode == "I;16":
        image = Image.fromarray(np.repeat(np.array([[0, 65535]], np.uint16), 50, axis=1).repeat(20, axis=0))
    else:
        image = halves(BLACK, WHITE).convert(mode)
    piece = fitted(written(image, "JPEG" if mode == "CMYK" else "PNG"), 100, 100, GREEN)
    assert piece is not None and is_about(piece[5, 5], BLACK) and is_about(piece[5, -5], WHITE)


def test_sixteen_bits_of_grey_are_not_cut_off() -> None:
    piece = fitted(written(Image.fromarray(np.full((9, 9), 0x8000, np.uint16))), 9, 9, WHITE)
    assert piece is not None and is_about(piece[4, 4], (128, 128, 128))


@pytest.mark.parametrize(
    ("orientation", "first", "below", "beside"),
    [
        (1, RED, BLUE, GREEN), (2, GREEN, WHITE, RED), (3, WHITE, GREEN, BLUE), (4, BLUE, RED, WHITE),
        (5, RED, GREEN, BLUE), (6, BLUE, WHITE, RED), (7, WHITE, BLUE, GREEN), (8, GREEN, RED, WHITE), (9, RED, BLUE, GREEN),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_picture_is_turned_as_its_exif_says(
    kind: str, orientation: int, first: object, below: object, beside: object
) -> None:
    image = Image.new("RGB", (64, 32), RED)  # upper left; the others clockwise
    for color, place in ((GREEN, (32, 0)), (WHITE, (32, 16)), (BLUE, (0, 16))):
        image.paste(color, (*place, place[0] + 32, place[1] + 16))
    exif = Image.Exif()
    exif[274] = orientation
    piece = fitted(written(image, kind, exif=exif), 64, 64, BLACK)
    assert piece is not None and piece.shape == ((64, 32, 3) if 5 <= orientation <= 8 else (32, 64, 3))
    for color, (row, column) in ((first, (3, 3)), (below, (-4, 3)), (beside, (3, -4))):
        assert is_about(piece[row, column], color)  # pyright: ignore[reportArgumentType]


def test_a_damaged_exif_leaves_the_picture_as_it_is() -> None:
    for exif in (
        b"Exif\0\0",
        b"Exif\0\0II*\0\xff\xff\xff\xff",
        b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x07\xff\xff\xff\xff\0\0",
    ):
        piece = fitted(written(halves(), "JPEG", exif=exif), 200, 100, WHITE)
        assert piece is not None and is_about(piece[50, 20], RED)


# -- files that are no pictures ---------------------------------------------------------------------------


def header(width: int, height: int) -> bytes:
    """Return a PNG that says it is of a size, with hardly anything in it."""
    small = written(Image.new("L", (1, 1)))
    claim = b"IHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big") + small[24:29]
    return small[:12] + claim + zlib.crc32(claim).to_bytes(4, "big") + small[33:]


@pytest.mark.parametrize("side", [0, 5000, 12_000, 50_000, 2**31 - 1, 2**32 - 1])
def test_a_file_that_says_it_is_huge_is_not_decoded(side: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not is_picture(header(side, side)) and fitted(header(side, side), 9, 9, WHITE) is None
    assert is_picture(header(1, 1))


@pytest.mark.parametrize("kind", ["GIF", "BMP", "TIFF", "WEBP"])
def test_other_formats_are_not_decoded(kind: str) -> None:
    assert not is_picture(written(halves(), kind))


FILES = [
    written(halves()),
    written(halves(), "JPEG"),
    written(halves().convert("P"), transparency=0),
    written(halves(), "JPEG", exif=b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"),
]


@given(
    st.sampled_from(FILES), st.floats(0, 1), st.lists(st.tuples(st.integers(0, 900), st.integers(0, 255)), max_size=6)
)
def test_damaged_files_never_raise(content: bytes, share: float, changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(content[: round(share * len(content))])
    for place, value in changes:
        if place < len(damaged):
            damaged[place] = value
    piece = fitted(bytes(damaged), 20, 20, WHITE)
    assert (piece is not None) == is_picture(bytes(damaged))


def test_a_palette_must_be_there() -> None:
    content = written(halves().convert("P"))
    place = content.index(b"PLTE") - 4
    end = place + 12 + int.from_bytes(content[place : place + 4], "big")
    assert not is_picture(content[:place] + content[end:])


@pytest.mark.parametrize("content", FILES)
def test_half_a_file_is_no_picture(content: bytes) -> None:
    assert is_picture(content) and not is_picture(content[: len(content) // 2])


# -- on the screen ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.25])
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_the_gallery_shows_what_is_in_a_file_over_the_whole_width(scale: float, kind: str) -> None:
    phone = viewing(written(halves(), kind), scale)
    screen = phone.screenshot()
    middle = next(v for v in phone.tree.walk() if v.picture).bounds
    row = screen[round((middle[1] + middle[3]) / 2 * scale)]
    half = len(row) // 2
    assert all(is_about(row[place], RED) for place in (0, half // 2, half - 8))
    assert all(is_about(row[place], BLUE) for place in (half + 8, half + half // 2, -1))
    assert is_about(screen[round(middle[1] * scale) + 2, half], BLACK)  # beside it


def test_a_tall_picture_is_in_the_middle() -> None:
    screen = viewing(written(Image.new("RGB", (50, 200), RED)), scale=0.5).screenshot()
    row = np.all(screen[600] == RED, axis=-1)
    places = np.flatnonzero(row)
    assert 200 < len(places) < 230 and abs(places[0] - (len(row) - 1 - places[-1])) <= 1
    assert is_about(screen[600, 0], BLACK)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_small_print_can_be_read(scale: float) -> None:
    paper = Image.new("L", (500, 700), 255)
    for y in range(100, 600, 4):
        paper.paste(0, (50, y, 450, y + 2))  # as thick as the strokes of letters of 20 pixels
    screen = viewing(written(paper), scale).screenshot()
    column = screen[round(500 * scale) : round(1900 * scale), round(540 * scale), 0].astype(int)
    inside = column[len(column) // 4 : -len(column) // 4]
    assert inside.min() < 60 and inside.max() > 190
    changes = np.count_nonzero(np.diff(inside > 128))
    assert abs(changes - len(inside) / (2 * 2.16 * scale)) <= 2  # none is lost


def test_small_pictures_show_it_too_and_what_scrolls_is_cut_not_squeezed() -> None:
    phone = phone_with(written(halves()), "/sdcard/DCIM/00.png", scale=1.0)
    for number in range(1, 40):
        SimulatedBackend(phone).push(f"/sdcard/DCIM/{number:02d}.png", written(halves(GREEN)))
    phone.data("gallery")["sort"] = "Name"
    phone.open("gallery", "folder", path=phone.files.full("/sdcard/DCIM"))
    phone.changed()
    first = next(view for view in phone.tree.walk() if view.picture)
    left, top, right, bottom = first.bounds
    before = phone.screenshot()
    y = (top + bottom) // 2
    assert is_about(before[y, left + 20], RED) and is_about(before[y, right - 20], BLUE)
    phone.scroll(next(view for view in phone.tree.walk() if view.reach), 150)
    after = phone.screenshot()
    assert np.array_equal(after[top : bottom - 150, left:right], before[top + 150 : bottom, left:right])


def test_files_and_browser_show_it_too() -> None:
    phone = phone_with(written(halves()))
    hand = Hand(phone)
    hand.tap("Files", "Show roots", "Images", "half.png")
    assert phone.top["page"] == "picture"
    screens = [phone.screenshot()]
    open_url(phone, PATH)
    phone.changed()
    screens.append(phone.screenshot())
    hand.check()
    for screen in screens:
        rows = [row for row in screen if is_about(row[20], RED) and is_about(row[-20], BLUE)]
        assert 120 < len(rows) < 140  # half as high as wide


@pytest.mark.parametrize(
    "content", [b"", b"no picture", b"\x89PNG\r\n\x1a\n", FILES[1][:300], header(50_000, 50_000), b"[" * 99_999, b'{"a": '],
)  # fmt: skip
def test_what_is_no_picture_says_so(content: bytes) -> None:
    hand = Hand(phone_with(content))
    hand.tap("Simple Gallery Pro", "DCIM")
    assert hand.sees(CANNOT)
    hand.tap("half.png")
    assert hand.sees(CANNOT)
    hand.phone.screenshot()
    hand.back(3)
    hand.tap("Files", "Show roots", "Images", "half.png")
    assert hand.sees(CANNOT)
    open_url(hand.phone, PATH)
    hand.phone.changed()
    hand.check()
    assert hand.sees(CANNOT)


@pytest.mark.parametrize(
    "strokes", [3, [3], [[1, 2]], [["a", 1, 2, 3]], [[0, 0, 1e300, 1]], [[0.0, float("nan"), 1, 1]]]
)
def test_a_description_of_lines_that_are_none_is_a_picture_without(strokes: object) -> None:
    phone = viewing(json.dumps({"type": "drawing", "strokes": strokes}).encode())
    phone.screenshot()
    assert not any(view.strokes for view in phone.tree.walk())


def test_what_the_phone_makes_itself_is_no_picture_file() -> None:
    phone = phone_with(written(halves()))
    gallery.add_picture(phone, "/sdcard/DCIM/made.jpg")
    phone.open("gallery", "view", path=phone.files.full("/sdcard/DCIM/made.jpg"))
    phone.changed()
    assert not any(view.picture or view.text == CANNOT for view in phone.tree.walk())


def test_its_size_is_that_of_the_file() -> None:
    content = written(halves())
    assert storage.size(phone_with(content), PATH) == len(content)


def test_two_pictures_of_one_name_are_two_states() -> None:
    def states(content: bytes) -> tuple[str, str]:
        phone = viewing(content)
        return state_fingerprint(phone.activity, phone.tree), phone_fingerprint(phone, "")

    one, same, other = (states(written(halves(color))) for color in (RED, RED, GREEN))
    assert one == same and all(a != b for a, b in zip(one, other, strict=True))


def test_a_phone_that_is_put_back_shows_the_same_picture() -> None:
    phone = viewing(written(halves()), scale=0.5)
    saved, screen = phone.save(), phone.screenshot()
    SimulatedBackend(phone).push(PATH, written(halves(GREEN)))
    assert not np.array_equal(phone.screenshot(), screen)
    SimulatedBackend(phone).restore(saved)
    assert np.array_equal(phone.screenshot(), screen)
    assert SimulatedBackend(phone).pull(PATH) == written(halves())


def test_another_process_draws_the_same() -> None:
    rng = np.random.default_rng(0)
    content = written(Image.fromarray(rng.integers(0, 256, (90, 70, 4), np.uint8)))
    program = (
        "import hashlib, sys; from backtrail.envs.androidworld.phone.decode import fitted;"
        "print(hashlib.sha256(fitted(sys.stdin.buffer.read(), 333, 222, (1, 2, 3)).tobytes()).hexdigest())"
    )
    said = subprocess.run([sys.executable, "-c", program], input=content, capture_output=True, check=True).stdout
    piece = fitted(content, 333, 222, (1, 2, 3))
    assert piece is not None and said.decode().strip() == hashlib.sha256(piece.tobytes()).hexdigest()


# -- texts that are too wide ------------------------------------------------------------------------------


@pytest.mark.parametrize("align", ["left", "center"])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_a_line_that_is_too_wide_ends_with_an_ellipsis(align: str, scale: float) -> None:
    def drawn(text: str, width: int = 300) -> bytes:
        label = View("TextView", (0, 0, width, 90), text, align=align)
        return render(View("FrameLayout", (0, 0, 1080, 2400), children=[label]), scale)[:90].tobytes()

    text, size = "Simple Calendar Pro of Sarn", round(42 * scale)
    room = (300 if align == "center" else 276) * scale - 2  # a text is indented at its left
    fits = max(end for end in range(len(text)) if text_width(f"{text[:end]}…", size) <= room)
    assert 8 < fits < len(text) - 1
    assert drawn(text) == drawn(f"{text[:fits].rstrip()}…") != drawn(text[:fits])
    assert drawn(text, 10)  # there is not even room for an ellipsis
    assert drawn(text, 1000) not in (drawn(text), drawn(f"{text}…", 1000))  # with enough room it stays as it is


def page(view: View) -> View:
    return View(bounds=(0, 0, WIDTH, HEIGHT), children=[view])


def line(text: str, size: int = 42) -> NDArray[np.uint8]:
    """Return a line of text as it is drawn."""
    return render(page(View("TextView", (0, 0, 600, 100), text, size=size)))[:100, :600]


@pytest.mark.parametrize("letter", "éèêëěẽēėåçÉÑÖ")
@pytest.mark.parametrize("size", [28, 42, 80])
def test_accents_are_drawn_on_plain_letters_and_take_no_room(letter: str, size: int) -> None:
    plain, mark = unicodedata.normalize("NFD", letter)
    assert text_width(f"x{letter}x", size) == text_width(f"x{plain}x", size)
    bare, drawn = line(f"x{plain}x", size), line(f"x{letter}x", size)
    rows = np.argwhere((bare != drawn).any(axis=(1, 2)))
    ink = np.argwhere((line(plain, size) != 255).any(axis=(1, 2)))
    assert rows.size, "there is an accent"
    if unicodedata.combining(mark) == 202:  # attached below
        assert rows.min() >= ink.max() - size // 12
    else:
        assert rows.max() <= ink.min() + size // 12
    assert (line(f"x{plain}{mark}x", size) == drawn).all(), "however it is written"


def test_what_the_font_does_not_have_is_a_box_and_lone_accents_are_nothing() -> None:
    assert (line("水") != line("x")).any() and (line("\u0301") == line("")).all()


class Painted:
    """A scene that counts how often it is drawn."""

    def __init__(self) -> None:
        self.times = 0

    def draw(self) -> NDArray[np.uint8]:
        self.times += 1
        return np.tile(np.array(RED, np.uint8), (100, 200, 1))


def test_a_scene_is_drawn_when_somebody_looks_and_no_sooner() -> None:
    scene = Painted()
    root = page(View("View", (10, 20, 210, 120), scene=scene))
    assert state_fingerprint("a", root) != state_fingerprint("a", page(View("View", (10, 20, 210, 120))))
    assert scene.times == 0
    whole, half = render(root), render(root, 0.5)
    assert (whole[20:120, 10:210] == RED).all() and (whole[19, 10] == WHITE).all() and (whole[20, 210] == WHITE).all()
    assert (half[10:60, 5:105] == RED).all() and (half[60, 5] == WHITE).all()
    assert scene.times == 2
    render(root)
    assert scene.times == 2, "one that was drawn is kept"


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_labels_of_the_launcher_have_room_around_them_and_say_all(scale: float) -> None:
    phone = make_phone(scale)
    labels = [view for view in phone.tree.walk() if view.kind == "TextView" and view.size == 32]
    assert {view.text for view in labels} >= {"Simple Calendar Pro", "Simple Gallery Pro", "Files"}
    screen = phone.screenshot()
    for view in labels:
        left, top, right, bottom = (round(side * scale) for side in view.bounds)
        for side in (left - 4, left, right - 1, right + 3):
            assert (screen[top:bottom, side] == screen[round(400 * scale), 0]).all(), view.text
