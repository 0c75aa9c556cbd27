"""Outcomes of commands that a front end waits for."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from core.kernel.values.usage import SpendRefusal

OUTCOMES_KEPT = 64


class Cause(StrEnum):
    """Cause why a command was not carried out: it was tried, it may not be now, nothing is there to do, or it needs a yes."""

    FAILED = "failed"
    NOT_NOW = "not_now"
    NOTHING = "nothing_to_do"
    NEEDS_YES = "needs_yes"


class CommandOutcome(msgspec.Struct, frozen=True):
    """Outcome of the command of this id.

    Args:
        made_id: of what it made (the message that is on disk now), empty where it made nothing that has one.
        problem: why it was not carried out, in a sentence, empty where it was; remedy: what to do, may be empty.
        cause: of the problem.
        refusal: the spend limits that stand against it, None where none do.
    """

    command_id: str
    made_id: str = ""
    problem: str = ""
    remedy: str = ""
    cause: Cause = Cause.FAILED
    refusal: SpendRefusal | None = None

    @property
    def is_done(self) -> bool:
        """True if it was carried out."""
        return not self.problem

    @property
    def said(self) -> str:
        """Problem and remedy, each a sentence with its full stop; empty where it was carried out."""
        return " ".join(
            one if one.endswith((".", "!", "?")) else f"{one}." for one in (self.problem, self.remedy) if one
        )
