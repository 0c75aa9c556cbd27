"""Indexes, notes and options that the benchmarks of retrieval share: synthetic, the same for the same size."""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from core.kernel.values.retrieval import ChunkKind, Corpus
from core.retrieval.embedding import DIMENSION
from core.retrieval.index_file import open_index
from core.retrieval.index_store import Shelf
from core.retrieval.local_store import LocalStore
from core.retrieval.vectors import VectorFile

MODEL = "bench"
SHELF = Shelf(Corpus.NOTES, ChunkKind.PROSE)
SCOPE = "/home/person/notes"
FOLDERS = 10
PER_SOURCE = 10
WORDS_OF_CHUNK = 80

_VOCABULARY = 30_000
_BATCH = 10_000
_SHIFT = 20.0
"""Of Zipf's law: what stands before it are stop words, which no query holds."""
_LETTERS = "bcdfghjklmnprstvwz", "aeiou"
_RANKS = 50, 5_000
"""Of words that are asked for: neither everywhere nor nowhere."""


class Sizes(msgspec.Struct, frozen=True):
    """Sizes of the measurements.

    Args:
        cosqa: folder of that set, empty where it is not here; kept: where filled indexes stay for the next run, else none does.
    """

    chunks: tuple[int, ...] = (100_000, 1_000_000)
    queries: int = 30
    text_mb: float = 8.0
    embedded_mb: float = 0.4
    files: int = 10_000
    listed: int = 100_000
    exact: int = 3_000
    cosqa: str = ""
    kept: str = ""


SMALL = Sizes((500,), 3, 0.02, 0.002, 30, 60, 30)


def sizes(options: Sequence[str] = ()) -> Sizes:
    """Sizes that options ask for: `--small`, `--chunks 100000,1000000`, `--cosqa FOLDER`, `--keep FOLDER`."""
    parser = argparse.ArgumentParser(prog="bench retrieval")
    parser.add_argument(
        "--small", action="store_true", help="so small that it takes seconds, and says nothing"
    )
    parser.add_argument("--chunks", default="", help="sizes of the index, with commas")
    parser.add_argument("--cosqa", default="", help="folder of the CoSQA set as CoCLR cut it")
    parser.add_argument("--keep", default="", help="folder in which filled indexes stay for the next run")
    given = parser.parse_args(list(options))
    found = SMALL if given.small else Sizes()
    chunks = tuple(int(one) for one in given.chunks.split(",") if one) or found.chunks
    return msgspec.structs.replace(found, chunks=chunks, cosqa=given.cosqa, kept=given.keep)


def fill(folder: Path, count: int) -> LocalStore:
    """An index of so many chunks of one shelf: words by Zipf's law, any vectors (a scan's time is the same for all).

    One that is whole in the folder already is taken as it is. 13 s of processor time for 100,000 chunks, 136 s for a million.
    """
    if (store := LocalStore(folder, MODEL, DIMENSION)).is_whole() and store.count(SHELF) == count:
        return store
    store.close()
    emptied(folder)
    random = np.random.default_rng(count)
    words = np.array(vocabulary(), dtype=object)
    share = 1.0 / (np.arange(len(words)) + _SHIFT)
    share = np.cumsum(share / share.sum())
    db = open_index(folder, f"{MODEL}/{DIMENSION}")
    vectors = VectorFile(folder / f"{SHELF.name}.i8", DIMENSION)
    for start in range(0, count, _BATCH):
        size = min(_BATCH, count - start)
        drawn = np.searchsorted(share, random.random((size, WORDS_OF_CHUNK)))
        _write(db, start, [" ".join(row) for row in words[drawn]])
        rows = random.integers(-40, 41, (size, DIMENSION), np.int8)
        vectors.write({start + at + 1: row.tobytes() for at, row in enumerate(rows)})
    db.execute(f"INSERT INTO words_{SHELF.name}(words_{SHELF.name}) VALUES('optimize')")
    db.execute("UPDATE model SET is_whole = 1")
    db.close()
    return LocalStore(folder, MODEL, DIMENSION)


def questions(count: int) -> list[str]:
    """Questions of four words each."""
    random = np.random.default_rng(7)
    words = vocabulary()
    low, high = np.log(_RANKS)
    ranks = np.exp(random.uniform(low, high, (count, 4))).astype(int)
    return [" ".join(words[rank] for rank in row) for row in ranks]


def vocabulary() -> list[str]:
    """Words that nobody has to read, the frequent ones first."""
    consonants, vowels = _LETTERS
    parts = [one + other for one in consonants for other in vowels]
    return [
        parts[n % 90] + parts[(n // 90) % 90] + parts[(n * 7 + n // 8_100) % 90] for n in range(_VOCABULARY)
    ]


def write_notes(folder: Path, megabytes: float) -> list[Path]:
    """Notes of the repository's own words, so many megabytes of them."""
    said = _repository_paragraphs()
    random = np.random.default_rng(3)
    paths: list[Path] = []
    size = 0
    while size < megabytes * 1e6:
        chosen = [said[at] for at in random.integers(0, len(said), 40 if megabytes > 0.1 else 3)]
        text = f"# Note {len(paths)}\n\n" + "\n\n".join(
            f"## Part {at}\n\n{one}" if at % 5 == 0 else one for at, one in enumerate(chosen)
        )
        path = folder / f"{len(paths) % FOLDERS}" / f"note-{len(paths)}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", "utf-8")
        paths.append(path)
        size += len(text)
    return paths


def median_ms(act: Callable[[], object], runs: int = 1) -> float:
    """Median of some runs, in milliseconds."""
    return statistics.median(timed_ms(act) for _ in range(runs))


def timed_ms(act: Callable[[], object]) -> float:
    """Milliseconds of one run."""
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1e3


def emptied(folder: Path) -> Path:
    """A folder, without what a run before left there."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def _write(db: sqlite3.Connection, start: int, texts: Sequence[str]) -> None:
    name = SHELF.name
    first = start // PER_SOURCE
    sources = range(first, first + (len(texts) + PER_SOURCE - 1) // PER_SOURCE)
    db.execute("BEGIN")
    db.executemany(
        "INSERT INTO source VALUES(?, ?, ?, ?, '', '', ?, '', '', '', '')",
        [(n + 1, SHELF.corpus.value, SCOPE, f"{n % FOLDERS}/{n}.md", f"Note {n}") for n in sources],
    )
    db.executemany(
        f"INSERT INTO chunk_{name} VALUES(?, ?, ?, ?, '', ?, '', '', '', '', 1)",
        [
            (row + 1, row // PER_SOURCE + 1, row % PER_SOURCE + 1, row % PER_SOURCE + 1, text)
            for row, text in enumerate(texts, start)
        ],
    )
    db.executemany(
        f"INSERT INTO words_{name}(rowid, words) VALUES(?, ?)",
        [(row + 1, text) for row, text in enumerate(texts, start)],
    )
    db.execute("COMMIT")


def _repository_paragraphs() -> list[str]:
    root = Path(__file__).parents[2]
    pages = [root / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md")]
    pages += sorted((root / "docs" / "guide").glob("*.md"))
    texts = [page.read_text("utf-8") for page in pages]
    parts = [part.strip() for text in texts for part in text.replace("\n- ", "\n\n").split("\n\n")]
    return [part for part in parts if len(part) > 80 and not part.startswith(("|", "```"))]
