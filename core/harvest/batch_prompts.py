"""Prompts for batches: what a conversation still lacks a reply to, and which need no asking any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from core.base.errors import SlopError
from core.base.tokens import estimate_tokens
from core.harvest.batch_book import MOST_FAULTS, faults_of, waiting
from core.harvest.classes import OUTPUT_TOKENS_EST
from core.harvest.distillation import HarvestError
from core.harvest.prompt import told_names, without_known
from core.harvest.replies import reply_key
from core.harvest.run import known_now
from core.harvest.scan import Progress, ScanRequest, look_again, no_progress
from core.harvest.sources import Distiller
from core.knowledge.ledger import HarvestLedger
from core.spending.pricing import batch_price
from core.values.batches import BatchFault, HarvestBatch
from core.values.harvest import Artifact, ArtifactClass, ArtifactFacts
from core.values.usage import Usage


class WantedPrompt(msgspec.Struct, frozen=True):
    """A prompt that has no reply yet. `told`: short names of the known items that it tells."""

    facts: ArtifactFacts
    prompt: str
    key: str
    has_schema: bool
    told: tuple[str, ...] = ()

    @property
    def tokens_est(self) -> int:
        """Tokens of the prompt, estimated."""
        return estimate_tokens(len(self.prompt.encode("utf-8", "replace")))


def wanted_prompt(
    asker: Distiller, facts: ArtifactFacts, prompt: str, faults: Mapping[str, tuple[BatchFault, ...]]
) -> WantedPrompt:
    """A prompt to send; without the reply's schema where the provider refused it with that."""
    key = reply_key(without_known(prompt), asker.provider, asker.model)
    is_refused = any(fault.is_refused for fault in faults.get(key, ()))
    return WantedPrompt(facts, prompt, key, not is_refused, told_names(prompt))


def wanted_prompts(
    asker: Distiller,
    request: ScanRequest,
    chosen: Sequence[ArtifactFacts],
    batches: Sequence[HarvestBatch],
    busy: Iterable[str],
    on_problem: Callable[[str], object],
    on_progress: Progress = no_progress,
) -> Iterator[WantedPrompt]:
    """Prompts to send, conversation by conversation; those that wait, failed or changed are left out.

    Args:
        batches: all there are; busy: conversations (sha256) that wait besides; on_problem: told a sentence.

    Raises:
        StorageError, HarvestStoppedError: nothing more can be read.
    """
    _, related = known_now(request.home)
    taken = {*waiting(batches), *busy}
    faults, ledger = faults_of(batches), HarvestLedger(request.home)
    for number, scanned in enumerate(chosen):
        on_progress(number, len(chosen), scanned.title or scanned.name)
        try:
            facts, data = look_again(scanned, ledger)
            is_candidate = request.classified(facts).kind is ArtifactClass.HARVEST
            if not is_candidate or facts.known_status or facts.sha256 in taken:
                continue
            taken.add(facts.sha256)
            prompts = asker.missing(facts, data, related)
        except HarvestError:
            continue  # the apply says why, and has its replies asked anew
        except SlopError as error:
            on_problem(f"{scanned.name}: {error.what}")
            continue
        wanted = [wanted_prompt(asker, facts, prompt, faults) for prompt in prompts]
        given_up = [one for one in wanted if len(faults.get(one.key, ())) >= MOST_FAULTS]
        if given_up:
            why = faults[given_up[0].key][-1].reason
            on_problem(
                f"{facts.name}: batches answered twice with an error ({why}); harvest it without a batch"
            )
            continue
        yield from wanted
    on_progress(len(chosen), len(chosen), "")


def expected_cost(
    asker: Distiller, wanted: Iterable[WantedPrompt], price: Callable[[str, str, Usage], float | None]
) -> float | None:
    """Expected cost of these in a batch, in US dollars, None where the price is unknown."""
    usages = (Usage(input_tokens=one.tokens_est, output_tokens=OUTPUT_TOKENS_EST) for one in wanted)
    costs = [price(asker.provider, asker.model, usage) for usage in usages]
    known = [cost for cost in costs if cost is not None]
    return batch_price(sum(known)) if len(known) == len(costs) else None


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
