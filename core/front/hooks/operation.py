"""Operations of a resource, commands of `POST /api/ui`, and a request as an operation sees it."""

from __future__ import annotations

import asyncio
import math
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Generic, NoReturn, Protocol, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import inspect

from core.app.app_messages import Command
from core.app.controller import OffsetClock, wall_clock
from core.app.execution import ACT_S, begin, is_over, is_persons
from core.front.hooks.fields import Body, Data, Query, RefusedError, for_a_person, unknown
from core.kernel.codecs import description_of, from_builtins, read_json
from core.kernel.figures import time_limit
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.values.discussion import CHOICE_TYPES, CHOICES, DiscussionSummary, OpenDiscussion
from core.kernel.values.state import AppState
from core.kernel.values.updates import outcome_of
from core.talk.discussion.discussion_messages import ChangeDiscussion, ReadDiscussion

# A request as an operation sees it: names, body, the controller, and waiting for what it was asked to do.

FRAMES_S = 20.0
"""Longest wait for the window to draw."""

F_co = TypeVar("F_co", covariant=True)


class Window(Protocol):
    """Window, as far as the Hook API may ask it. Called from any thread, carried out on the window's."""

    def screenshot(self) -> bytes:
        """The window as it is, PNG. Raises TimeoutError when it does not draw."""
        ...

    def act(self, action: str) -> bool | None:
        """Do what an entry of the window's menus does.

        Returns:
            Whether it was done (False: it cannot be done just now), None where there is no such entry.

        Raises:
            TimeoutError: the window does not draw. PermissionError: only a person may do it; nothing was done.
        """
        ...


@dataclass(slots=True)
class HookDesk:
    """Desk that all requests share.

    Args:
        window: None without one; clock: None unless tests may put it forward; now: the controller's clock.
        locks: one for each discussion, so that two sends over HTTP never cross; harvest_lock: one run at a time begins.
        prove: answers a question of `GET /api/hello`; the server that listens gives it.
    """

    front: Front
    watch: Watch
    version: str = ""
    window: Window | None = None
    clock: OffsetClock | None = None
    now: Callable[[], datetime] = wall_clock
    locks: dict[str, asyncio.Lock] = field(default_factory=dict)
    window_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    harvest_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    prove: Callable[[str], str] = lambda _nonce: ""

    def lock(self, discussion_id: str) -> asyncio.Lock:
        """The lock of a discussion."""
        return self.locks.setdefault(discussion_id, asyncio.Lock())


class Answer(msgspec.Struct, frozen=True):
    """Answer to a request: data as JSON, a picture (PNG), or events as they happen."""

    data: Data | bytes | None = None
    status: int = 200
    events: AsyncIterator[bytes] | None = None
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)


