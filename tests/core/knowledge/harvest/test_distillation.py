"""One conversation distilled: attempts, pieces, and what is merged."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.values.harvest import HarvestItem
from core.kernel.values.knowledge import Category
from core.kernel.values.provider import ModelProfile
from core.knowledge.harvest.distillation import HarvestError, distil, merged, run_subagent_summarization
from core.knowledge.harvest.modes import SUMMARIZE_THRESHOLD_BYTES, piece_bytes_for
from core.knowledge.harvest.transcript import Said


def reply(**categories: Any) -> str:
    return json.dumps(categories)


def facts(*statements: str) -> str:
    return reply(facts=[{"statement": one, "detail": ""} for one in statements])


class Scripted:
    """Answers in order, and remembers what it was asked."""

    def __init__(self, *replies: str | Exception) -> None:
        self.replies = list(replies)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        answer = self.replies.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


SAID = (Said("user", "Why?"), Said("assistant", "Because."))


def test_a_small_conversation_is_one_call() -> None:
    ask = Scripted(facts("One.", "Two."))

    found = distil(SAID, "Tides", "Template.", ask)

    assert [item.head for item in found.items] == ["One.", "Two."]
    assert len(ask.prompts) == 1
    assert 'name="Tides"' in ask.prompts[0]
    assert "<user>\nWhy?\n</user>" in ask.prompts[0]


def test_pieces_are_read_one_by_one_and_what_two_say_is_kept_once() -> None:
    first = reply(
        facts=[{"statement": "Six is right."}],
        tasks_open=[{"statement": "Check the harbour."}],
        decisions=[{"statement": "Use cosines.", "detail": ""}, "malformed"],
    )
    second = reply(
        facts=[{"statement": "six is right"}, {"statement": "Seven is wrong."}],
        tasks_done=[{"statement": "Check the harbour."}],
        decisions=[{"statement": "Use cosines.", "detail": "They are enough."}],
    )
    ask = Scripted(first, second)

    found = run_subagent_summarization(["<user>\nA\n</user>\n", "<user>\nB\n</user>\n"], "Tides", "T.", ask)

    assert [(item.category.value, item.head, item.body) for item in found.items] == [
        ("facts", "Six is right.", ""),
        ("decisions", "Use cosines.", "They are enough."),
        ("facts", "Seven is wrong.", ""),
        ("tasks_done", "Check the harbour.", ""),
    ]
    assert found.dropped == 1
    assert ['name="Tides (part 1 of 2)"' in ask.prompts[0], "part 2 of 2" in ask.prompts[1]] == [True, True]
    assert ["<user>\nA\n</user>" in prompt for prompt in ask.prompts] == [True, False]


def test_a_conversation_in_which_nothing_was_said_costs_no_call() -> None:
    ask = Scripted()

    assert distil((), "n", "t", ask).items == ()
    assert ask.prompts == []


def test_the_second_attempt_shows_the_model_its_malformed_reply() -> None:
    ask = Scripted("Sure! Here it is.", facts("One."))

    assert distil(SAID, "n", "t", ask).items[0].head == "One."
    assert "Sure! Here it is." in ask.prompts[1]
    assert "not valid JSON" in ask.prompts[1]
    assert ask.prompts[1].startswith(ask.prompts[0].rstrip("\n"))


def test_after_the_last_attempt_the_error_says_what_was_wrong() -> None:
    ask = Scripted("no", "[]")

    with pytest.raises(
        HarvestError, match=r"^harvest output invalid after 2 attempts: not a JSON object but list"
    ):
        distil(SAID, "n", "t", ask)


def test_an_empty_reply_is_malformed_and_has_nothing_to_show() -> None:
    ask = Scripted("", facts("One."))

    distil(SAID, "n", "t", ask)

    assert "previous-reply" not in ask.prompts[1]
    assert "not valid JSON" in ask.prompts[1]


def test_a_provider_that_fails_is_not_asked_again() -> None:
    ask = Scripted(ProviderError(FailureKind.TIMED_OUT, "Timed out"))

    with pytest.raises(ProviderError):
        distil(SAID, "n", "t", ask)
    assert len(ask.prompts) == 1


def test_a_long_conversation_is_read_in_pieces_and_merged_without_doubles() -> None:
    messages = [Said("user", f"{n}" * 600) for n in range(4)]
    ask = Scripted(
        reply(
            tasks_open=[{"statement": "Plot the curve.", "detail": ""}],
            facts=[{"statement": "Tides follow the moon.", "detail": ""}],
        ),
        reply(
            tasks_done=[{"statement": "Plot  the curve", "detail": "With dates."}],
            facts=[{"statement": "Tides follow the moon.", "detail": "Seen in May."}],
        ),
    )

    found = distil(messages, "Tides", "t", ask, piece_bytes=1_300)

    assert [(i.category.value, i.head, i.body) for i in found.items] == [
        ("facts", "Tides follow the moon.", "Seen in May."),
        ("tasks_done", "Plot the curve", "With dates."),
    ]
    assert 'name="Tides (part 1 of 2)"' in ask.prompts[0]
    assert 'name="Tides (part 2 of 2)"' in ask.prompts[1]


def test_dropped_rows_of_all_pieces_are_counted() -> None:
    bad = reply(facts=["no row", {"statement": "One."}])

    assert distil([Said("user", "x" * 90)] * 2, "n", "t", Scripted(bad, bad), piece_bytes=100).dropped == 2


def item(category: Category, head: str, body: str = "") -> HarvestItem:
    return HarvestItem(category, head, body)


def test_signs_part_two_items_case_and_spaces_do_not() -> None:
    found = merged(
        item(Category.FACTS, text)
        for text in ("Use C for it.", "Use C++ for it.", "use C for it.", "Use  C for it", "Use C# for it.")
    )

    assert [one.head for one in found] == ["Use C for it.", "Use C++ for it.", "Use C# for it."]


def test_notes_on_two_files_and_playbooks_of_one_name_are_all_kept() -> None:
    listed = (
        item(Category.FILES, "/a", "Works."),
        item(Category.FILES, "/b", "Works."),
        item(Category.PLAYBOOKS, "Release", "make"),
        item(Category.PLAYBOOKS, "Release", "make; git tag"),
    )

    assert merged(listed) == listed


@pytest.mark.parametrize(
    ("window", "check"),
    [
        (None, lambda size: size == SUMMARIZE_THRESHOLD_BYTES),
        (1_000_000, lambda size: size == SUMMARIZE_THRESHOLD_BYTES),
        (8_192, lambda size: 10_000 < size < 8_192 * 3 * 0.75),
        (512, lambda size: size == 2_000),
    ],
)
def test_a_piece_fits_the_model(window: int | None, check: Callable[[int], bool]) -> None:
    assert check(piece_bytes_for(ModelProfile("p", "m", context_tokens=window)))
