"""Why a prompt was not read from the cache: OpenAI's comparison with an earlier response.

Source: developers.openai.com "Prompt cache diagnostics" (read 2026-10); openai 3.51.0
`types/responses/response.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.vendors.billing.values import Json


@dataclass(slots=True)
class _Record:
    settings: dict[str, str]
    is_compacted: bool
    end: int
    reusable: int
    start_s: float
    is_complete: bool = False


class OpenAIDiagnostics:
    """Remembers responses for a short time, and compares."""

    def __init__(self, keeps_s: float) -> None:
        self._keeps_s = keeps_s
        self._records: dict[tuple[str, str], _Record] = {}

    def remember(
        self,
        key: tuple[str, str],
        settings: dict[str, str],
        *,
        end: int,
        reusable: int,
        is_compacted: bool,
        start_s: float,
    ) -> None:
        """Keep a request.

        `key`: organisation and response id; `end`: the last prefix it wrote or read, of `reusable`
        tokens.
        """
        self._records[key] = _Record(settings, is_compacted, end, reusable, start_s)

    def complete(self, key: tuple[str, str]) -> None:
        """The response is complete and can be compared with."""
        record = self._records.get(key)
        if record is not None:
            record.is_complete = True

    def compare(
        self,
        key: tuple[str, str],
        settings: dict[str, str],
        prefixes: list[int],
        *,
        is_compacted: bool,
        read: int,
        now_s: float,
    ) -> Json:
        """`prompt_cache_diagnostics` of the response."""
        before = self._records.get(key)
        if before is None or now_s - before.start_s >= self._keeps_s:
            return {"type": "comparison_response_not_found"}
        if not before.is_complete or not before.reusable:
            return {"type": "unavailable"}
        if read >= before.reusable and before.end in prefixes:
            return {"type": "cache_hit"}
        reason = _reason(before, settings, prefixes, is_compacted=is_compacted)
        if reason is None:
            return {"type": "unavailable"}  # nothing changed: the entry expired
        return {
            "type": "cache_miss",
            "reason": reason,
            "comparison_reusable_tokens": before.reusable,
            "cache_missed_tokens": max(0, before.reusable - read),
        }


def _reason(
    before: _Record, settings: dict[str, str], prefixes: list[int], *, is_compacted: bool
) -> str | None:
    for name, value in settings.items():
        if before.settings[name] != value:
            return name
    if before.end in prefixes:
        return None
    return "context_compacted" if is_compacted and not before.is_compacted else "input_changed"
