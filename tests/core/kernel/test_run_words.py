"""Words of a command line: which name what is run, and which what it works on."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel.run_words import line_words, python_code, run_words

FILES = (
    "server.py", "data.db", "facts.json", "notes.py", "tool", "pkg/__init__.py", "pkg/main.py", "hook.js", "server.js", "package.json",
    "run.sh", "Makefile", "server/pyproject.toml", "server/weather.py", "local/package.json", "local/index.js", "app.jar", "script.rb", "ts.ts",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("x")
    return tmp_path


def names(paths: object, folder: Path) -> str:
    return " ".join(str(Path(path).relative_to(folder)) for path in paths)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("command", "code", "data"),
    [
        ("python3 server.py data.db", "server.py", "data.db"),
        ("python server.py notes.py", "server.py", "notes.py"),
        ("python facts.json data.db", "facts.json", "data.db"),
        ("python -W ignore -X dev server.py --db=data.db", "server.py", "data.db"),
        ("python3.11 -um pkg.main --db data.db", "pkg/main.py", "data.db"),
        ("python -m http.server data.db", "", "data.db"),
        ("python server.py new.db", "server.py", "new.db"),
        ("node server.js data.db", "server.js", "data.db"),
        ("node --inspect server.js data.db", "server.js", "data.db"),
        ("node --require ./hook.js server.js data.db", "hook.js server.js", "data.db"),
        ("node --import=./hook.js server data.db", "hook.js server.js", "data.db"),
        ("node local data.db", "local/package.json", "data.db"),
        ("deno run -A ts.ts data.db", "ts.ts", "data.db"),
        ("tsx watch ts.ts data.db", "ts.ts", "data.db"),
        ("sh run.sh data.db", "run.sh", "data.db"),
        ("bash -eu run.sh data.db", "run.sh", "data.db"),
        ("ruby script.rb data.db", "script.rb", "data.db"),
        ("java -jar app.jar data.db", "app.jar", "data.db"),
        ("uv run tool data.db", "tool", "data.db"),
        ("uv --directory server run weather.py", "server/pyproject.toml server/weather.py", ""),
        ("uv run --with mcp python server.py data.db", "server.py", "data.db"),
        ("uvx mcp-server-sqlite --db-path data.db", "", "data.db"),
        ("npx -y @scope/server data.db", "", "data.db"),
        ("npx tsx ts.ts data.db", "ts.ts", "data.db"),
        ("npx ./local data.db", "local/package.json", "data.db"),
        ("npm run build", "package.json", ""),
        ("npm --prefix local start", "local/package.json", ""),
        ("make test", "Makefile", ""),
        ("env A=1 python server.py data.db", "server.py", "data.db"),
        ("timeout 5 node server.js", "server.js", ""),
        ("some-program --db data.db --plugin=hook.js", "hook.js", "data.db"),
        ("mcp run server.py:app", "server.py", ""),
        ("python -m cProfile -s time server.py", "server.py", ""),
        ("python -m pdb server.py data.db", "server.py", "data.db"),
        ("bash --rcfile tool run.sh data.db", "tool run.sh", "data.db"),
        ("gdb -batch -x tool", "tool", ""),
        ("ansible-playbook --inventory=data.db tool", "data.db tool", ""),
        ("./run.sh data.db", "run.sh", "data.db"),
        ("uvicorn server:app --port 80", "server.py", ""),
        ("flask --app=pkg.main run", "pkg/main.py", "pkg.main"),
        ("pip install -e ./server", "server/pyproject.toml", ""),
    ],
)
def test_code_is_told_from_data_by_what_the_program_runs(
    command: str, code: str, data: str, folder: Path
) -> None:
    found = run_words(command.split(), str(folder))
    assert (names(found.code, folder), names(found.data, folder)) == (code, data)


@pytest.mark.parametrize("program", ["./gradlew", "./mvnw"])
def test_a_builder_that_the_project_brings_is_bound_with_what_it_fetches(folder: Path, program: str) -> None:
    (folder / program).write_text("#!/bin/sh\n")
    found = run_words([program, "test"], str(folder))
    assert names(found.code, folder) == program.removeprefix("./")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("cat x | bash run.sh > out", "run.sh"),
        ("bash -c 'python tool data.db'", "tool"),
        ("for f in *; do ./run.sh $f; done", "run.sh"),
        ("X=$(node server.js)", "server.js"),
        ("python server*.py", "server.py"),
        ('python "server.py" <<EOF', "server.py"),
    ],
)
def test_a_line_that_no_rule_covers_is_looked_through_for_what_it_runs(
    line: str, code: str, folder: Path
) -> None:
    assert names(line_words(line, str(folder)).code, folder) == code


def test_a_script_that_is_the_program_is_run_by_the_first_line_of_its_own(folder: Path) -> None:
    script = folder / "bin" / "serve"
    script.parent.mkdir()
    script.write_text("#!/usr/bin/env -S node --require ./hook.js\n")
    found = run_words((str(script), "data.db"), str(folder))
    assert names(found.code, folder) == "bin/serve hook.js"
    assert names(found.data, folder) == "data.db"


def test_a_command_of_a_virtual_environment_brings_the_package_that_it_imports(tmp_path: Path) -> None:
    around = tmp_path / "venv"
    site = around / "lib" / "python3.11" / "site-packages"
    for place in ("mine", "other"):
        (site / place).mkdir(parents=True)
    (around / "bin").mkdir()
    (around / "pyvenv.cfg").touch()
    script = around / "bin" / "mine-server"
    script.write_text(f"#!{around}/bin/python\nimport sys\nfrom mine import main\n")
    for command in ((str(script),), (f"{around}/bin/python", "-m", "mine.server")):
        folders = [folder for folder, _ in run_words(command, str(tmp_path)).folders]
        assert str(site / "mine") in folders
        assert str(site / "other") not in folders


def test_a_file_of_data_on_a_disk_where_all_may_be_executed_is_data(folder: Path) -> None:
    for name, text in (("data.db", "SQLite format 3"), ("tool", "#!/bin/sh\n")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    found = run_words(("some-program", "data.db", "tool"), str(folder))
    assert (names(found.code, folder), names(found.data, folder)) == ("tool", "data.db")


def test_a_data_file_tells_where_it_leads_before_it_is_there(folder: Path) -> None:
    assert run_words(("python", "server.py", "new.db"), str(folder)).data == {
        str(folder / "new.db"): str(folder / "new.db")
    }
    (folder / "new.db").symlink_to(folder / "facts.json")
    assert run_words(("python", "server.py", "./new.db"), str(folder)).data == {
        str(folder / "new.db"): str(folder / "facts.json")
    }


@pytest.mark.parametrize(
    "command", [(), ("",), ("python",), ("node", "--x"), ("uv",), ("sh", "-c"), ("env",), ("npx", "-p"), ("make", "-f"), ("python", "a\0b"), ("x" * 9_000, "y")]
)  # fmt: skip
@pytest.mark.parametrize("place", ["", "/no/such/folder"])
def test_odd_words_name_nothing(command: tuple[str, ...], place: str) -> None:
    assert run_words(command, place).code == ()


def test_module_and_code_of_python_are_told_from_a_script() -> None:
    assert python_code(("python3", "-Pm", "serve.way")) == ("m", "serve.way")
    assert python_code(("python3", "serve.py", "-m", "x")) is None
    assert python_code(("node", "-m", "x")) is None
