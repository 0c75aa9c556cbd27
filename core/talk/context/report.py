"""Report on a layer without its text: offsets, sizes, digests and tokens of its segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from core.kernel.frame import size_bytes
from core.kernel.language import tr
from core.kernel.structures import shared_run
from core.kernel.tokens import estimate_tokens, scaled
from core.kernel.values.curation import FileItem
from core.kernel.values.messages import AttachmentPart, ReturnedReasoning, ToolResultPart
from core.kernel.values.provider import ModelProfile
from core.kernel.values.stack import LayerId, LayerReport, Segment, SegmentReport
from core.kernel.values.state import AppState, CommandOutcome
from core.kernel.values.updates import Result, conclude, with_open
from core.services.providers.attachments import attachment_tokens, result_file_tokens
from core.talk.context.context_messages import AssembleContext, InspectOnDisk, KeepOut, MeasureContext
from core.talk.context.context_spec import stack_spec
from core.talk.context.pieces import AS_TEXT, Layer, Piece

_RECORDED_SEGMENTS = 64


def layer_report(
    layer: Layer,
    offset_chars: int,
    counted: Mapping[str, int],
    factor: float,
    profile: ModelProfile | None = None,
) -> LayerReport:
    """Report one layer. Args as for `AggregateStack.report`; O(n) in pieces."""
    segments = tuple(_segment_report(piece, counted, factor, profile) for piece in layer.pieces)
    size = sum(segment.size_bytes for segment in segments)
    return _report(layer, offset_chars, segments, size, sum(segment.tokens_est for segment in segments))


class _Reported(msgspec.Struct, frozen=True):
    """A layer as it was reported last.

    Args:
        counts: of each piece the o200k tokens of its text, -1 where files are in it, too; estimated: places of those that
            were not counted then.
    """

    pieces: tuple[Piece, ...] = ()
    factor: float = 1.0
    profile: ModelProfile | None = None
    segments: tuple[SegmentReport, ...] = ()
    counts: tuple[int, ...] = ()
    estimated: tuple[int, ...] = ()
    size_bytes: int = 0
    tokens: int = 0


class GrownReport:
    """Reports on a layer of a discussion that most often only grows: what was reported before is taken over.

    Thread-safe: of two that report at once one is remembered.
    """

    def __init__(self) -> None:
        self._last = _Reported()

    def report(
        self,
        layer: Layer,
        offset_chars: int,
        counted: Mapping[str, int],
        factor: float,
        profile: ModelProfile | None = None,
    ) -> LayerReport:
        """Report as `layer_report` does. O(pieces behind those of the last time), and those that were estimated then;
        with another factor the tokens of the others are scaled anew.
        """
        last = self._last
        same = shared_run(last.pieces, layer.pieces) if last.profile == profile else 0
        segments, counts = [*last.segments[:same]], [*last.counts[:same]]
        size, tokens = last.size_bytes, last.tokens
        if same < len(last.segments):
            size -= sum(one.size_bytes for one in last.segments[same:])
            tokens -= sum(one.tokens_est for one in last.segments[same:])
        anew = [n for n in last.estimated if n < same]
        if factor != last.factor:
            rows = zip(segments, counts, strict=True)
            segments = [
                SegmentReport(
                    key=one.key,
                    sha256=one.sha256,
                    size_bytes=one.size_bytes,
                    tokens_est=scaled(count, factor),
                )
                for one, count in rows
            ]
            anew += [n for n, count in enumerate(counts) if count < 0]
            tokens = sum(one.tokens_est for one in segments)
        for number in anew:
            before = segments[number]
            segments[number] = after = _segment_report(layer.pieces[number], counted, factor, profile)
            counts[number] = _text_count(layer.pieces[number], after, counted)
            size += after.size_bytes - before.size_bytes
            tokens += after.tokens_est - before.tokens_est
        for piece in layer.pieces[same:]:
            segments.append(after := _segment_report(piece, counted, factor, profile))
            counts.append(_text_count(piece, after, counted))
            size, tokens = size + after.size_bytes, tokens + after.tokens_est
        places = (*anew, *range(same, len(segments)))
        estimated = sorted({n for n in places if not _is_known(layer.pieces[n], counted)})
        made = tuple(segments)
        self._last = _Reported(
            pieces=layer.pieces,
            factor=factor,
            profile=profile,
            segments=made,
            counts=tuple(counts),
            estimated=tuple(estimated),
            size_bytes=size,
            tokens=tokens,
        )
        return _report(layer, offset_chars, made, size, tokens)

    def is_counted(self, layer: Layer, counted: Mapping[str, int]) -> bool:
        """True if every text of a layer is counted. O(those that were not when it was reported), else O(n)."""
        last = self._last
        if last.pieces is layer.pieces:
            return all(_is_known(layer.pieces[number], counted) for number in last.estimated)
        return all(_is_known(piece, counted) for piece in layer.pieces)


def _report(
    layer: Layer, offset_chars: int, segments: tuple[SegmentReport, ...], size: int, tokens: int
) -> LayerReport:
    return LayerReport(
        layer=layer.id,
        offset_chars=offset_chars,
        length_chars=layer.length_chars,
        size_bytes=size,
        tokens_est=tokens,
        sha256=layer.sha256,
        segments=segments,
    )


def _is_known(piece: Piece, counted: Mapping[str, int]) -> bool:
    """True if a piece's text is counted, or will not be: calls and results of tools are estimated by their size."""
    return piece.sha256 in counted or not (piece.wire is AS_TEXT or isinstance(piece.wire, Segment))


