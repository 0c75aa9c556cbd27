"""A search inside a conversation counts, marks and walks; one over all discussions opens at what it found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.state import AppState
from core.talk.discussion.discussion_messages import SelectDiscussion
from gui.markdown import excerpt
from gui.markdown.parse import parse
from panels.base.view import Memo
from panels.discussion.find_bar import Occurrences, occurrences, terms_of
from panels.discussion.message_rows import shown_words
from panels.discussion.view import DiscussionView, FindView
from tests.operations import LINEAR, growth
from tests.panels import states
from tests.panels.screen import Screen
from tests.panels.views import view_of
from tests.recording_nodes import Node
from tests.state_fields import with_fields

ENTRIES = (
    states.user("m1", "Alpha and alpha"),
    states.reply("m2", "nothing here"),
    states.user("m3", "ALPHA again"),
)


def talking() -> AppState:
    return states.with_opened(states.working(), entries=ENTRIES)


def marked(screen: Screen) -> list[Node]:
    """Texts with the occurrence that the search stands on."""
    return [node for node in screen.ui.nodes("markdown") if node.props["found_at"] >= 0]


def test_every_occurrence_counts_and_the_one_stood_on_is_known() -> None:
    screen = Screen(talking())
    screen.ui.press("Ctrl+F")
    screen.ui.type("Find in discussion", "alpha")
    assert screen.ui.shows("1 of 3")
    assert [(node.value, node.props["found_at"]) for node in marked(screen)] == [("Alpha and alpha", 0)]

    screen.ui.press("F3")
    assert [(node.value, node.props["found_at"]) for node in marked(screen)] == [("Alpha and alpha", 1)]
    screen.ui.press("F3")
    assert [(node.value, node.props["found_at"]) for node in marked(screen)] == [("ALPHA again", 0)]
    assert {node.props["terms"] for node in screen.ui.nodes("markdown")} == {("alpha",)}


SEEN = (
    "It is *very* **important**, see [the tide](https://tide.example) and\n`the tide` turns.\nA hard\nwrapped line."
    "\n\n```py\na**b\n```\n"
)


def test_what_is_seen_is_counted_and_marks_and_addresses_are_not() -> None:
    """The count stood on another word than the marked one where marks were counted."""
    texts = (states.user("m1", "not *very* important"), states.reply("m2", SEEN))
    screen = Screen(states.with_opened(states.working(), entries=texts))
    screen.ui.press("Ctrl+F")
    for query, where in (
        ("very important", "1 of 1"),
        ("and the tide turns", "1 of 1"),
        ("the tide", "1 of 2"),
        ("hard wrapped", "1 of 1"),
        ("example", "no match"),
        ("py", "no match"),
        ("*very*", "1 of 1"),
        ("a**b", "1 of 1"),
    ):
        screen.ui.type("Find in discussion", query)
        assert screen.ui.shows(where), query


@pytest.mark.parametrize(
    "query", ["very important", "the tide", "hard wrapped", "example", "turns", "a**b", "tide"]
)
def test_what_is_counted_is_what_the_window_marks(query: str) -> None:
    marked_there = excerpt.occurrences(parse(SEEN), (query,))
    opened = OpenDiscussion("d", (states.reply("m", SEEN),))
    assert occurrences(Memo(), opened, (query,)).total == len(marked_there)


@pytest.mark.parametrize("sign", ["`", "*", "[a", "_", "~", "\\", "`a\n", "` ", "~~~\n", "```\n", "\n "])
def test_a_reply_of_one_sign_is_searched_at_once(sign: str) -> None:
    """Whoever writes it, the window stands still as long as it is read: 50,000 backticks took seconds."""
    shown_words(sign * (50_000 // len(sign)))
    assert growth(lambda size: shown_words(sign * size), 1_000) <= LINEAR


def test_enter_goes_on_and_shift_enter_back_while_the_words_are_typed() -> None:
    screen = Screen(talking())
    screen.ui.press("Ctrl+F")
    screen.ui.type("Find in discussion", "alpha")
    screen.ui.press("Enter")
    assert screen.ui.shows("2 of 3")
    assert screen.ui.is_focused_on("Find in discussion")
    screen.ui.press("Shift+Enter")
    screen.ui.press("Shift+Enter")
    assert screen.ui.shows("3 of 3")
    assert screen.asked == []


def test_escape_ends_the_search_and_its_marks() -> None:
    screen = Screen(talking())
    screen.ui.press("Ctrl+F")
    screen.ui.type("Find in discussion", "alpha")
    screen.ui.press("Escape")
    assert not screen.ui.has("Find in discussion", kind="text_input")
    assert {node.props["terms"] for node in screen.ui.nodes("markdown")} == {()}


def found(query: str, message_id: str) -> Screen:
    """A person who searched over all discussions and clicks the one that was found."""
    screen = Screen(states.working())
    screen.ui.type("Search discussions", query)
    hits = replace(states.searched(query, "d7"), messages={"d7": message_id} if message_id else {})
    screen.show(with_fields(screen.state, search=hits))
    screen.sent.clear()
    screen.ui.click(screen.state.discussions.summaries["d7"].meta.name)
    return screen


def opened(screen: Screen, *texts: str) -> None:
    entries = tuple(states.user(f"n{number}", text) for number, text in enumerate(texts))
    screen.show(with_fields(screen.state, selected_id="d7", open={"d7": OpenDiscussion("d7", entries)}))


def test_a_hit_opens_at_its_message_with_the_words_marked() -> None:
    screen = found("slot fork", "n150")
    assert screen.asked == [SelectDiscussion("d7")]
    fillers = [f"filler {n} fork" for n in range(300)]
    opened(screen, *fillers[:150], "a fork of the slot", *fillers[150:])

    (node,) = marked(screen)
    assert (node.value, node.props["terms"], node.props["found_at"]) == (
        "a fork of the slot",
        ("slot", "fork"),
        0,
    )
    assert screen.ui.shows("151 of 302")
    screen.ui.press("F3")
    assert screen.ui.shows("152 of 302")


def test_a_hit_opens_where_the_words_stand_together() -> None:
    screen = found("paragraph 37", "n1")
    opened(screen, "paragraph one", " ".join(f"Paragraph {n}: the fox." for n in range(60)))

    (node,) = marked(screen)
    assert node.props["found_at"] == 37
    assert screen.ui.shows("39 of 62")
    screen.ui.press("F3")
    assert [node.props["found_at"] for node in marked(screen)] == [38]


def test_a_hit_in_the_name_alone_opens_the_discussion_as_ever() -> None:
    screen = found("zebra", "")
    opened(screen, *[f"filler {n}" for n in range(50)])
    assert not screen.ui.has("Find in discussion", kind="text_input")
    assert screen.ui.shows("filler 49")


def test_a_hit_whose_message_went_opens_at_the_first_occurrence() -> None:
    screen = found("slot", "gone")
    opened(screen, "one", "the slot", "two")
    assert [node.value for node in marked(screen)] == ["the slot"]


def test_words_of_a_search_are_terms_and_typed_words_are_one() -> None:
    find = FindView(is_open=True, query=" slot  fork slot ")
    assert terms_of(find) == ("slot  fork slot",)
    find.is_by_word = True
    assert terms_of(find) == ("slot", "fork")
    find.is_open = False
    assert terms_of(find) == ()


@given(st.lists(st.integers(0, 3), max_size=8))
def test_each_occurrence_has_its_place(counts: list[int]) -> None:
    texts = tuple(states.user(f"m{n}", "needle " * count + "x") for n, count in enumerate(counts))
    known = occurrences(Memo(), OpenDiscussion("d", texts), ("NEEDLE",))
    assert known.total == sum(counts)
    expected = [(row, at) for row, count in enumerate(counts) for at in range(count)]
    assert [known.place(at) for at in range(known.total)] == expected
    for row in range(len(counts)):
        first = next((at for at, (n, _) in enumerate(expected) if n >= row), 0)
        assert known.first_from(row) == first


def test_where_nothing_is_looked_for_nothing_is_found() -> None:
    assert occurrences(Memo(), OpenDiscussion("d", ENTRIES), ()) == Occurrences()


def test_typing_goes_on_from_what_is_in_view() -> None:
    entries = tuple(states.user(f"m{n}", f"alpha {n}") for n in range(100))
    screen = Screen(
        states.with_opened(states.working(), entries=entries), view_of(DiscussionView(scroll={"d1": 40}))
    )
    screen.ui.press("Ctrl+F")
    screen.ui.type("Find in discussion", "alpha")
    assert screen.ui.shows("41 of 100")


def test_a_conversation_is_read_once_for_a_query() -> None:
    memo, opened = Memo(), OpenDiscussion("d", ENTRIES)
    first = occurrences(memo, opened, ("alpha", "here"))
    assert occurrences(memo, opened, ("alpha", "here")) is first


def test_what_was_looked_for_stays_with_its_discussion() -> None:
    screen = Screen(talking())
    screen.ui.press("Ctrl+F")
    screen.ui.type("Find in discussion", "alpha")

    other = with_fields(screen.state, open={"d2": OpenDiscussion("d2", ENTRIES)}, selected_id="d2")
    screen.show(other)

    assert not screen.ui.has("Find in discussion")
    assert {node.props["terms"] for node in screen.ui.nodes("markdown")} == {()}


def test_an_excerpt_marks_the_words_that_were_looked_for() -> None:
    state = with_fields(talking(), search=states.searched("alpha again", "d1"))
    screen = Screen(state)
    screen.ui.type("Search discussions", "alpha again")

    hits = [node for node in screen.ui.nodes("text") if node.path[-1] == "hit"]
    assert hits
    assert {node.props["terms"] for node in hits} == {("alpha", "again")}
