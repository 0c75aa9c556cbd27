"""The application: routes requests to operations and turns what they return into HTTP. Imports starlette."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from core.hooks.bodies import read_body, read_query, taken
from core.hooks.fields import Body, Data, Query, encode
from core.hooks.guard import IS_PERSON, App, Guard, Limits, read_all, refuse
from core.hooks.operation import Operation
from core.hooks.refusals import RefusedError, error_data, for_a_person
from core.hooks.request import Answer, HookDesk, Request
from core.hooks.table import operations
from core.hooks.watch import ProgramFront

log = logging.getLogger(__name__)
HttpEndpoint = Callable[[HttpRequest], Awaitable[Response]]
_DEFAULT_LIMITS = Limits()


def make_app(
    desk: HookDesk,
    token: str,
    hosts: tuple[str, ...],
    limits: Limits = _DEFAULT_LIMITS,
    approvals_token: str = "",
) -> Guard:
    """The guarded application.

    Args:
        desk: what requests share; token: what each must carry; hosts: `127.0.0.1:port` and the like.
        approvals_token: a person's, which may stand in its place and do more; empty: nobody has one.
    """
    served = operations(has_clock=desk.clock is not None)
    routes = [_route(desk, operation, limits) for operation in served]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _not_routed})
    app.router.redirect_slashes = False
    open_paths = [operation.path for operation in served if operation.is_open]
    return Guard(cast(App, app), token, hosts, limits, open_paths, approvals_token)


def _route(desk: HookDesk, operation: Operation, limits: Limits) -> Route:
    route = Route(operation.path, _endpoint(desk, operation, limits), methods=[operation.method])
    assert route.methods is not None
    route.methods.discard("HEAD")
    return route


def _endpoint(desk: HookDesk, operation: Operation, limits: Limits) -> HttpEndpoint:
    async def endpoint(request: HttpRequest) -> Response:
        try:
            _check_person(operation, request)
            return _response(await operation.run(await _read(desk, operation, request, limits)))
        except RefusedError as error:
            return _Refusal(error, limits)
        except Exception:  # the edge of the worker: the next request must still be answered
            log.exception("an operation of the Hook API failed: %s", operation.id)
            return _json(500, error_data("broken", "The program failed to answer", "See the log file"))

    return endpoint


def _check_person(operation: Operation, request: HttpRequest) -> None:
    """Raise RefusedError (403) where a program asks for what a person alone may do."""
    if operation.needs_person and not request.scope.get(IS_PERSON, False):
        raise for_a_person()


async def _read(desk: HookDesk, operation: Operation, request: HttpRequest, limits: Limits) -> Request[Any]:
    """The request as the operation takes it. Raises RefusedError."""
    data = b"" if operation.method == "GET" else await read_all(request.receive, limits)
    kind = request.headers.get("content-type", "")
    is_taken = operation.body is not None
    body = read_body(data, kind, is_taken=is_taken, may_be_empty=operation.may_be_empty)
    fields: Body | Query | None = None
    if operation.body is not None:
        fields = taken(operation.body, body)
    elif operation.query is not None:
        fields = read_query(request.query_params.multi_items(), operation.query)
    wants_events = "text/event-stream" in request.headers.get("accept", "")
    names = {name: str(value) for name, value in request.path_params.items()}
    if not request.scope.get(IS_PERSON, False):
        desk = replace(desk, front=ProgramFront(desk.front))
    return Request(desk, names, fields, wants_events, body)


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
    if isinstance(answer.data, bytes):
        return Response(answer.data, media_type="image/png", headers=headers)
    assert answer.data is not None
    return _json(answer.status, answer.data, headers)


def _json(status: int, data: Data, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encode(data), status, dict(headers or {}), media_type="application/json")


async def _not_routed(_request: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "wrong_method"}.get(error.status_code, "refused")
    what = {404: "There is no such path", 405: "This path does not take that method"}.get(
        error.status_code, error.detail
    )
    data = error_data(code, what, "See docs/openapi.json")
    return _json(error.status_code, data, {**(error.headers or {}), "Connection": "close"})
