"""Evidence and events of an apply, of a person's edits and of what entered requests."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.values.facts import ItemEventKind, ItemHistory, ItemWords, Quote, TurnPlace
from core.kernel.values.knowledge import Category, Item, KnowledgeState, NewItem, Provenance
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge import edits
from core.knowledge.apply import begin_apply, finish_apply
from core.knowledge.evidence_rows import EVENTS_FILE, EVIDENCE_FILE, item_hash
from core.knowledge.history_text import history_data, history_lines
from core.knowledge.knowledge_messages import NoteInjection
from core.knowledge.knowledge_reader import KnowledgeReader, fresh_digest
from core.knowledge.memory_log import Injections, item_history, read_logs, seen_items
from core.knowledge.recovery import undo_apply
from core.talk.discussion import trash
from tests.core.knowledge.homes import FIRST, NOW, SECOND, entry_of, made_home, sha_of

TAG = Provenance("2026-11-01-first", "2026-11-20")
USER = f"{FIRST[:-6]}userid"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return made_home(tmp_path)


NONE = Quote()


def fact(text: str, quote: Quote = NONE, proposed: ItemWords | None = None) -> NewItem:
    return NewItem(Category.FACTS, text, provenance=TAG, quote=quote, proposed=proposed)


def append(home: Path, *items: NewItem, of: str = FIRST, rejected: tuple[NewItem, ...] = (),
           seen: tuple[NewItem, ...] = (), reclaims: bool = False) -> None:  # fmt: skip
    entry = replace(entry_of(home, of), path=str(paths.log_file(home, of)))
    with begin_apply(home, NOW, seed="seed") as apply:
        apply.append(items, entry, rejected=rejected, seen=seen)
        if reclaims:
            apply.reclaim(of, sha_of(home, of), NOW)
        finish_apply(apply)


def known(home: Path) -> KnowledgeState:
    return KnowledgeReader(home).read(KnowledgeSettings())


def item(home: Path, text: str) -> Item:
    return next(one for one in known(home).items if one.text == text)


def kinds(home: Path) -> list[ItemEventKind]:
    return [event.kind for event in read_logs(home).events]


QUOTE = Quote((USER,), f"hello from {FIRST}")


def test_an_item_opens_its_quote_and_the_turn_it_stands_in(home: Path) -> None:
    append(home, fact("It greets.", QUOTE))
    told = item_history(home, item(home, "It greets."))

    (witness,) = told.witnesses
    assert (witness.place, witness.is_there, witness.role) == (TurnPlace.LIST, True, "user")
    assert QUOTE.text in witness.turn
    assert (witness.row.discussion, witness.row.sha256) == (FIRST, sha_of(home, FIRST))
    assert [event.kind for event in told.events] == [ItemEventKind.PROPOSED, ItemEventKind.ACCEPTED]
    assert f'"{QUOTE.text}"' in "\n".join(history_lines(told))
    assert history_data(told)["evidence"][0]["quote"] == QUOTE.text


def test_the_turn_is_read_in_the_trash_and_said_to_be_gone_after_it(home: Path) -> None:
    append(home, fact("It greets.", QUOTE), reclaims=True)
    (there,) = item_history(home, item(home, "It greets.")).witnesses
    assert (there.place, there.is_there) == (TurnPlace.TRASH, True)

    (binned,) = trash.items(home)
    (Path(binned.path) / paths.LOG_FILE).unlink()
    Path(binned.path, paths.WHY_FILE).unlink()
    for file in Path(binned.path).iterdir():
        file.unlink()
    Path(binned.path).rmdir()
    told = item_history(home, item(home, "It greets."))
    assert (told.witnesses[0].place, told.witnesses[0].row.quote) == (TurnPlace.GONE, QUOTE.text)
    assert "the conversation is gone" in "\n".join(history_lines(told))


def test_what_was_known_already_is_confirmed_by_the_second_conversation_and_stands_on_both(
    home: Path,
) -> None:
    append(home, fact("It greets.", QUOTE))
    append(home, fact("it greets"), of=SECOND)
    told = item_history(home, item(home, "It greets."))

    assert [one.row.discussion for one in told.witnesses] == [FIRST, SECOND]
    assert told.events[-1].kind is ItemEventKind.CONFIRMED


def test_what_is_only_seen_again_is_confirmed_where_it_is_known_and_never_written(home: Path) -> None:
    append(home, fact("It greets."))
    append(home, of=SECOND, seen=(fact("It greets."), fact("Gone by now.")))

    assert [one.text for one in known(home).items] == ["It greets."]
    assert kinds(home).count(ItemEventKind.CONFIRMED) == 1


def test_one_conversation_that_says_a_thing_twice_confirms_nothing(home: Path) -> None:
    append(home, fact("It greets."), fact("it greets."))
    assert kinds(home) == [ItemEventKind.PROPOSED, ItemEventKind.ACCEPTED]


def test_what_a_person_changed_and_left_out_in_the_review_is_told(home: Path) -> None:
    changed = fact("It greets kindly.", QUOTE, ItemWords("decisions", "Greet."))
    append(home, changed, rejected=(fact("Junk."),))
    told = item_history(home, item(home, "It greets kindly."))

    assert [event.kind.value for event in told.events] == ["proposed", "edited", "accepted"]
    assert told.events[0].text == "Greet."
    left = [e for e in read_logs(home).events if e.kind is ItemEventKind.REJECTED]
    assert [e.item for e in left] == [item_hash("facts", "Junk.")]


def test_an_edit_by_a_person_keeps_what_the_item_stands_on(home: Path) -> None:
    append(home, fact("It greets.", QUOTE))
    edits.edit_item(home, item(home, "It greets."), "It greets everybody.\nAlways.")
    found = next(one for one in known(home).items if one.text.startswith("It greets everybody."))

    told = item_history(home, found)
    assert [one.row.quote for one in told.witnesses] == [QUOTE.text]
    assert told.events[-1].kind is ItemEventKind.EDITED


def test_a_task_that_is_done_keeps_what_it_stands_on(home: Path) -> None:
    append(home, replace(fact("Say hello.", QUOTE), category=Category.TASKS_OPEN))
    edits.set_task_done(home, item(home, "Say hello."), done=True)
    assert item_history(home, item(home, "Say hello.")).witnesses[0].row.quote == QUOTE.text


def test_an_edit_that_fails_tells_nothing(home: Path) -> None:
    append(home, fact("It greets."))
    old = item(home, "It greets.")
    edits.delete_item(home, old)
    with pytest.raises(Exception, match="is gone or different now"):
        edits.edit_item(home, old, "Other.")
    assert ItemEventKind.EDITED not in kinds(home)


def test_an_undo_takes_evidence_out_and_leaves_events_with_a_word_about_it(home: Path) -> None:
    append(home, fact("It greets.", QUOTE))
    before = kinds(home)
    undo_apply(home, NOW)

    assert read_logs(home).evidence == ()
    assert kinds(home) == [*before, ItemEventKind.UNDONE]


def test_a_turn_of_another_program_is_read_in_its_file_while_there_is_one(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "chat.md"
    file.write_text("# aider chat started at 2026-11-01 10:00:00\n\n#### Say hello there\n\nHello.\n")
    entry = replace(entry_of(home, FIRST), path=str(file))
    with begin_apply(home, NOW, seed="seed") as apply:
        apply.append([fact("It greets.", Quote(("#1",), "hello there"))], entry)

    (witness,) = item_history(home, item(home, "It greets.")).witnesses
    assert (witness.place, witness.name, witness.is_there) == (TurnPlace.FILE, "chat.md", True)
    file.write_text("something else")
    (changed,) = item_history(home, item(home, "It greets.")).witnesses
    assert (changed.place, changed.is_there, changed.turn) == (TurnPlace.FILE, False, "")
    file.unlink()
    assert item_history(home, item(home, "It greets.")).witnesses[0].place is TurnPlace.GONE


def by_hand(home: Path, before: str, after: str, name: str = "facts.md") -> None:
    """What an editor does to a category file."""
    path = paths.knowledge_dir(home) / name
    path.write_text(path.read_text().replace(before, after))


def told_of(home: Path, text: str) -> ItemHistory:
    return item_history(home, item(home, text), known(home).items)


def test_an_item_that_an_editor_changed_keeps_what_it_stands_on_and_the_log_says_so(home: Path) -> None:
    append(home, fact("It greets everybody at noon.", QUOTE))
    by_hand(home, "everybody at noon", "everybody at one")

    told = told_of(home, "It greets everybody at one.")
    assert [one.row.quote for one in told.witnesses] == [QUOTE.text]
    assert "changed by you (in its file, outside the program)" in "\n".join(history_lines(told))
    told_of(home, "It greets everybody at one.")
    assert kinds(home).count(ItemEventKind.EDITED) == 1  # noted once

    by_hand(home, "It greets everybody at one.", "It greets everybody twice at one.")
    assert told_of(home, "It greets everybody twice at one.").witnesses[0].row.quote == QUOTE.text


def test_each_changed_item_takes_over_the_nearest_words_and_an_unlike_one_none(home: Path) -> None:
    append(
        home,
        fact("The north gate opens at seven.", Quote((USER,), "hello")),
        fact("The south gate opens at eight.", QUOTE),
        fact("Nobody swims.", Quote((USER,), "from")),
    )
    by_hand(home, "north gate opens at seven", "north gate opens at nine")
    by_hand(home, "south gate opens at eight", "south gate opens at ten")
    by_hand(home, "Nobody swims.", "Bread costs two coins.")

    assert told_of(home, "The south gate opens at ten.").witnesses[0].row.quote == QUOTE.text
    assert told_of(home, "The north gate opens at nine.").witnesses[0].row.quote == "hello"
    gone = told_of(home, "Bread costs two coins.")
    assert gone.witnesses == ()
    assert f"from {TAG.source}; the program no longer has the words of this conversation" in "\n".join(
        history_lines(gone)
    )


def test_words_of_another_conversation_and_of_an_item_that_still_stands_are_not_taken_over(
    home: Path,
) -> None:
    append(home, fact("It greets everybody at noon.", QUOTE))
    path = paths.knowledge_dir(home) / "facts.md"
    line = next(line for line in path.read_text().splitlines() if "It greets" in line)
    copy = line.replace("noon", "one")
    path.write_text(path.read_text() + f"{copy}\n{copy.replace('one', 'two').replace('-first', '-other')}\n")

    assert told_of(home, "It greets everybody at one.").witnesses == ()
    assert told_of(home, "It greets everybody at two.").witnesses == ()
    assert ItemEventKind.EDITED not in kinds(home)


def test_asking_why_where_nothing_may_be_written_links_and_writes_nothing(home: Path) -> None:
    append(home, fact("It greets everybody at noon.", QUOTE))
    by_hand(home, "everybody at noon", "everybody at one")
    one, items = item(home, "It greets everybody at one."), known(home).items

    assert item_history(home, one, items, may_write=False).witnesses[0].row.quote == QUOTE.text
    assert ItemEventKind.EDITED not in kinds(home)


def note(home: Path, injections: Injections, text: str, discussion: str = "d") -> None:
    injections.note(NoteInjection(discussion, "message", "model", text, datetime(2026, 11, 21, tzinfo=UTC)))


def test_what_entered_is_kept_once_for_each_change_and_not_for_each_turn(home: Path) -> None:
    append(home, fact("It greets."), fact("x" * 700 + " end."))
    digest = known(home).digest
    injections = Injections(home, lambda: known(home))

    for _ in range(3):
        note(home, injections, digest)
    note(home, injections, digest.replace("- It greets.", "- It greets"))  # a file changed by hand meanwhile
    note(home, Injections(home, lambda: known(home)), "")
    note(home, Injections(home, lambda: known(home)), "")

    assert [len(one.items) for one in reversed(seen_items(home, ()))] == [2, 1, 0]
    told = item_history(home, item(home, "It greets."))
    assert [event.discussion for event in told.injected] == ["d"]


def test_what_was_seen_is_told_in_words_also_when_the_item_is_gone(home: Path) -> None:
    append(home, fact("It greets."))
    note(home, Injections(home, lambda: known(home)), known(home).digest)
    edits.delete_item(home, item(home, "It greets."))

    (one,) = seen_items(home, known(home).items, "d")
    assert one.items == (ItemWords("facts", "It greets."),)
    assert seen_items(home, (), "other") == ()


def test_a_log_that_lost_lines_tells_the_rest(home: Path) -> None:
    append(home, fact("It greets.", QUOTE), fact("It waves."))
    for name in (EVIDENCE_FILE, EVENTS_FILE):
        path = paths.knowledge_dir(home) / name
        data = path.read_bytes()
        path.write_bytes(data[: len(data) * 3 // 4])
    told = item_history(home, item(home, "It greets."))
    assert (told.witnesses[0].row.quote, told.torn) == (QUOTE.text, 2)


UNFOUND = Quote(is_unfound=True)


def test_what_a_model_quoted_and_nobody_said_stays_out_of_the_digest(home: Path) -> None:
    append(home, fact("It greets.", QUOTE), fact("It never sleeps.", UNFOUND), fact("It has no quote."))
    digest = fresh_digest(home)

    assert ("It greets." in digest, "It never sleeps." in digest, "It has no quote." in digest) == (
        True,
        False,
        True,
    )
    assert item(home, "It never sleeps.").text, "it stays in its file, where a person judges it"


def test_another_conversation_that_bears_it_out_lets_it_in(home: Path) -> None:
    append(home, fact("It never sleeps.", UNFOUND))
    assert "It never sleeps." not in fresh_digest(home)
    append(home, fact("It never sleeps.", QUOTE), of=SECOND)
    assert "It never sleeps." in fresh_digest(home)


def test_an_item_that_a_person_edits_is_the_person_s_own(home: Path) -> None:
    append(home, fact("It never sleeps.", UNFOUND))
    before = item(home, "It never sleeps.")
    edits.edit_item(home, before, "It seldom sleeps.")
    assert "It seldom sleeps." in fresh_digest(home)
