"""View of the notices over the conversation."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from panels.base.window_field import Kept


class NoticesView(msgspec.Struct):
    """The notices' own state. `was_trust_put_off`: questions of trust that were put off, by their id and folder."""

    kept: ClassVar[tuple[Kept, ...]] = ()

    are_all_shown: bool = False
    was_trust_put_off: set[tuple[str, str]] = msgspec.field(default_factory=set)
