"""The disk worker: what is written to and read from the home, in the order asked for, on one thread.

Discussions, the reviews of the harvest and the window's state share it, so that a later write is never overtaken.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import assert_never

from core.app import home
from core.app.messages import WriteWindow
from core.discussion import worker as discussion
from core.discussion.messages import DiskEffect, LoadDiscussion
from core.harvest.messages import WriteReview
from core.harvest.review import folded
from core.harvest.review_file import keep_review

DiskWork = DiskEffect | WriteReview | WriteWindow

STATE_HEAD = "selected = "


class DiskHandler:
    """Carries out the disk worker's effects.

    Args:
        root: the home; discussions: carries out those of discussions.
        recall: reports what is kept of a discussion's cache: before its log is read, so that no request of it goes out
            before it is known what its last one offered.
    """

    def __init__(
        self, root: Path, discussions: discussion.DiscussionHandler, recall: Callable[[str], None]
    ) -> None:
        self._root = root
        self._discussions = discussions
        self._recall = recall

    def handle(self, effect: DiskWork) -> None:
        """Carry out one effect. Raises StorageError for what has no event of its own."""
        if isinstance(effect, LoadDiscussion):
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
        return discussion.supersedes(newer, older)
    return type(newer) is type(older)


def keeps(effect: DiskWork) -> bool:
    """True if an effect is written again until it is on disk: it says how things stand, whenever that is."""
    return isinstance(effect, WriteReview | WriteWindow) or discussion.keeps(effect)


def about(effect: DiskWork) -> str:
    """The discussion that a failed reading is about: it says nothing of the home. Empty for all that is written."""
    return effect.discussion_id if isinstance(effect, LoadDiscussion) else ""


def join_state(window_toml: str, selected_id: str) -> str:
    """`state.toml`: the selected discussion, then the window's own tables."""
    return f'{STATE_HEAD}"{selected_id}"\n{window_toml}'


def split_state(text: str) -> tuple[str, str]:
    """The window's tables and the selected discussion of a `state.toml`; a foreign one is all window's."""
    head, _, rest = text.partition("\n")
    if not head.startswith(STATE_HEAD):
        return text, ""
    return rest, head.removeprefix(STATE_HEAD).strip().strip('"')
