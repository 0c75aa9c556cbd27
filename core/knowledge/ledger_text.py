"""The ledger's two files as text: read whatever they hold, written so that nothing foreign is lost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from core.kernel.codecs import read_json
from core.kernel.errors import ConfigError
from core.kernel.language import tr
from core.kernel.machine import uncollected
from core.kernel.values.knowledge import HarvestLedgerEntry, LedgerStatus

_dumps = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": ")).encode
_OWN_HEAD, _OWN_TAIL = b'{\n"entries": {\n', b"\n}\n}\n"
_STATUSES = {status.value: status for status in LedgerStatus}
_KNOWN = ("path", "status", "at", "deleted", "bytes", "items", "error", "undone_at", "domains", "kept")


def read_ledger(data: bytes, where: str) -> dict[str, Any]:
    """The ledger's document; an empty one where there are no bytes at all.

    A key that comes twice, as after a merge of two versions, is one: of what both say the later counts.

    Raises:
        ConfigError: it does not parse, or is no ledger; names the file and the line. It must not be overwritten.
    """
    if not data:
        return {"entries": {}}
    try:
        text = data.decode("utf-8-sig")
        with uncollected():
            document = read_json(text)
            if _has_twice(text, document):
                document = read_json(text, object_pairs_hook=_united)
    except UnicodeDecodeError as error:
        raise _broken(
            where, data[: error.start].count(b"\n") + 1, tr("the harvest ledger is not UTF-8 text")
        ) from error
    except json.JSONDecodeError as error:
        raise _broken(
            where, error.lineno, tr("the harvest ledger is not JSON: {msg}", msg=error.msg)
        ) from error
    except ValueError as error:
        raise _broken(where, 1, tr("the harvest ledger is not JSON: {error}", error=error)) from error
    if not isinstance(document, dict) or not isinstance(document.setdefault("entries", {}), dict):
        raise _broken(where, 1, tr('the file holds no object "entries"'))
    return document


def read_own(data: bytes, where: str) -> dict[str, Any]:
    """The document of a ledger that is known to be as `ledger_bytes` wrote it: entries stay bytes until `raw_of`.

    Raises:
        ConfigError: as `read_ledger`, which reads it where something foreign stands beside the entries.
    """
    if not (data.startswith(_OWN_HEAD) and data.endswith(_OWN_TAIL)):
        return read_ledger(data, where)
    parts = (line.partition(b'": ') for line in data[len(_OWN_HEAD) : -len(_OWN_TAIL)].split(b",\n"))
    entries = {key: raw for head, _, raw in parts for key in (head[1:].decode("utf-8", "surrogatepass"),)}
    return read_ledger(data, where) if any("\\" in key for key in entries) else {"entries": entries}


def raw_of(value: object) -> Any:
    """An entry as JSON has it, read now where it was left as bytes."""
    return read_json(value) if isinstance(value, bytes) else value


def path_of(value: object) -> str:
    """The path that an entry names, without reading the rest of it; empty where there is none."""
    if isinstance(value, bytes) and value.startswith(b'{"path": "'):
        end = value.find(b'"', 10)
        if end > 0 and b"\\" not in value[10:end]:
            return value[10:end].decode("utf-8", "surrogatepass")
    raw = raw_of(value)
    return _text(raw, "path") if isinstance(raw, dict) else ""


def ledger_bytes(document: Mapping[str, Any]) -> bytes:
    """The document with an entry on each line, everything that we do not know included."""
    parts = [_encoded(key) + b": " + _value(key, value) for key, value in document.items()]
    return b"{\n" + b",\n".join(parts) + b"\n}\n"


def read_journal(data: bytes) -> tuple[list[tuple[str, dict[str, Any]]], int]:
    """Entries of the append journal in order, and how many lines were no entries (a torn write)."""
    entries, torn = [], 0
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        try:
            row = read_json(line)
            entries.append((str(row["sha256"]), dict(row["entry"])))
        except (ValueError, KeyError, TypeError, RecursionError):
            torn += 1
    return entries, torn


def journal_line(key: str, entry: Mapping[str, Any]) -> bytes:
    """One entry as a line of the journal."""
    return _dumps({"sha256": key, "entry": dict(entry)}).encode("utf-8", "replace") + b"\n"


def to_entry(key: str, raw: object) -> HarvestLedgerEntry | None:
    """Return an entry as a value, None if this program did not write it."""
    status = _status_of(raw)
    if status is None or not isinstance(raw, dict):
        return None
    items = raw.get("items")
    size = raw.get("bytes")
    return HarvestLedgerEntry(
        sha256=key,
        path=_text(raw, "path"),
        status=status,
        at=_text(raw, "at"),
        deleted=raw.get("deleted") is True,
        size_bytes=size if isinstance(size, int) and size >= 0 else 0,
        items={str(k): v for k, v in items.items() if isinstance(v, int)} if isinstance(items, dict) else {},
        error=_text(raw, "error"),
        undone_at=_text(raw, "undone_at"),
        domains=_texts(raw, "domains"),
        kept=raw.get("kept") is True,
    )


def to_raw(entry: HarvestLedgerEntry, before: object = None) -> dict[str, Any]:
    """An entry as JSON, with whatever foreign keys an earlier one had."""
    foreign = {k: v for k, v in before.items() if k not in _KNOWN} if isinstance(before, dict) else {}
    raw: dict[str, Any] = {
        "path": entry.path,
        "status": entry.status.value,
        "at": entry.at,
        "deleted": entry.deleted,
        "bytes": entry.size_bytes,
    }
    if entry.status is LedgerStatus.HARVESTED:
        raw["items"] = dict(entry.items)
    if entry.error:
        raw["error"] = entry.error
    if entry.undone_at:
        raw["undone_at"] = entry.undone_at
    if entry.domains:
        raw["domains"] = list(entry.domains)
    if entry.kept:
        raw["kept"] = True
    return {**raw, **foreign}


def entry_data(entry: HarvestLedgerEntry) -> dict[str, Any]:
    """An entry as plain data, every field said, as the CLI prints it and the Hook API answers with it."""
    return {
        "sha256": entry.sha256,
        "path": entry.path,
        "status": entry.status.value,
        "at": entry.at,
        "deleted": entry.deleted,
        "bytes": entry.size_bytes,
        "items": dict(entry.items),
        "error": entry.error,
        "undone_at": entry.undone_at,
        "domains": list(entry.domains),
        "kept": entry.kept,
    }


def _status_of(raw: object) -> LedgerStatus | None:
    status = raw.get("status") if isinstance(raw, dict) else None
    return _STATUSES.get(status) if isinstance(status, str) else None


def _has_twice(text: str, document: object) -> bool:
    """True if an entry may have been given twice: the text names more statuses than the document has."""
    entries = document.get("entries") if isinstance(document, dict) else None
    if not isinstance(entries, dict):
        return False
    return text.count('"status"') > sum("status" in raw for raw in entries.values() if isinstance(raw, dict))


def _united(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which keys may come twice."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        before = found.get(key)
        both = isinstance(before, dict) and isinstance(value, dict)
        found[key] = _united([*found[key].items(), *value.items()]) if both else value
    return found


def _value(key: str, value: object) -> bytes:
    if key != "entries" or not isinstance(value, dict) or not value:
        return _encoded(value)
    lines = (_encoded(k) + b": " + (v if isinstance(v, bytes) else _encoded(v)) for k, v in value.items())
    return b"{\n" + b",\n".join(lines) + b"\n}"


def _encoded(value: object) -> bytes:
    return _dumps(value).encode("utf-8", "surrogatepass")


def _text(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def _texts(raw: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = raw.get(key)
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _broken(where: str, line: int, why: str) -> ConfigError:
    return ConfigError(
        tr("The program cannot read the harvest ledger: {why} (line {line})", why=why, line=line),
        remedy=tr("Repair or move that file; until then the program leaves it alone and harvests nothing"),
        where=where,
        line=line,
    )
