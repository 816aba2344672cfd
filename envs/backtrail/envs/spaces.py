"""Spaces for text that any Unicode string is a member of, and for pictures."""

from __future__ import annotations

import string
from multiprocessing.context import BaseContext
from typing import Any, NoReturn

import numpy as np
from gymnasium import spaces
from gymnasium.spaces.utils import flatten, flatten_space
from gymnasium.vector.utils import create_shared_memory

__all__ = ["FreeText", "picture_space"]

_SAMPLE_CHARSET = string.ascii_letters + string.digits + " []<>,.'"


_TABLES = spaces.Text(1, charset=_SAMPLE_CHARSET)


class FreeText(spaces.Text):
    r"""Any Unicode string of at most ``max_length`` characters.

    Membership looks at the length only; samples are short and drawn from a small ASCII set, so that sampling and
    pickling stay cheap. Vectorisation through shared memory is refused, because Gymnasium 1.x decodes shared text once
    at construction and then returns the same characters for ever.

    Example:
        >>> from backtrail.envs import FreeText
        >>> space = FreeText(64, seed=0)
        >>> "café ☕\n" in space, "" in space, "x" * 65 in space
        (True, True, False)
        >>> space
        FreeText(64)
    """

    def __init__(self, max_length: int = 65_536, *, seed: int | np.random.Generator | None = None) -> None:
        """Make the space.

        Args:
            max_length: The longest member, in characters.
            seed: Seed of the sampler.

        Raises:
            TypeError, ValueError: If ``max_length`` is not a non-negative integer.
        """
        super().__init__(max_length, min_length=0, charset=_SAMPLE_CHARSET, seed=seed)
        # a thousand environments need not keep three thousand character tables of 8 kB
        vars(self).update({name: value for name, value in vars(_TABLES).items() if name.startswith("_char")})

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Draw a string of at most 32 characters (a mask or probability is passed on to `gymnasium.spaces.Text`)."""
        if mask is not None or probability is not None:
            return super().sample(mask=mask, probability=probability)
        length = int(self.np_random.integers(min(self.max_length, 32) + 1))
        return "".join(_SAMPLE_CHARSET[i] for i in self.np_random.integers(len(_SAMPLE_CHARSET), size=length))

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is a string that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length

    @property
    def is_np_flattenable(self) -> bool:
        """False: a character set of all Unicode has no fixed-size array form."""
        return False

    def __repr__(self) -> str:
        return f"FreeText({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FreeText) and self.max_length == other.max_length

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # like every Gymnasium space: compared by value, mutable


def picture_space(height: int, width: int) -> spaces.Box:
    """Return the space of RGB pictures, (height, width, 3) uint8.

    Its bounds, the same for every pixel, are kept as one number each: a `gymnasium.spaces.Box` of a large picture has four
    arrays of the picture's size otherwise.
    """
    space = spaces.Box(0, 255, (height, width, 3), np.uint8)
    for name in ("low", "high", "bounded_below", "bounded_above"):
        bound = getattr(space, name)
        setattr(space, name, np.broadcast_to(bound.flat[0], bound.shape))
    return space


@create_shared_memory.register(FreeText)
def _refuse_shared_memory(space: FreeText, n: int = 1, ctx: BaseContext | None = None) -> NoReturn:
    raise ValueError(
        "FreeText cannot be passed through shared memory (Gymnasium would return the same wrong string at every step). "
        "Use AsyncVectorEnv(..., shared_memory=False) or backtrail.envs.make_vec, which does so."
    )


@flatten_space.register(FreeText)
def _refuse_flat_space(space: FreeText) -> NoReturn:
    raise TypeError("FreeText has no array form: encode the text (a tokenizer, an embedding) before flattening")


@flatten.register(FreeText)
def _refuse_flat(space: FreeText, x: str) -> NoReturn:
    raise TypeError("FreeText has no array form: encode the text (a tokenizer, an embedding) before flattening")
