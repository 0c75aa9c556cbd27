"""Measure of an assembled stack: whether it fits its model, what is large in it, and what could not be sent as asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from core.base.text import one_line
from core.context.stack import AggregateStack
from core.values.curation import ItemFiles
from core.values.provider import ModelProfile
from core.values.recall import Recalled
from core.values.spec import StackSpec
from core.values.stack import LAYER_TITLES, LayerId, LayerReport

REPLY_RESERVE_TOKENS = 1024
"""Room that is kept free for the reply when a request is judged, at most an eighth of the window."""


NAMED_CHARS = 120
"""Longest that a file is named in a sentence."""
SOME_CHARS = 250_000
"""Characters counted at a time while somebody may wait for a first report."""


class Assembly(msgspec.Struct, frozen=True):
    """A stack with what was measured of it. `read_at`: when its files began to be read; recalled: for its message."""

    spec: StackSpec
    stack: AggregateStack
    items: tuple[ItemFiles, ...]
    layers: tuple[LayerReport, ...]
    profile: ModelProfile
    is_counted: bool
    read_at: datetime | None = None
    recalled: Recalled = Recalled()

    @property
    def total_tokens(self) -> int:
        """The whole request, estimated for the model in use."""
        return sum([layer.tokens_est for layer in self.layers])


def some_uncounted(assembly: Assembly, known: Mapping[str, int]) -> dict[str, str]:
    """Texts of a stack that were not counted yet, by sha256: a few that are small, or one. Empty: none is left."""
    some: dict[str, str] = {}
    size = 0
    for segment in assembly.stack.segments:
        if segment.sha256 in known or segment.sha256 in some:
            continue
        some[segment.sha256] = segment.text
        size += len(segment.text)
        if size >= SOME_CHARS:
            break
    return some


def too_large(assembly: Assembly) -> str:
    """A sentence with sizes when the request exceeds the model's window, else empty."""
    limit = assembly.profile.context_tokens
    if limit is None:
        return ""
    wanted = assembly.spec.max_output_tokens or REPLY_RESERVE_TOKENS
    room = limit - min(wanted, limit // 8)
    total = assembly.total_tokens
    if total <= room:
        return ""
    layers = _largest_layers(assembly)
    parts = ", ".join(f"{LAYER_TITLES[layer.layer].lower()} {layer.tokens_est:,}" for layer in layers)
    return (
        f"The request has about {total:,} tokens; {assembly.profile.label or assembly.profile.id} takes "
        f"{room:,} beside its reply. Largest: {parts}{_largest_files(assembly)}"
    )


def _largest_layers(assembly: Assembly) -> list[LayerReport]:
    return sorted(assembly.layers, key=lambda layer: -layer.tokens_est)[:2]


def what_to_leave_out(assembly: Assembly) -> str:
    """Advice on what makes the request smaller, by its largest layer."""
    layer = _largest_layers(assembly)[0].layer
    match layer:
        case LayerId.FILE_SET | LayerId.FILE_DETAILS:
            return "Leave files out of the preset"
        case LayerId.TURNS:
            return "Delete long messages, branch from an earlier one, start a new discussion"
        case LayerId.TOOL_FORMAT | LayerId.TOOLS:
            return "Take the tools from this discussion"
        case LayerId.USER:
            return "Shorten the message or its attachments"
        case _:
            return f"Shorten the {LAYER_TITLES[layer].lower()}"


def _largest_files(assembly: Assembly) -> str:
    details = next((x for x in _largest_layers(assembly) if x.layer is LayerId.FILE_DETAILS), None)
    files = sorted(details.segments, key=lambda segment: -segment.tokens_est)[:3] if details else []
    if not files:
        return "."
    named = ", ".join(
        f"{one_line(segment.key.partition('/')[2], NAMED_CHARS)} ({segment.tokens_est:,})"
        for segment in files
    )
    return f". Largest files: {named}."


def problems(items: Iterable[ItemFiles]) -> tuple[str, ...]:
    """Problems of the preset's items that cannot be sent as asked, one sentence each."""
    found: list[str] = []
    for item in items:
        if item.problem is not None:
            found.append(f"{one_line(item.item.path, NAMED_CHARS)}: {item.problem.detail}")
        found.extend(
            f"{one_line(f.path, NAMED_CHARS)}: {f.problem.detail}"
            for f in item.files
            if f.problem is not None
        )
    return tuple(found)
