"""Takes the guided tour and keeps four of its pictures, small, for README and the guide: `make pictures`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image

from gui.tour import run

DOCS = Path(__file__).resolve().parent.parent / "docs"
LAST_CHAPTER = "context"
COLOURS = 256
"""Colours of a picture in the repository: the most that a palette can hold."""
ROUNDS = 3
"""Rounds in which the palette comes nearer to the picture: without them, small coloured signs turn grey."""

Box = tuple[int, int, int, int]
CUTS: dict[str, tuple[str, Box, int]] = {
    "screenshot.png": ("context", (0, 0, 1600, 1000), 1280),
    "pictures/talk.png": ("second-turn", (372, 42, 1146, 960), 540),
    "pictures/preset.png": ("preset", (1150, 42, 1600, 400), 450),
    "pictures/context.png": ("context", (1150, 42, 1600, 580), 450),
}
"""Each picture: the name of the tour's picture, the part of it in pixels, and the new width."""


def small(picture: Image.Image, box: Box, width: int) -> Image.Image:
    """Return a part of a picture at a width, with few colours."""
    part = picture.convert("RGB").crop(box)
    size = (width, round(part.height * width / part.width))
    return part.resize(size, Image.Resampling.LANCZOS).quantize(
        COLOURS, kmeans=ROUNDS, dither=Image.Dither.NONE
    )


def keep(shots: list[Path], docs: Path) -> list[Path]:
    """Write the pictures of the documents from those of a tour. Returns their paths."""
    by_name = {shot.stem.partition("-")[2]: shot for shot in shots}
    written = []
    for name, (shot, box, width) in CUTS.items():
        path = docs / name
        path.parent.mkdir(exist_ok=True)
        with Image.open(by_name[shot]) as picture:
            small(picture, box, width).save(path, optimize=True)
        written.append(path)
    return written


def main() -> int:
    """Take the tour and write the pictures."""
    with tempfile.TemporaryDirectory(prefix="manual-slop-pictures-") as out:
        for path in keep(run(Path(out), print, LAST_CHAPTER), DOCS):
            print(f"{path.relative_to(DOCS.parent)}: {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
