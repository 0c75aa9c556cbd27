"""Policies of tools: by folder in the person's settings, tightened by a project's file, loosened by nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel.values.settings import Policies, PolicyAnswer
from core.services.settings.settings_checks import setting_for
from core.services.settings.settings_file import parse
from core.services.settings.settings_loader import ConfigRequest, LoadedSettings, load
from core.services.settings.settings_writer import write_setting

ALLOW, ASK, REFUSE = PolicyAnswer


class Folders:
    """A home, a project in it, and the person's settings."""

    def __init__(self, base: Path) -> None:
        self.base = base.resolve()
        self.root = self.base / "work" / "my.project"
        self.root.mkdir(parents=True)
        self.config = self.base / "config.toml"
        self.project_file = self.root / "manual_slop.toml"

    def load(self, own: str, project: str = "", last_good: LoadedSettings | None = None) -> LoadedSettings:
        """Settings as they are read from these two files."""
        self.config.write_text(own, encoding="utf-8")
        self.project_file.write_text(project, encoding="utf-8")
        places = self.config, self.base / "trusted.toml", self.base / "home"
        return load(ConfigRequest(*places, self.root, self.root), last_good)


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


def test_the_nearest_folder_that_says_something_has_the_word(folders: Folders) -> None:
    above, other = folders.root.parent, folders.base / "other"
    loaded = folders.load(f"""
[tools]
edits = "refuse"
network = "refuse"
hosts = ["docs.example"]
[tools.folders."{above}"]
edits = "ask"
commands = "refuse"
[tools.folders."{folders.root}"]
commands = "allow"
prefixes = ["make test"]
[tools.folders."{other}"]
edits = "allow"
[tools.folders."{folders.root}x"]
edits = "allow"
""")

    assert loaded.faults == ()
    assert loaded.project.policies == Policies(ALLOW, ASK, ALLOW, REFUSE, ("make test",), ("docs.example",))


def test_a_folder_is_found_through_a_link(folders: Folders) -> None:
    (folders.base / "link").symlink_to(folders.root.parent)

    loaded = folders.load(f'[tools.folders."{folders.base}/link"]\nreads = "refuse"\n')

    assert loaded.project.policies.reads is REFUSE


def test_a_project_that_nobody_trusts_tightens_and_never_loosens(folders: Folders) -> None:
    own = '[tools]\ncommands = "allow"\nedits = "refuse"\nprefixes = ["git log"]\nhosts = ["a.example"]\n'
    project = '[tools]\ncommands = "ask"\nedits = "allow"\nhosts = ["evil.example"]\nmax_rounds = 900\n'

    loaded = folders.load(own, project)

    assert loaded.project.policies == Policies(ALLOW, REFUSE, ASK, ASK, (), ("a.example",))
    assert loaded.settings.tools.max_rounds == 20
    assert loaded.project.asked == ()
    assert loaded.project.held_back == (
        "The project loosens approvals of tools; no project may do that.",
        "The project changes settings that only you may change (2): tools.hosts, tools.max_rounds.",
    )


@pytest.mark.parametrize("own", ['[tools]\nreads = "refsue"\n', "[tools\n"])
def test_a_policy_that_nobody_understands_lets_nothing_go(folders: Folders, own: str) -> None:
    loaded = folders.load(own)

    assert loaded.faults
    assert loaded.project.policies.reads is ASK


def test_a_projects_file_that_cannot_be_read_lets_nothing_go_or_stays_as_it_was(folders: Folders) -> None:
    good = folders.load("", '[tools]\nedits = "refuse"\n')

    assert folders.load("", "[tools\n").project.policies.reads is ASK
    assert folders.load("", "[tools\n", good).project.policies.edits is REFUSE


def test_only_a_whole_path_names_a_folder(folders: Folders) -> None:
    loaded = folders.load('[tools.folders."work"]\nedits = "allow"\n[tools.folders."~"]\nnetwork = 3\n')

    assert "'work' must be an absolute path, or begin with ~" in loaded.faults[0].reason
    assert "must be a text in quotes, not 3" in loaded.faults[1].reason
    assert loaded.project.policies.edits is ASK


def test_a_folder_with_dots_in_its_name_is_written_where_it_is_read(folders: Folders) -> None:
    key = f"tools.folders.{folders.root}.edits"
    assert setting_for(key) is not None
    write_setting(folders.config, key, "allow")

    text = folders.config.read_text(encoding="utf-8")
    assert parse(text, folders.config) == {"tools": {"folders": {str(folders.root): {"edits": "allow"}}}}
    assert folders.load(text).project.policies.edits is ALLOW
