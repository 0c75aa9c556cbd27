"""The manager of MCP servers: what is asked is shown whole, and a yes names exactly it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from core.kernel.values.mcp import McpServer, McpServerSettings
from core.kernel.values.state import AppState, CommandOutcome
from core.mcp.approvals import of_tools, question_id
from core.mcp.mcp_messages import (
    ApproveServer,
    ApproveTools,
    LookAtServers,
    OfferServerTools,
    RemoveMcpServer,
    SetMcpServer,
    TryServer,
    WithdrawApproval,
)
from panels.mcp.mcp_panel import SHOWN
from panels.mcp.mcp_room import McpView
from tests.panels.mcp import mcp_states as ms
from tests.panels.screen import Screen
from tests.panels.views import view_of
from tests.state_fields import with_fields


def opened(state: AppState, own: McpView | None = None) -> Screen:
    about = (state.config.project.root, tuple(state.mcp.servers))
    return Screen(state, view_of(own or McpView(looked_with=about), panel="mcp"))


def asked_id(state: AppState) -> str:
    asked = state.mcp.servers["files"].asked
    assert asked is not None
    return question_id(asked)


def test_servers_are_looked_at_once_when_the_manager_is_shown_and_again_when_others_are_named() -> None:
    screen = opened(ms.asking(), McpView())
    own = screen.view.of(McpView)
    assert own.looked_with is not None
    screen.show(ms.running())
    screen.ui.settle()

    assert screen.asked == [LookAtServers()]


def test_the_question_shows_all_that_would_start_and_the_yes_names_exactly_that() -> None:
    state = ms.asking()
    screen = opened(state)

    for text in ("waits for your approval", "/usr/bin/npx (a1a1a1a1a1a1a1a1)", "NOTES_TOKEN", "off"):
        assert screen.ui.shows(text), text
    assert not screen.ui.find("Approve and start").is_enabled, "not under a pointer that was there before"
    screen.ui.wait(0.5)
    screen.ui.click("Approve and start")
    assert screen.asked == [ApproveServer("files", asked_id(state))]


def test_much_code_folds_so_that_the_answer_stands_in_sight_and_each_row_is_a_click_away() -> None:
    files = {f"/srv/m{number:02}.py": f"{number:064}" for number in range(30)}
    asked = replace(ms.FOUND, files=files)
    server = McpServer(ms.FILES, found=asked)
    screen = opened(ms.with_servers(server))

    assert screen.ui.shows("/srv/m02.py")
    assert not screen.ui.shows("/srv/m03.py")
    rows = [node.label for node in screen.ui.nodes("button") if node.label.startswith("Show ")]
    screen.ui.click(rows[0])
    assert screen.ui.shows("/srv/m03.py")
    assert not screen.ui.has(rows[0])


def test_in_a_folder_that_is_not_trusted_nothing_can_be_approved() -> None:
    screen = opened(ms.untrusted())

    assert screen.ui.shows("no server starts")
    assert not screen.ui.find("Approve and start").is_enabled


def test_tools_are_ticked_one_by_one_and_their_words_can_be_read_first() -> None:
    state = ms.listed()
    screen = opened(state)
    assert screen.ui.shows("Models do not get this tool: draw: the tool's schema is not a JSON Schema")
    screen.ui.click("Show the text that a model gets about move")
    assert screen.ui.shows("Does move with a file of the folder.")
    screen.ui.click("Offer move to models")
    screen.ui.wait(0.5)
    screen.ui.click("Approve 2 tools")

    assert screen.asked == [ApproveTools("files", asked_id(state), ("read", "write"))]


@pytest.mark.parametrize("known", [(), ("tool-250",)])
def test_a_yes_does_not_count_for_tools_that_are_not_shown(known: tuple[str, ...]) -> None:
    state = ms.listed()
    names = [f"tool-{number:03}" for number in range(256)]
    server = replace(
        state.mcp.servers["files"],
        tools=tuple(ms.tool(name) for name in names),
        approved=frozenset(known),
    )
    state = replace(state, mcp=replace(state.mcp, servers={"files": server}))
    screen = opened(state)
    hidden = 256 - SHOWN - len(known)
    assert screen.ui.shows(
        f"{hidden} more tools not shown: your approval does not cover tools that you did not see."
    )
    screen.ui.wait(0.5)
    screen.ui.click(f"Approve {SHOWN + len(known)} tools")
    whole = opened(state)
    whole.ui.click(f"Show {256 - SHOWN} more")
    whole.ui.wait(0.5)
    assert not whole.ui.shows("your approval does not cover")
    whole.ui.click("Approve 256 tools")

    given = [one.names for one in (*screen.asked, *whole.asked) if isinstance(one, ApproveTools)]
    assert given == [(*names[:SHOWN], *known), tuple(names)]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (ms.changed, "The server's program is not the file that you approved: /usr/bin/npx"),
        (ms.retold, "Changed description or schema: read"),
    ],
)
def test_what_changed_since_the_yes_is_said(make: Callable[[], AppState], words: str) -> None:
    assert opened(make()).ui.shows(words)


def test_what_changed_has_no_tick_before_a_person_gives_it_one() -> None:
    state = ms.retold()
    screen = opened(state)
    assert screen.ui.shows("Approve 1 tool")
    screen.ui.click("Offer read to models")
    screen.ui.wait(0.5)
    screen.ui.click("Approve 2 tools")

    assert screen.asked == [ApproveTools("files", asked_id(state), ("read", "write"))]


def test_a_server_whose_tools_are_answered_for_asks_nothing_and_takes_another_answer() -> None:
    running = ms.retold().mcp.servers["files"]
    assert running.kept is not None
    kept = of_tools(running.kept, running.tools, frozenset({"write"}))
    state = ms.with_servers(replace(running, kept=kept))
    screen = opened(state)
    assert not screen.ui.shows(ms.WRITE.schema.description), "a long list hides no other server"
    screen.ui.click("1 of 2 tools approved")
    assert screen.ui.shows(ms.WRITE.schema.description)
    assert not screen.ui.shows("Which tools of this server may models use?")
    assert not screen.ui.shows("Approve ")
    screen.ui.click("Offer read to models")
    screen.ui.wait(0.5)
    screen.ui.click("Approve 2 tools")

    assert screen.asked == [ApproveTools("files", asked_id(state), ("read", "write"))]


def test_a_program_that_changed_while_it_runs_is_asked_about_as_a_start() -> None:
    state = ms.with_servers(
        replace(ms.changed().mcp.servers["files"], is_running=True, tools=(ms.READ, ms.WRITE))
    )
    screen = opened(state)

    assert screen.ui.shows("Start this server?")


def test_a_server_is_tried_again_forgotten_and_taken_out() -> None:
    screen = opened(ms.running())
    assert screen.ui.shows("2 of 2 tools approved")
    assert screen.ui.shows("it answered with an error (HTTP 502).")
    screen.ui.click("Check search again, and restart the server if you approved it")
    screen.ui.click("Withdraw your approval of files; the server stops")
    screen.ui.click("Remove files from your settings")
    screen.ui.click("Keep")
    screen.ui.click("Remove files from your settings")
    screen.ui.click("Remove")

    assert screen.asked == [TryServer("search"), WithdrawApproval("files"), RemoveMcpServer("files")]


def test_a_warm_discussion_keeps_its_tools_until_it_is_told_otherwise() -> None:
    state = ms.running()
    summary = state.discussions.summaries["d1"]
    with_tools = replace(summary, meta=replace(summary.meta, has_tools=True))
    summaries = {**state.discussions.summaries, "d1": with_tools}
    state = replace(state, discussions=replace(state.discussions, summaries=summaries, selected_id="d1"))
    frozen = replace(state, mcp=replace(state.mcp, frozen={"d1": (ms.READ.schema,)}))
    assert not opened(state).ui.shows("Add tools now")
    screen = opened(frozen)
    screen.ui.click("Add tools now")

    assert screen.asked == [OfferServerTools("d1")]


def test_a_server_is_added_by_its_command_line() -> None:
    screen = opened(ms.none())
    screen.ui.click("Add server")
    screen.ui.type("Name, for example files", "files")
    screen.ui.type("Command, https:// address, or a README's JSON", "npx -y 'server filesystem' ~/notes")
    screen.ui.type("Names of environment variables", "A_TOKEN, OTHER")
    screen.ui.click("Add server")

    command = ("npx", "-y", "server filesystem", "~/notes")
    added = McpServerSettings("files", command, ("A_TOKEN", "OTHER"))
    assert screen.asked == [SetMcpServer(added, is_new=True)]


def test_the_json_of_a_readme_is_pasted_in_place_of_a_command() -> None:
    screen = opened(ms.none())
    screen.ui.click("Add server")
    line = "Command, https:// address, or a README's JSON"
    screen.ui.type(line, '{"mcpServers": {"git": ')
    screen.ui.click("Add server")
    assert screen.asked == []
    assert screen.ui.shows("This is not JSON")

    screen.ui.type(line, '{"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}}}')
    screen.ui.click("Add server")

    assert screen.asked == [
        SetMcpServer(McpServerSettings("git", ("uvx", "mcp-server-git"), network=True), is_new=True)
    ]


def test_before_settings_are_read_nothing_is_said_of_a_project_or_of_servers() -> None:
    screen = opened(with_fields(AppState(), is_loading=True))

    assert screen.ui.shows("Reading settings…")
    assert not screen.ui.shows("No project is open")
    assert not screen.ui.shows("You have set up no server.")


def test_where_the_folder_is_not_trusted_the_panel_says_it_and_leads_to_trust() -> None:
    screen = opened(ms.untrusted())
    assert screen.ui.shows("This folder is not trusted")

    screen.ui.click("Trust this project…")

    assert screen.view.dialog is not None
    assert screen.view.dialog.kind == "trust"


def test_after_enter_the_keyboard_is_where_something_is_missing() -> None:
    """It would go home to the composer, and what one types to mend the form would stand in a message."""
    screen = opened(ms.none())
    screen.ui.click("Add server")
    screen.ui.type("Command, https:// address, or a README's JSON", "npx server")
    screen.ui.press("Enter")

    assert screen.ui.shows("A server needs a name")
    assert screen.ui.is_focused_on("Name, for example files")


def test_a_server_that_is_not_taken_stays_in_the_form_with_the_reason_and_a_taken_one_leaves_it() -> None:
    screen = opened(ms.none())
    screen.ui.click("Add server")
    screen.ui.type("Command, https:// address, or a README's JSON", "npx 'server")
    screen.ui.type("Name, for example files", "my files")
    screen.ui.click("Add server")
    assert screen.ui.shows("close the open quote")
    screen.ui.type("Command, https:// address, or a README's JSON", "npx server")
    screen.ui.press("Enter")

    sent = screen.only(SetMcpServer)
    refused = CommandOutcome(
        sent.command_id, problem="'my files' is not a name for an MCP server", remedy="Use letters"
    )
    screen.show(with_fields(ms.none(), outcomes=(refused,)))
    assert screen.ui.shows("'my files' is not a name for an MCP server. Use letters.")
    assert screen.ui.find("Name, for example files").value == "my files"

    screen.ui.click("Add server")
    again = [one for one in screen.sent if isinstance(one, SetMcpServer)][-1]
    screen.show(with_fields(ms.none(), outcomes=(refused, CommandOutcome(again.command_id))))
    assert screen.ui.shows("Add server")
