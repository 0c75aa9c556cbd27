"""Merges and drafts in the state: what begins, what is declined, what a person chooses, what is asked first."""

from __future__ import annotations

from msgspec.structs import replace

from core.app import dispatch
from core.app.app_messages import Command, Event, Input
from core.kernel.values.harvest import HarvestPhase
from core.kernel.values.knowledge import (
    Category,
    DraftKind,
    DraftReport,
    MergeGroup,
    MergeProposal,
    MergeReport,
)
from core.kernel.values.settings import MemoryMode
from core.kernel.values.state import AppState, Cause
from core.kernel.values.updates import Result, outcome_of
from core.knowledge.categories import parse_file
from core.knowledge.harvest.harvest_messages import (
    ApplyMerge,
    AskForMerge,
    DiscardMerge,
    EditMergeGroup,
    GraduatePlaybook,
    HarvestReported,
    LeaveRemoval,
    ProposeMerge,
    TickMergeGroups,
    WriteMerge,
    WritePlaybookDraft,
)
from tests.panels.knowledge import knowledge_states as ks

FILE = parse_file("facts.md", b"".join(b"- The tide number %d.\n" % n for n in range(8)))
PLAYBOOK = parse_file("playbooks.md", b"- **Ship**: Push.\n").items[0]


def step(state: AppState, body: Command | Event) -> Result:
    assert state.now is not None
    return dispatch.step(state, Input(state.now, "seed", body))


def known() -> AppState:
    state = ks.some()
    return replace(state, knowledge=replace(state.knowledge, categories=(FILE,)))


def proposed(*groups: MergeGroup) -> AppState:
    chosen = groups or (
        MergeGroup("g1", FILE.items[:2], "Tides."),
        MergeGroup("g2", FILE.items[2:4], "Tides two."),
    )
    state, _ = step(known(), ProposeMerge(Category.FACTS))
    return step(state, HarvestReported(result=MergeProposal(Category.FACTS, "facts.md", chosen)))[0]


def test_a_merge_asks_the_model_that_reads_harvests_and_shows_its_proposal() -> None:
    state, (effect,) = step(known(), ProposeMerge(Category.FACTS))

    assert isinstance(effect, AskForMerge)
    assert effect.category is Category.FACTS
    assert state.harvest.phase is HarvestPhase.MERGING
    done = proposed()
    assert done.harvest.phase is HarvestPhase.IDLE
    assert done.harvest.merge is not None


def test_one_item_is_nothing_to_merge() -> None:
    state, effects = step(known(), ProposeMerge(Category.DECISIONS, command_id="a/1"))

    assert effects == ()
    told = outcome_of(state, "a/1")
    assert told is not None
    assert told.cause is Cause.NOTHING


def test_recall_only_asks_no_model_and_writes_no_merge_but_a_person_may_make_a_draft() -> None:
    def recall(state: AppState) -> AppState:
        settings = state.config.settings
        knowledge = replace(settings.knowledge, mode=MemoryMode.RECALL)
        return replace(state, config=replace(state.config, settings=replace(settings, knowledge=knowledge)))

    assert step(recall(known()), ProposeMerge(Category.FACTS))[1] == ()
    assert step(recall(proposed()), ApplyMerge(is_agreed=True))[1] == ()
    assert step(recall(known()), GraduatePlaybook(PLAYBOOK))[1] != ()


def test_what_is_unticked_is_not_written_and_other_words_are() -> None:
    state, _ = step(proposed(), TickMergeGroups(("g1",), is_ticked=False))
    state, _ = step(state, EditMergeGroup("g2", " Tides\n of two. "))

    _, (effect,) = step(state, ApplyMerge())

    assert isinstance(effect, WriteMerge)
    assert [(one.id, one.text) for one in effect.proposal.ticked] == [("g2", "Tides of two.")]


def test_much_of_a_category_is_asked_about_with_the_list_and_goes_after_a_yes() -> None:
    state, effects = step(proposed(), ApplyMerge(command_id="a/1"))

    assert effects == ()
    question = state.harvest.question
    assert question is not None
    assert question.is_merge
    assert len(question.items) == 4
    told = outcome_of(state, "a/1")
    assert told is not None
    assert told.cause is Cause.NEEDS_YES
    assert step(state, LeaveRemoval())[0].harvest.question is None
    state, (effect,) = step(state, ApplyMerge(is_agreed=True))
    assert isinstance(effect, WriteMerge)
    assert effect.is_agreed
    assert state.harvest.question is None


def test_a_written_merge_leaves_its_report_and_no_proposal() -> None:
    state, _ = step(proposed(), ApplyMerge(is_agreed=True))
    report = MergeReport("20261120-120000-aaaaaa", Category.FACTS, "facts.md", 4, 2, "/v")

    state, effects = step(state, HarvestReported(result=report, look=None))

    assert (state.harvest.merge, state.harvest.merged) == (None, report)
    assert effects, "what is known is read anew"


def test_a_discarded_merge_is_gone_and_nothing_of_it_can_be_written() -> None:
    state, _ = step(proposed(), DiscardMerge())

    assert state.harvest.merge is None
    assert step(state, ApplyMerge(is_agreed=True))[1] == ()


def test_a_playbook_becomes_a_draft_and_nothing_else_does() -> None:
    state, (effect,) = step(known(), GraduatePlaybook(PLAYBOOK, DraftKind.TOOL))
    assert isinstance(effect, WritePlaybookDraft)
    assert effect.kind is DraftKind.TOOL
    state, _ = step(state, HarvestReported(result=DraftReport("a", "/d/ship.sh.draft", "ship.sh"), look=None))
    assert state.harvest.drafted is not None
    assert any("/d/ship.sh.draft" in notice.detail for notice in state.program.notices)

    assert step(known(), GraduatePlaybook(FILE.items[0]))[1] == ()
