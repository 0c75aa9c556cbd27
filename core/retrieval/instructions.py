"""Words that a model wants before a text, by its name: one kind before a question, another before a passage.

Without them such a model answers, and finds less. A server's model is known by a part of its name, whoever serves it.
Sources: the models' own cards (e5, multilingual-e5-instruct, bge v1.5, nomic-embed-text, gte-Qwen2, mxbai-embed-large,
snowflake-arctic-embed, Qwen3-Embedding, EmbeddingGemma), read 2026-11.
"""

from __future__ import annotations

import re
from typing import NamedTuple


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
