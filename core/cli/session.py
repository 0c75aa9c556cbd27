"""A controller for one command: started, waited for, and stopped with everything written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from core.cli.output import Console
from core.config.checks import did_you_mean
from core.errors import SlopError
from core.values.commands import Command
from core.values.effects import StackSpec
from core.values.state import AppState, Level, Notice

READY_S = 60.0
"""Longest wait for settings and the list of discussions. A home of 10,000 takes a second or two when indexed anew."""

ACT_S = 30.0
"""Longest wait for one thing that a command asked for."""

SETTINGS_NOTICES = ("settings/",)
"""Faults of settings files are said as warnings before the command runs, which goes on without them."""

HOME_NOTICES = ("home",)
"""A home that can only be read is enough for a command that only reads."""


class UsageError(SlopError):
    """The command line names something that is not there. Exit code 2."""


class FrontEnd(Protocol):
    """What a command needs of the controller."""

    def start(self) -> None: ...  # noqa: D102
    def send(self, command: Command) -> None: ...  # noqa: D102
    def snapshot(self) -> AppState: ...  # noqa: D102
    def wait_for(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None: ...  # noqa: D102
    def stack_spec(self, discussion_id: str = "") -> StackSpec: ...  # noqa: D102
    def stop(self) -> None: ...  # noqa: D102


@contextmanager
def session(
    front: FrontEnd, console: Console, *, said: tuple[str, ...] = (), writes: bool = False
) -> Iterator[AppState]:
    """Run a controller for the time of a command.

    Args:
        said: how the ids of notices start that the command itself tells of.
        writes: whether the command is nothing without a home that can be written.

    Yields:
        The state once settings and the list of discussions are read.

    Raises:
        SlopError: the home cannot be used, or something that was asked for could not be written.
    """
    passed = (*said, *SETTINGS_NOTICES, *(() if writes else HOME_NOTICES))
    front.start()
    try:
        with console.waiting("Reading settings and discussions"):
            state = settle(front, _is_ready, READY_S, said=passed)
        raise_error(state, passed)
        report_faults(state, console)
        yield state
    finally:
        front.stop()
    raise_error(front.snapshot(), passed)


def _is_ready(state: AppState) -> bool:
    return bool(state.project.root) and not state.is_loading


def settle(
    front: FrontEnd,
    predicate: Callable[[AppState], bool],
    timeout_s: float = ACT_S,
    *,
    said: tuple[str, ...] = (),
) -> AppState:
    """Wait until the state satisfies `predicate`.

    Args:
        said: how the ids of notices start that are told elsewhere and end no wait.

    Raises:
        SlopError: an error was reported meanwhile, or it took longer than `timeout_s` seconds.
    """
    before = frozenset(front.snapshot().notices)

    def is_over(state: AppState) -> bool:
        return predicate(state) or bool(_errors(state, before, said))

    state = front.wait_for(is_over, timeout_s)
    if state is None:
        raise SlopError(
            f"Nothing happened for {timeout_s:g} seconds",
            remedy="Look at `manual-slop doctor`, then try again",
        )
    if not predicate(state):
        _raise_last(_errors(state, before, said))
    return state


def raise_error(state: AppState, said: tuple[str, ...] = ()) -> None:
    """Raise the newest error that the state reports, if any; those whose id starts as one of `said` do not count."""
    _raise_last(_errors(state, frozenset(), said))


def _errors(state: AppState, before: frozenset[Notice], said: tuple[str, ...]) -> list[Notice]:
    return [
        notice
        for notice in state.notices
        if notice.level is Level.ERROR and notice not in before and not (said and notice.id.startswith(said))
    ]


def _raise_last(errors: list[Notice]) -> None:
    if errors:
        raise SlopError(errors[-1].text.removesuffix("."), remedy=errors[-1].detail)


def report_faults(state: AppState, console: Console) -> None:
    """Say on standard error what of the settings could not be honoured, and what the home lacks."""
    for notice in state.notices:
        if notice.level is Level.ERROR and notice.id.startswith(HOME_NOTICES):
            console.note(f"manual-slop: warning: {notice.text} {notice.detail}".rstrip())
    for fault in state.settings_faults:
        place = fault.path if fault.line is None else f"{fault.path}:{fault.line}"
        console.note(f"manual-slop: warning: {place}: {fault.reason}")
    project = state.project
    if project.has_file and not project.is_trusted and project.held_back:
        console.note(
            f"manual-slop: note: {project.root} is not trusted, its manual_slop.toml does not count "
            "(`manual-slop trust` says what it asks for)"
        )


def find_discussion(state: AppState, wanted: str) -> str:
    """The id of the discussion that a person means.

    Args:
        wanted: an id or its start, a name, or `last`.

    Raises:
        UsageError: none or several answer to it.
    """
    if wanted in state.summaries:
        return wanted
    rows = sorted(state.summaries.values(), key=lambda row: (row.updated_at, row.meta.id), reverse=True)
    if wanted == "last":
        if not rows:
            raise UsageError("There is no discussion yet", remedy='Start one with `manual-slop send "…"`')
        return rows[0].meta.id
    found = [row.meta.id for row in rows if wanted and row.meta.id.startswith(wanted)]
    found = found or [row.meta.id for row in rows if row.meta.name == wanted]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"{wanted!r} names {len(found)} discussions", remedy=f"Give one of {', '.join(found[:5])}"
        )
    raise UsageError(f"There is no discussion {wanted!r}", remedy="See `manual-slop discussions`")


def check_name(what: str, name: str, known: tuple[str, ...]) -> None:
    """Raise UsageError where a name is none of those known; an empty one is."""
    if name and name not in known:
        listed = f" (there are: {', '.join(known)})" if known else " (there is none)"
        raise UsageError(f"There is no {what} {name!r}{did_you_mean(name, known)}{listed}")
