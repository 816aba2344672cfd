"""The shell's commands on apps and on the screen: starting and stopping them, intents, broadcasts, touches and keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.apps import calls
from backtrail.envs.androidworld.phone.shell_syntax import Failure
from backtrail.envs.androidworld.phone.views import HEIGHT, WIDTH

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.app import Data
    from backtrail.envs.androidworld.phone.device import Phone
    from backtrail.envs.androidworld.phone.shell import Shell

__all__ = ["COMMANDS", "KEYS", "press", "stop"]

_LONG = 500  # milliseconds from which a touch is a long press

_VIEWED = (
    ("content://contacts", "contacts"), ("content://com.android.contacts", "contacts"),
    ("content://com.android.calendar", "calendar"), ("content://media/external/images", "gallery"), ("http", "chrome"),
    ("geo:", "maps"), ("sms", "sms"), ("tel:", "phone"),
)  # fmt: skip
"""Which app shows what an address begins with."""

_ACTIONS = {
    "android.settings.SETTINGS": "settings",
    "android.settings.WIFI_SETTINGS": "settings",
    "android.settings.BLUETOOTH_SETTINGS": "settings",
    "android.settings.DISPLAY_SETTINGS": "settings",
    "android.intent.action.DIAL": "phone",
    "android.intent.action.SET_ALARM": "clock",
    "android.media.action.IMAGE_CAPTURE": "camera",
    "android.media.action.STILL_IMAGE_CAMERA": "camera",
}

KEYS = {
    "HOME": 3, "BACK": 4, "CALL": 5, "ENDCALL": 6, "POWER": 26, "SPACE": 62, "ENTER": 66, "DEL": 67, "MENU": 82, "ESCAPE": 111,
    "CTRL_LEFT": 113, "APP_SWITCH": 187, "CUT": 277, "COPY": 278, "PASTE": 279,
}  # fmt: skip
"""Android's key codes by name."""


@dataclass
class Intent:
    """What ``am`` was told."""

    action: str = ""
    data: str = ""
    kind: str = ""
    component: str = ""
    package: str = ""
    extras: dict[str, str] = field(default_factory=dict)

    def said(self) -> str:
        """Return it as ``am`` prints it."""
        parts = {"act": self.action, "dat": self.data, "typ": self.kind, "pkg": self.package, "cmp": self.component}
        return f"Intent {{ {' '.join(f'{name}={each}' for name, each in parts.items() if each)} }}"


def _intent(args: Sequence[str]) -> Intent:
    intent, place = Intent(), 0
    while place < len(args):
        option, following = args[place], list(args[place + 1 : place + 3])
        place += 1
        if option in ("-a", "-d", "-t", "-n", "-p", "-c", "-f", "--user"):
            name = {"-a": "action", "-d": "data", "-t": "kind", "-n": "component", "-p": "package"}.get(option)
            if not following:
                raise Failure(f"Error: Argument expected after '{option}'", 255)
            if name:
                setattr(intent, name, following[0])
            place += 1
        elif option in ("-e", "--es", "--ei", "--ez", "--el", "--ef", "--eu"):
            if len(following) < 2:
                raise Failure(f"Error: Argument expected after '{option}'", 255)
            intent.extras[following[0]] = following[1]
            place += 2
        elif "/" in option and not option.startswith("-") and ":" not in option:
            intent.component = option
    return intent


# -- am ---------------------------------------------------------------------------------------------------


