"""The adb client and an adb server of our own.

One server per worker, on a port that no other worker knows: whatever happens to one leaves the others alone. A command
that fails on the device is not a fault of the connection, and nothing is restarted for it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path

import gymnasium as gym

from backtrail.envs.androidworld.backend import CommandError, DeviceError

__all__ = ["Adb", "AdbServer", "find_adb", "find_tool", "free_port", "stop_process"]

_NEVER_SENT = re.compile(
    r"(adb|error): .*(cannot connect to daemon|failed to check server version|device offline|no devices|"
    r"device '.*' not found|device still (connecting|authorizing)|device unauthorized)"
)
_BROKEN_OFF = re.compile(
    r"(adb: error|error|adb): (closed|protocol fault|connect failed|.*(EOF|Connection reset|failed to read))"
)
_LOCAL = "127.0.0.1"  # not "localhost": for a server under another name the client never starts one of its own


def find_adb(path: str | Path | None = None) -> str:
    """Return the path of an adb client: the given one, the one in the package adbutils, of the SDK, or on the PATH.

    Raises:
        FileNotFoundError: If the given one does not exist.
        gymnasium.error.DependencyNotInstalled: If there is none.
    """
    if path is not None:
        if not Path(path).expanduser().is_file():
            raise FileNotFoundError(f"Expected an adb client at {path}, found none")
        return str(Path(path).expanduser())
    bundled = importlib.util.find_spec("adbutils")
    for folder in (bundled.submodule_search_locations or []) if bundled else []:
        for candidate in sorted(Path(folder, "binaries").glob("adb*")):
            if candidate.name in ("adb", "adb.exe") and os.access(candidate, os.X_OK):
                return str(candidate)
    found = find_tool("adb", "platform-tools")
    if found is None:
        raise gym.error.DependencyNotInstalled('No adb client was found: pip install "backtrail[android]" brings one')
    return found


def find_tool(name: str, folder: str) -> str | None:
    """Return the path of a tool of the Android SDK (ANDROID_HOME, ANDROID_SDK_ROOT, ~/Android/Sdk) or on the PATH."""
    roots = (os.environ.get("ANDROID_HOME"), os.environ.get("ANDROID_SDK_ROOT"), Path.home() / "Android" / "Sdk")
    for root in roots:
        if root and (found := shutil.which(name, path=str(Path(root, folder)))):
            return found
    return shutil.which(name)


def free_port() -> int:
    """Return a TCP port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind((_LOCAL, 0))
        return int(probe.getsockname()[1])


