"""Usage panel: cost, saved money, hit rate and speed over time, limits, and what memory added."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import date, timedelta

import msgspec
from msgspec.structs import replace

from core.kernel import figures as fmt
from core.kernel.frame import one_line
from core.kernel.language import as_sentences, capital, tr
from core.kernel.values.facts import DiscussionMemory, ItemWords, MemoryUse
from core.kernel.values.knowledge import Item, KnowledgeState
from core.kernel.values.state import AppState
from core.kernel.values.usage import UsageBy, UsageQuery, UsageReport, UsageRow, UsageSum
from core.knowledge.knowledge_messages import ArchiveItem, CountMemoryUse
from core.knowledge.memory_use import UNUSED_AFTER
from core.services.spending.spending_messages import CountUsage
from core.services.spending.spending_step import budget_warning
from core.services.spending.usage_table import cost_text, report_csv, report_notes, saved_text, speed_text
from core.talk.discussion.discussion_messages import ExportUsage
from panels.base.desk import Desk
from panels.base.gauge import Figure, figure_cards
from panels.base.ui import Column, Option, Series, Tone, Ui
from panels.base.view import Dialog, Same, model_label, provider_label
from panels.caching.spending import spending_section
from panels.usage.usage_room import UsageView

SHOWN = 8
CHARS = 120


def memory_section(desk: Desk) -> None:
    """Draw the part; nothing before a reply came with memory on. O(discussions)."""
    use = desk.state.evidence.use
    if use is None or not use.discussions:
        return
    ui = desk.ui
    rows = desk.view.memo.get("memory use", (use,), lambda: _most(use))
    with ui.group("memory", gap=6):
        ui.text("title", tr("Knowledge"), style="strong")
        ui.text("total", total_line(use), tone="muted", style="small", wraps=True)
        for one in rows:
            summary = desk.state.discussions.summaries.get(one.discussion)
            with ui.row(("memory of", one.discussion)):
                name = (
                    one_line(summary.meta.name, CHARS)
                    if summary is not None
                    else tr("a discussion that no longer exists")
                )
                ui.text("name", name, style="small", width=0, tip=name)
                ui.text("words", row_line(one), tone="muted", style="small")
        if use.proposed:
            _proposed(desk, use.proposed)


def total_line(use: MemoryUse) -> str:
    """Sum over all discussions in a sentence."""
    tokens = sum(one.tokens_est for one in use.discussions)
    requests = sum(one.requests for one in use.discussions)
    quoted = sum(one.quoted for one in use.discussions)
    times = tr("once") if quoted == 1 else tr("{quoted:,} times", quoted=quoted)
    added = tr(
        "Knowledge added {tokens} tokens to {requests}.",
        tokens=fmt.tokens_est(tokens),
        requests=fmt.count(requests, tr("request"), tr("requests")),
    )
    used = tr("Replies used items of your knowledge {times}.", times=times if quoted else tr("never"))
    return as_sentences(added, used)


def row_line(one: DiscussionMemory) -> str:
    """Memory of one discussion: `≈1.2k tok · 3 requests · 2 used`."""
    return tr(
        "{tokens_est} tok · {requests} · {items} used",
        tokens_est=fmt.tokens_est(one.tokens_est),
        requests=fmt.count(one.requests, tr("request"), tr("requests")),
        items=fmt.count(one.quoted, tr("item"), tr("items")),
    )


def _most(use: MemoryUse) -> tuple[DiscussionMemory, ...]:
    return tuple(sorted(use.discussions, key=lambda one: (-one.tokens_est, one.discussion))[:SHOWN])


def _proposed(desk: Desk, proposed: tuple[ItemWords, ...]) -> None:
    """Items and facts that no reply used; an item has a button for the archive. Sends ArchiveItem."""
    ui = desk.ui
    text = tr(
        "No reply used these items in {UNUSED_AFTER} requests. You can archive them; no request contains archived items.",
        UNUSED_AFTER=UNUSED_AFTER,
    )
    ui.text("unused", text, style="small", wraps=True)
    known = desk.state.knowledge
    standing = desk.view.memo.get("items by words", (known.categories, known.notes), lambda: _by_words(known))
    for number, one in enumerate(proposed[:SHOWN]):
        with ui.row(("unused", number)):
            ui.text("text", one_line(one.text, CHARS), tone="muted", style="small", width=0, tip=one.text)
            item = standing.get((one.category, one.text))
            if item is not None and ui.button(
                "archive",
                tr("Archive"),
                icon="box-archive",
                kind="ghost",
                is_small=True,
                is_enabled=not desk.state.program.is_home_read_only,
            ):
                desk.ask(ArchiveItem(item))
    if len(proposed) > SHOWN:
        ui.text(
            "more",
            tr("and {proposed:,} more of these items", proposed=len(proposed) - SHOWN),
            tone="faint",
            style="small",
        )
    if ui.button("open", tr("Open Knowledge"), icon="book", kind="ghost", is_small=True):
        desk.view.show_hub("knowledge")


def _by_words(known: KnowledgeState) -> dict[tuple[str, str], Item]:
    return {(item.category.value, item.text): item for item in known.items}


# The Usage panel: cost, saved money, hit rate and speed over time, told apart as the person likes, and the
# limits.

SPAN_OPTIONS = (
    Option(value="7", label=tr("Last 7 days")),
    Option(value="30", label=tr("Last 30 days")),
    Option(value="month", label=tr("This month")),
    Option(value="365", label=tr("Last 12 months")),
    Option(value="all", label=tr("All")),
)
BY_OPTIONS = (
    Option(value="model", label=tr("by model")),
    Option(value="provider", label=tr("by provider")),
    Option(value="discussion", label=tr("by discussion")),
    Option(value="kind", label=tr("by kind of work")),
    Option(value="day", label=tr("by day")),
    Option(value="week", label=tr("by week")),
    Option(value="month", label=tr("by month")),
)
KIND_WORDS = {
    "chat": tr("Discussions"),
    "tools": tr("Turns with tools"),
    "harvest": tr("Harvest"),
    "delegation": tr("Delegated tasks"),
    "upkeep": tr("Keeping caches warm"),
    "summary": tr("Summaries"),
}
PERIODS = {
    UsageBy.DAY: (tr("Cost by day"), tr("days back")),
    UsageBy.WEEK: (tr("Cost by week"), tr("weeks back")),
    UsageBy.MONTH: (tr("Cost by month"), tr("months back")),
}
"""Title of the picture by the length of its periods, and the name of its axis."""
PLOT_PX, ROW_PX, TABLE_PX = 150.0, 32.0, 304.0
WIDE_PX, COMBO_PX = 480.0, 150.0
FIGURE_PX = 330.0
LEAST_COST_PX, CHAR_PX, CELLS_PX = 60.0, 8.0, 24.0
"""Narrowest column of costs; widest figure of its text, and the room around a text."""
NARROW_COLUMNS = (
    Column(label="", weight=2.0),
    Column(label=tr("Cost"), width=148, is_number=True),
    Column(label=tr("Cached"), width=64, is_number=True),
)
TIGHT_COLUMNS = (Column(label="", weight=1.0), Column(label=tr("Cost"), width=148, is_number=True))
"""In the narrowest hub: what it is for and what it cost are never cut."""
WIDE_COLUMNS = (
    *NARROW_COLUMNS,
    Column(label=tr("Saved"), width=76, is_number=True),
    Column(label=tr("Requests"), width=60, is_number=True),
    Column(label=tr("Tokens/s"), width=72, is_number=True),
)


def usage_panel(desk: Desk) -> None:
    """Draw the panel. O(visible). Sends CountUsage, CountMemoryUse, ChangeSetting."""
    ui, own = desk.ui, desk.view.of(UsageView)
    query = query_of(desk.state, own)
    _ask(desk, own, query)
    report = desk.state.spending.usage
    with ui.surface("usage", "clear", height=0, padding=(0, 0), scrolls=True), ui.group("parts", gap=16):
        with ui.row("choices"):
            own.span = (
                ui.combo("span", SPAN_OPTIONS, own.span, width=COMBO_PX, tip=tr("Time range")) or own.span
            )
            own.by = ui.combo("by", BY_OPTIONS, own.by, width=COMBO_PX, tip=tr("Group the rows by")) or own.by
        if warning := budget_warning(desk.state):
            with ui.row("budget"):
                ui.icon("icon", "triangle-exclamation", tone="warn")
                ui.text("text", warning, tone="warn", wraps=True)
        if report is None or report.query != query:
            ui.text("adding", tr("Adding up…"), tone="muted", style="small")
        elif not report.total.calls:
            ui.text("none", tr("No request was made in this time."), tone="muted", style="small")
        else:
            _report(desk, report)
        memory_section(desk)
        spending_section(desk)


def query_of(state: AppState, own: UsageView) -> UsageQuery:
    """The question that the panel's choices ask."""
    today = None if state.now is None else state.now.astimezone().date()
    since = ""
    if today is not None and own.span == "month":
        since = today.replace(day=1).isoformat()
    elif today is not None and own.span != "all":
        since = (today - timedelta(days=int(own.span) - 1)).isoformat()
    per = {"7": UsageBy.DAY, "30": UsageBy.DAY, "month": UsageBy.DAY, "365": UsageBy.WEEK}.get(
        own.span, UsageBy.MONTH
    )
    return UsageQuery(by=UsageBy(own.by), per=per, since=since)


