"""From the bytes of a request to clean values: strict JSON, bounded, with the reason where it is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, NoReturn, TypeVar, get_type_hints

import msgspec
from msgspec import inspect

from core.base.decoders import description_of, from_builtins
from core.base.json_text import read_json
from core.base.text import clean
from core.hooks.fields import Body, Query
from core.hooks.refusals import RefusedError

B = TypeVar("B", bound=Body)
Q = TypeVar("Q", bound=Query)

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,15}")
_SAID = re.compile(r"(.*?)(?: - at `\$([^`]*)`)?", re.DOTALL)
_FIELD = re.compile(r"\.(\w+)")
_INDEX = re.compile(r"\[\d+\]")
_JSON_NAMES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
_PYTHON_NAME = re.compile(rf"\b({'|'.join(_JSON_NAMES)})\b")
_MOST = 300


def read_body(data: bytes, content_type: str, *, is_taken: bool, may_be_empty: bool = False) -> Any:
    """Body of a request, as plain data.

    Args:
        content_type: the header as sent; is_taken: whether the operation takes a body.
        may_be_empty: no body at all stands for an object without fields.

    Raises:
        RefusedError: 415 not JSON by its type, 400 not JSON, 422 the operation takes none.
    """
    if not is_taken:
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
    return parse(data)


def taken(kind: type[B], value: Any, remedy: str = "See docs/openapi.json") -> B:
    """A body of its type from plain data. Raises RefusedError (422)."""
    try:
        return from_builtins(value, kind)
    except msgspec.ValidationError as error:
        raise RefusedError(422, "wrong_body", flaw(kind, error), remedy) from error


def read_query(given: Iterable[tuple[str, str]], kind: type[Q]) -> Q:
    """Query behind a path's `?`.

    Raises:
        RefusedError: 422 a name that is not taken or is given twice, or a value of the wrong kind.
    """
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for name, text in given:
        if name not in hints or name in values:
            twice = "given twice" if name in values else "not taken here"
            raise RefusedError(422, "wrong_query", f"{name[:60]!r} is {twice}", f"Takes: {', '.join(hints)}")
        is_number = hints[name] is int and _WHOLE_NUMBER.fullmatch(text)
        values[name] = int(text) if is_number else clean(text)
    try:
        return from_builtins(values, kind)
    except msgspec.ValidationError as error:
        raise RefusedError(422, "wrong_query", flaw(kind, error, ""), "See docs/openapi.json") from error


def flaw(kind: Any, error: msgspec.ValidationError, root: str = "body") -> str:
    """Place and reason of a value that is not of its type: `body.items[1].path: expected string, got
    integer`.

    Args:
        kind: the type; error: of msgspec, whose place begins with `$`; root: what to call the whole.
    """
    said = _SAID.fullmatch(str(error))
    assert said is not None
    what, place = said[1], said[2] or ""
    if what.startswith("Expected"):
        what = _PYTHON_NAME.sub(lambda name: _JSON_NAMES[name[0]], what).replace("`", "")
    elif what.startswith("Invalid enum value"):
        what += f", there are {', '.join(map(repr, _choices(description_of(kind), place)))}"
    where = f"{root}{place}".removeprefix(".")
    return f"{where}: {what[0].lower()}{what[1:_MOST]}".replace("`", "'")


def _choices(kind: inspect.Type, place: str) -> list[Any]:
    """The values that an enumeration takes at a place in a type."""
    match kind:
        case inspect.Metadata():
            return _choices(kind.type, place)
        case inspect.UnionType():
            return [value for one in kind.types for value in _choices(one, place)]
        case inspect.StructType() if step := _FIELD.match(place):
            inner = [field.type for field in kind.fields if field.encode_name == step[1]]
            return [value for one in inner for value in _choices(one, place[step.end() :])]
        case inspect.CollectionType() | inspect.VarTupleType() if step := _INDEX.match(place):
            return _choices(kind.item_type, place[step.end() :])
        case inspect.EnumType():
            return [one.value for one in kind.cls]
        case inspect.LiteralType():
            return list(kind.values)
        case _:
            return []


def parse(data: bytes) -> Any:
    """Parse JSON: UTF-8, finite numbers, each name once, texts cleaned where they enter. Raises RefusedError (400)."""
    try:
        text = data.decode()
        value = read_json(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_object)
        return _cleaned(value)
    except (ValueError, RecursionError) as error:
        raise RefusedError(
            400, "not_json", f"The body is not JSON: {str(error)[:200]}", "Send a JSON object"
        ) from error


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of which two readers cannot read two things. Names count as they will be cleaned."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        plain = clean(name)
        if plain in found:
            raise ValueError(f"{plain[:60]!r} is given twice")
        found[plain] = value
    return found


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
            return {name: _cleaned(inner) for name, inner in value.items()}
        case _:
            return value