def stop_process(process: subprocess.Popen[bytes], patience: float = 5.0) -> None:
    """End a child process: ask first, then kill."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class AdbServer:
    """An adb server as a child process; it serves the devices it is told of and no others."""

    def __init__(self, adb: str, folder: Path, port: int | None = None):
        """Start it.

        Args:
            adb: Path of the adb binary.
            folder: Where it may write its log.
            port: TCP port; a free one by default.

        Raises:
            DeviceError: If it does not come up.
        """
        self.port = port or free_port()
        self._adb, self._folder = adb, folder
        self._stop: Callable[[], object] = lambda: None
        self.start()

    def start(self, patience: float = 20.0) -> None:
        """Start it, if it does not run."""
        self._stop()
        # without scanning: the emulators of other workers are none of ours
        settings = {"ADB_LOCAL_TRANSPORT_MAX_PORT": "0", "ADB_MDNS": "0", "ADB_USB": "0"}
        with Path(self._folder, "adb-server.log").open("ab") as log:
            process = subprocess.Popen(
                [self._adb, "-P", str(self.port), "nodaemon", "server"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=_environment(self._folder) | settings,
                start_new_session=True,  # Ctrl-C is for us: we end it when we are done with it
            )
        self._stop = weakref.finalize(self, stop_process, process)
        deadline = time.monotonic() + patience
        while not _listens(self.port):
            if process.poll() is not None or time.monotonic() > deadline:
                self._stop()
                raise DeviceError(f"The adb server did not come up on port {self.port}: {log.name} says why")
            time.sleep(0.05)

    def close(self) -> None:
        """Stop it."""
        self._stop()


class Adb:
    """Runs the adb client for one device."""

    def __init__(
        self,
        path: str,
        serial: str,
        server: AdbServer | int,
        folder: Path,
        *,
        timeout: float = 30.0,
        patience: float = 60.0,
    ):
        """Prepare to talk to a device; nothing is sent yet.

        Args:
            path: Of the adb binary.
            serial: Of the device, e.g. ``emulator-5554``.
            server: A server of our own, or the port of one that others look after.
            folder: For temporary files.
            timeout: Seconds that a command may take.
            patience: Seconds to wait for the device when it cannot be reached.
        """
        self.path, self.serial, self.timeout, self.patience = path, serial, timeout, patience
        self.port = server if isinstance(server, int) else server.port
        self._server = server if isinstance(server, AdbServer) else None
        self._folder = folder

    def run(self, *words: str, timeout: float | None = None) -> bytes:
        """Run ``adb words...`` for the device and return its standard output.

        A command that never reached the device is sent again once the device is back. One that broke off may have had its
        effect and is not repeated.

        Raises:
            CommandError: If it ended with a non-zero status.
            DeviceError: If the device cannot be reached, the connection broke off, or the time was up.
        """
        done = self._call(words, timeout)
        if done.returncode and _NEVER_SENT.match(_last_line(done)):
            self.wait()
            done = self._call(words, timeout)
        if not done.returncode:
            return done.stdout
        said = _last_line(done)
        if _NEVER_SENT.match(said):
            raise DeviceError(f"{self.serial} cannot be reached over the adb server on port {self.port}: {said}")
        # a shell whose connection breaks off ends so, without a word
        if _BROKEN_OFF.match(said) or (done.returncode == 255 and not done.stderr):
            raise DeviceError(
                f"The connection to {self.serial} broke off during `adb {shlex.join(words)}`: {said or '-'}"
            )
        command = words[1] if words[0] == "shell" else f"adb {shlex.join(words)}"
        raise CommandError(command, done.returncode, _said(done))

    def shell(self, command: str, timeout: float | None = None) -> str:
        """Run a command line in the device's shell and return its standard output.

        Raises:
            CommandError: If its exit status is not zero.
            DeviceError: See `run`.
        """
        return self.run("shell", command, timeout=timeout).decode("utf-8", "replace")

    def words(self, *words: str, timeout: float | None = None) -> str:
        """Run one program in the device's shell; the words are quoted, so none of them can be read as shell syntax."""
        return self.shell(shlex.join(words), timeout)

    def pull(self, path: str) -> bytes:
        """Return the content of a file on the device.

        Raises:
            FileNotFoundError: If there is no such file.
        """
        with tempfile.TemporaryDirectory(dir=self._folder) as place:
            local = Path(place, "file")
            try:
                self.run("pull", _absolute(path), str(local))
            except CommandError as error:
                if "does not exist" in error.output or "No such file" in error.output:
                    raise FileNotFoundError(f"There is no file {path} on {self.serial}") from None
                raise
            if not local.is_file():
                raise DeviceError(f"Expected a file at {path} on {self.serial}, found a folder")
            return local.read_bytes()

    def push(self, path: str, content: bytes) -> None:
        """Write a file on the device."""
        with tempfile.TemporaryDirectory(dir=self._folder) as place:
            local = Path(place, "file")
            local.write_bytes(content)
            self.run("push", str(local), _absolute(path))

    def wait(self, patience: float | None = None) -> None:
        """Wait until the device answers, starting our own server again if it is gone.

        Raises:
            DeviceError: If it does not answer in time.
        """
        patience = self.patience if patience is None else patience
        deadline = time.monotonic() + patience
        while True:
            if self._server and not _listens(self.port):
                self._server.start()
            done = self._call(("get-state",), None)
            if not done.returncode and done.stdout.strip() == b"device":
                return
            if self._server and self.serial.startswith("emulator-"):
                console = int(self.serial.removeprefix("emulator-"))
                self._call(("connect", f"emu:{console},{console + 1}"), None, for_device=False)
            if time.monotonic() > deadline:
                raise DeviceError(
                    f"{self.serial} did not answer within {patience:g} s over the adb server on port {self.port} "
                    f"({_last_line(done)}). Is the emulator running?"
                )
            time.sleep(0.2)

    def _call(
        self, words: Sequence[str], timeout: float | None, for_device: bool = True
    ) -> subprocess.CompletedProcess[bytes]:
        timeout = self.timeout if timeout is None else timeout
        whose = ["-s", self.serial] if for_device else []
        try:
            return subprocess.run(
                [self.path, "-H", _LOCAL, "-P", str(self.port), *whose, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout,
                env=_environment(self._folder),
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise DeviceError(f"`adb {shlex.join(words)}` did not end within {timeout:g} s on {self.serial}") from None
        except OSError as error:
            raise DeviceError(f"The adb client {self.path} cannot be run: {error}") from error


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment for adb: its log in our folder, and without an address that it takes for its own."""
    return {k: v for k, v in os.environ.items() if k != "ANDROID_ADB_SERVER_ADDRESS"} | {"TMPDIR": str(folder)}


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    return done.stderr.decode("utf-8", "replace").strip() or done.stdout.decode("utf-8", "replace").strip()


def _last_line(done: subprocess.CompletedProcess[bytes]) -> str:
    return (done.stderr or done.stdout).decode("utf-8", "replace").strip().rpartition("\n")[2]


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise ValueError(f"Expected an absolute path on the device, got {path!r}")
    return path


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((_LOCAL, port)) == 0
