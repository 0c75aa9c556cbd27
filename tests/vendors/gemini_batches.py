"""Gemini's batches on loopback, inline, by the vendor's rules. It knows nothing of the program.

Source: ai.google.dev "Batch API" (read 2026-11): 20 MB inline, 48 hours until a batch expires, answers in its output.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.vendors.gemini_rules import RefusedError
from tests.vendors.loopback import Captured, Json, Reply, json_reply

MOST_BYTES = 20_000_000


@dataclass
class Batch:
    """A batch at the vendor."""

    name: str
    model: str
    display_name: str
    requests: list[Json]
    at: datetime
    state: str = "BATCH_STATE_PENDING"
    responses: list[Json] = field(default_factory=list)


class GeminiBatchDesk:
    """The vendor's desk for batches. Nothing ends before the test says `finish`."""

    def __init__(self, respond: Callable[[Json, str], Json], clock: Callable[[], float]) -> None:
        self._respond, self._clock = respond, clock
        self._lock = threading.Lock()
        self.batches: dict[str, Batch] = {}
        self.made = 0
        self.rows_lost = 0  # of each answer with responses, on its way

    @property
    def last(self) -> Batch:
        return list(self.batches.values())[-1]

    def finish(self, *, fates: Sequence[str] = (), state: str = "SUCCEEDED", is_twice: bool = False) -> None:
        """Work the last batch off.

        Args:
            fates: of the first requests: "succeeded" or "errored"; the others succeed. An expired batch has no answers.
        """
        batch = self.last
        if state == "SUCCEEDED":
            for number, asked in enumerate(batch.requests):
                fate = fates[number] if number < len(fates) else "succeeded"
                batch.responses.append({"metadata": asked["metadata"], **self._row(asked, batch.model, fate)})
            batch.responses = batch.responses[::-1] * (2 if is_twice else 1)
        batch.state = f"BATCH_STATE_{state}"

    def answer(self, captured: Captured) -> Reply:
        """Answer a request about batches. Raises RefusedError."""
        path = captured.path.split("/", 2)[2]
        name, _, action = path.partition(":")
        with self._lock:
            match captured.method, action:
                case "POST", "batchGenerateContent":
                    return self._create(captured, name.removeprefix("models/"))
                case "GET", "" if name == "batches":
                    return json_reply(200, {"operations": [_shape(one) for one in self.batches.values()]})
                case "GET", "":
                    return json_reply(200, _shape(self._known(name), self.rows_lost))
                case "DELETE", "":
                    del self.batches[self._known(name).name]
                    return json_reply(200, {})
                case "POST", "cancel":
                    self._known(name).state = "BATCH_STATE_CANCELLED"
                    return json_reply(200, {})
                case _:
                    raise RefusedError(404, "NOT_FOUND", "Not Found")

    def _create(self, captured: Captured, model: str) -> Reply:
        if len(captured.body) > MOST_BYTES:
            raise RefusedError(
                400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."
            )
        asked = json.loads(captured.body)["batch"]
        requests = asked["inputConfig"]["requests"]["requests"]
        if not requests or any(set(one) - {"request", "metadata"} for one in requests):
            raise RefusedError(400, "INVALID_ARGUMENT", "Invalid inlined requests")
        self.made += 1
        at = datetime.fromtimestamp(self._clock(), UTC)
        batch = Batch(f"batches/b{self.made:08d}", model, asked.get("displayName", ""), requests, at)
        self.batches[batch.name] = batch
        return json_reply(200, _shape(batch))

    def _row(self, asked: Json, model: str, fate: str) -> Json:
        if fate == "errored":
            return {"error": {"code": 13, "message": "An internal error has occurred"}}
        try:
            return {"response": self._respond(asked["request"], model)}
        except RefusedError as error:
            return {"error": {"code": 3, "message": str(error)}}

    def _known(self, name: str) -> Batch:
        if name not in self.batches:
            raise RefusedError(404, "NOT_FOUND", f"Requested entity was not found: {name}")
        return self.batches[name]


def _shape(batch: Batch, rows_lost: int = 0) -> Json:
    """An operation, as this interface gives a batch."""
    metadata: Json = {
        "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
        "name": batch.name,
        "model": f"models/{batch.model}",
        "displayName": batch.display_name,
        "state": batch.state,
        "createTime": batch.at.isoformat(),
    }
    if batch.responses:
        rows = batch.responses[: len(batch.responses) - rows_lost]
        metadata["output"] = {"inlinedResponses": {"inlinedResponses": rows}}
    return {"name": batch.name, "metadata": metadata}
