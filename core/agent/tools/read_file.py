"""`read_file`: lines of a file with their numbers."""

from __future__ import annotations

import io
import warnings
from functools import partial
from threading import Lock
from typing import Annotated

import msgspec

from core.agent.guarded_files import ToolPath, judge_path, key_reasons, read_guarded
from core.agent.tool import (
    Described,
    Judged,
    Tool,
    ToolAnswer,
    ToolDesk,
    ToolPlaces,
    arguments_of,
    refused,
    schema_of,
)
from core.kernel.figures import count
from core.kernel.frame import frame
from core.kernel.picture_files import mended_png, shallow, upright
from core.kernel.values.agent import ActKind
from core.talk.context.file_reader import read_content
from core.talk.context.globs import KeyGate

MAX_LINES, MAX_LINE_CHARS, MAX_CHARS = 2_000, 2_000, 60_000
_HARD_LINK = "It has another name elsewhere (a hard link), where it may be something else."


class ReadFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `read_file`."""

    path: Annotated[str, Described(description="Relative to the project, or absolute.", min_length=1)]
    first_line: Annotated[int, Described(description="From 1.", ge=1)] = 1
    lines: Annotated[int, Described(description="Most lines.", ge=1, le=MAX_LINES)] = MAX_LINES


class ReadPlan(msgspec.Struct, frozen=True):
    """File and lines that are read."""

    place: ToolPath
    asked: ReadFile


def judge_read(kind: ActKind, title: str, place: ToolPath, plan: object, places: ToolPlaces) -> Judged:
    """Judge the reading of a file: those that hold secrets, and those with a second name, are asked about."""
    if place.problem:
        return refused(kind, title, place.problem)
    found = read_guarded(place)
    problem = found.problem or ("" if found.data is not None else f"There is no file {place.shown!r}.")
    if problem:
        return refused(kind, title, problem)
    reasons = key_reasons(place, found, KeyGate(place.root, places.shown))
    reasons = (*reasons, *((_HARD_LINK,) if found.has_other_names else ()))
    return Judged(kind=kind, title=title, detail=place.path, reasons=reasons, path=place.path, plan=plan)


def _judge(arguments_json: str, desk: ToolDesk) -> Judged:
    asked = arguments_of(ActKind.READ, "Read a file", arguments_json, ReadFile)
    if isinstance(asked, Judged):
        return asked
    place = judge_path(asked.path, desk.places)
    return judge_read(
        ActKind.READ, f"Read {place.shown or asked.path}", place, ReadPlan(place, asked), desk.places
    )


def _run(judged: Judged, desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    plan: ReadPlan = judged.plan
    found = read_guarded(plan.place)
    if found.problem or found.data is None:
        return ToolAnswer(text=found.problem or f"{plan.place.shown} is gone.", is_error=True)
    content = read_content(found.data)
    if content.problem is not None:
        return ToolAnswer(text=f"{plan.place.shown} is no text. {content.problem.detail}", is_error=True)
    desk.note_seen(plan.place.path, found.sha256)
    lines = content.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    first = plan.asked.first_line - 1
    if lines and first >= len(lines):
        return ToolAnswer(text=f"{plan.place.shown} has {count(len(lines), 'line')}.", is_error=True)
    rows, last = _numbered(lines, first, plan.asked.lines)
    more = "" if last >= len(lines) else f"It goes on: read from line {last + 1:,}.\n"
    shown = f"{first + 1}-{last}" if lines else "none"
    body = frame("file", rows, path=plan.place.shown, lines=shown, of=f"{len(lines)}")
    return ToolAnswer(text=body + more)


def _numbered(lines: list[str], first: int, most: int) -> tuple[str, int]:
    """Lines with their numbers, and the number of the last one. At least one is given."""
    rows: list[str] = []
    room = MAX_CHARS
    for number, line in enumerate(lines[first : first + most], first + 1):
        cut = line[:MAX_LINE_CHARS]
        rest = len(line) - len(cut)
        row = f"{number:>6}\t{cut}" + (f" […{count(rest, 'more character')}]" if rest else "") + "\n"
        if rows and len(row) > room:
            break
        rows.append(row)
        room -= len(row)
    return "".join(rows), first + len(rows)


TOOL = Tool(
    schema=schema_of(
        "read_file",
        "Reads a text file of the project. Lines come with their numbers, which are no part of the file.",
        ReadFile,
    ),
    kind=ActKind.READ,
    judge=_judge,
    run=_run,
)


# `view_image`: a picture of the project, shown to the model.

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
MAX_PIXELS = 64_000_000
MAX_SIDE = 2_000
"""Pixels of the longer side that a model is shown. Source: Anthropic "Vision", many images a request (read 2026-08-21)."""
MAX_SENT_BYTES = 3_500_000
"""Bytes of a picture that is sent, at most; base64 adds a third."""
_LOOK_S = 0.1
"""A file of some kilobytes may be hundreds of megabytes of pixels: calls beside each other decode one after the other."""


class ViewImage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `view_image`."""

    path: Annotated[str, Described(description="Relative to the project, or absolute.", min_length=1)]


