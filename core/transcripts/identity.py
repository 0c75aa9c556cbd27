"""Identity of conversations that have no id of their own: by what they begin with, which stays when they grow."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256

from core.values.messages import TextPart
from core.values.transcript import TranscriptMessage


def content_id(messages: Sequence[TranscriptMessage], at: datetime | None = None) -> str:
    """Id by the first words that were said, who said them and when. `at`: when the conversation began, if known."""
    first = next((one for one in messages if not one.is_aside), messages[0] if messages else None)
    words = "" if first is None else "\0".join(p.text for p in first.parts if isinstance(p, TextPart))
    said_at = at or (first.at if first is not None else None)
    told = (
        said_at.isoformat() if said_at is not None else "",
        first.role if first is not None else "",
        words,
    )
    return f"content-{sha256(chr(0).join(told).encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
