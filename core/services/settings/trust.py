"""Trust in folders: `trusted.toml` beside the user settings, by resolved path, with what the person was shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import from_json, to_json
from core.kernel.errors import ConfigError
from core.kernel.language import tr
from core.kernel.values.mcp import McpApproved, McpOrigin, McpServerSettings
from core.services.settings.asked_values import Shown
from core.services.settings.settings_file import locked, parse, read_text, replace_file

FORMAT = 2
"""1 kept no values: its folders are asked for once more."""


class TrustRecord(msgspec.Struct, frozen=True):
    """A trusted folder and the values that the person saw. None: an old version did not store the values."""

    trusted_at: datetime
    shown: frozenset[Shown] | None = None


def trust_record(root: Path, trust_file: Path) -> TrustRecord | None:
    """The record of a folder, None where the person does not trust it. A list that cannot be read trusts nothing.

    Args:
        root: the project's root, any spelling; trust_file: the list.
    """
    try:
        return _read(trust_file).get(_spelled(root))
    except ConfigError:
        return None


def trusted_folders(trust_file: Path) -> tuple[str, ...]:
    """The trusted folders, oldest first. Raises ConfigError where the list cannot be read."""
    return tuple(_read(trust_file))


def trust(
    root: Path,
    trust_file: Path,
    shown: Iterable[Shown],
    *,
    asked: frozenset[Shown] | None = None,
    now: datetime | None = None,
) -> None:
    """Let what a person was shown of a folder count.

    Args:
        shown: the values of the question that was answered; they join those of earlier answers.
        asked: all that the folder asks for now: what was shown earlier and is not among it is forgotten.

    Raises:
        ConfigError, StorageError, LockedError: nothing was changed.
    """
    at = (now or datetime.now(UTC)).replace(microsecond=0)
    with locked(trust_file):
        folders = _read(trust_file)
        old = folders.get(_spelled(root), TrustRecord(at))
        earlier = old.shown or frozenset()
        if asked is not None:
            earlier &= asked
        folders[_spelled(root)] = replace(old, shown=earlier | frozenset(shown))
        _write(trust_file, folders)


def count_as_shown(root: Path, trust_file: Path, shown: Iterable[Shown]) -> None:
    """Let values that the person wrote with this program count, each in place of what stood there; of a folder that is
    not trusted nothing does.

    Raises:
        ConfigError, StorageError, LockedError: nothing was changed.
    """
    with locked(trust_file):
        folders = _read(trust_file)
        old, values = folders.get(_spelled(root)), frozenset(shown)
        if old is not None and old.shown is not None and not values <= old.shown:
            places = {place for place, _ in values}
            kept = frozenset(one for one in old.shown if one[0] not in places)
            folders[_spelled(root)] = replace(old, shown=kept | values)
            _write(trust_file, folders)


def follow_rename(root: Path, trust_file: Path, renamed: Callable[[Shown], Shown | None]) -> None:
    """Let what was shown under a name count under the one that the person gave with this program.

    Args:
        renamed: of each value that was shown the one that stands for it now, None where the name is not in it.

    Raises:
        ConfigError, StorageError, LockedError: nothing was changed.
    """
    record = trust_record(root, trust_file)
    if record is not None and record.shown is not None:
        count_as_shown(root, trust_file, filter(None, map(renamed, record.shown)))


def distrust(root: Path, trust_file: Path) -> None:
    """Stop a folder's `manual_slop.toml` from counting. Raises ConfigError or StorageError."""
    with locked(trust_file):
        folders = _read(trust_file)
        if folders.pop(_spelled(root), None) is not None:
            _write(trust_file, folders)


def _spelled(root: Path) -> str:
    return str(root.resolve())


def _read(trust_file: Path) -> dict[str, TrustRecord]:
    text = read_text(trust_file)
    if text is None:
        return {}
    data = parse(text, trust_file, None)
    rows: Any = data.get("folders", [])
    if data.get("format", FORMAT) not in range(1, FORMAT + 1) or not isinstance(rows, list):
        raise ConfigError(
            tr("This version cannot read the list of trusted folders"),
            remedy=tr("Delete the list to trust no folder, or use the version that wrote it"),
            where=str(trust_file),
        )
    return {
        row["path"]: TrustRecord(row["trusted_at"], _shown(row.get("shown")))
        for row in rows
        if isinstance(row, dict)
        and isinstance(row.get("path"), str)
        and isinstance(row.get("trusted_at"), datetime)
    }


def _shown(rows: Any) -> frozenset[Shown] | None:
    """Values of a record: rows of texts, the last of which is the value. What is none is left out."""
    if not isinstance(rows, list):
        return None
    good = (
        row
        for row in rows
        if isinstance(row, list) and len(row) > 1 and all(isinstance(text, str) for text in row)
    )
    return frozenset((tuple(row[:-1]), row[-1]) for row in good)


def _write(trust_file: Path, folders: dict[str, TrustRecord]) -> None:
    import tomli_w

    rows = [
        {"path": path, "trusted_at": record.trusted_at}
        | (
            {}
            if record.shown is None
            else {"shown": sorted([*place, value] for place, value in record.shown)}
        )
        for path, record in folders.items()
    ]
    replace_file(trust_file, tomli_w.dumps({"format": FORMAT, "folders": rows}).encode())


# Approvals of MCP servers: `approved_servers.json` beside the user settings, by name and by the project
# that names it.

APPROVALS_FORMAT = 1
_NAME = "approved_servers.json"


class _Approvals(msgspec.Struct, frozen=True):
    """The file."""

    format: int = APPROVALS_FORMAT
    servers: tuple[McpApproved, ...] = ()


def approvals_file(trust_file: Path) -> Path:
    """The file of approvals, beside the list of trusted folders."""
    return trust_file.with_name(_NAME)


def approved_servers(
    file: Path, root: str, servers: Mapping[str, McpServerSettings]
) -> Mapping[str, McpApproved]:
    """The approvals of these servers by name. A file that cannot be read approves nothing.

    Args:
        root: of the project, links resolved: its servers have approvals of their own in each project.
    """
    if not servers:
        return {}
    try:
        kept = _server_approvals_read(file)
    except ConfigError:
        return {}
    found = ((name, kept.get((root_of(server, root), name))) for name, server in servers.items())
    return {name: one for name, one in found if one is not None}


def root_of(server: McpServerSettings, root: str) -> str:
    """The root under which a server's approval is kept: empty for the person's own."""
    return root if server.origin is McpOrigin.PROJECT else ""


def keep_approval(file: Path, name: str, root: str, approved: McpApproved | None) -> None:
    """Keep the approval of a server, or forget it.

    Raises:
        ConfigError, StorageError, LockedError: nothing was changed.
    """
    with locked(file):
        kept = _server_approvals_read(file)
        kept.pop((root, name), None)
        if approved is not None:
            kept[root, name] = approved
        rows = tuple(kept[place] for place in sorted(kept))
        replace_file(file, msgspec.json.format(to_json(_Approvals(servers=rows)), indent=1))


def _server_approvals_read(file: Path) -> dict[tuple[str, str], McpApproved]:
    text = read_text(file)
    if text is None:
        return {}
    try:
        found = from_json(text, _Approvals)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _unreadable(file) from error
    if found.format != APPROVALS_FORMAT:
        raise _unreadable(file)
    return {(one.root, one.approval.name): one for one in found.servers}


def _unreadable(file: Path) -> ConfigError:
    return ConfigError(
        tr("This version cannot read the list of approved MCP servers"),
        remedy=tr("Delete the list to approve no server, or use the version that wrote it"),
        where=str(file),
    )
