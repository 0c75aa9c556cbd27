"""The embedded model for real: a discussion's prefix survives a restart, is read ahead, is forgotten when told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import CachePlan
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.stack import LayerId
from core.kernel.values.usage import Usage
from core.services.providers.embedded.client import SAVED, EmbeddedProvider
from core.services.providers.embedded.server import MODEL_ID
from core.services.providers.model_data import packaged_models
from core.services.providers.protocol import CancelToken, Prewarms
from tests.core.services.providers.caching_kit import sent
from tests.core.services.providers.outcomes import NO_BLOBS, ask, seg, server_settings, user
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.usefixtures("model_ahead")

RULES = "".join(f"Rule {n}: item {n * 7919 % 1000} is reported as {n}.\n" for n in range(6))
OFF = CachePlan(is_enabled=False)


@contextmanager
def started(folder: Path, disk_bytes: int = 10**9) -> Iterator[EmbeddedProvider]:
    """The program from its start to its end."""
    provider = EmbeddedProvider(
        server_settings("embedded"), packaged_models(), cache_dir=folder, disk_bytes=disk_bytes
    )
    try:
        yield provider
    finally:
        provider.close()


def question(text: str, discussion: str = "d1", cache: CachePlan | None = None) -> ProviderRequest:
    metadata = seg(f"<{text[-2:]}/>", LayerId.METADATA, "8")
    return ask(
        MODEL_ID,
        user(text, metadata),
        system=(RULES,),
        max_output_tokens=4,
        discussion_id=discussion,
        cache=cache,
    )


def asked(
    provider: EmbeddedProvider, text: str, discussion: str = "d1", cache: CachePlan | None = None
) -> Usage:
    usage = sent(provider, question(text, discussion, cache)).usage
    assert provider.finish_reading(PATIENCE_S)
    return usage


def share(usage: Usage) -> float:
    assert usage.input_tokens
    return (usage.cache_read_tokens or 0) / usage.input_tokens


def _tear(path: Path) -> None:
    """Half of it is lost, and its name does not tell: the server's process dies of it."""
    data = path.read_bytes()[: path.stat().st_size // 2]
    path.unlink()
    path.with_name(f"{path.name[:32]}-{len(data)}.kv").write_bytes(data)


@pytest.mark.model
def test_a_prefix_survives_a_restart_a_torn_file_costs_only_time_and_one_that_is_forgotten_is_gone(
    tmp_path: Path,
) -> None:
    """Each of two discussions finds its own."""
    with started(tmp_path) as first:
        cold = asked(first, "What is rule 3?")
        asked(first, "What is rule 4?", "d2")
    saved = {path: path.stat().st_mtime_ns for path in (tmp_path / SAVED).iterdir()}
    assert len(saved) == 2
    _tear(max(saved, key=lambda path: saved[path]))
    with started(tmp_path) as second:
        warm = asked(second, "What is rule 4?")
        torn = asked(second, "What is rule 5?", "d2")
    with started(tmp_path) as third:
        again = asked(third, "What is rule 6?", "d2")
        third.forget("d1")
        third.forget("d2")
        assert list((tmp_path / SAVED).iterdir()) == []
        erased = asked(third, "What is rule 3?", "d2")
        third.forget("d2")
    with started(tmp_path) as fourth:
        gone = asked(fourth, "What is rule 5?", "d2")

    assert cold.cache_read_tokens == 0
    assert share(warm) > 0.7
    assert torn.cache_read_tokens == 0
    assert share(again) > 0.7
    assert share(erased) < 0.2
    assert gone.cache_read_tokens == 0


@pytest.mark.model
def test_caching_off_reads_nothing_and_saves_nothing(tmp_path: Path) -> None:
    with started(tmp_path) as provider:
        usages = [asked(provider, "What is rule 3?", cache=OFF) for _ in range(2)]
        assert provider.prewarm(question("What?", cache=OFF), NO_BLOBS, CancelToken()) is None
    assert [usage.cache_read_tokens for usage in usages] == [0, 0]
    assert list((tmp_path / SAVED).iterdir()) == []


@pytest.mark.model
def test_prewarming_reads_the_prefix_so_that_the_turn_need_not(tmp_path: Path) -> None:
    with started(tmp_path, disk_bytes=0) as provider:
        assert isinstance(provider, Prewarms)
        nothing_said = replace(question(""), messages=())
        warmed = provider.prewarm(nothing_said, NO_BLOBS, CancelToken())
        usage = asked(provider, "What is rule 3?")
        cancelled = CancelToken()
        cancelled.cancel()
        assert provider.prewarm(nothing_said, NO_BLOBS, cancelled) is None

    assert warmed is not None
    assert warmed.cache_read_tokens == 0
    assert share(usage) > 0.7
    assert list((tmp_path / SAVED).iterdir()) == []


@pytest.mark.model
def test_a_folder_that_cannot_be_made_costs_only_the_saving(tmp_path: Path) -> None:
    (tmp_path / SAVED).write_text("a file in its place")
    with started(tmp_path) as provider:
        usage = asked(provider, "What is rule 3?")

    assert usage.output_tokens
