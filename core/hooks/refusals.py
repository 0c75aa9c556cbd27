"""How a request is refused: a status, a stable code, a sentence and a remedy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.errors import SlopError


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
    def data(self) -> dict[str, Any]:
        """The answer's body, of the same shape for every refusal."""
        return error_data(self.code, self.what, self.remedy)


def error_data(code: str, message: str, remedy: str = "") -> dict[str, Any]:
    """The body of every answer that is an error."""
    return {"error": {"code": code, "message": message, "remedy": remedy}}


def unknown(what: str, name: str, remedy: str = "") -> RefusedError:
    """Something named that is not there."""
    return RefusedError(404, "not_found", f"There is no {what} {name[:80]!r}", remedy)
