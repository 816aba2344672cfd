"""UI elements of the simulated phone's screen, as accessibility services see it, and elements as text for a model to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backtrail.envs.androidworld.backend import Element
from backtrail.envs.androidworld.phone.views import HEIGHT, WIDTH, Bounds, View

__all__ = ["INPUT_METHODS", "SYSTEM", "describe", "elements"]

SYSTEM = "com.android.systemui"
"""Package of the bars and of short messages."""

INPUT_METHODS = ("com.google.android.inputmethod", "com.android.inputmethod")
"""How the packages of keyboards begin."""

_LONGEST = 4000  # characters: what an agent reads has an end

_KINDS = {
    "TextView": "text",
    "EditText": "field",
    "Button": "button",
    "ImageButton": "button",
    "ImageView": "image",
    "Switch": "switch",
    "CheckBox": "checkbox",
    "RadioButton": "radio",
    "SeekBar": "slider",
    "ProgressBar": "progress",
    "RecyclerView": "list",
    "ListView": "list",
    "ScrollView": "list",
    "CheckedTextView": "item",
    "FrameLayout": "area",
    "LinearLayout": "area",
    "Toast": "message",
}


def elements(root: View) -> list[Element]:
    """Return the elements of a screen in drawing order: leaves, and views that are described or can be scrolled.

    What cannot be seen is left out: what lies outside the screen or wholly under something that was drawn later (a dialog, the
    keyboard). The keys of the keyboard are left out too: text is entered by an action of its own.
    """
    windows = root.children
    found = []
    for number, window in enumerate(windows):
        if window.package.startswith(INPUT_METHODS):
            continue
        above = [each.bounds for each in windows[number + 1 :] if each.fill is not None or each.on_tap is not None]
        found += [_element(view) for view in _visible(window, above)]
    return found


def describe(elements: Sequence[Element], bounds: bool = False) -> str:
    """Return elements as text, one line each: number, kind, words in quotes, and what state it is in.

    Leaves out the system's bars, what neither says nor does anything, and what only repeats the description of the view that it
    is a part of; the numbers stay those of the list.

    Args:
        elements: Those of the screen.
        bounds: Whether each line ends with [left, top, right, bottom] in pixels.
    """
    lines, whole = [], None
    for number, each in enumerate(elements):
        kind = _kind(each)
        if (each.package == SYSTEM and kind != "message") or not _matters(each):
            continue
        if whole is not None and not _inside(each, whole):
            whole = None
        if whole is not None and _repeats(each, whole):
            continue
        if each.description and _acts(each):
            whole = each
        parts = [str(number), kind, *_words(each, kind), *_flags(each, kind)]
        if bounds:
            parts.append(str(list(each.bounds)))
        lines.append(" ".join(parts))
    return "\n".join(lines)


# -- from views -------------------------------------------------------------------------------------------


def _visible(view: View, above: Sequence[Bounds]) -> Iterator[View]:
    for each in view.walk():
        if each.children and not each.description and not each.field and each.reach <= 0:
            continue
        left, top, right, bottom = each.bounds
        if min(right, WIDTH) <= max(left, 0) or min(bottom, HEIGHT) <= max(top, 0):
            continue
        if not any(x <= left and y <= top and right <= x2 and bottom <= y2 for x, y, x2, y2 in above):
            yield each


def _element(view: View) -> Element:
    text = view.text
    if view.password:
        text = "•" * len(text)
    elif view.value is not None:
        text = f"{100 * view.value:.0f}%"
    return Element(
        class_name=view.classes,
        text=text,
        description=view.description,
        resource_id=view.resource,
        package=view.package,
        bounds=view.bounds,
        hint=view.hint,
        checked=bool(view.checked),
        checkable=view.checked is not None,
        clickable=view.clickable,
        editable=bool(view.field),
        enabled=view.enabled,
        focused=view.focused,
        long_clickable=view.on_hold is not None,
        scrollable=view.reach > 0,
        selected=view.selected,
        password=view.password,
    )


# -- as text ----------------------------------------------------------------------------------------------


def _kind(each: Element) -> str:
    name = each.class_name.rsplit(".", 1)[-1]
    if name == "View":
        return "text" if each.text else "area"
    if name == "ImageView" and each.clickable:
        return "button"
    return _KINDS.get(name, name.lower() or "area")


def _acts(each: Element) -> bool:
    return each.clickable or each.long_clickable or each.editable or each.scrollable or each.checkable


def _matters(each: Element) -> bool:
    return bool(_acts(each) or each.text or each.description)


def _inside(part: Element, whole: Element) -> bool:
    left, top, right, bottom = whole.bounds
    x, y, x2, y2 = part.bounds
    return part.package == whole.package and left <= x and top <= y and x2 <= right and y2 <= bottom


def _repeats(part: Element, whole: Element) -> bool:
    """Whether an element does and shows nothing of its own, and says words of another's description."""
    if _acts(part) or part.selected or part.focused:
        return False
    said, words = part.description or part.text, whole.description
    if said.endswith("…"):
        return said[:-1] in words
    start = words.find(said)
    while start >= 0 and (words[max(start - 1, 0) : start].isalnum() or words[start + len(said) :][:1].isalnum()):
        start = words.find(said, start + 1)  # that was a part of a word
    return start >= 0


def _words(each: Element, kind: str) -> list[str]:
    if kind == "field":
        label = each.description or each.hint or _name(each)
        return [f"{_quoted(label)}:", _quoted(each.text) if each.text else "empty"]
    said = [_quoted(text) for text in dict.fromkeys((each.description, each.text)) if text]
    return said or ([_quoted(_name(each))] if _name(each) and not (each.scrollable or each.checkable) else [])


def _flags(each: Element, kind: str) -> list[str]:
    flags = []
    if kind == "switch":
        flags.append("on" if each.checked else "off")
    elif each.checkable:
        flags.append("checked" if each.checked else "not checked")
    states = (("selected", each.selected), ("focused", each.focused), ("scrollable", each.scrollable))
    return [*flags, *(word for word, on in (*states, ("disabled", not each.enabled)) if on)]


def _name(each: Element) -> str:
    """Return the last part of the resource id, as words."""
    return each.resource_id.rsplit("/", 1)[-1].replace("_", " ")


def _quoted(text: str) -> str:
    """Return a text in quotes, in one line; of a very long one the beginning."""
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
