"""Pictures as a person looks at them: turned as their EXIF says, grey of 16 bits scaled, damaged parts of a PNG left out."""

from __future__ import annotations

import io
import warnings
import zlib
from typing import TYPE_CHECKING

# Pictures as a person looks at them: turned as their EXIF says, grey of 16 bits scaled to 8.

if TYPE_CHECKING:
    from PIL import Image

MAX_PIXELS = 100_000_000
"""A picture with more is left as it is: to turn it costs its pixels in memory twice."""

_ORIENTATION = 0x0112
_FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WEBP"}


def as_looked_at(data: bytes, media_type: str) -> bytes:
    """A picture that a model sees as a person does, the same bytes where that is so already. Raises nothing."""
    form = _FORMATS.get(media_type)
    if form is None:
        return data
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=(form,)) as image:
                is_turned = _turn(image) != 1 or image.mode.startswith("I")
                if (
                    not is_turned
                    or image.width * image.height > MAX_PIXELS
                    or getattr(image, "n_frames", 1) > 1
                ):
                    return data
                image.load()
                made = io.BytesIO()
                upright(shallow(image)).save(made, form, quality=95)
                return made.getvalue()
    except Exception:  # noqa: BLE001 - decoders raise what they like; a picture that cannot be turned goes as it is
        return data


def upright(image: Image.Image) -> Image.Image:
    """A picture as its EXIF says that it is to be looked at; the same one where it says nothing."""
    from PIL import ImageOps

    return ImageOps.exif_transpose(image) if _turn(image) != 1 else image


def shallow(image: Image.Image) -> Image.Image:
    """A grey picture of 16 bits in 8, scaled: Pillow would clip it, and all but the darkest would be white."""
    import numpy as np
    from PIL import Image

    if not image.mode.startswith("I"):
        return image
    values = np.asarray(image).astype(np.int64)
    scaled = Image.fromarray((np.clip(values, 0, 65_535) >> 8).astype(np.uint8))
    scaled.info.update({name: value for name, value in image.info.items() if name == "exif"})
    return scaled


def _turn(image: Image.Image) -> int:
    """Orientation that a picture's EXIF gives, 1 for upright."""
    turn = image.getexif().get(_ORIENTATION, 1)
    return turn if isinstance(turn, int) and 2 <= turn <= 8 else 1


# PNG files whose parts beside the picture are damaged: such a part goes, and the picture stays.

_BEGIN = b"\x89PNG\r\n\x1a\n"
_FRAME = 12
"""Bytes of a chunk beside its content: length, name, checksum."""


def mended_png(data: bytes) -> bytes:
    """The file without chunks beside the picture (texts, profiles, times) whose checksum is wrong; else as it is.

    Readers refuse such a file whole, though the specification lets them pass over what they need not know.

    Source: PNG Specification (Third Edition), 5.3 and 13.2 (read 2026-11-29).
    """
    if not data.startswith(_BEGIN):
        return data
    kept, at = [_BEGIN], len(_BEGIN)
    while at + _FRAME <= len(data):
        end = at + _FRAME + int.from_bytes(data[at : at + 4])
        is_beside = bool(data[at + 4] & 0x20)
        is_damaged = end <= len(data) and zlib.crc32(data[at + 4 : end - 4]) != int.from_bytes(
            data[end - 4 : end]
        )
        if not (is_beside and is_damaged):
            kept.append(data[at:end])
        at = end
    kept.append(data[at:])
    whole = b"".join(kept)
    return data if len(whole) == len(data) else whole
