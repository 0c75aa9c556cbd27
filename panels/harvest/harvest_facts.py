"""Facts of the Harvest panel in words: states, and figures of a choice. Pure, O(rows) only where remembered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import PurePath

import msgspec
from msgspec.structs import replace

from core.kernel import figures as fmt
from core.kernel.language import capital, tr
from core.kernel.values.harvest import (
    Artifact,
    ArtifactClass,
    ArtifactFacts,
    HarvestBatch,
    HarvestEstimate,
    HarvestFailure,
    HarvestItem,
    HarvestLook,
    HarvestPhase,
    HarvestPreview,
    HarvestState,
    ProposedItem,
)
from core.kernel.values.knowledge import CATEGORY_WORDS, Category
from core.kernel.values.settings import AfterHarvest
from core.kernel.values.state import AppState
from core.knowledge.harvest.harvest_reply import cleaned, is_whole
from core.knowledge.harvest.modes import (
    OUTPUT_TOKENS_EST,
    PROMPT_BYTES,
    RECALL_ONLY,
    fate_of,
    is_recall_only,
    is_small_model,
)
from core.knowledge.harvest.preview import conversation_mark, marks_of
from core.knowledge.harvest.transcript_sources import is_plain_path
from panels.base.ui import Option, Tone
from panels.base.view import Memo
from panels.knowledge.rows import SECTIONS, reader_fault

REPORT_ORDER = (
    ArtifactClass.LIVE,
    ArtifactClass.USER_KEPT,
    ArtifactClass.PRUNE,
    ArtifactClass.HARVEST,
    ArtifactClass.KEEP,
)
"""As the report names them."""

CLASS_TONES: dict[ArtifactClass, Tone] = {
    ArtifactClass.HARVEST: "accent",
    ArtifactClass.PRUNE: "warn",
    ArtifactClass.LIVE: "ok",
}
CLASS_WORDS = {
    ArtifactClass.HARVEST: tr("to read"),
    ArtifactClass.PRUNE: tr("empty"),
    ArtifactClass.LIVE: tr("in use"),
    ArtifactClass.USER_KEPT: tr("kept by you"),
    ArtifactClass.KEEP: tr("left alone"),
}
IN_A_BATCH = tr("in a batch")
_IN_ORDER = tuple(dict.fromkeys((CLASS_WORDS[ArtifactClass.HARVEST], IN_A_BATCH, *CLASS_WORDS.values())))
CLASS_TIPS = {
    ArtifactClass.LIVE: tr("This conversation is open or changed recently, so the harvest skips it"),
    ArtifactClass.USER_KEPT: tr("You kept this conversation, so the harvest skips it"),
    ArtifactClass.PRUNE: tr("This conversation is empty: the next Apply moves it to the trash"),
    ArtifactClass.KEEP: tr("The program never reads and never removes this conversation"),
    ArtifactClass.HARVEST: tr(
        "A model can read this conversation. After Apply writes its items, the conversation goes to the trash"
    ),
}
CATEGORY_ICONS = {category: icon for category, _, icon in SECTIONS}
CATEGORIES = tuple(Option(value=one.value, label=capital(CATEGORY_WORDS[one][0])) for one in Category)
REPLY_AS_BYTES = OUTPUT_TOKENS_EST * 4 * 5
"""Cost of a reply, as bytes that are read: four a token, and written ones cost about five times as much."""

PARTS = {Category.PLAYBOOKS: (tr("Name"), tr("Steps")), Category.FILES: (tr("Path"), tr("Note"))}
PHASE_WORDS = {
    HarvestPhase.LOOKING: tr("Looking at the conversations"),
    HarvestPhase.PREVIEWING: tr("Reading conversations"),
    HarvestPhase.APPLYING: tr("Writing the ticked items"),
    HarvestPhase.UNDOING: tr("Undoing the harvest"),
    HarvestPhase.BATCHING: tr("Checking the batches"),
    HarvestPhase.MERGING: tr("Looking for items that mean the same"),
}


def counts_line(artifacts: Sequence[Artifact]) -> str:
    """Counts of each class, as the report's first line has them. O(artifacts)."""
    counts = Counter(one.kind for one in artifacts)
    return ", ".join(f"{kind.value}:{counts[kind]:,}" for kind in REPORT_ORDER)


