"""Child process that draws formulas and diagrams: what a model wrote may hold a library up, or end it, and ends this process alone."""

from __future__ import annotations

import io
import os
import re
from typing import cast

import msgspec

from core.app.crunch_child import serve
from core.kernel.machine import limit_memory

MOST_MEMORY_BYTES = 1_500_000_000
MOST_PIXELS = 8_000_000
_NICENESS = 5
_MARGIN_PX = 1.0
_VIEW = re.compile(r'viewBox="([-\d.]+) ([-\d.]+) ([-\d.]+) ([-\d.]+)"')
_UNKNOWN = re.compile(r">(\\[A-Za-z]+)<")
"""A command that the library takes for a letter."""
_GATHERED = re.compile(r"\\(begin|end)\{(?:gather(?:ed|\*)?|multline\*?)\}")
_LINES = 'linebreak="newline"'
"""Sign of lines outside a table, which the library draws as one."""
_NO_DIAGRAMS = 'pip install "manual-slop[diagrams]"'
"""Remedy alone: the head of a code box has room for it in a window of the usual size."""
_LINE_OF_FAULT = re.compile(r"(?:Parse|Lexical) error on line (\d+)")


class DrawnPicture(msgspec.Struct, frozen=True):
    """A picture as it comes from this process.

    Args:
        above: pixels above the line that text stands on; pixels: RGBA, of a formula its cover alone.
        problem: why there is none, in a few words.
    """

    width: int = 0
    height: int = 0
    above: float = 0.0
    pixels: bytes = b""
    problem: str = ""


def main() -> None:
    """Serve the window, and give way to it."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    limit_memory(MOST_MEMORY_BYTES)
    serve(_done)


def _done(header: dict[str, object], payload: bytes) -> object:
    text, size = payload.decode("utf-8", "replace"), float(cast("float", header["size"]))
    if header["job"] == "diagram":
        drawn = _diagram(text, size, is_dark=bool(header["is_dark"]))
    else:
        drawn = _formula(text, size, is_inline=header["job"] == "formula")
    return msgspec.msgpack.encode(drawn)


def _formula(tex: str, size: float, *, is_inline: bool) -> DrawnPicture:
    """Draw a formula with letters of `size` pixels: its cover alone, for the colour of the text around it."""
    if not tex:
        return DrawnPicture(problem="it is empty")
    from ziamath.tex import tex2mml
    from ziamath.zmath import Latex

    try:
        tex = _GATHERED.sub(r"\\\1{matrix}", tex)
        markup = tex2mml(tex, inline=is_inline)
        if unknown := _UNKNOWN.search(markup):
            return DrawnPicture(problem=f"{unknown[1]} is unknown")
        if _LINES in markup:
            tex = rf"\begin{{matrix}}{tex}\end{{matrix}}"
        svg = Latex(tex, size=size, color="#ffffff", inline=is_inline, margin=_MARGIN_PX).svg()
        view = _VIEW.search(svg)
    except Exception:  # noqa: BLE001  the library raises whatever its parsers meet
        return DrawnPicture(problem="a part of the formula is unknown")
    if view is None or "<path" not in svg:
        return DrawnPicture(problem="the formula shows nothing")
    width, height, pixels = _raster(svg, 1.0)
    return DrawnPicture(
        width=width, height=height, above=-float(view[2]), pixels=pixels[3::4], problem=_too_large(width)
    )


def _too_large(width: int) -> str:
    return "" if width else "the picture would be too large"


def _diagram(source: str, scale: float, *, is_dark: bool) -> DrawnPicture:
    """Draw a mermaid diagram, `scale` times its own size."""
    try:
        import mermaidx
    except ModuleNotFoundError:
        return DrawnPicture(problem=_NO_DIAGRAMS)
    try:
        svg = mermaidx.render(source, theme="dark" if is_dark else "default").svg()
    except Exception as error:  # noqa: BLE001  the library raises whatever its engine meets
        line = _LINE_OF_FAULT.search(str(error))
        why = f"line {line[1]} is not valid mermaid" if line else "the text is not valid mermaid"
        return DrawnPicture(problem=why)
    width, height, pixels = _raster(svg, scale)
    return DrawnPicture(width=width, height=height, pixels=pixels, problem=_too_large(width))


def _raster(svg: str, scale: float) -> tuple[int, int, bytes]:
    """Width, height and RGBA of a drawing; nothing where it would have too many pixels."""
    import novasvg
    from PIL import Image

    document = novasvg.Document.load_from_data(svg)
    width, height = max(1, round(document.width * scale)), max(1, round(document.height * scale))
    if width * height > MOST_PIXELS:
        return 0, 0, b""
    bitmap = document.render_to_bitmap(width, height, 0)
    with Image.open(io.BytesIO(bitmap.to_bytes("png"))) as image:
        return image.width, image.height, image.convert("RGBA").tobytes()


if __name__ == "__main__":
    main()
