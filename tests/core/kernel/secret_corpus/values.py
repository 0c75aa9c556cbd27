"""Makers of secrets and of what looks like them, from a seed: none stands in a file, where scanners would find it."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

_WORDS = [
    "amber",
    "anchor",
    "badger",
    "canyon",
    "cobalt",
    "dragon",
    "ember",
    "falcon",
    "glacier",
    "harbor",
    "indigo",
    "jungle",
    "lagoon",
    "meadow",
]


@dataclass(frozen=True)
class Sample:
    """One text. `secret` is what must not survive in it; empty for a look-alike, which must stay as it is.

    `kind` is for the table; `place` is one of talk, reply, code, log, json, yaml, shell.
    """

    kind: str
    place: str
    text: str
    secret: str = ""


class Values:
    """Random values of the shapes that secrets have, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of(self, alphabet: str, count: int) -> str:
        return "".join(self._random.choices(alphabet, k=count))

    def letters(self, count: int) -> str:
        """Letters of both cases and digits, at least one of each where there is room."""
        made = self.of(string.ascii_letters + string.digits, max(0, count - 3)) + "q7K"
        return made[:count]

    def lower(self, count: int) -> str:
        return self.of(string.ascii_lowercase + string.digits, count - 2) + "g4"

    def upper(self, count: int) -> str:
        return self.of(string.ascii_uppercase + string.digits, count - 1) + "7"

    def digits(self, count: int) -> str:
        return self.of("123456789", count)

    def hex(self, count: int) -> str:
        return self.of(string.hexdigits[:16], count)

    def url(self, count: int) -> str:
        return self.of(string.ascii_letters + string.digits + "_-", count - 3) + "a9Z"

    def base64(self, count: int) -> str:
        """So many random bytes in base64."""
        return base64.b64encode(self._random.randbytes(count)).decode()

    def base32(self, count: int) -> str:
        return self.of("023456789ACDEFGHJKLMNPQRSTUVWXYZ", count)

    def password(self, count: int = 14) -> str:
        """A password as managers make them, without blanks, quotes, or what ends a value somewhere."""
        return self.of(string.ascii_letters + string.digits + "!*+%^~.-_", count - 3) + "x7Q"

    def phrase(self) -> str:
        return "-".join(self._random.sample(_WORDS, 3)) + str(self._random.randint(10, 99))

    def odd(self) -> str:
        """A password with the characters that URLs part at."""
        return f"{self.letters(5)}@{self.letters(3)}/{self.letters(4)}"

    def uuid(self) -> str:
        return "-".join(self.hex(n) for n in (8, 4, 4, 4, 12))

    def choice(self, of: Sequence[str]) -> str:
        return self._random.choice(of)

    def jwt(self) -> str:
        head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
        body = base64.urlsafe_b64encode(f'{{"sub":"{self.digits(9)}"}}'.encode()).decode().rstrip("=")
        return f"{head}.{body}.{self.url(43)}"

    def lines(self, count: int, width: int = 64) -> str:
        return "\n".join(self.base64(width * 3 // 4) for _ in range(count))

    def pem(self, label: str) -> str:
        return f"-----BEGIN {label}-----\n{self.lines(4)}\n-----END {label}-----"

    def pgp(self) -> str:
        rule = "-----{} PGP PRIVATE KEY BLOCK-----"
        return f"{rule.format('BEGIN')}\n\n{self.lines(4)}\n={self.base64(3)}\n{rule.format('END')}"

    def env(self) -> str:
        """An environment file in base64, as `base64 -w0 .env` prints it."""
        text = f"DB_HOST=localhost\nDB_PASSWORD={self.password()}\nAPI_TOKEN={self.letters(30)}\n"
        return base64.b64encode(text.encode()).decode()

    def docker(self) -> str:
        return base64.b64encode(f"robot:{self.letters(20)}".encode()).decode()

    def discord(self) -> str:
        return f"{base64.b64encode(self.digits(18).encode()).decode()}.{self.url(6)}.{self.url(38)}"


Make = Callable[[Values], str]

VENDORS: dict[str, Make] = {
    "OpenAI": lambda v: f"sk-proj-{v.url(60)}",
    "OpenAI, old": lambda v: f"sk-{v.letters(48)}",
    "Anthropic": lambda v: f"sk-ant-api03-{v.url(93)}AA",
    "OpenRouter": lambda v: f"sk-or-v1-{v.hex(64)}",
    "Google": lambda v: f"AIza{v.url(35)}",
    "Google OAuth": lambda v: f"ya29.{v.url(80)}",
    "Google client": lambda v: f"GOCSPX-{v.url(28)}",
    "GitHub": lambda v: f"{v.choice(['ghp', 'gho', 'ghs', 'ghu', 'ghr'])}_{v.letters(36)}",
    "GitHub, fine": lambda v: f"github_pat_{v.letters(22)}_{v.letters(59)}",
    "GitLab": lambda v: f"glpat-{v.url(20)}",
    "GitLab runner": lambda v: f"glrt-{v.url(20)}",
    "Slack": lambda v: f"xoxb-{v.digits(12)}-{v.digits(13)}-{v.letters(24)}",
    "Slack app": lambda v: f"xapp-1-A{v.upper(10)}-{v.digits(13)}-{v.hex(64)}",
    "Slack hook": lambda v: f"hooks.slack.com/services/T{v.upper(10)}/B{v.upper(10)}/{v.letters(24)}",
    "Discord": Values.discord,
    "Discord hook": lambda v: f"discord.com/api/webhooks/{v.digits(18)}/{v.url(68)}",
    "Telegram": lambda v: f"{v.digits(10)}:AA{v.url(33)}",
    "AWS id": lambda v: f"{v.choice(['AKIA', 'ASIA'])}{v.of('ABCDEFGHJKLMNPQR234567', 16)}",
    "Stripe": lambda v: f"{v.choice(['sk', 'rk'])}_{v.choice(['live', 'test'])}_{v.letters(24)}",
    "Stripe hook": lambda v: f"whsec_{v.letters(32)}",
    "Square": lambda v: f"sq0csp-{v.url(43)}",
    "SendGrid": lambda v: f"SG.{v.url(22)}.{v.url(43)}",
    "Twilio": lambda v: f"SK{v.hex(32)}",
    "Mailchimp": lambda v: f"{v.hex(32)}-us{v.digits(2)}",
    "Mailgun": lambda v: f"key-{v.hex(32)}",
    "npm": lambda v: f"npm_{v.letters(36)}",
    "PyPI": lambda v: f"pypi-AgEIcHlwaS5vcmc{v.url(120)}",
    "RubyGems": lambda v: f"rubygems_{v.hex(48)}",
    "Docker": lambda v: f"dckr_pat_{v.url(27)}",
    "Hugging Face": lambda v: f"hf_{v.letters(34)}",
    "xAI": lambda v: f"xai-{v.letters(80)}",
    "Groq": lambda v: f"gsk_{v.letters(52)}",
    "Perplexity": lambda v: f"pplx-{v.letters(48)}",
    "Replicate": lambda v: f"r8_{v.letters(37)}",
    "NVIDIA": lambda v: f"nvapi-{v.url(64)}",
    "DigitalOcean": lambda v: f"dop_v1_{v.hex(64)}",
    "Shopify": lambda v: f"shpat_{v.hex(32)}",
    "Atlassian": lambda v: f"ATATT3xFfGF0{v.url(160)}",
    "Databricks": lambda v: f"dapi{v.hex(32)}",
    "Figma": lambda v: f"figd_{v.url(40)}",
    "Linear": lambda v: f"lin_api_{v.letters(40)}",
    "Notion": lambda v: f"ntn_{v.letters(46)}",
    "Postman": lambda v: f"PMAK-{v.hex(24)}-{v.hex(34)}",
    "Grafana": lambda v: f"glsa_{v.letters(32)}_{v.hex(8)}",
    "Sentry": lambda v: f"sntrys_{v.letters(80)}",
    "Doppler": lambda v: f"dp.pt.{v.letters(43)}",
    "Vault": lambda v: f"hvs.{v.url(90)}",
    "Terraform": lambda v: f"{v.letters(14)}.atlasv1.{v.url(67)}",
    "Pulumi": lambda v: f"pul-{v.hex(40)}",
    "Supabase": lambda v: f"sbp_{v.hex(40)}",
    "PlanetScale": lambda v: f"pscale_tkn_{v.url(43)}",
    "New Relic": lambda v: f"NRAK-{v.upper(27)}",
    "Alibaba": lambda v: f"LTAI{v.letters(20)}",
    "Heroku": lambda v: f"HRKU-{v.uuid()}",
    "Facebook": lambda v: f"EAA{v.letters(120)}",
    "Tailscale": lambda v: f"tskey-auth-{v.letters(11)}-{v.letters(32)}",
    "age": lambda v: f"AGE-SECRET-KEY-1{v.base32(58)}",
    "Artifactory": lambda v: f"AKC{v.letters(70)}",
    "JWT": Values.jwt,
}
"""Kinds that are told by their own shape, and how each is made."""


def filled(
    kind: str, rows: Sequence[tuple[str, str]], make: Make, values: Values, *, times: int = 1
) -> Iterator[Sample]:
    """Samples of one kind: every row, a place and a text with `{s}`, with a secret of its own, so many times."""
    for _ in range(times):
        for place, text in rows:
            secret = make(values)
            yield Sample(kind, place, text.replace("{s}", secret), secret)
