"""A PDF with every vendor, through its real SDK: itself where the vendor takes it, else its text; the same every turn."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from PIL import Image

from core.kernel.errors import FailureKind
from core.kernel.values.messages import AttachmentPart
from core.kernel.values.provider import ModelProfile
from core.services.providers.attachments import attachment_problem, attachment_tokens, pdf_form
from core.services.providers.model_data import packaged_models
from core.services.providers.profiles import find_profile
from tests.core.services.providers.outcomes import Outcome, ask, assistant, blobs, run, user
from tests.core.services.providers.vendors import VENDORS, Vendor
from tests.pdfs import ascii_pdf, encrypted_pdf, make_pdf
from tests.vendors.loopback import LoopbackServer

PDF = ascii_pdf("Tides turn")
TEXT = b"[Page 1]\nTides turn\n"
READ = blobs(PDF, TEXT)
NATIVE = tuple(vendor for vendor in VENDORS if vendor.kind in {"anthropic", "gemini", "openai"})


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def pdf(data: bytes = PDF, text: bytes = TEXT, pages: int = 1) -> AttachmentPart:
    named = (sha(text), len(text)) if text else ("", 0)
    return AttachmentPart(sha(data), "application/pdf", "tides.pdf", len(data), pages, *named)


@pytest.fixture
def server(vendor: Vendor) -> Iterator[LoopbackServer]:
    with vendor.make_server() as running:
        yield running


def found(value: Any, key: str) -> list[Any]:
    """Every value under a key, at any depth."""
    if isinstance(value, dict):
        own = [value[key]] if key in value else []
        return [*own, *(one for inner in value.values() for one in found(inner, key))]
    if isinstance(value, list):
        return [one for inner in value for one in found(inner, key)]
    return []


@pytest.mark.parametrize("vendor", NATIVE, ids=lambda vendor: vendor.kind)
def test_a_pdf_goes_as_it_is_and_its_bytes_are_the_same_in_the_next_turn(
    vendor: Vendor, server: LoopbackServer
) -> None:
    first = (user("Look.", pdf()),)
    asked = run(vendor.client(server), ask(vendor.model, *first), READ)
    again = run(vendor.client(server), ask(vendor.model, *first, assistant("Yes."), user("And?")), READ)

    assert asked.error is None
    assert again.error is None
    one, two = (json.dumps(body, sort_keys=True) for body in server.bodies[-2:])
    key = {"anthropic": "data", "gemini": "data", "openai": "file_data"}[vendor.kind]
    for body in server.bodies[-2:]:
        (sent,) = found(body, key)
        assert base64.b64decode(sent.partition(",")[2] or sent) == PDF
    block = one[one.index(base64.b64encode(PDF).decode()[:40]) :]
    assert block.partition("}")[0] in two
    assert "[Page 1]" not in one


@pytest.mark.parametrize("vendor", NATIVE, ids=lambda vendor: vendor.kind)
@pytest.mark.parametrize("data", [encrypted_pdf(), make_pdf("a")[:100]])
def test_a_vendor_on_loopback_refuses_what_the_real_one_refuses(
    vendor: Vendor, server: LoopbackServer, data: bytes
) -> None:
    result = run(vendor.client(server), ask(vendor.model, user("Look.", pdf(data, b""))), blobs(data))

    assert result.failure.kind is FailureKind.BAD_REQUEST


@pytest.mark.parametrize(
    "vendor", [one for one in VENDORS if one.kind == "compatible"], ids=lambda vendor: vendor.kind
)
def test_where_nothing_is_promised_its_text_goes_with_page_numbers_and_never_its_source(
    vendor: Vendor, server: LoopbackServer
) -> None:
    run(vendor.client(server), ask(vendor.model, user("Look.", pdf())), READ)

    sent = json.dumps(server.bodies[-1])
    assert '<attachment name=\\"tides.pdf\\">\\n[Page 1]\\nTides turn\\n</attachment>' in sent
    assert "%PDF" not in sent

    scan = run(vendor.client(server), ask(vendor.model, user("Look.", pdf(text=b""))), READ)
    assert "tides.pdf" in scan.failure.what
    assert len(server.bodies) == 1, "nothing was sent"


@pytest.mark.parametrize(
    "vendor", [one for one in VENDORS if one.kind == "anthropic"], ids=lambda vendor: vendor.kind
)
def test_the_largest_picture_that_is_let_through_is_the_largest_that_the_vendor_takes(
    vendor: Vendor, server: LoopbackServer
) -> None:
    def asked(size_bytes: int) -> Outcome:
        data = b"PNG".ljust(size_bytes, b"\0")
        part = AttachmentPart(sha(data), "image/png", "sky.png", size_bytes)
        return run(vendor.client(server), ask(vendor.model, user("Look.", part)), blobs(data))

    most = profile(vendor.kind, vendor.model).max_picture_bytes
    assert most is not None
    assert asked(most).error is None
    assert "sky.png" in asked(most + 1).failure.what
    assert len(server.bodies) == 1, "nothing was sent"


def test_a_picture_that_is_too_long_is_refused_before_the_vendor_would() -> None:
    file = io.BytesIO()
    Image.new("1", (8_001, 1)).save(file, "PNG")
    data = file.getvalue()
    unmeasured = AttachmentPart(sha(data), "image/png", "sky.png", len(data))
    (vendor,) = (one for one in VENDORS if one.kind == "anthropic")
    with vendor.make_server() as server:
        for part in (unmeasured, replace(unmeasured, side_px=8_001)):
            result = run(vendor.client(server), ask(vendor.model, user("Look.", part)), blobs(data))
            assert result.failure.kind is FailureKind.BAD_REQUEST
        assert len(server.bodies) == 1, "what was measured was not sent"


def picture(side_px: int) -> AttachmentPart:
    return AttachmentPart("a" * 64, "image/png", "a.png", 1, side_px=side_px)


def profile(kind: str, model: str, **fields: object) -> ModelProfile:
    found = find_profile(packaged_models(), kind, model, kind=kind)
    return replace(found, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "model", "tokens"),
    [
        ("anthropic", "claude-opus-5-5", 12 * 1_500 + 1_000),
        ("openai", "gpt-6.1-sol", 12 * 1_500 + 1_000),
        ("gemini", "gemini-2.5-pro", 12 * 258),
        ("gemini", "gemini-4-argon", 12 * 560),
        ("compatible", "any", 1_000),
        ("embedded", "SmolLM2-135M-Instruct", 1_000),
        ("claude_code", "opus", 1_000),
    ],
)
def test_tokens_of_a_pdf_follow_the_rule_of_who_takes_it(kind: str, model: str, tokens: int) -> None:
    part = AttachmentPart("a" * 64, "application/pdf", "a.pdf", 9_000_000, 12, "b" * 64, 4_000)

    assert attachment_tokens(part, profile(kind, model).pdf) == tokens


@pytest.mark.parametrize(
    ("kind", "model", "part", "word"),
    [
        ("anthropic", "claude-opus-5-5", pdf(text=b""), ""),
        ("anthropic", "claude-opus-5-5", pdf(pages=601), ""),
        ("anthropic", "claude-opus-5-5", pdf(text=b"", pages=601), "at most 600 PDF pages"),
        ("anthropic", "claude-haiku-4-5", pdf(text=b"", pages=101), "at most 100 PDF pages"),
        ("embedded", "SmolLM2-135M-Instruct", pdf(), ""),
        ("embedded", "SmolLM2-135M-Instruct", pdf(text=b""), "reads only PDF text"),
        ("embedded", "SmolLM2-135M-Instruct", AttachmentPart("a" * 64, "image/png", "a.png", 1), "pictures"),
        ("openai", "gpt-6.1-sol", AttachmentPart("a" * 64, "image/png", "a.png", 1), ""),
        ("openai", "gpt-6.1-sol", AttachmentPart("a" * 64, "image/png", "a.png", 9_000_000), ""),
        ("anthropic", "claude-opus-5-5", AttachmentPart("a" * 64, "image/png", "a.png", 3_932_160), ""),
        (
            "anthropic",
            "claude-opus-5-5",
            AttachmentPart("a" * 64, "image/png", "a.png", 3_932_161),
            "takes pictures up to 3.9 MB",
        ),
        ("anthropic", "claude-opus-5-5", picture(8_000), ""),
        (
            "anthropic",
            "claude-opus-5-5",
            picture(8_001),
            "up to 8,000 pixels a side; 'a.png' has 8,001",
        ),
        ("openai", "gpt-6.1-sol", picture(8_001), ""),
        ("embedded", "SmolLM2-135M-Instruct", AttachmentPart("a" * 64, "text/plain", "a.txt", 1), ""),
    ],
)
def test_what_a_model_cannot_take_is_said_before_it_is_sent(
    kind: str, model: str, part: AttachmentPart, word: str
) -> None:
    problem = attachment_problem(part, profile(kind, model))

    assert word in problem
    assert bool(problem) is bool(word)
    assert not problem or repr(part.name) in problem


def test_a_model_that_sees_nothing_reads_only_text() -> None:
    assert profile("anthropic", "claude-opus-5-5").pdf == pdf_form("anthropic", "", 1_000_000)
    assert find_profile((), "openai", "gpt-nobody", kind="openai").pdf is None
