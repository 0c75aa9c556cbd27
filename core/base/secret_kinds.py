"""Every kind of secret that is known, in one table: a hundred patterns, for which the first frame does not wait."""

from __future__ import annotations

from collections.abc import Callable

from core.base import (
    secret_blocks,
    secret_commands,
    secret_library,
    secret_names,
    secret_prefixes,
    secret_requests,
)
from core.base.secret_rule import Rule
from core.base.secret_shapes import shapes


def rules(holds: Callable[[str], bool]) -> tuple[Rule, ...]:
    """The rules of all kinds. `holds`: whether a decoded text holds a secret of any of them."""
    return (
        *shapes(holds),
        *secret_prefixes.RULES,
        *secret_blocks.RULES,
        *secret_requests.RULES,
        *secret_commands.RULES,
        *secret_names.RULES,
        *secret_library.rules(),
    )
