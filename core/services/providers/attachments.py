"""Attached files as the vendors take them: pictures and PDFs as they are, texts as text, anything else refused."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from core.kernel.codecs import to_json
from core.kernel.errors import FailureKind, ProviderError
from core.kernel.figures import size
from core.kernel.frame import clean, frame, size_bytes
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.tokens import IMAGE_TOKENS_EST, estimate_tokens, scaled
from core.kernel.values.cache import CacheMark, CachePlan
from core.kernel.values.messages import AttachmentPart
from core.kernel.values.provider import ModelProfile, PdfForm, ProviderKind, RequestPart
from core.services.providers.blocks import part_key

IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""Pictures that all vendors take. Source: anthropic 2.10 `Base64ImageSourceParam`; Gemini "Image understanding"."""

_GEMINI_NEW = late(r"gemini-(?:[3-9]|[1-9]\d)")


_LARGE_WINDOW = 200_000
"""Context windows above this take more pages. Source: Anthropic "PDF support" (read 2026-11-22)."""


def pdf_form(kind: str, model: str, context_tokens: int | None = None) -> PdfForm | None:
    """Form in which a vendor's models that see pictures take a PDF, None where nothing is documented.

    Claude Code and compatible servers get its text: what they do with a PDF is nowhere promised.

    Source: platform.claude.com "PDF support" (a request of 32 MB and 600 pages, 100 where the window has 200k tokens;
    text and a picture of each page); developers.openai.com "File inputs" (50 MB; text and a picture of each page);
    ai.google.dev "Document understanding" and "Media resolution" (50 MB, 1,000 pages; 258 tokens a page, 560 from
    Gemini 3 on, the text is free) (read 2026-11-22). Base64 adds a third to the bytes.
    """
    match kind:
        case ProviderKind.ANTHROPIC:
            pages = 600 if (context_tokens or 0) > _LARGE_WINDOW else 100
            return PdfForm(
                page_tokens=IMAGE_TOKENS_EST, counts_text=True, max_pages=pages, max_bytes=22_000_000
            )
        case ProviderKind.OPENAI:
            return PdfForm(
                page_tokens=IMAGE_TOKENS_EST, counts_text=True, max_pages=1_000, max_bytes=36_000_000
            )
        case ProviderKind.GEMINI:
            page_tokens = 560 if _GEMINI_NEW.match(model) else 258
            return PdfForm(page_tokens=page_tokens, counts_text=False, max_pages=1_000, max_bytes=36_000_000)
        case _:
            return None


def most_picture_bytes(kind: str) -> int | None:
    """Largest file of a picture that a vendor's models take, None where nothing is documented.

    Anthropic judges the picture as it is sent: in base64, which adds a third.

    Source: platform.claude.com "Vision" and its answer of status 400, "image exceeds 5 MB maximum: … bytes > 5242880
    bytes" (read 2026-11-23).
    """
    return 5_242_880 // 4 * 3 if kind in (ProviderKind.ANTHROPIC, ProviderKind.CLAUDE_CODE) else None


def most_picture_px(kind: str) -> int | None:
    """Longest side of a picture that a vendor's models take, in pixels, None where nothing is documented.

    Source: platform.claude.com "Vision": larger than 8000x8000 px is rejected; 2000x2000 where a request holds more
    than 20 pictures, which the vendor alone can judge (read 2026-11-23).
    """
    return 8_000 if kind in (ProviderKind.ANTHROPIC, ProviderKind.CLAUDE_CODE) else None


def goes_as_pdf(part: AttachmentPart, form: PdfForm | None) -> bool:
    """True if a PDF is sent as it is; else its text is."""
    return form is not None and part.pages <= form.max_pages and part.size_bytes <= form.max_bytes


def attachment_tokens(part: AttachmentPart, form: PdfForm | None, factor: float = 1.0) -> int:
    """Tokens of an attachment, about, by the rule of the vendor that takes it.

    Args:
        form: how the model takes a PDF; factor: its tokens of text over o200k's.
    """
    if part.is_image:
        return IMAGE_TOKENS_EST
    if not part.is_pdf:
        return scaled(estimate_tokens(part.size_bytes), factor)
    text = scaled(estimate_tokens(part.text_bytes), factor)
    if form is None or not goes_as_pdf(part, form):
        return text
    return max(1, part.pages) * form.page_tokens + (text if form.counts_text else 0)


def is_seen_in_result(part: AttachmentPart, profile: ModelProfile | None) -> bool:
    """True if a file in a tool's result goes to a model as it is; else words of it do. None: a model that takes all."""
    return profile is None or not attachment_problem(part, profile)


def result_file_tokens(part: AttachmentPart, profile: ModelProfile | None, factor: float = 1.0) -> int:
    """Tokens of a file in a tool's result, about: args as for `attachment_tokens` and `is_seen_in_result`."""
    if not is_seen_in_result(part, profile):
        return scaled(estimate_tokens(size_bytes(result_in_words(part))), factor)
    return attachment_tokens(part, profile.pdf if profile is not None else None, factor)


def result_in_words(part: AttachmentPart) -> str:
    """A file in a tool's result, in words."""
    return f"[{part.name!r} ({part.media_type}, {size(part.size_bytes)}) cannot be shown to this model.]"


