"""What Gemini's generateContent accepts, version v1beta, as its documents say it.

Source: ai.google.dev "Generate content", "Thinking", "Thought signatures", "Function calling" (read 2026-11);
google.rpc error model.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.pdfs import pages_of
from tests.vendors.loopback import Json

VERSION = "v1beta"
_FIELDS = frozenset(
    [
        "model",
        "contents",
        "systemInstruction",
        "tools",
        "toolConfig",
        "safetySettings",
        "generationConfig",
        "cachedContent",
        "serviceTier",
        "store",
        "continuationToken",
    ]
)
_CONFIG_FIELDS = frozenset(
    [
        "temperature",
        "topP",
        "topK",
        "candidateCount",
        "maxOutputTokens",
        "stopSequences",
        "responseMimeType",
        "responseSchema",
        "responseJsonSchema",
        "responseModalities",
        "thinkingConfig",
        "seed",
        "presencePenalty",
        "frequencyPenalty",
        "mediaResolution",
        "speechConfig",
        "imageConfig",
        "responseLogprobs",
        "logprobs",
    ]
)
_PART_DATA = frozenset({"text", "inlineData", "fileData", "functionCall", "functionResponse"})
_PART_FIELDS = _PART_DATA | {
    "thought",
    "thoughtSignature",
    "videoMetadata",
    "partMetadata",
    "mediaResolution",
}
_ANSWERED = {"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"}
_NAME = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$")
ANY_SIGNATURE = base64.b64encode(b"skip_thought_signature_validator").decode()


@dataclass(frozen=True, slots=True)
class Model:
    """A model as the vendor describes it. `levels` or `budget` (least, most, may be zero): how it is told to think."""

    id: str
    name: str
    window: int = 1_048_576
    max_output: int = 65_536
    levels: tuple[str, ...] = ()
    budget: tuple[int, int] | None = None
    may_stop_thinking: bool = False
    needs_signatures: bool = True
    actions: tuple[str, ...] = ("generateContent", "countTokens")


MODELS = {
    model.id: model
    for model in (
        Model("gemini-4-argon", "Gemini 4 Argon", levels=("LOW", "MEDIUM", "HIGH")),
        Model("gemini-3.8-flash", "Gemini 3.8 Flash", levels=("LOW", "MEDIUM", "HIGH")),
        Model("gemini-3.5-flash-lite", "Gemini 3.5 Flash-Lite", levels=("MINIMAL", "LOW", "MEDIUM", "HIGH")),
        Model("gemini-2.5-pro", "Gemini 2.5 Pro", budget=(128, 32_768), needs_signatures=False),
        Model(
            "gemini-2.5-flash",
            "Gemini 2.5 Flash",
            budget=(0, 24_576),
            may_stop_thinking=True,
            needs_signatures=False,
        ),
        Model("gemini-9-tiny", "Gemini 9 Tiny", window=2_000, max_output=500, needs_signatures=False),
        Model("gemini-embedding-2", "Embedding", actions=("embedContent",)),
    )
}


_FREE = frozenset(
    {"args", "response", "parametersJsonSchema", "responseJsonSchema", "parameters", "responseSchema"}
)
_WORD = re.compile(r"_([a-z])")


def camel(value: Any) -> Any:
    """A body with every field in lowerCamelCase. The API takes a field's proto name as well, and the SDK mixes them.

    What a field of free form holds (arguments, schemas) stays as it is. Source: proto3 "JSON mapping".
    """
    if isinstance(value, list):
        return [camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    named = {_WORD.sub(lambda found: found[1].upper(), name): item for name, item in value.items()}
    return {name: item if name in _FREE else camel(item) for name, item in named.items()}


class RefusedError(Exception):
    """A request that breaks a rule: HTTP status, google.rpc code, message, details."""

    def __init__(self, code: int, status: str, message: str, details: Iterable[Json] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.details = list(details)


def find_model(name: str, action: str) -> Model:
    """The model of a path. Raises RefusedError in the vendor's words."""
    model = MODELS.get(name)
    if model is None or action not in model.actions:
        raise RefusedError(
            404,
            "NOT_FOUND",
            f"models/{name} is not found for API version {VERSION}, or is not supported for {action}. Call ListModels"
            " to see the list of available models and their supported methods.",
        )
    return model


def check(body: Json, model: Model) -> None:
    """Hold a request against the rules. Raises RefusedError in the vendor's words."""
    _known(body, _FIELDS, "")
    _known(body.get("generationConfig", {}), _CONFIG_FIELDS, " at 'generation_config'")
    contents = body.get("contents")
    if not contents:
        raise _invalid("* GenerateContentRequest.contents: contents is not specified\n")
    for number, content in enumerate(contents):
        if content.get("role", "user") not in {"user", "model"}:
            raise _invalid("Please use a valid role: user, model.")
        _check_parts(content.get("parts"), f"contents[{number}]")
    if "systemInstruction" in body:
        _check_parts(body["systemInstruction"].get("parts"), "system_instruction")
    _check_tools(body.get("tools", []))
    _check_config(body.get("generationConfig", {}), model)
    if contents[-1].get("role") == "model":
        raise _invalid("Requests where the last turn has the role model are not supported.")
    _check_calls(contents)
    if model.needs_signatures:
        _check_signatures(contents)


def _known(value: Json, names: frozenset[str], where: str) -> None:
    for name in value:
        if name not in names:
            raise _invalid(
                f'Invalid JSON payload received. Unknown name "{name}"{where}: Cannot find field.',
            )


