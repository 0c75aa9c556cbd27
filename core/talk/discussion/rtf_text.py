"""Text of a rich text file (RTF) of Word, WordPad, TextEdit or LibreOffice. Source: Microsoft, RTF Specification 1.9.1."""

from __future__ import annotations

import re
from collections.abc import Callable

from core.kernel.patterns import late

RTF = b"{\\rtf"
"""First bytes of a rich text file."""

_MARKS = late(
    r"\\\\|(?P<note>(?:\\\*)?\\footnote(?![a-z]))|(?P<deleted>\\deleted1?(?![a-z0-9]))|(?P<shape>\\shp(?:grp)?(?![a-z])|\\\*\\shpinst)|(?P<box>\\shptxt ?)"
    r"|(?P<raised>\\super1?(?![a-z0-9])(?:\\[a-z]{1,20}-?\d{0,6}){0,20} )(?=[-+\d])"
    r"|\{\\\*(?P<field>\\fldinst)(?![a-z])(?:[^{}\"]{0,20}\{?[^{}\"]{0,300}HYPERLINK\s+\"(?P<address>[^\"{}\\\s]{1,2000}))?",
    re.IGNORECASE,
)
"""Words of control for which striprtf does not do what a reader needs, and a backslash of the text, behind which none begins."""
_LINES = late(r"\n{3,}")


def rtf_text(data: bytes) -> str:
    """Words of the document, a table row a line with `|` behind each cell.

    Footnotes stand at their place behind `[Note]`, raised numbers behind `^`, texts of boxes on lines of their own, addresses of
    links before their words. Words that a reviewer deleted are left out.

    Raises:
        ValueError, LookupError: it is not read.
    """
    from striprtf.striprtf import rtf_to_text

    to_text: Callable[..., str] = rtf_to_text
    source = _MARKS.sub(_as_read, data.decode("latin-1"))
    try:
        text = to_text(source, errors="replace")
    except TypeError as fault:  # of a word of control without the number that it needs
        raise ValueError(str(fault)) from fault
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # halves of an emoji
    return _LINES.sub("\n\n", "\n".join(line.rstrip() for line in whole.split("\n"))).strip() + "\n"


def _as_read(found: re.Match[str]) -> str:
    if found["field"]:
        return _link(found["address"] or "", found) + found[0].replace(found["field"], f"{found['field']} ")
    match found.lastgroup:
        case "note":
            return " [Note] "
        case "deleted":
            return r"\*\deleted"
        case "shape":
            return r"\shape"  # striprtf leaves out all that stands in a shape
        case "box":
            return r"\par "
        case "raised":
            return f"{found[0]}^"
        case _:
            return found[0]


def _link(address: str, found: re.Match[str]) -> str:
    """A link's address, unless its words say it."""
    shown = found.string[found.end() : found.end() + _NEAR + len(address)]
    bare = address.removeprefix("mailto:").rstrip("/")
    return f"[Link {address}] " if bare and bare not in shown else ""


_NEAR = 400
"""Characters behind a link's address among which its words begin."""
