"""The bench of the embedded model measures what it says, in the form that the suites share."""

from __future__ import annotations

import pytest

from tests.bench import app_embedded


@pytest.mark.model
def test_each_figure_is_of_the_real_model_and_the_barred_ones_have_a_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(app_embedded, "RUNS", 1)
    monkeypatch.setattr(app_embedded, "PREFIX_RULES", 6)
    monkeypatch.setattr(app_embedded, "REPLY_TOKENS", 8)

    rows = {row["name"].removeprefix("embedded, "): row for row in app_embedded.rows()}

    assert 90 < rows["stable prefix"]["value"] < 400
    assert rows["first turn, time to first token"]["value"] > 0
    ratio = rows["second turn / first, time to first token"]
    restarted = rows["next turn after a restart / first, time to first token"]
    cached = rows["second turn, cached / stable prefix"]
    assert (ratio["bar"], restarted["bar"], cached["bar"]) == ("at most 0.1", "at most 0.1", "at least 95")
    for row in (ratio, restarted):
        assert row["value"] > 0
        assert row["holds"] is (row["value"] <= 0.1)
    assert cached["holds"] is (cached["value"] >= 95)
    assert cached["value"] >= 95


def test_two_rounds_never_share_their_prefix() -> None:
    first, second = (app_embedded._request(salt, ("Hi.",)) for salt in (0, 1))

    assert first.system[0].text != second.system[0].text
    assert sum(len(segment.text) for segment in first.system) > 4_000
