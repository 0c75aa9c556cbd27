"""OpenAI's files and batches on loopback, by the vendor's rules. It knows nothing of the program.

A batch is checked after it was made (`validating`): a wrong file makes it `failed`. Answers and errors are two files;
a file has no order. Source: platform.openai.com "Batch API", "Files" (read 2026-11).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from email.parser import BytesParser
from typing import Any

from tests.vendors.loopback import Captured, Reply, json_reply
from tests.vendors.openai_rules import Json, RefusedError

ENDPOINTS = {"/v1/responses", "/v1/chat/completions", "/v1/embeddings"}
MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000
LIVES_S = 24 * 3600


@dataclass
class File:
    """A stored file."""

    id: str
    name: str
    data: bytes
    at: int


@dataclass
class Batch:
    """A batch at the vendor."""

    id: str
    input_file_id: str
    endpoint: str
    metadata: Json
    at: int
    status: str = "validating"
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: list[Json] = field(default_factory=list)
    counts: Json = field(default_factory=lambda: {"total": 0, "completed": 0, "failed": 0})


class OpenAiBatchDesk:
    """The vendor's desk for batches. Nothing ends before the test says `finish`."""

    def __init__(
        self,
        next_reply: Callable[[], Any],
        respond: Callable[[Json, Any], Json],
        clock: Callable[[], float],
    ) -> None:
        self._next_reply, self._respond, self._clock = next_reply, respond, clock
        self._lock = threading.Lock()
        self.files: dict[str, File] = {}
        self.batches: dict[str, Batch] = {}
        self._count = 0
        self.bytes_lost = 0  # of each download of a file, on its way

    @property
    def last(self) -> Batch:
        return list(self.batches.values())[-1]

    def requests(self, batch: Batch | None = None) -> list[Json]:
        """What a batch asks (the last one)."""
        return [json.loads(line) for line in self.files[(batch or self.last).input_file_id].data.splitlines()]

    def finish(self, *, fates: Sequence[str] = (), status: str = "completed", is_twice: bool = False) -> None:
        """Work the last batch off.

        Args:
            fates: of the first requests: "succeeded", "errored", "batch_expired", "batch_cancelled"; the others succeed.
        """
        batch = self.last
        good, bad = list[Json](), list[Json]()
        for number, asked in enumerate(self.requests(batch)):
            fate = fates[number] if number < len(fates) else "succeeded"
            row = self._row(asked, fate)
            (good if row["response"] and row["response"]["status_code"] == 200 else bad).append(row)
        good.reverse()
        batch.output_file_id = (
            self._stored("output.jsonl", _lines(good * 2 if is_twice else good)) if good else None
        )
        batch.error_file_id = self._stored("errors.jsonl", _lines(bad)) if bad else None
        batch.counts = {"total": len(good) + len(bad), "completed": len(good), "failed": len(bad)}
        batch.status = status

    def fail(self, message: str) -> None:
        """Let the last batch fail its check."""
        self.last.status = "failed"
        self.last.errors = [{"code": "token_limit_exceeded", "message": message, "param": None, "line": None}]

    def answer(self, captured: Captured) -> Reply:
        """Answer a request below `/v1/files` or `/v1/batches`. Raises RefusedError."""
        room, *parts = captured.path.removeprefix("/v1/").split("/")
        with self._lock:
            match captured.method, room, parts:
                case "POST", "files", []:
                    return self._upload(captured)
                case "GET", "files", []:
                    return _listed([_file(one) for one in reversed(self.files.values())])
                case "GET", "files", [name, "content"]:
                    data = self._file(name).data
                    return Reply(
                        200, data[: len(data) - self.bytes_lost], {"content-type": "application/octet-stream"}
                    )
                case "DELETE", "files", [name]:
                    del self.files[self._file(name).id]
                    return json_reply(200, {"id": name, "object": "file", "deleted": True})
                case "POST", "batches", []:
                    return self._create(captured.json)
                case "GET", "batches", []:
                    return _listed([_shape(one) for one in reversed(self.batches.values())])
                case "GET", "batches", [name]:
                    return json_reply(200, _shape(self._known(name)))
                case "POST", "batches", [name, "cancel"]:
                    self._known(name).status = "cancelling"
                    return json_reply(200, _shape(self._known(name)))
                case _:
                    raise RefusedError(404, f"Invalid URL ({captured.method} {captured.path})")

    def _upload(self, captured: Captured) -> Reply:
        head = f"content-type: {captured.headers['content-type']}\r\n\r\n".encode()
        fields: dict[str, Any] = {}
        name = ""
        for part in BytesParser().parsebytes(head + captured.body).get_payload():
            assert not isinstance(part, str)
            field_name = part.get_param("name", header="content-disposition")
            name = part.get_filename() or name
            fields[str(field_name)] = part.get_payload(decode=True)
        if fields.get("purpose") != b"batch" or not name.endswith(".jsonl"):
            raise RefusedError(400, "Invalid file format for Batch API. Must be .jsonl")
        file_id = self._stored(name, fields["file"])
        return json_reply(200, _file(self.files[file_id]))

    def _create(self, body: Json) -> Reply:
        if body.get("completion_window") != "24h" or body.get("endpoint") not in ENDPOINTS:
            raise RefusedError(400, "Invalid value for completion_window or endpoint")
        metadata = body.get("metadata") or {}
        if len(metadata) > 16 or any(len(k) > 64 or len(v) > 512 for k, v in metadata.items()):
            raise RefusedError(400, "Invalid metadata", param="metadata")
        file = self._file(body["input_file_id"])
        batch = Batch(self._next("batch"), file.id, body["endpoint"], metadata, int(self._clock()))
        self.batches[batch.id] = batch
        reply = json_reply(200, _shape(batch))
        self._check(batch, file)
        return reply

    def _check(self, batch: Batch, file: File) -> None:
        """The check that follows once a batch is made."""
        rows = [json.loads(line) for line in file.data.splitlines()]
        names = [row.get("custom_id") for row in rows]
        is_wrong = len(set(names)) != len(names) or any(
            row.get("method") != "POST" or row.get("url") != batch.endpoint for row in rows
        )
        models = {row["body"].get("model") for row in rows}
        if is_wrong or len(rows) > MOST_REQUESTS or len(file.data) > MOST_BYTES or len(models) > 1:
            batch.status = "failed"
            batch.errors = [
                {"code": "invalid_file", "message": "The file is invalid", "param": None, "line": 1}
            ]
        else:
            batch.status = "in_progress"

    def _row(self, asked: Json, fate: str) -> Json:
        row = {
            "id": self._next("batch_req"),
            "custom_id": asked["custom_id"],
            "response": None,
            "error": None,
        }
        if fate.startswith("batch_"):
            message = "This request could not be executed before the completion window expired."
            return {**row, "error": {"code": fate, "message": message}}
        status = 200
        if fate == "errored":
            status, body = 500, RefusedError(500, "The server had an error", kind="server_error").body
        else:
            try:
                body = self._respond(asked["body"], self._next_reply())
            except RefusedError as error:
                status, body = error.status, error.body
        return {**row, "response": {"status_code": status, "request_id": self._next("req"), "body": body}}

    def _stored(self, name: str, data: bytes) -> str:
        file = File(self._next("file"), name, data, int(self._clock()))
        self.files[file.id] = file
        return file.id

    def _file(self, name: str) -> File:
        if name not in self.files:
            raise RefusedError(404, f"No such File object: {name}")
        return self.files[name]

    def _known(self, name: str) -> Batch:
        if name not in self.batches:
            raise RefusedError(404, f"No batch found with id '{name}'.")
        return self.batches[name]

    def _next(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count:08d}"


def _lines(rows: list[Json]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _listed(data: list[Json]) -> Reply:
    ends = {"first_id": data[0]["id"] if data else None, "last_id": data[-1]["id"] if data else None}
    return json_reply(200, {"object": "list", "data": data, "has_more": False, **ends})


def _file(file: File) -> Json:
    return {
        "id": file.id,
        "object": "file",
        "bytes": len(file.data),
        "created_at": file.at,
        "filename": file.name,
        "purpose": "batch",
        "status": "processed",
    }


def _shape(batch: Batch) -> Json:
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.endpoint,
        "completion_window": "24h",
        "input_file_id": batch.input_file_id,
        "output_file_id": batch.output_file_id,
        "error_file_id": batch.error_file_id,
        "status": batch.status,
        "created_at": batch.at,
        "expires_at": batch.at + LIVES_S,
        "metadata": batch.metadata,
        "request_counts": batch.counts,
        "errors": {"object": "list", "data": batch.errors} if batch.errors else None,
    }
