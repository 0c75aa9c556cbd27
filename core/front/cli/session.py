"""A controller for one command: started, waited for, stopped with everything written; `--headless`: until it is stopped."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol

from core.app.app_messages import Command, Effect, WatchFiles, WriteWindow
from core.app.execution import ACT_S, too_slow
from core.app.forgetting.forgetting_messages import RunForget
from core.app.forgetting.leftovers import is_waiting
from core.app.outside import LocalOutside
from core.front.cli.arguments import Options, UsageError
from core.front.cli.output import Console
from core.front.hooks.launch import start_hooks
from core.kernel import paths
from core.kernel.errors import SlopError
from core.kernel.language import tr
from core.kernel.values.settings import Project, SettingsFault
from core.kernel.values.spec import StackSpec
from core.kernel.values.state import AppState, Level, Notice
from core.knowledge.harvest.harvest_messages import FindBatches
from core.knowledge.knowledge_messages import ReadKnowledge
from core.mcp.mcp_step import WRITE_NOTICE
from core.services.settings.asked_values import asked_lines, trust_command
from core.services.settings.settings_checks import did_you_mean
from core.services.settings.settings_messages import FindPrices, RefreshModels
from core.talk.caching.caching_messages import CheckRewrites
from core.talk.context.context_messages import AssembleContext
from core.talk.turn.turn_messages import Remark

# A controller for one command: started, waited for, and stopped with everything written.

READY_S = 60.0
"""Longest wait for settings and the list of discussions. A home of 10,000 takes a second or two when indexed anew."""

UNWRITTEN = ("disk", "list")
"""Subjects of notices that say that the home could not be read or written."""

UNREADY = (*UNWRITTEN, "settings")
"""Subjects of notices that say that the program could not begin."""

HOME = "home"
"""Subject of the notice that the home can only be read: enough for a command that only reads."""


SETTINGS = "settings-warning"
"""Subject of the notice of what was found wrong while the settings were read."""


class FrontEnd(Protocol):
    """The controller, as far as a command needs it."""

    def start(self) -> None: ...  # noqa: D102
    def send(self, command: Command) -> None: ...  # noqa: D102
    def snapshot(self) -> AppState: ...  # noqa: D102
    def wait_for(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None: ...  # noqa: D102
    def stack_spec(self, discussion_id: str = "") -> StackSpec: ...  # noqa: D102
    def stop(self) -> None: ...  # noqa: D102


@contextmanager
def session(
    front: FrontEnd, console: Console, *, writes: bool = False, lists: bool = True
) -> Iterator[AppState]:
    """Run a controller for the time of a command.

    Args:
        writes: whether the command is nothing without a home that can be written.
        lists: whether it reads the list of discussions, which takes seconds after an import of many.

    Yields:
        The state once settings and the list of discussions are read.

    Raises:
        SlopError: the home cannot be used, or something of it could not be written by the end.
    """
    front.start()
    try:
        with console.waiting(tr("Reading settings and discussions")):
            state = settle(front, _is_ready if lists else _has_settings, READY_S)
        _raise_error(state, (*UNREADY, HOME) if writes else UNREADY)
        report_faults(state, console)
        yield state
    finally:
        front.stop()
    report_remarks(front.snapshot(), console)
    _raise_error(front.snapshot(), (*UNWRITTEN, HOME) if writes else UNWRITTEN)


def _has_settings(state: AppState) -> bool:
    return bool(state.config.project.root)


def _is_ready(state: AppState) -> bool:
    return _has_settings(state) and not state.program.is_loading


def settle(front: FrontEnd, predicate: Callable[[AppState], bool], timeout_s: float = ACT_S) -> AppState:
    """Wait for what the program does by itself when it begins.

    Raises:
        SlopError: it could not begin, or it took longer than `timeout_s` seconds.
    """
    before = frozenset(front.snapshot().program.notices)

    def is_over(state: AppState) -> bool:
        return predicate(state) or bool(_errors(state, UNREADY, before))

    state = front.wait_for(is_over, timeout_s)
    if state is None:
        raise too_slow(timeout_s)
    if not predicate(state):
        _raise_error(state, UNREADY, before)
    return state


def _raise_error(state: AppState, subjects: tuple[str, ...], before: frozenset[Notice] = frozenset()) -> None:
    """Raise the newest error about one of these subjects, if any."""
    if errors := _errors(state, subjects, before):
        raise SlopError(errors[-1].text.removesuffix("."), remedy=errors[-1].detail)


def _errors(state: AppState, subjects: tuple[str, ...], before: frozenset[Notice]) -> list[Notice]:
    errors = (one for one in state.program.notices if one.level is Level.ERROR and one.id in subjects)
    return [one for one in errors if one not in before]


def report_faults(state: AppState, console: Console) -> None:
    """Say on standard error what of the settings and of `models.toml` could not be honoured, and what the home lacks."""
    for notice in state.program.notices:
        is_models = notice.id == SETTINGS and paths.MODELS_FILE in notice.text
        if is_models or (notice.level is Level.ERROR and notice.id == HOME):
            console.note(
                tr("manual-slop: warning: {text} {detail}", text=notice.text, detail=notice.detail).rstrip()
            )
    report_settings(state.config.settings_faults, state.config.project, console)


_REMARKS = (WRITE_NOTICE, *(f"{kind}/" for kind in Remark))


def report_remarks(state: AppState, console: Console) -> None:
    """Say on standard error which writes of MCP servers the sandbox refused, how to allow them, and what a provider's server
    did with a request.
    """
    for notice in state.program.notices:
        if notice.id.startswith(_REMARKS):
            console.note(tr("manual-slop: {text} {detail}", text=notice.text, detail=notice.detail))


def report_settings(faults: Sequence[SettingsFault], project: Project, console: Console) -> None:
    """Say on standard error what of the settings could not be honoured, and what the project does not get."""
    report_faults_of(faults, console)
    report_trust(
        project.root,
        is_trusted=project.is_trusted,
        asked=[line.words for line in asked_lines(project.asked)],
        held_back=project.held_back,
        console=console,
    )


def report_faults_of(faults: Sequence[SettingsFault], console: Console) -> None:
    """Say on standard error what of settings files could not be honoured, each with its place."""
    for fault in faults:
        place = fault.path if fault.line is None else f"{fault.path}:{fault.line}"
        console.note(tr("manual-slop: warning: {place}: {reason}", place=place, reason=fault.reason))


def report_trust(
    root: str, *, is_trusted: bool, asked: Sequence[str], held_back: Sequence[str], console: Console
) -> None:
    """Say on standard error what the project asks for and does not get, and the command that trusts. Waits for nothing.

    Args:
        asked: what a yes would let count; held_back: what nothing ever will, said until the folder is trusted.
    """
    if not asked and (is_trusted or not held_back):
        return
    state = (
        tr("asks for settings that you have not agreed to")
        if is_trusted
        else tr("is not trusted, so the program ignores its requests")
    )
    console.note(
        tr(
            "manual-slop: note: {folder} {state}. To see the requests and agree, run `{command}`:",
            folder=root,
            state=state,
            command=trust_command(root),
        )
    )
    for words in asked:
        console.note(f"  {words}")
    for sentence in held_back:
        console.note(f"  {sentence}")


def find_discussion(state: AppState, wanted: str) -> str:
    """The id of the discussion that a person means.

    Args:
        wanted: an id or its start, a name, or `last`.

    Raises:
        UsageError: none or several answer to it.
    """
    if wanted in state.discussions.summaries:
        return wanted
    rows = sorted(
        state.discussions.summaries.values(), key=lambda row: (row.updated_at, row.meta.id), reverse=True
    )
    if wanted == "last":
        if not rows:
            raise UsageError(
                tr("There is no discussion yet"), remedy=tr('Start a discussion with `manual-slop send "…"`')
            )
        return rows[0].meta.id
    found = [row.meta.id for row in rows if wanted and row.meta.id.startswith(wanted)]
    found = found or [row.meta.id for row in rows if row.meta.name == wanted]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            tr("{wanted!r} matches {found} discussions", wanted=wanted, found=len(found)),
            remedy=tr("Name one of {found}", found=", ".join(found[:5])),
        )
    raise UsageError(
        tr("There is no discussion {wanted!r}", wanted=wanted),
        remedy=tr("Run `manual-slop discussions` for the list"),
    )


def check_name(what: str, name: str, known: tuple[str, ...]) -> None:
    """Raise UsageError for a name that is not among those known. An empty name passes."""
    if name and name not in known:
        listed = tr(" (known: {known})", known=", ".join(known)) if known else tr(" (none known)")
        raise UsageError(
            tr(
                "There is no {what} {name!r}{name2}{listed}",
                what=what,
                name=name,
                name2=did_you_mean(name, known),
                listed=listed,
            )
        )


# Outside of a command: moves no selection, measures no contexts that nobody looks at, watches no files.

_FOR_WINDOWS = CheckRewrites | WriteWindow | WatchFiles | ReadKnowledge | FindBatches


class CommandOutside(LocalOutside):
    """The outside of one command. Measuring alone would start a process of its own, a second of every command.

    A forgetting that was cut short is gone on with: a window that does so may be long in coming.
    A server is asked for its models only where the command asks: a dead one does not delay the others.
    So are prices of all models looked up: their data take a quarter of a command's time to load.
    """

    def begin(self, effect: Effect) -> None:
        """Begin an effect, unless only a window has use for it."""
        if isinstance(effect, _FOR_WINDOWS):
            return
        if isinstance(effect, RunForget) and effect.target is None and not is_waiting(self.home):
            return
        if isinstance(effect, RefreshModels | AssembleContext) and not effect.command_id:
            return
        if type(effect) is FindPrices and not effect.is_asked:
            return
        super().begin(effect)


# `--headless`: the controller without a window, until it is stopped.

FOREVER_S = 1e9
FIRST_FREE_FD = 3


def run_headless(options: Options, front: FrontEnd, console: Console) -> int:
    """Run until Ctrl+C or a signal, with the Hook API where it is asked for. Returns 0.

    Raises:
        SlopError: the home cannot be used, or the Hook API cannot start.
    """
    handover = claimed_descriptor(options.approvals_fd, is_asked=options.hooks)
    with session(front, console) as state, _until_stopped(console):
        home, root = state.program.home, state.config.project.root
        console.line(
            tr(
                "Running without a window on {home}, project {root}. Press Ctrl+C to stop.",
                home=home,
                root=root,
            )
        )
        with _hooks(options, front, console, handover) as url:
            if console.is_json:
                console.json({"home": home, "project": root, "hook_api": url})
            front.wait_for(lambda s: s.program.is_closing, FOREVER_S)
    return 0


@contextmanager
def _until_stopped(console: Console) -> Iterator[None]:
    """Take a signal for a wish to end well, from before the line that says that the program is up."""
    try:
        yield
    except KeyboardInterrupt:
        console.note(tr("Stopping."))


@contextmanager
def _hooks(options: Options, front: FrontEnd, console: Console, handover: int | None) -> Iterator[str]:
    """The Hook API while the program runs; gives its address, empty where it is off."""
    token = "" if handover is None else secrets.token_urlsafe(32)
    server = start_hooks(front, is_asked=options.hooks, approvals_token=token)
    if server is None:
        yield ""
        return
    try:
        if handover is not None:
            _hand_over(token, handover)
        console.line(
            tr(
                "The Hook API listens on {url}; its token is in {HOOK_TOKEN_FILE} of the data folder.",
                url=server.address.url,
                HOOK_TOKEN_FILE=paths.HOOK_TOKEN_FILE,
            )
        )
        yield server.address.url
    finally:
        server.stop()


def claimed_descriptor(descriptor: int | None, *, is_asked: bool) -> int | None:
    """The descriptor that takes the approval token, closed to every process that is started from now on.

    Raises:
        UsageError: the number is no open descriptor, or is a file, where the token would stand on disk; or the Hook API is not asked for.
    """
    if descriptor is None:
        return None
    remedy = tr("Pass the write end of a pipe, or a socket")
    try:
        mode = os.fstat(descriptor).st_mode if descriptor >= FIRST_FREE_FD else 0
    except (OSError, OverflowError):
        mode = 0
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        raise UsageError(
            tr("--approvals-fd: {descriptor} is not a separate pipe", descriptor=descriptor), remedy=remedy
        )
    os.set_inheritable(descriptor, False)
    if not is_asked:
        raise UsageError(tr("--approvals-fd needs the Hook API"), remedy=tr("Add --hooks"))
    return descriptor


def _hand_over(token: str, descriptor: int) -> None:
    """Write the token and close the descriptor: whoever holds the other end is the only one that has it."""
    try:
        os.write(descriptor, f"{token}\n".encode())
    except OSError as error:
        raise SlopError(
            tr(
                "The program could not write the approval token into the pipe: {reason}",
                reason=error.strerror,
            )
        ) from error
    finally:
        with suppress(OSError):
            os.close(descriptor)
