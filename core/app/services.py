"""The disk and context workers, which carry out effects of several rooms; and the parts of a reply with its leaked calls made real."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import assert_never

from core.agent.leaked_calls import elsewhere, shown_texts, with_recovered
from core.app import home
from core.app.app_messages import WriteWindow
from core.kernel.queue import queued
from core.kernel.values.messages import Part
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.spec import StackSpec
from core.knowledge.harvest.harvest_messages import WriteReview
from core.knowledge.harvest.preview import folded
from core.knowledge.harvest.replies import keep_review
from core.services.providers.switches import tools_in_force
from core.talk.caching import caching_worker
from core.talk.caching.caching_messages import CheckRewrites
from core.talk.caching.caching_worker import RewriteCheck
from core.talk.context import context_worker as context
from core.talk.context.context_messages import ContextEffect
from core.talk.context.context_worker import ContextHandler
from core.talk.discussion import attachments, discussion_worker
from core.talk.discussion.discussion_messages import DiskEffect, ReadDiscussion

# What a model leaked as text, and the disk and context workers.


def recovered(
    home: Path, request: ProviderRequest, parts: tuple[Part, ...], spec: StackSpec
) -> tuple[Part, ...]:
    """The parts of a whole reply to a request that offered tools, calls that it leaked as text made real ones."""
    shown = elsewhere(shown_texts(request, attachments.attachment_reader(home, spec)))
    return with_recovered(parts, tools_in_force(request), shown, request.model)


# The disk worker: what is written to and read from the home, in the order asked for, on one thread.

DiskWork = DiskEffect | WriteReview | WriteWindow

STATE_HEAD = "selected = "


class DiskHandler:
    """Carries out the disk worker's effects.

    Args:
        root: the home; discussions: carries out those of discussions.
        recall: reports the stored cache of a discussion. It runs before the log is read, so that no request goes out before
            the tools of the last request are known.
    """

    def __init__(
        self, root: Path, discussions: discussion_worker.DiscussionHandler, recall: Callable[[str], None]
    ) -> None:
        self._root = root
        self._discussions = discussions
        self._recall = recall

    def handle(self, effect: DiskWork) -> None:
        """Carry out one effect. Raises StorageError for what has no event of its own."""
        if isinstance(effect, ReadDiscussion):
            self._recall(effect.discussion_id)
        if isinstance(effect, DiskEffect):
            self._discussions.handle(effect)
        elif isinstance(effect, WriteReview):
            keep_review(self._root, folded(effect.review, effect.preview))
        elif isinstance(effect, WriteWindow):
            home.write_state(self._root, join_state(effect.window_toml, effect.selected_id))
        else:
            assert_never(effect)


def supersedes(newer: DiskWork, older: DiskWork) -> bool:
    """The window's state and a review make any earlier one needless; of discussions that room says."""
    if isinstance(newer, DiskEffect) and isinstance(older, DiskEffect):
        return discussion_worker.supersedes(newer, older)
    return type(newer) is type(older)


def keeps(effect: DiskWork) -> bool:
    """True if an effect is written again until it is on disk: it says how things stand, whenever that is."""
    return isinstance(effect, WriteReview | WriteWindow) or discussion_worker.keeps(effect)


def about(effect: DiskWork) -> str:
    """The discussion that a failed reading is about: it says nothing of the home. Empty for all that is written."""
    return effect.discussion_id if isinstance(effect, ReadDiscussion) else ""


def join_state(window_toml: str, selected_id: str) -> str:
    """`state.toml`: the selected discussion, then the window's own tables."""
    return f'{STATE_HEAD}"{selected_id}"\n{window_toml}'


def split_state(text: str) -> tuple[str, str]:
    """The window's tables and the selected discussion of a `state.toml`; a foreign one is all window's."""
    head, _, rest = text.partition("\n")
    if not head.startswith(STATE_HEAD):
        return text, ""
    return rest, head.removeprefix(STATE_HEAD).strip().strip('"')


# The context worker: stacks are assembled, and what a change of knowledge rewrites is checked, on one
# thread.

ContextWork = ContextEffect | CheckRewrites


class ContextWorker:
    """Carries out the context worker's effects. Both parts read the same files; on one thread each is read once.

    Args:
        is_asked: whether other effects wait.
    """

    def __init__(
        self, assembling: ContextHandler, checking: RewriteCheck, is_asked: Callable[[], bool]
    ) -> None:
        self._is_asked = is_asked
        self._assembling = assembling
        self._checking = checking

    def handle(self, effect: ContextWork) -> None:
        """Carry out one effect."""
        if isinstance(effect, ContextEffect):
            self._assembling.handle(effect)
        elif isinstance(effect, CheckRewrites):
            self._checking.handle(effect)
        else:
            assert_never(effect)
        self._assembling.count_on(self._is_asked)


def supersedes_context(newer: ContextWork, older: ContextWork) -> bool:
    """Each part says of its own."""
    if isinstance(newer, ContextEffect) and isinstance(older, ContextEffect):
        return context.supersedes(newer, older)
    if isinstance(newer, CheckRewrites) and isinstance(older, CheckRewrites):
        return caching_worker.supersedes_check(newer, older)
    return False


DISK_WORK = queued("disk", DiskWork, supersedes, keeps, about)
CONTEXT_WORK = queued("context", ContextWork, supersedes_context)
