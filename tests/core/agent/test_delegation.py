"""Delegation: what a child may, who pays, who is asked, and that every task has one result, in whatever order things come."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from core.agent import delegation
from core.agent.agent_messages import (
    CallJudged,
    FilesRestored,
    JudgeCall,
    KillCommands,
    RunCall,
    SetTools,
    StopCalls,
    UndoTurn,
)
from core.agent.agent_pages import page_of, with_page
from core.agent.delegation import MAX_RESULT_BYTES, MOST_AT_ONCE, MOST_IN_TURN, framed_result, questions_of
from core.agent.tool_policy import EDIT_GRANT, approval_id
from core.app.app_messages import Effect
from core.app.lifecycle import KEPT_OPEN
from core.kernel.errors import FailureKind
from core.kernel.ids import Stamp
from core.kernel.language import tr
from core.kernel.values.agent import ActKind, Approval, CallState, FileChange, Mode, ToolCall
from core.kernel.values.discussion import DiscussionSummary, OpenDiscussion
from core.kernel.values.mcp import McpState
from core.kernel.values.messages import Part, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import Failure, StopKind, Stopped
from core.kernel.values.spec import ToolOffer
from core.kernel.values.stack import ToolSchema
from core.kernel.values.state import CommandOutcome, TrashItem
from core.kernel.values.updates import OperationFailed, Tick, is_busy, outcome_of, with_summary
from core.kernel.values.usage import Usage
from core.services.spending.limits import reached_limits
from core.talk.caching.caching_messages import StopPings
from core.talk.context.context_spec import offered_by_servers, stack_spec
from core.talk.discussion.discussion_messages import (
    AddToQueue,
    AppendRecords,
    CreateOnDisk,
    DeleteDiscussion,
    DiscussionCreated,
    DiscussionRestored,
    DiscussionTrashed,
    QueueWritten,
    SelectDiscussion,
    TrashOnDisk,
    UndoDelete,
)
from core.talk.discussion.lifecycle import branch_meta
from core.talk.turn.turn_messages import (
    CallEnded,
    CallFailed,
    CallProvider,
    CancelCall,
    CancelReply,
    ContinueReply,
    SendPrompt,
)
from tests.core.agent.tool_playbook import KINDS, ToolPlaybook, asks
from tests.core.app.playbook import of

DONE = (TextPart("Done."),)


def tasks(*ids: str, may_write: bool = False) -> tuple[Part, ...]:
    """Parts of a reply that gives a task away for each id."""
    given = {one: json.dumps({"task": f"Find {one}.", "may_write": may_write}) for one in ids}
    return tuple(ToolCallPart(one, "delegate", arguments) for one, arguments in given.items())


class TaskPlaybook(ToolPlaybook):
    """A disk that makes the discussions of tasks as well."""

    def make(self, effect: CreateOnDisk) -> tuple[Effect, ...]:
        """The disk makes a child; what follows, the disk keeping all."""
        summary = DiscussionSummary(effect.meta, self.at)
        return self.keep(self.play(DiscussionCreated(summary, OpenDiscussion(effect.meta.id))))

    def judge_all(self, effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
        """Judge what is to be judged, and what is after that; all other effects."""
        others: list[Effect] = []
        waiting = list(effects)
        while waiting:
            effect = waiting.pop(0)
            waiting += self.judge(effect) if isinstance(effect, JudgeCall) else ()
            others += () if isinstance(effect, JudgeCall) else (effect,)
        return tuple(others)

    def child(self, chosen: str, *, may_write: bool = False) -> CallProvider:
        """A parent whose model gives one task away; the first call of its child."""
        effects = self.judge_all(self.reply(self.ask(chosen, "go"), tasks("t", may_write=may_write)))
        (making,) = of(effects, CreateOnDisk)
        (call,) = of(self.make(making), CallProvider)
        return call

    def results(self, chosen: str) -> list[str]:
        """Results of the calls of a discussion, in their order."""
        return [p.text for m in self.said(chosen) for p in m.parts if isinstance(p, ToolResultPart)]


@pytest.fixture
def book() -> TaskPlaybook:
    return TaskPlaybook()


def child_of(call: CallProvider) -> str:
    return call.spec.discussion_id


def test_a_child_gives_no_task_away_also_when_it_is_an_own_discussion_later(book: TaskPlaybook) -> None:
    call = book.child(book.with_tools())
    book.judge_all(book.reply(call, tasks("deep")))

    assert book.results(child_of(call)) == [delegation.DEEP]
    assert stack_spec(book.state, child_of(call)).tools == ToolOffer(
        is_trusted=True, is_delegated=True, reads_only=True
    )
    book.play(SetTools(child_of(call), has_tools=True))
    wider = stack_spec(book.state, child_of(call)).tools
    assert wider == ToolOffer(is_trusted=True, is_delegated=True), "the person said so"
    meta = book.state.discussions.summaries[child_of(call)].meta
    assert meta.delegated_by == "t"
    assert branch_meta(meta, Stamp(book.at, "branch"), "", "Branch: x").delegated_by == "", (
        "a branch of it is the person's"
    )


def test_a_task_is_no_turn_of_the_persons_and_what_they_say_there_is_one(book: TaskPlaybook) -> None:
    chosen = book.with_tools()
    asked = book.ask(chosen, "first")
    book.reply(asked, DONE, StopKind.COMPLETED)
    call = book.child(chosen)
    book.reply(call, DONE, StopKind.COMPLETED)

    assert (asked.spec.is_task, call.spec.is_task) == (False, True)
    assert not book.ask(child_of(call), "And this?").spec.is_task


def test_the_rest_that_a_person_asks_for_in_a_task_is_a_turn_of_theirs(book: TaskPlaybook) -> None:
    call = book.child(book.with_tools())
    book.reply(call, (TextPart("Half of"),), StopKind.CANCELLED)
    (going_on,) = of(book.keep(book.play(ContinueReply(child_of(call)))), CallProvider)

    assert (going_on.spec.is_task, going_on.spec.recall) == (False, None)


def test_of_tasks_that_are_over_the_newest_stay_open_and_the_one_that_is_shown(book: TaskPlaybook) -> None:
    chosen = book.with_tools()
    made: list[str] = []
    for number in range(KEPT_OPEN + 4):
        book.later(60)
        asked = book.judge_all(book.reply(book.ask(chosen, f"go {number}"), tasks(f"t{number}")))
        (making,) = of(asked, CreateOnDisk)
        (call,) = of(book.make(making), CallProvider)
        made.append(child_of(call))
        told = book.judge_all(book.reply(call, DONE, StopKind.COMPLETED))
        (again,) = of(told, CallProvider)
        book.reply(again, DONE, StopKind.COMPLETED)
        if number == 0:
            book.play(SelectDiscussion(made[0]))
    book.later(60).play(Tick())

    assert set(book.state.discussions.open) == {chosen, made[0], *made[2 - KEPT_OPEN :]}
    assert set(made) < set(book.state.discussions.summaries)


def test_a_child_calls_none_of_its_parents_own_tools_though_its_model_knows_their_names(
    book: TaskPlaybook,
) -> None:
    call = book.child(book.with_tools())
    book.judge_all(book.reply(call, asks(("j", "journal"), ("y", "yield_to_user"))))

    assert book.results(child_of(call)) == [delegation.NOT_YOURS] * 2


def test_a_child_is_offered_no_tool_of_a_server_that_its_parent_was_not(book: TaskPlaybook) -> None:
    chosen = book.with_tools()
    call = book.child(chosen, may_write=True)
    one = ToolSchema("files__read", "", "{}")
    book.state = replace(book.state, mcp=McpState(frozen={chosen: (one,)}))

    assert offered_by_servers(book.state, child_of(call)) == (one,)


def test_four_tasks_are_at_work_beside_each_other_and_sixteen_in_a_turn(book: TaskPlaybook) -> None:
    chosen = book.with_tools()
    names = tuple(f"t{n}" for n in range(MOST_IN_TURN + 2))
    waiting = list(book.judge_all(book.reply(book.ask(chosen, "go"), tasks(*names))))
    made: list[str] = []
    while makings := of(tuple(waiting), CreateOnDisk):
        assert len(book.state.agent.delegations) <= MOST_AT_ONCE
        waiting.remove(makings[0])
        made.append(makings[0].meta.delegated_by)
        (call,) = of(book.make(makings[0]), CallProvider)
        waiting += book.judge_all(book.reply(call, DONE, StopKind.COMPLETED))

    assert made == list(names[:MOST_IN_TURN])
    assert book.results(chosen).count(delegation.TOO_MANY) == 2
    assert [one for one in waiting if isinstance(one, CallProvider)][-1].spec.discussion_id == chosen


def test_a_task_that_may_write_waits_for_the_others_and_they_for_it(book: TaskPlaybook) -> None:
    chosen = book.with_tools()
    reply = (*tasks("reads"), *tasks("writes", may_write=True), *tasks("later"))
    effects = book.judge_all(book.reply(book.ask(chosen, "go"), reply))
    (first,) = of(effects, CreateOnDisk)
    (call,) = of(book.make(first), CallProvider)
    (second,) = of(book.judge_all(book.reply(call, DONE, StopKind.COMPLETED)), CreateOnDisk)

    assert (first.meta.delegated_by, second.meta.delegated_by) == ("reads", "writes")
    assert (first.meta.mode, second.meta.mode) == (Mode.PLAN, Mode.ASK)


def test_a_child_only_reads_unless_its_task_says_more(book: TaskPlaybook) -> None:
    call = book.child(book.with_tools(Mode.ACCEPT_EDITS))
    (judge,) = of(book.reply(call, asks(("w", "write"))), JudgeCall)
    effects = book.judge(judge, grant=EDIT_GRANT)

    assert not of(effects, RunCall)
    assert "plan mode" in book.results(child_of(call))[0]


def test_no_approval_and_no_mode_goes_along_and_the_question_stands_under_both(book: TaskPlaybook) -> None:
    chosen = book.with_tools(Mode.ACCEPT_EDITS)
    call = book.child(chosen, may_write=True)
    (judge,) = of(book.reply(call, asks(("w", "write"))), JudgeCall)
    effects = book.judge(judge, grant=EDIT_GRANT)

    assert not of(effects, RunCall)
    assert book.states(child_of(call)) == {"w": CallState.ASKING}
    for one in (chosen, child_of(call)):
        assert [(asker, each.id) for asker, each in questions_of(book.state, one)] == [(child_of(call), "w")]

    book.keep(book.play(SetTools(chosen, has_tools=True, mode=Mode.PLAN)))
    assert book.states(child_of(call)) == {"w": CallState.REFUSED}, "its parent only reads from now on"


def test_a_child_gets_no_tool_that_was_taken_from_its_parent(book: TaskPlaybook) -> None:
    chosen = book.with_tools()
    call = book.child(chosen)
    book.play(SetTools(chosen, has_tools=False))
    effects = book.reply(call, asks(("l", "look")))

    assert not of(effects, JudgeCall)
    assert "switched off" in book.results(child_of(call))[0]


def test_the_parents_limit_pays_for_its_children_and_their_cost_is_that_of_its_task(
    book: TaskPlaybook,
) -> None:
    chosen = book.with_tools()
    call = book.child(chosen)
    assert not reached_limits(book.state, chosen)
    (again,) = of(finish_look(book, book.reply(call, asks(("l", "look")))), CallProvider)
    row = book.state.discussions.summaries[chosen]
    book.state = with_summary(book.state, replace(row, meta=replace(row.meta, spend_limit_usd=0.02)))

    for one in (chosen, child_of(call)):
        (limit,) = reached_limits(book.state, one)
        assert limit.limit_usd == 0.02
        assert limit.spent_usd == pytest.approx(0.02)
    effects = book.reply(again, asks(("m", "look")))
    assert not of(finish_look(book, effects), CallProvider), "the child is not asked once more"
    (told,) = book.results(chosen)
    assert "You have reached the limit of $0.02 for this discussion" in told
    assert book.state.agent.pages[chosen].usd == pytest.approx(0.03)
    assert not book.state.turns.calls
    assert not book.state.agent.turns


def finish_look(book: TaskPlaybook, effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The call that reads is judged and done."""
    (run,) = of(book.judge_all(effects), RunCall)
    return book.finish(run)


