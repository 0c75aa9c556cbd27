"""Instructions, documents and memories of an export as proposals: each waits for a person's yes in Knowledge."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path

from core.imports.import_run import Offer
from core.kernel.values.imports import Offered
from core.kernel.values.knowledge import Category, Proposal
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge.duplicates import Known, known_items
from core.knowledge.knowledge_reader import KnowledgeReader
from core.knowledge.mcp_server.proposal_worker import KnownAlreadyError, propose
from core.knowledge.memory_log import read_logs


def offers_to(home: Path, clock: Callable[[], datetime]) -> Offer:
    """Give what has one import's pieces wait as proposals of this home: it reads once what is known, at the first piece."""

    @cache
    def known() -> Known:
        return known_items(KnowledgeReader(home).read(KnowledgeSettings()).items, read_logs(home))

    def offer(offered: Offered) -> bool:
        now = clock()
        proposal = Proposal(
            id=f"import-{now:%Y%m%d%H%M%S%f}",
            category=Category.FACTS,
            text=offered.text,
            source=f"An import ({offered.source})",
            at=now.isoformat(timespec="seconds"),
        )
        try:
            return propose(home, proposal, known())[1]
        except KnownAlreadyError:
            return False

    return offer
