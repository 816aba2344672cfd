"""Picture files, PNG and JPEG, as pixels that fit a box."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image

from backtrail.envs.androidworld.phone.views import Color

__all__ = ["fitted", "is_picture"]

_LARGEST = 4096  # pixels a side: whatever says that it is larger is not decoded

_BROKEN = (
    OSError, SyntaxError, ValueError, TypeError, LookupError, ArithmeticError, AssertionError, AttributeError,
    EOFError, struct.error, zlib.error, Image.DecompressionBombError,
)  # fmt: skip
"""What Pillow raises for files that are not what they should be."""

_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What makes a picture upright, by EXIF's orientation (CIPA DC-008, tag 274)."""


@lru_cache(maxsize=256)  # a page of a gallery asks for all of its folder
def is_picture(content: bytes) -> bool:
    """Whether a file can be shown: a PNG or JPEG that is whole and has at most 4096 x 4096 pixels."""
    return _decoded(content) is not None


@lru_cache(maxsize=24)  # as many as a page of small ones has; large ones take 6 MB each
def fitted(content: bytes, width: int, height: int, ground: Color) -> NDArray[np.uint8] | None:
    """Return a picture as large as fits into a box without changing its shape, (height, width, 3); None if it cannot be shown.

    Args:
        content: The file.
        width: Of the box, in pixels.
        height: Of the box, in pixels.
        ground: What is seen through it where it is transparent.
    """
    image = _decoded(content)
    if image is None or width < 1 or height < 1:
        return None
    share = min(width / image.width, height / image.height)
    size = (max(1, round(image.width * share)), max(1, round(image.height * share)))
    image = image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
    if image.mode == "RGBA":
        image = Image.alpha_composite(Image.new("RGBA", size, (*ground, 255)), image).convert("RGB")
    return np.asarray(image)


def _decoded(content: bytes) -> Image.Image | None:
    """Return an upright picture, "RGB" or, with what is transparent, "RGBA"; None if it cannot be shown."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sizes, which are checked here, and of EXIF that is damaged
            image = Image.open(io.BytesIO(content), formats=("PNG", "JPEG"))
            if not 1 <= min(image.size) <= max(image.size) <= _LARGEST:
                return None
            image.load()
            turn = _turn(image)
            if image.mode.startswith("I"):  # 16 bits of grey, which Pillow would cut off at 255
                image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
            image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    except _BROKEN:
        return None
    return image if turn is None else image.transpose(turn)


def _turn(image: Image.Image) -> Image.Transpose | None:
    try:
        return _TURNS.get(image.getexif().get(ExifTags.Base.Orientation, 1))
    except _BROKEN:  # the picture is all right
        return None
