"""What had arrived of a paid reply outlives the program, whatever ends it."""

from __future__ import annotations

import errno
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk
from core.kernel.errors import LockedError, StorageError
from core.kernel.o200k import count_tokens
from core.kernel.values.messages import Message, Part, ReasoningPart, Role, Status, TextPart, ToolCallPart
from core.kernel.values.records import UsageRecord
from core.kernel.values.usage import Usage
from core.services.spending.pricing import cost
from core.talk.discussion import discussion_store, log, reply_journal
from core.talk.discussion.log import all_paid_since, paid_since
from core.talk.discussion.reply_journal import Journals, ReplyHead, ReplyJournal
from tests.command_forks import FORKS
from tests.core.kernel.faults import FullDisk, ReadOnlyDisk, made, names
from tests.core.records import ID, NOW, reply, request, texts, user

HEAD = ReplyHead("r1", NOW, "anthropic", "claude-x")

STREAMER = """
import sys
from datetime import datetime
from pathlib import Path
from core.talk.discussion import reply_journal
from tests.core.records import ID, NOW
head = reply_journal.ReplyHead("r1", NOW, "anthropic", "claude-x")
journal = reply_journal.ReplyJournal(Path(sys.argv[1]), ID, lambda: head)
journal.begin()
journal.add_reasoning("thinking")
for number in range(10**6):
    journal.add_text(f"{number} ")
    print(number, flush=True)
"""


def journal_in(home: Path, head: ReplyHead = HEAD, disk: Disk = OS_DISK) -> ReplyJournal:
    journal = ReplyJournal(home, ID, lambda: head, disk=disk)
    journal.begin()
    return journal


def left_in(home: Path) -> list[tuple[str, tuple[Part, ...]]]:
    with reply_journal.leftovers(home, ID) as left:
        return [(found.head.reply_id, found.parts) for found in left]


def loaded(home: Path) -> tuple[Message, ...]:
    return discussion_store.load(home, ID, NOW).discussion.messages


def test_a_finished_journal_leaves_nothing(tmp_path: Path) -> None:
    directory = made(tmp_path)
    journal = journal_in(tmp_path)
    journal.add_text("hello")
    journal.finish()

    assert names(directory) == {"meta.toml"}
    assert left_in(tmp_path) == []


def test_what_had_arrived_becomes_an_interrupted_message_once(tmp_path: Path) -> None:
    directory = made(tmp_path, [user("a")])
    journal = journal_in(tmp_path)
    journal.add_reasoning("let me ")
    journal.add_reasoning("think")
    journal.add_text("the ")
    journal.add_text("answer")
    journal.close()

    first = discussion_store.load(tmp_path, ID, NOW).discussion

    assert first.repaired == (
        "The program ended while a reply was arriving; it kept and marked the received part",
    )
    message = first.messages[-1]
    assert (message.id, message.role, message.status) == ("r1", Role.ASSISTANT, Status.INTERRUPTED)
    assert (message.text, message.reasoning) == ("the answer", "let me think")
    assert (message.provider, message.model) == ("anthropic", "claude-x")
    assert first.failed_message_id == ""
    assert names(directory) == {"meta.toml", "log.jsonl"}
    second = discussion_store.load(tmp_path, ID, NOW).discussion
    assert second.messages == first.messages
    assert second.repaired == ()


def test_a_reply_whose_record_is_in_the_log_already_is_not_added_again(tmp_path: Path) -> None:
    """The program died between the append and the removal of the journal."""
    directory = made(tmp_path, [user("a"), reply("r1", "the whole answer")])
    journal = journal_in(tmp_path)
    journal.add_text("the whole")
    journal.close()

    found = discussion_store.load(tmp_path, ID, NOW).discussion

    assert [m.text for m in found.messages] == ["hello", "the whole answer"]
    assert found.repaired == ()
    assert names(directory) == {"meta.toml", "log.jsonl"}


def test_a_call_of_which_nothing_arrived_leaves_the_message_to_be_sent_again(tmp_path: Path) -> None:
    path = made(tmp_path, [user("a")]) / "reply.part"
    journal = journal_in(tmp_path)
    journal.add_text("torn")
    journal.close()
    path.write_bytes(path.read_bytes().split(b"\n")[0])

    found = discussion_store.load(tmp_path, ID, NOW).discussion

    assert found.failed_message_id == "a"
    assert len(found.entries) == 1


