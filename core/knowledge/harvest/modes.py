"""Modes of the memory: who may write, and what is written without being asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from core.kernel.language import tr
from core.kernel.tokens import estimate_tokens
from core.kernel.values.harvest import (
    Artifact,
    ArtifactClass,
    ArtifactFacts,
    HarvestEstimate,
    HarvestPreview,
    ProposedItem,
)
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.provider import ModelProfile, ProviderKind
from core.kernel.values.settings import AfterHarvest, KnowledgeSettings, MemoryMode, Settings
from core.kernel.values.state import AppState
from core.kernel.values.updates import dismiss
from core.kernel.values.usage import Usage
from core.knowledge.harvest.harvest_messages import NOTICE
from core.services.providers.profiles import usual_model
from core.services.spending.pricing import cost

# Choice of the model that reads in a harvest.


def harvest_reader(state: AppState) -> tuple[str, str]:
    """The provider and the model that read in a harvest, as the settings have it now; a model empty where none is known."""
    return reader_of(state.config.settings, lambda provider: state.config.models.get(provider, ()))


def reader_of(
    settings: Settings, offered: Callable[[str], Sequence[ModelProfile]], provider: str = "", model: str = ""
) -> tuple[str, str]:
    """The provider and the model that read: as asked for, else as the person has set, else the built-in one.

    A harvest reads the conversations of all projects: a project's file says neither who reads them nor where.

    Args:
        offered: the models of a provider, in the order in which they are offered.
        provider, model: as asked for, empty where nobody asks.
    """
    ai = settings.ai if settings.own_ai is None else settings.own_ai
    usual = settings.knowledge.harvest_provider or ai.provider
    if not usual or usual in settings.project_servers:
        usual = ProviderKind.EMBEDDED.value
    chosen = provider or usual
    named = settings.knowledge.harvest_model if chosen == usual else ""
    return chosen, model or named or usual_model(ai, chosen, offered(chosen))


def is_small_model(provider: str) -> bool:
    """True if what a provider's model says is not taken unseen: nothing is ticked beforehand, an apply asks first."""
    return provider == ProviderKind.EMBEDDED.value


RECALL_ONLY = tr("Memory is set to recall only: the program harvests and writes nothing")
RECALL_REMEDY = tr("Choose another mode in the harvest settings (`ai_settings.knowledge.mode`)")
NOTHING_AUTOMATIC = tr("No category is ticked: the program writes nothing without asking you.")


def is_recall_only(settings: KnowledgeSettings) -> bool:
    """True if no harvest may read a conversation or write what it found. A person still writes by hand."""
    return settings.mode == MemoryMode.RECALL


def writes_nothing_itself(settings: KnowledgeSettings) -> bool:
    """True if the automatic mode is chosen for no category, so that it is as if each write were confirmed."""
    return settings.mode == MemoryMode.AUTOMATIC and not settings.automatic_categories


def without_old_notice(before: AppState, after: AppState) -> AppState:
    """The state without the notice of recall only, once another mode is chosen: it does not hold any more."""
    was, now = before.config.settings.knowledge, after.config.settings.knowledge
    if was is now:
        return after
    is_told = any((one.id, one.text) == (NOTICE, RECALL_ONLY) for one in after.program.notices)
    return dismiss(after, NOTICE) if is_told and is_recall_only(was) and not is_recall_only(now) else after


def automatic_part(
    preview: HarvestPreview, settings: KnowledgeSettings, provider: str
) -> tuple[HarvestPreview, HarvestPreview]:
    """The part of a preview that is written without being asked, and the rest, which waits for the person.

    A conversation is written as a whole, for it counts as read then: one in which something waits, waits. What
    replaces a known item waits, and so does all that the person has touched or the built-in small model said.
    """
    is_on = settings.mode == MemoryMode.AUTOMATIC and not is_small_model(provider)
    ticked = frozenset(settings.automatic_categories)
    waiting = {one.artifact_path for one in preview.items if not is_on or _waits(one, ticked)}
    found = {one.artifact_path for one in preview.items if not one.is_known}
    chosen = {one.path for one in preview.sources if one.path in found} - waiting if is_on else set()
    return _all_wanted(_of(preview, chosen, is_in=True)), _of(preview, chosen, is_in=False)


def _all_wanted(preview: HarvestPreview) -> HarvestPreview:
    """A preview of which all that is new is written, for nobody looks at it first. O(items)."""
    items = (one if one.is_known else replace(one, is_ticked=True, was_ticked=True) for one in preview.items)
    return replace(preview, items=tuple(items))


