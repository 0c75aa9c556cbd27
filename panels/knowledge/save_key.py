"""The one way in which Ctrl+Enter keeps what is being typed in the Knowledge panel."""

from __future__ import annotations

from panels.base.desk import Desk
from panels.knowledge.knowledge_facts import save_fact
from panels.knowledge.knowledge_view import FactDraft, MergeWords, ProposalWords, Typing, save
from panels.knowledge.merges import keep_words
from panels.knowledge.proposals import add_typed


def save_typed(desk: Desk, draft: Typing) -> None:
    """Keep a draft, where it says something. Sends what the buttons of its editor send."""
    match draft:
        case FactDraft():
            save_fact(desk, draft)
        case MergeWords(group_id):
            keep_words(desk, group_id)
        case ProposalWords(proposal_id):
            add_typed(desk, proposal_id)
        case _:
            save(desk, draft)