def test_blocks_of_reasoning_stay_apart(tmp_path: Path) -> None:
    made(tmp_path)
    journal = journal_in(tmp_path)
    journal.add_reasoning("one")
    journal.add_reasoning("", '{"signature":"s"}')
    journal.add_reasoning("two")
    journal.add_text("a")
    journal.add_text("b")
    journal.close()

    parts = (
        ReasoningPart("one", '{"signature":"s"}'),
        ReasoningPart("two"),
        TextPart("ab"),
    )
    assert left_in(tmp_path) == [("r1", parts)]


def test_calls_are_kept_where_they_came_and_one_that_was_cut_short_is_not(tmp_path: Path) -> None:
    path = made(tmp_path) / "reply.part"
    journal = journal_in(tmp_path)
    journal.add_reasoning("why", '{"signature":"s"}')
    journal.add_text("I look.")
    first, second = ToolCallPart("c1", "read_file", '{"a":1}'), ToolCallPart("c2", "bash", "not json")
    journal.add_call(first)
    journal.add_call(second)
    journal.close()
    whole = (ReasoningPart("why", '{"signature":"s"}'), TextPart("I look."), first, second)
    assert left_in(tmp_path) == [("r1", whole)]

    path.write_bytes(path.read_bytes()[:-3])
    assert left_in(tmp_path) == [("r1", whole[:-1])]
    path.write_bytes(path.read_bytes() + b'\n{"c":[1,2]}\n{"c":"x"}\n')
    assert left_in(tmp_path) == [("r1", whole[:-1])]


def test_every_part_is_with_the_operating_system_at_once(tmp_path: Path) -> None:
    """A stream may pause for minutes after it, and the program may be killed meanwhile."""
    path = made(tmp_path) / "reply.part"
    journal = journal_in(tmp_path)
    journal.add_text("one")
    assert path.read_bytes().split(b"\n")[2:] == [b'{"t":"one"}', b""]
    journal.add_text("two")
    assert path.read_bytes().split(b"\n")[2:] == [b'{"t":"one"}', b'{"t":"two"}', b""]
    journal.finish()


@given(st.lists(texts, min_size=1, max_size=6), st.integers(0, 400))
def test_a_journal_torn_at_any_byte_gives_the_start_of_what_arrived(
    tmp_path_factory: pytest.TempPathFactory, deltas: list[str], cut: int
) -> None:
    home = tmp_path_factory.mktemp("home")
    path = made(home) / "reply.part"
    journal = journal_in(home)
    for delta in deltas:
        journal.add_text(delta)
    journal.close()
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - cut] if cut < len(data) else b"")

    found = left_in(home)

    for _, parts in found:
        assert "".join(deltas).startswith("".join(part.text for part in parts if isinstance(part, TextPart)))
    assert cut > 0 or [parts for _, parts in found] == [(TextPart("".join(deltas)),)]


@pytest.mark.parametrize(
    "junk", [b"", b"\0\0\0", b"not json\n", b"[]\n", b'{"id":1}\n', b'{"id":"a","at":"x"}\n']
)
def test_a_journal_that_is_no_journal_is_passed_over(tmp_path: Path, junk: bytes) -> None:
    directory = made(tmp_path, [user("a")])
    (directory / "reply.part").write_bytes(junk)

    assert [m.id for m in loaded(tmp_path)] == ["a"]


def test_while_one_process_receives_no_other_begins_nor_takes_over(tmp_path: Path) -> None:
    made(tmp_path, [user("a")])
    journal = journal_in(tmp_path)
    journal.add_text("arriving")

    with pytest.raises(LockedError, match="is receiving a reply"):
        journal_in(tmp_path)
    assert [m.id for m in loaded(tmp_path)] == ["a"]
    assert left_in(tmp_path) == []
    journal.close()
    assert [m.text for m in loaded(tmp_path)] == ["hello", "arriving"]


def test_two_who_look_at_once_both_see_what_was_left_and_a_reply_that_begins_waits(tmp_path: Path) -> None:
    made(tmp_path, [user("a")])
    journal = journal_in(tmp_path)
    journal.add_text("arriving")
    journal.close()

    with ThreadPoolExecutor(2) as pool:
        with reply_journal.leftovers(tmp_path, ID) as left:
            assert [found.head.reply_id for found in left] == ["r1"]
            other = pool.submit(left_in, tmp_path)
            begun = pool.submit(journal_in, tmp_path, ReplyHead("r2", NOW, "anthropic", "claude-x"))
            under_way: list[Future[Any]] = [other, begun]
            finished, _ = wait(under_way, timeout=0.1)
            assert not finished
            for found in left:
                found.path.unlink()
        begun.result().close()
        assert [name for name, _ in other.result()] in ([], ["r2"])


