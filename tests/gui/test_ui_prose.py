"""Markdown, code and pictures on the screen."""

from __future__ import annotations

import struct
import zlib
from functools import partial
from pathlib import Path

import pytest

from gui.elements.pictures import Picture, PictureError, picture_size
from gui.elements.prose import CodeLines, CopyHit, LinkHit, Markdown
from gui.markdown.document import load
from gui.markdown.parse import parse
from gui.ui_output import PAGE_CHARS, local_picture, page_end, page_of
from panels.base.ui import Ui
from tests.gui.conftest import Screen, copied
from tests.gui.gallery_pages import CODE, SAMPLE
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.gui


@pytest.fixture(autouse=True)
def _loaded() -> None:
    load()


def show_markdown(screen: Screen, source: str) -> None:
    def draw(ui: Ui) -> None:
        with ui.surface("card", "card", scrolls=True, height=0):
            ui.markdown("text", source)

    screen.show(draw)


def test_the_copy_button_copies_the_code_as_it_was(screen: Screen) -> None:
    show_markdown(screen, "```python\n\tx = 1\n```")
    screen.check()
    button = screen.driver.find("Copy code", kind=CopyHit)
    screen.driver.click(button)
    screen.driver.step(3)
    assert copied() == "\tx = 1"
    assert isinstance(button, CopyHit)
    assert "Copied" in button.text()


