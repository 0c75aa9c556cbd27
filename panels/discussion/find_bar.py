"""Search inside a conversation: every occurrence counted, the one that it stands on, the bar that walks them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate

import msgspec

from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.search_terms import search_terms
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.messages import Entry, Mark, Message, Role
from core.kernel.values.state import AppState, SearchHits
from core.talk.discussion.log_content import together
from panels.base.desk import Desk
from panels.base.view import Memo
from panels.discussion.message_rows import may_differ, shown_words
from panels.discussion.view import DiscussionView, FindView, Landing

_WORD = late(r"[^\W_]+")


class Occurrences(msgspec.Struct, frozen=True):
    """Occurrences in the messages of a discussion.

    Args:
        rows: numbers of the entries that have any, ascending; ends: for each, how many there are up to its last.
    """

    rows: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        """Number of all."""
        return self.ends[-1] if self.ends else 0

    def place(self, at: int) -> tuple[int, int]:
        """The entry of an occurrence, and its number in that entry. `at` counts on past the last from the first."""
        at %= self.total
        index = bisect_right(self.ends, at)
        return self.rows[index], at - (self.ends[index - 1] if index else 0)

    def first_from(self, row: int) -> int:
        """The first occurrence in an entry or in those after it; the very first where there is none."""
        index = bisect_left(self.rows, row)
        return (self.ends[index - 1] if index else 0) if index < len(self.rows) else 0


def terms_of(find: FindView) -> tuple[str, ...]:
    """Terms that are looked for: the words as typed, or each word of a search over all discussions; none while closed."""
    query = find.query.strip()
    if not (find.is_open and query):
        return ()
    return tuple(dict.fromkeys(query.split())) if find.is_by_word else (query,)


def occurrences(memo: Memo, opened: OpenDiscussion, terms: tuple[str, ...]) -> Occurrences:
    """Occurrences of the terms in a discussion, whatever their case. O(text) once for each query."""
    if not terms:
        return Occurrences()

    def count() -> Occurrences:
        texts = _folded_once(memo, opened)
        folded = [term.casefold() for term in terms]
        pattern = _pattern(folded)
        words = [_WORD.findall(term) or [term] for term in folded]
        rows = [row for row, text in enumerate(texts) if any(all(w in text for w in some) for some in words)]
        counts = ((row, len(pattern.findall(_seen(memo, opened, row, folded)))) for row in rows)
        found = [(row, number) for row, number in counts if number]
        return Occurrences(tuple(row for row, _ in found), tuple(accumulate(number for _, number in found)))

    return memo.get("occurrences", (opened.entries, "\n".join(terms)), count)


def _pattern(folded: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(folded, key=len, reverse=True))))


def _number_in(memo: Memo, opened: OpenDiscussion, row: int, terms: tuple[str, ...]) -> int:
    """Number of the occurrence with which the place begins where the terms stand closest together."""
    folded = [term.casefold() for term in terms]
    text = _seen(memo, opened, row, folded)
    best = together(text, folded)
    if best is None:
        return 0
    return sum(1 for one in _pattern(folded).finditer(text, 0, best[1]) if one.end() <= best[0])


def _seen(memo: Memo, opened: OpenDiscussion, row: int, folded: list[str]) -> str:
    """The folded words of a message as they are seen: a person's as they wrote them, a reply's without its marks."""
    text, entry = _folded_once(memo, opened)[row], opened.entries[row]
    if isinstance(entry, Mark) or entry.role is Role.USER or not may_differ(text, folded):
        return text
    seen: dict[int, str] = memo.get("seen", (opened.entries,), dict)
    if row not in seen:
        seen[row] = shown_words(text)
    return seen[row]


def _folded_once(memo: Memo, opened: OpenDiscussion) -> tuple[str, ...]:
    return memo.get("folded", (opened.entries,), lambda: _folded(opened.entries))


def _folded(entries: tuple[Entry, ...]) -> tuple[str, ...]:
    return tuple(
        "" if isinstance(entry, Mark) or entry.is_deleted else entry.text.casefold() for entry in entries
    )


def place_of(desk: Desk, opened: OpenDiscussion) -> tuple[int, int]:
    """The entry that the search stands on, and the number of the occurrence in it; (-1, -1) for none."""
    find = desk.view.of(DiscussionView).find
    found = occurrences(desk.view.memo, opened, terms_of(find))
    return found.place(find.at) if found.total else (-1, -1)


def find_bar(desk: Desk, opened: OpenDiscussion) -> None:
    """Draw the bar: words, which of how many, next and previous."""
    own = desk.view.of(DiscussionView)
    ui, view, find = desk.ui, desk.view, own.find
    found = occurrences(view.memo, opened, terms_of(find))
    step = 0
    with ui.row("find"):
        typed = ui.text_input("query", find.query, hint=tr("Find in discussion"), icon="magnifying-glass",
                              width=0, is_focused=view.focus == "find")  # fmt: skip
        view.focus = "" if view.focus == "find" else view.focus
        if typed is not None:
            find.query, find.is_by_word = typed, False
            found = occurrences(view.memo, opened, terms_of(find))
            first = own.scroll.get(opened.id)
            find.at, step = (found.first_from(first) if first is not None else 0) - 1, 1
        had_keyboard, find.has_keyboard = find.has_keyboard, ui.is_focused("query")
        if had_keyboard or find.has_keyboard:
            step = _stepped(desk) or step
        where = (
            tr("{at:,} of {total:,}", at=find.at % found.total + 1, total=found.total)
            if found.total
            else tr("no match")
        )
        ui.text("where", where if find.query.strip() else "", tone="muted", style="small", width=104)
        if ui.button("up", "", icon="chevron-up", kind="ghost", tip=tr("Previous match (Shift+F3)"),
                     shortcut="Shift+F3", is_enabled=bool(found.total)):  # fmt: skip
            step = -1
        if ui.button("down", "", icon="chevron-down", kind="ghost", tip=tr("Next match (F3)"), shortcut="F3",
                     is_enabled=bool(found.total)):  # fmt: skip
            step = 1
        if ui.button("close", "", icon="xmark", kind="ghost", tip=tr("Close find (Escape)")):
            close_find(desk)
    if step and found.total:
        find.at = (find.at + step) % found.total
        own.scroll_to = found.place(find.at)[0]


def _stepped(desk: Desk) -> int:
    """Enter goes on and Shift+Enter back; the field keeps the keyboard, which the toolkit takes at Enter."""
    step = 1 if desk.ui.shortcut("Enter", while_typing=True) else 0
    step = -1 if desk.ui.shortcut("Shift+Enter", while_typing=True) else step
    if step:
        desk.ui.focus("query")
    return step


def close_find(desk: Desk) -> bool:
    """Close the bar and give the keyboard back to the composer; whether it was open."""
    find = desk.view.of(DiscussionView).find
    was_open, find.is_open = find.is_open, False
    if was_open:
        desk.view.focus = "composer"
    return was_open


def open_hit(state: AppState, own: DiscussionView, discussion_id: str) -> None:
    """A person chose a discussion in the search's list: it will open at the message that was found."""
    query = own.search_text.strip()
    if query:
        own.landing = landing_of(state.discussions.search, query, discussion_id)


