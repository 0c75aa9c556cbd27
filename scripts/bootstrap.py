"""Sets up a fresh checkout: system packages, .venv and the Python packages of requirements.lock. Plain python3 only."""

from __future__ import annotations

import ctypes
import glob
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "set-up.sha256"
OLDEST = (3, 11)
APT_LINE = "apt-get install -y --no-install-recommends"
APT_WAIT_S = 300
"""Time for which another set-up, or the system's own updates, may hold apt before it is given up."""
FILE_SERVER, FILE_SERVER_VERSION = "@modelcontextprotocol/server-filesystem", "2026.8.31"
"""MCP server of npm that tests speak with."""
LLVMPIPE = ("dri/swrast_dri.so", "libgallium-*.so")


class SetUpError(Exception):
    """Set-up cannot go on; the message is one line that says what to do."""


def has_library(name: str) -> bool:
    """True if the dynamic linker finds a shared library."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def has_software_gl() -> bool:
    """True if Mesa's software rasteriser is there, which the virtual screen draws with."""
    return any(glob.glob(f"/usr/lib{part}/{name}") for part in ("", "64", "/*") for name in LLVMPIPE)


def lacks_ensurepip() -> bool:
    """True if this Python cannot make a virtual environment, because Debian keeps that part in its own package."""
    return importlib.util.find_spec("ensurepip") is None


def missing_system_packages(
    *, needs_program: bool, needs_screen: bool, needs_venv: bool, needs_sandbox: bool, needs_node: bool
) -> list[str]:
    """Return the Debian packages that this Linux lacks: window and model, a virtual screen, .venv, the sandbox, npm."""
    found: dict[str, bool] = {}
    if needs_program:
        libraries = {"libgl1": "libGL.so.1", "libx11-6": "libX11.so.6", "libgomp1": "libgomp.so.1"}
        found |= {package: has_library(name) for package, name in libraries.items()}
    if needs_screen:
        found |= {"libgl1-mesa-dri": has_software_gl(), "xvfb": shutil.which("Xvfb") is not None}
    if needs_venv:
        found[f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"] = not lacks_ensurepip()
    if needs_sandbox:
        found["bubblewrap"] = shutil.which("bwrap") is not None
    if needs_node:
        found["npm"] = shutil.which("npm") is not None
    return [package for package, is_there in found.items() if not is_there]


def root_prefix() -> list[str] | None:
    """Return the words that make a command run as root, or None when this person may not."""
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode == 0:
        return [sudo, "-n"]
    return None


def can_install() -> bool:
    """True if apt is there and may be run: the program is whole without a sandbox, it only asks more often."""
    return shutil.which("apt-get") is not None and root_prefix() is not None


def install_system_packages(packages: list[str]) -> None:
    """Install Debian packages with apt where root or sudo allows. Raises SetUpError with the command otherwise."""
    names = " ".join(packages)
    if shutil.which("apt-get") is None:
        raise SetUpError(f"what Debian packages as {names} is missing: install it with your package manager.")
    prefix = root_prefix()
    if prefix is None:
        raise SetUpError(f"system packages are missing. Run this, then try again: sudo {APT_LINE} {names}")
    say(f"installing {names} with apt")
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive"]
    subprocess.run([*apt, "apt-get", "update", "-qq"], check=False)
    waits = ["-o", f"DPkg::Lock::Timeout={APT_WAIT_S}"]
    install = [*apt, *APT_LINE.split(), "-qq", *waits, *packages]
    done = subprocess.run(install, check=False, stdout=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SetUpError(f"apt could not install {names} (its words are above). Try: sudo {APT_LINE} {names}")


def say(text: str) -> None:
    """Tell the person what set-up is doing."""
    print(f"set-up: {text}", flush=True)


def fingerprint() -> str:
    """Return a hash of all that set-up depends on: the lock, the project, this script, the Python, the place."""
    parts = [sys.version.encode(), str(ROOT).encode()]
    parts += [
        (ROOT / name).read_bytes() for name in ("requirements.lock", "pyproject.toml", "scripts/bootstrap.py")
    ]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def is_current(stamp: str) -> bool:
    """True if the last set-up was made for the same fingerprint and its Python is still there."""
    return STAMP.exists() and STAMP.read_text() == stamp and (VENV / "bin" / "python").exists()


def run(*command: str | Path) -> None:
    """Run a step of set-up. Raises SetUpError when it fails; its own output has the reason."""
    done = subprocess.run(command, cwd=ROOT, check=False)
    if done.returncode != 0:
        raise SetUpError(f"a step failed (its words are above): {' '.join(map(str, command))}")


def locked(package: str) -> str:
    """Return the lines of requirements.lock that pin one package, with their hashes."""
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(f"{package}=="))
    last = next(number for number in range(first, len(lines)) if not lines[number].endswith("\\"))
    return "\n".join(lines[first : last + 1]) + "\n"


def is_venv_sound() -> bool:
    """True if .venv holds a Python of this version that starts, and something can install packages into it."""
    bin_ = VENV / "bin"
    if not (bin_ / "python").exists():
        return False
    asked = subprocess.run(
        [bin_ / "python", "-c", "import sys; print(sys.version)"], capture_output=True, text=True, check=False
    )
    can_install = shutil.which("uv") or (bin_ / "uv").exists() or (bin_ / "pip").exists()
    return asked.stdout.strip() == sys.version and bool(can_install)


def make_venv(uv: str | None) -> None:
    """Make .venv unless it is sound."""
    if is_venv_sound():
        return
    say(f"making .venv with Python {sys.version.split()[0]}")
    if uv is not None:
        run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, VENV)
    else:
        run(sys.executable, "-m", "venv", "--clear", VENV)


