"""Measures memory: passages found and shown, what goes beside a message, what stands in the digest, with peers in one run.

Own sets, in two held-out halves; `--locomo FILE` measures the public set of that name beside them, `--every N` asks each n-th
question of it. `--peers` installs other programs that keep memory and has them answer the same questions.
"""

from __future__ import annotations

import argparse
import random
import re
import sqlite3
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from core.kernel.words import fts_expression, query_terms
from core.knowledge.layer7 import DIGEST_MAX_BYTES, HEAD, TRUNCATED
from core.knowledge.merges import share, words_of
from core.retrieval.embedders import E5, E5_NAME, MODEL_NAME, MiniLM
from core.retrieval.embedding import DIMENSION
from tests.bench.__main__ import Row, row
from tests.bench.memory_ours import TOKENS, TURNS, Score, digest, filled, recall, score
from tests.bench.memory_peers import PEERS, Unanswered, answers
from tests.bench.memory_sets import HELD_OUT, Life, TwoPeople, locomo, long_talks, own, ten_kinds, two_people

LIVES = 4
TAG_BYTES = len(" [from: 2025-01-03-talk, 2025-01-03]")
MMR_SHARE = 0.5
BARS = {"turns": 0.74, "sources": 0.93, "shown": 0.65, "beside": 0.72}
"""Of the public set. Own sets are reported, and say what falls."""

Ranking = Callable[[Life, Sequence[str]], list[list[str]]]


class _Model:
    """A model in this process."""

    dimension, is_warm = DIMENSION, True

    def __init__(self, *, is_of_languages: bool = False) -> None:
        self.name = E5_NAME if is_of_languages else MODEL_NAME
        self.model = E5() if is_of_languages else MiniLM()
        self.measure = MiniLM().tokens.starts

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        return self.model.embed(texts)


def rows(options: Sequence[str] = ()) -> list[Row]:
    """Measure in a temporary folder."""
    parser = argparse.ArgumentParser(prog="bench memory")
    parser.add_argument("--locomo", default="", help="locomo10.json")
    parser.add_argument("--every", type=int, default=3, help="each n-th question of it")
    parser.add_argument("--of-languages", action="store_true", help="by the model for any language")
    parser.add_argument("--lives", type=int, default=LIVES, help="own lives")
    parser.add_argument("--peers", action="store_true", help="install other programs, and ask them too")
    asked = parser.parse_args(list(options))
    sets = {"own": [own(seed) for seed in range(asked.lives)]}
    if asked.locomo:
        lives = locomo(Path(asked.locomo))
        strange = [
            tuple(one.text for one in lives[(n + 3) % len(lives)].questions[::10]) for n in range(len(lives))
        ]
        sets["LoCoMo"] = [
            replace(one, questions=one.questions[:: asked.every], strange=strange[n])
            for n, one in enumerate(lives)
        ]
    model, found = _Model(is_of_languages=asked.of_languages), list[Row]()
    with tempfile.TemporaryDirectory() as folder:
        for name, lives in sets.items():
            found += _found(Path(folder) / name, name, lives, model)
            found += _digests(name, lives)
            found += [_by_program(name, peer, lives) for peer in (PEERS if asked.peers else ())]
        for name, pairs in (("two people", two_people()), ("held out", two_people(HELD_OUT))):
            lives = [one.life for one in pairs]
            found += _found(Path(folder) / name, name, lives, model)
            found += [_by_program(name, peer, lives) for peer in (PEERS if asked.peers else ())]
            found.append(_swapped(Path(folder) / name / "swapped", name, pairs, model))
        found += _long(Path(folder) / "long", model)
        found += _ten(Path(folder) / "ten", model)
    return found


def _found(folder: Path, name: str, lives: Sequence[Life], model: _Model) -> list[Row]:
    scores: list[list[Score]] = []
    strange: list[int] = []
    for number, life in enumerate(lives):
        store = filled(folder / str(number), life, model, model.measure)
        scores.append(score(store, life, model))
        strange += [recall(store, life, model, text)[1] for text in life.strange]
        store.close()
    found = []
    for figure in ("turns", "sources", "shown", "beside", "tokens"):
        unit = "tokens" if figure == "tokens" else "of 1"
        for half, chosen in _halves(scores).items():
            mean = statistics.mean(getattr(one, figure) for of_life in chosen for one in of_life)
            least = BARS.get(figure) if name == "LoCoMo" and half == "all" else None
            found.append(row(f"{name}, {half}: {figure}", mean, unit, least=least))
    carried = statistics.mean(strange) / TOKENS
    found.append(
        row(f"{name}: share of the budget with a message about something else", carried, "of 1", 0.05)
    )
    for peer, ranking in _peers(model).items():
        turns = [_recalls(ranking, life) for life in lives]
        found.append(row(f"{name}: turns by {peer}", statistics.mean(chain.from_iterable(turns)), "of 1"))
    return found


