"""Where everything lives, and that no id leads out of the home."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel import paths
from core.kernel.errors import StorageError
from core.kernel.ids import make_id
from tests.core.records import ID, NOW


def test_the_home_is_what_the_environment_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(paths.HOME_VARIABLE, str(tmp_path / "mine"))

    assert paths.home_dir() == tmp_path / "mine"
    assert paths.knowledge_dir() == tmp_path / "mine" / "knowledge"


def test_without_a_name_the_home_is_in_the_users_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(paths.HOME_VARIABLE, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)

    assert paths.home_dir() == tmp_path / ".manual_slop"


def test_a_tilde_and_a_relative_name_become_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(paths.HOME_VARIABLE, "~/slop")
    assert paths.home_dir() == Path("~/slop").expanduser()

    monkeypatch.setenv(paths.HOME_VARIABLE, "here")
    assert paths.home_dir() == Path.cwd() / "here"


def test_the_files_of_a_discussion_lie_in_its_directory(tmp_path: Path) -> None:
    directory = tmp_path / "discussions" / ID

    assert paths.log_file(tmp_path, ID) == directory / "log.jsonl"
    assert paths.meta_file(tmp_path, ID) == directory / "meta.toml"
    assert paths.attachments_dir(tmp_path, ID) == directory / "attachments"


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", "a\\b", "/etc", "c:", "a\0b", "a\nb", ".hidden", "x.", "x ", "a" * 121],
)
def test_an_id_that_could_leave_the_home_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StorageError, match="is not the id of a discussion"):
        paths.discussion_dir(tmp_path, name)
    with pytest.raises(StorageError, match="is not the id of a provider"):
        paths.key_file(tmp_path, name)


@given(st.text(alphabet=st.characters(), max_size=40))
def test_every_accepted_name_stays_right_under_its_parent(name: str) -> None:
    """Names as file systems give them hold anything, lone surrogates too; those are refused."""
    if paths.is_directory_name(name):
        joined = Path("/home/discussions") / name
        assert joined.parent == Path("/home/discussions")
        assert name.encode()


def test_a_copy_that_a_person_made_of_a_discussion_is_still_a_name() -> None:
    assert paths.is_directory_name(make_id(NOW, "a"))
    assert paths.is_directory_name(f"{ID} (copy)")


def test_platform_directories_are_named_after_the_program(tmp_path: Path) -> None:
    for directory in (paths.config_dir(), paths.cache_dir(), paths.log_dir()):
        assert paths.APP_NAME in directory.parts
    assert paths.models_file() == paths.config_dir() / "models.toml"
    assert paths.config_file() == paths.config_dir() / "config.toml"


def test_two_homes_have_two_catalogs(tmp_path: Path) -> None:
    first, second = paths.catalog_file(tmp_path / "a"), paths.catalog_file(tmp_path / "b")

    assert first != second
    assert first.parent == second.parent == paths.cache_dir()
