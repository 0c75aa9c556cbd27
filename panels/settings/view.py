"""View of the settings page: keys and servers being typed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from panels.base.window_field import Kept


@dataclass(slots=True)
class ServerForm:
    """A compatible server being added or changed."""

    id: str = ""
    label: str = ""
    base_url: str = ""
    error: str = ""


@dataclass(slots=True)
class SettingsView:
    """The page's own state. `key_texts`: by provider, never kept and never shown in a representation."""

    kept: ClassVar[tuple[Kept, ...]] = ()

    key_texts: dict[str, str] = field(default_factory=dict, repr=False)
    server_form: ServerForm | None = None
