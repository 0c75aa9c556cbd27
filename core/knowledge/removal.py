"""Takes items out that an apply wrote, and tells those that a person has changed since."""

from __future__ import annotations

from collections.abc import Iterable

from core.kernel.values.knowledge import Item
from core.knowledge.categories import parse_file, with_items


def lines_out(name: str, data: bytes, texts: Iterable[str]) -> tuple[bytes, tuple[str, ...], tuple[str, ...]]:
    """Take lines out of a file, where they stand as they were written.

    Args:
        name: below the knowledge directory; texts: whole lines without line end, as an apply wrote them.

    Returns:
        The file without them; those taken out; those that a person has edited, continued or removed since.
    """
    wanted = list(dict.fromkeys(texts))
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\n")
    by_line: dict[str, Item] = {}
    for item in parse_file(name, data).items:
        if item.first_line == item.last_line:
            by_line[lines[item.first_line - 1].rstrip("\r")] = item
    found = [text for text in wanted if text in by_line]
    data = with_items(data, ((by_line[text], None) for text in found))
    return data, tuple(found), tuple(text for text in wanted if text not in by_line)
