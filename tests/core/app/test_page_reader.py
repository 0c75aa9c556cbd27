"""Pages of the open net are read in a process that ends with them, or before."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.app.crunch import CrunchError, read_page

HOSTILE = b"<" * 1_000_000
"""Half a minute of a core for the parser, and more the longer it is."""


def nobody(_: Callable[[], None]) -> None:
    """Cancel nothing."""


def test_a_page_comes_back_as_text_and_one_that_takes_too_long_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert read_page("<h1>Größe</h1><script>x()</script>".encode("latin-1"), "latin-1", nobody) == "# Größe"
    monkeypatch.setitem(read_page.__globals__, "PAGE_TIMEOUT_S", 0.3)
    with pytest.raises(CrunchError, match="needed more than"):
        read_page(HOSTILE, "", nobody)


def test_a_cancel_ends_the_reading_at_once() -> None:
    with pytest.raises(CrunchError, match="ended its helper process"):
        read_page(HOSTILE, "", lambda end: end())
