"""Arguments of an SDK's call: the long fields of a body go out as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LONG = ("messages", "input", "system", "tools")


def with_long_fields_unread(body: Mapping[str, Any], more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Arguments of `create` that put this body on the wire, its fields in their order.

    The SDKs of Anthropic and OpenAI look at each value of an argument and its type: 0.14 ms a message, in every request,
    with the interpreter lock held. What stands in `extra_body` is taken as it is.

    Args:
        body: fields by name, of plain JSON; more: fields that the SDK does not know.

    Source: openai 3.51.0 and anthropic, `_utils/_transform.py` and `_base_client.py` (read 2026-11-23).
    """
    long = {name: body[name] for name in _LONG if body.get(name)}
    return {**body, **dict.fromkeys(long, ()), "extra_body": {**long, **(more or {})}}
