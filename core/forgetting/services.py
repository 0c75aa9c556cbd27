"""Services of the program to a forgetting: what is asked of providers, and of commands that run."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

WithdrawBatches = Callable[[], str]
"""Has providers stop the batches that are unwanted, and delete what was sent. Returns why one is left, empty where none is.
The harvest's lock is held."""

AskProvider = Callable[[str, str], str]
"""Has a provider delete what it stores of a discussion (id, provider). Returns why it did not, empty where it did."""

DropScratch = Callable[[str], bool]
"""Ends the commands of a discussion and removes their scratch folder. Returns whether there was one. Raises OSError."""


def _batches_later() -> str:
    return "the next look after the batches (`harvest --batch --apply`) stops it and deletes what was sent"


class ForgetServices(msgspec.Struct, frozen=True):
    """Services of the program to a forgetting: what is asked of providers and of its own commands."""

    ask_provider: AskProvider = lambda _discussion_id, _provider: ""
    withdraw_batches: WithdrawBatches = _batches_later
    drop_scratch: DropScratch = lambda _discussion_id: False


NO_SERVICES = ForgetServices()
