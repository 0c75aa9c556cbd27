"""The page of a discussion: all of its words, no script, nothing fetched."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from msgspec.structs import replace

from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.messages import AttachmentPart, TextPart
from core.talk.discussion.discussion_page import PICTURE_BYTES, export_page
from tests.panels import states

META = states.working().discussions.summaries["d1"].meta
HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(1)> [go](javascript:alert(1)) "
    "![look](https://example.org/seen.png) <style>@import url(//e)</style>\n\n```html\n</pre><script>x</script>\n```"
)


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def page_of(text: str, *attached: AttachmentPart) -> str:
    said = replace(states.user("m1", text), parts=(TextPart(text), *attached))
    opened = OpenDiscussion(
        id="d1", entries=(said, states.reply("m2", text)), attachments_dir="d1/attachments"
    )
    return export_page(
        replace(META, name="</title><script>"), opened, lambda path: b"bytes of " + path.encode()
    )


def test_no_script_and_nothing_from_elsewhere() -> None:
    tags = Tags(page_of(HOSTILE)).tags
    assert not {"script", "img", "iframe", "object", "link", "base", "form"} & {tag for tag, _ in tags}
    assert [tag for tag, _ in tags].count("style") == 1
    values = [value or "" for _, attrs in tags for value in attrs.values()]
    assert not [one for one in values if re.match(r"\s*(javascript|data):", one)]
    assert not [name for _, attrs in tags for name in attrs if name.startswith("on")]
    policy = next(
        attrs["content"] for tag, attrs in tags if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert str(policy).startswith("default-src 'none'")


def test_words_stay_and_markdown_is_shown() -> None:
    page = page_of("A **strong** word and `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert "<strong>strong</strong>" in page
    assert "<table>" in page


def test_attached_pictures_are_in_the_page_while_they_are_small() -> None:
    small = AttachmentPart(sha256="ab" * 32, name="a.png", media_type="image/png", size_bytes=9)
    large = replace(small, sha256="cd" * 32, size_bytes=PICTURE_BYTES + 1)
    drawn = replace(small, sha256="ef" * 32, media_type="image/svg+xml")
    sources = [
        attrs["src"] for tag, attrs in Tags(page_of("Look", small, large, drawn, small)).tags if tag == "img"
    ]
    assert len(sources) == 1
    assert str(sources[0]).startswith("data:image/png;base64,")
