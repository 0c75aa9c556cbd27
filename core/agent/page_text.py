"""Text of an HTML page. Runs in a worker process: a hostile page may cost time, memory or the process."""

from __future__ import annotations

from core.kernel.frame import clean
from core.kernel.machine import limit_memory

MAX_MEMORY_BYTES = 1_500_000_000


def page_text(data: bytes, charset: str) -> str:
    """A page as Markdown, without its scripts and styles.

    Args:
        charset: as its server named it, empty for none.

    Raises:
        ValueError, LookupError, RecursionError, MemoryError: it cannot be read.
    """
    from justhtml import JustHTML

    return clean(JustHTML(data, encoding=charset or None).to_markdown())


def confined_page_text(data: bytes, charset: str) -> str:
    """The same, with a bound on the memory of the process, which is the page's own."""
    limit_memory(MAX_MEMORY_BYTES)
    return page_text(data, charset)