def test_escape_in_the_parent_ends_its_children_and_each_call_has_a_result(book: TaskPlaybook) -> None:
    chosen = book.with_tools()
    effects = book.judge_all(book.reply(book.ask(chosen, "go"), tasks("one", "two")))
    first, second = of(effects, CreateOnDisk)
    (call,) = of(book.make(first), CallProvider)
    effects = book.keep(book.play(CancelReply(chosen)))
    assert [one.call_id for one in of(effects, CancelCall)] == [call.call_id]
    effects = book.keep(
        book.play(CallEnded(call.call_id, Stopped(StopKind.CANCELLED), (TextPart("Half"),), Usage()))
    )
    assert not of(book.make(second), CallProvider), "made when its parent was stopped already"

    assert book.states(chosen) == {"one": CallState.INTERRUPTED, "two": CallState.INTERRUPTED}
    one, two = book.results(chosen)
    assert one == f'{delegation.STOPPED}\n<delegated discussion="{first.meta.id}">\nHalf\n</delegated>\n'
    assert two == delegation.STOPPED
    assert not book.state.agent.turns
    assert not book.state.agent.delegations


def test_escape_in_the_child_alone_lets_the_parent_go_on(book: TaskPlaybook) -> None:
    chosen = book.with_tools()
    call = book.child(chosen)
    book.keep(book.play(CancelReply(child_of(call))))
    ended = CallEnded(call.call_id, Stopped(StopKind.CANCELLED), (TextPart("Half"),), Usage())
    (again,) = of(book.keep(book.play(ended)), CallProvider)

    assert again.spec.discussion_id == chosen
    assert book.results(chosen)[0].startswith(delegation.STOPPED_THERE)


