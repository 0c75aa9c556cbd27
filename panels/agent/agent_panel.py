"""The Agent panel: how the turn stands and what it cost, what waits for a yes, tool activity, the todo list, changed files."""

from __future__ import annotations

from collections import Counter

from core.agent.agent_messages import SetTools
from core.agent.agent_pages import mode_of
from core.agent.delegation import children_at_work, questions_of
from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.agent import AgentPage, AgentTurn, CallState, Mode, TodoItem, TodoState
from core.kernel.values.discussion import CallPhase
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.agent.activity import activity_section, changes_section
from panels.agent.agent_room import AgentView
from panels.agent.autonomy import autonomy_section, autonomy_words, has_output, meter
from panels.base import view
from panels.base.desk import Desk, action_tip, run_action
from panels.base.ui import Option, Style, Tone, Ui
from panels.discussion.approvals import approval_card, questions
from panels.discussion.tool_mode import MODES, asked_by, set_mode, trust_line

TODO_LOOKS: dict[TodoState, tuple[str, Tone]] = {
    TodoState.DONE: ("circle-check", "ok"),
    TodoState.ACTIVE: ("circle-dot", "accent"),
    TodoState.OPEN: ("circle-empty", "faint"),
}
TODO_SHOWN = 200
ELSEWHERE_SHOWN = 3
HEAD_PX, FIGURES_PX = 310.0, 300.0
"""Widths of the card from which its state stands in one line with the round and a button in words, and its figures in words."""
BOTH_FROM_PX, BESIDE_FROM_PX = 740.0, 720.0
"""Height of the panel from which activity and autonomous output stand in it together, and width from which side by side."""
ACTIVITY_SHARE = 0.33
SANDBOX_TIP = tr(
    "Commands write only to the project and a temporary folder. Each network access needs your approval"
)


def agent_panel(desk: Desk) -> None:
    """Draw the panel.

    Sends SetTools, ApproveCall, RefuseCall, KillCommands, CancelReply, UndoTurn, SelectDiscussion.
    """
    ui, own, summary = desk.ui, desk.view.of(AgentView), desk.summary
    if summary is None:
        ui.text("nothing", tr("Choose a discussion to see the work of its tools."), tone="muted", wraps=True)
        _elsewhere(desk)
        return
    page = view.page_of(desk.state) or AgentPage()
    if not summary.meta.has_tools and not page.activity and desk.turn is None:
        _off(desk, summary.meta.id)
        _elsewhere(desk)
        autonomy_section(desk)
        return
    _state_card(desk, page)
    _elsewhere(desk)
    waiting = questions_of(desk.state, summary.meta.id)
    first = waiting[0][1].question_id if waiting else ""
    own.lead(first)
    is_both = has_output(desk) and ui.height() >= BOTH_FROM_PX and not desk.view.is_hub_low
    tabs = tuple(one for one in _tabs(page, len(waiting)) if not is_both or one.value != "autonomy")
    front = "activity" if is_both and own.tab == "autonomy" else own.tab
    own.tab = ui.tabs("parts", tabs, front) or own.tab
    if is_both and own.tab in ("activity", "autonomy"):
        _both(desk, page)
        return
    if own.tab == "activity":
        activity_section(desk, page)
        return
    if own.tab == "autonomy":
        autonomy_section(desk)
        return
    with (
        ui.surface(("part", own.tab), "clear", height=0, padding=(0, 0), scrolls=True),
        ui.group("parts", gap=10),
    ):
        if own.tab == "waiting":
            _waiting(desk)
        elif own.tab == "todo":
            _todo(ui, page)
        else:
            changes_section(desk, page)


def _both(desk: Desk, page: AgentPage) -> None:
    """Draw what its tools do and what it said alone, in sight together: side by side where there is width, else in a stack."""
    ui = desk.ui
    if ui.width() >= BESIDE_FROM_PX:
        with ui.split("both", [0.0, ui.width() / 2], min_px=BESIDE_FROM_PX / 3) as split:
            with split.pane(0):
                activity_section(desk, page)
            with split.pane(1):
                autonomy_section(desk)
        return
    with ui.surface("above", "clear", height=ui.height() * ACTIVITY_SHARE, padding=(0, 0)):
        activity_section(desk, page)
    ui.divider("between")
    with ui.surface("below", "clear", height=0, padding=(0, 0)):
        autonomy_section(desk)


