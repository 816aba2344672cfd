"""The phone as adb reaches it: a shell, files that are pushed and pulled, and the emulator's console."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone import shell_apps, shell_files, shell_system, shell_text
from backtrail.envs.androidworld.phone.apps import calls, texts
from backtrail.envs.androidworld.phone.shell_syntax import (
    Branch,
    Chain,
    Command,
    Failure,
    ShellSyntaxError,
    Word,
    parse,
)
from backtrail.envs.androidworld.phone.shell_volume import Volume

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["Shell"]

_COMMANDS = {**shell_files.COMMANDS, **shell_text.COMMANDS, **shell_system.COMMANDS, **shell_apps.COMMANDS}
_NOWHERE = "/dev/null"


class Shell:
    """Answers adb commands. All that they change is the phone.

    Attributes:
        phone: The phone.
        volume: Its files.
        selected: Whether all of the field with the cursor is selected (Ctrl+A was pressed last).
        forwarder: Host and port to which the accessibility forwarder was told to send, if it was.
    """

    def __init__(self, phone: Phone):
        """Answer for ``phone``."""
        self.phone = phone
        self.volume = Volume(phone)
        self.selected = False
        self.forwarder: tuple[str, int] | None = None

    def adb(self, arguments: Sequence[str]) -> tuple[int, bytes]:
        """Run an adb command.

        Args:
            arguments: What follows ``adb -s SERIAL``, e.g. ("shell", "settings", "get", "global", "wifi_on").

        Returns:
            Exit status, and standard output and error as one.
        """
        try:
            match list(arguments):
                case ["shell" | "exec-out", *words]:
                    status, output, errors = self.run(" ".join(words))
                    output += errors
                case ["push", source, target]:
                    status, output = 0, self._push(source, target)
                case ["pull", source, target]:
                    status, output = 0, self._pull(source, target)
                case ["emu", *words]:
                    status, output = self._console(words)
                case ["install" | "install-multiple", *_]:
                    status, output = 0, b"Success\n"
                case ["uninstall", *_]:
                    status, output = 1, b"Failure [DELETE_FAILED_INTERNAL_ERROR]\n"
                case ["root" | "unroot" | "remount"]:
                    status, output = 0, b"adbd is already running as root\n"
                case ["get-state"]:
                    status, output = 0, b"device\n"
                case ["devices", *_]:
                    status, output = 0, b"List of devices attached\nemulator-5554\tdevice\n"
                case ["logcat" | "wait-for-device" | "start-server" | "kill-server" | "reconnect", *_]:
                    status, output = 0, b""
                case _:
                    status, output = 1, f"adb: unknown command {' '.join(arguments[:1])}\n".encode()
        except Failure as failure:
            status, output = failure.status, f"{failure.message}\n".encode()
        self.phone.changed()
        return status, output

    def run(self, program: str) -> tuple[int, bytes, bytes]:
        """Run a program of the shell and return its exit status, standard output and standard error."""
        try:
            return self._chain(parse(program), b"")
        except ShellSyntaxError as error:
            return 1, b"", f"/system/bin/sh: {error}\n".encode()
        except RecursionError:
            return 1, b"", b"/system/bin/sh: too many levels\n"

    def _chain(self, chain: Chain, stdin: bytes) -> tuple[int, bytes, bytes]:
        status, output, errors = 0, b"", b""
        for how, pipeline in chain.parts:
            if (how == "&&" and status) or (how == "||" and not status):
                continue
            status, said, wrong = self._pipeline(pipeline, stdin)
            output, errors = output + said, errors + wrong
        return status, output, errors

    def _pipeline(self, commands: Sequence[Command | Branch], stdin: bytes) -> tuple[int, bytes, bytes]:
        status, errors = 0, b""
        for command in commands:
            if isinstance(command, Branch):
                status, stdin, wrong = self._branch(command, stdin)
            else:
                status, stdin, wrong = self._command(command, stdin)
            errors += wrong
        return status, stdin, errors

    def _branch(self, branch: Branch, stdin: bytes) -> tuple[int, bytes, bytes]:
        status, output, errors = self._chain(branch.condition, stdin)
        followed, more, wrong = self._chain(branch.otherwise if status else branch.then, stdin)
        return followed, output + more, errors + wrong

    def _command(self, command: Command, stdin: bytes) -> tuple[int, bytes, bytes]:
        words = [each for word in command.words for each in self._expanded(word)]
        status, output, errors = 0, b"", b""
        try:
            for operator, word in command.redirections:
                if operator == "<":
                    stdin = self._read(word.text)
                elif word.text not in ("", _NOWHERE):
                    self._writable(word.text)
            if words and words[0] not in _COMMANDS:
                raise Failure(f"/system/bin/sh: {words[0]}: inaccessible or not found", 127)
            output = _COMMANDS[words[0]](self, words[1:], stdin) if words else b""
        except Failure as failure:
            status, output = failure.status, failure.output
            errors = f"{failure.message}\n".encode() if failure.message else b""
        return self._redirected(command, status, output, errors)

    def _redirected(self, command: Command, status: int, output: bytes, errors: bytes) -> tuple[int, bytes, bytes]:
        try:
            for operator, word in command.redirections:
                if operator == "2>&1":
                    output, errors = output + errors, b""
                elif operator == ">&2":
                    output, errors = b"", output + errors
                elif operator in (">", ">>"):
                    output = self._write(word.text, output, operator == ">>")
                elif operator in ("2>", "2>>"):
                    errors = self._write(word.text, errors, operator == "2>>")
        except Failure as failure:
            return failure.status, b"", f"{failure.message}\n".encode()
        return status, output, errors

    def _write(self, path: str, content: bytes, append: bool) -> bytes:
        """Write what is redirected; return what is left of it for the screen: nothing."""
        if path != _NOWHERE:
            self._writable(path)
            before = (self.volume.read(path) or b"") if append else b""
            try:
                self.volume.write(path, before + content)
            except ValueError as error:
                raise Failure(f"/system/bin/sh: can't create {path}: {error}") from None
        return b""

    def _writable(self, path: str) -> None:
        above = path.rpartition("/")[0] or "/"
        if not path or self.volume.is_directory(path) or not self.volume.is_directory(above):
            what = "Is a directory" if self.volume.is_directory(path) else "No such file or directory"
            raise Failure(f"/system/bin/sh: can't create {path}: {what}")

    def _read(self, path: str) -> bytes:
        content = b"" if path == _NOWHERE else self.volume.read(path)
        if content is None:
            raise Failure(f"/system/bin/sh: can't open {path}: No such file or directory")
        return content

    def _expanded(self, word: Word) -> list[str]:
        """Return the paths that a word stands for; itself if it stands for none."""
        return (self.volume.glob(word.pattern) if word.pattern else []) or (
            [word.text] if word.text or word.quoted else []
        )

    # -- beside the shell ---------------------------------------------------------------------------------

    def _push(self, source: str, target: str) -> bytes:
        try:
            content = Path(source).read_bytes()
        except OSError as error:
            raise Failure(f"adb: error: cannot stat '{source}': {error.strerror}") from None
        if self.volume.is_directory(target):
            target = f"{target.rstrip('/')}/{Path(source).name}"
        try:
            self.volume.write(target, content)
        except ValueError as error:
            raise Failure(f"adb: error: failed to copy '{source}' to '{target}': {error}") from None
        return f"{source}: 1 file pushed, 0 skipped.\n".encode()

    def _pull(self, source: str, target: str) -> bytes:
        content = self.volume.read(source)
        if content is None:
            raise Failure(f"adb: error: failed to stat remote object '{source}': No such file or directory")
        path = Path(target, source.rpartition("/")[2]) if Path(target).is_dir() else Path(target)
        try:
            path.write_bytes(content)
        except OSError as error:
            raise Failure(f"adb: error: cannot create '{target}': {error.strerror}") from None
        return f"{source}: 1 file pulled, 0 skipped.\n".encode()

    def _console(self, words: Sequence[str]) -> tuple[int, bytes]:
        """Run a command of the emulator's console, which knows nothing of quotes."""
        match words:
            case ["sms", "send", number, *text] if text and texts.KEY in self.phone.apps:
                texts.receive(self.phone, number, " ".join(text))
            case ["gsm", "call", number] if re.search(r"\d", number) and calls.KEY in self.phone.apps:
                calls.ring(self.phone, number)
            case ["gsm", "cancel", _] if calls.KEY in self.phone.apps:
                calls.hang_up(self.phone)
            case ["avd", "name"]:
                return 0, b"backtrail\nOK\n"
            case _:
                return 1, b"KO: unknown command\n"
        return 0, b"OK\n"
