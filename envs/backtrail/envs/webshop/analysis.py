"""Text to terms, as Lucene's English analyser with Porter stems does it: Anserini's default for BM25.

Words are split by Unicode's rules for word boundaries (UAX #29, version 12.1), with emoji sequences (UTS #51) as words
of their own, as Lucene 9's StandardTokenizer does. Then the possessive ``'s`` goes, letters become small, stop words
go, and Porter's stemmer takes off endings.
"""

from __future__ import annotations

import re
from functools import lru_cache

from backtrail.envs.webshop import _unicode as u
from backtrail.envs.webshop.porter import stem

__all__ = ["analyze"]

_STOP_WORDS = frozenset(
    re.findall(
        "[a-z]+",
        "a an and are as at be but by for if in into is it no not of on or such that the their then there these they "
        "this to was will with",
    )
)
_LONGEST_TOKEN = 255
"""In UTF-16 units; Lucene cuts longer words."""

_SELECTORS, _SELECTORS_BUT_LAST = r"\ufe00-\ufe0f", r"\ufe00-\ufe0d"
"""Variation selectors in the table; the last two, U+FE0E and U+FE0F, ask for text or picture."""

_CACHED_WORDS = 1 << 15
_LONGEST_CACHED = 40


def analyze(text: str) -> list[str]:
    """Return the terms of a text, in order and with repeats."""
    terms: list[str] = []
    for part in text.split(" "):  # no token contains a space, and few parts are new
        if part:
            terms += _terms(part) if len(part) <= _LONGEST_CACHED else _terms.__wrapped__(part)
    return terms


@lru_cache(_CACHED_WORDS)
def _terms(text: str) -> tuple[str, ...]:
    tokens = _ASCII_WORD.findall(text) if text.isascii() and len(text) <= _LONGEST_TOKEN else _tokens(text)
    return tuple(stem(word) for word in map(_normal, tokens) if word not in _STOP_WORDS)


def _normal(token: str) -> str:
    if token[-1] in "sS" and token[-2:-1] in ("'", "\u2019", "\uff07"):
        token = token[:-2]
    small = token.lower()
    if len(small) != len(token) or "\u03a3" in token:
        # Lucene lowers character by character: no final sigma, and nothing after the i of U+0130
        small = "".join(letter.lower()[0] for letter in token)
    return small


def _tokens(text: str) -> list[str]:
    """Split any text; at each place the longest match of all rules is the token."""
    tokens, start = [], 0
    while start < len(text):
        end = _end(text, start, start + _LONGEST_TOKEN)
        if end - start + sum(letter > "\uffff" for letter in text[start:end]) > _LONGEST_TOKEN:
            end = _end(text, start, _limit(text, start))
        if end > start:
            tokens.append(text[start:end])
        start = max(end, start + 1)
    return tokens


def _end(text: str, start: int, limit: int) -> int:
    return max((match.end() for rule in _RULES if (match := rule.match(text, start, limit))), default=start)


def _limit(text: str, start: int) -> int:
    """Return where the longest token that may start here ends; a surrogate pair is not cut."""
    end, units = start, 0
    while (units := units + 1 + (text[end] > "\uffff")) <= _LONGEST_TOKEN:
        end += 1
    return end


def _word_rule() -> str:
    """Return UAX #29's rules WB4 to WB13b as one expression that takes as much as they allow."""
    more = f"[{u.EXTEND}]*+"
    join, katakana, number = f"(?:[{u.JOIN}]{more})", f"(?:[{u.KATAKANA}]{more})", f"(?:[{u.NUMBER}]{more})"
    hebrew, letter = f"(?:[{u.HEBREW}]{more})", f"(?:[{u.LETTER}{u.HEBREW}]{more})"
    mid_letter, mid_number = f"[{u.MID_LETTER}]{more}", f"[{u.MID_NUMBER}]{more}"
    quoted = f"{hebrew}(?:[{u.SINGLE_QUOTE}]{more}|[{u.DOUBLE_QUOTE}]{more}{hebrew})"
    numbers = f"{number}(?:(?:{join}*+|{mid_number}){number})*"
    letters = f"{letter}(?:(?:{join}*+(?!{quoted})|{mid_letter}){letter})*"
    unit = f"(?:{katakana}(?:{join}*+{katakana})*|(?:{quoted}|{numbers}|{letters})+)"
    return f"{join}*+{unit}(?:{join}++{unit})*{join}*+"


def _emoji_rule() -> str:
    """Return UTS #51's emoji sequences; U+FE0F asks for the picture, and U+200D joins two."""
    joiner, picture, keycap = "\u200d", "\ufe0f", "\u20e3"
    # no possessive groups here: before Python 3.11.5 they forget where a group with a choice in it began
    one = f"[{u.EXTEND.replace(_SELECTORS, _SELECTORS_BUT_LAST)}]"
    more = f"{one}*+"
    symbol, tone = f"[{u.PICTOGRAPH}]{more}{picture}?+", f"[{u.MODIFIER}]{more}"
    joined = f"(?:(?<={joiner}){symbol}|{joiner}+{symbol}|{joiner}{tone})"
    flag = f"[{u.REGION}][{u.EXTEND}]*+"
    key = f"[0-9#*](?:{more}{picture}{keycap}{more}|(?={one}*?{keycap}){more})"
    tags = "[\U000e0020-\U000e007e]+\U000e007f"
    return f"(?:{joiner}*+{symbol}|{tone})(?:{joined}+|{tags})?|{key}|{flag}{flag}"


_RULES = [
    re.compile(rule)
    for rule in (
        _word_rule(),
        _emoji_rule(),
        f"(?:[{u.COMPLEX}][{u.EXTEND}]*+)++",
        f"[{u.HAN}{u.HIRAGANA}][{u.EXTEND}]*+",
    )
]
_NUMBERS = "[0-9]+(?:(?:_+|[.,;'])?[0-9]+)*"
_LETTERS = "[A-Za-z]+(?:(?:_+|[.:'])?[A-Za-z]+)*"
_ASCII_WORD = re.compile(f"_*(?:{_NUMBERS}|{_LETTERS})+(?:_+(?:{_NUMBERS}|{_LETTERS})+)*_*")
"""The rule for words, for what is left of it in ASCII."""
