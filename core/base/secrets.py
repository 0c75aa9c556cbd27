"""Secrets out of text that leaves the truth, and the cuts of such text: scrubbed first, since half a key is no shape."""

from __future__ import annotations

from collections.abc import Iterable

from core.base import secret_library
from core.base.secret_hits import Hits
from core.base.secret_names import NAMES
from core.base.secret_shapes import Find, Rule, shapes
from core.base.text import one_line

MASK = "[secret]"

_AHEAD_CHARS = 16_384
"""Looked at behind a cut: longer than a secret that no line ends."""


def scrub(text: str) -> str:
    """The text with what looks like a key, token or password replaced by `[secret]`.

    Linear in its length. Places are found by literals that each kind of secret holds, then judged by the exact rules,
    ours and those of detect-secrets. Nothing is asked over the network.
    """
    spans = secrets_in(text, _HITS.in_text(text))
    if not spans:
        return text
    pieces: list[str] = []
    end = 0
    for start, until in spans:
        pieces += (text[end:start], MASK)
        end = until
    return "".join((*pieces, text[end:]))


def secrets_in(text: str, hits: Iterable[tuple[int, Rule]]) -> list[tuple[int, int]]:
    """Places of secrets, in order, apart from each other.

    Args:
        hits: positions at which a literal of a rule stands, in order; at others no rule finds anything.
    """
    return [(start, end) for start, end, _ in _finds(text, hits)]


def named_secrets(text: str) -> list[tuple[int, int, str]]:
    """Places of secrets as `scrub` takes them out, each with its kind, in order, apart from each other."""
    return [(start, end, rule.kind) for start, end, rule in _finds(text, _HITS.in_text(text))]


def _finds(text: str, hits: Iterable[tuple[int, Rule]]) -> list[tuple[int, int, Rule]]:
    found: list[tuple[int, int, Rule]] = []
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
        while found and find.start < found[-1][1]:
            find = Find(min(find.start, found[-1][0]), max(find.end, found.pop()[1]))
        found.append((find.start, find.end, rule))
        end = find.end
    return found


def scrubbed_head(text: str, limit: int) -> str:
    """The first `limit` characters of the text without its secrets, whatever stands across the cut.

    Reads only as much of a long text as it needs.
    """
    size = limit + _AHEAD_CHARS
    while True:
        cleaned = scrub(text[:size])
        if size >= len(text) or len(cleaned) >= limit + _AHEAD_CHARS // 2:
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
    return one_line(scrubbed_head(text, limit * 4), limit)


def _holds(text: str) -> bool:
    return bool(secrets_in(text, _HITS.in_text(text)))


RULES = (*shapes(_holds), NAMES, *secret_library.rules())
"""Every kind of secret that is known."""

_HITS = Hits((literal, rule.has_case, rule) for rule in RULES for literal in rule.literals)
