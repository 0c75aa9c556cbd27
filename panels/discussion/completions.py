"""Completions of the composer: slash commands, `@` for files, folders, symbols and presets, and prompt templates."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.agent.agent_messages import CompactDiscussion
from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.curation import FileItem, FileMode, HitKind
from core.kernel.values.discussion import OpenDiscussion, SlashInput, slash_input
from core.kernel.values.settings import PromptTemplate
from core.services.settings.settings_rules import filled, unnamed_of, variables_of
from core.talk.context.context_messages import AddItems, LookUpFiles
from core.talk.discussion.discussion_messages import ChangeDiscussion, SetDraft
from panels.base.desk import Desk, run_action
from panels.base.gauge import model_value, remembered_options
from panels.base.ui import Option, Surface, Ui
from panels.base.view import Dialog
from panels.discussion.model_picker import NO_LEVELS, efforts_of
from panels.discussion.view import ComposerView, DiscussionView, TemplateForm

# Prompt templates in the composer: one is chosen, its variables are asked for, the text joins what is
# typed.

WIDTH_PX, FIELDS_PX = 520, 300
NONE = tr(
    "There are no templates. Save a text as prompts/templates/NAME.md in the project. Templates for all projects go into knowledge/prompts/templates of the data folder."
)
FIELDS_SHOWN = 5


def choose_template(desk: Desk, name: str) -> str:
    """Insert a template, or ask for its variables first. Returns why it cannot be done, empty where it was."""
    template = desk.state.config.templates.get(name)
    if template is None:
        return tr("No template is called {name!r}.", name=name)
    if desk.opened is None:
        return tr("Open a discussion first.")
    if variables_of(template.text):
        desk.view.of(DiscussionView).template = TemplateForm(name=name)
        desk.view.dialog = Dialog(kind="template", subject=desk.opened.id, text=name)
    else:
        insert(desk, template.text)
    return ""


def insert(desk: Desk, text: str) -> None:
    """Put a text into the composer: in place of a slash command, else behind the words that stand there."""
    opened = desk.opened
    if opened is None:
        return
    composer = desk.view.of(DiscussionView).composer(opened.id)
    whole = "\n".join(filter(None, (composer.text.rstrip("\n"), text)))
    composer.caret = -1
    composer.put(whole)
    desk.send(SetDraft(opened.id, whole))
    desk.view.page, desk.view.focus, desk.view.focus_not = "chat", "composer", ""


def template_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the choice of a template and the fields of its variables. Sends SetDraft."""
    ui, templates = desk.ui, desk.state.config.templates
    form = desk.view.of(DiscussionView).template
    with ui.dialog("template", tr("Insert template"), width=WIDTH_PX) as closed:
        if not templates:
            ui.text("none", NONE, tone="muted", wraps=True)
        else:
            _choice(desk, dialog, form)
        template = templates.get(dialog.text)
        if template is not None:
            _fields(desk, template, form)
        is_done, is_left = _buttons(desk, template, form)
    if is_done or is_left or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None
    if is_done and template is not None:
        names = variables_of(template.text)
        insert(desk, filled(template, {name: form.values.get(name, "") for name in names}))


def _choice(desk: Desk, dialog: Dialog, form: TemplateForm) -> None:
    options = (
        Option(value="", label=tr("Choose a template")),
        *(Option(value=name, label=name) for name in desk.state.config.templates),
    )
    chosen = desk.ui.combo("which", options, dialog.text, width=0, tip=tr("Template"))
    if chosen is not None and chosen != dialog.text:
        dialog.text = form.name = chosen
        form.values.clear()


def _fields(desk: Desk, template: PromptTemplate, form: TemplateForm) -> None:
    ui, names = desk.ui, variables_of(template.text)
    if unnamed := unnamed_of(template.text):
        words = tr("{unnamed!r} is no variable. The program inserts the text unchanged.", unnamed=unnamed)
        ui.text("unnamed", words, tone="warn", style="small", wraps=True)
    height = FIELDS_PX if len(names) > FIELDS_SHOWN else 0
    if height:
        with ui.surface("fields", "clear", height=height, padding=(0, 0), scrolls=True):
            _inputs(desk, template, names, form)
    else:
        _inputs(desk, template, names, form)


def _inputs(desk: Desk, template: PromptTemplate, names: tuple[str, ...], form: TemplateForm) -> None:
    ui = desk.ui
    for index, name in enumerate(names):
        ui.text(("name", template.name, index), name, style="small_strong")
        hint = tr("Text in place of {variable}", variable=f"{{{{{name}}}}}")
        typed = ui.text_input(
            ("value", template.name, index), form.values.get(name, ""), hint=hint, is_focused=index == 0
        )
        if typed is not None:
            form.values[name] = typed
    ui.text("source", template.source, tone="faint", style="small", wraps=True)


