"""How commands ended that a front end waits for."""

from __future__ import annotations

import msgspec

from core.values.spending import SpendRefusal

OUTCOMES_KEPT = 64


class CommandOutcome(msgspec.Struct, frozen=True):
    """How the command of this id ended.

    Args:
        made_id: of what it made (the message that is on disk now), empty where it made nothing that has one.
        problem: why it was not carried out, in a sentence, empty where it was; remedy: what to do, may be empty.
        refusal: the spend limits that stand against it, None where none do.
    """

    command_id: str
    made_id: str = ""
    problem: str = ""
    remedy: str = ""
    refusal: SpendRefusal | None = None

    @property
    def is_done(self) -> bool:
        """Whether it was carried out."""
        return not self.problem
