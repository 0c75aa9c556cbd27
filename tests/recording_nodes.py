"""What a recorded frame is made of, and the rules of look that every item keeps."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any, get_args
from weakref import ref

from panels.base.ui import Series, SeriesKind, Style, Surface, Tone, Unit

ICONS_FILE = Path(__file__).parent.parent / "assets" / "icons.toml"
Path_ = tuple[Hashable, ...]


class ProtocolError(AssertionError):
    """A panel broke a rule of `panels/base/ui.py`."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class Node:
    """One item of a frame. What holds it, it holds weakly: so a frame's million nodes go with the frame, unsought."""

    kind: str
    path: Path_
    inside: ref[Node] | None = None
    label: str = ""
    tip: str = ""
    value: Any = None
    is_enabled: bool = True
    read_props: Callable[[], dict[str, Any]] = dict
    children: list[Node] = field(default_factory=list)
    keys: set[Hashable] = field(default_factory=set)
    _props: dict[str, Any] | None = None

    @property
    def props(self) -> dict[str, Any]:
        """What else it was given. Put together when it is first read: of the millions that are drawn few are."""
        if self._props is None:
            self._props = self.read_props()
        return self._props

    def walk(self) -> Iterator[Node]:
        """This node and everything in it, in drawing order."""
        ahead = [self]
        while ahead:
            node = ahead.pop()
            yield node
            if node.children:
                ahead.extend(reversed(node.children))

    def above(self) -> Iterator[Node]:
        """The containers that it lies in, innermost first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    @property
    def parent(self) -> Node | None:
        """What holds it; None for the root."""
        return None if self.inside is None else self.inside()

    def words(self) -> list[str]:
        """What it shows of its own."""
        shown = [self.label, self.value if isinstance(self.value, str) else ""]
        shown += [o.label for o in self.props.get("tabs", ())]
        return [word for word in shown if word]

    def texts(self) -> list[str]:
        """Everything that it and what is in it show."""
        return [word for node in self.walk() for word in node.words()]


@cache
def icon_names() -> frozenset[str]:
    """The icons that there are."""
    return frozenset(tomllib.loads(ICONS_FILE.read_text("utf-8")))


def key_head(key: Hashable) -> Hashable:
    return key[0] if isinstance(key, tuple) and key else None


def is_function_key(chord: str) -> bool:
    key = chord.rpartition("+")[2]
    return key.startswith("F") and key[1:].isdigit()


def needs_words(what: str, key: Hashable, label: str, tip: str) -> None:
    if not label.strip() and not tip.strip():
        raise ProtocolError(f"The {what} {key!r} has neither a label nor a tip")


@cache
def looks() -> dict[str, frozenset[str]]:
    """What each name of a look may be; an icon may also be none."""
    chosen = {"tone": Tone, "style": Style, "surface": Surface}
    return {"icon": icon_names() | {""}, **{name: frozenset(get_args(kind)) for name, kind in chosen.items()}}


def check_look(name: str, value: Any) -> None:
    """Check a value of one of the names in `looks`."""
    if value not in looks()[name]:
        raise ProtocolError(
            f"No {name}: {value!r}" if name != "icon" else f"There is no icon called {value!r}"
        )


def is_called(node: Node, label: str) -> bool:
    names = (node.label, node.tip, node.props.get("hint", ""))
    if any(name == label or name.startswith(f"{label} (") for name in names if name):
        return True
    if node.kind == "clickable":
        return any(child.value == label for child in node.walk() if child.kind == "text")
    return node.kind in {"text", "badge", "markdown"} and node.value == label


def legend(series: Sequence[Series]) -> str:
    """The labels of a plot's curves, each of which can be drawn, on two axes at most."""
    for one in series:
        _check_series(one)
    if len({one.unit for one in series}) > 2:
        raise ProtocolError(f"There are two axes for the units {[one.unit for one in series]}")
    return " · ".join(one.label for one in series)


def _check_series(series: Series) -> None:
    """A curve that can be drawn: as many values as places, ascending, finite, and words for the legend."""
    if not series.label.strip():
        raise ProtocolError("A series without a label")
    if len(series.xs) != len(series.ys):
        raise ProtocolError(f"{series.label!r} has {len(series.xs)} xs for {len(series.ys)} ys")
    if any(left >= right for left, right in pairwise(series.xs)):
        raise ProtocolError(f"The xs of {series.label!r} do not ascend")
    if not all(isfinite(y) for y in (*series.xs, *series.ys) if y is not None):
        raise ProtocolError(f"{series.label!r} has a value that is no number")
    for name, allowed in (("kind", SeriesKind), ("tone", Tone), ("unit", Unit)):
        if getattr(series, name) not in get_args(allowed):
            raise ProtocolError(f"No {name}: {getattr(series, name)!r}")
