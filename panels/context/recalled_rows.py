"""Passages that go along with the message: each with its source and why, and the way to keep it out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from core.base.text import one_line
from core.context.messages import KeepOut
from core.retrieval.ambient import item_mark, parted_source, passage_texts
from core.settings.messages import ChangeSetting
from core.values.recall import Recalled, RecalledPassage
from core.values.retrieval import Corpus
from core.values.state import AppState
from panels.base.desk import Desk

_SHOWN_CHARS, _TIP_CHARS = 200, 1_200
"""Of a passage's words that are shown, and that are shown on hover."""


def recalled_rows(desk: Desk, recalled: Recalled) -> None:
    """Draw what is recalled for the message, nothing where nothing is. Sends KeepOut and ChangeSetting."""
    ui, chosen = desk.ui, desk.state.discussions.selected_id
    opened = desk.state.discussions.open.get(chosen)
    once = opened.kept_out if opened is not None else ()
    if not recalled.passages and not recalled.problem and not once:
        return
    with ui.surface("recalled", "inset", padding=(12, 8)), ui.group("lines", gap=4):
        title = "Nothing is recalled for this message"
        if recalled.passages:
            title = f"Recalled for this message · ≈ {recalled.tokens_est:,} tokens"
        ui.text(
            "title", title, style="small_strong", tip="It is sent behind your words, once, and is not cached"
        )
        for passage, words in zip(recalled.passages, passage_texts(recalled), strict=True):
            _passage(desk, chosen, passage, words)
        if recalled.problem:
            ui.text("problem", recalled.problem, tone="warn", style="small", wraps=True)
        for source in once:
            with ui.row(("kept out", source)):
                ui.text(
                    "source",
                    f"Kept out of the next message: {source_words(desk.state, source)}",
                    tone="muted",
                    style="small",
                    width=0,
                    wraps=True,
                )
                if ui.button("back", "Let in", kind="ghost", is_small=True):
                    desk.send(KeepOut(chosen, source, is_out=False))


def _passage(desk: Desk, chosen: str, passage: RecalledPassage, words: str) -> None:
    ui = desk.ui
    with ui.group(("passage", passage.place), gap=2):
        with ui.row("head"):
            ui.text(
                "place",
                passage_words(desk.state, passage),
                style="small",
                width=0,
                wraps=True,
                tip=passage.title,
            )
            if ui.button("once", "Keep out", kind="ghost", is_small=True, tip="Not with the next message"):
                desk.send(KeepOut(chosen, passage.source))
            if ui.button(
                "never",
                "Never",
                kind="ghost",
                is_small=True,
                tip="Never by itself again; the Retrieval panel lets it in, under Recall",
            ):
                known = desk.state.config.settings.retrieval.kept_out
                desk.send(ChangeSetting("retrieval.kept_out", (*known, passage.source)))
        if words:
            ui.text("words", one_line(words, _SHOWN_CHARS), style="small", wraps=True, tip=words[:_TIP_CHARS])
        ui.text("why", f"Because {passage.why}.", tone="muted", style="small", wraps=True)


def passage_words(state: AppState, passage: RecalledPassage) -> str:
    """Place of a passage, its day, and how much of it is sent. A discussion has its name."""
    place = passage.place
    if passage.corpus is Corpus.DISCUSSIONS:
        named, _, message = passage.place.partition(", ")
        place = ", ".join(filter(None, (_name_of(state, named), message)))
    return " · ".join(filter(None, (one_line(place, 60), passage.date, "" if passage.is_whole else "a line")))


def source_words(state: AppState, source: str) -> str:
    """Name of a source as a person knows it: a file, an item by its words, or a discussion by its name."""
    corpus, path, mark = parted_source(source)
    if corpus == Corpus.DISCUSSIONS.value:
        return one_line(_name_of(state, path), 60)
    if not mark:
        return one_line(path, 60)
    said = next((text for text in _item_texts(state, path) if _mark_of(text) == mark), "")
    return one_line(f"{path}: {one_line(said, 80) if said else 'an item that reads otherwise now'}", 120)


_mark_of = lru_cache(4_096)(item_mark)


def _item_texts(state: AppState, path: str) -> Iterator[str]:
    """Words of the items that may stand in a file of knowledge."""
    known = state.knowledge
    for items in (*(file.items for file in known.categories), *(note.items for note in known.notes)):
        yield from (item.text for item in items if item.file == path)
    if path.endswith(".yaml"):
        yield from (fact.text for fact in known.facts.facts)


def _name_of(state: AppState, discussion_id: str) -> str:
    row = state.discussions.summaries.get(discussion_id)
    return f"“{one_line(row.meta.name, 48)}”" if row is not None else "a discussion that is gone"
