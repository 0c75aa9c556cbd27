"""Text of a rich text file (RTF) of Word, WordPad, TextEdit or LibreOffice. Source: Microsoft, RTF Specification 1.9.1."""

from __future__ import annotations

from collections.abc import Callable

from core.kernel.patterns import late

RTF = b"{\\rtf"
"""First bytes of a rich text file."""

_NOTE = late(r"\\footnote(?![a-z])")
_DELETED = late(r"\\deleted1?(?![a-z0-9])")
_RAISED = late(r"(\\super1?(?![a-z0-9])(?:\\[a-z]{1,20}-?\d{0,6}){0,20} )(?=[-+\d])")
_LINES = late(r"\n{3,}")


def rtf_text(data: bytes) -> str:
    """Words of the document, a table row a line with `|` behind each cell.

    Footnotes stand at their place behind `[Note]`, raised numbers behind `^`. Struck words that a reviewer deleted are left out.
    striprtf passes over the former and takes the latter for words.

    Raises:
        ValueError, LookupError: it is not read.
    """
    from striprtf.striprtf import rtf_to_text

    to_text: Callable[..., str] = rtf_to_text
    source = data.decode("latin-1")
    source = _RAISED.sub(r"\1^", _DELETED.sub(r"\\*\\deleted", _NOTE.sub(r" [Note] ", source)))
    try:
        text = to_text(source, errors="replace")
    except TypeError as fault:  # of a word of control without the number that it needs
        raise ValueError(str(fault)) from fault
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # halves of an emoji
    return _LINES.sub("\n\n", "\n".join(line.rstrip() for line in whole.split("\n"))).strip() + "\n"
