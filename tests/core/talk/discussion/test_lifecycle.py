"""Discussions as a list: create, select, describe, branch, trash, search, edit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.app.app_messages import Command, HomeOpened, WatchFiles, WriteWindow
from core.kernel.values.curation import NamedText, Preset
from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary, Draft, OpenDiscussion
from core.kernel.values.messages import AttachmentPart, Message, Role, TextPart
from core.kernel.values.records import DeleteRecord, EditRecord, MarkRecord, RestoreRecord
from core.kernel.values.settings import Project, Settings
from core.kernel.values.state import SearchHits, TrashItem
from core.kernel.values.updates import PathsChanged, Tick, Watched, outcome_of
from core.kernel.values.usage import Usage
from core.talk.context.context_messages import AssembleContext
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    AttachmentStored,
    BranchDiscussion,
    ChangeDiscussion,
    CreateDiscussion,
    CreateOnDisk,
    DeleteDiscussion,
    DeleteMessage,
    DiscardDiscussion,
    DiscussionChangedOutside,
    DiscussionCreated,
    DiscussionLoaded,
    DiscussionRestored,
    DiscussionTrashed,
    DiscussionVanished,
    EditMessage,
    IndexDiscussion,
    LoadSummaries,
    LookAtDiscussions,
    MetaWritten,
    ReadDiscussion,
    RestoreMessage,
    SearchDiscussions,
    SearchFound,
    SelectDiscussion,
    SetDraft,
    SummariesLoaded,
    TrashOnDisk,
    UndoDelete,
    WriteMeta,
)
from tests.core.app.playbook import START, Playbook, of, settings_loaded, with_ai


@pytest.fixture
def book() -> Playbook:
    return Playbook().ready()


def row(discussion_id: str, minutes: int = 0, **fields: object) -> DiscussionSummary:
    meta = DiscussionMeta(discussion_id, f"name {discussion_id}", START, "embedded", "smollm2-135m", **fields)  # type: ignore[arg-type]
    return DiscussionSummary(meta, START + timedelta(minutes=minutes))


def test_a_new_discussion_is_shown_when_it_stands_on_disk(book: Playbook) -> None:
    (create,) = of(book.play(CreateDiscussion("Sky")), CreateOnDisk)
    assert book.state.discussions.selected_id == ""

    book.play(DiscussionCreated(DiscussionSummary(create.meta, START), OpenDiscussion(create.meta.id)))

    assert book.state.discussions.selected_id == create.meta.id
    assert book.state.discussions.summaries[create.meta.id].meta.name == "Sky"


def test_ids_are_times_with_letters_and_never_repeat(book: Playbook) -> None:
    ids = {book.discussion() for _ in range(50)}
    assert len(ids) == 50
    assert all(found.startswith("20261120-120000-") for found in ids)


def test_a_new_discussion_records_the_project_s_folder_and_its_branch_stays_there(book: Playbook) -> None:
    book.play(settings_loaded(Project(root="/projects/tides", name="tides")))
    chosen = book.discussion()
    book.play(settings_loaded(Project(root="/projects/moon", name="moon")))
    book.answer(book.ask(chosen, "one"), "first")
    point = book.state.discussions.open[chosen].messages[0].id

    (made,) = of(book.play(BranchDiscussion(chosen, point)), CreateOnDisk)

    assert book.state.discussions.summaries[chosen].meta.folder == "/projects/tides"
    assert made.meta.folder == "/projects/tides"


def test_a_new_discussion_takes_the_settings_defaults(book: Playbook) -> None:
    settings = with_ai(Settings(), effort="high", persona="terse", system_prompt_preset="strict")
    book.play(settings_loaded(settings=settings))

    chosen = book.discussion()
    meta = book.state.discussions.summaries[chosen].meta

    assert (meta.effort, meta.persona, meta.system_preset) == ("high", "terse", "strict")
    assert (meta.provider, meta.model) == ("embedded", "smollm2-135m")


def test_without_a_key_the_embedded_model_answers(book: Playbook) -> None:
    book.play(settings_loaded(settings=with_ai(Settings(), provider="anthropic", model="claude-opus-5-5")))

    chosen = book.discussion()
    meta = book.state.discussions.summaries[chosen].meta

    assert (meta.provider, meta.model) == ("embedded", "smollm2-135m")
    assert "instead of anthropic" in book.state.program.notices[-1].text


def test_on_start_the_discussion_of_last_time_is_opened() -> None:
    book = Playbook()
    book.play(HomeOpened("/home/x", selected_id="b"))
    book.play(settings_loaded())

    effects = book.play(SummariesLoaded((row("a", 5), row("b")), True))

    assert of(effects, ReadDiscussion) == (ReadDiscussion(discussion_id="b"),)
    assert book.state.discussions.selected_id == "b"


def test_on_start_the_discussion_of_last_time_is_opened_before_all_are_listed() -> None:
    book = Playbook()
    assert of(book.play(HomeOpened("/home/x", selected_id="b")), LoadSummaries) == (LoadSummaries("b"),)
    book.play(settings_loaded())

    first = book.play(SummariesLoaded((row("b"),), False))
    more = book.play(SummariesLoaded((row("a", 5), row("b")), False))
    task = row("c", delegated_by="x", parent_id="b")
    whole = book.play(SummariesLoaded((row("a", 5), row("b"), task), True))

    assert of(first, ReadDiscussion) == (ReadDiscussion(discussion_id="b"),)
    assert of(more, ReadDiscussion) == ()
    assert of(whole, ReadDiscussion) == (ReadDiscussion(discussion_id="c"),), (
        "a kill may have left calls in it"
    )
    assert book.state.discussions.selected_id == "b"


def test_on_start_the_newest_is_opened_when_the_last_one_is_gone() -> None:
    book = Playbook()
    book.play(HomeOpened("/home/x", selected_id="gone"))

    effects = book.play(SummariesLoaded((row("a", 5), row("b"), row("c", 9, archived=True)), True))

    assert of(effects, ReadDiscussion) == (ReadDiscussion(discussion_id="a"),)


def test_selecting_reads_a_log_once(book: Playbook) -> None:
    book.play(SummariesLoaded((row("a"), row("b")), True))
    assert of(book.play(SelectDiscussion("b")), ReadDiscussion)
    book.play(DiscussionLoaded(OpenDiscussion("b")))

    assert not of(book.play(SelectDiscussion("b")), ReadDiscussion)


def test_what_was_repaired_is_said(book: Playbook) -> None:
    book.play(SummariesLoaded((row("a"),), True))

    book.play(DiscussionLoaded(OpenDiscussion("a", repaired=("The last line was torn.",))))

    assert book.state.program.notices[-1].detail == "The last line was torn."
    assert "name a" in book.state.program.notices[-1].text


@pytest.mark.parametrize(
    ("command", "field", "value"),
    [
        (lambda i: ChangeDiscussion(discussion_id=i, changes={"name": " New  name "}), "name", "New name"),
        (lambda i: ChangeDiscussion(discussion_id=i, changes={"pinned": True}), "pinned", True),
        (lambda i: ChangeDiscussion(discussion_id=i, changes={"archived": True}), "archived", True),
        (lambda i: ChangeDiscussion(discussion_id=i, changes={"effort": "high"}), "effort", "high"),
        (lambda i: ChangeDiscussion(discussion_id=i, changes={"preset": "core"}), "preset", "core"),
        (lambda i: ChangeDiscussion(discussion_id=i, changes={"persona": "terse"}), "persona", "terse"),
        (
            lambda i: ChangeDiscussion(discussion_id=i, changes={"system_preset": "strict"}),
            "system_preset",
            "strict",
        ),
    ],
)
def test_what_is_changed_of_a_discussion_is_kept(
    book: Playbook, command: Callable[[str], Command], field: str, value: object
) -> None:
    chosen = book.discussion()
    know_names(book)

    (write,) = of(book.play(command(chosen)), WriteMeta)

    assert getattr(write.meta, field) == value
    assert book.state.discussions.summaries[chosen].meta == write.meta
    assert book.play(command(chosen)) == ()


@pytest.mark.parametrize(
    "changes", [{"has_tools": True}, {"mode": "accept_edits"}, {"spend_limit_usd": None}, {"id": "other"}]
)
def test_what_is_no_choice_of_a_discussion_is_refused_with_all_that_came_along(
    book: Playbook, changes: dict[str, str | bool | None]
) -> None:
    """A program may send `ChangeDiscussion`: what tools may do is a person's, by a command of its own."""
    chosen = book.discussion()
    before = book.state.discussions.summaries[chosen]

    effects = book.play(ChangeDiscussion(discussion_id=chosen, changes={"name": "New", **changes}))

    assert effects == ()
    assert book.state.discussions.summaries[chosen] == before
    assert "has no setting" in book.state.program.notices[-1].text


