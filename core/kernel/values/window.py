"""The model's window and its view of a discussion as values: cuts, lines of ours, and what of the window is used."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import msgspec


class CutReason(StrEnum):
    """Reason for a cut of the view."""

    ASKED = "asked"
    FULL = "full"
    """The window was nearly full."""
    OVERFLOW = "overflow"
    """The vendor, or our own count, found the request longer than the window."""


class ShrunkResult(msgspec.Struct, frozen=True):
    """A tool's result of which the view shows head and tail. `kept_chars`: of both together."""

    call_id: str
    kept_chars: int


LINE_END = "/line"
"""End of the key of a line that stands in a message of its own."""


class LineKind(StrEnum):
    """Kind of a line of the program's."""

    JOURNAL = "journal"
    """Tells the model to write its journal; stands behind words or results that no request has held."""
    NUDGE = "nudge"
    """Asks once more after an empty reply; all before it was sent already."""


class ViewLine(msgspec.Struct, frozen=True):
    """A line of the program's that goes behind a message, for the model alone."""

    message_id: str
    text: str
    kind: LineKind = LineKind.JOURNAL


class ViewCut(msgspec.Struct, frozen=True):
    """A cut of the model's view, as the newest `cut` record of a log tells it. The log keeps all that left.

    Args:
        id, at: of the record.
        begins_at: the message of the person with which the view begins.
        journal, summary: what stands before it of what left; frozen, so that the bytes stay.
        through: the last message when it was made: reasoning up to there is not sent any more.
        reasoned_from: the first message whose reasoning goes on to be sent all the same, empty for none.
        calls: calls that left with their results, of tools whose traces do not stay.
        shrunk: results of which head and tail are shown.
        left_messages, left_tokens_est: what is in the log and not in the view.
        sources: discussions of which entries stand in `journal`, by id.
    """

    id: str
    at: datetime
    begins_at: str
    journal: str = ""
    summary: str = ""
    through: str = ""
    calls: tuple[str, ...] = ()
    shrunk: tuple[ShrunkResult, ...] = ()
    why: CutReason = CutReason.ASKED
    left_messages: int = 0
    left_tokens_est: int = 0
    sources: tuple[str, ...] = ()
    reasoned_from: str = ""


class CompactionPhase(StrEnum):
    """Phase of a compaction."""

    WAITING = "waiting"
    """For the end of the turn that runs."""
    PLANNING = "planning"
    RESERVING = "reserving"
    """Other programs are told what the summary may cost."""
    SUMMARISING = "summarising"
    STORING = "storing"


class CutPlan(msgspec.Struct, frozen=True):
    """Plan of a cut, before its summary is there.

    Args:
        cut: without id and time; problem: why there is none, a sentence with its sizes, empty else.
        to_summarise: what leaves and no journal entry of the discussion covers, as text, in pieces for one call each.
        earlier_summary: what the summary must go on with; summary_tokens: the prompts' and the replies', about.
        kept_tokens, head_tokens: of the conversation that stays and of what stands before it, about.
    """

    cut: ViewCut | None = None
    problem: str = ""
    to_summarise: tuple[str, ...] = ()
    earlier_summary: str = ""
    summary_tokens: int = 0
    kept_tokens: int = 0
    head_tokens: int = 0


class Compaction(msgspec.Struct, frozen=True):
    """A compaction under way.

    Args:
        job: tells it from an earlier one; call_id: the call that waits for it, empty for none.
        record_id: of the cut that is being written; reserved_usd: what its summary may cost.
    """

    discussion_id: str
    job: str
    why: CutReason
    phase: CompactionPhase
    call_id: str = ""
    command_id: str = ""
    plan: CutPlan | None = None
    record_id: str = ""
    reserved_usd: float = 0.0


class ContextWindow(msgspec.Struct, frozen=True):
    """Use of a model's window by a discussion, for the context meter.

    Args:
        limit_tokens: of the window; is_assumed: nobody knows it, this is taken.
        used_tokens: of the last request and its reply; is_reported: by the provider, else counted.
        begins_at: message with which the view begins, empty: with the first; left_messages, left_tokens_est: before it.
        phase: of a compaction under way, None for none.
    """

    limit_tokens: int
    is_assumed: bool = False
    used_tokens: int = 0
    is_reported: bool = False
    begins_at: str = ""
    left_messages: int = 0
    left_tokens_est: int = 0
    phase: CompactionPhase | None = None

    @property
    def share(self) -> float:
        """Share of the window that is used, 0 and up."""
        return self.used_tokens / max(1, self.limit_tokens)


