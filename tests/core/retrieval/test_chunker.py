"""Chunks: by heading, by symbol, by turn with its neighbours, knowledge whole."""

from __future__ import annotations

import re

import pytest

from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import Chunk, ChunkKind
from core.kernel.words import words
from core.retrieval.chunker import (
    KnowledgeLine,
    SpokenTurn,
    embedded_text,
    file_chunks,
    keyword_text,
    line_chunks,
    parted,
    speakers_of,
    turn_chunks,
)
from core.talk.context.outline import symbols_of


def measure(text: str) -> list[int]:
    return [found.start() for found in re.finditer(r"\w+|[^\w\s]", text)]


def prose(count: int, word: str) -> str:
    return " ".join(f"{word}{number}" for number in range(count)) + "."


@pytest.mark.parametrize(
    "text",
    [
        "The gateway retries thrice, and waits longer each time.\n" * 20,
        "x" * 900,
        "    return f(x)\n\n" * 60,
        "\N{ETHIOPIC SYLLABLE HA}\N{ETHIOPIC SYLLABLE LA}" * 150,
        "\N{GRINNING FACE}" * 200,
    ],
    ids=["prose", "a run of letters", "code", "a script that few models read", "emoji"],
)
def test_a_model_of_a_server_gets_parts_that_are_short_for_any_tokenizer(text: str) -> None:
    """Nobody here has its tokenizer: what it is given too much of it would cut off unsaid."""
    body = text.strip()
    whole = Chunk(ChunkKind.PROSE, LineRange(5, 5 + body.count("\n")), body, "Heading")
    parts = list(parted(whole))

    assert len(parts) > 1
    pieces = [re.findall(r"[A-Za-z]{1,3}|\s{2,}|\S", f"{one.heading} {one.text}") for one in parts]
    assert max(map(len, pieces)) <= 256
    assert all(one.text in body and one.heading == "Heading" for one in parts)
    assert "".join("".join(one.text.split()) for one in parts) == "".join(body.split())
    lines = body.split("\n")
    assert all(
        one.text.split("\n")[0] in lines[one.lines.first - 5]
        and one.text.split("\n")[-1] in lines[one.lines.last - 5]
        for one in parts
    )
    turn = Chunk(ChunkKind.CONVERSATION, LineRange(3, 3), body)
    assert {one.lines for one in parted(turn)} == {LineRange(3, 3)}
    assert list(parted(short := Chunk(ChunkKind.PROSE, LineRange(1, 1), "a short one"))) == [short]


def test_markdown_is_cut_by_its_headings_and_each_chunk_names_its_lines() -> None:
    text = f"# One\n\n{prose(80, 'a')}\n\n## Two\n\n{prose(80, 'b')}\n"
    one, two = file_chunks(text, symbols_of("n.md", text), measure, ChunkKind.PROSE)
    assert (one.lines, one.heading) == (LineRange(1, 3), "One")
    assert (two.lines, two.heading) == (LineRange(5, 7), "One.Two")
    assert embedded_text(two).startswith("One.Two\n## Two")


def test_code_is_cut_by_symbol_and_names_in_camel_case_are_found_by_their_words() -> None:
    body = "\n".join(f"    value{n} = readFileTwice({n})" for n in range(20))
    text = f"import os\n\n\ndef first():\n{body}\n\n\ndef second():\n{body}\n"
    chunks = list(file_chunks(text, symbols_of("m.py", text), measure, ChunkKind.CODE))
    assert {one.heading for one in chunks} >= {"first", "second"}
    first = next(one for one in chunks if one.heading == "first")
    assert "read file twice" in keyword_text(first)
    assert "read File Twice" not in embedded_text(first)


def test_a_turn_is_embedded_bare_and_its_neighbours_and_its_day_are_keywords_alone() -> None:
    turns = [
        SpokenTurn(1, "user", "Which port?"),
        SpokenTurn(2, "assistant", "8080 it is.", "2026-11-23"),
        SpokenTurn(3, "user", "Thanks"),
    ]
    chunk = list(turn_chunks(turns, measure))[1]
    assert (chunk.lines, chunk.date) == (LineRange(2, 2), "2026-11-23")
    assert embedded_text(chunk) == "8080 it is."
    assert keyword_text(chunk) == "assistant 8080 it is which port thanks 23 november 2026"


def test_an_item_of_knowledge_is_one_chunk() -> None:
    lines = [KnowledgeLine(LineRange(3, 4), "facts", "Tests need a display.", "2026-11-01")]
    (chunk,) = line_chunks(lines, measure)
    assert (chunk.kind, chunk.lines, chunk.text) == (
        ChunkKind.KNOWLEDGE,
        LineRange(3, 4),
        "Tests need a display.",
    )


