"""Messages of compaction: a command, effects for its worker, and events."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from core.kernel.values.messages import Message
from core.kernel.values.spec import StackSpec
from core.kernel.values.usage import OfferedCommand, Usage
from core.kernel.values.window import CutPlan, CutReason, ViewCut


class CompactDiscussion(OfferedCommand, frozen=True):
    """Rebuild the model's view of a discussion: its beginning leaves it, and is told of. Waits for a turn that runs."""

    discussion_id: str
    command_id: str = ""


# compaction worker: a thread of its own
class PlanView(msgspec.Struct, frozen=True):
    """Measure a discussion, read the journal, and plan a cut; answered by `ViewPlanned`.

    Args:
        spec: of the next request; messages: before the message that is sent, all that are not deleted; at: now.
        sources: names of discussions of the same project, by id. The rest as of `CutRequest`.
    """

    discussion_id: str
    job: str
    spec: StackSpec
    messages: tuple[Message, ...]
    previous: ViewCut | None
    why: CutReason
    at: datetime
    sources: Mapping[str, str] = msgspec.field(default_factory=dict)
    is_running: bool = False
    attempt: int = 1
    gone: frozenset[str] = frozenset()
    keeps_seals: bool = False


class SummariseView(msgspec.Struct, frozen=True):
    """Ask a model for the summary of a plan; answered by `ViewSummarised`.

    `record_id`: of the record that will tell what it cost; `name`: of the discussion; `template`: the prompt.
    """

    discussion_id: str
    job: str
    record_id: str
    provider: str
    model: str
    name: str
    template: str
    plan: CutPlan


class StopSummary(msgspec.Struct, frozen=True):
    """Nobody waits for a compaction any more."""

    discussion_id: str
    job: str


class ViewPlanned(msgspec.Struct, frozen=True):
    """A cut was planned. `usd`: what its summary is expected to cost, None where no price is known."""

    discussion_id: str
    job: str
    plan: CutPlan
    usd: float | None = None


class ViewSummarised(msgspec.Struct, frozen=True):
    """A summary was written; or `problem` tells why not. `usage`: of all its calls, as it is booked under `record_id`."""

    discussion_id: str
    job: str
    record_id: str
    text: str = ""
    problem: str = ""
    usage: Usage = msgspec.field(default_factory=Usage)


CompactionCommand = CompactDiscussion
"""Command that a front end may give."""

CompactionEffect = PlanView | SummariseView | StopSummary
"""The compaction worker's."""

CompactionEvent = ViewPlanned | ViewSummarised
"""Events of compaction."""
