"""Recall for the messages of each discussion, kept from the look at it to its sending."""

from __future__ import annotations

import threading
from collections.abc import Callable

from msgspec.structs import replace

from core.values.recall import Recalled, RecallQuestion
from core.values.spec import StackSpec

Recall = Callable[[RecallQuestion], Recalled]
"""Passages that go along with a message. It answers within a bound and never raises."""

_Asked = tuple[RecallQuestion, int]
"""A question, and how often something had been taken out of knowledge when it was asked."""


class RecallDesk:
    """Thread-safe. What is sent is what was shown: the same message gets what it got before, also one that waited.

    Args:
        recall: finds what goes along, None finds nothing.
        behind: what was recalled for earlier messages of a discussion and stays in its view.
    """

    def __init__(
        self, recall: Recall | None, behind: Callable[[str], tuple[str, ...]] = lambda _name: ()
    ) -> None:
        self._recall = recall
        self._behind = behind
        self._lock = threading.Lock()
        self._known: dict[str, dict[_Asked, Recalled]] = {}

    def with_recalled(self, spec: StackSpec) -> tuple[StackSpec, Recalled]:
        """The spec with what goes along with its message. Asked anew where the message, its limits or its knowledge
        are others, or something was taken out of knowledge.
        """
        inputs = spec.inputs
        text = inputs.user_text.strip()
        if self._recall is None or spec.recall is None or not text:
            return spec, Recalled()
        asked = RecallQuestion(text, spec.discussion_id, spec.recall, inputs.digest), inputs.withdrawals
        with self._lock:
            known = self._known.get(spec.discussion_id, {})
        found = known.get(asked)
        if found is None:
            behind = (*(text for _, text in inputs.kept_retrieved), *self._behind(spec.discussion_id))
            told = "\n\n".join((inputs.digest, *(turn.text for turn in inputs.turns), *behind))
            found = self._recall(replace(asked[0], told=told))
        with self._lock:
            known = self._known.get(spec.discussion_id, {})
            kept = {one: answer for one, answer in known.items() if one[0].text in spec.waiting}
            self._known[spec.discussion_id] = {**kept, asked: found}
        return replace(spec, inputs=replace(inputs, retrieved=found.text)), found

    def forget(self, discussion_id: str) -> None:
        """Drop what is kept of a discussion."""
        with self._lock:
            self._known.pop(discussion_id, None)
