"""A stand-in for a running emulator, at the level of the wire.

It speaks as an adb host server, as the emulator's gRPC services and as the accessibility forwarder app, around any phone
that keeps `standin.device.StandInDevice`. Run as a program it prints its ports as one line of JSON, then reads orders, one
JSON object a line, and answers each with one line::

    python -m standin.server [--device module:factory] [--adb PORT] [--console PORT] [--grpc PORT] [--boot SECONDS]
        [--shell-user] [--no-forwarder] [--forever]

With ``--console 0`` there is a console for ``adb emu``, on a free port; any other port is a name only.

    {"do": "facts"}                       counters, commands, the toy's log
    {"do": "kill_adb", "seconds": 1}      the adb server is gone, for so long (null: for good)
    {"do": "kill_grpc", "seconds": 1}     the same for gRPC
    {"do": "detach", "seconds": 1}        adb does not see the device for so long
    {"do": "forget_port"}                 the forwarder no longer knows where to send
    {"do": "save", "name": "x"}           a snapshot that somebody else took
    {"do": "fault", "kind": "break_off"}  the next shell command's connection breaks off ("hang": it never answers)
    {"do": "forests", "period": 0.1, "delay": 0, "lag": 0, "mute": false}    how the forwarder sends; delay: seconds on
                                          the way; lag: seconds that what it sees is behind
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import sys
import threading
from typing import Any

from standin.adbhost import AdbHost, serve
from standin.console import Console
from standin.emulator import Emulator
from standin.services import forward, serve_grpc


class StandIn:
    """All the servers around one emulator."""

    def __init__(self, emulator: Emulator, adb_port: int, grpc_port: int):
        self.emulator = emulator
        self._adb = AdbHost(adb_port, emulator)
        self.adb_port = self._adb.server_address[1]
        serve(self._adb)
        self._grpc, self.grpc_port = serve_grpc(emulator, grpc_port)
        threading.Thread(target=forward, args=(emulator,), daemon=True).start()

    def obey(self, order: dict[str, Any]) -> Any:
        emulator = self.emulator
        match order:
            case {"do": "facts"}:
                state = getattr(emulator.device, "state", {})
                return {
                    "counts": emulator.counts,
                    "commands": list(emulator.commands),
                    "snapshots": list(emulator.snapshots),
                    "port": emulator.forwarding["port"],
                    "log": state.get("log"),
                    "settings": state.get("settings"),
                }
            case {"do": "kill_adb", "seconds": seconds}:
                self._adb.shutdown()
                self._adb.server_close()
                for client in list(emulator.clients):
                    with contextlib.suppress(OSError):
                        client.shutdown(2)
                if seconds is not None:
                    threading.Timer(seconds, self._revive_adb).start()
            case {"do": "kill_grpc", "seconds": seconds}:
                self._grpc.stop(0).wait()
                if seconds is not None:
                    threading.Timer(seconds, self._revive_grpc).start()
            case {"do": "detach", "seconds": seconds}:
                emulator.detach(seconds)
            case {"do": "fault", "kind": kind}:
                emulator.order_fault(kind)
            case {"do": "forget_port"}:
                emulator.forwarding["port"] = 0
            case {"do": "save", "name": name}:
                emulator.save(name)
            case {"do": "forests", **how}:
                for name, value in how.items():
                    setattr(emulator, name, value)
            case _:
                return {"error": f"unknown order {order}"}
        return {}

    def _revive_adb(self) -> None:
        self._adb = AdbHost(self.adb_port, self.emulator)
        serve(self._adb)

    def _revive_grpc(self) -> None:
        self._grpc, _ = serve_grpc(self.emulator, self.grpc_port)


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="standin.toy:ToyPhone")
    parser.add_argument("--adb", type=int, default=0)
    parser.add_argument("--console", type=int, default=5554)
    parser.add_argument("--grpc", type=int, default=0)
    parser.add_argument("--boot", type=float, default=0.0)
    parser.add_argument("--shell-user", action="store_true", help="adb is not root at first")
    parser.add_argument("--no-forwarder", action="store_true", help="the forwarder app is not installed")
    parser.add_argument("--forever", action="store_true", help="read no orders")
    given = parser.parse_args()
    module, factory = given.device.split(":")
    device = getattr(importlib.import_module(module), factory)()
    console = None if given.console else Console()
    port = console.server_address[1] if console else given.console
    emulator = Emulator(device, port, given.boot, not given.shell_user, not given.no_forwarder)
    if console:
        console.serve(emulator)
    stand_in = StandIn(emulator, given.adb, given.grpc)
    ports = {"adb": stand_in.adb_port, "console": port, "grpc": stand_in.grpc_port}
    sys.stdout.write(json.dumps(ports) + "\n")
    sys.stdout.flush()
    if given.forever:
        threading.Event().wait()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(stand_in.obey(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
