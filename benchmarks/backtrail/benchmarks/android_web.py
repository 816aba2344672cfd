"""AndroidWorld in a browser: a page with the live screen of the phone, to play tasks by hand and to look at how they are made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from io import BytesIO
from typing import TYPE_CHECKING, Any

import gymnasium as gym
from PIL import Image

from backtrail.benchmarks.loopback import POLICY, TEMPLATES, Guard, missing
from backtrail.envs.androidworld.backend import DeviceError, Element
from backtrail.envs.androidworld.elements import describe
from backtrail.envs.wrappers import Fingerprint, VisitCount

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["Episode", "make_app"]

_LONGEST = 1 << 16  # bytes; the longest text of an action, each character escaped, is shorter
_ASSETS = {"/": "phone.html", "/phone.css": "phone.css", "/phone.js": "phone.js"}
_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}


class BadRequest(Exception):
    """A request asks for nothing that the phone's page has."""

    def __init__(self, message: str, status: int = 400):
        super().__init__(message)
        self.status = status


class Episode:
    """One phone and what is being done on it; everybody who looks sees the same."""

    def __init__(self, env_options: Mapping[str, Any] | None = None, task_id: str | None = None, seed: int = 0):
        """Make the environment and start a task.

        Args:
            env_options: Arguments of ``gymnasium.make("backtrail/AndroidWorld-v0")``; without one only the task's own budget
                limits the steps. When it is spent, a person may go on.
            task_id: The first task.
            seed: Picks the first task where there is no ``task_id``.

        Raises:
            ValueError: On a bad option or task; ``screenshot=False`` leaves nothing to look at.
            DeviceError: If the device cannot be had.
        """
        options = {"max_episode_steps": -1, **(env_options or {})}
        if not options.get("screenshot", True):
            raise ValueError("Expected screenshot=True for a web page: the screen is what it shows")
        self._env: gym.Env[Any, str] = VisitCount(Fingerprint(gym.make("backtrail/AndroidWorld-v0", **options)))
        self._version = 0
        try:
            self.reset(task_id, seed)
        except (ValueError, gym.error.Error):
            self.close()
            raise

    @property
    def task_id(self) -> str:
        """The present task."""
        return self._info["task_id"]

    @property
    def seed(self) -> int:
        """The seed that the present task was started with."""
        return self._seed

    @property
    def picture(self) -> bytes:
        """The screen as PNG."""
        return self._picture

    def reset(self, task_id: str | None, seed: int) -> None:
        """Start a task.

        Raises:
            ValueError: If there is no such task; nothing has changed then.
            DeviceError: If the device fails.
        """
        found = self._env.reset(seed=seed, options={"task_id": task_id} if task_id is not None else None)
        self._seed, self._over, self._spent = seed, False, False
        self._actions: list[dict[str, str]] = []
        self._see(*found)

    def act(self, action: str) -> None:
        """Carry out an action.

        Raises:
            DeviceError: If the device fails, or has failed; what was seen before stays.
        """
        try:
            observation, _, terminated, truncated, info = self._env.step(action)
        except gym.error.ResetNeeded as error:
            raise DeviceError("The device failed, and the task with it: start the task again") from error
        except DeviceError as error:
            self._actions.append({"action": action, "error": str(error)})
            self._version += 1
            raise
        self._actions.append({"action": action, "error": info["action_error"]})
        self._over, self._spent = self._over or terminated, truncated
        self._see(observation, info)

    def state(self) -> str:
        """Return what the page shows, as JSON."""
        height, width = self._device.backend.size
        info = {key: value for key, value in self._info.items() if key != "admissible_actions"}
        shown = {
            "version": self._version,
            "goal": self._observation["goal"],
            "text": self._observation["text"],
            "info": info,
            "size": [width, height],
            "elements": self._elements,
            "actions": self._actions,
            "over": self._over,
            "spent": self._spent,
            "seed": self._seed,
        }
        return json.dumps(shown, default=str)

    def close(self) -> None:
        """Let go of the device."""
        self._env.close()

    @property
    def _device(self) -> Any:
        return self._env.unwrapped

    def _see(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> None:
        elements: list[Element] = self._device.elements
        self._elements = [{"label": _label(each), **asdict(each)} for each in elements]
        picture = BytesIO()
        Image.fromarray(observation["screenshot"]).save(picture, "PNG", compress_level=1)
        self._picture, self._observation, self._info = picture.getvalue(), observation, info
        self._version += 1


def make_app(env_options: Mapping[str, Any] | None = None, task_id: str | None = None, seed: int = 0) -> Starlette:
    """Return the web application, for any ASGI server; its ``state.episode`` is the `Episode`, to be closed after it.

    - ``GET /`` is the page.
    - ``GET /api/state`` is what it shows as JSON, ``GET /screen.png`` the picture. Neither touches the phone.
    - ``POST /api/act`` with ``{"action": {"action_type": "click", "index": 3}}`` carries out an action.
    - ``POST /api/reset`` with ``{"task_id": ID, "seed": N}`` starts a task; without an id the seed picks one, with neither it is
      the same task again. Both answer with the state.

    It answers only to the names of this machine, and does only what comes as ``application/json``: a page from elsewhere
    cannot send that.

    Args:
        env_options: Arguments of ``gymnasium.make("backtrail/AndroidWorld-v0")``.
        task_id: The first task.
        seed: Picks the first task where there is no ``task_id``.

    Raises:
        gymnasium.error.DependencyNotInstalled: If starlette is missing.
        ValueError: On a bad option or task.
        DeviceError: If the device cannot be had.
    """
    try:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.middleware import Middleware
        from starlette.responses import JSONResponse, Response
        from starlette.routing import Route
    except ImportError as error:
        raise missing(error) from error
    episode = Episode(env_options, task_id, seed)
    # The phone is called without waiting for anything, in the thread that made it: requests take turns.

    async def asset(request: Request) -> Response:
        name = _ASSETS[request.url.path]
        return Response((TEMPLATES / name).read_bytes(), media_type=_KINDS[name.rpartition(".")[2]])

    async def screen(request: Request) -> Response:
        return Response(episode.picture, media_type="image/png")

    async def state(request: Request) -> Response:
        return Response(episode.state(), media_type="application/json")

    async def act(request: Request) -> Response:
        episode.act(_action(await _body(request)))
        return await state(request)

    async def reset(request: Request) -> Response:
        wanted, number = _task(await _body(request))
        if wanted is None and number is None:
            wanted = episode.task_id
        try:
            episode.reset(wanted, episode.seed if number is None else number)
        except ValueError as error:
            raise BadRequest(str(error)) from error
        return await state(request)

    async def refuse(request: Request, error: Exception) -> Response:
        status = error.status if isinstance(error, BadRequest) else 503
        if isinstance(error, HTTPException):
            return JSONResponse({"error": error.detail}, error.status_code, error.headers)
        return JSONResponse({"error": str(error)}, status)

    app = Starlette(
        routes=[
            *(Route(path, asset) for path in _ASSETS),
            Route("/screen.png", screen),
            Route("/api/state", state),
            Route("/api/act", act, methods=["POST"]),
            Route("/api/reset", reset, methods=["POST"]),
        ],
        middleware=[Middleware(Guard, policy=f"{POLICY}; connect-src 'self'")],
        exception_handlers={BadRequest: refuse, HTTPException: refuse, gym.error.Error: refuse},
    )
    app.state.episode = episode
    return app


def _label(element: Element) -> str:
    """Return the element as the observation's text has it, without its number; "" for one that it leaves out."""
    return describe([element]).removeprefix("0 ")


async def _body(request: Request) -> dict[str, Any]:
    """Return the JSON object that came with a request.

    Raises:
        BadRequest: If it is too long, or none.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise BadRequest("Expected the content type application/json", 415)
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST:
            raise BadRequest(f"Expected at most {_LONGEST:,} bytes", 413)
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"Expected a JSON object ({error})") from error
    if not isinstance(found, dict):
        raise BadRequest(f"Expected a JSON object, got {type(found).__name__}")
    return found


def _action(body: Mapping[str, Any]) -> str:
    """Return the action in a request as the environment takes it.

    Raises:
        BadRequest: If there is none.
    """
    if body.keys() != {"action"} or not isinstance(body["action"], dict):
        raise BadRequest('Expected {"action": {"action_type": ...}}')
    try:
        return json.dumps(body["action"], ensure_ascii=False)
    except RecursionError as error:
        raise BadRequest("Expected an action without objects in objects") from error


def _task(body: Mapping[str, Any]) -> tuple[str | None, int | None]:
    """Return the task id and the seed in a request.

    Raises:
        BadRequest: If there is anything else, or they are none.
    """
    if unknown := body.keys() - {"task_id", "seed"}:
        raise BadRequest(f"Expected task_id and seed, got {', '.join(sorted(map(repr, unknown)))}")
    task_id, seed = body.get("task_id"), body.get("seed")
    if task_id is not None and not isinstance(task_id, str):
        raise BadRequest(f"Expected task_id to be a string, got {type(task_id).__name__}")
    if seed is not None and not (type(seed) is int and 0 <= seed < 1 << 63):
        raise BadRequest("Expected seed to be a whole number of at least 0")
    return task_id, seed
