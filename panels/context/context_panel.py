"""The Context view: the twelve layers as they would be sent now, and what changed since the last request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from core.kernel import figures as fmt
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.values.retrieval import Corpus, Recalled, RecalledPassage
from core.kernel.values.stack import (
    LAYER_TITLES,
    ContextChange,
    ContextReport,
    LayerId,
    LayerReport,
    LayerText,
)
from core.kernel.values.state import AppState
from core.retrieval.ambient import item_mark, parted_source, passage_texts
from core.services.settings.settings_messages import ChangeSetting
from core.services.spending.estimates import change_usd, next_request
from core.talk.context.context_messages import KeepOut
from panels.base import view
from panels.base.desk import Desk
from panels.base.gauge import gauge_tone, titled_estimate
from panels.base.ui import Option, Share, Tone, Ui
from panels.base.view import Memo
from panels.context.context_room import ContextPanelView
from panels.discussion.message_rows import SHORTER, left_words

# Passages that go along with the message: each with its source and why, and the way to keep it out.

_SHOWN_CHARS, _TIP_CHARS = 200, 1_200
"""Characters of a passage that are shown, and on hover."""


def recalled_rows(desk: Desk, recalled: Recalled) -> None:
    """Draw what is recalled for the message, nothing where nothing is. Sends KeepOut and ChangeSetting."""
    ui, chosen = desk.ui, desk.state.discussions.selected_id
    opened = desk.state.discussions.open.get(chosen)
    once = opened.kept_out if opened is not None else ()
    if not recalled.passages and not recalled.problem and not once:
        return
    with ui.surface("recalled", "inset", padding=(12, 8)), ui.group("lines", gap=4):
        title = tr("The program recalls nothing for this message")
        if recalled.passages:
            title = tr("Recalled for this message · ≈ {tokens_est:,} tokens", tokens_est=recalled.tokens_est)
        ui.text(
            "title",
            title,
            style="small_strong",
            tip=tr("The program sends recall once, after your words, and does not cache it"),
        )
        for passage, words in zip(recalled.passages, passage_texts(recalled), strict=True):
            _passage(desk, chosen, passage, words)
        if recalled.problem:
            ui.text("problem", recalled.problem, tone="warn", style="small", wraps=True)
        for source in once:
            with ui.row(("kept out", source)):
                ui.text(
                    "source",
                    tr("Left out of the next message: {passage}", passage=source_words(desk.state, source)),
                    tone="muted",
                    style="small",
                    width=0,
                    wraps=True,
                )
                if ui.button("back", tr("Include again"), kind="ghost", is_small=True):
                    desk.send(KeepOut(discussion_id=chosen, source=source, is_out=False))


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
            if ui.button(
                "once",
                tr("Leave out"),
                kind="ghost",
                is_small=True,
                tip=tr("Leave this passage out of the next message"),
            ):
                desk.send(KeepOut(discussion_id=chosen, source=passage.source))
            if ui.button(
                "never",
                tr("Never recall"),
                kind="ghost",
                is_small=True,
                tip=tr("Never recall this source again. You can undo this in Search, under Recall"),
            ):
                known = desk.state.config.settings.retrieval.kept_out
                desk.send(ChangeSetting("retrieval.kept_out", (*known, passage.source)))
        if words:
            ui.text("words", one_line(words, _SHOWN_CHARS), style="small", wraps=True, tip=words[:_TIP_CHARS])
        ui.text("why", tr("Because {why}.", why=passage.why), tone="muted", style="small", wraps=True)


def passage_words(state: AppState, passage: RecalledPassage) -> str:
    """Place of a passage and its day. A discussion has its name."""
    place = passage.place
    if passage.corpus is Corpus.DISCUSSIONS:
        _, path, _ = parted_source(passage.source)
        _, _, message = passage.place.rpartition(", ")
        place = ", ".join((_name_of(state, path), message))
    return " · ".join(filter(None, (one_line(place, 60), passage.date)))


def source_words(state: AppState, source: str) -> str:
    """Name of a source as a person knows it: a file, an item by its words, or a discussion by its name."""
    corpus, path, mark = parted_source(source)
    if corpus == Corpus.DISCUSSIONS.value:
        return one_line(_name_of(state, path), 60)
    if not mark:
        return one_line(path, 60)
    said = next((text for text in _item_texts(state, path) if _mark_of(text) == mark), "")
    return one_line(
        f"{path}: {one_line(said, 80) if said else tr('a knowledge item that was changed since then')}", 120
    )


_mark_of = lru_cache(4_096)(item_mark)


def _item_texts(state: AppState, path: str) -> Iterator[str]:
    """Words of the items that may stand in a file of knowledge."""
    known = state.knowledge
    yield from (item.text for item in known.items if item.file == path)
    if path.endswith(".yaml"):
        yield from (fact.text for fact in known.facts.facts)


def _name_of(state: AppState, discussion_id: str) -> str:
    row = state.discussions.summaries.get(discussion_id)
    return f"“{one_line(row.meta.name, 48)}”" if row is not None else tr("a discussion that no longer exists")


ORDERS = (Option(value="canonical", label=tr("Layer order")), Option(value="wire", label=tr("Sending order")))
WIRE_ORDER = (2, 3, 1, 4, 5, 6, 7, 9, 10, 11, 12, 8)
_GROWING: dict[LayerId, tuple[str, Tone]] = {
    LayerId.TURNS: (tr("grown"), "muted"),
    LayerId.USER: (tr("new"), "accent"),
}
TEXT_PX = 260.0
STATE_FROM_PX = 320.0
"""Width from which a layer's state stands beside its name also where it says no more than that nothing is to be paid."""
SHOWN_SEGMENTS = 40