def _text_count(piece: Piece, report: SegmentReport, counted: Mapping[str, int]) -> int:
    wire = piece.wire
    if isinstance(wire, AttachmentPart | ReturnedReasoning) or (
        isinstance(wire, ToolResultPart) and wire.attachments
    ):
        return -1
    if not piece.parts:
        return 0
    known = counted.get(piece.sha256)
    return estimate_tokens(report.size_bytes) if known is None else known


def recorded(layers: Sequence[LayerReport]) -> tuple[LayerReport, ...]:
    """The reports as a request's record keeps them: bounded, however long the discussion and the preset.

    Of the turns only the last segment stays (its key says how far the layer went, the layer's digest says
    what was in it); a layer of more than 64 segments keeps none.
    """
    return tuple(replace(report, segments=_recorded_segments(report)) for report in layers)


def _recorded_segments(report: LayerReport) -> tuple[SegmentReport, ...]:
    if report.layer is LayerId.TURNS:
        return report.segments[-1:]
    return report.segments if len(report.segments) <= _RECORDED_SEGMENTS else ()


def _segment_report(
    piece: Piece, counted: Mapping[str, int], factor: float, profile: ModelProfile | None
) -> SegmentReport:
    wire = piece.wire
    if not piece.parts:
        return SegmentReport(
            key=piece.key, sha256=piece.sha256, size_bytes=0, tokens_est=0
        )  # told in its own layer
    if isinstance(wire, Segment):  # most are, of thousands in each request
        size, known = size_bytes(wire.text), counted.get(piece.sha256)
        tokens = scaled(estimate_tokens(size) if known is None else known, factor)
        return SegmentReport(key=piece.key, sha256=piece.sha256, size_bytes=size, tokens_est=tokens)
    if isinstance(wire, AttachmentPart):
        tokens = attachment_tokens(wire, profile.pdf if profile else None, factor)
        return SegmentReport(
            key=piece.key, sha256=piece.sha256, size_bytes=wire.size_bytes, tokens_est=tokens
        )
    size = sum(map(size_bytes, piece.parts))
    known = counted.get(piece.sha256)
    tokens = scaled(estimate_tokens(size) if known is None else known, factor)
    if isinstance(wire, ReturnedReasoning):
        tokens = wire.tokens
    files = wire.attachments if isinstance(wire, ToolResultPart) else ()
    tokens += sum(result_file_tokens(file, profile, factor) for file in files)
    return SegmentReport(
        key=piece.key,
        sha256=piece.sha256,
        size_bytes=size + sum(file.size_bytes for file in files),
        tokens_est=tokens,
    )


# Looking at one file, and at a stack that is not the one shown.


def inspect(state: AppState, path: str) -> Result:
    """Read one file for the structure view, or close it."""
    state = replace(state, context=replace(state.context, inspected=None))
    if not path:
        return state, ()
    project = state.config.project
    return state, (
        InspectOnDisk(
            root=project.root,
            item=FileItem(path=path),
            allowed_roots=project.allowed_roots,
            limits=state.config.settings.files,
            shown=project.policies.shown,
        ),
    )


def measure(state: AppState, asked: MeasureContext) -> Result:
    """Assemble the stack of a discussion whose log is loaded."""
    discussion_id = asked.discussion_id
    if discussion_id not in state.discussions.summaries or discussion_id not in state.discussions.open:
        return state, ()
    return state, (AssembleContext(stack_spec(state, discussion_id), asked.command_id),)


def keep_out(state: AppState, asked: KeepOut) -> Result:
    """Keep a source out of what is recalled for the draft; the stack is put together anew by itself."""
    opened = state.discussions.open.get(asked.discussion_id)
    if opened is None:
        return conclude(
            state, CommandOutcome(command_id=asked.command_id, problem=tr("The discussion is not open."))
        ), ()
    others = tuple(source for source in opened.kept_out if source != asked.source)
    kept_out = (*others, asked.source) if asked.is_out else others
    state = with_open(state, replace(opened, kept_out=kept_out))
    return conclude(state, CommandOutcome(command_id=asked.command_id)), ()
