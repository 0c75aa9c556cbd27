"""The page `docs/settings.md`, written from the schema."""

from __future__ import annotations

import sys

from core.kernel.language import tr
from core.services.settings.settings_schema import SETTINGS, Kind, Setting, SettingScope

_HEAD = tr(
    "# Settings\n\nWritten by `python -P -m core.services.settings.settings_page > docs/settings.md`; edit `core/services/settings/settings_schema.py`, not this page.\n\nPrecedence, strongest first: command line, environment, the project's `manual_slop.toml`, user settings, default.\n\n- User settings are `config.toml` in the platform's config directory (`manual-slop doctor` names the file). `MANUAL_SLOP_CONFIG`\n  names another file.\n- The project's file is `manual_slop.toml` in the project's root. Only values that you have seen and said yes to count\n  (`manual-slop trust`). The program shows you new values of a later version, and does not use them before your yes.\n- The program does not use a file that is not TOML, or that holds a value of the wrong type or range. The last good settings stay,\n  and the program shows the file, line and reason. The program ignores an unknown key, and shows the nearest known key.\n- `MANUAL_SLOP_HOME` names the folder of your data, by default `~/.manual_slop`.\n- Keys of providers never stand in a settings file. The program looks for keys in the environment (`ANTHROPIC_API_KEY`,\n  `OPENAI_API_KEY`, `GEMINI_API_KEY` or `GOOGLE_API_KEY`, and `MANUAL_SLOP_KEY_<ID>` for a server of yours), then in\n  the system's keyring, then in `keys/<id>` of the data folder with mode 0600.\n"
)

_SCOPES = {
    SettingScope.USER: "user",
    SettingScope.ANY: tr("user, trusted project"),
    SettingScope.SERVER: tr("user; a trusted project may add servers"),
    SettingScope.TIGHTENED: tr("user; any project may make it stricter"),
    SettingScope.PROJECT: tr("trusted project"),
}


def settings_page() -> str:
    """The whole page, Markdown, the same for the same schema."""
    parts = [_HEAD]
    section = None
    for setting in SETTINGS:
        if setting.section != section:
            section = setting.section
            parts.append(
                tr(
                    "\n## {section}\n\n| key | value | default | where | what it does |\n",
                    section=_title(section),
                )
            )
            parts.append("|---|---|---|---|---|\n")
        parts.append(_row(setting))
    return "".join(parts)


def _title(section: str) -> str:
    if section == "presets.<name>.items":
        return tr("An item of `[presets.<name>]`")
    return f"`[{section}]`" if section else tr("Top of the file")


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
        return tr(
            "{kind}, at most {maximum:,.0f} characters{each}",
            kind=setting.kind,
            maximum=setting.maximum,
            each=each,
        )
    return setting.kind.value


def _default(setting: Setting) -> str:
    match setting.default:
        case None:
            return tr("not set")
        case bool(value):
            return "`true`" if value else "`false`"
        case "" | ():
            return "empty"
        case value:
            return f"`{value}`"


if __name__ == "__main__":
    sys.stdout.write(settings_page())
