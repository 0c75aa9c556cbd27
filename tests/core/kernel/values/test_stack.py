"""The stack's values: what outside programs are told of a layer."""

from __future__ import annotations

from core.kernel.values.stack import LayerId, LayerReport, SegmentReport, layer_data


def test_a_layer_is_told_by_number_title_place_and_segments() -> None:
    segment = SegmentReport("6/AGENTS.md", "bb", size_bytes=9, tokens_est=2)
    layer = LayerReport(LayerId.PROJECT, 100, 8, 9, 2, "aa", (segment,))
    assert layer_data(layer) == {
        "layer": 6,
        "title": "Project context",
        "offset_chars": 100,
        "length_chars": 8,
        "size_bytes": 9,
        "tokens_est": 2,
        "sha256": "aa",
        "segments": [{"key": "6/AGENTS.md", "sha256": "bb", "size_bytes": 9, "tokens_est": 2}],
    }
