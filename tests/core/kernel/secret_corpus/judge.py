"""Judgement of a corpus: what of it a scrubber finds, what it masks for nothing, by kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.core.kernel.secret_corpus.values import Sample

_PIECE_CHARS = 8


@dataclass
class Tally:
    """Counts of one kind, and the samples that went wrong."""

    secrets: int = 0
    found: int = 0
    look_alikes: int = 0
    masked: int = 0
    wrong: list[Sample] = field(default_factory=list)


@dataclass(frozen=True)
class Verdict:
    """Tallies by kind; `recall` of all secrets, `precision` of all that was masked."""

    kinds: dict[str, Tally]

    def _sum(self, name: str) -> int:
        return sum(int(getattr(one, name)) for one in self.kinds.values())

    @property
    def secrets(self) -> int:
        return self._sum("secrets")

    @property
    def look_alikes(self) -> int:
        return self._sum("look_alikes")

    @property
    def recall(self) -> float:
        return self._sum("found") / self.secrets

    @property
    def precision(self) -> float:
        found, masked = self._sum("found"), self._sum("masked")
        return found / (found + masked)

    @property
    def wrong(self) -> list[Sample]:
        return [sample for tally in self.kinds.values() for sample in tally.wrong]


def survives(secret: str, text: str) -> bool:
    """True if any eight characters of a secret in a row are in a text."""
    piece = min(_PIECE_CHARS, len(secret))
    return any(secret[at : at + piece] in text for at in range(len(secret) - piece + 1))


def judged(samples: Iterable[Sample], scrub: Callable[[str], str]) -> Verdict:
    """Judge a scrubber: a secret is found if no eight characters of it are left, a look-alike must stay whole."""
    kinds: dict[str, Tally] = defaultdict(Tally)
    for sample in samples:
        kind = "by shape" if sample.kind.startswith("by shape") else sample.kind
        tally = kinds[kind]
        cleaned = scrub(sample.text)
        is_right = not survives(sample.secret, cleaned) if sample.secret else cleaned == sample.text
        if sample.secret:
            tally.secrets += 1
            tally.found += is_right
        else:
            tally.look_alikes += 1
            tally.masked += not is_right
        if not is_right:
            tally.wrong.append(sample)
    return Verdict(dict(kinds))


def table(title: str, verdict: Verdict) -> str:
    """The judgement as a table of text, a line a kind."""
    lines = [f"{title}: recall {verdict.recall:.3f}, precision {verdict.precision:.3f}"]
    for kind, tally in verdict.kinds.items():
        if tally.secrets:
            lines.append(f"  {kind:<26} found {tally.found:>3} of {tally.secrets}")
    for kind, tally in verdict.kinds.items():
        if tally.look_alikes:
            lines.append(f"  {kind:<26} masked for nothing {tally.masked:>3} of {tally.look_alikes}")
    return "\n".join(lines)