def _ask(desk: Desk, own: UsageView, query: UsageQuery) -> None:
    """Have it added up anew when something was paid since, something else is asked, or the answer to another came in between."""
    if desk.state.program.is_loading:
        return
    report = desk.state.spending.usage
    asked = (query, Same(desk.state.discussions.summaries), Same(desk.state.spending.own))
    is_lost = report is not None and report.query != query and own.other != Same(report)
    if own.asked != asked or is_lost:
        own.asked, own.other = asked, Same(report)
        desk.send(CountMemoryUse())
        desk.send(CountUsage(query))


def _report(desk: Desk, report: UsageReport) -> None:
    ui = desk.ui
    _figures(ui, report.total)
    for number, note in enumerate(report_notes(report)):
        ui.text(("note", number), note, tone="muted", style="small", wraps=True)
    if len(report.series) > 1:
        with ui.group("over time", gap=6):
            title, axis = PERIODS[report.query.per]
            ui.text("title", title, style="strong")
            ui.plot("plot", _series(desk, report), height=PLOT_PX, x_label=axis)
    with ui.group("told apart", gap=6):
        with ui.row("title"):
            ui.text(
                "title",
                capital(next(o.label for o in BY_OPTIONS if o.value == report.query.by)),
                style="strong",
            )
            ui.push()
            if ui.button("copy", tr("Copy as CSV"), icon="copy", kind="ghost", is_small=True,
                         tip=tr("Copy a table for a spreadsheet. `manual-slop usage --csv` prints the same table.")):  # fmt: skip
                ui.copy(report_csv(report))
            if ui.button(
                "save",
                tr("Save as CSV…"),
                icon="file-export",
                kind="ghost",
                is_small=True,
                tip=tr("Save the table to a file"),
            ):
                desk.view.dialog = Dialog(kind="usage_csv")
        is_wide = ui.width() >= WIDE_PX
        height = min(TABLE_PX, ROW_PX * len(report.rows))
        columns: tuple[Column, ...] = (
            WIDE_COLUMNS if is_wide else TIGHT_COLUMNS if ui.width() < FIGURE_PX else NARROW_COLUMNS
        )
        parts = Same(report), len(columns)
        columns = desk.view.memo.get("usage columns", parts, lambda: fitted(columns, report))
        rows = UsageRows(report=report, columns=len(columns), state=desk.state)
        ui.table("table", columns, rows, height=height)


