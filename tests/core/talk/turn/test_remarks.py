"""What a server does with a request is told once, and decides what is planned for its model."""

from __future__ import annotations

import pytest

from core.services.providers.switches import REASONING, SWITCHES, refused_in
from core.talk.turn.turn_messages import Remark, ServerRemarked
from tests.core.app.playbook import Playbook


@pytest.mark.parametrize("kind", list(Remark))
def test_a_remark_is_told_in_our_words_or_the_servers_and_once(kind: Remark) -> None:
    book = Playbook().ready()
    call = book.ask(book.discussion("Sky"), "Why?")
    for _ in range(2):
        book.play(ServerRemarked(call_id=call.call_id, text="It did that.", kind=kind, through="m1"))

    (notice,) = book.state.program.notices
    assert (notice.text == "It did that.") is (kind is Remark.OTHER)
    assert notice.detail == ("" if kind is Remark.OTHER else "It did that.")
    asked = call.spec.inputs.provider, call.spec.inputs.model
    of_model, of_talk = (
        refused_in(book.state, *asked),
        refused_in(book.state, *asked, call.spec.discussion_id),
    )
    names = {Remark.SWITCH: SWITCHES, Remark.REASONING: REASONING}
    assert of_model == ({names[kind]} if kind in names else frozenset())
    assert of_talk == ({"m1"} if kind is Remark.THOUGHTS else frozenset())


def test_a_remark_on_a_call_that_is_over_changes_nothing() -> None:
    book = Playbook().ready()
    book.play(ServerRemarked(call_id="gone", text="It did that.", kind=Remark.SWITCH))
    assert book.state.program.notices == ()
    assert book.state.caching.refusals == {}
