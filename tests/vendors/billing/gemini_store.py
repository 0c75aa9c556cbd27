"""Gemini's `cachedContents`: create, get, list, patch, delete, and what storing costs.

Sources: ai.google.dev "Context caching" (read 2026-10-13); google-genai 3.3.0 `caches.py`; live answers that
others recorded (2026-09-07): a missing cache is 403 everywhere, a list without entries is `{}`, the default
lifetime is an hour.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.vendors.billing.clock import moment
from tests.vendors.billing.gemini_render import prompt
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Json, Refused

DEFAULT_TTL_S = 3600.0
PAGE_SIZE = 50
MAX_PAGE_SIZE = 1000
_DURATION = re.compile(r"^(\d+(?:\.\d+)?)s$")
_CREATE = {
    "model",
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "ttl",
    "expireTime",
    "displayName",
    "kmsKeyName",
    "name",
}


@dataclass(slots=True)
class Cached:
    """A stored prefix. `ended_s`: when it was deleted, None while it was not."""

    name: str
    owner: str
    model: str
    display_name: str
    tokens: int
    created_s: float
    updated_s: float
    expires_s: float
    ended_s: float | None = None

    def is_alive(self, now_s: float) -> bool:
        return self.ended_s is None and self.expires_s > now_s

    def stored_s(self, now_s: float) -> float:
        """Seconds that were stored and are billed."""
        end_s = min(now_s, self.expires_s if self.ended_s is None else min(self.ended_s, self.expires_s))
        return max(0.0, end_s - self.created_s)

    def resource(self) -> Json:
        """As the API shows it: nothing of the content."""
        return {
            "name": self.name,
            "model": self.model,
            "displayName": self.display_name,
            "createTime": _stamp(self.created_s),
            "updateTime": _stamp(self.updated_s),
            "expireTime": _stamp(self.expires_s),
            "usageMetadata": {"totalTokenCount": self.tokens},
        }


class CachedContents:
    """The store, all projects in one; `owner` keeps them apart."""

    def __init__(
        self,
        clock: Callable[[], float],
        texts: Texts,
        *,
        minimum: Callable[[str], int],
        takes_explicit: Callable[[str], bool],
        is_free_tier: bool = False,
    ) -> None:
        self._clock = clock
        self._texts = texts
        self._minimum = minimum
        self._takes_explicit = takes_explicit
        self._is_free_tier = is_free_tier
        self._all: dict[str, Cached] = {}

    def create(self, body: Json, *, owner: str = "default") -> Json:
        """`POST /v1beta/cachedContents`. Raises Refused."""
        for name in body:
            if name not in _CREATE:
                raise unknown_name(name, "cached_content")
        model = full_name(str(body.get("model", "")))
        if not self._takes_explicit(model):
            raise Refused(400, "INVALID_ARGUMENT", f"Model {model} does not support cached content creation.")
        tokens = sum(size for _, size in prompt(body, self._texts))
        least = self._minimum(model)
        if tokens < least:
            raise Refused(
                400,
                "INVALID_ARGUMENT",
                f"Cached content is too small. total_token_count={tokens}, min_total_token_count={least}",
            )
        if self._is_free_tier:
            raise Refused(
                429,
                "RESOURCE_EXHAUSTED",
                f"TotalCachedContentStorageTokensPerModelFreeTier limit exceeded for model {_bare(model)}: limit=0,"
                f" requested={tokens}",
            )
        now_s = self._clock()
        name = f"cachedContents/{self._id(owner)}"
        shown = str(body.get("displayName") or "")
        cached = Cached(name, owner, model, shown, tokens, now_s, now_s, _expiry(body, now_s, DEFAULT_TTL_S))
        self._all[name] = cached
        return cached.resource()

    def get(self, name: str, *, owner: str = "default") -> Json:
        """`GET /v1beta/cachedContents/{id}`. Raises Refused."""
        return self.find(name, owner).resource()

    def patch(self, name: str, body: Json, *, owner: str = "default") -> Json:
        """`PATCH`: only the expiry can be changed. Raises Refused."""
        cached = self.find(name, owner)
        for field in body:
            if field not in {"ttl", "expireTime", "name"}:
                raise Refused(400, "INVALID_ARGUMENT", "Only ttl and expireTime can be updated.")
        now_s = self._clock()
        cached.expires_s = _expiry(body, now_s, None)
        cached.updated_s = now_s
        return cached.resource()

    def delete(self, name: str, *, owner: str = "default") -> Json:
        """`DELETE`. Storage stops to be billed. Raises Refused."""
        self.find(name, owner).ended_s = self._clock()
        return {}

    def page(self, *, page_size: int = 0, page_token: str = "", owner: str = "default") -> Json:
        """`GET /v1beta/cachedContents`, a page of the live ones, oldest first."""
        now_s = self._clock()
        live = [cached for cached in self._all.values() if cached.owner == owner and cached.is_alive(now_s)]
        if page_token and not page_token.isdecimal():
            raise Refused(400, "INVALID_ARGUMENT", "Page token is invalid")
        size = min(page_size or PAGE_SIZE, MAX_PAGE_SIZE)
        start = int(page_token or 0)
        answer: Json = {}
        if live[start : start + size]:
            answer["cachedContents"] = [cached.resource() for cached in live[start : start + size]]
        if start + size < len(live):
            answer["nextPageToken"] = str(start + size)
        return answer

    def find(self, name: str, owner: str) -> Cached:
        """A live cache of an owner's.

        Raises Refused: 403 for expired, deleted, foreign and unknown ones alike.
        """
        cached = self._all.get(name)
        if cached is None or cached.owner != owner or not cached.is_alive(self._clock()):
            raise Refused(403, "PERMISSION_DENIED", "CachedContent not found (or permission denied)")
        return cached

    def token_hours(self, now_s: float) -> dict[str, float]:
        """What was stored so far, in token-hours by model."""
        found: dict[str, float] = {}
        for cached in self._all.values():
            model = _bare(cached.model)
            found[model] = found.get(model, 0.0) + cached.tokens * cached.stored_s(now_s) / 3600
        return found

    def _id(self, owner: str) -> str:
        return hashlib.sha256(f"{owner} {len(self._all)}".encode()).hexdigest()[:40]


def full_name(model: str) -> str:
    """`models/x`, whether or not it came with its prefix."""
    return model if model.startswith("models/") else f"models/{model}"


def unknown_name(name: str, where: str) -> Refused:
    """The 400 for a field that the API does not know."""
    return Refused(
        400,
        "INVALID_ARGUMENT",
        f"Invalid JSON payload received. Unknown name \"{name}\" at '{where}': Cannot find field.",
    )


def _bare(model: str) -> str:
    return model.removeprefix("models/")


def _expiry(body: Json, now_s: float, default_s: float | None) -> float:
    if "ttl" in body and "expireTime" in body:
        raise Refused(400, "INVALID_ARGUMENT", "Only one of ttl and expireTime may be set.")
    if "expireTime" in body:
        return _instant(str(body["expireTime"]))
    if "ttl" in body:
        found = _DURATION.match(str(body["ttl"]))
        if found is None or float(found[1]) <= 0:
            raise Refused(400, "INVALID_ARGUMENT", f"Invalid value for ttl: {body['ttl']!r}")
        return now_s + float(found[1])
    if default_s is None:
        raise Refused(400, "INVALID_ARGUMENT", "One of ttl and expireTime must be set.")
    return now_s + default_s


def _instant(text: str) -> float:
    try:
        return datetime.fromisoformat(text).astimezone(UTC).timestamp()
    except ValueError as error:
        raise Refused(400, "INVALID_ARGUMENT", f"Invalid value for expireTime: {text!r}") from error


def _stamp(seconds: float) -> str:
    return moment(seconds).isoformat(timespec="microseconds").replace("+00:00", "Z")
