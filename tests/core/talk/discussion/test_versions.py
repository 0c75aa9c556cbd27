"""Versions of a reply: one is seen and sent, the others are kept, whatever came in between."""

from __future__ import annotations

import json
import tempfile
from functools import reduce
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.discussion import OpenDiscussion, ReplyVersions
from core.kernel.values.messages import Entry, Message, Role
from core.kernel.values.records import ChooseRecord, DeleteRecord, MessageRecord, Record
from core.kernel.values.usage import add_usage
from core.talk.discussion import discussion_store, log
from core.talk.discussion.catalog import Catalog
from core.talk.discussion.log_codec import decode, encode
from core.talk.discussion.log_content import apply, branch_records, fold, model_view
from tests.core.records import (
    ID,
    choose,
    delete,
    edit,
    mark,
    meta,
    reply,
    request,
    restore,
    used,
    user,
    version,
)

TWO: tuple[Record, ...] = (user("a", "one"), reply("b", "first"), version("c", "b", "second"))
ON: tuple[Record, ...] = (*TWO, user("d", "two"), reply("e", "third"))


def seen(discussion: OpenDiscussion) -> list[str]:
    return [message.text for message in discussion.messages]


def versions(discussion: OpenDiscussion, first: str = "b") -> ReplyVersions:
    return discussion.versions[first]


def test_the_newest_version_is_the_chosen_one_and_the_other_is_kept() -> None:
    found = fold(ID, TWO)

    assert seen(found) == ["one", "second"]
    assert [m.text for m in model_view(found)] == ["one", "second"]
    (kept,) = versions(found).aside["b"]
    assert isinstance(kept, Message)
    assert kept.text == "first"
    assert (versions(found).ids, versions(found).number) == (("b", "c"), 2)
    assert found.versions_of(found.messages[1]) == versions(found)
    assert found.versions_of(found.messages[0]) is None


def test_choosing_and_paging_back_gives_what_there_was() -> None:
    third = version("f", "c", "other")
    before = fold(ID, [*TWO, third])
    paged = fold(ID, [*TWO, third, choose("x", "b"), choose("y", "c"), choose("z", "f")])

    assert seen(fold(ID, [*TWO, third, choose("x", "b")])) == ["one", "first"]
    assert paged.entries == before.entries
    assert versions(paged).ids == ("b", "c", "f")
    assert [versions(before).neighbour(step) for step in (-2, -1, 0, 1)] == ["b", "c", "f", ""]
    assert versions(before).neighbour(-3) == ""


def test_an_earlier_reply_is_paged_and_what_follows_it_stays() -> None:
    assert seen(fold(ID, ON)) == ["one", "second", "two", "third"]
    assert seen(fold(ID, [*ON, choose("x", "b")])) == ["one", "first", "two", "third"]


def test_a_version_that_comes_when_the_person_has_written_on_is_put_aside() -> None:
    """Two programs on one log: the one asks again, the other goes on."""
    log: list[Record] = [user("a", "one"), reply("b", "first"), user("d", "two"), version("c", "b", "late")]
    found = fold(ID, log)

    assert seen(found) == ["one", "first", "two"]
    assert seen(fold(ID, [*log, choose("x", "c")])) == ["one", "late", "two"]


def test_what_followed_a_version_goes_and_comes_with_it() -> None:
    """How it ended, a switch of the model behind it, the second part of a reply of an old log."""
    log: list[Record] = [user("a"), reply("b"), mark("m", "Stopped."), reply("g"), version("c", "b")]

    def ids(*more: Record) -> list[str]:
        return [entry.id for entry in fold(ID, [*log, *more]).entries]

    assert ids() == ["a", "c"]
    assert ids(mark("n"), choose("x", "b")) == ["a", "b", "m", "g"]
    assert ids(mark("n"), choose("x", "b"), choose("y", "c")) == ["a", "c", "n"]


def test_a_version_that_is_not_seen_is_edited_deleted_restored_and_paid() -> None:
    log = [*TWO, edit("e", "b", "FIRST"), used("u", "b", cost=0.5), delete("f", "b")]
    gone = fold(ID, [*log, choose("x", "b")])
    back = fold(ID, [*log, restore("r", "b"), choose("x", "b")])

    assert seen(fold(ID, log)) == ["one", "second"]
    assert seen(gone) == ["one"]
    assert gone.failed_message_id == "a"
    assert seen(back) == ["one", "FIRST"]
    assert back.messages[1].usage is not None
    assert back.messages[1].usage.cost_usd == 0.5


