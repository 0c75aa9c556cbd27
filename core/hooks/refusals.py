"""Refusal of a request: a status, a stable code, a sentence and a remedy."""

from __future__ import annotations

from collections.abc import Mapping

from core.base.errors import SlopError
from core.hooks.fields import Data


class FaultData(Data, frozen=True):
    """Reason: a stable word for programs, a sentence and a remedy for people."""

    code: str
    message: str
    remedy: str


class ErrorData(Data, frozen=True):
    """The body of every answer that is an error."""

    error: FaultData


class RefusedError(SlopError):
    """A request that is not carried out.

    Args:
        status: HTTP status; code: stable word for programs; what: a plain sentence; headers: more of the answer's.
    """

    def __init__(
        self,
        status: int,
        code: str,
        what: str,
        remedy: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(what, remedy=remedy)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})

    @property
    def data(self) -> ErrorData:
        """The answer's body."""
        return error_data(self.code, self.what, self.remedy)


def error_data(code: str, message: str, remedy: str = "") -> ErrorData:
    """The body of an answer that is an error."""
    return ErrorData(FaultData(code, message, remedy))


def for_a_person() -> RefusedError:
    """Something that a person alone decides. A command of a model could read the ordinary token, and ask with it."""
    return RefusedError(
        403,
        "needs_person",
        "Only a person may approve or refuse a tool's call, trust or open a folder, change tools, mode and policies, give a "
        "key, say where words and keys go or which files and folders are read, write prompts and personas, raise a limit or "
        "go past one, hold notices back, add what another program proposes to knowledge, or say yes to what no trash brings back: "
        "forgetting, words of a draft, a file that is written over",
        "Do it in the window or on a terminal, or with the token of `manual-slop --headless --hooks --approvals-fd N`",
    )


def unknown(what: str, name: str, remedy: str = "") -> RefusedError:
    """Something named that is not there."""
    return RefusedError(404, "not_found", f"There is no {what} {name[:80]!r}", remedy)
