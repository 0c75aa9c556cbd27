"""Sets that the benchmark of memory asks: conversations with marked evidence, and what they leave as knowledge.

Own ones are made here, the same for the same seed. `--locomo FILE` measures the public set of that name beside them, which is
not handed out: `locomo10.json`.
"""

from __future__ import annotations

import json
import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

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
    """A question with the marks of its evidence. `kind`: of question, where a set tells them apart."""

    text: str
    evidence: frozenset[str]
    kind: str = ""


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


_PEOPLE = ("Ada", "Bruno", "Chiara", "Dmitri", "Elena", "Farid", "Greta", "Hanna")
_PLACES = ("the harbour", "the mill", "the library", "the north pier", "the archive", "the old station")
_THINGS = (
    ("bought a {c} bicycle", "Which vehicle did {p} get?", ("red", "green", "folding", "second-hand")),
    ("is allergic to {c}", "What must {p} not eat?", ("peanuts", "shellfish", "sesame", "celery")),
    (
        "moved the backup to {c}",
        "When does {p} keep a copy of the data?",
        ("02:00", "04:30", "midnight", "noon"),
    ),
    (
        "adopted a {c} from the shelter",
        "What pet does {p} have?",
        ("tabby cat", "beagle", "tortoise", "parrot"),
    ),
    (
        "chose {c} for the index",
        "Which database did {p} decide on?",
        ("SQLite", "Postgres", "DuckDB", "LMDB"),
    ),
    (
        "will travel to {c} in spring",
        "Where is {p} going on holiday?",
        ("Lisbon", "Kyoto", "Tromso", "Oaxaca"),
    ),
    ("broke the {c} while climbing", "What injury did {p} have?", ("wrist", "ankle", "collarbone", "thumb")),
    ("plays the {c} in a band", "Which instrument does {p} play?", ("cello", "oboe", "bass", "accordion")),
    (
        "reads the gauge at {c} each day",
        "At what height does {p} note the water?",
        ("3 m", "5 m", "7 m", "9 m"),
    ),
    (
        "fixed the retry loop with {c}",
        "How did {p} mend the repeated calls?",
        ("jitter", "a lock", "a queue", "a cap"),
    ),
)
_SMALL = (
    "Good to hear from you! How was the week?",
    "Quite busy, to be honest, but fine. And yours?",
    "The rain did not stop, so we stayed in and cooked.",
    "That sounds lovely. Tell me more about it when we meet.",
    "I keep thinking of what you said the other day.",
    "We should do that again, it was a good evening.",
)


def own(seed: int, talks: int = 24) -> Life:
    """A made life: talks of a dozen turns in which two things are told, asked for in other words."""
    chance = random.Random(seed)
    told = [(who, *thing) for who in _PEOPLE for thing in _THINGS]
    chance.shuffle(told)
    made, questions, facts = [], [], []
    for number in range(talks):
        day = (date(2025, 1, 3) + timedelta(days=13 * number)).isoformat()
        said = chance.choices(_SMALL, k=12)
        places = sorted(chance.sample(range(1, 11), 2))
        for place, (who, words, question, choices) in zip(
            places, told[2 * number : 2 * number + 2], strict=False
        ):
            fact = words.format(c=chance.choice(choices))
            said[place] = f"By the way, {who} {fact}, near {chance.choice(_PLACES)}."
            mark = frozenset({f"{number}:{place}"})
            questions.append(Asked(text=question.format(p=who), evidence=mark))
            more = f", near {chance.choice(_PLACES)}, as {who} said at the time" if place % 2 else ""
            facts.append(Fact(text=f"{who} {fact}{more}", talk=number, evidence=mark))
        facts += [Fact(text=_noise(chance, at), talk=number, evidence=frozenset()) for at in range(12)]
        turns = tuple(
            Turn(mark=f"{number}:{at}", role="user" if at % 2 == 0 else "assistant", text=text)
            for at, text in enumerate(said)
        )
        made.append(Talk(name=f"Talk {number}", day=day, turns=turns))
    return Life(talks=tuple(made), questions=tuple(questions), facts=tuple(facts), strange=STRANGE)


def _noise(chance: random.Random, at: int) -> str:
    """What a talk leaves and nobody asks for, short or long."""
    one, two = chance.sample(_PEOPLE, 2)
    if at % 2:
        return f"{one} and {two} met at {chance.choice(_PLACES)}"
    return f"{one} told {two} how the week was and what they would cook when they meet at {chance.choice(_PLACES)}"


STRANGE = (
    "How do I centre a box in CSS grid?",
    "Write a haiku about lighthouses in autumn",
    "Translate the motto of the university into Latin",
    "What is the derivative of x squared times sine x?",
    "Explain how TLS certificates are renewed",
    "Convert this CSV of invoices to JSON",
    "Which is larger, Jupiter or Saturn?",
    "Refactor the parser so that it streams tokens",
)


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


DATA = Path(__file__).parents[1] / "data" / "retrieval"
LONG, TEN, TWO = DATA / "long_talks.toml", DATA / "ten_kinds.toml", DATA / "two_people.toml"
HELD_OUT = DATA / "two_people_held_out.toml"
_TALKS = 20
_DAYS = (
    "yesterday",
    "two days ago",
    "last Saturday",
    "on Tuesday",
    "last weekend",
    "this week",
    "earlier this month",
)
_LONG_TURNS, _LONG_SENTENCES = 50, 9


class Changed(msgspec.Struct, frozen=True):
    """A question of which an older turn and a newer one say different things, by their marks."""

    text: str
    old: str
    new: str


class LongLife(msgspec.Struct, frozen=True):
    """Three long discussions; `changed`: questions of what is not so any more; their life's `strange` have no answer."""

    life: Life
    changed: tuple[Changed, ...]


