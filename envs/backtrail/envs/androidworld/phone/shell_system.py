"""The shell's commands on the system: settings, radios, clock, packages, content providers, and what it says of itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone import databases
from backtrail.envs.androidworld.phone.apps import calls, people, texts
from backtrail.envs.androidworld.phone.shell_apps import stop
from backtrail.envs.androidworld.phone.shell_syntax import Failure
from backtrail.envs.androidworld.phone.shell_text import write_file
from backtrail.envs.androidworld.phone.views import HEIGHT, WIDTH, to_xml

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone
    from backtrail.envs.androidworld.phone.shell import Shell

__all__ = ["COMMANDS"]

_MMSSMS = "/data/data/com.android.providers.telephony/databases/mmssms.db"
_BOXES = {"sms": "1", "sms/": "1", "sms/inbox": "type = 1", "sms/sent": "type = 2"}
_PROVIDERS = {
    "com.android.providers.contacts": (people.KEY, calls.KEY),
    "com.android.providers.telephony": (texts.KEY,),
}
"""Packages that keep the data of apps, which themselves keep nothing."""
_PACKAGES = (
    "android", "com.android.providers.contacts", "com.android.providers.media.module", "com.android.providers.settings",
    "com.android.providers.telephony", "com.android.shell", "com.android.systemui",
    "com.google.androidenv.accessibilityforwarder", "com.google.android.inputmethod.latin",
)  # fmt: skip
_PROPERTIES = {
    "ro.build.version.sdk": "33", "ro.build.version.release": "13", "ro.product.model": "sdk_gphone_x86_64",
    "sys.boot_completed": "1", "ro.product.cpu.abi": "x86_64",
}  # fmt: skip
_CALL_STATES = ("IDLE", "RINGING", "OFFHOOK")

_FRAME = f"[0, 0, {WIDTH}, {HEIGHT}]"


# -- settings, radios, clock ------------------------------------------------------------------------------


def _settings(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    known = shell.phone.settings
    match args:
        case [_, namespace, *_] if namespace not in known:
            raise Failure(f"Invalid namespace '{namespace}'", 255)
        case ["get", namespace, key]:
            return f"{known[namespace].get(key, 'null')}\n".encode()
        case ["put", namespace, key, value, *_] if _number(known[namespace].get(key, "")) and not _number(value):
            raise Failure(f"Invalid value: {value} for setting: {key}", 255)
        case ["put", namespace, key, value, *_]:
            known[namespace][key] = value
            return b""
        case ["delete", namespace, key]:
            return f"Deleted {int(known[namespace].pop(key, None) is not None)} rows\n".encode()
        case ["list", namespace]:
            return "".join(f"{key}={value}\n" for key, value in sorted(known[namespace].items())).encode()
        case ["reset", *_]:
            return b""
        case _:
            raise Failure("Bad arguments: expected get, put, delete or list with a namespace", 255)


def _number(value: str) -> bool:
    return re.fullmatch(r"-?\d{1,18}", value) is not None


def _svc(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    match args:
        case [("wifi" | "bluetooth" | "data") as radio, ("enable" | "disable") as what]:
            key = "mobile_data" if radio == "data" else f"{radio}_on"
            shell.phone.settings["global"][key] = "1" if what == "enable" else "0"
            return b""
        case _:
            return b"Available commands: svc wifi|bluetooth|data enable|disable\n"


def _cmd(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    match args:
        case ["bluetooth_manager", ("enable" | "disable") as what]:
            return _svc(shell, ["bluetooth", what], stdin)
        case ["connectivity", "airplane-mode", ("enable" | "disable") as what]:
            shell.phone.settings["global"]["airplane_mode_on"] = "1" if what == "enable" else "0"
            return b""
        case ["package", "resolve-activity", *_, name]:
            found = [app for app in shell.phone.apps.values() if app.package == name]
            return f"{name}/{found[0].activity}\n".encode() if found else b"No activity found\n"
        case _:
            raise Failure(f"cmd: Can't find service: {args[0] if args else ''}", 20)


def _date(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    words = [each for each in args if each not in ("-u", "-s")]
    if words and words[0].startswith("+"):
        form = words[0][1:].replace("%s", str(shell.phone.state["now"]))
        return f"{shell.phone.now.strftime(form)}\n".encode()
    if words:
        shell.phone.state["now"] = _moment(words[0], shell.phone.now.year)
        shell.phone.changed()
    return shell.phone.now.strftime("%a %b %e %H:%M:%S UTC %Y\n").encode()


def _moment(word: str, year: int) -> int:
    """Read a time as ``date`` takes it: @seconds, or MMDDhhmm[[CC]YY][.SS]."""
    seconds = re.fullmatch(r"@(\d{1,10})", word)
    if seconds:
        return int(seconds[1])
    parts = re.fullmatch(r"(\d\d)(\d\d)(\d\d)(\d\d)(\d\d|\d{4})?(?:\.(\d\d))?", word)
    try:
        if not parts:
            raise ValueError
        month, day, hour, minute = (int(each) for each in parts.groups()[:4])
        given = int(parts[5]) if parts[5] else year
        full = given + 2000 if given < 100 else given
        return int(datetime(full, month, day, hour, minute, int(parts[6] or 0), tzinfo=UTC).timestamp())
    except ValueError:
        raise Failure(f"date: bad date '{word}'") from None


def _sleep(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    seconds = re.fullmatch(r"(\d{1,6})(?:\.\d*)?s?", args[0] if args else "")
    if not seconds:
        raise Failure(f"sleep: bad '{args[0] if args else ''}'")
    shell.phone.pass_time(int(seconds[1]))
    return b""


# -- packages and providers -------------------------------------------------------------------------------


def _pm(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    phone = shell.phone
    packages = sorted({*_PACKAGES, *(app.package for app in phone.apps.values())})
    match args:
        case ["list", "packages", *rest]:
            wanted = [each for each in rest if not each.startswith("-")]
            return "".join(f"package:{each}\n" for each in packages if all(w in each for w in wanted)).encode()
        case ["path", package] if package in packages:
            return f"package:/data/app/{package}/base.apk\n".encode()
        case ["clear", package, *_] if package in packages:
            _clear(phone, package)
            return b"Success\n"
        case ["clear" | "uninstall", *_]:
            raise Failure("Failed")
        case ["install", *_]:
            return b"Success\n"
        case [("grant" | "revoke"), package, _] if package not in packages:
            raise Failure(f"Exception occurred while executing: Unknown package: {package}", 255)
        case ["grant" | "revoke" | "reset-permissions" | "enable" | "disable", *_]:
            return b""
        case _:
            raise Failure(f"Unknown command: {' '.join(args)}", 255)


def _clear(phone: Phone, package: str) -> None:
    """Give an app the data of a new one; contacts and messages belong to their providers, not to the apps that show them."""
    kept = {key for keys in _PROVIDERS.values() for key in keys}
    own = [key for key, app in phone.apps.items() if app.package == package and key not in kept]
    for key in [*own, *_PROVIDERS.get(package, ())]:
        if key in phone.apps:
            phone.state["apps"][key] = phone.apps[key].fresh()
    stop(phone, package)


def _content(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    options = dict(zip(args[1::2], args[2::2], strict=False))
    uri = options.get("--uri", "")
    if not uri.startswith("content://"):
        raise Failure("[ERROR] Unsupported argument: expected --uri content://...")
    place = uri.removeprefix("content://")
    if args[:1] == ["delete"]:
        _delete(shell, place, options)
        return b""
    if args[:1] != ["query"]:
        raise Failure(f"[ERROR] Unsupported operation: {args[0] if args else ''}")
    lines = [
        f"Row: {number} {', '.join(f'{name}={value}' for name, value in row)}"
        for number, row in enumerate(_provided(shell.phone, place, options))
    ]
    return ("".join(f"{line}\n" for line in lines) or "No result found.\n").encode()


def _provided(phone: Phone, place: str, options: dict[str, str]) -> list[list[tuple[str, str]]]:
    """Return the rows of a content provider as pairs of column and value."""
    wanted = options.get("--projection", "").replace(",", ":").split(":") if options.get("--projection") else []
    if place in _BOXES and texts.KEY in phone.apps:
        where, order = options.get("--where", "1"), options.get("--sort", "date DESC, _id DESC")
        sql = f"SELECT {', '.join(wanted) or '*'} FROM sms WHERE ({_BOXES[place]}) AND ({where}) ORDER BY {order}"
        try:
            names, rows = databases.select(phone, _MMSSMS, sql)
        except databases.Error as error:
            raise Failure(f"Error while accessing provider:sms\n{error}") from None
        return [[(n, "NULL" if v is None else str(v)) for n, v in zip(names, row, strict=True)] for row in rows]
    if place in ("contacts/phones/", "contacts/phones", "com.android.contacts/data/phones"):
        found = [
            {"_id": str(person.id), "display_name": person.name, "number": number, "data1": number}
            for person in people.contacts(phone)
            for number, _ in person.phones
        ]
        return [[(name, row.get(name, "NULL")) for name in wanted or row] for row in found]
    if place in ("call_log/calls", "call_log/calls/") and calls.KEY in phone.apps:
        log = calls.calls(phone)
        return [[(name, str(row.get(name, "NULL"))) for name in wanted or row] for row in log]
    return []


def _delete(shell: Shell, place: str, options: dict[str, str]) -> None:
    if place in _BOXES and texts.KEY in shell.phone.apps:
        try:
            where = options.get("--where", "1")
            databases.query(shell.phone, _MMSSMS, f"DELETE FROM sms WHERE ({_BOXES[place]}) AND ({where})")
        except databases.Error as error:
            raise Failure(f"Error while accessing provider:sms\n{error}") from None
    elif place.startswith("call_log/calls") and calls.KEY in shell.phone.apps:
        calls.clear_calls(shell.phone)


# -- what the system says of itself -----------------------------------------------------------------------


def _dumpsys(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    match args:
        case ["input", *_]:
            text = (
                "INPUT MANAGER (dumpsys input)\n"
                f"    Viewport INTERNAL: displayId=0, orientation=0, logicalFrame={_FRAME}, physicalFrame={_FRAME}\n"
                "      SurfaceOrientation: 0\n"
            )
        case ["window", *_]:
            text = f"  mCurrentRotation=ROTATION_0\n  mCurrentFocus=Window{{1 u0 {shell.phone.activity}}}\n"
        case ["activity", "recents", *_]:
            text = f"ACTIVITY MANAGER RECENT TASKS (dumpsys activity recents)\n{_recents(shell.phone)}"
        case ["activity", *_]:
            text = f"  ResumedActivity: ActivityRecord{{1 u0 {shell.phone.activity} t1}}\n"
        case ["telephony.registry", *_]:
            state = calls.call_state(shell.phone) if calls.KEY in shell.phone.apps else "IDLE"
            text = f"last known state:\n    mCallState={_CALL_STATES.index(state)}\n"
        case ["package", package, *_]:
            text = f"Packages:\n  Package [{package}]\n"
        case _:
            text = ""
    return text.encode()


def _recents(phone: Phone) -> str:
    apps = dict.fromkeys(page["app"] for page in reversed(phone.state["stack"]) if page["app"] != "launcher")
    lines = [
        f"  * Recent #{n}: Task{{1 #{n + 2} A={phone.apps[key].package} id={n + 2}}}" for n, key in enumerate(apps)
    ]
    return "".join(f"{line}\n" for line in lines)


def _wm(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    facts = {"size": f"Physical size: {WIDTH}x{HEIGHT}\n", "density": "Physical density: 420\n"}
    if len(args) != 1 or args[0] not in facts:
        raise Failure("the size and density of this screen can only be asked for", 255)
    return facts[args[0]].encode()


def _getprop(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    if args:
        return f"{_PROPERTIES.get(args[0], '')}\n".encode()
    return "".join(f"[{name}]: [{value}]\n" for name, value in _PROPERTIES.items()).encode()


def _uiautomator(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    paths = [each for each in args[1:] if not each.startswith("-")]
    path = paths[0] if paths else "/sdcard/window_dump.xml"
    write_file(shell, "uiautomator", path, to_xml(shell.phone.tree).encode())
    return f"UI hierchary dumped to: {path}\n".encode()  # that is how it is spelled


def _said(text: str) -> Callable[[Shell, Sequence[str], bytes], bytes]:
    """Return a command that always says the same."""
    return lambda shell, args, stdin: text.encode()


def _fails(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    raise Failure("")


COMMANDS: dict[str, Callable[[Shell, Sequence[str], bytes], bytes]] = {
    "settings": _settings, "svc": _svc, "cmd": _cmd, "date": _date, "sleep": _sleep, "pm": _pm, "content": _content,
    "dumpsys": _dumpsys, "wm": _wm, "getprop": _getprop, "uiautomator": _uiautomator, "whoami": _said("root\n"),
    "id": _said("uid=0(root) gid=0(root)\n"), "pwd": _said("/\n"), "true": _said(""), ":": _said(""), "false": _fails,
    "service": _said("Result: Parcel(00000000    '....')\n"), "appops": _said(""), "logcat": _said(""), "sync": _said(""),
    "setprop": _said(""), "ime": _said(""),
}  # fmt: skip
"""By name: each takes the shell, the arguments and standard input, and returns standard output."""
