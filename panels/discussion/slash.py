"""Slash commands of the composer: what completes one, what it does."""

from __future__ import annotations

import msgspec

from core.agent.compaction_messages import CompactDiscussion
from core.kernel.values.discussion import OpenDiscussion, SlashInput, slash_input
from core.talk.discussion.discussion_messages import ChangeDiscussion, SetDraft
from panels.base.desk import Desk, run_action
from panels.base.gauge import model_value, remembered_options
from panels.base.ui import Surface
from panels.discussion.model_picker import NO_LEVELS, efforts_of
from panels.discussion.view import ComposerView, DiscussionView

SHOWN = 6
NOTHING_FAILED = "Nothing failed here that could be sent again."


class SlashCommand(msgspec.Struct, frozen=True):
    """A slash command. `takes`: its argument in a word, empty for none."""

    name: str
    what: str
    takes: str = ""


COMMANDS = (
    SlashCommand(name="new", what="Begin a discussion"),
    SlashCommand(name="compact", what="Take what is old out of the model's view; the log keeps it"),
    SlashCommand(name="retry", what="Send again what failed"),
    SlashCommand(name="model", what="Choose the model", takes="model"),
    SlashCommand(name="effort", what="Choose how hard the model thinks", takes="level"),
    SlashCommand(name="quit", what="Quit the program"),
)
BY_NAME = {command.name: command for command in COMMANDS}


class Completion(msgspec.Struct, frozen=True):
    """A way to go on: the text of the whole command, and what it says about itself."""

    text: str
    what: str


def completions(desk: Desk, typed: SlashInput) -> tuple[Completion, ...]:
    """Ways to go on, best first, a few at most."""
    if typed.argument is None:
        known = (c for c in COMMANDS if c.name.startswith(typed.name))
        return tuple(Completion(f"/{c.name}" + (" " if c.takes else ""), c.what) for c in known)
    wanted = typed.argument.casefold()
    if typed.name == "model":
        models = ((label, detail) for _, label, detail in _models(desk) if wanted in label.casefold())
        return tuple(Completion(f"/model {label}", detail) for label, detail in models)[:SHOWN]
    if typed.name == "effort":
        return tuple(Completion(f"/effort {one}", "") for one in efforts_of(desk) if one.startswith(wanted))
    return ()


def _models(desk: Desk) -> tuple[tuple[str, str, str], ...]:
    """Models to choose from: value, name, provider. Of two with one name the second is told by its provider."""
    options = remembered_options(desk.state, desk.view.memo)
    names = [option.label for option in options]
    return tuple(
        (o.value, o.label if names.count(o.label) == 1 else f"{o.label} ({o.group})", o.group)
        for o in options
    )


def run_slash(desk: Desk, typed: SlashInput) -> str:
    """Do what a command says. Returns why it cannot be done, empty where it was."""
    command, argument = BY_NAME.get(typed.name), (typed.argument or "").strip()
    if command is None:
        return (
            f"There is no command /{typed.name}. Two slashes send a slash."
            if typed.name
            else "Which command?"
        )
    if argument and not command.takes:
        return f"/{command.name} takes nothing behind it. Two slashes send a slash."
    match command.name:
        case "compact":
            compact(desk)
            return ""
        case "model" if argument:
            return _choose_model(desk, argument)
        case "effort" if argument or not efforts_of(desk):
            return _choose_effort(desk, argument)
        case _:
            return _run(desk, command.name)


def compact(desk: Desk) -> None:
    """Have what is old in the selected discussion replaced by a summary; the composer says how that ends."""
    chosen = desk.state.discussions.selected_id
    composer = desk.view.of(DiscussionView).composer(chosen)
    composer.compaction_id = desk.ask(CompactDiscussion(chosen))


def _run(desk: Desk, action_id: str) -> str:
    action = desk.actions[action_id]
    if not action.is_enabled(desk):
        return NOTHING_FAILED if action_id == "retry" else "That cannot be done now."
    run_action(action_id, desk)
    return ""


