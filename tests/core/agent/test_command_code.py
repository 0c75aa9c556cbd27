"""A command's code: bound from the question to the run, through the worker that asks and runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.agent.agent_messages import JudgeCall
from core.agent.agent_worker import approval_of
from core.agent.command_places import changed_words, code_of
from core.agent.command_rules import read_command_line
from core.agent.tool import ToolPlaces
from core.agent.tools.bash import TOOLS
from core.kernel.values.agent import Approval
from tests.core.agent.desks import Desk


def code(root: Path, line: str) -> list[str]:
    files = code_of(line, read_command_line(line), str(root), str(root))
    return sorted(str(Path(path).relative_to(root)) for path in files)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in {
        "run.sh": "python3 tools/do.py\n", "tools/do.py": "import helper", "tools/helper.py": "", "tools/idle.py": "", "web/main.js": "require('./a')",
        "web/a.js": "", "data.json": "", "plain": "",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("python3 tools/do.py data.json", ["tools/do.py", "tools/helper.py"]),
        ("cd tools && python3 do.py", ["tools/do.py", "tools/helper.py"]),
        ("sh run.sh && node web/main.js", ["run.sh", "tools/do.py", "tools/helper.py", "web/a.js", "web/main.js"]),
        ("python3 plain", ["plain"]),
        ("for x in 1 2; do python3 plain $x; done", ["plain"]),
        ("bash -c 'python3 tools/do.py' > out", ["tools/do.py", "tools/helper.py"]),
        ("git status", []),
        ("grep -r helper data.json", []),
    ],
)  # fmt: skip
def test_scripts_that_a_line_names_are_bound_with_what_they_import(
    root: Path, line: str, files: list[str]
) -> None:
    assert code(root, line) == files


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose code says by no ending, and no first line, that it is run."""
    for name, text in {
        "Makefile": "include rules.mk\nall:\n\t./tool\n\tsh steps\n", "rules.mk": "", "tool": "echo", "steps": "echo", "env": "X=1", "notes": "",
        "package.json": '{"scripts": {"test": "./tool && sh steps"}}', "p.awk": "", "bin/lint": "#!/bin/sh\n", "sub/a.py": "",
        "pkg/__init__.py": "", "pkg/__main__.py": "from pkg import inner; import late", "pkg/inner.py": "", "late.py": "run('data/job.py')",
        "data/job.py": "", "t.pl": "use Own::Part;", "Own/Part.pm": "", "conftest.py": "", "build.rs": "", "main.go": "",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in ("tool", "bin/lint"):
        (tmp_path / name).chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("./tool notes", ["tool"]),
        ("if true; then ./tool; fi", ["tool"]),
        ("find . -exec ./tool {} +", ["tool"]),
        (". ./env", ["env"]),
        ("source env > out", [".", "env"]),
        ("cat steps | sh", ["steps"]),
        ('eval "$(cat env)"', ["env"]),
        ("BASH_ENV=./env bash -c true", ["env"]),
        ("PYTHONPATH=sub python3 -m a", [".", "sub/a.py"]),
        ("PATH=bin:$PATH lint", ["bin/lint"]),
        ("awk -f p.awk notes", ["p.awk"]),
        ("ssh -F notes host", ["notes"]),
        ("curl --config=notes", ["notes"]),
        ("uvx --with ./sub tool", ["sub"]),
        ("uvx --from=./pkg tool", ["pkg"]),
        ("make", [".", "Makefile", "rules.mk", "steps", "tool"]),
        ("make -C. --file=rules.mk", [".", "Makefile", "rules.mk", "steps", "tool"]),
        ("npm test", [".", "package.json", "steps", "tool"]),
        ("python3 -m pkg", ["data/job.py", "late.py", "pkg/__init__.py", "pkg/__main__.py", "pkg/inner.py"]),
        ("perl t.pl", ["Own/Part.pm", "t.pl"]),
        ("(cd sub; python3 a.py)", ["sub/a.py"]),
        ("$PWD/tool", ["tool"]),
        ("./to*", ["tool"]),
        ("tar --to-command=./tool -xf x.tar", ["tool"]),
        ("git -c alias.x='!./tool' x", ["tool"]),
        ("python3 -m pytest sub/a.py", [".", "conftest.py", "sub/a.py"]),
        ("pytest late.py::test_x", [".", "conftest.py", "data/job.py", "late.py"]),
        ("cargo build && go run .", [".", "build.rs", "main.go"]),
        ("java @env Main", ["env"]),
        ("cat notes tool > out", []),
        ("tail -n 5 notes", []),
    ],
)  # fmt: skip
def test_code_is_bound_that_no_ending_and_no_first_line_names(
    project: Path, line: str, files: list[str]
) -> None:
    assert code(project, line) == files


