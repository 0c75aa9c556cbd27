"""What a yes to a server on this machine is bound to: its code by hash, as it is now; its data is its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel import language
from core.kernel.values.mcp import McpApproval, McpServerSettings
from core.mcp.approvals import MOST_NAMED, differences, may_start, of_start, start_lines
from core.mcp.found_programs import ServerFinder, kept_apart

CASE = Path(__file__).parents[2] / "data" / "mcp" / "data_file.py"


class Place:
    """A project with a server in a folder of its own, and data beside and elsewhere."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.server = root / "srv" / "server.py"
        for name in ("srv/server.py", "srv/helper.py", "srv/deep/more.py", "srv/facts.json", "data.db"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("one")
        self.settings = McpServerSettings("mini", (sys.executable, str(self.server), "data.db"))

    def found(self) -> McpApproval:
        return ServerFinder().find(self.settings, str(self.root))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "project")


@pytest.mark.parametrize("name", ["srv/server.py", "srv/helper.py", "srv/deep/more.py"])
def test_code_of_the_folder_that_changed_asks_again_and_is_named(place: Place, name: str) -> None:
    kept = of_start(place.found(), None, "")
    (place.root / name).write_text("two")
    now = place.found()

    assert not may_start(kept, now)
    assert differences(kept.approval, now) == (f"Changed file in the server's code: {place.root / name}",)


def test_a_module_that_came_to_be_beside_a_server_asks_again(place: Place) -> None:
    """Python looks beside the script first: a `json.py` runs in place of its own."""
    kept = of_start(place.found(), None, "")
    (place.server.parent / "json.py").touch()
    assert differences(kept.approval, place.found()) == (
        f"New file in the server's code: {place.server.parent / 'json.py'}",
    )


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        (("bash", "-c", "cd srv && exec python3 server.py"), "srv/helper.py"),
        (("bash", "-c", ". ./start"), "start"),
        (("bash", "run.sh"), "start"),
        (("env", "BASH_ENV=start", "bash", "-c", "true"), "start"),
        (("env", "PYTHONPATH=srv", "python3", "-m", "deep.more"), "srv/deep/more.py"),
    ],
)
def test_code_that_a_shell_takes_in_asks_again_when_it_changed(
    place: Place, command: tuple[str, ...], changed: str
) -> None:
    (place.root / "start").write_text("one")
    (place.root / "run.sh").write_text(
        '. "$(dirname "$0")/start"\nexec python3 srv/server.py data.db >> log\n'
    )
    place.settings = McpServerSettings("mini", command)
    kept = of_start(place.found(), None, "")
    (place.root / "data.db").write_text("two")
    assert may_start(kept, place.found())

    (place.root / changed).write_text("two")
    assert f"Changed file in the server's code: {place.root / changed}" in differences(
        kept.approval, place.found()
    )


def test_a_link_that_leads_to_other_code_asks_again(place: Place) -> None:
    """Both files were bound; the yes was to the one that runs first."""
    link = place.root / "start.py"
    link.symlink_to(place.server)
    place.settings = McpServerSettings("mini", (sys.executable, str(link)))
    kept = of_start(place.found(), None, "")
    link.unlink()
    link.symlink_to(place.server.parent / "helper.py")

    assert not may_start(kept, place.found())


@pytest.mark.parametrize("name", ["data.db", "srv/facts.json", "srv/log.txt", "other.py"])
def test_data_that_is_written_takes_no_yes_back(place: Place, name: str) -> None:
    kept = of_start(place.found(), None, "")
    (place.root / name).write_text("two")
    assert may_start(kept, place.found())


def test_a_server_that_makes_its_database_at_its_first_start_stays_approved(place: Place) -> None:
    (place.root / "data.db").unlink()
    kept = of_start(place.found(), None, "")
    (place.root / "data.db").write_text("made")
    assert may_start(kept, place.found())


def test_a_data_file_that_becomes_a_link_to_another_file_asks_again(place: Place) -> None:
    kept = of_start(place.found(), None, "")
    (place.root / ".env").write_text("x")
    (place.root / "data.db").unlink()
    (place.root / "data.db").symlink_to(place.root / ".env")
    (line,) = differences(kept.approval, place.found())
    assert (
        line
        == f"A file of the server is at another place now: {place.root / 'data.db'}, now {place.root / '.env'}"
    )