def test_every_version_that_was_paid_stays_in_what_was_spent() -> None:
    first, second = used("u", "b", cost=0.25), used("v", "c", cost=0.5)
    found = fold(ID, [*TWO, first, second, choose("x", "b"), delete("y", "c")])

    assert found.usage == add_usage(first.usage, second.usage)


def test_what_names_no_version_changes_nothing() -> None:
    before = fold(ID, TWO)

    for record in (choose("x", "zz"), choose("x", "a"), choose("x", "c")):
        assert apply(before, record).entries == before.entries
    assert seen(fold(ID, [user("a", "one"), version("c", "zz", "of nothing")])) == ["one", "of nothing"]
    assert seen(fold(ID, [user("a", "one"), version("c", "a", "of a prompt")])) == ["one", "of a prompt"]


def test_a_version_that_came_twice_is_there_once() -> None:
    found = fold(ID, [*TWO, choose("x", "b"), version("c", "b", "second")])

    assert seen(found) == ["one", "first"]
    assert versions(found).ids == ("b", "c")


def test_a_log_without_versions_keeps_its_bytes_and_an_old_program_passes_over_what_it_does_not_know() -> (
    None
):
    assert "version_of" not in encode(reply("b")).decode()
    line = encode(version("c", "b"))
    assert json.loads(line)["version_of"] == "b"
    assert decode(line, 1) == version("c", "b")
    assert decode(encode(choose("x", "b")), 1) == choose("x", "b")
    assert json.loads(encode(choose("x", "b"))) == {
        "at": "2026-11-20T07:30:00Z",
        "id": "x",
        "target_id": "b",
        "type": "choose",
        "v": 1,
    }


def test_a_branch_holds_the_versions_that_there_were_and_shows_the_chosen_one() -> None:
    log = [*ON, used("u", "c"), choose("x", "b"), edit("f", "c", "SECOND")]

    copied = branch_records(log, "d")

    assert copied is not None
    made = fold("new", copied)
    assert seen(made) == ["one", "first", "two"]
    assert versions(made) == versions(fold(ID, log))
    at_reply = fold("new", branch_records(log, "b") or ())
    assert seen(at_reply) == ["one", "first"]
    assert versions(at_reply) == versions(fold(ID, log))


def test_a_branch_at_a_reply_shows_it_and_keeps_a_version_that_came_later_aside() -> None:
    log: list[Record] = [user("a", "one"), reply("b", "first"), user("d", "two"), version("c", "b", "late")]

    made = fold("new", branch_records(log, "b") or ())

    assert seen(made) == ["one", "first"]
    assert [*versions(made).aside] == ["c"]


def test_a_branch_at_a_late_version_holds_nothing_that_came_before_it_in_another_turn() -> None:
    late = version("c", "b", "late")
    log: list[Record] = [user("a", "one"), reply("b", "first"), user("d", "two"), reply("e", "x"), late]
    log += [choose("x", "c"), request("q", "d"), used("u", "c")]

    copied = branch_records(log, "c")

    assert copied is not None
    assert seen(fold("new", copied)) == ["one", "late"]
    assert seen(fold("new", branch_records(log, "d") or ())) == ["one", "late", "two"]


def resent(record_id: str, of: str, text: str) -> MessageRecord:
    return replace(user(record_id, text), version_of=of)


EDITED: tuple[Record, ...] = (*ON, resent("f", "a", "ONE"), reply("g", "other"))


def test_a_message_with_other_words_takes_the_place_of_all_that_followed_and_gives_it_back() -> None:
    found = fold(ID, EDITED)
    assert seen(found) == ["ONE", "other"]
    assert found.versions_of(found.messages[0]) == versions(found, "a")
    assert versions(found, "a").ids == ("a", "f")

    back = fold(ID, [*EDITED, choose("x", "a")])
    assert seen(back) == ["one", "second", "two", "third"]
    assert versions(back).number == 2, "versions of the reply came back with it"
    assert seen(fold(ID, [*EDITED, choose("x", "a"), user("h", "on")])) == [*seen(back), "on"]
    assert seen(fold(ID, [*EDITED, choose("x", "a"), user("h", "on"), choose("y", "f")])) == ["ONE", "other"]


