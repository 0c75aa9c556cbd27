"""The search in the Retrieval panel: the box, what narrows it, and the hits with where, why and how well they fit."""

from __future__ import annotations

from contextlib import AbstractContextManager

from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.values.curation import FileItem, FileMode, Preset
from core.kernel.values.retrieval import Corpus, Retriever, SearchAnswer, SearchFilters, SearchHit
from core.kernel.values.updates import is_under_way
from core.retrieval.retrieval_messages import SearchMemory
from core.retrieval.retrieval_report import hit_file, newer_text
from core.retrieval.retrieval_step import DAY_REMEDY, day_of
from core.talk.context.context_messages import ChangePreset
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.base import view
from panels.base.desk import Desk
from panels.base.gauge import file_button
from panels.base.ui import Option, Ui
from panels.context.preset_item import add_items, project_path, with_lines
from panels.retrieval import index
from panels.retrieval.retrieval_room import RetrievalView

# One hit of a search: title, place, words around what was found, scores; into the preset, into an editor,
# more passages.


def hit_card(desk: Desk, at: int, hit: SearchHit, terms: tuple[str, ...]) -> None:
    """Draw it. Sends ChangePreset, CreatePreset, SelectDiscussion.

    Args:
        at: its place among the hits; terms: words that are marked.
    """
    ui, state = desk.ui, desk.state
    name, icon = index.CORPUS_WORDS[hit.corpus]
    with ui.surface(("hit", at), "card", padding=(12, 8)), ui.group("lines", gap=4):
        with ui.row("head", gap=6):
            ui.icon("icon", icon, tone="muted", tip=name)
            title = one_line(index.source_title(state, hit.corpus, hit.path, hit.title), 120)
            ui.text("title", title, style="strong", width=0, tip=title, terms=terms)
            ui.badge(
                "score",
                f"{hit.score:.2f}",
                tone="accent",
                tip=tr("Score of words and meaning together; 1.00 is the highest"),
            )
        place = index.hit_place(state, hit)
        ui.text("place", place, tone="muted", style="small", wraps=True)
        ui.text(
            "snippet", index.snippet(index.plain(hit, terms), terms), style="small", wraps=True, terms=terms
        )
        _newer(ui, "newer", hit.newer)
        _foot(desk, hit)
        if key_of(hit) in desk.view.of(RetrievalView).unfolded:
            _more_passages(ui, hit)


def key_of(hit: SearchHit) -> tuple[str, str, str]:
    """Key of a hit's source; of knowledge each line may be one."""
    return hit.corpus.value, hit.scope, f"{hit.path}:{hit.lines.first}"


def _foot(desk: Desk, hit: SearchHit) -> None:
    ui, own = desk.ui, desk.view.of(RetrievalView)
    with ui.row("foot", gap=4):
        ui.text(
            "scores",
            index.score_words(hit),
            tone="muted",
            style="small",
            wraps=True,
            width=0,
            tip=index.found_by_words(hit),
        )
        if hit.also:
            is_open = key_of(hit) in own.unfolded
            tip = tr("Hide other passages") if is_open else tr("Show other passages")
            icon = "chevron-up" if is_open else "chevron-down"
            if ui.button(
                "more", tr("{also} more", also=len(hit.also)), icon=icon, kind="ghost", is_small=True, tip=tip
            ):
                own.unfolded.symmetric_difference_update({key_of(hit)})
        if hit.corpus is Corpus.DISCUSSIONS:
            is_there = hit.path in desk.state.discussions.summaries
            if ui.button("show", "", icon="comments", kind="ghost", is_small=True, is_enabled=is_there,
                         tip=tr("Show the discussion")):  # fmt: skip
                desk.view.page = "chat"
                desk.send(SelectDiscussion(hit.path))
            return
        path = hit_file(hit, desk.state.program.home)
        if hit.corpus is not Corpus.KNOWLEDGE:
            _add_button(desk, hit, path)
        if path:
            file_button(ui, path)


def _add_button(desk: Desk, hit: SearchHit, path: str) -> None:
    preset, root = view.active_preset(desk.state), desk.state.config.project.root
    inside = project_path(path, root)
    known = next((item for item in preset.items if item.path == inside), None) if preset is not None else None
    is_in = known is not None and with_hit(known, hit) == known
    where = f"“{preset.name}”" if preset is not None else tr("a new preset")
    lines = (
        tr("the file")
        if hit.found_by == (Retriever.NAVIGATION,)
        else index.lines_words(hit.corpus, hit.lines)
    )
    tip = tr("Already in the preset") if is_in else tr("Add {lines} to {where}", lines=lines, where=where)
    if desk.ui.button("add", "", icon="file-circle-plus", kind="ghost", is_small=True, tip=tip,
                      is_enabled=bool(path) and not is_in and desk.summary is not None):  # fmt: skip
        add_hit(desk, preset, known, hit, inside)


