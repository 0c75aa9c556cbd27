"""PNG files whose parts beside the picture are damaged: such a part goes, and the picture stays."""

from __future__ import annotations

import zlib

_BEGIN = b"\x89PNG\r\n\x1a\n"
_FRAME = 12
"""Bytes of a chunk beside its content: length, name, checksum."""


def mended_png(data: bytes) -> bytes:
    """The file without chunks beside the picture (texts, profiles, times) whose checksum is wrong; else as it is.

    Readers refuse such a file whole, though the specification lets them pass over what they need not know.

    Source: PNG Specification (Third Edition), 5.3 and 13.2 (read 2026-11-29).
    """
    if not data.startswith(_BEGIN):
        return data
    kept, at = [_BEGIN], len(_BEGIN)
    while at + _FRAME <= len(data):
        end = at + _FRAME + int.from_bytes(data[at : at + 4])
        is_beside = bool(data[at + 4] & 0x20)
        is_damaged = end <= len(data) and zlib.crc32(data[at + 4 : end - 4]) != int.from_bytes(
            data[end - 4 : end]
        )
        if not (is_beside and is_damaged):
            kept.append(data[at:end])
        at = end
    kept.append(data[at:])
    whole = b"".join(kept)
    return data if len(whole) == len(data) else whole
