"""Detectors of detect-secrets, asked where one of the words stands that their finds need."""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import Any

from core.base.secret_rule import Find, Look, Rule
from core.base.secret_values import is_placeholder

_LEAST_CHARS = 12
"""Of a secret; a shorter group of a find is the kind of key and not the key."""

_BEFORE_CHARS, _BEHIND_CHARS = 64, 600
"""Around a word, that are looked through: a find of theirs is in one line, and shorter."""

DETECTORS = {
    "ArtifactoryDetector": ("artifactory", "AKC artifactory jfrog buildkit"),
    "AWSKeyDetector": ("aws", "A3T AKIA ASIA ABIA ACCA aws"),
    "CloudantDetector": ("cloudant", "cloudant"),
    "IbmCloudIamDetector": ("ibm_cloud_iam", "ibm_ ibm-"),
    "IbmCosHmacDetector": ("ibm_cos_hmac", "cos_hmac cos-hmac"),
    "JwtTokenDetector": ("jwt", "eyJ"),
    "NpmDetector": ("npm", "npm_ npm-token _authToken"),
    "SoftlayerDetector": ("softlayer", "softlayer"),
}
"""Each class with its module and its words. Left out: those whose every find is one of ours as well, those of entropy
and keywords, which take hashes and talk for secrets, and that of Azure, which takes the hashes of lock files."""


def rules() -> tuple[Rule, ...]:
    """A rule for each detector. The library is loaded when the first of their words comes up."""
    return tuple(Rule(tuple(words.split()), _looking(name)) for name, (_, words) in DETECTORS.items())


def _looking(name: str) -> Look:
    def look(text: str, at: int) -> Find | None:
        for pattern in detector(name).denylist:
            for match in pattern.finditer(text, max(0, at - _BEFORE_CHARS), at + _BEHIND_CHARS):
                start, end = _span(match)
                if end - start >= _LEAST_CHARS and not is_placeholder(text[start:end]):
                    return Find(start, end)
        return Find(at, at + _BEHIND_CHARS // 2, is_secret=False)  # or a row of its words takes long

    return look


def _span(match: re.Match[str]) -> tuple[int, int]:
    """The group that holds the secret, or all of it where a group is only its prefix."""
    groups = range(1, len(match.groups()) + 1)
    longest = max(groups, key=lambda number: len(match[number] or ""), default=0)
    if longest and len(match[longest] or "") >= _LEAST_CHARS:
        return match.span(longest)
    whole = match[0]
    left = len(whole) - len(whole.lstrip(" \t\r\n=:\"'"))
    return match.start() + left, match.start() + len(whole.rstrip(" \t\r\n=:\"'"))


@cache
def detector(name: str) -> Any:
    """A detector of the library, by the name of its class."""
    return getattr(importlib.import_module(f"detect_secrets.plugins.{DETECTORS[name][0]}"), name)()
