"""`autonomy`: how the loop of the running program stands, and its stop. It starts in the window alone."""

from __future__ import annotations

from typing import Any

from core.agent.escapes import escaped
from core.base import figures, paths
from core.base.errors import SlopError
from core.cli.arguments import Options
from core.cli.output import Console
from core.hooks.client import HookClient, HookError, reach

ANSWER_S = 30.0
"""Longest wait for a program that is busy: nothing else knows of its loop."""
_SHOWN_NOTES = 5
_NONE = "no_autonomy"


def run_autonomy(options: Options, console: Console) -> int:
    """Print the loop's state, or stop it. Returns 0.

    Raises:
        SlopError: no program runs on this home, its Hook API is off, or it does not answer.
    """
    client = _client(options)
    if options.given.stop:
        client.act("autonomy", "stop_autonomy")
        console.outcome("Autonomy is stopped.", {"is_on": False})
        return 0
    try:
        found = client.get("/api/autonomy")
    except HookError as error:
        if error.code != _NONE:
            raise
        found = None
    if options.is_json:
        console.json(found if found is not None else {"is_on": False})
    elif found is None:
        console.line("No discussion is autonomous, nor was one since the program started.")
    else:
        _print(found, console)
    return 0


def _client(options: Options) -> HookClient:
    home = options.home or paths.home_dir()
    beside = reach(home, ANSWER_S)
    if beside is None:
        raise SlopError(
            "No program with its Hook API on runs on this home, and autonomy lives in a running one",
            remedy="Look at the window's tab Alone, or switch the Hook API on (`[hooks] enabled = true`)",
            where=str(home),
        )
    return beside[0]


def _print(found: dict[str, Any], console: Console) -> None:
    if not found["is_on"]:
        console.line(f"{found['discussion_id']} is autonomous no more.")
    elif found["is_running"]:
        console.line(f"{found['discussion_id']}: {found['state']}, a turn is under way.")
    else:
        when = f"next turn at {found['next_at'][:19]} UTC" if found["next_at"] else "only you wake it"
        console.line(f"{found['discussion_id']}: {found['state']}, {when}.")
    console.line(
        f"turns:  {found['turns']} of {found['max_turns']}, {figures.money(found['usd'])}, errors {found['errors']}"
    )
    for label, text in (("woken by", found["woken_by"]), ("rests", found["stopped"])):
        if text:
            console.line(f"{label}:  {escaped(text)}")
    for note in found["notes"]["rows"][-_SHOWN_NOTES:]:
        console.line(f"{note['at'][:19]}  {escaped(note['text'])}")