def landing_of(found: SearchHits, query: str, discussion_id: str) -> Landing:
    """Place of a search's find in its discussion, with the words that are marked there."""
    terms = search_terms(found.instead or query)
    is_phrase = len(terms) == 1 and terms[0].is_phrase
    words = " ".join(term.text for term in terms) or query.strip()
    message_id = found.messages.get(discussion_id, "")
    return Landing(discussion_id=discussion_id, message_id=message_id, query=words, is_phrase=is_phrase)


def land(desk: Desk, opened: OpenDiscussion) -> None:
    """Go to what a search found in this discussion, once, with its words marked; else leave behind what was looked for
    in another.
    """
    own = desk.view.of(DiscussionView)
    landing = own.landing
    if landing is None or landing.discussion_id != opened.id:
        if own.shown_id not in ("", opened.id):
            own.find = FindView()  # its words are of the discussion that was left
        return
    own.landing = None
    row = next(
        (n for n, e in enumerate(opened.entries) if isinstance(e, Message) and e.id == landing.message_id),
        None,
    )
    own.find = FindView(is_open=True, query=landing.query, is_by_word=not landing.is_phrase)
    found = occurrences(desk.view.memo, opened, terms_of(own.find))
    if landing.is_phrase and not found.total:  # its blanks may be others there
        own.find.is_by_word = True
        found = occurrences(desk.view.memo, opened, terms_of(own.find))
    if row is None:
        row = found.place(0)[0] if found.total else None
    if row is None:
        own.find.is_open = False  # its name was found
        return
    number = _number_in(desk.view.memo, opened, row, terms_of(own.find)) if row in found.rows else 0
    own.find.at = found.first_from(row) + number
    own.scroll_to = row
