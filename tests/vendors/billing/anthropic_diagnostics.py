"""Why a prompt was not read from the cache: Anthropic's comparison with an earlier request.

Source: anthropic 2.10.0 `types/diagnostics*.py`, `types/cache_miss_*.py`; "Cache diagnostics" (read 2026-10):
only requests with the object are remembered, hashes only, for a limited time. `null` stands for no
divergence, whether or not the entry still lived; `{"cache_miss_reason": null}` for a comparison that is not
done.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.vendors.billing.anthropic_checks import blocks_of
from tests.vendors.billing.anthropic_render import Rendered
from tests.vendors.billing.tokens import fields
from tests.vendors.billing.values import Json


@dataclass(slots=True)
class _Record:
    model: str
    tools: str
    system: str
    setting: int
    end: int
    end_tokens: int
    start_s: float
    is_complete: bool = False


class Diagnostics:
    """Remembers requests that asked for it, and compares."""

    def __init__(self, keeps_s: float) -> None:
        self._keeps_s = keeps_s
        self._records: dict[str, _Record] = {}

    def compare(
        self, body: Json, run: Rendered, last_mark: int, read: int, start_s: float, message_id: str
    ) -> Json | None:
        """The `diagnostics` of the answer. `last_mark`: the block of the last mark, -1 for none."""
        asked = body.get("diagnostics")
        if asked is None:
            return None
        now = _record(body, run, last_mark, start_s)
        if message_id:
            self._records[message_id] = now
        previous = asked.get("previous_message_id")
        if previous is None:
            return None
        return self._reason(self._records.get(previous), now, run, read)

    def complete(self, message_id: str) -> None:
        """The answer began: the request can be compared with."""
        record = self._records.get(message_id)
        if record is not None:
            record.is_complete = True

    def _reason(self, before: _Record | None, now: _Record, run: Rendered, read: int) -> Json | None:
        if before is None or now.start_s - before.start_s >= self._keeps_s:
            return {"cache_miss_reason": {"type": "previous_message_not_found"}}
        if not before.is_complete:
            return {"cache_miss_reason": None}
        reason = _first_difference(before, now, run)
        if reason is None:
            return None
        if reason == "unavailable":
            return {"cache_miss_reason": {"type": reason}}
        missed = max(0, before.end_tokens - read)
        return {"cache_miss_reason": {"type": reason, "cache_missed_input_tokens": missed}}


def _record(body: Json, run: Rendered, last_mark: int, start_s: float) -> _Record:
    last = last_mark if last_mark >= 0 else len(run.prefixes) - 1
    return _Record(
        f"{body['model']} {body.get('speed') or 'standard'}",
        _bare(body.get("tools")),
        _bare(body.get("system")),
        run.setting,
        run.prefixes[last],
        run.ends[last] if last_mark >= 0 else 0,
        start_s,
    )


def _first_difference(before: _Record, now: _Record, run: Rendered) -> str | None:
    if before.model != now.model:
        return "model_changed"
    if before.tools != now.tools:
        return "tools_changed"
    if before.system != now.system:
        return "system_changed"
    if before.setting != now.setting:
        return "unavailable"
    return None if before.end in run.prefixes else "messages_changed"


def _bare(group: object) -> str:
    return "\n".join(fields(block, "cache_control") for block in blocks_of(group))
