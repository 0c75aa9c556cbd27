"""What a model answers to a harvest is hostile until it is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.kernel.values.harvest import HarvestItem
from core.kernel.values.knowledge import Category, NewItem, Provenance
from core.knowledge.harvest.harvest_reply import (
    ITEM_CATEGORIES,
    MAX_ITEMS,
    by_category,
    cleaned,
    new_item,
    read_reply,
    reply_schema,
)
from core.knowledge.harvest.merge_reply import merge_schema
from core.services.providers.openai.body import is_strict_schema
from tests.operations import FLAT, growth


def reply(**categories: Any) -> str:
    return json.dumps(categories)


def fact(statement: str = "Tides follow the moon.", detail: str = "") -> dict[str, str]:
    return {"statement": statement, "detail": detail}


def test_the_seven_categories_come_in_the_order_of_the_report() -> None:
    assert ITEM_CATEGORIES == (
        "facts",
        "decisions",
        "tasks_done",
        "tasks_open",
        "questions",
        "playbooks",
        "files",
    )


def test_every_category_of_a_reply_is_read() -> None:
    text = reply(
        facts=[fact()],
        decisions=[fact("Use UTC.", "Tables are in UTC.")],
        tasks_done=[fact("Wrote the parser.")],
        tasks_open=[fact("Plot the curve.")],
        questions=[fact("Which datum?")],
        playbooks=[{"name": "Release", "steps": "make; git tag"}],
        files=[{"path": "/srv/tides.py", "note": "Reads harbours.csv."}],
    )

    found = read_reply(text)

    assert found.dropped == 0
    assert [item.category.value for item in found.items] == list(ITEM_CATEGORIES)
    assert by_category(found.items) == json.loads(text)


@pytest.mark.parametrize(
    "fence",
    [
        "```json\n%s\n```",
        "```\n%s\n```\n",
        "~~~JSON\n%s\n~~~",
        "\n\n````\n%s\n````  ",
        "```json\n%s```",
        "```\n%s ```\n",
        "```json %s```",
        "```%s\n```",
    ],
)
def test_one_code_fence_around_the_object_is_tolerated(fence: str) -> None:
    assert read_reply(fence % reply(facts=[fact()])).items[0].head == "Tides follow the moon."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Here you are: {}",
        "{} and that is all",
        "[]",
        "null",
        '"facts"',
        "3",
        "NaN",
        '{"facts": [NaN]}',
        '{"facts": Infinity}',
        '{"facts": [], "facts": [{"statement": "twice"}]}',
        "{'facts': []}",
        '{"facts": [],}',
        "```json\n```json\n{}\n```\n```",
        '{"facts": ' + "[" * 200_000 + "]" * 200_000 + "}",
        "9" * 10_000,
        '{"facts": [{"statement": "cut',
    ],
)
def test_what_is_not_one_object_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_reply(text)


def test_a_category_that_is_missing_or_no_list_is_empty_and_nothing_is_guessed() -> None:
    found = read_reply(
        reply(facts="Tides follow the moon.", decisions={"statement": "Use UTC."}, questions=None)
    )

    assert found.items == ()
    assert found.dropped == 0


@pytest.mark.parametrize(
    "row",
    [
        "a bare sentence",
        None,
        7,
        [],
        {},
        {"detail": "no statement"},
        {"statement": ""},
        {"statement": " \n\t"},
        {"statement": "..."},
        {"statement": ["Tides"]},
        {"statement": "Tides", "detail": 4},
        {"statement": "Tides", "detail": None},
        {"statement": "x" * 2_001},
        {"statement": "Tides", "detail": "x" * 2_001},
    ],
)
def test_a_malformed_row_is_dropped_and_counted(row: Any) -> None:
    found = read_reply(reply(facts=[fact("One."), row, fact("Two.")]))

    assert [item.head for item in found.items] == ["One.", "Two."]
    assert found.dropped == 1


def test_a_row_with_a_key_twice_is_dropped() -> None:
    found = read_reply('{"facts": [{"statement": "A one", "statement": "B two"}, {"statement": "C three"}]}')

    assert [item.head for item in found.items] == ["C three"]
    assert found.dropped == 1


def test_a_note_without_a_path_is_dropped() -> None:
    found = read_reply(reply(files=[{"path": "", "note": "Secret."}, {"path": " \n", "note": "Secret."}]))

    assert (found.items, found.dropped) == ((), 2)


@pytest.mark.parametrize(
    "path", ["/srv/tides.py", "C:\\work\\tides.py", "/srv/a..b/c", "src/b.py", "~/x", "../../etc/passwd"]
)
def test_a_note_stays_whatever_path_it_names(path: str) -> None:
    assert read_reply(reply(files=[{"path": path, "note": "Works."}])).items[0].head == path


def test_a_playbook_needs_its_steps_and_a_note_its_words() -> None:
    found = read_reply(
        reply(
            playbooks=[{"name": "Release"}, {"name": "", "steps": "a"}], files=[{"path": "/a", "note": " "}]
        )
    )

    assert (found.items, found.dropped) == ((), 3)


def test_a_value_is_one_line_without_characters_that_turn_text_around() -> None:
    found = read_reply(reply(facts=[fact("Tides\r\n# Heading\n\u202efollow\x1b[2J \x00the moon.")]))

    assert found.items[0].head == "Tides # Heading follow[2J the moon."


def test_secrets_that_only_the_detectors_know_do_not_reach_an_item_either() -> None:
    key = "0123456789abcdef" * 2 + "-us12"
    row = {"statement": f"The list has {key}.", "detail": f"It was {key}."}

    (item,) = read_reply(json.dumps({"facts": [row]})).items

    assert (item.head, item.body) == ("The list has [secret].", "It was [secret].")


def test_secrets_do_not_reach_an_item() -> None:
    key = "sk-" + "a1B2" * 8
    found = read_reply(
        reply(
            facts=[fact(f"The key is {key}.", f"password = hunter2{key}")],
            playbooks=[{"name": "Log in", "steps": f"curl -H 'Authorization: Bearer {key}' host"}],
            files=[{"path": "/srv/.env", "note": f"Holds {key}"}],
        )
    )

    assert len(found.items) == 3
    assert key not in repr(found)
    assert "hunter2" not in repr(found)


def test_a_string_of_megabytes_costs_no_more_steps_than_a_short_one() -> None:
    with pytest.raises(ValueError, match="characters"):
        read_reply(reply(facts=[fact("x" * 10_000_000)]))
    assert read_reply(reply(facts=[fact("x" * 1_900_000), fact()])).dropped == 1
    assert growth(lambda size: read_reply(reply(facts=[fact("x" * size), fact()])), 400_000) <= FLAT


def test_a_million_items_are_refused_and_a_hundred_thousand_are_cut() -> None:
    with pytest.raises(ValueError, match="characters"):
        read_reply('{"facts":[' + ",".join(['{"statement":"Tide"}'] * 1_000_000) + "]}")

    found = read_reply('{"facts":[' + ",".join(['{"statement":"T"}'] * 100_000) + "]}")

    assert len(found.items) == MAX_ITEMS
    assert found.dropped == 100_000 - MAX_ITEMS


def test_cleaning_twice_changes_nothing_more() -> None:
    item = HarvestItem(Category.FACTS, "  a\n b \u200e c", "password: correcthorse")

    assert cleaned(cleaned(item)) == cleaned(item)


def test_items_become_what_the_store_takes() -> None:
    origin = Provenance("2026-11-20-tides", "2026-11-20")

    assert new_item(HarvestItem(Category.FACTS, "A", "b"), origin) == NewItem(
        Category.FACTS, "A", "b", provenance=origin
    )
    assert new_item(HarvestItem(Category.PLAYBOOKS, "Release", "make"), origin) == NewItem(
        Category.PLAYBOOKS, "make", name="Release", provenance=origin
    )
    assert new_item(HarvestItem(Category.FILES, "/srv/a", "Note."), origin) == NewItem(
        Category.FILES, "Note.", name="/srv/a", provenance=origin
    )


def test_the_schema_is_closed_and_every_property_required_so_that_strict_mode_takes_it() -> None:
    schema = json.loads(reply_schema())

    assert is_strict_schema(schema)
    assert set(schema["properties"]) == set(ITEM_CATEGORIES)
    assert "maxItems" not in reply_schema()
    assert "maxLength" not in reply_schema()


def test_the_small_schema_bounds_what_a_rambling_model_can_write() -> None:
    schema = json.loads(reply_schema(is_small=True))

    assert all(schema["properties"][name]["maxItems"] == 2 for name in ITEM_CATEGORIES)
    assert reply_schema(is_small=True) == reply_schema(is_small=True)


def test_a_model_gives_its_reason_before_what_it_would_replace_or_merge() -> None:
    row = json.loads(reply_schema())["properties"]["facts"]["items"]
    merge = json.loads(merge_schema())["properties"]["merges"]["items"]

    for names in (list(row["properties"]), row["required"]):
        assert names.index("reason") < names.index("replaces")
    assert [next(iter(merge["properties"])), merge["required"][0]] == ["reason", "reason"]
