"""The person's switches as the planner takes them, token counts of parts, and stored prefixes in the ledger."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from core.base.tokens import estimate_tokens, scaled
from core.caching.ledger import life_s
from core.providers.attachments import attachment_tokens
from core.providers.blocks import CountTokens
from core.values.cache import (
    CacheLedger,
    CacheLedgerEntry,
    CachePlan,
    CachePrices,
    CacheSettings,
    LedgerScope,
    Mechanism,
)
from core.values.messages import AttachmentPart, ReasoningPart, ToolCallPart, ToolResultPart
from core.values.provider import ContentsReport, PdfForm, ProviderKind, RequestPart
from core.values.settings import CachingSettings
from core.values.stack import Segment, ToolSchema


def with_contents(
    ledger: CacheLedger, scope: LedgerScope, plan: CachePlan, contents: ContentsReport | None
) -> CacheLedger:
    """Note the name and the end of a stored prefix that a call made or used, and drop one that was lost."""
    if contents is None:
        return ledger
    entries = dict(ledger.entries.get(scope, {}))
    for prefix, entry in tuple(entries.items()):
        if contents.lost_name and entry.name == contents.lost_name:
            del entries[prefix]
    stored = contents.stored
    if stored is not None and plan.contents is not None:
        prefix = plan.contents.prefix_hash
        tokens = next(
            (write.tokens for write in plan.writes if write.prefix_hash == prefix), plan.read_tokens
        )
        ttl_s = life_s(stored)
        known = entries.get(
            prefix, CacheLedgerEntry(prefix, tokens, ttl_s, stored.expires_at, stored.discussion_id)
        )
        entries[prefix] = replace(known, ttl_s=ttl_s, expires_at=stored.expires_at, name=stored.name)
    return replace(ledger, entries={**ledger.entries, scope: entries})


def scope_settings(effort: str) -> str:
    """All that enters a prefix beside its text, canonical JSON: `LedgerScope.settings`."""
    return f'{{"effort":"{effort}"}}'


def settings_for(
    kind: ProviderKind, prices: CachePrices, settings: CachingSettings, is_enabled: bool
) -> CacheSettings:
    """The person's switches as the planner takes them."""
    found = CacheSettings(
        is_enabled=is_enabled,
        appends_changes=settings.appends_changes,
        keepalive=settings.keepalive,
        keepalive_cap_usd=settings.keepalive_cap_usd,
    )
    match kind:
        case ProviderKind.ANTHROPIC:
            ttl_s = {"5m": 300, "1h": 3600}.get(settings.anthropic_ttl)
            return replace(found, is_enabled=is_enabled and settings.anthropic_enabled, ttl_s=ttl_s)
        case ProviderKind.OPENAI:
            ttl_s = {"30m": 1800, "12h": 43_200}.get(settings.openai_ttl)
            return replace(found, ttl_s=ttl_s, longest_ttl_s=43_200)
        case ProviderKind.GEMINI:
            most = 10_080 if settings.gemini_allow_long else 60
            longest_s = min(settings.gemini_ttl_minutes, most) * 60
            wants = settings.gemini_enabled or prices.mechanism is not Mechanism.CONTENTS
            return replace(found, is_enabled=is_enabled and wants, longest_ttl_s=longest_s)
        case _:
            return found


def token_counter(
    counted: Mapping[str, int],
    factor: float,
    estimated: set[str] | None = None,
    pdf: PdfForm | None = None,
) -> CountTokens:
    """Tokens of a part for the model in use, from what was counted and from sizes.

    Args:
        estimated: takes the digests of texts that were not counted yet; pdf: how the model takes a PDF.
    """

    def tokens_of(part: RequestPart | ToolSchema) -> int:
        match part:
            case Segment():
                known = counted.get(part.sha256)
                if known is None and estimated is not None:
                    estimated.add(part.sha256)
                return scaled(
                    estimate_tokens(len(part.text.encode("utf-8", "replace"))) if known is None else known,
                    factor,
                )
            case AttachmentPart():
                return attachment_tokens(part, pdf, factor)
            case ToolCallPart():
                return scaled(estimate_tokens(len(part.arguments_json) + len(part.name)), factor)
            case ToolResultPart() | ReasoningPart():
                return scaled(estimate_tokens(len(part.text)), factor)
            case ToolSchema():
                return scaled(estimate_tokens(len(part.description) + len(part.parameters_json)), factor)

    return tokens_of
