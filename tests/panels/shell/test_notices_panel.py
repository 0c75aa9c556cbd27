"""Notices that stay until they are read."""

from __future__ import annotations

from msgspec.structs import replace

from core.app.app_messages import DismissNotice
from core.kernel.values.messages import Mark
from core.kernel.values.settings import AskedValue
from core.kernel.values.state import AppState, Level, Notice
from core.knowledge.harvest.harvest_messages import PreviewHarvest
from core.mcp.mcp_messages import NOTICE as SERVERS
from core.services.settings.asked_values import question_id
from core.services.settings.settings_messages import TrustProject
from core.talk.discussion.discussion_messages import UndoDelete
from panels.base.view import WindowView
from tests.panels import states
from tests.panels.harvest import harvest_states as hs
from tests.panels.mcp import mcp_states as ms
from tests.panels.screen import Screen
from tests.state_fields import with_fields


def _with(*notices: Notice) -> AppState:
    return with_fields(states.working(), notices=notices)


def test_a_notice_stays_with_its_remedy_until_it_is_dismissed() -> None:
    screen = Screen(_with(Notice("disk", Level.ERROR, "The disk is full", "Free some space")))
    assert screen.ui.shows("The disk is full")
    assert screen.ui.shows("Free some space")

    screen.ui.click("Dismiss")

    assert screen.asked == [DismissNotice("disk")]


def test_the_action_of_a_notice_is_sent_and_the_notice_goes() -> None:
    notice = Notice("undo", Level.INFO, "Deleted “Old ideas”", action=UndoDelete("d8"), action_label="Undo")
    screen = Screen(_with(notice))

    screen.ui.click("Undo")

    assert screen.asked == [UndoDelete("d8"), DismissNotice("undo")]


def test_a_server_that_waits_leads_to_its_question_and_is_not_said_twice_beside_it() -> None:
    waits = Notice(SERVERS, Level.INFO, "The MCP server files waits for your approval.", is_standing=True)
    refused = Notice(SERVERS, Level.WARNING, "There is no MCP server 'files'.")
    screen = Screen(with_fields(ms.asking(), notices=(waits,)))
    screen.ui.click("Show")
    screen.show(with_fields(ms.asking(), notices=(waits,)))

    assert screen.view.panel == "mcp"
    assert screen.ui.shows("Approve and start")
    assert not screen.ui.shows(waits.text)
    screen.show(with_fields(ms.asking(), notices=(refused,)))
    assert screen.ui.shows(refused.text), "a refusal is said beside its panel, too"


def test_a_harvest_that_did_not_begin_is_said_once_beside_the_button_that_began_it() -> None:
    again = PreviewHarvest(over_limit=True)
    notice = Notice(
        "harvest", Level.WARNING, "The harvest did not start.", "The limit is reached.",
        action=again, action_label="Read anyway",
    )  # fmt: skip
    state = with_fields(hs.looked(), notices=(notice,))
    beside = Screen(state)
    beside.view.show_hub("harvest")
    beside.show(state)
    assert beside.ui.texts().count("The harvest did not start.") == 1
    assert beside.ui.texts().count("The limit is reached.") == 1
    beside.asked.clear()
    beside.ui.click("Read anyway")
    assert beside.asked == [again, DismissNotice("harvest")]
    beside.view.show_hub("caching")
    beside.show(state)
    assert beside.ui.shows("The harvest did not start."), "no panel says it: the notice does"


def test_the_gravest_are_shown_and_the_rest_can_be_opened() -> None:
    screen = Screen(_with(*states.notices()))
    texts = screen.ui.texts()
    assert {"The disk is full", "Layer 6 changed at byte 412"} <= set(texts)
    assert not screen.ui.shows("Deleted “Old ideas”")

    screen.ui.click("Show 1 more notice")
    assert screen.ui.shows("Deleted “Old ideas”")
    screen.ui.click("Show fewer")

    assert not screen.ui.shows("Deleted “Old ideas”")


def test_notices_stand_over_the_settings_too() -> None:
    screen = Screen(_with(*states.notices()), WindowView(page="settings"))

    assert screen.ui.shows("The disk is full")


def test_a_failed_send_is_told_once_where_it_failed_and_nowhere_else() -> None:
    failed = states.failed()
    notice = Notice(
        "call/d1", Level.ERROR, "'Cache TTL policy': Anthropic could not be reached", discussion_id="d1"
    )
    mark = Mark("k9", states.NOW, "failed", "Anthropic could not be reached")
    entries = (*failed.discussions.open["d1"].entries, mark)
    here = with_fields(states.with_opened(failed, entries=entries), notices=(notice,))

    texts = Screen(here).ui.texts()
    assert [text for text in texts if "could not be reached" in text] == ["Anthropic could not be reached"]

    elsewhere = replace(here, discussions=replace(here.discussions, selected_id="d2"))
    assert not Screen(elsewhere).ui.shows(notice.text)
    assert not Screen(here, WindowView(page="settings")).ui.shows(notice.text)


