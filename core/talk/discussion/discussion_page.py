"""A discussion as one page for a browser: it stands alone, runs no script and fetches nothing; a browser prints it as PDF."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable
from pathlib import Path

from core.kernel.opener import read_file
from core.kernel.values.discussion import DiscussionMeta, OpenDiscussion
from core.kernel.values.messages import AttachmentPart, Message, files_of
from core.talk.discussion.discussion_export import export_markdown

PICTURE_BYTES, ALL_PICTURE_BYTES = 8_000_000, 64_000_000
"""Bytes of one picture in the page, and of all of them; the page only names the rest."""
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Kinds that a browser shows and that hold no script: SVG does."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'"
"""Content security policy of the page: whatever slipped into it, nothing is run or fetched.

Source: Content Security Policy Level 3, "Directives" (read 2026-11-29).
"""
STYLE = """
:root{color-scheme:light dark;--fg:#1d2433;--bg:#fff;--soft:#f4f5f8;--line:#d9dce3;--accent:#3b5bdb}
@media(prefers-color-scheme:dark){:root{--fg:#d7dae0;--bg:#14161b;--soft:#1e2128;--line:#31353f;--accent:#748ffc}}
body{font:16px/1.55 system-ui,sans-serif;color:var(--fg);background:var(--bg);max-width:52rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
h2{font-size:1.05rem;border-top:1px solid var(--line);padding-top:1rem;margin-top:2rem}
pre{background:var(--soft);padding:.75rem;border-radius:6px;overflow-x:auto;white-space:pre-wrap}
code{font-family:ui-monospace,monospace;font-size:.9em}blockquote{border-left:3px solid var(--accent);margin-left:0;padding-left:1rem;opacity:.85}
table{border-collapse:collapse}td,th{border:1px solid var(--line);padding:.25rem .5rem}img{max-width:100%}
@media print{body{margin:0;max-width:none}h2{break-after:avoid}pre,blockquote,img{break-inside:avoid}}
""".strip()


def export_page(
    meta: DiscussionMeta, discussion: OpenDiscussion, read: Callable[[str], bytes] | None = None
) -> str:
    """Write a discussion for a browser: what the person sees, in the order and words of `export_markdown`.

    Markup in messages stands as it was written, pictures that they lead to are links, and attached pictures are in the page.

    Args:
        read: bytes of a file of ours by its path; None reads it.
    """
    title = html.escape(meta.name or meta.id)
    body = _rendered(export_markdown(meta, discussion))
    shown = _pictures(discussion, read or _read)
    return (
        f'<!DOCTYPE html>\n<html lang="und" dir="auto"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="referrer" content="no-referrer">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title>'
        f"<style>{STYLE}</style></head><body>\n{body}{shown}</body></html>\n"
    )


def _rendered(markdown: str) -> str:
    """Markdown as HTML, without raw HTML and without pictures from elsewhere."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    return str(parser.disable("image").render(markdown))


def _pictures(discussion: OpenDiscussion, read: Callable[[str], bytes]) -> str:
    """The attached pictures, each once, as far as they have room."""
    shown: dict[str, str] = {}
    left = ALL_PICTURE_BYTES
    for part in _attached(discussion):
        path = discussion.picture_path(part)
        is_fit = part.media_type in PICTURES and part.size_bytes <= min(PICTURE_BYTES, left)
        if not path or not is_fit or part.sha256 in shown:
            continue
        try:
            data = read(path)
        except OSError:
            continue  # it is named where it was attached
        left -= len(data)
        name = html.escape(part.name)
        source = f"data:{part.media_type};base64,{base64.b64encode(data).decode('ascii')}"
        shown[part.sha256] = (
            f'<figure><img alt="{name}" src="{source}"><figcaption>{name}</figcaption></figure>\n'
        )
    return f"<h2>Pictures</h2>\n{''.join(shown.values())}" if shown else ""


def _attached(discussion: OpenDiscussion) -> list[AttachmentPart]:
    entries = (entry for entry in discussion.entries if isinstance(entry, Message) and not entry.is_deleted)
    return [part for entry in entries for part in files_of(entry.parts)]


def _read(path: str) -> bytes:
    return read_file(Path(path), PICTURE_BYTES)