class Request(msgspec.Struct, Generic[F_co], frozen=True):
    """One request.

    Args:
        names: of the path; fields: its body, or its query where the operation takes that, checked.
        wants_events: asks for server-sent events; body: as parsed, with fields that no type of ours names.
    """

    desk: HookDesk
    names: Mapping[str, str]
    fields: F_co
    wants_events: bool = False
    body: Mapping[str, Any] = msgspec.field(default_factory=dict)

    @property
    def state(self) -> AppState:
        """The state now."""
        return self.desk.front.snapshot()

    def row(self, discussion_id: str = "") -> DiscussionSummary:
        """A discussion, else the one that the path names. Raises RefusedError (404)."""
        name = discussion_id or self.names["discussion_id"]
        row = self.state.discussions.summaries.get(name)
        if row is None:
            raise unknown("discussion", name, tr("See GET /api/discussions"))
        return row

    def rows(self) -> list[DiscussionSummary]:
        """All discussions, newest first."""
        rows = self.state.discussions.summaries.values()
        return sorted(rows, key=lambda row: (row.updated_at, row.meta.id), reverse=True)

    async def opened(self, discussion_id: str = "") -> OpenDiscussion:
        """A discussion, else the one that the path names, with its log, read when it is not yet. Raises RefusedError."""
        chosen = self.row(discussion_id).meta.id
        if chosen not in self.state.discussions.open:
            await self.do(
                ReadDiscussion(discussion_id=chosen),
                lambda state: chosen in state.discussions.open or chosen not in state.discussions.summaries,
            )
        opened = self.state.discussions.open.get(chosen)
        if opened is None:
            raise unknown("discussion", chosen, tr("The discussion was deleted meanwhile"))
        return opened

    def check_writable(self) -> None:
        """Raise RefusedError (409) where nothing can be kept."""
        if self.state.program.is_home_read_only:
            raise RefusedError(
                409,
                "read_only",
                tr("The data folder is read-only: the program cannot save anything"),
                tr("Make the data folder writable"),
            )

    async def do(self, command: Command, is_done: Callable[[AppState], bool] | None = None) -> AppState:
        """Send a command and wait for its own outcome.

        Args:
            is_done: what the state must show beside.

        Raises:
            RefusedError: 500 it could not be carried out; 503 nothing happened in time.
        """
        late = tr("Manual Slop did not answer within {time_limit}", time_limit=time_limit(ACT_S))
        slow, refused = (late, tr("Try again")), (500, "failed")
        return (await self.carry_out(command, ACT_S, slow=slow, refused=refused, is_done=is_done))[1]

    async def carry_out(
        self,
        command: Command,
        timeout_s: float,
        *,
        slow: tuple[str, str],
        refused: tuple[int, str] = (409, "not_now"),
        is_done: Callable[[AppState], bool] | None = None,
    ) -> tuple[str, AppState]:
        """Send a command and wait for its own outcome. Returns the command's id, and the state then.

        Args:
            slow: problem and remedy where nothing happened in time; refused: status and code where it could not be done.
            is_done: what the state must show beside.

        Raises:
            RefusedError: one of these.
        """
        command_id = begin(self.desk.front, command)
        state = await self.desk.watch.until(lambda now: is_over(now, command_id, is_done), timeout_s)
        outcome = outcome_of(state, command_id) if state is not None else None
        if state is None or outcome is None:
            raise RefusedError(503, "slow", *slow)
        if not outcome.is_done:
            raise RefusedError(*refused, outcome.problem, outcome.remedy)
        return command_id, state


# From the bytes of a request to clean values: strict JSON, bounded, with the reason where it is refused.

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
            raise RefusedError(422, "wrong_body", tr("This operation takes no body"), tr("Send no body"))
        return {}
    if may_be_empty and not data:
        return {}
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise RefusedError(
            415,
            "wrong_type",
            tr("The body must be application/json, not {content_type!r}", content_type=content_type[:60]),
            tr("Set the Content-Type header"),
        )
    return parse(data)


def taken(kind: type[B], value: Any, remedy: str = tr("See docs/openapi.json")) -> B:
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
            is_twice = name in values
            raise RefusedError(
                422,
                "wrong_query",
                tr("{name!r} is given twice", name=name[:60])
                if is_twice
                else tr("this path takes no parameter {name!r}", name=name[:60]),
                f"Takes: {', '.join(hints)}",
            )
        is_number = hints[name] is int and _WHOLE_NUMBER.fullmatch(text)
        values[name] = int(text) if is_number else clean(text)
    try:
        return from_builtins(values, kind)
    except msgspec.ValidationError as error:
        raise RefusedError(422, "wrong_query", flaw(kind, error, ""), tr("See docs/openapi.json")) from error


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
        what += tr("; choose from {repr}", repr=", ".join(map(repr, _choices(description_of(kind), place))))
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
            400,
            "not_json",
            tr("The body is not JSON: {error}", error=str(error)[:200]),
            tr("Send a JSON object"),
        ) from error


def _refuse(name: str) -> NoReturn:
    raise ValueError(tr("{name} is not a JSON number", name=name))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of which two readers cannot read two things. Names count as they will be cleaned."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        plain = clean(name)
        if plain in found:
            raise ValueError(tr("{plain!r} is given twice", plain=plain[:60]))
        found[plain] = value
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(tr("a number is too large"))
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


# Operations of a resource, and the commands that `POST /api/ui` takes for its panels.

