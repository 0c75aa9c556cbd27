"""Report on a layer without its text: offsets, sizes, digests and tokens of its segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from core.base.text import size_bytes
from core.base.tokens import estimate_tokens, scaled
from core.context.pieces import Layer, Piece
from core.providers.attachments import attachment_tokens
from core.values.messages import AttachmentPart, ToolResultPart
from core.values.provider import PdfForm
from core.values.stack import LayerId, LayerReport, Segment, SegmentReport

_RECORDED_SEGMENTS = 64


def layer_report(
    layer: Layer,
    offset_chars: int,
    counted: Mapping[str, int],
    factor: float,
    pdf: PdfForm | None = None,
) -> LayerReport:
    """Report one layer. Args as for `AggregateStack.report`; O(n) in pieces."""
    segments = tuple(_segment_report(piece, counted, factor, pdf) for piece in layer.pieces)
    return LayerReport(
        layer=layer.id,
        offset_chars=offset_chars,
        length_chars=layer.length_chars,
        size_bytes=sum(segment.size_bytes for segment in segments),
        tokens_est=sum(segment.tokens_est for segment in segments),
        sha256=layer.sha256,
        segments=segments,
    )


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
    piece: Piece, counted: Mapping[str, int], factor: float, pdf: PdfForm | None
) -> SegmentReport:
    wire = piece.wire
    if not piece.parts:
        return SegmentReport(piece.key, piece.sha256, 0, 0)  # told in its own layer
    if isinstance(wire, Segment):  # most are, of thousands in each request
        size, known = size_bytes(wire.text), counted.get(piece.sha256)
        tokens = scaled(estimate_tokens(size) if known is None else known, factor)
        return SegmentReport(piece.key, piece.sha256, size, tokens)
    if isinstance(wire, AttachmentPart):
        tokens = attachment_tokens(wire, pdf, factor)
        return SegmentReport(piece.key, piece.sha256, wire.size_bytes, tokens)
    size = sum(map(size_bytes, piece.parts))
    known = counted.get(piece.sha256)
    tokens = scaled(estimate_tokens(size) if known is None else known, factor)
    files = wire.attachments if isinstance(wire, ToolResultPart) else ()
    tokens += sum(attachment_tokens(file, pdf, factor) for file in files)
    return SegmentReport(piece.key, piece.sha256, size + sum(file.size_bytes for file in files), tokens)
