"""Trust in folders: `trusted.toml` beside the user settings, by resolved path."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.base.errors import ConfigError
from core.settings.small_file import locked, replace_file
from core.settings.toml_text import parse, read_text

FORMAT = 1


def is_trusted(root: Path, trust_file: Path) -> bool:
    """True if the person trusts a folder. A list that cannot be read trusts nothing.

    Args:
        root: the project's root, any spelling; trust_file: the list.
    """
    try:
        return _spelled(root) in _read(trust_file)
    except ConfigError:
        return False


def trusted_folders(trust_file: Path) -> tuple[str, ...]:
    """The trusted folders, oldest first. Raises ConfigError where the list cannot be read."""
    return tuple(_read(trust_file))


def trust(root: Path, trust_file: Path, *, now: datetime | None = None) -> None:
    """Let a folder's `manual_slop.toml` count. Raises ConfigError or StorageError, and changes nothing then."""
    at = (now or datetime.now(UTC)).replace(microsecond=0)
    with locked(trust_file):
        folders = _read(trust_file)
        folders.setdefault(_spelled(root), at)
        _write(trust_file, folders)


def distrust(root: Path, trust_file: Path) -> None:
    """Stop a folder's `manual_slop.toml` from counting. Raises ConfigError or StorageError."""
    with locked(trust_file):
        folders = _read(trust_file)
        if folders.pop(_spelled(root), None) is not None:
            _write(trust_file, folders)


def _spelled(root: Path) -> str:
    return str(root.resolve())


def _read(trust_file: Path) -> dict[str, datetime]:
    text = read_text(trust_file)
    if text is None:
        return {}
    data = parse(text, trust_file)
    rows: Any = data.get("folders", [])
    if data.get("format", FORMAT) != FORMAT or not isinstance(rows, list):
        raise ConfigError(
            "The list of trusted folders is not one this version can read",
            remedy="Remove it to trust nothing, or use the version that wrote it",
            where=str(trust_file),
        )
    return {
        row["path"]: row["trusted_at"]
        for row in rows
        if isinstance(row, dict)
        and isinstance(row.get("path"), str)
        and isinstance(row.get("trusted_at"), datetime)
    }


def _write(trust_file: Path, folders: dict[str, datetime]) -> None:
    import tomli_w

    rows = [{"path": path, "trusted_at": at} for path, at in folders.items()]
    replace_file(trust_file, tomli_w.dumps({"format": FORMAT, "folders": rows}).encode())