def _buttons(desk: Desk, template: PromptTemplate | None, form: TemplateForm) -> tuple[bool, bool]:
    ui = desk.ui
    missing = (
        () if template is None else tuple(n for n in variables_of(template.text) if not form.values.get(n))
    )
    with ui.row("buttons"):
        ui.text(
            "missing",
            tr("{missing!r} is empty.", missing=missing[0]) if missing else "",
            tone="muted",
            style="small",
            width=0,
        )
        is_left = ui.button("cancel", tr("Cancel"))
        can = template is not None and not missing
        is_done = ui.button("do", tr("Insert"), kind="primary", is_enabled=can)
        is_done = is_done or (can and ui.shortcut("Enter", while_typing=True))
    return is_done, is_left


# Slash commands of the composer: what completes one, what it does.

SHOWN = 6
NOTHING_FAILED = tr("There is no failed message to send again.")


class SlashCommand(msgspec.Struct, frozen=True):
    """A slash command. `takes`: its argument in a word, empty for none."""

    name: str
    what: str
    takes: str = ""


COMMANDS = (
    SlashCommand(name="new", what=tr("Start a discussion")),
    SlashCommand(name="compact", what=tr("Stop sending old messages to the model; the log keeps them")),
    SlashCommand(name="retry", what=tr("Send the failed message again")),
    SlashCommand(name="model", what=tr("Choose the model"), takes="model"),
    SlashCommand(name="effort", what=tr("Choose how much the model thinks"), takes="level"),
    SlashCommand(name="template", what=tr("Insert a prompt template"), takes="template"),
    SlashCommand(name="quit", what=tr("Quit the program")),
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
    if typed.name == "template":
        templates = (name for name in desk.state.config.templates if wanted in name.casefold())
        return tuple(Completion(f"/template {name}", "") for name in templates)[:SHOWN]
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
            tr("There is no command /{name}. To send a slash, type two.", name=typed.name)
            if typed.name
            else tr("Which command?")
        )
    if argument and not command.takes:
        return tr("/{name} takes no words. To send a slash, type two.", name=command.name)
    match command.name:
        case "compact":
            compact(desk)
            return ""
        case "model" if argument:
            return _choose_model(desk, argument)
        case "template" if argument:
            return _choose_template(desk, argument)
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
        return NOTHING_FAILED if action_id == "retry" else tr("This command is not available now.")
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
            tr("There is no model named {argument!r}.", argument=argument)
            if not found
            else tr("{found} models match {argument!r}.", found=len(found), argument=argument)
        )
    if summary is not None and found[0] != model_value(summary.meta.provider, summary.meta.model):
        provider, _, model = found[0].partition("\n")
        desk.send(
            ChangeDiscussion(discussion_id=summary.meta.id, changes={"provider": provider, "model": model})
        )
    return ""


def _choose_template(desk: Desk, argument: str) -> str:
    """Insert the template in place of the command that names it."""
    opened, names = desk.opened, desk.state.config.templates
    if opened is None or argument not in names:
        return tr("No template is called {argument!r}.", argument=argument) if names else NONE
    write(desk, opened, desk.view.of(DiscussionView).composer(opened.id), "")
    return choose_template(desk, argument)


def _choose_effort(desk: Desk, argument: str) -> str:
    efforts = efforts_of(desk)
    if not efforts:
        return NO_LEVELS
    if argument.lower() not in efforts:
        return tr(
            "{argument!r} is not an effort level of this model: {efforts}.",
            argument=argument,
            efforts=", ".join(efforts),
        )
    if desk.summary is not None:
        desk.send(ChangeDiscussion(discussion_id=desk.summary.meta.id, changes={"effort": argument.lower()}))
    return ""


# The slash command that is being typed: what completes it, over the composer's editor, with its keys.

ROW_PX, LEAST_ROWS = 26.0, 2


def rows_in_view(total: int, at: int, most_px: float) -> range:
    """Rows of suggestions to draw in so much height, the marked one among them; all before the height is known.

    Args:
        at: the marked row; most_px: design pixels, 0 for unknown.
    """
    count = max(LEAST_ROWS, int(most_px / ROW_PX)) if most_px > 0 else total
    first = max(0, min(at, total - 1) - count + 1)
    return range(first, min(total, first + count))


