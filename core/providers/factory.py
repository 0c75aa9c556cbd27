"""Factory of clients: one for each server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from core.providers.protocol import Provider
from core.values.provider import ModelProfile, ProviderKind
from core.values.settings import ServerSettings


def make_provider(
    server: ServerSettings,
    key: str | None,
    models: Sequence[ModelProfile] = (),
    *,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    cache_dir: Path | None = None,
    embedded_disk_mb: int = 512,
    notes: tuple[str, ...] = (),
) -> Provider:
    """Make the client of a server. Cheap: SDKs are imported at the first call, not here.

    Args:
        key: the provider's key, None where none was found or needed; only the client keeps it.
        models: what is known of models (`core.providers.model_data`), for all providers or for this one.
        clock: the program's, with its zone.
        cache_dir: where the embedded model may keep saved prefixes; embedded_disk_mb: what they may take.
        notes: command line of our server for a client that runs tools itself; empty for none.

    Raises:
        ValueError: `server.kind` is none of `ProviderKind` (settings are checked before).
    """
    match ProviderKind(server.kind):
        case ProviderKind.ANTHROPIC:
            from core.providers.anthropic.client import AnthropicProvider

            return AnthropicProvider(server, key, models)
        case ProviderKind.GEMINI:
            from core.providers.gemini.client import GeminiProvider

            return GeminiProvider(server, key, models, clock=clock)
        case ProviderKind.OPENAI:
            from core.providers.openai.client import OpenAiProvider

            return OpenAiProvider(server, key, models)
        case ProviderKind.COMPATIBLE:
            from core.providers.compatible.client import CompatibleProvider

            return CompatibleProvider(server, key, models)
        case ProviderKind.CLAUDE_CODE:
            from core.providers.claude_code.client import ClaudeCodeProvider

            return ClaudeCodeProvider(server, key, models, notes)
        case ProviderKind.EMBEDDED:
            from core.providers.embedded.client import EmbeddedProvider

            disk_bytes = embedded_disk_mb * 1024 * 1024
            return EmbeddedProvider(server, models, cache_dir=cache_dir, disk_bytes=disk_bytes)
