"""The language of a start: the environment's, else the user settings'."""

from __future__ import annotations

import os

from core.kernel.language import LANGUAGE_VARIABLE, speak

_MOST_BYTES = 1_000_000


def speak_as_set() -> None:
    """Speak as `$MANUAL_SLOP_LANGUAGE` says, else as `appearance.language` in the user settings.

    Called before other modules are loaded, for they hold texts. A file that cannot be read leaves English: the reader of the
    settings says what is wrong with it.
    """
    if LANGUAGE_VARIABLE in os.environ:
        return
    from core.kernel.opener import read_start
    from core.kernel.paths import CONFIG_VARIABLE, config_file

    try:
        written = read_start(os.environ.get(CONFIG_VARIABLE) or config_file(), _MOST_BYTES)
    except OSError:
        return
    if b"language" in written:
        speak(_tag(written))


def _tag(written: bytes) -> str:
    from core.kernel.decoders import decode_toml

    try:
        appearance = decode_toml(written).get("appearance")
    except ValueError:
        return ""
    return str(appearance.get("language", "")) if isinstance(appearance, dict) else ""