def _tabs(page: AgentPage, waiting: int) -> tuple[Option, ...]:
    done = sum(item.state is TodoState.DONE for item in page.todo)
    files = len({one.path for one in page.changes if not one.is_undone})
    return (
        Option(value="activity", label=tr("Activity"), icon="bolt"),
        Option(
            value="waiting",
            label=tr("Waiting {waiting}", waiting=waiting) if waiting else tr("Waiting"),
            icon="shield-halved",
            widest=tr("Waiting 9"),
        ),
        Option(
            value="todo",
            label=tr("Todo {done}/{todo}", done=done, todo=len(page.todo)) if page.todo else tr("Todo"),
            icon="list-check",
            widest=tr("Todo 9/99"),
        ),
        Option(
            value="files",
            label=tr("Files {files}", files=files) if files else tr("Files"),
            icon="code-compare",
            widest=tr("Files 99"),
        ),
        Option(value="autonomy", label=tr("Autonomy"), icon="moon"),
    )


def _off(desk: Desk, discussion_id: str) -> None:
    ui = desk.ui
    with ui.surface("off", "card", padding=(12, 10)), ui.group("lines", gap=6):
        with ui.row("head"):
            ui.icon("icon", "wrench", tone="muted")
            ui.text("title", tr("This discussion has no tools"), style="strong", width=0, wraps=True)
        ui.text("what", tr("With tools, the model can read and search the project. Writes, edits and commands wait for your approval."), tone="muted", style="small", wraps=True)  # fmt: skip
        trust_line(desk)
        _sandbox(desk)
        if ui.button("on", tr("Turn tools on"), icon="wrench", kind="primary", is_small=True):
            desk.send(SetTools(discussion_id=discussion_id, has_tools=True))


def _state_card(desk: Desk, page: AgentPage) -> None:
    """Draw the state of the turn, the context, what the task cost, the mode: its first line alone where there is no
    height for more, since what waits for an answer stands below.
    """
    ui, summary, own = desk.ui, desk.summary, desk.view.of(AgentView)
    assert summary is not None
    is_low = desk.view.is_hub_low
    with ui.surface("state", "card", padding=(12, 4 if is_low else 10)), ui.group("lines", gap=6):
        _state_head(desk, own, is_low=is_low)
        if is_low and not own.is_state_open:
            return
        meter(desk)
        with ui.row("figures", gap=12):
            is_narrow = 0 < ui.width() < FIGURES_PX
            label = tr("Turn") if is_narrow else tr("This turn")
            ui.text("cost", f"{label}: {_cost(page, summary.usage.cost_usd)}", style="small", tone="muted",
                    tip=tr("Cost of the current or last turn"))  # fmt: skip
            ui.push()
            if page.commands:
                tip = tr(
                    "{commands} in the background",
                    commands=fmt.count(len(page.commands), tr("command"), tr("commands")),
                )
                if is_narrow:
                    ui.icon("icon", "terminal", tone="accent", tip=tip)
                counted = f"{len(page.commands):,}"
                words = counted if is_narrow else tr("{commands} in the background", commands=counted)
                ui.text("commands", words, style="small", tone="accent", tip=tip)
            if ui.button("kill", tr("End commands"), icon="stop", kind="ghost", is_small=True, tip=action_tip(desk, "kill_commands"),
                         is_enabled=desk.actions["kill_commands"].is_enabled(desk)):  # fmt: skip
                run_action("kill_commands", desk)
        with ui.row("mode"):
            mode = ui.combo("mode", MODES, mode_of(desk.state, summary.meta.id).value, width=0,
                            tip=action_tip(desk, "mode"), is_enabled=summary.meta.has_tools)  # fmt: skip
            label = tr("Turn tools off") if summary.meta.has_tools else tr("Turn tools on")
            if ui.button("tools", label, kind="ghost", is_small=True, tip=action_tip(desk, "tools")):
                run_action("tools", desk)
        if mode is not None:
            set_mode(desk, Mode(mode))
        for number, grant in enumerate(page.grants):
            with ui.row(("grant", number), gap=6):
                ui.icon("icon", "unlock", tone="warn")
                ui.text(
                    "text",
                    tr("Allowed for this discussion: {rules}", rules="; ".join(grant.splitlines())),
                    tone="muted",
                    style="small",
                    wraps=True,
                    width=0,
                )
        if summary.meta.has_tools:
            trust_line(desk)
        _sandbox(desk)