Run = Callable[[Request[Any]], Awaitable[Answer]]

GUARDED = (400, 401, 403, 408, 414, 500, 503)
"""Statuses that any operation may answer with: the guard's, and those of a program that fails."""
SENT = (413, 422)
"""Statuses of any operation that may be sent a body, also where it takes none."""
TAKEN = (415,)
"""Statuses of operations that take a body."""
QUERIED = (422,)
"""Statuses of operations that take something behind the path's `?`."""

READ_ONLY = "the data folder is read-only"
NO_DISCUSSION = "no such discussion"


class Operation(msgspec.Struct, frozen=True):
    """One operation.

    Args:
        id: stable; body: of a request that has one; query: of what it takes behind `?`. At most one of the two.
        answers: the type of each status that is no refusal; `bytes` for a picture.
        errors: statuses of refusals beside those of any operation, with when.
        streams: whether it answers with events where they are asked for; needs_clock: only with `--test-clock`.
        may_be_empty: no body stands for one without fields; is_open: it is answered without a token;
            needs_person: takes the approval token alone.
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


# Lets coroutines wait for states of the controller: one thread for all of them, asleep while none waits.


LOOK_S = 0.5
PAUSE_S = 0.05


class Front(Protocol):
    """Controller, as far as the Hook API needs it."""

    def send(self, command: Command) -> None: ...  # noqa: D102
    def snapshot(self) -> AppState: ...  # noqa: D102
    def wait_for(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None: ...  # noqa: D102


class ProgramFront:
    """The controller as a program with the ordinary token may ask it: what counts only from a person is refused, whichever
    operation or panel gives the command.
    """

    def __init__(self, front: Front) -> None:
        self._front = front

    def send(self, command: Command) -> None:
        """Ask for a change. Raises RefusedError (403)."""
        if is_persons(self._front.snapshot(), command):
            raise for_a_person()
        self._front.send(command)

    def snapshot(self) -> AppState:
        """The state now."""
        return self._front.snapshot()

    def wait_for(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None:
        """The first state that satisfies `predicate`, None after the timeout."""
        return self._front.wait_for(predicate, timeout_s)


class Watch:
    """Waits on a controller for coroutines of one loop.

    Args:
        front: the controller. `start` and `until` belong to the loop's thread, `close` to any.
    """

    def __init__(self, front: Front) -> None:
        self._front = front
        self._waiters = 0
        self._is_wanted = threading.Event()
        self._is_closing = threading.Event()
        self._changed: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="hooks-watch", daemon=True)

    def start(self) -> None:
        """Begin, on the running loop."""
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._thread.start()

    def close(self) -> None:
        """Let everybody who waits go: they are refused."""
        self._is_closing.set()
        self._is_wanted.set()
        self._tell()

    @property
    def is_closing(self) -> bool:
        """True if the program is about to end."""
        return self._is_closing.is_set()

    async def until(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None:
        """Wait until the state satisfies `predicate`.

        Returns:
            A state that does, or None after `timeout_s` seconds without one.

        Raises:
            RefusedError: 503, the program is about to end.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout_s
        self._waiters += 1
        self._is_wanted.set()
        try:
            while True:
                assert self._changed is not None
                changed = self._changed
                if predicate(state := self._front.snapshot()):
                    return state
                if self.is_closing:
                    raise RefusedError(
                        503, "closing", tr("The program is closing"), tr("Start the program again")
                    )
                left = end - loop.time()
                if left <= 0:
                    return None
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), left)
        finally:
            self._waiters -= 1
            if not self._waiters and not self.is_closing:
                self._is_wanted.clear()

    def _run(self) -> None:
        seen: AppState | None = None
        while not self._is_closing.is_set():
            if not self._is_wanted.is_set():
                self._is_wanted.wait()
                seen = None
            last = seen
            state = self._front.wait_for(lambda now: now is not last or self._is_closing.is_set(), LOOK_S)  # noqa: B023
            if state is None:
                self._is_closing.wait(PAUSE_S)
            else:
                seen = state
                self._tell()

    def _tell(self) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended: nobody waits
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        if changed is not None:
            changed.set()
