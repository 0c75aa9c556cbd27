"""Remedies in a terminal's words: what the window says of its own pages and buttons, as a command line does it."""

from __future__ import annotations

WORDS = (
    (" The Caching panel tells each.", ""),
    (
        "Enter one in Settings, Providers, then press Retry",
        "Store one with `manual-slop key`, then send it again with --retry",
    ),
    ("Enter one in Settings, Providers", "Store one with `manual-slop key`"),
    ("tore a key on the settings page", "tore one with `manual-slop key`"),
    ("Check the key on the settings page", "Check the key (`manual-slop key` says where it was found)"),
    (
        "refresh the list of models on the settings page",
        "refresh the list with `manual-slop models --refresh`",
    ),
    (
        "Give its base_url on the settings page",
        "Give its base_url in the settings (`manual-slop doctor` names the file)",
    ),
    ("Choose another model for this discussion", "Choose another with --model"),
    ("choose another model", "choose another with --model"),
    ("choose another provider", "choose another with --provider"),
    ("Send it again past the limit", "Send it again with --over-limit"),
    ('send it with "over_limit": true and the token of approvals', "send it with --over-limit"),
    ('send it with "queue": true', "send it with --queue"),
    ("or update the prices", "or take newer ones with `manual-slop models --update-prices`"),
    ("in Caching, Overview", "in the settings"),
    ("or say that it may be replaced", "or write over it with --replace"),
    (
        "Press Continue for the rest, or raise the limit of the reply",
        "Send another message for the rest, or raise the limit with --max-output",
    ),
    ("Press Continue for the rest, or Retry", "Send another message for the rest, or it again with --retry"),
    ("press Continue for the rest, or Retry", "send another message for the rest, or it again with --retry"),
    ("Press Continue for the rest", "Send another message for the rest"),
    ("Press Retry", "Send it again with --retry"),
    ("press Retry", "send it again with --retry"),
)
"""Phrases of the window, each with the terminal's; a longer one stands before a part of it."""


def in_terminal(text: str) -> str:
    """A sentence with a remedy, as a person at a terminal can follow it. Other text stays as it is."""
    for window, terminal in WORDS:
        text = text.replace(window, terminal)
    return text
