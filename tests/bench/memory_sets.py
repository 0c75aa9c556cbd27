"""Sets that the benchmark of memory asks: conversations with marked evidence, and what they leave as knowledge.

Own ones are made here, the same for the same seed. `--locomo FILE` measures the public set of that name beside them, which is
not handed out: `locomo10.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import msgspec


class Turn(msgspec.Struct, frozen=True):
    """A turn. `mark`: by which a question names it as evidence."""

    mark: str
    role: str
    text: str


class Talk(msgspec.Struct, frozen=True):
    """A discussion of one day."""

    name: str
    day: str
    turns: tuple[Turn, ...]


class Asked(msgspec.Struct, frozen=True):
    """A question with the marks of its evidence."""

    text: str
    evidence: frozenset[str]


class Fact(msgspec.Struct, frozen=True):
    """An item that a talk left, with the marks of what it stands on."""

    text: str
    talk: int
    evidence: frozenset[str]


class Life(msgspec.Struct, frozen=True):
    """All that one home knows.

    Args:
        strange: questions that nothing here has to do with.
    """

    talks: tuple[Talk, ...]
    questions: tuple[Asked, ...]
    facts: tuple[Fact, ...] = ()
    strange: tuple[str, ...] = ()


def locomo(path: Path) -> list[Life]:
    """The public set, a home a conversation."""
    return [_life(one) for one in json.loads(path.read_text("utf-8"))]


_MARK = re.compile(r"D\d+:\d+")


def _life(one: dict[str, object]) -> Life:
    said: dict[str, object] = one["conversation"]  # type: ignore[assignment]
    seen: dict[str, object] = one["observation"]  # type: ignore[assignment]
    talks, facts = [], []
    for number in range(1, 60):
        when = re.search(r"on (\d+ \w+, \d+)", str(said.get(f"session_{number}_date_time", "")))
        turns: list[dict[str, str]] = said.get(f"session_{number}", [])  # type: ignore[assignment]
        if when is None or not turns:
            continue
        day = datetime.strptime(f"{when[1]} +0000", "%d %B, %Y %z").date().isoformat()
        first = turns[0]["speaker"]
        talks.append(
            Talk(name=f"{one['sample_id']} session {number}", day=day, turns=tuple(_turns(turns, first)))
        )
        told: dict[str, list[list[object]]] = seen.get(f"session_{number}_observation", {})  # type: ignore[assignment]
        facts += [
            Fact(text=str(words), talk=len(talks) - 1, evidence=frozenset(_MARK.findall(str(marks))))
            for rows in told.values()
            for words, marks, *_ in rows
        ]
    marks_of = {turn.mark for talk in talks for turn in talk.turns}
    questions = [
        Asked(text=str(row["question"]), evidence=evidence)
        for row in one["qa"]  # type: ignore[attr-defined]
        if row["category"] != 5
        and (evidence := frozenset(_MARK.findall(" ".join(row["evidence"]))) & marks_of)
    ]
    return Life(talks=tuple(talks), questions=tuple(questions), facts=tuple(facts))


def _turns(turns: list[dict[str, str]], first: str) -> Iterator[Turn]:
    for turn in turns:
        shared = f" [shares {turn['blip_caption']}]" if "blip_caption" in turn else ""
        role = "user" if turn["speaker"] == first else "assistant"
        yield Turn(mark=turn["dia_id"], role=role, text=f"{turn['speaker']}: {turn['text']}{shared}")
