"""Documents of each kind with something in them that no office program writes. More: `make faults`."""

from __future__ import annotations

import pytest

from tests.core.talk.discussion.document_fuzz import SEEDS, DocumentSeed, problem


@pytest.mark.parametrize("seed", SEEDS, ids=[one.id for one in SEEDS])
def test_a_changed_document_is_read_or_refused_and_nothing_raises(seed: DocumentSeed) -> None:
    assert [said for number in range(25) if (said := problem(seed, number))] == []
