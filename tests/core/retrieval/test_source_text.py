"""Files as they are indexed: a person's prose in lines of any length, nothing of what a program made."""

from __future__ import annotations

import base64
import random

import pytest

from core.kernel.values.retrieval import Corpus
from core.retrieval.chunker import embedded_text
from core.retrieval.embedders import MAX_TOKENS, Tokens
from core.retrieval.sources import SourceText, as_markdown, read_head, read_source

TOKENS = Tokens()
RANDOM = random.Random(4)
DICTATED = "So the heron waits by the lake until it is dark, and then it goes home. " * 120
BLOB = base64.b64encode(RANDOM.randbytes(9_000)).decode()
CHINESE = "潮汐是由月球的引力引起的。港口六点涨潮，渡轮在一小时后离开。" * 200
HOSTILE = {
    "dictated": DICTATED,
    "chinese": f"# 潮汐\n\n{CHINESE}",
    "thai": "น้ำขึ้นน้ำลงเกิดจากแรงดึงดูดของดวงจันทร์ " * 300,
    "blob in lines": "\n".join(BLOB[at : at + 76] for at in range(0, len(BLOB), 76)),
    "accents": "ǻ̈́ é́́ ñ̃ " * 900,
    "pictures": "👩‍👩‍👧‍👦🏳️‍🌈 " * 900,
    "heading": f"# {CHINESE[:300]}\n\n{DICTATED}",
    "marks": "".join(RANDOM.choices("{}[]()<>|\\/&%$#@!*^~ \n", k=9_000)),
}


def read(text: str, path: str = "a.md", corpus: Corpus = Corpus.NOTES) -> SourceText:
    return read_source(corpus, path, text.encode(), TOKENS.starts)


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_every_word_is_in_a_chunk_that_the_model_takes_whole(name: str) -> None:
    text = HOSTILE[name]
    source = read(text)
    assert source.problem == ""
    sizes = [len(TOKENS.starts(embedded_text(chunk))) + 2 for chunk in source.chunks]
    assert max(sizes) <= MAX_TOKENS
    assert "".join("".join(one.text for one in source.chunks).split()) == "".join(text.split())
    assert read(text).chunks == source.chunks


@pytest.mark.parametrize("text", [DICTATED, CHINESE])
def test_a_note_of_one_long_line_is_listed_as_it_says_of_itself(text: str) -> None:
    whole = f"---\ntitle: Herons\ntags: [birds]\n---\n{text}"
    head = read_head("a.md", whole.encode())
    assert (head.title, head.tags) == ("Herons", ("birds",))
    assert head.description == text[: len(head.description)]
    assert head.description.endswith((".", "。"))
    assert read(whole).head == head


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (BLOB, "a.txt"),
        (DICTATED, "a.js"),
        ("x=1;y=f(x);" * 3_000, "a.min.js"),
        ('{"a":[1,2]},' * 900, "a.json"),
    ],
)
def test_what_a_program_made_is_passed_over_and_said(text: str, path: str) -> None:
    source = read(text, path, Corpus.PROJECT)
    assert (
        source.chunks,
        "the file's lines are so long that a program must have written it" in source.problem,
    ) == (
        (),
        True,
    )


@pytest.mark.parametrize("pointer", [" (replaced 2026-11-20: The port is 9090.)", ""])
@pytest.mark.parametrize("old", ["The build port is 8080.", "The build port is 8080. " * 200])
def test_a_value_that_another_has_replaced_is_found_no_more_and_no_piece_of_it(
    old: str, pointer: str
) -> None:
    text = f"# Facts\n\n- ~~{old.strip()}~~{pointer}\n- The port is 9090.\n"
    found = read(text, "facts.md", Corpus.KNOWLEDGE)
    assert [one.text for one in found.chunks] == ["The port is 9090."]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "a.tex",
            "% Draft\n%% Part\n\\title{On \\emph{Tides}}\n\\newcommand{\\x}[1]{#1 #x}\n\\section{One}\nWater rises 5\\% here. It falls.\n",
        ),
        (
            "a.typ",
            '#import "x.typ": *\n#set page(width: 10cm)\n= On Tides\nWater rises 5\\% here. See #link("x").\n#show: paper\n',
        ),
        ("a.wiki", "%date 2026-03-05\n  = On Tides =\nWater rises 5\\% here.\n# one\n# two\n"),
        ("a.mediawiki", "== On Tides ==\n'''Water''' rises 5\\% here.\n\n# one\n# two\n"),
        ("a.textile", "h1. On Tides\n\nWater rises 5\\% here.\n\n# one\n# two\n"),
        ("a.norg", "@document.meta\ntitle: On Tides\n@end\n\n* One\nWater rises 5\\% here. It falls.\n"),
    ],
)
def test_a_note_in_other_markup_has_its_own_title_and_none_of_its_commands_as_tags(
    path: str, text: str
) -> None:
    head = read(text, path).head
    assert head.title == "On Tides"
    assert head.description == "Water rises 5\\% here."
    assert head.tags == ()
    assert head.date == ("2026-03-05" if "%date" in text else "")
    assert head == read_head(path, text.encode())


def test_a_long_line_of_a_wiki_that_is_no_title_is_passed_at_once() -> None:
    """Each of its spaces was tried as the end of one."""
    text = f"={' ' * 400_000}=x\n"
    assert as_markdown(text, "a.wiki") == text