def context_panel(desk: Desk) -> None:
    """Draw the Context view of the selected discussion. Reads only."""
    state, ui, own = desk.state, desk.ui, desk.view.of(ContextPanelView)
    report = view.report_of(state)
    if report is None:
        text = (
            tr("The program is assembling the context…")
            if state.discussions.selected_id
            else tr("No discussion is selected.")
        )
        ui.text("none", text, tone="muted", style="small", wraps=True)
        return
    with ui.surface("context", "clear", height=0, padding=(0, 0), scrolls=True):
        _head(desk, report)
        _problems(ui, report)
        _left_view(desk)
        recalled_rows(desk, report.recalled)
        if report.change is not None:
            _change(desk, report.change, is_exact=report.is_exact)
        clicked = ui.tabs("order", ORDERS, own.order)
        own.order = clicked or own.order
        ordered = _ordered(report, own.order)
        for layer in ordered:
            if layer.length_chars:
                _layer(desk, report, layer)
        _empty_layers(ui, [layer for layer in ordered if not layer.length_chars])


def _head(desk: Desk, report: ContextReport) -> None:
    ui = desk.ui
    request = next_request(desk.state, desk.state.discussions.selected_id)
    if request is not None:
        titled_estimate(ui, request)
        if report.limit_tokens:
            used = report.total_tokens_est / report.limit_tokens
            tone = gauge_tone(request)
            ui.progress("window", used, tone="accent" if tone == "muted" else tone, height=4)
    whole = max(report.total_tokens_est, 1)
    ui.stacked_bar("bar", [
        Share(fraction=layer.tokens_est / whole, tone="accent", tip=_bar_tip(layer, report), fill=int(layer.layer) - 1)
        for layer in _ordered(report, desk.view.of(ContextPanelView).order)
        if layer.tokens_est
    ])  # fmt: skip
    stable = sum(layer.tokens_est for layer in report.layers if layer.layer.is_stable)
    counted = fmt.tokens_est(stable, is_exact=report.is_exact)
    note = tr("{counted} tokens (layers 1 to 7) stay the same from turn to turn", counted=counted)
    tip = tr("The stable prefix: a provider's cache can keep this part between turns")
    ui.text("stable", note, tone="muted", style="small", tip=tip, wraps=True)


def _bar_tip(layer: LayerReport, report: ContextReport) -> str:
    counted = fmt.tokens_est(layer.tokens_est, is_exact=report.is_exact)
    return f"{LAYER_TITLES[layer.layer]}: {counted}, {fmt.share(layer.tokens_est, report.total_tokens_est)}"


