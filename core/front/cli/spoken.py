"""The language of a start: the environment's, else the user settings'."""

from __future__ import annotations

import os
import sys

from core.kernel.language import LANGUAGE_VARIABLE, speak

TYPE_CHECKING = False  # `typing` takes longer to load than `--help` may
if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_BYTES = 1_000_000
_CONFIG_VARIABLE, _APP_NAME, _CONFIG_FILE = "MANUAL_SLOP_CONFIG", "manual-slop", "config.toml"
"""As in `core.kernel.paths`, which takes longer to load than `--help` may."""


def speak_as_set(arguments: Sequence[str] = ()) -> None:
    """Speak as `$MANUAL_SLOP_LANGUAGE` says, else as `appearance.language` in the user settings; to programs English.

    Called before other modules are loaded, for they hold texts. A file that cannot be read leaves English: the reader of the
    settings says what is wrong with it.
    """
    if "--json" in arguments or "mcp" in arguments[:1]:
        speak("en")
        return
    if LANGUAGE_VARIABLE in os.environ:
        return
    from core.kernel.opener import read_start

    try:
        written = read_start(settings_place(), _MOST_BYTES)
    except OSError:
        return
    if b"language" in written:
        speak(_tag(written))


def settings_place() -> str:
    """Path of the user settings, as `core.kernel.paths` says it. Loads nothing where the environment names the folder."""
    named = os.environ.get(_CONFIG_VARIABLE, "")
    if named:
        return named
    if sys.platform != "win32":
        above = "Library/Application Support" if sys.platform == "darwin" else ".config"
        home = os.environ.get("HOME", "")
        folder = os.environ.get("XDG_CONFIG_HOME", "") or (home and os.path.join(home, above))
        if os.path.isabs(folder):
            return os.path.join(folder, _APP_NAME, _CONFIG_FILE)
    from core.kernel.paths import config_file

    return str(config_file())


def _tag(written: bytes) -> str:
    from core.kernel.decoders import decode_toml

    try:
        appearance = decode_toml(written).get("appearance")
    except ValueError:
        return ""
    return str(appearance.get("language", "")) if isinstance(appearance, dict) else ""
