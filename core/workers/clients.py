"""The providers' clients: made when first called, made anew when their settings or key change."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from core.errors import FailureKind, ProviderError, SlopError
from core.providers.base import Provider
from core.providers.make import make_provider
from core.values.provider import ModelProfile, ProviderKind
from core.values.settings import ServerSettings

log = logging.getLogger(__name__)

KEYLESS = frozenset({ProviderKind.EMBEDDED, ProviderKind.CLAUDE_CODE, ProviderKind.COMPATIBLE})
"""Kinds that can be called without a key of ours."""


@runtime_checkable
class Starts(Protocol):
    """A client with something to start before its first call (the embedded model's process)."""

    def start(self) -> None:
        """Begin to start it; returns at once."""
        ...


@runtime_checkable
class Forgets(Protocol):
    """A client that can delete what its provider holds for a discussion."""

    def forget(self, discussion_id: str) -> None:
        """Delete it. Raises ProviderError."""
        ...


@runtime_checkable
class Releases(Protocol):
    """A client whose provider bills for what it holds: it is deleted when the program ends."""

    def release(self) -> None:
        """Delete it. Raises ProviderError."""
        ...


class Clients:
    """Thread-safe. Holds the keys; nobody else keeps them.

    Args:
        cache_dir: where the embedded model may keep saved prefixes.
    """

    def __init__(self, cache_dir: Path | None = None) -> None:
        self._cache_dir = cache_dir
        self._lock = threading.Lock()
        self._servers: Mapping[str, ServerSettings] = {}
        self._keys: Mapping[str, str] = {}
        self._models: Sequence[ModelProfile] = ()
        self._clients: dict[str, Provider] = {}
        self.embedded_disk_mb = 512

    def configure(
        self, servers: Mapping[str, ServerSettings], keys: Mapping[str, str], models: Sequence[ModelProfile]
    ) -> None:
        """Take new settings.

        A client whose server or key changed is made anew at the next call; so is a vendor's when the list of models
        did. Calls that run keep the client they have. The embedded model's process is ended only when its own
        server's settings changed: it holds warm prefixes.
        """
        with self._lock:
            is_same_list = tuple(models) == tuple(self._models)
            stale = [
                provider
                for provider in self._clients
                if servers.get(provider) != self._servers.get(provider)
                or keys.get(provider) != self._keys.get(provider)
                or not (is_same_list or self._is_embedded(provider))
            ]
            dropped = {provider: self._clients.pop(provider) for provider in stale}
            closing = [client for provider, client in dropped.items() if self._is_embedded(provider)]
            self._servers, self._keys, self._models = dict(servers), dict(keys), tuple(models)
        for client in closing:
            client.close()

    def _is_embedded(self, provider: str) -> bool:
        server = self._servers.get(provider)
        return server is not None and server.kind == ProviderKind.EMBEDDED

    def get(self, provider: str) -> Provider:
        """The client of a provider.

        Raises:
            ProviderError: it is not configured, switched off, or has no key.
        """
        with self._lock:
            client = self._clients.get(provider)
            if client is None:
                client = self._clients[provider] = self._make(provider)
            return client

    def kind(self, provider: str) -> ProviderKind:
        """Which client speaks to a provider; an unknown one is taken for a compatible server."""
        with self._lock:
            server = self._servers.get(provider)
        return ProviderKind(server.kind) if server is not None else ProviderKind.COMPATIBLE

    def key_id(self, provider: str) -> str:
        """A short name of a provider's key that does not tell it; empty where it has none."""
        with self._lock:
            key = self._keys.get(provider, "")
        return hashlib.sha256(f"manual-slop/{key}".encode()).hexdigest()[:12] if key else ""

    def close(self) -> None:
        """Close every client; what is billed while it is held is deleted first."""
        with self._lock:
            closing = list(self._clients.values())
            self._clients.clear()
        for client in closing:
            if isinstance(client, Releases):
                try:
                    client.release()
                except SlopError as error:
                    log.warning("%s", error)
            client.close()

    def _make(self, provider: str) -> Provider:
        server = self._servers.get(provider)
        if server is None or not server.is_enabled:
            raise ProviderError(
                FailureKind.NOT_INSTALLED,
                f"There is no provider {provider!r}",
                remedy="Choose another model, or add the provider in Settings.",
            )
        key = self._keys.get(provider)
        if key is None and ProviderKind(server.kind) not in KEYLESS:
            raise ProviderError(
                FailureKind.NO_KEY,
                f"{server.label or provider} has no key",
                remedy="Enter one in Settings, Providers, then press Retry.",
            )
        return make_provider(
            server, key, self._models, cache_dir=self._cache_dir, embedded_disk_mb=self.embedded_disk_mb
        )