def counts_words(artifacts: Sequence[Artifact], held: frozenset[str] = frozenset()) -> str:
    """Counts of each class, as a person says them: `4 to read, 1 in a batch, 2 empty`. O(artifacts).

    Args:
        held: hashes of the conversations that wait in batches.
    """
    counts = Counter(class_words(one, held) for one in artifacts)
    known = [f"{counts[words]:,} {words}" for words in _IN_ORDER if counts[words]]
    return ", ".join(known) or tr("No conversations")


def class_words(artifact: Artifact, held: frozenset[str]) -> str:
    """Class of a conversation in a person's words. `held`: as of `counts_words`."""
    waits = artifact.kind is ArtifactClass.HARVEST and artifact.facts.sha256 in held
    return IN_A_BATCH if waits else CLASS_WORDS[artifact.kind]


def part_words(category: Category) -> tuple[str, str]:
    """Names of an item's head and body."""
    return PARTS.get(category, (tr("Text"), tr("Detail (optional)")))


def in_batches(batches: Iterable[HarvestBatch]) -> frozenset[str]:
    """The hashes of the conversations that wait in batches."""
    return frozenset(item.sha256 for one in batches for item in one.items)


def time_text(iso: str, now: datetime | None) -> str:
    """A time of the ledger for a person; what is no time is shown as it stands."""
    return _time_text(iso, None if now is None else now.replace(minute=0, second=0, microsecond=0))


@lru_cache(maxsize=4096)
def _time_text(iso: str, hour: datetime | None) -> str:
    try:
        return fmt.moment(datetime.fromisoformat(iso), hour)
    except (ValueError, OverflowError, OSError):
        return iso or tr("unknown")


def name_of(facts: ArtifactFacts) -> str:
    """Name that the person gives a conversation."""
    return facts.title or facts.name


def known_names(state: AppState, memo: Memo) -> Mapping[str, str]:
    """Names of discussions by id, also of those in the trash. Remembered."""
    sources = state.harvest.look.sources

    def make() -> dict[str, str]:
        named = {discussion_id: name for name, discussion_id in sources.items()}
        named |= {one.discussion_id: one.name for one in state.discussions.trash}
        return named | {one: summary.meta.name for one, summary in state.discussions.summaries.items()}

    return memo.get("harvest names", (sources, state.discussions.trash, state.discussions.summaries), make)


def path_name(names: Mapping[str, str], path: str) -> str:
    """Name of the conversation of a path for the person: a discussion's name, else the end of the path."""
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    found = next((names[part] for part in reversed(parts[-2:]) if part in names), "")
    return found or "/".join(parts[-2:]) or path


def failed_name(names: Mapping[str, str], failure: HarvestFailure) -> str:
    """Name of a conversation that could not be harvested: a discussion's name, else the source's."""
    folder = failure.path.replace("\\", "/").rpartition("/")[0].rpartition("/")[2]
    return names.get(folder, failure.name)


class ArtifactChoice(msgspec.Struct, frozen=True):
    """The candidates that are ticked.

    Args:
        ours: those of this home; pruned: empty ones that Apply removes.
        new_bytes, calls: what a model would read of them, and in how many requests.
    """

    paths: tuple[str, ...]
    ours: tuple[str, ...]
    size_bytes: int
    new_bytes: int
    calls: int
    candidates: int
    pruned: int

    @property
    def is_all(self) -> bool:
        """True if no candidate was left out."""
        return len(self.paths) == self.candidates


