"""The tour's harvest: a discussion is read by the embedded model, reviewed, written, used, switched off and taken back."""

from __future__ import annotations

from pathlib import Path

from core.base.figures import count
from core.knowledge.digest import digest_file
from core.knowledge.history_text import witness_line
from core.values.harvest import ArtifactClass, HarvestPhase, HarvestPreview, ProposedItem
from core.values.knowledge import Category, DigestSwitch
from core.values.stack import LayerId
from core.values.state import AppState
from gui.tour_walk import Tour, TourError, ask, new_discussion, without_preset
from panels.harvest import facts

READING_S = 600.0
ANYWAY = "Undo anyway"
FACT = "The capital of Norway is Oslo."
QUESTION = "What is the capital of Norway?"


def harvest(tour: Tour, talked: str) -> None:
    """Walk through it. Another discussion than the one that is harvested is shown: what is open is left alone."""
    _find(tour, talked)
    _review(tour, _preview(tour))
    _apply(tour, talked)
    _why(tour)
    _use(tour)
    _switch_off(tour)
    _undo(tour, talked)


def _find(tour: Tour, talked: str) -> None:
    """In the panel: what was touched today is left alone, until the person says otherwise."""
    driver = tour.driver
    driver.key("Ctrl+5")
    tour.wait(lambda s: s.harvest.looked_at and not s.harvest.is_busy, "a look at the conversations")
    driver.click("Which model reads, what is left alone, where else to look")
    driver.until(lambda: driver.has("Settings of the harvest"), "the harvest's settings")
    driver.click("Leave alone for (days)")
    driver.key("Ctrl+a")
    driver.type("0")
    driver.key("Enter")
    tour.wait(lambda s: s.config.settings.knowledge.live_days == 0, "the setting")
    driver.step(4)
    driver.click("Back")
    took = tour.wait(lambda s: _is_candidate(s, talked), "the discussion among the candidates")
    tour.say(f"{took:7.2f} s  harvest: {facts.counts_line(tour.state.harvest.look.artifacts)}")
    tour.shot("harvest-candidates")


def _is_candidate(state: AppState, talked: str) -> bool:
    return not state.harvest.is_busy and any(
        one.kind is ArtifactClass.HARVEST and one.facts.id == talked for one in state.harvest.look.artifacts
    )


def _preview(tour: Tour) -> HarvestPreview:
    """The embedded model reads; nothing is written."""
    tour.driver.click("Preview 1")
    tour.wait(lambda s: s.harvest.phase is HarvestPhase.PREVIEWING, "the preview to begin")
    tour.driver.step(4)
    tour.shot("harvest-reading")
    took = tour.wait(lambda s: not s.harvest.is_busy, "the model to read", READING_S)
    state = tour.state.harvest
    preview = state.preview or HarvestPreview()
    if state.problem or preview.failures or not preview.sources:
        why = state.problem or "; ".join(one.reason for one in preview.failures) or "nothing was read"
        raise TourError("The harvest failed", remedy=why)
    tour.say(
        f"{took:7.2f} s  the model read it and proposed {count(len(preview.items), 'item')}; {count(state.use.calls, 'call')}"
    )
    for one in preview.items:
        tour.say(f"          {one.item.category.value}: {one.item.head!r} {one.item.body!r}"[:150])
    return preview


def _review(tour: Tour, preview: HarvestPreview) -> None:
    """Keep the first statement and correct it; so small a model proposes little else that is worth keeping."""
    driver = tour.driver
    statements = [at for at, one in enumerate(preview.items) if one.item.category is not Category.FILES]
    if not statements:
        tour.say("          the small model found nothing to edit")
        return
    kept = preview.items[statements[0]].id
    driver.click("None")
    tour.wait(lambda s: not any(one.is_ticked for one in _items(s)), "nothing ticked")
    driver.click("Write this", index=statements[0])
    tour.wait(lambda s: _item(s, kept).is_ticked, "one ticked")
    driver.click("Edit its words", index=statements[0])
    driver.step(4)
    driver.key("Ctrl+a")
    driver.type(FACT)
    driver.key("Ctrl+Enter")
    tour.wait(lambda s: _item(s, kept).is_edited, "the edit")
    tour.say("          kept one, corrected, and left out the others")
    tour.shot("harvest-reviewed")


def _item(state: AppState, item_id: str) -> ProposedItem:
    return next(one for one in _items(state) if one.id == item_id)


def _items(state: AppState) -> tuple[ProposedItem, ...]:
    return state.harvest.preview.items if state.harvest.preview is not None else ()


