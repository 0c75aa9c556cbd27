"""`harvest`: what of old conversations is worth keeping, the dry run by default, `--apply`, and `undo`."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from core.app.controller import wall_clock
from core.app.home import open_home
from core.app.services import split_state
from core.front.cli.arguments import Options, UsageError
from core.front.cli.output import Console
from core.front.cli.questions import SharedMoney, check_terminal, confirm, confirm_final
from core.front.cli.session import check_name
from core.front.cli.version import INTERRUPTED
from core.kernel import figures, paths
from core.kernel.errors import SlopError
from core.kernel.figures import count, money
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.opener import read_file
from core.kernel.values.harvest import ArtifactClass, BatchReport, HarvestReport, HarvestUse
from core.kernel.values.knowledge import NewItem
from core.kernel.values.provider import ProviderKind
from core.kernel.values.settings import AfterHarvest, KnowledgeSettings, Settings
from core.knowledge.categories import item_body
from core.knowledge.harvest.batch_prompts import answered_ones, not_asked
from core.knowledge.harvest.batch_run import BatchServices, batches_now, look_after_batches, withdraw_batches
from core.knowledge.harvest.batch_step import waiting
from core.knowledge.harvest.distillation import HarvestCancelledError, ProviderGenerate
from core.knowledge.harvest.harvest_messages import HARVEST_PROMPT, HarvestRun
from core.knowledge.harvest.harvest_report import (
    batch_data,
    batch_lines,
    batch_row,
    batch_text,
    report_data,
    report_text,
)
from core.knowledge.harvest.harvest_run import (
    ApplyRequest,
    ItemsOf,
    RunPurse,
    apply,
    distiller,
    items_by_asking,
    items_of_preview,
    look,
    preview,
    scan_request,
)
from core.knowledge.harvest.harvest_scan import Progress, ScanRequest, no_progress
from core.knowledge.harvest.modes import (
    LATELY,
    RECALL_ONLY,
    RECALL_REMEDY,
    is_recall_only,
    is_small_model,
    piece_bytes_for,
    reader_of,
)
from core.knowledge.harvest.preview import chosen as chosen_items
from core.knowledge.harvest.preview import joined, ticked
from core.knowledge.harvest.sources import Distiller
from core.knowledge.parts import RemovalError
from core.knowledge.recovery import undo_apply
from core.services.providers.batches import batches_of
from core.services.providers.clients import Clients, clients_for
from core.services.providers.profiles import find_profile, offered_models
from core.services.providers.protocol import CancelToken
from core.services.settings.prompts import read_prompts
from core.services.settings.settings_loader import LoadedSettings, config_request, load
from core.services.spending.harvest_costs import Payments
from core.services.spending.price_files import priced_models
from core.services.spending.pricing import cost

NOT_AGREED = 1


class RunSet(msgspec.Struct, frozen=True):
    """Settings of a run: where, when, which model reads, and the day's limit where that counts. `unread`: of `Settings`."""

    loaded: LoadedSettings
    home: Path
    run: HarvestRun
    now: datetime
    limit_usd: float | None
    unread: str = ""
    chosen_after: str = ""

    @property
    def after(self) -> AfterHarvest:
        """Fate of conversations that were read."""
        return self.run.settings.fate_of_harvested(self.chosen_after)

    @property
    def request(self) -> ScanRequest:
        """Request for a look at the disk."""
        return scan_request(self.home, self.run, self.now)


