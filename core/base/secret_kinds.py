"""Every kind of secret that is known, in one table, and where one may stand; compiled when the first text is looked at."""

from __future__ import annotations

from core.base import secret_blocks, secret_commands, secret_library, secret_names, secret_requests
from core.base.secret_hits import Hits
from core.base.secret_shapes import shapes
from core.base.secrets import named_secrets


def _holds(text: str) -> bool:
    return bool(named_secrets(text))


RULES = (
    *shapes(_holds),
    *secret_blocks.RULES,
    *secret_requests.RULES,
    *secret_commands.RULES,
    *secret_names.RULES,
    *secret_library.rules(),
)
"""Every kind of secret that is known."""

HITS = Hits((literal, rule.has_case, rule) for rule in RULES for literal in rule.literals)
"""Places of a text at which a rule may find something."""