def _apply(tour: Tour, talked: str) -> None:
    """Write what is ticked; where the small model found nothing, a person writes an item by hand."""
    harvest = tour.state.harvest
    will = facts.outcome(harvest.preview or HarvestPreview(), harvest.look.artifacts).sentence
    tour.driver.click(will if tour.driver.has(will) else "Apply")
    took = tour.wait(lambda s: s.harvest.report is not None and not s.harvest.is_busy, "the apply")
    report = tour.state.harvest.report
    assert report is not None
    if report.is_failed:
        raise TourError("The apply failed", remedy=report.stopped or report.failures[0].reason)
    tour.wait(lambda s: talked not in s.discussions.summaries, "the conversation in the trash")
    tour.say(f"{took:7.2f} s  applied: {facts.items_words(report.items)}; the conversation is in the trash")
    tour.shot("harvest-applied")
    tour.dismiss_notices()
    tour.driver.key("Ctrl+3")
    if not any(count for _, count in report.items):
        tour.say("          the small model found nothing: a fact is written by hand")
        _write_by_hand(tour)
    tour.driver.step(4)
    tour.shot("knowledge")


def _why(tour: Tour) -> None:
    """An item opens what it stands on: the conversation, in the trash by now, and the words there."""
    driver = tour.driver
    driver.click("Why the model knows this", index=0)
    took = tour.wait(lambda s: s.evidence.shown is not None, "what the item stands on")
    driver.step(6)
    told = tour.state.evidence.shown
    for one in told.witnesses if told is not None else ():
        tour.say(
            f"{took:7.2f} s  it stands on {witness_line(one)}: {one.row.quote or 'no words were named'!r}"[
                :150
            ]
        )
    tour.shot("quote")
    driver.click("Close")
    driver.step(6)


def _write_by_hand(tour: Tour) -> None:
    driver = tour.driver
    driver.click("Add to knowledge")
    driver.until(lambda: driver.has("New fact"), "the menu")
    driver.click("New fact")
    driver.step(4)
    driver.type(FACT)
    driver.key("Ctrl+Enter")
    tour.wait(lambda s: any(file.items for file in s.knowledge.categories), "the fact in its file")
    driver.click("Regenerate digest")
    tour.wait(lambda s: s.knowledge.is_on, "the digest")


def _use(tour: Tour) -> None:
    """A new discussion carries what was learned."""
    new_discussion(tour)
    without_preset(tour)
    ask(tour, QUESTION, "turn-with-knowledge")
    tour.driver.key("Ctrl+2")
    tour.wait(lambda s: _layer_bytes(s) > 0, "layer 7 in the context")
    tour.say(f"          layer 7 of the next request: {_layer_bytes(tour.state):,} bytes of knowledge")
    tour.shot("context-with-knowledge")


def _layer_bytes(state: AppState) -> int:
    report = state.context.reports.get(state.discussions.selected_id)
    layers = report.layers if report is not None else ()
    return sum(layer.size_bytes for layer in layers if layer.layer is LayerId.KNOWLEDGE)


def _switch_off(tour: Tour) -> None:
    """`rm digest.md`, as in a shell, while the window is open; and on again."""
    digest_file(Path(tour.state.program.home)).unlink()
    tour.driver.key("Ctrl+3")
    took = tour.wait(lambda s: s.knowledge.switch is DigestSwitch.OFF_BY_DELETION, "the window to notice")
    tour.wait(lambda s: not _layer_bytes(s), "an empty layer 7")
    tour.say(f"{took:7.2f} s  rm digest.md: layer 7 of the next request is empty")
    tour.shot("knowledge-off")
    tour.dismiss_notices()
    tour.driver.click("Regenerate digest")
    tour.wait(lambda s: s.knowledge.is_on, "the digest")


def _undo(tour: Tour, talked: str) -> None:
    """Items out, the conversation back."""
    driver = tour.driver
    driver.key("Ctrl+5")
    driver.step(4)
    driver.click("Applied")
    driver.until(lambda: driver.has("Undo the last"), "the applies")
    driver.click("Undo the last")
    driver.until(lambda: driver.has(ANYWAY) or tour.state.harvest.undone is not None, "the question")
    if driver.has(ANYWAY):
        tour.shot("harvest-undo-asked")
        driver.click(ANYWAY)
    took = tour.wait(
        lambda s: s.harvest.undone is not None and talked in s.discussions.summaries, "the conversation back"
    )
    undone = tour.state.harvest.undone
    assert undone is not None
    tour.say(
        f"{took:7.2f} s  undone: {count(undone.removed, 'line')} out, {count(len(undone.restored), 'conversation')} back"
    )
    driver.step(4)
    tour.shot("harvest-undone")
