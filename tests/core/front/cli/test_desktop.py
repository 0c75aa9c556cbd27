"""`desktop` writes what a desktop, `man` and shells look for, takes only that out again, and writes over nothing of others."""

from __future__ import annotations

import configparser
import shlex
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from PIL import Image

from core.front.cli.desktop import files_of, install, manual_page, remove
from core.front.cli.grammar import make_parser
from core.kernel.errors import StorageError
from gui.main import main

ENTRY = "applications/manual-slop.desktop"


@pytest.fixture
def share(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".local" / "share"


def _there(share: Path) -> list[str]:
    return sorted(path.relative_to(share).as_posix() for path in share.rglob("*") if path.is_file())


@pytest.mark.slow
def test_what_is_installed_is_removed_again(share: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["desktop", "--install", "--share", str(share), "--program", "/usr/games/manual-slop"]) == 0
    assert _there(share) == sorted(files_of("x"))
    assert "menu" in capsys.readouterr().err
    assert (
        main(["desktop", "--install", "--share", str(share)]) == 0
    )  # a newer program writes over the older one's
    assert main(["desktop", "--share", str(share)]) == 0
    assert main(["desktop", "--remove", "--share", str(share)]) == 0
    assert _there(share) == []
    assert main(["desktop", "--share", str(share)]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", files_of("x"))
def test_a_file_of_another_is_kept_and_nothing_is_written(name: str, share: Path) -> None:
    (share / name).parent.mkdir(parents=True)
    (share / name).write_text("mine\n")

    with pytest.raises(StorageError, match="did not write"):
        install(share, files_of("x"))

    assert _there(share) == [name]
    assert remove(share, files_of("x")) == []
    assert (share / name).read_text() == "mine\n"


def test_the_menu_starts_a_program_of_any_name() -> None:
    reader = configparser.ConfigParser(interpolation=None)
    reader.read_string(files_of('/usr/my "slop" 100%/manual-slop')[ENTRY].decode())
    entry = reader["Desktop Entry"]

    written = entry["Exec"].replace("\\\\", "\\").replace("%%", "%")
    assert shlex.split(written) == ['/usr/my "slop" 100%/manual-slop']
    assert (entry["Type"], entry["Icon"], entry["Terminal"]) == ("Application", "manual-slop", "false")


def test_the_metadata_names_the_entry_and_the_icon_is_a_picture(share: Path) -> None:
    files = files_of("x")
    install(share, files)
    found = ET.fromstring(next(data for name, data in files.items() if name.endswith(".xml")))

    assert found.findtext("launchable") == Path(ENTRY).name
    with Image.open(share / "icons/hicolor/256x256/apps/manual-slop.png") as icon:
        assert icon.size == (256, 256)


def test_the_manual_page_has_every_command_and_no_line_that_is_a_request_by_accident() -> None:
    parser = make_parser()
    page = manual_page(parser)

    assert [name for name in parser.commands() if f".SH {name.upper()}\n" not in page] == []
    known = ("TH", "SH", "B ", "nf", "fi", '\\"')
    assert [
        line for line in page.splitlines() if line[:1] in {".", "'"} and line[1:].startswith(known) is False
    ] == []
