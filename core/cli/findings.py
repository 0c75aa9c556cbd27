"""Findings of `doctor`'s checks: each a line of the report, with its remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum

import msgspec


class Verdict(StrEnum):
    """Verdict of a check. `WARN`: something does not work that a person may not need."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


class Finding(msgspec.Struct, frozen=True):
    """One line of the report.

    Args:
        subject: what was looked at; text: what was found; remedy: what to do, empty where nothing is.
    """

    subject: str
    verdict: Verdict
    text: str
    remedy: str = ""


def ok(subject: str, text: str) -> Finding:
    """All is well."""
    return Finding(subject, Verdict.OK, text)


def warn(subject: str, text: str, remedy: str = "") -> Finding:
    """Something does not work that a person may not need."""
    return Finding(subject, Verdict.WARN, text, remedy)


def fail(subject: str, text: str, remedy: str) -> Finding:
    """The program cannot do its work."""
    return Finding(subject, Verdict.FAIL, text, remedy)


Check = Callable[[], Iterable[Finding]]
