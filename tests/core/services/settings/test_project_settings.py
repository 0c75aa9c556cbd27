"""A setting written into the project's file: it counts as shown, all else stays, and nothing is written over unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel.errors import ConfigError
from core.kernel.values.settings import AskedValue, Project
from core.kernel.values.updates import outcome_of
from core.services.settings.settings_messages import ChangeProjectSetting
from core.services.settings.settings_writer import save_setting
from core.services.settings.trust import trust_record
from tests.core.app.playbook import Playbook, of, settings_loaded

OLD = '# ours\n[project]\nname = "demo"\n\n[retrieval]\nroots = ["notes"]  # where they lie\n'


def test_a_value_stands_in_its_table_and_all_else_stays(tmp_path: Path) -> None:
    file = tmp_path / "manual_slop.toml"
    file.write_text(OLD)

    save_setting(tmp_path, "retrieval.enabled", True, tmp_path / "trusted.toml")
    save_setting(tmp_path, "retrieval.roots", ("notes", "docs"), tmp_path / "trusted.toml")

    text = file.read_text()
    assert "enabled = true" in text
    assert 'roots = ["notes", "docs"]' in text
    assert text.startswith('# ours\n[project]\nname = "demo"\n')
    assert trust_record(tmp_path, tmp_path / "trusted.toml") is None


def test_a_file_that_is_made_is_trusted_for_what_was_written_alone(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    save_setting(tmp_path / "project", "retrieval.enabled", True, tmp_path / "trusted.toml")
    save_setting(tmp_path / "project", "retrieval.ambient", True, tmp_path / "trusted.toml")

    record = trust_record(tmp_path / "project", tmp_path / "trusted.toml")
    assert record is not None
    assert sorted(record.shown or ()) == [
        (("settings", "retrieval.ambient"), "true"),
        (("settings", "retrieval.enabled"), "true"),
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [("retrieval.server", "postgresql://x/y"), ("retrieval.none", True), ("retrieval.enabled", "yes"),
     ("project.allowed_roots", ("/etc",)), ("hooks.enabled", True)],
)  # fmt: skip
def test_what_a_project_may_not_have_is_refused_and_no_file_is_made(
    tmp_path: Path, key: str, value: object
) -> None:
    with pytest.raises(ConfigError):
        save_setting(tmp_path, key, value, tmp_path / "trusted.toml")  # type: ignore[arg-type]

    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_over_what_the_person_was_not_shown_or_without_a_project() -> None:
    book = Playbook().ready()
    asked = (AskedValue(("settings", "retrieval.enabled"), "true", "retrieval.enabled = True"),)
    change = ChangeProjectSetting("retrieval.enabled", True, "c1")

    assert of(book.play(change), ChangeProjectSetting)
    book.play(settings_loaded(Project("/project", has_file=True, is_trusted=True, asked=asked)))
    assert not of(book.play(ChangeProjectSetting("retrieval.enabled", True, "c2")), ChangeProjectSetting)
    book.play(settings_loaded(Project("")))
    assert not of(book.play(ChangeProjectSetting("retrieval.enabled", True, "c3")), ChangeProjectSetting)

    for command_id in ("c2", "c3"):
        outcome = outcome_of(book.state, command_id)
        assert outcome is not None
        assert outcome.problem
