"""The Retrieval panel: search over what the person has written and said, its index, and what goes with a message."""

from __future__ import annotations

from core.kernel import figures as fmt
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.values.retrieval import Corpus, SentRecall
from core.retrieval.retrieval_messages import CheckNavigation, LookAtSources
from core.services.settings.settings_messages import ChangeProjectSetting, ChangeSetting
from core.services.settings.settings_rules import offered_places
from panels.base import view
from panels.base.desk import Desk
from panels.base.ui import Option
from panels.context.context_panel import passage_words, recalled_rows, source_words
from panels.retrieval.index import ask_to_look, index_section, is_locked, off_section, progress_card
from panels.retrieval.retrieval_room import RetrievalView
from panels.retrieval.search import search_section

# Recall in the Retrieval panel: whether what fits goes with a message, what would now, what did lately,
# what never does.

SHOWN = 5


def recall_section(desk: Desk) -> None:
    """Draw it for the selected discussion. Sends ChangeProjectSetting, ChangeSetting, KeepOut."""
    ask_to_look(desk)
    _switch(desk)
    _next(desk)
    _lately(desk)
    _kept_out(desk)


def _switch(desk: Desk) -> None:
    ui, settings = desk.ui, desk.state.config.settings.retrieval
    with ui.surface("switch", "card", padding=(12, 10)), ui.group("lines", gap=6):
        changed = ui.checkbox(
            "ambient", tr("Send matching passages with each message"), settings.ambient,
            is_enabled=not is_locked(desk.state.config.project), tip=tr("For this project, in its manual_slop.toml"),
        )  # fmt: skip
        if changed is not None:
            desk.send(ChangeProjectSetting(key="retrieval.ambient", value=changed))
        ui.text("about", tr("The best few passages of knowledge and past discussions go with your message. They follow your words and take at most {ambient_tokens:,} tokens. You see them before you send, and can leave out each one.", ambient_tokens=settings.ambient_tokens),
                tone="muted", style="small", wraps=True)  # fmt: skip


def _next(desk: Desk) -> None:
    ui, report = desk.ui, view.report_of(desk.state)
    if not desk.state.config.settings.retrieval.ambient:
        return
    with ui.group("next", gap=8):
        ui.text("title", tr("Passages that go with the next message"), style="strong")
        is_said = desk.opened is not None and bool(desk.opened.kept_out)
        if report is None or not (report.recalled.passages or report.recalled.problem or is_said):
            text = (
                tr("No passage matches your draft.")
                if _has_words(desk)
                else tr("Write a message: matching passages appear here.")
            )
            ui.text("none", text, tone="muted", style="small", wraps=True)
        if report is not None:
            recalled_rows(desk, report.recalled)


def _has_words(desk: Desk) -> bool:
    return desk.opened is not None and bool(desk.opened.draft.text.strip())


def _lately(desk: Desk) -> None:
    ui, chosen = desk.ui, desk.state.discussions.selected_id
    sent = [one for one in desk.state.context.sent_recall if one.discussion_id == chosen]
    if not sent and not desk.state.config.settings.retrieval.ambient:
        return
    with ui.group("lately", gap=8):
        ui.text("title", tr("Passages sent recently in this discussion"), style="strong")
        if not sent:
            ui.text(
                "none",
                tr("Recall has added no passage to a message since the program started."),
                tone="muted",
                style="small",
                wraps=True,
            )
        for at, one in enumerate(sent[:SHOWN]):
            _sent(desk, at, one)


def _sent(desk: Desk, at: int, sent: SentRecall) -> None:
    ui = desk.ui
    with ui.surface(("sent", at), "inset", padding=(12, 8)), ui.group("lines", gap=4):
        when = fmt.moment(sent.at, desk.state.now)
        ui.text(
            "when",
            tr("{when} · ≈ {tokens_est:,} tokens", when=when, tokens_est=sent.tokens_est),
            style="small_strong",
            width=0,
        )
        ui.text(
            "words",
            tr("With “{words}”", words=one_line(sent.words, 80)),
            tone="muted",
            style="small",
            width=0,
        )
        for passage in sent.passages:
            with ui.group(("passage", passage.place), gap=2):
                ui.text(
                    "place", passage_words(desk.state, passage), style="small", wraps=True, tip=passage.title
                )
                ui.text("why", tr("Because {why}.", why=passage.why), tone="muted", style="small", wraps=True)


def _kept_out(desk: Desk) -> None:
    ui, kept = desk.ui, desk.state.config.settings.retrieval.kept_out
    if not kept:
        return
    with ui.group("kept out", gap=8):
        ui.text("title", tr("Never recalled"), style="strong")
        for source in kept:
            with ui.row(("source", source)):
                said = source_words(desk.state, source)
                ui.text("name", said, style="small", width=0, wraps=True)
                if ui.button("back", tr("Include again"), kind="ghost", is_small=True):
                    rest = tuple(one for one in kept if one != source)
                    desk.send(ChangeSetting("retrieval.kept_out", rest))


PARTS = (
    Option(value="search", label=tr("Search"), icon="magnifying-glass"),
    Option(value="index", label=tr("Index"), icon="database"),
    Option(value="recall", label=tr("Recall"), icon="paper-plane"),
)


def retrieval_panel(desk: Desk) -> None:
    """Draw the panel.

    Sends SearchMemory, UpdateIndex, PauseIndexing, CancelIndexing, LookAtSources, CheckNavigation, BuildNavigation,
    ChangeProjectSetting, ChangeSetting, KeepOut, ChangePreset, CreatePreset, SelectDiscussion.
    """
    ui, own, retrieval = desk.ui, desk.view.of(RetrievalView), desk.state.retrieval
    _look(desk)
    if retrieval.asked is None:
        with ui.surface("off", "clear", height=0, padding=(0, 0), scrolls=True), ui.group("parts", gap=12):
            off_section(desk)
        return
    own.tab = ui.tabs("parts", PARTS, own.tab) or own.tab
    progress_card(desk)
    if own.tab == "search":
        search_section(desk)
        return
    with (
        ui.surface(("part", own.tab), "clear", height=0, padding=(0, 0), scrolls=True),
        ui.group("parts", gap=16),
    ):
        if own.tab == "index":
            index_section(desk)
        else:
            recall_section(desk)


def _look(desk: Desk) -> None:
    """Look once at what would be read, and again after each change of what is named; check index files after each run,
    where they are seen.
    """
    state, own = desk.state, desk.view.of(RetrievalView)
    if state.program.is_loading or not state.program.home:
        return
    offered = offered_places(state)
    if own.looked_with != offered:
        own.looked_with = offered
        desk.send(LookAtSources())
    retrieval = state.retrieval
    has_notes = retrieval.asked is not None and Corpus.NOTES in retrieval.asked.corpora
    is_new = retrieval.indexed_at is not None and own.checked_at != retrieval.indexed_at
    if has_notes and own.tab == "index" and is_new:
        own.checked_at = retrieval.indexed_at
        desk.send(CheckNavigation())
