"""Previews, prices of rewrites and the list's index wait while a turn goes on to its request, and come after it."""

from __future__ import annotations

from core.agent.agent_messages import CallJudged, JudgeCall, RunCall
from core.app.app_messages import Effect
from core.kernel.values.agent import ActKind, Approval
from core.kernel.values.messages import TextPart
from core.kernel.values.provider import StopKind, Stopped
from core.kernel.values.records import RequestRecord
from core.kernel.values.updates import Tick
from core.kernel.values.usage import Usage
from core.talk.context.context_messages import AssembleContext
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    IndexDiscussion,
    MetaWritten,
    SelectDiscussion,
    SetDraft,
    WriteMeta,
)
from core.talk.turn.turn_messages import (
    CallEnded,
    CallProvider,
    ReplyArrived,
    RequestBuilt,
    SendPrompt,
)
from tests.core.agent.tool_playbook import ToolPlaybook, asks
from tests.core.app.playbook import START, Playbook, of


def shown(effects: tuple[Effect, ...]) -> tuple[int, tuple[str, ...]]:
    """How often a view is assembled, and what the list indexes."""
    return len(of(effects, AssembleContext)), tuple(one.discussion_id for one in of(effects, IndexDiscussion))


def test_a_plain_turn_is_assembled_for_the_next_message_once_when_its_reply_is_there() -> None:
    """The call assembles its own request; a draft that is written meanwhile is priced."""
    book = Playbook().ready()
    chosen = book.discussion("Sky")
    assert book.state.discussions.selected_id == chosen
    (write,) = of(book.play(SendPrompt(chosen, "Why?")), AppendRecords)
    effects = book.append(write)
    (call,) = of(effects, CallProvider)
    record = RequestRecord(
        id="r",
        at=START,
        message_id="m",
        provider="local",
        model="tide",
        effort="auto",
        layers=(),
        wire_order=(),
        stable_length_chars=0,
    )
    effects = (*effects, *book.play(RequestBuilt(call_id=call.call_id, record=record, usd=0.0)))
    (told,) = of(effects, AppendRecords)
    assert of(book.append(told), IndexDiscussion) == (), "no list shows what only tells of a request"
    effects = (*effects, *book.play(ReplyArrived(call.call_id, "So")))
    assert of(effects, AssembleContext) == ()
    assert len(of(book.play(SetDraft(chosen, "And then?")), AssembleContext)) == 1
    ended = CallEnded(
        call_id=call.call_id,
        stopped=Stopped(kind=StopKind.COMPLETED),
        parts=(TextPart("So."),),
        usage=Usage(),
    )
    effects = book.play(ended)
    (write,) = of(effects, AppendRecords)
    assert len(of((*effects, *book.append(write)), AssembleContext)) == 1


def test_a_name_is_indexed_at_once_though_a_turn_is_under_way() -> None:
    """A kill in the time of that turn, and the next start would name the discussion anew."""
    book = Playbook().ready()
    chosen = book.discussion()
    (write,) = of(book.play(SendPrompt(chosen, "Why?")), AppendRecords)
    begun = book.append(write)
    assert of(begun, CallProvider)
    (named,) = of(begun, WriteMeta)
    assert (named.meta.name, of(begun, IndexDiscussion)) == ("Why?", ())

    assert of(book.play(MetaWritten(chosen)), IndexDiscussion) == (IndexDiscussion(chosen),)


def test_the_list_indexes_a_quick_plain_turn_once() -> None:
    book = Playbook().ready()
    chosen = book.discussion("Sky")
    (write,) = of(book.play(SendPrompt(chosen, "Why?")), AppendRecords)
    begun = book.append(write)
    (call,) = of(begun, CallProvider)
    streamed = book.play(ReplyArrived(call.call_id, "So"))
    assert shown((*begun, *streamed)) == (0, ())
    ended = CallEnded(
        call_id=call.call_id,
        stopped=Stopped(kind=StopKind.COMPLETED),
        parts=(TextPart("So."),),
        usage=Usage(),
    )
    effects = book.play(ended)
    assert shown(effects) == (0, ())
    (write,) = of(effects, AppendRecords)
    assert shown(book.append(write)) == (1, (chosen,))


