"""Sample states of the harvest: nothing, looked, begun, previewing, previewed, applying, applied, undone, failed, many."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from core.kernel.values.harvest import (
    ApplySummary,
    Artifact,
    ArtifactClass,
    ArtifactFacts,
    BatchItem,
    BatchReport,
    BatchState,
    HarvestBatch,
    HarvestEstimate,
    HarvestFailure,
    HarvestItem,
    HarvestLook,
    HarvestPhase,
    HarvestPreview,
    HarvestReport,
    HarvestState,
    HarvestUse,
    ProposedItem,
    ReviewChoice,
    UndoReport,
)
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.knowledge import Category, HarvestLedgerEntry, LedgerStatus
from core.kernel.values.settings import KnowledgeSettings, Settings
from core.kernel.values.state import AppState
from core.kernel.values.usage import Usage
from tests.panels import states
from tests.panels.states import NOW
from tests.state_fields import with_fields

CLASSES = {
    ArtifactClass.HARVEST: "",
    ArtifactClass.LIVE: "changed recently",
    ArtifactClass.USER_KEPT: "pinned",
    ArtifactClass.PRUNE: "empty",
    ArtifactClass.KEEP: "too large",
}
LONG = (
    "A very long name that somebody gave to a discussion about the tide tables of the northern harbours " * 2
)
WORDS = (
    (Category.DECISIONS, "The cache slot stays immutable; a fork shares its prefix until it diverges.",
     "Copying it eagerly cost 11.9k tokens for every fork."),
    (Category.FACTS, "Anthropic counts a 5-minute entry from its last read, not from its write.", ""),
    (Category.TASKS_OPEN, "Measure the lazy fork against the eager one with ten turns each.", ""),
    (Category.QUESTIONS, "Does the 1-hour lifetime pay when a person answers within four minutes?", ""),
    (Category.PLAYBOOKS, "Find what voided a prefix", "Compare the layer hashes of two requests, then read the first that differs."),
    (Category.FILES, "/home/person/work/cachelab/src/cachelab/slots.py", "Slot.touch is the only place that moves expires_at."),
    (Category.TASKS_DONE, "Split the ledger from the planner.", ""),
)  # fmt: skip


def facts(number: int, **changes: object) -> ArtifactFacts:
    """A conversation of this home."""
    made = ArtifactFacts(
        id=f"h{number}", path=f"/home/person/.manual_slop/discussions/h{number}/log.jsonl",
        name=f"2026-11-{1 + number % 9:02d}-conversation-{number}", kind=TranscriptKind.DISCUSSION,
        size_bytes=80_000 + 1_700 * number, updated_at=NOW - timedelta(days=9 + number, hours=3),
        title=f"Conversation {number}", sha256=f"{number:064x}", new_bytes=80_000 + 1_700 * number,
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def artifacts() -> tuple[Artifact, ...]:
    """Conversations of every class and kind."""
    return (
        Artifact(facts(1, id="d1", title="Cache TTL policy", name="2026-11-10-cache-ttl-policy"), ArtifactClass.HARVEST),
        Artifact(facts(2, title="Harvest worker design"), ArtifactClass.HARVEST),
        Artifact(facts(3, title="Parser regressions", known_status="harvested"), ArtifactClass.HARVEST),
        Artifact(
            facts(4, id="", title="", kind=TranscriptKind.CLAUDE_CODE, name="claude-code-7f3a",
                  path="/home/person/.claude/projects/cachelab/7f3a.jsonl", size_bytes=640_000),
            ArtifactClass.HARVEST,
        ),
        Artifact(facts(5, title="Untitled", size_bytes=0, is_empty=True), ArtifactClass.PRUNE, "empty"),
        Artifact(facts(6, title="Untitled 2", size_bytes=0, is_empty=True), ArtifactClass.PRUNE, "empty"),
        Artifact(facts(7, title="Release checklist", is_pinned=True), ArtifactClass.USER_KEPT, "pinned"),
        Artifact(facts(8, title="Knowledge import", size_bytes=3_400_000), ArtifactClass.KEEP, "too large"),
        Artifact(facts(9, title="Today's work", updated_at=NOW - timedelta(minutes=40)), ArtifactClass.LIVE, "open"),
    )  # fmt: skip


def estimate() -> HarvestEstimate:
    """Of the candidates above."""
    return HarvestEstimate(891_800, 0, 811_700, 204_000, 9_000, 0.42, calls=15, piece_bytes=65_536)


def ledger() -> tuple[HarvestLedgerEntry, ...]:
    """An entry of every status, oldest first as the file has them."""
    counts = {"facts": 4, "decisions": 2, "tasks_open": 1}
    return (
        HarvestLedgerEntry("aa", "/old/h90/log.jsonl", LedgerStatus.HARVESTED, "2026-10-01T09:00:00.000001+00:00", True, 41_000, counts),
        HarvestLedgerEntry("bb", "/old/export.md", LedgerStatus.HARVESTED, "2026-10-02T09:00:00.000001+00:00", True, 9_000, counts,
                    undone_at="2026-10-03T10:00:00.000001+00:00"),
        HarvestLedgerEntry("cc", "/old/h91/log.jsonl", LedgerStatus.HARVEST_FAILED, "2026-11-01T09:00:00.000001+00:00", size_bytes=80_000,
                    error="harvest output invalid after 2 attempts: not valid JSON"),
        HarvestLedgerEntry("dd", "/old/big.jsonl", LedgerStatus.TOO_LARGE, "2026-11-02T09:00:00.000001+00:00", size_bytes=3_000_000),
        HarvestLedgerEntry("ee", "/old/h92/log.jsonl", LedgerStatus.DELETED_UNHARVESTED, "2026-11-03T09:00:00.000001+00:00", True, 8_000),
        HarvestLedgerEntry("path:/tmp/x", "/old/x.tmp", LedgerStatus.PRUNED, "2026-11-20T13:00:00.000001+00:00", True, 10),
    )  # fmt: skip


def applies() -> tuple[ApplySummary, ...]:
    """Two applies, the older one taken back."""
    return (
        ApplySummary(
            "a2", "2026-11-20T13:59:00.000001+00:00", "", 3, 12, 3, sources=("/old/d1/log.jsonl", "/old/x")
        ),
        ApplySummary("a1", "2026-10-02T09:00:00.000001+00:00", "2026-10-03T10:00:00.000001+00:00", 1, 7, 1),
    )


def look() -> HarvestLook:
    """What a look found."""
    return HarvestLook(artifacts(), estimate(), ledger(), applies(), {"2026-11-10-cache-ttl-policy": "d1"})


def items(about: ArtifactFacts, start: int = 0, count: int = len(WORDS)) -> tuple[ProposedItem, ...]:
    """What a model found in one conversation."""
    return tuple(
        ProposedItem(
            f"{about.sha256[-8:]}-{n}",
            HarvestItem(*WORDS[n % len(WORDS)]),
            about.name,
            about.path,
            about.sha256,
        )
        for n in range(start, start + count)
    )


def preview() -> HarvestPreview:
    """Two conversations with items, one with nothing, one that failed; one item known, one like another."""
    first, second, third, fourth = (one.facts for one in artifacts()[:4])
    found = list(items(first))
    found[1] = replace(
        found[1],
        is_known=True,
        is_ticked=False,
        near=("Anthropic counts a 5-minute entry from its last read, not from its write.",),
    )
    found[3] = replace(
        found[3],
        near=("Does the 1-hour lifetime pay for short gaps?", "Which lifetime pays at four minutes?"),
    )
    found[6] = replace(found[6], is_ticked=False, is_edited=True)
    failure = HarvestFailure(third.title, third.path, third.sha256,
                             "harvest output invalid after 2 attempts: not valid JSON: Expecting value: line 1 column 1")  # fmt: skip
    return HarvestPreview(
        (first, second, fourth), (*found, *items(second, 2, 4)), (failure,), dropped=1, calls=5
    )


def report() -> HarvestReport:
    """Of an apply that did not succeed with everything."""
    failure = HarvestFailure("Parser regressions", "/x", "cc", "the provider timed out after 5 minutes")
    counts = (("facts", 3), ("decisions", 4), ("tasks_done", 1), ("tasks_open", 2), ("questions", 1),
              ("playbooks", 0), ("files", 1))  # fmt: skip
    return HarvestReport(
        artifacts(), estimate(), False, 246_000, counts, 1, 1, (failure,),
        "/home/person/.manual_slop/knowledge/digest.md", "/home/person/.manual_slop/knowledge/ledger.json",
    )  # fmt: skip


def undo_report() -> UndoReport:
    """An undo that found a line changed."""
    return UndoReport("a2", 11, ("facts.md: Anthropic counts a 5-minute entry from its last read. Mostly.",), ("d1", "gone"),
                      ("harbour.md could not be read: permission denied",))  # fmt: skip


def state(harvest: HarvestState, **changes: object) -> AppState:
    """A normal day with a harvest."""
    knowledge = KnowledgeSettings(harvest_sources=("/home/person/.claude/projects",), after_harvest="trash")
    settings = Settings(knowledge=knowledge)
    settings = replace(settings, ai=replace(settings.ai, provider="anthropic", model="claude-opus-4.8"))
    made = states.working(
        harvest=harvest, settings=settings, home="/home/person/.manual_slop", is_loading=False
    )
    return with_fields(made, **changes)


def seen(**changes: object) -> HarvestState:
    """A harvest after a look."""
    made = HarvestState(
        provider="anthropic", model="claude-opus-4.8", looked_at=NOW - timedelta(minutes=2), look=look()
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def nothing() -> AppState:
    """A look that found nothing at all."""
    return state(seen(look=HarvestLook()))


def unseen() -> AppState:
    """Before the first look."""
    return state(HarvestState())


def looked() -> AppState:
    """After a look."""
    return state(seen())


def begun(*kept: int, **changes: object) -> AppState:
    """A review of the first two candidates, and of one that is gone. `kept`: those whose replies are all there."""
    marks = ("a" * 16, "b" * 16)
    found = list(artifacts())
    for number, mark in enumerate(marks):
        found[number] = replace(found[number], facts=replace(found[number].facts, sha256=mark * 4))
    hashes = frozenset(found[number].facts.sha256 for number in kept)
    review = {f"{mark}-0/1": ReviewChoice(False) for mark in (*marks, "c" * 16)}
    made = seen(look=replace(look(), artifacts=tuple(found), kept=hashes), review=review)
    return state(replace(made, **changes))  # type: ignore[arg-type]


def previewing() -> AppState:
    """The second of four conversations is read."""
    first = artifacts()[0].facts
    part = HarvestPreview((first,), items(first), calls=1)
    use = HarvestUse(1, Usage(24_000, 800), 0.11)
    return state(seen(phase=HarvestPhase.PREVIEWING, done=1, total=4, doing="2026-11-03-harvest-worker-design",
                      preview=part, use=use, run_use=use))  # fmt: skip


def previewed() -> AppState:
    """Everything was read."""
    use = HarvestUse(5, Usage(204_000, 5_200), 0.39)
    return state(seen(preview=preview(), use=use, run_use=use))


def applying() -> AppState:
    """What is ticked is being written."""
    return state(seen(preview=preview(), phase=HarvestPhase.APPLYING, done=1, total=3, doing="facts.md"))


def applied() -> AppState:
    """After an apply."""
    return state(seen(report=report()))


def undone() -> AppState:
    """After an undo."""
    return state(seen(undone=undo_report()))


def failed() -> AppState:
    """A run that could not go on."""
    text = "The ledger is unreadable: ledger.json, line 12"
    return state(seen(problem=text, remedy="Repair the line or move the file away; nothing was changed."))


def wordy() -> AppState:
    """Long names, other scripts, words without spaces."""
    about = facts(1, title=LONG, name="2026-11-10-" + "x" * 120)
    other = facts(2, title="潮汐表と港の議論 · مناقشة المد والجزر · 🐚" * 3)
    long_item = HarvestItem(Category.DECISIONS, "潮汐の計算は調和定数から始める。" * 12, "w" * 400)
    path_item = HarvestItem(Category.FILES, "/home/person/" + "deep/" * 40 + "file.py", LONG * 3)
    found = (
        ProposedItem("w1", long_item, about.name, about.path, about.sha256, near=(LONG, "潮汐" * 90)),
        ProposedItem("w2", path_item, other.name, other.path, other.sha256),
    )
    failure = HarvestFailure(LONG, about.path, "x", "e" * 300)
    many_kept = Artifact(facts(3, title=LONG), ArtifactClass.KEEP, "cannot be read: " + "p" * 200)
    seen_now = HarvestLook(
        (Artifact(about, ArtifactClass.HARVEST), Artifact(other, ArtifactClass.HARVEST), many_kept), estimate(),
        (HarvestLedgerEntry("aa", "/" + "deep/" * 40, LedgerStatus.HARVEST_FAILED, "not a time", error="e" * 300),), applies(),
    )  # fmt: skip
    shown = HarvestPreview((about, other), found, (failure,), 3, 9)
    return state(seen(look=seen_now, preview=shown, report=replace(report(), artifacts=seen_now.artifacts)))


def batched() -> AppState:
    """A batch that is open, one that was collected, and what went wrong with it."""
    first, second = (one.facts for one in artifacts()[:2])
    items = tuple(BatchItem(one.name, one.sha256, one.path, one.name) for one in (first, second))
    closed = HarvestBatch(
        "t", "anthropic", "m", "2026-11-23T00:00:00Z", items,
        state=BatchState.COLLECTED, name="msgbatch_1", answered=1, taken=(0,), paid_usd=0.02,
    )  # fmt: skip
    sent = HarvestBatch("u", "anthropic", "m", "2026-11-23T00:00:00Z", (), 0.21, state=BatchState.SUBMITTED)
    told = BatchReport((closed,), problems=("1 request expired.",))
    return state(replace(seen(look=replace(look(), batches=(sent,))), batched=told))


def many(count: int = 100_000) -> AppState:
    """As many of everything as there could ever be."""
    kinds = tuple(CLASSES)
    every = tuple(Artifact(facts(n), kinds[n % 5], CLASSES[kinds[n % 5]]) for n in range(count))
    entries = tuple(
        HarvestLedgerEntry(f"{n:064x}", f"/old/h{n}/log.jsonl", tuple(LedgerStatus)[n % 5],
                    f"2026-{1 + n % 11:02d}-{1 + n % 27:02d}T09:00:00.{n:06d}+00:00", n % 2 == 0, n, {"facts": n % 9})
        for n in range(count)
    )  # fmt: skip
    sources = tuple(facts(n) for n in range(count // 10))
    found = tuple(one for about in sources for one in items(about, 0, 10))
    made = HarvestLook(every, estimate(), entries, applies())
    return state(seen(look=made, preview=HarvestPreview(sources, found, calls=count // 10)))