def long_talks(seed: int) -> LongLife:
    """Three long discussions out of the file: what is told stands among other turns, replies are long. The same for a seed."""
    made = tomllib.loads(LONG.read_text("utf-8"))
    chance = random.Random(seed)
    said: list[dict[int, str]] = [{} for _ in made["talk"]]
    for one in made["told"]:
        _put(said[one["talk"]], one["at"], one["said"])
        if "then" in one:
            _put(said[one["then_talk"]], one["then_at"], one["then"])
    talks = _talks(made["talk"], said, chance)
    marks = {turn.text: turn.mark for talk in talks for turn in talk.turns}
    life = Life(
        talks=talks,
        questions=tuple(
            Asked(text=one["ask"], evidence=frozenset({marks[one.get("then", one["said"])]}))
            for one in made["told"]
        ),
        facts=(),
        strange=tuple(one["ask"] for one in made["nothing"]),
    )
    changed = (
        Changed(text=one["ask"], old=marks[one["said"]], new=marks[one["then"]])
        for one in made["told"]
        if "then" in one
    )
    return LongLife(life=life, changed=tuple(changed))


def ten_kinds(seed: int) -> Life:
    """Three long discussions of somebody who writes otherwise, asked in ten kinds of questions. The same for a seed."""
    made = tomllib.loads(TEN.read_text("utf-8"))
    said: list[dict[int, str]] = [{} for _ in made["talk"]]
    for one in made["said"]:
        _put(said[one["talk"]], one["at"], one["text"])
    talks = _talks(made["talk"], said, random.Random(seed))
    marks = {turn.text: turn.mark for talk in talks for turn in talk.turns}
    of = {one["id"]: marks[one["text"]] for one in made["said"]}
    return Life(
        talks=talks,
        questions=tuple(
            Asked(text=one["ask"], evidence=frozenset(of[name] for name in one["of"]), kind=one["kind"])
            for one in made["ask"]
            if one["of"]
        ),
        strange=tuple(one["ask"] for one in made["ask"] if not one["of"]),
    )


class TwoPeople(msgspec.Struct, frozen=True):
    """A talk of two people over a year. `swapped`: questions that ask of one what the other told."""

    life: Life
    swapped: tuple[str, ...]


def two_people(file: Path = TWO) -> list[TwoPeople]:
    """Twenty talks of each pair of people of a file, who call each other by name: always the same."""
    lives = tomllib.loads(file.read_text("utf-8"))["life"]
    return [_pair(one, random.Random(at)) for at, one in enumerate(lives)]


def _pair(made: Mapping[str, Any], chance: random.Random) -> TwoPeople:
    names, marks, talks = made["names"], dict[str, list[str]](), list[Talk]()
    told = sorted(
        zip(chance.choices(range(_TALKS), k=len(made["said"])), made["said"], strict=True),
        key=lambda one: one[0],
    )
    day = date(2024, 1, 9)
    for number in range(_TALKS):
        day += timedelta(days=chance.randint(6, 21))
        said = [
            (at % 2, text) for at, text in enumerate(chance.choices(made["small"], k=chance.randint(3, 6)))
        ]
        for _, one in (one for one in told if one[0] == number):
            marks[one["id"]] = [f"{number}:{at}" for at in range(len(said), len(said) + 3)]
            opening, *rest = one["turns"]
            turns = (opening.format(when=chance.choice(_DAYS)), *rest)
            said += [((one["who"] + at) % 2, text) for at, text in enumerate(turns)]
            said += [
                ((one["who"] + 1 + at) % 2, text)
                for at, text in enumerate(chance.choices(made["small"], k=chance.randint(2, 5)))
            ]
        turns = tuple(
            Turn(mark=f"{number}:{at}", role=("user", "assistant")[who], text=f"{names[who]}: {text}")
            for at, (who, text) in enumerate(said)
        )
        talks.append(Talk(name=f"{' and '.join(names)} {number}", day=day.isoformat(), turns=turns))
    questions = [
        Asked(text=one[kind], evidence=frozenset({marks[one["id"]][place]}), kind=kind)
        for one in made["said"]
        for kind, place in (("single", 0), ("detail", 2), ("day", 0))
    ]
    questions += [
        Asked(text=one["ask"], evidence=frozenset(marks[name][0] for name in one["of"]), kind=one["kind"])
        for one in made["ask"]
    ]
    swapped = (one["single"].replace(names[one["who"]], names[1 - one["who"]]) for one in made["said"])
    life = Life(talks=tuple(talks), questions=tuple(questions), strange=STRANGE)
    return TwoPeople(life=life, swapped=tuple(swapped))


def _talks(
    made: Sequence[Mapping[str, Any]], said: Sequence[Mapping[int, str]], chance: random.Random
) -> tuple[Talk, ...]:
    """Long discussions: what is told at its places, other questions between, and a long reply after each."""
    talks = []
    for number, (talk, told) in enumerate(zip(made, said, strict=True)):
        turns = []
        for at in range(_LONG_TURNS):
            reply = " ".join(chance.sample(talk["replies"], _LONG_SENTENCES))
            text = told.get(at) or chance.choice(talk["asks"])
            turns += [
                Turn(mark=f"{number}:{at}", role="user", text=text),
                Turn(mark=f"{number}:{at}r", role="assistant", text=reply),
            ]
        talks.append(Talk(name=talk["name"], day=talk["day"], turns=tuple(turns)))
    return tuple(talks)


def _put(told: dict[int, str], hundredth: int, text: str) -> None:
    """Have a text stand in a talk, at the next turn that is free."""
    at = hundredth * _LONG_TURNS // 100
    while at in told:
        at += 1
    told[at] = text
