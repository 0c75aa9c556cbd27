"""Arguments of a call as its tool's struct, or why they do not fit."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from core.agent.tool import Judged
from core.base.decoders import from_json
from core.values.agent import ActKind

_Arguments = TypeVar("_Arguments", bound=msgspec.Struct)
MAX_ARGUMENT_CHARS = 4_000_000

Described = msgspec.Meta


def arguments_of(
    kind: ActKind, title: str, arguments_json: str, form: type[_Arguments]
) -> _Arguments | Judged:
    """Arguments in a tool's form; a judged call that cannot be done, for the model, where they do not fit. Total."""
    if len(arguments_json) > MAX_ARGUMENT_CHARS:
        return refused(kind, title, f"The arguments have {len(arguments_json):,} characters, too many.")
    try:
        return from_json(arguments_json or "{}", form)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return refused(kind, title, f"The arguments do not fit: {error}")


def refused(kind: ActKind, title: str, problem: str) -> Judged:
    """Judge a call as one that cannot be done."""
    return Judged(kind, title, problem=problem)
