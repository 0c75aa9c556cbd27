"""The one table of the Hook API: each operation with its path, body, answers and what carries it out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from core.hooks import acting, harvesting, knowing, looking, talking
from core.hooks.asked import Answer, Asked
from core.hooks.schema import Schema
from core.hooks.shapes import BODIES
from core.hooks.shapes_of_knowledge import KNOWLEDGE_QUERY, PAGE_QUERY

Run = Callable[[Asked], Awaitable[Answer]]

GUARDED = (400, 401, 403, 408, 414, 500, 503)
"""Statuses that any operation may answer with: the guard's, and those of a program that fails."""
SENT = (413, 422)
"""Statuses of any operation that may be sent a body, also where it takes none."""
TAKEN = (415,)
"""Statuses of operations that take a body."""
QUERIED = (422,)
"""Statuses of operations that take something behind the path's `?`."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    Args:
        id: stable; body: the schema of its body, None where it takes none.
        answers: the shape's name by status; `png` for a picture.
        errors: statuses of refusals beside those, with when.
        streams: whether it answers with events where they are asked for; needs_clock: only with `--test-clock`.
        query: the schema of each name that it takes behind `?`; may_be_empty: no body stands for one without fields.
    """

    id: str
    method: str
    path: str
    run: Run
    answers: Mapping[int, str]
    errors: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    body: Schema | None = None
    streams: bool = False
    needs_clock: bool = False
    query: Mapping[str, Schema] = field(default_factory=lambda: MappingProxyType({}))
    may_be_empty: bool = False

    @property
    def summary(self) -> str:
        """What it does, in a sentence: its docstring."""
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
        asked = QUERIED if self.query else ()
        return tuple(sorted({*self.answers, *self.errors, *GUARDED, *sent, *taken, *asked}))


_GONE = "no such discussion"
_READ_ONLY = "the home is read-only"
_CACHE = {404: _GONE, 409: "the provider cannot do it, or the home is read-only"}
_WRITE = {404: "no such discussion, provider or preset", 409: _READ_ONLY}
_UNTRUSTED = "the home is read-only, or `save` where the folder is not trusted"
_WINDOW = {409: "there is no window"}
_ONE = "/api/discussions/{discussion_id}"

_NOT_NOW = "another run is under way, there is nothing to do, or the home is read-only"


def _harvest(name: str, run: Run, errors: Mapping[int, str]) -> Operation:
    """A run of the harvest: begun, or with `wait` ended."""
    answers = {200: "Harvest", 202: "Harvest"}
    body = BODIES[f"{name}_harvest"]
    path = f"/api/harvest/{name}"
    return Operation(f"{name}_harvest", "POST", path, run, answers, errors, body, may_be_empty=True)


OPERATIONS: tuple[Operation, ...] = (
    Operation("status", "GET", "/api/status", looking.status, {200: "Status"}),
    Operation("list_caches", "GET", "/api/cache", looking.caches, {200: "Caches"}),
    Operation("get_cache", "GET", "/api/cache/{discussion_id}", looking.cache, {200: "Cache"}, {404: _GONE}),
    Operation(
        "invalidate_cache",
        "POST",
        "/api/cache/{discussion_id}/invalidate",
        acting.invalidate_cache,
        {200: "Cache"},
        _CACHE,
    ),
    Operation(
        "disable_caching",
        "POST",
        "/api/cache/{discussion_id}/disable",
        acting.disable_caching,
        {200: "Cache"},
        _CACHE,
    ),
    Operation(
        "enable_caching",
        "POST",
        "/api/cache/{discussion_id}/enable",
        acting.enable_caching,
        {200: "Cache"},
        _CACHE,
    ),
    Operation("list_discussions", "GET", "/api/discussions", looking.discussions, {200: "Discussions"}),
    Operation(
        "create_discussion",
        "POST",
        "/api/discussions",
        acting.create_discussion,
        {201: "Discussion"},
        _WRITE,
        BODIES["create_discussion"],
    ),
    Operation("list_messages", "GET", f"{_ONE}/messages", looking.messages, {200: "Messages"}, {404: _GONE}),
    Operation(
        "send_message",
        "POST",
        f"{_ONE}/messages",
        talking.send_message,
        {200: "Answered", 202: "Sent"},
        {
            404: _GONE,
            409: "a reply is under way, a spend limit is reached, or the home is read-only",
            502: "the provider failed; the words are kept",
        },
        BODIES["send_message"],
        streams=True,
    ),
    Operation(
        "cancel_reply",
        "POST",
        f"{_ONE}/cancel",
        talking.cancel_reply,
        {200: "Cancelled"},
        {404: _GONE, 409: "no reply is under way"},
    ),
    Operation(
        "choose_preset",
        "POST",
        f"{_ONE}/preset",
        acting.choose_preset,
        {200: "Discussion"},
        _WRITE,
        BODIES["choose_preset"],
    ),
    Operation("list_presets", "GET", "/api/presets", looking.presets, {200: "Presets"}),
    Operation(
        "put_preset",
        "PUT",
        "/api/presets/{name}",
        acting.put_preset,
        {200: "Preset", 201: "Preset"},
        {409: _UNTRUSTED},
        BODIES["put_preset"],
    ),
    Operation(
        "context", "GET", "/api/context/{discussion_id}", looking.context, {200: "Context"}, {404: _GONE}
    ),
    Operation(
        "get_knowledge",
        "GET",
        "/api/knowledge",
        knowing.knowledge,
        {200: "Knowledge"},
        {404: "no such file of knowledge"},
        query=KNOWLEDGE_QUERY,
    ),
    Operation(
        "make_digest",
        "POST",
        "/api/knowledge/digest",
        knowing.make_digest,
        {200: "Digest"},
        {409: _READ_ONLY},
    ),
    Operation("get_harvest", "GET", "/api/harvest", harvesting.harvest, {200: "Harvest"}, query=PAGE_QUERY),
    _harvest("look", harvesting.look, {409: "another run is under way"}),
    _harvest("preview", harvesting.preview, {404: "no such conversation", 409: _NOT_NOW}),
    _harvest("apply", harvesting.apply, {404: "no such item or conversation", 409: _NOT_NOW}),
    _harvest("undo", harvesting.undo, {404: "no such apply", 409: _NOT_NOW}),
    _harvest("cancel", harvesting.cancel, {409: "no run is under way"}),
    Operation("screenshot", "GET", "/api/screenshot.png", looking.screenshot, {200: "png"}, _WINDOW),
    Operation(
        "act",
        "POST",
        "/api/ui",
        acting.act,
        {202: "Done"},
        {404: "no such panel, action or discussion", 409: "no window, or not just now"},
        BODIES["act"],
    ),
    Operation(
        "advance_clock",
        "POST",
        "/api/clock",
        acting.advance_clock,
        {200: "Clock"},
        {404: "the program was started without --test-clock"},
        BODIES["advance_clock"],
        needs_clock=True,
    ),
)


def operations(*, has_clock: bool) -> tuple[Operation, ...]:
    """The operations that a program offers."""
    return tuple(operation for operation in OPERATIONS if has_clock or not operation.needs_clock)
