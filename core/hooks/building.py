"""What shapes are built of: JSON Schema in few words."""

from __future__ import annotations

from core.hooks.schema import Schema

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
TIME: Schema = {"type": "string", "format": "date-time"}


def maybe(schema: Schema) -> Schema:
    """The same, or null where nothing is known."""
    return {**schema, "type": [schema["type"], "null"]}


def whole(**properties: Schema) -> Schema:
    """An object with exactly these fields."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def many(schema: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": schema}


def named(name: str) -> Schema:
    """A shape of `SHAPES` by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def maybe_named(name: str) -> Schema:
    """A shape of `SHAPES`, or null."""
    return {"anyOf": [named(name), {"type": "null"}]}


def one_of(*values: str) -> Schema:
    """One of these texts."""
    return {"type": "string", "enum": list(values)}


def taken(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    """The body of a request: these fields and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


FIGURE = maybe(COUNT)
MONEY: Schema = {"type": ["number", "null"]}


def page(schema: Schema, **more: Schema) -> Schema:
    """A part of a list: how many there are in all, and the rows from the query's offset on."""
    return whole(total=COUNT, **more, rows=many(schema))
