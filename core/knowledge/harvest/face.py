"""The harvest under the names that people know: the prompt, the reply's parser, one conversation distilled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from core.kernel import paths
from core.kernel.disk import reported
from core.kernel.language import tr
from core.kernel.opener import read_file
from core.knowledge.harvest.distillation import (
    HARVEST_MAX_ATTEMPTS,
    Generate,
    HarvestError,
    build_harvest_prompt,
    distil,
    harvest_prompt_path,
    read_template,
    run_subagent_summarization,
)
from core.knowledge.harvest.harvest_reply import ITEM_CATEGORIES, by_category, read_reply
from core.knowledge.harvest.modes import MAX_HARVEST_SOURCE_BYTES, SUMMARIZE_THRESHOLD_BYTES, piece_bytes_for
from core.knowledge.harvest.transcript import Said, prepared
from core.knowledge.harvest.transcript_sources import messages_of
from core.services.providers.model_data import load_models
from core.services.providers.profiles import find_profile
from core.talk.transcripts.transcript_reader import recognised

__all__ = [
    "HARVEST_MAX_ATTEMPTS",
    "ITEM_CATEGORIES",
    "MAX_HARVEST_SOURCE_BYTES",
    "SUMMARIZE_THRESHOLD_BYTES",
    "HarvestError",
    "build_harvest_prompt",
    "harvest_conversation",
    "harvest_prompt_path",
    "parse_harvest_json",
    "run_subagent_summarization",
]

Summarize = Callable[[Path, str, str, Path | None], str]
"""Shortens a conversation: its path, the provider, the model, the settings file. Raises SlopError."""


def parse_harvest_json(text: str) -> dict[str, list[dict[str, str]]]:
    """Read a model's reply as the seven lists of `ITEM_CATEGORIES`; what is malformed in them is left out.

    Raises:
        ValueError: the reply is not one JSON object.
    """
    return by_category(read_reply(text).items)


def harvest_conversation(
    path: Path,
    provider: str,
    model: str,
    config_path: Path | None,
    *,
    generate: Generate,
    summarize: Summarize | None = None,
) -> dict[str, list[dict[str, str]]]:
    """Distil one conversation. Writes nothing.

    Args:
        path: of a conversation's file, of any kind that is recognised, plain text and Markdown among them, or of a
            discussion's folder.
        config_path: the settings file, whose `models.toml` beside it names windows; None for the usual one.
        generate: sends a prompt, `generate(prompt, provider, model)`, and returns the reply.
        summarize: shortens a conversation over `SUMMARIZE_THRESHOLD_BYTES`; None for `run_subagent_summarization`,
            which reads it piece by piece and loses no decision or task to a summary.

    Returns:
        The seven lists of `ITEM_CATEGORIES`.

    Raises:
        HarvestError (a ValueError too): too large, not recognised, or malformed replies. StorageError: it cannot be
        read. Each is a RuntimeError. Whatever `generate` and `summarize` raise.
    """
    file = path / paths.LOG_FILE if path.is_dir() else path
    with reported("read", file):
        data = read_file(file, None)
    if len(data) > MAX_HARVEST_SOURCE_BYTES:
        raise HarvestError(
            tr("{name!r} is too large: {data:,} bytes", name=file.name, data=len(data)), where=str(file)
        )
    if summarize is not None and len(data) > SUMMARIZE_THRESHOLD_BYTES:
        said: tuple[Said, ...] = (Said(role="user", text=summarize(file, provider, model, config_path)),)
    else:
        said = _messages(file, data)
    models = load_models(config_path.parent / paths.MODELS_FILE if config_path else paths.models_file())
    found = distil(
        prepared(said),
        path.name,
        read_template(harvest_prompt_path()),
        lambda prompt: generate(prompt, provider, model),
        piece_bytes=piece_bytes_for(find_profile(models, provider, model)),
    )
    return by_category(found.items)


def _messages(file: Path, data: bytes) -> tuple[Said, ...]:
    try:
        return messages_of(recognised(data, file.name), data)
    except ValueError as error:
        raise HarvestError(
            tr("{name!r} cannot be harvested: {error}", name=file.name, error=error), where=str(file)
        ) from error
