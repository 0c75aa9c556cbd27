"""Parts of a run of the harvest, from its settings: one place for the window and the command line."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from core.kernel import paths
from core.kernel.frame import size_bytes
from core.kernel.tokens import estimate_tokens
from core.kernel.values.harvest import HarvestUse
from core.kernel.values.provider import ModelProfile
from core.kernel.values.usage import Usage
from core.knowledge.harvest.distillation import Generate, HarvestCancelledError
from core.knowledge.harvest.harvest_messages import HarvestRun
from core.knowledge.harvest.harvest_scan import ScanRequest
from core.knowledge.harvest.modes import OUTPUT_TOKENS_EST, piece_bytes_for
from core.knowledge.harvest.sources import Distiller, ReadMessages
from core.knowledge.harvest.transcript_sources import unread_messages
from core.services.providers.pump import CallSpent
from core.services.spending.estimates import booked, with_lost
from core.services.spending.harvest_costs import Payments


def scan_request(home: Path, run: HarvestRun, now: datetime) -> ScanRequest:
    """Request for the look at the disk.

    Args:
        now: UTC.
    """
    return ScanRequest(
        home=home,
        now=now,
        sources=tuple(Path(name).expanduser().absolute() for name in run.settings.harvest_sources),
        open_ids=run.open_ids,
        live_for=timedelta(days=run.settings.live_days),
        max_bytes=run.settings.max_source_bytes,
    )


def distiller(
    home: Path,
    run: HarvestRun,
    generate: Generate,
    profile: ModelProfile,
    read: ReadMessages = unread_messages,
) -> Distiller:
    """Distiller that asks the model of a run.

    Args:
        profile: what is known of that model; read: gives what is to be distilled of a conversation.
    """
    return Distiller(
        generate=generate,
        provider=run.provider,
        model=run.model,
        template=run.template.strip(),
        piece_bytes=piece_bytes_for(profile),
        knowledge=paths.knowledge_dir(home),
        read=read,
        root=run.project_root,
        allowed_roots=run.allowed_roots,
    )


# The money of one harvest: what the call under way is expected to cost, whether it may, and what calls came
# to.


class RunPurse:
    """A `Purse`. No call begins that was not let go; the one that reaches a limit is still read.

    Args:
        payments: adds up what the run's calls cost.
        let_go: told what a call is expected to cost in US dollars, before it is made; gives the reason why it is not
            to be made, empty where it is. May wait.
        on_paid: told what it came to.
    """

    def __init__(
        self,
        payments: Payments,
        let_go: Callable[[float], str],
        *,
        on_paid: Callable[[HarvestUse], object] = lambda _use: None,
    ) -> None:
        self._payments = payments
        self._let_go, self._on_paid = let_go, on_paid

    def begin(self, provider: str, model: str, prompt: str) -> None:
        """As `Purse.begin`."""
        expected = Usage(input_tokens=_tokens(prompt), output_tokens=OUTPUT_TOKENS_EST)
        if why := self._let_go(self._payments.price(provider, model, expected) or 0.0):
            raise HarvestCancelledError(why)

    def spent(self, provider: str, model: str, prompt: str, spent: CallSpent) -> None:
        """As `Purse.spent`. A call that a provider may not bill is none."""

        def price(used: Usage) -> float | None:
            return self._payments.price(provider, model, used)

        sent, usage = Usage(input_tokens=_tokens(prompt)), spent.reported
        if spent.is_billed:
            length = sum(map(_tokens, spent.texts))
            usage = booked(usage, sent, length, price, is_whole=spent.is_whole)
        usage = with_lost(usage, sent, spent.lost, price)
        is_call = spent.is_billed or spent.lost > 0
        self._on_paid(self._payments(provider, model, usage) if is_call else HarvestUse())


def _tokens(text: str) -> int:
    return estimate_tokens(size_bytes(text))