def test_commands_of_the_children_are_killed_with_those_of_the_parent(book: TaskPlaybook) -> None:
    chosen = book.with_tools()
    call = book.child(chosen)
    killed = of(book.play(KillCommands(chosen)), StopCalls)
    assert [(one.discussion_id, one.kills) for one in killed] == [(chosen, True), (child_of(call), True)]


def test_a_command_that_a_task_left_behind_ends_with_those_of_who_gave_it_away(book: TaskPlaybook) -> None:
    chosen, child = finished(book, may_write=True)
    assert delegation.with_commands(book.state, chosen) == ()
    left = ToolCall("t9", "bash", "{}", CallState.DONE, kind=ActKind.COMMAND, is_background=True)
    page = page_of(book.state, child)
    book.state = with_page(book.state, child, replace(page, commands=(left,)))

    assert delegation.with_commands(book.state, chosen) == (child,)
    killed = of(book.play(KillCommands(chosen)), StopCalls)
    assert [(one.discussion_id, one.call_ids, one.kills) for one in killed] == [
        (chosen, (), True),
        (child, (), True),
    ]
    assert [one.discussion_id for one in of(book.play(KillCommands(child)), StopCalls)] == [child]


def test_what_became_of_a_task_that_failed_is_told_and_the_turn_goes_on(book: TaskPlaybook) -> None:
    chosen = book.with_tools()
    call = book.child(chosen)
    failure = Failure(FailureKind.STREAM_DROPPED, "The stream was dropped", "Retry.")
    effects = book.keep(book.play(CallFailed(call.call_id, failure, (), Usage())))

    assert book.results(chosen) == ["It failed: The stream was dropped."]
    assert book.states(chosen) == {"t": CallState.FAILED}
    assert [one.spec.discussion_id for one in of(effects, CallProvider)] == [chosen]


