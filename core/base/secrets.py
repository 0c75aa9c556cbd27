"""Secrets out of text that leaves the truth: what is indexed, previewed or harvested must not hold keys."""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import Any

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
    | \b(?:ATATT|ATCTT|ATBB)[A-Za-z0-9_=-]{20,} | \bdapi[0-9a-f]{32}\b | \bfigd_[A-Za-z0-9_-]{30,} | \blin_api_[A-Za-z0-9]{30,}
    | \bntn_[A-Za-z0-9]{40,} | \bPMAK-[0-9a-f]{24}-[0-9a-f]{34}\b | \bglsa_[A-Za-z0-9]{32}_[0-9a-f]{8}\b
    | \bsntry[su]_[A-Za-z0-9+/=_-]{30,} | \bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9]{40,} | \bhv[sbr]\.[A-Za-z0-9_-]{24,}
    | \b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,} | \bpul-[0-9a-f]{40}\b | \brubygems_[0-9a-f]{48}\b
    | \bdckr_[po]at_[A-Za-z0-9_-]{27,} | \bsbp_[0-9a-f]{40}\b | \bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,}
    | \bkey-[0-9a-f]{32}\b | \bNRAK-[A-Z0-9]{27}\b | \bxapp-\d-[A-Z0-9]{8,}-\d{8,}-[a-z0-9]{20,} | \bLTAI[A-Za-z0-9]{16,20}\b
    | \bgl(?:dt|rt|ptt|ft|cbt|soat|imt|agent|oas)-[A-Za-z0-9_-]{16,} | \bHRKU-[0-9a-fA-F-]{36,} | \bEAA[A-Za-z0-9]{80,} | \b1//0[A-Za-z0-9_-]{40,}
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


def scrub_thoroughly(text: str) -> str:
    """As `scrub`, and then by the detectors of detect-secrets: for what a model reads, and for what it answers.

    Linear in its length, about 0.3 s for a megabyte; the first call loads them. Nothing is asked over the network.
    """
    text = scrub(text)
    for detector in _detectors():
        for pattern in detector.denylist:
            text = pattern.sub(_masked, text)
    return text


def _masked(match: re.Match[str]) -> str:
    """A find without its secret: the group that holds it, or all of it where a group is only its prefix."""
    whole = match.group()
    group = max((part for part in match.groups() if part), key=len, default="")
    secret = group if len(group) >= _LEAST_CHARS else whole.strip(" \t\r\n=:\"'")
    return whole if MASK in secret or len(secret) < _LEAST_CHARS else whole.replace(secret, MASK)


_LEAST_CHARS = 12
"""Of a secret; a shorter group of a find is the kind of key and not the key."""

_PLUGINS = {
    "artifactory": "ArtifactoryDetector",
    "aws": "AWSKeyDetector",
    "cloudant": "CloudantDetector",
    "discord": "DiscordBotTokenDetector",
    "github_token": "GitHubTokenDetector",
    "ibm_cloud_iam": "IbmCloudIamDetector",
    "ibm_cos_hmac": "IbmCosHmacDetector",
    "jwt": "JwtTokenDetector",
    "mailchimp": "MailchimpDetector",
    "npm": "NpmDetector",
    "sendgrid": "SendGridDetector",
    "slack": "SlackDetector",
    "softlayer": "SoftlayerDetector",
    "square_oauth": "SquareOAuthDetector",
    "stripe": "StripeDetector",
    "twilio": "TwilioKeyDetector",
}
"""The detectors that know a shape. Left out: entropy and keywords, which take hashes and talk for secrets, and that
of Azure, which takes the hashes of lock files; those of passwords in addresses and of private keys, which find less."""


@cache
def _detectors() -> tuple[Any, ...]:
    modules = (
        (importlib.import_module(f"detect_secrets.plugins.{name}"), kind) for name, kind in _PLUGINS.items()
    )
    return tuple(getattr(module, kind)() for module, kind in modules)
