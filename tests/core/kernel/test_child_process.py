"""A folder that is opened does not run: children of ours, started for real in a folder that wants to."""

from __future__ import annotations

import os
import site
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from core.app.crunch import Crunch
from core.kernel.child_process import PACKAGE_ROOT, child_environment, start_child
from core.kernel.o200k import count_tokens
from core.services.providers.embedded.server import LlamaServer
from core.services.providers.protocol import CancelToken
from core.talk.context.outline import symbols_of
from core.talk.discussion.catalog import refresh_apart
from tests.patience import PATIENCE_S

WAIT_S = PATIENCE_S
MARKER = "ran.txt"
SECRET = "sk-of-the-person"
MODULES = (
    *("core/__init__", "core/kernel/__init__", "core/kernel/tokens", "core/app/forgetting/read_child"),
    *("core/app/__init__", "core/app/crunch_child", "core/app/crunch_wire"),
    *("core/talk/__init__", "core/talk/discussion/__init__", "core/talk/discussion/catalog_child"),
    *("core/services/__init__", "core/services/providers/__init__", "core/services/providers/embedded/child"),
    *("sitecustomize", "usercustomize", "encodings/__init__", "json", "signal", "struct", "runpy"),
    *("msgspec", "tiktoken", "tree_sitter", "xllamacpp"),
)  # fmt: skip


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a repository whose modules bear our names, and tell when they run. Keys are in the environment."""
    folder = tmp_path / "opened"
    for module in MODULES:
        path = folder / f"{module}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"open({str(folder / MARKER)!r}, 'a').write({module!r} + '\\n')\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", str(folder)]))
    for name in (
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "A_KEY_OF_TOMORROW",
    ):
        monkeypatch.setenv(name, SECRET)
    return folder


@pytest.fixture
def crunch(own_worker_process: None) -> Iterator[Crunch]:
    with closing(Crunch()) as worker:
        yield worker


def modules_run(folder: Path) -> list[str]:
    marker = folder / MARKER
    return marker.read_text().split() if marker.exists() else []


def held_back(pid: int | None, folder: Path) -> bool:
    """Whether a running child holds no key, and neither works nor looks for modules in the folder."""
    process = psutil.Process(pid)
    told = [*process.environ().values(), *process.cmdline(), process.cwd()]
    return not any(SECRET in text or str(folder) in text for text in told)


def test_the_worker_answers_and_runs_nothing_of_the_folder(opened: Path, crunch: Crunch) -> None:
    source = "class A:\n    def f(self): ...\n"

    assert crunch.count({"a": source}).result(WAIT_S) == {"a": count_tokens(source)}
    assert crunch.outline("a.py", source).result(WAIT_S) == symbols_of("a.py", source)
    assert modules_run(opened) == []
    assert held_back(crunch.pid, opened)


def test_the_refresh_of_the_catalog_runs_nothing_of_the_folder(opened: Path, tmp_path: Path) -> None:
    (tmp_path / "home" / "discussions").mkdir(parents=True)

    steps = list(refresh_apart(Path("../home"), Path("../catalog.sqlite")))

    assert [(step.ids, step.done, step.total) for step in steps] == [((), 0, 0)]
    assert (tmp_path / "catalog.sqlite").exists()
    assert modules_run(opened) == []


@pytest.mark.model
def test_the_embedded_model_starts_and_runs_nothing_of_the_folder(opened: Path) -> None:
    with closing(LlamaServer(slot_save_path="../slots")) as server:
        endpoint = server.ensure(CancelToken())

        assert endpoint is not None
        assert held_back(endpoint.pid, opened)
    assert modules_run(opened) == []


def test_a_child_finds_our_package_and_not_the_script_s_neighbours(opened: Path, tmp_path: Path) -> None:
    script = tmp_path / "child.py"
    script.write_text(
        "import os, sys, core, json; print(core.__file__, os.getcwd(), *sys.argv[1:], sep='\\n')\n"
    )
    (tmp_path / "json.py").write_text("raise SystemExit('a neighbour')\n")

    with start_child(Path("../child.py"), "one", "two words", stdin=subprocess.DEVNULL) as child:
        answer, _ = child.communicate(timeout=WAIT_S)

    assert answer.decode().split("\n")[:4] == [
        str(PACKAGE_ROOT / "core" / "__init__.py"),
        str(PACKAGE_ROOT),
        "one",
        "two words",
    ]
    assert modules_run(opened) == []


@pytest.mark.parametrize(("is_private", "mode"), [(True, 0o600), (False, 0o664)])
def test_files_of_our_own_children_are_the_persons_alone_whatever_the_umask(
    tmp_path: Path, is_private: bool, mode: int
) -> None:
    """A child that starts the person's programs leaves them the umask that the person set."""
    script = tmp_path / "child.py"
    script.write_text("import sys; open(sys.argv[1], 'w').close()\n")
    before = os.umask(0o002)
    try:
        with start_child(
            script, str(tmp_path / "made"), stdin=subprocess.DEVNULL, is_private=is_private
        ) as child:
            child.communicate(timeout=WAIT_S)
    finally:
        os.umask(before)

    assert (tmp_path / "made").stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("python", ["", "python", None])
def test_where_python_does_not_know_its_place_no_child_is_started(
    python: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", python)

    with pytest.raises(FileNotFoundError, match="the program cannot find the Python that runs it"):
        start_child(tmp_path / "child.py")


def test_a_child_keeps_what_it_needs_of_the_environment_and_nothing_else() -> None:
    needed = {
        "PATH": "/bin",
        "HOME": "/home/a",
        "LC_ALL": "C",
        "SYSTEMROOT": "C:\\Windows",
        "PYTHONUSERBASE": "/u",
    }
    foreign = {
        "MY_API_KEY": SECRET,
        "PYTHONPATH": "/b",
        "PYTHONSTARTUP": "x.py",
        "HTTPS_PROXY": f"//a:{SECRET}@b",
    }

    assert child_environment(needed | foreign) == needed | {"PYTHONPATH": str(PACKAGE_ROOT)}


@pytest.mark.parametrize("place", ["for all", "the person's own"])
def test_an_installed_package_is_not_put_before_the_standard_library(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    root = str(PACKAGE_ROOT)
    monkeypatch.setattr(site, "getsitepackages", lambda: [root] if place == "for all" else [])
    monkeypatch.setattr(site, "getusersitepackages", lambda: "" if place == "for all" else root)

    assert child_environment({"PATH": "/bin"}) == {"PATH": "/bin"}
