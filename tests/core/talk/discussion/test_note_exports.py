"""Exports of Google Keep and Day One: known by their first bytes, each note with its day, tags and state."""

from __future__ import annotations

import json

import pytest

from core.talk.discussion.document_text import DocumentError, document_text
from core.talk.discussion.note_exports import HEAD_BYTES, is_note_export
from tests.note_exports import CANVAS, DAY_ONE, KEEP, NOTEBOOK, OUTLINE, ROAM


def test_a_note_of_keep_has_title_day_labels_state_text_and_boxes() -> None:
    assert document_text(KEEP, "json") == (
        "# Shop list\nCreated: 2012-10-30\nTags: Home, To buy\nArchived\n\nlapwing eggs\n\n- [x] milk\n- [ ] oat bread\n"
    )


def test_a_note_of_keep_in_the_trash_says_so_and_may_have_a_picture_before_all_else() -> None:
    note = {"attachments": [{"filePath": "a.png", "mimetype": "image/png"}]} | json.loads(KEEP)
    note |= {"isTrashed": True, "isArchived": False, "title": "", "labels": []}
    data = json.dumps(note).encode()

    assert is_note_export(data[:HEAD_BYTES])
    assert document_text(data, "json").startswith("Created: 2012-10-30\nIn the trash\n\nlapwing eggs\n")


def test_each_entry_of_a_journal_has_its_day_where_it_was_written_its_tags_and_its_place() -> None:
    assert document_text(DAY_ONE, "json") == (
        "# Morning in Paris\nCreated: 2021-07-23\nTags: travel, paris\nPlace: Rive Gauche, Paris, France\n\n"
        "Coffee by the Seine.\n\n\n# 2022-01-02\nCreated: 2022-01-02\n\nSnow on the weir.\n"
    )


@pytest.mark.parametrize(
    ("data", "ending", "lines"),
    [
        (CANVAS, "canvas", ["# Idea", "A hovercraft", "Later"]),
        (NOTEBOOK, "ipynb", ["# Gauge", "Less the barometer.", "```", "r = o - p", "```"]),
        (
            b'{"edges": [], "nodes": [{"id": "a", "x": 0, "text": "Sum { x }", "type": "text"}]}',
            "canvas",
            ["Sum { x }"],
        ),
        (
            b'{"metadata": {"kernelspec": {}}, "cells": [{"metadata": {}, "source": "# Tide", "cell_type": "markdown"}]}',
            "ipynb",
            ["# Tide"],
        ),
        (b"<opml><body><outline text='Beds'/></body></opml>", "opml", ["- Beds"]),
        (
            "<en-export><note><title>Bar</title><content>&lt;?xml version='1.0' encoding='iso-8859-1'?>caf\u00e9</content></note></en-export>".encode(),
            "enex",
            ["# Bar", "caf\u00e9"],
        ),
        (ROAM, "json", ["# Kiln", "- Cone 6", "  - nine hours"]),
        (OUTLINE, "opml", ["# Garden", "- Beds", "  - Mulch", "  - with seaweed"]),
    ],
)
def test_cards_cells_and_outlines_are_the_words_in_them(data: bytes, ending: str, lines: list[str]) -> None:
    assert [line for line in document_text(data, ending).split("\n") if line] == lines


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b'{"nodes": [{"id": "n1", "type": "n8n-nodes-base.start", "parameters": {}}], "connections": {}}',
        b'{"metadata": {"name": "chart"}, "cells": []}',
        b'[{"title": "x", "url": "https://example.org"}]',
        b"{}",
        b'{"metadata": {"version": "1.0"}, "items": []}',
        b'{"metadata": {"version": "1.0", "name": "x"}, "entries": [{}]}',
        b'{"entries": [{"text": "a", "creationDate": "2021-07-22T08:30:00Z"}]}',
        b'{"id": "bm-1", "title": "x", "isArchived": false, "isTrashed": false, "isPinned": false}',
        b'[{"color": "DEFAULT", "isTrashed": false, "isPinned": false, "isArchived": false}]',
    ],
)
def test_json_of_another_program_is_no_export(data: bytes) -> None:
    assert not is_note_export(data)
    with pytest.raises(DocumentError):
        document_text(data, "json")


@pytest.mark.parametrize("data", [KEEP[:-9], DAY_ONE[:-9], DAY_ONE.replace(b'"2022-01-02T09:00:00Z"', b"7")])
def test_a_damaged_export_is_told(data: bytes) -> None:
    with pytest.raises(DocumentError):
        document_text(data, "json")
