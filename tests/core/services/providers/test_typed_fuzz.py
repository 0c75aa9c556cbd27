"""Whatever stands in a field of a vendor's stream, the call ends, is told, and what is kept can be read again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.services.providers.typed_fuzz import WRONG, Recording, bench, random_change, recordings

pytestmark = pytest.mark.filterwarnings(
    "ignore:.* is not a valid:UserWarning"
)  # google-genai, of enumerations

Problem = Callable[[Recording, Sequence[Any]], str]


@pytest.fixture(scope="module")
def recorded() -> tuple[Recording, ...]:
    return recordings()


@pytest.fixture(scope="module")
def problem() -> Iterator[Problem]:
    with bench() as found:
        yield found


def test_what_the_vendors_send_is_taken(recorded: tuple[Recording, ...], problem: Problem) -> None:
    assert {one.kind for one in recorded} == {"anthropic", "gemini", "openai", "compatible", "claude_code"}
    assert [problem(one, one.events) for one in recorded] == [""] * len(recorded)


def test_streams_one_after_another_all_reach_the_vendors_client(problem: Problem) -> None:
    """The journal of the one before is gone, as after a reply that is in the log: one that is held lets nobody ask."""
    recording = Recording("openai", "gpt-6.1-sol", ({"type": "response.created"},))

    assert [problem(recording, recording.events) for _ in range(40)] == [""] * 40


@settings(max_examples=150)
@given(data=st.data())
def test_a_field_of_another_type_ends_no_thread(
    recorded: tuple[Recording, ...], problem: Problem, data: st.DataObject
) -> None:
    recording = data.draw(st.sampled_from(recorded))
    place = data.draw(st.sampled_from(recording.places()))

    assert problem(recording, recording.changed(place, data.draw(st.sampled_from(WRONG)))) == ""


@settings(max_examples=60)
@given(chance=st.randoms(use_true_random=False), number=st.integers(0, 1000))
def test_nor_do_several_changes_at_once(
    recorded: tuple[Recording, ...], problem: Problem, chance: random.Random, number: int
) -> None:
    recording = recorded[number % len(recorded)]

    assert problem(recording, random_change(recording, chance)) == ""
