"""Domains of conversations: under which facts of the folder that each was begun in are kept."""

from __future__ import annotations

from pathlib import Path

from core.base.domains import domain_name
from core.settings.loader import config_request, load


class FolderDomains:
    """Domains of folders, each looked up once. Used by one thread at a time.

    Args:
        home: the person's data.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._known: dict[str, tuple[str, ...]] = {"": ()}

    def of(self, folder: str) -> tuple[str, ...]:
        """Domains of a project's root: its repository's, or none. A folder that is gone goes by its name."""
        if folder not in self._known:
            domain = self._domain(Path(folder))
            self._known[folder] = (domain,) if domain else ()
        return self._known[folder]

    def _domain(self, folder: Path) -> str:
        if not folder.is_dir():
            return domain_name(folder.name)
        return load(config_request(start=folder, home=self._home)).project.domain
