"""What a person types into knowledge is recognised in the file that the program wrote."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.knowledge import Category, Item, KnowledgeState, NewItem
from core.kernel.values.state import AppState
from core.knowledge import edits
from core.knowledge.categories import FILE_OF, item_line, parse_file
from panels.knowledge.item import ONE_OF, numbered_steps
from panels.knowledge.knowledge_room import (
    KnowledgeView,
    begin_edit,
    begin_new,
    edited_text,
    settle,
    shown_text,
)

WORDS = st.text(
    st.sampled_from("ab é漢\t\n\r\\*-#>[]{}:1.`~\u2028\x07") | st.characters(codec="utf-8"), max_size=60
)


def _facts(home: Path, name: str = "facts.md") -> tuple[Item, ...]:
    return parse_file(name, (home / "knowledge" / name).read_bytes()).items


@given(WORDS.filter(lambda text: bool(edited_text(text))))
def test_what_an_edit_will_read_as_is_known_before_it_is_written(text: str) -> None:
    with TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "knowledge").mkdir()
        (home / "knowledge" / "facts.md").write_text("- one [from: talk, 2026-11-20]\n", encoding="utf-8")
        (item,) = _facts(home)

        edits.edit_item(home, item, text)

        assert [i.text for i in _facts(home)] == [edited_text(text)]


@given(WORDS, st.sampled_from(sorted(ONE_OF)), st.text(max_size=20))
def test_what_was_added_closes_its_form(text: str, category: Category, name: str) -> None:
    with TemporaryDirectory() as folder:
        home, view = Path(folder), KnowledgeView()
        file = FILE_OF[category]
        (home / "knowledge").mkdir()
        (home / "knowledge" / file).write_text("- one\n", encoding="utf-8")
        before = parse_file(file, b"- one\n")
        begin_new(view, category)
        draft = view.new[category]
        wanted = item_line(NewItem(category, text, name=name)).removeprefix("- ")
        draft.sent, draft.sent_items = wanted, before.items

        edits.add_item(home, NewItem(category, text, name=name))
        after = parse_file(file, (home / "knowledge" / file).read_bytes())
        settle(AppState(knowledge=KnowledgeState((after,))), view)

        assert (category in view.new) is (not wanted)


def test_a_form_is_found_by_its_words_wherever_they_stand() -> None:
    first = parse_file("facts.md", b"- one\n- two\n- one\n")
    view = KnowledgeView()
    begin_edit(view, first.items[2])

    later = parse_file("facts.md", b"- one\n- two, in other words\n- one\n- three\n")
    settle(AppState(knowledge=KnowledgeState((later,))), view)

    assert [later.items.index(i) for i in later.items if id(i) in view.live] == [2]


def test_two_items_of_the_same_words_have_one_form_between_them() -> None:
    file = parse_file("facts.md", b"- one\n- one\n")
    view = KnowledgeView()
    begin_edit(view, file.items[0])
    settle(AppState(knowledge=KnowledgeState((file,))), view)

    assert list(view.live) == [id(file.items[0])]


def test_the_same_words_from_another_conversation_are_not_the_edited_item() -> None:
    file = parse_file("facts.md", b"- one [from: a, 2026-11-20]\n")
    view = KnowledgeView()
    begin_edit(view, file.items[0])
    (draft,) = view.edits.values()
    draft.sent, draft.sent_items = "two", file.items

    other = parse_file("facts.md", b"- two [from: b, 2026-11-20]\n")
    settle(AppState(knowledge=KnowledgeState((other,))), view)
    assert not draft.is_found
    assert view.edits

    kept = parse_file("facts.md", b"- two [from: a, 2026-11-20]\n")
    settle(AppState(knowledge=KnowledgeState((kept,))), view)
    assert not view.edits


def test_an_unchanged_state_is_not_gone_through_again() -> None:
    file = parse_file("facts.md", b"- one\n")
    state, view = AppState(knowledge=KnowledgeState((file,))), KnowledgeView()
    settle(state, view)
    before = view.settled

    settle(replace(state, program=replace(state.program, is_loading=False)), view)

    assert view.settled is before


def test_continued_lines_are_edited_without_their_indent() -> None:
    (item,) = parse_file("facts.md", b"- one\n  two\n\tthree\n").items

    assert shown_text(item) == "one\ntwo\nthree"


def test_steps_are_told_apart_only_where_they_are_counted() -> None:
    assert numbered_steps("1. a 2. b 4. c") == "1. a\n2. b 4. c"
    assert numbered_steps("version 1. a 2. b") == "version 1. a 2. b"
    assert numbered_steps("") == ""
