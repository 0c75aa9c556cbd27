"""The harvest in the state, as data: one run at a time, what is proposed, chosen and come of it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from core.app.app_messages import HomeOpened
from core.kernel.values.agent import AgentTurn
from core.kernel.values.harvest import (
    Artifact,
    ArtifactClass,
    ArtifactFacts,
    HarvestFailure,
    HarvestItem,
    HarvestLook,
    HarvestPhase,
    HarvestPreview,
    HarvestReport,
    HarvestState,
    HarvestUse,
    ProposedItem,
    UndoReport,
)
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.knowledge import Category
from core.kernel.values.provider import ModelProfile
from core.kernel.values.settings import CachingSettings, KnowledgeSettings, Project, Settings
from core.kernel.values.state import Cause, CommandOutcome
from core.kernel.values.updates import outcome_of
from core.kernel.values.usage import Payment, Reservation, SpentElsewhere, Usage
from core.knowledge.harvest.harvest_messages import (
    HARVEST_PROMPT,
    ApplyHarvest,
    ApplyPreview,
    CancelHarvest,
    DiscardPreview,
    DistilConversations,
    EditHarvestItem,
    HarvestCalling,
    HarvestEnded,
    HarvestFailed,
    HarvestLooked,
    HarvestPaid,
    HarvestProgressed,
    HarvestProposed,
    HarvestReported,
    HarvestRun,
    LetHarvestCall,
    LookForHarvest,
    MoveHarvestItem,
    PreviewHarvest,
    ScanConversations,
    TickHarvestItems,
    UndoApply,
    UndoHarvest,
)
from core.knowledge.harvest.harvest_step import HELD, NOT_COUNTED
from core.knowledge.knowledge_messages import (
    AddKnowledgeItem,
    AttachNotes,
    ChangeKnowledge,
    DeleteDigest,
    ReadKnowledge,
)
from core.services.settings.settings_messages import ChangeSetting, SettingsSettled
from core.services.settings.settings_rules import profile_of
from core.services.spending.limits import limit_reached
from core.services.spending.spending_messages import ClaimReserve, ReserveClaimed, SettleReserve, SpentCounted
from core.talk.discussion.discussion_messages import (
    IndexDiscussion,
    LoadSummaries,
    SelectDiscussion,
    SummariesLoaded,
    UndoDelete,
)
from tests.core.app.playbook import START, Playbook, of, settings_loaded

OLD = datetime(2026, 10, 1, tzinfo=UTC)
SMALL = "smollm2-135m"


def facts(name: str, discussion_id: str = "") -> ArtifactFacts:
    path = f"/h/discussions/{discussion_id or name}/log.jsonl"
    return ArtifactFacts(discussion_id or name, path, name, TranscriptKind.DISCUSSION, 10, OLD, sha256=name)


def artifact(name: str, kind: ArtifactClass = ArtifactClass.HARVEST) -> Artifact:
    return Artifact(facts(name), kind)


def proposed(name: str, number: int = 0) -> ProposedItem:
    item = HarvestItem(Category.FACTS, f"{name} says {number}.")
    return ProposedItem(f"{name}-{number}", item, name, facts(name).path, name)


def part(name: str) -> HarvestPreview:
    return HarvestPreview((facts(name),), (proposed(name), proposed(name, 1)), (), 1, 1)


ONE, TWO = artifact("one"), artifact("two")
EMPTY = artifact("empty", ArtifactClass.PRUNE)
LIVE = artifact("live", ArtifactClass.LIVE)
LOOK = HarvestLook((LIVE, ONE, TWO, EMPTY))


def ready(settings: Settings | None = None, project: Project | None = None) -> Playbook:
    book = Playbook()
    book.play(HomeOpened("/h"))
    book.play(settings_loaded(project, settings))
    book.play(SummariesLoaded((), True))
    return book


def looked(settings: Settings | None = None) -> Playbook:
    book = ready(settings)
    book.play(LookForHarvest())
    book.play(HarvestLooked(LOOK))
    return book


def previewed(settings: Settings | None = None) -> Playbook:
    book = looked(settings)
    book.play(PreviewHarvest())
    book.play(HarvestProposed(part("one")))
    book.play(HarvestProposed(part("two")))
    book.play(HarvestEnded())
    return book


def harvest(book: Playbook) -> HarvestState:
    return book.state.harvest


def test_a_look_is_set_to_the_persons_settings_and_what_is_open() -> None:
    settings = Settings(knowledge=KnowledgeSettings(live_days=3.0, harvest_sources=("/talks",)))
    book = ready(settings)
    selected, busy = book.discussion("Seen"), book.discussion("Asked")
    book.ask(busy, "Why?")
    book.play(SelectDiscussion(selected))

    effects = book.play(LookForHarvest())

    run = HarvestRun(
        settings.knowledge,
        frozenset({selected, busy}),
        "embedded",
        SMALL,
        profile_of(book.state, "embedded", SMALL),
        project_root=book.state.config.project.root,
    )
    assert effects == (ScanConversations(run),)
    assert (harvest(book).phase, harvest(book).is_busy) == (HarvestPhase.LOOKING, True)
    assert (harvest(book).provider, harvest(book).model) == ("embedded", SMALL)


def test_a_discussion_whose_tools_run_is_open() -> None:
    book = ready()
    busy, selected = book.discussion("Asked"), book.discussion("Seen")
    turns = {busy: AgentTurn(busy, "m1")}
    book.state = replace(book.state, agent=replace(book.state.agent, turns=turns))

    (scan,) = of(book.play(LookForHarvest()), ScanConversations)

    assert scan.run.open_ids == {selected, busy}


def test_who_reads_may_be_another_than_who_answers() -> None:
    named = KnowledgeSettings(harvest_provider="anthropic", harvest_model="claude-small")
    for settings, expected in (
        (Settings(knowledge=named), ("anthropic", "claude-small")),
        (Settings(knowledge=replace(named, harvest_model="")), ("anthropic", "claude-opus-5-5")),
    ):
        (scan,) = of(ready(settings).play(LookForHarvest()), ScanConversations)
        assert (scan.run.provider, scan.run.model) == expected


def test_the_prompt_of_a_run_is_the_one_that_was_read_with_the_settings() -> None:
    book = ready()
    config = replace(book.state.config, prompts={HARVEST_PROMPT: "Words."})
    book.state = replace(book.state, config=config)

    (scan,) = of(book.play(LookForHarvest()), ScanConversations)

    assert scan.run.template == "Words."


def test_what_was_found_stands_in_the_state_with_its_time() -> None:
    book = looked()

    assert harvest(book).look is LOOK
    assert harvest(book).looked_at == book.at
    assert harvest(book).phase is HarvestPhase.IDLE


def test_progress_is_shown_and_gone_at_the_end() -> None:
    book = looked()
    book.play(PreviewHarvest())
    assert (harvest(book).done, harvest(book).total) == (0, 2)

    book.play(HarvestProgressed(1, 2, "Two"))
    assert (harvest(book).done, harvest(book).total, harvest(book).doing) == (1, 2, "Two")

    book.play(HarvestEnded())
    assert (harvest(book).done, harvest(book).total, harvest(book).doing) == (0, 0, "")


def test_a_preview_asks_about_the_candidates_all_or_those_that_were_chosen() -> None:
    (everything,) = of(looked().play(PreviewHarvest()), DistilConversations)
    (chosen,) = of(looked().play(PreviewHarvest((TWO.facts.path, LIVE.facts.path))), DistilConversations)

    assert everything.artifacts == (ONE, TWO)
    assert chosen.artifacts == (TWO,)


def test_a_harvest_begins_once_changes_of_settings_asked_for_before_hold() -> None:
    """A limit lowered in the same moment stops it, as it would have a moment later."""
    book = looked()
    book.play(SpentCounted(START, 2.0))
    book.settles = False
    book.play(ChangeSetting("ai_settings.caching.day_limit_usd", 1.0))

    assert book.play(PreviewHarvest(command_id="c")) == ()
    assert not harvest(book).is_busy
    book.play(settings_loaded(settings=Settings(caching=CachingSettings(day_limit_usd=1.0))))
    assert not of(book.play(SettingsSettled(book.state.config.asked)), DistilConversations)
    outcome = outcome_of(book.state, "c")
    assert outcome is not None
    assert outcome.cause is Cause.NOT_NOW


def test_with_nothing_to_harvest_the_person_is_told_and_nothing_begins() -> None:
    book = ready()

    assert book.play(PreviewHarvest()) == ()
    assert book.play(ApplyHarvest()) == ()
    assert not harvest(book).is_busy
    assert [notice.text for notice in book.state.program.notices] == ["There is nothing to apply."]


def test_while_one_run_is_under_way_another_is_not_begun() -> None:
    book = looked()
    book.play(PreviewHarvest())

    for command in (LookForHarvest(), PreviewHarvest(), ApplyHarvest(), UndoHarvest()):
        assert book.play(command) == ()
    assert harvest(book).phase is HarvestPhase.PREVIEWING
    assert "Wait until it ends" in book.state.program.notices[0].text


def test_who_waits_for_a_run_hears_of_its_end_and_of_no_other() -> None:
    def outcome(of_command: str) -> CommandOutcome | None:
        return outcome_of(book.state, of_command)

    book = looked()
    book.play(PreviewHarvest(command_id="one"))
    book.play(LookForHarvest(command_id="two"))
    assert outcome("one") is None
    refused = outcome("two")
    assert refused is not None
    assert refused.cause is Cause.NOT_NOW
    assert "Wait until it ends" in refused.problem

    book.play(HarvestEnded("stopped"))
    assert outcome("one") == CommandOutcome("one")

    book.play(LookForHarvest(command_id="three"))
    book.play(HarvestFailed("The disk is full", "Make room"))
    assert outcome("three") == CommandOutcome("three", problem="The disk is full", remedy="Make room")
    assert (book.state.harvest.problem, book.state.harvest.remedy) == ("The disk is full", "Make room")

    book.play(LookForHarvest())
    assert book.state.harvest.remedy == ""
    book.play(HarvestLooked(HarvestLook()))
    book.play(ApplyHarvest(command_id="four"))
    nothing = outcome("four")
    assert nothing is not None
    assert nothing.cause is Cause.NOTHING


def test_parts_are_joined_as_they_come() -> None:
    book = looked()
    book.play(PreviewHarvest())
    book.play(HarvestProposed(part("one")))
    failure = HarvestFailure("two", TWO.facts.path, "", "timed out")
    book.play(HarvestProposed(HarvestPreview(failures=(failure,))))

    found = harvest(book).preview
    assert found is not None
    assert [item.id for item in found.items] == ["one-0", "one-1"]
    assert (found.sources, found.failures) == ((ONE.facts,), (failure,))
    assert (found.dropped, found.calls) == (1, 1)


def test_the_person_unticks_edits_and_moves_also_while_others_are_still_read() -> None:
    book = looked()
    book.play(PreviewHarvest())
    book.play(HarvestProposed(part("one")))

    book.play(TickHarvestItems(("one-0",), is_ticked=False))
    book.play(EditHarvestItem("one-1", "Said better."))
    book.play(MoveHarvestItem("one-1", Category.DECISIONS))
    book.play(HarvestProposed(part("two")))

    found = harvest(book).preview
    assert found is not None
    assert [item.is_ticked for item in found.items] == [False, True, True, False]
    assert found.items[1].item == HarvestItem(Category.DECISIONS, "Said better.")
    assert found.items[1].is_edited


def test_while_it_is_written_the_choice_stays_as_it_was_sent() -> None:
    book = previewed()
    book.play(ApplyHarvest())
    before = harvest(book)

    for command in (
        TickHarvestItems(("one-0",), is_ticked=False),
        EditHarvestItem("one-1", "Late."),
        MoveHarvestItem("one-1", Category.TASKS_OPEN),
        DiscardPreview(),
    ):
        assert book.play(command) == ()
    assert harvest(book) == before


def test_a_preview_is_discarded_when_it_is_over_and_not_before() -> None:
    book = looked()
    book.play(PreviewHarvest())
    book.play(DiscardPreview())
    assert harvest(book).preview is not None

    book.play(HarvestEnded())
    book.play(DiscardPreview())
    assert harvest(book).preview is None


def test_what_a_preview_cost_counts_towards_the_day_and_adds_up() -> None:
    book = ready()
    book.play(SpentCounted(START, 1.0))
    for use in (HarvestUse(2, Usage(cost_usd=0.5), 0.5), HarvestUse(1, Usage(cost_usd=0.25), 0.25)):
        book.play(HarvestPaid(use))

    assert book.state.spending.spent_today_usd == pytest.approx(1.75)
    assert harvest(book).use.calls == 3
    assert harvest(book).use.cost_usd == pytest.approx(0.75)

    book.play(HarvestPaid(HarvestUse(1, Usage(input_tokens=3))))
    assert book.state.spending.spent_today_usd == pytest.approx(1.75)
    assert (harvest(book).use.calls, harvest(book).use.cost_usd) == (4, None)


def test_a_preview_counts_its_own_calls_apart_from_those_before_it() -> None:
    book = looked()
    for _ in range(2):
        book.play(PreviewHarvest())
        book.play(HarvestPaid(HarvestUse(1, Usage())))
        book.play(HarvestPaid(HarvestUse(1, Usage())))
        book.play(HarvestProposed(replace(part("one"), calls=0)))
        book.play(HarvestEnded())
        found = harvest(book).preview
        assert found is not None
        assert found.calls == 2
        book.play(DiscardPreview())

    assert harvest(book).use.calls == 4


def test_a_preview_that_ended_early_says_why_and_keeps_what_it_found() -> None:
    book = looked()
    book.play(PreviewHarvest())
    book.play(HarvestProposed(part("one")))

    book.play(HarvestEnded("You stopped the run."))

    assert harvest(book).problem == "You stopped the run."
    assert harvest(book).preview == part("one")
    book.play(PreviewHarvest())
    assert (harvest(book).problem, harvest(book).preview) == ("", HarvestPreview())


def test_background_work_begins_only_while_the_day_has_money() -> None:
    limited = Settings(caching=CachingSettings(day_limit_usd=2.0))
    book = looked(limited)
    book.play(SpentCounted(START, 0.5))
    assert of(book.play(PreviewHarvest()), DistilConversations)

    spent = looked(limited)
    spent.play(SpentCounted(START, 2.0))
    assert spent.play(PreviewHarvest()) == ()
    assert not harvest(spent).is_busy
    assert spent.state.program.notices[0].text == "The harvest did not start."
    assert "$2.00" in spent.state.program.notices[0].detail


def test_a_preview_is_stopped_when_the_days_money_goes_whoever_spends_it() -> None:
    book = looked(Settings(caching=CachingSettings(day_limit_usd=2.0)))
    book.play(SpentCounted(START, 1.0))
    book.play(PreviewHarvest())
    assert book.play(HarvestPaid(HarvestUse(1, Usage(cost_usd=0.5), 0.5))) == ()

    (stop,) = of(book.play(SpentCounted(START, 2.5)), CancelHarvest)

    assert "You have reached the limit of $2.00 for today" in stop.why
    assert of(book.play(HarvestProgressed(1, 2)), CancelHarvest) == ()
    book.play(HarvestEnded(stop.why))
    assert of(book.play(SpentCounted(START, 3.0)), CancelHarvest) == ()


def test_applying_writes_what_was_previewed_and_prunes_the_empty_ones() -> None:
    book = looked()
    book.play(PreviewHarvest((ONE.facts.path,)))
    book.play(HarvestProposed(part("one")))
    book.play(HarvestEnded())

    (begun,) = of(book.play(ApplyHarvest()), ApplyPreview)

    assert begun.artifacts == (ONE, EMPTY)
    assert begun.preview == part("one")
    assert harvest(book).phase is HarvestPhase.APPLYING
    assert harvest(book).total == 2


def test_what_a_model_failed_at_is_in_the_apply_so_that_the_ledger_tells_why_it_is_kept() -> None:
    book = looked()
    book.play(PreviewHarvest())
    book.play(HarvestProposed(part("one")))
    book.play(
        HarvestProposed(HarvestPreview(failures=(HarvestFailure("two", TWO.facts.path, "", "timed out"),)))
    )
    book.play(HarvestEnded())

    (begun,) = of(book.play(ApplyHarvest()), ApplyPreview)

    assert begun.artifacts == (ONE, TWO, EMPTY)
    assert begun.preview is not None
    assert begun.preview.failures[0].reason == "timed out"


def test_when_a_model_failed_at_everything_nothing_is_given_up() -> None:
    book = looked()
    book.play(PreviewHarvest())
    book.play(
        HarvestProposed(HarvestPreview(failures=(HarvestFailure("two", TWO.facts.path, "", "timed out"),)))
    )
    book.play(HarvestEnded())

    (begun,) = of(book.play(ApplyHarvest()), ApplyPreview)

    assert begun.artifacts == (EMPTY,)


def test_without_a_preview_only_what_is_named_is_given_up_unharvested() -> None:
    book = looked()

    (begun,) = of(book.play(ApplyHarvest((TWO.facts.path, LIVE.facts.path))), ApplyPreview)

    assert begun.artifacts == (TWO, EMPTY)
    assert begun.preview is None


def test_an_apply_shows_its_report_and_reads_anew_what_it_changed() -> None:
    book = previewed()
    book.play(ApplyHarvest())
    after, report = HarvestLook((LIVE,)), HarvestReport(is_dry=False, reclaimed_bytes=20)

    effects = book.play(HarvestReported(result=report, look=after))

    assert of(effects, ReadKnowledge)
    assert of(effects, LoadSummaries)
    assert (harvest(book).report, harvest(book).look, harvest(book).preview) == (report, after, None)
    assert not harvest(book).is_busy


def test_an_apply_that_was_stopped_says_so_and_a_look_that_failed_leaves_the_old_one() -> None:
    book = previewed()
    book.play(ApplyHarvest())

    book.play(HarvestReported(result=HarvestReport(is_dry=False, stopped="The disk is full"), look=None))

    assert harvest(book).problem == "The disk is full"
    assert harvest(book).look is LOOK


def test_what_an_apply_that_was_stopped_did_not_write_is_still_there_as_the_person_left_it() -> None:
    book = previewed()
    book.play(EditHarvestItem("two-0", "In my words.", ""))
    book.play(TickHarvestItems(("two-1",), False))
    book.play(ApplyHarvest())
    report = HarvestReport(is_dry=False, stopped="The disk is full", reclaimed=("one",))

    book.play(HarvestReported(result=report, look=HarvestLook((LIVE, TWO))))

    left = harvest(book).preview
    assert left is not None
    assert left.sources == (TWO.facts,)
    assert [(one.item.head, one.is_ticked) for one in left.items] == [
        ("In my words.", True),
        ("two says 1.", False),
    ]

    (again,) = of(book.play(ApplyHarvest()), ApplyPreview)
    assert again.artifacts == (TWO,)
    known = replace(TWO, facts=replace(TWO.facts, known_status="harvested"))
    book.play(HarvestReported(result=replace(report, reclaimed=()), look=HarvestLook((LIVE, known))))
    assert harvest(book).preview is None


def test_reclaimed_conversations_leave_the_list_at_once_and_the_newest_is_shown() -> None:
    book = ready()
    kept, gone, shown = (book.discussion(name) for name in ("Kept", "Gone", "Shown"))
    book.play(HarvestLooked(LOOK))
    book.play(SelectDiscussion(shown))

    effects = book.play(
        HarvestReported(result=HarvestReport(is_dry=False, reclaimed=(gone, shown)), look=LOOK)
    )

    assert set(book.state.discussions.summaries) == set(book.state.discussions.open) == {kept}
    assert book.state.discussions.selected_id == kept
    assert {effect.discussion_id for effect in of(effects, IndexDiscussion)} == {gone, shown}
    (notice,) = book.state.program.notices
    assert (notice.text, notice.action) == (
        "The program harvested 'Shown' and moved it to the trash.",
        UndoDelete(shown),
    )


def test_a_conversation_that_answers_right_now_stays_on_the_list() -> None:
    book = ready()
    busy = book.discussion("Busy")
    book.ask(busy, "Why?")

    book.play(HarvestReported(result=HarvestReport(is_dry=False, reclaimed=(busy,)), look=LOOK))

    assert busy in book.state.discussions.summaries
    assert book.state.program.notices == ()


def test_an_undo_names_its_apply_and_shows_what_it_did() -> None:
    book = looked()
    (begun,) = of(book.play(UndoHarvest("20261120-120000-abcdef")), UndoApply)
    assert (begun.apply_id, harvest(book).phase) == ("20261120-120000-abcdef", HarvestPhase.UNDOING)
    report = UndoReport(begun.apply_id, 2, ("facts.md: - kept",), ("one",))

    effects = book.play(HarvestReported(result=report, look=HarvestLook((ONE,))))

    assert of(effects, ReadKnowledge)
    assert of(effects, LoadSummaries)
    assert (harvest(book).undone, harvest(book).report) == (report, None)
    assert harvest(book).look == HarvestLook((ONE,))


def test_cancelling_stops_the_run_and_does_nothing_while_none_is_under_way() -> None:
    book = looked()
    assert book.play(CancelHarvest()) == ()

    book.play(PreviewHarvest())
    assert book.play(CancelHarvest()) == (CancelHarvest(),)
    assert harvest(book).is_cancelling

    book.play(HarvestEnded("You stopped the run."))
    assert not harvest(book).is_cancelling


def test_a_run_that_could_not_begin_is_an_error_that_names_the_remedy() -> None:
    book = looked()
    book.play(ApplyHarvest((ONE.facts.path,)))

    book.play(
        HarvestFailed(
            "Something else is writing to knowledge now: a shell",
            "Wait until the other work has ended, then try again",
        )
    )

    (notice,) = book.state.program.notices
    assert (notice.level.value, notice.text) == (
        "error",
        "Something else is writing to knowledge now: a shell",
    )
    assert notice.detail == "Wait until the other work has ended, then try again"
    assert not harvest(book).is_busy
    assert harvest(book).problem == notice.text


def test_a_models_profile_of_the_provider_is_the_default_reader() -> None:
    loaded = settings_loaded(settings=Settings(knowledge=KnowledgeSettings(harvest_provider="local")))
    book = Playbook()
    book.play(HomeOpened("/h"))
    book.play(replace(loaded, models={**loaded.models, "local": (ModelProfile("local", "qwen"),)}))

    (scan,) = of(book.play(LookForHarvest()), ScanConversations)

    assert (scan.run.provider, scan.run.model) == ("local", "qwen")


ITEM_COMMANDS = (
    AddKnowledgeItem(Category.FACTS, "The moon pulls."),
    AttachNotes("1:2", "/p/a.py"),
)


@pytest.mark.parametrize("command", ITEM_COMMANDS)
def test_a_persons_change_to_knowledge_goes_to_its_worker(
    command: AddKnowledgeItem | AttachNotes,
) -> None:
    assert ready().play(command) == (ChangeKnowledge(command, KnowledgeSettings()),)


def test_deleting_the_digest_turns_layer_7_off() -> None:
    assert ready().play(DeleteDigest()) == (ChangeKnowledge(DeleteDigest(), KnowledgeSettings()),)


def test_a_call_of_a_preview_holds_its_price_back_from_others_and_not_from_itself() -> None:
    book = looked(Settings(caching=CachingSettings(day_limit_usd=2.0)))
    book.play(SpentCounted(START, 1.0))
    book.play(PreviewHarvest())
    assert book.play(HarvestCalling(1.5)) == (LetHarvestCall(),)
    assert "Running requests may add about $1.50" in limit_reached(book.state)

    book.play(HarvestPaid(HarvestUse(1, Usage(cost_usd=0.5), 0.5, "one")))
    book.play(HarvestPaid(HarvestUse(1, Usage(cost_usd=0.5), 0.5, "one")))
    assert not limit_reached(book.state)
    assert book.state.spending.spent_today_usd == 1.5
    book.play(HarvestCalling(1.5))
    book.play(HarvestEnded())
    assert not limit_reached(book.state)


def test_a_preview_goes_on_below_another_limit_and_is_stopped_by_one_that_is_reached() -> None:
    book = looked(Settings(caching=CachingSettings(day_limit_usd=2.0)))
    book.play(SpentCounted(START, 1.0))
    book.play(PreviewHarvest())
    book.play(HarvestCalling(0.5))

    def limited(usd: float | None) -> Settings:
        return replace(book.state.config.settings, caching=CachingSettings(day_limit_usd=usd))

    assert not of(book.play(settings_loaded(settings=limited(1.1))), CancelHarvest)
    assert not of(book.play(settings_loaded(settings=limited(None))), CancelHarvest)
    assert of(book.play(settings_loaded(settings=limited(0.9))), CancelHarvest)


def test_a_call_that_other_programs_left_no_money_for_ends_the_preview_and_is_held_back_no_more() -> None:
    book = looked(Settings(caching=CachingSettings(day_limit_usd=2.0)))
    book.play(SpentCounted(START, 1.0))
    book.play(PreviewHarvest())
    book.elsewhere = SpentElsewhere(0.5, {"theirs": Payment(0.25)})
    assert book.play(HarvestCalling(0.5)) == (LetHarvestCall(),)
    book.play(HarvestPaid(HarvestUse(1, Usage(cost_usd=0.25), 0.25, "one")))
    assert book.shared[-1] == SettleReserve(HELD, {"one": Payment(0.25)})

    (stopped,) = of(book.play(HarvestCalling(0.5)), CancelHarvest)
    assert (
        stopped.why
        == "You have reached the limit of $2.00 for today: $1.50 spent. Running requests may add about $0.50."
    )
    assert book.state.spending.reserved == {}
    assert book.shared[-1] == SettleReserve(HELD, {})


def test_no_call_of_a_preview_goes_before_the_day_was_counted() -> None:
    book = looked(Settings(caching=CachingSettings(day_limit_usd=2.0)))
    book.play(PreviewHarvest())

    (stopped,) = of(book.play(HarvestCalling(0.5)), CancelHarvest)
    assert stopped.why == NOT_COUNTED
    assert book.state.spending.reserved == {}


def test_no_call_of_a_preview_goes_before_other_programs_were_seen() -> None:
    book = looked()
    book.play(PreviewHarvest())
    book.elsewhere = None
    assert book.play(HarvestCalling(0.5)) == ()
    assert book.shared == [ClaimReserve(HELD, Reservation(0.5))]

    book.play(HarvestEnded())
    late = ReserveClaimed(HELD, Reservation(0.5), SpentElsewhere())
    assert book.play(late) == (), "the run is over"