class DecodedPicture(msgspec.Struct, frozen=True):
    """A picture that was decoded.

    Args:
        data: as it is sent; width, height: pixels of the file; is_smaller: it is sent smaller than it is.
        problem: why the file is no picture, a sentence.
    """

    data: bytes = b""
    format: str = ""
    width: int = 0
    height: int = 0
    is_smaller: bool = False
    problem: str = ""


def decoded(data: bytes) -> DecodedPicture:
    """Decode a picture to its last pixel; a large one is made smaller. Raises nothing."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = mended_png(data)
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                width, height = image.size
                form = image.format or ""
                if width * height > MAX_PIXELS:
                    return DecodedPicture(problem=f"It has {width:,} × {height:,} pixels, too many.")
                image.load()
                shown = upright(shallow(image))
                is_small = max(width, height) <= MAX_SIDE and len(data) <= MAX_SENT_BYTES
                if shown is image and is_small:
                    return DecodedPicture(data=data, format=form, width=width, height=height)
                width, height = shown.size
                return DecodedPicture(
                    data=_smaller(shown), format=form, width=width, height=height, is_smaller=not is_small
                )
    except UnidentifiedImageError:
        return DecodedPicture(problem=f"It is no picture: neither of {', '.join(FORMATS)}.")
    except Exception as error:  # noqa: BLE001 - decoders raise what they like about bytes of no picture
        return DecodedPicture(
            problem=f"It is a picture that cannot be decoded: {str(error) or type(error).__name__}."
        )


def _smaller(image: object) -> bytes:
    from PIL import Image

    assert isinstance(image, Image.Image)
    has_alpha = "A" in image.getbands() or "transparency" in image.info
    mode = "RGBA" if has_alpha else "RGB"
    plain = image if image.mode == mode else image.convert(mode)
    plain.thumbnail((MAX_SIDE, MAX_SIDE))
    written = io.BytesIO()
    plain.save(written, "PNG", optimize=False)
    if len(written.getvalue()) > MAX_SENT_BYTES:
        written = io.BytesIO()
        plain.convert("RGB").save(written, "JPEG", quality=85)
    return written.getvalue()


def _view_image_judge(arguments_json: str, desk: ToolDesk) -> Judged:
    asked = arguments_of(ActKind.READ, "Look at a picture", arguments_json, ViewImage)
    if isinstance(asked, Judged):
        return asked
    place = judge_path(asked.path, desk.places)
    return judge_read(ActKind.READ, f"Look at {place.shown or asked.path}", place, place, desk.places)


def _view_image_run(
    one_at_a_time: Lock, judged: Judged, desk: ToolDesk, _taken: tuple[int, ...] | None
) -> ToolAnswer:
    place: ToolPath = judged.plan
    found = read_guarded(place)
    if found.problem or found.data is None:
        return ToolAnswer(text=found.problem or f"{place.shown} is gone.", is_error=True)
    while not one_at_a_time.acquire(timeout=_LOOK_S):
        if desk.wait(0):
            return ToolAnswer(text="Stopped.", is_error=True)
    try:
        picture = decoded(found.data)
    finally:
        one_at_a_time.release()
    if picture.problem:
        return ToolAnswer(text=f"{place.shown}: {picture.problem}", is_error=True)
    part = desk.keep_picture(place.name, picture.data)
    said = f"{place.shown}: {picture.format}, {picture.width:,} × {picture.height:,} pixels"
    smaller = f", shown with at most {MAX_SIDE:,} pixels a side" if picture.is_smaller else ""
    return ToolAnswer(text=f"{said}{smaller}.", attachments=(part,))


VIEW_IMAGE = Tool(
    schema=schema_of("view_image", "Shows you a picture of the project: PNG, JPEG, GIF or WebP.", ViewImage),
    kind=ActKind.READ,
    judge=_view_image_judge,
    run=partial(_view_image_run, Lock()),
)
