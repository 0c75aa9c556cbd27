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
    | \b(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,} | \bwhsec_[0-9A-Za-z]{24,} | \bsq0(?:csp|atp)-[0-9A-Za-z_-]{20,}
    | \bSG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{32,} | \b(?:AC|SK)[0-9a-f]{32}\b | \b[0-9a-f]{32}-us[0-9]{1,2}\b
    | \bhooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}
    | \bdiscord(?:app)?\.com/api/webhooks/\d{10,}/[A-Za-z0-9_-]{40,} | \b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}
    | \bya29\.[0-9A-Za-z_-]{20,} | \bGOCSPX-[0-9A-Za-z_-]{20,} | \b\d{8,10}:AA[0-9A-Za-z_-]{33}\b
    | \bAKC[a-zA-Z0-9]{10,} | \bAccountKey=[A-Za-z0-9+/=]{40,} | \bdop_v1_[0-9a-f]{64}\b | \bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b
    | \bAGE-SECRET-KEY-1[0-9A-Z]{58}\b | \b(?:xai|gsk|pplx|r8|nvapi)[-_][A-Za-z0-9_-]{20,} | \btskey-[a-z]+-[A-Za-z0-9-]{16,}
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
