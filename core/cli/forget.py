"""`forget`: a conversation or an item leaves every place that we keep, after a yes; a receipt says so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.app.execution import act
from core.base.figures import count
from core.base.text import one_line
from core.cli.arguments import Options
from core.cli.confirmation import check_terminal, confirm
from core.cli.memory_log import named_item
from core.cli.output import Console
from core.cli.session import FrontEnd, UsageError, find_discussion, session
from core.forgetting.messages import ForgetDiscussion, ForgetItem
from core.forgetting.report import WARNING, receipt_data, receipt_text
from core.forgetting.step import branches_of
from core.knowledge.reader import KnowledgeReader
from core.values.state import AppState

LONGEST_S = 3600.0
TRASH_S = 3.0

_SHOWN_CHARS = 200


def run_forget(options: Options, front: FrontEnd, console: Console) -> int:
    """Forget what is named, once the person has said yes.

    Returns:
        1 where something may be left or was not begun, else 0.

    Raises:
        UsageError: nothing answers to the name. SlopError: it could not be forgotten.
    """
    given = options.given
    if not given.yes:
        check_terminal("Forgetting needs your yes")
    with session(front, console, writes=True) as state:
        command, asked = _command(options, front, state)
        console.note("\n".join((*asked, WARNING)))
        if not confirm(console, "Forget it?", is_yes=given.yes):
            console.note("Nothing was forgotten.")
            return 1
        with console.waiting("Forgetting"):
            ended = act(front, command, timeout_s=LONGEST_S)
    receipt = ended.forgetting.receipt
    assert receipt is not None
    names = {key: row.meta.name for key, row in ended.discussions.summaries.items()}
    if options.is_json:
        console.json(receipt_data(receipt))
    else:
        console.write(receipt_text(receipt, names))
    return int(bool(receipt.problems))


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
            raise UsageError(f"{error.what}, and {none.what}", remedy=none.remedy) from error
        said = f"Item of {item.file}: {one_line(item.text, _SHOWN_CHARS)}"
        return ForgetItem(item, is_confirmed=True), (said,)
    branches = branches_of(state, chosen)
    told = [f"Conversation {name!r} ({chosen}), with all that was harvested from it and nowhere else"]
    if branches and with_branches:
        told.append(f"and {count(len(branches), 'branch', 'branches')} of it")
    elif branches:
        which = count(len(branches), "branch begins", "branches begin")
        told.append(f"{which} with its records and keeps them; --branches forgets them too")
    return ForgetDiscussion(chosen, with_branches=with_branches, is_confirmed=True), told


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
