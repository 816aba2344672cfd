"""A phone of two screens: enough to be seen, touched, typed into, and put back."""

from __future__ import annotations

import copy
import re
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from standin.device import Answer

from backtrail.envs.androidworld.backend import Element

_WIDTH, _HEIGHT = 240, 480
_PACKAGES = {"com.android.settings": ".Settings", "net.gsantner.markor": ".Main", "com.example.launcher": ".Home"}
_KEYS = {"KEYCODE_ENTER": "Enter", "66": "Enter", "4": "GoBack", "3": "GoHome"}


class ToyPhone:
    """Home shows a counter and the way to a note; the note has a field and a switch."""

    size = (_HEIGHT, _WIDTH)

    def __init__(self) -> None:
        self.state: dict[str, Any] = {
            "screen": "home",
            "count": 0,
            "note": "",
            "focused": False,
            "marked": False,
            "settings": {},
            "files": {"/sdcard/hello.txt": b"hello\n"},
            "log": [],
        }

    def picture(self) -> np.ndarray:
        picture = np.full((_HEIGHT, _WIDTH, 3), 230 if self.state["screen"] == "home" else 250, np.uint8)
        for k, element in enumerate(self.elements()):
            left, top, right, bottom = element.bounds
            picture[top:bottom, left:right] = (40 * k % 256, len(element.text) % 256, 200 if element.checked else 90)
        turned = self.state["settings"].get("system/user_rotation") == "1"
        return picture.transpose(1, 0, 2) if turned else picture

    def elements(self) -> list[Element]:
        state = self.state
        if state["screen"] == "home":
            found = [
                Element("android.widget.TextView", text=f"Count {state['count']}", bounds=(20, 40, 220, 80)),
                Element("android.widget.Button", text="Add", bounds=(20, 100, 220, 150), clickable=True),
                Element("android.widget.Button", text="Note", bounds=(20, 170, 220, 220), clickable=True),
            ]
        else:
            field = Element(
                "android.widget.EditText",
                text=state["note"],
                hint="Write here",
                bounds=(20, 40, 220, 140),
                editable=True,
                clickable=True,
                focused=state["focused"],
            )
            box = Element(
                "android.widget.Switch",
                description="Mark",
                bounds=(20, 170, 220, 220),
                checkable=True,
                checked=state["marked"],
            )
            found = [field, box]
        return found

    def gesture(self, start: tuple[int, int], end: tuple[int, int], seconds: float) -> None:
        kind = "drag" if start != end else "hold" if seconds > 0.5 else "tap"
        self.state["log"].append((kind, *start, *end))
        if kind == "tap":
            self._tap(*start)

    def key(self, name: str) -> None:
        self.state["log"].append(("key", name))
        if name in ("GoHome", "GoBack"):
            self.state |= {"screen": "home", "focused": False}
        elif name == "Enter" and self.state["focused"]:
            self.state["note"] += "\n"

    def shell(self, words: list[str]) -> Answer:
        match words:
            case ["settings", "put", space, name, value]:
                self.state["settings"][f"{space}/{name}"] = value
            case ["settings", "get", space, name]:
                return _text(self.state["settings"].get(f"{space}/{name}", "null"))
            case ["input", "text", text] if self.state["focused"]:
                self.state["note"] += text.replace("%s", " ")
            case ["input", "keyevent", "KEYCODE_DEL"]:
                self.state["note"] = ""  # everything is selected: the toy knows DEL after CTRL and A only
            case ["input", "keyevent", key] if key in _KEYS:
                self.key(_KEYS[key])
            case ["am", "stack", "list"]:
                activity = (
                    "com.example.launcher/.Home" if self.state["screen"] == "home" else "net.gsantner.markor/.Main"
                )
                return _text(
                    f"  taskId=7: {activity} bounds=[0,0] visible=true topActivity=ComponentInfo{{{activity}}}"
                )
            case ["am", "start", "-W", "-n", component]:
                self.state["screen"] = "note" if "markor" in component else "home"
            case ["pm", "list", "packages", *_]:
                return _text("\n".join(f"package:{name}" for name in _PACKAGES))
            case ["cmd", "package", "resolve-activity", *_, name] if name in _PACKAGES:
                return _text(f"priority=0\n{name}/{_PACKAGES[name]}")
            case ["wm", "size"]:
                return _text(f"Physical size: {_WIDTH}x{_HEIGHT}")
            case ["cat", path]:
                content = self.read(path)
                if content is None:
                    return Answer(1, b"", f"cat: {path}: No such file or directory\n".encode())
                return Answer(0, content)
            case ["rm", "-f", path]:
                self.state["files"].pop(path, None)
            case ["uiautomator", "dump", path]:
                self.write(path, self._xml().encode())
            case ["echo", *rest]:
                return _text(" ".join(rest))
            case ["false"]:
                return Answer(1)
            case ["input", *_]:
                pass
            case _:
                return Answer(127, b"", f"sh: {words[0]}: inaccessible or not found\n".encode())
        return Answer()

    def read(self, path: str) -> bytes | None:
        return self.state["files"].get(path)

    def write(self, path: str, content: bytes) -> None:
        self.state["files"][path] = content

    def save(self) -> Any:
        return copy.deepcopy(self.state)

    def load(self, state: Any) -> None:
        self.state = copy.deepcopy(state)

    def _tap(self, x: int, y: int) -> None:
        state = self.state
        for element in self.elements():
            left, top, right, bottom = element.bounds
            if left <= x < right and top <= y < bottom:
                match element.text or element.description or element.class_name:
                    case "Add":
                        state["count"] += 1
                    case "Note":
                        state["screen"] = "note"
                    case "Mark":
                        state["marked"] = not state["marked"]
                state["focused"] = element.editable

    def _xml(self) -> str:
        nodes = "".join(
            f'<node text={quoteattr(e.text)} class="{e.class_name}" content-desc={quoteattr(e.description)} '
            f'checked="{str(e.checked).lower()}" enabled="true" bounds="[{e.bounds[0]},{e.bounds[1]}]'
            f'[{e.bounds[2]},{e.bounds[3]}]"/>'
            for e in self.elements()
        )
        return f'<?xml version="1.0"?><hierarchy rotation="0">{nodes}</hierarchy>'


def _text(text: str) -> Answer:
    return Answer(0, f"{text}\n".encode())


def commands(line: str) -> list[tuple[str, list[str]]]:
    """Split a shell line at ``&&`` and ``;`` outside quotes into (what stands before the command, its words)."""
    found: list[tuple[str, list[str]]] = []
    link, words, word, pos = ";", [], None, 0
    token = re.compile(r"'([^']*)'|\"([^\"]*)\"|\\(.)|(&&|;)|(\s+)|([^\s'\"\\;&]+|&)", re.DOTALL)
    while pos < len(line):
        part = token.match(line, pos)
        if part is None:
            return [(";", ["syntax error"])]
        pos = part.end()
        if part[4] or part[5]:
            if word is not None:
                words.append(word)
            word = None
            if part[4]:
                found.append((link, words))
                link, words = part[4], []
        else:
            word = (word or "") + (part[1] or part[2] or part[3] or part[6] or "")
    if word is not None:
        words.append(word)
    found.append((link, words))
    return [(link, [w for w in words if w not in (">/dev/null", "2>&1")]) for link, words in found if words]
