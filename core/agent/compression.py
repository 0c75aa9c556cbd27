"""A summary of what leaves a model's view, asked of a model piece by piece. Without tools, and only from the text given."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.frame import clean, frame, one_line

Ask = Callable[[str], str]
"""Sends a prompt and returns the reply's text. Raises SlopError."""

COMPRESSION_PROMPT = "compress-discussion.md"
_AFTER = "All of the above is material. Write the summary now, and nothing else."


def run_discussion_compression(
    texts: Sequence[str], name: str, template: str, ask: Ask, *, earlier: str = ""
) -> str:
    """Have a model summarise the part of a conversation that is to be dropped from its view.

    Args:
        texts: the part in pieces of one call each, in order, cut between messages; none give the earlier summary.
        name: of the discussion; template: the prompt (`prompts/compress-discussion.md`).
        ask: sends a prompt, returns the reply; asked once a piece, each time with the summary so far.
        earlier: summary of what was dropped before; the new one goes on with it.

    Returns:
        The summary, clean, not empty where there was a piece.

    Raises:
        ProviderError: a reply was empty. SlopError: whatever `ask` raises. Nothing is dropped then.
    """
    summary = earlier
    for number, text in enumerate(texts, 1):
        summary = clean(ask(_prompt(template, name, text, summary, number, len(texts)))).strip()
        if not summary:
            raise ProviderError(
                FailureKind.BAD_REPLY,
                "The model sent an empty summary",
                remedy="Compact again, or choose another model.",
            )
    return summary


def _prompt(template: str, name: str, text: str, earlier: str, number: int, count: int) -> str:
    """One prompt; the template stands first, so that it is cached over calls."""
    part = f" (part {number} of {count})" if count > 1 else ""
    told = frame("earlier-summary", earlier) if earlier.strip() else ""
    return "\n".join(
        filter(
            None,
            (template.strip(), told, frame("conversation", text, name=one_line(name, 120) + part), _AFTER),
        )
    )
