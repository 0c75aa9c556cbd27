"""Pictures as they are meant to be looked at: upright, grey as it is, and read although a part beside them is damaged."""

from __future__ import annotations

import io

import pytest
from PIL import Image, PngImagePlugin

from core.agent.tools.read_file import decoded
from core.kernel.picture_files import mended_png


def _saved(image: Image.Image, form: str, **how: object) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **how)
    return out.getvalue()


def _shown(data: bytes) -> Image.Image:
    found = decoded(data)
    assert found.problem == ""
    return Image.open(io.BytesIO(found.data))


def _level(image: Image.Image, at: tuple[int, int]) -> int:
    level = image.getpixel(at)
    assert isinstance(level, int)
    return level


@pytest.mark.parametrize(("turn", "corner"), [(3, (29, 19)), (6, (19, 0)), (8, (0, 29))])
def test_a_picture_is_turned_as_its_exif_says(turn: int, corner: tuple[int, int]) -> None:
    image = Image.new("RGB", (30, 20), "white")
    image.paste("black", (0, 0, 6, 6))
    exif = Image.Exif()
    exif[0x0112] = turn
    shown = _shown(_saved(image, "JPEG", exif=exif, quality=95)).convert("L")
    assert shown.size == ((30, 20) if turn == 3 else (20, 30))
    middle = shown.width // 2, shown.height // 2
    assert (_level(shown, corner) < 60, _level(shown, middle) > 200) == (True, True)


def test_grey_of_sixteen_bits_is_scaled() -> None:
    shown = _shown(_saved(Image.new("I;16", (8, 8), 0x8000), "PNG")).convert("L")
    assert shown.getpixel((0, 0)) == 0x80


def test_a_png_with_a_damaged_part_beside_the_picture_is_read() -> None:
    said = PngImagePlugin.PngInfo()
    said.add_text("Title", "Heron")
    data = bytearray(_saved(Image.new("RGB", (4, 4), "red"), "PNG", pnginfo=said))
    data[data.index(b"Heron")] ^= 1
    assert _shown(bytes(data)).convert("RGB").getpixel((0, 0)) == (255, 0, 0)
    assert b"eron" not in mended_png(bytes(data))


def test_a_png_without_damage_is_the_same_bytes() -> None:
    data = _saved(Image.new("RGB", (4, 4), "red"), "PNG")
    assert mended_png(data) is data
    assert decoded(data).data is data
    assert mended_png(data[:50]) == data[:50]