def attachment_problem(part: AttachmentPart, profile: ModelProfile) -> str:
    """Reason of a model not to take an attachment, in a sentence; empty where it does."""
    who = profile.label or profile.id
    if part.is_image:
        if profile.takes_images and part.media_type in IMAGE_TYPES:
            return _too_large(part, who, profile)
        return tr(
            "{who} does not take pictures: remove {name!r}, or choose another model.", who=who, name=part.name
        )
    if not part.is_pdf or goes_as_pdf(part, profile.pdf) or part.text_sha256:
        return ""
    if profile.pdf is None:
        return tr(
            "{who} reads only PDF text, and {name!r} has none: choose another model.", who=who, name=part.name
        )
    return tr(
        "{who} takes at most {max_pages:,} PDF pages, and {name!r} has no text to send.",
        who=who,
        max_pages=profile.pdf.max_pages,
        name=part.name,
    )


def _too_large(part: AttachmentPart, who: str, profile: ModelProfile) -> str:
    most, side = profile.max_picture_bytes, profile.max_picture_px
    if most is not None and part.size_bytes > most:
        return tr(
            "{who} takes pictures up to {most}; {name!r} has {size_bytes}. Attach a smaller picture.",
            who=who,
            most=size(most),
            name=part.name,
            size_bytes=size(part.size_bytes),
        )
    if side is not None and part.side_px > side:
        return tr(
            "{who} takes pictures up to {side:,} pixels a side; {name!r} has {side_px:,}. Attach a smaller picture, or a part of it.",
            who=who,
            side=side,
            name=part.name,
            side_px=part.side_px,
        )
    return ""


def attachment_text(part: AttachmentPart, data: bytes) -> str | None:
    """The text of an attached file with its name around it, None where it is not text (UTF-8, no NUL).

    Same file, same name, same text: it stands in the prefix of every later turn. Nothing in it can close its tag.
    """
    if part.is_image or part.is_pdf or b"\0" in data:
        return None
    try:
        text = clean(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return None
    return frame("attachment", text, name=part.name).removesuffix("\n")


def data_url(part: AttachmentPart, data: bytes) -> str:
    """The file inside a URL."""
    return f"data:{part.media_type};base64,{base64.b64encode(data).decode('ascii')}"


def refuse_attachment(part: AttachmentPart, who: str, problem: str = "") -> ProviderError:
    """The error for a file that a model cannot take. Nothing was sent.

    Args:
        who: the model, as the person knows it; problem: why, where that is known.
    """
    return ProviderError(
        FailureKind.BAD_REQUEST,
        tr(
            "The model {who} does not accept the attachment {name!r} ({media_type}){problem}",
            who=who,
            name=part.name,
            media_type=part.media_type,
            problem=f": {problem}" if problem else "",
        ),
        remedy=tr("Remove the attachment, or choose a model that takes this type"),
    )


# A request's body as the SDKs of Anthropic and OpenAI put it on the wire: encoded once, by us.


def sent_json(body: Mapping[str, Any], more: Mapping[str, Any] | None = None) -> bytes:
    """UTF-8 JSON of a body, its fields in their order, to be given to an SDK's `post` as `content`.

    The SDKs' `create` looks at each value and its type, 0.14 ms a message, and encodes in pieces: 2,000 messages make
    15,000 short strings at once, with the interpreter lock held, and leave memory that nobody gets back.

    Args:
        body: fields by name, of plain JSON; more: fields that the SDK does not know, behind them.

    Source: openai 3.51.0 and anthropic 2.10.0, `_utils/_transform.py`, `_utils/_json.py`, and `post` of `_base_client.py`
    (read 2026-11-28).
    """
    return to_json({**body, **(more or {})})


# Places of a cache plan's marks: blocks by the key of their part, marks in order, lifetimes falling.

Block = dict[str, Any]

MAX_MARKS = 4


class Blocks:
    """The blocks of a request that can bear a mark, in wire order, found by the key of the part they came from.

    A part that is not sent, or that cannot be marked (thinking), is stood for by the last block before it that can:
    the prefix up to there is the same, or as much of it as can be kept.
    """

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._by_key: dict[str, int] = {}

    def note(self, key: str, block: Block | None) -> None:
        """Note the block that a part became, None if no breakpoint can follow it."""
        if block is not None:
            self._blocks.append(block)
        if self._blocks:
            self._by_key[key] = len(self._blocks) - 1

    def note_part(self, part: RequestPart, block: Block | None) -> None:
        """As `note`, by the part's own key."""
        self.note(part_key(part), block)

    def marked(self, marks: Iterable[CacheMark]) -> Iterator[tuple[Block, int]]:
        """Blocks to mark in wire order, each once, with lifetimes in seconds.

        A lifetime is never longer than the one before it, and of more than four marks the last and the first three
        stay: the vendors refuse anything else.
        """
        ttl_by_place: dict[int, int] = {}
        for mark in marks:
            place = self._by_key.get(mark.after_key)
            if place is not None:
                ttl_by_place[place] = max(mark.ttl_s, ttl_by_place.get(place, 0))
        longest = max(ttl_by_place.values(), default=0)
        for place in _fitting(sorted(ttl_by_place)):
            longest = min(longest, ttl_by_place[place])
            yield self._blocks[place], longest


def marks_of(plan: CachePlan | None) -> tuple[CacheMark, ...]:
    """The marks that a plan asks for, none where caching is off."""
    return plan.marks if plan is not None and plan.is_enabled else ()


def _fitting(places: Sequence[int]) -> Sequence[int]:
    return places if len(places) <= MAX_MARKS else [*places[: MAX_MARKS - 1], places[-1]]
