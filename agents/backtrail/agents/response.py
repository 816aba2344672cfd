r"""The structured response: what is worth exploring, what is remembered, and one action.

A response is written with tags, in this order::

    <explore>The drawers are closed; the key may be in one of them.</explore>
    <memory>Desk 1 holds a pen. I open drawer 1 now.</memory>
    <action>open drawer 1</action>

`parse` is tolerant in reading, because models are not exact, and strict in judging, because a reward depends on it:

* Tags in any case; ``<exploration>``, ``<mem>`` and ``<act>`` mean the same. A part reaches to the next tag of the format,
  whichever that is, or to the end. Of several parts of one kind the last that is not empty counts.
* Thinking (``<think>`` to ``</think>``, also ``<thinking>``) is taken out first, with all tags in it; thinking that is
  never closed reaches to the end. If the first such tag is a closing one, the chat template had opened it, and all
  before it is thinking.
* In the action, or in the whole text if no part is the action, the last ``\boxed{...}`` with balanced braces holds it.
  One layer of a code fence, ``\text{...}`` or quotes is taken off.
* Without any of these the last line outside all parts is the action, and the response is not valid.

The format of explore, memory and action is that of EAPO (arXiv 2605.08978).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Parsed", "Response", "parse", "render"]

_PARTS = {
    "explore": "explore",
    "exploration": "explore",
    "memory": "memory",
    "mem": "memory",
    "thought": "thought",
    "action": "action",
    "act": "action",
}
# Possessive repeats and single-pass scans keep every step linear in the length of the text.
_TAG = re.compile(rf"<(/?)({'|'.join(_PARTS)})\s*+>", re.IGNORECASE | re.ASCII)
_THINK = re.compile(r"<(/?)think(?:ing)?\s*+>", re.IGNORECASE | re.ASCII)
_BRACE = re.compile(r"\\boxed\s*+\{|[{}]")
_MARKER = re.compile(rf"{_TAG.pattern}|{_THINK.pattern}|\\boxed\s*+\{{", re.IGNORECASE | re.ASCII)
_FENCE = re.compile(r"`{3,}+")
_LANGUAGE = re.compile(r"\A[\w+-]*+[ \t]*+\n")
_LABEL = re.compile(r"\Aaction\s*+:\s*+", re.IGNORECASE)
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’"}  # noqa: RUF001  # those that models write


@dataclass(frozen=True, slots=True)
class Response:
    """A response of the required form.

    Attributes:
        explore: What is still unknown and worth trying.
        memory: What has been seen.
        action: One action of the environment.
    """

    explore: str
    memory: str
    action: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was read from a response; "" for what is not there.

    Attributes:
        explore: As in `Response`.
        memory: As in `Response`.
        action: As in `Response`.
        valid: Whether all required parts are present and not empty.
        thought: Reasoning that is carried forward (ReAct's), from ``<thought>``.
    """

    explore: str
    memory: str
    action: str
    valid: bool
    thought: str = ""


def render(response: Response) -> str:
    r"""Write a response so that `parse` reads the same parts back, less white space around them.

    Raises:
        ValueError: If a part contains what the format is made of: one of its tags, a thinking tag or ``\boxed{``.

    Example:
        >>> print(render(Response("Drawer 1 is closed.", "The desk is empty.", "open drawer 1")))
        <explore>Drawer 1 is closed.</explore>
        <memory>The desk is empty.</memory>
        <action>open drawer 1</action>
    """
    explore, memory, action = (part.strip() for part in (response.explore, response.memory, response.action))
    for part in (explore, memory, action):
        if marker := _MARKER.search(part):
            raise ValueError(f"Expected text without the marks of the format, got {marker[0]!r} in {part[:80]!r}")
    if _bare(action) != action:  # a fence longer than any within keeps fences and quotes that belong to the action
        fence = "`" * max([3, *(1 + len(run[0]) for run in _FENCE.finditer(action))])
        action = f"{fence}\n{action}\n{fence}"
    return f"<explore>{explore}</explore>\n<memory>{memory}</memory>\n<action>{action}</action>"


