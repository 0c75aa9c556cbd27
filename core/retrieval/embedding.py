"""Inputs and outputs of an embedding model: words that it wants before a text, by its name; vectors as int8 with one scale."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

# Words that a model wants before a text, by its name: one kind before a question, another before a passage.


class Instruction(NamedTuple):
    """Words before a question, and before a passage. Empty where a model wants none."""

    query: str = ""
    passage: str = ""


_TASK = "Instruct: Given a question, retrieve passages that answer it\nQuery: "
_REPRESENT = "Represent this sentence for searching relevant passages: "

_BY_NAME = (
    (r"e5[-_:/].*instruct", Instruction(query=_TASK)),
    (r"(?<![a-z0-9])e5(?![a-z0-9])", Instruction(query="query: ", passage="passage: ")),
    (r"nomic[-_]embed[-_]text", Instruction(query="search_query: ", passage="search_document: ")),
    (r"bge[-_](small|base|large)[-_]zh", Instruction(query="为这个句子生成表示以用于检索相关文章：")),
    (r"bge[-_](small|base|large)", Instruction(query=_REPRESENT)),
    (r"mxbai[-_]embed|snowflake[-_]arctic[-_]embed(?!.*(2\.0|v2|:?embed2))", Instruction(query=_REPRESENT)),
    (r"snowflake[-_]arctic[-_]embed", Instruction(query="query: ")),
    (r"gte[-_]qwen|qwen3[-_]embedding", Instruction(query=_TASK)),
    (
        r"embedding[-_]?gemma",
        Instruction(query="task: search result | query: ", passage="title: none | text: "),
    ),
)
"""The first that fits counts. `bge-m3`, `gte` without a language model, MiniLM and OpenAI's want none."""


def instruction_of(model: str) -> Instruction:
    """Words that a model wants before its texts. `model`: its name, with a provider before it or not."""
    name = model.lower()
    return next((found for pattern, found in _BY_NAME if re.search(pattern, name)), Instruction())


def index_name(model: str) -> str:
    """Name of a model as an index keeps it: vectors with an instruction are no vectors without one."""
    wanted = instruction_of(model)
    return f"{model}+instructed" if any(wanted) else model


# Vectors as int8 with one scale for all components.

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSION = 384
"""Dimension of the model that comes with the program."""

REACH, STEPS = 0.25, 127
"""A component of `REACH` is `STEPS`; what lies beyond is clipped."""


def quantised(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Unit vectors as int8, row by row. Not a number becomes zero."""
    import numpy as np

    scaled = np.nan_to_num(vectors, copy=True) * (STEPS / REACH)
    steps: NDArray[np.int8] = np.clip(np.rint(scaled), -STEPS, STEPS).astype(np.int8)
    return steps


def cosine(dot: float) -> float:
    """The cosine that a dot product of two quantised vectors stands for."""
    return dot * (REACH / STEPS) ** 2
