"""Actions on the knowledge from the menus."""

from __future__ import annotations

from core.knowledge.messages import RegenerateDigest
from panels.base.desk import Action

ACTIONS: tuple[Action, ...] = (
    Action("regenerate_digest", "Tools", 2, "Regenerate digest", lambda d: d.send(RegenerateDigest()), "book-open",
           is_enabled=lambda d: not d.state.program.is_home_read_only),
)  # fmt: skip