def test_a_discussion_is_opened_whole_while_its_money_is_counted(tmp_path: Path) -> None:
    made(tmp_path, [user("a")])
    journal = journal_in(tmp_path)
    journal.add_text("arriving")
    journal.close()

    with ThreadPoolExecutor(1) as pool, reply_journal.leftovers(tmp_path, ID):
        opened = pool.submit(loaded, tmp_path)
        assert not wait([opened], timeout=0.1).done
    assert [m.text for m in opened.result()] == ["hello", "arriving"]


def test_a_leftover_is_set_aside_when_the_next_reply_begins(tmp_path: Path) -> None:
    made(tmp_path, [user("a")])
    for number in range(12):
        journal = journal_in(tmp_path, ReplyHead(f"r{number}", NOW, "p", "m"))
        journal.add_text(f"part {number}")
        journal.close()

    assert [m.id for m in loaded(tmp_path)] == ["a", *(f"r{n}" for n in range(12))]


def test_a_full_disk_is_said_once_and_the_reply_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made(tmp_path)
    journal = journal_in(tmp_path, disk=FullDisk(400))
    journal.add_text("x" * 400)
    assert "the disk is full" in caplog.text

    journal.add_text("more")
    assert len(caplog.records) == 1
    journal.finish()
    again = journal_in(tmp_path)
    again.add_text("the lock is free")
    again.finish()
    assert len(caplog.records) == 1


@pytest.mark.parametrize("disk", [FullDisk(0), FullDisk(10), ReadOnlyDisk()])
def test_a_journal_that_cannot_begin_says_so_and_frees_its_lock(tmp_path: Path, disk: FullDisk) -> None:
    directory = made(tmp_path)
    with pytest.raises(StorageError) as refused:
        journal_in(tmp_path, disk=disk)

    assert refused.value.errno in {errno.ENOSPC, errno.EROFS}
    assert names(directory) == {"meta.toml"}
    again = journal_in(tmp_path)
    again.add_text("the lock is free")
    again.finish()


def test_before_it_begins_there_is_no_journal_and_another_one_is_left_alone(tmp_path: Path) -> None:
    directory = made(tmp_path, [user("a")])
    earlier = journal_in(tmp_path, ReplyHead("r0", NOW, "p", "m"))
    earlier.add_text("precious")
    earlier.close()

    ReplyJournal(tmp_path, ID, lambda: HEAD).finish()
    ReplyJournal(tmp_path, ID, lambda: HEAD).close()

    assert names(directory) == {"meta.toml", "log.jsonl", "reply.part"}
    assert left_in(tmp_path) == [("r0", (TextPart("precious"),))]


def test_a_journal_that_ended_takes_no_more(tmp_path: Path) -> None:
    """A call that reports late, after the program let its journal go."""
    made(tmp_path)
    journal = journal_in(tmp_path)
    journal.add_text("a")
    journal.close()
    journal.add_text("b")

    assert left_in(tmp_path) == [("r1", (TextPart("a"),))]


def test_the_next_reply_takes_the_place_of_one_that_could_not_be_logged(tmp_path: Path) -> None:
    """It waits on disk for the next load; a reply of which nothing arrived takes nobody's place."""
    directory = made(tmp_path)
    journals = Journals(tmp_path)
    first = journals.journal(ID, "c1", lambda: HEAD)
    first.begin()
    first.add_text("not logged")
    journals.journal(ID, "c0", lambda: pytest.fail("nothing arrived"))
    first.add_text(", more")
    second = journals.journal(ID, "c2", lambda: ReplyHead("r2", NOW, "p", "m"))
    second.begin()
    second.add_text("logged")
    journals.drop(ID, "c2")

    assert names(directory) == {"meta.toml", "reply.1.part"}
    assert left_in(tmp_path) == [("r1", (TextPart("not logged, more"),))]


def beside(journals: Journals, reply_id: str, version_of: str = "") -> ReplyJournal:
    """A journal of a comparison, begun."""
    head = ReplyHead(reply_id, NOW, "p", "m", call_id=f"call {reply_id}", version_of=version_of)
    journal = journals.journal(ID, f"call {reply_id}", lambda: head, beside=reply_id)
    journal.begin()
    return journal


def test_replies_of_a_comparison_have_journals_beside_one_another(tmp_path: Path) -> None:
    directory = made(tmp_path)
    journals = Journals(tmp_path)
    one, two = beside(journals, "r1"), beside(journals, "r2", "r1")
    one.add_text("A")
    two.add_text("B")
    assert names(directory) == {"meta.toml", "reply.r1.part", "reply.r2.part"}
    assert left_in(tmp_path) == []  # they are arriving

    journals.drop(ID, "call r1")
    with pytest.raises(LockedError):
        journal_in(tmp_path)
    assert left_in(tmp_path) == []
    journals.drop(ID, "call r2")
    assert names(directory) == {"meta.toml"}
    journal_in(tmp_path).finish()


