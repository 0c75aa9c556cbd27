"""Use of memory: what a reply quotes of it, what it cost, and what no reply ever used."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.values.facts import DiscussionMemory, FactCategory, IndexedFact, ItemEvent, ItemEventKind
from core.kernel.values.knowledge import Category, CategoryFile, Item, KnowledgeState
from core.knowledge.evidence_rows import item_hash
from core.knowledge.history_text import history
from core.knowledge.knowledge_messages import NoteInjection, NoteUse
from core.knowledge.memory_log import Injections, read_logs
from core.knowledge.memory_use import MOST_SENTENCES, UNUSED_AFTER, meant, memory_use, quoted, sentences

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
ITEM = "The cache of the parser lives for five minutes."


def event(kind: ItemEventKind, *items: str, discussion: str = "d", tokens: int = 0) -> ItemEvent:
    return ItemEvent(
        kind=kind, at="2026-11-20T09:00:00.000000Z", discussion=discussion, items=items, tokens=tokens
    )


@pytest.mark.parametrize(
    ("reply", "asked", "is_quoted"),
    [
        ("As noted, the cache of the parser lives for a while.", "", True),
        ("THE CACHE\nof the *parser* lives on", "", True),
        ("The cache is short.", "", False),
        ("Yes: the cache of the parser lives for five minutes.", f"Is it true? {ITEM}", False),
        ("", "", False),
    ],
)
def test_a_run_of_words_that_the_person_did_not_say_is_a_quote(
    reply: str, asked: str, is_quoted: bool
) -> None:
    assert quoted(reply, asked, {"a": ITEM}) == (("a",) if is_quoted else ())


def test_scripts_without_blanks_and_short_items_are_found_and_small_words_are_not() -> None:
    texts = {
        "cjk": "缓存在五分钟后结束",
        "short": "Tides follow moonlight",
        "small": "it is in the of a",
        "two": "Use UTC",
    }

    assert quoted("我们知道缓存在五分钟后结束。", "", texts) == ("cjk",)
    assert quoted("So tides follow moonlight, and it is in the of a. Use UTC", "", texts) == ("short",)


def like(said: Sequence[str], known: Sequence[str]) -> list[list[float]]:
    """Nearness by a table of what means the same."""
    same = {("It forgets after five minutes.", ITEM), ("Five minutes?", ITEM)}
    return [[0.9 if (one, text) in same else 0.1 for one in said] for text in known]


def test_what_a_reply_says_in_its_own_words_is_used_unless_the_person_said_it() -> None:
    texts = {"a": ITEM, "b": "Something about quite other things."}
    said = "Sure. It forgets after five minutes."

    assert meant(said, "How long?", texts, like) == ("a",)
    assert meant(said, "It forgets after five minutes.", texts, like) == ()
    assert meant("Sure.", "", texts, like) == ()
    assert meant(said, "", texts, lambda _said, _known: ()) == ()
    assert meant("", "", {}, like) == ()


def test_a_sentence_with_another_figure_uses_no_item() -> None:
    texts = {"rate": "The limit is 60 calls a minute.", "plain": "The limit is low."}

    def near(said: Sequence[str], known: Sequence[str]) -> list[list[float]]:
        return [[0.95] * len(said)] * len(known)

    assert meant("You may call it 300 times a minute.", "", texts, near) == ("plain",)
    assert meant("You may call it 60 times a minute.", "", texts, near) == ("plain", "rate")
    assert meant("You may call it sixty times a minute.", "", texts, near) == ("plain", "rate")


def test_meaning_is_asked_about_what_no_words_told_alone(tmp_path: Path) -> None:
    item = Item(category=Category.FACTS, text=ITEM, file="facts.md", first_line=1, last_line=1)
    asked: list[Sequence[str]] = []

    def near(said: Sequence[str], known: Sequence[str]) -> list[list[float]]:
        asked.append(known)
        return like(said, known)

    keeper = Injections(tmp_path, lambda: known_with(item), like=near)
    keeper.note(NoteInjection(discussion_id="d", message_id="m", model="x", text=f"- {ITEM}", at=NOW))
    for said in (ITEM, "It forgets after five minutes."):
        keeper.note_use(
            NoteUse(discussion_id="d", message_id="r", model="x", asked="How long?", reply=said, at=NOW)
        )
    used = [event.items for event in read_logs(tmp_path).events if event.kind is ItemEventKind.USED]

    assert used == [(item_hash(item.category, item.text),)] * 2
    assert asked[0] == [ITEM]  # of the second reply: the first one quotes it


def test_items_and_facts_are_compared_with_a_reply_at_once(tmp_path: Path) -> None:
    item = Item(category=Category.FACTS, text=ITEM, file="facts.md", first_line=1, last_line=1)
    fact = IndexedFact(
        id="tides:fact:001",
        text="The moon makes the tides.",
        category=FactCategory.FACT,
        domain="tides",
        confidence=0.7,
    )
    asked: list[tuple[Sequence[str], Sequence[str]]] = []

    def near(said: Sequence[str], known: Sequence[str]) -> list[list[float]]:
        asked.append((said, known))
        return [[0.9] * len(said) for _ in known]

    keeper = Injections(tmp_path, lambda: known_with(item), lambda: [fact], near)
    text = f"- {ITEM}\n<facts>\n- {fact.text}\n</facts>\n"
    keeper.note(NoteInjection(discussion_id="d", message_id="m", model="x", text=text, at=NOW))
    said = "It forgets soon, and high water follows the moon."
    keeper.note_use(NoteUse(discussion_id="d", message_id="r", model="x", asked="", reply=said, at=NOW))

    assert asked == [((said,), [ITEM, fact.text])]
    used = read_logs(tmp_path).events[-1]
    assert (used.items, used.facts) == ((item_hash(item.category, item.text),), (fact.id,))


def test_of_a_long_reply_the_first_sentences_are_looked_at() -> None:
    assert len(sentences("This is one sentence of many. " * 500)) == MOST_SENTENCES
    assert sentences("- Two words\n\n* It has three words") == ("It has three words",)


@given(st.text(), st.text(), st.dictionaries(st.text(max_size=3), st.text(), max_size=4))
def test_it_is_total_and_names_only_what_went_along(reply: str, asked: str, texts: dict[str, str]) -> None:
    assert {*quoted(reply, asked, texts)} <= {*texts}


def test_sums_are_told_by_discussion_and_what_was_never_used_after_many_requests() -> None:
    events = [event(ItemEventKind.INJECTED, "a", "b")]
    events += [event(ItemEventKind.USED, tokens=100) for _ in range(UNUSED_AFTER - 1)]
    assert memory_use(events).unused == ()
    events += [
        event(ItemEventKind.USED, "b", tokens=100),
        event(ItemEventKind.USED, discussion="e", tokens=7),
    ]
    use = memory_use(events)

    assert use.unused == ("a",)
    assert use.discussions == (
        DiscussionMemory(discussion="d", requests=UNUSED_AFTER, tokens_est=100 * UNUSED_AFTER, quoted=1),
        DiscussionMemory(discussion="e", requests=1, tokens_est=7, quoted=0),
    )


def test_a_reply_is_kept_with_what_it_quotes_and_the_item_tells_it(tmp_path: Path) -> None:
    item = Item(category=Category.FACTS, text=ITEM, file="facts.md", first_line=1, last_line=1)
    keeper = Injections(tmp_path, lambda: known_with(item))
    keeper.note(NoteInjection(discussion_id="d", message_id="m", model="x", text=f"- {ITEM}", at=NOW))
    said = "The cache of the parser lives for five minutes, so wait."
    keeper.note_use(
        NoteUse(discussion_id="d", message_id="r", model="x", asked="How long?", reply=said, at=NOW)
    )
    rows = read_logs(tmp_path)

    assert [(one.kind, one.items) for one in rows.events][-1] == (
        ItemEventKind.USED,
        (item_hash(item.category, item.text),),
    )
    assert rows.events[-1].tokens > 0
    assert [line.kind.value for line in history("facts", ITEM, rows).lines] == ["used"]


def known_with(item: Item) -> KnowledgeState:
    return KnowledgeState(categories=(CategoryFile(name=item.file, items=(item,)),))
