"""The report has the form of the contract, to the letter."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from core.kernel.values.harvest import (
    Artifact,
    ArtifactClass,
    ArtifactFacts,
    HarvestEstimate,
    HarvestFailure,
    HarvestReport,
)
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.knowledge import Category
from core.knowledge.harvest.harvest_report import report_data, report_text

AT = datetime(2026, 11, 20, tzinfo=UTC)
COUNTS = {
    "facts": 42,
    "decisions": 18,
    "tasks_done": 7,
    "tasks_open": 3,
    "questions": 5,
    "playbooks": 2,
    "files": 11,
}


def artifact(kind: ArtifactClass, name: str = "2026-11-20-a", why: str = "") -> Artifact:
    return Artifact(ArtifactFacts("id", "/p", name, TranscriptKind.DISCUSSION, 5, AT), kind, why)


def found(*extra: Artifact) -> HarvestReport:
    listed = (
        *[artifact(ArtifactClass.LIVE)] * 42,
        *[artifact(ArtifactClass.USER_KEPT)] * 3,
        *[artifact(ArtifactClass.HARVEST)] * 17,
        *extra,
    )
    size = 2_300_000
    return HarvestReport(listed, HarvestEstimate(size, 0, size, 600_123, 9_000, 0.42))


def test_a_dry_run_reads_as_the_contract_says() -> None:
    report = found(artifact(ArtifactClass.KEEP, "2026-01-02-huge", "too large"))

    assert report_text(report) == (
        "artifacts: live:42, user-kept:3, prune:0, harvest:17, keep:1\n"
        "harvest candidates: 2.3MB (~600K input tokens, ~$0.42), prune candidates: 0B\n"
        "dry run; pass --apply to harvest and reclaim\n"
        "kept (too large): 2026-01-02-huge\n"
    )


def test_an_apply_reads_as_the_contract_says() -> None:
    base = found()
    report = HarvestReport(
        base.artifacts,
        base.estimate,
        is_dry=False,
        reclaimed_bytes=2_300_000,
        items=tuple(COUNTS.items()),
        failures=(HarvestFailure("2026-02-03-b", "/b", "", "harvest output invalid after 2 attempts: no"),),
        digest_path="/h/knowledge/digest.md",
        ledger_path="/h/knowledge/ledger.json",
    )

    assert list(COUNTS) == [category.value for category in Category]
    assert report_text(report).split("\n")[2:] == [
        "kept (harvest output invalid after 2 attempts: no): 2026-02-03-b",
        "",
        "reclaimed: 2.3MB",
        "harvested items: facts:42, decisions:18, tasks_done:7, tasks_open:3, questions:5, playbooks:2, files:11",
        "digest: /h/knowledge/digest.md",
        "ledger: /h/knowledge/ledger.json",
        "",
    ]
    assert report.is_failed


def test_a_name_or_reason_of_many_lines_stays_on_its_line() -> None:
    report = found(artifact(ArtifactClass.KEEP, "a\nreclaimed: 9GB", "b\r\nc"))

    assert report_text(report).count("\n") == 4
    assert "kept (b c): a reclaimed: 9GB" in report_text(report)


def test_the_report_for_programs_holds_every_conversation_and_is_json() -> None:
    data = json.loads(json.dumps(report_data(found(artifact(ArtifactClass.KEEP, why="too large")))))

    assert data["artifacts"] == {"live": 42, "user-kept": 3, "prune": 0, "harvest": 17, "keep": 1}
    assert data["estimate"]["cost_usd_est"] == 0.42
    assert len(data["conversations"]) == 63
    assert data["conversations"][-1]["why"] == "too large"
    assert data["is_dry"] is True
