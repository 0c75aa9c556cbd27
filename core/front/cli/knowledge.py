"""`knowledge`: what is known, the digest as it is injected, a search, the ledger, proposals, and the harvest's prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from core.agent.tool import escaped
from core.front.cli.arguments import Options
from core.front.cli.facts import FACT_ACTIONS, explain_item, run_facts, show_seen
from core.front.cli.harvest_prompt import run_graduate, run_merge, run_prompt
from core.front.cli.output import Console, table
from core.front.cli.questions import check_terminal, confirm
from core.front.cli.session import UsageError
from core.kernel import paths
from core.kernel.errors import LockedError, StorageError
from core.kernel.frame import one_line
from core.kernel.values.knowledge import (
    Category,
    HarvestLedgerEntry,
    Item,
    KnowledgeState,
    Proposal,
    ProposalsState,
    item_data,
)
from core.knowledge.digest import DigestFollower, digest_file, regenerate_digest
from core.knowledge.duplicates import search_items
from core.knowledge.knowledge_reader import KnowledgeReader
from core.knowledge.ledger import HarvestLedger
from core.knowledge.ledger_text import entry_data
from core.knowledge.mcp_server.proposal_messages import (
    McpServerEvent,
    ProposalsRead,
    ReadProposals,
    RefuseProposals,
    WriteProposed,
)
from core.knowledge.mcp_server.proposal_step import words_of
from core.knowledge.mcp_server.proposal_worker import ProposalHandler
from core.knowledge.memory_log import all_items
from core.services.settings.settings_loader import config_request, load

# `knowledge proposals`: what other programs propose for knowledge, and a person's yes or no on the
# terminal.

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
        handler.handle(RefuseProposals((chosen.id,)))
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


SHOWN_HASH = 12


def run_knowledge(options: Options, console: Console) -> int:
    """Show, search, regenerate or edit. Returns 1 where a file could not be read, a search found nothing or an editor
    failed, else 0.

    Raises:
        SlopError: the ledger does not parse, or the digest could not be written.
    """
    asked = config_request(start=options.start, home=options.home, overrides=options.overrides)
    home = asked.home
    action = options.given.action or "show"
    if action in FACT_ACTIONS:
        return run_facts(options, home, console)
    if action == "ledger":
        _show_ledger(tuple(HarvestLedger(home).entries()), console, is_json=options.is_json)
        return 0
    if action == "prompt":
        return run_prompt(asked, console, edits=options.given.edit, is_json=options.is_json)
    if action == "merge":
        return run_merge(options, console)
    if action == "proposals":
        return run_proposals(options, home, console)
    if action == "digest":
        if options.given.regenerate:
            regenerate_digest(home)
        else:
            _follow(home, console)
    state = KnowledgeReader(home).read(load(asked).settings.knowledge)
    for problem in state.problems:
        console.note(f"manual-slop: warning: {problem}")
    match action:
        case "why":
            explain_item(home, state, options, console)
        case "graduate":
            return run_graduate(home, state, options, console)
        case "seen":
            show_seen(home, state, options, console)
        case "digest":
            _show_digest(state, console, str(digest_file(home)), is_json=options.is_json)
        case "search":
            found = search_items(all_items(state), options.given.text)
            _show_items(found, console, is_json=options.is_json)
            return int(not found or bool(state.problems))
        case _:
            wanted = options.given.category
            shown = [item for item in all_items(state) if wanted in {"", item.category.value}]
            _show_items(
                shown, console, is_json=options.is_json, empty=f"Nothing in {paths.knowledge_dir(home)}."
            )
    return int(bool(state.problems))


def _follow(home: Path, console: Console) -> None:
    """Bring the digest in step with category files that an editor saved; where that cannot be, it is shown as it is."""
    try:
        DigestFollower(home).follow()
    except (StorageError, LockedError) as error:
        console.note(f"manual-slop: warning: the digest is as it was: {error}")


def _show_items(
    items: Sequence[Item], console: Console, *, is_json: bool, empty: str = "Nothing found."
) -> None:
    if is_json:
        console.json([item_data(item) for item in items])
        return
    if not items:
        console.line(empty)
    last: Category | None = None
    for item in items:
        if item.category is not last:
            console.line(f"{'' if last is None else chr(10)}{item.category.value.replace('_', ' ')}")
            last = item.category
        console.line(f"  {_line(item)}")


def _line(item: Item) -> str:
    origin = f"  [{item.provenance.source}, {item.provenance.date}]" if item.provenance is not None else ""
    text = re.sub(r"\s+", " ", item.text)
    if item.category is Category.FILES:
        text = f"{item.section}: {text}"  # the heading of notes is the path that they are about
    return f"{item.file}:{item.first_line}: {text}{origin}"


def _show_digest(state: KnowledgeState, console: Console, path: str, *, is_json: bool) -> None:
    if is_json:
        console.json(
            {
                "path": path,
                "switch": state.switch.value,
                "size_bytes": state.digest_bytes,
                "text": state.digest,
            }
        )
        return
    console.write(state.digest)
    console.note(f"{path}: {state.digest_bytes:,} bytes; memory is {state.switch.value}")


def _show_ledger(entries: tuple[HarvestLedgerEntry, ...], console: Console, *, is_json: bool) -> None:
    if is_json:
        console.json([entry_data(entry) for entry in entries])
        return
    if not entries:
        console.line("Nothing was harvested yet.")
        return
    rows = [
        (
            entry.sha256[:SHOWN_HASH],
            entry.at[:16].replace("T", " "),
            _status(entry),
            f"{entry.size_bytes:,}",
            str(sum(entry.items.values())),
            one_line(entry.error or entry.path, 100),
        )
        for entry in entries
    ]
    head = ("sha256", "at", "status", "bytes", "items", "path")
    kept = frozenset({0, 1})
    console.write(table(head, rows, numbers=frozenset({3, 4}), kept=kept, columns=console.columns))


def _status(entry: HarvestLedgerEntry) -> str:
    return f"{entry.status.value}, undone" if entry.undone_at else entry.status.value
