"""The host side of adb's protocol, as far as the real client needs it, with faults to order."""

from __future__ import annotations

import socketserver
import struct
import threading
import time

from standin.device import Answer
from standin.emulator import Emulator


class AdbHost(socketserver.ThreadingTCPServer):
    """Answers an adb client on behalf of one emulator."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int, emulator: Emulator):
        super().__init__(("127.0.0.1", port), _Client)
        self.emulator = emulator


class _Client(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, AdbHost)
        emulator = self.server.emulator
        emulator.clients.add(self.request)
        try:
            while self._answer(emulator, self._read(int(self._read(4), 16)).decode("utf-8", "replace")):
                pass
        except (EOFError, OSError, ValueError):
            pass  # the client has gone
        finally:
            emulator.clients.discard(self.request)

    def _answer(self, emulator: Emulator, request: str) -> bool:
        """Answer one request; return whether another may follow on this connection."""
        here = emulator.attached()
        if request == "host:version":
            self._okay(b"0029")
        elif request in ("host:devices", "host:devices-l"):
            self._okay(f"{emulator.serial}\tdevice\n".encode() if here else b"")
        elif request == "host:kill":
            emulator.count("kill")
            self._okay()
        elif request == "host:host-features":
            self._okay(b"shell_v2")
        elif request.startswith("host") and emulator.serial not in request:
            self._fail(f"device '{request.split(':')[-2 if request.startswith('host-serial') else -1]}' not found")
        elif request.startswith("host") and not here:
            self._fail(f"device '{emulator.serial}' not found")
        elif request.endswith(":features"):
            self._okay(b"shell_v2")
        elif request.endswith(":get-state"):
            self._okay(b"device")
        elif ":wait-for" in request:
            self.request.sendall(b"OKAYOKAY")
        elif request.startswith(("host:tport:", "host:transport")):
            self._okay()
            if request.startswith("host:tport:"):
                self.request.sendall(struct.pack("<Q", 1))
            return True
        else:
            self._service(emulator, request)
        return False

    def _service(self, emulator: Emulator, request: str) -> None:
        if request.startswith("shell"):
            head, command = request.split(":", 1)
            self._okay()
            fault = emulator.take_fault()
            if fault == "hang":
                time.sleep(3600)
            answer = emulator.run(command)
            if fault != "break_off":
                self._shell(answer, v2=head.startswith("shell,v2"))
        elif request == "root:":
            self._okay()
            self.request.sendall(emulator.become_root())
        elif request == "sync:":
            self._okay()
            self._sync(emulator)
        else:
            self._fail(f"unknown service {request}")

    def _shell(self, answer: Answer, v2: bool) -> None:
        if not v2:
            self.request.sendall(answer.output + answer.error)
            return
        for kind, data in ((1, answer.output), (2, answer.error)):
            for k in range(0, len(data), 60_000):
                self._packet(kind, data[k : k + 60_000])
        self._packet(3, bytes([answer.status]))

    def _sync(self, emulator: Emulator) -> None:
        while True:
            kind, length = struct.unpack("<4sI", self._read(8))
            if kind == b"QUIT":
                return
            path = self._read(length).decode()
            if kind == b"STAT":
                content = emulator.read(path)
                mode = 0o40755 if emulator.folder(path) else 0 if content is None else 0o100644
                self.request.sendall(struct.pack("<4sIII", b"STAT", mode, len(content or b""), 0))
            elif kind == b"RECV":
                content = emulator.read(path) or b""
                for k in range(0, len(content), 65_536):
                    piece = content[k : k + 65_536]
                    self.request.sendall(struct.pack("<4sI", b"DATA", len(piece)) + piece)
                self.request.sendall(struct.pack("<4sI", b"DONE", 0))
            elif kind == b"SEND":
                content = b""
                while True:
                    part, length = struct.unpack("<4sI", self._read(8))
                    if part == b"DONE":
                        break
                    content += self._read(length)
                self._sent(emulator, path.rsplit(",", 1)[0], content)
            else:
                raise ValueError(f"unknown sync request {kind!r}")

    def _sent(self, emulator: Emulator, path: str, content: bytes) -> None:
        try:
            emulator.write(path, content)
        except ValueError as error:
            why = str(error).encode()
            self.request.sendall(struct.pack("<4sI", b"FAIL", len(why)) + why)
        else:
            self.request.sendall(struct.pack("<4sI", b"OKAY", 0))

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.request.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def _okay(self, payload: bytes | None = None) -> None:
        self.request.sendall(b"OKAY" if payload is None else b"OKAY%04x" % len(payload) + payload)

    def _fail(self, why: str) -> None:
        self.request.sendall(b"FAIL%04x" % len(why) + why.encode())

    def _packet(self, kind: int, data: bytes) -> None:
        self.request.sendall(struct.pack("<BI", kind, len(data)) + data)


def serve(host: AdbHost) -> None:
    """Serve in a thread of its own."""
    threading.Thread(target=host.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
