"""Our own export to read comes back as the conversation that it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.kernel.values.imports import Transcript, TranscriptKind
from core.kernel.values.messages import (
    AttachmentPart,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.records import MessageRecord, Record
from core.talk.discussion.discussion_export import close_fence, export_markdown
from core.talk.discussion.log_content import fold
from core.talk.transcripts.transcript_reader import read_transcripts, recognised
from tests.core.records import ID, NOW, mark, meta, used

WORDS = st.text("ab `#*>~-\n", min_size=1, max_size=60).map(str.strip).filter(bool)


def brought_back(*log: Record, name: str = "A talk") -> Transcript:
    """The conversation in the Markdown of a discussion."""
    data = export_markdown(meta(name=name), fold(ID, log)).encode()
    assert recognised(data) is TranscriptKind.EXPORT
    (found,) = read_transcripts(TranscriptKind.EXPORT, data)
    assert isinstance(found, Transcript)
    return found


def said(role: Role, *parts: Part, key: str = "m", model: str = "") -> MessageRecord:
    return MessageRecord(
        id=key, at=NOW, role=role, parts=parts, provider="acme" if model else "", model=model
    )


@given(st.lists(st.tuples(st.sampled_from([Role.USER, Role.ASSISTANT]), WORDS), min_size=1, max_size=6))
def test_what_was_said_comes_back_word_for_word(talk: list[tuple[Role, str]]) -> None:
    log = [said(role, TextPart(text), key=f"m{n}") for n, (role, text) in enumerate(talk)]

    found = brought_back(*log)

    assert [(one.role, one.parts) for one in found.messages] == [
        (role.value, (TextPart(close_fence(text)),)) for role, text in talk
    ]
    assert [one.at for one in found.messages] == [NOW.replace(microsecond=0)] * len(talk)


def test_thoughts_tools_files_models_and_figures_are_told_from_words() -> None:
    file = AttachmentPart(sha256="ab" * 32, media_type="image/png", name="a `b`*c.png", size_bytes=1234)
    call = ToolCallPart(call_id="c1", name="read", arguments_json='{"p":"```"}')
    result = ToolResultPart(call_id="c1", text="## You\n\n# no heading", is_error=True)
    found = brought_back(
        said(Role.USER, TextPart("see"), file, key="a"),
        mark("k"),
        said(Role.ASSISTANT, ReasoningPart("first\n\nthen"), TextPart("I look."), call, key="b", model="m-1"),
        used("u", "b"),
        said(Role.TOOL, result, key="c"),
        name="Tides & *stars*",
    )

    assert found.title == "Tides & *stars*"
    assert [one.role for one in found.messages] == ["user", "assistant", "tool"]
    assert [one.model for one in found.messages] == ["", "m-1", ""]
    assert found.messages[0].parts[0] == TextPart("see")
    assert isinstance(shown := found.messages[0].parts[1], AttachmentPart)
    assert (shown.name, shown.media_type, shown.size_bytes) == ("a `b`*c.png", "image/png", 1234)
    assert found.messages[1].parts == (ReasoningPart("first\n\nthen"), TextPart("I look."), call)
    assert found.messages[2].parts == (result,)
