"""What a reply used, in words."""

from __future__ import annotations

import pytest

from core.kernel import language
from core.kernel.values.usage import Usage
from panels.discussion.comparison_panel import speed_line
from panels.discussion.message_rows import usage_details, usage_line


def test_usage_that_is_not_known_is_never_shown_as_zero() -> None:
    assert "0" not in usage_line(Usage())


def test_a_free_reply_of_unknown_tokens_shows_no_figure_at_all() -> None:
    assert usage_line(Usage(cost_usd=0.0)) == "tokens not reported"
    assert usage_line(Usage(output_tokens=8, cost_usd=0.0)) == "8 tok · $0"


def test_the_line_of_a_reply_names_what_the_cache_gave() -> None:
    used = Usage(output_tokens=512, cost_usd=0.011, cache_read_tokens=11_900)

    assert usage_line(used) == "512 tok · $0.011 · cached 11.9k"


def test_the_details_of_a_reply_hold_every_figure() -> None:
    used = Usage(input_tokens=10, output_tokens=5, time_to_first_token_s=0.5, duration_s=2, request_id="req_9",
                 miss_reason="prefix changed")  # fmt: skip

    details = usage_details(used)

    for figure in ("sent: 10", "reply: 5", "read from cache: not reported", "cost: price unknown",
                   "first token after: 0.5 s", "whole reply after: 2.0 s", "request: req_9",
                   "cache miss: prefix changed"):  # fmt: skip
        assert figure in details.splitlines()


def test_each_figure_is_said_in_the_language_that_is_spoken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language._SPOKEN, "translated", lambda text: f"<{text}>")
    used = Usage(input_tokens=10, output_tokens=5, time_to_first_token_s=0.5, duration_s=2, is_estimate=True)

    assert all(line.startswith("<") for line in usage_details(used).splitlines())
    assert speed_line(used).startswith("<")
