"""Code that a command runs: what its script imports, what lies beside it, within bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel import run_code
from core.kernel.run_code import CodeHashes
from core.kernel.run_words import run_words


def written(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def imported(folder: Path, *command: str) -> list[str]:
    code = CodeHashes().imported(run_words(command, str(folder)), str(folder))
    return sorted(str(Path(path).relative_to(folder)) for path in code.files)


def whole(folder: Path, *command: str) -> list[str]:
    code = CodeHashes().whole(run_words(command, str(folder)))
    return sorted(str(Path(path).relative_to(folder)) for path in code.files)


def test_a_python_script_brings_what_it_imports_beside_it_and_no_more(tmp_path: Path) -> None:
    written(tmp_path, {
        "do/run.py": "import sys, helper as h\nfrom pkg.sub import (\n    one,\n    two,\n)\n",
        "do/helper.py": "import deeper", "do/deeper.py": "", "do/pkg/__init__.py": "from .way import x", "do/pkg/way.py": "",
        "do/pkg/sub/__init__.py": "", "do/pkg/sub/one.py": "from ... import gone\nfrom ..side import y", "do/pkg/side.py": "", "do/unused.py": "", "other.py": "",
    })  # fmt: skip
    assert imported(tmp_path, "python", "do/run.py") == [
        "do/deeper.py", "do/helper.py", "do/pkg/__init__.py", "do/pkg/side.py", "do/pkg/sub/__init__.py", "do/pkg/sub/one.py", "do/pkg/way.py", "do/run.py",
    ]  # fmt: skip


def test_a_script_of_node_and_one_of_a_shell_bring_theirs(tmp_path: Path) -> None:
    written(tmp_path, {
        "web/main.js": "import a from './a.js'; const b = require(\"../lib/b\");", "web/a.js": "", "lib/b.ts": "export * from './c.js'", "lib/c.ts": "", "web/z.js": "",
        "run.sh": '. ./lib.sh\n"$HERE/more.sh"\npython3 tool.py data.json\n', "lib.sh": "", "more.sh": "", "tool.py": "", "data.json": "", "unused.sh": "",
    })  # fmt: skip
    assert imported(tmp_path, "node", "web/main.js") == ["lib/b.ts", "lib/c.ts", "web/a.js", "web/main.js"]
    assert imported(tmp_path, "sh", "run.sh") == ["lib.sh", "more.sh", "run.sh", "tool.py"]


def test_a_server_brings_all_code_of_its_folder_and_no_data(tmp_path: Path) -> None:
    written(tmp_path, {
        "s/server.py": "", "s/helper.py": "", "s/deep/more.py": "", "s/facts.json": "", "s/data.db": "", "s/__pycache__/helper.pyc": "", "s/node_modules/x.py": "",
        "s/own/pyvenv.cfg": "", "s/own/lib/y.py": "", "n/package.json": "{}", "n/dist/index.js": "", "n/lib/a.mjs": "", "n/readme.md": "", "n/store.json": "",
    })  # fmt: skip
    assert whole(tmp_path, "python", "s/server.py", "s/data.db") == [
        "s/deep/more.py",
        "s/helper.py",
        "s/server.py",
    ]
    assert whole(tmp_path, "node", "n/dist/index.js") == ["n/dist/index.js", "n/lib/a.mjs", "n/package.json"]


def test_a_module_brings_its_package_then_the_folder_that_it_is_found_in(tmp_path: Path) -> None:
    written(tmp_path, {"pkg/__main__.py": "", "pkg/way.py": "", "json.py": "", "data.txt": ""})
    assert whole(tmp_path, "python", "-m", "pkg") == ["json.py", "pkg/__main__.py", "pkg/way.py"]


def test_what_is_over_the_bounds_is_named_as_not_bound_and_the_script_is_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, {f"s/{name}.py": "x" for name in ("a", "b", "c", "server")})
    words = run_words(("python", "s/server.py"), str(tmp_path))
    monkeypatch.setattr(run_code, "MOST_FILES", 2)
    code = CodeHashes().whole(words)
    assert [Path(path).name for path in code.files] == ["server.py", "a.py"]
    assert code.unbound == (str(tmp_path / "s"),)

    monkeypatch.setattr(run_code, "MOST_FILES", 9)
    monkeypatch.setattr(run_code, "MOST_LOOKED_AT", 2)
    assert CodeHashes().whole(words).unbound == (str(tmp_path / "s"),)


def test_of_a_person_s_own_folder_only_what_lies_right_in_it_is_a_server_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    written(tmp_path, {"server.py": "", "helper.py": "", "work/other.py": ""})
    code = CodeHashes().whole(run_words(("python", "server.py"), str(tmp_path)))
    assert [Path(path).name for path in code.files] == ["server.py", "helper.py"]
    assert code.unbound == (str(tmp_path),)


def test_a_file_is_hashed_again_when_it_is_another_one(tmp_path: Path) -> None:
    script = tmp_path / "a.py"
    hashes = CodeHashes()
    seen = set()
    for text in ("one", "two", "three"):
        script.write_text(text)
        seen.add(hashes.sha256(str(script)))
    assert len(seen) == 3


def test_packages_that_lie_where_others_may_write_are_bound_by_one_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, {
        "web/package.json": "{}", "web/main.js": "", "node_modules/a/index.js": "one", "node_modules/a/readme.md": "", "node_modules/.cache/x.js": "",
        ".venv/pyvenv.cfg": "", ".venv/lib/python3.11/site-packages/a/__init__.py": "one", "srv/server.py": "",
    })  # fmt: skip

    def bound(within: str, *command: str) -> dict[str, str]:
        code = CodeHashes().whole(run_words(command, str(tmp_path)), within=within)
        return {path: sha256 for path, sha256 in code.files.items() if path.endswith("/")}

    for command, place, file in (
        (("node", "web/main.js"), "node_modules", "a/index.js"),
        (("python", "srv/server.py"), ".venv/lib/python3.11/site-packages", "a/__init__.py"),
    ):
        before = bound(str(tmp_path), *command)
        assert list(before) == [f"{tmp_path / place}/"]
        (tmp_path / place / "a" / "readme.md").write_text("other")
        assert bound(str(tmp_path), *command) == before
        (tmp_path / place / file).write_text("two!")
        assert bound(str(tmp_path), *command) != before
        assert bound("", *command) == bound(str(tmp_path / "elsewhere"), *command) == {}
        monkeypatch.setattr(run_code, "MOST_PACKAGED", 0)
        words = run_words(command, str(tmp_path))
        assert CodeHashes().whole(words, within=str(tmp_path)).unbound == (str(tmp_path / place),)
        monkeypatch.undo()
