"""The disk worker: every effect on a real folder, every failure an event that names it."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue

import pytest
from msgspec.structs import replace

from core.app import home as store_home
from core.app.app_messages import Event, WriteWindow
from core.app.services import DiskHandler, DiskWork, join_state, keeps, split_state, supersedes
from core.kernel.disk import OS_DISK, Disk
from core.kernel.queue import QueueWorker
from core.kernel.values.discussion import DiscussionMeta, Draft
from core.kernel.values.harvest import HarvestItem, HarvestPreview, ProposedItem, ReviewChoice
from core.kernel.values.knowledge import Category
from core.kernel.values.messages import Role, TextPart, ToolCallPart
from core.kernel.values.records import MessageRecord, UsageRecord
from core.kernel.values.updates import OperationDone, OperationFailed, WritesCaughtUp
from core.kernel.values.usage import Payment, Usage
from core.knowledge.harvest.harvest_messages import WriteReview
from core.knowledge.harvest.preview import choices_of
from core.knowledge.harvest.replies import load_review, review_file
from core.talk.discussion import log, trash
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    CreateOnDisk,
    DiscussionChangedOutside,
    DiscussionCreated,
    DiscussionLoaded,
    DiscussionRestored,
    DiscussionTrashed,
    DiscussionVanished,
    ExportDiscussion,
    LookAtDiscussions,
    PromptToken,
    ReadDiscussion,
    RecordsAppended,
    ReplyToken,
    TrashListed,
    TrashOnDisk,
    UndoDelete,
    WriteDraft,
    WriteFailed,
    WriteMeta,
)
from core.talk.discussion.discussion_meta import write_meta
from core.talk.discussion.discussion_worker import DiscussionHandler
from tests.patience import PATIENCE_S

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
META = DiscussionMeta("20261120-120000-abcdef", "Sky", AT, "embedded", "smollm2")
PROMPT = MessageRecord("m1", AT, Role.USER, (TextPart("Why is it blue?"),))
REPLY = MessageRecord("m2", AT, Role.ASSISTANT, (TextPart("It scatters."),))
USAGE = UsageRecord("u1", AT, "m2", Usage(input_tokens=10, cost_usd=0.5))


class Desk:
    """A handler on a fresh home, and what it reported."""

    def __init__(self, home: Path) -> None:
        self.home = home
        store_home.open_home(home, AT)
        self.events: list[Event] = []
        self.dropped: list[str] = []
        discussions = DiscussionHandler(home, lambda: AT, self.events.append, self)
        self.handler = DiskHandler(home, discussions, lambda name: None)

    def drop(self, discussion_id: str, call_id: str) -> None:
        self.dropped.append(discussion_id)

    def do(self, effect: DiskWork) -> Event | None:
        """Carry out an effect; the event it reported last."""
        before = len(self.events)
        self.handler.handle(effect)
        return self.events[-1] if len(self.events) > before else None


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path / "home")
    desk.do(CreateOnDisk(META))
    return desk


def test_a_discussion_is_made_and_reported_with_its_row(desk: Desk) -> None:
    (created,) = desk.events
    assert isinstance(created, DiscussionCreated)
    assert created.summary.meta == META
    assert (desk.home / "discussions" / META.id / "meta.toml").is_file()


def test_records_are_on_disk_when_they_are_reported(desk: Desk) -> None:
    event = desk.do(AppendRecords(META.id, (PROMPT, REPLY, USAGE), PromptToken("call")))

    assert event == RecordsAppended(META.id, (PROMPT, REPLY, USAGE), PromptToken("call"))
    loaded = desk.do(ReadDiscussion(discussion_id=META.id))
    assert isinstance(loaded, DiscussionLoaded)
    assert [m.text for m in loaded.discussion.messages] == ["Why is it blue?", "It scatters."]
    assert desk.dropped == []


def test_a_reply_that_asks_for_tools_is_told_before_what_stood_for_it_goes(tmp_path: Path) -> None:
    """Its calls begin meanwhile; the disk comes to what they write when all of it is gone."""
    told: list[object] = []

    class Held:
        """Journals and reserves that were let go of."""

        def drop(self, discussion_id: str, call_id: str) -> None:
            told.append(discussion_id)

        def settle(self, key: str, payments: Mapping[str, Payment]) -> None:
            told.append((key, payments))

    desk = Desk(tmp_path / "home")
    desk.do(CreateOnDisk(META))
    asking = replace(REPLY, parts=(ToolCallPart("c", "look", "{}"),))
    handler = DiscussionHandler(desk.home, lambda: AT, told.append, Held(), Held())
    for reply in (asking, replace(REPLY, id="m3")):
        handler.handle(AppendRecords(META.id, (reply,), ReplyToken("x")))

    first, dropped, dropped_again, settled, last = told
    assert isinstance(first, RecordsAppended)
    assert isinstance(last, RecordsAppended)
    assert (dropped, dropped_again, settled) == (META.id, META.id, ("turn/x", {}))


def test_the_reply_journal_goes_only_after_the_reply_is_logged(desk: Desk) -> None:
    desk.do(AppendRecords(META.id, (REPLY,), ReplyToken("x")))
    assert desk.dropped == [META.id]

    failed = desk.do(AppendRecords("gone", (REPLY,), ReplyToken("y")))
    assert isinstance(failed, WriteFailed)
    assert (failed.token, failed.records) == (ReplyToken("y"), (REPLY,))
    assert desk.dropped == [META.id]


def test_a_branch_holds_the_parents_words_up_to_its_point(desk: Desk) -> None:
    desk.do(AppendRecords(META.id, (PROMPT, REPLY)))
    new = DiscussionMeta(
        "20261120-130000-bcdefg",
        "Sky (branch)",
        AT,
        "embedded",
        "smollm2",
        parent_id=META.id,
        branch_message_id="m1",
    )

    event = desk.do(CreateOnDisk(new))

    assert isinstance(event, DiscussionCreated)
    assert [m.text for m in event.discussion.messages] == ["Why is it blue?"]
    assert event.summary.meta == new
    assert event.summary.turns == 1


def test_the_trash_gives_back_what_it_took(desk: Desk) -> None:
    desk.do(AppendRecords(META.id, (PROMPT, REPLY, USAGE)))

    trashed = desk.do(TrashOnDisk(META.id, "Sky", "deleted"))
    assert isinstance(trashed, DiscussionTrashed)
    assert not (desk.home / "discussions" / META.id).exists()

    restored = desk.do(UndoDelete(META.id))
    assert isinstance(restored, DiscussionRestored)
    assert (restored.summary.turns, restored.summary.usage.cost_usd) == (1, 0.5)
    assert restored.summary.preview == "It scatters."


def test_a_draft_is_kept_and_comes_back(desk: Desk) -> None:
    desk.do(WriteDraft(META.id, Draft("half a thou")))
    loaded = desk.do(ReadDiscussion(discussion_id=META.id))
    assert isinstance(loaded, DiscussionLoaded)
    assert loaded.discussion.draft.text == "half a thou"


def test_a_draft_of_a_deleted_discussion_makes_no_folder_anew(desk: Desk) -> None:
    desk.do(TrashOnDisk(META.id, "Sky", "deleted"))
    desk.do(WriteDraft(META.id, Draft("late")))
    assert not (desk.home / "discussions" / META.id).exists()


@pytest.mark.parametrize("form", ["markdown", "json"])
def test_an_export_is_written_where_the_person_said(desk: Desk, tmp_path: Path, form: str) -> None:
    desk.do(AppendRecords(META.id, (PROMPT, REPLY)))
    target = tmp_path / "export"

    done = desk.do(ExportDiscussion(discussion_id=META.id, form=form, path=str(target)))

    assert isinstance(done, OperationDone)
    assert "It scatters." in target.read_text(encoding="utf-8")


def test_the_windows_state_comes_back_with_the_selection(desk: Desk) -> None:
    desk.do(WriteWindow("[panes]\nleft = 280\n", META.id))
    assert split_state(store_home.read_state(desk.home)) == ("[panes]\nleft = 280\n", META.id)


def test_a_state_file_of_another_hand_is_all_the_windows() -> None:
    assert split_state("[panes]\nleft = 1\n") == ("[panes]\nleft = 1\n", "")
    assert split_state(join_state("", "x")) == ("", "x")


def test_only_the_last_draft_of_a_discussion_is_written() -> None:
    assert supersedes(WriteDraft("a", Draft("2")), WriteDraft("a", Draft("1")))
    assert not supersedes(WriteDraft("a", Draft("2")), WriteDraft("b", Draft("1")))
    assert not supersedes(WriteDraft("a", Draft("2")), AppendRecords("a", ()))


def test_only_what_another_program_wrote_is_read_again(desk: Desk) -> None:
    desk.do(AppendRecords(META.id, (PROMPT,)))
    desk.do(WriteMeta(replace(META, name="Blue sky")))
    told = len(desk.events)
    desk.do(LookAtDiscussions((META.id,)))
    assert len(desk.events) == told

    log.append(desk.home, META.id, (REPLY,))
    changed = desk.do(LookAtDiscussions((META.id,)))

    assert isinstance(changed, DiscussionChangedOutside)
    assert [m.text for m in changed.discussion.messages] == ["Why is it blue?", "It scatters."]
    assert changed.summary.meta.name == "Blue sky"


def test_an_append_behind_another_programs_tells_of_both(desk: Desk) -> None:
    log.append(desk.home, META.id, (PROMPT,))

    changed = desk.do(AppendRecords(META.id, (REPLY,)))

    assert isinstance(changed, DiscussionChangedOutside)
    assert [m.text for m in changed.discussion.messages] == ["Why is it blue?", "It scatters."]


def test_a_meta_written_elsewhere_is_told_and_a_folder_that_is_gone_too(desk: Desk) -> None:
    write_meta(desk.home, replace(META, name="From elsewhere"))
    changed = desk.do(LookAtDiscussions((META.id,)))
    assert isinstance(changed, DiscussionChangedOutside)
    assert changed.summary.meta.name == "From elsewhere"

    trash.delete(desk.home, META.id, AT, "deleted")
    desk.do(LookAtDiscussions((META.id,)))
    gone, listed = desk.events[-2:]
    assert gone == DiscussionVanished(META.id)
    assert isinstance(listed, TrashListed)
    assert [item.discussion_id for item in listed.items] == [META.id]


def test_what_another_program_took_out_of_the_trash_is_told_and_the_trash_once(desk: Desk) -> None:
    others = tuple(replace(META, id=f"{META.id[:-1]}{letter}") for letter in "xyz")
    for meta in others:
        desk.do(CreateOnDisk(meta))
        trash.delete(desk.home, meta.id, AT, "harvested")
    told = len(desk.events)

    desk.do(LookAtDiscussions(tuple(meta.id for meta in others)))
    *gone, listed = desk.events[told:]
    assert gone == [DiscussionVanished(meta.id) for meta in others]
    assert isinstance(listed, TrashListed)
    assert len(listed.items) == 3
    trash.restore(desk.home, others[0].id)
    told = len(desk.events)
    desk.do(LookAtDiscussions((others[0].id,)))

    back, listed = desk.events[told:]
    assert isinstance(back, DiscussionChangedOutside)
    assert isinstance(listed, TrashListed)
    assert {item.discussion_id for item in listed.items} == {meta.id for meta in others[1:]}


# --- what a person made of a harvest's preview


def _reviewed() -> HarvestPreview:
    item = HarvestItem(Category.FACTS, "Tides follow the moon.")
    one = ProposedItem(f"{'a' * 16}-0", item, "tides", "/h/log.jsonl", "a" * 64)
    return HarvestPreview(items=(replace(one, is_ticked=False), replace(one, id=f"{'a' * 16}-1")))


def test_a_review_is_on_disk_with_that_of_earlier_previews_and_gone_when_nothing_is_left(desk: Desk) -> None:
    earlier = {"b-0/1": ReviewChoice(False)}

    desk.do(WriteReview(earlier, _reviewed()))
    assert load_review(desk.home) == {**earlier, **choices_of(_reviewed())}
    assert len(load_review(desk.home)) == 2

    desk.do(WriteReview({}, None))
    assert not review_file(desk.home).exists()


def test_a_later_review_replaces_one_that_waits_and_one_that_failed_is_tried_again() -> None:
    later, earlier = WriteReview({}, None), WriteReview({"b-0/1": ReviewChoice(False)}, _reviewed())

    assert supersedes(later, earlier)
    assert not supersedes(later, WriteWindow("", ""))
    assert not supersedes(WriteWindow("", ""), earlier)
    assert keeps(earlier)


def test_a_review_that_finds_no_room_leaves_the_one_before_and_is_written_once_there_is(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.do(WriteReview({"b-0/1": ReviewChoice(False)}, None))
    events: Queue[Event] = Queue()
    worker = QueueWorker("disk", desk.handler.handle, events.put, supersedes, keeps, retry_s=0.01)
    with monkeypatch.context() as full:
        full.setattr(OS_DISK.__class__, "write", _no_room)
        worker.submit(WriteReview({}, _reviewed()))
        failed = events.get(timeout=PATIENCE_S)
        assert isinstance(failed, OperationFailed)
        assert "the disk is full" in failed.text
        assert load_review(desk.home) == {"b-0/1": ReviewChoice(False)}

    assert events.get(timeout=PATIENCE_S) == WritesCaughtUp("disk")
    assert load_review(desk.home) == choices_of(_reviewed())
    assert worker.stop(30)


def _no_room(_disk: Disk, _fd: int, _data: bytes) -> int:
    raise OSError(errno.ENOSPC, "no space")