def add_hit(desk: Desk, preset: Preset | None, known: FileItem | None, hit: SearchHit, path: str) -> None:
    """Put a hit's passage into the preset. Sends ChangePreset, or CreatePreset where none is in use."""
    if preset is not None and known is not None:
        items = tuple(with_hit(item, hit) if item is known else item for item in preset.items)
        desk.send(ChangePreset(name=preset.name, items=items))
    else:
        add_items(desk, preset, (with_hit(FileItem(path=path, mode=FileMode.SLICES), hit),))


def with_hit(item: FileItem, hit: SearchHit) -> FileItem:
    """The item with a hit's lines in what is sent of it; whole where only the file's title was found."""
    if hit.found_by == (Retriever.NAVIGATION,):
        return (
            FileItem(path=item.path)
            if not item.slices and not item.symbols and item.mode is FileMode.SLICES
            else item
        )
    return with_lines(item, hit.lines)


def _newer(ui: Ui, key: str | tuple[str, int], place: str) -> None:
    """Say of a passage that a newer one took its place; nothing where none did."""
    if place:
        said = newer_text(place)
        ui.text(key, said, tone="warn", style="small", wraps=True, tip=said)


def _more_passages(ui: Ui, hit: SearchHit) -> None:
    for at, one in enumerate(hit.also):
        with ui.row(("also", at)):
            where = " · ".join(
                filter(None, (index.lines_words(hit.corpus, one.lines), one_line(one.heading, 60)))
            )
            ui.text("where", where, tone="muted", style="small", width=0, tip=where)
            ui.text("score", f"{one.score:.2f}", tone="muted", style="small")
        if one.text:
            words = one_line(one.text, _ALSO_CHARS)
            ui.text(("words", at), words, style="small", wraps=True, tip=one.text[:_TIP_CHARS])
        _newer(ui, ("newer", at), one.newer)


_ALSO_CHARS, _TIP_CHARS = 240, 1_200
"""Characters of a further passage that are shown, and on hover."""

COUNT = 20
WIDE_PX, HALF_PX = 300.0, 140.0
"""Width from which two fields stand side by side, and that of the first."""


def search_section(desk: Desk) -> None:
    """Draw it. Sends SearchMemory."""
    ui, own = desk.ui, desk.view.of(RetrievalView)
    _box(desk, own)
    with ui.surface("below", "clear", height=0, padding=(0, 0), scrolls=True), ui.group("parts", gap=8):
        if own.are_filters_open:
            _filters(desk, own)
        if is_under_way(desk.state, own.command_id):
            ui.text("busy", tr("Searching…"), tone="muted", style="small")
        answer = desk.state.retrieval.answer
        if answer is not None and answer.query:
            _answer(desk, own, answer)
        else:
            _empty(desk)


def _answer(desk: Desk, own: RetrievalView, answer: SearchAnswer) -> None:
    desk.ui.text("found", index.found_words(answer), tone="muted", style="small", wraps=True)
    _degraded(desk, answer)
    terms = index.marked_terms(answer.query)
    for at, hit in enumerate(answer.hits):
        hit_card(desk, at, hit, terms)
    if not answer.hits:
        _nothing(desk, own)


def _box(desk: Desk, own: RetrievalView) -> None:
    ui = desk.ui
    with ui.row("box"):
        typed = ui.text_input(
            "query",
            own.query,
            hint=tr("Ask or search"),
            icon="magnifying-glass",
            width=0,
            submits=True,
            tip=tr("Search in your own words"),
        )
        had_keyboard, own.has_keyboard = own.has_keyboard, ui.is_focused("query")
        is_entered = (typed is not None or had_keyboard) and ui.shortcut("Enter", while_typing=True)
        if is_entered:
            ui.focus("query")  # who searches goes on to refine: the keyboard would go home to the composer
        is_narrowed = filters(own) != SearchFilters()
        tip = tr("Hide the filters") if own.are_filters_open else tr("Show the filters")
        if ui.button("narrow", "", icon="filter", kind="primary" if is_narrowed else "ghost", tip=tip):
            own.are_filters_open = not own.are_filters_open
    if typed is not None:
        own.query = typed
    if typed is not None or is_entered:
        ask(desk, own)


def ask(desk: Desk, own: RetrievalView) -> None:
    """Search for the text in the box, unless the box is empty. Sends SearchMemory."""
    if own.query.strip() and not own.flaw[0]:
        own.command_id = desk.ask(SearchMemory(query=own.query, count=COUNT, filters=filters(own)))