def _check_parts(parts: Any, where: str) -> None:
    if not parts:
        raise _invalid(f"* GenerateContentRequest.{where}.parts: contents.parts must not be empty.\n")
    for number, part in enumerate(parts):
        place = f"{where}.parts[{number}]"
        _known(part, _PART_FIELDS, f" at '{place}'")
        if len(_PART_DATA & part.keys()) != 1 or part.get("text") == "":
            raise _invalid(
                f"* GenerateContentRequest.{place}.data: required oneof field 'data' must have one initialized field\n"
            )
        if "inlineData" in part:
            _check_blob(part["inlineData"], place)


def _check_blob(blob: Json, place: str) -> None:
    try:
        data = base64.b64decode(blob.get("data", "").replace("-", "+").replace("_", "/"), validate=True)
    except binascii.Error as error:
        raise _invalid(
            f"Invalid value at '{place}.inline_data.data' (TYPE_BYTES), Base64 decoding failed"
        ) from error
    if "/" not in blob.get("mimeType", ""):
        raise _invalid(f"Unable to process input image: mime type at {place}")
    if blob["mimeType"] == "application/pdf" and not pages_of(data):
        raise _invalid("The document has no pages.")


def _check_tools(tools: list[Json]) -> None:
    names = [declared.get("name", "") for tool in tools for declared in tool.get("functionDeclarations", [])]
    for name in names:
        if not _NAME.match(name):
            raise _invalid(f"Invalid function name: {name}")
    if len(set(names)) != len(names):
        raise _invalid(f"Duplicate function declaration found: {names}")


def _check_config(config: Json, model: Model) -> None:
    most = config.get("maxOutputTokens")
    if most is not None and not 1 <= most <= model.max_output:
        raise _invalid(f"Unable to submit request because it has a maxOutputTokens value of {most}.")
    thinking = config.get("thinkingConfig")
    if thinking is None:
        return
    level, budget = thinking.get("thinkingLevel"), thinking.get("thinkingBudget")
    if level is not None and budget is not None:
        raise _invalid("You can only set only one of thinking budget and thinking level.")
    if not model.levels and model.budget is None:
        raise _invalid("Thinking is not enabled for this model.")
    if level is not None and level not in model.levels:
        raise _invalid(f"Thinking level {level} is not supported for this model.")
    if budget is not None:
        _check_budget(budget, model)


def _check_budget(budget: int, model: Model) -> None:
    if model.budget is None:
        raise _invalid("Thinking budget is not supported for this model.")
    if budget == 0 and not model.may_stop_thinking:
        raise _invalid("Budget 0 is invalid. This model only works in thinking mode.")
    if budget != -1 and not model.budget[0] <= budget <= model.budget[1]:
        raise _invalid(
            f"The thinking budget {budget} is invalid. Please choose a value between {model.budget}."
        )


def _check_calls(contents: list[Json]) -> None:
    turns = _merged(contents)
    for number, (role, parts) in enumerate(turns):
        calls = sum("functionCall" in part for part in parts)
        following = turns[number + 1][1] if number + 1 < len(turns) else []
        answers = sum("functionResponse" in part for part in following)
        if role == "model" and calls != answers:
            raise _invalid(
                "Please ensure that the number of function response parts is equal to the number of function call"
                " parts of the function call turn."
            )
        if role == "model" and calls:
            _check_answers([p["functionCall"] for p in parts if "functionCall" in p], following)
        if role == "user" and (not number or turns[number - 1][0] != "model"):
            _check_answers([], parts)


def _check_answers(calls: list[Json], parts: list[Json]) -> None:
    """Each answer names a call of the turn before it, by its id where that has one, and its function.

    Source: "Function calling", "Multimodal function responses": png, jpeg, webp, PDF and plain text (read 2026-11-23).
    """
    for answer in [part["functionResponse"] for part in parts if "functionResponse" in part]:
        wanted = [c for c in calls if c.get("name") == answer.get("name") and c.get("id") == answer.get("id")]
        if not wanted:
            raise _invalid(
                "Please ensure that function response turn comes immediately after a function call turn."
            )
        calls.remove(wanted[0])
        if not isinstance(answer.get("response"), dict):
            raise _invalid("Invalid value at 'function_response.response' (Struct)")
        for part in answer.get("parts", []):
            if part.get("inlineData", {}).get("mimeType") not in _ANSWERED:
                raise _invalid("Unsupported MIME type in function response parts")


def _merged(contents: list[Json]) -> list[tuple[str, list[Json]]]:
    turns: list[tuple[str, list[Json]]] = []
    for content in contents:
        role = content.get("role", "user")
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(content["parts"])
        else:
            turns.append((role, list(content["parts"])))
    return turns


def _check_signatures(contents: list[Json]) -> None:
    spoken = [
        n for n, c in enumerate(contents) if any("text" in p for p in c["parts"]) and c["role"] == "user"
    ]
    for content in contents[spoken[-1] + 1 if spoken else 0 :]:
        calls = [part for part in content["parts"] if "functionCall" in part]
        if calls and not _is_sealed(calls[0]):
            raise _invalid(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work"
                " correctly."
            )


def _is_sealed(part: Json) -> bool:
    seal = part.get("thoughtSignature", "").replace("-", "+").replace("_", "/")
    return bool(seal == ANY_SIGNATURE or seal == seal_of(part["functionCall"]))


def seal_of(call: Json) -> str:
    """The signature of a call that this server made."""
    return base64.b64encode(f"sealed:{call['name']}:{sorted(call.get('args', {}))}".encode()).decode()


def _invalid(message: str) -> RefusedError:
    return RefusedError(400, "INVALID_ARGUMENT", message)
