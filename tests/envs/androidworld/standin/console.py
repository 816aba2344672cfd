"""The emulator's console, which ``adb emu`` talks to."""

from __future__ import annotations

import socketserver
import threading

from standin.emulator import Emulator


class Console(socketserver.ThreadingTCPServer):
    """Passes lines on to the phone and answers what it says."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Client)
        self.emulator: Emulator | None = None

    def serve(self, emulator: Emulator) -> None:
        """Answer for an emulator, in a thread."""
        self.emulator = emulator
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()


class _Client(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, Console)
        assert self.server.emulator is not None
        self._say(b"Android Console: type 'help' for a list of commands\nOK\n")
        for line in self.rfile:
            command = line.decode("utf-8", "replace").rstrip("\r\n")
            if command in ("quit", "exit"):
                return
            self._say(b"OK\n" if command.startswith("auth ") else self.server.emulator.console(command))

    def _say(self, text: bytes) -> None:
        self.wfile.write(text.replace(b"\n", b"\r\n"))
