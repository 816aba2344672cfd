"""Starting an emulator of our own, without a window, and ending that one only."""

from __future__ import annotations

import os
import socket
import subprocess
import weakref
from collections.abc import Sequence
from pathlib import Path

from backtrail.envs.androidworld.adb import find_tool, free_port, stop_process
from backtrail.envs.androidworld.backend import DeviceError

__all__ = ["EmulatorProcess", "find_emulator", "free_console_port"]

_CONSOLE_PORTS = range(5554, 5682, 2)  # what the emulator accepts; the device listens one above


def find_emulator(path: str | Path | None = None) -> str:
    """Return the path of the emulator: the given one, that of the SDK, or on the PATH.

    Raises:
        FileNotFoundError: If there is none.
    """
    if path is not None:
        if not Path(path).expanduser().is_file():
            raise FileNotFoundError(f"Expected the emulator at {path}, found nothing")
        return str(Path(path).expanduser())
    found = find_tool("emulator", "emulator")
    if found is None:
        raise FileNotFoundError(
            "The Android emulator was not found: install it with the SDK's `sdkmanager emulator` and set ANDROID_HOME, "
            "or pass emulator_path"
        )
    return found


def free_console_port() -> int:
    """Return a console port that is free together with the device port above it.

    Raises:
        DeviceError: If there is none.
    """
    first = os.getpid() % len(_CONSOLE_PORTS)  # so that workers that start together seldom choose the same
    for port in (*_CONSOLE_PORTS[first:], *_CONSOLE_PORTS[:first]):
        if _free(port) and _free(port + 1):
            return port
    raise DeviceError("All the ports 5554 to 5681 that emulators use are taken: end some emulators")


class EmulatorProcess:
    """A running emulator that we started."""

    def __init__(
        self,
        avd: str,
        folder: Path,
        *,
        adb: str,
        adb_server_port: int,
        emulator: str | None = None,
        console_port: int | None = None,
        grpc_port: int | None = None,
        options: Sequence[str] = (),
    ):
        """Start it; it boots in the background.

        Args:
            avd: Name of the virtual device (``emulator -list-avds``); one emulator at a time can write to it.
            folder: Where its log goes.
            adb: Path of the adb binary it may use.
            adb_server_port: The only adb server it is told of.
            emulator: Path of the emulator.
            console_port: Even; a free one by default. The device is ``emulator-<console_port>``.
            grpc_port: A free one by default.
            options: More of the emulator's command-line options, e.g. ``("-accel", "off")``.

        Raises:
            FileNotFoundError: If there is no emulator.
            DeviceError: If it cannot be started.
        """
        self.console_port = console_port or free_console_port()
        self.grpc_port = grpc_port or free_port()
        self.log = Path(folder, "emulator.log")
        command = [find_emulator(emulator), "-avd", avd, "-no-window", "-no-audio", "-no-boot-anim", "-no-snapshot"]
        command += ["-ports", f"{self.console_port},{self.console_port + 1}", "-grpc", str(self.grpc_port)]
        command += ["-adb-path", adb, *options]
        settings = {"ANDROID_ADB_SERVER_PORT": str(adb_server_port), "TMPDIR": str(folder)}
        try:
            with self.log.open("wb") as log:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=os.environ | settings,
                    start_new_session=True,  # Ctrl-C is for us: we end it when we are done with it
                )
        except OSError as error:
            raise DeviceError(f"The emulator {command[0]} cannot be started: {error}") from error
        self._stop = weakref.finalize(self, stop_process, self._process, 20.0)

    def check(self) -> None:
        """Raise `DeviceError`, with the end of its log, if the emulator is no longer running."""
        if self._process.poll() is not None:
            end = self.log.read_text("utf-8", "replace")[-1500:].strip() if self.log.exists() else ""
            raise DeviceError(f"The emulator ended with status {self._process.returncode}: {end or 'it wrote no log'}")

    def close(self) -> None:
        """End it."""
        self._stop()


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
