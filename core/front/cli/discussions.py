"""Conversations on the command line: `discussions` lists, reads and exports them, `forget` removes them for good."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from core.agent.agent_messages import CompactDiscussion
from core.agent.agent_pages import mode_of
from core.app.execution import act, begin, is_over, too_slow
from core.app.forgetting.forgetting_messages import ForgetDiscussion, ForgetItem, LookAtForget
from core.app.forgetting.forgetting_places import WARNING, preview_text, receipt_data, receipt_text
from core.app.forgetting.forgetting_step import branches_of
from core.app.forgetting.leftovers import Intent, is_waiting, receipts, waiting
from core.app.forgetting.secret_finds import SecretReport, report_lines
from core.app.forgetting.secret_finds import report_data as report_data_of_secret_finds
from core.app.forgetting.secret_search import clean_secrets, search_secrets
from core.app.home import alone
from core.front.cli.arguments import Options, UsageError
from core.front.cli.format import discussion_data, discussions_text, newest_first
from core.front.cli.knowledge import named_item
from core.front.cli.output import Console
from core.front.cli.questions import can_ask, check_terminal, confirm_final
from core.front.cli.session import FrontEnd, find_discussion, session
from core.kernel.errors import SlopError
from core.kernel.figures import count, money
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.stored_texts import retold
from core.kernel.values.discussion import FLAGS, DiscussionSummary
from core.kernel.values.knowledge import ForgetReceipt, ForgetTarget, ForgettingState
from core.kernel.values.messages import Mark
from core.kernel.values.state import AppState, TrashItem
from core.kernel.values.updates import outcome_of
from core.knowledge.knowledge_reader import KnowledgeReader
from core.services.settings.settings_loader import config_request
from core.talk.discussion.discussion_export import ENDINGS, export_json, export_markdown, file_name
from core.talk.discussion.discussion_messages import (
    ChangeDiscussion,
    DeleteDiscussion,
    ExportDiscussion,
    SearchDiscussions,
    SelectDiscussion,
    UndoDelete,
)
from core.talk.discussion.discussion_page import export_page

# `discussions`: list, read, export and order them.

# `discussions compact`: the beginning of a discussion leaves what its model sees, and what that cost is
# said.

COMPACT_S = 900.0
"""Longest wait for a summary: a model on this machine may take its time over a long discussion."""


def compact(front: FrontEnd, console: Console, chosen: str) -> tuple[str, dict[str, Any]]:
    """Rebuild the model's view of a discussion.

    Returns:
        What to say once it is sure, and the same as data.

    Raises:
        SlopError: there is nothing to leave out, or no summary; the view is as it was.
    """
    before = act(front, SelectDiscussion(chosen)).discussions.summaries[chosen].usage.cost_usd
    with console.waiting(tr("Compacting")):
        command_id = begin(front, CompactDiscussion(chosen))
        state = front.wait_for(lambda now: is_over(now, command_id) or _price(now, chosen) > 0, COMPACT_S)
        if state is not None and (usd := _price(state, chosen)):
            console.note(tr("manual-slop: the summary may cost {usd}", usd=money(usd, "terminal")))
            state = front.wait_for(lambda now: is_over(now, command_id), COMPACT_S)
    outcome = outcome_of(state, command_id) if state is not None else None
    if state is None or outcome is None:
        raise too_slow(COMPACT_S)
    if not outcome.is_done:
        raise SlopError(outcome.problem.removesuffix("."), remedy=outcome.remedy)
    opened = state.discussions.open[chosen]
    after = state.discussions.summaries[chosen].usage.cost_usd
    has_summary = opened.cut is not None and bool(opened.cut.summary)
    cost = None if after is None and has_summary else (after or 0.0) - (before or 0.0)
    words = next((retold(one.text) for one in reversed(opened.entries) if isinstance(one, Mark)), "")
    said = tr("{words} Cost: {cost}.", words=words, cost=money(cost, "terminal"))
    left = 0 if opened.cut is None else opened.cut.left_messages
    return said.strip(), {"discussion": chosen, "cost_usd": cost, "left_messages": left}


def _price(state: AppState, chosen: str) -> float:
    """Most that the summary may cost, US dollars; 0 until that is known."""
    one = state.agent.compactions.get(chosen)
    return 0.0 if one is None else one.reserved_usd


TRASH_S = 3.0
READING = frozenset({"list", "show", "export"})


def run_discussions(options: Options, front: FrontEnd, console: Console) -> int:
    """Carry out an action on discussions. Returns 0.

    Raises:
        UsageError: no such discussion. SlopError: it could not be read or written.
    """
    action = options.given.action or "list"
    done, chosen = "", ""
    data: dict[str, Any] = {}
    with session(front, console, writes=action not in READING) as state:
        match action:
            case "list":
                _list(options, front, console, state)
            case "export" if options.given.every:
                _export_every(options, front, console)
            case "show" | "export":
                _export(options, front, console, find_discussion(state, options.given.id))
            case "compact":
                done, data = compact(front, console, find_discussion(state, options.given.id))
            case "restore":
                done, chosen = _restore(front, options.given.id)
            case "delete":
                chosen = find_discussion(state, options.given.id)
                done = _delete(front, state, chosen)
            case _:
                chosen = find_discussion(state, options.given.id)
                done = _change(options, front, chosen)
    if done:
        console.outcome(done, data or {"discussion": chosen})
    return 0


def _list(options: Options, front: FrontEnd, console: Console, state: AppState) -> None:
    given = options.given
    lines = None
    rows = newest_first(
        row for row in state.discussions.summaries.values() if given.all or not row.meta.archived
    )
    if given.search.strip():
        with console.waiting(tr("Searching")):
            hits = act(front, SearchDiscussions(given.search)).discussions.search
        rows = [
            state.discussions.summaries[found] for found in hits.ids if found in state.discussions.summaries
        ]
        lines = hits.lines
    rows = [_as_counts(state, row) for row in rows]
    if options.is_json:
        found_lines = lines or {}
        console.json([{**discussion_data(row), "found": found_lines.get(row.meta.id, "")} for row in rows])
    else:
        console.write(discussions_text(rows, datetime.now(UTC), lines, console.columns))


def _as_counts(state: AppState, row: DiscussionSummary) -> DiscussionSummary:
    """The row with the mode that counts, which the stored one may not be."""
    return replace(row, meta=replace(row.meta, mode=mode_of(state, row.meta.id)))


def _export_every(options: Options, front: FrontEnd, console: Console) -> None:
    """Write each discussion to a file of its own, named after it and its id."""
    given = options.given
    if given.id or given.out == "-":
        raise UsageError(
            tr("--every writes each discussion into its own file, so it needs a folder"),
            remedy=tr("Name the folder with --out, and leave the discussion out"),
        )
    folder = Path(given.out).expanduser().absolute()
    if not folder.is_dir():
        raise UsageError(tr("There is no folder {out!r}", out=given.out), remedy=tr("Make the folder first"))
    form, written = "json" if options.is_json else given.format, []
    for row in sorted(front.snapshot().discussions.summaries.values(), key=lambda one: one.meta.created_at):
        path = folder / f"{file_name(row.meta.name)} {row.meta.id[:12]}{ENDINGS[form]}"
        act(
            front,
            ExportDiscussion(discussion_id=row.meta.id, form=form, path=str(path), replaces=given.replace),
        )
        written.append(str(path))
    console.note(
        tr(
            "{written} written to {folder}.",
            written=count(len(written), tr("discussion"), tr("discussions")),
            folder=folder,
        )
    )
    if console.is_json:
        console.json({"paths": written})


def _export(options: Options, front: FrontEnd, console: Console, chosen: str) -> None:
    given = options.given
    form = "json" if options.is_json else getattr(given, "format", "markdown")
    target = getattr(given, "out", "-")
    if target != "-":
        path = Path(target).expanduser().absolute()
        if path.is_dir():
            raise UsageError(
                tr("{target!r} is a folder", target=target), remedy=tr("Name a file in that folder")
            )
        act(front, ExportDiscussion(discussion_id=chosen, form=form, path=str(path), replaces=given.replace))
        console.note(tr("Written to {path}.", path=path))
        if console.is_json:
            console.json({"discussion": chosen, "path": str(path)})
        return
    state = act(front, SelectDiscussion(chosen))
    shown = state.discussions.summaries[chosen].meta, state.discussions.open[chosen]
    if form == "json":
        console.json_text(export_json(*shown))
    elif form == "page":
        console.write(export_page(*shown))
    else:
        console.write(export_markdown(*shown))


def _delete(front: FrontEnd, state: AppState, chosen: str) -> str:
    """Move one to the trash. Returns what to say once it is sure."""
    act(front, DeleteDiscussion(chosen))
    name = state.discussions.summaries[chosen].meta.name
    return tr(
        "{name!r} is in the trash; to undo: manual-slop discussions restore {chosen}",
        name=name,
        chosen=chosen,
    )


def _restore(front: FrontEnd, wanted: str) -> tuple[str, str]:
    """Bring one back. The trash is listed after the discussions, so that it is waited for a little.

    Returns:
        What to say once it is sure, and its id.
    """
    state = front.wait_for(lambda s: len(_in_trash(s, wanted)) == 1, TRASH_S) or front.snapshot()
    found = _in_trash(state, wanted)
    if len(found) != 1:
        ids = ", ".join(item.discussion_id for item in state.discussions.trash)
        listed = tr("the trash holds these discussions: {ids}", ids=ids) if ids else tr("the trash is empty")
        raise UsageError(
            tr(
                "{wanted!r} matches {found} discussions in the trash ({listed})",
                wanted=wanted,
                found=len(found),
                listed=listed,
            )
        )
    chosen = found[0].discussion_id
    act(front, UndoDelete(chosen))
    return tr("The discussion {name!r} ({id}) is back in the list", name=found[0].name, id=chosen), chosen


def _in_trash(state: AppState, wanted: str) -> list[TrashItem]:
    if wanted == "last":
        return list(state.discussions.trash[-1:])
    by_id = [item for item in state.discussions.trash if item.discussion_id.startswith(wanted)]
    return by_id or [item for item in state.discussions.trash if item.name == wanted]


def _change(options: Options, front: FrontEnd, chosen: str) -> str:
    given = options.given
    changes: dict[str, tuple[str, Any, str]] = {}
    if given.action == "rename":
        changes["rename"] = "name", given.name, "renamed"
    for name, flag in FLAGS.items():
        changes |= {flag.verb: (name, True, flag.said), flag.undo: (name, False, flag.unsaid)}
    field, value, said = changes[given.action]
    if given.action == "rename" and not given.name.strip():
        raise UsageError(tr("A discussion needs a name"))
    act(front, ChangeDiscussion(discussion_id=chosen, changes={field: value}))
    return tr("{chosen} is {said}.", chosen=chosen, said=said)


# `forget`: a conversation or an item leaves every place that we keep, after a yes; a receipt says so.

FORGET_LONGEST_S = 3600.0

HOLDS = tr("Some of the words also stay in the conversation")

_SHOWN_CHARS = 200


def run_forget(options: Options, front: FrontEnd, console: Console) -> int:
    """Forget the named conversations or items after the person says yes.

    Returns:
        1 where something may be left or was not begun, else 0.

    Raises:
        UsageError: nothing answers to the name. SlopError: it could not be forgotten.
    """
    given = options.given
    if not given.yes:
        check_terminal(console, tr("Forgetting needs your confirmation"))
    home = config_request(start=options.start, home=options.home, overrides=options.overrides).home
    cut = tuple(waiting(home))
    with session(front, console, writes=True) as state:
        if receipt := _gone_on_with(home, front, console, cut, given.what):
            console.note(tr("This deletion was cut short before. The program has finished the deletion now."))
            return _told(options, front, console, receipt)
        try:
            command, asked = _command(options, front, state)
        except UsageError:
            receipt = next((one for one in receipts(home) if given.what in one.discussion_ids), None)
            if receipt is None:
                raise
            console.note(tr("You already forgot this conversation, at {at}.", at=receipt.at))
            return _told(options, front, console, receipt)
        preview = act(front, _look(command), timeout_s=FORGET_LONGEST_S).forgetting.preview
        if preview is not None and not preview.problem:
            names = _names(front.snapshot())
            asked = (
                *asked,
                preview_text(preview),
                *(f"{HOLDS} {names.get(one, one)}" for one in preview.holders),
            )
        console.note("\n".join((*asked, WARNING)))
        if not confirm_final(
            console, tr("Forget everything that is listed above?"), "forget", is_yes=given.yes
        ):
            console.note(tr("Nothing was forgotten."))
            return 1
        with console.waiting(tr("Forgetting")):
            ended = act(front, command, timeout_s=FORGET_LONGEST_S)
    receipt = ended.forgetting.receipt
    assert receipt is not None
    return _told(options, front, console, receipt)


def _gone_on_with(
    home: Path, front: FrontEnd, console: Console, cut: Sequence[Intent], wanted: str
) -> ForgetReceipt | None:
    """The receipt of a forgetting of this very thing that a crash had cut short, None where none had.

    Every other that was cut short is ended first as well.

    Raises:
        SlopError: it cannot be gone on with.
    """
    if not cut:
        return None
    with console.waiting(tr("Finishing an interrupted deletion")):
        state = front.wait_for(
            lambda now: (
                bool(now.forgetting.problem) or (now.forgetting.receipt is not None and not is_waiting(home))
            ),
            FORGET_LONGEST_S,
        )
    if state is None or state.forgetting.problem:
        why = (
            state.forgetting
            if state is not None
            else ForgettingState(problem=tr("The deletion takes too long"))
        )
        raise SlopError(why.problem.removesuffix("."), remedy=why.remedy)
    mine = {one.id for one in cut if wanted in one.target.discussion_ids or _means(one.target, wanted)}
    return next((one for one in receipts(home) if one.id in mine), None)


def _means(target: ForgetTarget, wanted: str) -> bool:
    return (
        target.category is not None and bool(wanted.strip()) and wanted.casefold() in target.text.casefold()
    )


def _look(command: ForgetDiscussion | ForgetItem) -> LookAtForget:
    if isinstance(command, ForgetItem):
        return LookAtForget(item=command.item)
    return LookAtForget(discussion_id=command.discussion_id, with_branches=command.with_branches)


def _told(options: Options, front: FrontEnd, console: Console, receipt: ForgetReceipt) -> int:
    if options.is_json:
        console.json(receipt_data(receipt, _names(front.snapshot())))
    else:
        console.write(receipt_text(receipt, _names(front.snapshot())))
    return int(bool(receipt.problems))


def _names(state: AppState) -> dict[str, str]:
    """Names of the discussions that are there, those in the trash marked."""
    binned = {
        item.discussion_id: tr("{name}  (in the trash)", name=item.name).lstrip()
        for item in state.discussions.trash
    }
    return binned | {key: row.meta.name for key, row in state.discussions.summaries.items()}


def _command(
    options: Options, front: FrontEnd, state: AppState
) -> tuple[ForgetDiscussion | ForgetItem, Sequence[str]]:
    """The command to be confirmed, and the lines that the person is told before."""
    wanted, with_branches = options.given.what, options.given.branches
    try:
        chosen, name = _conversation(front, state, wanted)
    except UsageError as error:
        known = KnowledgeReader(Path(state.program.home)).read(state.config.settings.knowledge)
        try:
            item = named_item(known, wanted)
        except UsageError as none:
            raise UsageError(
                tr("{what}, and {what2}", what=error.what, what2=none.what), remedy=none.remedy
            ) from error
        said = tr("Item of {file}: {text}", file=item.file, text=one_line(item.text, _SHOWN_CHARS))
        return ForgetItem(item=item, is_confirmed=True), (said,)
    branches = branches_of(state, chosen)
    told = [f"Conversation {name!r} ({chosen})"]
    if branches and with_branches:
        told.append(tr("and its {branches}", branches=count(len(branches), tr("branch"), tr("branches"))))
    elif branches:
        listed = count(len(branches), tr("branch"), tr("branches"))
        told.append(
            tr(
                "The discussion has {branches} with the same messages: add --branches to forget these too",
                branches=listed,
            )
        )
    return ForgetDiscussion(discussion_id=chosen, with_branches=with_branches, is_confirmed=True), told


def _conversation(front: FrontEnd, state: AppState, wanted: str) -> tuple[str, str]:
    """Id and name of a conversation in the list, or in the trash, which is listed a little later."""
    try:
        chosen = find_discussion(state, wanted)
        return chosen, state.discussions.summaries[chosen].meta.name
    except UsageError:
        later = front.wait_for(
            lambda s: any(item.discussion_id == wanted for item in s.discussions.trash), TRASH_S
        )
        if later is None:
            raise
        return wanted, next(i.name for i in later.discussions.trash if i.discussion_id == wanted)


# `secrets`: keys, tokens and passwords in all that we keep, told by place and kind, and taken out after a
# yes.


def run_secrets(options: Options, make_front: Callable[[Options], FrontEnd], console: Console) -> int:
    """Look for secrets; with `--clean`, take them out where the person says yes.

    Args:
        make_front: makes a controller for each conversation that the person has forgotten.

    Returns:
        1 where a secret is there still or something could not be read, else 0.

    Raises:
        UsageError: nobody can be asked. SlopError: nothing could be cleaned.
    """
    given = options.given
    if given.clean and not given.yes:
        check_terminal(console, tr("The command removes secrets only after your yes"))
    home = config_request(start=options.start, home=options.home, overrides=options.overrides).home
    with console.waiting(tr("Looking for secrets")):
        report = search_secrets(home)
    if not given.clean:
        return _secrets_told(report, options, console)
    if report.cleanable:
        for line in report_lines(report):
            console.note(line)
        asked = tr("Remove {cleanable}?", cleanable=count(report.cleanable, tr("secret"), tr("secrets")))
        if confirm_final(console, asked, "clean", is_yes=given.yes):
            with console.waiting(tr("Cleaning")), alone(home):
                report = clean_secrets(home, datetime.now(UTC))
        else:
            console.note(tr("The program removed nothing."))
    code = _secrets_told(report, options, console)
    if options.is_json or not report.discussion_ids or not can_ask(console):
        return code
    for discussion_id in report.discussion_ids:
        named = argparse.Namespace(what=discussion_id, branches=False, yes=False)
        asked_for = replace(options, command="forget", given=named)
        run_forget(asked_for, make_front(asked_for), console)
    return _code(search_secrets(home))


def _secrets_told(report: SecretReport, options: Options, console: Console) -> int:
    for problem in report.problems:
        console.note(tr("manual-slop: warning: {warning}", warning=problem))
    if options.is_json:
        console.json(report_data_of_secret_finds(report))
    else:
        console.write("".join(f"{line}\n" for line in report_lines(report)))
    return _code(report)


def _code(report: SecretReport) -> int:
    return int(bool(report.finds or report.problems))
