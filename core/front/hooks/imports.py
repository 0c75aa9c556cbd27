"""Imports over HTTP: how the last one stands; begin one, dry or not; stop it."""

from __future__ import annotations

from typing import Annotated, get_args

from msgspec import Meta

from core.app.execution import ACT_S, begin, is_over
from core.front.hooks.fields import Body, Count, Counts, Data, PageQuery, PathText, RefusedError, Rows, Time
from core.front.hooks.operation import Answer, Request, Resource, operation
from core.imports.imports_messages import CancelImport, ImportCommand, ImportConversations
from core.kernel.language import tr
from core.kernel.values.imports import MAX_ROWS, ImportReport, ImportRow, ImportState, TranscriptKind
from core.kernel.values.updates import outcome_of

RUN_S = 86_400.0
MAX_PATHS = 1_000


class ImportBody(Body, frozen=True, kw_only=True):
    """Files and folders to import."""

    paths: Annotated[tuple[PathText, ...], Meta(min_length=1, max_length=MAX_PATHS, description="Absolute.")]
    dry_run: Annotated[bool, Meta(description="Say what would be imported, write nothing.")] = True
    without: Annotated[
        tuple[str, ...],
        Meta(
            max_length=MAX_ROWS,
            description="Conversations not to be taken, by `discussion_id` of a dry run's rows.",
        ),
    ] = ()
    wait: Annotated[bool, Meta(description="Answer when the run has ended, not when it has begun.")] = False


class StopImportBody(Body, frozen=True):
    """Body of a request that needs no field."""


class ImportRowData(Data, frozen=True):
    """A conversation. Empty `why`: it adds something, or added it."""

    path: str
    kind: TranscriptKind
    title: str
    at: Time | None
    messages: Count
    new: Count
    branches: Count
    discussion_id: str
    why: str
    skipped: Counts


class ImportFaultData(Data, frozen=True):
    """Something that could not be read or written."""

    place: str
    why: str
    remedy: str


class ImportReportData(Data, frozen=True):
    """Everything that an import found, and did where it was no dry run."""

    dry_run: bool
    conversations: Count
    new_conversations: Count
    files: Count
    other_files: Count
    discussions_made: Count
    discussions_grown: Count
    messages: Count
    skipped: Counts
    stopped: str
    faults: list[ImportFaultData]
    rows: Rows[ImportRowData]


class ImportData(Data, frozen=True):
    """The import under way, and the last report. Null report: none has ended."""

    is_running: bool
    dry_run: bool
    paths: list[str]
    count: Count
    doing: str
    problem: str
    remedy: str
    report: ImportReportData | None

    @classmethod
    def of(cls, imports: ImportState, query: PageQuery) -> ImportData:
        """The import as it is answered with."""
        return cls(
            is_running=imports.is_running,
            dry_run=imports.is_dry,
            paths=list(imports.paths),
            count=imports.count,
            doing=imports.doing,
            problem=imports.problem,
            remedy=imports.remedy,
            report=None if imports.report is None else _report(imports.report, query),
        )


async def get_imports(request: Request[PageQuery]) -> Answer:
    """The import under way, or the last one: what it found, did, left out and could not read."""
    return Answer(data=ImportData.of(request.state.imports, request.fields))


async def import_conversations(request: Request[ImportBody]) -> Answer:
    """Make discussions of conversations from other programs; a dry run says what that would do."""
    fields = request.fields
    if not fields.dry_run:
        request.check_writable()
    if request.state.imports.is_running:
        raise RefusedError(
            409, "busy", tr("Another import is running"), tr("Wait until that is done, or cancel it")
        )
    asked = ImportConversations(paths=fields.paths, is_dry=fields.dry_run, without=frozenset(fields.without))
    command_id = begin(request.desk.front, asked)
    state = await request.desk.watch.until(
        lambda now: now.imports.command_id == command_id or is_over(now, command_id), ACT_S
    )
    if state is not None and fields.wait:
        state = await request.desk.watch.until(lambda now: is_over(now, command_id), RUN_S)
    if state is None:
        raise RefusedError(503, "slow", tr("The import takes too long"), tr("Cancel the run"))
    outcome = outcome_of(state, command_id)
    if outcome is not None and not outcome.is_done:
        raise RefusedError(409, "not_now", outcome.problem, outcome.remedy)
    return Answer(data=ImportData.of(state.imports, PageQuery()), status=200 if fields.wait else 202)


async def cancel_import(request: Request[StopImportBody]) -> Answer:
    """Stop the import under way; the discussion that is being written is finished."""
    if not request.state.imports.is_running:
        raise RefusedError(409, "nothing_runs", tr("No import is running"))
    request.desk.front.send(CancelImport())
    return Answer(data=ImportData.of(request.state.imports, PageQuery()), status=202)


def _report(report: ImportReport, query: PageQuery) -> ImportReportData:
    return ImportReportData(
        dry_run=report.is_dry,
        conversations=report.count,
        new_conversations=report.new_count,
        files=report.files,
        other_files=report.other_files,
        discussions_made=report.made,
        discussions_grown=report.grown,
        messages=report.new_messages,
        skipped=dict(report.skipped),
        stopped=report.stopped,
        faults=[ImportFaultData(place=one.place, why=one.why, remedy=one.remedy) for one in report.faults],
        rows=Rows(len(report.rows), [_row(one) for one in query.of(report.rows)]),
    )


def _row(row: ImportRow) -> ImportRowData:
    return ImportRowData(
        path=row.path,
        kind=row.kind,
        title=row.title,
        at=None if row.at is None else row.at.isoformat(),
        messages=row.messages,
        new=row.new,
        branches=row.branches,
        discussion_id=row.discussion_id,
        why=row.why,
        skipped=dict(row.skipped),
    )


_ALL = "/api/imports"

RESOURCE = Resource(
    operations=(
        operation("GET", _ALL, get_imports, {200: ImportData}),
        operation(
            "POST",
            _ALL,
            import_conversations,
            {200: ImportData, 202: ImportData},
            {409: "another import is running, or the data folder is read-only"},
            needs_person=True,
        ),
        operation(
            "POST",
            f"{_ALL}/cancel",
            cancel_import,
            {202: ImportData},
            {409: "no import is running"},
            may_be_empty=True,
        ),
    ),
    panels={"imports": get_args(ImportCommand)},
)
