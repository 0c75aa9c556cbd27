"""Builds the three wheels as for a release and installs them with plain pip where nothing else is, and no compiler either.

    python -m scripts.try_wheels [FOLDER]     FOLDER keeps the wheels and the sdist; else they go

From a folder of its own it then runs what a person would run first: `--version`, `doctor`, `send`, `search`, and the
beginning of the guided tour (all of it takes minutes, and the tests' window has walked it), with and without the virtual
screen.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from scripts import build_deb, build_weights

ROOT = Path(__file__).resolve().parent.parent
LARGEST_BYTES = 100_000_000
INSIDE = (
    "share/doc/manual-slop/openapi.json",
    "share/doc/manual-slop/settings.md",
    "prompts/role.md",
    "core/services/providers/models.toml",
    "assets/models/minilm-l6-v2-int8/model.onnx",
    "assets/models/e5-small-multilingual/model.onnx",
    "assets/tokens/o200k_base.bin",
    "assets/icon.png",
)
"""Ends of names that a wheel must hold: what stands outside the packages, and data within them."""

BUILD = "import sys; from setuptools import build_meta as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"
SIZES = """
import os
from importlib.metadata import distributions
found = [one for one in distributions() if one.name not in {"pip", "setuptools"}]
files = [(file, path) for one in found for file in one.files or () if os.path.exists(path := file.locate())]
size = sum(os.path.getsize(path) for file, path in files)
models = sum(os.path.getsize(path) for file, path in files if str(file).startswith("assets/models/"))
print(f"{len(found)} packages, {(size - models) / 1e6:.0f} MB and {models / 1e6:.0f} MB of models for search")
"""
EXTRAS = "embedded,languages,search,tour,grammars,diagrams"
RUN_S = 300.0
INSTALL_S = 1_200.0
"""Longest installation: an index may be slow, and other work may keep the machine busy."""

SCREEN = "Xvfb"
WITHOUT_SCREEN = "There is no virtual screen (Xvfb). Install the package xvfb"


class TrialError(Exception):
    """A wheel is not as it should be, or did not run; the message says which and how."""


def build_program(folder: Path) -> tuple[Path, Path]:
    """Build the source distribution, and the wheel from what it holds. Returns both.

    A copy of the checkout is built from: the tools write into the folder that they build, and tests may read ours.

    Raises:
        TrialError: one of them could not be built.
    """
    with tempfile.TemporaryDirectory() as copied:
        for name in kept_files():
            (target := Path(copied, name)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
        sdist = folder / _last_line(_run((sys.executable, "-c", BUILD, "build_sdist", folder), Path(copied)))
    with tempfile.TemporaryDirectory() as unpacked:
        with tarfile.open(sdist) as archive:
            archive.extractall(unpacked, filter="data")
        source = Path(unpacked) / sdist.name.removesuffix(".tar.gz")
        wheel = folder / _last_line(_run((sys.executable, "-c", BUILD, "build_wheel", folder), source))
    return sdist, wheel


def kept_files() -> list[str]:
    """List what git keeps, or would keep, of this checkout: names below its root."""
    listed = _run(("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), ROOT)
    return [name for name in listed.split("\0") if name and (ROOT / name).exists()]


def check_sdist(sdist: Path) -> None:
    """Check that everything that git keeps is in the source distribution: it is a checkout that can be tested.

    Raises:
        TrialError: something is missing.
    """
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    if missing := [name for name in kept_files() if name not in names]:
        raise TrialError(f"{sdist.name} lacks {', '.join(missing)}")


def check_wheel(wheel: Path, inside: tuple[str, ...] = ()) -> None:
    """Check a wheel's size and that it holds what its users need.

    Raises:
        TrialError: it is too large, or lacks something.
    """
    if (size := wheel.stat().st_size) >= LARGEST_BYTES:
        raise TrialError(f"{wheel.name} has {size:,} bytes, {LARGEST_BYTES:,} or more")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    if missing := [end for end in inside if not any(name.endswith(end) for name in names)]:
        raise TrialError(f"{wheel.name} lacks {', '.join(missing)}")


def try_installed(folder: Path, program: Path, weights: Sequence[Path]) -> None:
    """Install both with plain pip into an empty environment, and run the program from another folder.

    Raises:
        TrialError: a step failed.
    """
    venv, elsewhere = folder / "venv", folder / "elsewhere"
    elsewhere.mkdir()
    _run((sys.executable, "-m", "venv", venv), folder)
    environ = _bare_environment(venv, folder)
    pip = (venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile", "--no-cache-dir")
    _timed("pip install of the program alone", lambda: _run((*pip, program), elsewhere, environ, INSTALL_S))
    say(f"installed: {_run((venv / 'bin' / 'python', '-c', SIZES), elsewhere, environ).strip()}")
    wanted: tuple[str | Path, ...] = (f"{program}[{EXTRAS}]", *weights)
    _timed("pip install of the rest", lambda: _run((*pip, *wanted), elsewhere, environ, INSTALL_S))
    manual_slop = venv / "bin" / "manual-slop"
    _try_desktop(manual_slop, elsewhere, environ, folder / ".local" / "share")
    _timed("--version", lambda: _run((manual_slop, "--version"), elsewhere, environ))
    report = _timed("doctor", lambda: _run((manual_slop, "doctor"), elsewhere, environ))
    if "SmolLM2" not in report:
        raise TrialError(f"doctor does not find the weights:\n{report}")
    send = (manual_slop, "send", "--quiet", "--max-output", "200", "Say hello.")
    reply = _timed("send", lambda: _run(send, elsewhere, environ))
    if not reply.strip():
        raise TrialError("the embedded model said nothing")
    say(f"the embedded model said: {reply.strip()[:80]}")
    _try_search(manual_slop, elsewhere, environ, folder / ".cache")
    _try_tour(manual_slop, elsewhere, environ)


def _try_deb(venv: Path, folder: Path) -> None:
    """Build the Debian package of what was installed, unpack it into an empty root and start it.

    Raises:
        build_deb.DebError: a step failed.
    """
    if why := build_deb.obstacle():
        say(f"Debian package: NOT BUILT, {why}")
        return
    deb = build_deb.build(venv, folder)
    build_deb.check(deb)
    say(f"{deb.name}: {deb.stat().st_size:,} bytes, unpacked into an empty root and started")


def _try_desktop(manual_slop: Path, elsewhere: Path, environ: dict[str, str], share: Path) -> None:
    """See that the entry of the menu names the program that was installed, and that all is taken out again."""
    _timed("desktop --install", lambda: _run((manual_slop, "desktop", "--install"), elsewhere, environ))
    entry = (share / "applications" / "manual-slop.desktop").read_text("utf-8")
    if f'Exec="{manual_slop}"' not in entry:
        raise TrialError(f"the menu's entry starts another program:\n{entry}")
    _run((manual_slop, "desktop", "--remove"), elsewhere, environ)
    if left := [path.name for path in share.rglob("*") if path.is_file()]:
        raise TrialError(f"desktop --remove left {', '.join(left)}")


def _try_search(manual_slop: Path, elsewhere: Path, environ: dict[str, str], cache: Path) -> None:
    """See that the embedding model and what runs it came with the wheel, and that it makes nothing of its own in the
    person's cache: a note is found that shares no word.
    """
    before = {path.name for path in cache.glob("*")}
    notes = elsewhere / "notes"
    notes.mkdir()
    (notes / "tides.md").write_text("# The sea\n\nHigh water comes twice a day.\n", "utf-8")
    on = ("--set", "retrieval.enabled=true", "--set", "retrieval.roots=notes")
    asked = (manual_slop, "search", "ocean levels rise", "--corpus", "notes", *on)
    found = _timed("search", lambda: _run(asked, elsewhere, environ))
    if "tides.md" not in found:
        raise TrialError(f"search does not find a note by its meaning:\n{found}")
    (notes / "schluessel.md").write_text(
        "# Haus\n\nDer Ersatzschlüssel hängt hinter dem Blumentopf.\n", "utf-8"
    )
    asked = (manual_slop, "search", "我在哪里能找到第二把钥匙？", "--corpus", "notes", *on)
    found = _timed("search in two languages", lambda: _run(asked, elsewhere, environ))
    if "schluessel.md" not in found:
        raise TrialError(f"search does not find a note in another language:\n{found}")
    if strays := {path.name for path in cache.glob("*")} - before - {"manual-slop"}:
        raise TrialError(f"a library wrote into the person's cache: {', '.join(sorted(strays))}")


def _try_tour(manual_slop: Path, elsewhere: Path, environ: dict[str, str]) -> None:
    """See that the tour says what it lacks, and where it lacks nothing, that it walks."""
    tour = (manual_slop, "tour", "--until", "start", "--out", elsewhere / "pictures")
    missing = _ended(tour, elsewhere, environ)
    if missing.returncode != 1 or WITHOUT_SCREEN not in missing.stderr or "Traceback" in missing.stderr:
        raise TrialError(f"without Xvfb the tour ended with {missing.returncode}:\n{missing.stderr[-2000:]}")
    screen = shutil.which(SCREEN)
    if screen is None:
        raise TrialError("There is no Xvfb here to try the tour on: install the package xvfb")
    found = {**environ, "PATH": f"{environ['PATH']}{os.pathsep}{Path(screen).parent}"}
    _timed("tour --until start", lambda: _run(tour, elsewhere, found))
    pictures = sorted(path.name for path in (elsewhere / "pictures").glob("*.png"))
    if pictures != ["01-start.png", "02-reopened.png"]:
        raise TrialError(f"the tour left the pictures {pictures}")


def _bare_environment(venv: Path, home: Path) -> dict[str, str]:
    """The environment of a person who has no compiler, no checkout and no data of this program."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "LANG"))}
    here = {"PATH": str(venv / "bin"), "CC": "false", "CXX": "false", "HOME": str(home)}
    own = {
        "MANUAL_SLOP_HOME": str(home / "slop-home"),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
    }
    proxies = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    return {**kept, **proxies, **here, **own}


