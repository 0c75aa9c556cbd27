"""Dreams in the state: what they read, what they tell, and what ends them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.agent.agent_messages import StopAutonomy
from core.app.app_messages import Effect, OwnerChanged
from core.kernel.values.agent import Attention
from core.kernel.values.harvest import HarvestLook, HarvestPreview, ProposedItem
from core.kernel.values.knowledge import Category
from core.kernel.values.settings import AgentSettings, KnowledgeSettings, MemoryMode, Settings
from core.knowledge.harvest.harvest_messages import (
    ApplyPreview,
    CancelHarvest,
    DistilConversations,
    HarvestEnded,
    HarvestLooked,
    HarvestProposed,
    ScanConversations,
)
from core.talk.turn.turn_messages import CallProvider, SendPrompt
from tests.core.agent.attention.autonomy_playbook import AutonomyPlaybook
from tests.core.app.playbook import of
from tests.core.knowledge.harvest.test_step import LIVE, ONE, facts, proposed


@pytest.fixture
def book() -> AutonomyPlaybook:
    return AutonomyPlaybook()


def a_dream(book: AutonomyPlaybook, *items: ProposedItem) -> tuple[Effect, ...]:
    """Let it fall asleep and read `one`, in which these were found; what follows."""
    book.yields(book.next_call())
    assert of(book.after(300), ScanConversations)
    assert book.loop.state == Attention.DREAMING
    (distil,) = of(book.play(HarvestLooked(HarvestLook((LIVE, ONE)))), DistilConversations)
    assert [one.facts.name for one in distil.artifacts] == ["one"]
    assert not of(book.after(10**5), CallProvider), "it sleeps"
    book.play(HarvestProposed(HarvestPreview((facts("one"),), items, (), 1, 1)))
    return book.play(HarvestEnded())


AUTOMATIC = Settings(
    agent=AgentSettings(),
    knowledge=KnowledgeSettings(mode=MemoryMode.AUTOMATIC.value, automatic_categories=("facts",)),
)


def test_a_dream_tells_what_it_would_keep_and_writes_nothing_in_any_mode(book: AutonomyPlaybook) -> None:
    book.autonomous(AUTOMATIC)
    effects = a_dream(book, proposed("one"))

    assert not of(effects, ApplyPreview)
    assert book.state.harvest.preview is not None, "it waits for the person"
    assert book.loop.state == Attention.RESTING
    told = book.loop.notes[-1].text
    assert "would keep 1 item (1 fact)" in told
    assert "one says 0." in told
    book.yields(book.next_call())
    assert of(book.after(300), CallProvider), "one dream while the person is away"


def test_a_dream_names_kinds_in_a_person_s_words_and_tells_what_it_found_twice_once(
    book: AutonomyPlaybook,
) -> None:
    book.autonomous(AUTOMATIC)
    one = proposed("one")
    done = replace(one, id="done", item=replace(one.item, category=Category.TASKS_DONE))
    a_dream(book, one, replace(one, id="again"), done)

    told = book.loop.notes[-1].text
    assert "would keep 3 items (2 facts, 1 done task)" in told
    assert told.count("one says 0.") == 1
    assert "and 2 more" in told


def test_a_dream_that_finds_nothing_says_so_and_nothing_to_read_is_no_dream_at_all(
    book: AutonomyPlaybook,
) -> None:
    book.autonomous(AUTOMATIC)
    a_dream(book)
    assert "found nothing new and useful to keep" in book.loop.notes[-1].text

    other = AutonomyPlaybook()
    other.autonomous(AUTOMATIC)
    other.yields(other.next_call())
    other.after(300)
    assert not of(other.play(HarvestLooked(HarvestLook((LIVE,)))), DistilConversations)
    assert other.loop.state is Attention.RESTING
    assert "There is nothing new" in other.loop.notes[-1].text


def test_the_turn_that_a_dream_put_off_is_due_when_it_ends(book: AutonomyPlaybook) -> None:
    """Two intervals in a row outlive what a provider holds: all of the prefix was written anew after each dream."""
    book.autonomous(AUTOMATIC)
    book.yields(book.next_call())
    book.after(300)
    effects = book.keep(book.play(HarvestLooked(HarvestLook((LIVE,)))))

    assert of((*effects, *book.after(1)), CallProvider)


def test_the_person_ends_a_dream(book: AutonomyPlaybook) -> None:
    chosen = book.autonomous(AUTOMATIC)
    book.yields(book.next_call())
    book.after(300)
    book.play(HarvestLooked(HarvestLook((LIVE, ONE))))
    effects = book.keep(book.play(SendPrompt(chosen, "Wake up.")))

    assert of(effects, CancelHarvest)
    assert book.loop.state == Attention.ENGAGED
    assert not of(book.play(HarvestEnded()), ApplyPreview)


def test_a_dream_ends_with_autonomy(book: AutonomyPlaybook) -> None:
    for ending in (StopAutonomy(), OwnerChanged("process 7")):
        other = AutonomyPlaybook()
        other.autonomous(AUTOMATIC)
        other.yields(other.next_call())
        other.after(300)
        other.play(HarvestLooked(HarvestLook((LIVE, ONE))))

        assert of(other.play(ending), CancelHarvest), ending
