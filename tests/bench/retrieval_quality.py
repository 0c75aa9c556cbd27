"""Measures how good the answers are: what int8 loses, the fusion on each set, navigation beside search's own top k."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.kernel.o200k import count_tokens
from core.kernel.values.retrieval import ChunkKind, SearchFilters, SourceHead
from core.retrieval.chunker import embedded_text, file_chunks
from core.retrieval.embedders import MODEL_NAME, MiniLM
from core.retrieval.embedding import DIMENSION, quantised
from core.retrieval.front_matter import note_head
from core.retrieval.navigation import heads_found, index_files, notes_tree
from core.talk.context.outline import symbols_of
from tests.bench.__main__ import Row, row
from tests.bench.retrieval_corpus import Sizes, sizes, write_notes
from tests.core.retrieval.quality import (
    Judge,
    Question,
    code_set,
    cosqa_sets,
    dialogues,
    note_questions,
    note_set,
    notes,
)

RECALL, REGRET, GAIN = 0.98, 0.02, 0.06
CODE_VECTORS, CODE_FUSION = 0.58, 0.59
TOP = 10
BUDGETS = 1_000, 3_000
NAVIGATED = 3
"""Notes that a reader opens after the indexes."""


class _Model:
    """The model in this process."""

    name, dimension, is_warm = MODEL_NAME, DIMENSION, True

    def __init__(self) -> None:
        self.model = MiniLM()

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        return self.model.embed(texts)


def rows(options: Sequence[str] = ()) -> list[Row]:
    """Measure in a temporary folder."""
    asked, model = sizes(options), _Model()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        return [
            _recall(base, asked, model.model),
            *_sets(base, model),
            *(_cosqa(base, Path(asked.cosqa), model) if asked.cosqa else []),
            *_navigation(base, model),
        ]


def _recall(base: Path, asked: Sizes, model: MiniLM) -> Row:
    texts: list[str] = []
    for path in write_notes(base / "notes", asked.exact / 1_000):
        text = path.read_text("utf-8")
        found = file_chunks(text, symbols_of("a.md", text), model.tokens.starts, ChunkKind.PROSE)
        texts += [embedded_text(chunk) for chunk in found]
    exact = model.vectors(list(dict.fromkeys(texts))[: asked.exact])
    measure = model.tokens.starts
    asking = [*note_questions(), *dialogues(measure).questions, *code_set(measure).questions]
    queries = model.vectors([question.text for question in asking])
    small, asked_small = quantised(exact).astype(np.int32), quantised(queries).astype(np.int32)
    pairs = zip(_top(queries @ exact.T), _top(asked_small @ small.T), strict=True)
    kept = statistics.mean(len(one & other) / TOP for one, other in pairs)
    return row(
        f"recall@10 of int8 against f32, {len(exact):,} real chunks",
        kept,
        "",
        least=RECALL,
        runs=len(queries),
    )


def _top(scores: NDArray[np.float32] | NDArray[np.int32]) -> list[set[int]]:
    return [{int(at) for at in np.argsort(-line, kind="stable")[:TOP]} for line in scores]


def _sets(base: Path, model: _Model) -> list[Row]:
    measure = model.model.tokens.starts
    found: list[Row] = []
    for name, chosen in (
        ("dialogue", dialogues(measure)),
        ("notes", note_set(measure)),
        ("code", code_set(measure)),
    ):
        judge = Judge(base / name, chosen, model)
        found += _regret(name, judge, len(chosen.questions))
        if name == "dialogue":
            bare = Judge(base / "bare", dialogues(measure, neighbours=False), model)
            gain = judge.fused().recall - bare.keywords().recall
            bare.close()
            found.append(
                row(
                    "dialogue: recall@10 over keywords on the bare turn",
                    gain,
                    "",
                    least=GAIN,
                    runs=len(chosen.questions),
                )
            )
        judge.close()
    return found


def _regret(name: str, judge: Judge, count: int) -> list[Row]:
    fused, keywords, vectors = judge.fused().ndcg, judge.keywords().ndcg, judge.vectors().ndcg
    return [
        row(f"{name}: nDCG@10 of the fusion", fused, "", runs=count),
        row(f"{name}: nDCG@10 of keywords", keywords, "", runs=count),
        row(f"{name}: nDCG@10 of vectors", vectors, "", runs=count),
        row(f"{name}: fusion below the better one", max(keywords, vectors) - fused, "", REGRET, runs=count),
    ]


def _cosqa(base: Path, folder: Path, model: _Model) -> list[Row]:
    halves = cosqa_sets(folder, model.model.tokens.starts)
    judge = Judge(base / "cosqa", halves["test"], model)
    found = []
    for half, chosen in halves.items():
        asked, is_test = chosen.questions, half == "test"
        fused, vectors = judge.fused(asked).ndcg, judge.vectors(asked).ndcg
        best = max(vectors, judge.keywords(asked).ndcg)
        found += [
            row(
                f"CoSQA {half}: nDCG@10 of vectors",
                vectors,
                "",
                least=CODE_VECTORS if is_test else None,
                runs=len(asked),
            ),
            row(
                f"CoSQA {half}: nDCG@10 of the fusion",
                fused,
                "",
                least=CODE_FUSION if is_test else None,
                runs=len(asked),
            ),
            row(f"CoSQA {half}: fusion below the better one", best - fused, "", REGRET, runs=len(asked)),
        ]
    judge.close()
    return found


def _navigation(base: Path, model: _Model) -> list[Row]:
    """Both ways to the same notes: the indexes and the notes whose lines fit best, or passages up to a budget."""
    texts = notes()
    heads = {path: note_head(text, path) for path, text in texts.items()}
    pages = {
        path: data.decode() for path, data in index_files(notes_tree("notes", heads), count_tokens).items()
    }
    judge = Judge(base / "navigated", note_set(model.model.tokens.starts), model)
    found: list[Row] = []
    for kind, is_paraphrased in (("by its words", False), ("paraphrased", True)):
        asked = [one for one in note_questions() if one.is_paraphrased is is_paraphrased]
        ways = [_walked(one, heads_of(one.text, heads), texts, pages) for one in asked]
        found += _way(f"navigation, {kind}", ways)
        for budget in BUDGETS:
            passages = [_within(one, judge.passages(one.text), budget) for one in asked]
            found += _way(f"search up to {budget:,} tokens, {kind}", passages)
    judge.close()
    return found


def heads_of(question: str, heads: Mapping[str, SourceHead]) -> list[str]:
    """Paths whose lines in the indexes fit a question best, in that order."""
    of_root = (("", path, head) for path, head in heads.items())
    found = heads_found(of_root, question, SearchFilters(), NAVIGATED)
    return [hit.path for hit in found]


def _walked(
    question: Question, chosen: Sequence[str], texts: Mapping[str, str], pages: Mapping[str, str]
) -> tuple[bool, int]:
    """True if the note was among those that were opened, with the tokens of router, folders and notes."""
    folders = {f"{path.rpartition('/')[0]}/index.md" for path in chosen}
    read = [pages["index.md"], *(pages[name] for name in sorted(folders)), *(texts[path] for path in chosen)]
    return bool(question.wanted & set(chosen)), sum(map(count_tokens, read))


def _within(question: Question, passages: Sequence[tuple[str, str]], budget: int) -> tuple[bool, int]:
    taken, size = set(), 0
    for path, text in passages:
        if size + (more := count_tokens(text)) > budget:
            break
        taken.add(path)
        size += more
    return bool(question.wanted & taken), size


def _way(name: str, ways: Sequence[tuple[bool, int]]) -> list[Row]:
    share = sum(is_found for is_found, _ in ways) / len(ways)
    tokens = statistics.mean(size for _, size in ways)
    return [
        row(f"{name}: notes found", share, "", runs=len(ways)),
        row(f"{name}: tokens", tokens, "tokens", runs=len(ways)),
    ]
