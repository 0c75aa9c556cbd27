"""`knowledge`: what is known, its facts checked and looked up, the digest, the ledger, proposals, the harvest's prompt."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from core.agent.tool import escaped
from core.app.controller import wall_clock
from core.app.home import open_home
from core.front.cli.arguments import Options, UsageError
from core.front.cli.harvest import NOT_AGREED as HARVEST_NOT_AGREED
from core.front.cli.harvest import Interruptible, RunSet, run_settings, used_data, with_model
from core.front.cli.output import Console, table
from core.front.cli.questions import SharedMoney, check_terminal, confirm
from core.front.cli.version import INTERRUPTED
from core.kernel import figures, paths
from core.kernel.child_process import run_at_terminal
from core.kernel.errors import ConfigError, LockedError, SlopError, StorageError
from core.kernel.figures import count
from core.kernel.frame import one_line
from core.kernel.language import as_sentences, tr
from core.kernel.values.facts import FactProblem, IndexedFact, fact_data
from core.kernel.values.harvest import HarvestUse
from core.kernel.values.knowledge import (
    Category,
    DraftKind,
    HarvestLedgerEntry,
    Item,
    KnowledgeState,
    MergeProposal,
    Proposal,
    ProposalsState,
    item_data,
)
from core.knowledge.apply import MergeRequest, apply_merge, make_draft
from core.knowledge.edits import archive_item, take_back
from core.knowledge.fact_store import FactReader, chosen_facts, left_words, sync_facts
from core.knowledge.facts.fact_sync import validate
from core.knowledge.harvest.distillation import HarvestCancelledError, NoMoneyError, ProviderGenerate
from core.knowledge.harvest.harvest_messages import HARVEST_PROMPT, MERGE_PROMPT
from core.knowledge.harvest.harvest_run import RunPurse
from core.knowledge.harvest.merge_reply import drop_merge_replies, merge_schema, propose_merge
from core.knowledge.harvest.modes import RECALL_ONLY, RECALL_REMEDY, is_recall_only
from core.knowledge.history_text import history_data, history_lines, seen_data, seen_lines
from core.knowledge.knowledge_reader import DigestFollower, KnowledgeReader, digest_file, regenerate_digest
from core.knowledge.ledger import HarvestLedger
from core.knowledge.ledger_text import entry_data
from core.knowledge.mcp_server.proposal_messages import (
    McpServerEvent,
    ReadProposals,
    RefuseProposals,
    WriteProposed,
)
from core.knowledge.mcp_server.proposal_step import words_of
from core.knowledge.mcp_server.proposal_worker import ProposalHandler
from core.knowledge.memory_log import counted_use, fact_history, item_history, seen_items
from core.knowledge.memory_use import UNUSED_AFTER
from core.knowledge.merges import merge_data, merge_lines, search_items
from core.services.providers.clients import clients_for
from core.services.providers.protocol import CancelToken
from core.services.settings.prompts import (
    make_own_prompt,
    own_prompt,
    own_prompt_path,
    prompt_file,
    read_prompts,
)
from core.services.settings.settings_loader import ConfigRequest, config_request, load
from core.services.spending.harvest_costs import Payments
from core.services.spending.price_files import priced_models
from core.services.spending.pricing import cost
from core.talk.discussion.draft_editor import editor_words, find_editor

# `knowledge validate`, `sync` and `facts`: the structured facts checked, brought in step with their index,
# looked up.

FACT_ACTIONS = ("validate", "sync", "facts")


def run_facts(options: Options, home: Path, console: Console) -> int:
    """Run one of the actions on a home. Returns 1 where something is wrong, or nothing was found, else 0.

    Raises:
        SlopError: a file could not be read or written.
    """
    match options.given.action:
        case "validate":
            return _validate(home, console, is_json=options.is_json)
        case "sync":
            return _sync(home, console, is_json=options.is_json)
        case _:
            return _facts(options, home, console)


def _validate(home: Path, console: Console, *, is_json: bool) -> int:
    problems = validate(home)
    is_wrong = any(not problem.is_warning for problem in problems)
    if is_json:
        rows = [_problem_data(problem) for problem in problems]
        console.json({"ok": not is_wrong, "problems": rows})
        return int(is_wrong)
    _name(problems, console)
    if not is_wrong:
        console.note(tr("Every fact in {home} is valid.", home=paths.knowledge_dir(home)))
    return int(is_wrong)


def _sync(home: Path, console: Console, *, is_json: bool) -> int:
    report = sync_facts(home)
    DigestFollower(home).follow()
    is_wrong = any(not problem.is_warning for problem in report.problems)
    if is_json:
        console.json(
            {
                "total": report.total,
                "changed": report.changed,
                "written": list(report.written),
                "left": list(report.left),
                "problems": [_problem_data(problem) for problem in report.problems],
            }
        )
        return int(is_wrong)
    _name(report.problems, console)
    if report.left:
        console.line(f"{left_words(len(report.left))}:")
        for line in report.left:
            console.line(f"  {one_line(line, 200)}")
    console.line(
        tr(
            "{total} in the index, {changed:,} changed",
            total=count(report.total, tr("fact"), tr("facts")),
            changed=report.changed,
        )
    )
    for name in report.written:
        console.line(tr("written: {home}", home=paths.knowledge_dir(home) / name))
    return int(is_wrong)


def _name(problems: Sequence[FactProblem], console: Console) -> None:
    """Print what is wrong; what is only worth a word goes beside it, to standard error."""
    for problem in problems:
        (console.note if problem.is_warning else console.line)(problem.sentence)


def _facts(options: Options, home: Path, console: Console) -> int:
    given = options.given
    found = chosen_facts(FactReader(home).facts(), given.domain, given.fact_category, given.tag)
    if options.is_json:
        console.json([fact_data(fact) for fact in found])
        return int(not found)
    if not found:
        console.line(tr("Nothing found."))
        return 1
    rows = [(fact.id, _confidence(fact), ", ".join(fact.tags), fact.text) for fact in found]
    head = ("id", "confidence", "tags", "fact")
    kept = frozenset({0})
    console.write(table(head, rows, numbers=frozenset({1}), kept=kept, columns=console.columns))
    return 0


def _confidence(fact: IndexedFact) -> str:
    told = (("withdrawn", fact.withdrawn), ("stale", fact.stale and not fact.withdrawn), ("held", fact.held))
    marks: Iterable[str] = (word for word, is_so in told if is_so)
    return " ".join([f"{fact.effective_confidence:.2f}", *marks])


def _problem_data(problem: FactProblem) -> dict[str, object]:
    return {
        "file": problem.file,
        "line": problem.line,
        "text": problem.text,
        "is_warning": problem.is_warning,
    }


# `knowledge why` and `knowledge seen`: what an item stands on, and what models were shown.


def explain_item(home: Path, state: KnowledgeState, options: Options, console: Console) -> None:
    """Print why the model knows an item, or a structured fact by its id.

    Raises:
        UsageError: no item is meant, or several. StorageError: a log cannot be read.
    """
    name = options.given.item
    facts = FactReader(home).facts()
    told = (
        fact_history(home, name, facts)
        if any(fact.id == name for fact in facts)
        else item_history(home, named_item(state, name), state.items, may_write=False)
    )
    if options.is_json:
        console.json(history_data(told))
    else:
        console.write("".join(f"{line}\n" for line in history_lines(told)))


def show_seen(home: Path, state: KnowledgeState, options: Options, console: Console) -> None:
    """Print what entered requests. Raises StorageError: a log cannot be read."""
    facts = FactReader(home).facts()
    seen = seen_items(home, state.items, options.given.discussion, facts)
    if options.is_json:
        console.json([seen_data(one) for one in seen])
    elif not seen:
        console.line(tr("No logged request contained an item."))
    else:
        console.write("".join(f"{line}\n" for line in seen_lines(seen)))


def run_archive(home: Path, state: KnowledgeState, options: Options, console: Console) -> None:
    """List the archive and what is proposed for it, put an item into it, or take one back.

    Raises:
        UsageError: no item is meant, or several. SlopError: a file could not be read or written.
    """
    given = options.given
    if given.take_back:
        item = named_among(
            state.archived, given.take_back, remedy=tr("`manual-slop knowledge archive` lists the archive")
        )
        take_back(home, item)
        console.outcome(
            tr("Taken back: {text}", text=one_line(item.text, 100)), {**item_data(item), "is_archived": False}
        )
    elif given.item:
        item = named_item(state, given.item)
        archive_item(home, item)
        console.outcome(
            tr("Archived: {text}", text=one_line(item.text, 100)), {**item_data(item), "is_archived": True}
        )
    else:
        _list_archive(home, state, console, is_json=options.is_json)


def _list_archive(home: Path, state: KnowledgeState, console: Console, *, is_json: bool) -> None:
    unused = counted_use(home, state.items, FactReader(home).facts()).proposed
    if is_json:
        rows = [{"category": one.category, "text": one.text} for one in unused]
        console.json({"archived": [item_data(item) for item in state.archived], "unused": rows})
        return
    _show_items(state.archived, console, is_json=False, empty=tr("The archive holds no knowledge item."))
    if unused:
        console.line()
        console.line(tr("No reply used these items in {UNUSED_AFTER} requests:", UNUSED_AFTER=UNUSED_AFTER))
    for one in unused:
        console.line(f"  {one_line(one.text, 200)}")


def named_item(state: KnowledgeState, name: str) -> Item:
    """The item that a person means: by its place (`facts.md:3`), else by words that only it has.

    Raises:
        UsageError: there is none, or there are several; names some.
    """
    return named_among(
        state.items, name, remedy=tr("`manual-slop knowledge show` prints the place of each item")
    )


def named_among(items: Sequence[Item], name: str, *, remedy: str) -> Item:
    """As `named_item`, of these items. Raises UsageError: there is none, or there are several; names some."""
    at = [one for one in items if name == f"{one.file}:{one.first_line}"]
    found = at or search_items(items, name)
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(
            tr("there is no item {name!r}", name=name),
            remedy=remedy,
        )
    places = ", ".join(f"{one.file}:{one.first_line}" for one in found[:5])
    raise UsageError(
        tr(
            "{found} items contain {name!r}: name one by file and line ({places})",
            found=len(found),
            name=name,
            places=places,
        )
    )


# `knowledge prompt`: what a harvest tells its model, and a copy of one's own in the person's editor.


def run_prompt(asked: ConfigRequest, console: Console, *, edits: bool, is_json: bool) -> int:
    """Print the prompt with its place, or edit the person's own. Returns 1 where the editor failed or spoilt it.

    Raises:
        ConfigError: what stands in place of the person's own cannot be read. StorageError: no copy could be made.
    """
    project = load(asked).project
    if edits:
        return _edit(make_own_prompt(asked.home, HARVEST_PROMPT, project.prompts), asked.home, console)
    text = read_prompts(asked.home, project.prompts)[HARVEST_PROMPT]
    place = str(prompt_file(HARVEST_PROMPT, asked.home, Path(project.root), project.prompts))
    whose = "yours" if own_prompt(asked.home, HARVEST_PROMPT) is not None else "shipped"
    if whose == "shipped" and HARVEST_PROMPT in project.prompts:
        whose = "the project's"
    if is_json:
        console.json({"path": place, "whose": whose, "text": text})
        return 0
    console.line(text.removesuffix("\n"))
    console.note(
        as_sentences(
            f"{place}: {whose}",
            "" if whose == "yours" else tr("`manual-slop knowledge prompt --edit` makes your own copy"),
        )
    )
    return 0


def _edit(path: Path, home: Path, console: Console) -> int:
    try:
        editor = find_editor(os.environ)
    except ConfigError as error:
        if editor_words(os.environ):
            console.note(tr("manual-slop: warning: {what}. Edit the file yourself.", what=error.what))
        _tell_own(path, console)
        return 0
    code = run_at_terminal(editor.program, (*editor.arguments, str(path)), path.parent)
    if code:
        console.note(
            tr("manual-slop: the editor ended with code {code}: {program}", code=code, program=editor.program)
        )
    if own_prompt(home, HARVEST_PROMPT) is None:
        console.note(
            tr(
                "manual-slop: warning: the program cannot read {path} as a prompt and uses another prompt",
                path=path,
            )
        )
        return 1
    console.note(
        tr(
            "Your own copy is {file}. The next harvest uses this copy",
            file=own_prompt_path(home, HARVEST_PROMPT),
        )
    )
    if console.is_json and not code:
        _tell_own(path, console)
    return int(code != 0)


def _tell_own(path: Path, console: Console) -> None:
    if console.is_json:
        console.json({"path": str(path), "whose": "yours"})
    else:
        console.line(str(path))


# `knowledge merge` and `knowledge graduate`: a shorter file proposed, shown and written; a playbook made a
# draft.


def run_merge(options: Options, console: Console) -> int:
    """Propose a merge; with `--apply` write it after a yes. Returns 1 where the person said no, 130 where they stopped it.

    Raises:
        UsageError: a yes is needed and nobody can be asked. SlopError: nothing to merge, it would lose something, or it
            could not be asked for or written.
    """
    given = options.given
    chosen = run_settings(options)
    if is_recall_only(chosen.run.settings):
        raise SlopError(RECALL_ONLY, remedy=RECALL_REMEDY)
    if given.apply and not given.yes:
        check_terminal(console, tr("A merge needs your confirmation"))
    open_home(chosen.home, chosen.now)
    try:
        merge, use = _proposed(chosen, Category(given.category), console)
    except NoMoneyError:
        raise
    except HarvestCancelledError as error:
        console.note(tr("manual-slop: {what}", what=error.what))
        return INTERRUPTED
    used = used_data(chosen, use)
    asks = given.apply and bool(merge.ticked) and not given.yes
    for line in merge_lines(merge) if asks or not options.is_json else ():
        (console.shown if asks else console.line)(line)
    written = None
    ticked = merge.ticked
    if given.apply and len(ticked) < len(merge.groups):
        left = figures.count(
            len(merge.groups) - len(ticked),
            tr("merge would lose numbers or names and is left out"),
            tr("merges would lose numbers or names and are left out"),
        )
        console.note(f"manual-slop: {left}")
    if given.apply and ticked:
        count = figures.count(len(ticked), tr("merge"), tr("merges"))
        asked = (
            tr("Write it?") if len(ticked) == 1 else tr("Write these {count} to your knowledge?", count=count)
        )
        if not confirm(console, asked, is_yes=given.yes):
            console.note(tr("manual-slop: nothing was written; the program keeps the model's reply"))
            return HARVEST_NOT_AGREED
        written = apply_merge(
            MergeRequest(
                home=chosen.home,
                category=merge.category,
                file=merge.file,
                groups=ticked,
                now=wall_clock(),
                seed=secrets.token_hex(8),
                is_agreed=True,
            )
        )
        drop_merge_replies(chosen.home, merge.category)
    if options.is_json:
        console.json({**merge_data(merge), "written": written, "used": used})
    elif written is not None:
        console.line(
            tr(
                "merged: {items} into {merged:,}",
                items=figures.count(written.items, tr("item"), tr("items")),
                merged=written.merged,
            )
        )
        console.line(tr("earlier version: {version}", version=written.version))
        console.line(tr("undo: manual-slop harvest undo {apply_id}", apply_id=written.apply_id))
    elif merge.groups:
        console.line(tr("nothing was written; add --apply to write"))
    return 0


def _proposed(chosen: RunSet, category: Category, console: Console) -> tuple[MergeProposal, HarvestUse]:
    cancel = CancelToken()
    servers = chosen.loaded.settings.servers
    clients = clients_for(chosen.home, chosen.run.provider, servers, priced_models(servers))
    paid = Payments(chosen.home, lambda by, model, usage: cost(by, model, usage, wall_clock()), wall_clock)
    shared = SharedMoney(chosen, paid, console)
    purse = RunPurse(paid, shared.let_go, on_paid=shared.paid)
    generate = Interruptible(ProviderGenerate(clients.get, cancel, purse, schema=merge_schema), cancel)
    template = read_prompts(chosen.home, chosen.loaded.project.prompts)[MERGE_PROMPT]
    try:
        run = with_model(chosen, clients).run
        return propose_merge(chosen.home, run, category, template, generate), paid.use
    finally:
        clients.close()
        shared.reserves.close()


def run_graduate(home: Path, state: KnowledgeState, options: Options, console: Console) -> int:
    """Make a draft of a playbook.

    Raises:
        UsageError: no item is meant, or several. SlopError: it is no playbook, or the draft could not be written.
    """
    item = named_item(state, options.given.item)
    made = make_draft(home, item, DraftKind(options.given.draft), wall_clock(), secrets.token_hex(8))
    if options.is_json:
        console.json({"apply_id": made.apply_id, "path": made.path, "becomes": made.becomes})
        return 0
    console.line(tr("draft: {path}", path=made.path))
    console.line(tr("of: {text}", text=one_line(item.text, 100)))
    console.line(tr("nothing uses the draft until you rename it to {becomes}", becomes=made.becomes))
    return 0


# `knowledge`: what is known, the digest as it is injected, a search, the ledger, proposals, and the
# harvest's prompt.

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
            console,
            tr("A proposal needs your confirmation"),
            remedy=tr("Run the command on a terminal, or accept the proposal in the window"),
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
        if not confirm(console, tr("Add this to your knowledge?"), is_yes=False):
            console.line(tr("You did not agree. The proposal still waits, and nothing was changed."))
            return NOT_AGREED
        handler.handle(WriteProposed(chosen))
        console.line(tr("{id} is now in your knowledge.", id=chosen.id))
    elif given.refuse:
        chosen = _chosen(found, given.refuse)
        handler.handle(RefuseProposals((chosen.id,)))
        console.outcome(tr("{id} is deleted.", id=chosen.id), {"id": chosen.id, "is_dropped": True})
    else:
        _list(found, console, is_json=options.is_json)
    return 0


def _last(news: list[McpServerEvent]) -> ProposalsState:
    return news[-1].found


def _chosen(found: ProposalsState, wanted: str) -> Proposal:
    """The proposal of an id or its start. Raises UsageError: there is none, or more than one."""
    same = [one for one in found.waiting if one.id == wanted]
    fits = same or [one for one in found.waiting if one.id.startswith(wanted)]
    if len(fits) != 1:
        raise UsageError(
            tr("{proposals} proposals begin with {wanted!r}", proposals=len(fits), wanted=wanted)
            if fits
            else tr("No proposal begins with {wanted!r}", wanted=wanted),
            remedy=tr("`manual-slop knowledge proposals` lists the proposals"),
        )
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
        console.line(tr("No other program has a proposal."))
    for one in found.waiting:
        _show(one, found, console.line)


def _show(one: Proposal, found: ProposalsState, say: Callable[[str], None]) -> None:
    """Print all that a yes would write, every control character shown."""
    say(
        tr(
            "{id}  {category}, proposed by {source}, {at}",
            id=escaped(one.id),
            category=one.category.value.replace("_", " "),
            source=escaped(one.source),
            at=escaped(one.at),
        )
    )
    for line in words_of(one).splitlines():
        say(f"  {escaped(line)}")
    for near in found.near.get(one.id, ()):
        say(tr("  a similar item in your knowledge:  {item}", item=escaped(near)))


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
        console.note(tr("manual-slop: warning: {warning}", warning=problem))
    match action:
        case "why":
            explain_item(home, state, options, console)
        case "graduate":
            return run_graduate(home, state, options, console)
        case "seen":
            show_seen(home, state, options, console)
        case "archive":
            run_archive(home, state, options, console)
        case "digest":
            _show_digest(state, console, str(digest_file(home)), is_json=options.is_json)
        case "search":
            found = search_items(state.items, options.given.text)
            _show_items(found, console, is_json=options.is_json)
            return int(not found or bool(state.problems))
        case _:
            wanted = options.given.category
            shown = [item for item in state.items if wanted in {"", item.category.value}]
            _show_items(
                shown,
                console,
                is_json=options.is_json,
                empty=tr("You have no knowledge in {home}.", home=paths.knowledge_dir(home)),
            )
    return int(bool(state.problems))


def _follow(home: Path, console: Console) -> None:
    """Bring the digest in step with category files that an editor saved; where that cannot be, it is shown as it is."""
    try:
        DigestFollower(home).follow()
    except (StorageError, LockedError) as error:
        console.note(tr("manual-slop: warning: the program could not renew the digest: {error}", error=error))


def _show_items(
    items: Sequence[Item], console: Console, *, is_json: bool, empty: str = tr("Nothing found.")
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
    console.note(
        tr(
            "{path}: {digest_bytes:,} bytes; memory is {value}",
            path=path,
            digest_bytes=state.digest_bytes,
            value=state.switch.value,
        )
    )


def _show_ledger(entries: tuple[HarvestLedgerEntry, ...], console: Console, *, is_json: bool) -> None:
    if is_json:
        console.json([entry_data(entry) for entry in entries])
        return
    if not entries:
        console.line(tr("You have not harvested anything yet."))
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
    return tr("{value}, undone", value=entry.status.value) if entry.undone_at else entry.status.value
