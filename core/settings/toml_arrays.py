"""The elements of a TOML array as text, with the comments around each. Pure.

Why not tomlkit: there an element that moves loses the comment behind it and leaves the one above it where it was
(0.15, tried), and comments show only in a private list. Here each goes along, and what is not edited stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.settings.toml_places import words


@dataclass(slots=True)
class ArrayElement:
    """One element. `above`: the comments before it; `text`: as it stands; `behind`: the comment on its last line."""

    above: list[str]
    start: int
    end: int
    text: str = ""
    behind: str = ""


@dataclass(slots=True)
class _ArrayWalk:
    """Position in an array: `can_follow` while a comment still stands behind the last element."""

    elements: list[ArrayElement] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    depth: int = 0
    is_open: bool = False
    can_follow: bool = False


def array_elements(text: str) -> tuple[tuple[ArrayElement, ...], tuple[str, ...]]:
    """Split an array.

    Args:
        text: TOML of one array, brackets included, that parses.

    Returns:
        Its elements in order, and the comments behind the last of them.
    """
    walk = _ArrayWalk()
    for token in words(text):
        word, end = token.word, token.start + len(token.word)
        is_inside = walk.depth > 1
        if word in {"]", "}"}:
            walk.depth -= 1
        if word == "\n" or word.startswith("#"):
            if not is_inside:
                _pass_line(walk, word.strip())
        elif word == "," and not is_inside:
            walk.is_open, walk.can_follow = False, not (walk.elements[-1].behind or walk.waiting)
        elif walk.depth > 0:
            _extend(walk, token.start, end)
        if word in {"[", "{"}:
            walk.depth += 1
    for element in walk.elements:
        element.text = text[element.start : element.end]
    return tuple(walk.elements), tuple(walk.waiting)


def _pass_line(walk: _ArrayWalk, comment: str) -> None:
    """A line's end, or the comment before it: it belongs to the element on its line, or to the next one."""
    if comment and walk.can_follow:
        walk.elements[-1].behind = comment
    elif comment:
        walk.waiting.append(comment)
    walk.can_follow = False


def _extend(walk: _ArrayWalk, start: int, end: int) -> None:
    """A word of an element: the first one opens it."""
    if not walk.is_open:
        walk.elements.append(ArrayElement(walk.waiting, start, end))
        walk.waiting = []
    walk.elements[-1].end = end
    walk.is_open = walk.can_follow = True