def _problems(ui: Ui, report: ContextReport) -> None:
    if not report.fits:
        over = report.total_tokens_est - (report.limit_tokens or 0)
        with ui.row("does not fit"):
            ui.icon("icon", "circle-exclamation", tone="error")
            ui.text("text", tr("The request does not fit the model: {over} tokens too many", over=fmt.tokens_est(over, is_exact=report.is_exact)),
                    tone="error", style="strong", width=0, wraps=True)  # fmt: skip
    for index, problem in enumerate(report.problems):
        with ui.row(("problem", index)):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("text", problem, tone="warn", style="small", wraps=True)


def _left_view(desk: Desk) -> None:
    """Name what left the model's view, where anything did."""
    cut = desk.opened.cut if desk.opened is not None else None
    if cut is None:
        return
    ui = desk.ui
    with ui.surface("left view", "inset", padding=(12, 8)), ui.group("lines", gap=4):
        title = tr("The model no longer sees the first messages") if cut.left_messages else SHORTER
        ui.text("title", title, style="small_strong", wraps=True)
        ui.text("left", left_words(cut), tone="muted", style="small", wraps=True,
                tip=tr("A line in the discussion marks where the model begins to read. The messages above stay for you"))  # fmt: skip


def _change(desk: Desk, change: ContextChange, *, is_exact: bool) -> None:
    ui = desk.ui
    with ui.surface("change", "inset", padding=(12, 8)), ui.group("lines", gap=4):
        ui.text("title", tr("Since the last request"), style="small_strong")
        same = fmt.tokens_est(change.same_tokens_est, is_exact=is_exact)
        rewritten = fmt.tokens_est(change.rewritten_tokens_est, is_exact=is_exact)
        if change.layer is None:
            ui.text(
                "same",
                tr(
                    "The next request repeats the last one unchanged ({same} tokens), then adds to it.",
                    same=same,
                ),
                tone="ok",
                style="small",
                wraps=True,
            )
        else:
            where = (
                ""
                if change.byte_offset is None
                else tr(" at byte {byte_offset:,}", byte_offset=change.byte_offset)
            )
            text = tr(
                "First difference in {value} · {LAYER_TITLES}{where}.",
                value=change.layer.value,
                LAYER_TITLES=LAYER_TITLES[change.layer],
                where=where,
            )
            ui.text(
                "where", text, tone="warn" if change.layer.is_stable else "text", style="small", wraps=True
            )
            ui.text(
                "kept",
                tr("The {same} tokens before this place are the same.", same=same),
                tone="muted",
                style="small",
                wraps=True,
            )
        ui.text("rewritten", tr("{rewritten} tokens are new to the model · {price}", rewritten=rewritten, price=fmt.money(change_usd(desk.state, desk.state.discussions.selected_id))),
                tone="muted", style="small", wraps=True)  # fmt: skip
        if change.reason:
            ui.text(
                "reason", tr("Why: {reason}", reason=change.reason), tone="muted", style="small", wraps=True
            )


def _ordered(report: ContextReport, order: str) -> tuple[LayerReport, ...]:
    if order != "wire":
        return report.layers
    place = {layer: index for index, layer in enumerate(WIRE_ORDER)}
    return tuple(sorted(report.layers, key=lambda layer: place[int(layer.layer)]))


def layer_state(desk: Desk, layer: LayerReport) -> tuple[str, Tone]:
    """State of a layer since the last request: `new`, `grown`, `changed`, `unchanged`, nothing before the first.

    Amber where it costs: what differs from the first difference on is sent anew. Turns that only grew, a change that
    is appended and what is sent anew with every turn cost nothing but themselves.
    """
    opened = desk.opened
    if opened is None or opened.last_request is None:
        return ("", "muted")
    before = next((known for known in opened.last_request.layers if known.layer is layer.layer), None)
    if before is None or (not before.length_chars and layer.length_chars):
        return (tr("new"), "accent") if layer.length_chars else ("", "muted")
    if before.sha256 == layer.sha256:
        return tr("unchanged"), "muted"
    report = view.report_of(desk.state)
    first = report.change.layer if report is not None and report.change is not None else LayerId.ROLE
    if first is layer.layer:
        return tr("changed"), "warn"
    if layer.layer in _GROWING:
        return _GROWING[layer.layer]
    if layer.layer is LayerId.METADATA:
        return tr("new each turn"), "muted"
    is_behind = first is not None and WIRE_ORDER.index(first) < WIRE_ORDER.index(layer.layer)
    return tr("changed"), "warn" if is_behind else "muted"