def test_a_later_message_changes_where_its_own_thread_is_seen() -> None:
    log = [*ON, resent("f", "d", "TWO"), reply("g", "3b"), resent("h", "a", "ONE"), reply("i", "other")]
    assert seen(fold(ID, log)) == ["ONE", "other"]
    assert seen(fold(ID, [*log, choose("x", "d")])) == ["ONE", "other"], "it is not seen"
    back = [*log, choose("x", "a")]
    assert seen(fold(ID, back)) == ["one", "second", "TWO", "3b"]
    assert seen(fold(ID, [*back, choose("y", "d")])) == ["one", "second", "two", "third"]
    assert seen(fold("new", branch_records([*back, choose("y", "d")], "e") or ())) == [
        "one",
        "second",
        "two",
        "third",
    ]


@st.composite
def talks(draw: st.DrawFn) -> list[Record]:
    """Logs as programs write them: turns, versions of replies and of messages, in time and late, choices, deletions."""
    log: list[Record] = []
    replies: list[str] = []
    prompts: list[str] = []
    for number in range(draw(st.integers(1, 18))):
        name, what = f"m{number}", draw(st.integers(0, 7))
        if what == 0 or not replies:
            log += [user(f"u{number}", f"x{name}x"), reply(name, f"x{name}y")]
            replies.append(name)
            prompts.append(f"u{number}")
        elif what == 6:
            of = draw(st.sampled_from([m.id for m in fold(ID, log).messages if m.role is Role.USER]))
            log += [replace(user(f"u{number}", f"x{name}x"), version_of=of), reply(name, f"x{name}y")]
            replies.append(name)
            prompts.append(f"u{number}")
        elif what == 7:
            log.append(choose(name, draw(st.sampled_from(prompts))))
        elif what in {1, 2}:
            of = replies[-1] if what == 1 else draw(st.sampled_from(replies))
            log.append(version(name, of, f"x{name}x"))
            replies.append(name)
        elif what == 3:
            log.append(choose(name, draw(st.sampled_from(replies))))
        elif what == 4:
            log.append(mark(name))
        else:
            log.append(delete(name, draw(st.sampled_from(replies))))
    return log


@given(talks())
def test_of_every_reply_one_version_is_seen_and_none_is_lost(log: list[Record]) -> None:
    found = fold(ID, log)
    shown = [entry for entry in found.entries if isinstance(entry, Message)]
    aside = [e for one in found.versions.values() for run in one.aside.values() for e in run]

    assert found == reduce(apply, log, OpenDiscussion(ID))
    assert sorted(e.id for e in [*shown, *aside] if isinstance(e, Message)) == sorted(
        record.id for record in log if isinstance(record, MessageRecord)
    )
    prompts = [message.role for message in shown]
    assert prompts == [Role.USER, Role.ASSISTANT] * (len(shown) // 2)


@given(talks(), st.data())
def test_a_branch_shows_what_the_person_sees_up_to_its_point(log: list[Record], data: st.DataObject) -> None:
    shown: list[Entry] = [e for e in fold(ID, log).entries if isinstance(e, Message)]
    point = data.draw(st.integers(0, len(shown) - 1))

    copied = branch_records(log, shown[point].id)

    assert copied is not None
    made = [e for e in fold("new", copied).entries if isinstance(e, Message)]
    assert made == shown[: point + 1]
    named = {r.target_id for r in copied if isinstance(r, (ChooseRecord, DeleteRecord))}
    assert named <= {r.id for r in copied if isinstance(r, MessageRecord)}


@given(talks())
@settings(max_examples=40, deadline=None)
def test_search_and_the_list_know_what_is_seen_and_nothing_that_was_put_aside(records: list[Record]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        discussion_store.create(home, meta())
        log.append(home, ID, records)
        catalog = Catalog(home, home / "catalog.sqlite")
        row = catalog.update(ID)
        found = fold(ID, records)
        names = {r.parts[0].text for r in records if isinstance(r, MessageRecord)}  # type: ignore[union-attr]
        hits = {name for name in names if catalog.search(name).ids}
        catalog.close()

    assert hits == {message.text for message in found.messages}
    assert row is not None
    assert row.turns == sum(message.role is Role.USER for message in found.messages)
    assert row.preview == (found.messages[-1].text if found.messages else "")


@given(talks())
def test_a_log_that_a_kill_cut_off_anywhere_is_read(log: list[Record]) -> None:
    for end in range(len(log)):
        found = fold(ID, log[:end])
        assert all(not one.chosen_id or one.chosen_id in one.ids for one in found.versions.values())
