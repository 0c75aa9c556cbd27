"""Pictures as a person looks at them: turned as their EXIF says, grey of 16 bits scaled to 8."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

MAX_PIXELS = 100_000_000
"""A picture with more is left as it is: to turn it costs its pixels in memory twice."""

_ORIENTATION = 0x0112
_FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WEBP"}


def as_looked_at(data: bytes, media_type: str) -> bytes:
    """A picture that a model sees as a person does, the same bytes where that is so already. Total."""
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
