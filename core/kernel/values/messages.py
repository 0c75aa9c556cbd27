"""Messages of a discussion: parts, messages and marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import StrEnum

import msgspec

from core.kernel.patterns import late
from core.kernel.values.usage import Usage


class Role(StrEnum):
    """Role of a speaker."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Status(StrEnum):
    """Wholeness of a message. `PARTIAL`: the stream ended early. `INTERRUPTED`: the person or a crash ended it."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    INTERRUPTED = "interrupted"


class TextPart(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="text"):
    """Plain text, UTF-8, LF, no lone surrogates."""

    text: str


class ReasoningPart(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="reasoning"):
    """Reasoning of a model.

    `vendor_json` is the vendor's own block (signature, encrypted content) as canonical JSON, to be sent back
    unchanged by the same provider's client; empty where the vendor wants nothing back.
    """

    text: str
    vendor_json: str = ""


class ReturnedReasoning(ReasoningPart, frozen=True, gc=False, tag_field="type", tag="reasoning"):
    """Reasoning as a request gives it back. It is never kept: a log holds the part and the usage that this is made of.

    Args:
        tokens: as its vendor billed them when it was made, at least 1. It may show less of it than it counts, or nothing.
    """

    tokens: int = 1


class ToolCallPart(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="tool_call"):
    """A call that the model asked for. `arguments_json` is the model's text, not yet judged."""

    call_id: str
    name: str
    arguments_json: str


class CallEnd(StrEnum):
    """End of a tool call. `REFUSED`: it was never begun; `INTERRUPTED`: stopped, or never begun because its turn was."""

    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    INTERRUPTED = "interrupted"


class ToolResultPart(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="tool_result"):
    """Answer of a tool.

    Args:
        attachments: pictures in it, kept in the discussion like those of the person.
        ended: where it says more than `is_error`: refused or interrupted. None: done or failed, and in logs from before
            it was noted. It is for people; a model reads the words.
    """

    call_id: str
    text: str
    is_error: bool = False
    attachments: tuple[AttachmentPart, ...] = ()
    ended: CallEnd | None = None

    def end(self, status: Status = Status.COMPLETE) -> CallEnd:
        """End of the call. `status`: of the message that holds it, which alone told it in older logs."""
        if self.ended is not None:
            return self.ended
        if self.is_error and status is Status.INTERRUPTED:
            return CallEnd.INTERRUPTED
        return CallEnd.FAILED if self.is_error else CallEnd.DONE


EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "application/pdf": "pdf",
    "text/plain": "txt",
}
"""Ending of an attachment's file by its media type; `bin` for all others."""

_SHA256 = late("[0-9a-f]{64}")


class AttachmentPart(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="attachment"):
    """A file kept in the discussion's `attachments/`, named by its content's sha256 (hex).

    Args:
        pages: of a PDF, 0 where nobody counted them.
        text_sha256, text_bytes: of its text, which is kept beside it; empty where it has none.
        side_px: longer side of a picture, 0 where nobody measured it.
    """

    sha256: str
    media_type: str
    name: str
    size_bytes: int
    pages: int = 0
    text_sha256: str = ""
    text_bytes: int = 0
    side_px: int = 0

    @property
    def file_name(self) -> str:
        """Its name in `attachments/`; empty where a foreign log gives no hash that could name a file."""
        if _SHA256.fullmatch(self.sha256) is None:
            return ""
        return f"{self.sha256}.{EXTENSIONS.get(self.media_type, 'bin')}"

    @property
    def key(self) -> str:
        """Key of it among the files of one message, of which two may have one content under two names."""
        return f"{self.sha256}/{self.name}"

    @property
    def is_image(self) -> bool:
        """True if a model would take it as a picture."""
        return self.media_type.startswith("image/")

    @property
    def is_pdf(self) -> bool:
        """True for a PDF."""
        return self.media_type == "application/pdf"

    @property
    def as_text(self) -> AttachmentPart | None:
        """The attachment's text as a file, None if it has no text file."""
        if not self.text_sha256:
            return None
        return AttachmentPart(
            sha256=self.text_sha256, media_type="text/plain", name=self.name, size_bytes=self.text_bytes
        )


Part = TextPart | ReasoningPart | ToolCallPart | ToolResultPart | AttachmentPart


def files_of(parts: Iterable[object]) -> Iterator[AttachmentPart]:
    """Every file among parts of a message or a request, in order, those in results of tools too."""
    for part in parts:
        if isinstance(part, AttachmentPart):
            yield part
        elif isinstance(part, ToolResultPart):
            yield from part.attachments


class Message(msgspec.Struct, frozen=True, gc=False):
    """One message of a discussion as the person sees it: edits applied, usage attached.

    `version_of`: the first version of the reply that this one is another version of, empty for that one itself.
    `is_autonomous`: words of the program's in the person's place, by which an autonomous turn or a task began.
    `asks_rest`: words of the program's that ask for the rest of a reply: the person pressed Continue.
    """

    id: str
    at: datetime
    role: Role
    parts: tuple[Part, ...]
    status: Status = Status.COMPLETE
    provider: str = ""
    model: str = ""
    usage: Usage | None = None
    is_edited: bool = False
    is_deleted: bool = False
    version_of: str = ""
    is_autonomous: bool = False
    asks_rest: bool = False

    @property
    def is_of_program(self) -> bool:
        """True for words of the program's in the person's place."""
        return self.is_autonomous or self.asks_rest

    @property
    def is_of_person(self) -> bool:
        """True for a message of the person."""
        return self.role is Role.USER and not self.is_of_program

    @property
    def text(self) -> str:
        """The text parts, joined with a blank line."""
        if len(self.parts) == 1 and isinstance(
            self.parts[0], TextPart
        ):  # of most: a long discussion asks each
            return self.parts[0].text
        return "\n\n".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def reasoning(self) -> str:
        """The reasoning parts, joined with a blank line."""
        return "\n\n".join(part.text for part in self.parts if isinstance(part, ReasoningPart))

    @property
    def is_of_tools(self) -> bool:
        """True for results of tools, and for a reply that asked for them: neither stands without the other."""
        return self.role is Role.TOOL or any(isinstance(part, ToolCallPart) for part in self.parts)

    @property
    def attachments(self) -> tuple[AttachmentPart, ...]:
        """The attached files, in order; `files_of` its parts names those in results of tools as well."""
        return tuple(part for part in self.parts if isinstance(part, AttachmentPart))


class Mark(msgspec.Struct, frozen=True, gc=False):
    """Something the person should see in place: cancelled, model switched, repaired, harvested.

    `after_id` is the id of the message that it follows, empty at the head of the discussion.
    """

    id: str
    at: datetime
    kind: str
    text: str
    after_id: str = ""


Entry = Message | Mark
