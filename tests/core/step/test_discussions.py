"""Discussions as a list: create, select, describe, branch, trash, search, edit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from core.values import commands as c
from core.values import effects as f
from core.values import events as e
from core.values.discussion import DiscussionMeta, DiscussionSummary, Draft, OpenDiscussion
from core.values.messages import AttachmentPart, Message, Role, TextPart
from core.values.records import DeleteRecord, EditRecord, MarkRecord, RestoreRecord
from core.values.settings import Settings
from core.values.state import SearchHits, TrashItem
from tests.core.step.playbook import START, Playbook, of, settings_loaded, with_ai


@pytest.fixture
def book() -> Playbook:
    return Playbook().ready()


def row(discussion_id: str, minutes: int = 0, **fields: object) -> DiscussionSummary:
    meta = DiscussionMeta(discussion_id, f"name {discussion_id}", START, "embedded", "smollm2-135m", **fields)  # type: ignore[arg-type]
    return DiscussionSummary(meta, START + timedelta(minutes=minutes))


def test_a_new_discussion_is_shown_when_it_stands_on_disk(book: Playbook) -> None:
    (create,) = of(book.play(c.CreateDiscussion("Sky")), f.CreateOnDisk)
    assert book.state.selected_id == ""

    book.play(e.DiscussionCreated(DiscussionSummary(create.meta, START), OpenDiscussion(create.meta.id)))

    assert book.state.selected_id == create.meta.id
    assert book.state.summaries[create.meta.id].meta.name == "Sky"


def test_ids_are_times_with_letters_and_never_repeat(book: Playbook) -> None:
    ids = {book.discussion() for _ in range(50)}
    assert len(ids) == 50
    assert all(found.startswith("20261120-120000-") for found in ids)


def test_a_new_discussion_takes_the_settings_defaults(book: Playbook) -> None:
    settings = with_ai(Settings(), effort="high", persona="terse", system_prompt_preset="strict")
    book.play(settings_loaded(settings=settings))

    chosen = book.discussion()
    meta = book.state.summaries[chosen].meta

    assert (meta.effort, meta.persona, meta.system_preset) == ("high", "terse", "strict")
    assert (meta.provider, meta.model) == ("embedded", "smollm2-135m")


def test_without_a_key_the_embedded_model_answers(book: Playbook) -> None:
    book.play(settings_loaded(settings=with_ai(Settings(), provider="anthropic", model="claude-opus-5-5")))

    chosen = book.discussion()
    meta = book.state.summaries[chosen].meta

    assert (meta.provider, meta.model) == ("embedded", "smollm2-135m")
    assert "instead of anthropic" in book.state.notices[-1].text


def test_on_start_the_discussion_of_last_time_is_opened() -> None:
    book = Playbook()
    book.play(e.HomeOpened("/home/x", selected_id="b"))
    book.play(settings_loaded())

    effects = book.play(e.SummariesLoaded((row("a", 5), row("b")), True))

    assert of(effects, f.LoadDiscussion) == (f.LoadDiscussion("b"),)
    assert book.state.selected_id == "b"


def test_on_start_the_newest_is_opened_when_the_last_one_is_gone() -> None:
    book = Playbook()
    book.play(e.HomeOpened("/home/x", selected_id="gone"))

    effects = book.play(e.SummariesLoaded((row("a", 5), row("b"), row("c", 9, archived=True)), True))

    assert of(effects, f.LoadDiscussion) == (f.LoadDiscussion("a"),)


def test_selecting_reads_a_log_once(book: Playbook) -> None:
    book.play(e.SummariesLoaded((row("a"), row("b")), True))
    assert of(book.play(c.SelectDiscussion("b")), f.LoadDiscussion)
    book.play(e.DiscussionLoaded(OpenDiscussion("b")))

    assert not of(book.play(c.SelectDiscussion("b")), f.LoadDiscussion)


def test_what_was_repaired_is_said(book: Playbook) -> None:
    book.play(e.SummariesLoaded((row("a"),), True))

    book.play(e.DiscussionLoaded(OpenDiscussion("a", repaired=("The last line was torn.",))))

    assert book.state.notices[-1].detail == "The last line was torn."
    assert "name a" in book.state.notices[-1].text


@pytest.mark.parametrize(
    ("command", "field", "value"),
    [
        (lambda i: c.RenameDiscussion(i, " New  name "), "name", "New name"),
        (lambda i: c.PinDiscussion(i, True), "pinned", True),
        (lambda i: c.ArchiveDiscussion(i, True), "archived", True),
        (lambda i: c.SetEffort(i, "high"), "effort", "high"),
        (lambda i: c.SetDiscussionPreset(i, "core"), "preset", "core"),
        (lambda i: c.SetPersona(i, "terse"), "persona", "terse"),
        (lambda i: c.SetSystemPreset(i, "strict"), "system_preset", "strict"),
    ],
)
def test_what_is_changed_of_a_discussion_is_kept(
    book: Playbook, command: Callable[[str], c.Command], field: str, value: object
) -> None:
    chosen = book.discussion()

    (write,) = of(book.play(command(chosen)), f.WriteMeta)

    assert getattr(write.meta, field) == value
    assert book.state.summaries[chosen].meta == write.meta
    assert book.play(command(chosen)) == ()


def test_an_empty_name_and_an_unknown_effort_are_ignored(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    assert book.play(c.RenameDiscussion(chosen, "  ")) == ()
    assert book.play(c.SetEffort(chosen, "ludicrous")) == ()


def test_switching_the_model_in_the_middle_leaves_a_mark(book: Playbook) -> None:
    chosen = book.discussion()
    book.answer(book.ask(chosen, "one"), "first")

    effects = book.play(c.SetModel(chosen, "anthropic", "claude-opus-5-5"))

    (write,) = of(effects, f.AppendRecords)
    assert isinstance(write.records[0], MarkRecord)
    assert "claude-opus-5-5" in write.records[0].text
    call = book.ask(chosen, "two")
    assert (call.spec.inputs.provider, call.spec.inputs.model) == ("anthropic", "claude-opus-5-5")
    assert call.spec.inputs.role_text == "You are Claude, and help."


def test_a_branch_is_a_new_discussion_and_leaves_the_parent_alone(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    book.answer(book.ask(chosen, "one"), "first")
    before = book.state.open[chosen]
    point = before.messages[0].id

    (branch,) = of(book.play(c.BranchDiscussion(chosen, point)), f.BranchOnDisk)

    assert (branch.parent_id, branch.message_id) == (chosen, point)
    assert (branch.meta.parent_id, branch.meta.branch_message_id) == (chosen, point)
    assert branch.meta.id != chosen
    assert book.state.open[chosen] == before


def test_a_branch_point_that_is_not_there_is_ignored(book: Playbook) -> None:
    assert book.play(c.BranchDiscussion(book.discussion(), "nothing")) == ()


def test_a_deleted_discussion_can_be_brought_back(book: Playbook) -> None:
    first, second = book.discussion("a"), book.discussion("b")
    (trash,) = of(book.play(c.DeleteDiscussion(second)), f.TrashOnDisk)
    assert second in book.state.summaries

    book.play(e.DiscussionTrashed(TrashItem(trash.discussion_id, trash.name, START, trash.why, "/trash/x")))
    assert second not in book.state.summaries
    assert book.state.selected_id == first
    notice = next(n for n in book.state.notices if n.id == "deleted")
    assert notice.action == c.UndoDelete(second)

    assert of(book.play(c.UndoDelete()), f.RestoreOnDisk) == (f.RestoreOnDisk(second),)
    book.play(e.DiscussionRestored(row(second)))
    assert book.state.selected_id == second
    assert book.state.trash == ()


def test_a_discussion_that_receives_a_reply_is_not_deleted(book: Playbook) -> None:
    chosen = book.discussion("a")
    book.ask(chosen, "hello")

    assert not of(book.play(c.DeleteDiscussion(chosen)), f.TrashOnDisk)
    assert "Stop it first" in book.state.notices[-1].text


def test_search_shows_only_answers_to_the_question_asked_last(book: Playbook) -> None:
    assert of(book.play(c.SearchDiscussions(" sky ")), f.SearchCatalog) == (f.SearchCatalog("sky"),)
    assert not book.state.search.is_complete

    book.play(e.SearchFound(SearchHits("old question", ("a",))))
    assert list(book.state.search.ids) == []
    book.play(e.SearchFound(SearchHits("sky", ("b",))))
    assert list(book.state.search.ids) == ["b"]

    assert book.play(c.SearchDiscussions("")) == ()
    assert book.state.search == SearchHits()


def test_an_edited_message_keeps_its_attachments(book: Playbook) -> None:
    chosen = book.discussion()
    part = AttachmentPart("ab" * 32, "image/png", "shot.png", 10)
    book.play(e.AttachmentStored(chosen, part))
    book.ask(chosen, "helo")
    message = book.state.open[chosen].messages[0]

    (write,) = of(book.play(c.EditMessage(chosen, message.id, "hello")), f.AppendRecords)
    book.append(write)

    assert isinstance(write.records[0], EditRecord)
    edited = book.state.open[chosen].messages[0]
    assert edited.parts == (TextPart("hello"), part)
    assert edited.is_edited


def test_a_deleted_message_leaves_the_context_and_can_come_back(book: Playbook) -> None:
    chosen = book.discussion()
    book.answer(book.ask(chosen, "one"), "first")
    message = book.state.open[chosen].messages[1]

    (gone,) = of(book.play(c.DeleteMessage(chosen, message.id)), f.AppendRecords)
    book.append(gone)
    assert isinstance(gone.records[0], DeleteRecord)
    assert [m.text for m in book.state.open[chosen].messages] == ["one"]

    (back,) = of(book.play(c.RestoreMessage(chosen, message.id)), f.AppendRecords)
    book.append(back)
    assert isinstance(back.records[0], RestoreRecord)
    assert [m.text for m in book.state.open[chosen].messages] == ["one", "first"]


def test_the_context_is_assembled_anew_when_what_enters_it_changes(book: Playbook) -> None:
    chosen = book.discussion()

    assert of(book.play(c.SetDraft(chosen, "x")), f.AssembleContext)
    assert not of(book.play(e.Tick()), f.AssembleContext)
    assert of(book.play(e.FilesChanged(("/project/a.py",))), f.AssembleContext)
    assert not of(book.play(c.PinDiscussion("other", True)), f.AssembleContext)


def test_selection_is_remembered_for_the_next_start(book: Playbook) -> None:
    first = book.discussion("a")
    book.discussion("b")
    (write,) = of(book.play(c.SelectDiscussion(first)), f.WriteWindow)
    assert write.selected_id == first


def test_a_new_name_is_indexed_only_when_it_stands_on_disk(book: Playbook) -> None:
    chosen = book.discussion()

    effects = book.play(c.RenameDiscussion(chosen, "Tides"))
    assert of(effects, f.WriteMeta)
    assert not of(effects, f.IndexDiscussion)

    assert of(book.play(e.MetaWritten(chosen)), f.IndexDiscussion) == (f.IndexDiscussion(chosen),)


def test_what_another_program_wrote_is_shown_and_the_draft_stays(book: Playbook) -> None:
    chosen = book.discussion()
    book.play(c.SetDraft(chosen, "half a sen"))
    known = book.state.summaries[chosen]

    book.play(
        e.DiscussionChangedOutside(
            replace(known, turns=3),
            OpenDiscussion(
                chosen, entries=(Message("m1", START, Role.USER, (TextPart("Why?"),)),), draft=Draft("older")
            ),
        )
    )

    assert [entry.id for entry in book.state.open[chosen].entries] == ["m1"]
    assert book.state.open[chosen].draft.text == "half a sen"
    assert book.state.summaries[chosen].turns == 3


def test_another_programs_discussion_is_listed_and_not_opened(book: Playbook) -> None:
    chosen = book.discussion()
    known = book.state.summaries[chosen]
    other = replace(known, meta=replace(known.meta, id="20261120-120000-zzzzzz"))

    book.play(e.DiscussionChangedOutside(other, OpenDiscussion(other.meta.id)))

    assert set(book.state.summaries) == {chosen, other.meta.id}
    assert set(book.state.open) == {chosen}
    assert book.state.selected_id == chosen


def test_a_discussion_that_another_program_deleted_makes_room_unless_a_reply_is_under_way(
    book: Playbook,
) -> None:
    first, second = book.discussion(), book.discussion()
    book.ask(second, "Why?")
    book.play(e.DiscussionVanished(second))
    assert second in book.state.summaries

    book.play(c.SelectDiscussion(first))
    book.play(e.DiscussionVanished(first))

    assert set(book.state.summaries) == {second}
    assert book.state.selected_id == second


def test_open_discussions_are_watched_so_that_their_growth_is_seen(book: Playbook) -> None:
    chosen = book.discussion()
    assert chosen in book.state.open
    (watch,) = of(book.play(e.DiscussionLoaded(OpenDiscussion("another"))), f.WatchFiles)

    assert watch.home == "/home/person/.manual_slop"
    assert set(watch.discussion_ids) == {chosen, "another"}
    assert of(book.play(e.DiscussionsTouched((chosen,))), f.LookAtDiscussions) == (
        f.LookAtDiscussions((chosen,)),
    )


def test_a_row_that_was_read_before_its_discussion_grew_is_set_right_when_it_is_opened(
    book: Playbook,
) -> None:
    chosen = book.discussion()
    known = book.state.summaries[chosen]

    book.play(e.DiscussionLoaded(OpenDiscussion(chosen), replace(known, turns=7, preview="Lately")))

    assert (book.state.summaries[chosen].turns, book.state.summaries[chosen].preview) == (7, "Lately")
