"""A proposal of a merge from end to end: items read, the model asked once, its reply kept until it is used."""

from __future__ import annotations

from pathlib import Path

from core.base import paths
from core.base.disk import OS_DISK, Disk
from core.base.errors import SlopError
from core.harvest.classes import piece_bytes_for
from core.harvest.distillation import HarvestError
from core.harvest.generation import Generate
from core.harvest.merge_reply import ask_for_merge, proposal, reading
from core.harvest.messages import HarvestRun
from core.harvest.replies import KeptReplies
from core.knowledge.memory_log import all_items
from core.knowledge.merges import NOTHING
from core.knowledge.reader import KnowledgeReader
from core.values.knowledge import Category
from core.values.merges import MergeProposal

KEPT_MARK = "merge-"
"""Begins the names under which replies to merges are kept, among those of conversations."""


def propose_merge(
    home: Path,
    run: HarvestRun,
    category: Category,
    template: str,
    generate: Generate,
    *,
    disk: Disk = OS_DISK,
) -> MergeProposal:
    """Have a model propose a merge. The same question is paid once, also after a crash.

    Raises:
        HarvestError: no reply could be read; the next run asks again. SlopError: nothing to merge, the disk, or whatever `generate` raises.
    """
    items = all_items(KnowledgeReader(home).read(run.settings))
    shown = reading(items, category, piece_bytes_for(run.profile))
    if len(shown.items) < 2:
        raise SlopError(NOTHING)
    kept = KeptReplies(paths.knowledge_dir(home), f"{KEPT_MARK}{category.value}", disk=disk)

    def ask(prompt: str) -> str:
        text = kept.find(prompt, run.provider, run.model)
        if text is None:
            with kept.place(prompt, run.provider, run.model) as place:
                text = generate(prompt, run.provider, run.model)
                place.keep(text)
        return text

    try:
        found = ask_for_merge(ask, template, category, shown)
    except HarvestError:
        kept.drop_all()  # a reply that nothing can be made of is asked for anew the next time
        raise
    return proposal(shown, category, found, run.provider, run.model)


def drop_merge_replies(home: Path, category: Category, *, disk: Disk = OS_DISK) -> None:
    """Forget the replies about a category: what came of them is written."""
    KeptReplies(paths.knowledge_dir(home), f"{KEPT_MARK}{category.value}", disk=disk).drop_all()