def test_a_warning_of_a_discussion_stays_with_it() -> None:
    notice = Notice("repair/d1", Level.WARNING, "It was repaired", discussion_id="d1")
    here = _with(notice)
    assert Screen(here).ui.shows("It was repaired")
    assert not Screen(replace(here, discussions=replace(here.discussions, selected_id="d2"))).ui.shows(
        "repaired"
    )
    assert not Screen(here, WindowView(page="settings")).ui.shows("repaired")


def test_notices_stand_in_the_order_in_which_they_came() -> None:
    """What a person is about to press does not move for a graver one."""
    first, second = Notice("a", Level.WARNING, "the first"), Notice("b", Level.ERROR, "the second")
    texts = Screen(_with(first, second)).ui.texts()
    assert texts.index("the second") < texts.index("the first"), "the older one stands at the foot"


def _asked(count: int) -> tuple[AskedValue, ...]:
    return tuple(AskedValue(("settings", f"wish {n}"), "1", f"wish {n}") for n in range(count))


def untrusted(count: int = 10) -> AppState:
    """A project that asks for so many values."""
    project = replace(
        states.working().config.project,
        is_trusted=False,
        asked=_asked(count),
        held_back=("The call contains a key.",),
    )
    return with_fields(states.working(), project=project)


def test_a_project_that_asks_for_more_is_asked_about_and_a_yes_stands_below_all_that_it_asks_for() -> None:
    screen = Screen(untrusted())
    assert screen.ui.shows("Do you trust the project “cachelab”?")
    assert screen.ui.shows("•  Setting: wish 4.")
    assert screen.ui.shows("and 5 more")

    screen.ui.click("Review all")
    assert [screen.ui.shows(f"•  Setting: wish {n}.") for n in range(10)] == [True] * 10
    assert screen.ui.shows("•  The call contains a key.")
    assert screen.asked == []
    screen.ui.click("Trust these requests")

    assert screen.asked == [TrustProject(is_trusted=True, shown=question_id(_asked(10)))]
    assert not screen.ui.has("Trust these requests")


def test_a_press_that_meets_a_changed_question_is_no_yes() -> None:
    screen = Screen(untrusted(2))
    screen.ui.click("Review all")
    screen.state = untrusted(3)
    screen.ui.click("Trust these requests")
    assert screen.asked == []
    assert screen.ui.shows("The folder's requests have changed meanwhile")

    screen.ui.click("Trust these requests")
    assert screen.asked == [TrustProject(is_trusted=True, shown=question_id(_asked(3)))]


def test_the_offer_of_a_refused_save_opens_the_question() -> None:
    notice = Notice("preset", Level.WARNING, "Not saved", action=TrustProject(True, "x"), action_label="Look")
    screen = Screen(with_fields(untrusted(), notices=(notice,)))
    screen.ui.click("Look")

    assert [type(one) for one in screen.asked] == [DismissNotice]
    assert screen.ui.has("Trust these requests")


def test_a_question_that_was_put_off_comes_back_when_it_asks_for_something_else() -> None:
    screen = Screen(untrusted(2))
    screen.ui.click("Not now")
    assert not screen.ui.shows("Do you trust the project “cachelab”?")

    screen.show(untrusted(3))
    assert screen.ui.shows("Do you trust the project “cachelab”?")


def test_the_question_of_trust_is_put_once() -> None:
    notice = Notice("trust", Level.WARNING, "The settings of 'cachelab' do not count")
    screen = Screen(with_fields(untrusted(), notices=(notice,)))
    assert not screen.ui.shows(notice.text)

    screen.ui.click("Not now")

    assert not screen.ui.shows("Do you trust")
    assert screen.asked == []


def test_a_project_that_asks_for_nothing_is_not_asked_about() -> None:
    project = replace(states.working().config.project, is_trusted=False, asked=())

    assert not Screen(with_fields(states.working(), project=project)).ui.shows("Do you trust")


def test_in_a_narrow_window_notices_leave_room_for_the_conversation() -> None:
    many = with_fields(untrusted(), notices=states.notices())
    screen = Screen(many, width_px=420.0)

    assert screen.ui.shows("•  Setting: wish 1.")
    assert not screen.ui.shows("•  Setting: wish 2.")
    assert screen.ui.shows("and 8 more")
    assert screen.ui.shows("The disk is full")
    screen.ui.click(f"Show {len(states.notices()) - 1} more notices")
    assert screen.ui.shows("Layer 6 changed at byte 412")