def test_a_task_whose_discussion_cannot_be_made_fails_in_words(book: TaskPlaybook) -> None:
    chosen = book.with_tools()
    effects = book.judge_all(book.reply(book.ask(chosen, "go"), tasks("t")))
    (making,) = of(effects, CreateOnDisk)
    book.keep(book.play(OperationFailed("disk", "The disk is full", command_id=making.command_id)))

    assert book.results(chosen) == ["Its discussion could not be made: The disk is full"]
    assert not book.state.agent.delegations


@pytest.mark.usefixtures("german")
def test_the_model_hears_in_english_what_became_of_a_task(book: TaskPlaybook) -> None:
    chosen = book.with_tools()
    call = book.child(chosen)
    failure = Failure(FailureKind.STREAM_DROPPED, tr("the disk is full"), "")
    book.keep(book.play(CallFailed(call.call_id, failure, (), Usage())))
    assert book.results(chosen) == ["It failed: the disk is full."]


@pytest.mark.usefixtures("german")
def test_the_model_hears_in_english_why_a_task_has_no_discussion(book: TaskPlaybook) -> None:
    chosen = book.with_tools()
    effects = book.judge_all(book.reply(book.ask(chosen, "go"), tasks("t")))
    (making,) = of(effects, CreateOnDisk)
    book.keep(book.play(OperationFailed("disk", tr("the disk is full"), command_id=making.command_id)))
    assert book.results(chosen) == ["Its discussion could not be made: the disk is full"]


