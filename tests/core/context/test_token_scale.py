"""The count of a request: what the last one began with is taken over, and nothing of it is counted otherwise for that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hypothesis import given
from hypothesis import strategies as st

from core.context.token_scale import RequestCounter
from core.values.messages import AttachmentPart, Role, ToolCallPart, ToolResultPart
from core.values.provider import PdfForm, ProviderRequest, RequestMessage
from core.values.stack import LayerId, Segment

PICTURE = AttachmentPart("a" * 64, "image/png", "a.png", 1_000, side_px=100)
PDF = AttachmentPart("b" * 64, "application/pdf", "b.pdf", 9_000, pages=3)


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
        st.sampled_from([None, PdfForm(1_500, True, 100, 10**7), PdfForm(258, False, 100, 10**7)]),
    ),
    min_size=1,
    max_size=6,
)


@given(steps)
def test_a_count_that_goes_on_from_the_last_request_is_that_of_one_made_anew(
    asked: list[tuple[list[RequestMessage], frozenset[str], PdfForm | None]],
) -> None:
    counter = RequestCounter()
    known: dict[str, int] = {}
    for messages, counted, pdf in asked:
        known |= {sha256: 5 + ord(sha256[-1]) for sha256 in counted}  # what was counted once stays so
        now = request(*messages)
        assert counter.count(now, known, pdf) == RequestCounter().count(now, known, pdf)


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
