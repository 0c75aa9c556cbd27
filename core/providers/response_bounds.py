"""Bounds of a vendor's answer on the wire, in bytes and time, before any SDK holds it. Pure but for the clock given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

EVENT_BYTES = 256_000_000
"""Of one event of a stream: some vendors repeat the whole reply in its last."""
BODY_BYTES = 256_000_000
"""Of an answer that is no stream."""
ERROR_BYTES = 1_000_000
"""Of an error; more of it says nothing more, and is not read."""
PROGRESS_BYTES = 65_536
"""Of an answer that is no stream: so much is a sign of life."""

_DATA = b"data:"


class EndlessError(Exception):
    """An answer is larger than any. `str` says what is."""


class SenselessError(Exception):
    """For as long as a silent server is waited for, what came was no part of an answer."""


def bounded_events(pieces: Iterable[bytes], patience_s: float, clock: Callable[[], float]) -> Iterator[bytes]:
    """Pass on the bytes of an event stream.

    Args:
        pieces: as they come, cut anywhere; patience_s: seconds until an event with data must be whole, and the next.

    Raises:
        SenselessError: none was (comments, blanks, or an event that never ends). EndlessError: one is too large.
    """
    since, size, has_data = clock(), 0, False
    start, has_content = b"", False
    for piece in pieces:
        for number, part in enumerate(piece.replace(b"\r", b"").split(b"\n")):
            if number:  # the line before has ended
                has_data = has_data or (start == _DATA and has_content)
                if not start:
                    since = clock() if has_data else since
                    size, has_data = 0, False
                start, has_content = b"", False
            missing = len(_DATA) - len(start)
            rest = part[missing:]
            start += part[:missing]
            has_content = has_content or bool(rest.strip())
            size += len(part)
        if size > EVENT_BYTES:
            raise EndlessError(f"one event of the stream has over {EVENT_BYTES:,} bytes")
        if clock() - since > patience_s:
            raise SenselessError
        yield piece


def bounded_body(
    pieces: Iterable[bytes], patience_s: float, clock: Callable[[], float], *, has_lines: bool = True
) -> Iterator[bytes]:
    """Pass on the bytes of any other answer.

    Args:
        patience_s: seconds in which a line or `PROGRESS_BYTES` must come.
        has_lines: each line is a part of it by itself. False: its reader waits for all of it, and lines are no progress.

    Raises:
        SenselessError: it only drips. EndlessError: it is too large.
    """
    since, size, told = clock(), 0, 0
    for piece in pieces:
        size += len(piece)
        if size > BODY_BYTES:
            raise EndlessError(f"the answer has over {BODY_BYTES:,} bytes")
        if size - told >= PROGRESS_BYTES or (has_lines and b"\n" in piece and piece.strip()):
            since, told = clock(), size
        elif clock() - since > patience_s:
            raise SenselessError
        yield piece


def bounded_error(pieces: Iterable[bytes], patience_s: float, clock: Callable[[], float]) -> Iterator[bytes]:
    """Pass on the first bytes of an error, up to `ERROR_BYTES` and for `patience_s` seconds; its status says enough."""
    since, size = clock(), 0
    for piece in pieces:
        size += len(piece)
        yield piece
        if size >= ERROR_BYTES or clock() - since > patience_s:
            return
