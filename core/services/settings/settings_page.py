"""The page `docs/settings.md`, written from the schema."""

from __future__ import annotations

import sys

from core.services.settings.settings_schema import SETTINGS, Kind, Setting, SettingScope

_HEAD = """\
# Settings

Written by `python -P -m core.services.settings.settings_page > docs/settings.md`; edit `core/services/settings/settings_schema.py`, not this page.

Precedence, strongest first: command line, environment, the project's `manual_slop.toml`, user settings, default.

- User settings are `config.toml` in the platform's config directory (`manual-slop doctor` names it); another file by
  `MANUAL_SLOP_CONFIG`.
- The project's file is `manual_slop.toml` in the project's root. Of it counts what you were shown and said yes to
  (`manual-slop trust`): what it asks for before, and what a later version of it newly asks for, is shown, not done.
- A file that is not TOML, or in which a value has the wrong type or range, is not used: its last good settings stay,
  and the file, line and reason are shown. An unknown key is shown with the nearest known one and otherwise ignored.
- `MANUAL_SLOP_HOME` names the folder of your data, `~/.manual_slop` where it is not set.
- Keys of providers never stand in a settings file. They are looked for in the environment (`ANTHROPIC_API_KEY`,
  `OPENAI_API_KEY`, `GEMINI_API_KEY` or `GOOGLE_API_KEY`, and `MANUAL_SLOP_KEY_<ID>` for a server of yours), then in
  the system's keyring, then in `<home>/keys/<id>` with mode 0600.
"""

_SCOPES = {
    SettingScope.USER: "user",
    SettingScope.ANY: "user, trusted project",
    SettingScope.SERVER: "user; a trusted project may add servers",
    SettingScope.TIGHTENED: "user; any project may make it stricter",
    SettingScope.PROJECT: "trusted project",
}


def settings_page() -> str:
    """The whole page, Markdown, the same for the same schema."""
    parts = [_HEAD]
    section = None
    for setting in SETTINGS:
        if setting.section != section:
            section = setting.section
            parts.append(f"\n## {_title(section)}\n\n| key | value | default | where | what it does |\n")
            parts.append("|---|---|---|---|---|\n")
        parts.append(_row(setting))
    return "".join(parts)


def _title(section: str) -> str:
    if section == "presets.<name>.items":
        return "An item of `[presets.<name>]`"
    return f"`[{section}]`" if section else "Top of the file"


def _row(setting: Setting) -> str:
    name = setting.key.rpartition(".")[2]
    variables = ", ".join(f"`{variable}`" for _, variable in setting.env)
    doc = f"{setting.doc} Environment: {variables}." if variables else setting.doc
    cells = (f"`{name}`", _values(setting), _default(setting), _SCOPES[setting.scope], doc)
    return "| " + " | ".join(cells) + " |\n"


def _values(setting: Setting) -> str:
    if setting.choices:
        return ", ".join(f"`{choice}`" for choice in setting.choices)
    if setting.kind in {Kind.WHOLE, Kind.NUMBER}:
        return f"{setting.kind}, {setting.minimum:,g} to {setting.maximum:,.0f}"
    if setting.maximum is not None:
        each = " each" if setting.kind is Kind.TEXTS else ""
        return f"{setting.kind}, at most {setting.maximum:,.0f} characters{each}"
    return setting.kind.value


def _default(setting: Setting) -> str:
    match setting.default:
        case None:
            return "not set"
        case bool(value):
            return "`true`" if value else "`false`"
        case "" | ():
            return "empty"
        case value:
            return f"`{value}`"


if __name__ == "__main__":
    sys.stdout.write(settings_page())