def _am(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    phone = shell.phone
    match args:
        case ["start" | "start-activity", *rest]:
            return _start(phone, _intent(rest), wait="-W" in rest)
        case ["broadcast", *rest]:
            return _broadcast(shell, _intent(rest))
        case ["force-stop" | "kill", package]:
            stop(phone, package)
        case ["stack" | "task", "list"]:
            return "".join(f"{line}\n" for line in _tasks(phone)).encode()
        case ["stack" | "task", "remove", number]:
            for key, each in _numbered(phone):
                if str(each) == number:
                    stop(phone, phone.apps[key].package)
        case ["stack" | "task" | "kill-all" | "startservice" | "start-service", *_]:
            pass
        case _:
            raise Failure(f"Unknown command: {' '.join(args[:1])}", 255)
    return b""


def _start(phone: Phone, intent: Intent, wait: bool) -> bytes:
    said = f"Starting: {intent.said()}\n"
    if intent.component and not _begin(phone, intent.component.split("/")[0]):
        name = intent.component
        return f"{said}Error type 3\nError: Activity class {{{name}}} does not exist.\n".encode()
    if not intent.component and not _resolve(phone, intent):
        return f"{said}Error: Activity not started, unable to resolve {intent.said()}\n".encode()
    facts = f"Status: ok\nLaunchState: COLD\nActivity: {phone.activity}\nTotalTime: 300\nWaitTime: 310\nComplete\n"
    return f"{said}{facts if wait else ''}".encode()


def _begin(phone: Phone, package: str) -> bool:
    key = next((key for key, app in phone.apps.items() if app.package == package), None)
    if key is not None:
        phone.launch(key)
    return key is not None


def _resolve(phone: Phone, intent: Intent) -> bool:
    """Start what an intent without a component asks for; return whether there is something that can."""
    action, number = intent.action.removeprefix("android.intent.action."), intent.data.partition(":")[2]
    if action == "INSERT" and intent.kind == "vnd.android.cursor.dir/contact":
        arguments = {"name": intent.extras.get("name", ""), "number": intent.extras.get("phone", "")}
        return _show(phone, "contacts", "edit", **arguments)
    if action == "SENDTO" and intent.data.startswith(("sms:", "smsto:")) and number:
        return _show(phone, "sms", "thread", address=number, body=intent.extras.get("sms_body", ""))
    if action == "CALL" and number and "phone" in phone.apps:
        calls.place_call(phone, number)
        phone.pass_time(1)
        return True
    key = _ACTIONS.get(intent.action, "")
    if action == "VIEW":
        key = next((key for beginning, key in _VIEWED if intent.data.startswith(beginning)), "")
    return _show(phone, key) if key else action == "MAIN" and _begin(phone, intent.package)


def _show(phone: Phone, key: str, page: str = "main", **args: str) -> bool:
    if key in phone.apps:
        phone.open(key, page, **args)
        phone.pass_time(1)
    return key in phone.apps


def stop(phone: Phone, package: str) -> None:
    """Close all pages of an app; what is below comes to the front. The home screen stays."""
    pages = phone.state["stack"]
    left = [page for page in pages if page["app"] == "launcher" or phone.apps[page["app"]].package != package]
    if left[-1:] != pages[-1:]:
        phone.state["focus"], phone.state["keyboard"] = "", False
    phone.state["stack"] = left


def _numbered(phone: Phone) -> list[tuple[str, int]]:
    """Return the apps on the stack with the numbers of their tasks, the one in front first."""
    keys = list(dict.fromkeys(page["app"] for page in reversed(phone.state["stack"])))
    return [(key, 1 if key == "launcher" else number + 2) for number, key in enumerate(keys)]


def _tasks(phone: Phone) -> list[str]:
    lines = []
    for place, (key, number) in enumerate(_numbered(phone)):
        page: Data = next(page for page in reversed(phone.state["stack"]) if page["app"] == key)
        name = f"{phone.apps[key].package}/{phone.apps[key].activity_of(page['page'])}"
        seen = "true" if place == 0 else "false"
        lines.append(f"RootTask id={number} bounds=[0,0][{WIDTH},{HEIGHT}] displayId=0 userId=0")
        lines.append(
            f"  taskId={number}: {name} bounds=[0,0][{WIDTH},{HEIGHT}] userId=0 visible={seen} "
            f"topActivity=ComponentInfo{{{name}}}"
        )
    return lines


def _broadcast(shell: Shell, intent: Intent) -> bytes:
    result = "result=0"
    match intent.action:
        case "clipper.set":
            shell.phone.state["clipboard"] = intent.extras.get("text", "")
            result = 'result=-1, data="Text is copied into clipboard."'
        case "clipper.get":
            result = f'result=-1, data="{shell.phone.state["clipboard"]}"'
        case "accessibility_forwarder.intent.action.SET_GRPC":
            port = intent.extras.get("port", "")
            shell.forwarder = (intent.extras.get("host", ""), int(port)) if port.isdecimal() else None
    return f"Broadcasting: {intent.said()}\nBroadcast completed: {result}\n".encode()


def _monkey(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    package = args[args.index("-p") + 1] if "-p" in args[:-1] else ""
    if not _begin(shell.phone, package):
        return b"** No activities found to run, monkey aborted.\n"
    return b"Events injected: 1\n"


# -- touches and keys -------------------------------------------------------------------------------------


def _input(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    phone = shell.phone
    words = list(args[1:] if args[:1] and args[0] in ("touchscreen", "keyboard") else args)
    kind, rest = (words[0], words[1:]) if words else ("", [])
    if kind not in ("keycombination", "keyevent", "text"):
        shell.selected = False
    try:
        match kind, rest:
            case "tap", [x, y]:
                phone.tap(_pixel(x), _pixel(y))
            case "swipe" | "draganddrop", [x, y, to_x, to_y, *time]:
                start, end = (_pixel(x), _pixel(y)), (_pixel(to_x), _pixel(to_y))
                hold = start == end and int(time[0] if time else 300) >= _LONG
                phone.hold(*start) if hold else phone.swipe(start, end)
            case "text", [text, *_]:
                _erase_selected(shell)
                phone.type(text.replace("%s", " "))
            case "keyevent", [*keys]:
                for key in keys:
                    press(shell, key)
            case "keycombination", [*keys]:
                shell.selected = sorted(_code(key) for key in keys) == [29, 113]
            case _:
                raise Failure(f"Error: Unknown command: {' '.join(words)}", 255)
    except (ValueError, OverflowError) as error:
        raise Failure(f"Error: Invalid arguments for command: {kind} ({error})", 255) from None
    phone.changed()
    return b""


def _pixel(word: str) -> int:
    return int(float(word))


def press(shell: Shell, key: str) -> None:
    """Press a key, by name or code; one that this phone has no use for does nothing."""
    phone, code = shell.phone, _code(key)
    match next((name for name, each in KEYS.items() if each == code), ""):
        case "HOME":
            phone.press_home()
        case "BACK" | "ESCAPE":
            phone.back()
        case "ENTER":
            phone.enter()
        case "DEL" if not _erase_selected(shell):
            phone.erase(1)
        case "SPACE":
            phone.type(" ")
        case "PASTE":
            _erase_selected(shell)
            phone.type(phone.state["clipboard"])
        case "COPY" | "CUT" as what if shell.selected:
            phone.state["clipboard"] = next((view.text for view in phone.tree.walk() if view.focused), "")
            if what == "CUT":
                _erase_selected(shell)
        case "ENDCALL" if "phone" in phone.apps:
            calls.hang_up(phone)
    if 7 <= code <= 16:
        phone.type(str(code - 7))
    elif 29 <= code <= 54:
        phone.type(chr(ord("a") + code - 29))
    shell.selected = False


def _erase_selected(shell: Shell) -> bool:
    """Erase what is selected, if something is; return whether it was."""
    if shell.selected:
        shell.phone.erase()
    was, shell.selected = shell.selected, False
    return was


def _code(key: str) -> int:
    """Return the code of a key.

    Raises:
        ValueError: If there is no such key.
    """
    name = key.removeprefix("KEYCODE_")
    if len(name) == 1 and not key.isdigit():
        return ord(name.lower()) - ord("a") + 29 if name.isalpha() else ord(name) - ord("0") + 7
    return int(name) if name.isdigit() else KEYS.get(name, 0)


COMMANDS: dict[str, Callable[[Shell, Sequence[str], bytes], bytes]] = {"am": _am, "monkey": _monkey, "input": _input}
"""By name: each takes the shell, the arguments and standard input, and returns standard output."""
