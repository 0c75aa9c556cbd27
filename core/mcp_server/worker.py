"""Carries out a person's answers to proposals, and reads those that wait, on one thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import assert_never

from msgspec.structs import replace

from core.base.errors import SlopError
from core.knowledge import edits
from core.knowledge.categories import FILE_OF
from core.knowledge.duplicates import Known, known_items
from core.knowledge.reader import read_categories
from core.mcp_server.messages import (
    DropProposals,
    McpServerEffect,
    McpServerEvent,
    ProposalsRead,
    ReadProposals,
    WriteProposed,
)
from core.mcp_server.proposal_file import drop_proposals, load_proposals
from core.mcp_server.proposal_text import new_item, words_of
from core.values.knowledge import Category, Provenance
from core.values.proposals import Proposal, ProposalsState

Emit = Callable[[McpServerEvent], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""


class ProposalHandler:
    """Carries out the proposals worker's effects.

    Args:
        home: the person's data; emit: the inbox.
    """

    def __init__(self, home: Path, emit: Emit) -> None:
        self._home, self._emit = home, emit

    def handle(self, effect: McpServerEffect) -> None:
        """Carry out one effect. Raises SlopError for what could not be done."""
        match effect:
            case ReadProposals():
                self._read()
            case WriteProposed():
                try:
                    self._write(effect.proposal)
                finally:
                    self._read()
            case DropProposals():
                try:
                    drop_proposals(self._home, frozenset(effect.proposal_ids))
                finally:
                    self._read()
            case _:
                assert_never(effect)

    def _write(self, proposal: Proposal) -> None:
        if proposal.category is Category.FILES:
            raise SlopError("Notes on files come from a harvest", remedy="Choose another category")
        words = words_of(proposal)
        if not words:
            raise SlopError("The item says nothing", remedy="Give it words, a playbook also a name")
        if self._known().exact(proposal.category, FILE_OF[proposal.category], words) is None:
            origin = Provenance(proposal.source, proposal.at[:10])
            edits.add_item(self._home, replace(new_item(proposal), provenance=origin))
        drop_proposals(self._home, frozenset({proposal.id}))

    def _known(self) -> Known:
        return known_items(item for file in read_categories(self._home) for item in file.items)

    def _read(self) -> None:
        try:
            waiting = load_proposals(self._home)
            known = self._known() if waiting else Known()
        except SlopError as error:
            self._emit(ProposalsRead(ProposalsState(problem=str(error))))
            return
        near = {one.id: tuple(item.text for item in known.near(words_of(one))) for one in waiting}
        told = {name: texts for name, texts in near.items() if texts}
        self._emit(ProposalsRead(ProposalsState(waiting, told)))


def supersedes(newer: McpServerEffect, older: McpServerEffect) -> bool:
    """A later reading makes an earlier one needless."""
    return isinstance(newer, ReadProposals) and isinstance(older, ReadProposals)
