"""Recall of messages that wait: what the person keeps out goes with the message, and what was shown is what is sent."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.retrieval import Corpus, Recalled, RecalledPassage
from core.kernel.values.settings import RetrievalSettings, Settings
from core.talk.context.context_messages import KeepOut
from core.talk.discussion.discussion_messages import AddToQueue, AppendRecords
from core.talk.turn.turn_messages import (
    CallProvider,
    RecallSent,
    RegenerateReply,
    ResendMessage,
    RetrySend,
    SendPrompt,
    TakeBackQueued,
)
from tests.core.app.playbook import Playbook, of, settings_loaded
from tests.core.talk.turn.test_queue import asked, end, fail, kept, opened

ON = Settings(retrieval=RetrievalSettings(enabled=True, ambient=True))
OUT = ("knowledge:a.md",)


@pytest.fixture
def book() -> Playbook:
    book = Playbook().ready()
    book.play(settings_loaded(settings=ON))
    return book


def _queued(book: Playbook) -> tuple[str, CallProvider]:
    """A reply under way, and a message behind it for which a source is kept out."""
    chosen = book.discussion()
    call = book.ask(chosen, "first")
    book.play(KeepOut(chosen, OUT[0]))
    (add,) = of(book.play(SendPrompt(chosen, "second", may_queue=True)), AddToQueue)
    assert add.prompt.kept_out == OUT
    kept(book, add)
    return chosen, call


def test_a_source_that_is_kept_out_of_a_message_stays_out_while_it_waits(book: Playbook) -> None:
    chosen, call = _queued(book)
    assert opened(book, chosen).kept_out == ()
    book.play(KeepOut(chosen, "knowledge:b.md"))

    sent = asked(book, end(book, call))

    assert sent.spec.recall is not None
    assert sent.spec.recall.kept_out == OUT


def test_a_message_that_is_taken_back_has_it_kept_out_again(book: Playbook) -> None:
    chosen, _ = _queued(book)
    book.play(TakeBackQueued(chosen, opened(book, chosen).queue[0].id))

    assert opened(book, chosen).kept_out == OUT


def test_messages_that_wait_and_the_one_under_way_keep_what_was_shown_with_them(book: Playbook) -> None:
    chosen, call = _queued(book)

    assert call.spec.waiting == ("first",)
    again = book.play(KeepOut(chosen, "knowledge:b.md"))
    specs = [effect.spec for effect in again if hasattr(effect, "spec")]
    assert [spec.waiting for spec in specs] == [("first", "second")]


def test_what_was_kept_out_of_a_message_stays_out_whenever_its_reply_is_asked_for(book: Playbook) -> None:
    chosen = book.discussion()
    book.play(KeepOut(chosen, OUT[0]))
    call = book.ask(chosen, "first")
    assert opened(book, chosen).kept_out == ()
    book.play(KeepOut(chosen, "knowledge:b.md"))
    end(book, call)
    assert opened(book, chosen).kept_out == ("knowledge:b.md",), (
        "it is of the words that are written meanwhile"
    )
    book.play(KeepOut(chosen, "knowledge:b.md", is_out=False))

    (again,) = of(book.play(RegenerateReply(chosen)), CallProvider)
    assert again.spec.recall is not None
    assert again.spec.recall.kept_out == OUT
    end(book, again)
    (write,) = of(book.play(ResendMessage(chosen, call.user_message_id, "in other words")), AppendRecords)
    assert book.state.context.kept_out_of[write.records[0].id] == OUT


def test_a_message_that_waited_and_failed_is_sent_again_without_what_was_kept_out(book: Playbook) -> None:
    chosen, call = _queued(book)
    fail(book, asked(book, end(book, call)))

    (again,) = of(book.play(RetrySend(chosen)), CallProvider)
    assert again.spec.recall is not None
    assert again.spec.recall.kept_out == OUT


def test_what_went_with_a_message_is_remembered_the_newest_first_and_once_a_message(book: Playbook) -> None:
    passage = RecalledPassage("knowledge:a.md", Corpus.KNOWLEDGE, "a.md:3", "a", "it holds tide")
    for message, words in (("m1", "one\ntwo"), ("m2", "three"), ("m1", "one again")):
        book.play(RecallSent("d", message, words, Recalled("text", (passage,), 12)))

    sent = book.state.context.sent_recall
    assert [(one.message_id, one.words, one.tokens_est) for one in sent] == [
        ("m1", "one again", 12),
        ("m2", "three", 12),
    ]
    assert sent[0].passages == (passage,)
    assert replace(sent[0], words="") != sent[1]