def _by_program(name: str, peer: str, lives: Sequence[Life]) -> Row:
    """Share of evidence among the turns that another program finds; one that cannot be asked says why in place of a unit."""
    told = answers(peer, lives, TURNS)
    label = f"{name}: turns by {peer}"
    if isinstance(told, Unanswered):
        return row(label, 0.0, f"not measured: {told.reason}")
    shares = [
        len(one.evidence & set(marks)) / len(one.evidence)
        for life, found in zip(lives, told, strict=True)
        for one, marks in zip(life.questions, found, strict=True)
    ]
    return row(label, statistics.mean(shares), "of 1")


def _swapped(folder: Path, name: str, pairs: Sequence[TwoPeople], model: _Model) -> Row:
    """Questions that ask of one person what the other told."""
    empty = list[bool]()
    for number, pair in enumerate(pairs):
        store = filled(folder / str(number), pair.life, model, model.measure)
        empty += [not recall(store, pair.life, model, text)[1] for text in pair.swapped]
        store.close()
    return row(f"{name}: asked of the wrong one, nothing recalled", statistics.mean(empty), "of 1")


def _long(folder: Path, model: _Model) -> list[Row]:
    """Three long discussions, put together twice: what was told, what has no answer, and what took another's place."""
    told, empty, alone = list[bool](), list[bool](), list[bool]()
    for seed in range(2):
        made = long_talks(seed)
        store = filled(folder / str(seed), made.life, model, model.measure)
        for one in made.life.questions:
            told.append(bool(one.evidence & set(recall(store, made.life, model, one.text)[0])))
        empty += [not recall(store, made.life, model, text)[1] for text in made.life.strange]
        for changed in made.changed:
            marks = recall(store, made.life, model, changed.text)[0]
            alone.append(changed.old in marks and changed.new not in marks)
        store.close()
    return [
        row("three long discussions: sources beside the question", statistics.mean(told), "of 1", least=0.45),
        row(
            "three long discussions: without an answer, nothing recalled",
            statistics.mean(empty),
            "of 1",
            least=0.75,
        ),
        row("three long discussions: an old value without the new one", statistics.mean(alone), "of 1", 0.0),
    ]


def _ten(folder: Path, model: _Model) -> list[Row]:
    """Three long discussions of another writer, put together twice: share of evidence beside each kind of question."""
    beside, empty = defaultdict[str, list[float]](list), list[bool]()
    for seed in range(2):
        life = ten_kinds(seed)
        store = filled(folder / str(seed), life, model, model.measure)
        for one in life.questions:
            marks = set(recall(store, life, model, one.text)[0])
            beside[one.kind].append(len(one.evidence & marks) / len(one.evidence))
        empty += [not recall(store, life, model, text)[1] for text in life.strange]
        store.close()
    whole = statistics.mean(chain.from_iterable(beside.values()))
    return [
        row("ten kinds of questions: evidence beside them", whole, "of 1", least=0.45),
        *(row(f"ten kinds: {kind}", statistics.mean(shares), "of 1") for kind, shares in beside.items()),
        row("ten kinds: without an answer, nothing recalled", statistics.mean(empty), "of 1"),
    ]


def _halves(scores: list[list[Score]]) -> Mapping[str, list[list[Score]]]:
    return {
        "all": scores,
        **({"one half": scores[::2], "other half": scores[1::2]} if len(scores) > 1 else {}),
    }


def _recalls(ranking: Ranking, life: Life) -> list[float]:
    answers = ranking(life, [one.text for one in life.questions])
    return [
        len(one.evidence & set(marks[:TURNS])) / len(one.evidence)
        for one, marks in zip(life.questions, answers, strict=True)
    ]


