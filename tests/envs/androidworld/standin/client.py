"""Starts the stand-in in a process of its own and gives it orders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


class StandInProcess:
    """A stand-in that runs until `close`."""

    def __init__(self, *options: str):
        """Start it with the options of `standin.server`."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "standin.server", *options],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        ports = json.loads(self._read())
        self.adb_port: int = ports["adb"]
        self.console_port: int = ports["console"]
        self.grpc_port: int = ports["grpc"]

    @property
    def ports(self) -> dict[str, Any]:
        """Where it is, as arguments of `EmulatorBackend`."""
        return {"console_port": self.console_port, "grpc_port": self.grpc_port, "adb_server_port": self.adb_port}

    def order(self, do: str, **details: Any) -> dict[str, Any]:
        """Give an order and return the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, **details}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._read())
        assert "error" not in answer, answer
        return answer

    @property
    def facts(self) -> dict[str, Any]:
        """Return what the stand-in has seen."""
        return self.order("facts")

    def kill(self) -> None:
        """End it as a crash would."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.terminate()
        self._process.wait()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the stand-in ended"
        return line
