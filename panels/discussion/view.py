"""View of the list and the conversation: half-typed words, the find bar, what is unfolded, scroll."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar, Literal, NamedTuple

import msgspec

from core.kernel.values.usage import SpendRefusal
from panels.base.view import Typing
from panels.base.window_fields import Kept, one_of, text, yes_or_no

SCROLLS_KEPT = 200
ALL_PROJECTS = "*"
"""Stands for no filter, which a folder's path cannot be; empty are the discussions without a project."""

Fold = Literal["archive", "trash"]
Grouping = Literal["date", "project"]

MessageKey = tuple[str, str]
"""Discussion id and message id: a branch has the same message ids as its parent."""


class ComposerView(Typing):
    """The composer of one discussion.

    Args:
        history_at: steps back into the prompt history, 0 while the person writes their own text.
        command_id: of the send whose outcome is not seen yet, empty while there is none; sent: its words.
        refusal: the spend limits that stood against it, until the person was asked.
        pasted: long pastes of this run by the name of the file that each became, so that one can be text after all;
            early: words typed before the log was read; paste_names: those names in the order of the pastes, to be undone from the last;
            slash_at: the marked way to go on with a slash command; slash_problem: why it could not be done;
            compaction_id: of `/compact`, whose end is not read yet.
        caret: where it stood after the last edit, -1 for the end; mention_at: the marked way to go on with a mention; mention_left: where
            one stands that the person left as text; mention_asked: what was looked up last, None before.
    """

    history_at: int = 0
    command_id: str = ""
    sent: str = ""
    refusal: SpendRefusal | None = None
    pasted: dict[str, str] = msgspec.field(default_factory=dict)
    early: str = ""
    paste_names: list[str] = msgspec.field(default_factory=list)
    slash_at: int = 0
    slash_problem: str = ""
    compaction_id: str = ""
    caret: int = -1
    mention_at: int = 0
    mention_left: int = -1
    mention_asked: str | None = None

    def __repr__(self) -> str:
        return f"ComposerView({len(self.text)} characters)"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return []  # rich asks a struct for its fields

    def hand_over(self, command_id: str) -> None:
        """The words were sent: what is typed from now on is another message.

        Emptied here and not when the words are on disk: the person types on meanwhile.
        """
        self.sent, self.command_id = self.text, command_id
        self.pasted.clear()
        self.paste_names.clear()
        if self.text:
            self.pending.append("")
            self.replace("")

    def put(self, text: str) -> None:
        """Show other words in place of what is typed. The caller sends them as the draft."""
        self.replace(text)
        self.pending.append(text)

    def take_back(self) -> None:
        """The words were refused or could not be written: they stand in front of what was typed since."""
        sent, self.sent = self.sent, ""
        text = "\n".join(filter(None, (sent, self.text)))
        self.pending.clear()
        if text != self.text:
            self.replace(text)


class FindView(msgspec.Struct):
    """The find bar of the conversation.

    Args:
        at: the occurrence that it stands on, from 0; is_by_word: each word counts, as in the search over all
            discussions; has_keyboard: its field had the keyboard in the last frame.
    """

    is_open: bool = False
    query: str = ""
    at: int = 0
    is_by_word: bool = False
    has_keyboard: bool = False


class TemplateForm(msgspec.Struct):
    """Words that are typed for the variables of the template that is asked about."""

    name: str = ""
    values: dict[str, str] = msgspec.field(default_factory=dict)

    def __repr__(self) -> str:
        return f"TemplateForm({self.name!r}, {len(self.values)} values)"


class Landing(NamedTuple):
    """Find of a search: the discussion, the message (empty for its name), the words, each for itself or as they stand."""

    discussion_id: str
    message_id: str
    query: str
    is_phrase: bool = False


def _scrolls(value: object, now: dict[str, int]) -> dict[str, int]:
    if not isinstance(value, dict):
        return now
    return now | {k: v for k, v in value.items() if isinstance(v, int) and not isinstance(v, bool) and v >= 0}


def _newest(scroll: dict[str, int]) -> dict[str, int]:
    return dict(list(scroll.items())[-SCROLLS_KEPT:])