def choice(look: HarvestLook, left_out: frozenset[str]) -> ArtifactChoice:
    """Choice among the candidates by ticks; what is in a batch waits for that. O(artifacts)."""
    held = in_batches(look.batches)
    found = (one.facts for one in look.artifacts if one.kind is ArtifactClass.HARVEST)
    candidates = [facts for facts in found if facts.sha256 not in held]
    ticked = [facts for facts in candidates if facts.path not in left_out]
    unread = [facts for facts in ticked if not facts.known_status and facts.sha256 not in look.kept]
    return ArtifactChoice(
        paths=tuple(facts.path for facts in ticked),
        ours=tuple(facts.path for facts in ticked if facts.is_ours),
        size_bytes=sum(facts.size_bytes for facts in ticked),
        new_bytes=sum(facts.sent_bytes for facts in unread),
        calls=sum(look.estimate.calls_for(facts.sent_bytes) for facts in unread),
        candidates=len(candidates),
        pruned=sum(one.kind is ArtifactClass.PRUNE for one in look.artifacts),
    )


def part_of(estimate: HarvestEstimate, new_bytes: int, calls: int) -> HarvestEstimate:
    """The part of an estimate that falls to some of what would be read: each request costs something by itself."""
    read = _share(estimate, new_bytes, calls, PROMPT_BYTES)
    paid = _share(estimate, new_bytes, calls, PROMPT_BYTES + REPLY_AS_BYTES)
    return replace(
        estimate,
        new_bytes=new_bytes,
        calls=calls,
        input_tokens_est=round(estimate.input_tokens_est * read),
        output_tokens_est=calls * OUTPUT_TOKENS_EST,
        cost_usd=None if estimate.cost_usd is None else estimate.cost_usd * paid,
    )


def chosen_estimate(harvest: HarvestState, ticked: ArtifactChoice) -> HarvestEstimate:
    """Estimate of reading the ticked candidates."""
    estimate = harvest.look.estimate
    if ticked.is_all and not harvest.look.kept and not harvest.look.batches:
        return estimate
    return replace(part_of(estimate, ticked.new_bytes, ticked.calls), candidate_bytes=ticked.size_bytes)


def _cost(usd: float | None) -> str:
    return tr("free") if usd == 0 else fmt.money(usd, "report")


def estimate_line(estimate: HarvestEstimate, model: str) -> str:
    """`2.3 MB, ≈600k input tokens, ~$0.42 with Opus`."""
    size, tokens = fmt.size(estimate.candidate_bytes), fmt.tokens_est(estimate.input_tokens_est)
    return tr(
        "{size}, {tokens} input tokens, {cost_usd} with {model}",
        size=size,
        tokens=tokens,
        cost_usd=_cost(estimate.cost_usd),
        model=model,
    )


def row_estimate(estimate: HarvestEstimate, facts: ArtifactFacts) -> str:
    """Cost and tokens of reading one candidate: its part of the whole. The cost first, for a narrow row ends early."""
    if facts.known_status:
        return tr("read before, free")
    part = part_of(estimate, facts.sent_bytes, estimate.calls_for(facts.sent_bytes))
    return tr(
        "{cost_usd}, {input_tokens_est} tokens",
        cost_usd=_cost(part.cost_usd),
        input_tokens_est=fmt.tokens_est(part.input_tokens_est),
    )


def begun(harvest: HarvestState) -> tuple[ArtifactFacts, ...]:
    """The candidates of which the person reviewed something that is neither applied nor discarded. O(artifacts)."""
    marks = marks_of(harvest.review)
    candidates = (one.facts for one in harvest.look.artifacts if one.kind is ArtifactClass.HARVEST and marks)
    return tuple(facts for facts in candidates if conversation_mark(facts.sha256) in marks)


def without_reply(look: HarvestLook, reviewed: Sequence[ArtifactFacts]) -> list[ArtifactFacts]:
    """Those that a model reads again when these are previewed again: no reply is kept."""
    return [one for one in reviewed if not one.known_status and one.sha256 not in look.kept]