@pytest.mark.parametrize(
    ("logged", "said", "ids"),
    [
        ("", ("A", "B", "C"), ("r1", "r2", "r3")),
        ("", ("", "B", "C"), ("r2", "r3")),
        ("", ("", "", "C"), ()),
        ("r1", ("A", "B", ""), ("r1", "r2")),
        ("r2", ("", "B", "C"), ("r2", "r3")),
    ],
)
def test_a_kill_leaves_each_of_them_as_a_version_of_the_first_that_came(
    tmp_path: Path, logged: str, said: tuple[str, ...], ids: tuple[str, ...]
) -> None:
    made(tmp_path, [user("a"), *([reply(logged, "whole")] if logged else [])])
    journals = Journals(tmp_path)
    for reply_id, words in zip(("r1", "r2", "r3"), said, strict=True):
        if reply_id == logged:
            continue
        journal = beside(journals, reply_id, "" if reply_id == "r1" else "r1")
        if words:
            journal.add_text(words)
    journals.release_all()

    discussion = discussion_store.load(tmp_path, ID, NOW).discussion

    assert [message.role for message in discussion.messages] == [Role.USER, Role.ASSISTANT]
    assert [versions.ids for versions in discussion.versions.values()] == ([ids] if ids else [])
    assert discussion_store.load(tmp_path, ID, NOW).discussion.messages == discussion.messages


def test_lone_surrogates_from_a_stream_do_not_break_the_journal(tmp_path: Path) -> None:
    made(tmp_path)
    journal = journal_in(tmp_path)
    journal.add_text("a\ud83d")
    journal.close()

    assert left_in(tmp_path) == [("r1", (TextPart("a\ufffd"),))]


def test_where_the_repair_cannot_be_written_the_reply_is_shown_and_kept_for_later(tmp_path: Path) -> None:
    directory = made(tmp_path, [user("a")])
    journal = journal_in(tmp_path)
    journal.add_text("precious")
    journal.close()

    shown = discussion_store.load(tmp_path, ID, NOW, disk=FullDisk(0)).discussion

    assert [m.text for m in shown.messages] == ["hello", "precious"]
    assert (directory / "reply.part").exists()
    assert [m.text for m in loaded(tmp_path)] == ["hello", "precious"]
    assert not (directory / "reply.part").exists()


def test_a_reply_survives_kill_9(tmp_path: Path) -> None:
    made(tmp_path, [user("a")])
    child = FORKS.program(STREAMER, tmp_path)
    assert "100" in iter(child.line, "")
    assert left_in(tmp_path) == []
    child.kill()
    child.communicate()

    message = loaded(tmp_path)[-1]

    assert (message.id, message.status, message.reasoning) == ("r1", Status.INTERRUPTED, "thinking")
    assert message.text.startswith("".join(f"{n} " for n in range(101)))
    assert log.read(tmp_path, ID).records[-1].id == "r1"


EXPECTED = Usage(
    input_tokens=10_000, cache_read_tokens=9_000, cache_write_tokens=1_000, cache_write_5m_tokens=1_000
)
CALLED = ReplyHead("r1", NOW, "anthropic", "claude-opus-5-5", "c1", EXPECTED, 1.5)


def booked_of(home: Path) -> Usage:
    """The discussion's usage after a load, the same as counts towards the day before and after it."""
    logs = [paths.log_file(home, ID)]
    before = all_paid_since(home, logs, NOW)
    usage = discussion_store.load(home, ID, NOW).discussion.usage
    assert before == all_paid_since(home, logs, NOW) == paid_since(logs[0], NOW)
    assert discussion_store.load(home, ID, NOW).discussion.usage == usage, "once"
    assert sum(one.usd for one in before.values()) == (usage.cost_usd or 0.0)
    assert all(one.is_estimate for one in before.values())
    return usage


def test_what_a_killed_program_was_receiving_is_booked_at_its_estimate_once(tmp_path: Path) -> None:
    """The journal says what was sent and what had come; the provider never said what it took for it."""
    made(tmp_path, [user("a")])
    journal = journal_in(tmp_path, CALLED)
    journal.add_reasoning("tide " * 40)
    journal.add_text("tide " * 40)
    journal.close()

    usage = booked_of(tmp_path)

    words = count_tokens("tide " * 40)
    assert (usage.input_tokens, usage.cache_read_tokens) == (10_000, 9_000)
    assert usage.output_tokens == round(2 * words * 1.5), "thinking too, by the model's factor"
    assert usage.cost_usd == cost("anthropic", "claude-opus-5-5", replace(usage, cost_usd=None), NOW)
    assert loaded(tmp_path)[-1].usage == usage


