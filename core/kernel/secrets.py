"""Secrets out of text that leaves the truth, and the cuts of such text: scrubbed first, since half a key is no shape."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from core.kernel.frame import one_line
from core.kernel.secret_values import read

if TYPE_CHECKING:
    from core.kernel.secret_kinds import Hits
    from core.kernel.secret_values import Rule

MASK = "[secret]"

AHEAD_CHARS = 16_384
"""Looked at behind a cut, or a piece of a file: longer than a secret that no line ends."""


def scrub(text: str) -> str:
    """The text with what looks like a key, token or password replaced by `[secret]`.

    Linear in its length. Places are found by literals that each kind of secret holds, then judged by the exact rules,
    ours and some of detect-secrets. Nothing is asked over the network.
    """
    spans = named_secrets(text)
    if not spans:
        return text
    pieces: list[str] = []
    end = 0
    for start, until, _ in spans:
        pieces += (text[end:start], MASK)
        end = until
    return "".join((*pieces, text[end:]))


def named_secrets(text: str) -> list[tuple[int, int, str]]:
    """Places of secrets as `scrub` takes them out, each with its kind, in order, apart from each other."""
    reading = read(text)
    found = secrets_in(reading.text, known()[1].in_text(reading.text, reading.signs))
    return [(*reading.place(start, end), kind) for start, end, kind in found]


def secrets_in(text: str, hits: Iterable[tuple[int, Rule]]) -> list[tuple[int, int, str]]:
    """Places of secrets and their kinds, in order, apart from each other.

    Args:
        hits: positions at which a literal of a rule stands, in order; at others no rule finds anything.
    """
    found: list[tuple[int, int, str]] = []
    more: list[tuple[int, int, str]] = []
    looked: dict[int, int] = {}
    end = 0
    for at, rule in hits:
        if at < end or at < looked.get(id(rule), 0):
            continue
        find = rule.look(text, at)
        if find is None:
            continue
        if not find.is_secret:
            looked[id(rule)] = find.end
            continue
        if find.also:
            looked[id(rule)] = find.also[-1][1]
            more += ((*place, rule.kind) for place in find.also)
        found.append((find.start, find.end, rule.kind))
        end = max(end, find.end)
    return _apart([*found, *more])


def _apart(places: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """The places in order; those that overlap are one, of the kind of the last that was found."""
    apart: list[tuple[int, int, str]] = []
    for start, end, kind in sorted(places, key=lambda place: place[:2]):
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]), kind)
        else:
            apart.append((start, end, kind))
    return apart


def scrubbed_head(text: str, limit: int) -> str:
    """The first `limit` characters of the text without its secrets, whatever stands across the cut.

    Reads only as much of a long text as it needs.
    """
    size = limit + AHEAD_CHARS
    while True:
        cleaned = scrub(text[:size])
        if size >= len(text) or len(cleaned) >= limit + AHEAD_CHARS // 2:
            return cleaned[:limit]
        size *= 2


def scrubbed_ends(text: str, head: int, tail: int, between: str) -> str:
    """Head and tail of the text without its secrets.

    Args:
        head, tail: characters of each.
        between: stands for the rest, with `{:,}` for how many characters it has.
    """
    cleaned = scrub(text)
    left_out = len(cleaned) - head - tail
    if left_out <= 0:
        return cleaned
    return f"{cleaned[:head]}{between.format(left_out)}{cleaned[len(cleaned) - tail :]}"


def scrubbed_line(text: str, limit: int) -> str:
    """The text without its secrets on one line, cut to at most `limit` characters with an ellipsis."""
    if not text:
        return ""
    return one_line(scrubbed_head(text, limit * 4), limit)


def _holds(text: str) -> bool:
    return bool(named_secrets(text))


@cache
def known() -> tuple[tuple[Rule, ...], Hits[Rule]]:
    """Every kind of secret, and where in a text one may stand. Loaded when it is first asked for, not at a start."""
    from core.kernel.secret_kinds import Hits, rules

    found = rules(_holds)
    return found, Hits((literal, rule.has_case, rule) for rule in found for literal in rule.literals)
