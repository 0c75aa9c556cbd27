"""Child process that reads and writes the system's clipboard: a program that holds it badly ends, or holds up, this process alone."""

from __future__ import annotations

import io

import copykitten

from core.app.crunch_child import serve

NO_CLIPBOARD = "never initialized"
"""Part of what the library says where there is no clipboard at all, as without a screen."""


def main() -> None:
    """Serve the window. Each answer begins with a byte that names what follows: see `gui/clipboard.py`."""
    serve(_done)


def _done(header: dict[str, object], payload: bytes) -> object:
    if header["job"] == "copy":
        copykitten.copy(payload.decode())
        return True
    return _held()


def _held() -> bytes:
    """Read the clipboard: its text before its picture, as a spreadsheet's cells are both; then its files."""
    for read in (_text, _picture, _paths):
        try:
            return read()
        except copykitten.CopykittenError as error:
            if NO_CLIPBOARD in str(error):
                raise
    return b"n"


def _text() -> bytes:
    text = copykitten.paste()
    return b"t" + text.encode() if text else b"n"


def _picture() -> bytes:
    from PIL import Image

    pixels, width, height = copykitten.paste_image()
    image = Image.frombytes("RGBA", (width, height), pixels)
    least_alpha = image.getchannel("A").getextrema()[0]
    out = io.BytesIO()
    (image.convert("RGB") if least_alpha == 255 else image).save(out, "PNG", compress_level=1)
    return b"p" + out.getvalue()


def _paths() -> bytes:
    return b"t" + "\n".join(map(str, copykitten.paste_paths())).encode("utf-8", "replace")


if __name__ == "__main__":
    main()
