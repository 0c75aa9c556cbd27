"""The question before much is taken out, in the step: asked, answered with a yes or a no, and never carried out before."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.harvest import HarvestPhase, HarvestPreview
from core.kernel.values.knowledge import (
    Category,
    CategoryFile,
    Item,
    KnowledgeState,
    RemovalQuestion,
    Replacement,
)
from core.kernel.values.state import Cause
from core.kernel.values.updates import outcome_of
from core.knowledge.harvest.harvest_messages import (
    ApplyHarvest,
    ApplyPreview,
    HarvestEnded,
    HarvestProposed,
    HarvestReported,
    LeaveRemoval,
    PreviewHarvest,
    ReplaceKnownItem,
    TickHarvestItems,
    UndoApply,
    UndoHarvest,
)
from core.knowledge.knowledge_messages import KnowledgeRead
from tests.core.app.playbook import Playbook, of
from tests.core.knowledge.harvest.test_step import facts, harvest, looked, proposed

OLD = tuple(Item(Category.FACTS, "facts.md", f"Old {n}.", first_line=n + 3) for n in range(6))
QUESTION = RemovalQuestion("This would remove 5 of 6 facts", OLD[:5], is_undo=True, apply_id="a")


def replacing(count: int) -> Playbook:
    """A preview whose items replace some of the six facts that are known."""
    book = looked()
    book.play(KnowledgeRead(KnowledgeState((CategoryFile("facts.md", b"", OLD),))))
    items = tuple(
        replace(proposed("one", n), replaces=Replacement(OLD[n], "It changed.")) for n in range(count)
    )
    book.play(PreviewHarvest())
    book.play(HarvestProposed(HarvestPreview((facts("one"),), items)))
    book.play(HarvestEnded())
    book.play(TickHarvestItems(tuple(one.id for one in items), is_ticked=True))
    return book


def test_an_undo_that_would_take_out_much_is_asked_about_and_the_command_is_told() -> None:
    book = looked()
    book.play(UndoHarvest("a", command_id="u"))
    book.play(HarvestReported(result=QUESTION))

    assert (harvest(book).question, harvest(book).phase) == (QUESTION, HarvestPhase.IDLE)
    outcome = outcome_of(book.state, "u")
    assert outcome is not None
    assert (outcome.problem, outcome.cause) == (QUESTION.sentence, Cause.NEEDS_YES)

    (again,) = of(book.play(UndoHarvest("a", is_agreed=True)), UndoApply)
    assert (again.apply_id, again.is_agreed) == ("a", True)
    assert harvest(book).question is None


def test_a_no_leaves_everything() -> None:
    book = looked()
    book.play(UndoHarvest())
    book.play(HarvestReported(result=QUESTION))
    assert book.play(LeaveRemoval()) == ()
    assert harvest(book).question is None


def test_an_apply_that_would_strike_much_through_is_asked_about() -> None:
    book = replacing(4)
    assert of(book.play(ApplyHarvest(command_id="a")), ApplyPreview) == ()
    question = harvest(book).question
    assert question == RemovalQuestion("This would remove 4 of 6 facts", OLD[:4])
    outcome = outcome_of(book.state, "a")
    assert outcome is not None
    assert outcome.cause is Cause.NEEDS_YES

    (effect,) = of(book.play(ApplyHarvest(is_agreed=True)), ApplyPreview)
    assert effect.preview is not None
    assert harvest(book).question is None


def test_what_is_left_beside_the_new_one_does_not_count() -> None:
    book = replacing(4)
    book.play(ReplaceKnownItem(proposed("one").id, is_replacing=False))
    assert len(of(book.play(ApplyHarvest()), ApplyPreview)) == 1
