"""State as the plain data that the Hook API answers with: `shapes.py` describes every field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from core.cache.abilities import Abilities
from core.config.preset_table import item_table
from core.step.caching import abilities_of
from core.values.cache import CacheOrphan, CachePlan, Rewrite
from core.values.curation import FileItem, FileMode, Preset
from core.values.discussion import CallPhase, DiscussionSummary, LiveCall
from core.values.messages import AttachmentPart, Entry, Mark, Message, ToolCallPart, ToolResultPart
from core.values.stack import ContextChange, ContextReport, layer_data
from core.values.state import AppState
from core.values.usage import usage_data

Data = dict[str, Any]


def time_data(at: datetime | None) -> str | None:
    """ISO 8601, None where there is no time."""
    return None if at is None else at.isoformat()


def status_data(state: AppState, *, version: str, is_headless: bool, has_test_clock: bool) -> Data:
    """The program as it is now."""
    return {
        "version": version,
        "home": state.home,
        "is_home_read_only": state.is_home_read_only,
        "is_headless": is_headless,
        "has_test_clock": has_test_clock,
        "is_loading": state.is_loading,
        "now": time_data(state.now),
        "project": {
            "root": state.project.root,
            "name": state.project.name,
            "is_trusted": state.project.is_trusted,
        },
        "providers": [
            {
                "id": status.id,
                "kind": status.kind.value,
                "label": status.label,
                "key_source": status.key_source.value,
                "is_ready": status.is_ready,
                "problem": status.problem,
            }
            for status in state.providers.values()
        ],
        "workers": [
            {"name": w.name, "status": w.status, "detail": w.detail, "fraction": w.fraction}
            for w in state.workers.values()
        ],
        "notices": [
            {"id": n.id, "level": n.level.value, "text": n.text, "detail": n.detail} for n in state.notices
        ],
        "default_provider": state.settings.ai.provider,
        "discussions": len(state.summaries),
        "selected_id": state.selected_id,
        "calls": [call_data(call) for call in state.calls.values()],
    }


def call_data(call: LiveCall) -> Data:
    """A call under way."""
    return {
        "discussion_id": call.discussion_id,
        "message_id": call.user_message_id,
        "provider": call.provider,
        "model": call.model,
        "phase": call.phase.value,
        "retry_reason": call.retry_reason if call.phase is CallPhase.RETRYING else "",
    }


def cache_data(state: AppState, row: DiscussionSummary) -> Data:
    """What is known of a discussion's cache. Null: not known, or nothing there; never an invented figure."""
    held = state.caches.get(row.meta.id)
    usage = row.usage
    return {
        "discussion_id": row.meta.id,
        "name": row.meta.name,
        "provider": row.meta.provider,
        "model": row.meta.model,
        "caching_enabled": row.meta.caching_enabled,
        "cache_epoch": row.meta.cache_epoch,
        "cached_by": None if held is None else held.provider,
        "cached_at": None if held is None else time_data(held.cached_at),
        "expires_at": None if held is None else time_data(held.expires_at),
        "hit_count": None if held is None else held.hit_count,
        "tokens_cached": None if held is None else held.tokens_cached,
        "last_invalidated_at": None if held is None else time_data(held.last_invalidated_at),
        "last_miss_reason": state.miss_reasons.get(row.meta.id, ""),
        "input_tokens": usage.input_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "abilities": _abilities_data(abilities_of(state, row.meta.id)),
        "rewrite": _rewrite_data(state.rewrites.get(row.meta.id)),
    }


def _rewrite_data(found: Rewrite | None) -> Data | None:
    """What the next turn writes anew because knowledge changed. Null cost: the price is not known."""
    if found is None:
        return None
    until = time_data(found.until)
    return {"why": found.why, "tokens": found.tokens, "cost_usd": found.cost_usd, "until": until}


def orphan_data(orphan: CacheOrphan) -> Data:
    """A prefix that is stored, and billed, for a discussion that is gone. Null rent: the price is not known."""
    return {
        "provider": orphan.provider,
        "name": orphan.name,
        "discussion_id": orphan.discussion_id,
        "model": orphan.model,
        "tokens": orphan.tokens,
        "expires_at": time_data(orphan.expires_at),
        "usd_per_hour": orphan.usd_per_hour,
    }


def _abilities_data(found: Abilities | None) -> Data | None:
    if found is None:
        return None
    return {
        "can_disable": found.can_disable,
        "can_invalidate": found.can_invalidate,
        "can_set_ttl": found.can_set_ttl,
        "disable_text": found.disable_text,
        "invalidate_text": found.invalidate_text,
    }


