"""The embedding model keeps to itself: it writes nothing beside the program's own places, and tells nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from core.retrieval.embedders import MiniLM
from tests.patience import PATIENCE_S
from tests.test_repository import texts

ROOT = Path(__file__).parents[3]
EMBEDS = """
import time
import numpy, psutil  # numpy has a thread of its own
from core.retrieval.embedders import MiniLM
model = MiniLM()
model.tokens.batch(["The tide turns.", "Nets are mended."])
before = psutil.Process().num_threads()
shape = model.embed(["The tide turns.", "Nets are mended."]).shape
end = time.monotonic() + 10  # a thread that was joined is gone a moment later
while psutil.Process().num_threads() > before and time.monotonic() < end:
    pass
print(shape, psutil.Process().num_threads() - before)
"""


def test_the_runtime_makes_no_id_of_this_machine_and_no_queue_of_what_it_would_send(tmp_path: Path) -> None:
    """In an environment of a person's: in one of continuous integration it would be silent by itself.

    Nor does it leave a thread behind, which would spin after each question, on a core that the search goes on with.
    """
    environ = {"HOME": str(tmp_path), "PATH": os.defpath, "PYTHONPATH": str(ROOT)}
    code = f"import sys; sys.dont_write_bytecode = True\n{EMBEDS}"

    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=environ, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip

    assert done.stdout == "(2, 384) 0\n", done.stderr
    assert [str(path) for path in tmp_path.rglob("*")] == []


def test_a_text_has_one_vector_whatever_stands_beside_it() -> None:
    model = MiniLM(threads=2)
    texts = ["The tide turns.", "Nets are mended in winter, when the boats lie ashore. " * 9, ""]

    together = model.embed(texts)

    assert (together[0] == model.embed(texts[:1])[0]).all()
    assert together.any(axis=1).all()


def test_the_runtime_is_loaded_in_one_place_which_silences_it() -> None:
    found = [
        name for name, text in texts().items() if "import onnxruntime" in text and name.startswith("core/")
    ]
    assert found == ["core/retrieval/embedders.py"]