def run_harvest(options: Options, console: Console) -> int:
    """Report, harvest or undo.

    Returns:
        1 when a conversation failed, the run ended early or the person said no, 130 when the person stopped it, else 0.

    Raises:
        UsageError: no such provider, or a yes is needed and nobody can be asked. SlopError: another harvest runs, or the ledger or the home cannot be used.
    """
    if options.given.action == "undo":
        return _undo(options, console)
    chosen = run_settings(options)
    if options.given.action == "cancel":
        return _cancel(chosen, options, console)
    if options.given.apply and not options.given.no_harvest and is_recall_only(chosen.run.settings):
        raise SlopError(RECALL_ONLY, remedy=RECALL_REMEDY)
    harvests = not options.given.no_harvest
    with progress_bar(console, tr("Reading the list of conversations")) as on_progress:
        report = look(
            chosen.request,
            chosen.run.provider,
            chosen.run.model,
            harvests=harvests,
            piece_bytes=piece_bytes_for(chosen.run.profile),
            on_progress=on_progress,
        )
    used: dict[str, Any] = {}
    code = 0
    batches = BatchReport()
    if options.given.batch:
        _check_batch(chosen, harvests=harvests)
        batches = batches_now(chosen.home)
    if options.given.apply and options.given.batch:
        report, batches, used, code = _apply_batches(chosen, report, console)
    elif options.given.apply:
        is_yes = options.given.yes
        if _needs_yes(chosen, report, harvests=harvests) and not is_yes:
            check_terminal(console, tr("The built-in model is small, so you must confirm its items"))
        report, used, code = _apply(chosen, report, console, harvests=harvests, is_yes=is_yes)
    batched = {"batch": batch_data(report.estimate, batches)} if options.given.batch else {}
    if options.is_json:
        console.json({**report_data(report), **batched, "used": used})
    else:
        console.write(report_text(report))
        if options.given.batch:
            console.write(batch_text(report.estimate, batches))
        _explain(report, console)
    return code or int(report.is_failed or bool(batches.problems or batches.stopped))


def _check_batch(chosen: RunSet, *, harvests: bool) -> None:
    if not harvests:
        raise UsageError(tr("--batch and --no-harvest exclude each other"))
    if chosen.run.provider == ProviderKind.EMBEDDED:
        raise UsageError(
            tr("The built-in model offers no batches"),
            remedy=tr("Leave --batch out, or name a provider with --provider"),
        )


def _explain(report: HarvestReport, console: Console) -> None:
    """Explain why nothing is to be harvested: copied files look as if they had just been touched."""
    kinds = Counter(one.kind for one in report.artifacts)
    if not kinds[ArtifactClass.HARVEST] and (lately := sum(one.why == LATELY for one in report.artifacts)):
        console.note(
            tr(
                "manual-slop: nothing to harvest: {lately} changed recently; `--live-days 0` harvests these too",
                lately=lately,
            )
        )


def run_settings(options: Options) -> RunSet:
    """Settings of a run, with what the command line says. Raises UsageError, SlopError."""
    given = options.given
    asked = config_request(start=options.start, home=options.home, overrides=options.overrides)
    loaded = load(asked)
    settings, project = loaded.settings, loaded.project
    check_name("provider", given.provider, tuple(settings.servers))
    models = priced_models(settings.servers)
    provider, model = reader_of(
        settings, lambda name: offered_models(models, name), given.provider, given.model
    )
    template = read_prompts(asked.home, project.prompts)[HARVEST_PROMPT]
    profile = find_profile(models, provider, model)
    limit = None if given.over_limit else settings.caching.day_limit_usd
    known, open_ids = _knowledge(options, settings), open_in_window(asked.home)
    run = HarvestRun(
        settings=known,
        open_ids=open_ids,
        provider=provider,
        model=model,
        profile=profile,
        template=template,
        project_root=project.root,
        allowed_roots=project.allowed_roots,
    )
    is_free = given.over_limit or provider == ProviderKind.EMBEDDED
    return RunSet(
        loaded=loaded,
        home=asked.home,
        run=run,
        now=wall_clock(),
        limit_usd=limit,
        unread="" if is_free else settings.unread,
        chosen_after=options.given.after,
    )


def _knowledge(options: Options, settings: Settings) -> KnowledgeSettings:
    """The person's settings, with what the command line says instead."""
    given, known = options.given, settings.knowledge
    for name in given.source:
        if not Path(name).expanduser().exists():
            raise UsageError(tr("--source: there is no {name!r}", name=name))
    return replace(
        known,
        harvest_sources=tuple(given.source) or known.harvest_sources,
        live_days=known.live_days if given.live_days is None else given.live_days,
        max_source_bytes=known.max_source_bytes if given.max_bytes is None else given.max_bytes,
    )


