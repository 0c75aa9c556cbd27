"""The protocol of a provider's batch service: many requests at once, answered within a day, at half the price."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol, TypeVar, runtime_checkable

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import from_json
from core.kernel.errors import FailureKind, ProviderError
from core.kernel.frame import clean, one_line
from core.kernel.language import tr
from core.kernel.values.provider import ProviderRequest, StopKind
from core.kernel.values.usage import Usage
from core.services.providers.door import DETAIL_CHARS, NAME_CHARS, sound_usage, text_of
from core.services.providers.failures import MOST_REPLY_CHARS, too_long
from core.services.providers.protocol import Provider

_NEVER_SENT = frozenset(
    {FailureKind.NO_KEY, FailureKind.BAD_KEY, FailureKind.NOT_INSTALLED, FailureKind.NO_NETWORK}
)
_UNSURE_STATUS = frozenset({408, 409})
_GONE = 404

Found = TypeVar("Found")

MOST_LISTED = 5_000
"""Entries of a provider's list of batches that are read: a list may never end."""


class BatchRequest(msgspec.Struct, frozen=True):
    """A request of a batch, without attachments. `custom_id`: letters, digits and dashes, at most 64."""

    custom_id: str
    request: ProviderRequest


class BatchStatus(msgspec.Struct, frozen=True):
    """Status of a batch at the provider.

    Args:
        name: the provider's; is_ended: its answers can be read, as far as there are any.
        is_gone: they could be, and are kept no longer; is_expired: its time ran out; reason: why the batch failed as a whole.
        answered: requests that the provider counts as answered, and bills; None where it does not say.
        has_every_row: its results hold a row for every request; worked_off: requests that it is done with by now.
    """

    name: str
    is_ended: bool = False
    is_gone: bool = False
    is_expired: bool = False
    reason: str = ""
    answered: int | None = None
    has_every_row: bool = False
    worked_off: int = 0


class FoundBatch(msgspec.Struct, frozen=True):
    """Find of a search by tag. `name`: empty for none; `is_unsure`: one that works still may be it."""

    name: str = ""
    is_unsure: bool = False


class AnswerKind(StrEnum):
    """Fate of one request of a batch; TORN: a row of the results that cannot be read, nobody knows whose."""

    ANSWERED = "answered"
    ERRORED = "errored"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    TORN = "torn"


class BatchAnswer(msgspec.Struct, frozen=True):
    """Answer to one request.

    Args:
        text: the reply's, empty where there is none; usage: as reported, for all that was answered.
        reason: why it is no answer; is_refused: the request itself was found wrong.
        is_billed: the provider counts it among those that it answered.
    """

    custom_id: str
    kind: AnswerKind
    text: str = ""
    usage: Usage = msgspec.field(default_factory=Usage)
    stop: StopKind = StopKind.COMPLETED
    reason: str = ""
    is_refused: bool = False
    is_billed: bool = False


class Batches(Protocol):
    """A provider's batch service. All calls raise ProviderError; each is one attempt."""

    @property
    def most_requests(self) -> int:
        """The largest number of requests in one batch."""
        ...

    @property
    def most_bytes(self) -> int:
        """The largest number of prompt bytes in one batch."""
        ...

    @property
    def ends_within(self) -> timedelta:
        """Time after its submission at which the provider ends a batch by its own rule, whatever was done of it."""
        ...

    def submit(self, tag: str, requests: Sequence[BatchRequest]) -> BatchStatus:
        """Send a batch. The tag goes with it; each `custom_id` begins with the tag and a dash."""
        ...

    def find(self, tag: str, count: int, since: datetime, known: frozenset[str]) -> FoundBatch:
        """Look for a batch whose submission was not answered.

        Args:
            count: of its requests; since: no earlier than this; known: names of batches that are others.
        """
        ...

    def status(self, name: str) -> BatchStatus | None:
        """Status now, None where the provider knows no such batch."""
        ...

    def answers(self, name: str) -> Iterator[BatchAnswer]:
        """Answers of an ended batch, in any order; one may come twice. A row that is no answer is TORN."""
        ...

    def cancel(self, name: str) -> None:
        """Ask for its end. What is answered already is billed."""
        ...

    def clean(self, tag: str, name: str) -> None:
        """Delete what is stored for it. What is gone already is deleted. `name`: empty where it never was."""
        ...


@runtime_checkable
class HasBatches(Protocol):
    """A client whose provider has a batch service."""

    def batches(self) -> Batches:
        """The service. Asks nobody."""
        ...


def batches_of(client: Provider, label: str) -> Batches:
    """The batch service of a client.

    Raises:
        ProviderError: NOT_INSTALLED, there is none.
    """
    if isinstance(client, HasBatches):
        return client.batches()
    what = tr("{label} offers no batches", label=label)
    remedy = tr("Harvest without a batch, or choose an Anthropic, OpenAI or Gemini model")
    raise ProviderError(FailureKind.NOT_INSTALLED, what, remedy=remedy)


def was_refused(error: ProviderError) -> bool:
    """True if no batch can have come of a submission that ended so."""
    if error.status is not None:
        return 400 <= error.status < 500 and error.status not in _UNSURE_STATUS
    return not error.is_lost and error.kind in _NEVER_SENT


def rows_of(lines: Iterable[str], answer_of: Callable[[Any], BatchAnswer]) -> Generator[BatchAnswer]:
    """Answers of a results file, one a line; a line that is no answer, as at the end of a torn file, is TORN.

    Args:
        answer_of: gives the answer of a row. What it raises is not let out: the row is torn.
    """
    for line in lines:
        if not line.strip():
            continue
        try:
            answer = answer_of(from_json(line, Any))
        except (msgspec.DecodeError, LookupError, TypeError, ValueError, AttributeError):
            answer = BatchAnswer(custom_id="", kind=AnswerKind.TORN)
        yield answer


def unless_gone(ask: Callable[[], Found]) -> Found | None:
    """Answer of a provider, None where it knows no such thing (404). Raises ProviderError: it refused otherwise."""
    try:
        return ask()
    except ProviderError as error:
        if error.status == _GONE:
            return None
        raise


def sound_answers(answers: Iterable[BatchAnswer]) -> Iterator[BatchAnswer]:
    """Answers as the program can take them: one without a name is left out, one whose text is none is an error."""
    for answer in answers:
        if answer.kind is AnswerKind.TORN:
            yield answer
            continue
        name = text_of(answer.custom_id)
        if not name or len(name) > NAME_CHARS:
            continue
        reason = one_line(clean(text_of(answer.reason)), DETAIL_CHARS)
        sound = replace(answer, usage=sound_usage(answer.usage), reason=reason)
        text: object = answer.text
        if answer.kind is AnswerKind.ANSWERED and not isinstance(text, str):
            sound = replace(sound, kind=AnswerKind.ERRORED, text="", reason=tr("the reply is not text"))
        elif len(answer.text) > MOST_REPLY_CHARS:
            reason = too_long(MOST_REPLY_CHARS).what
            sound = replace(sound, kind=AnswerKind.ERRORED, text="", reason=reason)
        yield sound
