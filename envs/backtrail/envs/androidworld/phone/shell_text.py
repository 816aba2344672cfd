"""The shell's commands on the content of files and on text that comes through a pipe."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone import databases
from backtrail.envs.androidworld.phone.shell_syntax import Failure

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.shell import Shell

__all__ = ["COMMANDS", "MISSING", "lines_of", "options_of", "read_each", "write_file"]

MISSING = "No such file or directory"


def lines_of(lines: Sequence[str]) -> bytes:
    """Return lines as the bytes that a command prints."""
    return "".join(f"{line}\n" for line in lines).encode()


def options_of(args: Sequence[str]) -> tuple[str, list[str]]:
    """Return the letters of all options, and the other arguments."""
    options = "".join(each[1:] for each in args if each.startswith("-") and each != "-")
    return options, [each for each in args if not each.startswith("-") or each == "-"]


def read_each(shell: Shell, command: str, paths: Sequence[str]) -> list[tuple[str, bytes]]:
    """Return paths with their contents.

    Raises:
        Failure: If one is not a file.
    """
    found = []
    for path in paths:
        content = shell.volume.read(path)
        if content is None:
            what = "Is a directory" if shell.volume.is_directory(path) else MISSING
            raise Failure(f"{command}: {path}: {what}", 1, b"".join(each for _, each in found))
        found.append((path, content))
    return found


def write_file(shell: Shell, command: str, path: str, content: bytes, at: int | None = None) -> None:
    """Write a file, at a time in seconds; None for now.

    Raises:
        Failure: If it cannot be written; nothing has changed then.
    """
    try:
        shell.volume.write(path, content, at)
    except ValueError as error:
        raise Failure(f"{command}: {path}: {error}") from None


def _cat(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    paths = [each for each in args if each != "-"]
    return b"".join(content for _, content in read_each(shell, "cat", paths)) if paths else stdin


def _echo(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    options = {"-n", "-e", "-E", "-ne", "-nE"}
    first = next((i for i, each in enumerate(args) if each not in options), len(args))
    text = " ".join(args[first:])
    if not any("E" in each for each in args[:first]):  # this shell takes backslashes as signs even without -e
        text = re.sub(r"\\([nrt\\])", lambda each: {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}[each[1]], text)
    return (text if any("n" in each for each in args[:first]) else f"{text}\n").encode()


def _grep(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    options, words = options_of(args)
    if not words:
        raise Failure("grep: no REGEX", 2)
    wanted, paths, below = _pattern(options, words[0]), words[1:], "r" in options
    named = "H" in options or (
        "h" not in options and (len(paths) > 1 or (below and any(map(shell.volume.is_directory, paths))))
    )
    if below:
        paths = [path for each in paths for path in shell.volume.walk(each) if not shell.volume.is_directory(path)]
    sources = [(path, shell.volume.read(path)) for path in paths] if words[1:] else [("(standard input)", stdin)]
    output, wrong, some = [], [], False
    for path, content in sources:
        if content is None:
            wrong.append(f"grep: {path}: {'Is a directory' if shell.volume.is_directory(path) else MISSING}")
            continue
        lines = enumerate(_text_lines(content), 1)
        found = [(number, line) for number, line in lines if bool(wanted.search(line)) != ("v" in options)]
        some, head = some or bool(found), f"{path}:" if named else ""
        if "l" in options:
            output += [path] if found else []
        elif "c" in options:
            output.append(f"{head}{len(found)}")
        else:
            parts = [(n, each) for n, line in found for each in (_hits(wanted, line) if "o" in options else [line])]
            output += [f"{head}{number}:{part}" if "n" in options else f"{head}{part}" for number, part in parts]
    if "q" in options and some:
        return b""
    if wrong or not some:
        raise Failure("\n".join(wrong), 2 if wrong else 1, b"" if "q" in options else lines_of(output))
    return lines_of(output)


def _pattern(options: str, word: str) -> re.Pattern[str]:
    pattern = re.escape(word) if "F" in options else word
    pattern = rf"(?<!\w)(?:{pattern})(?!\w)" if "w" in options else pattern
    try:
        return re.compile(rf"^(?:{pattern})$" if "x" in options else pattern, re.IGNORECASE if "i" in options else 0)
    except re.error as error:
        raise Failure(f"grep: bad REGEX '{word}': {error}", 2) from None


def _hits(wanted: re.Pattern[str], line: str) -> list[str]:
    return [each[0] for each in wanted.finditer(line) if each[0]]


def _head(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    return lines_of(_part(shell, "head", args, stdin))


def _tail(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    return lines_of(_part(shell, "tail", args, stdin))


def _part(shell: Shell, command: str, args: Sequence[str], stdin: bytes) -> list[str]:
    number = re.search(r"-n? ?(\d+)", " ".join(args))
    paths = [each for each in args if not each.startswith("-") and not each.isdigit()]
    lines = _text_lines(_cat(shell, paths, stdin))
    count = int(number[1]) if number else 10
    return lines[:count] if command == "head" else lines[len(lines) - count if count < len(lines) else 0 :]


def _wc(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    options, paths = options_of(args)
    content = _cat(shell, paths, stdin)
    counts = {"l": content.count(b"\n"), "w": len(content.split()), "c": len(content)}
    return lines_of([" ".join(str(counts[each]) for each in options or "lwc" if each in counts)])


def _sort(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    options, paths = options_of(args)
    lines = sorted(_text_lines(_cat(shell, paths, stdin)), reverse="r" in options)
    return lines_of(list(dict.fromkeys(lines)) if "u" in options else lines)


def _md5(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    found = read_each(shell, "md5sum", args)
    return lines_of([f"{hashlib.md5(content, usedforsecurity=False).hexdigest()}  {path}" for path, content in found])


def _sqlite(shell: Shell, args: Sequence[str], stdin: bytes) -> bytes:
    words = [each for each in args if not each.startswith("-")]
    path = shell.volume.full(words[0]) if words else ""
    if path not in databases.paths(shell.phone):
        raise Failure(f'Error: unable to open database "{path}": unable to open database file')
    try:
        return databases.query(shell.phone, path, words[1] if len(words) > 1 else stdin.decode()).encode()
    except databases.Error as error:
        raise Failure(f"Error: {error}") from None


def _text_lines(content: bytes) -> list[str]:
    return content.decode(errors="replace").removesuffix("\n").split("\n") if content else []


COMMANDS: dict[str, Callable[[Shell, Sequence[str], bytes], bytes]] = {
    "cat": _cat, "echo": _echo, "grep": _grep, "head": _head, "tail": _tail, "wc": _wc, "sort": _sort, "md5sum": _md5,
    "sqlite3": _sqlite,
}  # fmt: skip
"""By name: each takes the shell, the arguments and standard input, and returns standard output."""