def open_in_window(home: Path) -> frozenset[str]:
    """The discussion that a running window has open."""
    if not (home / paths.OWNER_FILE).exists():
        return frozenset()
    try:
        text = read_file(paths.state_file(home)).decode("utf-8", "replace")
    except OSError:
        return frozenset()
    return frozenset({split_state(text)[1]} - {""})


def _apply(
    chosen: RunSet, seen: HarvestReport, console: Console, *, harvests: bool, is_yes: bool
) -> tuple[HarvestReport, dict[str, Any], int]:
    """Carry it out.

    Returns:
        The report, what it used, and 130 where the person stopped it, 1 where they said no.
    """
    open_home(chosen.home, chosen.now)
    cancel = CancelToken()
    servers = chosen.loaded.settings.servers
    clients = clients_for(chosen.home, chosen.run.provider, servers, priced_models(servers))
    chosen = with_model(chosen, clients) if harvests else chosen
    paid = Payments(chosen.home, lambda by, model, usage: cost(by, model, usage, wall_clock()), wall_clock)
    shared = SharedMoney(chosen, paid, console)
    purse = RunPurse(paid, shared.let_go, on_paid=shared.paid)
    generate = Interruptible(ProviderGenerate(clients.get, cancel, purse), cancel)
    asker = distiller(chosen.home, chosen.run, generate, chosen.run.profile)
    try:
        seen = _without_waiting(chosen, seen, console) if harvests else seen
        items_of = _items_of(asker, chosen, seen, console, is_yes=is_yes) if harvests else None
        with progress_bar(console, tr("Harvesting")) as on_progress:
            asked = ApplyRequest(
                scan=chosen.request,
                artifacts=seen.artifacts,
                items_of=items_of,
                seed=secrets.token_hex(8),
                after=chosen.after,
            )
            done = apply(asked, on_progress)
    except _NotAgreedError:
        return seen, used_data(chosen, paid.use), NOT_AGREED
    except HarvestCancelledError:
        return seen, used_data(chosen, paid.use), INTERRUPTED
    finally:
        clients.close()
        shared.reserves.close()
    report = replace(done, estimate=seen.estimate)
    return report, used_data(chosen, paid.use), INTERRUPTED if cancel.is_cancelled else 0


def _without_waiting(chosen: RunSet, seen: HarvestReport, console: Console) -> HarvestReport:
    """The report without conversations that are in an open batch: reading them now would be paid twice."""
    held = waiting(batches_now(chosen.home).batches)
    left = tuple(one for one in seen.artifacts if one.facts.sha256 not in held)
    if waits := len(seen.artifacts) - len(left):
        which = count(waits, tr("conversation is in a batch"), tr("conversations are in a batch"))
        console.note(
            tr(
                "manual-slop: {which}; collect the batch with --batch --apply, or run `harvest cancel`",
                which=which,
            )
        )
    return replace(seen, artifacts=left)


def _cancel(chosen: RunSet, options: Options, console: Console) -> int:
    """Stop open batches. Returns 1 where one is still open, else 0."""
    wanted = options.given.id
    found = [one.tag for one in batches_now(chosen.home).batches if wanted in {"", one.tag, one.name}]
    if wanted and not found:
        raise UsageError(
            tr("there is no open batch {wanted!r}", wanted=wanted),
            remedy=tr("`harvest --batch` lists the open batches"),
        )
    with closing(_BatchDesk(chosen, console)) as desk, console.waiting(tr("Stopping batches")):
        report = withdraw_batches(chosen.home, wall_clock, desk.services, found) if found else BatchReport()
    if options.is_json:
        console.json({"batch": {"batches": [batch_row(one) for one in report.batches]}})
    elif not found:
        console.line(tr("No batch is open."))
    else:
        console.write("".join(f"{line}\n" for line in batch_lines(report)))
    return int(any(one.is_open for one in report.batches))


