"""The Debian package: its control file, and what of an environment goes into it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import __version__
from scripts.build_deb import PLACE, PYTHON, DebError, control, stage

PROGRAM = """#!/build/venv/bin/python
"""


def made(folder: Path) -> Path:
    """An environment with a program that writes the entry of the menu."""
    venv = folder / "venv"
    packages = venv / "lib" / "python3.11" / "site-packages"
    for name in (
        "core",
        "pip",
        "pip-23.2.dist-info",
        "manual_slop_weights",
        "manual_slop-1.dist-info",
        "xllamacpp",
    ):
        (packages / name).mkdir(parents=True)
        (packages / name / "file").write_text(name, "utf-8")
    (venv / "bin").mkdir()
    (venv / "bin" / "python").symlink_to("/somewhere/python3.11")
    (venv / "bin" / "pip").write_text(PROGRAM, "utf-8")
    program = venv / "bin" / "manual-slop"
    program.write_text(
        '#!/bin/sh\nmkdir -p "$4/applications" && echo "Exec=$6" > "$4/applications/manual-slop.desktop"\n',
        "utf-8",
    )
    program.chmod(0o755)
    return venv


def test_the_control_file_binds_the_python_that_modules_were_built_for() -> None:
    fields = dict(line.split(": ", 1) for line in control("3.11", "amd64", 9).splitlines() if line[0] != " ")

    assert fields["Version"] == __version__
    assert "python3 (>= 3.11), python3 (<< 3.12)" in fields["Depends"]
    assert (fields["Architecture"], fields["Installed-Size"]) == ("amd64", "9")


def test_the_package_starts_debians_python_and_leaves_weights_and_pip_out(tmp_path: Path) -> None:
    root = tmp_path / "root"
    stage(made(tmp_path), root)

    place = root / PLACE
    names = {path.name for path in (place / "lib" / "python3.11" / "site-packages").iterdir()}
    assert names == {"core", "manual_slop-1.dist-info"}
    assert (place / "bin" / "python").readlink() == Path(PYTHON)
    assert (place / "bin" / "manual-slop").read_text("utf-8").startswith(f"#!/{PLACE}/bin/python\n")
    assert not (place / "bin" / "pip").exists()
    assert (root / "usr/bin/manual-slop").readlink() == Path(f"/{PLACE}/bin/manual-slop")
    entry = (root / "usr/share/applications/manual-slop.desktop").read_text("utf-8")
    assert entry == "Exec=/usr/bin/manual-slop\n"


def test_an_environment_without_the_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DebError, match="does not hold"):
        stage(tmp_path, tmp_path / "root")
