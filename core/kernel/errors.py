"""Typed failures. Each carries what a caller needs to say what failed and what to do."""

from __future__ import annotations

from enum import StrEnum

from core.kernel.language import as_sentences, tr


class SlopError(RuntimeError):
    """A resource failed. `str(error)` says what failed, the value, the remedy, and the path or URL last.

    A RuntimeError, for scripts that call the public names and know no other.

    Args:
        what: what failed, one plain sentence without a closing full stop.
        remedy: what the person can do, one plain sentence, may be empty.
        where: path or URL that it concerns, may be empty. Never a key.
    """

    def __init__(self, what: str, *, remedy: str = "", where: str = "") -> None:
        self.what = what
        self.remedy = remedy
        self.where = where
        place = where if where not in what and where not in remedy else ""  # named once
        super().__init__(as_sentences(what, remedy, place))


class StorageError(SlopError):
    """A file of the home, the project or the platform directories could not be read or written.

    Args:
        errno: the operating system's number, or None where the fault is in the content.
    """

    def __init__(self, what: str, *, remedy: str = "", where: str = "", errno: int | None = None) -> None:
        super().__init__(what, remedy=remedy, where=where)
        self.errno = errno


class ConfigError(SlopError):
    """A settings file is wrong at a place that can be named: `where` names the line too, `what` never does.

    Args:
        line: 1-based line of the fault, or None where the whole file is meant.
    """

    def __init__(self, what: str, *, remedy: str = "", where: str = "", line: int | None = None) -> None:
        super().__init__(what, remedy=remedy, where=at_line(where, line))
        self.line = line


def at_line(path: str, line: int | None) -> str:
    """The place of a fault in a file as a person reads it. `line`: 1-based, or None for the whole file."""
    return path if line is None else tr("{path}, line {line}", path=path, line=line)


class LockedError(SlopError):
    """Another process holds what we need (a home, a discussion, a ledger)."""


class FailureKind(StrEnum):
    """Reason of a provider's failed call, in one meaning for all vendors."""

    NO_KEY = "no_key"
    BAD_KEY = "bad_key"
    FORBIDDEN = "forbidden"
    NO_NETWORK = "no_network"
    TIMED_OUT = "timed_out"
    UNKNOWN_MODEL = "unknown_model"
    BAD_REQUEST = "bad_request"
    CONTEXT_TOO_LONG = "context_too_long"
    REQUEST_TOO_LARGE = "request_too_large"
    RATE_LIMITED = "rate_limited"
    NO_QUOTA = "no_quota"
    NO_TOOLS = "no_tools"
    OVERLOADED = "overloaded"
    SERVER_FAULT = "server_fault"
    STREAM_DROPPED = "stream_dropped"
    BAD_REPLY = "bad_reply"
    CUT_OFF = "cut_off"
    DECLINED = "declined"
    UNKNOWN_END = "unknown_end"
    NOT_INSTALLED = "not_installed"
    SPEND_LIMIT = "spend_limit"


SHORT_ENDS = frozenset({FailureKind.CUT_OFF, FailureKind.DECLINED, FailureKind.UNKNOWN_END})
"""Kinds where the provider ended the reply itself, before its end: what came is kept, and is the answer that there is."""

RETRYABLE_KINDS = frozenset(
    {
        FailureKind.NO_NETWORK,
        FailureKind.TIMED_OUT,
        FailureKind.RATE_LIMITED,
        FailureKind.OVERLOADED,
        FailureKind.SERVER_FAULT,
    }
)
"""Kinds that the program retries by itself, and only while no part of the reply has arrived."""


class ProviderError(SlopError):
    """A provider's call failed.

    Args:
        kind: the failure in one meaning for all vendors.
        status: HTTP status, or None where no answer came.
        request_id: the vendor's id of the request, may be empty.
        retry_after_s: seconds the vendor asked us to wait, or None.
        is_lost: the request arrived, and its answer did not come or broke off: it may be billed all the same.
    """

    def __init__(
        self,
        kind: FailureKind,
        what: str,
        *,
        remedy: str = "",
        where: str = "",
        status: int | None = None,
        request_id: str = "",
        retry_after_s: float | None = None,
        is_lost: bool = False,
    ) -> None:
        super().__init__(what, remedy=remedy, where=where)
        self.kind = kind
        self.is_lost = is_lost or kind is FailureKind.STREAM_DROPPED
        self.status = status
        self.request_id = request_id
        self.retry_after_s = retry_after_s
