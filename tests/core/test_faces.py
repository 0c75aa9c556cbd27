"""The names that people know work with the real program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core import aggregate, paths
from core.app.controller import AppController
from core.cache.state import DiscussionCacheState
from core.kernel.errors import SlopError
from core.kernel.values.curation import FileItem
from core.kernel.values.stack import LayerId
from core.knowledge import harvest
from core.knowledge.harvest import face
from core.knowledge.knowledge_reader import DIGEST_SECTIONS
from core.knowledge.note_files import file_id_for_path
from core.services.providers.anthropic import cache_prefix_blocks
from core.talk.context.context_messages import ChangePreset, CreatePreset
from core.talk.discussion.discussion_messages import CreateDiscussion
from tests.core.app.programs import Programs, until


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Programs]:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    made = Programs(tmp_path)
    yield made
    made.stop()


def curated(programs: Programs) -> AppController:
    """A program with a discussion that shows one file and knows one fact."""
    (programs.project / "tides.py").write_text("HIGH = 12\n")
    (programs.project / "CLAUDE.md").write_text("Answer in metres.\n")
    knowledge = programs.home / "knowledge"
    knowledge.mkdir(parents=True)
    (knowledge / "digest.md").write_text("# Knowledge digest\n\n## Facts\n- The tide turns.\n")
    controller = programs.start()
    controller.send(CreateDiscussion(name="Tides"))
    until(controller, lambda s: bool(s.discussions.selected_id))
    controller.send(CreatePreset("shore"))
    controller.send(ChangePreset("shore", (FileItem("tides.py"),)))
    until(
        controller,
        lambda s: bool(s.config.project.presets.get("shore") and s.config.project.presets["shore"].items),
    )
    return controller


def test_the_initial_context_of_the_real_controller_is_its_stack(programs: Programs) -> None:
    controller = curated(programs)

    text = aggregate.build_initial_context(controller, "When is it high?")
    length = aggregate.stable_prefix_length(controller)

    assert "When is it high?" in text[length:]
    assert "HIGH = 12" in text[length:]
    assert "The tide turns." in text[:length]
    assert aggregate.build_initial_context(controller, "And low?")[:length] == text[:length]
    stack = aggregate.build_stack(controller.stack_inputs("When is it high?"))
    assert isinstance(stack, aggregate.AggregateStack)
    assert stack.text == text
    assert length == stack.offsets[LayerId.METADATA - 1]


def test_without_a_discussion_the_controller_says_so(programs: Programs) -> None:
    with pytest.raises(SlopError, match="No discussion is selected"):
        aggregate.build_initial_context(programs.start(), "Hello")


def test_the_controller_offers_what_providers_hold(programs: Programs) -> None:
    controller = programs.start()
    assert dict(controller.discussion_caches) == {}
    assert DiscussionCacheState("d", "anthropic", controller.clock(), None).tokens_cached == 0


def test_a_text_without_boundaries_stays_whole() -> None:
    assert cache_prefix_blocks("abc", None) == "abc"


def test_the_harvest_and_the_home_have_their_public_names(tmp_path: Path) -> None:
    assert harvest.parse_harvest_json is face.parse_harvest_json
    assert harvest.build_harvest_prompt is face.build_harvest_prompt
    assert harvest.ITEM_CATEGORIES == face.ITEM_CATEGORIES
    assert callable(harvest.harvest_conversation)
    assert callable(harvest.harvest_prompt_path)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        harvest.nothing  # noqa: B018
    starred: dict[str, object] = {}
    exec("from core.knowledge.harvest import *; from core.paths import *", starred)
    assert starred["parse_harvest_json"] is face.parse_harvest_json
    assert starred["file_id_for_path"] is paths.file_id_for_path is file_id_for_path
    assert {*harvest.__all__} <= {*starred} & {*dir(harvest)}
    assert "file_id_for_path" in dir(paths)
    assert paths.knowledge_dir(tmp_path) == tmp_path / "knowledge"
    assert DIGEST_SECTIONS[0][0] == "Open tasks"
    assert file_id_for_path(tmp_path) is not None