def is_line_key(key: str) -> bool:
    """True for the id of a line that a view shows as a message of its own, and for its key on the wire: it stands in a
    running turn, and begins none.
    """
    return key.endswith(LINE_END)


# The view as values: layers 6, 7, 9 and 10 as a model sees them, a frozen base and what was appended since.


class BaseFile(msgspec.Struct, frozen=True):
    """A piece of layer 6, 7 or 10 as it was last written canonically, or by a delta.

    Args:
        key: inside the stack, its layer first (`7/digest`, `10/src/a.py`); sha256, text: of its whole content.
        sent: what the wire carries of a delta's piece instead of `text`, where that is shorter; empty: the text itself.
    """

    key: str
    sha256: str
    text: str
    sent: str = ""

    @property
    def wire_text(self) -> str:
        """Text that goes over the wire."""
        return self.sent or self.text


class FrozenBase(msgspec.Struct, frozen=True):
    """Layers 6, 7, 9 and 10 as they were last written canonically.

    Args:
        file_set: layer 9, empty where there is none; files: layer 10.
        known: layers 6 and 7, piece by piece; None: a log from before these were kept, it does not tell.
        withdrawals: how often something had been taken out of knowledge when `known` was written.
        tools, effort: as the request gave them at its head; None: an old log does not tell, or nothing can be added to
            that in the conversation; instructions: the same of layers 4 and 5.
    """

    file_set: str = ""
    files: tuple[BaseFile, ...] = ()
    known: tuple[BaseFile, ...] | None = None
    withdrawals: int = 0
    tools: tuple[BaseFile, ...] | None = None
    effort: str | None = None
    instructions: tuple[BaseFile, ...] | None = None


class ViewDelta(msgspec.Struct, frozen=True):
    """Addition of one turn because files, the preset, identity files or knowledge had changed.

    Args:
        message_id: the user's message that carries it, before the person's words.
        files: new contents of any of the layers, each superseding an earlier one of its key or new; removed: keys no longer in context.
        file_set: the new layer 9, None where it did not change.
    """

    message_id: str
    files: tuple[BaseFile, ...] = ()
    removed: tuple[str, ...] = ()
    file_set: str | None = None


class TurnSwitch(msgspec.Struct, frozen=True):
    """Tools, effort, system prompt or persona changed while what was sent is warm: told behind a person's words, where it stays.

    Args:
        message_id: the user's message that carries it; text: canonical JSON, as a `core.services.providers.switches.Switch`.
    """

    message_id: str
    text: str


class TurnTail(msgspec.Struct, frozen=True):
    """Segments behind the person's words as a turn with tools was sent: it stays there, so that all behind it stays.

    Args:
        message_id: the user's message that carries it; text: layer 8.
        retrieved: the block of what was recalled for the message, before layer 8; empty where there was none.
        cut_id: of the cut that the turns began with then, where there is a block: it stays until the next cut.
    """

    message_id: str
    text: str
    retrieved: str = ""
    cut_id: str = ""


class ContextView(msgspec.Struct, frozen=True):
    """View of layers 6, 7, 9 and 10 by a model: a frozen base and what was appended since; what stood behind earlier words.

    Args:
        reasoned: messages of finished turns whose reasoning goes back where it was sent, by id, in order.
        switches: of tools, effort, system prompt and persona, in order.
    """

    base: FrozenBase = msgspec.field(default_factory=FrozenBase)
    deltas: tuple[ViewDelta, ...] = ()
    tails: tuple[TurnTail, ...] = ()
    reasoned: tuple[str, ...] = ()
    switches: tuple[TurnSwitch, ...] = ()


def base_pieces(base: FrozenBase) -> tuple[BaseFile, ...]:
    """All pieces of a base, in the order of their layers."""
    return (*(base.known or ()), *base.files)
