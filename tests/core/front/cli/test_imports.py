"""An import that finds nothing new needs no controller."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.front.cli.arguments import Options, parse
from core.front.cli.run import local_controller, run
from core.front.cli.session import FrontEnd


def _session(folder: Path, name: str, said: str) -> None:
    rows = [
        {"type": "user", "uuid": f"{name}-1", "message": {"role": "user", "content": said}},
        {
            "type": "assistant",
            "uuid": f"{name}-2",
            "parentUuid": f"{name}-1",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "At noon."}]},
        },
    ]
    told = "".join(
        f"{json.dumps({'sessionId': name, 'timestamp': '2026-11-01T08:00:00Z', **row})}\n" for row in rows
    )
    (folder / f"{name}.jsonl").write_text(told, encoding="utf-8")


def test_a_second_import_of_an_unchanged_folder_makes_no_controller(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says the same as one with a controller, until a session grows, comes, or loses its discussion."""
    folder, home = tmp_path / "in", tmp_path / "home"
    folder.mkdir()
    _session(folder, "tide", "When is high tide?")
    _session(folder, "ebb", "When is ebb?")
    made = list[Options]()

    def make(options: Options) -> FrontEnd:
        made.append(options)
        return local_controller(options)

    def imported() -> str:
        assert run(parse(["--home", str(home), "import", str(folder)]), make) == 0
        return capsys.readouterr().out

    first = imported()
    again = imported()

    assert "2 new discussions" in first
    assert "2 conversations in 2 files: nothing new" in again
    assert len(made) == 1

    _session(folder, "flood", "When is the flood?")
    assert "1 new discussion" in imported()
    assert len(made) == 2
