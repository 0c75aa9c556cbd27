"""The application: routes requests to operations and turns what they return into HTTP. Imports starlette."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from core.hooks.asked import Answer, Asked, Desk
from core.hooks.bodies import read_body, read_query
from core.hooks.guard import App, Guard, Limits, error_body, read_all, refuse
from core.hooks.refusals import RefusedError, error_data
from core.hooks.table import Operation, operations

log = logging.getLogger(__name__)
Endpoint = Callable[[Request], Awaitable[Response]]
_DEFAULT_LIMITS = Limits()


def make_app(desk: Desk, token: str, hosts: tuple[str, ...], limits: Limits = _DEFAULT_LIMITS) -> Guard:
    """The guarded application.

    Args:
        desk: what requests share; token: what each must carry; hosts: `127.0.0.1:port` and the like.
    """
    routes = [_route(desk, operation, limits) for operation in operations(has_clock=desk.clock is not None)]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _not_routed})
    app.router.redirect_slashes = False
    return Guard(cast(App, app), token, hosts, limits)


def _route(desk: Desk, operation: Operation, limits: Limits) -> Route:
    route = Route(operation.path, _endpoint(desk, operation, limits), methods=[operation.method])
    assert route.methods is not None
    route.methods.discard("HEAD")
    return route


def _endpoint(desk: Desk, operation: Operation, limits: Limits) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        try:
            data = b"" if operation.method == "GET" else await read_all(request.receive, limits)
            kind = request.headers.get("content-type", "")
            body = read_body(data, kind, operation.body, may_be_empty=operation.may_be_empty)
            query = read_query(request.query_params.multi_items(), operation.query)
            wants_events = "text/event-stream" in request.headers.get("accept", "")
            names = {name: str(value) for name, value in request.path_params.items()}
            return _response(await operation.run(Asked(desk, names, body, wants_events, query)))
        except RefusedError as error:
            return _Refusal(error, limits)
        except Exception:  # the edge of the worker: the next request must still be answered
            log.exception("an operation of the Hook API failed: %s", operation.id)
            return _json(500, error_data("broken", "The program failed to answer", "See the log file"))

    return endpoint


class _Refusal(Response):
    """A refusal that also takes care of the rest of the body."""

    def __init__(self, error: RefusedError, limits: Limits) -> None:
        super().__init__(status_code=error.status)
        self._error = error
        self._limits = limits

    async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        await refuse(self._error, scope["headers"], receive, send, self._limits)


def _response(answer: Answer) -> Response:
    headers = {"Cache-Control": "no-store", **answer.headers}
    if answer.events is not None:
        return StreamingResponse(answer.events, media_type="text/event-stream", headers=headers)
    if answer.png is not None:
        return Response(answer.png, media_type="image/png", headers=headers)
    return _json(answer.status, answer.data, headers)


def _json(status: int, data: object, headers: Mapping[str, str] | None = None) -> Response:
    return Response(error_body(data), status, dict(headers or {}), media_type="application/json")


async def _not_routed(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "wrong_method"}.get(error.status_code, "refused")
    what = {404: "There is no such path", 405: "This path does not take that method"}.get(
        error.status_code, error.detail
    )
    data = error_data(code, what, "See docs/openapi.json")
    return _json(error.status_code, data, {**(error.headers or {}), "Connection": "close"})
