"""A discussion's entries as the Hook API answers with them."""

from __future__ import annotations

from core.hooks.agent import AttachmentData, ToolCallData, ToolResultData
from core.hooks.fields import Data, Time, UsageData, filled
from core.values.discussion import CallPhase, LiveCall, QueuedPrompt
from core.values.messages import (
    Message,
    ReasoningPart,
    Role,
    Status,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)


class CallData(Data, frozen=True):
    """A call under way."""

    discussion_id: str
    message_id: str
    provider: str
    model: str
    phase: CallPhase
    retry_reason: str

    @classmethod
    def of(cls, call: LiveCall) -> CallData:
        """The call as it is answered with."""
        reason = call.retry_reason if call.phase is CallPhase.RETRYING else ""
        return filled(cls, call, message_id=call.user_message_id, retry_reason=reason)


class MessageData(Data, frozen=True, tag_field="type", tag="message"):
    """One message. What a vendor wants back of its reasoning stays inside.

    `version_of`: the first version of the reply that this one is another version of; empty for that one itself.
    `is_autonomous`: words of the program's, by which an autonomous turn began, and not the person's.
    """

    id: str
    at: Time
    role: Role
    status: Status
    text: str
    reasoning: str
    tool_calls: list[ToolCallData]
    tool_results: list[ToolResultData]
    attachments: list[AttachmentData]
    provider: str
    model: str
    is_edited: bool
    version_of: str
    is_autonomous: bool
    usage: UsageData | None

    @classmethod
    def of(cls, message: Message) -> MessageData:
        """The message as it is answered with."""
        parts = message.parts
        told = (part for part in parts if isinstance(part, ToolResultPart))
        results = [ToolResultData.of(part, message.status) for part in told]
        return filled(
            cls,
            message,
            tool_calls=[filled(ToolCallData, part) for part in parts if isinstance(part, ToolCallPart)],
            tool_results=results,
            attachments=[filled(AttachmentData, part) for part in message.attachments],
            usage=None if message.usage is None else UsageData.of(message.usage),
        )


class MarkData(Data, frozen=True, tag_field="type", tag="mark"):
    """Something that is shown in place."""

    id: str
    at: Time
    kind: str
    text: str


class QueuedData(Data, frozen=True):
    """A message that waits for the end of the reply under way. `id`: its message's, once it is sent."""

    id: str
    at: Time
    text: str
    attachments: list[AttachmentData]

    @classmethod
    def of(cls, prompt: QueuedPrompt) -> QueuedData:
        """The prompt as it is answered with."""
        parts = [filled(AttachmentData, part) for part in prompt.attachments]
        return filled(cls, prompt, attachments=parts)


def joined(message: Message, kind: type[TextPart | ReasoningPart]) -> str:
    """The parts of one kind as they streamed, with nothing between them."""
    return "".join(part.text for part in message.parts if isinstance(part, kind))
