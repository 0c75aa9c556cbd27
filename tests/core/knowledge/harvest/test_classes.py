"""The class of a conversation is the first that matches; the unknown is never removed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from core.kernel.values.harvest import Artifact, ArtifactClass, ArtifactFacts
from core.kernel.values.imports import TranscriptKind
from core.knowledge.harvest.modes import MAX_HARVEST_SOURCE_BYTES, classify, estimate

NOW = datetime(2026, 11, 20, tzinfo=UTC)
OLD = NOW - timedelta(days=30)


def facts(**changes: Any) -> ArtifactFacts:
    base = ArtifactFacts(
        "20261001-080000-abcdef", "/h/log.jsonl", "2026-10-01-tides", TranscriptKind.DISCUSSION, 1_000, OLD
    )
    return replace(base, **{"new_bytes": 1_000, "sha256": "a" * 64, **changes})


def kind_of(**changes: Any) -> ArtifactClass:
    return classify(facts(**changes), NOW).kind


def test_an_old_conversation_is_harvested() -> None:
    assert kind_of() is ArtifactClass.HARVEST


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"is_open": True}, ArtifactClass.LIVE),
        ({"updated_at": NOW - timedelta(days=6, hours=23)}, ArtifactClass.LIVE),
        ({"updated_at": NOW - timedelta(days=7)}, ArtifactClass.HARVEST),
        ({"updated_at": NOW + timedelta(days=400)}, ArtifactClass.LIVE),
        ({"is_pinned": True}, ArtifactClass.USER_KEPT),
        ({"is_empty": True, "size_bytes": 0}, ArtifactClass.PRUNE),
        ({"is_empty": True, "has_draft": True}, ArtifactClass.KEEP),
        ({"has_draft": True}, ArtifactClass.HARVEST),
        ({"kind": TranscriptKind.TEMPORARY}, ArtifactClass.PRUNE),
        ({"kind": TranscriptKind.TEMPORARY, "size_bytes": 9**9}, ArtifactClass.PRUNE),
        ({"kind": TranscriptKind.UNKNOWN}, ArtifactClass.KEEP),
        ({"size_bytes": MAX_HARVEST_SOURCE_BYTES}, ArtifactClass.HARVEST),
        ({"size_bytes": MAX_HARVEST_SOURCE_BYTES + 1}, ArtifactClass.KEEP),
        ({"problem": "cannot be read"}, ArtifactClass.KEEP),
    ],
)
def test_each_rule(changes: dict[str, Any], kind: ArtifactClass) -> None:
    assert kind_of(**changes) is kind


def test_the_first_rule_that_matches_wins() -> None:
    everything: dict[str, Any] = {
        "is_open": True,
        "updated_at": NOW,
        "is_pinned": True,
        "is_empty": True,
        "problem": "x",
        "size_bytes": 9**9,
    }
    seen = []
    for given in ("is_open", "updated_at", "is_pinned", "is_empty", "problem", "size_bytes"):
        seen.append(kind_of(**everything))
        del everything[given]
    seen.append(kind_of(**everything))

    live, kept, keep = ArtifactClass.LIVE, ArtifactClass.USER_KEPT, ArtifactClass.KEEP
    assert seen[:3] == [live, live, kept]
    assert set(seen[3:6]) == {keep}
    assert seen[6] is ArtifactClass.HARVEST


def test_how_long_counts_as_live_and_what_is_too_large_are_settings() -> None:
    assert classify(facts(updated_at=NOW), NOW, live_for=timedelta(0)).kind is ArtifactClass.HARVEST
    assert classify(facts(), NOW, max_bytes=999) == Artifact(facts(), ArtifactClass.KEEP, "too large")


def artifacts(*found: ArtifactFacts) -> list[Artifact]:
    return [classify(one, NOW) for one in found]


def test_an_estimate_counts_what_a_model_would_read() -> None:
    listed = artifacts(
        facts(sha256="1", size_bytes=400_000, new_bytes=400_000),
        facts(sha256="2", size_bytes=400_000, new_bytes=100_000),
        facts(sha256="3", size_bytes=400_000, new_bytes=0, known_status="harvested"),
        facts(is_empty=True, size_bytes=77),
        facts(is_pinned=True, size_bytes=10**6),
    )

    found = estimate(listed, "anthropic", "claude-haiku-4-5", NOW)

    assert found.candidate_bytes == 1_200_000
    assert found.prune_bytes == 77
    assert found.new_bytes == 500_000
    assert 125_000 < found.input_tokens_est < 132_000
    assert found.cost_usd is not None
    assert 0.1 < found.cost_usd < 0.3


def test_copies_of_one_conversation_are_read_once() -> None:
    one = estimate(artifacts(facts(path="/a")), "embedded", "m", NOW)
    two = estimate(artifacts(facts(path="/a"), facts(path="/b")), "embedded", "m", NOW)

    assert two.new_bytes == one.new_bytes
    assert two.candidate_bytes == 2 * one.candidate_bytes


def test_a_price_that_nobody_knows_is_not_nothing() -> None:
    assert estimate(artifacts(facts()), "local", "unheard-of", NOW).cost_usd is None
    assert estimate(artifacts(facts()), "embedded", "SmolLM2", NOW).cost_usd == 0.0
    assert estimate(artifacts(), "local", "unheard-of", NOW).cost_usd == 0.0


def test_reclaiming_without_distilling_reads_nothing() -> None:
    found = estimate(artifacts(facts()), "anthropic", "claude-haiku-4-5", NOW, harvests=False)

    assert (found.candidate_bytes, found.input_tokens_est, found.cost_usd) == (1_000, 0, 0.0)
