"""From the bytes of a request to clean values: strict JSON, bounded, with the reason where it is refused."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from core.hooks.refusals import RefusedError
from core.hooks.schema import Schema, flaw
from core.text import clean

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,15}")


def read_body(
    data: bytes, content_type: str, schema: Schema | None, *, may_be_empty: bool = False
) -> Mapping[str, Any]:
    """The object that a request carries.

    Args:
        content_type: the header as sent; schema: of the body; None: the operation takes none.
        may_be_empty: no body at all stands for an object without fields.

    Raises:
        RefusedError: 415 not JSON by its type, 400 not JSON, 422 not what the operation takes.
    """
    if schema is None:
        if data.strip() not in {b"", b"{}"}:
            raise RefusedError(422, "wrong_body", "This takes no body", "Send none")
        return {}
    if may_be_empty and not data:
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


def read_query(given: Iterable[tuple[str, str]], schemas: Mapping[str, Schema]) -> Mapping[str, Any]:
    """What stands behind a path's `?`, by name.

    Args:
        schemas: of each name that the operation takes; without any, whatever is given is passed over.

    Raises:
        RefusedError: 422 a name that is not taken or is given twice, or a value of the wrong kind.
    """
    found: dict[str, Any] = {}
    for name, text in given if schemas else ():
        if name not in schemas or name in found:
            twice = "given twice" if name in found else "not taken here"
            raise RefusedError(
                422, "wrong_query", f"{name[:60]!r} is {twice}", f"Takes: {', '.join(schemas)}"
            )
        is_number = schemas[name]["type"] == "integer" and _WHOLE_NUMBER.fullmatch(text)
        found[name] = int(text) if is_number else clean(text)
        if reason := flaw(schemas[name], found[name], name):
            raise RefusedError(422, "wrong_query", reason, "See docs/openapi.json")
    return found


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
