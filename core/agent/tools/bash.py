"""Tools `bash`, `bash_output` and `bash_kill`: a command line, confined where it can be, after a yes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import msgspec
from msgspec.structs import replace

from core.agent.command_places import code_of, code_words, place_reasons, within_folder
from core.agent.command_rules import read_command_line
from core.agent.sandbox import is_display_open
from core.agent.tool import (
    CommandOrder,
    Judged,
    ShellOutcome,
    Tool,
    ToolAnswer,
    ToolDesk,
    arguments_of,
    refused,
    schema_of,
)
from core.agent.tool_policy import command_grant
from core.kernel.errors import SlopError
from core.kernel.values.agent import ActKind

TIMEOUT_S = 120.0
LONGEST_COMMAND = 100_000
_TITLE_CHARS = 80

_BASH = (
    "Run a command line with bash in the project's folder and get the head and tail of its output and its exit code. "
    "A person may be asked first. Standard input is closed, so nothing can be typed in. It is ended after 120 seconds; "
    "what runs longer needs background. Files outside the project are read-only; so are .git/hooks, .git/config, .envrc, CLAUDE.md and the like, of which an "
    "empty folder may hold the name. Unasked, it sees the project, the system and an empty home: name what else it needs by its path; "
    "the network is off unless network is true, which asks every time."
)
_OUTPUT = "Get what a background command wrote since the last look, and if it still runs."
_KILL = "End a background command and everything that it started."


class BashArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `bash`. `cwd`: a folder inside the project, relative to its root."""

    command: str
    cwd: str = ""
    background: bool = False
    network: bool = False


class BackgroundArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `bash_output` and `bash_kill`: the id that `bash` gave."""

    id: str


def judge_bash(arguments_json: str, desk: ToolDesk) -> Judged:
    """Find out what a command line would do, without running it."""
    given = arguments_of(ActKind.COMMAND, "Run a command", arguments_json, BashArguments)
    if isinstance(given, Judged):
        return given
    if not given.command.strip():
        return refused(ActKind.COMMAND, "Run a command", "The command is empty.")
    if len(given.command) > LONGEST_COMMAND or "\0" in given.command:
        return refused(
            ActKind.COMMAND,
            "Run a command",
            f"A command has at most {LONGEST_COMMAND:,} characters and no NUL.",
        )
    if any("\ud800" <= char <= "\udfff" or char == "\0" for char in given.cwd):
        return refused(ActKind.COMMAND, "Run a command", f"cwd {given.cwd!r} is no path.")
    if any("\ud800" <= char <= "\udfff" for char in given.command):
        return refused(ActKind.COMMAND, "Run a command", "The command is no Unicode text.")
    root = os.path.realpath(desk.places.root)
    folder = os.path.realpath(os.path.join(root, given.cwd))
    if folder != root and not folder.startswith(root.rstrip("/") + "/"):
        return refused(ActKind.COMMAND, "Run a command", f"cwd {given.cwd!r} is outside the project.")
    if not os.path.isdir(folder):
        return refused(ActKind.COMMAND, "Run a command", f"cwd {given.cwd!r} is no folder of the project.")
    home = os.path.realpath(desk.places.home) if desk.places.home else ""
    if home and (folder + "/").startswith(home + "/"):
        return refused(
            ActKind.COMMAND,
            "Run a command",
            "The folder belongs to Manual Slop itself: no command runs there.",
        )
    line = within_folder(read_command_line(given.command), folder, root)
    places = place_reasons(given.command, line, folder, root, desk.places.shown)
    files = code_of(given.command, line, folder, root)
    where = os.path.relpath(folder, root)
    extras = [f"in {where}"] if where != "." else []
    extras += ["in the background"] if given.background else []
    extras += ["with the network"] if given.network else []
    whole = given.command.strip()
    below = [f"({', '.join(extras)})"] if extras else []
    below += [f"({said})"] if (said := code_words(files, root)) else []
    shown = whole.splitlines()[0][:_TITLE_CHARS]
    if shown != whole:
        shown = f"{shown[: _TITLE_CHARS - 1]}…"
    return Judged(
        kind=ActKind.COMMAND,
        title=f"Run {shown}{''.join(f', {extra}' for extra in extras)}",
        detail="\n".join((given.command, *below)),
        reasons=(*places, *_reasons(root, needs_network=given.network)),
        grant=command_grant(line.prefixes),
        commands=line.commands,
        files=files,
        plan=(
            CommandOrder(
                command=given.command,
                folder=folder,
                needs_network=given.network,
                timeout_s=None if given.background else TIMEOUT_S,
            )
        ),
    )


def _reasons(root: str, *, needs_network: bool) -> Iterator[str]:
    if needs_network:
        yield "It reaches the network, this machine's own servers among it."
        if is_display_open():
            yield "With the network it reaches your display: it could read the screen, and use keys and mouse there, a yes among the rest."
    if (os.path.realpath(os.path.expanduser("~")) + "/").startswith(root.rstrip("/") + "/"):
        yield "The project holds your own folder: a command can change what your shell and other programs start."


def run_bash(judged: Judged, desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    """Run the command line that was judged."""
    assert isinstance(judged.plan, CommandOrder)
    order = replace(judged.plan, sees_secrets=desk.has_yes)
    root = os.path.realpath(desk.places.root)
    if os.path.realpath(order.folder) != order.folder or not (order.folder + "/").startswith(
        root.rstrip("/") + "/"
    ):
        return ToolAnswer(text="The folder changed since the command was judged. Nothing ran.", is_error=True)
    try:
        if order.timeout_s is None:
            command_id = desk.commands.start(order, desk)
            return ToolAnswer(
                text=f"It runs in the background as {command_id!r}. bash_output gives its output, bash_kill ends it.",
                is_background=True,
            )
        outcome = desk.commands.run(order, desk)
    except (OSError, SlopError) as error:
        return ToolAnswer(text=f"The command could not be started: {error}", is_error=True)
    return _answer(outcome)


def _answer(outcome: ShellOutcome) -> ToolAnswer:
    ends = []
    if outcome.ended_by:
        ends.append(f"[It was ended: {outcome.ended_by}.]")
    elif outcome.exit_code is None:
        ends.append("[It still runs.]")
    elif outcome.exit_code:
        ends.append(f"[Exit code {outcome.exit_code}]")
    ends += [f"[{note}]" for note in outcome.notes]
    output = outcome.output.rstrip("\n")
    text = "\n".join(filter(None, [output, *ends])) or "[No output]"
    return ToolAnswer(text=text, is_error=bool(outcome.ended_by or outcome.exit_code))


def _judge_background(title: str) -> Callable[[str, ToolDesk], Judged]:
    def judge(arguments_json: str, _desk: ToolDesk) -> Judged:
        given = arguments_of(ActKind.OWN, title, arguments_json, BackgroundArguments)
        if isinstance(given, Judged):
            return given
        return Judged(kind=ActKind.OWN, title=f"{title} {given.id}", plan=given.id)

    return judge


def run_output(judged: Judged, desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    """Look at a background command."""
    outcome = desk.commands.look(judged.plan)
    if outcome is None:
        return ToolAnswer(text=_unknown(judged.plan), is_error=True)
    return _answer(outcome)


def _unknown(command_id: str) -> str:
    return f"There is no background command {command_id!r}. One that an earlier program started has ended with it."


def run_kill(judged: Judged, desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    """End a background command, and wait until it is gone."""
    if not desk.commands.kill(judged.plan):
        return ToolAnswer(text=_unknown(judged.plan), is_error=True)
    return ToolAnswer(text=f"The background command {judged.plan!r} is ended, with all that it started.")


TOOLS = (
    Tool(
        schema=schema_of("bash", _BASH, BashArguments), kind=ActKind.COMMAND, judge=judge_bash, run=run_bash
    ),
    Tool(
        schema=schema_of("bash_output", _OUTPUT, BackgroundArguments),
        kind=ActKind.COMMAND,  # offered where commands are; looking and ending need no question
        judge=_judge_background("Look at background command"),
        run=run_output,
        keeps_order=True,  # a look takes what came since the last one
    ),
    Tool(
        schema=schema_of("bash_kill", _KILL, BackgroundArguments),
        kind=ActKind.COMMAND,  # offered where commands are; looking and ending need no question
        judge=_judge_background("End background command"),
        run=run_kill,
        keeps_order=True,
    ),
)
"""The tools of this module."""
