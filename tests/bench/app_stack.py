"""Measures the stack for 1,000 files and 10 MB: first assembly against a plain read, second after a new message."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from core.kernel.values.curation import FileItem
from core.kernel.values.settings import FileLimits
from core.kernel.values.stack import StackInputs
from core.talk.context.file_reader import FileCache, read_items
from core.talk.context.pieces import StackMemo
from core.talk.context.stack import AggregateStack, build_stack
from tests.bench.__main__ import Row, row

FILES = 1_000
FILE_BYTES = 10_000
RUNS = 15
FIRST_BAR = 5.0
SECOND_BAR_MS = 5.0


def rows() -> list[Row]:
    """Measure in a temporary folder. Ratios come from alternating runs, values are medians."""
    with tempfile.TemporaryDirectory() as folder:
        paths = make_files(Path(folder))
        items = tuple(FileItem(path.name) for path in paths)
        globbed = (FileItem("*.py"),)
        plain, first, first_glob, second, sent = [], [], [], [], []
        for _ in range(RUNS):
            plain.append(_seconds(lambda: [path.read_bytes() for path in paths]))
            first.append(_seconds(lambda: _assemble(folder, items, FileCache(), StackMemo(), "hello")))
            first_glob.append(_seconds(lambda: _assemble(folder, globbed, FileCache(), StackMemo(), "hello")))
            second.append(_second_assembly(folder, items, lambda stack: stack.text))
            sent.append(_second_assembly(folder, items, AggregateStack.request))
    return [
        row("stack, first assembly / plain read", _ratio(first, plain), "times", FIRST_BAR, runs=RUNS),
        row(
            "stack, first assembly of a glob / plain read",
            _ratio(first_glob, plain),
            "times",
            FIRST_BAR,
            runs=RUNS,
        ),
        row(
            "stack, second assembly, as text", statistics.median(second) * 1e3, "ms", SECOND_BAR_MS, runs=RUNS
        ),
        row(
            "stack, second assembly, as request",
            statistics.median(sent) * 1e3,
            "ms",
            SECOND_BAR_MS,
            runs=RUNS,
        ),
    ]


def make_files(folder: Path) -> list[Path]:
    """A thousand files of source, 10 kB each, all different."""
    source = random.Random(20_261_120)
    line = "    total_{0} = compute(total_{0}, factor={1})  # step {2}\n"
    paths = []
    for number in range(FILES):
        lines = [f"def task_{number}():\n"]
        size = len(lines[0])
        while size < FILE_BYTES:
            lines.append(line.format(source.randrange(99), source.random(), source.randrange(9_999)))
            size += len(lines[-1])
        path = folder / f"task_{number:04}.py"
        path.write_text("".join(lines), encoding="utf-8")
        paths.append(path)
    return paths


def _assemble(root: str, items: tuple[FileItem, ...], cache: FileCache, memo: StackMemo, text: str) -> int:
    """Read the files, build the stack, render the text: everything up to what could be sent."""
    inputs = StackInputs(role_text="You help.", preset_name="bench", user_text=text)
    read = read_items(root, items, FileLimits(), cache=cache)
    stack = build_stack(replace(inputs, items=read), memo)
    return len(stack.text)


def _second_assembly(
    root: str, items: tuple[FileItem, ...], render: Callable[[AggregateStack], object]
) -> float:
    """Seconds to build and render again with another message, files read before and watched since."""
    memo = StackMemo()
    inputs = StackInputs(
        role_text="You help.",
        preset_name="bench",
        items=read_items(root, items, FileLimits()),
        user_text="one",
    )
    render(build_stack(inputs, memo))
    changed = replace(inputs, user_text="two")
    return _seconds(lambda: render(build_stack(changed, memo)))


def _seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _ratio(values: list[float], base: list[float]) -> float:
    return statistics.median(values) / statistics.median(base)


if __name__ == "__main__":
    for measured in rows():
        print(measured)
