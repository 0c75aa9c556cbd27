"""Reports of any worker, and time: events of no one room; the mark of fields that a step fills in."""

from __future__ import annotations

from typing import Any, get_type_hints

import msgspec


class FilledIn:
    """Mark of a command's field that the step of its room fills in: no front end gives it, and no request may."""


FILLED = FilledIn()


def given_fields(kind: type[Any]) -> tuple[str, ...]:
    """Names of a command's fields that a front end gives."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        name for name in kind.__struct_fields__ if FILLED not in getattr(hints[name], "__metadata__", ())
    )


class WritesCaughtUp(msgspec.Struct, frozen=True):
    """A worker's writes that failed before stand on disk now."""

    subject: str


class OperationFailed(msgspec.Struct, frozen=True):
    """Something that the person asked for could not be done. `subject` names the notice.

    `command_id` is that of the effect, and of the command that it was begun for: who waits for it is told.
    `is_standing`: nobody asked for it just now; see `Notice`. `discussion_id`: the one that it is about alone.
    """

    subject: str
    text: str
    detail: str = ""
    command_id: str = ""
    is_standing: bool = False
    discussion_id: str = ""


class OperationEnded(msgspec.Struct, frozen=True):
    """The effect of a command that somebody waits for was carried out; what came of it was reported before."""

    command_id: str


class OperationDone(msgspec.Struct, frozen=True):
    """Something that the person asked for was done and is worth a word."""

    subject: str
    text: str
    detail: str = ""


class WorkerReported(msgspec.Struct, frozen=True):
    """A background worker's state changed."""

    name: str
    status: str
    detail: str = ""
    fraction: float | None = None


class Tick(msgspec.Struct, frozen=True):
    """Time passed. Sent about once a second, and more seldom while nothing waits for it."""


def command_id_of(message: object) -> str:
    """The id that a command or an effect carries; empty where nobody waits for it, or it cannot be waited for."""
    command_id: str = getattr(message, "command_id", "")
    return command_id


Report = WritesCaughtUp | OperationFailed | OperationEnded | OperationDone | WorkerReported | Tick