class _BatchDesk:
    """Services of a run of batches, and what they hold open."""

    def __init__(self, chosen: RunSet, console: Console) -> None:
        servers = chosen.loaded.settings.servers
        self.clients = clients_for(chosen.home, chosen.run.provider, servers, priced_models(servers))
        self.paid = Payments(
            chosen.home, lambda by, model, usage: cost(by, model, usage, wall_clock()), wall_clock
        )
        self._shared = SharedMoney(chosen, self.paid, console)
        self.services = BatchServices(
            service=lambda name: batches_of(self.clients.get(name), self.clients.label(name)),
            payments=self.paid,
            seed=lambda: secrets.token_hex(8),
            let_go=self._shared.let_batch_go,
            on_open=self._shared.reserves.set_batches,
            on_paid=self._shared.paid,
        )

    def close(self) -> None:
        """Let go of clients and reserves."""
        self.clients.close()
        self._shared.reserves.close()


def _apply_batches(
    chosen: RunSet, seen: HarvestReport, console: Console
) -> tuple[HarvestReport, BatchReport, dict[str, Any], int]:
    """Collect, submit what is missing, and apply what is answered.

    Returns:
        The report, what stands of the batches, what was used, and 130 where the person stopped it.
    """
    open_home(chosen.home, chosen.now)
    with closing(_BatchDesk(chosen, console)) as desk:
        chosen = with_model(chosen, desk.clients)
        asker = distiller(chosen.home, chosen.run, not_asked, chosen.run.profile)
        try:
            with progress_bar(console, tr("Batches")) as on_progress:
                batches = look_after_batches(
                    chosen.home, wall_clock, desk.services, asker, chosen.request, seen.artifacts, on_progress
                )
            ready = answered_ones(asker, chosen.home, seen.artifacts)
            items_of = _items_of(asker, chosen, seen, console, is_yes=False)
            with progress_bar(console, tr("Harvesting")) as on_progress:
                done = apply(
                    ApplyRequest(
                        scan=chosen.request,
                        artifacts=ready,
                        items_of=items_of,
                        seed=secrets.token_hex(8),
                        after=chosen.after,
                    ),
                    on_progress,
                )
        except KeyboardInterrupt:
            return seen, batches_now(chosen.home), used_data(chosen, desk.paid.use), INTERRUPTED
        report = replace(done, artifacts=seen.artifacts, estimate=seen.estimate)
        return report, batches, used_data(chosen, desk.paid.use), 0


def with_model(chosen: RunSet, clients: Clients) -> RunSet:
    """The run with the first model of a server that nobody named one of."""
    if chosen.run.model:
        return chosen
    listed = clients.get(chosen.run.provider).list_models()
    if not listed:
        raise UsageError(
            tr("{provider} lists no models", provider=chosen.run.provider),
            remedy=tr("Name a model with --model"),
        )
    run = replace(chosen.run, model=listed[0].id, profile=listed[0])
    return replace(chosen, run=run)


class _NotAgreedError(Exception):
    """The person said no to what was about to be written."""


def _needs_yes(chosen: RunSet, seen: HarvestReport, *, harvests: bool) -> bool:
    """True if a model's words would be written that are not to be taken unseen."""
    is_any = any(one.kind is ArtifactClass.HARVEST for one in seen.artifacts)
    return harvests and is_any and is_small_model(chosen.run.provider)


def _items_of(
    asker: Distiller, chosen: RunSet, seen: HarvestReport, console: Console, *, is_yes: bool
) -> ItemsOf:
    """Items to write, each shown before it is; those of the built-in model all together, and only after a yes.

    Raises:
        _NotAgreedError: the person said no. What the model said is kept, and reading it again costs nothing.
    """

    def show(name: str, items: Sequence[NewItem]) -> None:
        by = f"{chosen.run.provider} {chosen.run.model}".strip()
        console.note(
            tr(
                "manual-slop: {by} proposes {items} from {name}",
                by=by,
                name=name,
                items=figures.count(len(items), tr("item"), tr("items")),
            )
        )
        for one in items:
            console.note(f"  {one.category.value}: {item_body(one)}")

    if not _needs_yes(chosen, seen, harvests=True) or is_yes:
        return items_by_asking(asker, chosen.now, show)
    with progress_bar(console, tr("Reading")) as on_progress:
        found = joined(preview(chosen.request, seen.artifacts, asker, on_progress))
    new = [one for one in found.items if not one.is_known and not one.deleted_on]
    if gone := sum(bool(one.deleted_on) for one in found.items):
        console.note(
            tr(
                "manual-slop: left out: {gone} that you deleted before",
                gone=figures.count(gone, tr("item"), tr("items")),
            )
        )
    for source in found.sources:
        show(
            source.name,
            chosen_items(ticked(found, [one.id for one in new], is_ticked=True), source, chosen.now),
        )
    these = figures.count(len(new), tr("item"), tr("items"))
    asked = (
        tr("Write this item to your knowledge?")
        if len(new) == 1
        else tr("Write these {items} to your knowledge?", items=these)
    )
    if new and not confirm(console, asked, is_yes=False):
        console.note(tr("manual-slop: nothing was written; the program keeps the model's reply"))
        raise _NotAgreedError
    return items_of_preview(ticked(found, [one.id for one in new], is_ticked=True), chosen.now)


