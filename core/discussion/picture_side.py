"""Longer side of a picture, read from the head of its file: nothing is decoded."""

from __future__ import annotations

import io
import warnings


def side_px(data: bytes, media_type: str) -> int:
    """Measure the longer side of a picture, in pixels. Total.

    Returns:
        0 where the file is no picture of the four types that vendors take, or its head cannot be read.
    """
    reader = _READERS.get(media_type)
    if reader is None:
        return 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return max(reader(data))
    except Exception:  # noqa: BLE001 - Pillow's readers raise what they like about bytes that are no picture
        return 0


# Each type by its own class: `Image.open` refuses the very pictures whose size is asked for, as bombs.
def _png(data: bytes) -> tuple[int, int]:
    from PIL.PngImagePlugin import PngImageFile

    return PngImageFile(io.BytesIO(data)).size


def _jpeg(data: bytes) -> tuple[int, int]:
    from PIL.JpegImagePlugin import JpegImageFile

    return JpegImageFile(io.BytesIO(data)).size


def _gif(data: bytes) -> tuple[int, int]:
    from PIL.GifImagePlugin import GifImageFile

    return GifImageFile(io.BytesIO(data)).size


def _webp(data: bytes) -> tuple[int, int]:
    from PIL.WebPImagePlugin import WebPImageFile

    return WebPImageFile(io.BytesIO(data)).size


_READERS = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}