def filters(own: RetrievalView) -> SearchFilters:
    """Filters as they are asked for."""
    corpora = (Corpus(own.corpus),) if own.corpus else ()
    return SearchFilters(
        corpora=corpora, folder=own.folder.strip(), tag=own.tag.strip(), after=own.after, before=own.before
    )


def _filters(desk: Desk, own: RetrievalView) -> None:
    ui = desk.ui
    before = filters(own)
    with ui.surface("filters", "inset", padding=(12, 8)), ui.group("lines", gap=6):
        half = HALF_PX if ui.width() >= WIDE_PX else 0.0
        with _pair(ui, "where"):
            _choose_corpus(desk, own, half)
            folder = _field(ui, "folder", own.folder, tr("Inside a folder"))
        tag = _field(ui, "tag", own.tag, tr("With a tag"))
        with _pair(ui, "when"):
            after = _field(
                ui, "after", own.after, tr("From this day"), tr("From {day}", day="2026-01-31"), half
            )
            until = _field(ui, "before", own.before, tr("Until this day"), tr("To {day}", day="2026-12-31"))
        own.folder = own.folder if folder is None else folder.strip()
        own.tag = own.tag if tag is None else tag.strip().lstrip("#")
        _take_day(own, "after", after)
        _take_day(own, "before", until)
        if own.flaw[0]:
            ui.text("flaw", own.flaw[1], tone="error", style="small", wraps=True)
        if filters(own) != SearchFilters() and ui.button("all", tr("Clear"), kind="link", is_small=True):
            own.corpus = own.folder = own.tag = own.after = own.before = ""
            own.flaw = ("", "")
    if filters(own) != before:
        ask(desk, own)


def _pair(ui: Ui, key: str) -> AbstractContextManager[None]:
    """Two fields side by side, one below the other where they would be cut."""
    return ui.row(key) if ui.width() >= WIDE_PX else ui.group(key, gap=6)


def _choose_corpus(desk: Desk, own: RetrievalView, width: float) -> None:
    asked = desk.state.retrieval.asked
    listed = asked.corpora if asked is not None else ()
    options = (
        Option(value="", label=tr("Everywhere")),
        *(Option(value=one.value, label=index.CORPUS_WORDS[one][0]) for one in listed),
    )
    value = own.corpus if own.corpus in {one.value for one in options} else ""
    chosen = desk.ui.combo("corpus", options, value, tip=tr("Choose where to search"), width=width)
    own.corpus = value if chosen is None else chosen


def _field(ui: Ui, key: str, value: str, tip: str, hint: str = "", width: float = 0.0) -> str | None:
    return ui.text_input(key, value, hint=hint or tip, width=width, submits=True, tip=tip)


def _take_day(own: RetrievalView, name: str, typed: str | None) -> None:
    """Take a day that was typed, or say why not."""
    if typed is None:
        return
    text = typed.strip()
    try:
        day = day_of(text)
    except ValueError as error:
        own.flaw = (name, f"{error}. {DAY_REMEDY}")
        return
    if own.flaw[0] == name:
        own.flaw = ("", "")
    if name == "after":
        own.after = day
    else:
        own.before = day


def _degraded(desk: Desk, answer: SearchAnswer) -> None:
    mark, why = index.degraded_words(answer)
    if not mark:
        return
    ui = desk.ui
    with ui.surface("degraded", "card", padding=(12, 8)), ui.group("lines", gap=4):
        with ui.row("head"):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("mark", mark, tone="warn", style="small_strong", width=0, wraps=True)
            ui.badge(
                "badge",
                tr("degraded"),
                tone="warn",
                tip=tr("Part of the search did not answer; you lose no data"),
            )
        ui.text("why", why, tone="muted", style="small", wraps=True)


def _empty(desk: Desk) -> None:
    ui, retrieval = desk.ui, desk.state.retrieval
    report = retrieval.report
    held = sum(one.chunks for one in report.counts) if report is not None else 0
    if held:
        text = tr("Ask as you would ask a person, in your own words. A name or a number works too.")
    elif retrieval.progress is not None:
        text = tr("The program is building the index. You can already search the finished part.")
    else:
        text = tr("The index is empty. In Index, add a folder of notes, or tick more sources.")
    ui.text("empty", text, tone="muted", wraps=True)
    if not held and retrieval.progress is None and ui.button("index", tr("Choose sources"), is_small=True):
        desk.view.of(RetrievalView).tab = "index"


def _nothing(desk: Desk, own: RetrievalView) -> None:
    is_narrowed = filters(own) != SearchFilters()
    text = (
        tr("Search with fewer filters, or in other words.")
        if is_narrowed
        else tr("Try other words, or tick more sources in Index.")
    )
    desk.ui.text("nothing", text, tone="muted", style="small", wraps=True)
