"""Continue through the whole program: the rest of a reply that broke off costs what a reply does, and a limit stands before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.app.execution import act
from core.kernel.errors import SlopError
from core.kernel.values.messages import Role
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import ChangeSetting
from core.talk.discussion.discussion_messages import CreateDiscussion
from core.talk.turn.turn_messages import ContinueReply, SendPrompt
from tests.core.app.programs import Programs, until
from tests.vendors.compatible_server import MODEL, VLLM, CompatibleServer, Said
from tests.vendors.loopback import Fault, InsertAfter


def test_under_a_limit_the_rest_of_a_reply_of_unknown_price_goes_by_a_yes_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with CompatibleServer(VLLM) as server:
        config = tmp_path / "config.toml"
        config.write_text(f'[providers.local]\nbase_url = "{server.url}/v1"\n', encoding="utf-8")
        monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(config))
        programs = Programs(tmp_path)
        program = programs.start()
        chosen = act(program, CreateDiscussion("Tides", "local", MODEL)).discussions.selected_id
        broken: Fault = InsertAfter(6, b"")
        server.faults.append(broken)
        server.replies.append(Said("The tide comes twice a day and leaves the same way."))
        program.send(SendPrompt(chosen, "Why?"))
        until(program, lambda s: chosen not in s.turns.calls and len(_said(s, chosen)) == 1)
        program.send(ChangeSetting("ai_settings.caching.day_limit_usd", 0.001))
        until(program, lambda s: s.config.is_settled and s.config.settings.caching.day_limit_usd == 0.001)
        asked = len(server.bodies)

        with pytest.raises(SlopError, match="is unknown"):
            act(program, ContinueReply(chosen))
        assert len(server.bodies) == asked, "nothing went out"

        program.send(ContinueReply(chosen, over_limit=True))
        until(program, lambda s: chosen not in s.turns.calls and len(_said(s, chosen)) == 2)
        assert len(server.bodies) == asked + 1
        programs.stop()


def _said(state: AppState, chosen: str) -> list[str]:
    return [one.text for one in state.discussions.open[chosen].messages if one.role is Role.ASSISTANT]