@pytest.mark.parametrize(
    ("said", "speakers", "bare"),
    [
        (
            ("Ada: I moved to Oslo.", "Bo: Why?", "Ada: For the sea.", "Bo: Nice."),
            ("Ada", "Bo", "Ada", "Bo"),
            ("I moved to Oslo.", "Why?", "For the sea.", "Nice."),
        ),
        (
            ("李雷：我搬家了", "韩梅梅：去哪儿？", "李雷：北京", "韩梅梅：好"),
            ("李雷", "韩梅梅", "李雷", "韩梅梅"),
            ("我搬家了", "去哪儿？", "北京", "好"),
        ),
        (
            ("Dr. Mary Jones: benign", "Will: Phew", "Dr. Mary Jones: yes", "then home", "Will: ok"),
            ("Dr. Mary Jones", "Will", "Dr. Mary Jones", "", "Will"),
            ("benign", "Phew", "yes", "then home", "ok"),
        ),
        (("Ada: Hi", "Bo: Hi", "Ada: Bye"), ("Ada", "Bo", "Ada"), ("Hi", "Hi", "Bye")),
        (("Will: I will. Will you?", "Bo: yes") * 2, ("Will", "Bo") * 2, ("I will. Will you?", "yes") * 2),
        (("राम: नमस्ते", "सीता: कैसे हो?") * 2, ("राम", "सीता") * 2, ("नमस्ते", "कैसे हो?") * 2),
        (("มาลี: สวัสดี", "ก้อง: ดี") * 2, ("มาลี", "ก้อง") * 2, ("สวัสดี", "ดี") * 2),
        (("Zoe\u0301: Hi", "Bo: Yes") * 2, ("Zoe\u0301", "Bo") * 2, ("Hi", "Yes") * 2),
        (("Q: Which port?", "A: 8080") * 2, ("Q", "A") * 2, ("Which port?", "8080") * 2),
    ],
)
def test_a_turn_of_a_talk_of_several_people_is_embedded_without_its_speaker(
    said: tuple[str, ...], speakers: tuple[str, ...], bare: tuple[str, ...]
) -> None:
    turns = [SpokenTurn(number=n, role="user", text=text) for n, text in enumerate(said, 1)]
    chunks = list(turn_chunks(turns, measure))

    assert speakers_of(turns) == tuple(one.speaker for one in chunks) == speakers
    assert tuple(map(embedded_text, chunks)) == bare
    assert tuple(one.text for one in chunks) == said
    assert all(set(words(one.text)) <= set(keyword_text(one).split()) for one in chunks)


@pytest.mark.parametrize(
    "said",
    [
        ("Wifi password: hunter2", "Noted.", "My new address: 12 Elm Street", "Noted."),
        ("Ingredients: flour, eggs", "Steps: mix, bake", "Oven: 180 degrees", "Thanks: it rose"),
        ("Error: no rule to make target", "Fix the error by a rule", "Error: no such file", "See above."),
        ("Error: no rule", "Fix: a rule for this error", "Error: no file", "Fix: another fix of it"),
        ("Note: call Ada", "Note: call Bo", "Note: call Cy", "Note: rest"),
        ("Ada: I moved to Oslo.", "Bo: Why?"),
        ("Ada: I moved.", "Ada: To Oslo.", "Bo: Why?", "Bo: When?"),
        ("Host: db1", "Port: 80", "User: root", "Host: db2"),
        ("Host: db1", "ok", "Port: 8080", "ok", "Host: db2", "ok", "Port: 8081", "ok"),
        ("then this: nothing", "10:30 is fine", "Ada:", "so be it: fine"),
    ],
)
def test_a_label_that_is_no_speaker_is_embedded_with_its_turn(said: tuple[str, ...]) -> None:
    turns = [SpokenTurn(number=n, role="user", text=text) for n, text in enumerate(said, 1)]

    assert set(speakers_of(turns)) == {""}
    assert tuple(map(embedded_text, turn_chunks(turns, measure))) == said


def test_each_part_of_a_long_turn_has_its_speaker() -> None:
    said = ("Ada: " + "I moved to Oslo. " * 200, "Bo: Why?", "Ada: For the sea.", "Bo: Nice.")
    first, *more = turn_chunks([SpokenTurn(number=1, role="user", text=text) for text in said], measure)

    assert {one.speaker for one in (first, *more[:-3])} == {"Ada"}
    assert embedded_text(first).startswith("I moved")
    assert embedded_text(more[0]) == more[0].text


def test_no_chunk_is_longer_than_the_embedder_takes_with_its_heading() -> None:
    text = "# " + prose(20, "h") + "\n" + prose(2_000, "w")
    chunks = list(file_chunks(text, symbols_of("n.md", text), measure, ChunkKind.PROSE))
    assert len(chunks) > 8
    assert all(len(measure(one.heading)) + len(measure(one.text)) <= 254 for one in chunks)