def test_a_child_that_is_done_is_not_kept_warm(book: TaskPlaybook) -> None:
    call = book.child(book.with_tools())
    effects = book.reply(call, DONE, StopKind.COMPLETED)
    assert StopPings((child_of(call),)) in effects


def test_what_the_person_sends_to_a_child_is_answered_before_its_result_is_told(book: TaskPlaybook) -> None:
    chosen = book.with_tools()
    call = book.child(chosen)
    (queued,) = of(book.play(SendPrompt(child_of(call), "Also the night.", may_queue=True)), AddToQueue)
    book.play(QueueWritten(child_of(call), (queued.prompt,), queued.prompt))
    (again,) = of(book.reply(call, (TextPart("Six."),), StopKind.COMPLETED), CallProvider)
    assert not book.results(chosen)
    book.reply(again, (TextPart("Twelve at night."),), StopKind.COMPLETED)
    assert "Twelve at night." in book.results(chosen)[0]


@given(
    st.text(max_size=200),
    st.integers(0, 20_000),
    st.sampled_from(["", "</delegated>", "</delegated-2>", "ä", "\x00"]),
)
def test_a_result_is_data_of_eight_kilobytes_at_most(text: str, count: int, piece: str) -> None:
    said = f"{text}{piece * count}{text}"
    told = framed_result("20261123-120000-abcdef", said)
    tag = told[1 : told.index(" ")]

    assert len(told.encode()) <= MAX_RESULT_BYTES
    assert told.endswith(f"</{tag}>\n")
    assert told.count(f"</{tag}>") == 1


@pytest.mark.slow
@settings(max_examples=40)
@given(st.integers(0, 100_000))
def test_every_task_has_one_result_in_whatever_order_things_come(seed: int) -> None:
    """A disk, tools, a model and a person that each take their time."""
    chance = random.Random(seed)
    book = TaskPlaybook()
    chosen = book.with_tools()
    (write,) = of(book.play(SendPrompt(chosen, "go")), AppendRecords)
    waiting: list[Effect] = [write]
    asked: list[str] = []
    number = 0
    while waiting:
        effect = waiting.pop(chance.randrange(len(waiting)))
        match effect:
            case AppendRecords():
                waiting += book.append(effect)
            case CreateOnDisk():
                if chance.random() < 0.1:
                    waiting += book.play(OperationFailed("disk", "Full", command_id=effect.command_id))
                else:
                    summary = DiscussionSummary(effect.meta, book.at)
                    waiting += book.play(DiscussionCreated(summary, OpenDiscussion(effect.meta.id)))
            case JudgeCall():
                found = approval_id(effect.name, effect.arguments_json, effect.places.root, "")
                approval = Approval(KINDS.get(effect.name, ActKind.OWN), effect.name, id=found)
                waiting += book.play(CallJudged(effect.discussion_id, effect.call_id, approval))
            case RunCall():
                waiting += book.finish(effect)
            case CallProvider():
                call = book.state.turns.calls.get(effect.spec.discussion_id)
                if call is None or call.id != effect.call_id:
                    continue
                number += 1
                parts: tuple[Part, ...] = DONE
                kind = StopKind.COMPLETED
                if number < 8 and chance.random() < 0.6:
                    names = [f"t{number}-{n}" for n in range(chance.randrange(1, 6))]
                    parts, kind = tasks(*names, may_write=chance.random() < 0.3), StopKind.TOOL_CALLS
                    asked += names if effect.spec.discussion_id == chosen else []
                if chance.random() < 0.1:
                    kind = StopKind.CANCELLED
                waiting += book.play(CallEnded(effect.call_id, Stopped(kind), parts, Usage(cost_usd=0.01)))
            case _:
                continue
        if chance.random() < 0.02:
            stopped = chance.choice([chosen, *book.state.agent.delegations])
            waiting += book.play(CancelReply(stopped))
        assert len(book.state.agent.delegations) <= MOST_AT_ONCE
    told = [p.call_id for m in book.said(chosen) for p in m.parts if isinstance(p, ToolResultPart)]
    assert sorted(told) == sorted(asked)
    assert not book.state.agent.delegations
    assert not any(is_busy(book.state, one) for one in book.state.discussions.summaries)


