"""The shapes of bodies and answers as JSON Schema: what `docs/openapi.json` says and what is checked."""

from __future__ import annotations

from collections.abc import Mapping

from core.config.preset_table import MAX_ITEMS
from core.hooks.building import (
    COUNT,
    FIGURE,
    FLAG,
    MONEY,
    TEXT,
    TIME,
    many,
    maybe,
    maybe_named,
    named,
    one_of,
    taken,
    whole,
)
from core.hooks.schema import Schema
from core.hooks.shapes_of_knowledge import KNOWLEDGE_BODIES, KNOWLEDGE_SHAPES

MAX_TEXT_CHARS = 10_000_000
MAX_NAME_CHARS = 200

NAME: Schema = {"type": "string", "maxLength": MAX_NAME_CHARS}
ITEM = taken(
    ("path",),
    path={"type": "string", "minLength": 1, "maxLength": 4096},
    mode=one_of("whole", "slices", "outline", "notes"),
    slices={
        "type": "array",
        "items": {
            "type": "array",
            "items": {"type": "integer", "minimum": 1},
            "minItems": 2,
            "maxItems": 2,
        },
    },
    symbols=many(TEXT),
    notes=TEXT,
    pinned=FLAG,
    enabled=FLAG,
)
ITEMS: Schema = {"type": "array", "items": ITEM, "maxItems": MAX_ITEMS}

BODIES: Mapping[str, Schema] = {
    "create_discussion": taken(name=NAME, provider=NAME, model=NAME, preset=NAME),
    "send_message": taken(
        ("text",),
        text={"type": "string", "minLength": 1, "maxLength": MAX_TEXT_CHARS},
        wait=FLAG,
        over_limit=FLAG,
    ),
    "choose_preset": taken(("name",), name=NAME),
    "put_preset": taken(("items",), items=ITEMS, save=FLAG),
    "act": {
        "type": "object",
        "properties": {"panel": NAME, "action": NAME},
        "required": ["panel", "action"],
        "additionalProperties": True,
    },
    "advance_clock": taken(
        ("advance_s",), advance_s={"type": "number", "minimum": 0, "maximum": 3_153_600_000}
    ),
    **KNOWLEDGE_BODIES,
}

