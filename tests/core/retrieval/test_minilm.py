"""The embedding model keeps to itself: it writes nothing beside the program's own places, and tells nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE_S
from tests.test_repository import texts

ROOT = Path(__file__).parents[3]
EMBEDS = "from core.retrieval.minilm import MiniLM; print(MiniLM().embed(['The tide turns.']).shape)"


def test_the_runtime_makes_no_id_of_this_machine_and_no_queue_of_what_it_would_send(tmp_path: Path) -> None:
    """In an environment of a person's: in one of continuous integration it would be silent by itself."""
    environ = {"HOME": str(tmp_path), "PATH": os.defpath, "PYTHONPATH": str(ROOT)}
    code = f"import sys; sys.dont_write_bytecode = True; {EMBEDS}"

    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=environ, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip

    assert done.stdout == "(1, 384)\n", done.stderr
    assert [str(path) for path in tmp_path.rglob("*")] == []


def test_the_runtime_is_loaded_in_one_place_which_silences_it() -> None:
    found = [
        name for name, text in texts().items() if "import onnxruntime" in text and name.startswith("core/")
    ]
    assert found == ["core/retrieval/minilm.py"]
