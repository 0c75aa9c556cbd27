"""From the bytes of a request to clean values: strict JSON, bounded, with the reason where it is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from core.hooks.refusals import RefusedError
from core.hooks.schema import Schema, flaw
from core.text import clean


def read_body(data: bytes, content_type: str, schema: Schema | None) -> Mapping[str, Any]:
    """The object that a request carries.

    Args:
        content_type: the header as sent; schema: of the body; None: the operation takes none.

    Raises:
        RefusedError: 415 not JSON by its type, 400 not JSON, 422 not what the operation takes.
    """
    if schema is None:
        if data.strip() not in {b"", b"{}"}:
            raise RefusedError(422, "wrong_body", "This takes no body", "Send none")
        return {}
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise RefusedError(
            415,
            "wrong_type",
            f"The body must be application/json, not {content_type[:60]!r}",
            "Set the Content-Type",
        )
    value = parse(data)
    if reason := flaw(schema, value):
        raise RefusedError(422, "wrong_body", reason, "See docs/openapi.json")
    assert isinstance(value, dict)
    return value


def parse(data: bytes) -> Any:
    """Parse JSON: UTF-8, finite numbers, texts cleaned where they enter. Raises RefusedError (400)."""
    try:
        return _cleaned(json.loads(data.decode(), parse_constant=_refuse, parse_float=_finite))
    except (ValueError, RecursionError) as error:
        raise RefusedError(
            400, "not_json", f"The body is not JSON: {str(error)[:200]}", "Send a JSON object"
        ) from error


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return clean(value)
        case list():
            return [_cleaned(inner) for inner in value]
        case dict():
            return {clean(name): _cleaned(inner) for name, inner in value.items()}
        case _:
            return value
