"""Tables by which rooms say what they decide: a function a message, and what follows a change of the state.

The dispatcher reads them, so that a new message needs an entry in its room's table and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from core.kernel.ids import Stamp
from core.kernel.values.state import AppState
from core.kernel.values.updates import Result

Message = TypeVar("Message")


class Handler(NamedTuple):
    """The one function that decides what follows from a message of this type.

    Args:
        is_stamped: it makes ids or needs the time, so it takes the stamp between the state and the message.
    """

    message: type[Any]
    decide: Callable[..., Result]
    is_stamped: bool = False


def on(message: type[Message], decide: Callable[[AppState, Message], Result]) -> Handler:
    """The entry of a message that its function decides by the state alone."""
    return Handler(message=message, decide=decide)


def on_stamped(message: type[Message], decide: Callable[[AppState, Stamp, Message], Result]) -> Handler:
    """The entry of a message whose function also makes ids, or needs the time."""
    return Handler(message=message, decide=decide, is_stamped=True)


class Handlers:
    """A room's table. Calling it decides what follows from one message.

    Raises:
        ValueError: two entries name one message.
    """

    def __init__(self, *entries: Handler) -> None:
        self.by_type = {entry.message: entry for entry in entries}
        if len(self.by_type) < len(entries):
            names = sorted(entry.message.__name__ for entry in entries)
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(f"Two functions decide {', '.join(twice)}. Leave one of the entries.")

    def __call__(self, state: AppState, message: object, stamp: Stamp | None = None) -> Result:
        """Decide what follows from a message of this room. Only one that is stamped needs `stamp`."""
        _, decide, is_stamped = self.by_type[type(message)]
        return decide(state, stamp, message) if is_stamped else decide(state, message)

    def __iter__(self) -> Iterator[Handler]:
        return iter(self.by_type.values())


def keep(state: AppState, _message: object) -> Result:
    """Nothing changes in this room; other rooms act on the message."""
    return state, ()


def carry_out(state: AppState, command: object) -> Result:
    """The command needs no decision: it is its own effect."""
    return state, (command,)


class Moment(NamedTuple):
    """The step that a follow-up follows: its stamp, its message, and the message's own effects."""

    given: Stamp
    body: object
    effects: tuple[Any, ...]


class Follow(NamedTuple):
    """A follow-up of a room to changes of the state, whichever room made them.

    Args:
        watches: groups of the state; it runs when one of them is another object than before. `now` changes with each
            message, so who watches it runs every time.
        decide: it gets the state before the message, the state now, and the moment.
        messages: types that it follows even where no watched group has changed.
    """

    watches: frozenset[str]
    decide: Callable[[AppState, AppState, Moment], Result]
    messages: frozenset[type[Any]] = frozenset()


def follow(
    watches: str,
    decide: Callable[[AppState, AppState, Moment], Result],
    messages: Iterable[type[Any]] = (),
) -> Follow:
    """A follow-up that watches these groups, named with spaces between them.

    Raises:
        ValueError: the state has no such group.
    """
    groups = frozenset(watches.split())
    unknown = groups.difference(AppState.__struct_fields__)
    if unknown:
        raise ValueError(f"The state has no group {', '.join(sorted(unknown))}. See `AppState`.")
    return Follow(watches=groups, decide=decide, messages=frozenset(messages))


def follow_effects(
    watches: str, decide: Callable[[AppState, AppState], tuple[Any, ...]], messages: Iterable[type[Any]] = ()
) -> Follow:
    """A follow-up that changes nothing and orders effects only."""
    return follow(watches, lambda before, after, _moment: (after, decide(before, after)), messages)
