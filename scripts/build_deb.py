"""Builds a Debian package of an environment in which the program is installed, with Debian's own tools: `scripts.build_deb VENV OUT`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from core import __version__

PLACE = "opt/manual-slop"
"""Below the root: nothing of Debian's own Python is touched."""
APART = ("manual_slop_weights", "manual_slop_languages", "xllamacpp", "pip", "setuptools")
"""Packages of the environment that are no part of it: weights, what runs them, and what installed them."""
PYTHON = "/usr/bin/python3"
LARGEST_MB = 600
_RUN_S = 900


class DebError(Exception):
    """The package could not be built, or is not what it must be."""


def control(python: str, architecture: str, size_kb: int) -> str:
    """The control file. Source: Debian Policy 4.7, chapter 5.

    Args:
        python: the version that the environment's modules were built for, `3.11`.
        architecture: as dpkg names it; size_kb: installed.
    """
    major, minor = python.split(".")
    return f"""\
Package: manual-slop
Version: {__version__}
Architecture: {architecture}
Maintainer: The Manual Slop authors <noreply@localhost>
Installed-Size: {size_kb}
Depends: python3 (>= {python}), python3 (<< {major}.{int(minor) + 1}), libc6 (>= 2.28), libgl1, libx11-6
Section: devel
Priority: optional
Description: desktop workbench for curated sessions with language models
 You see every part of a request before you send it. What is worth knowing
 from old conversations is kept in files that you confirm.
"""


def stage(venv: Path, root: Path) -> None:
    """Lay the files of the package out below a root.

    Raises:
        DebError: the environment does not hold the program.
    """
    place = root / PLACE
    if not (venv / "bin" / "manual-slop").exists():
        raise DebError(f"{venv} does not hold manual-slop")
    place.parent.mkdir(parents=True)
    shutil.copytree(venv, place, symlinks=True, ignore=_is_apart)
    for name in ("python", "python3", *(path.name for path in place.glob("bin/python3.*"))):
        (place / "bin" / name).unlink(missing_ok=True)
    (place / "bin" / "python").symlink_to(PYTHON)
    (place / "bin" / "python3").symlink_to("python")
    (place / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n", "utf-8")
    for path in (place / "bin").iterdir():
        if path.name.startswith(("activate", "Activate", "pip")):
            path.unlink()
        elif not path.is_symlink() and path.read_bytes().startswith(b"#!"):
            path.write_bytes(re.sub(rb"\A#!.*", f"#!/{PLACE}/bin/python".encode(), path.read_bytes()))
    (root / "usr" / "bin").mkdir(parents=True)
    (root / "usr" / "bin" / "manual-slop").symlink_to(f"/{PLACE}/bin/manual-slop")
    menu = (
        "desktop",
        "--install",
        "--share",
        str(root / "usr" / "share"),
        "--program",
        "/usr/bin/manual-slop",
    )
    _run(str(venv / "bin" / "manual-slop"), *menu)


def _is_apart(folder: str, names: list[str]) -> set[str]:
    """Names of a folder that stay out."""
    if Path(folder).name != "site-packages":
        return {"__pycache__"} & {*names}
    return {
        name for name in names if name == "__pycache__" or name.partition("-")[0].partition(".")[0] in APART
    }


def build(venv: Path, out: Path) -> Path:
    """Build the package. Returns its file.

    Raises:
        DebError: it could not be built, or its files are not what they must be.
    """
    with tempfile.TemporaryDirectory() as made:
        root = Path(made, "root")
        stage(venv, root)
        (root / "DEBIAN").mkdir()
        size_kb = sum(path.lstat().st_size for path in root.rglob("*") if path.is_file()) // 1024
        if size_kb > LARGEST_MB * 1024:
            raise DebError(f"it takes {size_kb // 1024} MB, over {LARGEST_MB}")
        architecture = _run("dpkg", "--print-architecture").strip()
        text = control(sysconfig.get_python_version(), architecture, size_kb)
        (root / "DEBIAN" / "control").write_text(text, "utf-8")
        for path in (root, *root.rglob("*")):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
        file = out / f"manual-slop_{__version__}_{architecture}.deb"
        _run("dpkg-deb", "--build", "--root-owner-group", "-Zgzip", "-z1", str(root), str(file))
    return file


def check(deb: Path) -> None:
    """See that dpkg unpacks it into an empty root, and that the program starts there.

    Raises:
        DebError: something is missing, or strays outside its places.
    """
    listed = [
        line.split(maxsplit=5)[5].split(" -> ")[0] for line in _run("dpkg-deb", "-c", str(deb)).splitlines()
    ]
    ours = (f"./{PLACE}/", "./usr/bin/manual-slop", "./usr/share/")
    if strays := [name for name in listed if not name.endswith("/") and not name.startswith(ours)]:
        raise DebError(f"it writes outside its places: {strays[:3]}")
    for needed in (
        "usr/bin/manual-slop",
        "usr/share/applications/manual-slop.desktop",
        f"{PLACE}/bin/manual-slop",
    ):
        if f"./{needed}" not in listed:
            raise DebError(f"it lacks {needed}")
    with tempfile.TemporaryDirectory() as root:
        _run("dpkg-deb", "-x", str(deb), root)
        python = Path(root, PLACE, "bin", "python")
        said = _run(str(python), "-P", "-m", "gui.main", "--version")
        if __version__ not in said:
            raise DebError(f"the program that it installs says {said!r}")
        if "manual-slop" not in _run(str(python), "-P", "-m", "gui.main", "send", "--help"):
            raise DebError("the program that it installs does not read its command line")


def _run(*command: str) -> str:
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=_RUN_S,
        check=False,
        stdin=subprocess.DEVNULL,
        env=environ,
        cwd="/",
    )
    if done.returncode != 0:
        raise DebError(
            f"{' '.join(command)} ended with {done.returncode}: {(done.stderr or done.stdout)[-1000:]}"
        )
    return done.stdout


def obstacle() -> str:
    """Tell why no package can be built and tried here, empty where one can."""
    if shutil.which("dpkg-deb") is None:
        return "there is no dpkg-deb here"
    if not Path(PYTHON).exists():
        return f"there is no {PYTHON} here"
    there = _run(PYTHON, "-c", "import sysconfig; print(sysconfig.get_python_version())").strip()
    here = sysconfig.get_python_version()
    return "" if there == here else f"{PYTHON} is Python {there}, the environment is of {here}"


def main() -> int:
    """Build and check. Returns the exit code: 2 where no package can be built here."""
    venv, out = Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()
    try:
        if why := obstacle():
            print(f"build_deb: NOT BUILT, {why}", file=sys.stderr)
            return 2
        deb = build(venv, out)
        check(deb)
    except DebError as error:
        print(f"build_deb: {error}", file=sys.stderr)
        return 1
    print(f"build_deb: {deb.name}: {deb.stat().st_size:,} bytes, unpacked into an empty root and started")
    return 0


if __name__ == "__main__":
    sys.exit(main())