def parse(text: str, required: Sequence[str] = ("explore", "memory", "action"), *, cut: bool = False) -> Parsed:
    r"""Read a response. Never raises, whatever the text.

    Args:
        text: What the model wrote.
        required: The parts that a valid response has, among "explore", "memory", "thought" and "action".
        cut: Whether the text was cut off at a limit of length. Then it is valid only if the tag of the action is closed:
            ``open drawer 1`` may be the beginning of ``open drawer 12``.

    Example:
        >>> parse('<think>Hm.</think><explore>e</explore><MEM>m</MEM><action>So: \\boxed{{"type": "wait"}}')
        Parsed(explore='e', memory='m', action='{"type": "wait"}', valid=True, thought='')
        >>> parse("I go left.\nleft")
        Parsed(explore='', memory='', action='left', valid=False, thought='')
    """
    visible = _without_thinking(text)
    parts, outside, last = _split(visible)
    action, explicit = _find_action(parts.get("action"), visible, outside)
    found = {name: parts.get(name, "") for name in ("explore", "memory", "thought")} | {"action": action}
    unfinished = cut and (last == "action" or "action" not in parts)  # not sure to be whole
    valid = explicit and all(found[name] for name in required) and not unfinished
    return Parsed(found["explore"], found["memory"], action, valid, found["thought"])


def _without_thinking(text: str) -> str:
    kept: list[str] = []
    start, thinking, first = 0, False, True
    for tag in _THINK.finditer(text):
        closing = bool(tag[1])
        if not thinking and not (closing and first):
            kept.append(text[start : tag.start()])
        thinking, first, start = not closing, False, tag.end()
    if not thinking:
        kept.append(text[start:])
    return "".join(kept)


def _split(text: str) -> tuple[dict[str, str], list[str], str]:
    """Return the parts by name, what is outside all of them, and the name of the part that is open at the end."""
    parts: dict[str, str] = {}
    outside: list[str] = []
    name, start = "", 0
    for tag in [*_TAG.finditer(text), None]:
        content = text[start : tag.start() if tag else len(text)].strip()
        if not name:
            outside.append(content)
        elif content:
            parts[name] = content
        if tag:
            name, start = "" if tag[1] else _PARTS[tag[2].lower()], tag.end()
    return parts, outside, name


def _find_action(part: str | None, text: str, outside: Sequence[str]) -> tuple[str, bool]:
    """Return the action, and whether it was marked as one."""
    boxed = _boxed(text if part is None else part)
    if boxed is not None or part is not None:
        return _bare(part or "" if boxed is None else boxed), True
    lines = [line for piece in outside for line in piece.splitlines() if line.strip()]
    line = lines[-1].strip() if lines else ""
    return _bare(_LABEL.sub("", line)), False


def _boxed(text: str) -> str | None:
    """Return what the last closed box holds; if none is closed, what follows the last opening; None without a box."""
    opened: list[int] = []  # where the contents of boxes begin; -1 for other braces
    begun, last = -1, (-1, -1)
    for brace in _BRACE.finditer(text):
        if brace[0] != "}":
            opened.append(-1 if brace[0] == "{" else brace.end())
            begun = max(begun, opened[-1])
        elif opened and (start := opened.pop()) > last[0]:
            last = start, brace.start()
    if begun < 0:
        return None
    start, end = last if last[0] >= 0 else (begun, len(text))
    return _json_object(text[begun:]) or text[start:end]


def _json_object(content: str) -> str | None:
    """Return the JSON object that a box holds and nothing else; its strings may hold braces of their own."""
    content = content.lstrip()
    if not content.startswith("{"):
        return None
    try:
        _, end = json.JSONDecoder().raw_decode(content)
    except (ValueError, RecursionError):
        return None
    return content[:end] if content[end:].lstrip()[:1] in ("}", "") else None


def _bare(text: str) -> str:
    r"""Take off one layer of a code fence, ``\text{...}`` or quotes."""
    text = text.strip()
    if (fenced := _fenced(text)) is not None:
        return fenced
    if text.startswith("\\text{") and text.endswith("}"):
        return text[len("\\text{") : -1].strip()
    if len(text) >= 2 and _QUOTES.get(text[0]) == text[-1] and not {text[0], text[-1]} & set(text[1:-1]):
        return text[1:-1].strip()
    return text


def _fenced(text: str) -> str | None:
    """Return what the last fenced block holds: it opens at the start of a line, and closes with as many backticks."""
    runs = list(_FENCE.finditer(text))
    if len(runs) < 2:
        return None
    close = runs[-1]
    for run in reversed(runs[:-1]):
        if run[0] == close[0] and (run.start() == 0 or text[run.start() - 1] == "\n"):
            content = text[run.end() : close.start()]
            return _LANGUAGE.sub("", content, count=1).strip() or content.strip()
    return None
