"""Model lists of servers in `/v1/models`, each in fields of its own."""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import read_json
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.provider import Effort, ModelProfile, ProviderKind
from core.kernel.values.settings import ServerSettings
from core.services.providers.door import day_of, figure, text_of
from core.services.providers.server_words import page_title, words_of

_WINDOW_FIELDS = (
    "loaded_context_length",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "context_size",
    "max_input_tokens",
    "max_context_tokens",
    "max_sequence_length",
    "max_context_window_tokens",
    "max_context",
    "availableContextTokens",
    "max_position_embeddings",
    "n_ctx",
    "num_ctx",
    "n_ctx_train",
)
"""LM Studio (as loaded), vLLM, OpenRouter and Together, Groq, Mistral and LM Studio (at most), Novita, LiteLLM, GitHub Copilot,
ArliAI, Venice, mlx, llama.cpp (what it was trained for, where it does not say more), others."""

_LISTS = ("data", "models", "result", "results", "model_list", "items", "list", "resources", "endpoints", "modelSummaries")  # fmt: skip
"""Keys under which servers put their list. `resources`: watsonx; `endpoints`: Databricks; `modelSummaries`: Bedrock."""

_NAMES = ("id", "model", "model_id", "name", "model_name", "slug", "key", "modelId", "modelName")
"""Names of a model, as servers spell the field."""
_IS_NUMBER = late(r"\d+\Z|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z")
"""A number of a store of models, where the server takes the name: Cloudflare."""

_OUTPUT_FIELDS = ("max_completion_tokens", "max_output_tokens")
_END_FIELDS = (
    "shutdown_date",
    "retires_at",
    "expiration_date",
    "deprecation",
    "deprecation_date",
    "sunset_date",
)
"""OpenAI's and Anthropic's, OpenRouter's, Mistral's, LiteLLM's, others: the day from which a model may not answer."""
_EFFORTS = (Effort.LOW, Effort.MEDIUM, Effort.HIGH)


