"""Porter's stemmer, as Lucene's PorterStemFilter applies it.

M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with two later changes of the author's: ``bli``
in place of ``abli``, and the rule for ``logi``. Lucene leaves words of one or two characters alone.
"""

from __future__ import annotations

__all__ = ["stem"]

_DOUBLE = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip
_SINGLE = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"),  # codespell:ignore ative
    ("ful", ""), ("ness", ""),
)  # fmt: skip
_LAST = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent",  # codespell:ignore ment
    "sion", "tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def stem(word: str) -> str:
    """Return the stem of a word in lower case."""
    if word.isascii() or max(word) <= "\uffff":
        return _stem(word)
    # Lucene sees UTF-16: a character beyond U+FFFF counts as two where lengths matter
    units = word.encode("utf-16-le", "surrogatepass")
    halves = "".join(chr(units[i] | units[i + 1] << 8) for i in range(0, len(units), 2))
    return _stem(halves).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _stem(word: str) -> str:
    if len(word) < 3:
        return word
    word = _past(_plural(word))
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    if len(word) < 2:
        return word
    word = _exchange(_exchange(word, _DOUBLE), _SINGLE)
    return _tidy(_strip(word))


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    """Take off ``ed`` and ``ing``, and mend what is left."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    ending = "ed" if word.endswith("ed") else "ing" if word.endswith("ing") else ""
    start = word.removesuffix(ending)
    shape = _shape(start)
    if not ending or "v" not in shape:
        return word
    if start.endswith(("at", "bl", "iz")):
        return start + "e"
    if _doubled(start):
        return start if start[-1] in "lsz" else start[:-1]
    return start + "e" if shape.count("vc") == 1 and _short(start) else start


def _exchange(word: str, suffixes: tuple[tuple[str, str], ...]) -> str:
    for suffix, other in suffixes:
        if word.endswith(suffix):
            start = word.removesuffix(suffix)
            return start + other if _measure(start) else word
    return word


def _strip(word: str) -> str:
    for suffix in _LAST:
        if word.endswith(suffix):
            start = word[: len(word) - len(suffix)]
            if suffix in ("sion", "tion"):  # only "ion" goes
                start = word[:-3]
            return start if _measure(start) > 1 else word
    return word


def _tidy(word: str) -> str:
    """Take off a last ``e`` and the second of two last ``l``."""
    if word.endswith("e"):
        count = _measure(word)
        if count > 1 or (count == 1 and not _short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _shape(word: str) -> str:
    """Return ``v`` for each vowel and ``c`` for all else; ``y`` is a vowel after a consonant."""
    shape = ""
    for letter in word:
        shape += "v" if letter in "aeiou" or (letter == "y" and shape.endswith("c")) else "c"
    return shape


def _measure(word: str) -> int:
    """Return how often consonants follow vowels: Porter's m."""
    return _shape(word).count("vc")


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _short(word: str) -> bool:
    """Whether the word ends with consonant, vowel, consonant, the last not one of ``wxy``."""
    return len(word) > 2 and _shape(word).endswith("cvc") and word[-1] not in "wxy"
