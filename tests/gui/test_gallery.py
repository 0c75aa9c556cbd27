"""Every widget, in both themes, at several scales and sizes: nothing is clipped, nothing overlaps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gui.markdown.document import load
from panels.base.ui import Ui
from tests.gui.conftest import Screen
from tests.gui.gallery import View, draw
from tests.gui.layout_check import faults
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.gui
PAGES = ["widgets", "chat", "table", "code", "sort", "text"]


def view_of(page: str) -> View:
    load()
    view = View(page=page if page in ("widgets", "chat") else "long")
    view.long.tab = page if view.page == "long" else "table"
    return view


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("scale", [0.8, 1.0, 1.25])
def test_every_page_fits(screen: Screen, page: str, scale: float) -> None:
    view = view_of(page)

    def described(ui: Ui) -> None:
        screen.ui.set_looks("dark", scale)
        draw(ui, view)

    screen.show(described)
    for size in ((1600, 1000), (1280, 800), (1024, 768)):
        screen.ui.frame(described, *size)
        found = faults(screen.ui.tree)
        assert not found, (size, found)
    screen.loop.wake()


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_a_picture_of_the_window_shows_its_colours(display: str, tmp_path: Path, theme: str) -> None:
    """In a process of its own: the one window of this process draws nothing."""
    from PIL import Image

    from gui.metrics import load_theme

    target = tmp_path / f"{theme}.png"
    command = [sys.executable, "-m", "tests.gui.gallery", str(target), theme]
    root = Path(__file__).parents[2]
    subprocess.run(command, check=True, timeout=PATIENCE_S, cwd=root)
    with Image.open(target) as image:
        picture = image.convert("RGB")
    palette = load_theme().palettes[theme]
    colors = picture.getcolors(1 << 24)
    assert colors is not None
    counts = {color: count for count, color in colors}
    whole = picture.size[0] * picture.size[1]
    assert counts[palette["pane"][:3]] > 0.3 * whole
    for token in ("base", "card", "accent_fill", "inset"):
        assert counts.get(palette[token][:3], 0) > 500, token
    assert picture.getpixel((5, picture.size[1] - 3)) == palette["base"][:3]
    assert len(counts) > 200