def know_names(book: Playbook) -> None:
    """The project has one preset, one persona and one system prompt."""
    state = book.state
    project = replace(
        state.config.project,
        presets={"core": Preset("core")},
        personas={"terse": NamedText("terse", "Be terse.")},
        system_prompts={"strict": NamedText("strict", "Be strict.")},
    )
    book.state = replace(state, config=replace(state.config, project=project))


@pytest.mark.parametrize(
    "command",
    [
        lambda i: CreateDiscussion("", preset="nope", command_id="c"),
        lambda i: CreateDiscussion("", provider="embedded", model="nope", command_id="c"),
        lambda i: CreateDiscussion("", model="nope", command_id="c"),
        lambda i: ChangeDiscussion(discussion_id=i, changes={"preset": "nope"}, command_id="c"),
        lambda i: ChangeDiscussion(discussion_id=i, changes={"persona": "nope"}, command_id="c"),
        lambda i: ChangeDiscussion(discussion_id=i, changes={"system_preset": "nope"}, command_id="c"),
        lambda i: ChangeDiscussion(
            discussion_id=i, changes={"provider": "embedded", "model": "nope"}, command_id="c"
        ),
    ],
)
def test_a_name_that_there_is_not_is_refused_with_those_there_are(
    book: Playbook, command: Callable[[str], Command]
) -> None:
    chosen = book.discussion()
    know_names(book)
    before = book.state.discussions

    assert book.play(command(chosen)) == ()

    outcome = outcome_of(book.state, "c")
    assert outcome is not None
    assert not outcome.is_done
    assert "'nope'" in outcome.problem
    assert outcome.remedy.startswith("There are: ")
    assert book.state.discussions == before


