"""The harvest's public names. Its room stands above this one, so they are looked up when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = [
    "ITEM_CATEGORIES",
    "build_harvest_prompt",
    "harvest_conversation",
    "harvest_prompt_path",
    "parse_harvest_json",
]


def __getattr__(name: str) -> Any:
    """One of the names above, as `core.knowledge.harvest.face` has it. Raises AttributeError for any other."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("core.knowledge.harvest.face"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
