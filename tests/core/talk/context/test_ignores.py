"""What `.gitignore` files leave out of globs: the same as git, except what is named outright or asked for."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from core.kernel.values.curation import FileItem, FileProblemKind, ItemFiles
from core.kernel.values.settings import FileLimits
from core.talk.context.file_reader import read_item
from core.talk.context.globs import expand
from core.talk.context.ignores import ignores_at
from tests.operations import LINEAR, growth
from tests.patience import ends

LIMITS = FileLimits()


def make(root: Path, *files: str, **rules: str) -> None:
    """Files that hold their own path, and a `.gitignore` in each folder named (`_` is the root, `a_b` is `a/b`)."""
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    for folder, text in rules.items():
        at = root / folder.strip("_").replace("_", "/")
        at.mkdir(parents=True, exist_ok=True)
        (at / ".gitignore").write_text(text)


def read(root: Path, pattern: str, **more: object) -> ItemFiles:
    return read_item(str(root), FileItem(pattern, **more), LIMITS)  # type: ignore[arg-type]


def found(root: Path, pattern: str, **more: object) -> list[str]:
    return [file.path for file in read(root, pattern, **more).files]


@pytest.mark.parametrize(
    ("rules", "left_out"),
    [
        ("build/", ["build/b.py", "src/build/b.py"]),
        ("/build/", ["build/b.py"]),
        ("build", ["build/b.py", "src/build/b.py", "src/x/build"]),
        ("src/x", ["src/x/build", "src/x/c.py"]),
        ("src/**/build", ["src/build/b.py", "src/x/build"]),
        ("**/x/**", ["src/x/build", "src/x/c.py"]),
        ("src/**\n!src/x/", ["src/a.py", "src/build/b.py", "src/x/build", "src/x/c.py"]),
        ("*.py\n!a.py", ["build/b.py", "src/build/b.py", "src/x/c.py"]),
        ("build/\n!build/b.py", ["build/b.py", "src/build/b.py"]),
        ("# src\n\n\\!no\n*.[ch]\n", []),
        ("*/\n!/src/", ["build/b.py", "src/build/b.py", "src/x/build", "src/x/c.py"]),
        ("\ufeffa.py\r\n", ["a.py", "src/a.py"]),
    ],
)
def test_a_glob_follows_the_rules_as_git_does(tmp_path: Path, rules: str, left_out: list[str]) -> None:
    files = ["a.py", "build/b.py", "src/a.py", "src/build/b.py", "src/x/build", "src/x/c.py"]
    make(tmp_path, *files, _=rules)

    assert found(tmp_path, "**") == [name for name in files if name not in left_out]
    assert found(tmp_path, "**/*", include_ignored=True) == files


def test_a_large_repository_reads_as_git_lists_it(tmp_path: Path) -> None:
    """Nested rules, negations and the exclude file at once, compared with git itself."""
    files = [
        f"{a}/{b}/{c}"
        for a in ("app", "lib", "out")
        for b in ("x", "keep", "gen.d")
        for c in ("f.py", "g.txt", "keep")
    ]
    make(
        tmp_path, *files, "top.py",
        _="out/*\n!out/keep/\n*.txt\n**/gen.d/**\n", lib="!g.txt\n/x/f.py\n", app="keep\n!x/keep\n", app_keep="!keep\n",
    )  # fmt: skip
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".git/info").mkdir(exist_ok=True)
    (tmp_path / ".git/info/exclude").write_text("top.py\nlib/keep/f.py\n")
    command = ["git", "-C", str(tmp_path), "-c", "core.excludesFile=", "ls-files", "-o", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()

    assert found(tmp_path, "**") == sorted(name for name in listed if ".gitignore" not in name)


def test_a_path_without_wildcards_is_taken_whatever_the_rules_say(tmp_path: Path) -> None:
    make(tmp_path, "build/b.py", _="build/\n*.py\n")

    assert found(tmp_path, "build/b.py") == ["build/b.py"]
    assert read(tmp_path, "build/b.py").ignored == 0


def test_a_folder_that_the_pattern_names_is_entered_and_its_own_rules_hold(tmp_path: Path) -> None:
    make(tmp_path, "build/b.py", "build/c.txt", "src/build/d.py", _="build/\n", build="*.txt\n")

    assert found(tmp_path, "build/*") == ["build/b.py"]
    assert found(tmp_path, "**/build/*.py") == ["build/b.py", "src/build/d.py"]
    assert found(tmp_path, "**/*.py") == []


def test_a_project_inside_a_repository_follows_its_rules_unless_it_is_itself_left_out(tmp_path: Path) -> None:
    """The second: a home folder under git that leaves out everything, with projects in it."""
    (tmp_path / ".git").mkdir()
    make(tmp_path, "inner/a.py", "inner/gen/b.py", "inner/build/c.py", _="gen/\n", inner="build/\n")
    assert found(tmp_path / "inner", "**/*.py") == ["a.py"]

    (tmp_path / ".gitignore").write_text("*\n")
    assert found(tmp_path / "inner", "**/*.py") == ["a.py", "gen/b.py"]


def test_what_is_left_out_is_counted_and_ignored_folders_are_not_entered(tmp_path: Path) -> None:
    make(
        tmp_path, "a.py", "b.py", "c.txt", *(f"venv/lib/m{n}.py" for n in range(50)), _="venv/\nb.py\nc.txt\n"
    )
    files = read(tmp_path, "**/*.py")
    walked = expand(str(tmp_path), ("**", "*.py"), 10, ignores_at(str(tmp_path), str(tmp_path)))

    assert (files.ignored, files.problem) == (2, None)
    assert walked.visited < 10


def test_a_glob_that_finds_only_ignored_files_says_so_and_the_remedy(tmp_path: Path) -> None:
    make(tmp_path, "a.py", _="*.py\n")
    problem = read(tmp_path, "*.py").problem

    assert problem is not None
    assert problem.kind is FileProblemKind.EMPTY_GLOB
    assert ".gitignore excludes 1 matches" in problem.detail
    assert "include_ignored = true" in problem.detail


def test_the_files_of_rules_are_known_those_that_may_appear_too(tmp_path: Path) -> None:
    make(tmp_path, "src/a.py", "src/x/b.py", src_x="c\n")
    rules = [os.path.relpath(file, tmp_path) for file in read(tmp_path, "src/**/*.py").rule_files]

    assert rules == [".gitignore", "src/.gitignore", "src/x/.gitignore"]
    assert read(tmp_path, "src/**/*.py", include_ignored=True).rule_files == ()


def test_rules_that_cannot_be_read_or_meant_are_passed_over(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "x/b.py", "y/c.py", _="[[:letter:]]*\n[z-a]\na\\\n!\n/\n!/\n")
    (tmp_path / "x/.gitignore").symlink_to(tmp_path / "y/c.py")
    os.mkfifo(tmp_path / "y/.gitignore")

    assert found(tmp_path, "**/*.py") == ["a.py", "x/b.py", "y/c.py"]
    assert read(tmp_path, "**").rules_passed_over == 1, "a class that nobody knows may have meant one of them"


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        ("[[:alpha:]]*", ["1.log", "_x", "~u"]),
        ("[^[:alpha:]_]*", ["A9", "ab", "_x"]),
        ("[![:alnum:]]*", ["1.log", "A9", "ab"]),
        ("[[:upper:]][[:digit:]]", ["1.log", "ab", "_x", "~u"]),
        ("[[:digit:]_~]*", ["A9", "ab"]),
        ("[[:punct:]]*", ["1.log", "A9", "ab"]),
        ("[[:graph:]]?", ["1.log"]),
        ("[Aa][Bb]", ["1.log", "A9", "_x", "~u"]),
    ],
)
def test_classes_by_name_and_several_in_a_rule_mean_what_git_means(
    tmp_path: Path, rule: str, kept: list[str]
) -> None:
    make(tmp_path, "ab", "A9", "1.log", "_x", "~u", _=f"{rule}\n")

    assert found(tmp_path, "*") == sorted(kept)
    assert read(tmp_path, "*").rules_passed_over == 0


def test_a_hostile_rule_is_not_followed(tmp_path: Path) -> None:
    """`re` would be busy with it for ever."""
    make(tmp_path, "a" * 250, _="*a*a*a*a*a*a*b\n*a*a*b\n" + "**/a/" * 50 + "\n")

    assert ends(lambda: found(tmp_path, "*")) == ["a" * 250]


NAMES_OF_200 = [f"f{number}" + "a" * 200 for number in range(30)]


@pytest.mark.parametrize(
    ("rule", "most"),
    [
        (lambda _: "a?\n", 85_000),
        (lambda number: f"name{number}\n/path/{number}\n", 15_000),
        (lambda _: "*a*a*b\n", 36_000),
        (lambda number: f"*a*a*b{number}\n", 20_000),
        (lambda number: f"a?{number}\n", 30_000),
    ],
    ids=["the same", "names", "powers, the same", "powers", "wildcards"],
)
def test_a_hostile_file_of_rules_does_not_hold_the_walk(
    tmp_path: Path, rule: Callable[[int], str], most: int
) -> None:
    """A walk asks each entry once of all rules; how long that takes is a row of `tests.bench.sound_growth`."""

    def walked(count: int) -> int:
        (tmp_path / ".gitignore").write_text("".join(map(rule, range(count))))
        return len(found(tmp_path, "*"))

    make(tmp_path, *NAMES_OF_200)
    assert walked(most) == 30
    assert growth(walked, 250) <= LINEAR


def test_names_without_wildcards_are_all_followed_and_wildcards_up_to_a_number(tmp_path: Path) -> None:
    names = "".join(f"n{number}\n" for number in range(20_000))
    make(tmp_path, "n19999", "a.py", "x3000", "x10", "inner/x4000", _=names + "a.py\n")
    assert read(tmp_path, "**").rules_passed_over == 0
    assert found(tmp_path, "**") == ["inner/x4000", "x10", "x3000"]

    (tmp_path / ".gitignore").write_text(names + "".join(f"x{number}?\n" for number in range(2_500)))
    assert read(tmp_path, "**").rules_passed_over == 500
    for folder in ("inner", "inner/more", "inner/more/still"):
        make(
            tmp_path,
            f"{folder}/a.py",
            **{folder.replace("/", "_"): "".join(f"y{n}?\n" for n in range(1_900))},
        )
    assert read(tmp_path, "inner/**").rules_passed_over == 500 + 800 + 1_900


def test_of_names_and_wildcards_the_last_line_counts(tmp_path: Path) -> None:
    make(
        tmp_path,
        "a.py",
        "b.py",
        "c.py",
        "d/a.py",
        _="b.py\n*.py\n!a.py\n!b.py\nb.?y\nb.py\n!c.py\nc.py\n!c.py\n",
    )

    assert found(tmp_path, "**") == ["a.py", "c.py", "d/a.py"]


def test_a_walk_that_takes_too_long_gives_up_and_says_so(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b.py", "c.py")
    clock = iter(range(0, 1000, 4)).__next__

    walked = expand(str(tmp_path), ("*",), 100, clock=clock)

    assert (walked.paths, walked.visited, walked.is_too_many) == ((), 3, True)


def test_a_path_that_is_deeper_than_rules_are_asked_is_left_out(tmp_path: Path) -> None:
    """Of a path of a thousand folders the rule takes `re` seconds."""
    deep = "a/" * 300
    make(tmp_path, f"{deep}b", "a/c", _="**/a/**/a/**/c?\n")

    assert ends(lambda: found(tmp_path, "**")) == ["a/c"]


@pytest.mark.parametrize(
    ("rules", "left_out"),
    [
        ("a\t\n", ["a\t"]),
        ("a?\t\n", ["ab\t"]),
        ("?\\\t\n", ["a\t"]),
        ("a  \n", ["a"]),
        ("a\\  \n", ["a "]),
        ("?\u00a0\n", ["a\u00a0"]),
        ("!a\n\\!a\n", ["!a"]),
        ("*\n!!a\n!#a\n", ["a", "a\t", "ab\t", "a ", "a\u00a0"]),
    ],
)
def test_only_spaces_are_stripped_from_a_rule_as_git_does(
    tmp_path: Path, rules: str, left_out: list[str]
) -> None:
    names = ["a", "a\t", "ab\t", "a ", "a\u00a0", "!a", "#a"]
    make(tmp_path, *names, _=rules)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    command = [
        "git",
        "-C",
        str(tmp_path),
        "-c",
        "core.excludesFile=",
        "ls-files",
        "-oz",
        "--exclude-standard",
    ]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")

    found = expand(str(tmp_path), ("*",), 100, ignores_at(str(tmp_path), str(tmp_path))).paths

    assert sorted(os.path.basename(path) for path in found) == sorted(set(names) - set(left_out))
    assert set(names) & set(listed) == set(names) - set(left_out)


@pytest.mark.parametrize(
    ("rule", "passed_over"), [("[a--b]x", 1), ("[a--b [[c", 0), ("x[[a--", 0), (r"\[[a--b]", 1)]
)
def test_marks_of_a_class_count_in_a_class_that_ends_alone(
    tmp_path: Path, rule: str, passed_over: int
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text(f"{rule}\n*.o\n")

    rules = ignores_at(str(tmp_path), str(tmp_path)).inside(str(tmp_path))

    assert [level.passed_over for level in rules.levels] == [passed_over]
    assert rules.leaves_out(str(tmp_path / "a.o"), is_folder=False)


def _git(folder: Path, *words: str) -> str:
    who = (
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@example.org",
        "-c",
        "core.excludesFile=",
        "-c",
        "protocol.file.allow=always",
    )
    return subprocess.run(
        ["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True
    ).stdout


def _left_in(folder: Path) -> list[str]:
    listed = _git(folder, "ls-files", "-o", "--exclude-standard").split()
    return sorted(name for name in listed if ".gitignore" not in name)


def test_a_linked_worktree_has_the_rules_of_its_repository(tmp_path: Path) -> None:
    main, linked = tmp_path / "main", tmp_path / "linked"
    subprocess.run(["git", "init", "-q", main], check=True)
    _git(main, "commit", "-q", "--allow-empty", "-m", "x")
    _git(main, "worktree", "add", "-q", str(linked))
    (main / ".git/info").mkdir(exist_ok=True)
    (main / ".git/info/exclude").write_text("*.log\n")
    make(linked, "a.log", "b.py", "d/c.log", _="x\n")
    assert found(linked, "**") == _left_in(linked) == ["b.py"]


def test_a_submodule_has_rules_of_its_own(tmp_path: Path) -> None:
    part, main = tmp_path / "part", tmp_path / "main"
    for folder in (part, main):
        subprocess.run(["git", "init", "-q", folder], check=True)
        _git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    _git(main, "submodule", "--quiet", "add", str(part), "sub")
    exclude = Path(_git(main / "sub", "rev-parse", "--absolute-git-dir").strip()) / "info/exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("*.log\n")
    make(main, "a.txt", "sub/a.txt", "sub/b.log", _="*.txt\n")
    assert found(main / "sub", "**") == _left_in(main / "sub") == ["a.txt"]
    assert found(main, "**") == ["sub/a.txt"]


@pytest.mark.parametrize("rule", ["**foo/bar", "a/**b", "x**", "foo/**bar/"])
def test_stars_that_are_no_part_of_their_own_are_one_star_as_in_git(tmp_path: Path, rule: str) -> None:
    files = [
        "foo/bar",
        "fooo/bar",
        "foo/x/bar",
        "xfoo/bar",
        "a/b",
        "a/c/b",
        "a/cb",
        "xy/z",
        "foo/xbar/q",
        "foo/d/bar/q",
    ]
    for number, name in enumerate(files):
        make(tmp_path / str(number), name, _=f"{rule}\n")
        subprocess.run(["git", "init", "-q", tmp_path / str(number)], check=True)
        assert found(tmp_path / str(number), "**") == _left_in(tmp_path / str(number)), (rule, name)


_PARTS = (
    "foo",
    "*",
    "**",
    "***",
    "foo*",
    "foo**",
    "**bar",
    "f**x",
    "*.txt",
    "fo?",
    "[fb]oo",
    "a**t",
    "[a-z]**",
)
_NAMES = ("foo", "bar", "foox", "fooxx", "foobar", "a.txt", "build")


@pytest.mark.parametrize("seed", range(24))
def test_rules_by_chance_leave_in_what_git_leaves_in(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    rules = []
    for _ in range(3):
        rule = "/".join(chance.choices(_PARTS, k=chance.randint(1, 3)))
        rules.append(chance.choice(("", "", "/", "!")) + rule + chance.choice(("", "", "", "/")))
    for _ in range(16):
        path = tmp_path.joinpath(*chance.choices(_NAMES, k=chance.randint(1, 4)))
        if not path.exists() and not any(above.is_file() for above in path.parents):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")
    (tmp_path / ".gitignore").write_text("\n".join((*rules, ".gitignore", "")))
    subprocess.run(["git", "init", "-q", tmp_path], check=True)

    assert found(tmp_path, "**") == _left_in(tmp_path), rules


def _tracked_beside(folder: Path, version: str) -> None:
    """A repository whose rules name files that it tracks, in an index of that version."""
    subprocess.run(["git", "init", "-q", folder], check=True)
    rules = "*.log\nout/\n!a/keep.log\n"
    make(
        folder,
        "a/b/c.log",
        "a/b/d.log",
        "a/keep.log",
        "out/lib/f\u00e9.js",
        "out/lib/n.js",
        "out/x.js",
        "new.py",
        _=rules,
    )
    _git(folder, "add", "-f", ".gitignore", "a/b/c.log", "out/lib/f\u00e9.js")
    if version == "3":
        _git(folder, "add", "-N", "new.py")
    _git(folder, "update-index", "--index-version", version)


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_a_file_that_git_tracks_stays_though_a_rule_names_it(tmp_path: Path, version: str) -> None:
    _tracked_beside(tmp_path, version)
    listed = _git(tmp_path, "ls-files", "-co", "--exclude-standard", "-z").split("\0")
    assert found(tmp_path, "**") == sorted(name for name in listed if name and ".gitignore" not in name)
    assert found(tmp_path, "**") == ["a/b/c.log", "a/keep.log", "new.py", "out/lib/f\u00e9.js"]
    assert found(tmp_path, "out/**") == ["out/lib/f\u00e9.js", "out/lib/n.js", "out/x.js"], (
        "a part names it outright"
    )


def test_a_worktree_and_a_submodule_keep_what_they_track(tmp_path: Path) -> None:
    part, main, linked = tmp_path / "part", tmp_path / "main", tmp_path / "linked"
    _tracked_beside(part, "2")
    _git(part, "commit", "-qm", "x")
    subprocess.run(["git", "init", "-q", main], check=True)
    _git(main, "submodule", "--quiet", "add", str(part), "sub")
    _git(part, "worktree", "add", "-q", str(linked))
    make(linked, "out/n.js")
    assert found(main, "**") == ["sub/a/b/c.log", "sub/out/lib/f\u00e9.js"]
    assert found(linked, "**") == ["a/b/c.log", "out/lib/f\u00e9.js"]


@pytest.mark.parametrize("damage", ["cut", "other", "none", "long"])
def test_an_index_that_cannot_be_read_tracks_nothing(tmp_path: Path, damage: str) -> None:
    _tracked_beside(tmp_path, "4")
    index = tmp_path / ".git/index"
    data = index.read_bytes()
    entries = (
        b"".join(bytes(62) + b"\0" + b"a" * 60_000 + b"\0" for _ in range(3))
        + bytes(62)
        + b"\0"
        + b"a" * 60_000
    )
    spoiled = {
        "cut": data[:70],
        "other": b"DIRC\0\0\0\x09" + data[8:],
        "long": data[:8] + b"\xff" * 4 + entries,
        "none": b"",
    }
    index.write_bytes(spoiled[damage])
    assert found(tmp_path, "**") == ["a/keep.log", "new.py"]


@pytest.mark.parametrize(
    ("own", "repository", "left_out"),
    [
        ("", "", ["a.bak"]),
        ("[core]\n\texcludesFile = ~/rules  # mine\n", "", ["a.tmp"]),
        ('[user]\n\tname = A\n[Core] excludesfile = "~/two rules"\n', "", ["a.swp"]),
        ("[core]\n\texcludesFile = ~/rules\n", "[core]\n\texcludesFile = ~/two rules\n", ["a.swp"]),
        ("[core]\n\texcludesFile =\n", "", []),
    ],
)
def test_a_persons_own_rules_hold_in_each_repository_as_git_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, repository: str, left_out: list[str]
) -> None:
    """They are behind the repository's own; they stand where the settings say, or in their usual place."""
    home, project = tmp_path / "home", tmp_path / "project"
    (home / ".config/git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    (home / ".config/git/ignore").write_text("*.bak\nkept.*\n")
    (home / "real").write_text("*.tmp\nkept.*\n")
    (home / "rules").symlink_to(home / "real")
    (home / "two rules").write_text("*.swp\nkept.*\n")
    if own:
        (home / ".gitconfig").write_text(own)
    subprocess.run(["git", "init", "-q", project], check=True)
    make(project, "a.bak", "a.tmp", "a.swp", "b.py", "kept.bak", "kept.tmp", "kept.swp", _="!kept.*\n")
    with (project / ".git/config").open("a", encoding="utf-8") as config:
        config.write(repository)
    command = ["git", "-C", str(project), "ls-files", "-oz", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")

    names = {name for name in listed if name and name != ".gitignore"}

    assert set(found(project, "*")) == names
    assert {"a.bak", "a.tmp", "a.swp"} - names == set(left_out)


def test_a_file_that_is_added_in_spite_of_a_rule_comes_into_view(tmp_path: Path) -> None:
    """The index is among the files whose change has a glob looked up again."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    make(tmp_path, "a.log", "b.py", _="*.log\n")
    before = read(tmp_path, "*")
    _git(tmp_path, "add", "-f", "a.log")

    assert [file.path for file in before.files] == ["b.py"]
    assert str(tmp_path / ".git/index") in before.rule_files
    assert found(tmp_path, "*") == ["a.log", "b.py"]


def test_names_outside_ascii_are_compared_by_bytes_as_git_does(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    names = [
        "a-é.py",
        "b-é.py",
        "c-é.py",
        "é/x.py",
        "ü.py",
        "日本.md",
        "日.md",
        "d-é.py",
        "naïve",
        "à ",
        "ok.py",
    ]
    rules = "a-?.py\nb-??.py\nc-[!a].py\n/é/\n[à]?.py\n日*\n!日.md\nd-[é].py\nna*e\nà\\ \n"
    make(tmp_path, *names, _=rules)
    listed = _git(tmp_path, "ls-files", "-oz", "--exclude-standard").split("\0")

    assert set(found(tmp_path, "**")) == {name for name in listed if name} - {".gitignore"}
    assert {"a-é.py", "c-é.py", "日.md"} <= set(listed), "a wildcard is one byte"
    assert not {"b-é.py", "é/x.py", "日本.md"} & set(listed)
