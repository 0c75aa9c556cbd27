"""Gemini's stored prefixes (`cachedContents`): made, found again, extended, listed, deleted; what is held is known.

Source: google-genai 3.3.0, caches.py; ai.google.dev "Context caching" (read 2026-10-13): stored by token and hour, not
renewed by use, a missing one is 403.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.language import tr
from core.kernel.values.cache import ContentsPlan
from core.kernel.values.provider import ContentsReport, StoredContent
from core.services.providers.door import sound_content
from core.services.providers.failures import is_answer_lost

if TYPE_CHECKING:
    from google import genai
    from google.genai import types

DISPLAY_PREFIX = "manual-slop/"
"""Display names are this, the discussion's id, a slash and the prefix's hash: enough to know our own again."""

PER_PAGE = 100
MOST_LISTED = 10_000
GONE = frozenset({403, 404})
_TOO_SMALL = re.compile(r"min_total_token_count=(\d+)")
_NEVER = re.compile(r"(?i)does not support cached content|FreeTier.*limit=0|limit=0\b.*requested")


class Prefix(msgspec.Struct, frozen=True):
    """Prefix that a content is to hold: everything up to the end of a plan's prefix, in the SDK's types."""

    contents: tuple[types.Content, ...]
    system_instruction: types.Content | None
    tools: tuple[types.Tool, ...]


class GeminiCaches:
    """The contents of one key. Thread-safe; every method but `held`, `find` and `minimum_tokens` asks the server.

    Args:
        client: gives the SDK's client; failures: translates what a call raises (model, path).
        clock: gives the time with its zone.
    """

    def __init__(
        self,
        client: Callable[[], genai.Client],
        failures: Callable[[str, str], AbstractContextManager[None]],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._client = client
        self._failures = failures
        self._clock = clock
        self._lock = threading.Lock()
        self._making = threading.Lock()
        self._held: dict[str, StoredContent] = {}
        self._absent: frozenset[str] = frozenset()
        self._minimum: dict[str, int] = {}
        self._refused: set[tuple[str, str]] = set()
        self._unsure: set[tuple[str, str]] = set()

    @property
    def held(self) -> tuple[StoredContent, ...]:
        """The contents that are known to live, oldest first."""
        now = self._clock()
        with self._lock:
            return tuple(content for content in self._held.values() if content.expires_at > now)

    @property
    def absent(self) -> frozenset[str]:
        """Names of contents that were gone already when they were to be deleted."""
        return self._absent

    def find(self, model: str, prefix_hash: str) -> StoredContent | None:
        """The live content that holds a prefix for a model, None where none is known."""
        matching = (c for c in self.held if (c.model, c.prefix_hash) == (model, prefix_hash))
        return next(matching, None)

    def minimum_tokens(self, model: str) -> int | None:
        """The smallest content that the server accepts, as its last refusal said. None if it has refused none."""
        return self._minimum.get(model)

    def list_own(self) -> tuple[StoredContent, ...]:
        """Every live content of the key that this program made, known or not. Raises ProviderError."""
        with self._failures("", "cachedContents"):
            found = self._client().caches.list(config={"page_size": PER_PAGE})
            return tuple(
                content for listed in islice(found, MOST_LISTED) if (content := _ours(listed)) is not None
            )

    def adopt(self, discussion_ids: Collection[str]) -> tuple[StoredContent, ...]:
        """Find again, after a start, what is still stored and billed.

        Args:
            discussion_ids: discussions that may use theirs; their contents are held from now on.

        Returns:
            The orphans: contents of ours that belong to no such discussion. They are billed until `delete`.

        Raises:
            ProviderError: the list cannot be had; nothing changed.
        """
        own = self.list_own()
        with self._lock:
            self._held |= {c.name: c for c in own if c.discussion_id in discussion_ids}
        return tuple(content for content in own if content.discussion_id not in discussion_ids)

    def extend(self, name: str, ttl_s: int) -> StoredContent:
        """Let a content live so many seconds from now on.

        Raises:
            ProviderError: status 403 or 404 where it is gone; it is then no longer held.
        """
        try:
            with self._failures("", name):
                answer = self._client().caches.update(name=name, config={"ttl": f"{ttl_s}s"})
        except ProviderError as error:
            self._forget_gone(name, error)
            raise
        return self._hold(answer)

    def delete(self, name: str) -> None:
        """End a content and its rent. One that is gone already is no failure. Raises ProviderError.

        Where no answer came it is asked for once more: whether it has ended tells when its rent did.
        """
        try:
            self._delete(name)
        except ProviderError as error:
            if is_answer_lost(error):
                self._delete_again(name)
            elif error.status in GONE:
                with self._lock:
                    self._absent |= {name}
            else:
                raise
        self.forget(name)

    def _delete_again(self, name: str) -> None:
        try:
            self._delete(name)
        except ProviderError as error:
            if error.status not in GONE:
                raise

    def _delete(self, name: str) -> None:
        with self._failures("", name):
            self._client().caches.delete(name=name)

    def delete_held(self, discussion_id: str = "") -> tuple[str, ...]:
        """Delete what is held, of one discussion where one is named.

        Returns:
            Names that could not be deleted; they stay held, and are billed until they expire.
        """
        return self.delete_all(c.name for c in self.held if discussion_id in {"", c.discussion_id})

    def delete_all(self, names: Iterable[str]) -> tuple[str, ...]:
        """Delete contents by name. Returns those that could not be deleted; they are billed until they expire."""
        left = []
        for name in names:
            try:
                self.delete(name)
            except ProviderError:
                left.append(name)
        return tuple(left)

    def forget(self, name: str) -> None:
        """Hold a content no longer; nothing is deleted."""
        with self._lock:
            self._held.pop(name, None)

    def ready(
        self, plan: ContentsPlan, model: str, discussion_id: str, prefix: Prefix
    ) -> ContentsReport | None:
        """Provide the content of a plan: find it, extend it or create it. Never raises.

        Args:
            prefix: what a new content is to hold.

        Returns:
            With `stored` to send by; without, what went wrong; None where the plan's prefix was refused before.
        """
        try:
            known = self.find(model, plan.prefix_hash)
            if known is None and plan.name:
                known = self._fetch(plan.name)
            if known is not None:
                return self._usable(self._extended(known, plan.ttl_s))
            return self._made(plan, model, discussion_id, prefix)
        except ProviderError as error:
            lost = plan.name if error.status in GONE else ""
            self._learn(model, plan.prefix_hash, error)
            return ContentsReport(text=unusable(error), lost_name=lost)

    def _usable(self, content: StoredContent) -> ContentsReport:
        """A content is sent by while it lives: one that has ended by now is not named to the vendor."""
        if content.expires_at > self._clock():
            return ContentsReport(stored=content)
        self.forget(content.name)
        return ContentsReport(text=tr("The stored prefix has expired."), lost_name=content.name)

    def _made(
        self, plan: ContentsPlan, model: str, discussion_id: str, prefix: Prefix
    ) -> ContentsReport | None:
        """One at a time: a second discussion with the same prefix waits, and uses what the first made.

        What may stand although its making was not answered is looked for before another is made: it is paid for.
        """
        key = (model, plan.prefix_hash)
        with self._making:
            known = self.find(model, plan.prefix_hash)
            if known is not None:
                return ContentsReport(stored=known)
            content = None
            if key in self._unsure:
                content = self._standing(model, plan.prefix_hash)
                self._unsure.discard(key)
            if content is None and {key, (model, "")} & self._refused:
                return None
            try:
                content = content or self._make(plan, model, discussion_id, prefix)
            except ProviderError as error:
                if not is_answer_lost(error) and error.kind is not FailureKind.BAD_REPLY:
                    raise
                self._unsure.add(key)
                content = self._standing(model, plan.prefix_hash)
                if content is None:
                    raise
            return ContentsReport(stored=content, is_new=True)

    def _standing(self, model: str, prefix_hash: str) -> StoredContent | None:
        """The content that was made although nobody was told so, held from now on; None where none stands."""
        standing = (one for one in self.list_own() if (one.model, one.prefix_hash) == (model, prefix_hash))
        found = next(standing, None)
        if found is not None:
            with self._lock:
                self._held[found.name] = found
        return found

    def _make(self, plan: ContentsPlan, model: str, discussion_id: str, prefix: Prefix) -> StoredContent:
        config: Any = {
            "ttl": f"{plan.ttl_s}s",
            "display_name": f"{DISPLAY_PREFIX}{discussion_id}/{plan.prefix_hash}",
            "contents": list(prefix.contents) or None,
            "system_instruction": prefix.system_instruction,
            "tools": list(prefix.tools) or None,
        }
        with self._failures("", "cachedContents"):
            return self._hold(self._client().caches.create(model=model, config=config))

    def _fetch(self, name: str) -> StoredContent:
        with self._failures("", name):
            return self._hold(self._client().caches.get(name=name))

    def _extended(self, content: StoredContent, ttl_s: int) -> StoredContent:
        """The content with more time where half of what is asked for has passed; as it is where the server does not answer."""
        left_s = (content.expires_at - self._clock()).total_seconds()
        if ttl_s <= 0 or left_s >= ttl_s / 2:
            return content
        try:
            return self.extend(content.name, ttl_s)
        except ProviderError as error:
            if error.status in GONE:
                raise
            return content

    def _hold(self, answer: types.CachedContent) -> StoredContent:
        content = _stored(answer)
        with self._lock:
            self._held[content.name] = content
        return content

    def _forget_gone(self, name: str, error: ProviderError) -> None:
        if error.status in GONE:
            self.forget(name)

    def _learn(self, model: str, prefix_hash: str, error: ProviderError) -> None:
        """Remember a refusal that would come again, so that it is asked for once."""
        too_small = _TOO_SMALL.search(error.what)
        if too_small:
            self._minimum[model] = int(too_small[1])
        if _NEVER.search(error.what):
            self._refused.add((model, ""))
        elif error.status == 400:
            self._refused.add((model, prefix_hash))


def unusable(error: ProviderError) -> str:
    """Reason why a stored prefix was not used, in a sentence. One that is gone is refused as if the key might not have it."""
    why = tr("the stored prefix was deleted or has expired.") if error.status in GONE else error.what
    return tr("The provider could not use the stored prefix: {why}", why=why)


def _stored(answer: types.CachedContent) -> StoredContent:
    made = answer.create_time
    ends = answer.expire_time
    if not answer.name or made is None or ends is None:
        raise ValueError(tr("the provider lists a stored prefix without its name, or without its times"))
    discussion_id, prefix_hash = _named(answer.display_name or "")
    usage = answer.usage_metadata
    return sound_content(
        StoredContent(
            name=answer.name,
            model=(answer.model or "").removeprefix("models/"),
            prefix_hash=prefix_hash,
            discussion_id=discussion_id,
            tokens=(usage.total_token_count if usage else None) or 0,
            created_at=made,
            expires_at=ends,
        )
    )


def _ours(answer: types.CachedContent) -> StoredContent | None:
    return _stored(answer) if (answer.display_name or "").startswith(DISPLAY_PREFIX) else None


def _named(display_name: str) -> tuple[str, str]:
    """Discussion and hash of a display name, empty where it is not one of ours."""
    _, is_ours, rest = display_name.partition(DISPLAY_PREFIX)
    discussion_id, _, prefix_hash = rest.rpartition("/") if is_ours else ("", "", "")
    return discussion_id, prefix_hash