def test_a_program_of_the_project_that_a_name_means_is_bound(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{project / 'bin'}:/usr/bin")

    assert code(project, "lint notes") == ["bin/lint"]
    assert code(project, "lint notes && eval true") == [".", "bin", "bin/lint", "notes"]


RUN_BY_NO_WORD = {
    "pytest -q": "src/app.py", "python3 -m unittest": "tests/test_a.py", "go test ./...": "cmd/helper.go", "cargo test": "src/util.rs",
    "terraform apply": "main.tf", "terraform plan -chdir=infra": "infra/net.tf", "vagrant up": "Vagrantfile", "bazel run //:x": "BUILD.bazel",
    "dotnet run": "Program.cs", "rspec": "spec/a_spec.rb", "npx jest": "test/a.test.js", "yarn build": "webpack.config.js",
    "node --test": "test/a.test.js", "kubectl apply -k overlays/dev": "overlays/dev/kustomization.yaml", "earthly +build": "Earthfile",
    "nix build": "flake.nix", "docker build .": "scripts/entry.sh", "git commit -m x": ".git/hooks/pre-commit", "direnv exec . ls": ".envrc",
    "python3 manage.py migrate": "app/migrations/one.py", "a-tool-of-tomorrow --all": "src/app.py", "timeout 5 a-tool-of-tomorrow": "src/app.py",
    "uv run pytest": "tests/test_a.py", "cd infra && terraform apply": "infra/net.tf",
}  # fmt: skip
"""Lines that run a file of the project that no word of theirs names."""


@pytest.mark.parametrize("line", RUN_BY_NO_WORD)
def test_code_that_no_word_names_is_bound_where_a_program_may_run_all_of_its_folder(
    tmp_path: Path, line: str
) -> None:
    """The list is of programs that run none of it: what nobody knows counts as one that does."""
    for name in (*RUN_BY_NO_WORD.values(), "notes.md", "app.log", "node_modules/a/index.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one")
    (tmp_path / "manage.py").write_text("execute_from_command_line(sys.argv)")

    def bound() -> dict[str, str]:
        return dict(code_of(line, read_command_line(line), str(tmp_path), str(tmp_path)))

    first = bound()
    for name in ("notes.md", "app.log", "node_modules/a/index.js"):
        (tmp_path / name).write_text("another")
    assert bound() == first, "words and logs are no code"
    (tmp_path / RUN_BY_NO_WORD[line]).write_text("another")
    assert bound() != first


@pytest.mark.parametrize(
    "line", ["ls -la", "cat notes.md | grep x", "git status", "git log -3", "pytest --version", "find . -name x", "python3 -m http.server"]
)  # fmt: skip
def test_a_program_that_runs_nothing_of_the_folder_binds_none_of_it(tmp_path: Path, line: str) -> None:
    (tmp_path / "app.py").write_text("one")
    (tmp_path / "notes.md").write_text("one")

    assert code(tmp_path, line) == []


def test_the_question_names_the_code_and_its_yes_is_none_to_another(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (desk.root / "run.sh").write_text("echo one")

    def asked() -> Approval:
        given = json.dumps({"command": "sh run.sh"})
        effect = JudgeCall("d1", "m1", "c1", "bash", given, ToolPlaces(str(desk.root), is_trusted=True))
        return approval_of(effect, TOOLS[0].judge(given, desk))

    first = asked()
    assert (
        first.detail
        == "sh run.sh\n(The command runs run.sh. If that code changes first, the program asks you again.)"
    )
    (desk.root / "other.txt").write_text("x")
    assert asked() == first
    (desk.root / "run.sh").write_text("echo two")
    assert asked().id != first.id


def test_the_question_says_that_all_code_of_the_folder_is_bound(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    desk = Desk(tmp_path / "shop")
    given = json.dumps({"command": "pytest"})
    effect = JudgeCall("d1", "m1", "c1", "bash", given, ToolPlaces(str(desk.root), is_trusted=True))

    detail = approval_of(effect, TOOLS[0].judge(given, desk)).detail

    assert f"The command runs all code in {desk.root.name}. If that code changes first" in detail


@pytest.mark.usefixtures("german")
def test_the_model_hears_in_english_which_code_changed(tmp_path: Path) -> None:
    asked = {str(tmp_path / f"{number}.py"): "one" for number in range(7)}

    assert changed_words(asked, {}, str(tmp_path)).startswith(
        "Not run: 0.py, 1.py, 2.py, 3.py, 4.py and 2 more are not as it was"
    )
