"""`knowledge proposals`: what other programs propose for knowledge, and a person's yes or no on the terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from core.agent.escapes import escaped
from core.cli.arguments import Options
from core.cli.confirmation import check_terminal, confirm
from core.cli.output import Console
from core.cli.session import UsageError
from core.mcp_server.messages import (
    DropProposals,
    McpServerEvent,
    ProposalsRead,
    ReadProposals,
    WriteProposed,
)
from core.mcp_server.proposal_text import words_of
from core.mcp_server.worker import ProposalHandler
from core.values.proposals import Proposal, ProposalsState

NOT_AGREED = 1


def run_proposals(options: Options, home: Path, console: Console) -> int:
    """List proposals, add one to knowledge after its question, or drop one.

    Returns:
        0, and 1 where the person said no.

    Raises:
        UsageError: no such proposal, or nobody can be asked. SlopError: they cannot be read, or knowledge cannot be written.
    """
    given = options.given
    if given.accept:
        check_terminal(
            console, "A proposal needs your yes", remedy="Run it on a terminal, or say yes in the window"
        )
    news: list[McpServerEvent] = []
    handler = ProposalHandler(home, news.append)
    handler.handle(ReadProposals())
    found = _last(news)
    if found.problem:
        raise UsageError(found.problem)
    if given.accept:
        chosen = _chosen(found, given.accept)
        _show(chosen, found, console.shown)
        if not confirm(console, "Add this to knowledge?", is_yes=False):
            console.line("Nothing was changed: it waits on.")
            return NOT_AGREED
        handler.handle(WriteProposed(chosen))
        console.line(f"{chosen.id} is known.")
    elif given.refuse:
        chosen = _chosen(found, given.refuse)
        handler.handle(DropProposals((chosen.id,)))
        console.outcome(f"{chosen.id} is dropped.", {"id": chosen.id, "is_dropped": True})
    else:
        _list(found, console, is_json=options.is_json)
    return 0


def _last(news: list[McpServerEvent]) -> ProposalsState:
    return next(one.found for one in reversed(news) if isinstance(one, ProposalsRead))


def _chosen(found: ProposalsState, wanted: str) -> Proposal:
    """The proposal of an id or its start. Raises UsageError: there is none, or more than one."""
    same = [one for one in found.waiting if one.id == wanted]
    fits = same or [one for one in found.waiting if one.id.startswith(wanted)]
    if len(fits) != 1:
        how = "No proposal begins" if not fits else f"{len(fits)} proposals begin"
        raise UsageError(f"{how} with {wanted!r}", remedy="`manual-slop knowledge proposals` lists them")
    return fits[0]


def _list(found: ProposalsState, console: Console, *, is_json: bool) -> None:
    if is_json:
        console.json(
            [
                {
                    "id": one.id,
                    "category": one.category.value,
                    "text": words_of(one),
                    "source": one.source,
                    "at": one.at,
                    "near": list(found.near.get(one.id, ())),
                }
                for one in found.waiting
            ]
        )
        return
    if not found.waiting:
        console.line("No program proposes anything.")
    for one in found.waiting:
        _show(one, found, console.line)


def _show(one: Proposal, found: ProposalsState, say: Callable[[str], None]) -> None:
    """Print all that a yes would write, every control character shown."""
    say(
        f"{escaped(one.id)}  {one.category.value.replace('_', ' ')}, by {escaped(one.source)}, {escaped(one.at)}"
    )
    for line in words_of(one).splitlines():
        say(f"  {escaped(line)}")
    for near in found.near.get(one.id, ()):
        say(f"  known already:  {escaped(near)}")
