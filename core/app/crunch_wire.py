"""Wire between the program and its worker process: a header in JSON, then texts as raw bytes."""

from __future__ import annotations

import json
import struct
from typing import BinaryIO

from core.kernel.codecs import read_json

_SIZES = struct.Struct(">IQ")
MAX_HEADER_BYTES = 64_000_000


def write_frame(stream: BinaryIO, header: dict[str, object], payload: bytes = b"") -> None:
    """Write one frame and flush. The texts go as bytes: JSON of megabytes would hold the interpreter lock.

    Raises:
        OSError: the other side is gone (BrokenPipeError).
    """
    encoded = json.dumps(header).encode()
    stream.write(_SIZES.pack(len(encoded), len(payload)))
    stream.write(encoded)
    stream.write(payload)
    stream.flush()


def read_frame(stream: BinaryIO) -> tuple[dict[str, object], bytes]:
    """Read one frame.

    Raises:
        EOFError: the other side ended, in the middle of a frame or between two.
        ValueError: this is no frame.
    """
    header_size, payload_size = _SIZES.unpack(_exactly(stream, _SIZES.size))
    if header_size > MAX_HEADER_BYTES:
        raise ValueError(f"A header of {header_size} bytes is too large")
    header = read_json(_exactly(stream, header_size))
    return header, _exactly(stream, payload_size)


def _exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data