def _choose_model(desk: Desk, argument: str) -> str:
    wanted, summary = argument.casefold(), desk.summary
    known = _models(desk)
    exact = [
        value
        for value, label, _ in known
        if wanted in (label.casefold(), value.partition("\n")[2].casefold())
    ]
    found = exact or [value for value, label, _ in known if wanted in label.casefold()]
    if len(found) != 1:
        return (
            f"No model is called {argument!r}."
            if not found
            else f"{len(found)} models are called like {argument!r}."
        )
    if summary is not None and found[0] != model_value(summary.meta.provider, summary.meta.model):
        provider, _, model = found[0].partition("\n")
        desk.send(
            ChangeDiscussion(discussion_id=summary.meta.id, changes={"provider": provider, "model": model})
        )
    return ""


def _choose_effort(desk: Desk, argument: str) -> str:
    efforts = efforts_of(desk)
    if not efforts:
        return NO_LEVELS
    if argument.lower() not in efforts:
        return f"{argument!r} is none of its levels: {', '.join(efforts)}."
    if desk.summary is not None:
        desk.send(ChangeDiscussion(discussion_id=desk.summary.meta.id, changes={"effort": argument.lower()}))
    return ""


# The slash command that is being typed: what completes it, over the composer's editor, with its keys.

ROW_PX = 26.0


def slash_strip(desk: Desk, opened: OpenDiscussion, composer: ComposerView) -> None:
    """Draw the ways to go on, and take Tab, Up, Down and Enter while the editor has the keyboard."""
    typed = slash_input(composer.text)
    if typed is None:
        return
    ui = desk.ui
    ways = completions(desk, typed)
    at = min(composer.slash_at, max(0, len(ways) - 1))
    if ui.is_focused("editor"):
        if len(ways) > 1:
            down, up = (ui.shortcut(key, while_typing=True) for key in ("Down", "Up"))
            composer.slash_at = at = (at + int(down) - int(up)) % len(ways)
        if ways and ui.shortcut("Tab", while_typing=True):
            write(desk, opened, composer, ways[at].text)
            return
        if ui.shortcut("Enter", while_typing=True):
            enter_slash(desk, opened, composer)
            return
    chosen = -1
    if ways:
        with ui.surface("ways", "inset", padding=(4, 4)), ui.group("rows", gap=0):
            for index, way in enumerate(ways):
                if _row(desk, index, way, is_marked=index == at):
                    chosen = index
    if composer.slash_problem:
        ui.text("problem", composer.slash_problem, tone="warn", style="small", wraps=True)
    if chosen >= 0:
        composer.slash_at = chosen
        enter_slash(desk, opened, composer)


def _row(desk: Desk, index: int, way: Completion, *, is_marked: bool) -> bool:
    ui = desk.ui
    kind: Surface = "row_selected" if is_marked else "clear"
    with (
        ui.clickable(("way", index), kind, height=ROW_PX, padding=(8, 3)) as clicks,
        ui.row("line", height=ROW_PX - 6),
    ):
        ui.text("text", way.text, style="small_strong")
        ui.text("what", way.what, tone="muted", style="small", width=0)
    return clicks.clicked


def enter_slash(desk: Desk, opened: OpenDiscussion, composer: ComposerView) -> None:
    """Do the command that is typed, or the marked one that completes it; where it wants an argument, ask for that."""
    typed = slash_input(composer.text)
    if typed is None:
        return
    ways = completions(desk, typed)
    is_whole = typed.argument is None and typed.name in BY_NAME
    if ways and not is_whole:
        way = ways[min(composer.slash_at, len(ways) - 1)].text
        if way.endswith(" "):
            write(desk, opened, composer, way)
            return
        typed = slash_input(way) or typed
    _do(desk, opened, composer, typed)


def _do(desk: Desk, opened: OpenDiscussion, composer: ComposerView, typed: SlashInput) -> None:
    problem = run_slash(desk, typed)
    if problem:
        composer.slash_problem = problem
    else:
        write(desk, opened, composer, "")


def write(desk: Desk, opened: OpenDiscussion, composer: ComposerView, text: str) -> None:
    """Put a text into the composer in place of what is typed."""
    composer.slash_at, composer.slash_problem = 0, ""
    composer.put(text)
    desk.send(SetDraft(opened.id, text))