def fitted(columns: tuple[Column, ...], report: UsageReport) -> tuple[Column, ...]:
    """The columns with a cost as wide as the longest one needs: the rest is the names', which it cut."""
    name, cost, *others = columns
    longest = max(len(cost_text(row.sum)) for row in report.rows) if report.rows else 0
    width = min(cost.width, max(LEAST_COST_PX, CHAR_PX * longest + CELLS_PX))
    return name, replace(cost, width=width), *others


def save_dialog(desk: Desk) -> None:
    """Draw the choice of a file for the table. Sends ExportUsage."""
    now = desk.state.now
    name = f"usage-{now:%Y-%m-%d}.csv" if now else "usage.csv"
    picked = desk.ui.file_dialog(
        "usage csv", tr("Save usage as CSV"), picks="save", start=desk.state.config.project.root, name=name
    )
    if picked is None:
        return
    desk.view.dialog = None
    if picked:
        # The chooser has asked before it picked a file that is there.
        desk.send(ExportUsage(path=picked[0], replaces=True))


def _figures(ui: Ui, total: UsageSum) -> None:
    """Cost, savings of caching and share that was read from it; then the speed."""
    cost = fmt.money(total.known_cost_usd, is_estimate=bool(total.estimates))
    figure_cards(
        ui,
        (
            Figure(value=cost, label=tr("Cost"), tone="text"),
            _saved(total),
            Figure(value=_hits(total) or tr("none"), label=tr("Read from caches"), tone="text"),
        ),
    )
    used = tr(
        "{calls}, {input_tokens} input tokens, {output_tokens} output tokens",
        calls=fmt.count(total.calls, tr("request"), tr("requests")),
        input_tokens=fmt.tokens(total.input_tokens),
        output_tokens=fmt.tokens(total.output_tokens),
    )
    line = as_sentences(used, capital(speed_text(total)))
    ui.text("used", line, tone="muted", style="small", wraps=True)