def going_on_cost(look: HarvestLook, unread: Sequence[ArtifactFacts]) -> str:
    """Estimate of reading these: nothing where there are none."""
    if not unread:
        return tr("free")
    calls = sum(look.estimate.calls_for(one.sent_bytes) for one in unread)
    part = part_of(look.estimate, sum(one.sent_bytes for one in unread), calls)
    return fmt.price(part.cost_usd)


def _share(estimate: HarvestEstimate, new_bytes: int, calls: int, call_bytes: int) -> float:
    """Share of this in the whole, where each request counts as so many bytes."""
    whole = estimate.new_bytes + estimate.calls * call_bytes
    return min(1.0, (new_bytes + calls * call_bytes) / whole) if whole else 0.0


def cannot_read(state: AppState) -> str:
    """Reason why nothing can be read just now, by the mode of the memory or by the model; empty when it can."""
    return f"{RECALL_ONLY}." if is_recall_only(state.config.settings.knowledge) else reader_fault(state)


def not_looked(harvest: HarvestState) -> str:
    """Words of every part before the first look: what is not known yet is not said to be nothing."""
    return (
        tr("Looking at the conversations…")
        if harvest.is_busy
        else tr("The program has not looked at the conversations yet.")
    )


def progress_line(harvest: HarvestState) -> str:
    """Progress of the run under way, and the conversation in work."""
    far = tr("{done:,} of {total:,}", done=harvest.done, total=harvest.total) if harvest.total else ""
    return " · ".join(filter(None, (far, harvest.doing)))


def can_be(item: HarvestItem) -> tuple[Option, ...]:
    """The categories that an item's words fit: playbooks need steps, file notes a path and a note."""
    has_body = bool(item.body)
    has_path = has_body and (item.head[:1] in "/\\" or item.head[1:2] == ":") and is_plain_path(item.head)
    fits = {Category.PLAYBOOKS: has_body and bool(item.head), Category.FILES: has_path}
    return tuple(
        option
        for option in CATEGORIES
        if option.value == item.category or fits.get(Category(option.value), True)
    )


def says_something(category: Category, head: str, body: str) -> bool:
    """True if words typed into an item can be taken."""
    return is_whole(cleaned(HarvestItem(category=category, head=head, body=body)))


def missing_words(category: Category) -> str:
    """Words that an item needs before it can be taken."""
    match category:
        case Category.PLAYBOOKS:
            return tr("A playbook needs a name and steps.")
        case Category.FILES:
            return tr("A file note needs a path and a note.")
        case _:
            return tr("This item has no text.")


class Outcome(msgspec.Struct, frozen=True):
    """Outcome of Apply."""

    items: int
    moved: int
    read_only: int
    pruned: int
    struck: int = 0
    kept: int = 0
    left: int = 0
    without: int = 0

    @property
    def sentence(self) -> str:
        """`Write 12 items, leave 3 out, strike 1 known one through, move 3 conversations to the trash, remove 2 empty ones`."""
        parts = [
            tr("Write {items}", items=fmt.count(self.items, tr("item"), tr("items")))
            if self.items
            else tr("Write nothing")
        ]
        if self.items and self.without:
            parts.append(tr("leave {without:,} out", without=self.without))
        if self.struck:
            parts.append(
                tr(
                    "strike {struck} through",
                    struck=fmt.count(self.struck, tr("known item"), tr("known items")),
                )
            )
        if self.moved:
            parts.append(
                tr(
                    "move {moved} to the trash",
                    moved=fmt.count(self.moved, tr("conversation"), tr("conversations")),
                )
            )
        if self.kept:
            parts.append(
                tr(
                    "mark {conversations} as read",
                    conversations=fmt.count(self.kept, tr("conversation"), tr("conversations")),
                )
            )
        if self.left:
            parts.append(
                tr(
                    "leave {conversations} unchanged",
                    conversations=fmt.count(self.left, tr("conversation"), tr("conversations")),
                )
            )
        if self.pruned:
            parts.append(
                tr(
                    "remove {pruned}",
                    pruned=fmt.count(self.pruned, tr("empty conversation"), tr("empty conversations")),
                )
            )
        if self.read_only:
            parts.append(
                tr(
                    "leave {sources} of other programs unchanged",
                    sources=fmt.count(self.read_only, tr("source"), tr("sources")),
                )
            )
        return ", ".join(parts)


