"""Forgetting in the state: nothing is begun without a yes, and what is begun leaves the list at once."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from core.agent.attention_machine import noted
from core.app.forgetting import forgetting_step
from core.app.forgetting.forgetting_messages import ForgetDiscussion, ForgetEnded, RunForget
from core.kernel.values.agent import Attention, AttentionState, Autonomy
from core.kernel.values.harvest import BatchReport, HarvestBatch, HarvestLook
from core.kernel.values.imports import FollowState, ImportReport, ImportState
from core.kernel.values.knowledge import Category, ForgetReceipt, Item, MergeProposal
from core.kernel.values.signals import Signal, SignalSource, SignalState
from core.kernel.values.updates import with_summary
from core.knowledge import knowledge_step as knowledge
from core.knowledge.knowledge_messages import KnowledgeDeleted, RestoreItem
from tests.panels import states
from tests.panels.retrieval import retrieval_states


def test_nothing_is_begun_that_was_not_confirmed() -> None:
    state = states.working()
    after, effects = forgetting_step.HANDLERS(state, ForgetDiscussion(state.discussions.selected_id))

    assert (effects, after.forgetting.is_running) == ((), False)
    assert after.discussions == state.discussions


def test_what_is_begun_leaves_list_trash_and_history_at_once() -> None:
    state = states.working()
    chosen = next(key for key in state.discussions.summaries if key not in state.turns.calls)
    after, effects = forgetting_step.HANDLERS(state, ForgetDiscussion(chosen, is_confirmed=True))

    assert any(
        isinstance(one, RunForget) and one.target and one.target.discussion_ids == (chosen,)
        for one in effects
    )
    assert chosen not in after.discussions.summaries
    assert after.discussions.prompt_history == ()
    assert forgetting_step.HANDLERS(after, ForgetDiscussion(chosen, is_confirmed=True))[1] == ()


def test_tasks_go_with_the_discussion_that_gave_them_away_and_branches_when_asked() -> None:
    state = states.working()
    chosen = next(key for key in state.discussions.summaries if key not in state.turns.calls)
    about = replace(state.discussions.summaries[chosen].meta, parent_id=chosen)
    for name, call in (("task", "call"), ("fork", "")):
        row = replace(state.discussions.summaries[chosen], meta=replace(about, id=name, delegated_by=call))
        state = with_summary(state, row)

    assert forgetting_step.target_of(state, ForgetDiscussion(chosen)).discussion_ids == (chosen, "task")
    everything = forgetting_step.target_of(state, ForgetDiscussion(chosen, with_branches=True)).discussion_ids
    assert {"task", "fork"} < set(everything)


def test_what_was_searched_and_recalled_goes_with_it() -> None:
    state = retrieval_states.indexed(answer=retrieval_states.ANSWER)
    assert state.context.sent_recall

    after, _ = forgetting_step.HANDLERS(state, ForgetEnded(None, "The disk is full"))

    assert (after.retrieval.answer, after.context.sent_recall) == (None, ())
    assert after.retrieval.report == state.retrieval.report


def test_what_was_proposed_or_may_be_put_back_leaves_the_window() -> None:
    state = states.working()
    item = Item(Category.FACTS, "facts.md", "The gate opens.")
    state, _ = knowledge.HANDLERS(
        state, KnowledgeDeleted(item.text, RestoreItem(item, b"- The gate opens.\n", 0, ""))
    )
    harvest = replace(state.harvest, merge=MergeProposal(Category.FACTS, "facts.md"))
    state = replace(state, harvest=harvest, imports=ImportState(report=ImportReport(is_dry=True)))
    assert item.text in str(state.program.notices)

    after, _ = forgetting_step.HANDLERS(
        state, ForgetEnded(ForgetReceipt("f", "2026-11-23T00:00:00Z", ("d",)))
    )

    assert (after.harvest.merge, after.imports) == (None, ImportState())
    assert item.text not in str(after.program.notices)


def test_what_is_followed_stays_as_it_is() -> None:
    follow = FollowState(places=("/s",), is_looking=True, told="it is cut off")
    state = replace(states.working(), following=follow)
    receipt = ForgetReceipt("f", "2026-11-23T00:00:00Z", ("d",))
    assert forgetting_step.HANDLERS(state, ForgetEnded(receipt))[0].following == follow


def test_signals_that_were_told_or_wait_for_what_is_gone_leave_the_window() -> None:
    def signal(text: str, discussion_id: str = "") -> Signal:
        return Signal(
            text, SignalSource.INBOX, "note.txt", text, datetime(2026, 11, 23, tzinfo=UTC), discussion_id
        )

    held = SignalState(waiting=(signal("for it", "d"), signal("for all")), seen=(signal("told"),))
    state = replace(states.working(), signals=held)

    after, _ = forgetting_step.HANDLERS(
        state, ForgetEnded(ForgetReceipt("f", "2026-11-23T00:00:00Z", ("d",)))
    )

    assert [one.text for one in after.signals.waiting] == ["for all"]
    assert after.signals.seen == ()


def test_what_a_dream_told_and_what_a_look_listed_leave_the_window() -> None:
    at = datetime(2026, 11, 23, tzinfo=UTC)
    dreamer = noted(Autonomy("other", Attention.RESTING), at, "It would keep: the gate opens late.")
    seen = replace(states.working(), attention=AttentionState(dreamer, replace(dreamer, discussion_id="d")))
    look = HarvestLook(sources={"the-gate": "d"}, batches=(HarvestBatch("t", "anthropic", "m", "", ()),))
    batched = BatchReport(problems=("The gate: the provider answered with an error.",))
    seen = replace(
        seen, harvest=replace(seen.harvest, look=look, batched=batched, problem="The gate was not read.")
    )

    after, _ = forgetting_step.HANDLERS(seen, ForgetEnded(ForgetReceipt("f", "2026-11-23T00:00:00Z", ("d",))))

    assert after.attention == AttentionState(replace(dreamer, notes=()))
    assert (after.harvest.look, after.harvest.batched) == (HarvestLook(batches=look.batches), None)
    assert after.harvest.problem == ""
