"""The count of a request: what the last one began with is taken over, and nothing of it is counted otherwise for that."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from hypothesis import given
from hypothesis import strategies as st

from core.kernel.values.messages import AttachmentPart, Role, ToolCallPart, ToolResultPart
from core.kernel.values.provider import ModelProfile, PdfForm, ProviderRequest, RequestMessage
from core.kernel.values.stack import LayerId, Segment
from core.talk.context.token_scale import RequestCounter, token_counter

PICTURE = AttachmentPart("a" * 64, "image/png", "a.png", 1_000, side_px=100)
PDF = AttachmentPart("b" * 64, "application/pdf", "b.pdf", 9_000, pages=3)


PROFILES = (
    None,
    ModelProfile("p", "blind"),
    ModelProfile("p", "m", takes_images=True, pdf=PdfForm(1_500, True, 100, 10**7)),
    ModelProfile("p", "m", takes_images=True, pdf=PdfForm(258, False, 100, 10**7)),
)


def said(name: str) -> RequestMessage:
    return RequestMessage(
        Role.USER, (Segment(LayerId.TURNS, f"11/{name}", f"words of {name}", f"sha-{name}"),)
    )


MESSAGES = (
    *map(said, "abcd"),
    RequestMessage(Role.ASSISTANT, (ToolCallPart("c1", "grep", '{"pattern": "x"}'),)),
    RequestMessage(Role.USER, (ToolResultPart("c1", "a line", attachments=(PICTURE,)),)),
    RequestMessage(Role.USER, (PICTURE, PDF)),
)


def request(*messages: RequestMessage) -> ProviderRequest:
    return ProviderRequest("p", "m", (Segment(LayerId.ROLE, "1", "You help.", "sha-role"),), messages)


steps = st.lists(
    st.tuples(
        st.lists(st.sampled_from(MESSAGES), max_size=6),
        st.frozensets(st.sampled_from(["sha-role", "sha-a", "sha-b", "sha-c", "sha-d"])),
        st.sampled_from(PROFILES),
    ),
    min_size=1,
    max_size=6,
)


@given(steps)
def test_a_count_that_goes_on_from_the_last_request_is_that_of_one_made_anew(
    asked: list[tuple[list[RequestMessage], frozenset[str], ModelProfile | None]],
) -> None:
    counter = RequestCounter()
    known: dict[str, int] = {}
    for messages, counted, profile in asked:
        known |= {sha256: 5 + ord(sha256[-1]) for sha256 in counted}  # what was counted once stays so
        now = request(*messages)
        assert counter.count(now, known, profile) == RequestCounter().count(now, known, profile)


class Asked(Mapping[str, int]):
    """Counts that note what was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getitem__(self, sha256: str) -> int:
        self.asked.append(sha256)
        return 7

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def test_a_round_counts_what_was_said_since_the_last_one_alone() -> None:
    counter, first, second = RequestCounter(), Asked(), Asked()
    talk = tuple(said(f"m{number}") for number in range(100))

    before = counter.count(request(*talk), first)
    after = counter.count(request(*talk, said("new")), second)

    assert len(first.asked) == 101
    assert second.asked == ["sha-role", "sha-new"]
    assert after.tokens - before.tokens == 7


def test_a_picture_in_a_result_counts_as_words_for_a_model_that_takes_none() -> None:
    """It gets its name and size in words: with a picture's tokens a small window would be said to be full."""
    shown = request(RequestMessage(Role.USER, (ToolResultPart("c1", "a line", attachments=(PICTURE,)),)))
    blind, seeing = ModelProfile("p", "blind"), ModelProfile("p", "m", takes_images=True)
    small = ModelProfile("p", "small", takes_images=True, max_picture_bytes=10)

    counts = {one.id: RequestCounter().count(shown, {}, one) for one in (blind, seeing, small)}

    assert counts["m"].images == 1_500
    assert counts["blind"].images == counts["small"].images == 0
    assert 0 < counts["blind"].tokens - counts["m"].tokens < 40
    for one in (blind, seeing, small):
        assert token_counter({}, 1.0, None, one)(shown.messages[0].parts[0]) == (
            counts[one.id].tokens + counts[one.id].images - token_counter({}, 1.0, None, one)(shown.system[0])
        )


def test_a_long_text_is_not_kept_for_its_name() -> None:
    text = "a line of a log\n" * 50_000
    held = sys.getrefcount(text)
    token_counter({}, 1.0)(ToolResultPart("c1", text))
    assert sys.getrefcount(text) == held