def _state_head(desk: Desk, own: AgentView, *, is_low: bool) -> None:
    ui = desk.ui
    alone, at_work = desk.state.attention.autonomy, desk.turn is not None or desk.is_replying
    live = desk.state.turns.calls.get(desk.state.discussions.selected_id)
    icon, tone, words = turn_words(
        desk.turn, live.phase if live is not None else None, is_replying=desk.is_replying
    )
    round_words = (
        tr("round {rounds:,}", rounds=desk.turn.rounds)
        if desk.turn is not None and not desk.turn.is_stopping
        else ""
    )
    if alone is not None and alone.discussion_id == desk.state.discussions.selected_id and not at_work:
        icon, tone, words = autonomy_words(alone, desk.state.now)
    if desk.opened is not None and desk.opened.held_calls and not at_work:
        icon, tone, words = "terminal", "warn", tr("Another program works in this discussion")
    with ui.row("head"):
        ui.icon("icon", icon, tone=tone)
        is_narrow = 0 < ui.width() < HEAD_PX
        shown = words if is_narrow else " · ".join(filter(None, (words, round_words)))
        ui.text("words", shown, style="strong", width=0, wraps=True, tip=round_words if is_narrow else "")
        label = "" if is_narrow else tr("Stop")
        if desk.is_replying and ui.button(
            "stop", label, icon="stop", is_small=True, tip=action_tip(desk, "stop")
        ):
            run_action("stop", desk)
        if is_low and ui.button(
            "fold",
            "",
            icon="chevron-up" if own.is_state_open else "chevron-down",
            kind="ghost",
            is_small=True,
            tip=tr("Show context, cost and mode"),
        ):
            own.is_state_open = not own.is_state_open


def _cost(page: AgentPage, discussion_usd: float | None) -> str:
    """Cost of the turn in words: nothing where nothing was asked, unknown where a price is."""
    if page.usd:
        return fmt.money(page.usd)
    return tr("price unknown") if discussion_usd is None and page.activity else fmt.money(0.0)


def turn_words(
    turn: AgentTurn | None, phase: CallPhase | None, *, is_replying: bool
) -> tuple[str, Tone, str]:
    """State of a turn: icon, tone and words, without its round. `phase`: of the request under way."""
    if turn is None:
        return ("robot", "accent", _model_words(phase)) if is_replying else ("robot", "muted", tr("Idle"))
    if turn.is_stopping:
        return "stop", "muted", tr("Stopping")
    counted = Counter(call.state for call in turn.calls)
    if asked := counted[CallState.ASKING]:
        return (
            "shield-halved",
            "warn",
            tr("One tool call needs your approval")
            if asked == 1
            else tr("{asked:,} tool calls need your approval", asked=asked),
        )
    if runs := counted[CallState.RUNNING]:
        return "circle-play", "accent", tr("{runs} running", runs=fmt.count(runs, tr("call"), tr("calls")))
    return "robot", "accent", _model_words(phase)


def _model_words(phase: CallPhase | None) -> str:
    """State of the model: whether it has said a word yet."""
    return (
        tr("The model is writing")
        if phase in {CallPhase.STREAMING, CallPhase.STORING}
        else tr("Waiting for the model")
    )


