"""JSON that anybody may have written, as plain data: every fault is a ValueError, however deep or long it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from core.base.text import clean


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


def without_half_characters(text: str) -> str:
    """The same JSON, halves of characters that it spells by escapes replaced: whoever decodes it can encode it again. Text
    that is no JSON stays as it is.
    """
    if _SURROGATE_ESCAPE.search(text) is None:
        return text
    try:
        spelled = json.dumps(read_json(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
    found = clean(spelled)
    return text if found == spelled else found


_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