def test_while_what_came_is_counted_nobody_waits_for_the_journals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counting loads a tokenizer: on a busy machine that took so long that opening the discussion failed."""
    made(tmp_path, [user("a")])
    journal = journal_in(tmp_path, CALLED)
    journal.add_text("tide " * 40)
    journal.close()
    seen: list[int] = []

    def counted(_text: str) -> int:
        seen.append(len(left_in(tmp_path)))  # another reader, while this one counts
        return 40

    monkeypatch.setattr(reply_journal, "count_tokens", counted)
    assert booked_of(tmp_path).output_tokens == 60
    assert set(seen) == {1}


def test_a_reply_that_another_program_put_into_the_log_meanwhile_is_there_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path, [user("a")])
    journal = journal_in(tmp_path, CALLED)
    journal.add_text("the answer")
    journal.close()

    def counted(_text: str) -> int:
        monkeypatch.undo()
        discussion_store.load(tmp_path, ID, NOW)
        return 2

    monkeypatch.setattr(reply_journal, "count_tokens", counted)

    assert [m.text for _ in range(2) for m in loaded(tmp_path)] == ["hello", "the answer"] * 2


def test_a_call_that_was_killed_before_its_first_word_is_booked_and_can_be_sent_again(tmp_path: Path) -> None:
    made(tmp_path, [user("a")])
    journal_in(tmp_path, CALLED).close()

    usage = booked_of(tmp_path)

    assert (usage.input_tokens, usage.output_tokens, usage.is_estimate) == (10_000, 0, True)
    assert discussion_store.load(tmp_path, ID, NOW).discussion.failed_message_id == "a"
    assert [m.id for m in loaded(tmp_path)] == ["a"]


def test_what_the_provider_had_said_of_a_killed_call_is_believed(tmp_path: Path) -> None:
    made(tmp_path, [user("a")])
    journal = journal_in(tmp_path, CALLED)
    journal.add_usage(Usage(input_tokens=8_123, output_tokens=1, cache_read_tokens=8_000))
    journal.close()

    usage = booked_of(tmp_path)

    assert (usage.input_tokens, usage.cache_read_tokens, usage.is_estimate) == (8_123, 8_000, True)


@pytest.mark.parametrize(("lost", "calls"), [(0, 0), (2, 2)])
def test_a_call_that_was_killed_between_two_attempts_is_booked_for_those_that_were_lost(
    tmp_path: Path, lost: int, calls: int
) -> None:
    made(tmp_path, [user("a")])
    journal = journal_in(tmp_path, CALLED)
    journal.note_attempt(is_out=False, lost=lost)
    journal.close()

    assert (booked_of(tmp_path).input_tokens or 0) == calls * 10_000


@pytest.mark.parametrize("message_id", ["r1", "c1"])
def test_a_call_that_the_log_has_booked_is_not_booked_again(tmp_path: Path, message_id: str) -> None:
    """The program died between the append and the removal of the journal; a reply without words is named by its call."""
    told = UsageRecord(
        "u", NOW, message_id, replace(EXPECTED, output_tokens=0, cost_usd=0.5, is_estimate=True)
    )
    made(tmp_path, [user("a"), told])
    journal_in(tmp_path, CALLED).close()

    assert booked_of(tmp_path).cost_usd == 0.5


def test_a_leftover_of_which_nobody_knows_what_was_sent_is_kept_without_a_guess(tmp_path: Path) -> None:
    made(tmp_path, [user("a"), request("q", "a")])
    journal = journal_in(tmp_path)
    journal.add_text("the")
    journal.close()

    found = discussion_store.load(tmp_path, ID, NOW).discussion
    assert found.messages[-1].text == "the"
    assert found.usage == Usage()


def test_a_version_that_a_killed_program_was_receiving_is_a_version(tmp_path: Path) -> None:
    made(tmp_path, [user("a"), reply("b", "first")])
    journal = journal_in(tmp_path, ReplyHead("r1", NOW, "p", "m", version_of="b"))
    journal.add_text("second")
    journal.close()

    found = discussion_store.load(tmp_path, ID, NOW).discussion

    assert [m.text for m in found.messages] == ["hello", "second"]
    assert found.versions["b"].ids == ("b", "r1")
    assert discussion_store.load(tmp_path, ID, NOW).discussion.entries == found.entries
