"""Runs a command: picks it, hands it streams and a controller, and turns what goes wrong into one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.front.cli.arguments import Options, UsageError
from core.front.cli.output import Console, OutputError, open_console
from core.front.cli.version import BROKEN_PIPE, INTERRUPTED, discard_output
from core.kernel.errors import ProviderError, SlopError
from core.kernel.language import tr

if TYPE_CHECKING:
    from core.front.cli.session import FrontEnd

FAILED, WRONG_USAGE = 1, 2


def run(options: Options, make_front: Callable[[Options], FrontEnd] | None = None) -> int:
    """Run a command.

    Args:
        options: from `parse`; make_front: makes the controller, another one only in tests.

    Returns:
        0 well, 1 failed, 2 wrong usage, 130 interrupted, 141 when the reader of a pipe has gone.
    """
    front = make_front or local_controller
    is_json = options.is_json and options.command != "mcp"  # whose output is a protocol of its own
    return carried_out(lambda console: _dispatch(options, front, console), is_json=is_json)


def carried_out(act: Callable[[Console], int], *, is_json: bool) -> int:
    """Do what a command asks for, on the process's streams. Returns the exit code, as `run`.

    Args:
        act: gives the exit code, or raises what went wrong; is_json: a program reads what it prints.
    """
    console = open_console(is_json=is_json)
    code = _ended(act, console)
    try:
        console.conclude(code)
    except (OutputError, BrokenPipeError):
        discard_output()
    return code


def _ended(act: Callable[[Console], int], console: Console) -> int:
    try:
        with console.stops:
            return act(console)
    except OutputError as error:
        console.note(tr("manual-slop: {error}", error=error))
        discard_output()
        return FAILED
    except UsageError as error:
        return _failed(error, "wrong_usage", WRONG_USAGE, console)
    except SlopError as error:
        code = error.kind.value if isinstance(error, ProviderError) else "failed"
        return _failed(error, code, FAILED, console)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        discard_output()
        return BROKEN_PIPE


def _failed(error: SlopError, code: str, ended: int, console: Console) -> int:
    try:
        console.failed(error, code)
    except (OutputError, BrokenPipeError):
        discard_output()
    return ended


def local_controller(options: Options) -> FrontEnd:
    """The controller on this machine's home."""
    from core.app.controller import AppController, make_clock
    from core.app.outside import LocalOutside
    from core.front.cli.session import CommandOutside

    if not options.headless:
        return AppController(CommandOutside(options))
    clock = make_clock(is_test=options.test_clock)
    return AppController(LocalOutside(options, clock=clock), clock=clock)


def _dispatch(options: Options, make_front: Callable[[Options], FrontEnd], console: Console) -> int:
    if options.trusts:
        from core.front.cli.servers import trust_project

        trust_project(options, console)
    match options.command:
        case "send":
            from core.front.cli.send import run_send

            return run_send(options, make_front(options), console)
        case "context" | "why" | "discussions":
            return _on_discussions(options, make_front, console)
        case "presets":
            from core.front.cli.lists import run_presets

            return run_presets(options, make_front(options), console)
        case "models":
            from core.front.cli.lists import run_models

            return run_models(options, make_front(options), console)
        case "usage":
            from core.front.cli.lists import run_usage

            return run_usage(options, make_front(options), console)
        case "doctor":
            from core.front.cli.doctor import run_doctor

            return run_doctor(options, console)
        case "desktop":
            from core.front.cli.desktop import run_desktop

            return run_desktop(options, console)
        case "import":
            from core.front.cli.imports import run_imports

            return run_imports(options, make_front, console)
        case "search":
            from core.front.cli.search import run_search

            return run_search(options, make_front(options), console)
        case "index":
            from core.front.cli.search import run_index

            return run_index(options, console)
        case "forget":
            from core.front.cli.discussions import run_forget

            return run_forget(options, make_front(options), console)
        case "secrets":
            from core.front.cli.discussions import run_secrets

            return run_secrets(options, make_front, console)
        case "backup" | "restore":
            from core.front.cli.backups import run_backup, run_restore

            return (run_backup if options.command == "backup" else run_restore)(options, console)
        case "harvest":
            from core.front.cli.harvest import run_harvest

            return run_harvest(options, console)
        case "knowledge":
            from core.front.cli.knowledge import run_knowledge

            return run_knowledge(options, console)
        case "autonomy":
            from core.front.cli.send_beside import run_autonomy

            return run_autonomy(options, console)
        case "mcp":
            from core.front.cli.servers import run_mcp

            return run_mcp(options)
        case "trust":
            from core.front.cli.servers import run_trust

            return run_trust(options, console)
        case "servers":
            from core.front.cli.servers import run_servers

            return run_servers(options, make_front(options), console)
        case "key":
            from core.front.cli.servers import run_key

            return run_key(options, console)
        case "" if options.headless:
            from core.front.cli.session import run_headless

            return run_headless(options, make_front(options), console)
        case _:
            raise UsageError(
                tr("This option needs the window"), remedy=tr("Run `manual-slop`, or add --headless")
            )


def _on_discussions(options: Options, make_front: Callable[[Options], FrontEnd], console: Console) -> int:
    match options.command:
        case "context":
            from core.front.cli.context import run_context

            return run_context(options, make_front(options), console)
        case "why":
            from core.front.cli.cache_price import run_why

            return run_why(options, make_front(options), console)
        case _:
            from core.front.cli.discussions import run_discussions

            return run_discussions(options, make_front(options), console)
