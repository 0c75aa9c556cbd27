"""Layer 11 and its report, made incrementally, are what they are from scratch: over edits, cuts, rounds, counts and factors."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from core.kernel.values.discussion import EntryPlaces, OpenDiscussion
from core.kernel.values.messages import (
    AttachmentPart,
    Message,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.stack import LayerId, StackInputs
from core.kernel.values.window import ViewCut
from core.talk.context.pieces import StackMemo
from core.talk.context.report import GrownReport
from core.talk.context.stack import build_stack
from core.talk.discussion.cuts import sent_view
from core.talk.discussion.open_calls import paired
from core.talk.turn.turn_step import used_ids
from tests.core.records import NOW

PICTURE = AttachmentPart("f" * 64, "image/png", "a.png", 4_000)
IDS = st.sampled_from(["a", "b", "c"])
WORDS = st.builds(TextPart, st.sampled_from(["words", "more words </text>", "", "täxt 語"]))
CALLS = st.builds(lambda name: ToolCallPart(name, "grep", '{"a":1}'), IDS)
RESULTS = st.builds(
    lambda name, files: ToolResultPart(name, "found", attachments=files),
    IDS,
    st.just(()) | st.just((PICTURE,)),
)
BODIES = st.one_of(
    st.tuples(st.just(Role.USER), st.lists(WORDS | st.just(PICTURE), min_size=1, max_size=2)),
    st.tuples(
        st.just(Role.ASSISTANT), st.lists(CALLS | WORDS | st.just(ReasoningPart("thought")), max_size=3)
    ),
    st.tuples(st.just(Role.TOOL), st.lists(RESULTS, max_size=3)),
)
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "append", "edit", "delete", "cut", "count", "factor", "gone"]),
        st.integers(0, 30),
        BODIES,
    ),
    min_size=1,
    max_size=25,
)


def fresh(discussion: OpenDiscussion) -> OpenDiscussion:
    """The discussion as a restart finds it: nothing of it was made before."""
    return OpenDiscussion(
        discussion.id, discussion.entries, cut=discussion.cut, gone_calls=discussion.gone_calls
    )


def edited(
    discussion: OpenDiscussion, kind: str, place: int, body: tuple[Role, list[Part]], number: int
) -> OpenDiscussion:
    entries = list(discussion.entries)
    role, parts = body
    at = place % max(1, len(entries))
    cut, gone = discussion.cut, discussion.gone_calls
    if kind == "append" or not entries:
        entries.append(Message(f"m{number}", NOW, role, tuple(parts)))
    elif kind in {"edit", "delete"}:
        old = entries[at]
        assert isinstance(old, Message)
        is_deleted = kind == "delete"
        entries[at] = Message(
            old.id, NOW, old.role, old.parts if is_deleted else tuple(parts), is_deleted=is_deleted
        )
    elif kind == "cut":
        first = entries[at]
        assert isinstance(first, Message)
        cut = ViewCut(f"cut{number}", NOW, begins_at=first.id, through=first.id, summary="It was said.")
    elif kind == "gone":
        gone = frozenset({"a"}) - gone
    kept = tuple(entries)
    places = discussion.places.moved(kept, discussion.places.take(discussion.entries), is_same=False)
    return OpenDiscussion(discussion.id, kept, cut=cut, gone_calls=gone, places=places)


@settings(deadline=None)
@given(EDITS)
def test_what_is_made_incrementally_is_what_is_made_from_scratch(
    edits: list[tuple[str, int, tuple[Role, list[Part]]]],
) -> None:
    discussion, memo, reports = OpenDiscussion("d", places=EntryPlaces()), StackMemo(), GrownReport()
    counted, factor = dict[str, int](), 1.0
    for number, (kind, place, body) in enumerate(edits):
        discussion = edited(discussion, kind, place, body, number)
        factor = 1.0 + place / 7 if kind == "factor" else factor
        anew = fresh(discussion)
        assert discussion.messages == anew.messages
        assert used_ids(discussion) == used_ids(anew)
        turns = paired(sent_view(discussion), discussion.places.grown)
        assert turns == paired(sent_view(anew))
        inputs = StackInputs("local", "m", 0, "role", turns=turns, user_text="next" if place % 3 == 0 else "")
        stack, other = build_stack(inputs, memo), build_stack(inputs)
        assert stack == other
        layer = stack.layer(LayerId.TURNS)
        if kind == "count":
            counted |= {one.sha256: len(one.text) for one in layer.segments[: place + 1]}
        assert stack.report(counted, factor, None, reports) == other.report(counted, factor)
        assert reports.is_counted(layer, counted) is all(one.sha256 in counted for one in layer.segments)
