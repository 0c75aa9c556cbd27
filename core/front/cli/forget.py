"""`forget`: a conversation or an item leaves every place that we keep, after a yes; a receipt says so."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from core.app.execution import act
from core.app.forgetting.forgetting_messages import ForgetDiscussion, ForgetItem, LookAtForget
from core.app.forgetting.forgetting_places import WARNING, preview_text, receipt_data, receipt_text
from core.app.forgetting.forgetting_step import branches_of
from core.app.forgetting.leftovers import Intent, is_waiting, receipts, waiting
from core.app.forgetting.secret_finds import SecretReport, report_data, report_lines
from core.app.forgetting.secret_search import clean_secrets, search_secrets
from core.app.home import alone
from core.front.cli.arguments import Options
from core.front.cli.knowledge import named_item
from core.front.cli.output import Console
from core.front.cli.questions import can_ask, check_terminal, confirm_final
from core.front.cli.session import FrontEnd, UsageError, find_discussion, session
from core.kernel.errors import SlopError
from core.kernel.figures import count
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.values.knowledge import ForgetReceipt, ForgetTarget, ForgettingState
from core.kernel.values.state import AppState
from core.knowledge.knowledge_reader import KnowledgeReader
from core.services.settings.settings_loader import config_request

LONGEST_S = 3600.0
TRASH_S = 3.0

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
        check_terminal(console, tr("Forgetting needs your yes"))
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
        preview = act(front, _look(command), timeout_s=LONGEST_S).forgetting.preview
        if preview is not None and not preview.problem:
            names = _names(front.snapshot())
            asked = (
                *asked,
                preview_text(preview),
                *(f"{HOLDS} {names.get(one, one)}" for one in preview.holders),
            )
        console.note("\n".join((*asked, WARNING)))
        if not confirm_final(console, tr("Forget all of this?"), "forget", is_yes=given.yes):
            console.note(tr("Nothing was forgotten."))
            return 1
        with console.waiting(tr("Forgetting")):
            ended = act(front, command, timeout_s=LONGEST_S)
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
            LONGEST_S,
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
        which = count(len(branches), tr("branch begins"), tr("branches begin"))
        told.append(tr("{which} with the same messages; only --branches forgets them too", which=which))
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
        check_terminal(console, tr("Removing secrets needs your yes"))
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
        console.note(tr("manual-slop: warning: {problem}", problem=problem))
    if options.is_json:
        console.json(report_data(report))
    else:
        console.write("".join(f"{line}\n" for line in report_lines(report)))
    return _code(report)


def _code(report: SecretReport) -> int:
    return int(bool(report.finds or report.problems))
