"""A sandbox is what was seen to work: one that is missing, forbidden or unknown is named with its reason."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from core.agent import sandbox
from core.agent.closed_view import own_places
from core.agent.sandbox import (
    CommandPlaces,
    Confinement,
    confined,
    find_confinement,
    mounts_of,
    system_program,
)
from core.kernel.command_start import CHANGED, HOST_LIFELINE, Lifeline, start_bare, start_server
from core.kernel.values.agent import Sandbox
from core.kernel.values.mcp import Keeper


def test_a_bubblewrap_that_may_not_make_namespaces_counts_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr("core.agent.sandbox.SYSTEM_FOLDERS", (str(tmp_path),))
    found = find_confinement("linux")
    assert found.program is None
    assert not found.sandbox.is_confined
    assert "cannot confine commands here (code 1)" in found.sandbox.problem
    assert "namespaces" in found.sandbox.problem


def test_where_there_is_none_the_reason_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.agent.sandbox.SYSTEM_FOLDERS", (str(tmp_path),))
    assert "apt install bubblewrap" in find_confinement("linux").sandbox.problem
    assert find_confinement("win32").sandbox.problem != ""


def test_the_profile_of_macos_shuts_what_is_hidden_and_guarded_last(tmp_path: Path) -> None:
    """The last rule that fits counts, so what is shut stands behind what is open."""
    root = str(tmp_path)
    places = CommandPlaces(root, root, "/scratch", ("/ours", f"{root}/in"), (f"{root}/.envrc",))
    macos = Confinement(Sandbox("sandbox-exec"), Path("/usr/bin/sandbox-exec"))
    flag, profile, *command = confined(macos, ("/bin/bash", "-c", "x"), places, needs_network=False)
    lines = profile.split("\n")
    writable = lines.index(f'(allow file-read* file-write* (subpath "{root}"))')
    assert flag == "-p"
    assert command == ["/bin/bash", "-c", "x"]
    assert "(deny network*)" in lines
    assert lines.index('(deny file-read* file-write* (subpath "/ours"))') < writable
    assert max(n for n, line in enumerate(lines) if f'{root}/in"' in line) > writable
    assert lines.index(f'(deny file-write* (subpath "{root}/.envrc"))') > writable
    assert "(deny network*)" not in confined(macos, (), places, needs_network=True)[1]


def test_a_sandbox_or_shell_that_a_project_put_on_the_path_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bwrap", "bash"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 0\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [system_program(name) for name in ("bwrap", "bash")] != [tmp_path / "bwrap", tmp_path / "bash"]
    assert str(find_confinement("linux").program or "").startswith(str(tmp_path)) is False


def test_a_servers_command_names_the_places_that_a_person_approved(tmp_path: Path) -> None:
    script, python, data = (
        tmp_path / "own" / "server.py",
        tmp_path / "venv" / "bin" / "python",
        tmp_path / "data.db",
    )
    for file in (script, python, tmp_path / "venv" / "pyvenv.cfg", data):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    named = own_places((str(python), "-P", str(script), f"--data={data}", str(tmp_path / "none")), "/project")
    packages = tmp_path / "node_modules"
    entry = packages / "@files" / "server" / "node_modules" / "files" / "index.js"
    entry.parent.mkdir(parents=True)
    entry.write_text("")

    assert named == (str(tmp_path / "venv"), str(script.parent), str(data))
    assert own_places((str(python), str(script)), str(tmp_path)) == ()
    assert own_places(("/usr/bin/node", str(entry)), "/project") == ("/usr/bin/node", str(packages))
    shim = packages / ".bin" / "server"
    shim.parent.mkdir()
    shim.symlink_to(entry)
    assert own_places((str(shim),), "/project") == (str(packages),)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "server").symlink_to(shim)
    linked = str(tmp_path / "bin" / "server")
    assert own_places((linked,), "/project") == (linked, str(packages)), "the link, and what it leads to"


def test_a_script_in_the_persons_own_folder_is_seen_by_itself(isolated_home: Path) -> None:
    script = Path.home() / "server.py"
    script.write_text("")
    python = "/usr/bin/python3"
    named = tuple(dict.fromkeys((python, os.path.realpath(python), str(script))))
    assert own_places((python, str(script)), "") == named


def test_a_socket_is_hidden_however_many_others_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine with containers lists hundreds that are not here, or in folders that are hidden anyway."""
    place = tmp_path / "daemon.sock"
    elsewhere = {f"/a/{number}.sock" for number in range(sandbox.MOST_SOCKETS + 1)}
    monkeypatch.setattr(sandbox, "_socket_names", lambda: {*elsewhere, str(place)})
    with socket.socket(socket.AF_UNIX) as held:
        held.bind(str(place))
        assert os.path.realpath(place) in sandbox.hidden_places(tmp_path / "home")


def _command(program: Path, arguments: tuple[str, ...], places: CommandPlaces) -> subprocess.Popen[bytes]:
    pipe = Lifeline()
    try:
        return start_bare(program, arguments, {}, pipe.open(), mounts_of(places))
    finally:
        pipe.close()


def _server(program: Path, arguments: tuple[str, ...], places: CommandPlaces) -> subprocess.Popen[bytes]:
    pipe = Lifeline()
    try:
        os.dup2(pipe.open(), HOST_LIFELINE)
        return start_server(program, arguments, {}, places.scratch, Keeper.SANDBOX, mounts_of(places))
    finally:
        os.close(HOST_LIFELINE)
        pipe.close()


@pytest.mark.parametrize("start", [_command, _server])
@pytest.mark.parametrize("turned", ["", "way", "way/.envrc", "way/deep", "hidden", "."])
def test_nothing_runs_where_a_place_was_turned_elsewhere_while_the_sandbox_was_made(
    turned: str, start: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    """Bubblewrap follows links: another command could have all mounted, unhidden and writable, that a link leads to."""
    root, scratch = tmp_path / "a project", tmp_path / "scratch"
    for folder in ("way/deep/.vscode", "hidden", "other/deep/.vscode", "other/.vscode"):
        (root / folder).mkdir(parents=True)
    for folder in ("way", "other"):
        (root / folder / ".envrc").write_text("")
    scratch.mkdir()
    guarded = (str(root / "way/.envrc"), str(root / "way/deep/.vscode"))
    places = CommandPlaces(str(root), str(root), str(scratch), (str(root / "hidden"),), guarded)
    confinement = find_confinement()
    assert confinement.program is not None
    command = ("/bin/sh", "-c", 'echo begun >"$0"', str(root / "trace"))
    arguments = confined(confinement, command, places, needs_network=False)
    if turned:
        real = (root / turned).rename(tmp_path / "moved")
        there = tmp_path / "elsewhere" if turned == "." else root / "other"
        if real.is_dir():
            shutil.copytree(real, tmp_path / "elsewhere")
        target = there / ".envrc" if turned.endswith(".envrc") else there
        (root / turned).symlink_to(os.path.relpath(target, (root / turned).parent))

    if turned:
        with pytest.raises(OSError, match=re.escape(CHANGED)):
            start(confinement.program, arguments, places)
    else:
        start(confinement.program, arguments, places).communicate()

    assert (root / "trace").exists() is not bool(turned)
