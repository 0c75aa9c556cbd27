"""One hit of a search: title, place, words around what was found, scores; into the preset, into an editor, more passages."""

from __future__ import annotations

from core.base.text import one_line
from core.context.messages import ChangePreset
from core.discussion.messages import SelectDiscussion
from core.retrieval.report import hit_file
from core.values.curation import FileItem, FileMode, Preset
from core.values.retrieval import Corpus, Retriever, SearchHit
from panels.base import selection
from panels.base.desk import Desk
from panels.base.file_button import file_button
from panels.base.ui import Ui
from panels.context.preset_edits import add_items, project_path, with_lines
from panels.retrieval import facts
from panels.retrieval.view import RetrievalView


def hit_card(desk: Desk, at: int, hit: SearchHit, terms: tuple[str, ...]) -> None:
    """Draw it. Sends ChangePreset, CreatePreset, SelectDiscussion.

    Args:
        at: its place among the hits; terms: words that are marked.
    """
    ui, state = desk.ui, desk.state
    name, icon = facts.CORPUS_WORDS[hit.corpus]
    with ui.surface(("hit", at), "card", padding=(12, 8)), ui.group("lines", gap=4):
        with ui.row("head", gap=6):
            ui.icon("icon", icon, tone="muted", tip=name)
            title = one_line(facts.source_title(state, hit.corpus, hit.path, hit.title), 120)
            ui.text("title", title, style="strong", width=0, tip=title, terms=terms)
            ui.badge(
                "score",
                f"{hit.score:.2f}",
                tone="accent",
                tip="Of words and meaning together; 1.00 is the most",
            )
        place = facts.hit_place(state, hit)
        ui.text("place", place, tone="muted", style="small", wraps=True)
        ui.text(
            "snippet", facts.snippet(facts.plain(hit, terms), terms), style="small", wraps=True, terms=terms
        )
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
            facts.score_words(hit),
            tone="muted",
            style="small",
            wraps=True,
            width=0,
            tip=facts.found_by_words(hit),
        )
        if hit.also:
            is_open = key_of(hit) in own.unfolded
            tip = "Hide its other passages" if is_open else "Show its other passages"
            icon = "chevron-up" if is_open else "chevron-down"
            if ui.button("more", f"{len(hit.also)} more", icon=icon, kind="ghost", is_small=True, tip=tip):
                own.unfolded.symmetric_difference_update({key_of(hit)})
        if hit.corpus is Corpus.DISCUSSIONS:
            is_there = hit.path in desk.state.discussions.summaries
            if ui.button("show", "", icon="comments", kind="ghost", is_small=True, is_enabled=is_there,
                         tip="Show the discussion"):  # fmt: skip
                desk.view.page = "chat"
                desk.send(SelectDiscussion(hit.path))
            return
        path = hit_file(hit, desk.state.program.home)
        if hit.corpus is not Corpus.KNOWLEDGE:
            _add_button(desk, hit, path)
        if path:
            file_button(ui, path)


def _add_button(desk: Desk, hit: SearchHit, path: str) -> None:
    preset, root = selection.active_preset(desk.state), desk.state.config.project.root
    inside = project_path(path, root)
    known = next((item for item in preset.items if item.path == inside), None) if preset is not None else None
    is_in = known is not None and with_hit(known, hit) == known
    where = f"“{preset.name}”" if preset is not None else "a new preset"
    lines = (
        "the file" if hit.found_by == (Retriever.NAVIGATION,) else facts.lines_words(hit.corpus, hit.lines)
    )
    tip = "It is in the preset already" if is_in else f"Add to preset: {lines} to {where}"
    if desk.ui.button("add", "", icon="file-circle-plus", kind="ghost", is_small=True, tip=tip,
                      is_enabled=bool(path) and not is_in and desk.summary is not None):  # fmt: skip
        add_hit(desk, preset, known, hit, inside)


def add_hit(desk: Desk, preset: Preset | None, known: FileItem | None, hit: SearchHit, path: str) -> None:
    """Put a hit's passage into the preset. Sends ChangePreset, or CreatePreset where none is in use."""
    if preset is not None and known is not None:
        items = tuple(with_hit(item, hit) if item is known else item for item in preset.items)
        desk.send(ChangePreset(preset.name, items))
    else:
        add_items(desk, preset, (with_hit(FileItem(path, FileMode.SLICES), hit),))


def with_hit(item: FileItem, hit: SearchHit) -> FileItem:
    """The item with a hit's lines in what is sent of it; whole where only the file's title was found."""
    if hit.found_by == (Retriever.NAVIGATION,):
        return (
            FileItem(item.path)
            if not item.slices and not item.symbols and item.mode is FileMode.SLICES
            else item
        )
    return with_lines(item, hit.lines)


def _more_passages(ui: Ui, hit: SearchHit) -> None:
    for at, one in enumerate(hit.also):
        with ui.row(("also", at)):
            where = " · ".join(
                filter(None, (facts.lines_words(hit.corpus, one.lines), one_line(one.heading, 60)))
            )
            ui.text("where", where, tone="muted", style="small", width=0, tip=where)
            ui.text("score", f"{one.score:.2f}", tone="muted", style="small")