def test_a_link_shows_its_address_and_opens_only_after_a_yes(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(screen.ui.tree, "open_address", opened.append)
    show_markdown(screen, "see [harmless](https://example.org/path?q=1) here")
    person = screen.driver
    link = person.find("harmless", kind=LinkHit)
    assert link.tip == "https://example.org/path?q=1"
    person.click(link)
    person.until(lambda: person.has("https://example.org/path?q=1"))
    assert opened == []
    screen.check()
    person.click("Open")
    person.step(3)
    assert opened == ["https://example.org/path?q=1"]
    assert not person.has("Open this address?")


def test_a_link_that_leads_to_no_web_page_cannot_be_opened(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(screen.ui.tree, "open_address", opened.append)
    show_markdown(screen, "[x](mailto:a@b.c) text")
    person = screen.driver
    person.click(person.find("x", kind=LinkHit))
    person.until(lambda: person.has("This link is not a web page"))
    person.click("Open")
    person.key("Escape")
    person.step(3)
    assert opened == []


def test_a_long_text_is_shown_in_pages(screen: Screen) -> None:
    show_markdown(screen, "word " * 40_000)
    text = screen.driver.find("word", kind=Markdown)
    assert len(text.label()) <= PAGE_CHARS
    screen.driver.click("Show more")
    screen.driver.step(3)
    assert PAGE_CHARS < len(screen.driver.find("word", kind=Markdown).label()) <= 2 * PAGE_CHARS


def test_pages_end_at_a_line() -> None:
    assert page_end("a\n" * 3000, 4001) == 4000
    assert page_end("a" * 5000, 4000) == 4000
    assert page_end("short", 4000) == 5


def test_a_formula_that_a_page_cuts_stays_a_formula() -> None:
    long = f"Before\n\n$${'x+' * 50_000}1$$\n\nafter"
    assert page_of(long, PAGE_CHARS).endswith("+$$")
    assert page_of(long, len(long)) == long
    assert page_of("costs $$\n\nand more", 15) == "costs $$\n\nand m"
    blocks = parse(page_of(long, PAGE_CHARS))
    assert [block.language for block in blocks] == ["", "math"]


def test_ten_megabytes_on_one_line_do_not_stall(screen: Screen) -> None:
    show_markdown(screen, "x" * 10_000_000)
    screen.check()


def test_the_sample_fits_narrow_and_wide(screen: Screen) -> None:
    for width in (240, 420, 1100):
        screen.show(partial(_sample, width=width))
        screen.check()


def _sample(ui: Ui, width: float) -> None:
    with ui.surface("page", "pane", height=0, scrolls=True), ui.surface("card", "card", width=width):
        ui.markdown("text", SAMPLE)


def test_only_lines_in_view_of_long_code_are_drawn(screen: Screen) -> None:
    def draw(ui: Ui) -> None:
        ui.code("code", CODE * 40, language="python", first_line=1, height=0)

    person = screen.show(draw)
    lines = next(element for element in person.visible() if isinstance(element, CodeLines))
    assert len(lines.lines) > 30_000
    assert len(lines.prims) < 1500
    person.wheel(lines, 30)
    person.until(lambda: lines.first_shown > 60)
    screen.check()


def test_code_without_a_height_is_as_high_as_its_lines_but_bounded(screen: Screen) -> None:
    def draw(ui: Ui, text: str) -> None:
        ui.code("code", text)

    heights: list[float] = []
    for text in ("one", CODE):
        person = screen.show(partial(draw, text=text))
        heights.append(next(e for e in person.visible() if isinstance(e, CodeLines)).parent.h)  # type: ignore[union-attr]
    assert heights[0] < 50
    assert heights[1] == 480


def test_selectable_text_is_selected_and_copied(screen: Screen) -> None:
    person = screen.show(lambda ui: ui.selectable_text("text", "Select all of me"))
    person.click("Select all of me")
    person.key("Ctrl+a")
    person.key("Ctrl+c")
    person.step(3)
    assert copied() == "Select all of me"


def png(width: int, height: int) -> bytes:
    """A black picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\0\0\0" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def test_a_picture_keeps_its_shape_and_its_greatest_height(screen: Screen, tmp_path: Path) -> None:
    path = tmp_path / "wide.png"
    path.write_bytes(png(300, 150))
    person = screen.show(lambda ui: ui.image("picture", str(path), max_height=100))
    picture = person.find("wide.png")
    person.until(lambda: picture.h == 100, most=4000)
    assert picture.w == pytest.approx(200)
    screen.check()


@pytest.mark.parametrize("name", ["", "A cat.png"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"hello", "not a PNG"), (b"", "not a PNG"), (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "empty picture"),
     (None, "no such file"), (png(300, 150)[:60], "damaged")],
)  # fmt: skip
def test_a_broken_picture_shows_its_name_and_why(
    screen: Screen, tmp_path: Path, content: bytes | None, reason: str, name: str
) -> None:
    path = tmp_path / "cat.png"
    if content is not None:
        path.write_bytes(content)
    person = screen.show(lambda ui: ui.image("picture", str(path), name=name))
    person.until(
        lambda: (
            person.has(f"{name or 'cat.png'}: {reason}") or any(reason in e.label() for e in person.visible())
        ),
        most=4000,
    )
    screen.check()


def test_picture_sizes_come_from_the_head(tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.write_bytes(png(31, 17))
    assert picture_size(path) == (31, 17)
    path.write_bytes(b"GIF89a" + struct.pack("<HH", 5, 6) + b"\0" * 20)
    assert picture_size(path) == (5, 6)
    path.write_bytes(b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08" + struct.pack(">HH", 7, 9) + b"\0" * 20)
    assert picture_size(path) == (9, 7)
    path.write_bytes(b"\xff\xd8\xff")
    with pytest.raises(PictureError, match="damaged"):
        picture_size(path)


def the_text(screen: Screen) -> Markdown:
    return next(one for one in screen.driver.visible() if isinstance(one, Markdown))


def images(screen: Screen) -> list[tuple[object, ...]]:
    return [prim for prim in the_text(screen).prims if prim[0] == "image"]


def show_drawn(screen: Screen, source: str) -> Markdown:
    """Show a text once all of it is drawn."""
    show_markdown(screen, source)
    while the_text(screen).document.awaits:
        screen.ui.drawings.wait(PATIENCE_S)
        screen.settle(2)
    return the_text(screen)


def test_a_formula_is_drawn_where_its_source_stood_and_copied_as_it_was_written(screen: Screen) -> None:
    source = r"before $\frac{a}{b}$ after"
    text = show_drawn(screen, source)
    (image,) = images(screen)
    assert image[6] == screen.ui.canvas.color("text")
    screen.check()
    left, top, right, bottom = screen.driver.rect(text)
    middle = round((top + bottom) / 2)
    screen.driver.drag((round(left) + 1, middle), (round(right) - 2, middle))
    screen.driver.key("Ctrl+C")
    assert copied() == source


def test_a_formula_that_was_drawn_is_there_at_once_the_next_time_in_the_colour_of_the_theme(
    screen: Screen,
) -> None:
    show_drawn(screen, "once $y_1$")
    drawn = screen.ui.drawings.drawn()
    screen.show(lambda ui: ui.text("other", "other"))
    screen.show(lambda ui: (screen.ui.set_looks("light", 1.0), ui.markdown("again", "again $y_1$")))
    screen.settle()
    assert not the_text(screen).document.awaits
    assert images(screen)[0][6] == screen.ui.canvas.color("text")
    assert screen.ui.drawings.drawn() == drawn


def test_a_picture_of_this_machine_is_read_once_its_name_is_pressed(screen: Screen, tmp_path: Path) -> None:
    (tmp_path / "plots").mkdir()
    file = tmp_path / "plots" / "a b.png"
    screen.show(lambda ui: ui.markdown("text", "see ![the tide](plots/a%20b.png)", root=str(tmp_path)))
    assert not screen.driver.has(str(file))
    file.write_bytes(png(4, 3))
    screen.driver.click(screen.driver.find("the tide (plots/a%20b.png)", kind=LinkHit))
    screen.driver.until(lambda: screen.driver.has(str(file)))
    picture = next(one for one in screen.driver.visible() if isinstance(one, Picture))
    screen.driver.until(lambda: picture.texture is not None)
    screen.check()
    screen.driver.click("Close")
    screen.driver.until(lambda: not screen.driver.has(str(file)))


def test_a_picture_of_a_billion_pixels_has_a_sentence(screen: Screen, tmp_path: Path) -> None:
    file = tmp_path / "huge.png"
    file.write_bytes(png(4, 3)[:16] + struct.pack(">II", 40_000, 30_000) + png(4, 3)[24:])
    screen.show(lambda ui: ui.markdown("text", f"![x]({file})"))
    screen.driver.click(screen.driver.find(f"x ({file})", kind=LinkHit))
    screen.driver.until(lambda: screen.driver.has("huge.png: 40000 x 30000 pixels, too large to preview"))
    screen.driver.click("Close")


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("a.png", "/project/a.png"),
        ("/x/a%20b.JPG", "/x/a b.JPG"),
        ("file:///x/a.gif", "/x/a.gif"),
        ("https://example.org/a.png", ""),
        ("//host/share/a.png", ""),
        ("\\\\host\\a.png", ""),
        ("file://host/a.png", ""),
        ("notes.txt", ""),
    ],
)
def test_only_a_picture_of_this_machine_is_one(address: str, path: str) -> None:
    assert local_picture(address, "/project") == path
    assert local_picture("a.png", "") == ""


def test_the_picture_of_another_machine_is_asked_about_as_any_address(screen: Screen) -> None:
    show_markdown(screen, "![x](https://example.org/a.png)")
    screen.driver.click(screen.driver.find("x (https://example.org/a.png)", kind=LinkHit))
    screen.driver.until(lambda: screen.driver.has("Open this address?"))
    screen.driver.click("Copy address")


def test_a_text_without_formulas_asks_for_no_drawing(screen: Screen) -> None:
    show_markdown(screen, SAMPLE.replace("$", ""))
    assert not the_text(screen).document.awaits
    assert not images(screen)


def test_a_person_presses_source_and_sees_what_a_diagram_was_drawn_from(screen: Screen) -> None:
    show_drawn(screen, "```mermaid\ngraph LR\n  A --> B\n```")
    assert len(images(screen)) == 1
    screen.driver.click("Show the source")
    screen.driver.step(3)
    assert not images(screen)
    screen.check()
    screen.driver.click("Show the drawing")
    screen.driver.step(3)
    assert len(images(screen)) == 1


def test_hebrew_is_selected_and_copied_as_it_was_written(screen: Screen) -> None:
    show_markdown(screen, "שלום abc עולם")
    left, top, right, bottom = screen.driver.rect(the_text(screen))
    middle = round((top + bottom) / 2)
    screen.driver.drag((round(right) - 2, middle), (round(left) + 1, middle))
    screen.driver.key("Ctrl+C")
    assert copied() == "שלום abc עולם"