def _layer(desk: Desk, report: ContextReport, layer: LayerReport) -> None:
    ui, own = desk.ui, desk.view.of(ContextPanelView)
    number = int(layer.layer)
    state, tone = layer_state(desk, layer)
    is_narrow = 0 < ui.width() < STATE_FROM_PX
    with ui.clickable(("layer", number), "card", padding=(12, 8)) as clicks, ui.group("lines", gap=6):
        with ui.row("head", gap=6):
            ui.text("number", f"{number}", tone="faint", style="small", width=18)
            said = tr("Since the last request: {state}", state=state) if state else ""
            ui.text("title", LAYER_TITLES[layer.layer], width=0, tip=said)
            if state and not (is_narrow and tone == "muted"):
                ui.badge("state", state, tone=tone, tip=said)
            counted = fmt.tokens_est(layer.tokens_est, is_exact=report.is_exact)
            ui.text("tokens", counted, tone="muted", style="small")
        fraction = layer.tokens_est / max(1, report.total_tokens_est)
        ui.progress("share", fraction, height=4, fill=number - 1)
    if clicks.clicked:
        own.open_layers.symmetric_difference_update({number})
    if number in own.open_layers:
        _layer_details(desk, report, layer)


def _empty_layers(ui: Ui, layers: Sequence[LayerReport]) -> None:
    """All layers without a text, in one line."""
    if layers:
        names = ", ".join(LAYER_TITLES[layer.layer] for layer in layers)
        text = (
            tr("1 of the twelve layers is empty: {name}", name=names)
            if len(layers) == 1
            else tr("{layers} of the twelve layers are empty: {names}", layers=len(layers), names=names)
        )
        ui.text("empty layers", text, tone="faint", style="small", wraps=True)


def _layer_details(desk: Desk, report: ContextReport, layer: LayerReport) -> None:
    ui = desk.ui
    with ui.surface(("details", int(layer.layer)), "inset", padding=(12, 8)), ui.group("lines", gap=4):
        share = fmt.share(layer.tokens_est, report.total_tokens_est)
        figures = tr(
            "{share} of the context · {size_bytes:,} bytes · sha256 {sha256}",
            share=share,
            size_bytes=layer.size_bytes,
            sha256=layer.sha256[:12],
        )
        ui.text("figures", figures, tone="muted", style="small", tip=layer.sha256)
        for segment in layer.segments[:SHOWN_SEGMENTS] if len(layer.segments) > 1 else ():
            with ui.row(("segment", segment.key)):
                name = segment.key.partition("/")[2] or segment.key
                ui.text("key", name, tone="muted", style="small", width=0, tip=segment.key)
                counted = fmt.tokens_est(segment.tokens_est, is_exact=report.is_exact)
                ui.text("tokens", counted, tone="faint", style="small")
        if len(layer.segments) > SHOWN_SEGMENTS:
            ui.text(
                "rest",
                tr("and {segments:,} more parts", segments=len(layer.segments) - SHOWN_SEGMENTS),
                tone="faint",
                style="small",
            )
        ui.selectable_text("text", text_of(desk.view.memo, report, layer.layer), mono=True, height=TEXT_PX)


def text_of(memo: Memo, report: ContextReport, layer: LayerId) -> str:
    """The text of a layer, joined once a report."""
    texts = zip(report.layers, report.texts, strict=False)
    found = next((text for known, text in texts if known.layer is layer), LayerText())
    return memo.get(("layer", layer), (found,), lambda: found.text)
