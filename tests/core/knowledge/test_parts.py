"""Parts of an apply: written once, taken back as they were written, a person's bytes kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.values.knowledge import HarvestLedgerEntry, LedgerStatus
from core.knowledge import apply_log
from core.knowledge.part_writer import at_once, ensure_part, take_part_back, write_parts
from core.knowledge.parts import (
    BlockPlan,
    PartPlan,
    RowPlan,
    SwapPlan,
    has_text,
    with_new_blocks,
    with_part,
    without_part,
)

HEAD = "---\ndomain: pantry\n---\n\n# Pantry\n\n## fact\n\n"
BLOCK = BlockPlan("repos/pantry.yaml", HEAD, ("- id: pantry:fact:001\n  fact: Rice keeps.",), "fact")
SWAP = SwapPlan("facts.md", "- old", "- ~~old~~ (new, 2026-01-02)")
ROWS = RowPlan("evidence.jsonl", ('{"item":"a"}', '{"item":"b"}'))

PROSE = st.lists(
    st.sampled_from(
        ["", "words", "- an item", "## fact", "## pitfall", "- old", '{"item":"a"', "  indented", "é"]
    ),
    max_size=8,
)


@given(lines=PROSE, end=st.sampled_from(["\n", "\r\n"]), closed=st.booleans())
@pytest.mark.parametrize("part", [BLOCK, ROWS], ids=["blocks", "rows"])
def test_a_part_is_written_once_and_taken_back_to_the_byte(
    part: PartPlan, lines: list[str], end: str, closed: bool
) -> None:
    before = (end.join(lines) + (end if closed and lines else "")).encode()
    if before and not before.endswith(b"\n"):
        before += end.encode()  # an open last line is closed, and stays closed
    with_it = with_part(before, part)
    assert with_part(with_it, part) == with_it
    rest, left = without_part(with_it, part)
    assert left == ()
    assert rest.split() == (before or (HEAD.encode() if part is BLOCK else b"")).split() or (
        b"## fact" not in before and rest.split() == [*before.split(), b"##", b"fact"]
    )


def test_a_block_goes_to_the_end_of_its_section() -> None:
    data = (HEAD + "- id: pantry:fact:000\n  fact: Tea.\n\n## pitfall\n\nProse.\n").encode()
    made = with_part(data, BLOCK).decode()
    assert made.index("fact:000") < made.index("fact:001") < made.index("## pitfall")
    assert made.replace(BLOCK.blocks[0] + "\n", "").encode() == data


def test_a_swap_changes_its_lines_alone_and_goes_back() -> None:
    data = b"# Facts\r\n\r\n- older\r\n- old\r\n- older still\r\n"
    made = with_part(data, SWAP)
    assert made == data.replace(b"- old\r\n", SWAP.after.encode() + b"\r\n")
    assert with_part(made, SWAP) == made
    assert without_part(made, SWAP) == (data, ())
    assert without_part(data, SWAP) == (data, (SWAP.after,))  # a person took it back before us


def test_a_block_that_a_person_changed_stays_and_is_told() -> None:
    made = with_part(b"", BLOCK).replace(b"keeps", b"keeps for years")
    assert with_part(made, BLOCK) == made
    assert without_part(made, BLOCK) == (made, BLOCK.blocks)


@pytest.mark.parametrize("torn", range(1, len(ROWS.rows[0]) + len(ROWS.rows[1]) + 1))
def test_rows_torn_by_a_crash_are_whole_after_it(tmp_path: Path, torn: int) -> None:
    path = paths.knowledge_dir(tmp_path) / ROWS.name
    write_parts(tmp_path, (ROWS,))
    whole = path.read_bytes()
    path.write_bytes(b'{"item":"z"}\n' + whole[:torn])
    ensure_part(tmp_path, ROWS)
    lines = path.read_bytes().split(b"\n")
    assert all(lines.count(row.encode()) == 1 for row in ROWS.rows)
    assert take_part_back(tmp_path, ROWS) == ()
    assert not any(has_text(path.read_bytes(), row) for row in ROWS.rows)
    assert path.read_bytes().startswith(b'{"item":"z"}\n')


def test_the_log_of_an_apply_keeps_parts(tmp_path: Path) -> None:
    entry = HarvestLedgerEntry("0" * 64, "log", LedgerStatus.HARVESTED, "2026-01-02T00:00:00.000000+00:00")
    apply_id = "20260102-000000-abcdef"
    apply_log.write(tmp_path, apply_id, apply_log.step_row("log", entry, (), (BLOCK, SWAP, ROWS)))
    assert apply_log.read(tmp_path, apply_id).steps[0].parts == (BLOCK, SWAP, ROWS)


def test_parts_of_one_file_are_one_rewrite_and_what_one_by_one_would_make(tmp_path: Path) -> None:
    dated = SwapPlan(BLOCK.name, "last_updated: 2026-11-22", "last_updated: 2026-11-23")
    parts = (BLOCK, replace(BLOCK, section="Questions"), dated, ROWS, BLOCK)
    groups = tuple(at_once(parts))
    assert groups == (parts[:3], (ROWS,), (BLOCK,))
    path = paths.knowledge_dir(tmp_path) / BLOCK.name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"---\nlast_updated: 2026-11-22\n---\n")
    write_parts(tmp_path, groups[0])
    one_by_one = b"---\nlast_updated: 2026-11-22\n---\n"
    one_by_one = with_new_blocks(with_new_blocks(one_by_one, BLOCK), replace(BLOCK, section="Questions"))
    assert path.read_bytes() == with_part(one_by_one, dated) != one_by_one
