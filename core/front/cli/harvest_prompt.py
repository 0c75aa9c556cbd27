"""`knowledge prompt`: what a harvest tells its model, and a copy of one's own in the person's editor."""

from __future__ import annotations

import os
import secrets
import shlex
from pathlib import Path

from core.app.controller import wall_clock
from core.app.home import open_home
from core.front.cli.arguments import Options
from core.front.cli.facts import named_item
from core.front.cli.harvest import (
    INTERRUPTED,
    NOT_AGREED,
    Interruptible,
    RunSet,
    run_settings,
    used_data,
    with_model,
)
from core.front.cli.output import Console
from core.front.cli.questions import check_terminal, confirm
from core.front.cli.shared_money import SharedMoney
from core.kernel import figures
from core.kernel.child_process import find_program, run_at_terminal
from core.kernel.errors import SlopError
from core.kernel.frame import one_line
from core.kernel.values.harvest import HarvestUse
from core.kernel.values.knowledge import Category, DraftKind, KnowledgeState, MergeProposal
from core.knowledge.harvest.distillation import HarvestCancelledError, ProviderGenerate
from core.knowledge.harvest.harvest_messages import HARVEST_PROMPT, MERGE_PROMPT
from core.knowledge.harvest.harvest_setup import RunPurse
from core.knowledge.harvest.merge_reply import drop_merge_replies, merge_schema, propose_merge
from core.knowledge.harvest.modes import RECALL_ONLY, RECALL_REMEDY, is_recall_only
from core.knowledge.merges import merge_data, merge_lines
from core.knowledge.rewrites import MergeRequest, apply_merge, make_draft
from core.services.providers.clients import clients_for
from core.services.providers.protocol import CancelToken
from core.services.settings.prompts import (
    make_own_prompt,
    own_prompt,
    own_prompt_path,
    prompt_file,
    read_prompts,
)
from core.services.settings.settings_loader import ConfigRequest, load
from core.services.spending.harvest_costs import Payments
from core.services.spending.price_files import priced_models
from core.services.spending.pricing import cost

EDITORS = ("VISUAL", "EDITOR")
"""Variables that name the person's editor, the first that is set counts."""


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
        f"{place}: {whose}"
        + ("" if whose == "yours" else "; `manual-slop knowledge prompt --edit` makes yours")
    )
    return 0


def _edit(path: Path, home: Path, console: Console) -> int:
    command = next((words for name in EDITORS if (words := os.environ.get(name, "").strip())), "")
    program, *arguments = _words(command) or [""]
    found = find_program(program) if program else None
    if found is None:
        if command:
            console.note(
                f"manual-slop: warning: the editor {command!r} is not there. Edit the file yourself."
            )
        _tell_own(path, console)
        return 0
    code = run_at_terminal(found, (*arguments, str(path)), path.parent)
    if code:
        console.note(f"manual-slop: the editor ended with code {code}: {found}")
    if own_prompt(home, HARVEST_PROMPT) is None:
        console.note(
            f"manual-slop: warning: what stands there now cannot be read as a prompt, the next one counts: {path}"
        )
        return 1
    console.note(f"{own_prompt_path(home, HARVEST_PROMPT)}: yours; the next harvest reads it")
    if console.is_json and not code:
        _tell_own(path, console)
    return int(code != 0)


def _tell_own(path: Path, console: Console) -> None:
    if console.is_json:
        console.json({"path": str(path), "whose": "yours"})
    else:
        console.line(str(path))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command, posix=os.name == "posix")
    except ValueError:  # a quote that nothing closes
        return [command]


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
