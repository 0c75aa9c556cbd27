"""JSON that anybody may have written, as plain data: every fault is a ValueError, however deep or long it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def read_json(
    text: str | bytes | bytearray,
    *,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
    parse_constant: Callable[[str], Any] | None = None,
    parse_float: Callable[[str], Any] | None = None,
) -> Any:
    """Parse JSON as `json.loads` does.

    Raises:
        ValueError: it is none, no UTF-8, deeper than Python reads, or has a number of more digits than Python reads. A
            `json.JSONDecodeError` where a place can be named.
    """
    try:
        return json.loads(
            text,
            object_pairs_hook=object_pairs_hook,
            parse_constant=parse_constant,
            parse_float=parse_float,
        )
    except RecursionError:
        raise ValueError("lists or objects are nested too deep") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except ValueError as error:  # of a hook, or of Python's own bound on digits
        if "integer string conversion" in str(error):
            raise ValueError("a number has more than 4,300 digits") from None
        raise
