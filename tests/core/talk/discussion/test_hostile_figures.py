"""Figures of usage in a log that are none: the line is passed over and said, no sum holds them, the list stays whole."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from core.kernel import paths
from core.kernel.ids import make_id
from core.kernel.values.records import UsageRecord
from core.kernel.values.usage import MOST_TOKENS, MOST_USD, Upkeep, Usage, UsageKind, add_usage
from core.talk.discussion import discussion_store
from core.talk.discussion.catalog import Catalog
from core.talk.discussion.log import paid_since
from core.talk.discussion.log_codec import encode
from tests.core.kernel.faults import made
from tests.core.records import ID, NOW, reply, used, user

FIELDS = {
    field: [{}, [], "7", True, -1, float("nan"), float("inf"), 10**400, 1e308, -(10**30)]
    for field in ("input_tokens", "output_tokens", "cache_read_tokens", "cost_usd", "duration_s")
}


def _line(usage: dict[str, Any]) -> bytes:
    row = json.loads(encode(used("odd", "b")))
    return (json.dumps({**row, "usage": {**row["usage"], **usage}}) + "\n").encode()


@pytest.mark.parametrize("field", FIELDS)
def test_a_log_with_figures_that_are_none_is_read_and_its_sums_are_of_the_others(
    tmp_path: Path, field: str
) -> None:
    for day, value in enumerate(FIELDS[field]):
        chosen = make_id(NOW + timedelta(days=day), "abc")
        made(tmp_path, [user("a"), reply("b"), used("u", "b")], chosen)
        log = paths.log_file(tmp_path, chosen)
        log.write_bytes(log.read_bytes() + _line({field: value}) + encode(user("z", "after it")))

        found = discussion_store.load(tmp_path, chosen, NOW).discussion

        first, other = used("u", "b").usage, "output_tokens" if field != "output_tokens" else "input_tokens"
        assert getattr(found.usage, field) == (None if field == "duration_s" else getattr(first, field)), (
            value
        )
        assert found.messages[-1].text == "after it", value
        is_said = any("line 4" in said.lower() for said in found.repaired)
        is_unknown = getattr(found.usage, other) == 2 * getattr(
            first, other
        )  # NaN: that figure alone is not known
        assert is_said or is_unknown, value
        assert all(0 <= paid.usd <= MOST_USD for paid in paid_since(log, NOW).values())

    catalog = Catalog(tmp_path, tmp_path / "c.sqlite", may_start_child=False)
    rows = [row for step in catalog.refresh() for row in step.summaries]
    catalog.close()
    assert len(rows) == len(FIELDS[field])


def test_sums_of_the_largest_figures_can_be_read_back(tmp_path: Path) -> None:
    """Two records at the bound made a sum that the index could not read: the list of discussions was gone with it."""
    most = Usage(MOST_TOKENS, MOST_TOKENS, MOST_TOKENS, cost_usd=MOST_USD)
    made(tmp_path, [user("a"), reply("b"), *(UsageRecord(f"u{n}", NOW, "b", most) for n in range(3))])
    made(tmp_path, [UsageRecord(f"r{n}", NOW, UsageKind.RENT, most) for n in range(3)], make_id(NOW, "rents"))

    catalog = Catalog(tmp_path, tmp_path / "c.sqlite", may_start_child=False)
    rows = {row.meta.id: row for step in catalog.refresh() for row in step.summaries}
    for chosen in rows:
        log = paths.log_file(tmp_path, chosen)
        log.write_bytes(log.read_bytes() + encode(user("z")))
        catalog.update(chosen)
    again = {row.meta.id: row for row in catalog.load_summaries()}
    catalog.close()

    assert len(again) == 2
    assert again[ID].usage == add_usage(most, most) == most
    (rented,) = (row.upkeep for chosen, row in again.items() if chosen != ID)
    assert rented == Upkeep(usage=most, rent_usd=MOST_USD)
