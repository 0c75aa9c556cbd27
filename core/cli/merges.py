"""`knowledge merge` and `knowledge graduate`: a shorter file proposed, shown and written; a playbook made a draft."""

from __future__ import annotations

import secrets
from pathlib import Path

from core.app.controller import wall_clock
from core.app.home import open_home
from core.base import figures
from core.base.errors import SlopError
from core.base.text import one_line
from core.cli.arguments import Options
from core.cli.confirmation import check_terminal, confirm
from core.cli.harvest import (
    INTERRUPTED,
    NOT_AGREED,
    Interruptible,
    RunSet,
    run_settings,
    used_data,
    with_model,
)
from core.cli.memory_log import named_item
from core.cli.output import Console
from core.cli.shared_money import SharedMoney
from core.harvest.generation import HarvestCancelledError, ProviderGenerate
from core.harvest.merge_reply import merge_schema
from core.harvest.merge_run import drop_merge_replies, propose_merge
from core.harvest.messages import MERGE_PROMPT
from core.harvest.modes import RECALL_ONLY, RECALL_REMEDY, is_recall_only
from core.harvest.purse import RunPurse
from core.knowledge.merge_text import merge_data, merge_lines
from core.knowledge.rewrites import MergeRequest, apply_merge, make_draft
from core.providers.clients import clients_for
from core.providers.protocol import CancelToken
from core.settings.prompts import read_prompts
from core.spending.harvest_costs import Payments
from core.spending.price_files import priced_models
from core.spending.pricing import cost
from core.values.harvest import HarvestUse
from core.values.knowledge import Category, KnowledgeState
from core.values.merges import DraftKind, MergeProposal


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
        check_terminal(console, "A merge needs your yes")
    open_home(chosen.home, chosen.now)
    try:
        merge, use = _proposed(chosen, Category(given.category), console)
    except HarvestCancelledError as error:
        console.note(f"manual-slop: {error.what}")
        return INTERRUPTED
    used = used_data(chosen, use)
    asks = given.apply and bool(merge.ticked) and not given.yes
    for line in merge_lines(merge) if asks or not options.is_json else ():
        (console.shown if asks else console.line)(line)
    written = None
    ticked = merge.ticked
    if given.apply and len(ticked) < len(merge.groups):
        left = figures.count(len(merge.groups) - len(ticked), "merge")
        console.note(
            f"manual-slop: {left} would drop figures or names, and {'is' if left.startswith('1 ') else 'are'} left out"
        )
    if given.apply and ticked:
        count = figures.count(len(ticked), "merge")
        if not confirm(console, f"Write {'it' if len(ticked) == 1 else f'these {count}'}?", is_yes=given.yes):
            console.note("manual-slop: nothing was written; what the model said is kept")
            return NOT_AGREED
        written = apply_merge(
            MergeRequest(
                chosen.home,
                merge.category,
                merge.file,
                ticked,
                wall_clock(),
                secrets.token_hex(8),
                True,
            )
        )
        drop_merge_replies(chosen.home, merge.category)
    if options.is_json:
        console.json({**merge_data(merge), "written": written, "used": used})
    elif written is not None:
        console.line(f"merged: {figures.count(written.items, 'item')} into {written.merged:,}")
        console.line(f"as it was: {written.version}")
        console.line(f"undo: manual-slop harvest undo {written.apply_id}")
    elif merge.groups:
        console.line("dry run; pass --apply to write")
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
    console.line(f"draft: {made.path}")
    console.line(f"of: {one_line(item.text, 100)}")
    console.line(f"nothing reads or runs it until you rename it to {made.becomes}")
    return 0
