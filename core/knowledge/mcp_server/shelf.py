"""Shelf of a home: knowledge, facts and discussions of one project, read anew for every call beside a running window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from core.kernel import paths
from core.kernel.errors import SlopError, StorageError
from core.kernel.opener import read_file, reason_of
from core.kernel.values.discussion import DiscussionSummary
from core.kernel.values.facts import IndexedFact
from core.kernel.values.imports import Transcript, TranscriptMessage
from core.kernel.values.knowledge import Item, Proposal
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge.categories import FILE_OF
from core.knowledge.duplicates import known_items
from core.knowledge.evidence.evidence_rows import short_name
from core.knowledge.fact_store import FactReader
from core.knowledge.facts.fact_merge import ranked
from core.knowledge.file_writer import await_withdrawal
from core.knowledge.knowledge_reader import KnowledgeReader
from core.knowledge.mcp_server.mcp_tools import TalkRow, Talks
from core.knowledge.mcp_server.proposal_step import safe_source, safe_words, words_of
from core.knowledge.mcp_server.proposal_worker import add_proposal
from core.knowledge.memory_log import all_items, read_logs
from core.talk.discussion.catalog import Catalog
from core.talk.discussion.discussion_meta import read_meta
from core.talk.transcripts.ours import read_log

MAX_LOG_BYTES = 64_000_000
"""A larger discussion is not read for a client."""

_SEARCHED = 500


class HomeShelf:
    """Everything of a home that is served. Used by one thread.

    Args:
        home: the person's data; root: of the project whose discussions are served, None: none are.
    """

    def __init__(self, home: Path, root: Path | None = None) -> None:
        self._home = home
        self._reader = KnowledgeReader(home)
        self._facts = FactReader(home)
        self._talks = None if root is None else HomeTalks(home, str(root))

    @property
    def talks(self) -> Talks | None:
        """Discussions of the project, None where they are not served."""
        return self._talks

    def items(self) -> Sequence[Item]:
        """Every item; what is being taken out is waited for. Raises LockedError: that lasts too long."""
        await_withdrawal(self._home)
        return all_items(self._reader.read(KnowledgeSettings()))

    def facts(self) -> Sequence[IndexedFact]:
        """Structured facts that may enter a prompt, best first. Raises LockedError as `items`."""
        await_withdrawal(self._home)
        return ranked(self._facts.facts())

    def propose(self, proposal: Proposal) -> tuple[Proposal, bool]:
        """Keep a proposal for the person. Returns the one that waits now, and whether it is new.

        Raises:
            SlopError: it says nothing, or what is known or forgotten; or it cannot be kept.
        """
        safe = replace(
            proposal,
            text=safe_words(proposal.text),
            detail=safe_words(proposal.detail),
            name=safe_words(proposal.name),
            source=safe_source(proposal.source),
        )
        words = words_of(safe)
        if not words:
            raise SlopError("The item says nothing", remedy="Give one statement")
        known = known_items(self.items(), read_logs(self._home))
        if known.is_forgotten(safe.category, words):
            raise SlopError("The person does not want this to be known", remedy="Do not propose it again")
        if (same := known.exact(safe.category, FILE_OF[safe.category], words)) is not None:
            raise SlopError(f"This is known already, as {short_name(same.category, same.text)}")
        return add_proposal(self._home, safe)

    def close(self) -> None:
        """Let go of the index of discussions."""
        if self._talks is not None:
            self._talks.close()


class HomeTalks:
    """Discussions of a home that were begun in one project. Used by one thread. `root`: of it, links resolved."""

    def __init__(self, home: Path, root: str) -> None:
        self._home, self._root = home, root
        self._catalog = Catalog(home, paths.catalog_file(home))

    def search(self, query: str, count: int) -> Sequence[TalkRow]:
        """Find discussions, best first; all of them, newest first, for an empty query."""
        own: dict[str, DiscussionSummary] = {}
        for _ in self._catalog.refresh():
            pass
        for row in self._catalog.load_summaries():
            if self._is_own(row.meta.folder):
                own[row.meta.id] = row
        if not query.strip():
            newest = sorted(own.values(), key=lambda row: (row.updated_at, row.meta.id), reverse=True)
            return [_row(row, row.preview) for row in newest[:count]]
        hits = self._catalog.search(query, _SEARCHED)
        ids = [one for one in hits.ids if one in own][:count]
        return [_row(own[one], hits.lines.get(one, "")) for one in ids]

    def read(self, discussion_id: str) -> tuple[str, Sequence[TranscriptMessage]] | None:
        """Name and messages of one, None for one that is not there or another project's. Raises StorageError."""
        if not paths.is_directory_name(discussion_id):
            return None
        if not paths.discussion_dir(self._home, discussion_id).is_dir():
            return None
        meta = read_meta(self._home, discussion_id).meta
        if not self._is_own(meta.folder):
            return None
        try:
            data = read_file(paths.log_file(self._home, discussion_id), MAX_LOG_BYTES, follows_links=False)
        except FileNotFoundError:
            return meta.name, ()
        except OSError as error:
            raise StorageError(f"The discussion cannot be read: {reason_of(error)}") from error
        found = next(iter(read_log(data)), None)
        if not isinstance(found, Transcript):
            raise StorageError("The discussion cannot be read: a line of its log is broken")
        return meta.name, found.messages

    def close(self) -> None:
        """Close the index."""
        self._catalog.close()

    def _is_own(self, folder: str) -> bool:
        return bool(folder) and folder == self._root


def _row(row: DiscussionSummary, line: str) -> TalkRow:
    return TalkRow(
        id=row.meta.id, name=row.meta.name, updated=f"{row.updated_at:%Y-%m-%d}", turns=row.turns, line=line
    )


MakeShelf = Callable[[], HomeShelf]
"""Makes the shelf, on the thread that uses it."""
