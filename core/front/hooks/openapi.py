"""`docs/openapi.json`, written from the table: `python -P -m core.front.hooks.openapi > docs/openapi.json`."""

from __future__ import annotations

import json
import sys
from http import HTTPStatus
from typing import Any

from core.front.hooks.fields import ErrorData
from core.front.hooks.operation import Operation
from core.front.hooks.table import OPERATIONS
from core.kernel.codecs import schemas_of

_ABOUT = "HTTP interface on your own computer for automation and tests, with the same commands and the same state as the window. The Hook API is off unless `[hooks] enabled = true` stands in the user settings, or `--hooks` starts the program.\n\nThe address is in `<home>/hook.json`, the bearer token in `<home>/hook_token`. Both are new at each start, and the program deletes both when it ends. If the program was killed, another program may listen at the old address. `GET /api/hello`, the one operation without a token, tells the two apart. Ask `GET /api/hello` on the connection that will carry the token. The program refuses any other request with another Host than the address's, with any Origin, or without the token. Only a person may answer approvals, set trust, tools, mode and policies, and remove or replace anything for good, such as by forgetting. The token does not allow these, because a model's command could read the token. `manual-slop --headless --hooks --approvals-fd N` writes a second token to descriptor N. This token stands on no disk and allows them. An unknown path is answered with 404, an unlisted method with 405, both in the shape `ErrorData`.\n"

_WHEN = {
    400: "the program cannot read the path or the body",
    401: "no token, or a token of an earlier start",
    403: "another Host than the program's own, an Origin, or an act that only a person may do",
    408: "the request did not arrive in time",
    413: "the body is too large",
    414: "the path is too long",
    415: "the body is not application/json",
    422: "the body or query is well formed, but has wrong fields or values",
    500: "the program could not read or write, or has failed",
    503: "too many requests at once, or the program is closing or does not answer",
}

_PLACE = "#/components/schemas/{name}"

_EVENTS = "With `Accept: text/event-stream`. Events, each with JSON: `accepted` {discussion_id, message_id}; `reasoning` and `text` {text}, while they arrive; `reply` {message_id} before each further reply of a turn with tools; `asking` {call_id, title} when a call waits for a person; `failed_call` {call_id, name, end, words} when a call failed, was refused or was interrupted; `retrying` {reason}; last `done` (as the JSON answer) or `error` {code, message, remedy}. If you close the stream, the reply goes on."


def document() -> dict[str, Any]:
    """The whole description, OpenAPI 3.1, the same for the same table."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Manual Slop Hook API", "version": "1", "description": _ABOUT},
        "servers": [{"url": "http://127.0.0.1:{port}", "variables": {"port": {"default": "0"}}}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(),
        },
    }


def _schemas() -> dict[str, Any]:
    """The schema of every answer and body, as msgspec makes it from its type."""
    answers = [kind for operation in OPERATIONS for kind in operation.answers.values() if kind is not bytes]
    bodies = [operation.body for operation in OPERATIONS if operation.body is not None]
    kinds = dict.fromkeys([ErrorData, *answers, *bodies])
    schemas = schemas_of(kinds, _PLACE)
    return dict(sorted(schemas.items()))


def _operation(operation: Operation) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": operation.id,
        "summary": operation.summary,
        "responses": {str(status): _response(operation, status) for status in operation.statuses},
    }
    if operation.is_open:
        found["security"] = []
    if operation.names or operation.query is not None:
        found["parameters"] = _parameters(operation)
    if operation.body is not None:
        found["requestBody"] = {"required": not operation.may_be_empty, "content": _json(operation.body)}
    if operation.needs_clock:
        found["description"] = "Only with `--test-clock`."
    return found


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    name_schema = {"type": "string", "minLength": 1, "maxLength": 500}
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": name_schema} for name in operation.names
    ]
    if operation.query is None:
        return in_path
    schemas = schemas_of([operation.query], "#/$defs/{name}")
    described = schemas[operation.query.__name__]
    return in_path + [
        {"name": name, "in": "query", "required": name in described["required"], "schema": schema}
        for name, schema in described["properties"].items()
    ]


def _response(operation: Operation, status: int) -> dict[str, Any]:
    kind = operation.answers.get(status)
    if kind is None:
        when = operation.errors.get(status) or _WHEN[status]
        return {"description": when, "content": _json(ErrorData)}
    phrase = HTTPStatus(status).phrase
    if kind is bytes:
        return {
            "description": phrase,
            "content": {"image/png": {"schema": {"type": "string", "format": "binary"}}},
        }
    content = _json(kind)
    if operation.streams and status == HTTPStatus.OK:
        phrase = f"{phrase}, with `wait` after the reply is on disk. {_EVENTS}"
        content["text/event-stream"] = {"schema": {"type": "string"}}
    return {"description": phrase, "content": content}


def _json(kind: type[Any]) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": _PLACE.format(name=kind.__name__)}}}


def page() -> str:
    """The description as the file's text."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
