"""Layers 9 and 10: order, modes, gaps, notes, and what is rendered again."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.curation import (
    FileItem,
    FileMode,
    FileProblem,
    FileProblemKind,
    FileSnapshot,
    ItemFiles,
    LineRange,
    Symbol,
)
from core.kernel.values.stack import LayerId, StackInputs
from core.talk.context import file_layers
from core.talk.context.file_layers import (
    FilesCount,
    count_files,
    file_details_layer,
    file_set_layer,
    joined_ranges,
)
from core.talk.context.pieces import StackMemo
from core.talk.context.stack import build_stack
from tests.core.stacks import curated, snapshot


def details(*items: ItemFiles) -> str:
    return file_details_layer(items, StackMemo()).text


def test_pinned_files_come_first_and_the_rest_keep_their_order() -> None:
    items = (curated("b", "1\n"), curated("a", "2\n"), curated("c", "3\n", pinned=True))

    assert [p.key for p in file_details_layer(items, StackMemo()).pieces] == ["10/c", "10/b", "10/a"]
    assert file_set_layer("core", items).text == '<preset name="core">\n"c"\n"b"\n"a"\n</preset>\n'


def test_a_disabled_item_renders_nothing() -> None:
    assert build_stack(StackInputs(preset_name="core", items=(curated("a", "x", enabled=False),))).text == ""


def test_a_file_that_is_named_by_itself_is_left_out_of_globs() -> None:
    a, b = snapshot("a.py", "A\n"), snapshot("b.py", "B\n")
    items = (
        ItemFiles(FileItem("*.py"), (a, b)),
        ItemFiles(FileItem("a.py", mode=FileMode.NOTES, notes="see b"), (a,)),
        ItemFiles(FileItem("b*"), (b,)),
    )

    assert details(*items) == (
        '<file path="b.py">\nB\n</file>\n'
        '<file path="a.py" shown="notes only">\n<notes>\nsee b\n</notes>\n</file>\n'
    )


def test_a_file_that_stands_twice_has_two_keys() -> None:
    layer = file_details_layer((curated("a", "x\n"), curated("a", "x\n", notes="again")), StackMemo())

    assert [piece.key for piece in layer.pieces] == ["10/a", "10/a#2"]


@pytest.mark.parametrize("kind", FileProblemKind)
def test_every_problem_is_a_visible_gap_without_figures(kind: FileProblemKind) -> None:
    """A refused file that grows must not change the context: the model is told the kind, not the size."""
    problem = FileProblem(kind, "12,345 bytes")
    gone = FileSnapshot("a", "/a", problem=problem)
    text = details(ItemFiles(FileItem("a", notes="was the parser"), (gone,)))

    assert text.startswith('<file path="a">\n<unavailable reason="')
    assert "12,345" not in text
    assert "was the parser" in text
    assert '"a" (not available)' in file_set_layer("p", (ItemFiles(FileItem("a"), (gone,)),)).text


def test_an_item_without_files_is_a_gap_too() -> None:
    empty = ItemFiles(FileItem("src/*.zig"), (), FileProblem(FileProblemKind.EMPTY_GLOB, "none"))

    assert details(empty) == ('<files path="src/*.zig">\n<unavailable reason="no file matches"/>\n</files>\n')


def test_slices_state_their_lines_and_overlaps_are_joined() -> None:
    item = curated(
        "a",
        "1\n2\n3\n4\n5\n6\n",
        mode=FileMode.SLICES,
        slices=(LineRange(5, 6), LineRange(1, 2), LineRange(2, 3)),
    )

    assert details(item) == (
        '<file path="a" shown="slices">\n'
        '<lines at="1-3 of 6">\n1\n2\n3\n</lines>\n<lines at="5-6 of 6">\n5\n6\n</lines>\n</file>\n'
    )


def test_slices_past_the_end_are_cut_or_said_to_be_missing() -> None:
    item = curated("a", "1\n2\n3", mode=FileMode.SLICES, slices=(LineRange(3, 99), LineRange(50, 60)))

    assert details(item) == (
        '<file path="a" shown="slices">\n<lines at="3 of 3">\n3\n</lines>\n<missing lines="50-60"/>\n</file>\n'
    )


def test_slices_by_symbol_take_its_lines_and_name_what_is_missing() -> None:
    symbols = (
        Symbol("A", "class", LineRange(1, 3), "class A"),
        Symbol("A.f", "method", LineRange(2, 3), "def f"),
    )
    item = FileItem("a", mode=FileMode.SLICES, symbols=("A.f", "A.gone"))
    found = ItemFiles(item, (snapshot("a", "class A:\n def f():\n  pass\n", symbols=symbols),))

    assert details(found) == (
        '<file path="a" shown="slices">\n<lines at="2-3 of 3">\n def f():\n  pass\n</lines>\n'
        '<missing symbol="A.gone"/>\n</file>\n'
    )


def test_an_outline_shows_lines_and_signatures_by_depth() -> None:
    symbols = (
        Symbol("A", "class", LineRange(1, 9), "class A"),
        Symbol("A.f", "method", LineRange(2, 2), "def f(x)", 1),
    )
    item = FileItem("a", mode=FileMode.OUTLINE)

    assert details(ItemFiles(item, (snapshot("a", "…", symbols=symbols),))) == (
        '<file path="a" shown="outline">\n1-9: class A\n  2: def f(x)\n</file>\n'
    )
    assert "there is no outline for this kind of file" in details(ItemFiles(item, (snapshot("a", "x"),)))
    assert "no symbols were found" in details(ItemFiles(item, (snapshot("a.py", "x"),)))


def test_notes_stand_before_the_whole_file() -> None:
    assert details(curated("a", "x\n", notes="Read me")) == (
        '<file path="a">\n<notes>\nRead me\n</notes>\n<content>\nx\n</content>\n</file>\n'
    )


def test_joined_ranges_merge_what_touches() -> None:
    ranges = [LineRange(7, 9), LineRange(1, 2), LineRange(3, 4), LineRange(8, 8)]

    assert joined_ranges(ranges) == [LineRange(1, 4), LineRange(7, 9)]


def test_a_new_message_renders_layer_12_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    memo, inputs = StackMemo(), StackInputs(role_text="r", items=(curated("a", "x\n"),), user_text="one")
    before = build_stack(inputs, memo)
    after = build_stack(replace(inputs, user_text="two"), memo)

    same = [old is new for old, new in zip(before.layers, after.layers, strict=True)]
    assert same == [True] * 11 + [False]


def test_one_changed_file_is_rendered_and_the_others_are_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[str] = []
    plain = file_layers._rendered

    def seen(entry: file_layers._Entry) -> object:
        rendered.append(entry.item.path)
        return plain(entry)

    monkeypatch.setattr(file_layers, "_rendered", seen)
    memo, items = StackMemo(), tuple(curated(f"f{n}", f"{n}\n") for n in range(5))
    build_stack(StackInputs(items=items), memo)
    changed = (*items[:3], curated("f3", "new\n"), items[4])
    stack = build_stack(StackInputs(items=changed), memo)

    assert rendered == ["f0", "f1", "f2", "f3", "f4", "f3"]
    assert stack == build_stack(StackInputs(items=changed))


def test_the_digest_of_a_file_stands_for_its_text() -> None:
    """Same text, same digest, and another text another one, whether or not reading gave a digest."""
    read, made = curated("a", "x\n"), ItemFiles(FileItem("a"), (FileSnapshot("a", "/a", text="x\n"),))
    other = curated("a", "y\n")
    shas = [
        build_stack(StackInputs(items=(i,))).layer(LayerId.FILE_DETAILS).sha256 for i in (read, made, other)
    ]

    assert shas[0] == shas[1] != shas[2]


def test_a_file_counts_once_and_one_that_cannot_be_read_does_not() -> None:
    a, b = replace(snapshot("a.py", "A\n"), tokens=10), replace(snapshot("b.py", "B\n"), tokens=5)
    gone = FileSnapshot("nope.txt", "/nope.txt", problem=FileProblem(FileProblemKind.VANISHED, "gone"))
    items = (
        ItemFiles(FileItem("a.py"), (a,)),
        ItemFiles(FileItem("nope.txt"), (gone,)),
        ItemFiles(FileItem("**/*.py"), (a, b)),
        ItemFiles(FileItem("c.py", enabled=False), (replace(a, path="c.py"),)),
    )

    assert count_files(items, {}) == FilesCount(2, 15, is_whole=True)
    assert count_files(items, {"a.py": 12, "b.py": 6, "nope.txt": 3}) == FilesCount(2, 21, is_whole=True)
    outlined = (ItemFiles(FileItem("a.py", mode=FileMode.OUTLINE), (a,)),)
    assert count_files(outlined, {}) == FilesCount(1, 0, is_whole=False)