class Interruptible:
    """Takes Ctrl+C during a call as a wish to stop: what is done is finished and reported."""

    def __init__(self, inner: ProviderGenerate, cancel: CancelToken) -> None:
        self.inner, self._cancel = inner, cancel

    def __call__(self, prompt: str, provider: str, model: str) -> str:
        """As `Generate`. Raises HarvestCancelledError: Ctrl+C."""
        try:
            return self.inner(prompt, provider, model)
        except KeyboardInterrupt:
            self._cancel.cancel()
            raise HarvestCancelledError(tr("You stopped the harvest")) from None


def used_data(chosen: RunSet, use: HarvestUse) -> dict[str, Any]:
    """Use of a run's calls, as plain data."""
    price = use.cost_usd if use.calls else 0.0
    return {
        "provider": chosen.run.provider,
        "model": chosen.run.model,
        "calls": use.calls,
        "input_tokens": use.usage.input_tokens,
        "output_tokens": use.usage.output_tokens,
        "cost_usd": price,
        "is_estimate": use.usage.is_estimate,
        "cost": money(price, "terminal", is_estimate=use.usage.is_estimate),
    }


def _undo(options: Options, console: Console) -> int:
    """Take the last apply back; what is much of a category is listed and asked for. Returns 1 where a part of it could
    not be, or the person said no.
    """
    home = options.home or paths.home_dir()
    try:
        report = undo_apply(home, wall_clock(), options.given.id, is_agreed=options.given.yes)
    except RemovalError as error:
        for item in error.items:
            console.note(f"  {item.file}: {one_line(item.text, 200)}")
        if not confirm_final(
            console, tr("{what}. Remove these items?", what=error.what), "undo", is_yes=False
        ):
            console.note(tr("manual-slop: nothing was undone"))
            return NOT_AGREED
        report = undo_apply(home, wall_clock(), options.given.id, is_agreed=True)
    if options.is_json:
        console.json(
            {
                "apply_id": report.apply_id,
                "removed": report.removed,
                "left": list(report.left),
                "restored": list(report.restored),
                "problems": list(report.problems),
            }
        )
        return int(bool(report.problems))
    console.line(tr("undone: {apply_id}", apply_id=report.apply_id))
    console.line(tr("items removed: {removed}", removed=report.removed))
    for discussion_id in report.restored:
        console.line(tr("back: {discussion_id}", discussion_id=discussion_id))
    for line in report.left:
        console.line(tr("kept, because the line changed since: {line}", line=line))
    for problem in report.problems:
        console.line(tr("not undone: {problem}", problem=problem))
    return int(bool(report.problems))


@contextmanager
def progress_bar(console: Console, text: str) -> Iterator[Progress]:
    """A bar on standard error, on a terminal only."""
    if not console.has_progress:
        yield no_progress
        return
    from rich.console import Console as RichConsole
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    screen = RichConsole(file=console.err, highlight=False)
    bar = Progress(*columns, console=screen, transient=True, refresh_per_second=4)
    with console.drawing(bar):
        task = bar.add_task(text, total=None)
        yield lambda done, total, _doing: bar.update(task, completed=done, total=total or None)
