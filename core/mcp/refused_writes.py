"""Writes of an MCP server that its sandbox refused: which files, and how a person lets a server write there. Pure."""

from __future__ import annotations

import os
from collections.abc import Iterator

from core.kernel.language import as_sentences, tr
from core.kernel.patterns import late

_REFUSED = late(r"(?i)EROFS|read-only file system|(?:errno|os error) 30\b|EPERM: operation not permitted")
"""Words of Node, Python, Go, Rust and C for a place that the sandbox keeps as it is."""
_PLACE = late(r"""(?<![\w.:/~-])(/[^\s'"`<>|:,;()\[\]{}]{1,400})|['"`](/[^'"`\n]{1,400})['"`]""")
_OF_A_PACKAGE = late(r"/(?:node_modules|site-packages|dist-packages)/")
_MOST = 3
_LINES = 400


def refused_writes(answer: str, root: str) -> tuple[str, ...]:
    """Files beyond the project that an answer says could not be written for a file system that is read-only, each once.

    Args:
        answer: as the server gave it; root: of the project, which it may write; empty where it may write none.
    """
    return tuple(dict.fromkeys(_places(answer, root)))[:_MOST]


def _places(answer: str, root: str) -> Iterator[str]:
    for line in answer.splitlines()[:_LINES]:
        if _REFUSED.search(line):
            for found in _PLACE.finditer(line):
                place = os.path.normpath(found[1] or found[2])
                if not (root and (place == root or place.startswith(f"{root}/"))):
                    yield place


def write_note(server: str, places: tuple[str, ...], root: str) -> tuple[str, str]:
    """Words on writes that were refused, and on the way to allow them."""
    what = as_sentences(
        tr("The MCP server {server} could not write {places}.", server=server, places=", ".join(places)),
        tr("The server may write only into the project ({root}) and its own /tmp.", root=root)
        if root
        else tr("The server may write only into its own /tmp."),
    )
    if _OF_A_PACKAGE.search(places[0]):  # its own code: nobody should write there
        return what, tr("Give the server a folder in this project. Its README names the argument or variable")
    folder = os.path.dirname(places[0]) or "/"
    remedy = tr(
        "To allow that, open the folder: manual-slop --project {folder}, or Open folder. Then trust the folder. Or give the server a folder in this project. Its README names the argument or variable",
        folder=folder,
    )
    return what, remedy
