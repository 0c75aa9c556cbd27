"""Messages of a turn: commands, effects and events."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from core.kernel.values.discussion import ComparedModel
from core.kernel.values.messages import Part
from core.kernel.values.provider import Failure, Stopped
from core.kernel.values.records import RequestRecord, ViewRecord
from core.kernel.values.retrieval import Recalled
from core.kernel.values.spec import StackSpec
from core.kernel.values.usage import OfferedCommand, Usage


class SendPrompt(OfferedCommand, frozen=True):
    """Send text and the draft's attachments. The draft is emptied once the words are on disk.

    Args:
        may_queue: while a reply is under way it waits for the end of that one, instead of being refused.
        over_limit: the person's yes to a send past a spend limit; awaits_limit: at one it waits until that is raised,
            instead of being refused, words in the queue. So for all that costs money.
        command_id: given by a front end that waits for the `CommandOutcome`: a refusal is told there, and without an
            id in the discussion.
    """

    discussion_id: str
    text: str
    over_limit: bool = False
    command_id: str = ""
    may_queue: bool = False
    awaits_limit: bool = False


class SendQueued(OfferedCommand, frozen=True):
    """Let a queue that is held go on: its first prompt is sent now."""

    discussion_id: str
    over_limit: bool = False
    command_id: str = ""
    awaits_limit: bool = False


class TakeBackQueued(msgspec.Struct, frozen=True):
    """Take a prompt out of the queue and put its words and attachments back into the composer."""

    discussion_id: str
    prompt_id: str
    command_id: str = ""


class LeaveUnsent(msgspec.Struct, frozen=True):
    """Let go of what waits in a discussion for a limit to be raised. The queue is left by `TakeBackQueued`."""

    discussion_id: str


class CancelReply(msgspec.Struct, frozen=True):
    """Stop the reply that is under way; what has arrived is kept.

    `call_id`: of a comparison this call alone is stopped, and the others go on; empty: all of them.
    """

    discussion_id: str
    call_id: str = ""


class RetrySend(OfferedCommand, frozen=True):
    """Send again the message whose call failed; nothing is retyped.

    Args:
        without_tools: the discussion has none from now on, for a model that takes none.
    """

    discussion_id: str
    over_limit: bool = False
    command_id: str = ""
    awaits_limit: bool = False
    without_tools: bool = False


class RegenerateReply(OfferedCommand, frozen=True):
    """Ask again for a reply: another version of it, and the others stay. Before the last one its message gets a version.

    Args:
        message_id: the reply, or the message that it answers; empty: the last one.
        provider, model: who answers from now on; empty: who does now.
    """

    discussion_id: str
    message_id: str = ""
    over_limit: bool = False
    command_id: str = ""
    awaits_limit: bool = False
    provider: str = ""
    model: str = ""


class ResendMessage(OfferedCommand, frozen=True):
    """Send a message of the person with other words, as a version of it; without a reply, in its place.

    `detached`: attachments that it goes without, by key or sha256.
    """

    discussion_id: str
    message_id: str
    text: str
    over_limit: bool = False
    command_id: str = ""
    detached: tuple[str, ...] = ()
    awaits_limit: bool = False


class CompareReplies(OfferedCommand, frozen=True):
    """Put one message to two to four models at once: each reply is a version, and the discussion's model stays.

    Args:
        models: the columns to ask for, in this order; the same model may stand with and without memory.
        text: of a new message, with the draft's attachments; empty: one that was sent, whose reply is a column, too.
        message_id: that message, or a reply to it; empty: the last one.
        is_again: models whose columns brought no whole reply are asked once more; the other columns stay.
    """

    discussion_id: str
    models: tuple[ComparedModel, ...]
    text: str = ""
    message_id: str = ""
    is_again: bool = False
    over_limit: bool = False
    command_id: str = ""
    awaits_limit: bool = False


class ContinueReply(OfferedCommand, frozen=True):
    """Ask a model to go on where its last reply was cut off, in the words of `prompts/continue.md`."""

    discussion_id: str
    over_limit: bool = False
    command_id: str = ""
    awaits_limit: bool = False


# call worker: one thread a call
class CallProvider(msgspec.Struct, frozen=True):
    """Assemble the stack, wait for `SendRequest`, send it, report what comes back; journal the reply as it arrives.

    `reply_tokens`: how long the reply is expected to be; `version_of`: the reply that it is another version of.
    `is_compared`: calls for other models may run beside it.
    """

    call_id: str
    reply_id: str
    request_id: str
    user_message_id: str
    spec: StackSpec
    reply_tokens: int = 0
    version_of: str = ""
    is_compared: bool = False


class SendRequest(msgspec.Struct, frozen=True):
    """Send the built request: the limits allow the call."""

    call_id: str


class CancelCall(msgspec.Struct, frozen=True):
    """Stop a call; it reports `CallEnded`."""

    call_id: str


class RequestBuilt(msgspec.Struct, frozen=True):
    """The stack of a call is ready. The worker sends it when the step allows.

    `usd`: what it is expected to cost with its reply, None where no price is known;
    `warning` names the layer and byte of a prefix change that nobody asked for, empty otherwise; `views` are what
    the log needs to rebuild the view that the model sees; `unasked`: where it parts from what is warm though nobody asked for that,
    with what is paid anew, empty where it does not.
    """

    call_id: str
    record: RequestRecord
    warning: str = ""
    views: tuple[ViewRecord, ...] = ()
    usd: float | None = None
    unasked: str = ""


class RecallSent(msgspec.Struct, frozen=True):
    """A request is about to go out with passages that were recalled for its message. `words`: the message."""

    discussion_id: str
    message_id: str
    words: str
    recalled: Recalled


class KnowledgeSent(msgspec.Struct, frozen=True):
    """A request is about to go out. `text`: its layer 7 as it is now, empty while knowledge is off."""

    discussion_id: str
    message_id: str
    model: str
    text: str


class ReplyArrived(msgspec.Struct, frozen=True):
    """More text or reasoning of a reply; already in the reply journal."""

    call_id: str
    text: str = ""
    reasoning: str = ""


class Remark(StrEnum):
    """Kind of what a server did with a request: refused the reasoning that a call gave back, for a model altogether or of one
    discussion, and answers without it; refused a switch in the conversation, and took the same request in the canonical
    form; or something else.
    """

    REASONING = "reasoning"
    THOUGHTS = "thoughts"
    SWITCH = "switch"
    OTHER = "remark"


class ServerRemarked(msgspec.Struct, frozen=True):
    """A server did with a request what the person should know of. Told once for a model or a discussion.

    Args:
        text: in the server's words, empty for what it did in an earlier run: that was told then.
        through: message up to which the discussion's reasoning was refused, by id.
    """

    call_id: str
    text: str
    kind: Remark = Remark.OTHER
    through: str = ""


class CallRetrying(msgspec.Struct, frozen=True):
    """A call failed in passing and is tried again after `wait_s` seconds."""

    call_id: str
    attempt: int
    wait_s: float
    reason: str


class CallEnded(msgspec.Struct, frozen=True):
    """A reply is whole, or ended as asked. `parts` is all that was received, in order."""

    call_id: str
    stopped: Stopped
    parts: tuple[Part, ...]
    usage: Usage


class CallFailed(msgspec.Struct, frozen=True):
    """A call failed. `parts` is what was received before it did."""

    call_id: str
    failure: Failure
    parts: tuple[Part, ...]
    usage: Usage


PaidCommand = (
    SendPrompt | SendQueued | RetrySend | RegenerateReply | ResendMessage | CompareReplies | ContinueReply
)
"""Commands that cost money: at a spend limit they need the person's yes."""

TurnCommand = (
    SendPrompt
    | SendQueued
    | TakeBackQueued
    | LeaveUnsent
    | CancelReply
    | RetrySend
    | RegenerateReply
    | ResendMessage
    | CompareReplies
    | ContinueReply
)
"""Commands that a front end may give this room."""

TurnEvent = (
    RequestBuilt
    | RecallSent
    | KnowledgeSent
    | ReplyArrived
    | ServerRemarked
    | CallRetrying
    | CallEnded
    | CallFailed
)
"""Events of this room."""

TurnEffect = CallProvider | SendRequest | CancelCall
"""The call worker's: one thread a call."""
