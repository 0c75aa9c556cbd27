"""Class of each conversation in a harvest, and the estimate of its cost. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from core.base.tokens import estimate_tokens
from core.spending.pricing import cost
from core.values.harvest import Artifact, ArtifactClass, ArtifactFacts, ArtifactKind, HarvestEstimate
from core.values.provider import ModelProfile
from core.values.usage import Usage

SUMMARIZE_THRESHOLD_BYTES = 64 * 1024
"""Larger conversations are read in pieces. Source: 30-knowledge.md, "Budgets"."""

MAX_HARVEST_SOURCE_BYTES = 1024 * 1024
"""Larger conversations are kept. Source: 30-knowledge.md, "Budgets"."""

LATELY = "touched lately"
LIVE_FOR = timedelta(days=7)
PROMPT_BYTES = 2_400
"""Of the template and the fence that go with every piece."""

OUTPUT_TOKENS_EST = 600
"""Of the reply to one piece: some fifteen items of a sentence each."""


LEAST_PIECE_BYTES = 2_000
BYTES_PER_TOKEN = 3
"""Fewer than prose has (four), so that code and other scripts than Latin fit as well."""

OUTPUT_SHARE = 0.25
"""Of a model's window that is left for the reply."""


def piece_bytes_for(profile: ModelProfile) -> int:
    """Piece of a conversation that one call to a model may read, in bytes: `SUMMARIZE_THRESHOLD_BYTES` or
    less.
    """
    window = profile.context_tokens
    if window is None:
        return SUMMARIZE_THRESHOLD_BYTES
    room = int(window * (1 - OUTPUT_SHARE) * BYTES_PER_TOKEN) - PROMPT_BYTES
    return max(LEAST_PIECE_BYTES, min(SUMMARIZE_THRESHOLD_BYTES, room))


def classify(
    facts: ArtifactFacts,
    now: datetime,
    *,
    live_for: timedelta = LIVE_FOR,
    max_bytes: int = MAX_HARVEST_SOURCE_BYTES,
) -> Artifact:
    """Give a conversation its class: the first that matches.

    Args:
        now: UTC; live_for: how long after its last change a conversation counts as live; a change that seems to lie
            ahead of now (a clock that was set back) is one.
        max_bytes: larger ones are kept.
    """
    if facts.is_open:
        return Artifact(facts, ArtifactClass.LIVE, "open")
    if now - facts.updated_at < live_for:
        return Artifact(facts, ArtifactClass.LIVE, LATELY)
    if facts.is_pinned:
        return Artifact(facts, ArtifactClass.USER_KEPT, "pinned")
    if facts.is_restored:
        return Artifact(facts, ArtifactClass.USER_KEPT, "restored from the trash")
    if facts.kind is ArtifactKind.TEMPORARY:
        return Artifact(facts, ArtifactClass.PRUNE, "abandoned")
    if facts.problem:
        return Artifact(facts, ArtifactClass.KEEP, facts.problem)
    if facts.kind is ArtifactKind.UNKNOWN:
        return Artifact(facts, ArtifactClass.KEEP, "not recognised")
    if facts.is_empty:
        return (
            Artifact(facts, ArtifactClass.KEEP, "an unsent draft")
            if facts.has_draft
            else Artifact(facts, ArtifactClass.PRUNE, "empty")
        )
    if facts.size_bytes > max_bytes:
        return Artifact(facts, ArtifactClass.KEEP, "too large")
    return Artifact(facts, ArtifactClass.HARVEST)


def estimate(
    artifacts: Iterable[Artifact],
    provider: str,
    model: str,
    now: datetime,
    *,
    piece_bytes: int = SUMMARIZE_THRESHOLD_BYTES,
    harvests: bool = True,
) -> HarvestEstimate:
    """Estimate of harvesting the candidates.

    Args:
        piece_bytes: what one call reads at most; harvests: False for a reclaim without distilling, which costs
            nothing.
    """
    listed = tuple(artifacts)
    candidates = [a.facts for a in listed if a.kind is ArtifactClass.HARVEST]
    pruned = sum(a.facts.size_bytes for a in listed if a.kind is ArtifactClass.PRUNE)
    unread = _unread(candidates) if harvests else []
    new_bytes = sum(facts.new_bytes for facts in unread)
    calls = sum(-(-facts.new_bytes // piece_bytes) for facts in unread)
    tokens = estimate_tokens(new_bytes + calls * PROMPT_BYTES)
    price = _cost(provider, model, tokens, calls, now)
    output = calls * OUTPUT_TOKENS_EST
    size = sum(facts.size_bytes for facts in candidates)
    return HarvestEstimate(size, pruned, new_bytes, tokens, output, price, calls, piece_bytes)


def _unread(candidates: Sequence[ArtifactFacts]) -> list[ArtifactFacts]:
    """Those whose content a model has not read: copies of one conversation are read once."""
    return list(
        {facts.sha256 or facts.path: facts for facts in candidates if not facts.known_status}.values()
    )


def _cost(provider: str, model: str, tokens: int, calls: int, now: datetime) -> float | None:
    """The price of all calls, each of average size: prices rise with the length of a request."""
    if calls == 0:
        return 0.0
    one = cost(provider, model, Usage(input_tokens=tokens // calls, output_tokens=OUTPUT_TOKENS_EST), now)
    return None if one is None else one * calls
