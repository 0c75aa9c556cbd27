"""Each shape with something in it that its program would not write: read as far as it goes, or said. More: `make faults`."""

from __future__ import annotations

import pytest

from core.kernel.values.imports import TranscriptKind
from core.talk.transcripts.databases import HEAD
from core.talk.transcripts.transcript_reader import read_transcripts, recognised
from tests.core.talk.transcripts.shape_fuzz import SEEDS, Seed, problem


@pytest.mark.parametrize("seed", SEEDS, ids=[one.id for one in SEEDS])
def test_a_changed_file_is_read_or_said_and_nothing_raises(seed: Seed) -> None:
    assert [said for number in range(12) if (said := problem(seed, number))] == []


def test_every_reader_is_tried_with_a_file_that_it_knows() -> None:
    tried = {seed.kind for seed in SEEDS}
    databases = {seed.kind for seed in SEEDS if seed.data.startswith(HEAD)}
    assert tried == set(TranscriptKind) - {TranscriptKind.TEMPORARY, TranscriptKind.UNKNOWN}
    of_programs = {TranscriptKind.LLM, TranscriptKind.OPENCODE, TranscriptKind.ZED, TranscriptKind.GOOSE}
    assert databases == of_programs | {TranscriptKind.CRUSH}
    for seed in SEEDS:
        assert recognised(seed.data, seed.named) is seed.kind
        assert list(read_transcripts(seed.kind, seed.data))