def _ended(
    command: tuple[str | Path, ...], folder: Path, environ: dict[str, str] | None, longest_s: float = RUN_S
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=longest_s, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _run(
    command: tuple[str | Path, ...],
    folder: Path,
    environ: dict[str, str] | None = None,
    longest_s: float = RUN_S,
) -> str:
    done = _ended(command, folder, environ, longest_s)
    if done.returncode != 0:
        words = f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}".strip()
        raise TrialError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{words}")
    return done.stdout


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1]


def _timed(what: str, act: Callable[[], str]) -> str:
    began = time.monotonic()
    said = act()
    say(f"{what}: {time.monotonic() - began:.1f} s")
    return said


def say(text: str) -> None:
    """Tell the person what was done."""
    print(f"try_wheels: {text}", flush=True)


def main() -> int:
    """Build, check, install and run. Returns the exit code."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else made).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        try:
            weights = [build_weights.built(folder, kind) for kind in build_weights.ALL]
            sdist, program = build_program(folder)
            check_sdist(sdist)
            for kind, wheel in zip(build_weights.ALL, weights, strict=True):
                check_wheel(wheel, (kind.file, "licenses/LICENSE"))
            check_wheel(program, INSIDE)
            for wheel in (program, *weights):
                say(f"{wheel.name}: {wheel.stat().st_size:,} bytes")
            try_installed(Path(made), program, weights)
            _try_deb(Path(made) / "venv", folder)
        except (
            TrialError,
            build_deb.DebError,
            build_weights.WeightsError,
            subprocess.TimeoutExpired,
        ) as error:
            print(f"try_wheels: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