def test_the_list_indexes_a_plain_turns_words_when_the_model_is_slow() -> None:
    book = Playbook().ready()
    chosen = book.discussion("Sky")
    (write,) = of(book.play(SendPrompt(chosen, "Why?")), AppendRecords)
    assert shown(book.append(write)) == (0, ())
    assert shown(book.later(2).play(Tick()))[1] == (chosen,)


def test_it_indexes_them_when_a_person_does_more() -> None:
    book = Playbook().ready()
    chosen = book.discussion("Sky")
    (write,) = of(book.play(SendPrompt(chosen, "Why?")), AppendRecords)
    assert shown(book.append(write)) == (0, ())
    assert shown(book.play(SetDraft(chosen, "Or"))) == (1, (chosen,))


def in_round() -> tuple[ToolPlaybook, str, JudgeCall]:
    """A discussion that is looked at, whose model has asked for a tool."""
    book = ToolPlaybook()
    chosen = book.with_tools()
    book.play(SelectDiscussion(chosen))
    effects = book.reply(book.ask(chosen, "go"), asks(("a", "look")))
    assert shown(effects) == (0, ())
    (judge,) = of(effects, JudgeCall)
    return book, chosen, judge


def run(book: ToolPlaybook, judge: JudgeCall) -> CallProvider:
    """The call is run, and the model asked again; nothing is shown of it yet."""
    judged = book.judge(judge)
    (running,) = of(judged, RunCall)
    again = book.finish(running)
    assert shown((*judged, *again)) == (0, ())
    (call,) = of(again, CallProvider)
    return call


def test_what_a_round_changed_is_shown_once_when_the_model_answers() -> None:
    book, chosen, judge = in_round()
    call = run(book, judge)

    assert shown(book.play(ReplyArrived(call.call_id, "So"))) == (0, ())
    assert shown(book.later(0.2).play(ReplyArrived(call.call_id, " it"))) == (0, ())
    assert shown(book.later(0.05).play(ReplyArrived(call.call_id, " is"))) == (1, (chosen,))
    assert shown(book.play(ReplyArrived(call.call_id, " so."))) == (0, ())
    assert book.state.unshown is None


def test_rounds_whose_replies_only_ask_are_shown_together() -> None:
    book, chosen, judge = in_round()
    (again,) = of(book.reply(run(book, judge), asks(("b", "look"))), JudgeCall)
    call = run(book, again)

    assert shown(book.play(ReplyArrived(call.call_id, "So"))) == (0, ())
    assert shown(book.later(0.25).play(ReplyArrived(call.call_id, " it is."))) == (1, (chosen,))


def test_an_answer_that_stops_in_its_midst_is_shown_at_the_next_tick() -> None:
    book, chosen, judge = in_round()
    call = run(book, judge)

    assert shown(book.play(ReplyArrived(call.call_id, "So"))) == (0, ())
    assert shown(book.later(1).play(Tick())) == (1, (chosen,))


def test_it_is_shown_at_the_turns_end() -> None:
    book, chosen, judge = in_round()
    effects = book.reply(run(book, judge), (TextPart("Done."),), StopKind.COMPLETED)

    assert shown(effects)[1] == (chosen,)
    (last,) = of(effects, AssembleContext)
    assert [message.text for message in last.spec.inputs.turns][-1] == "Done."


def test_it_is_shown_while_a_person_is_asked() -> None:
    book, chosen, judge = in_round()
    approval = Approval(ActKind.EDIT, "write a", id="id", reasons=("it writes",))
    effects = book.keep(book.play(CallJudged(chosen, judge.call_id, approval)))

    assert not of(effects, RunCall)
    assert shown(effects) == (1, (chosen,))


def test_a_tool_that_takes_long_holds_nothing_back() -> None:
    book, chosen, judge = in_round()
    (running,) = of(book.judge(judge), RunCall)

    assert shown(book.later(1).play(Tick())) == (0, ())
    assert shown(book.later(1.5).play(Tick())) == (1, (chosen,))
    assert running.call_id == "a"


def test_a_model_that_says_nothing_holds_nothing_back() -> None:
    book, chosen, judge = in_round()
    call = run(book, judge)
    record = RequestRecord("q", START, "m", "embedded", "smollm2-135m", "auto", (), (), 0)
    book.keep(book.play(RequestBuilt(call.call_id, record)))

    assert shown(book.later(0.5).play(Tick())) == (0, ())
    assert shown(book.later(0.6).play(Tick())) == (1, (chosen,))
