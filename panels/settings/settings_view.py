"""View of the settings page: keys and servers being typed."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from panels.base.view import Kept


class ServerForm(msgspec.Struct):
    """A compatible server being added or changed."""

    id: str = ""
    label: str = ""
    base_url: str = ""
    error: str = ""


class TextForm(msgspec.Struct):
    """A persona, system prompt or prompt of the program being written.

    Args:
        table: of `TextTable`, or `prompts`; old_name: of the one that is changed, empty for a new one.
        base: the text that it began with; command_id: of the save under way.
    """

    table: str
    old_name: str = ""
    name: str = ""
    text: str = ""
    base: str = ""
    error: str = ""
    command_id: str = ""
    revision: int = 0
    had_focus: bool = False

    def take(self, text: str) -> None:
        """Go on from another text."""
        self.text = self.base = text
        self.error = ""
        self.revision += 1


class SettingsView(msgspec.Struct):
    """The page's own state.

    Args:
        key_texts: by provider, never kept and never shown in a representation.
        priced: models and source whose prices were asked for.
        policy_folder: the folder whose policies of tools are shown, empty for every one; rules: being typed, by their setting.
        query: what is searched among all settings; setting_errors: what is wrong with what was typed, by its key.
        tested: providers that were asked for their models here.
    """

    kept: ClassVar[tuple[Kept, ...]] = ()

    key_texts: dict[str, str] = msgspec.field(default_factory=dict)
    server_form: ServerForm | None = None
    text_form: TextForm | None = None
    priced: object = None
    policy_folder: str = ""
    rules: dict[str, str] = msgspec.field(default_factory=dict)
    query: str = ""
    setting_errors: dict[str, str] = msgspec.field(default_factory=dict)
    tested: set[str] = msgspec.field(default_factory=set)

    def __repr__(self) -> str:
        return "SettingsView()"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return []  # rich asks a struct for its fields
