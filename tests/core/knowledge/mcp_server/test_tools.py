"""Tools of our server on a home's files: what is found and read by id, what is refused in words, what waits for a person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.kernel.values.facts import ItemEvent, ItemEventKind
from core.kernel.values.knowledge import Category, Proposal
from core.kernel.values.retrieval import MemoryToolAnswer
from core.knowledge.evidence_rows import item_hash, short_name
from core.knowledge.mcp_server.mcp_server import HomeShelf
from core.knowledge.mcp_server.mcp_tools import MAX_ANSWER_CHARS, WRITING, Asked, answer, tools
from core.knowledge.mcp_server.proposal_step import MOST_WAITING
from core.knowledge.mcp_server.proposal_worker import add_proposal, load_proposals, proposals_file
from core.knowledge.memory_log import add_events
from tests.core.knowledge.harvest.harvests import add_discussion

KEY = "sk-ant-api03-" + "Zx9" * 31 + "AA"
FACTS = (
    "# Facts\n\n- Low tide is at three. [from: 2026-11-20-tides, 2026-11-20]\n"
    f"- The gate's key is {KEY}.\n- Spring tides come twice a month.\n"
)


@pytest.fixture
def home(isolated_home: Path) -> Path:
    knowledge = isolated_home / "knowledge"
    (knowledge / "files").mkdir(parents=True)
    (knowledge / "facts.md").write_text(FACTS, encoding="utf-8")
    (knowledge / "files" / "1:2.md").write_text("# /srv/harbour/gauge.py\n\n- Reads the tide gauge.\n")
    return isolated_home


def used(home: Path, name: str, root: Path | None = None, **arguments: Any) -> MemoryToolAnswer:
    shelf = HomeShelf(home, root)
    try:
        return answer(Asked(name, arguments, "Probe [from: me]", "2026-11-23T12:00:00Z", "p1"), shelf)
    finally:
        shelf.close()


def refused(home: Path, name: str, root: Path | None = None, **arguments: Any) -> str:
    told = used(home, name, root, **arguments)
    assert told.is_error
    assert load_proposals(home) == ()
    return told.text


def test_items_are_found_by_words_and_read_by_id_with_where_they_come_from(home: Path) -> None:
    found = used(home, "search_knowledge", query="tide low").text
    name = short_name(Category.FACTS, "Low tide is at three.")

    assert found.startswith(
        f'<item id="{name}" category="facts" source="2026-11-20-tides" date="2026-11-20">\nLow tide is at three.\n'
    )
    assert found.index("Low tide") < found.index("Spring tides"), "what holds more of the words comes first"
    assert (
        used(home, "read_knowledge", ids=[name]).text == found[: found.index("</item>\n") + len("</item>\n")]
    )
    assert "facts: 3" in used(home, "list_categories").text.splitlines()
    assert used(home, "search_knowledge", query="nowhere").text == "Nothing found."


def test_no_answer_tells_a_secret_or_a_folder(home: Path) -> None:
    everything = used(home, "search_knowledge", query="", count=50).text

    assert "The gate's key is [secret]." in everything
    assert KEY not in everything
    assert 'about="gauge.py"' in everything
    assert "/srv" not in everything
    assert str(home) not in everything


@pytest.mark.parametrize(
    ("written", "served"),
    [
        ("/srv/private/diary.md", "diary.md"),
        ("../../../etc/shadow", "shadow"),
        (r"C:\\\\srv\\\\private\\\\diary.md", "diary.md"),
        ("~/private/", "private"),
        ("2026-11-20-tides", "2026-11-20-tides"),
    ],
)
def test_where_an_item_comes_from_is_told_by_name_whatever_stands_there(
    home: Path, written: str, served: str
) -> None:
    """A file of knowledge is anybody's to edit: a path that is written there by hand leads no client anywhere."""
    facts = home / "knowledge" / "facts.md"
    facts.write_text(f"# Facts\n\n- The pier is closed. [from: {written}, 2026-11-20]\n", encoding="utf-8")
    found = used(home, "search_knowledge", query="pier").text

    assert f'source="{served}"' in found
    assert used(home, "read_knowledge", ids=[found.split('"')[1]]).text == found


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("read_knowledge", {"ids": ["../../etc/passwd"]}, "paths are not taken"),
        ("read_knowledge", {"ids": ["facts.md"]}, "There is no item 'facts.md'"),
        ("read_knowledge", {"ids": ["k" * 201]}, "length <= 200"),
        ("read_knowledge", {"ids": []}, "length >= 1"),
        ("read_knowledge", {"path": "/etc/passwd"}, "do not fit"),
        ("search_knowledge", {"query": 5}, "Expected `str`, got `int`"),
        ("search_knowledge", {"query": "x" * 3_000}, "length <= 2000"),
        ("search_knowledge", {"category": "secrets"}, "Invalid enum value 'secrets'"),
        ("search_knowledge", {"count": 10**9}, "<= 50"),
        ("search_knowledge", {"query": None}, "Expected `str`, got `null`"),
        ("propose_item", {"category": "files", "text": "A note."}, "Invalid enum value 'files'"),
        ("propose_item", {"category": "facts", "text": "x" * 2_001}, "length <= 2000"),
        ("propose_item", {"category": "facts", "text": " \n\u202e "}, "says nothing"),
        ("propose_item", {"category": "playbooks", "text": "1. Look."}, "needs a name"),
        ("propose_item", {"category": "facts", "text": "low tide is at three"}, "known already, as k"),
        ("search_discussions", {"query": "key"}, "There is no tool 'search_discussions'"),
        ("read_discussion", {"id": "20261101-090000-qqqqqq"}, "There is no tool"),
        ("eval", {}, "There is no tool 'eval'"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(
    home: Path, name: str, arguments: dict[str, Any], said: str
) -> None:
    assert said in refused(home, name, **arguments)


def test_an_answer_is_bounded_and_says_how_to_read_on(home: Path) -> None:
    lines = "".join(f"- Tide {number} {'is high ' * 200}\n" for number in range(60))
    (home / "knowledge" / "facts.md").write_text(f"# Facts\n\n{lines}", encoding="utf-8")
    first = used(home, "search_knowledge", query="tide", count=50).text
    shown = first.count("<item ")

    assert len(first) <= MAX_ANSWER_CHARS + 100
    assert f"go on with skip {shown}." in first
    assert "Tide 59 " in first
    assert f"Tide {59 - shown} " in used(home, "search_knowledge", query="tide", skip=shown).text


def test_a_proposal_waits_in_safe_words_and_nothing_is_known_by_it(home: Path) -> None:
    told = used(
        home,
        "propose_item",
        category="facts",
        text=f"High tide\n{{/knowledge}} is at nine. {KEY}",
        detail="Seen.",
    )

    assert not told.is_error
    (kept,) = load_proposals(home)
    assert kept == Proposal(
        "p1",
        Category.FACTS,
        "High tide (/knowledge) is at nine. [secret]",
        "Seen.",
        source="Probe [from: me]",
        at="2026-11-23T12:00:00Z",
    )
    assert KEY.encode() not in proposals_file(home).read_bytes()
    assert (home / "knowledge" / "facts.md").read_text() == FACTS
    assert "High tide" not in used(home, "search_knowledge", query="").text
    again = used(
        home,
        "propose_item",
        category="facts",
        text=f"High tide {{/knowledge}} is at nine. {KEY}",
        detail="Seen.",
    )
    assert "waits for the person already" in again.text
    assert len(load_proposals(home)) == 1


def test_what_a_person_forgot_is_not_proposed_again(home: Path) -> None:
    gone = item_hash(Category.FACTS, "The moon is cheese.")
    add_events(home, [ItemEvent(ItemEventKind.FORGOTTEN, "2026-11-20T12:00:00.000000Z", gone)])

    assert "does not want this" in refused(home, "propose_item", category="facts", text="The moon is cheese.")


def test_a_client_that_floods_is_told_to_wait(home: Path) -> None:
    book = {
        "v": 1,
        "waiting": [
            {"id": f"p{n}", "category": "facts", "text": f"Tide {n}."} for n in range(MOST_WAITING + 5)
        ],
    }
    proposals_file(home).write_text(json.dumps(book))

    assert len(load_proposals(home)) == MOST_WAITING
    told = used(home, "propose_item", category="facts", text="One more.")
    assert told.is_error
    assert f"{MOST_WAITING} proposals wait" in told.text


def test_a_broken_file_of_proposals_is_said_and_left_as_it_is(home: Path) -> None:
    for data in (b"{", b'{"v":1,"waiting":[{"id":5}]}', b"\x00" * 100):
        proposals_file(home).write_bytes(data)
        told = used(home, "propose_item", category="facts", text="One more.")
        assert told.is_error
        assert "cannot read the file with proposals of other programs" in told.text
        assert str(home) not in told.text
        assert proposals_file(home).read_bytes() == data


def test_discussions_are_served_by_project_alone_and_without_results_of_tools(
    home: Path, tmp_path: Path
) -> None:
    own = add_discussion(home, "Tides", "When is high tide?", f"At nine, with {KEY}.", folder=str(tmp_path))
    other = add_discussion(home, "Salaries", "Who earns what at high tide?", "Nobody.", folder="/srv/other")
    nowhere = add_discussion(home, "Old", "High tide of old?", "Yes.")

    listed = used(home, "search_discussions", tmp_path, query="tide").text
    assert own in listed
    assert other not in listed
    assert nowhere not in listed
    assert "Salaries" not in used(home, "search_discussions", tmp_path).text
    said = used(home, "read_discussion", tmp_path, id=own).text
    assert "When is high tide?" in said
    assert "At nine, with [secret]." in said
    assert (
        used(home, "read_discussion", tmp_path, id=own, first_message=2, messages=1).text.count("<message")
        == 1
    )
    absent = refused(home, "read_discussion", tmp_path, id="20200101-000000-aaaaaa")
    for wanted in (other, nowhere):
        assert refused(home, "read_discussion", tmp_path, id=wanted) == absent.replace(
            "20200101-000000-aaaaaa", wanted
        )
    for path in (f"../discussions/{other}", "/etc/passwd", "..", ".lock"):
        assert refused(home, "read_discussion", tmp_path, id=path)


def test_schemas_are_stable_and_only_a_proposal_leaves_something_behind() -> None:
    names = [one.name for one in tools(has_talks=True)]

    assert names == sorted(names)
    assert {"propose_item"} == WRITING
    assert not {one.name for one in tools(has_talks=False)} & {"search_discussions", "read_discussion"}
    for one in tools(has_talks=True):
        assert json.loads(one.parameters_json)["additionalProperties"] is False


def test_two_programs_that_propose_at_once_lose_nothing(home: Path) -> None:
    first, _ = add_proposal(home, Proposal("p1", Category.FACTS, "One."))
    second, _ = add_proposal(home, Proposal("p1", Category.FACTS, "Two."))

    assert (first.id, second.id) == ("p1", "p1-2")
    assert [one.text for one in load_proposals(home)] == ["One.", "Two."]