def test_a_server_may_know_models_that_the_program_does_not(book: Playbook) -> None:
    chosen = book.discussion()

    (write,) = of(
        book.play(
            ChangeDiscussion(
                discussion_id=chosen, changes={"provider": "anthropic", "model": "claude-of-tomorrow"}
            )
        ),
        WriteMeta,
    )

    assert write.meta.model == "claude-of-tomorrow"


def test_an_empty_name_and_an_unknown_effort_are_ignored(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    assert book.play(ChangeDiscussion(discussion_id=chosen, changes={"name": "  "})) == ()
    assert book.play(ChangeDiscussion(discussion_id=chosen, changes={"effort": "ludicrous"})) == ()


def test_switching_the_model_in_the_middle_leaves_a_mark(book: Playbook) -> None:
    chosen = book.discussion()
    book.answer(book.ask(chosen, "one"), "first")

    effects = book.play(
        ChangeDiscussion(discussion_id=chosen, changes={"provider": "anthropic", "model": "claude-opus-5-5"})
    )

    (write,) = of(effects, AppendRecords)
    assert isinstance(write.records[0], MarkRecord)
    assert "claude-opus-5-5" in write.records[0].text
    call = book.ask(chosen, "two")
    assert (call.spec.inputs.provider, call.spec.inputs.model) == ("anthropic", "claude-opus-5-5")
    assert call.spec.inputs.role_text == "You are Claude, and help."


def test_a_branch_is_a_new_discussion_and_leaves_the_parent_alone(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    book.answer(book.ask(chosen, "one"), "first")
    before = book.state.discussions.open[chosen]
    point = before.messages[0].id

    (branch,) = of(book.play(BranchDiscussion(chosen, point)), CreateOnDisk)

    assert (branch.meta.parent_id, branch.meta.branch_message_id) == (chosen, point)
    assert branch.meta.id != chosen
    assert book.state.discussions.open[chosen] == before


def test_a_branch_point_that_is_not_there_is_ignored(book: Playbook) -> None:
    assert book.play(BranchDiscussion(book.discussion(), "nothing")) == ()


def test_a_deleted_discussion_can_be_brought_back(book: Playbook) -> None:
    first, second = book.discussion("a"), book.discussion("b")
    (trash,) = of(book.play(DeleteDiscussion(second)), TrashOnDisk)
    assert second in book.state.discussions.summaries

    book.play(DiscussionTrashed(TrashItem(trash.discussion_id, trash.name, START, trash.why, "/trash/x")))
    assert second not in book.state.discussions.summaries
    assert book.state.discussions.selected_id == first
    notice = next(n for n in book.state.program.notices if n.id == "deleted")
    assert notice.action == UndoDelete(second)

    assert of(book.play(UndoDelete()), UndoDelete) == (UndoDelete(second),)
    book.play(DiscussionRestored(row(second)))
    assert book.state.discussions.selected_id == second
    assert book.state.discussions.trash == ()


def test_a_discussion_in_which_nothing_was_said_can_be_taken_back_and_no_other(book: Playbook) -> None:
    empty, said, asked, drafted, attached = (book.discussion(name) for name in ("a", "b", "c", "d", "e"))
    book.answer(book.ask(said, "one"), "first")
    book.ask(asked, "two")
    book.play(SetDraft(drafted, "half a thought"))

    book.play(AttachmentStored(attached, AttachmentPart("ab" * 32, "image/png", "tide.png", 3)))

    for used in (said, asked, drafted, attached):
        assert not of(book.play(DiscardDiscussion(used, f"take back {used}")), DiscardDiscussion)
        outcome = outcome_of(book.state, f"take back {used}")
        assert outcome is not None
        assert "is not empty, so the discussion stays" in outcome.problem
    assert of(book.play(DiscardDiscussion(empty)), DiscardDiscussion) == (DiscardDiscussion(empty),)
    book.play(DiscussionVanished(empty))
    assert empty not in book.state.discussions.summaries
    assert book.state.discussions.trash == ()


def test_a_discussion_that_receives_a_reply_is_not_deleted(book: Playbook) -> None:
    chosen = book.discussion("a")
    book.ask(chosen, "hello")

    assert not of(book.play(DeleteDiscussion(chosen)), TrashOnDisk)
    assert "Stop the reply" in book.state.program.notices[-1].text


def test_search_shows_only_answers_to_the_question_asked_last(book: Playbook) -> None:
    assert of(book.play(SearchDiscussions(" sky ")), SearchDiscussions) == (SearchDiscussions("sky"),)
    assert not book.state.discussions.search.is_complete

    book.play(SearchFound(SearchHits("old question", ("a",))))
    assert list(book.state.discussions.search.ids) == []
    book.play(SearchFound(SearchHits("sky", ("b",))))
    assert list(book.state.discussions.search.ids) == ["b"]

    assert book.play(SearchDiscussions("")) == ()
    assert book.state.discussions.search == SearchHits()


def test_an_edited_message_keeps_its_attachments(book: Playbook) -> None:
    chosen = book.discussion()
    part = AttachmentPart("ab" * 32, "text/plain", "notes.txt", 10)
    book.play(AttachmentStored(chosen, part))
    book.ask(chosen, "helo")
    message = book.state.discussions.open[chosen].messages[0]

    (write,) = of(book.play(EditMessage(chosen, message.id, "hello")), AppendRecords)
    book.append(write)

    assert isinstance(write.records[0], EditRecord)
    edited = book.state.discussions.open[chosen].messages[0]
    assert edited.parts == (TextPart("hello"), part)
    assert edited.is_edited


def test_attachments_are_taken_off_an_edited_message_and_the_others_stay(book: Playbook) -> None:
    chosen = book.discussion()
    parts = [AttachmentPart(f"{name}" * 32, "text/plain", f"{name}.txt", 10) for name in ("ab", "cd")]
    for part in parts:
        book.play(AttachmentStored(chosen, part))
    book.ask(chosen, "hello")
    message = book.state.discussions.open[chosen].messages[0]
    (same,) = of(book.play(EditMessage(chosen, message.id, "hello", ("no such file",))), AppendRecords)
    book.append(same)
    assert book.state.discussions.open[chosen].messages[0] == message, "nothing was edited"

    (write,) = of(book.play(EditMessage(chosen, message.id, "hello", (parts[0].sha256,))), AppendRecords)
    book.append(write)

    assert book.state.discussions.open[chosen].messages[0].parts == (TextPart("hello"), parts[1])


def test_a_deleted_message_leaves_the_context_and_can_come_back(book: Playbook) -> None:
    chosen = book.discussion()
    book.answer(book.ask(chosen, "one"), "first")
    message = book.state.discussions.open[chosen].messages[1]

    (gone,) = of(book.play(DeleteMessage(chosen, message.id)), AppendRecords)
    book.append(gone)
    assert isinstance(gone.records[0], DeleteRecord)
    assert [m.text for m in book.state.discussions.open[chosen].messages] == ["one"]

    (back,) = of(book.play(RestoreMessage(chosen, message.id)), AppendRecords)
    book.append(back)
    assert isinstance(back.records[0], RestoreRecord)
    assert [m.text for m in book.state.discussions.open[chosen].messages] == ["one", "first"]


def test_the_context_is_assembled_anew_when_what_enters_it_changes(book: Playbook) -> None:
    chosen = book.discussion()

    assert of(book.play(SetDraft(chosen, "x")), AssembleContext)
    assert not of(book.play(Tick()), AssembleContext)
    assert of(book.play(PathsChanged(Watched.CONTEXT, ("/project/a.py",))), AssembleContext)
    assert not of(
        book.play(ChangeDiscussion(discussion_id="other", changes={"pinned": True})), AssembleContext
    )


def test_selection_is_remembered_for_the_next_start(book: Playbook) -> None:
    first = book.discussion("a")
    book.discussion("b")
    (write,) = of(book.play(SelectDiscussion(first)), WriteWindow)
    assert write.selected_id == first


def test_a_new_name_is_indexed_only_when_it_stands_on_disk(book: Playbook) -> None:
    chosen = book.discussion()

    effects = book.play(ChangeDiscussion(discussion_id=chosen, changes={"name": "Tides"}))
    assert of(effects, WriteMeta)
    assert not of(effects, IndexDiscussion)

    assert of(book.play(MetaWritten(chosen)), IndexDiscussion) == (IndexDiscussion(chosen),)


def test_what_another_program_wrote_is_shown_and_the_draft_stays(book: Playbook) -> None:
    chosen = book.discussion()
    book.play(SetDraft(chosen, "half a sen"))
    known = book.state.discussions.summaries[chosen]

    book.play(
        DiscussionChangedOutside(
            replace(known, turns=3),
            OpenDiscussion(
                chosen, entries=(Message("m1", START, Role.USER, (TextPart("Why?"),)),), draft=Draft("older")
            ),
        )
    )

    assert [entry.id for entry in book.state.discussions.open[chosen].entries] == ["m1"]
    assert book.state.discussions.open[chosen].draft.text == "half a sen"
    assert book.state.discussions.summaries[chosen].turns == 3


def test_another_programs_discussion_is_listed_and_not_opened(book: Playbook) -> None:
    chosen = book.discussion()
    known = book.state.discussions.summaries[chosen]
    other = replace(known, meta=replace(known.meta, id="20261120-120000-zzzzzz"))

    book.play(DiscussionChangedOutside(other, OpenDiscussion(other.meta.id)))

    assert set(book.state.discussions.summaries) == {chosen, other.meta.id}
    assert set(book.state.discussions.open) == {chosen}
    assert book.state.discussions.selected_id == chosen


def test_a_discussion_that_another_program_deleted_makes_room_unless_a_reply_is_under_way(
    book: Playbook,
) -> None:
    first, second = book.discussion(), book.discussion()
    book.ask(second, "Why?")
    book.play(DiscussionVanished(second))
    assert second in book.state.discussions.summaries

    book.play(SelectDiscussion(first))
    book.play(DiscussionVanished(first))

    assert set(book.state.discussions.summaries) == {second}
    assert book.state.discussions.selected_id == second


def test_open_discussions_are_watched_so_that_their_growth_is_seen(book: Playbook) -> None:
    chosen = book.discussion()
    assert chosen in book.state.discussions.open
    (watch,) = of(book.play(DiscussionLoaded(OpenDiscussion("another"))), WatchFiles)

    assert watch.home == "/home/person/.manual_slop"
    assert set(watch.discussion_ids) == {chosen, "another"}
    assert of(book.play(PathsChanged(Watched.DISCUSSIONS, (chosen,))), LookAtDiscussions) == (
        LookAtDiscussions((chosen,)),
    )


def test_a_row_that_was_read_before_its_discussion_grew_is_set_right_when_it_is_opened(
    book: Playbook,
) -> None:
    chosen = book.discussion()
    known = book.state.discussions.summaries[chosen]

    book.play(DiscussionLoaded(OpenDiscussion(chosen), replace(known, turns=7, preview="Lately")))

    assert (
        book.state.discussions.summaries[chosen].turns,
        book.state.discussions.summaries[chosen].preview,
    ) == (7, "Lately")


def test_what_a_killed_call_cost_is_in_its_row_once_its_discussion_was_opened(book: Playbook) -> None:
    """A discussion's own limit counts by the row: it let a cut reply go for nothing until the next start."""
    chosen = book.discussion()
    known = book.state.discussions.summaries[chosen]
    booked = Usage(cost_usd=0.25, is_estimate=True)

    book.play(DiscussionLoaded(OpenDiscussion(chosen, usage=booked), replace(known, usage=booked)))

    assert book.state.discussions.summaries[chosen].usage == booked
