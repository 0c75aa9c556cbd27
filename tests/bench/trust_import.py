"""Measures imports: a ChatGPT export read and split, and as discussions on disk, each in a process of its own.

`make bench-trust ARGS="--megabytes 100"` takes a smaller export.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from core.imports.import_run import ImportRequest, run_import
from core.imports.import_sources import conversations
from tests.bench.__main__ import Row, row
from tests.bench.child import measured

MEGABYTES = 1_000
MESSAGES, WORDS = 40, 220
RUNS = 3
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
SAMPLE_S = 0.02


def rows(options: Sequence[str] = ()) -> list[Row]:
    """Measure in temporary homes. Values are medians; megabytes are of the export, memory is what no file backs."""
    size = int(options[options.index("--megabytes") + 1]) if "--megabytes" in options else MEGABYTES
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "conversations.json")
        make_export(path, size * 1_000_000)
        read = [measured("tests.bench.trust_import", "read", str(path)) for _ in range(RUNS)]
        written = []
        for number in range(RUNS):
            with tempfile.TemporaryDirectory(dir=folder, prefix=f"home-{number}-") as home:
                written.append(measured("tests.bench.trust_import", "write", str(path), home))
    what = f"import of {size:,} MB of a ChatGPT export"
    return [
        row(f"{what}, read and split", _median(read, "speed"), "MB/s", least=100, runs=RUNS),
        row("its speed by processor time", _median(read, "processor"), "MB/s", runs=RUNS),
        row("its private memory", _median(read, "memory"), "MB", 150, runs=RUNS),
        row(f"{what}, into discussions on disk", _median(written, "speed"), "MB/s", least=25, runs=RUNS),
        row("its speed by processor time", _median(written, "processor"), "MB/s", runs=RUNS),
        row("its private memory", _median(written, "memory"), "MB", 300, runs=RUNS),
    ]


def make_export(path: Path, size_bytes: int) -> None:
    """An export of about this size: conversations of 40 messages, in each third one an edited message."""
    words = random.Random(12)
    vocabulary = [
        "".join(words.choices("abcdefghijklmnopqrstuvwxyzäé", k=words.randint(2, 11))) for _ in range(3_000)
    ]
    with path.open("w", encoding="utf-8") as file:
        number = 0
        file.write("[")
        while file.tell() < size_bytes:
            file.write(",\n" if number else "")
            json.dump(_conversation(number, words, vocabulary), file, ensure_ascii=False)
            number += 1
        file.write("]")


def _conversation(number: int, words: random.Random, vocabulary: Sequence[str]) -> dict[str, object]:
    mapping: dict[str, dict[str, object]] = {
        "root": {"id": "root", "message": None, "parent": None, "children": []}
    }
    parent = "root"
    at = 1_760_000_000.25 + number
    for turn in range(MESSAGES):
        key = f"{number:08x}-{turn:04x}-4000-8000-0123456789ab"
        role = ("user", "assistant")[turn % 2]
        above = parent if number % 3 or turn != MESSAGES - 1 else str(mapping[parent]["parent"])
        text = " ".join(words.choices(vocabulary, k=WORDS)) + '\n\n```python\nprint("tide")\n```\n'
        mapping[key] = {
            "id": key,
            "message": {
                "id": key,
                "author": {"role": role, "name": None, "metadata": {}},
                "create_time": at + turn,
                "update_time": None,
                "content": {"content_type": "text", "parts": [text]},
                "status": "finished_successfully",
                "end_turn": True,
                "weight": 1.0,
                "metadata": {
                    "model_slug": "gpt-4o",
                    "request_id": key,
                    "timestamp_": "absolute",
                    "citations": [],
                },
                "recipient": "all",
            },
            "parent": above,
            "children": [],
        }
        parent = key
    return {
        "title": f"Talk {number}",
        "create_time": at,
        "update_time": at + MESSAGES,
        "mapping": mapping,
        "current_node": parent,
        "conversation_id": f"{number:08x}-0000-4000-8000-0123456789ab",
    }


def _read(path: str, _home: str) -> None:
    for _ in conversations((path,)):
        pass


def _write(path: str, home: str) -> None:
    report = run_import(ImportRequest(Path(home), (path,), NOW, "local", "m", is_dry=False))
    assert report.made >= report.count > 0, report
    assert not report.stopped, report.stopped


def _main(kind: str, path: str, home: str = "") -> None:
    act: Callable[[str, str], None] = {"read": _read, "write": _write}[kind]
    size = Path(path).stat().st_size / 1e6
    with _private_memory() as most:
        wall, processor = time.perf_counter(), time.process_time()
        act(path, home)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(json.dumps({"speed": size / wall, "processor": size / processor, "memory": max(most) / 1e3}))


@contextmanager
def _private_memory() -> Iterator[list[float]]:
    """Kilobytes that this process holds beside mapped files, again and again."""
    seen, ended = [_anonymous()], threading.Event()

    def sample() -> None:
        while not ended.wait(SAMPLE_S):
            seen.append(_anonymous())

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        yield seen
    finally:
        ended.set()
        sampler.join()


def _anonymous() -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("RssAnon:")))


def _median(found: Sequence[dict[str, float]], name: str) -> float:
    return statistics.median(one[name] for one in found)


if __name__ == "__main__":
    _main(*sys.argv[1:])
