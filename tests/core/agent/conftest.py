"""Desks for commands, confined as this machine can and not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.agent.sandbox import Confinement, find_confinement
from tests.core.agent.desks import ShellDesk, bare, shell_desks


@pytest.fixture(scope="module")
def confinement() -> Confinement:
    return find_confinement()


@pytest.fixture(params=["found", "bare"])
def shell(
    request: pytest.FixtureRequest, confinement: Confinement, isolated_home: Path, tmp_path: Path
) -> Iterator[ShellDesk]:
    """A desk whose commands are confined as this machine can, then one whose commands are not."""
    find: Callable[[], Confinement] = bare if request.param == "bare" else lambda: confinement
    yield from shell_desks(find, isolated_home, tmp_path)


@pytest.fixture
def confined_shell(confinement: Confinement, isolated_home: Path, tmp_path: Path) -> Iterator[ShellDesk]:
    yield from shell_desks(lambda: confinement, isolated_home, tmp_path)