def _rows_left(ui: Ui, shown: range, total: int) -> None:
    """Say that there are more rows than are in view, and how to reach them."""
    if len(shown) < total:
        text = tr("{shown} of {total} · Up and Down show the others", shown=len(shown), total=total)
        ui.text("left", text, tone="faint", style="small")


def _moved(ui: Ui, at: int, total: int) -> int:
    """Place of the marked row after Down and Up."""
    down, up = (ui.shortcut(key, while_typing=True) for key in ("Down", "Up"))
    return (at + int(down) - int(up)) % total


def slash_strip(desk: Desk, opened: OpenDiscussion, composer: ComposerView, most_px: float) -> None:
    """Draw the ways to go on in so much height, and take Tab, Up, Down and Enter while the editor has the keyboard."""
    typed = slash_input(composer.text)
    if typed is None:
        return
    ui = desk.ui
    ways = completions(desk, typed)
    at = min(composer.slash_at, max(0, len(ways) - 1))
    if ui.is_focused("editor"):
        if len(ways) > 1:
            composer.slash_at = at = _moved(ui, at, len(ways))
        if ways and ui.shortcut("Tab", while_typing=True):
            write(desk, opened, composer, ways[at].text)
            return
        if ui.shortcut("Enter", while_typing=True):
            enter_slash(desk, opened, composer)
            return
    chosen = -1
    if ways:
        with ui.surface("ways", "inset", padding=(4, 4)), ui.group("rows", gap=0):
            shown = rows_in_view(len(ways), at, most_px)
            for index in shown:
                if _row(desk, index, ways[index], is_marked=index == at):
                    chosen = index
            _rows_left(ui, shown, len(ways))
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
    elif slash_input(composer.text) is not None:
        write(desk, opened, composer, "")


def write(desk: Desk, opened: OpenDiscussion, composer: ComposerView, text: str) -> None:
    """Put a text into the composer in place of what is typed."""
    composer.slash_at, composer.slash_problem = 0, ""
    composer.put(text)
    desk.send(SetDraft(opened.id, text))


# Mentions of the composer: `@` completes files, folders, symbols and presets, and adds them to what the
# model sees.

PRESETS_SHOWN = 3
MOST_CHARS = 300
"""Characters of a mention, at most: what is longer is text."""
_MENTION = late(r"(?:^|(?<=[\s(\[{\"'“‘]))@([^\s@]*)\Z")

WayKind = Literal["file", "folder", "symbol", "preset"]
ICONS: dict[WayKind, str] = {
    "file": "file-lines",
    "folder": "folder-tree",
    "symbol": "code",
    "preset": "layer-group",
}


class Mention(msgspec.Struct, frozen=True):
    """A mention while it is typed: the place of its `@`, the text after it, and the end of that text."""

    start: int
    text: str
    end: int


class Way(msgspec.Struct, frozen=True):
    """One way to go on: what it is, its words in the message, what stands muted beside them, a symbol's name."""

    kind: WayKind
    words: str
    detail: str = ""
    symbol: str = ""


def mention_of(text: str, caret: int) -> Mention | None:
    """The mention that ends at the caret, None where none does; -1 is the text's end."""
    end = len(text) if caret < 0 else caret
    from_ = max(0, end - MOST_CHARS)
    found = _MENTION.search(text, from_, end) if end else None
    if found is None:
        return None
    return Mention(start=found.start(), text=found[1], end=end)


def ways(desk: Desk, mention: Mention) -> tuple[Way, ...]:
    """Ways to go on, best first: what of the project was found last, and presets by their name."""
    wanted = mention.text.casefold()
    presets = [name for name in desk.state.config.project.presets if wanted and wanted in name.casefold()]
    named = tuple(Way(kind="preset", words=name, detail="preset") for name in presets[:PRESETS_SHOWN])
    found = desk.state.context.mentioned
    hits = found.hits if found is not None and _is_of(found.text, mention.text) else ()
    files = tuple(
        Way(
            kind=hit.kind.value,
            words=f"{hit.path}#{hit.symbol}" if hit.kind is HitKind.SYMBOL else hit.path,
            detail=hit.detail or (tr("all its files") if hit.kind is HitKind.FOLDER else ""),
            symbol=hit.symbol,
        )
        for hit in hits
    )
    return (*files, *named)


def _is_of(answered: str, typed: str) -> bool:
    """True of an answer to what is typed, or to what was typed a letter before: the list does not blink."""
    return answered == typed or (typed.startswith(answered) and "#" not in typed[len(answered) :])


def is_completing(composer: ComposerView) -> bool:
    """True while a mention is being completed."""
    mention = mention_of(composer.text, composer.caret)
    return mention is not None and composer.mention_left != mention.start