def _sandbox(desk: Desk) -> None:
    """Say how commands are confined, or that they are not. With tools the line stands from the first: what comes late
    would move the tabs below it under the pointer.
    """
    ui, sandbox = desk.ui, desk.state.agent.sandbox
    if not sandbox.is_known:
        if desk.summary is not None and desk.summary.meta.has_tools:
            ui.text("sandbox", tr("Checking the sandbox for commands…"), style="small", tone="muted")
        return
    if sandbox.is_confined:
        ui.text(
            "sandbox",
            tr("Commands run in the sandbox {name}.", name=sandbox.name),
            style="small",
            tone="muted",
            tip=SANDBOX_TIP,
        )
        return
    with ui.row("sandbox", gap=6):
        ui.icon("icon", "triangle-exclamation", tone="warn")
        problem = f": {sandbox.problem.rstrip('.')}" if sandbox.problem else ""
        ui.text(
            "text",
            tr("No sandbox limits commands here{problem}.", problem=problem),
            tone="warn",
            style="small",
            wraps=True,
            width=0,
        )


def _elsewhere(desk: Desk) -> None:
    """Lead to other discussions whose calls wait for a yes."""
    ui, state = desk.ui, desk.state
    chosen = state.discussions.selected_id
    here = (chosen, *children_at_work(state, chosen))
    elsewhere = [one for one, _ in questions(desk) if one not in here]
    for discussion_id in elsewhere[:ELSEWHERE_SHOWN]:
        with ui.row(("elsewhere", discussion_id), gap=6):
            ui.icon("icon", "shield-halved", tone="warn")
            name = state.discussions.summaries[discussion_id].meta.name
            is_told = discussion_id in state.agent.turns
            words = (
                tr("“{name}” waits for your answer", name=name)
                if is_told
                else tr("“{name}” has tool calls that wait for your answer", name=name)
            )
            ui.text("text", words, style="small", width=0)
            if ui.button("go", tr("Open"), kind="link", is_small=True):
                desk.send(SelectDiscussion(discussion_id))
    if len(elsewhere) > ELSEWHERE_SHOWN:
        more = tr(
            "and {elsewhere:,} more of the discussions, each marked in the list",
            elsewhere=len(elsewhere) - ELSEWHERE_SHOWN,
        )
        ui.text("elsewhere more", more, style="small", tone="muted", wraps=True)


def _waiting(desk: Desk) -> None:
    """The questions of this discussion, in the order of the calls, then those of its tasks."""
    ui, chosen = desk.ui, desk.state.discussions.selected_id
    waiting = questions_of(desk.state, chosen)
    if not waiting:
        ui.text("nothing", tr("Nothing waits for your approval."), tone="muted")
        return
    asked_by(desk, chosen, waiting[0][0])
    approval_card(desk, *waiting[0])
    if len(waiting) > 1:
        more = len(waiting) - 1
        words = (
            tr("1 more question after this one")
            if more == 1
            else tr("{more:,} more questions after this one", more=more)
        )
        ui.text("more", words, tone="muted", style="small")


def _todo(ui: Ui, page: AgentPage) -> None:
    if not page.todo:
        ui.text(
            "nothing",
            tr("The model has no todo list. It writes one for work with several steps."),
            tone="muted",
            wraps=True,
        )
    for number, item in enumerate(page.todo[:TODO_SHOWN]):
        _todo_line(ui, number, item)
    if len(page.todo) > TODO_SHOWN:
        ui.text(
            "more",
            tr("and {todo:,} more of the tasks", todo=len(page.todo) - TODO_SHOWN),
            tone="muted",
            style="small",
        )


def _todo_line(ui: Ui, number: int, item: TodoItem) -> None:
    icon, tone = TODO_LOOKS[item.state]
    with ui.row(("todo", number)):
        ui.icon("icon", icon, tone=tone)
        is_done = item.state is TodoState.DONE
        style: Style = "strong" if item.state is TodoState.ACTIVE else "body"
        ui.text("text", item.text, tone="faint" if is_done else "text", style=style, wraps=True, width=0)