def discussion_data(state: AppState, row: DiscussionSummary) -> Data:
    """A row of the list."""
    meta = row.meta
    return {
        "id": meta.id,
        "name": meta.name,
        "created_at": time_data(meta.created_at),
        "updated_at": time_data(row.updated_at),
        "provider": meta.provider,
        "model": meta.model,
        "effort": meta.effort,
        "preset": meta.preset,
        "persona": meta.persona,
        "system_preset": meta.system_preset,
        "is_pinned": meta.pinned,
        "is_archived": meta.archived,
        "turns": row.turns,
        "preview": row.preview,
        "problem": row.problem,
        "usage": usage_data(row.usage),
        "is_busy": meta.id in state.calls,
    }


def entries_data(entries: Iterable[Entry]) -> list[Data]:
    """Messages and marks in order, without those that were deleted."""
    return [
        mark_data(entry) if isinstance(entry, Mark) else message_data(entry)
        for entry in entries
        if isinstance(entry, Mark) or not entry.is_deleted
    ]


def mark_data(mark: Mark) -> Data:
    """Something that is shown in place."""
    return {"type": "mark", "id": mark.id, "at": time_data(mark.at), "kind": mark.kind, "text": mark.text}


def message_data(message: Message) -> Data:
    """One message. What a vendor wants back of its reasoning stays inside."""
    return {
        "type": "message",
        "id": message.id,
        "at": time_data(message.at),
        "role": message.role.value,
        "status": message.status.value,
        "text": message.text,
        "reasoning": message.reasoning,
        "tool_calls": [
            {"call_id": part.call_id, "name": part.name, "arguments_json": part.arguments_json}
            for part in message.parts
            if isinstance(part, ToolCallPart)
        ],
        "tool_results": [
            {"call_id": part.call_id, "text": part.text, "is_error": part.is_error}
            for part in message.parts
            if isinstance(part, ToolResultPart)
        ],
        "attachments": [_attachment_data(part) for part in message.attachments],
        "provider": message.provider,
        "model": message.model,
        "is_edited": message.is_edited,
        "usage": None if message.usage is None else usage_data(message.usage),
    }


def _attachment_data(part: AttachmentPart) -> Data:
    return {
        "sha256": part.sha256,
        "name": part.name,
        "media_type": part.media_type,
        "size_bytes": part.size_bytes,
    }


def preset_data(state: AppState, preset: Preset) -> Data:
    """A preset with its items in order."""
    return {
        "name": preset.name,
        "is_saved": preset.name not in state.project.unsaved_presets,
        "items": [item_data(item) for item in preset.items],
    }


_ITEM_DEFAULTS: Mapping[str, Any] = {
    "mode": FileMode.WHOLE.value,
    "slices": [],
    "symbols": [],
    "notes": "",
    "pinned": False,
    "enabled": True,
}


def item_data(item: FileItem) -> Data:
    """An item of a preset, every field said."""
    return {**_ITEM_DEFAULTS, **item_table(item)}


def context_data(discussion_id: str, report: ContextReport, plan: CachePlan | None) -> Data:
    """The stack as it would be sent now: where each layer stands and what it is, not its text."""
    return {
        "discussion_id": discussion_id,
        "layers": [layer_data(layer) for layer in report.layers],
        "stable_length_chars": report.stable_length_chars,
        "total_tokens_est": report.total_tokens_est,
        "limit_tokens": report.limit_tokens,
        "cost_usd": report.cost_usd,
        "is_exact": report.is_exact,
        "fits": report.fits,
        "problems": list(report.problems),
        "change": None if report.change is None else _change_data(report.change),
        "plan": None if plan is None else plan_data(plan),
    }


def _change_data(change: ContextChange) -> Data:
    return {
        "layer": None if change.layer is None else int(change.layer),
        "byte_offset": change.byte_offset,
        "same_tokens_est": change.same_tokens_est,
        "rewritten_tokens_est": change.rewritten_tokens_est,
        "rewritten_cost_usd": change.rewritten_cost_usd,
        "reason": change.reason,
    }


def plan_data(plan: CachePlan) -> Data:
    """How the request would be cached, with a sentence for each choice."""
    contents = plan.contents
    return {
        "is_enabled": plan.is_enabled,
        "marks": [{"after_key": mark.after_key, "ttl_s": mark.ttl_s} for mark in plan.marks],
        "openai_mode": plan.openai_mode,
        "contents": None
        if contents is None
        else {"use": contents.use.value, "through_key": contents.through_key, "ttl_s": contents.ttl_s},
        "read_tokens": plan.read_tokens,
        "write_tokens": plan.write_tokens,
        "fresh_tokens": plan.fresh_tokens,
        "superseded_tokens": plan.superseded_tokens,
        "cost_usd": plan.cost_usd,
        "cost_without_usd": plan.cost_without_usd,
        "sentences": list(plan.sentences),
    }