def finished(book: TaskPlaybook, *, may_write: bool = False) -> tuple[str, str]:
    """A parent whose task is done, and its turn over; the ids of both discussions."""
    chosen = book.with_tools()
    call = book.child(chosen, may_write=may_write)
    (again,) = of(book.reply(call, DONE, StopKind.COMPLETED), CallProvider)
    book.reply(again, DONE, StopKind.COMPLETED)
    return chosen, child_of(call)


def test_an_undo_names_what_the_tasks_of_that_turn_changed(book: TaskPlaybook) -> None:
    chosen, child = finished(book, may_write=True)
    turn = book.said(chosen)[0].id
    change = FileChange("/project/a.md", "c", "", "ab" * 32)
    page = page_of(book.state, child)
    book.state = with_page(book.state, child, replace(page, changes=(change,)))
    told = "Undo the edits of tasks in the tasks' own discussions: “Find t.” changed 1 file."

    book.play(FilesRestored(chosen, turn, ("/project/b.md",), ()))
    assert [one.detail for one in book.state.program.notices if one.id == "undo"] == [told]
    book.play(UndoTurn(chosen, turn, "none"))
    outcome = outcome_of(book.state, "none")
    assert outcome is not None
    assert outcome.problem.endswith(told)
    undone = replace(change, is_undone=True)
    book.state = with_page(book.state, child, replace(page, changes=(undone,)))
    assert delegation.edits_of_tasks(book.state, chosen, turn) == ""
    closed = {chosen: book.state.discussions.open[chosen]}
    unread = replace(book.state, discussions=replace(book.state.discussions, open=closed))
    unread = replace(unread, agent=replace(unread.agent, pages={}))
    assert "may have changed files" in delegation.edits_of_tasks(unread, chosen, turn)
    assert delegation.edits_of_tasks(unread, chosen, "another turn") == ""


def test_tasks_go_to_the_trash_and_come_back_with_their_discussion(book: TaskPlaybook) -> None:
    chosen, child = finished(book)
    other = book.discussion("Another")
    rows = {name: book.state.discussions.summaries[name] for name in (chosen, child)}
    gone = of(book.play(DeleteDiscussion(chosen)), TrashOnDisk)
    assert [one.discussion_id for one in gone] == [chosen, child]
    for one in gone:
        book.play(DiscussionTrashed(TrashItem(one.discussion_id, one.name, book.at, one.why, "/trash")))
    assert set(book.state.discussions.summaries) == {other}
    (notice,) = (one for one in book.state.program.notices if one.id == "deleted")
    assert notice.action == UndoDelete(chosen)

    back = of(book.play(UndoDelete()), UndoDelete)
    assert [one.discussion_id for one in back] == [chosen, child]
    for each in back:
        book.play(DiscussionRestored(rows[each.discussion_id]))
    assert set(book.state.discussions.summaries) == {chosen, child, other}
    assert (book.state.discussions.selected_id, book.state.discussions.trash) == (chosen, ())


def test_a_discussion_whose_task_goes_on_stays(book: TaskPlaybook) -> None:
    chosen, child = finished(book)
    book.ask(child, "And why?")

    assert not of(book.play(DeleteDiscussion(chosen, "gone")), TrashOnDisk)
    outcome = outcome_of(book.state, "gone")
    assert isinstance(outcome, CommandOutcome)
    assert "still receiving a reply" in outcome.problem
