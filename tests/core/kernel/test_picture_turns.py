"""A picture is shown to a model as a person looks at it, and is left alone where that is so already."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from core.kernel.picture_files import as_looked_at


def picture(form: str, turn: int = 1) -> bytes:
    """Four by two pixels, the left half dark; `turn`: its EXIF orientation."""
    image = Image.new("RGB", (32, 16), "white")
    image.paste("black", (0, 0, 16, 16))
    exif = Image.Exif()
    exif[0x0112] = turn
    made = io.BytesIO()
    image.save(made, form, exif=exif.tobytes() if turn != 1 else b"")
    return made.getvalue()


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_a_turned_picture_is_turned_and_says_so_no_more(form: str) -> None:
    shown = Image.open(io.BytesIO(as_looked_at(picture(form, 6), f"image/{form.lower()}")))

    assert (shown.format, shown.size) == (form, (16, 32))
    assert shown.getexif().get(0x0112, 1) == 1
    grey = np.asarray(shown.convert("L"))
    assert grey[4, 8] < 60
    assert grey[28, 8] > 200


def test_grey_of_16_bits_is_scaled() -> None:
    made = io.BytesIO()
    Image.fromarray(np.array([[0, 25_600, 65_535]], dtype=np.uint16)).save(made, "PNG")
    shown = Image.open(io.BytesIO(as_looked_at(made.getvalue(), "image/png")))

    assert (shown.mode, np.asarray(shown).tolist()) == ("L", [[0, 100, 255]])


@pytest.mark.parametrize(
    ("data", "media"),
    [
        (picture("JPEG"), "image/jpeg"),
        (picture("PNG"), "image/png"),
        (picture("JPEG", 6)[:200], "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"", "image/png"),
        (b"words", "text/plain"),
    ],
)
def test_all_else_stays_byte_for_byte(data: bytes, media: str) -> None:
    assert as_looked_at(data, media) == data