class DiscussionView(msgspec.Struct):
    """The room's own state.

    Args:
        grouping: of the list; project: the folder whose discussions are listed; is_searching: the search had the keyboard in
            the last frame; opens_first: its first hit is opened once it is there; menu_of: the discussion whose menu is open.
        renaming_id: the discussion whose name is being typed in the list; carried: a discussion, and its words that go on in a new one.
        editing: words typed into messages; seen_edits: those whose forms were brought into view; resent: the send of such words whose outcome is not seen yet;
            detached: files taken off them meanwhile; typing, had_keyboard: the one of them that has the keyboard, that
            had it in the last frame; unfolded: reasoning, and words of the program's, that are shown; open_tools: calls and results, by their number as well; open_rounds: runs of them, by their first message;
            open_views: cuts of which it is shown what they tell, by discussion and cut; landing: what a search found, until it
            is shown.
        side_by_side: discussions whose replies stand in columns, each with a version of the reply, empty for the last comparison;
            comparing, compares_memory: the choices of the dialog that asks for some; template: what is typed for a template.
        scroll: the first row in view of each discussion that does not stand at its end, the newest last; never
            changed in place; first_row: the first in view, also at the end; scroll_to: the row to go to in the next frame, -1 for the end; led_to: the question that the
            person was led to; shown_id: the discussion of the last frame.
        read: the notices of each discussion that were in front of the person.
    """

    kept: ClassVar[tuple[Kept, ...]] = (
        Kept(key="list_grouping", name="grouping", read=one_of("date", "project")),
        Kept(key="list_project", name="project", read=text),
        Kept(key="is_archive_open", name="is_archive_open", read=yes_or_no),
        Kept(key="is_trash_open", name="is_trash_open", read=yes_or_no),
        Kept(key="scroll", name="scroll", read=_scrolls, write=_newest),
    )

    search_text: str = ""
    is_searching: bool = False
    opens_first: bool = False
    grouping: Grouping = "date"
    project: str = ALL_PROJECTS
    is_archive_open: bool = False
    is_trash_open: bool = False
    menu_of: str = ""
    renaming_id: str = ""
    composers: dict[str, ComposerView] = msgspec.field(default_factory=dict)
    carried: tuple[str, str] = ("", "")
    find: FindView = msgspec.field(default_factory=FindView)
    landing: Landing | None = None
    editing: dict[MessageKey, str] = msgspec.field(default_factory=dict)
    seen_edits: frozenset[MessageKey] = frozenset()
    resent: dict[MessageKey, str] = msgspec.field(default_factory=dict)
    detached: dict[MessageKey, tuple[str, ...]] = msgspec.field(default_factory=dict)
    typing: MessageKey | None = None
    had_keyboard: MessageKey | None = None
    unfolded: set[MessageKey] = msgspec.field(default_factory=set)
    open_tools: set[tuple[str, str, int]] = msgspec.field(default_factory=set)
    open_rounds: frozenset[MessageKey] = frozenset()
    open_views: set[tuple[str, str]] = msgspec.field(default_factory=set)
    side_by_side: dict[str, str] = msgspec.field(default_factory=dict)
    comparing: list[str] = msgspec.field(default_factory=list)
    compares_memory: bool = False
    template: TemplateForm = msgspec.field(default_factory=TemplateForm)
    scroll: dict[str, int] = msgspec.field(default_factory=dict)
    first_row: int = 0
    scroll_to: int | None = None
    led_to: str = ""
    shown_id: str = ""
    is_at_end: bool = True
    read: dict[str, frozenset[Hashable]] = msgspec.field(default_factory=dict)

    def begin_frame(self) -> None:
        """Forget which message has the keyboard; the message reports that again when it is drawn."""
        self.had_keyboard, self.typing = self.typing, None

    def give_up(self, key: MessageKey) -> None:
        """Leave a message as it was before it was edited."""
        self.editing.pop(key, None)
        self.detached.pop(key, None)

    def composer(self, discussion_id: str) -> ComposerView:
        """The composer of a discussion, made when it is first asked for."""
        return self.composers.setdefault(discussion_id, ComposerView())
