"""Prompts for batches: what a conversation still lacks a reply to, and which need no asking any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from core.base.errors import SlopError
from core.harvest.replies import reply_key
from core.harvest.scan import look_again
from core.harvest.sources import Distiller
from core.knowledge.ledger import HarvestLedger
from core.values.batches import BatchFault
from core.values.harvest import Artifact, ArtifactClass, ArtifactFacts


class WantedPrompt(msgspec.Struct, frozen=True):
    """A prompt that has no reply yet."""

    facts: ArtifactFacts
    prompt: str
    key: str
    has_schema: bool


def wanted_prompt(
    asker: Distiller, facts: ArtifactFacts, prompt: str, faults: Mapping[str, tuple[BatchFault, ...]]
) -> WantedPrompt:
    """A prompt to send; without the reply's schema where the provider refused it with that."""
    key = reply_key(prompt, asker.provider, asker.model)
    is_refused = any(fault.is_refused for fault in faults.get(key, ()))
    return WantedPrompt(facts, prompt, key, not is_refused)


def not_asked(prompt: str, provider: str, model: str) -> str:  # noqa: ARG001
    """A `Generate` for what batches have answered: nobody is asked outside a batch. Raises SlopError."""
    raise SlopError("a part of it has no reply of a batch yet")


def answered_ones(asker: Distiller, home: Path, artifacts: Iterable[Artifact]) -> tuple[Artifact, ...]:
    """Conversations that an apply can take without asking anybody, and all that it asks nobody about.

    A conversation whose replies are malformed is among them: the apply says so, and has them asked anew.
    """
    ledger = HarvestLedger(home)
    return tuple(one for one in artifacts if _is_answered(asker, one, ledger))


def _is_answered(asker: Distiller, artifact: Artifact, ledger: HarvestLedger) -> bool:
    if artifact.kind is not ArtifactClass.HARVEST:
        return True
    try:
        facts, data = look_again(artifact.facts, ledger)
        return bool(facts.known_status) or asker.has_kept(facts, data)
    except SlopError:
        return True
