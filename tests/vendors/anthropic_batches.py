"""Message Batches on loopback, by the vendor's rules. It knows nothing of the program.

A request is checked when the batch is worked off, not when it is sent; results come in any order; a batch can be
deleted only once it has ended. Source: platform.claude.com "Batch processing", "Message Batches" (read 2026-11).
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.vendors.anthropic_rules import RefusedError
from tests.vendors.loopback import Captured, Json, Reply, json_reply

ROOT = "/v1/messages/batches"
MOST_REQUESTS = 100_000
LIVES = timedelta(hours=24)
_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass
class Batch:
    """A batch at the vendor. `results`: rows of its file, once it has ended."""

    id: str
    requests: list[Json]
    created_at: datetime
    status: str = "in_progress"
    ended_at: datetime | None = None
    cancelled_at: datetime | None = None
    results: list[Json] = field(default_factory=list)

    @property
    def counts(self) -> Json:
        names = {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
        if self.status != "ended":
            return {**names, "processing": len(self.requests)}
        kinds = {row["custom_id"]: row["result"]["type"] for row in self.results}
        for kind in kinds.values():
            names[kind] += 1
        return names


class AnthropicBatchDesk:
    """The vendor's desk for batches. Nothing ends before the test says `finish`."""

    def __init__(
        self,
        url: str,
        next_reply: Callable[[], Any],
        message: Callable[[Json, Any], Json],
        clock: Callable[[], float],
    ) -> None:
        self._url, self._next_reply, self._message, self._clock = url, next_reply, message, clock
        self._lock = threading.Lock()
        self.batches: dict[str, Batch] = {}
        self.made = 0
        self.deleted: list[str] = []
        self.refuses: tuple[int, str, str] | None = None
        self.rows_lost = self.bytes_lost = 0  # of each download of results, on its way

    @property
    def last(self) -> Batch:
        return list(self.batches.values())[-1]

    def finish(
        self,
        batch: Batch | None = None,
        *,
        fates: Sequence[str] = (),
        is_reversed: bool = True,
        is_twice: bool = False,
    ) -> None:
        """Work a batch off (the last one).

        Args:
            fates: of the first requests: "succeeded", "errored", "canceled", "expired"; of the others: succeeded.
            is_twice: each result comes twice, the second time with other words.
        """
        done = batch or self.last
        for number, asked in enumerate(done.requests):
            fate = fates[number] if number < len(fates) else "succeeded"
            if done.status == "canceling" and number >= len(fates):
                fate = "canceled"
            row = {"custom_id": asked["custom_id"], "result": self._result(fate, asked["params"])}
            done.results.append(row)
        if is_twice:
            done.results += [
                {**row, "result": self._result("succeeded", asked["params"])}
                for row, asked in zip(list(done.results), done.requests, strict=True)
            ]
        if is_reversed:
            done.results = [
                *reversed(done.results[: len(done.requests)]),
                *done.results[len(done.requests) :],
            ]
        done.status, done.ended_at = "ended", self._now()

    def answer(self, captured: Captured) -> Reply:
        """Answer a request below `/v1/messages/batches`. Raises RefusedError."""
        parts = captured.path.removeprefix(ROOT).strip("/").split("/")
        with self._lock:
            match captured.method, parts:
                case "POST", [""]:
                    return self._create(json.loads(captured.body))
                case "GET", [""]:
                    return self._list(captured)
                case "GET", [name]:
                    return json_reply(200, self._shape(self._known(name)))
                case "DELETE", [name]:
                    return self._delete(name)
                case "POST", [name, "cancel"]:
                    return self._cancel(name)
                case "GET", [name, "results"]:
                    return self._results(name)
                case _:
                    raise RefusedError(404, "not_found_error", "Not found")

    def _create(self, body: Json) -> Reply:
        if self.refuses is not None:
            raise RefusedError(*self.refuses)
        requests = body.get("requests")
        if not isinstance(requests, list) or not requests or len(requests) > MOST_REQUESTS:
            raise RefusedError(400, "invalid_request_error", "requests: 1 to 100000 are needed")
        names = [one.get("custom_id") for one in requests]
        if not all(isinstance(name, str) and _CUSTOM_ID.fullmatch(name) for name in names):
            raise RefusedError(400, "invalid_request_error", "requests.custom_id: does not match the pattern")
        if len(set(names)) != len(names):
            raise RefusedError(400, "invalid_request_error", "requests.custom_id: must be unique")
        if any(set(one) != {"custom_id", "params"} or "stream" in one["params"] for one in requests):
            raise RefusedError(400, "invalid_request_error", "requests: Extra inputs are not permitted")
        self.made += 1
        batch = Batch(f"msgbatch_{self.made:08d}", requests, self._now())
        self.batches[batch.id] = batch
        return json_reply(200, self._shape(batch))

    def _list(self, captured: Captured) -> Reply:
        limit = int(captured.query.get("limit", ("20",))[0])
        newest = list(reversed(self.batches.values()))
        after = captured.query.get("after_id", ("",))[0]
        start = [one.id for one in newest].index(after) + 1 if after else 0
        page = newest[start : start + limit]
        return json_reply(
            200,
            {
                "data": [self._shape(one) for one in page],
                "first_id": page[0].id if page else None,
                "last_id": page[-1].id if page else None,
                "has_more": start + limit < len(newest),
            },
        )

    def _delete(self, name: str) -> Reply:
        if self._known(name).status != "ended":
            raise RefusedError(400, "invalid_request_error", "a batch in progress cannot be deleted")
        del self.batches[name]
        self.deleted.append(name)
        return json_reply(200, {"id": name, "type": "message_batch_deleted"})

    def _cancel(self, name: str) -> Reply:
        batch = self._known(name)
        if batch.status == "ended":
            raise RefusedError(400, "invalid_request_error", "the batch has ended")
        batch.status, batch.cancelled_at = "canceling", self._now()
        return json_reply(200, self._shape(batch))

    def _results(self, name: str) -> Reply:
        batch = self._known(name)
        if batch.status != "ended":
            raise RefusedError(404, "not_found_error", "no results yet")
        rows = batch.results[: len(batch.results) - self.rows_lost]
        lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
        return Reply(200, lines[: len(lines) - self.bytes_lost], {"content-type": "application/x-jsonl"})

    def _result(self, fate: str, params: Json) -> Json:
        if fate == "succeeded":
            try:
                return {"type": fate, "message": self._message(params, self._next_reply())}
            except RefusedError as error:
                return _errored(error.kind, str(error))
        return _errored("api_error", "Internal server error") if fate == "errored" else {"type": fate}

    def _known(self, name: str) -> Batch:
        if name not in self.batches:
            raise RefusedError(404, "not_found_error", f"no batch {name}")
        return self.batches[name]

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)

    def _shape(self, batch: Batch) -> Json:
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": batch.status,
            "request_counts": batch.counts,
            "created_at": batch.created_at.isoformat(),
            "expires_at": (batch.created_at + LIVES).isoformat(),
            "ended_at": batch.ended_at and batch.ended_at.isoformat(),
            "cancel_initiated_at": batch.cancelled_at and batch.cancelled_at.isoformat(),
            "archived_at": None,
            "results_url": f"{self._url}{ROOT}/{batch.id}/results" if batch.status == "ended" else None,
        }


def _errored(kind: str, message: str) -> Json:
    fault = {"type": "error", "error": {"type": kind, "message": message}, "request_id": None}
    return {"type": "errored", "error": fault}
