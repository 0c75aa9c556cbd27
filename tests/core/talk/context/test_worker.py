"""The structure view's file: its outline at once, its tokens when they are counted, what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from core.app.app_messages import Event
from core.kernel.values.curation import FileItem, FileProblemKind
from core.kernel.values.settings import FileLimits
from core.talk.context.context_messages import AssembleContext, ContextAssembled, FileInspected, InspectOnDisk
from core.talk.context.context_worker import ContextHandler
from core.talk.context.difference import SOME_CHARS
from core.talk.context.outline import symbols_of
from tests.core.talk.context.test_assembly import Bench


def _inspected(root: Path, path: str) -> list[FileInspected]:
    bench = Bench(root)
    told: list[Event] = []
    handler = ContextHandler(bench.assembler, symbols_of, bench.counter, told.append)
    handler.handle(InspectOnDisk(str(root), FileItem(path), (), FileLimits()))
    return [event for event in told if isinstance(event, FileInspected)]


@pytest.mark.parametrize(
    ("name", "text", "symbols"),
    [
        (
            "tides.py",
            "class Harbour:\n    def turn(self) -> int:\n        return 6\n",
            ["Harbour", "Harbour.turn"],
        ),
        ("notes.md", "# Tides\n\nText.\n\n## Times\n", ["Tides", "Tides.Times"]),
    ],
)
def test_a_file_is_shown_with_its_outline_although_it_is_sent_whole(
    tmp_path: Path, name: str, text: str, symbols: list[str]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")

    first, _ = _inspected(tmp_path, name)

    assert [symbol.name for symbol in first.snapshot.symbols] == symbols
    assert first.snapshot.text == text


def test_tokens_follow_when_they_are_counted(tmp_path: Path) -> None:
    (tmp_path / "tides.py").write_text("x = 1\n", encoding="utf-8")

    first, second = _inspected(tmp_path, "tides.py")

    assert (first.snapshot.tokens, second.snapshot.tokens) == (None, 6)


@pytest.mark.parametrize(
    ("path", "kind"), [("gone.py", FileProblemKind.VANISHED), ("src/*.py", FileProblemKind.EMPTY_GLOB)]
)
def test_a_file_that_is_not_there_says_so_instead_of_reading_for_ever(
    tmp_path: Path, path: str, kind: FileProblemKind
) -> None:
    (tmp_path / "src").mkdir()

    (only,) = _inspected(tmp_path, path)

    assert only.snapshot.path == path
    assert only.snapshot.problem is not None
    assert only.snapshot.problem.kind is kind


def test_a_long_count_lets_the_first_report_of_the_next_discussion_go_before_it(tmp_path: Path) -> None:
    bench, told = Bench(tmp_path), list[Event]()
    handler = ContextHandler(bench.assembler, symbols_of, bench.counter, told.append)
    long = bench.spec("x" * (3 * SOME_CHARS))
    handler.handle(AssembleContext(replace(long, discussion_id="slow")))
    asked = iter((False, True))
    handler.count_on(lambda: next(asked))
    handler.handle(AssembleContext(replace(bench.spec("short"), discussion_id="next")))
    handler.count_on(lambda: False)

    reports = [event for event in told if isinstance(event, ContextAssembled)]
    assert [(one.discussion_id, one.report.is_exact) for one in reports] == [
        ("slow", False), ("next", False), ("next", True), ("slow", True)
    ]  # fmt: skip