def leave(composer: ComposerView) -> None:
    """Leave the mention as the text that it is."""
    mention = mention_of(composer.text, composer.caret)
    composer.mention_left = mention.start if mention is not None else -1


def mention_strip(desk: Desk, opened: OpenDiscussion, composer: ComposerView, most_px: float) -> None:
    """Draw the ways to go on in so much height, and take Tab, Up, Down and Enter while the editor has the keyboard."""
    mention = mention_of(composer.text, composer.caret)
    if mention is None or composer.mention_left == mention.start:
        if mention is None:
            composer.mention_left, composer.mention_asked = -1, None
        return
    if composer.mention_asked != mention.text:
        composer.mention_asked = mention.text
        desk.send(LookUpFiles(text=mention.text))
    ui, known = desk.ui, ways(desk, mention)
    at = min(composer.mention_at, max(0, len(known) - 1))
    if known and ui.is_focused("editor"):
        composer.mention_at = at = _moved(ui, at, len(known))
        if ui.shortcut("Tab", while_typing=True) or ui.shortcut("Enter", while_typing=True):
            take(desk, opened, composer, mention, known[at])
            return
    chosen = -1
    with ui.surface("mentions", "inset", padding=(4, 4)), ui.group("rows", gap=0):
        shown = rows_in_view(len(known), at, most_px)
        for index in shown:
            if _mentions_row(desk, index, known[index], is_marked=index == at):
                chosen = index
        _rows_left(ui, shown, len(known))
        if said := _said(desk, mention, known):
            ui.text("said", said, tone="muted", style="small", wraps=True)
    if chosen >= 0:
        take(desk, opened, composer, mention, known[chosen])
        desk.view.focus = "composer"


def _said(desk: Desk, mention: Mention, known: tuple[Way, ...]) -> str:
    """Line under the ways: why there are none, or how to go on."""
    found = desk.state.context.mentioned
    if not desk.state.config.project.root:
        return "" if known else tr("No project is open: you cannot name files.")
    if found is None or not _is_of(found.text, mention.text):
        return "" if known else tr("Searching the project…")
    if found.problem:
        return found.problem
    if not known:
        return tr(
            "Nothing in the project matches {text!r}. Press Escape to keep the text as typed.",
            text=mention.text,
        )
    if any(way.kind == "symbol" for way in known):
        return ""
    return tr(
        "Searched {total} · Tab adds the name to the context · # after a file lists symbols",
        total=fmt.count(found.total, tr("name"), tr("names")),
    )


def _mentions_row(desk: Desk, index: int, way: Way, *, is_marked: bool) -> bool:
    ui = desk.ui
    kind: Surface = "row_selected" if is_marked else "clear"
    with (
        ui.clickable(("way", index), kind, height=ROW_PX, padding=(8, 3)) as clicks,
        ui.row("line", height=ROW_PX - 6, gap=6),
    ):
        ui.icon("icon", ICONS[way.kind], tone="muted")
        folder, _, name = way.words.rstrip("/").rpartition("/")
        if way.kind == "symbol":
            folder, name = "", way.symbol
        ui.text("name", name + ("/" if way.kind == "folder" else ""), style="small_strong")
        ui.text(
            "detail", " · ".join(filter(None, (folder, way.detail))), tone="muted", style="small", width=0
        )
    return clicks.clicked


def take(desk: Desk, opened: OpenDiscussion, composer: ComposerView, mention: Mention, way: Way) -> None:
    """Name it in the message, and add it to what the model sees. Sends AddItems or ChangeDiscussion, SetDraft."""
    if way.kind == "preset":
        desk.send(ChangeDiscussion(discussion_id=opened.id, changes={"preset": way.words}))
    else:
        desk.send(AddItems(discussion_id=opened.id, items=(item_of(way),)))
    words = "" if way.kind == "preset" else f"@{way.words} "
    text = composer.text[: mention.start] + words + composer.text[mention.end :].lstrip(" ")
    composer.mention_at, composer.caret, composer.mention_asked = 0, -1, None
    composer.put(text)
    desk.send(SetDraft(opened.id, text))


def item_of(way: Way) -> FileItem:
    """Item of a preset that stands for it: the file, every file of the folder, or the lines of the symbol."""
    if way.kind == "folder":
        return FileItem(path=f"{way.words}**/*")
    if way.kind == "symbol":
        path = way.words.partition("#")[0]
        return FileItem(path=path, mode=FileMode.SLICES, symbols=(way.symbol,))
    return FileItem(path=way.words)