def listed_entries(answer: object, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Entries of a list of models, each with an `id`: a list of objects or of names, bare or under one or two keys."""
    if isinstance(answer, dict):
        inner = _inner_list(answer, is_whole=not depth)
        if inner is not None and depth < _DEEPEST:
            yield from listed_entries(inner, depth + 1)
        elif depth and answer and all(isinstance(value, dict) for value in answer.values()):
            yield from ({"id": name, **value} for name, value in answer.items())
        elif answer.get("object") == "model":
            yield from listed_entries([answer], depth)
        return
    for entry in answer if isinstance(answer, list) else ():
        if isinstance(entry, str) and entry:
            yield {"id": entry}
        elif isinstance(entry, dict) and depth < _DEEPEST and isinstance(entry.get("models"), list):
            yield from listed_entries(entry["models"], depth + 1)  # a group of models: each of a provider
        elif isinstance(entry, dict):
            named = [found for key in _NAMES if (found := text_of(entry.get(key)))]
            name = next((one for one in named if not _IS_NUMBER.match(one)), named[0] if named else "")
            if name:
                yield {**entry, "id": name}


_DEEPEST = 3


def _inner_list(answer: Mapping[str, Any], *, is_whole: bool) -> object:
    """The list of an answer, or what wraps it: under a key of the table, one that ends in "models", or, of a whole answer, one whose
    value has such a key.
    """
    known = (answer[name] for name in _LISTS if isinstance(answer.get(name), list | dict))
    named = (one for name, one in answer.items() if name.lower().endswith("models") and isinstance(one, list))
    several = answer.values() if is_whole else ()
    around = (one for one in several if isinstance(one, dict) and not one.keys().isdisjoint(_LISTS))
    return next(chain(known, named, around), None)


def no_list(answer: object) -> str:
    """Words for the thing that came in place of a list of models; empty for a list that is empty."""
    if isinstance(answer, list):
        return ""
    if isinstance(answer, dict) and (
        answer.get("object") in {"list", "model"}
        or any(isinstance(answer.get(name), list) for name in _LISTS)
    ):
        return ""
    if isinstance(answer, str) and answer.lstrip().startswith("<"):
        return tr("a web page came instead of the list of models: {answer}", answer=page_title(answer))
    is_said = isinstance(answer, dict) or (
        isinstance(answer, str) and not answer.lstrip().startswith(("{", "["))
    )
    said = words_of(answer).message if is_said else ""
    return tr("no list of models came: {answer}", answer=said) if said else tr("no list of models came")


def listed_profile(provider: str, entry: Mapping[str, Any]) -> ModelProfile:
    """The profile that an entry of a server's list amounts to; what it does not say stays open.

    Source: the servers' documents: vLLM `ModelCard`, llama.cpp server README (`meta`), OpenRouter "Models", Groq
    "List models", Mistral "List models", LM Studio REST API (read 2026-11-20).
    """
    takes_reasoning = "reasoning" in _texts(entry.get("supported_parameters"))
    return ModelProfile(
        provider=provider,
        id=text_of(entry.get("id")),
        label=text_of(entry.get("name")),
        context_tokens=_window(entry),
        max_output_tokens=_first_number(_places(entry), _OUTPUT_FIELDS),
        efforts=_EFFORTS if takes_reasoning else (),
        thinking="effort" if takes_reasoning else "",
        takes_images=_takes_images(entry),
        from_server=True,
        takes_cache_prompt=is_llama_cpp(entry),
        ends_on=next((day for name in _END_FIELDS if (day := day_of(entry.get(name)))), ""),
    )


def is_llama_cpp(entry: Mapping[str, Any]) -> bool:
    """True if an entry is of a llama.cpp server, which honours `cache_prompt`. Source: its README (read 2026-11-20)."""
    return entry.get("owned_by") == "llamacpp"


def ollama_profile(profile: ModelProfile, answer: object) -> ModelProfile:
    """Add what Ollama's `/api/show` says: the window of the weights, and what the model can do.

    Source: Ollama API, "Show model information" (read 2026-11-20).
    """
    if not isinstance(answer, dict):
        return profile
    info = _mapping(answer.get("model_info"))
    windows = [n for key, value in info.items() if key.endswith(".context_length") and (n := _number(value))]
    able = _texts(answer.get("capabilities"))
    thinks = "thinking" in able
    return replace(
        profile,
        context_tokens=_set_window(answer) or (windows[0] if windows else profile.context_tokens),
        takes_images=profile.takes_images or "vision" in able,
        efforts=_EFFORTS if thinks else profile.efforts,
        thinking="effort" if thinks else profile.thinking,
    )


def _set_window(answer: Mapping[str, Any]) -> int | None:
    """`num_ctx` of the model's own parameters, one a line: what it is really loaded with."""
    for line in text_of(answer.get("parameters")).splitlines():
        name, _, value = line.partition(" ")
        if name == "num_ctx" and value.strip().isdecimal() and len(value) < 20:
            return int(value)
    return None


def _window(entry: Mapping[str, Any]) -> int | None:
    meta = _mapping(entry.get("meta"))
    loaded = [
        _number(_mapping(one.get("config")).get("context_length"))
        for one in _mappings(entry, "loaded_instances")
    ]
    several = [_number(one.get("context_length")) for one in _mappings(entry, "providers")]
    return (
        _number(meta.get("n_ctx"))
        or min(filter(None, loaded), default=None)
        or _first_number(_places(entry), _WINDOW_FIELDS)
        or min(filter(None, several), default=None)
        or _spelled_window(entry)
    )


def _spelled_window(entry: Mapping[str, Any]) -> int | None:
    """The smallest figure whose name tells a window, in the spelling and at the place of a server that no table has."""
    figures = (_number(value) for name, value in _fields(entry, 0) if _IS_WINDOW.search(name))
    return min((one for one in figures if one and one >= _LEAST_WINDOW), default=None)


def _fields(place: Mapping[str, Any], depth: int) -> Iterator[tuple[str, object]]:
    """All fields of an entry with their names in small letters, those of its tables and lists too; prices are passed over."""
    for name, value in place.items():
        plain = _CAPITAL.sub("_", str(name)).lower().replace("-", "_").replace(" ", "_")
        if _IS_MONEY.search(plain):
            continue
        yield plain, value
        inner = value if isinstance(value, list) else [value]
        for one in inner[:_MOST_PLACES] if depth < _DEEPEST else ():
            if isinstance(one, dict):
                told = text_of(one.get("property_id") or one.get("name"))
                paired = {told: one["value"]} if told and "value" in one else {}
                yield from _fields({**one, **paired}, depth + 1)


_IS_MONEY = late(r"pric|cost|rate|billing")
_MOST_PLACES = 20
_CAPITAL = late(r"(?<=[a-z0-9])(?=[A-Z])")
_IS_WINDOW = late(
    r"^(?:(?!output|price|pricing|cost|min_|used|image|audio|completion|per_|rate)\w)*"
    r"(?:context|ctx|window|position|input_tokens|prompt_tokens|(?:max|model|total)_(?:input_|prompt_|model_)?len|seq(?:uence)?_len|input_token_limit)"
    r"(?:(?!output|price|pricing|cost|used|reserve|image|audio|completion|per_|rate)\w)*$"
)
_LEAST_WINDOW = 256
"""Least tokens of a window: a smaller figure is a price or a flag."""


def _places(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The entry itself, OpenRouter's limits of the provider that it would use, and where others put theirs."""
    yield _mapping(entry.get("top_provider"))
    yield entry
    for name in ("meta", "model_info", "limits", "limit", "capabilities", "model_spec", "context_window"):
        yield _mapping(entry.get(name))
    yield _mapping(_mapping(entry.get("capabilities")).get("limits"))


def _first_number(places: Iterator[Mapping[str, Any]], names: tuple[str, ...]) -> int | None:
    return next((n for place in places for name in names if (n := _number(place.get(name)))), None)


def _takes_images(entry: Mapping[str, Any]) -> bool:
    kinds = _texts(_mapping(entry.get("architecture")).get("input_modalities"))
    abilities = _mapping(entry.get("capabilities"))
    return "image" in kinds or abilities.get("vision") is True or entry.get("type") == "vlm"


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _mappings(entry: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = entry.get(name)
    return [_mapping(one) for one in value] if isinstance(value, list) else []


def _number(value: object) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) < 12:
        value = int(value)
    return figure(value) or None


# Looks for model servers on this machine, on the ports that they usually have.

PROBE_TIMEOUT_S = 0.5
_MOST_BYTES = 4_000_000


class Candidate(msgspec.Struct, frozen=True):
    """A server that may be there. Source: the default ports in each project's documents (read 2026-11-20)."""

    id: str
    label: str
    port: int


CANDIDATES = (
    Candidate(id="ollama", label="Ollama", port=11434),
    Candidate(id="lm-studio", label="LM Studio", port=1234),
    Candidate(id="llama-cpp", label="llama.cpp", port=8080),
    Candidate(id="vllm", label="vLLM", port=8000),
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


# Vectors from a server's `/embeddings`, as OpenAI documents it and Ollama, llama.cpp, vLLM and LM Studio
# follow.

if TYPE_CHECKING:
    import openai

MOST_TEXTS = 32
"""Texts of one request. Servers that work on a processor answer so many in seconds."""


@runtime_checkable
class Embeds(Protocol):
    """A client whose server makes vectors."""

    @property
    def base_url(self) -> str:
        """The address of the server."""
        ...

    def embed(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        """Vectors of at most `MOST_TEXTS` texts, none of them empty, in their order.

        Raises:
            ProviderError: as `Provider.stream`.
        """
        ...


def embedded(client: openai.OpenAI, model: str, texts: Sequence[str]) -> list[list[float]]:
    """Ask for vectors. They are asked for as numbers: older servers know no other form.

    Raises:
        ValueError: the answer has not one vector for each text; and as the SDK.
    """
    answer = client.embeddings.create(model=model, input=list(texts), encoding_format="float")
    rows = {int(row.index): [float(figure) for figure in row.embedding] for row in answer.data}
    if rows.keys() != set(range(len(texts))):
        raise ValueError(tr("{rows} vectors came for {texts} texts", rows=len(rows), texts=len(texts)))
    return [rows[index] for index in range(len(texts))]