SHAPES: Mapping[str, Schema] = {
    "Error": whole(error=whole(code=TEXT, message=TEXT, remedy=TEXT)),
    "Usage": whole(
        input_tokens=FIGURE,
        output_tokens=FIGURE,
        cache_read_tokens=FIGURE,
        cache_write_tokens=FIGURE,
        reasoning_tokens=FIGURE,
        cost_usd=MONEY,
        time_to_first_token_s=MONEY,
        duration_s=MONEY,
    ),
    "Call": whole(
        discussion_id=TEXT,
        message_id=TEXT,
        provider=TEXT,
        model=TEXT,
        phase=one_of("saving", "waiting", "streaming", "retrying", "stopping", "storing"),
        retry_reason=TEXT,
    ),
    "Status": whole(
        version=TEXT,
        home=TEXT,
        is_home_read_only=FLAG,
        is_headless=FLAG,
        has_test_clock=FLAG,
        is_loading=FLAG,
        now=maybe(TIME),
        project=whole(root=TEXT, name=TEXT, is_trusted=FLAG),
        providers=many(whole(id=TEXT, kind=TEXT, label=TEXT, key_source=TEXT, is_ready=FLAG, problem=TEXT)),
        workers=many(whole(name=TEXT, status=TEXT, detail=TEXT, fraction=MONEY)),
        notices=many(whole(id=TEXT, level=one_of("info", "warning", "error"), text=TEXT, detail=TEXT)),
        default_provider=TEXT,
        discussions=COUNT,
        selected_id=TEXT,
        calls=many(named("Call")),
    ),
    "Abilities": whole(
        can_disable=FLAG, can_invalidate=FLAG, can_set_ttl=FLAG, disable_text=TEXT, invalidate_text=TEXT
    ),
    "Cache": whole(
        discussion_id=TEXT,
        name=TEXT,
        provider=TEXT,
        model=TEXT,
        caching_enabled=FLAG,
        cache_epoch=COUNT,
        cached_by=maybe(TEXT),
        cached_at=maybe(TIME),
        expires_at=maybe(TIME),
        hit_count=FIGURE,
        tokens_cached=FIGURE,
        last_invalidated_at=maybe(TIME),
        last_miss_reason=TEXT,
        input_tokens=FIGURE,
        cache_read_tokens=FIGURE,
        cache_write_tokens=FIGURE,
        abilities=maybe_named("Abilities"),
        rewrite=maybe_named("Rewrite"),
    ),
    "Rewrite": whole(why=TEXT, tokens=COUNT, cost_usd=MONEY, until=maybe(TIME)),
    "Orphan": whole(
        provider=TEXT,
        name=TEXT,
        discussion_id=TEXT,
        model=TEXT,
        tokens=COUNT,
        expires_at=TIME,
        usd_per_hour=MONEY,
    ),
    "Caches": whole(caches=many(named("Cache")), orphans=many(named("Orphan"))),
    "Discussion": whole(
        id=TEXT,
        name=TEXT,
        created_at=TIME,
        updated_at=TIME,
        provider=TEXT,
        model=TEXT,
        effort=TEXT,
        preset=TEXT,
        persona=TEXT,
        system_preset=TEXT,
        is_pinned=FLAG,
        is_archived=FLAG,
        turns=COUNT,
        preview=TEXT,
        problem=TEXT,
        usage=named("Usage"),
        is_busy=FLAG,
    ),
    "Discussions": whole(discussions=many(named("Discussion"))),
    "Message": whole(
        type=one_of("message"),
        id=TEXT,
        at=TIME,
        role=one_of("user", "assistant", "tool"),
        status=one_of("complete", "partial", "interrupted"),
        text=TEXT,
        reasoning=TEXT,
        tool_calls=many(whole(call_id=TEXT, name=TEXT, arguments_json=TEXT)),
        tool_results=many(whole(call_id=TEXT, text=TEXT, is_error=FLAG)),
        attachments=many(whole(sha256=TEXT, name=TEXT, media_type=TEXT, size_bytes=COUNT)),
        provider=TEXT,
        model=TEXT,
        is_edited=FLAG,
        usage=maybe_named("Usage"),
    ),
    "Mark": whole(type=one_of("mark"), id=TEXT, at=TIME, kind=TEXT, text=TEXT),
    "Messages": whole(
        discussion_id=TEXT,
        messages=many({"anyOf": [named("Message"), named("Mark")]}),
        call=maybe_named("Call"),
    ),
    "Sent": whole(discussion_id=TEXT, message_id=TEXT),
    "Answered": whole(discussion_id=TEXT, message_id=TEXT, reply=maybe_named("Message"), is_stopped=FLAG),
    "Cancelled": whole(discussion_id=TEXT, is_stopped=FLAG),
    "Preset": whole(name=TEXT, is_saved=FLAG, items=many({**ITEM, "required": list(ITEM["properties"])})),
    "Presets": whole(presets=many(named("Preset"))),
    "Context": whole(
        discussion_id=TEXT,
        layers=many(
            whole(
                layer=COUNT,
                title=TEXT,
                offset_chars=COUNT,
                length_chars=COUNT,
                size_bytes=COUNT,
                tokens_est=COUNT,
                sha256=TEXT,
                segments=many(whole(key=TEXT, sha256=TEXT, size_bytes=COUNT, tokens_est=COUNT)),
            )
        ),
        stable_length_chars=COUNT,
        total_tokens_est=COUNT,
        limit_tokens=FIGURE,
        cost_usd=MONEY,
        is_exact=FLAG,
        fits=FLAG,
        problems=many(TEXT),
        change=maybe_named("Change"),
        plan=maybe_named("Plan"),
    ),
    "Change": whole(
        layer=FIGURE,
        byte_offset=FIGURE,
        same_tokens_est=COUNT,
        rewritten_tokens_est=COUNT,
        rewritten_cost_usd=MONEY,
        reason=TEXT,
    ),
    "Plan": whole(
        is_enabled=FLAG,
        marks=many(whole(after_key=TEXT, ttl_s=COUNT)),
        openai_mode=TEXT,
        contents={"anyOf": [whole(use=TEXT, through_key=TEXT, ttl_s=COUNT), {"type": "null"}]},
        read_tokens=COUNT,
        write_tokens=COUNT,
        fresh_tokens=COUNT,
        superseded_tokens=COUNT,
        cost_usd=MONEY,
        cost_without_usd=MONEY,
        sentences=many(TEXT),
    ),
    "Done": whole(panel=TEXT, action=TEXT),
    "Clock": whole(now=maybe(TIME)),
    **KNOWLEDGE_SHAPES,
}
