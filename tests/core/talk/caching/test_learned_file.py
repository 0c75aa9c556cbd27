"""`caching.json`: what was learned over all discussions comes back, and no file, however bad, stops anything."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.kernel import paths
from core.kernel.values.cache import ExtensionEvidence, Habits, Talk, TurnGap
from core.talk.caching.cache_file import (
    HomeCacheStore,
    Learned,
    decode_learned,
    encode_learned,
    load_learned,
    save_learned,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SEEN = ExtensionEvidence("anthropic", "claude-opus-5-5", 2, 1, NOW, "d", 90_000, 0)
GAPS = st.lists(st.builds(TurnGap, st.floats(0, 1e7), st.floats(0, 2e9)), max_size=9).map(tuple)
TALKS = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.builds(Talk, st.integers(1, 500), st.floats(0, 2e9)),
    max_size=5,
)
LEARNED = st.builds(
    lambda own, shared, talks, seen: Learned(Habits(own, shared, talks), seen),
    GAPS,
    GAPS,
    TALKS,
    st.sampled_from([{}, {("anthropic", "claude-opus-5-5"): SEEN}]),
)


@settings(max_examples=60, deadline=None)
@given(LEARNED)
def test_all_that_was_learned_comes_back_and_as_the_same_bytes(learned: Learned) -> None:
    data = encode_learned(learned)

    assert decode_learned(data) == learned
    assert encode_learned(decode_learned(data)) == data


def test_no_file_is_nothing_learned(tmp_path: Path) -> None:
    assert load_learned(tmp_path) == Learned()


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_a_torn_or_foreign_file_is_nothing_learned_with_a_reason(data: bytes) -> None:
    found = decode_learned(data)

    assert (found.habits, found.extensions) == (Habits(), {})
    assert found.problem.startswith("The program dropped its lessons about caching")


@pytest.mark.parametrize(
    "change", [{"own": 3}, {"talks": 5}, {"extensions": [1]}, {"format": 2}, {"shared": [{"seconds": "x"}]}]
)
def test_a_file_of_another_shape_is_dropped_with_a_reason(change: dict[str, object]) -> None:
    data = json.dumps({**json.loads(encode_learned(Learned())), **change}).encode()

    assert decode_learned(data).problem


def test_impossible_figures_are_left_out() -> None:
    talks = [
        {"discussion_id": name, "talk": {"turns": turns, "last_s": last_s}}
        for name, turns, last_s in (("d", 0, 5), ("e", 2, -1), ("f", 2, 5))
    ]
    rows = {"own": [{"seconds": -5}, {"seconds": 60}], "talks": talks}
    found = decode_learned(json.dumps({**json.loads(encode_learned(Learned())), **rows}).encode())

    assert found.habits == Habits((TurnGap(60.0),), (), {"f": Talk(2, 5.0)})


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / paths.CACHING_FILE).open("wb") as file:
        file.truncate(5_000_000_000)

    assert "5,000,000,000 bytes, more than" in load_learned(tmp_path).problem


def test_what_another_program_learned_of_a_model_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    save_learned(tmp_path, Learned(extensions={("anthropic", SEEN.model): SEEN}))
    mine = ExtensionEvidence("openai", "gpt-5.6", 0, 1, NOW, "e", 9_000, 0)
    HomeCacheStore(tmp_path).save_learned(Learned(extensions={("openai", "gpt-5.6"): mine}))

    assert set(load_learned(tmp_path).extensions.values()) == {SEEN, mine}


def test_a_file_that_is_none_says_what_to_do_about_it(tmp_path: Path) -> None:
    place = tmp_path / paths.CACHING_FILE
    place.write_bytes(b" " * 5_000_000)

    problem = load_learned(tmp_path).problem
    assert "Move the file away, or make the file smaller" in problem
    assert str(place) in problem
