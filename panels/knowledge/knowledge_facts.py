"""The third tab of the Knowledge panel: structured facts by domain, category and tag, each with its confidence."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.facts import SHOWN_CONFIDENCE, FactCategory, FactsState, IndexedFact
from core.kernel.values.updates import is_under_way, outcome_of
from core.knowledge.facts.fact_merge import band
from core.knowledge.knowledge_messages import DeleteFact, EditFact, SyncFacts
from core.knowledge.merges import query_words
from core.talk.caching.rewrites import withdrawal_text
from panels.base.desk import READ_ONLY, Desk, ListRows
from panels.base.gauge import file_button
from panels.base.ui import Option, Tone, Ui
from panels.base.view import Memo, Same
from panels.knowledge.digest import knowledge_path
from panels.knowledge.history import ask_why_fact
from panels.knowledge.knowledge_room import EDITOR_KEYS, FactDraft, KnowledgeView

CATEGORY_WORDS = {
    FactCategory.FACT: tr("Facts"),
    FactCategory.PITFALL: tr("Pitfalls"),
    FactCategory.PATTERN: tr("Patterns"),
    FactCategory.TOOL_QUIRK: tr("Tool quirks"),
    FactCategory.QUESTION: tr("Questions"),
}
ROW_PX, FORM_PX, LINE_PX, CHAR_PX, GAP_PX = 98.0, 230.0, 19.0, 7.2, 8.0
BAR_PX = 90.0
CHOICES_PX = 360.0
"""Width from which the three choices stand in one row."""
ABOUT = tr(
    "Facts with a confidence, by repository, in YAML files: harvested items and your own. Each request takes its repository's facts and the global ones, most certain first. The digest, made of the items, goes along."
)
HELD = tr("Requests use a broken fact's last valid text until you repair its lines.")
CHANGED = tr("This fact has changed in its file. The file now says:")
LOST = tr("The fact {} is no longer in its file. Your text is kept here.")
SHOWN_PROBLEMS = 5


def facts_section(desk: Desk) -> None:
    """Draw the tab. O(visible) for any number of facts. Sends EditFact, DeleteFact, ExplainFact, SyncFacts."""
    ui, view, known = desk.ui, desk.view.of(KnowledgeView), desk.state.knowledge.facts
    _settle(desk, view)
    ui.text("about", ABOUT, tone="muted", style="small", wraps=True)
    _toolbar(desk)
    _problems(desk, known)
    _lost_forms(desk, view)
    shown = shown_facts(known, view, desk.view.memo)
    if not known.facts:
        ui.text("none", tr("There are no structured facts yet. A harvest writes them, and SCHEMA.md, which tells how you write your own."), tone="muted", wraps=True)  # fmt: skip
        return
    ui.text(
        "found",
        tr(
            "{shown:,} of {facts}",
            shown=len(shown),
            facts=fmt.count(len(known.facts), tr("fact"), tr("facts")),
        ),
        tone="muted",
        style="small",
    )
    if shown:
        ui.virtual_list("fact rows", FactRows(desk, shown))


def shown_facts(known: FactsState, view: KnowledgeView, memo: Memo) -> tuple[IndexedFact, ...]:
    """Facts that the filters leave, sorted by id; the same object while nothing changed that they depend on."""
    wanted = (view.fact_domain, view.fact_category, view.fact_tag, view.fact_query)
    return memo.get("facts shown", (known.facts, *wanted), lambda: tuple(_matching(known.facts, *wanted)))


def _matching(
    facts: Iterable[IndexedFact], domain: str, category: str, tag: str, query: str
) -> Iterable[IndexedFact]:
    words = query_words(query)
    for fact in facts:
        if domain not in {"", fact.domain} or category not in {"", fact.category.value}:
            continue
        if tag and tag not in fact.tags:
            continue
        if not words or all(word in f"{fact.id}\n{fact.text}".casefold() for word in words):
            yield fact


def _toolbar(desk: Desk) -> None:
    ui, view, facts = desk.ui, desk.view.of(KnowledgeView), desk.state.knowledge.facts.facts
    domains, tags = desk.view.memo.get("fact choices", (facts,), lambda: _choices(facts))
    with ui.row("fact filters"):
        typed = ui.text_input(
            "fact filter", view.fact_query, hint=tr("Words or “a phrase”"), icon="magnifying-glass"
        )
        view.fact_query = view.fact_query if typed is None else typed
        if ui.button("sync", "", icon="arrows-rotate", kind="ghost",
                     is_enabled=not desk.state.program.is_home_read_only,
                     tip=tr("Read the YAML files again now")):  # fmt: skip
            desk.send(SyncFacts())
    is_wide = not 0 < ui.width() < CHOICES_PX
    with ui.row("fact choices"):
        domain = ui.combo(
            "domain", _options(tr("All domains"), domains), view.fact_domain, tip=tr("Domain"), width=126
        )
        view.fact_domain = view.fact_domain if domain is None else domain
        category = ui.combo("category", _CATEGORIES, view.fact_category, tip=tr("Category"), width=138)
        view.fact_category = view.fact_category if category is None else category
        if is_wide:
            _tag_choice(ui, view, tags)
    if not is_wide:
        with ui.row("tag choice"):
            _tag_choice(ui, view, tags)


def _tag_choice(ui: Ui, view: KnowledgeView, tags: Iterable[str]) -> None:
    tag = ui.combo("tag", _options(tr("All tags"), tags), view.fact_tag, tip=tr("Tag"), width=98)
    view.fact_tag = view.fact_tag if tag is None else tag


_CATEGORIES = (
    Option(value="", label=tr("All categories")),
    *(Option(value=category.value, label=words) for category, words in CATEGORY_WORDS.items()),
)


def _choices(facts: Iterable[IndexedFact]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Domains and tags that there are."""
    domains: set[str] = set()
    tags: set[str] = set()
    for fact in facts:
        domains.add(fact.domain)
        tags.update(fact.tags)
    return tuple(sorted(domains)), tuple(sorted(tags))


