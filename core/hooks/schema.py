"""Checks a body against the part of JSON Schema that the Hook API's document uses, so that both are one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
_SHOWN = 60


def flaw(schema: Schema, value: Any, place: str = "body") -> str:
    """Why a value does not satisfy a schema, as a sentence without its full stop, empty where it does.

    Args:
        schema: of `type`, `enum`, `properties`, `required`, `additionalProperties`, `items`, `minLength`,
            `maxLength`, `minItems`, `maxItems`, `minimum`, `maximum`; other keywords only describe.
        value: parsed JSON; place: what to call it.
    """
    kinds = schema.get("type", tuple(_TYPES))
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if not any(_is(value, kind) for kind in kinds):
        return f"{place} must be {_named(kinds)}, not {_short(value)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{place} must be one of {', '.join(map(repr, schema['enum']))}, not {_short(value)}"
    match value:
        case dict():
            return _object_flaw(schema, value, place)
        case list():
            return _array_flaw(schema, value, place)
        case str():
            return _within(schema, "Length", len(value), f"the length of {place}")
        case int() | float() if not isinstance(value, bool):
            return _within(schema, "imum", value, place)
        case _:
            return ""


def _object_flaw(schema: Schema, value: Mapping[str, Any], place: str) -> str:
    known = schema.get("properties", {})
    if missing := [name for name in schema.get("required", ()) if name not in value]:
        return f"{place} has no {missing[0]!r}"
    if schema.get("additionalProperties", True) is False:
        for name in value:
            if name not in known:
                return f"{place} has {_short(name)}, which is not a field of it"
    flaws = (flaw(known[name], inner, f"{place}.{name}") for name, inner in value.items() if name in known)
    return next(filter(None, flaws), "")


def _array_flaw(schema: Schema, value: list[Any], place: str) -> str:
    if reason := _within(schema, "Items", len(value), f"the length of {place}"):
        return reason
    if "items" not in schema:
        return ""
    flaws = (flaw(schema["items"], inner, f"{place}[{index}]") for index, inner in enumerate(value))
    return next(filter(None, flaws), "")


def _within(schema: Schema, kind: str, size: float, place: str) -> str:
    low, high = schema.get(f"min{kind}"), schema.get(f"max{kind}")
    if low is not None and size < low:
        return f"{place} must be at least {low}, not {size}"
    if high is not None and size > high:
        return f"{place} must be at most {high}, not {size}"
    return ""


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])


def _named(kinds: tuple[str, ...]) -> str:
    return " or ".join(
        f"{'an' if kind[0] in 'aio' else 'a'} {kind}" if kind != "null" else kind for kind in kinds
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
