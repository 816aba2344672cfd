"""The shell's commands on files and directories."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.shell_syntax import Failure
from backtrail.envs.androidworld.phone.shell_text import MISSING, lines_of, options_of, read_each, write_file

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.shell import Shell
    from backtrail.envs.androidworld.phone.shell_volume import Volume

__all__ = ["COMMANDS"]


# -- what is there ----------------------------------------------------------------------------------------


def _ls(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    options, paths = options_of(args)
    volume, lines, wrong = shell.volume, [], []
    long, several = "l" in options, len(paths) > 1
    for path in paths or ["/"]:
        if not volume.exists(path):
            wrong.append(f"ls: {path}: {MISSING}")
        elif volume.is_file(path) or "d" in options:
            lines.append(_entry(volume, path, path) if long else path)
        else:
            hidden = (".", "..") if "a" in options else ()
            names = [*hidden, *(n for n in volume.names(path) if n[0] != "." or "a" in options or "A" in options)]
            lines += [f"{path}:"] if several else []
            lines += [f"total {4 * len(names)}"] if long else []
            lines += [_entry(volume, posixpath.join(path, name), name) if long else name for name in names]
    if wrong:
        raise Failure("\n".join(wrong), 1, lines_of(lines))
    return lines_of(lines)


def _entry(volume: Volume, path: str, name: str) -> str:
    """Return the long form of an entry, with nine digits after the second as ``ls -ll`` has them."""
    when = datetime.fromtimestamp(volume.modified(path), UTC).strftime("%Y-%m-%d %H:%M:%S.000000000 +0000")
    if volume.is_directory(path):
        return f"drwxrws--- 2 root media_rw 4096 {when} {name}"
    return f"-rw-rw---- 1 root media_rw {len(volume.read(path) or b'')} {when} {name}"


def _find(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    start = next((i for i, each in enumerate(args) if each[0:1] in ("-", "!", "(")), len(args))
    bases, rest = list(args[:start]) or ["."], list(args[start:])
    delete = "-delete" in rest
    tests = [each for each in rest if each not in ("-delete", "-print")]
    found, wrong = [], []
    for base in bases:
        if not shell.volume.exists(base):
            wrong.append(f"find: {base}: {MISSING}")
            continue
        for path in shell.volume.walk(base):
            depth = path[len(base) :].strip("/").count("/") + 1 if path != base else 0
            if _matches(shell.volume, path, depth, tests):
                found.append(path)
    if delete:
        for path in sorted(found, key=len, reverse=True):
            shell.volume.remove(path)
    output = b"" if delete else lines_of(found)
    if wrong:
        raise Failure("\n".join(wrong), 1, output)
    return output


def _matches(volume: Volume, path: str, depth: int, tests: Sequence[str]) -> bool:
    """Whether a path passes the tests of ``find``: groups of tests with -o between them."""
    either, good, negate, place = False, True, False, 0
    while place < len(tests):
        test = tests[place]
        if test in ("-o", "-or"):
            either, good = either or good, True
        elif test in ("!", "-not"):
            negate = True
        elif test not in ("-a", "-and"):
            place += 1
            if test not in _TESTS or place == len(tests) or ("depth" in test and not tests[place].isdecimal()):
                raise Failure(f"find: bad arg '{test}'")
            good = good and _TESTS[test](volume, path, depth, tests[place]) != negate
            negate = False
        place += 1
    return either or good


_TESTS: dict[str, Callable[[Volume, str, int, str], bool]] = {
    "-type": lambda volume, path, depth, word: volume.is_directory(path) if word == "d" else volume.is_file(path),
    "-name": lambda volume, path, depth, word: fnmatch.fnmatchcase(posixpath.basename(path), word),
    "-iname": lambda volume, path, depth, word: fnmatch.fnmatchcase(posixpath.basename(path).lower(), word.lower()),
    "-mindepth": lambda volume, path, depth, word: depth >= int(word),
    "-maxdepth": lambda volume, path, depth, word: depth <= int(word),
}


def _test(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    words = [each for each in args if each != "]"]
    negate = words[:1] == ["!"]
    words = words[negate:]
    match words:
        case ["-f", path]:
            good = shell.volume.is_file(path)
        case ["-d", path]:
            good = shell.volume.is_directory(path)
        case ["-e" | "-r" | "-w", path]:
            good = shell.volume.exists(path)
        case ["-s", path]:
            good = bool(shell.volume.read(path))
        case ["-z", text]:
            good = not text
        case [one, "=" | "==" | "-eq", other]:
            good = one == other
        case [one, "!=" | "-ne", other]:
            good = one != other
        case ["-n", text] | [text]:
            good = bool(text)
        case _:
            good = False
    if good == negate:
        raise Failure("")
    return b""


def _stat(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    if not args:
        raise Failure("stat: Needs 1 argument")
    path = args[-1]
    read_each(shell, "stat", [path])
    form = args[1] if args[:1] == ["-c"] else "  File: %n\n  Size: %s\n"
    facts = {"%n": path, "%s": str(len(shell.volume.read(path) or b"")), "%Y": str(shell.volume.modified(path))}
    return lines_of([re.sub("%[nsY]", lambda each: facts[each[0]], form)])


# -- changing it ------------------------------------------------------------------------------------------


def _mkdir(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    options, paths = options_of(args)
    for path in paths:
        above = posixpath.dirname(path.rstrip("/")) or "/"
        if shell.volume.is_file(path) or ("p" not in options and shell.volume.exists(path)):
            raise Failure(f"mkdir: '{path}': File exists")
        if "p" not in options and not shell.volume.is_directory(above):
            raise Failure(f"mkdir: '{path}': {MISSING}")
        _make(shell, "mkdir", path)
    return b""


def _rm(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    options, paths = options_of(args)
    wrong = []
    for path in paths:
        if not shell.volume.exists(path):
            wrong += [] if "f" in options else [f"rm: {path}: {MISSING}"]
        elif shell.volume.is_directory(path) and not set(options) & {"r", "R"}:
            wrong.append(f"rm: {path}: is directory")
        else:
            shell.volume.remove(path)
    if wrong:
        raise Failure("\n".join(wrong))
    return b""


def _rmdir(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    for path in options_of(args)[1]:
        if not shell.volume.is_directory(path):
            raise Failure(f"rmdir: '{path}': {MISSING}")
        if shell.volume.names(path):
            raise Failure(f"rmdir: '{path}': Directory not empty")
        shell.volume.remove(path)
    return b""


def _cp(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    options, paths = options_of(args)
    for source, target in _pairs(shell, "cp", paths):
        if shell.volume.is_directory(source) and not set(options) & {"a", "r", "R"}:
            raise Failure(f"cp: Skipped dir '{source}': use -r")
        _copy(shell, "cp", source, target, keep_time="a" in options or "p" in options)
    return b""


def _mv(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    for source, target in _pairs(shell, "mv", options_of(args)[1]):
        inside = f"{shell.volume.full(target)}/".startswith(f"{shell.volume.full(source)}/")
        if inside:
            raise Failure(f"mv: '{source}' to '{target}': Invalid argument")
        _copy(shell, "mv", source, target, keep_time=True)
        shell.volume.remove(source)
    return b""


def _pairs(shell: Shell, command: str, paths: Sequence[str]) -> list[tuple[str, str]]:
    """Return what goes where; what goes into a directory keeps its name."""
    if len(paths) < 2:
        raise Failure(f"{command}: Needs 2 arguments")
    *sources, target = paths
    into = shell.volume.is_directory(target)
    if len(sources) > 1 and not into:
        raise Failure(f"{command}: '{target}' not directory")
    for path in [*sources, target if into else posixpath.dirname(target) or "/"]:
        if not shell.volume.exists(path):
            raise Failure(f"{command}: bad '{path}': {MISSING}")
    return [
        (each, posixpath.join(target, posixpath.basename(each.rstrip("/"))) if into else target) for each in sources
    ]


def _copy(shell: Shell, command: str, source: str, target: str, keep_time: bool) -> None:
    volume = shell.volume
    for path in list(volume.walk(source)):
        to = posixpath.normpath(target + path[len(source) :]) if path != source else target
        content = volume.read(path)
        if content is None:
            _make(shell, command, to)
        else:
            write_file(shell, command, to, content, volume.modified(path) if keep_time else None)


def _make(shell: Shell, command: str, path: str) -> None:
    try:
        shell.volume.make(path)
    except ValueError as error:
        raise Failure(f"{command}: '{path}': {error}") from None


def _touch(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    for path in options_of(args)[1]:
        if not shell.volume.is_directory(posixpath.dirname(path) or "/"):
            raise Failure(f"touch: '{path}': {MISSING}")
        if not shell.volume.is_directory(path):
            write_file(shell, "touch", path, shell.volume.read(path) or b"")
    return b""


def _permissions(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    """Take the arguments of ``chmod`` and the like: everybody may do everything here."""
    return b""


COMMANDS: dict[str, Callable[[Shell, Sequence[str], bytes], bytes]] = {
    "ls": _ls, "find": _find, "[": _test, "test": _test, "stat": _stat, "mkdir": _mkdir, "rm": _rm, "rmdir": _rmdir,
    "cp": _cp, "mv": _mv, "touch": _touch, "chmod": _permissions, "chown": _permissions, "chcon": _permissions,
    "restorecon": _permissions,
}  # fmt: skip
"""By name: each takes the shell, the arguments and standard input, and returns standard output."""