def _saved(total: UsageSum) -> Figure:
    """Label and figure of what caching saved; a loss has a label of its own."""
    if total.saved_usd < 0 and not total.unsaved:
        label = tr("More than without caching")
        return Figure(value=fmt.money(-total.saved_usd), label=label, tone="warn")
    tone: Tone = "ok" if total.saved_usd > 0 else "muted"
    return Figure(value=saved_text(total), label=tr("Saved by caching"), tone=tone)


def _series(desk: Desk, report: UsageReport) -> tuple[Series, ...]:
    now = desk.state.now
    today = now.astimezone().date() if now is not None else date.fromisoformat(report.series[-1].key)
    parts = (Same(report), today)
    return desk.view.memo.get(
        "usage series", parts, lambda: _cost_series(report.series, report.query.per, today)
    )


def _cost_series(rows: tuple[UsageRow, ...], per: UsageBy, today: date) -> tuple[Series, ...]:
    """A bar each period with calls, by how many periods it is back: 0 is this day, week or month, -1 the one before."""
    xs = tuple(-_periods_back(date.fromisoformat(row.key), per, today) for row in rows)
    costs = tuple(row.sum.known_cost_usd for row in rows)
    return (Series(label=tr("cost"), xs=xs, ys=costs, kind="bars", unit="$"),)


def _periods_back(first_day: date, per: UsageBy, today: date) -> float:
    if per is UsageBy.MONTH:
        return float(12 * (today.year - first_day.year) + today.month - first_day.month)
    days = (today - first_day).days
    return float(days if per is UsageBy.DAY else days // 7)


def _hits(one: UsageSum) -> str:
    return "" if one.hit_rate is None else fmt.share(one.cache_read_tokens, one.told_input_tokens)


def _row_label(state: AppState, by: UsageBy, row: UsageRow) -> str:
    """Name of a row, as the rest of the window names it."""
    if by is UsageBy.KIND:
        return KIND_WORDS.get(row.label, row.label)
    if by is UsageBy.PROVIDER and row.key:
        return provider_label(state, row.key)
    provider, _, model = row.key.partition("/")
    if by is UsageBy.MODEL and model:
        return model_label(state, provider, model)
    return row.label or tr("No usable date")


class UsageRows(msgspec.Struct, frozen=True):
    """Rows of the table."""

    report: UsageReport
    columns: int
    state: AppState

    @property
    def revision(self) -> Hashable:
        """The report and what names its rows, by identity."""
        config = self.state.config
        return Same(self.report), self.columns, Same(config.models), Same(config.providers)

    def __len__(self) -> int:
        return len(self.report.rows)

    def key(self, index: int) -> Hashable:
        """As stored."""
        return self.report.rows[index].key

    def estimate_px(self, index: int, width: float) -> float:
        """All are of one height."""
        return ROW_PX

    def draw(self, index: int, ui: Ui) -> None:
        """Draw a row."""
        row = self.report.rows[index]
        label, one = _row_label(self.state, self.report.query.by, row), row.sum
        tip = row.key if self.report.query.by is UsageBy.MODEL else label
        ui.text("label", label, style="small", width=0, tip=tip)
        ui.text("cost", cost_text(one), style="small", tip=cost_text(one))
        if self.columns >= len(NARROW_COLUMNS):
            ui.text("hits", _hits(one) or "-", style="small", tone="muted")
        if self.columns >= len(WIDE_COLUMNS):
            ui.text("saved", saved_text(one), style="small", tone="muted")
            ui.text("calls", f"{one.calls:,}", style="small", tone="muted")
            speed = "-" if one.tokens_per_s is None else f"{one.tokens_per_s:.0f}"
            ui.text("speed", speed, style="small", tone="muted")
