"""What stands between this machine and an Android emulator."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from typing import Literal, NamedTuple

import gymnasium as gym

from backtrail.envs.androidworld.adb import find_adb
from backtrail.envs.androidworld.launch import find_emulator

__all__ = ["RECIPE", "Finding", "doctor"]

RECIPE = """\
pip install "pip>=25.3" "backtrail[android]" fuzzywuzzy pandas opencv-python-headless pydub python-Levenshtein requests \
tenacity termcolor jsonschema "audioop-lts; python_version >= '3.13'"
echo "setuptools<81" > constraints.txt && pip install --no-deps --build-constraint constraints.txt \
git+https://github.com/google-research/android_world"""
"""How android_world can be installed: its own pins exclude each other and today's setuptools."""

_PORTS = {5554: "console", 5555: "device", 8554: "gRPC", 5037: "shared adb server"}


class Finding(NamedTuple):
    """One thing that was looked at."""

    name: str
    status: Literal["ok", "missing", "broken"]
    detail: str
    """What was found, and what to do about it."""


def doctor() -> list[Finding]:
    """Look for everything that ``device="emulator"`` needs; starts nothing and changes nothing."""
    return [_packages(), _android_world(), _adb(), _emulator(), _kvm(), _ffmpeg(), *map(_port, _PORTS)]


def _packages() -> Finding:
    # immutabledict: android_env imports it and does not ask for it
    missing = [name for name in ("android_env", "immutabledict", "grpc", "google.protobuf") if not _importable(name)]
    if missing:
        return Finding("android_env", "missing", f'no {", ".join(missing)}: pip install "backtrail[android]"')
    return Finding("android_env", "ok", "importable")


def _android_world() -> Finding:
    if _importable("android_world"):
        return Finding("android_world", "ok", "importable")
    return Finding("android_world", "missing", f"only its own tasks need it. The recipe that works:\n{RECIPE}")


def _adb() -> Finding:
    try:
        path = find_adb()
        done = subprocess.run([path, "version"], capture_output=True, check=False, text=True, timeout=20)
    except gym.error.DependencyNotInstalled as error:
        return Finding("adb", "missing", str(error))
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("adb", "broken", f"{error}")
    if done.returncode:
        return Finding("adb", "broken", f"{path}: {done.stderr.strip()}")
    version = next((line.split()[-1] for line in done.stdout.splitlines() if line.startswith("Version")), "unknown")
    return Finding("adb", "ok", f"{version} at {path}")


def _emulator() -> Finding:
    try:
        return Finding("emulator", "ok", find_emulator())
    except FileNotFoundError as error:
        return Finding("emulator", "missing", f"{error}; one that runs already is used without it")


def _kvm() -> Finding:
    """Judge by the processor's flags: a /dev/kvm that opens, and even makes a machine, can still not run an emulator."""
    try:
        words = set(Path("/proc/cpuinfo").read_text("utf-8", "replace").split())
    except OSError:
        return Finding("kvm", "missing", "not a Linux machine: the emulator has other accelerators there")
    if not words & {"vmx", "svm"}:
        return Finding(
            "kvm", "missing", "the processor shows neither vmx nor svm (a virtual machine without nesting?): "
            "an emulator here runs, if at all, with `-accel off` and takes many minutes to start"
        )  # fmt: skip
    if not any(Path("/sys/module", module).exists() for module in ("kvm_intel", "kvm_amd")):
        return Finding(
            "kvm", "broken", "the kernel has no kvm_intel or kvm_amd: load it (modprobe) or enable it in the BIOS"
        )
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return Finding("kvm", "broken", "/dev/kvm cannot be opened: add yourself to the group kvm and log in again")
    return Finding("kvm", "ok", "usable")


def _ffmpeg() -> Finding:
    found = shutil.which("ffmpeg")
    return Finding(
        "ffmpeg", "ok" if found else "missing", found or "android_world's tasks with sound and video need it"
    )


def _port(port: int) -> Finding:
    name = f"port {port} ({_PORTS[port]})"
    sockets = _listeners(port)
    if not sockets:
        return Finding(name, "ok", "free")
    return Finding(name, "ok", f"taken by {_owner(sockets) or 'a process that cannot be looked into'}")


def _listeners(port: int) -> set[str]:
    """Return the inodes of the sockets that listen on a local TCP port (Linux; none elsewhere)."""
    found: set[str] = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            if fields[3] == "0A" and int(fields[1].rsplit(":", 1)[1], 16) == port:  # 0A: listening
                found.add(f"socket:[{fields[9]}]")
    return found


def _owner(sockets: set[str]) -> str:
    """Return the command and number of the process that holds one of the sockets, or ""."""
    for entry in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(entry) in sockets:
                process = entry.parent.parent
                command = (process / "cmdline").read_bytes().split(b"\0")[0].decode("utf-8", "replace")
                return f"{Path(command).name} (process {process.name})"
        except OSError:
            continue
    return ""


def _importable(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
