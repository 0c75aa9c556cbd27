"""Harvests that a provider's batch service works off, as values."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class BatchState(StrEnum):
    """State of a batch. The first three are open: they hold money back, and their conversations wait."""

    INTENDED = "intended"
    SUBMITTED = "submitted"
    ENDED = "ended"
    COLLECTED = "collected"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    VANISHED = "vanished"


class BatchItem(msgspec.Struct, frozen=True):
    """One request of a batch. No word of the conversation is kept with it.

    Args:
        custom_id: its name at the provider; sha256, path: of the conversation as it was when it was sent.
        key: of the reply among the kept ones; has_schema: the request held the reply's schema.
        input_tokens_est: of the prompt; told: short names of the known items that it tells.
    """

    custom_id: str
    sha256: str
    path: str
    key: str
    has_schema: bool = True
    input_tokens_est: int = 0
    told: tuple[str, ...] = ()


class BatchFault(msgspec.Struct, frozen=True):
    """A request that the provider answered with an error. `is_refused`: the request itself was found wrong."""

    key: str
    reason: str
    is_refused: bool = False


class BatchProgress(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Progress of a batch: how far it is now, or after a change.

    Args:
        name: the provider's, empty until it is known.
        is_cancelling: the provider was asked to stop it; reason: why it ended otherwise than well.
        is_unwanted: it is to be stopped: a person said so, or forgot a conversation of it.
        answered: replies that were kept; forgotten: replies of conversations that changed or are gone.
        is_cleaned: nothing of it is left at the provider.
        asked_at: when the provider was last asked about it, ISO 8601 UTC, empty before; worked_off: requests that it was
            done with then, as it says.
        taken: numbers of the items whose answers were read and booked, refusals too; paid_usd: what those cost.
        short_looks: how often its results were read and some of what the provider counts was missing.
    """

    state: BatchState = BatchState.INTENDED
    name: str = ""
    is_cancelling: bool = False
    is_unwanted: bool = False
    reason: str = ""
    answered: int = 0
    forgotten: int = 0
    faults: tuple[BatchFault, ...] = ()
    is_cleaned: bool = False
    asked_at: str = ""
    worked_off: int = 0
    taken: tuple[int, ...] = ()
    paid_usd: float = 0.0
    short_looks: int = 0


class HarvestBatch(BatchProgress, frozen=True):
    """A batch as its file tells of it.

    Args:
        tag: ours, sent along with it.
        at: when it was intended, ISO 8601 UTC; estimate_usd: expected cost, None where the price is unknown.
    """

    tag: str
    provider: str
    model: str
    at: str
    items: tuple[BatchItem, ...]
    estimate_usd: float | None = None

    @property
    def is_open(self) -> bool:
        """True until it is known what came of it."""
        return self.state in {BatchState.INTENDED, BatchState.SUBMITTED, BatchState.ENDED}

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Paths of the conversations that lack a reply, each once, in their order."""
        taken, failed = set(self.taken), {fault.key for fault in self.faults}
        lacking = (one for n, one in enumerate(self.items) if n not in taken or one.key in failed)
        return tuple(dict.fromkeys(item.path for item in lacking))


class BatchReport(msgspec.Struct, frozen=True):
    """Report of a look after the batches.

    Args:
        batches: the open ones, and those that this run closed; submitted: requests that were sent in this run.
        problems: sentences; stopped: why no more was submitted, empty where nothing stood against it.
        said: sentences about what ended as it should.
    """

    batches: tuple[HarvestBatch, ...] = ()
    submitted: int = 0
    problems: tuple[str, ...] = ()
    stopped: str = ""
    said: tuple[str, ...] = ()
