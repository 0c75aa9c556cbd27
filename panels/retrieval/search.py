"""The search in the Retrieval panel: the box, what narrows it, and the hits with where, why and how well they fit."""

from __future__ import annotations

from contextlib import AbstractContextManager

from core.retrieval.messages import SearchMemory
from core.retrieval.step import DAY_REMEDY, day_of
from core.values.retrieval import Corpus, SearchAnswer, SearchFilters
from core.values.updates import is_under_way
from panels.base.desk import Desk
from panels.base.ui import Option, Ui
from panels.retrieval import facts
from panels.retrieval.hits import hit_card
from panels.retrieval.view import RetrievalView

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
            ui.text("busy", "Searching…", tone="muted", style="small")
        answer = desk.state.retrieval.answer
        if answer is not None and answer.query:
            _answer(desk, own, answer)
        else:
            _empty(desk)


def _answer(desk: Desk, own: RetrievalView, answer: SearchAnswer) -> None:
    desk.ui.text("found", facts.found_words(answer), tone="muted", style="small", wraps=True)
    _degraded(desk, answer)
    terms = facts.marked_terms(answer.query)
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
            hint="Ask or search",
            icon="magnifying-glass",
            width=0,
            submits=True,
            tip="Search in your own words",
        )
        had_keyboard, own.has_keyboard = own.has_keyboard, ui.is_focused("query")
        is_entered = (typed is not None or had_keyboard) and ui.shortcut("Enter", while_typing=True)
        if is_entered:
            ui.focus("query")  # who searches goes on to refine: the keyboard would go home to the composer
        is_narrowed = filters(own) != SearchFilters()
        tip = "Hide what narrows the search" if own.are_filters_open else "Narrow the search"
        if ui.button("narrow", "", icon="filter", kind="primary" if is_narrowed else "ghost", tip=tip):
            own.are_filters_open = not own.are_filters_open
    if typed is not None:
        own.query = typed
    if typed is not None or is_entered:
        ask(desk, own)


def ask(desk: Desk, own: RetrievalView) -> None:
    """Search for what stands in the box; nothing where nothing does. Sends SearchMemory."""
    if own.query.strip() and not own.flaw[0]:
        own.command_id = desk.ask(SearchMemory(own.query, COUNT, filters(own)))


def filters(own: RetrievalView) -> SearchFilters:
    """Filters as they are asked for."""
    corpora = (Corpus(own.corpus),) if own.corpus else ()
    return SearchFilters(corpora, own.folder.strip(), own.tag.strip(), own.after, own.before)


def _filters(desk: Desk, own: RetrievalView) -> None:
    ui = desk.ui
    before = filters(own)
    with ui.surface("filters", "inset", padding=(12, 8)), ui.group("lines", gap=6):
        half = HALF_PX if ui.width() >= WIDE_PX else 0.0
        with _pair(ui, "where"):
            _choose_corpus(desk, own, half)
            folder = _field(ui, "folder", own.folder, "Below a folder")
        tag = _field(ui, "tag", own.tag, "With a tag")
        with _pair(ui, "when"):
            after = _field(ui, "after", own.after, "From a day on", "From 2026-01-31", half)
            until = _field(ui, "before", own.before, "Up to a day", "To 2026-12-31")
        own.folder = own.folder if folder is None else folder.strip()
        own.tag = own.tag if tag is None else tag.strip().lstrip("#")
        _take_day(own, "after", after)
        _take_day(own, "before", until)
        if own.flaw[0]:
            ui.text("flaw", own.flaw[1], tone="error", style="small", wraps=True)
        if filters(own) != SearchFilters() and ui.button("all", "Clear", kind="link", is_small=True):
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
    options = (Option("", "Everywhere"), *(Option(one.value, facts.CORPUS_WORDS[one][0]) for one in listed))
    value = own.corpus if own.corpus in {one.value for one in options} else ""
    chosen = desk.ui.combo("corpus", options, value, tip="Where to search", width=width)
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
    mark, why = facts.degraded_words(answer)
    if not mark:
        return
    ui = desk.ui
    with ui.surface("degraded", "card", padding=(12, 8)), ui.group("lines", gap=4):
        with ui.row("head"):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("mark", mark, tone="warn", style="small_strong", width=0, wraps=True)
            ui.badge(
                "badge", "degraded", tone="warn", tip="Less answered than is set up; nothing is lost by it"
            )
        ui.text("why", why, tone="muted", style="small", wraps=True)


def _empty(desk: Desk) -> None:
    ui, retrieval = desk.ui, desk.state.retrieval
    report = retrieval.report
    held = sum(one.chunks for one in report.counts) if report is not None else 0
    if held:
        text = "Ask as you would ask a person: what you remember of it finds it, also in other words. A name or a number finds it, too."
    elif retrieval.progress is not None:
        text = "The index is being made. What is in it already can be found."
    else:
        text = "Nothing is indexed yet. Name a folder of notes, or tick more to be searched, in Index."
    ui.text("empty", text, tone="muted", wraps=True)
    if (
        not held
        and retrieval.progress is None
        and ui.button("index", "Choose what is searched", is_small=True)
    ):
        desk.view.of(RetrievalView).tab = "index"


def _nothing(desk: Desk, own: RetrievalView) -> None:
    is_narrowed = filters(own) != SearchFilters()
    text = (
        "Search with fewer limits, or in other words."
        if is_narrowed
        else "Try other words, or tick more to be searched, in Index."
    )
    desk.ui.text("nothing", text, tone="muted", style="small", wraps=True)
