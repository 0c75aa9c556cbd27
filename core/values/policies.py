"""Policies of tools as values: what goes, asks or is refused where a person settled it beforehand."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class PolicyAnswer(StrEnum):
    """Answer of a policy, loosest first."""

    ALLOW = "allow"
    ASK = "ask"
    REFUSE = "refuse"


class Policies(msgspec.Struct, frozen=True):
    """Answers that a person set for a folder, in their own settings.

    Args:
        reads, edits, commands, network: answer where nothing else decides. Commands are let go only where they are confined.
        prefixes: command rules, words as a shell reads them (`git log`); hosts: addresses that may be fetched.
        shown: places that commands which nobody was asked about, MCP servers and the index see: outside the project, or files in
            it that look like keys and are none; absolute, links resolved.
    """

    reads: PolicyAnswer = PolicyAnswer.ALLOW
    edits: PolicyAnswer = PolicyAnswer.ASK
    commands: PolicyAnswer = PolicyAnswer.ASK
    network: PolicyAnswer = PolicyAnswer.ASK
    prefixes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()


class ProjectPolicies(msgspec.Struct, frozen=True):
    """Answers of a project's file. It can only tighten; None: nothing said."""

    reads: PolicyAnswer | None = None
    edits: PolicyAnswer | None = None
    commands: PolicyAnswer | None = None
    network: PolicyAnswer | None = None