def test_the_question_says_which_is_code_and_which_data(place: Place) -> None:
    lines = dict(start_lines(place.found()))
    assert f"{place.server} (" in lines["Code of the server: after a change, you approve the server again"]
    assert lines["Data files of the server: they may change without a new approval"] == str(
        place.root / "data.db"
    )
    assert "data.db" not in lines["Code of the server: after a change, you approve the server again"]


def test_the_question_says_which_files_stay(place: Place) -> None:
    assert dict(start_lines(place.found()))["Files"].startswith(
        "In a sandbox only files in this project stay."
    )
    assert "Files" not in dict(start_lines(McpApproval(name="far", url="https://example.org/mcp")))


def test_each_line_of_the_question_is_in_the_persons_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language._SPOKEN, "translated", lambda text: f"<{text}>")
    own = start_lines(McpApproval(name="mini", program="/usr/bin/mini"))
    far = start_lines(McpApproval(name="far", url="https://example.org/mcp"))
    assert [label for label, _ in (*own, *far) if not label.startswith("<")] == []
    assert {"<none>", "<off>"} <= {text for _, text in own}


def test_a_question_about_much_code_names_the_first_files_and_each_folder_with_a_hash(place: Place) -> None:
    for number in range(MOST_NAMED + 3):
        (place.server.parent / f"m{number:02}.py").write_text("x")
    asked = place.found()
    rows = dict(start_lines(asked))["Code of the server: after a change, you approve the server again"].split(
        "\n"
    )
    assert len(rows) == MOST_NAMED + 2
    assert rows[0].startswith(f"{place.server} (")
    assert rows[-1].startswith(f"{place.server.parent / 'deep'}: 1 more file (")

    changed = replace(asked, files={**asked.files, str(place.server.parent / "m14.py"): "d" * 64})
    assert start_lines(changed) != start_lines(asked)


def test_packages_in_the_project_are_a_row_of_their_own(place: Place) -> None:
    package = place.root / ".venv" / "lib" / "python3.11" / "site-packages" / "p"
    package.mkdir(parents=True)
    (package / "a.py").write_text("one")
    kept = of_start(place.found(), None, "")
    rows = dict(start_lines(kept.approval))[
        "Code of the server: after a change, you approve the server again"
    ].split("\n")
    assert rows[-1].startswith(f"installed packages in {package.parent}/ (")
    (package / "a.py").write_text("two!")
    assert differences(kept.approval, place.found()) == (
        f"Changed file in the server's code: {package.parent}/",
    )


def test_too_much_code_is_said(place: Place) -> None:
    asked = replace(place.found(), unbound=("/p/srv",))
    assert "/p/srv" in dict(start_lines(asked))["Your approval covers only a part of the server's code"]


def test_bytecode_beside_a_server_of_the_project_is_not_run_in_place_of_its_code(place: Place) -> None:
    """Commands may write `__pycache__` of a project; no yes is bound to it."""
    found = place.found()
    assert kept_apart(place.settings, str(place.root), found, "/scratch") == {
        "PYTHONPYCACHEPREFIX": "/scratch/pycache"
    }
    assert kept_apart(place.settings, "/elsewhere", found, "/scratch") == {}


def test_the_reported_server_whose_argument_is_its_data_file_stays_approved(tmp_path: Path) -> None:
    """modelcontextprotocol/servers#692, #1481."""
    arguments = next(line for line in CASE.read_text().splitlines() if line.startswith("# ARGS: "))
    words = arguments.removeprefix("# ARGS: ").replace("PROJECT", str(tmp_path)).split()
    settings = McpServerSettings("mini", (sys.executable, str(CASE), *words))
    kept = of_start(ServerFinder().find(settings, str(tmp_path)), None, "")
    for text in ("start\n", "row\n"):
        (tmp_path / "data.db").write_text(text)
        assert may_start(kept, ServerFinder().find(settings, str(tmp_path)))
