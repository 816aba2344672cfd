"""How alike two strings are, by the rule of the package thefuzz 0.19, which WebShop's reward is defined with.

Later versions count with another library and give other scores, so the rule is part of the reward.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache

__all__ = ["token_set_ratio"]

_NO_WORD = re.compile(r"\W")
_LATIN_1 = dict.fromkeys(range(128, 256))


@lru_cache(1 << 16)
def token_set_ratio(a: str, b: str) -> int:
    """Return 0 to 100: the best match between the common words and the words of either side.

    Case and punctuation do not count, "_" joins words, and letters from U+0080 to U+00FF are dropped. It is 0 if either
    has no word at all. The order of the arguments matters a little, as it does to `difflib`.
    """
    words_a, words_b = set(_words(a)), set(_words(b))
    if not words_a or not words_b:
        return 0
    common = " ".join(sorted(words_a & words_b))
    all_a = f"{common} {' '.join(sorted(words_a - words_b))}".strip()
    all_b = f"{common} {' '.join(sorted(words_b - words_a))}".strip()
    return max(_ratio(common, all_a), _ratio(common, all_b), _ratio(all_a, all_b))


def _words(text: str) -> list[str]:
    return _NO_WORD.sub(" ", text.translate(_LATIN_1)).lower().split()


def _ratio(a: str, b: str) -> int:
    if a == b:
        return 100
    if not a or not b:
        return 0
    return round(100 * SequenceMatcher(None, a, b).ratio())
