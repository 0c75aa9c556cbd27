"""Looks for model servers on this machine, on the ports that they usually have."""

from __future__ import annotations

import http.client
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from core.base.json_text import read_json
from core.values.provider import ProviderKind
from core.values.settings import ServerSettings

PROBE_TIMEOUT_S = 0.5
_MOST_BYTES = 4_000_000


class Candidate(msgspec.Struct, frozen=True):
    """A server that may be there. Source: the default ports in each project's documents (read 2026-11-20)."""

    id: str
    label: str
    port: int


CANDIDATES = (
    Candidate("ollama", "Ollama", 11434),
    Candidate("lm-studio", "LM Studio", 1234),
    Candidate("llama-cpp", "llama.cpp", 8080),
    Candidate("vllm", "vLLM", 8000),
)
_OWNERS = {"library": "ollama", "organization_owner": "lm-studio", "llamacpp": "llama-cpp", "vllm": "vllm"}
"""Owner that a server names for its models: it tells servers apart where one has another's port."""


def find_local_servers(
    candidates: Sequence[Candidate] = CANDIDATES, timeout_s: float = PROBE_TIMEOUT_S
) -> tuple[ServerSettings, ...]:
    """The servers that answer now, ready to be saved, in the order of `candidates`.

    All ports are asked at once, past any proxy; nothing is sent but `GET /v1/models`.

    Args:
        timeout_s: longest wait for each; the whole takes no longer than about that.
    """
    with ThreadPoolExecutor(len(candidates) or 1, thread_name_prefix="find-server") as pool:
        found = pool.map(lambda candidate: _probe(candidate, timeout_s), candidates)
        servers = {server.id: server for server in reversed([s for s in found if s is not None])}
    return tuple(reversed(servers.values()))


def _probe(candidate: Candidate, timeout_s: float) -> ServerSettings | None:
    connection = http.client.HTTPConnection("127.0.0.1", candidate.port, timeout=timeout_s)
    try:
        connection.request("GET", "/v1/models", headers={"Accept": "application/json"})
        response = connection.getresponse()
        body = response.read(_MOST_BYTES)
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    found = _identify(candidate, response.status, response.getheader("Server", ""), body)
    if found is None:
        return None
    return ServerSettings(
        id=found.id,
        kind=ProviderKind.COMPATIBLE.value,
        label=found.label,
        base_url=f"http://127.0.0.1:{candidate.port}/v1",
    )


def _identify(candidate: Candidate, status: int, server: str, body: bytes) -> Candidate | None:
    """Name of the server that answered, None for what lists no models (8000 and 8080 are popular ports)."""
    answer = _object(body)
    if status in {401, 403} and "error" in answer:
        return CANDIDATES[2] if "llama.cpp" in server else candidate if candidate.id == "vllm" else None
    models = answer.get("data")
    if status != 200 or not isinstance(models, list):
        return None
    owner = next((m.get("owned_by") for m in models if isinstance(m, dict)), None)
    known = _OWNERS.get(owner) if isinstance(owner, str) else None
    return next((c for c in CANDIDATES if c.id == known), candidate)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = read_json(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
