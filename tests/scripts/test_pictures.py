"""Pictures of the documents: cut from the tour's, small, and all of them shown in README."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from scripts.pictures import CUTS, DOCS, keep

MOST_BYTES, MOST_OF_WINDOW = 60_000, 150_000


def _shots(folder: Path) -> list[Path]:
    """Pictures as a tour leaves them: numbered, each of the whole window."""
    names = {shot for shot, _, _ in CUTS.values()}
    shots = [folder / f"{number:02}-{name}.png" for number, name in enumerate(sorted(names), start=1)]
    for shot in shots:
        Image.effect_noise((1600, 1000), 60).save(shot)
    return shots


def test_each_picture_is_cut_from_the_tours_and_has_its_width(tmp_path: Path) -> None:
    written = keep(_shots(tmp_path), tmp_path / "docs")

    assert [path.relative_to(tmp_path / "docs").as_posix() for path in written] == list(CUTS)
    for path, (_, _, width) in zip(written, CUTS.values(), strict=True):
        with Image.open(path) as picture:
            assert picture.width == width
            assert picture.mode == "P"


def test_readme_shows_every_picture_and_none_is_large() -> None:
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    for name in CUTS:
        assert f"(docs/{name})" in readme
        most = MOST_BYTES if name.startswith("pictures/") else MOST_OF_WINDOW
        assert (DOCS / name).stat().st_size < most
    kept = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.png")}
    assert kept == set(CUTS)