def _waits(one: ProposedItem, ticked: frozenset[str]) -> bool:
    if one.is_known:
        return False
    is_touched = one.is_edited or one.is_tick_changed
    return (
        one.item.category.value not in ticked
        or one.replaces is not None
        or bool(one.deleted_on)
        or bool(one.near or one.near_here)
        or is_touched
    )


def _of(preview: HarvestPreview, paths: set[str], *, is_in: bool) -> HarvestPreview:
    sources = tuple(one for one in preview.sources if (one.path in paths) is is_in)
    items = tuple(one for one in preview.items if (one.artifact_path in paths) is is_in)
    part = replace(preview, sources=sources, items=items)
    return replace(part, failures=()) if is_in else part


def fate_of(after: AfterHarvest, facts: ArtifactFacts) -> AfterHarvest:
    """Fate of one conversation: an imported one goes to the trash only where the person said so."""
    if after is AfterHarvest.TRASH and facts.origin:
        return AfterHarvest.KEEP
    return AfterHarvest.TRASH if after is AfterHarvest.TRASH_ALL else after


# Class of each conversation in a harvest, and the estimate of its cost. Pure.

SUMMARIZE_THRESHOLD_BYTES = 64 * 1024
"""Larger conversations are read in pieces."""

MAX_HARVEST_SOURCE_BYTES = 1024 * 1024
"""Larger conversations are kept."""

LATELY = tr("changed recently")
LIVE_FOR = timedelta(days=7)
PROMPT_BYTES = 2_400
"""Bytes of the template and the fence that go with every piece."""

OUTPUT_TOKENS_EST = 600
"""Tokens of the reply to one piece: some fifteen items of a sentence each."""


LEAST_PIECE_BYTES = 2_000
BYTES_PER_TOKEN = 3
"""Fewer than prose has (four), so that code and other scripts than Latin fit as well."""

OUTPUT_SHARE = 0.25
"""Share of a model's window that is left for the reply."""


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
        return Artifact(facts=facts, kind=ArtifactClass.LIVE, why=tr("open"))
    if now - facts.updated_at < live_for:
        return Artifact(facts=facts, kind=ArtifactClass.LIVE, why=LATELY)
    if facts.is_pinned:
        return Artifact(facts=facts, kind=ArtifactClass.USER_KEPT, why=tr("pinned"))
    if facts.is_restored:
        return Artifact(facts=facts, kind=ArtifactClass.USER_KEPT, why=tr("restored from the trash"))
    if facts.is_kept:
        return Artifact(facts=facts, kind=ArtifactClass.USER_KEPT, why=tr("read and kept"))
    if facts.kind is TranscriptKind.TEMPORARY:
        return Artifact(facts=facts, kind=ArtifactClass.PRUNE, why=tr("abandoned"))
    if facts.problem:
        return Artifact(facts=facts, kind=ArtifactClass.KEEP, why=facts.problem)
    if facts.kind is TranscriptKind.UNKNOWN:
        return Artifact(facts=facts, kind=ArtifactClass.KEEP, why=tr("not recognised"))
    if facts.is_empty:
        return (
            Artifact(facts=facts, kind=ArtifactClass.KEEP, why=tr("an unsent draft"))
            if facts.has_draft
            else Artifact(facts=facts, kind=ArtifactClass.PRUNE, why=tr("empty"))
        )
    if facts.size_bytes > max_bytes:
        return Artifact(facts=facts, kind=ArtifactClass.KEEP, why=tr("too large"))
    return Artifact(facts=facts, kind=ArtifactClass.HARVEST)


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
    new_bytes = sum(facts.sent_bytes for facts in unread)
    calls = sum(-(-facts.sent_bytes // piece_bytes) for facts in unread)
    tokens = estimate_tokens(new_bytes + calls * PROMPT_BYTES)
    price = _cost(provider, model, tokens, calls, now)
    output = calls * OUTPUT_TOKENS_EST
    size = sum(facts.size_bytes for facts in candidates)
    return HarvestEstimate(
        candidate_bytes=size,
        prune_bytes=pruned,
        new_bytes=new_bytes,
        input_tokens_est=tokens,
        output_tokens_est=output,
        cost_usd=price,
        calls=calls,
        piece_bytes=piece_bytes,
    )


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