def own_uv() -> Path:
    """Return the uv inside .venv, installed there from the lock when it is not there yet."""
    uv = VENV / "bin" / "uv"
    if not uv.exists():
        say("installing uv into .venv")
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as pins:
            pins.write(locked("uv"))
            pins.flush()
            pip = (VENV / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
            run(*pip, "--require-hashes", "--no-deps", "-r", pins.name)
    return uv


def install_python_packages() -> None:
    """Bring .venv to exactly the packages of requirements.lock, and this checkout on top."""
    found = shutil.which("uv")
    make_venv(found)
    uv = found or own_uv()
    python = ("--python", VENV / "bin" / "python")
    say("installing the packages of requirements.lock")
    run(uv, "pip", "sync", "--quiet", *python, "--require-hashes", "requirements.lock")
    flags = ("--no-deps", "--no-build-isolation", "-C", "editable_mode=compat")
    run(uv, "pip", "install", "--quiet", *python, *flags, "-e", ".")


def has_file_server() -> bool:
    """True if the MCP server that tests speak with is installed, in the version that is pinned."""
    place = ROOT / ".optional" / "node_modules" / FILE_SERVER / "package.json"
    return place.exists() and f'"version": "{FILE_SERVER_VERSION}"' in place.read_text()


def install_file_server() -> None:
    """Install the MCP server that tests speak with. Where npm or its registry is away it is said, and its test fails."""
    npm = shutil.which("npm")
    package = f"{FILE_SERVER}@{FILE_SERVER_VERSION}"
    say(f"installing {package} with npm")
    flags = ("--silent", "--prefix", str(ROOT / ".optional"), "--ignore-scripts", "--no-audit", "--no-fund")
    if npm is None or subprocess.run([npm, "install", *flags, package], check=False).returncode != 0:
        say(f"npm could not install {package}: the test that speaks with it will fail until it can")


def set_up(target: str) -> None:
    """Do what is still missing for `target`: "run", "test" or "check". A second run finds nothing to do.

    Raises:
        SetUpError: something is missing that this script may not or cannot install.
    """
    if sys.version_info < OLDEST:
        have = ".".join(map(str, sys.version_info[:3]))
        raise SetUpError(
            f"Python 3.11 or newer is needed and {sys.executable} is {have}. "
            "Install one and name it, for example: make run PYTHON=python3.11"
        )
    stamp = fingerprint()
    is_done = is_current(stamp)
    if sys.platform.startswith("linux"):
        missing = missing_system_packages(
            needs_program=target != "check",
            needs_screen=target == "test" or (target == "run" and not os.environ.get("DISPLAY")),
            needs_venv=not is_done and shutil.which("uv") is None and not is_venv_sound(),
            needs_sandbox=target == "test" or (target == "run" and can_install()),
            needs_node=target == "test" and not has_file_server(),
        )
        if missing:
            install_system_packages(missing)
    if target == "test" and not has_file_server():
        install_file_server()
    if is_done:
        return
    started = time.monotonic()
    install_python_packages()
    STAMP.write_text(stamp)
    say(f"done in {time.monotonic() - started:.0f} s")


def main() -> int:
    """Set up for the target named on the command line and return the exit code."""
    try:
        set_up(sys.argv[1] if len(sys.argv) > 1 else "run")
    except SetUpError as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