def _options(every: str, names: Iterable[str]) -> tuple[Option, ...]:
    return (Option(value="", label=every), *(Option(value=name, label=name) for name in names))


def _problems(desk: Desk, known: FactsState) -> None:
    ui = desk.ui
    for index, problem in enumerate(known.problems[:SHOWN_PROBLEMS]):
        with ui.row(("fact problem", index)):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("text", problem.told, tone="warn", style="small", wraps=True, width=0)
            file_button(ui, knowledge_path(desk.state, problem.file))
    if any(fact.held for fact in known.facts):
        ui.text("kept", HELD, tone="muted", style="small", wraps=True)
    if (more := len(known.problems) - SHOWN_PROBLEMS) > 0:
        said = tr("and {more:,} more of the faults: `manual-slop knowledge validate` lists all", more=more)
        ui.text("more fact problems", said, tone="warn", style="small")


class FactRows(ListRows[IndexedFact]):
    """The rows of the list, for a virtual list."""

    @property
    def revision(self) -> Hashable:
        """The facts themselves, and which of them are being edited."""
        return Same(self.rows), tuple(self.desk.view.of(KnowledgeView).fact_edits)

    def key(self, index: int) -> Hashable:
        """A fact by its id and words; another while it is edited."""
        fact = self.rows[index]
        return fact.id, fact.text, fact.id in self.desk.view.of(KnowledgeView).fact_edits

    def estimate_px(self, index: int, width: float) -> float:
        """A guess by the length of the words."""
        fact = self.rows[index]
        if fact.id in self.desk.view.of(KnowledgeView).fact_edits:
            return FORM_PX
        return ROW_PX + GAP_PX + LINE_PX * (len(fact.text) * CHAR_PX // max(80.0, width - 40))

    def draw(self, index: int, ui: Ui) -> None:
        """Draw a fact, or the form in which it is edited."""
        fact = self.rows[index]
        draft = self.desk.view.of(KnowledgeView).fact_edits.get(fact.id)
        with ui.surface("card", "card" if draft is None else "card_selected", padding=(12, 8)):
            if draft is None:
                _card(self.desk, ui, fact)
            else:
                _form(self.desk, ui, draft, fact)
        ui.gap(GAP_PX)


def _card(desk: Desk, ui: Ui, fact: IndexedFact) -> None:
    ui.text("text", fact.text, wraps=True)
    with ui.row("foot", gap=8):
        ui.text("name", tr("sure"), tone="faint", style="small", tip=_confidence_tip(fact))
        ui.progress("bar", fact.effective_confidence, tone=_tone(fact), width=BAR_PX)
        ui.text("confidence", f"{fact.effective_confidence:.2f}", style="small", tip=_confidence_tip(fact))
        ui.push()
        if ui.button(
            "why",
            "",
            icon="quote-left",
            kind="ghost",
            is_small=True,
            tip=tr("Why the model knows {id}", id=fact.id),
        ):
            ask_why_fact(desk, fact)
        can = not desk.state.program.is_home_read_only and not fact.held
        why = (
            tr("Edit {id}", id=fact.id)
            if can
            else READ_ONLY
            if not fact.held
            else tr("Repair this fact in its file first")
        )
        if ui.button("edit", "", icon="pen", kind="ghost", is_small=True, is_enabled=can, tip=why):
            view = desk.view.of(KnowledgeView)
            tags = ", ".join(fact.tags)
            view.fact_edits[fact.id] = FactDraft(
                fact_id=fact.id, was=fact.text, text=fact.text, confidence=f"{fact.confidence:g}", tags=tags
            )
        tip = (
            why
            if not can
            else "  ".join(filter(None, (tr("Delete {id}", id=fact.id), withdrawal_text(desk.state))))
        )
        if ui.button("delete", "", icon="trash-can", kind="ghost", is_small=True, is_enabled=can, tip=tip):
            desk.send(DeleteFact(fact_id=fact.id, was=fact.text))
    with ui.row("origin", gap=8):
        if fact.withdrawn:
            tip = tr(
                "The item that this fact came from was deleted or replaced: no request contains the fact"
            )
            ui.badge("withdrawn", tr("item gone"), tone="warn", tip=tip)
        elif fact.stale:
            ui.badge(
                "stale",
                tr("expired"),
                tone="warn",
                tip=tr("Expired on {expires}: no request contains this fact", expires=fact.expires),
            )
        if fact.held:
            ui.badge(
                "held",
                tr("held"),
                tone="error",
                tip=tr("This fact is broken in its file; you see its last valid text"),
            )
        ui.text("origin", _origin(fact), tone="faint", style="small", tip=f"{_origin_tip(fact)}\n{fact.id}")
        if fact.tags:
            said = ", ".join(fact.tags)
            ui.text("tags", said, tone="muted", style="small", width=0, tip=said)


def _tone(fact: IndexedFact) -> Tone:
    return "accent" if fact.effective_confidence >= SHOWN_CONFIDENCE and not fact.stale else "muted"


def _confidence_tip(fact: IndexedFact) -> str:
    said = f"{fact.effective_confidence:.2f}: {band(fact.effective_confidence)}"
    if fact.effective_confidence != fact.confidence:
        said = tr(
            "{now}; {confidence:.2f} in its file, last confirmed {harvests_since_confirmed:,} harvested conversations ago",
            now=said,
            confidence=fact.confidence,
            harvests_since_confirmed=fact.harvests_since_confirmed,
        )
    return (
        said
        if fact.effective_confidence >= SHOWN_CONFIDENCE
        else tr("{confidence}; too low for requests", confidence=said)
    )


def _origin(fact: IndexedFact) -> str:
    """Number of conversations behind a fact; its id stands in the tip, for whoever edits the file."""
    return (
        tr(
            "from {source_count}",
            source_count=fmt.count(fact.source_count, tr("conversation"), tr("conversations")),
        )
        if fact.source_count
        else tr("from a file")
    )


def _origin_tip(fact: IndexedFact) -> str:
    parts = [
        tr(
            "confirmed by {source_count}",
            source_count=fmt.count(fact.source_count, tr("conversation"), tr("conversations")),
        )
    ]
    parts += [tr("first seen {first_seen}", first_seen=fact.first_seen)] if fact.first_seen else []
    parts += (
        [tr("last confirmed {last_confirmed}", last_confirmed=fact.last_confirmed)]
        if fact.last_confirmed
        else []
    )
    parts += [tr("expires {expires}", expires=fact.expires)] if fact.expires else []
    return ", ".join(parts)


def _lost_forms(desk: Desk, view: KnowledgeView) -> None:
    """Draw the words that were typed for facts which are gone from their files meanwhile."""
    if not view.fact_edits:
        return
    ui, facts = desk.ui, desk.state.knowledge.facts.facts
    there = desk.view.memo.get("fact ids", (facts,), lambda: frozenset(fact.id for fact in facts))
    for draft in [one for one in view.fact_edits.values() if one.fact_id not in there]:
        with ui.surface(("lost", draft.fact_id), "card_selected", padding=(12, 10)), ui.group("lines", gap=6):
            ui.text("why", LOST.format(draft.fact_id), tone="warn", style="small", wraps=True)
            ui.selectable_text("words", draft.text, height=66)
            with ui.row("buttons"):
                if ui.button("copy", tr("Copy"), icon="copy", is_small=True):
                    ui.copy(draft.text)
                if ui.button("discard", tr("Discard"), kind="ghost", is_small=True):
                    view.drop(draft)


def _form(desk: Desk, ui: Ui, draft: FactDraft, fact: IndexedFact) -> None:
    view = desk.view.of(KnowledgeView)
    if fact.text != draft.was and not is_under_way(desk.state, draft.command_id):
        ui.text("changed", f"{CHANGED} {fact.text}", tone="warn", style="small", wraps=True)
    edited = ui.editor("words", draft.text, height=66.0, hint=tr("One sentence, at most 280 characters"),
                       is_focused=draft.wants_focus)  # fmt: skip
    draft.text = draft.text if edited is None else edited.text
    draft.wants_focus = False
    has_keyboard = ui.is_focused("words")
    with ui.row("fields"):
        confidence = ui.text_input(
            "confidence", draft.confidence, label=tr("Confidence"), width=80, tip=tr("0.0 to 1.0")
        )
        draft.confidence = draft.confidence if confidence is None else confidence
        tags = ui.text_input("tags", draft.tags, label=tr("Tags"), hint=tr("ci, tests"), width=0)
        draft.tags = draft.tags if tags is None else tags
        has_keyboard = has_keyboard or ui.is_focused("confidence") or ui.is_focused("tags")
    if has_keyboard:
        view.typing = draft
    with ui.row("buttons"):
        is_busy = is_under_way(desk.state, draft.command_id)
        can = _can_save(desk, draft)
        if ui.button(
            "save", tr("Save"), kind="primary", is_small=True, is_enabled=can, tip=tr("Save (Ctrl+Enter)")
        ):
            save_fact(desk, draft)
        if ui.button("cancel", tr("Cancel"), is_small=True, tip=tr("Cancel (Escape)")):
            view.drop(draft)
        if draft.number is None:
            ui.text("wrong", tr("Enter a confidence from 0.0 to 1.0"), tone="warn", style="small", wraps=True)
        elif is_busy:
            ui.text("waiting", tr("Saving…"), tone="muted", style="small")
        elif (outcome := outcome_of(desk.state, draft.command_id)) is not None and outcome.problem:
            ui.text("problem", outcome.problem, tone="warn", style="small", wraps=True)
        else:
            ui.text("keys", EDITOR_KEYS, tone="faint", style="small", width=0)


def _can_save(desk: Desk, draft: FactDraft) -> bool:
    return (
        draft.number is not None
        and bool(draft.text.strip())
        and not is_under_way(desk.state, draft.command_id)
    )


def save_fact(desk: Desk, draft: FactDraft) -> None:
    """Send a draft of a fact, where it can be saved; it stays until the state shows it. Sends EditFact."""
    number = draft.number
    if number is None or not _can_save(desk, draft):
        return
    tag_names = tuple(tag for part in draft.tags.split(",") if (tag := part.strip()))
    words = " ".join(draft.text.split())
    draft.command_id = desk.ask(
        EditFact(fact_id=draft.fact_id, was=draft.was, text=words, confidence=number, tags=tag_names)
    )


def _settle(desk: Desk, view: KnowledgeView) -> None:
    """Close the forms whose words were saved."""
    for draft in tuple(view.fact_edits.values()):
        outcome = outcome_of(desk.state, draft.command_id) if draft.command_id else None
        if outcome is not None and not outcome.problem:
            del view.fact_edits[draft.fact_id]
