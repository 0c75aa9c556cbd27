"""Measures the scan for secrets: recall and precision on both corpora, and its speed on files of source."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

from core.kernel.secrets import MASK, scrub
from tests.bench.__main__ import Row, row
from tests.core.kernel.secret_corpus.exam import exam
from tests.core.kernel.secret_corpus.judge import judged, table
from tests.core.kernel.secret_corpus.outside import outside
from tests.core.kernel.secret_corpus.practice import practice
from tests.core.kernel.secret_corpus.values import Sample

RUNS = 5
FILES = 60
FILE_CHARS = 100_000
"""Of each file, with one secret in it."""

SPEED_BAR = 20.0
RECALL_BAR, PRECISION_BAR = 0.97, 0.95
SOURCES = Path(__file__).parents[2] / "core"


def rows() -> list[Row]:
    """Measure both; prints the tables by kind."""
    found = [
        *_judged("corpus that was tuned on", practice),
        *_judged("corpus that was held out", exam),
        *_judged("corpus from outside", outside),
    ]
    texts = files(FILES)
    scrub(texts[0])  # loads what is loaded at first use
    if missed := sum(MASK not in scrub(text) for text in texts):
        raise AssertionError(f"{missed} of {FILES} secrets were not found")
    speeds = [_speed(texts) for _ in range(RUNS)]
    bare = [text.replace(MASK, "") for text in map(scrub, texts)]
    return [
        *found,
        _row(f"scrub, one secret in {FILE_CHARS // 1000} KB of source", max(speeds), "MB/s", SPEED_BAR, RUNS),
        _row("scrub, no secret", max(_speed(bare) for _ in range(RUNS)), "MB/s", 0, RUNS),
    ]


def files(count: int, seed: int = 8) -> list[str]:
    """So many texts of source, each with one secret of the corpus in its middle, of one kind after another."""
    source = "\n".join(scrub(path.read_text("utf-8")) for path in sorted(SOURCES.rglob("*.py"))).replace(
        MASK, ""
    )
    source *= 1 + FILE_CHARS * 2 // len(source)
    rng = random.Random(seed)
    samples = cycle([one for one in practice(seed) if one.secret and scrub(one.text) != one.text])
    made = []
    for sample, _ in zip(samples, range(count), strict=False):
        start = rng.randrange(len(source) - FILE_CHARS)
        half = start + FILE_CHARS // 2
        made.append(f"{source[start:half]}\n{sample.text}\n{source[half : start + FILE_CHARS]}")
    return made


def _judged(name: str, corpus: Callable[[], Iterator[Sample]]) -> Iterator[Row]:
    verdict = judged(corpus(), scrub)
    print(table(name, verdict))
    yield _row(f"recall of {verdict.secrets}, {name}", verdict.recall, "", RECALL_BAR, 1)
    yield _row(
        f"precision with {verdict.look_alikes} look-alikes, {name}", verdict.precision, "", PRECISION_BAR, 1
    )


def _speed(texts: list[str]) -> float:
    """Megabytes a second, of this thread's own time: what else the machine does is of no account."""
    began = time.thread_time()
    for text in texts:
        scrub(text)
    return sum(map(len, texts)) / 1e6 / (time.thread_time() - began)


def _row(name: str, value: float, unit: str, bar: float, runs: int) -> Row:
    return row(name, value, unit, least=bar or None, runs=runs)
