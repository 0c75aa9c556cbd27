"""A look at real files tells which reviews were begun, and which of them cost nothing to go on with."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.values.harvest import HarvestLook, HarvestPreview
from core.kernel.values.imports import TranscriptKind
from core.knowledge.harvest.harvest_messages import HarvestLooked, ScanConversations
from core.knowledge.harvest.preview import choices_of, edited, ticked, with_choices
from core.knowledge.harvest.replies import keep_review, load_review, review_file
from core.knowledge.harvest.transcript import Said as Message
from core.knowledge.harvest.transcript_sources import unread_messages
from tests.core.knowledge.harvest.harvest_kit import MOON, SUN, Program, made
from tests.core.knowledge.harvest.harvests import OLD, add_discussion, go_on, item_lines, reply, tree
from tests.vendors.compatible_server import VLLM, CompatibleServer, Said


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with CompatibleServer(VLLM) as server:
        yield made(tmp_path / "home", server)


def look(program: Program, model: str = "") -> HarvestLook:
    run = program.run(model=model) if model else program.run()
    looked = program.handle(ScanConversations(run))[-1]
    assert isinstance(looked, HarvestLooked)
    return looked.look


def begin(program: Program) -> HarvestPreview:
    """A preview of one conversation, its second item unticked and its first with other words, kept on disk."""
    found = program.preview()
    first, second = found.items[0].id, found.items[1].id
    found = edited(ticked(found, [second], is_ticked=False), first, "The moon pulls the sea.", "")
    keep_review(program.home, choices_of(found))
    return found


def test_going_on_with_a_review_asks_nobody_and_shows_it_as_it_was_left(program: Program) -> None:
    add_discussion(program.home, "Tides", "Why?")
    program.server.replies.append(Said(reply(MOON, SUN)))
    left = begin(program)
    before = tree(program.home)

    found = look(program)

    assert found.review == choices_of(left)
    assert found.kept == {left.sources[0].sha256}
    assert tree(program.home) == before
    again = program.preview()
    assert with_choices(again, found.review).items == left.items
    assert len(program.server.bodies) == 1


def test_a_large_conversation_costs_nothing_only_while_every_reply_is_kept(program: Program) -> None:
    add_discussion(program.home, "Long", "Why do the tides turn? " * 4000)
    program.server.replies.extend(Said(reply(MOON, SUN)) for _ in range(8))
    left = begin(program)
    asked = len(program.server.bodies)
    assert asked > 1
    assert look(program).kept == {left.sources[0].sha256}

    folder = paths.knowledge_dir(program.home) / ".replies" / left.sources[0].sha256
    next(folder.glob("*.json")).unlink()
    before = tree(program.home)

    assert look(program).kept == frozenset()
    assert tree(program.home) == before
    assert len(program.server.bodies) == asked


def test_another_model_or_a_conversation_that_went_on_is_not_called_free(program: Program) -> None:
    chosen = add_discussion(program.home, "Tides", "Why?")
    program.server.replies.append(Said(reply(MOON, SUN)))
    begin(program)

    assert look(program, model="another").kept == frozenset()

    go_on(program.home, chosen, "And now?")
    assert look(program).kept == frozenset()
    assert look(program).review


def test_a_conversation_that_was_harvested_beside_the_window_has_no_review_any_more(program: Program) -> None:
    add_discussion(program.home, "Tides", "Why?")
    program.server.replies.append(Said(reply(MOON, SUN)))
    left = begin(program)
    program.apply(left)
    assert load_review(program.home)

    assert look(program).review == {}
    assert [line.split(" [")[0] for line in item_lines(program.home)] == ["- The moon pulls the sea."]


def test_what_cannot_be_read_is_not_called_free_and_the_look_goes_on(
    program: Program, caplog: pytest.LogCaptureFixture
) -> None:
    chosen = add_discussion(program.home, "Tides", "Why?")
    other = add_discussion(program.home, "Sun", "How?", at=OLD + timedelta(days=1))
    program.server.replies.extend([Said(reply(MOON, "Moons turn.")), Said(reply(SUN, "Suns burn."))])
    found = program.preview()
    keep_review(program.home, choices_of(ticked(found, [one.id for one in found.items], is_ticked=False)))
    shas = {one.id: one.sha256 for one in found.sources}

    def read(kind: TranscriptKind, data: bytes, new_bytes: int) -> tuple[Message, ...]:
        if b"Why?" in data:
            raise ValueError("it holds nonsense")
        return unread_messages(kind, data, new_bytes)

    program.handler._services = replace(program.handler._services, read=read)

    assert look(program).kept == {shas[other]}
    assert chosen in caplog.text


def test_a_torn_file_is_no_error_to_the_person(program: Program, caplog: pytest.LogCaptureFixture) -> None:
    add_discussion(program.home, "Tides", "Why?")
    program.server.replies.append(Said(reply(MOON, SUN)))
    begin(program)
    review_file(program.home).write_bytes(review_file(program.home).read_bytes()[:-9])

    found = look(program)

    assert (found.review, len(found.artifacts)) == ({}, 1)
    assert found.kept == {found.artifacts[0].facts.sha256}, "its reply is kept all the same"
    assert "passed over" in caplog.text
