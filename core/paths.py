"""Paths of a person's data, under the names that people know."""

from importlib import import_module
from typing import Any

from core.base.paths import home_dir, knowledge_dir

__all__ = ["file_id_for_path", "home_dir", "knowledge_dir"]  # noqa: F822 (the first by `__getattr__`)


def __getattr__(name: str) -> Any:
    """`file_id_for_path`, whose room stands above this face. Raises AttributeError for any other name."""
    if name != "file_id_for_path":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("core.knowledge.files").file_id_for_path


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
