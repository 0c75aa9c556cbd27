"""The queue on disk: each prompt leaves it once, whoever sends it, and a kill between two writes sends none twice."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.kernel.errors import StorageError
from core.kernel.values.discussion import QueuedPrompt
from core.kernel.values.messages import AttachmentPart, Role, TextPart
from core.kernel.values.records import MessageRecord
from core.talk.discussion import discussion_meta, discussion_store, log, log_codec
from core.talk.discussion.discussion_store import LEFT_BEHIND
from tests.core.kernel.faults import FullDisk, StuckDisk, made, names
from tests.core.records import ID, NOW, user

FIRST = QueuedPrompt(
    "q1", NOW, 'a "quoted" id: "id":"q2"\n', (AttachmentPart("ab" * 32, "text/plain", "a", 3),)
)
SECOND = QueuedPrompt("q2", NOW, "語彙 🎉")


def record(prompt: QueuedPrompt) -> tuple[MessageRecord, ...]:
    return (MessageRecord(prompt.id, NOW, Role.USER, (TextPart(prompt.text),)),)


def queue(home: Path) -> Path:
    """A discussion in which two prompts wait."""
    directory = made(home, [user("a")])
    discussion_meta.add(home, ID, FIRST)
    assert discussion_meta.add(home, ID, SECOND) == (FIRST, SECOND)
    return directory


def said(home: Path) -> list[str]:
    return [one.id for one in log.read(home, ID).records if isinstance(one, MessageRecord)]


def test_prompts_come_back_in_order_with_their_files_and_are_held_after_a_restart(tmp_path: Path) -> None:
    queue(tmp_path)

    found = discussion_store.load(tmp_path, ID, NOW).discussion

    assert found.queue == (FIRST, SECOND)
    assert found.queue_hold == LEFT_BEHIND


def test_a_prompt_that_is_sent_is_in_the_log_and_leaves_the_queue(tmp_path: Path) -> None:
    directory = queue(tmp_path)

    assert discussion_meta.send(tmp_path, ID, record(FIRST), "q1") is not None
    assert discussion_meta.read(tmp_path, ID).prompts == (SECOND,)
    assert discussion_meta.remove(tmp_path, ID, "q2") == ()

    assert said(tmp_path) == ["a", "q1"]
    assert names(directory) == {"log.jsonl", "meta.toml"}
    assert discussion_store.load(tmp_path, ID, NOW).discussion.queue_hold == ""


def test_of_many_programs_that_send_one_prompt_one_does(tmp_path: Path) -> None:
    queue(tmp_path)

    with ThreadPoolExecutor(8) as pool:
        went = list(pool.map(lambda _: discussion_meta.send(tmp_path, ID, record(FIRST), "q1"), range(8)))

    assert sum(one is not None for one in went) == 1
    assert said(tmp_path) == ["a", "q1"]


def test_a_kill_between_the_log_and_the_queue_sends_nothing_twice(tmp_path: Path) -> None:
    queue(tmp_path)

    assert discussion_meta.send(tmp_path, ID, record(FIRST), "q1", disk=StuckDisk()) is not None
    assert discussion_meta.read(tmp_path, ID).prompts == (FIRST, SECOND), "the queue was not written"

    assert discussion_store.load(tmp_path, ID, NOW).discussion.queue == (SECOND,)
    assert discussion_meta.send(tmp_path, ID, record(FIRST), "q1") is None
    assert said(tmp_path) == ["a", "q1"]
    assert discussion_meta.send(tmp_path, ID, record(SECOND), "q2") is not None, (
        "a text that names an id is no id"
    )


@pytest.mark.parametrize("cut", [5, 40, -1])
def test_words_of_which_a_kill_left_half_in_the_log_still_wait_and_go(tmp_path: Path, cut: int) -> None:
    """Cut behind its id, its line told of words that were sent: they left the queue, and stood nowhere."""
    directory = queue(tmp_path)
    whole = log_codec.encode(*record(FIRST))
    place = whole.index(b'"id":"q1"') + 9
    with (directory / "log.jsonl").open("ab") as file:
        file.write(whole[: place + cut] if cut > 0 else whole[:-1])
    is_half = cut > 0

    assert discussion_store.load(tmp_path, ID, NOW).discussion.queue == (
        (FIRST, SECOND) if is_half else (SECOND,)
    )
    assert (discussion_meta.send(tmp_path, ID, record(FIRST), "q1") is not None) is is_half
    assert said(tmp_path) == ["a", "q1"]
    assert discussion_meta.read(tmp_path, ID).prompts == (SECOND,)


def test_a_full_disk_leaves_a_prompt_where_it_is(tmp_path: Path) -> None:
    queue(tmp_path)

    with pytest.raises(StorageError, match="full"):
        discussion_meta.send(tmp_path, ID, record(FIRST), "q1", disk=FullDisk(10))
    with pytest.raises(StorageError, match="full"):
        discussion_meta.add(tmp_path, ID, QueuedPrompt("q3", NOW, "x"), disk=FullDisk(10))

    assert discussion_meta.read(tmp_path, ID).prompts == (FIRST, SECOND)
    assert said(tmp_path) == ["a"]


@pytest.mark.parametrize("data", [b"{", b"\xff", b"[]", b'{"v":1,"prompts":[{}]}', b'{"v":9,"prompts":[]}'])
def test_a_broken_queue_is_said_and_kept_beside_the_next_one(tmp_path: Path, data: bytes) -> None:
    directory = made(tmp_path)
    (directory / "queue.json").write_bytes(data)

    found = discussion_store.load(tmp_path, ID, NOW).discussion
    assert found.queue == ()
    assert any("queue.json" in sentence for sentence in found.repaired)

    assert discussion_meta.add(tmp_path, ID, FIRST) == (FIRST,)
    assert (directory / "queue.json.broken").read_bytes() == data


def test_the_file_is_plain_to_read(tmp_path: Path) -> None:
    directory = queue(tmp_path)

    found = json.loads((directory / "queue.json").read_text(encoding="utf-8"))

    assert found["v"] == 1
    assert [one["text"] for one in found["prompts"]] == [FIRST.text, SECOND.text]