def _peers(model: _Model) -> dict[str, Ranking]:
    def bare(life: Life, questions: Sequence[str]) -> list[list[str]]:
        turns = [turn for talk in life.talks for turn in talk.turns]
        vectors = model.model.vectors([turn.text for turn in turns])
        asked = model.model.vectors(questions)
        return [[turns[at].mark for at in np.argsort(-one)[:TURNS]] for one in asked @ vectors.T]

    return {
        "FTS5 plain": lambda life, asked: _by_words(life, asked, "unicode61"),
        "FTS5 porter": lambda life, asked: _by_words(life, asked, "porter unicode61"),
        "MiniLM bare": bare,
    }


def _by_words(life: Life, questions: Sequence[str], tokenizer: str) -> list[list[str]]:
    turns = [turn for talk in life.talks for turn in talk.turns]
    db = sqlite3.connect(":memory:")
    db.execute(f"CREATE VIRTUAL TABLE said USING fts5(words, tokenize='{tokenizer}')")
    db.executemany(
        "INSERT INTO said(rowid, words) VALUES(?, ?)", [(n, one.text) for n, one in enumerate(turns, 1)]
    )
    sql = "SELECT rowid FROM said WHERE said MATCH ? ORDER BY bm25(said) LIMIT ?"
    found = []
    for question in questions:
        terms = query_terms(question)
        hits = db.execute(sql, (fts_expression(terms), TURNS)).fetchall() if terms else []
        found.append([turns[at - 1].mark for (at,) in hits])
    db.close()
    return found


def _digests(name: str, lives: Sequence[Life]) -> list[Row]:
    """Share of questions of which a piece of evidence stands in 4,096 bytes, ours above each peer on each half."""
    makers: dict[str, Callable[[Life], frozenset[str]]] = {
        "ours": _in_ours,
        "newest": lambda life: _packed(life, list(reversed(range(len(life.facts))))),
        "random": lambda life: _packed(life, _shuffled(life)),
        "shortest": lambda life: _packed(
            life, sorted(range(len(life.facts)), key=lambda n: len(life.facts[n].text))
        ),
        "MMR": lambda life: _packed(life, _varied(life)),
    }
    found = []
    figures: dict[str, list[float]] = {}
    for maker, make in makers.items():
        held = [
            [bool(one.evidence & known) for one in life.questions] for life in lives for known in [make(life)]
        ]
        figures[maker] = [
            statistics.mean(chain.from_iterable(part))
            for part in (held, held[::2] or held, held[1::2] or held)
        ]
    best = [max(figures[peer][half] for peer in figures if peer != "ours") for half in range(3)]
    for maker, (whole, one, other) in figures.items():
        is_ours = maker == "ours"
        holds = all(a > b for a, b in zip(figures["ours"], best, strict=True))
        found += [
            row(
                f"{name}: digest, {maker}",
                whole,
                "of 1",
                bar="above each peer on each half" if is_ours else "",
                holds=not is_ours or holds,
            ),
            row(f"{name}: digest, {maker}, one half", one, "of 1"),
            row(f"{name}: digest, {maker}, other half", other, "of 1"),
        ]
    return found


def _in_ours(life: Life) -> frozenset[str]:
    lines = {re.sub(r" \[[^\]]*\]$", "", line) for line in digest(life).split("\n")}
    shown = (fact.evidence for fact in life.facts if f"- {fact.text}" in lines)
    return frozenset(mark for marks in shown for mark in marks)


def _packed(life: Life, order: Sequence[int]) -> frozenset[str]:
    """Evidence of the facts that fit, in an order, each with its whole tag."""
    room = DIGEST_MAX_BYTES - len(HEAD) - len(TRUNCATED) - len("\n## Facts\n")
    marks: set[str] = set()
    for number in order:
        size = len(f"- {life.facts[number].text}\n".encode()) + TAG_BYTES
        if size <= room:
            room -= size
            marks |= life.facts[number].evidence
    return frozenset(marks)


def _shuffled(life: Life) -> list[int]:
    order = list(range(len(life.facts)))
    random.Random(len(order)).shuffle(order)
    return order


def _varied(life: Life) -> list[int]:
    """Newest first, each as unlike as can be to those before it."""
    words = [words_of(fact.text) for fact in life.facts]
    left, order = list(reversed(range(len(words)))), list[int]()
    while left and len(order) < 60:
        best = max(
            left,
            key=lambda n: (
                (1 - MMR_SHARE) * n / len(words)
                - MMR_SHARE * max((share(words[n], words[one]) for one in order), default=0.0)
            ),
        )
        left.remove(best)
        order.append(best)
    return order
