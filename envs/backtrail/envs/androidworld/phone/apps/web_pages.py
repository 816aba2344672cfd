"""Pages of the browser: what is in a file (JSON or simple HTML), and puzzles that are made from a number.

A page is ``{"title": ..., "blocks": [...]}``. Blocks by their "kind":

- "heading" and "text" with "text"; "link" with "text" and "to";
- "button" with "text" and "to" (an address) or "says" (a text that then appears below it);
- "form" with "name", "fields" (each "name", "hint", "required"), "submit" (text of its button), "thanks" (what then appears), and
  perhaps "expect" (values that are right, by field) and "wrong" (what appears otherwise);
- "lights" with "rows" of "#" (on) and "." (off): a tap toggles a lamp and its neighbours; all off is a success;
- "maze" with "rows" of "#" (wall), "." and "$" (goal), begun at the upper left;
- "product" with "numbers": shown one after the other, to be multiplied;
- "colors" with "targets" and "palette" (hexadecimal colours): a canvas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import islice
from typing import Any

from backtrail.envs.androidworld.phone.app import Data

__all__ = ["colors", "maze", "numbers", "product", "read_page"]

_NEEDED = {
    "heading": ("text",), "text": ("text",), "link": ("text", "to"), "button": ("text",), "form": ("name", "fields"),
    "lights": ("rows",), "maze": ("rows",), "product": ("numbers",), "colors": ("targets", "palette"),
}  # fmt: skip
_SIDE = 4
_PALETTE = [
    "ff0000",
    "00ff00",
    "0000ff",
    "ffff00",
    "ff00ff",
    "00ffff",
    "800000",
    "008000",
    "000080",
    "808000",
    "800080",
    "008080",
    "ffa500",
    "ff1493",
    "9932cc",
    "20b2aa",
    "4b0082",
    "00ff7f",
    "ff6347",
    "00ced1",
    "9400d3",
    "f0e68c",
    "ff8c00",
    "228b22",
]


def read_page(content: str) -> Data:
    """Return the page that a file holds: JSON as described above, or HTML, of which headings, texts and links are kept."""
    if content.lstrip().startswith("{"):
        return _from_json(content) or {"title": "", "blocks": [{"kind": "text", "text": content}]}
    reader = _Reader()
    reader.feed(content)
    seed = re.search(r"SeededRNG\((\d+)\)", content)
    puzzles = {"Maze Puzzle": maze, "Memory Task": product, "Color Challenge": colors}
    if seed is not None and reader.title in puzzles:
        return {"title": reader.title, "blocks": [puzzles[reader.title](int(seed[1]))]}
    return {"title": reader.title, "blocks": reader.blocks}


def _from_json(content: str) -> Data | None:
    """Return the page that JSON describes; None if it does not."""
    try:
        page = json.loads(content)
    except ValueError:
        return None
    blocks = page.get("blocks")
    good = isinstance(blocks, list) and all(isinstance(each, dict) and _complete(each) for each in blocks)
    return {"title": page.get("title", ""), "blocks": blocks} if good else None


def _complete(block: Data) -> bool:
    """Whether a block has what its kind needs."""
    return block.get("kind") in _NEEDED and set(_NEEDED[block["kind"]]) <= set(block)


# -- puzzles that are made from a number ------------------------------------------------------------------


def numbers(seed: int) -> Iterator[float]:
    """Yield the fractions of the linear congruential generator of AndroidWorld's pages (Numerical Recipes' constants)."""
    while True:
        seed = (1664525 * seed + 1013904223) % 2**32
        yield seed / 2**32


def maze(seed: int) -> Data:
    """Return the maze of 4 by 4 cells that AndroidWorld's page makes from a number."""
    chance, wall = numbers(seed), {(row, column) for row in range(_SIDE) for column in range(_SIDE)}
    stack, ways = [(0, 0)], [(-1, 0), (1, 0), (0, -1), (0, 1)]
    while stack:
        row, column = stack.pop()
        wall.discard((row, column))
        if (row, column) == (_SIDE - 1, _SIDE - 1):
            break
        for i in (3, 2, 1):
            j = int(next(chance) * (i + 1))
            ways[i], ways[j] = ways[j], ways[i]
        stack += [(row + down, column + right) for down, right in ways if (row + down, column + right) in wall]
    rows = ["".join("#" if (row, column) in wall else "." for column in range(_SIDE)) for row in range(_SIDE)]
    return {"kind": "maze", "rows": [*rows[:-1], f"{rows[-1][:-1]}$"]}


def product(seed: int) -> Data:
    """Return the five numbers that AndroidWorld's page makes from a number."""
    return {"kind": "product", "numbers": [int(share * 10) + 1 for share in islice(numbers(seed), 5)]}


def colors(seed: int) -> Data:
    """Return the three colours that AndroidWorld's page makes from a number, and the 24 to choose from."""
    left = list(_PALETTE)
    targets = [left.pop(int(share * len(left))) for share in islice(numbers(seed), 3)]
    return {"kind": "colors", "targets": targets, "palette": list(_PALETTE)}


# -- HTML -------------------------------------------------------------------------------------------------


class _Reader(HTMLParser):
    """Takes headings, texts, links and buttons out of HTML."""

    def __init__(self):
        super().__init__()
        self.title = ""
        self.blocks: list[dict[str, Any]] = []
        self._tags: list[str] = []
        self._link = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("br", "img", "input", "meta", "link", "hr"):
            self._tags.append(tag)
        if tag == "a":
            self._link = dict(attrs).get("href") or ""

    def handle_endtag(self, tag: str) -> None:
        while tag in self._tags and self._tags.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        text, tag = " ".join(data.split()), self._tags[-1] if self._tags else ""
        if not text or tag in ("script", "style"):
            return
        if tag == "title":
            self.title = text
        elif tag == "a":
            self.blocks.append({"kind": "link", "text": text, "to": self._link})
        elif tag == "button":
            self.blocks.append({"kind": "button", "text": text})
        else:
            self.blocks.append({"kind": "heading" if re.fullmatch(r"h\d", tag) else "text", "text": text})
