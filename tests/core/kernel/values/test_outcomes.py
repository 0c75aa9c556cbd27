"""Sentences of an outcome for a person."""

from __future__ import annotations

from core.kernel.values.state import CommandOutcome


def test_problem_and_remedy_are_sentences_however_they_end() -> None:
    """They ran into one another in a form: `is no name for a server Use letters`."""
    assert (
        CommandOutcome("c", problem="It is no name", remedy="Use letters").said
        == "It is no name. Use letters."
    )
    assert (
        CommandOutcome("c", problem="It is full.", remedy="Why not wait?").said == "It is full. Why not wait?"
    )
    assert CommandOutcome("c", problem="It is full").said == "It is full."
    assert CommandOutcome("c").said == ""
