"""Names of a project: what a lookup finds first, what it costs, what is said where nothing can be found."""

from __future__ import annotations

from pathlib import Path

from core.kernel.values.curation import FilesLookedUp
from core.kernel.values.settings import FileLimits
from core.talk.context.context_messages import FilesFound, LookUpFiles
from core.talk.context.project_names import MOST_LOOKED_AT, LookupHandler, ProjectNames


class Lookups:
    """A project with a handler over it."""

    def __init__(self, root: Path) -> None:
        self.root, self.said, self.now_s = root, list[FilesLookedUp](), 0.0
        self.handler = LookupHandler(lambda path, text: (), self._emit, lambda: self.now_s)

    def _emit(self, event: object) -> None:
        assert isinstance(event, FilesFound)
        self.said.append(event.found)

    def ask(self, text: str, *, is_glob: bool = False) -> FilesLookedUp:
        self.handler.handle(
            LookUpFiles(
                root=str(self.root), text=text, is_glob=is_glob, allowed_roots=(), limits=FileLimits()
            )
        )
        return self.said[-1]


def project(root: Path) -> Lookups:
    for name in ("src/slots.py", "src/old/slots.txt", "README.md", "lost/slots.py", ".git/slots"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x", encoding="utf-8")
    (root / ".gitignore").write_text("lost/\n", encoding="utf-8")
    return Lookups(root)


def test_names_that_begin_with_the_words_come_first_and_ignored_ones_never() -> None:
    names = ProjectNames(("lib/reslot.py", "slots/a.py", "src/slots.py"), ("slots",))
    assert names.find("slots") == ("slots/", "src/slots.py", "slots/a.py")
    assert names.find("SLOT py") == ("src/slots.py", "slots/a.py", "lib/reslot.py")
    assert names.find("nothing") == ()


def test_words_are_found_across_separators_where_no_name_holds_them_as_typed() -> None:
    names = ProjectNames(
        ("src/file_50_77.py", "src/file_50_78.py", "lib/web-app/main.ts", "notes v2.md", "a\nb.md"), ("src",)
    )
    assert names.find("file5077") == ("src/file_50_77.py",)
    assert names.find("File50 78") == ("src/file_50_78.py",)
    assert names.find("webappmain") == ("lib/web-app/main.ts",)
    assert names.find("web_app") == ("lib/web-app/main.ts",)
    assert names.find("notesv2.md") == ("notes v2.md",)
    assert names.find("abmd") == ("a\nb.md",)
    assert names.find("50_7") == ("src/file_50_77.py", "src/file_50_78.py")
    assert names.find("__") == names.find("file5079") == ()


def test_a_project_is_looked_through_without_what_git_leaves_out(tmp_path: Path) -> None:
    found = project(tmp_path).ask("slot")
    assert [hit.path for hit in found.hits] == ["src/slots.py", "src/old/slots.txt"]


def test_old_names_answer_at_once_and_new_ones_behind_them(tmp_path: Path) -> None:
    asked = project(tmp_path)
    asked.ask("new")
    (tmp_path / "new.py").write_text("x", encoding="utf-8")
    asked.now_s = 60.0
    assert [hit.path for hit in asked.ask("new").hits] == ["new.py"]
    assert [len(one.hits) for one in asked.said] == [0, 0, 1]


def test_a_lookup_among_a_hundred_thousand_files_looks_at_few_of_them() -> None:
    names = ProjectNames([f"src/room_{n % 100}/module_{n}.py" for n in range(100_000)])
    looked = sum(1 for _ in names._lines._places("module"))
    assert looked <= 3 * MOST_LOOKED_AT
    assert names.find("module_99999") == ("src/room_99/module_99999.py",)


def test_a_glob_is_counted_while_it_is_typed(tmp_path: Path) -> None:
    asked = project(tmp_path)
    assert asked.ask("src/**/*", is_glob=True).total == 2
    assert asked.ask("README.md", is_glob=True).total == 1
    assert asked.ask("gone.md", is_glob=True).problem == "No such file."
    assert (
        asked.ask("src", is_glob=True).problem == "This is a folder: add /**/* to include the folder's files."
    )
    assert asked.ask("/etc/*", is_glob=True).problem == "This path is outside the project."
