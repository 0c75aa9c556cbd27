"""The corpora: most secrets are found, few look-alikes are masked, and the figures stand by kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from core.kernel.secrets import MASK, scrub
from tests.core.kernel.secret_corpus.exam import exam
from tests.core.kernel.secret_corpus.judge import judged, survives, table
from tests.core.kernel.secret_corpus.outside import outside
from tests.core.kernel.secret_corpus.practice import practice
from tests.core.kernel.secret_corpus.values import Sample, Values

RECALL, PRECISION = 0.97, 0.95

CORPORA = pytest.mark.parametrize("corpus", [practice, exam, outside])


@CORPORA
@pytest.mark.parametrize("seed", [8, 1108, 3])
def test_recall_and_precision_keep_to_their_bars(
    corpus: Callable[[int], Iterator[Sample]], seed: int
) -> None:
    verdict = judged(corpus(seed), scrub)

    assert verdict.secrets >= 150
    assert verdict.look_alikes >= 150
    assert verdict.recall >= RECALL, table(corpus.__name__, verdict)
    assert verdict.precision >= PRECISION, table(corpus.__name__, verdict)


@CORPORA
def test_every_kind_is_found_more_often_than_not_and_the_table_names_it(
    corpus: Callable[[], Iterator[Sample]],
) -> None:
    verdict = judged(corpus(), scrub)

    assert not [
        kind for kind, tally in verdict.kinds.items() if tally.found * 2 <= tally.secrets and tally.secrets
    ]
    assert all(kind in table("corpus", verdict) for kind in verdict.kinds)


@CORPORA
def test_what_was_scrubbed_stays_as_it_is(corpus: Callable[[], Iterator[Sample]]) -> None:
    assert [one.text for one in corpus() if scrub(scrub(one.text)) != scrub(one.text)] == []


def test_a_corpus_is_the_same_for_the_same_seed_and_no_other() -> None:
    assert list(practice(1)) == list(practice(1)) != list(practice(2))


def test_the_judge_sees_a_part_that_is_left_and_a_mask_for_nothing() -> None:
    samples = (Sample("a", "talk", "x 1234567890 y", "1234567890"), Sample("b", "talk", "no secret"))

    half = judged(samples, lambda text: text.replace("12", "").replace("no", ""))

    assert (half.recall, half.precision) == (0, 0)
    assert survives("1234567890", "a 34567890 b")
    assert not survives("1234567890", "a 4567890 b")


def test_a_key_that_is_cut_off_ends_where_its_lines_do() -> None:
    values = Values(7)
    head = values.pem("RSA PRIVATE KEY").rpartition("\n")[0]
    behind = "\n\nThe rest of the file stays as it is, line by line.\n" * 20

    assert scrub(head + behind) == MASK + behind
