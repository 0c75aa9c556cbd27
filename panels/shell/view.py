"""View of the notices over the conversation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from panels.base.window_field import Kept


@dataclass(slots=True)
class NoticesView:
    """The notices' own state. `was_trust_put_off`: folders whose question of trust was put off."""

    kept: ClassVar[tuple[Kept, ...]] = ()

    are_all_shown: bool = False
    was_trust_put_off: set[str] = field(default_factory=set)
