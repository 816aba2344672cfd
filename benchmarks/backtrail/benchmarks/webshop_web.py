"""WebShop in a browser: serves the pages of `backtrail.benchmarks.webshop_site` on this machine, and to nobody else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from backtrail.benchmarks.loopback import TEMPLATES, Guard, missing, serve
from backtrail.benchmarks.webshop_site import HEAD, LONGEST, BadAddress, Site
from backtrail.envs.webshop.env import WebShopEnv

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.datastructures import QueryParams
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["make_app", "serve"]

_ERROR = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{status}: WebShop</title>
<link rel="stylesheet" href="/shop.css">
{head}</head>
<body>
<main class="container page-error">
<h1>{status}</h1>
<p>{message}.</p>
<p><a href="/">Start a task</a></p>
</main>
</body>
</html>
"""


def make_app(env_options: Mapping[str, Any] | None = None, *, seed: int = 0) -> Starlette:
    """Return the web application, for any ASGI server.

    - ``GET /`` starts a task: ``?task_id=...``, ``?seed=N``, else that of ``env_options`` or ``seed``.
    - ``GET /visit/TOKEN`` is a page. Its links, forms and options lead to ``/visit/TOKEN/act``, which answers with the address
      of the next page; one whose action did nothing has ``?tried=ACTION`` and says why.
    - ``GET /api/state/TOKEN`` is the same place as JSON: observation, info, fingerprint and visits.

    It answers only to the names of this machine, and takes nothing from the network.

    Args:
        env_options: Arguments of `backtrail.envs.webshop.WebShopEnv`.
        seed: Picks the first task.

    Raises:
        gymnasium.error.DependencyNotInstalled: If the extra ``webshop`` is missing.
        ValueError: On a bad option; ``strict`` has no pages, as the original fails on some actions.
        CatalogueError: If there is no such catalogue, or it is damaged.
    """
    try:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.middleware import Middleware
        from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
        from starlette.routing import Route
    except ImportError as error:
        raise missing(error) from error
    if (env_options or {}).get("strict"):
        raise ValueError("Expected strict=False for web pages: a strict shop fails where the original does")
    site = Site(WebShopEnv(**env_options or {}), seed)
    # Nothing below waits for anything once it has called the site: requests take turns, and one environment is enough.

    async def start(request: Request) -> Response:
        return RedirectResponse(site.start(*_asked(request.query_params)), 303)

    async def page(request: Request) -> Response:
        view = site.view(request.path_params["token"], request.query_params.get("tried", ""))
        return HTMLResponse(site.page(view))

    async def act(request: Request) -> Response:
        action = request.query_params.get("action")
        if action is None:
            words = re.sub(r"[\[\]\s]+", " ", await _search_words(request)).strip()  # brackets end an action
            action = f"search[{words}]"
        return RedirectResponse(site.act(request.path_params["token"], action), 303)

    async def state(request: Request) -> Response:
        view = site.view(request.path_params["token"], request.query_params.get("tried", ""))
        return JSONResponse({**view.observation, **view.info})

    async def drawn(request: Request) -> Response:
        return Response(site.picture(request.path_params["asin"]), media_type="image/svg+xml")

    async def asset(request: Request) -> Response:
        name = request.url.path.rpartition("/")[2]
        kind = "text/css" if name.endswith(".css") else "text/javascript"
        return Response((TEMPLATES / name).read_bytes(), media_type=kind)

    async def refuse(request: Request, error: Exception) -> Response:
        status, message = (error.status_code, error.detail) if isinstance(error, HTTPException) else (400, str(error))
        if request.url.path.startswith("/api/"):
            return JSONResponse({"error": message}, status)
        return HTMLResponse(_ERROR.format(head=HEAD, status=status, message=escape(message)), status)

    return Starlette(
        routes=[
            Route("/", start),
            Route("/visit/{token}", page),
            Route("/visit/{token}/act", act, methods=["GET", "POST"]),
            Route("/api/state/{token}", state),
            Route("/picture/{asin:path}.svg", drawn),
            Route("/shop.css", asset),
            Route("/shop.js", asset),
        ],
        middleware=[Middleware(Guard)],
        exception_handlers={BadAddress: refuse, HTTPException: refuse},
    )


def _asked(query: QueryParams) -> tuple[str | None, int | None]:
    """Return the task id and the seed that an address asks for.

    Raises:
        BadAddress: If it asks for both, or for anything else.
    """
    task_id, seed = query.get("task_id"), query.get("seed")
    if len(query) > 1 or set(query) - {"task_id", "seed"}:
        raise BadAddress("Expected one of ?task_id=ID and ?seed=N")
    if seed is not None and not re.fullmatch("[0-9]{1,18}", seed):
        raise BadAddress(f"Expected the seed to be a whole number of at least 0, got {seed[:60]!r}")
    return task_id, int(seed) if seed is not None else None


async def _search_words(request: Request) -> str:
    """Return what was written into the search form.

    Raises:
        BadAddress: If it is too long, or there is no such form.
    """
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > 12 * LONGEST:  # a character of a form has up to twelve bytes
            raise BadAddress(f"Expected a search of at most {LONGEST:,} characters")
    words = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True).get("search_query")
    if words is None:
        raise BadAddress("Expected ?action=ACTION or a form with search_query")
    return words[0]
