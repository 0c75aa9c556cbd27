"""The program's own form and its reader: the same as YAML reads it, or not read at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.values.facts import Fact, FactCategory
from core.knowledge.facts.fact_checks import FactPlace, fact_of, flaws_of
from core.knowledge.facts.item_edit import changed_item
from core.knowledge.facts.yaml_forms import YamlFault, item_text, read_item, read_yaml
from tests.core.knowledge.facts.fact_homes import made_fact

NAMES = st.sampled_from(
    ["tides", "on", "1984", "2026-11-23", "a.b_c-d", "null", "y", "0x10", "1e5", "x" * 100]
)
TAGS = st.sampled_from(["ci", "on", "null", "2026", "2026-11-23", "1-2", "a-", "-", "yes", "e5", "no"])
DAYS = st.dates().map(lambda day: day.isoformat()) | st.just("")


def built(
    domain: str, category: FactCategory, number: int, text: str, confidence: float, tags: list[str], count: int,
    days: tuple[str, str, str], related: list[str],
) -> Fact:  # fmt: skip
    fact_id = f"{domain}:{category.value}:{number:03d}"
    first, last, expires = days
    return Fact(
        fact_id, text, category, domain, confidence, tuple(tags), count, first, last, expires, tuple(related)
    )


FACTS = st.builds(
    built,
    NAMES,
    st.sampled_from(FactCategory),
    st.integers(0, 12_345),
    st.text(min_size=1, max_size=60),
    st.floats(0, 1),
    st.lists(TAGS, unique=True, max_size=4),
    st.integers(1, 500),
    st.tuples(DAYS, DAYS, DAYS),
    st.lists(st.sampled_from(["tides:fact:001", "1984:tool-quirk:1000"]), max_size=2),
)  # fmt: skip


def by_yaml(text: str) -> Fact | None:
    read = read_yaml(text)
    return None if isinstance(read, YamlFault) else fact_of(read[0], {})[0]


@given(FACTS)
def test_yaml_reads_what_the_program_writes(fact: Fact) -> None:
    """Names that YAML takes for numbers, dates and switches included."""
    assert by_yaml(item_text(fact)) == fact


@given(FACTS)
def test_the_own_reader_gives_what_yaml_gives_or_hands_over(fact: Fact) -> None:
    text = item_text(fact)

    own = read_item(text + "- id: next", 0)

    assert own is None or own == (by_yaml(text), len(text))


def test_the_usual_item_is_read_without_yaml() -> None:
    fact = made_fact(text='He said “so” and "no", in C:\\x.', tags=("ci", "make"), source_count=3, first_seen="2026-10-01",
                     last_confirmed="2026-11-01", expires="2027-01-01", related=("tides:pitfall:002",))  # fmt: skip

    assert read_item(item_text(fact), 0) == (fact, len(item_text(fact)))


@given(FACTS, st.data())
def test_one_character_elsewhere_is_read_as_yaml_reads_it_or_not_at_all(
    fact: Fact, data: st.DataObject
) -> None:
    text = item_text(fact)
    at = data.draw(st.integers(0, len(text)))
    put = data.draw(
        st.sampled_from([" ", "\n", "\t", "#", ":", '"', "\\", "'", "&a ", "!x ", "0", "-", "\u2028", "\x7f"])
    )
    changed = text[:at] + put + text[at:]

    own = read_item(changed, 0)

    if own is not None:
        assert by_yaml(changed[: own[1]]) == own[0]


@pytest.mark.parametrize("more", ["  mine: 1\n", "\n  mine: 1\n", "  # a comment\n"])
def test_an_item_with_more_than_ours_is_handed_over(more: str) -> None:
    assert read_item(item_text(made_fact()) + more, 0) is None


@given(FACTS, FACTS)
def test_an_item_is_changed_into_any_other(before: Fact, after: Fact) -> None:
    """Without unknown fields the outcome is what the program writes."""
    assert by_yaml(changed_item(item_text(before), after)) == after


HAND_WRITTEN = """\
- id: tides:fact:001
  # mine
  fact: 'The moon'   # why
  mine: [1, 2]
  category: fact
  domain: tides
  tags:
  - a
  - b
  confidence: .5 # maybe
"""


def test_a_changed_item_keeps_comments_unknown_fields_and_their_order() -> None:
    fact = by_yaml(HAND_WRITTEN)
    assert fact is not None
    changed = changed_item(HAND_WRITTEN, made_fact(text="The sun", tags=("z",), source_count=2))

    assert changed == (
        '- id: tides:fact:001\n  # mine\n  fact: "The sun"   # why\n  mine: [1, 2]\n  category: fact\n'
        "  domain: tides\n  tags: [z]\n  confidence: 0.70 # maybe\n  source_count: 2\n"
    )
    assert changed_item(HAND_WRITTEN, fact) == HAND_WRITTEN


@pytest.mark.parametrize(
    "item",
    [
        "- {id: tides:fact:001, fact: a, category: fact, domain: tides, confidence: 1, mine: {a: [b]}}\n",
        "-   id: tides:fact:001\n    fact: >-\n      a\n      b\n    category: fact\n    domain: tides\n    confidence: 1\n    mine: {a: [b]}\n",
        "- id: tides:fact:001\r\n  fact: a\r\n  category: fact\r\n  domain: tides\r\n  confidence: 1\r\n  mine: {a: [b]}\r\n",
        '- "id": tides:fact:001\n  "fact": a\n  category: fact\n  domain: tides\n  confidence: 1\n  mine: {a: [b]}\n',
    ],
    ids=["flow", "deep", "crlf", "quoted keys"],
)
def test_every_form_of_an_item_is_changed_and_keeps_what_is_the_persons(item: str) -> None:
    fact = made_fact(text="Other: words # here")

    changed = changed_item(item, fact)

    read = read_yaml(changed)
    assert not isinstance(read, YamlFault)
    assert fact_of(read[0], {}) == (fact, [])
    assert read[0]["mine"] == {"a": ["b"]}
    assert ("\r\n" in changed) is ("\r\n" in item)


@given(FACTS)
def test_the_quick_check_agrees_with_the_full_one(fact: Fact) -> None:
    """`flaws_of` takes a short way for facts that are well: it must never call a fact well that has a flaw."""
    from core.knowledge.facts.fact_checks import _flaws

    place = FactPlace(f"repos/{fact.domain}.yaml", fact.domain)
    assert flaws_of(fact, place) == list(_flaws(fact, place))
