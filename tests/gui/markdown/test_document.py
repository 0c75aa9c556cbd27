"""A text that streams is parsed once, but for its last block."""

from __future__ import annotations

import pytest

import gui.markdown.document
from gui.markdown.blocks import MarkdownBlock
from gui.markdown.document import Document, load
from gui.markdown.parse import parse
from gui.metrics import Measure
from tests.gui.gallery_pages import SAMPLE


@pytest.fixture(autouse=True)
def _loaded() -> None:
    load()


def test_every_prefix_of_a_stream_looks_as_if_it_were_complete() -> None:
    document = Document()
    for end in range(0, len(SAMPLE), 7):
        document.set_source(SAMPLE[:end], is_streaming=True)
        assert tuple(document.blocks) == parse(SAMPLE[:end])
    document.set_source(SAMPLE, is_streaming=False)
    assert tuple(document.blocks) == parse(SAMPLE)


def test_only_the_last_block_is_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    document = Document()
    head = "A paragraph that is done.\n\n" * 200
    document.set_source(head + "tail", is_streaming=True)
    parsed: list[int] = []

    def counted(text: str, *, base: int = 0) -> tuple[MarkdownBlock, ...]:
        parsed.append(len(text))
        return parse(text, base=base)

    monkeypatch.setattr(gui.markdown.document, "parse", counted)
    for count in range(20):
        document.set_source(head + "tail" + " word" * count, is_streaming=True)
    assert max(parsed) < 300


def test_blocks_that_did_not_change_keep_their_places(measure: Measure) -> None:
    document = Document()
    document.set_source("one\n\ntwo\n\nthree", is_streaming=True)
    height = document.lay_out(measure, 400)
    before = [laid for *_, laid in document.laid]
    document.set_source("one\n\ntwo\n\nthree and more", is_streaming=True)
    assert document.lay_out(measure, 400) == height
    after = [laid for *_, laid in document.laid]
    assert [a is b for a, b in zip(before, after, strict=True)] == [True, True, False]


def test_an_edited_text_is_parsed_whole() -> None:
    document = Document()
    document.set_source("one\n\ntwo\n\nthree", is_streaming=True)
    document.set_source("other\n\ntext", is_streaming=True)
    assert tuple(document.blocks) == parse("other\n\ntext")