def outcome(
    preview: HarvestPreview, artifacts: Sequence[Artifact], after: AfterHarvest = AfterHarvest.TRASH
) -> Outcome:
    """Outcome of Apply with a preview. O(items and artifacts)."""
    ours = sum(facts.is_ours for facts in preview.sources)
    fates = [fate_of(after, facts) for facts in preview.sources if facts.is_ours]
    ticked = [one for one in preview.items if one.is_ticked and not one.is_known]
    struck = {one.replaces.item for one in ticked if one.replaces is not None and one.is_replacing}
    return Outcome(
        items=len(ticked),
        without=sum(not (one.is_ticked or one.is_known or one.deleted_on) for one in preview.items),
        moved=fates.count(AfterHarvest.TRASH),
        kept=fates.count(AfterHarvest.KEEP),
        left=fates.count(AfterHarvest.LEAVE),
        read_only=len(preview.sources) - ours,
        pruned=sum(one.kind is ArtifactClass.PRUNE for one in artifacts),
        struck=len(struck),
    )


def known_words(one: ProposedItem) -> str:
    """Words for an item that is not written, because exactly that is known, or proposed above it."""
    if one.is_repeated:
        return tr("The list above has this item already; the harvest does not write it twice")
    return tr("Your knowledge has this item already; the harvest does not write it again")


def deleted_words(one: ProposedItem) -> str:
    """Words for an item that the person deleted before."""
    return tr("You deleted this item on {deleted_on}; tick it to restore it", deleted_on=one.deleted_on)


def unticked_words(preview: HarvestPreview, ticked: int, provider: str) -> str:
    """Reason why items are not ticked beforehand: a small model proposed them, or no screen has shown them; empty for none.

    Args:
        ticked: how many are ticked now; provider: of the model that proposed them.
    """
    bare = [one for one in preview.items if not (one.was_ticked or one.is_known or one.deleted_on)]
    if not bare:
        return ""
    if not is_small_model(provider):
        left = tr("Only the first items are ticked. Read the others.")
        return "" if all(one.is_ticked for one in bare) else left
    if ticked:
        return tr("The built-in model is small. Read each item before you tick it.")
    return tr("The built-in model is small, so nothing is ticked yet. Read each item before you tick it.")


_STRONG = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)


def unmarked(text: str) -> str:
    """Words of a known item for a line that draws no Markdown: without the marks of what stands out."""
    return _STRONG.sub(r"\1", text)


def items_words(counts: Sequence[tuple[str, int]]) -> str:
    """Items by category: `42 facts · 18 decisions`; `nothing` where there are none."""
    known = {one.value: CATEGORY_WORDS[one] for one in Category}
    parts = [fmt.count(count, *known.get(name, (name, name))) for name, count in counts if count]
    return " · ".join(parts) or tr("nothing")


def discussion_of(path: str) -> str:
    """Name of the folder that holds a log: the id of its discussion, if the log is one of ours."""
    return PurePath(path).parent.name


def left_out_words(dropped: int, unfound: int, forgotten: int) -> tuple[str, ...]:
    """Rows of replies that were dropped, quotes that were left out, and items that a person forgot before; empty for none."""
    return (
        fmt.count(dropped, tr("malformed row dropped"), tr("malformed rows dropped")) if dropped else "",
        fmt.count(unfound, tr("quote left out"), tr("quotes left out")) if unfound else "",
        tr("{forgotten:,} forgotten before, left out", forgotten=forgotten) if forgotten else "",
    )
