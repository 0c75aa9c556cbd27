"""Secrets out of text that leaves the truth: what is indexed or previewed must not hold keys."""

from __future__ import annotations

import re

MASK = "[secret]"

_SECRETS = re.compile(
    r"""
      -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    | \b(?:sk|rk|pk)-[A-Za-z0-9_-]{16,}
    | \bAIza[0-9A-Za-z_-]{30,}
    | \bgh[opsur]_[A-Za-z0-9]{30,} | \bgithub_pat_[A-Za-z0-9_]{30,} | \bglpat-[A-Za-z0-9_-]{16,}
    | \bxox[abeoprs]-[A-Za-z0-9-]{10,} | \bhf_[A-Za-z0-9]{30,} | \bnpm_[A-Za-z0-9]{30,} | \bpypi-[A-Za-z0-9_-]{30,}
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
    | \beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}
    """,
    re.VERBOSE | re.DOTALL,
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)(\s+)[A-Za-z0-9._~+/=-]{16,}")
_ASSIGNED = re.compile(
    r"""(?ix)
    ( (?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|token) ["']? \s{0,9} [:=] \s{0,9} ["']? )
    [^\s"'`,;]{8,}
    """
)
_IN_URL = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:)[^\s/@]{1,200}@")


def scrub(text: str) -> str:
    """The text with what looks like a key, token or password replaced by `[secret]`. Linear in its length."""
    text = _SECRETS.sub(MASK, text)
    text = _BEARER.sub(rf"\1\2{MASK}", text)
    text = _ASSIGNED.sub(rf"\1{MASK}", text)
    return _IN_URL.sub(rf"\1{MASK}@", text)
