"""Pages for a browser on this machine, and for nobody else: what all of them share."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym

if TYPE_CHECKING:
    from starlette.applications import Starlette

__all__ = ["POLICY", "TEMPLATES", "Guard", "missing", "serve"]

TEMPLATES = Path(__file__).parent / "templates"

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""What a page may load, run and send: its own files."""

_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]

Message = dict[str, Any]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Callable[[], Awaitable[Message]], Send], Awaitable[None]]


class Guard:
    """Lets in only who asks for this machine by name (a foreign page may not), and puts the headers on every answer."""

    def __init__(self, app: App, policy: str = POLICY):
        """Guard ``app``; ``policy`` is the content security policy of its pages."""
        self._app = app
        self._headers = [(b"content-security-policy", policy.encode()), *_HEADERS]

    async def __call__(self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *self._headers]}
            await send(message)

        port = scope["server"][1]
        names = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        if port == 80:
            names |= {name.removesuffix(":80") for name in names}
        hosts = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
        if len(hosts) == 1 and hosts[0] in names:
            return await self._app(scope, receive, send_guarded)
        body = f"Expected the host to be one of {', '.join(sorted(names))}.".encode()
        kind = (b"content-type", b"text/plain; charset=utf-8")
        await send_guarded({"type": "http.response.start", "status": 421, "headers": [kind]})
        await send_guarded({"type": "http.response.body", "body": body})


def serve(app: Starlette, port: int = 0, ready: Callable[[str], None] = lambda address: None) -> None:
    """Serve an application on 127.0.0.1 until it is stopped.

    Args:
        app: What `make_app` made.
        port: Where to; 0 takes a free one.
        ready: Called with the address, e.g. ``http://127.0.0.1:8000/``, as soon as a browser may come.

    Raises:
        gymnasium.error.DependencyNotInstalled: If uvicorn is missing.
        OSError: If the port is taken.
        KeyboardInterrupt: When Ctrl-C has stopped it.
    """
    try:
        from uvicorn import Config, Server
    except ImportError as error:
        raise missing(error) from error
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            raise OSError(f"Expected a free port, {port} is taken ({error}): choose another, or 0 for any") from error
        listener.listen()
        ready(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        config = Config(app, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=1)
        Server(config).run(sockets=[listener])


def missing(error: ImportError) -> gym.error.DependencyNotInstalled:
    """Return what to raise where the server cannot be imported."""
    return gym.error.DependencyNotInstalled(
        f'The web pages need starlette and uvicorn ({error}). Run: pip install "backtrail[webshop]" or "backtrail[android]"'
    )
