"""What no project gets is said, also where there is nothing to ask."""

from __future__ import annotations

from core.kernel.values.settings import AskedValue, Project
from core.kernel.values.state import AppState, ConfigState
from core.kernel.values.updates import OperationFailed
from core.services.settings.asked_values import HELD_BACK, show_trust
from core.services.settings.settings_messages import ModelsListed
from tests.core.app.playbook import Playbook


def told(project: Project, before: AppState = AppState()) -> AppState:  # noqa: B008 (frozen)
    return show_trust(AppState(program=before.program, config=ConfigState(project=project)))


def test_what_no_project_gets_is_said_until_the_folder_is_trusted_or_asks_for_more() -> None:
    reason = ("It holds a key.",)
    strange = told(Project(root="/p", name="p", held_back=reason))
    (notice,) = strange.program.notices
    assert (notice.id, notice.text, notice.detail) == (
        HELD_BACK,
        "p asks for settings that no project may have",
        *reason,
    )

    assert (
        told(Project(root="/p", name="p", held_back=reason, is_trusted=True), strange).program.notices == ()
    )
    asks = Project(root="/p", name="p", held_back=reason, asked=(AskedValue(("domain",), "d", "d"),))
    assert [one.id for one in told(asks, strange).program.notices] == ["trust"]
    assert told(Project(root="/p", name="p")).program.notices == ()


def test_that_a_server_cannot_be_reached_is_said_until_it_tells_its_models() -> None:
    book = Playbook().ready()
    for name in ("ollama", "other"):
        book.play(OperationFailed(f"models/{name}", f"{name} cannot be reached", is_standing=True))

    book.play(ModelsListed("ollama", ()))

    assert [one.id for one in book.state.program.notices] == ["models/other"]
