"""One message to several models: each reply is a version, what fails is said, the others stay."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.errors import FailureKind
from core.kernel.values.discussion import ComparedModel, ComparedReply, Comparison
from core.kernel.values.messages import Message, Role, Status, TextPart
from core.kernel.values.provider import Failure, ModelPrice, StopKind, Stopped
from core.kernel.values.settings import AiSettings, Settings
from core.kernel.values.stack import ContextReport
from core.kernel.values.updates import is_busy, outcome_of
from core.kernel.values.usage import LimitScope, Usage
from core.services.settings.settings_messages import PricesFound
from core.services.spending.estimates import other_call_usd
from core.talk.context.context_messages import ContextAssembled
from core.talk.discussion.discussion_messages import (
    AddToQueue,
    AppendRecords,
    ChooseVersion,
    QueueWritten,
    SetDraft,
)
from core.talk.discussion.lifecycle import change_meta
from core.talk.turn.comparison import MOST, TOOLS
from core.talk.turn.turn_messages import (
    CallEnded,
    CallFailed,
    CallProvider,
    CancelCall,
    CancelReply,
    CompareReplies,
    RegenerateReply,
    SendPrompt,
)
from tests.core.app.playbook import Playbook, of, settings_loaded

ONE, TWO, THREE = (
    ComparedModel(provider="anthropic", model=name) for name in ("claude-a", "claude-b", "claude-c")
)
DROPPED = Failure(kind=FailureKind.STREAM_DROPPED, what="The stream was dropped", remedy="Retry.")
LIMITED = Settings(ai=AiSettings(spend_limit_usd=0.5))


def loaded(settings: Settings | None = None) -> object:
    """Settings with a second provider ready."""
    given = settings_loaded(settings=settings)
    ready = replace(given.providers["anthropic"], is_ready=True)
    return replace(given, providers={**given.providers, "anthropic": ready})


@pytest.fixture
def book() -> Playbook:
    made = Playbook().ready()
    made.play(loaded())  # type: ignore[arg-type]
    return made


def asked(
    book: Playbook, chosen: str, *models: ComparedModel, text: str = "", command_id: str = ""
) -> CompareReplies:
    return CompareReplies(discussion_id=chosen, models=models, text=text, command_id=command_id)


def begun(book: Playbook, command: CompareReplies) -> tuple[CallProvider, ...]:
    """The calls of a comparison in the order of its columns, its words on disk."""
    effects = book.play(command)
    for write in of(effects, AppendRecords):
        effects = (*effects, *book.append(write))
    return of(effects, CallProvider)


def ended(
    book: Playbook,
    call: CallProvider,
    text: str,
    kind: StopKind = StopKind.COMPLETED,
    cost_usd: float = 0.01,
) -> tuple[CallProvider, ...]:
    """A reply comes and is on disk; the calls that follow."""
    parts = (TextPart(text),) if text else ()
    event = CallEnded(
        call_id=call.call_id,
        stopped=Stopped(kind=kind),
        parts=parts,
        usage=Usage(input_tokens=10, cost_usd=cost_usd),
    )
    return _follow(book, book.play(event))


def failed(book: Playbook, call: CallProvider, text: str = "") -> tuple[CallProvider, ...]:
    parts = (TextPart(text),) if text else ()
    event = CallFailed(call_id=call.call_id, failure=DROPPED, parts=parts, usage=Usage())
    return _follow(book, book.play(event))


def _follow(book: Playbook, effects: tuple[object, ...]) -> tuple[CallProvider, ...]:
    for write in of(effects, AppendRecords):  # type: ignore[arg-type]
        more = book.append(write)
        for chosen in of(more, AppendRecords):
            more = (*more, *book.append(chosen))
        effects = (*effects, *more)
    return of(effects, CallProvider)  # type: ignore[arg-type]


def comparison(book: Playbook, chosen: str) -> Comparison:
    found = book.state.discussions.open[chosen].comparison
    assert found is not None
    return found


def columns(book: Playbook, chosen: str) -> tuple[ComparedReply, ...]:
    return comparison(book, chosen).replies


def shown(book: Playbook, chosen: str) -> list[Message]:
    return list(book.state.discussions.open[chosen].messages)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_all_models_are_asked_at_once_and_each_reply_is_a_version(
    book: Playbook, order: tuple[int, ...]
) -> None:
    chosen = book.discussion("Sky")
    book.play(SetDraft(chosen, "why?"))
    before = book.state.discussions.summaries[chosen].meta
    calls = begun(book, asked(book, chosen, ONE, TWO, THREE, text="why?"))
    assert [call.spec.inputs.model for call in calls] == ["claude-a", "claude-b", "claude-c"]
    assert {call.spec.inputs.user_text for call in calls} == {"why?"}
    assert all(call.spec.inputs.turns == () and call.is_compared for call in calls)
    assert len(book.state.turns.calls) == len({call.reply_id for call in calls}) == 3
    assert book.state.discussions.open[chosen].draft.text == ""

    for number in order:
        assert is_busy(book.state, chosen)
        assert ended(book, calls[number], "ABC"[number]) == ()

    assert not is_busy(book.state, chosen)
    opened = book.state.discussions.open[chosen]
    (versions,) = opened.versions.values()
    assert list(versions.ids) == [calls[number].reply_id for number in order]
    assert [column.reply_id for column in columns(book, chosen)] == [call.reply_id for call in calls]
    assert not any(column.problem for column in columns(book, chosen))
    assert [(m.role, m.text, m.model) for m in shown(book, chosen)] == [
        (Role.USER, "why?", ""),
        (Role.ASSISTANT, "A", "claude-a"),
    ]
    after = book.state.discussions.summaries[chosen].meta
    assert (after.provider, after.model) == (before.provider, before.model)


def test_a_reply_that_stands_is_a_column_beside_the_others(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    book.answer(book.ask(chosen, "why?"), "mine")
    (call,) = begun(book, asked(book, chosen, ONE))
    assert call.version_of == shown(book, chosen)[1].id
    assert ended(book, call, "other") == ()
    assert [column.asked.provider for column in columns(book, chosen)] == ["embedded", "anthropic"]
    assert all(column.reply_id and column.is_over for column in columns(book, chosen))


def test_the_reply_to_an_earlier_message_is_compared_in_a_version_of_that_message(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    book.answer(book.ask(chosen, "one"), "first")
    book.answer(book.ask(chosen, "two"), "second")
    prompt = shown(book, chosen)[0].id
    calls = begun(book, CompareReplies(discussion_id=chosen, models=(ONE, TWO), message_id=prompt))
    assert [call.spec.inputs.user_text for call in calls] == ["one", "one"]
    ended(book, calls[1], "B")
    ended(book, calls[0], "A")
    assert [m.text for m in shown(book, chosen)] == ["one", "A"]
    (versions,) = [
        one for one in book.state.discussions.open[chosen].versions.values() if calls[1].reply_id in one.ids
    ]
    assert list(versions.ids) == [calls[1].reply_id, calls[0].reply_id]


@pytest.mark.parametrize("text", ["", "half of"])
@pytest.mark.parametrize("bad", [0, 1])
def test_of_two_models_one_fails_and_the_other_stays(book: Playbook, text: str, bad: int) -> None:
    chosen = book.discussion("Sky")
    calls = begun(book, asked(book, chosen, ONE, TWO, text="why?"))
    assert failed(book, calls[bad], text) == ()
    assert ended(book, calls[1 - bad], "A") == ()
    broken, whole = columns(book, chosen)[bad], columns(book, chosen)[1 - bad]
    assert broken.problem == "The stream was dropped. Retry."
    assert bool(broken.reply_id) == bool(text)
    assert not whole.problem
    reply = shown(book, chosen)[-1]
    assert (reply.text, reply.status) == ("A", Status.COMPLETE)
    assert len(shown(book, chosen)) == 2
    opened = book.state.discussions.open[chosen]
    assert (opened.failure, opened.failed_message_id) == (None, "")
    assert not book.state.program.notices


@pytest.mark.parametrize("silent", [0, 1])
def test_one_that_never_answers_is_stopped_and_the_others_go_on(book: Playbook, silent: int) -> None:
    chosen = book.discussion("Sky")
    calls = begun(book, asked(book, chosen, ONE, TWO, text="why?"))
    stop = CancelReply(discussion_id=chosen, call_id=calls[silent].call_id)
    assert [one.call_id for one in of(book.play(stop), CancelCall)] == [calls[silent].call_id]
    ended(book, calls[silent], "", StopKind.CANCELLED)
    assert is_busy(book.state, chosen)
    ended(book, calls[1 - silent], "B")
    assert columns(book, chosen)[silent].problem == "You stopped this reply."
    assert columns(book, chosen)[1 - silent].problem == ""
    assert [m.text for m in shown(book, chosen)] == ["why?", "B"]
    marks = [one for one in book.state.discussions.open[chosen].entries if not isinstance(one, Message)]
    assert not marks, "below the whole reply of the other, `Stopped.` would be said of that one"


def test_a_stop_ends_all_of_it_and_what_came_stays(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    calls = begun(book, asked(book, chosen, ONE, TWO, THREE, text="why?"))
    ended(book, calls[0], "A")
    stopped = of(book.play(CancelReply(discussion_id=chosen)), CancelCall)
    assert {one.call_id for one in stopped} == {call.call_id for call in calls[1:]}
    ended(book, calls[2], "ha", StopKind.CANCELLED)
    ended(book, calls[1], "", StopKind.CANCELLED)
    assert [column.problem for column in columns(book, chosen)] == [
        "",
        "You stopped this reply.",
        "You stopped this reply.",
    ]
    assert shown(book, chosen)[-1].text == "A"
    assert not is_busy(book.state, chosen)


def test_a_stop_before_the_words_are_on_disk_asks_nobody(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    (write,) = of(book.play(asked(book, chosen, ONE, TWO, text="why?")), AppendRecords)
    book.play(CancelReply(discussion_id=chosen))
    assert not of(book.append(write), CallProvider)
    assert not book.state.turns.calls
    assert comparison(book, chosen).is_over


def test_a_stop_of_the_first_before_the_words_are_on_disk_asks_the_other(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    (write,) = of(book.play(asked(book, chosen, ONE, TWO, text="why?")), AppendRecords)
    (first,) = book.state.turns.calls.values()
    book.play(CancelReply(discussion_id=chosen, call_id=first.id))
    (call,) = of(book.append(write), CallProvider)
    assert call.spec.inputs.model == "claude-b"
    ended(book, call, "B")
    assert [(one.problem, one.is_over) for one in columns(book, chosen)] == [
        ("You stopped this reply.", True),
        ("", True),
    ]
    assert [m.text for m in shown(book, chosen)] == ["why?", "B"]


def test_the_same_model_is_asked_with_and_without_memory(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    bare = replace(ONE, has_memory=False)
    first, second = begun(book, asked(book, chosen, ONE, bare, text="why?"))
    assert first.spec.knowledge.digest_enabled
    assert not second.spec.knowledge.digest_enabled
    assert second.spec.recall is None
    assert second.spec.fact_domains == ()


def test_what_waits_in_the_queue_goes_behind_the_last_of_them(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    first, second = begun(book, asked(book, chosen, ONE, TWO, text="why?"))
    (queue,) = of(book.play(SendPrompt(discussion_id=chosen, text="later", may_queue=True)), AddToQueue)
    book.play(QueueWritten(discussion_id=chosen, queue=(queue.prompt,), added=queue.prompt))
    assert ended(book, first, "A") == ()
    (after,) = ended(book, second, "B")
    assert after.spec.inputs.user_text == "later"


@pytest.mark.parametrize(
    ("models", "problem"),
    [
        ((ONE,), "You can compare 2 to 4 replies."),
        (
            tuple(replace(ONE, model=f"claude-{n}") for n in range(MOST + 1)),
            "You can compare 2 to 4 replies.",
        ),
        ((ONE, ONE), "You chose the same model twice."),
        (
            (ONE, ComparedModel(provider="nobody", model="x")),
            "nobody is not ready, so the program cannot ask 'x'.",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_written(
    book: Playbook, models: tuple[ComparedModel, ...], problem: str
) -> None:
    chosen = book.discussion("Sky")
    assert book.play(asked(book, chosen, *models, text="why?", command_id="c1")) == ()
    outcome = outcome_of(book.state, "c1")
    assert outcome is not None
    assert outcome.problem == problem
    assert not shown(book, chosen)


def test_a_discussion_with_tools_is_not_compared(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    book.state, _ = change_meta(book.state, chosen, has_tools=True)
    assert not of(book.play(asked(book, chosen, ONE, TWO, text="why?", command_id="c1")), AppendRecords)
    outcome = outcome_of(book.state, "c1")
    assert outcome is not None
    assert outcome.problem == TOOLS


def test_a_limit_of_which_one_price_is_not_known_asks_before_any_of_them(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    book.play(loaded(LIMITED))  # type: ignore[arg-type]
    known = ModelPrice(input_usd=1.0, output_usd=2.0)
    book.play(PricesFound({("anthropic", "claude-a"): known, ("anthropic", "claude-b"): None}))
    command = asked(book, chosen, ONE, TWO, text="why?")
    assert book.play(command) == ()
    refusal = book.state.discussions.open[chosen].refusal
    assert refusal is not None
    assert [one.scope for one in refusal.reached] == [LimitScope.UNPRICED]
    assert refusal.confirmed == replace(command, over_limit=True)
    assert len(begun(book, replace(command, over_limit=True))) == 2  # the yes was to all of them


def test_a_limit_that_the_first_reaches_stops_the_others_and_says_so(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    book.play(loaded(LIMITED))  # type: ignore[arg-type]
    priced(book, chosen, tokens=600_000)
    (first,) = begun(book, asked(book, chosen, ONE, TWO, text="why?"))
    assert first.spec.inputs.model == "claude-a"
    ended(book, first, "A", cost_usd=0.6)
    one, two = columns(book, chosen)
    assert (one.problem, two.is_over, two.reply_id) == ("", True, "")
    assert two.problem.startswith("You have reached the limit of $0.50 for this discussion")


def test_a_model_that_is_not_asked_says_so_in_its_own_column_beside_its_reply_that_stands(
    book: Playbook,
) -> None:
    chosen = book.discussion("Sky")
    book.answer(book.ask(chosen, "why?"), "mine")
    stands = ComparedModel(provider=shown(book, chosen)[1].provider, model=shown(book, chosen)[1].model)
    price = ModelPrice(input_usd=1.0, output_usd=2.0)
    book.play(loaded(LIMITED))  # type: ignore[arg-type]
    book.play(PricesFound({("anthropic", "claude-a"): price, (stands.provider, stands.model): price}))
    report = ContextReport((), (), 0, 600_000, None, 0.04, None)
    book.play(ContextAssembled(discussion_id=chosen, report=report))
    begun(book, asked(book, chosen, ONE, stands))
    before, _, again = columns(book, chosen)
    assert (before.asked, before.problem) == (stands, "")
    assert again.is_over
    assert again.problem.startswith("You have reached the limit of $0.50 for this discussion")


def priced(book: Playbook, chosen: str, *, tokens: int) -> None:
    """Prices of the models, and the next request assembled; 0 tokens for none."""
    price = ModelPrice(input_usd=1.0, output_usd=2.0)
    book.play(PricesFound({("anthropic", "claude-a"): price, ("anthropic", "claude-b"): price}))
    if tokens:
        report = ContextReport((), (), 0, tokens, None, 0.04, None)
        book.play(ContextAssembled(discussion_id=chosen, report=report))


def test_the_price_of_a_column_is_known_before_it_is_asked_or_said_to_be_unknown(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    priced(book, chosen, tokens=0)
    assert other_call_usd(book.state, chosen, "anthropic", "claude-a", "x" * 4000) is None
    priced(book, chosen, tokens=50_000)
    usd = other_call_usd(book.state, chosen, "anthropic", "claude-a", "x" * 4000)
    assert usd == pytest.approx((51_000 * 1 + 1_000 * 2) / 1_000_000)
    assert other_call_usd(book.state, chosen, "anthropic", "claude-c") is None


@pytest.mark.parametrize(("tokens", "usd"), [(50_000, (51_000 * 1 + 1_000 * 2) / 1e6), (0, None)])
def test_a_column_reserves_all_that_it_sends_or_is_of_unknown_cost(
    book: Playbook, tokens: int, usd: float | None
) -> None:
    chosen = book.discussion("Sky")
    priced(book, chosen, tokens=tokens)
    begun(book, asked(book, chosen, ONE, TWO, text="x" * 4000))

    reserved = book.state.turns.calls[chosen].reserved_usd
    assert reserved == (None if usd is None else pytest.approx(usd))


def test_a_reply_under_way_is_not_compared_with(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    book.ask(chosen, "one")
    book.play(asked(book, chosen, ONE, TWO, text="why?", command_id="c1"))
    outcome = outcome_of(book.state, "c1")
    assert outcome is not None
    assert outcome.problem == "A reply is under way in this discussion."
    assert of(book.play(RegenerateReply(discussion_id=chosen)), CallProvider) == ()


def test_a_failed_column_is_asked_for_again_and_the_others_stay(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    calls = begun(book, asked(book, chosen, ONE, TWO, THREE, text="why?"))
    ended(book, calls[0], "A")
    failed(book, calls[1])
    failed(book, calls[2])
    kept = columns(book, chosen)
    again = CompareReplies(discussion_id=chosen, models=(TWO,), is_again=True)

    (call,) = begun(book, again)
    assert call.spec.inputs.model == "claude-b"
    assert begun(book, again) == (), "a second press asks for nothing"
    ended(book, call, "B")

    after = columns(book, chosen)
    assert (after[0], after[2]) == (kept[0], kept[2])
    assert (after[1].problem, after[1].is_over) == ("", True)
    opened = book.state.discussions.open[chosen]
    versions = next(iter(opened.versions.values()))
    assert set(versions.ids) == {after[0].reply_id, after[1].reply_id}
    assert begun(book, again) == (), "it has its reply"
    assert not is_busy(book.state, chosen)


def test_where_every_column_failed_one_can_be_asked_for_again(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    for call in begun(book, asked(book, chosen, ONE, TWO, text="why?")):
        failed(book, call)

    (call,) = begun(book, CompareReplies(discussion_id=chosen, models=(ONE,), is_again=True))
    ended(book, call, "A")

    assert [message.text for message in shown(book, chosen)] == ["why?", "A"]


def test_a_reply_that_the_person_chose_stays_when_a_failed_column_is_asked_for_again(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    calls = begun(book, asked(book, chosen, ONE, TWO, THREE, text="why?"))
    ended(book, calls[0], "A")
    failed(book, calls[1])
    ended(book, calls[2], "C")
    third = columns(book, chosen)[2].reply_id
    for write in of(book.play(ChooseVersion(discussion_id=chosen, message_id=third)), AppendRecords):
        book.append(write)
    assert [message.text for message in shown(book, chosen)] == ["why?", "C"]

    (call,) = begun(book, CompareReplies(discussion_id=chosen, models=(TWO,), is_again=True))
    ended(book, call, "B")

    assert [message.text for message in shown(book, chosen)] == ["why?", "C"]
