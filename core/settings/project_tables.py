"""The tables of a project's file as values: checked, whether they count or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from core.settings.schema import Value
from core.values.curation import Preset


class TextSource(msgspec.Struct, frozen=True):
    """A text that stands in the project's file (`text`), or in a file that it names (`file`)."""

    name: str
    text: str = ""
    file: str = ""


class ProjectTables(msgspec.Struct, frozen=True):
    """Tables of a `manual_slop.toml`, checked, whether they count or not. Paths as they were written.

    Args:
        prompts: texts of the project's own prompt files by name, which stand beside its file and not in it.
    """

    name: str = ""
    domain: str = ""
    context: tuple[TextSource, ...] = ()
    has_identity: bool = True
    memory: tuple[str, ...] = ()
    allowed_roots: tuple[str, ...] = ()
    presets: Mapping[str, Preset] = msgspec.field(default_factory=dict)
    personas: Mapping[str, TextSource] = msgspec.field(default_factory=dict)
    system_prompts: Mapping[str, TextSource] = msgspec.field(default_factory=dict)
    values: Mapping[str, Value] = msgspec.field(default_factory=dict)
    prompts: Mapping[str, str] = msgspec.field(default_factory=dict)
    raw: Mapping[str, Any] = msgspec.field(default_factory=dict)
