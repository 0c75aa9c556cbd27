"""`mcp`: knowledge served to another program over the Model Context Protocol. Standard output is the protocol's alone."""

from __future__ import annotations

from core.cli.arguments import Options
from core.cli.recall import local_retrieving
from core.mcp_server.notes import NAMES, ServedNotes
from core.mcp_server.server import INSTRUCTIONS, KnowledgeServer
from core.mcp_server.shelf import HomeShelf
from core.mcp_server.tools import Asked, answer, tools
from core.settings.loader import ConfigRequest, config_request, load
from core.settings.searched_places import places_of
from core.values.retrieval import AskedPlaces, MemoryToolAnswer
from core.values.stack import ToolSchema


def run_mcp(options: Options) -> int:
    """Serve until the client closes its end. Returns 0.

    Raises:
        ConfigError: the current folder was deleted.
    """
    asked = config_request(start=options.start, home=options.home, overrides=options.overrides)
    KnowledgeServer(_Served(asked, options)).serve()
    return 0


class _Served:
    """Everything that one server gives: knowledge, and search where it is on and was asked for."""

    def __init__(self, request: ConfigRequest, options: Options) -> None:
        given = options.given
        self._request = request
        self._has_knowledge, self._has_talks = (
            not given.only_notes,
            given.discussions and not given.only_notes,
        )
        self._shelf = HomeShelf(request.home, request.root if self._has_talks else None)
        has_notes = given.notes or given.only_notes
        self._notes = (
            ServedNotes(self._searched, lambda: local_retrieving(request.home)) if has_notes else None
        )

    @property
    def instructions(self) -> str:
        """Words about the tools; none for the notes alone, whose schemas say it all."""
        return INSTRUCTIONS if self._has_knowledge else ""

    def tools(self) -> tuple[ToolSchema, ...]:
        """Schemas of what is served now."""
        own = tools(has_talks=self._has_talks) if self._has_knowledge else ()
        return (*own, *(() if self._notes is None else self._notes.tools()))

    def answer(self, asked: Asked) -> MemoryToolAnswer:
        """Answer a call. The place of the home is in no answer."""
        if self._notes is not None and asked.name in NAMES:
            told = self._notes.answer(asked.name, asked.arguments)
        elif self._has_knowledge:
            told = answer(asked, self._shelf)
        else:
            told = MemoryToolAnswer(f"There is no tool {asked.name[:100]!r}.", is_error=True)
        return MemoryToolAnswer(told.text.replace(str(self._request.home), "(home)"), told.is_error)

    def _searched(self) -> AskedPlaces | None:
        loaded = load(self._request)
        return places_of(loaded.settings.retrieval, loaded.project)

    def close(self) -> None:
        """Let go of indexes and the model."""
        self._shelf.close()
        if self._notes is not None:
            self._notes.close()
