"""The window with a day's limit and a model whose price nobody knows: it asks by a dialog, each time."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from core.agent.agent_messages import SetTools
from core.kernel import paths
from core.services.settings.settings_messages import ChangeSetting
from core.services.spending.price_files import URL_VARIABLE
from core.talk.discussion.discussion_messages import CreateDiscussion
from gui.app import WindowApp
from gui.elements.editor import Editor
from gui.screen import screenshot
from tests.core.app.programs import until
from tests.core.services.spending.test_own_prices import PriceServer
from tests.gui.conftest import Screen
from tests.gui.sitting import sees, watching
from tests.gui.test_window_agent_live import AgentSitting, seated
from tests.vendors.compatible_server import MODEL, VLLM, CompatibleServer, Habits
from tests.vendors.loopback import json_reply

pytestmark = pytest.mark.gui
LIMIT_USD = 0.03
SILENT = Habits("silent", sends_usage=False)
SENTENCE = f"The price of {MODEL!r} is unknown, so the program cannot enforce the limit of $0.001 for today."


def seen(screen: Screen, name: str) -> None:
    """Keep a picture of the window where somebody wants to look at it."""
    if folder := os.environ.get("SEEN"):
        screenshot(Path(folder) / name, screen.driver.step)


def ask(app: WindowApp, screen: Screen, text: str) -> None:
    driver = screen.driver
    driver.click(driver.find("Write a message", kind=Editor))
    driver.type(text)
    driver.key("Ctrl+Enter")


def test_a_send_asks_each_time_and_newer_prices_end_that(
    screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "config_dir", lambda: tmp_path)
    with CompatibleServer(VLLM) as server, PriceServer() as prices:
        monkeypatch.setenv(URL_VARIABLE, f"{prices.url}/data.json")
        (tmp_path / "config.toml").write_text(
            f'[providers.local]\nbase_url = "{server.url}/v1"\n'
            "[ai_settings.caching]\nday_limit_usd = 0.001\n",
            encoding="utf-8",
        )
        with watching(tmp_path, screen, monkeypatch) as app:
            controller, driver = app.controller, screen.driver
            assert controller is not None
            controller.send(CreateDiscussion("Tides", "local", MODEL))
            until(
                controller,
                lambda s: (
                    any(o.id == s.discussions.selected_id for o in s.discussions.open.values())
                    and len(s.discussions.summaries) == 2
                ),
            )
            sees(driver, "Tides")
            for answer in ("Do not send", "Send anyway"):
                ask(app, screen, "when")
                sees(driver, "The program cannot check the limit")
                assert driver.has(SENTENCE)
                seen(screen, "asked.png")
                assert server.bodies == []
                driver.click(answer)
            until(controller, lambda s: len(server.bodies) == 1 and not s.turns.calls)

            ask(app, screen, "again")
            sees(driver, "The program cannot check the limit")
            rows = [
                {"id": one, "name": one, "api_pattern": "x", "models": [
                    {"id": MODEL, "match": {"equals": MODEL}, "prices": {"input_mtok": 1, "output_mtok": 1}}
                ]}
                for one in ("anthropic", "google", "openai", "local")
            ]  # fmt: skip
            prices.given = json_reply(200, rows)
            driver.click("Update prices")
            until(controller, lambda s: s.config.price_source.name == "updated prices")
            sees(driver, "The program downloaded prices of 4 models of 4 providers")
            seen(screen, "updated.png")
            driver.key("Ctrl+Enter")
            until(controller, lambda s: len(server.bodies) == 2 and not s.turns.calls)
            driver.key("Ctrl+,")
            driver.step(10)
            seen(screen, "settings.png")


@pytest.mark.parametrize("answer", ["Allow once", "Refuse"])
def test_a_request_of_a_task_asks_in_the_window(
    screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    with seated(AgentSitting, tmp_path, screen, monkeypatch) as sitting:
        person, controller, chosen = sitting.person, sitting.controller, sitting.chosen
        controller.send(SetTools(chosen, has_tools=True))
        controller.send(ChangeSetting("ai_settings.caching.day_limit_usd", 0.001))
        until(controller, lambda s: s.config.settings.caching.day_limit_usd == 0.001)
        sitting.said(("delegate", {"task": "Find the hour."}), text="I give it away.")
        sitting.said(text="At nine.")
        sitting.said(text="It turns at nine.")
        person.key("Ctrl+l")
        person.type("when")
        person.key("Ctrl+Enter")
        person.click("Send anyway")

        sitting.sees("A yes covers the next request of this task only, whatever the cost.")
        assert len(sitting.server.bodies) == 1
        seen(screen, "task.png")
        screen.check()
        yes = person.find(answer)
        person.bring(yes)
        person.until(lambda: answer == "Refuse" or yes.stop_item() != 0, "the yes works")
        person.click(yes)
        person.click("Send anyway")  # the parent's next request is a question of its own
        calls = 3 if answer == "Allow once" else 2
        sitting.ends(
            lambda s: len(sitting.server.bodies) == calls and not s.agent.turns and not s.turns.calls
        )
        told = json.dumps(sitting.server.bodies[-1]["messages"][-1])
        assert ("At nine." in told, "It was not let go on: The price of" in told) == (
            answer == "Allow once",
            answer == "Refuse",
        )
        seen(screen, f"task-{answer.split(maxsplit=1)[0]}.png")


def test_by_a_price_by_hand_the_limit_holds_and_a_vendor_that_says_no_usage_is_booked_at_the_full_one(
    screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "config_dir", lambda: tmp_path)
    with CompatibleServer(SILENT) as server:
        (tmp_path / "config.toml").write_text(
            f'[providers.local]\nbase_url = "{server.url}/v1"\n'
            f"[ai_settings.caching]\nday_limit_usd = {LIMIT_USD}\n",
            encoding="utf-8",
        )
        price = "input_usd = 100\ncache_read_usd = 0.001\noutput_usd = 0\nprices_as_of = 2026-11-28"
        (tmp_path / "models.toml").write_text(
            f'[[model]]\nprovider = "local"\nid = "{MODEL}"\n{price}\n', encoding="utf-8"
        )
        with watching(tmp_path, screen, monkeypatch) as app:
            controller, driver = app.controller, screen.driver
            assert controller is not None
            controller.send(CreateDiscussion("Tides", "local", MODEL))
            until(controller, lambda s: len(s.discussions.summaries) == 2)
            sees(driver, "Tides")
            for number, words in enumerate(("when", "and then"), 1):
                ask(app, screen, words)
                until(controller, lambda s, n=number: len(server.bodies) == n and not s.turns.calls)  # type: ignore[misc]
            state = until(controller, lambda s: (s.spending.spent_today_usd or 0) > LIMIT_USD)
            used = state.discussions.summaries[state.discussions.selected_id].usage
            assert used.is_estimate
            assert used.cache_read_tokens == 0, "the second request would have been read by what was expected"
            assert used.cost_usd == pytest.approx((used.input_tokens or 0) * 100 / 1e6)
            ask(app, screen, "again")
            sees(driver, "Spend limit reached")
            seen(screen, "limit.png")
            assert len(server.bodies) == 2
            driver.click("Do not send")
