"""Operations of a resource, and the commands that `POST /api/ui` takes for its panels."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, get_args, get_type_hints

import msgspec

from core.app.app_messages import Command
from core.front.hooks.fields import Body, Data, Query
from core.front.hooks.request import Answer, Request
from core.kernel.values.discussion import CHOICE_TYPES, CHOICES
from core.kernel.values.state import AppState
from core.talk.discussion.discussion_messages import ChangeDiscussion

Run = Callable[[Request[Any]], Awaitable[Answer]]

GUARDED = (400, 401, 403, 408, 414, 500, 503)
"""Statuses that any operation may answer with: the guard's, and those of a program that fails."""
SENT = (413, 422)
"""Statuses of any operation that may be sent a body, also where it takes none."""
TAKEN = (415,)
"""Statuses of operations that take a body."""
QUERIED = (422,)
"""Statuses of operations that take something behind the path's `?`."""

READ_ONLY = "the home is read-only"
NO_DISCUSSION = "no such discussion"


class Operation(msgspec.Struct, frozen=True):
    """One operation.

    Args:
        id: stable; body: of a request that has one; query: of what it takes behind `?`. At most one of the two.
        answers: the type of each status that is no refusal; `bytes` for a picture.
        errors: statuses of refusals beside those of any operation, with when.
        streams: whether it answers with events where they are asked for; needs_clock: only with `--test-clock`.
        may_be_empty: no body stands for one without fields; is_open: it is answered without a token;
            needs_person: takes the token of approvals alone.
    """

    id: str
    method: str
    path: str
    run: Run
    answers: Mapping[int, type[Data | bytes]]
    errors: Mapping[int, str]
    body: type[Body] | None = None
    query: type[Query] | None = None
    streams: bool = False
    needs_clock: bool = False
    may_be_empty: bool = False
    is_open: bool = False
    needs_person: bool = False

    @property
    def summary(self) -> str:
        """Summary in a sentence: its docstring."""
        return (self.run.__doc__ or "").strip()

    @property
    def names(self) -> tuple[str, ...]:
        """The names in its path."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))

    @property
    def statuses(self) -> tuple[int, ...]:
        """Every status that it may answer with."""
        sent = SENT if self.method != "GET" else ()
        taken = TAKEN if self.body is not None else ()
        queried = QUERIED if self.query is not None else ()
        guarded = {*GUARDED} - ({401} if self.is_open else set())
        return tuple(sorted({*self.answers, *self.errors, *guarded, *sent, *taken, *queried}))


def operation(
    method: str,
    path: str,
    run: Run,
    answers: Mapping[int, type[Data | bytes]],
    errors: Mapping[int, str] = MappingProxyType({}),
    **flags: bool,
) -> Operation:
    """An operation, named as the function that carries it out; its request says which body or query it takes."""
    (fields,) = get_args(get_type_hints(run)["request"])
    body = fields if issubclass(fields, Body) else None
    query = fields if issubclass(fields, Query) else None
    return Operation(
        id=run.__name__,
        method=method,
        path=path,
        run=run,
        answers=answers,
        errors=errors,
        body=body,
        query=query,
        **flags,
    )


def _pass(_state: AppState, _command: Command) -> None:
    """Nothing to check."""


class Resource(msgspec.Struct, frozen=True):
    """One resource.

    Args:
        panels: commands by the panel whose widgets send them; check: refuses one that points at nothing.
    """

    operations: tuple[Operation, ...]
    panels: Mapping[str, tuple[type[Any], ...]] = msgspec.field(default_factory=lambda: MappingProxyType({}))
    check: Callable[[AppState, Command], None] = _pass


# Choices of a discussion: for the Hook API each is an action of its own, whose body names the value as it always did.

_FIELDS: dict[str, dict[str, str]] = {}
for _name, _choice in CHOICES.items():
    _FIELDS.setdefault(_choice.form, {})[_choice.key] = _name
_FORMS = {
    form: msgspec.defstruct(
        form,
        [("discussion_id", str), *((key, CHOICE_TYPES[name]) for key, name in fields.items())],
        frozen=True,
    )
    for form, fields in _FIELDS.items()
}


def choice_forms(panel: str) -> tuple[type[Any], ...]:
    """Actions of a panel that choose something of a discussion."""
    return tuple(_FORMS[form] for form in dict.fromkeys(c.form for c in CHOICES.values() if c.panel == panel))


def command_of(asked: Any) -> Command:
    """The command that an action asks for: itself, or for a choice of a discussion the change of that field."""
    if type(asked) not in _FORMS.values():
        command: Command = asked
        return command
    fields = _FIELDS[type(asked).__name__]
    return ChangeDiscussion(
        discussion_id=asked.discussion_id, changes={name: getattr(asked, key) for key, name in fields.items()}
    )
