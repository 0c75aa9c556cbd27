"""The records of a discussion's log, one a line, append-only. The log is the truth."""

from __future__ import annotations

from datetime import datetime

import msgspec

from core.kernel.values.messages import Part, Role, Status
from core.kernel.values.stack import LayerReport
from core.kernel.values.usage import UPKEEP_KINDS, Usage, UsageKind

_BESIDE_TURNS = frozenset(kind.value for kind in UsageKind if kind is not UsageKind.TURN)


class MessageRecord(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="message"):
    """Something was said.

    `version_of`: the reply, or the person's message, that this one is another version of. It is the chosen one from then on,
    unless the person has written on behind that reply meanwhile. `is_autonomous`, `asks_rest`: as of `Message`.
    """

    id: str
    at: datetime
    role: Role
    parts: tuple[Part, ...]
    status: Status = Status.COMPLETE
    provider: str = ""
    model: str = ""
    version_of: str = ""
    is_autonomous: bool = False
    asks_rest: bool = False


class ChooseRecord(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="choose"):
    """This version of a reply, or of a message with all behind it, goes to the model from now on; the others stay in the log."""

    id: str
    at: datetime
    target_id: str


class RequestRecord(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="request"):
    """Request as sent, by reference: enough to explain a miss or replay after a restart.

    Args:
        message_id: the user's message that the request answers.
        layers: offsets, sizes and hashes of the twelve layers; wire_order: segment keys as they went out.
        prefix_reason: why the stable prefix differs from the request before, empty where it does not.
        cache: the plan: marks as `key@seconds` in wire order, empty where nothing was marked.
        expected_read_tokens: what the plan expected the provider to read from its cache, None without a plan.
        estimate: the input as it was expected to be billed, counted where the provider never says; None in old logs.
        retrieved: text that was recalled for the message, where later requests repeat it.
        broken: where the request stops to be what the one before it sent, why, and what is paid anew; empty where it extends
            that one.
    """

    id: str
    at: datetime
    message_id: str
    provider: str
    model: str
    effort: str
    layers: tuple[LayerReport, ...]
    wire_order: tuple[str, ...]
    stable_length_chars: int
    prefix_reason: str = ""
    cache: tuple[str, ...] = ()
    expected_read_tokens: int | None = None
    estimate: Usage | None = None
    retrieved: str = ""
    broken: str = ""


class UsageRecord(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="usage"):
    """Usage of a call. `message_id` is the assistant's message, or the call's id where none was kept.

    Of a call that no message asked for it is the kind: `keepalive`, `prewarm`, `rent`, `compaction`. `is_inherited`: it was paid for
    in the discussion that this one is a branch of, under the same id, and counts there. `paid_provider`, `paid_model`: whom
    a call asked of which no message need be there to say so.
    """

    id: str
    at: datetime
    message_id: str
    usage: Usage
    is_inherited: bool = False
    paid_provider: str = ""
    paid_model: str = ""

    @property
    def kind(self) -> UsageKind:
        """Kind of work that was paid for."""
        return UsageKind(self.message_id) if self.message_id in _BESIDE_TURNS else UsageKind.TURN

    @property
    def is_upkeep(self) -> bool:
        """True if the program paid it by itself, to have a prefix warm."""
        return self.kind in UPKEEP_KINDS


class EditRecord(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="edit"):
    """The parts of a message were replaced; the old stay in the log."""

    id: str
    at: datetime
    target_id: str
    parts: tuple[Part, ...]


class DeleteRecord(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="delete"):
    """A message left the discussion; it stays in the log."""

    id: str
    at: datetime
    target_id: str


class RestoreRecord(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="restore"):
    """A deleted message is back."""

    id: str
    at: datetime
    target_id: str


class ViewRecord(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="view"):
    """A cut, compaction, frozen base or delta that the model's view took. `data_json` is canonical JSON."""

    id: str
    at: datetime
    kind: str
    data_json: str


class StartRecord(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="tool_start"):
    """A tool call begins, and may have done something from now on: it is never begun again.

    `approval_id`: what it was let do, as in `Approval`; `let_by`: `person`, or the rule that let it, in words.
    `sandbox`: of a command, by which it is confined, `none` without; empty for any other call, and in old logs.
    """

    id: str
    at: datetime
    call_id: str
    approval_id: str = ""
    let_by: str = ""
    sandbox: str = ""


IMPORTED = "imported"
"""Kind of the mark that an import leaves: its text says from where, and when."""


class MarkRecord(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="mark"):
    """Anything the person should see in place: cancelled, model switched, repaired, harvested."""

    id: str
    at: datetime
    kind: str
    text: str


Record = (
    MessageRecord
    | ChooseRecord
    | RequestRecord
    | UsageRecord
    | EditRecord
    | DeleteRecord
    | RestoreRecord
    | ViewRecord
    | StartRecord
    | MarkRecord
)
