"""Sections of the settings page: notices and channels, and personas, system prompts and the program's prompts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from core.kernel import figures as fmt
from core.kernel.frame import one_line
from core.kernel.language import capital, tr
from core.kernel.values.curation import NamedText, TextTable
from core.kernel.values.settings import ChannelSettings, Policies, PolicyAnswer, ToolSettings
from core.kernel.values.updates import outcome_of
from core.services.settings.settings_messages import ChangeSetting, ResetPrompt, SavePrompt
from core.talk.context.context_messages import DeleteNamedText, SaveNamedText
from core.talk.context.file_layers import texts_of, users_of
from panels.base.desk import Desk, ask_removal
from panels.base.gauge import file_button
from panels.base.ui import Option, Ui
from panels.base.view import Dialog
from panels.settings.settings_room import SettingsView, TextForm

EXAMPLE = """\
[channels.builds]
host = "irc.example.org"
room = "#builds"
senders = ["ci-bot"]"""
SAYS = tr(
    "Lines of an IRC channel become signals for an autonomous discussion: data, never orders. The program connects over TLS only, and accepts only lines of listed senders. Add a channel in config.toml:"
)


def notifications_section(desk: Desk) -> None:
    """Draw the section. Sends ChangeSetting."""
    ui, settings, signals = desk.ui, desk.state.config.settings, desk.state.signals
    ui.text("title", tr("Notifications and channels"), style="h2")
    label = tr("Desktop notices while you are away")
    ticked = ui.checkbox("desktop", label, settings.notifications.desktop)
    if ticked is not None:
        desk.send(ChangeSetting("notifications.desktop", ticked))
    what = tr("The notices tell of finished replies, questions, approvals and the end of autonomy.")
    ui.text("what", what, tone="muted", style="small", wraps=True)
    if signals.desktop_problem:
        ui.text(
            "problem",
            tr("The last notice was not shown. {desktop_problem}.", desktop_problem=signals.desktop_problem),
            tone="warn",
            style="small",
            wraps=True,
        )
    ui.text("channels title", tr("Channels"), style="strong")
    for channel in settings.channels.values():
        _channel(desk, channel)
    ui.text("says", SAYS, tone="muted", style="small", wraps=True)
    ui.code("example", EXAMPLE, language="toml")
    ui.text(
        "not",
        tr("The program supports only these kinds of channels: Telegram, for example, is not among them."),
        tone="muted",
        style="small",
        wraps=True,
    )


def _channel(desk: Desk, channel: ChannelSettings) -> None:
    ui, key = desk.ui, f"channels.{channel.name}"
    status = desk.state.signals.channels.get(channel.name)
    with ui.surface(("channel", channel.name), "card", padding=(16, 12)), ui.group("lines", gap=6):
        with ui.row("head"):
            is_connected = status is not None and status.is_connected
            ui.icon("icon", "hashtag", tone="ok" if is_connected else "muted")
            ui.text("name", channel.name, style="strong")
            where = tr("{room} at {host}:{port}", room=channel.room, host=channel.host, port=channel.port)
            ui.text("where", where, tone="muted", style="small", width=0, tip=where)
        if status is not None and status.problem:
            ui.text("problem", status.problem, tone="warn", style="small", wraps=True)
        said = ", ".join(channel.senders) or tr("nobody: the program reads no line until you name senders")
        ui.text("senders", tr("Accepted senders: {senders}", senders=said), style="small", wraps=True)
        is_on = ui.checkbox(
            "enabled", tr("Connect to this channel while the program runs"), channel.is_enabled
        )
        if is_on is not None:
            desk.send(ChangeSetting(f"{key}.enabled", is_on))
        announces = ui.checkbox(
            "announces",
            tr("Write all notifications to the channel, not only those about its own signals"),
            channel.announces,
        )
        if announces is not None:
            desk.send(ChangeSetting(f"{key}.announces", announces))
        answers = ui.checkbox(
            "answers",
            tr("Answer signals from the channel with the beginning of the model's reply"),
            channel.answers,
        )
        if answers is not None:
            desk.send(ChangeSetting(f"{key}.answers", answers))


# Labels of the settings page: beside what they name, or above it where the page is narrow.

ABOVE_TO_PX = 420.0
"""Width of the column up to which labels stand above what they name."""


@contextmanager
def labelled(ui: Ui, key: str, label: str, width: float = 140) -> Iterator[None]:
    """A row that begins with a label; in a narrow page the label stands above, so that the value is seen."""
    is_wide = not 0 < ui.width() < ABOVE_TO_PX
    with ui.row(key) if is_wide else ui.group(key, gap=4):
        ui.text("label", label, width=width if is_wide else 0)
        yield


# The section of the tools: what goes without a question, in every folder or in one, what is asked and what
# is refused.

EVERYWHERE = tr("Every folder")
ANSWERS = {
    PolicyAnswer.ALLOW: (tr("Allow"), tr("without asking you")),
    PolicyAnswer.ASK: (tr("Ask"), tr("the program asks each time, unless a rule covers the call")),
    PolicyAnswer.REFUSE: (tr("Refuse"), tr("without asking you")),
}
KINDS = (
    ("reads", tr("File reads")),
    ("edits", tr("Writes and edits")),
    ("commands", tr("Commands")),
    ("network", tr("Web pages")),
)
RULES = (
    ("prefixes", tr("Commands allowed without asking"), tr("First words of a command, for example git log")),
    (
        "hosts",
        tr("Hosts whose pages the program fetches without a question"),
        tr("A host, for example docs.python.org"),
    ),
    (
        "shown",
        tr("Readable places"),
        tr("A folder or file, for example ~/data"),
    ),
)
ALWAYS = tr(
    "The program always asks about some calls. Commands: without a sandbox, with network access, or naming a place outside the project. Writes: to files that other programs obey (.git/hooks, .envrc, CLAUDE.md and the like). Also: calls that a model wrote as text. A project's own file can only make the rules stricter."
)
Rows = dict[str, str | tuple[str, ...]]


def policies_section(desk: Desk) -> None:
    """Draw the section. Sends ChangeSetting."""
    ui, own, tools = desk.ui, desk.view.of(SettingsView), desk.state.config.settings.tools
    ui.text("title", tr("Permissions"), style="h2")
    ui.text("what", tr("Choose what tools may do without asking you."), tone="muted", wraps=True)
    folder = _folder(desk, own, tools)
    said: Rows = dict(tools.folders.get(folder, {})) if folder else _general(tools)
    table = f"tools.folders.{folder}" if folder else "tools"
    for name, label in KINDS:
        _answer(desk, table, name, label, str(said.get(name, "")), is_general=not folder)
    for name, label, hint in RULES:
        _rules(desk, own, f"{table}.{name}", label, hint, said.get(name))
    if (
        folder
        and said
        and ui.button("as everywhere", tr("Use the rules for all folders"), icon="rotate-left")
    ):
        for name in said:
            desk.send(ChangeSetting(f"{table}.{name}", None))
        own.policy_folder = ""
    ui.text("always", ALWAYS, tone="muted", style="small", wraps=True)
    _here(desk)


def _general(tools: ToolSettings) -> Rows:
    return {name: getattr(tools, name) for name in Policies.__struct_fields__}


def _folder(desk: Desk, own: SettingsView, tools: ToolSettings) -> str:
    """Choose the folder whose policies are shown; empty for every one."""
    ui, root = desk.ui, desk.state.config.project.root
    folders = dict.fromkeys((*tools.folders, *([root] if root else [])))
    if own.policy_folder not in folders:
        own.policy_folder = ""
    options = [Option(value="", label=EVERYWHERE)]
    options += [
        Option(
            value=one,
            label=one,
            detail="" if one in tools.folders else tr("this folder has no rules of its own"),
        )
        for one in folders
    ]
    with labelled(ui, "folder row", "In"):
        chosen = ui.combo(
            "folder", options, own.policy_folder, width=0, tip=tr("Folder with everything below it")
        )
    if chosen is not None:
        own.policy_folder = chosen
    return own.policy_folder


def _answer(desk: Desk, table: str, name: str, label: str, now: str, *, is_general: bool) -> None:
    ui = desk.ui
    options = [
        Option(value=answer.value, label=label, detail=detail) for answer, (label, detail) in ANSWERS.items()
    ]
    if not is_general:
        options.insert(0, Option(value="", label=tr("Use the rule for all folders")))
    with labelled(ui, name, label):
        chosen = ui.combo("answer", options, now, width=0, tip=label)
    if chosen is not None and chosen != now:
        desk.send(ChangeSetting(f"{table}.{name}", chosen or None))


def _rules(
    desk: Desk, own: SettingsView, key: str, label: str, hint: str, said: str | tuple[str, ...] | None
) -> None:
    """A list of rules, each with a way to take it out, and a field for one more."""
    ui = desk.ui
    rules = said if isinstance(said, tuple) else ()
    ui.text((key, "label"), label, style="small_strong")
    for rule in rules:
        with ui.row((key, "rule", rule), gap=6):
            ui.text("text", rule, style="mono_small", width=0, tip=rule)
            if ui.button(
                "remove", "", icon="xmark", kind="ghost", is_small=True, tip=tr("Remove: {rule}", rule=rule)
            ):
                desk.send(ChangeSetting(key, tuple(one for one in rules if one != rule)))
    with ui.row((key, "new"), gap=6):
        typed = ui.text_input("new", own.rules.get(key, ""), hint=hint, width=0, tip=label)
        if typed is not None:
            own.rules[key] = typed
        rule = " ".join(own.rules.get(key, "").split())
        if ui.button(
            "add",
            tr("Add"),
            icon="plus",
            is_small=True,
            is_enabled=bool(rule),
            tip=tr("Add: {rule}", rule=rule),
        ):
            del own.rules[key]
            desk.send(ChangeSetting(key, tuple(dict.fromkeys((*rules, rule)))))


def _here(desk: Desk) -> None:
    """Say what counts in the project that is open, all of it together."""
    ui, project = desk.ui, desk.state.config.project
    if not project.root:
        return
    ui.text("here", tr("Rules that apply in {value}", value=project.name or project.root), style="strong")
    for name, label in KINDS:
        words, detail = ANSWERS[getattr(project.policies, name)]
        ui.text(
            ("here", name), f"{label}: {words.lower()}, {detail}", tone="muted", style="small", wraps=True
        )
    counted = [
        fmt.count(len(project.policies.prefixes), tr("command rule"), tr("command rules")),
        fmt.count(len(project.policies.hosts), tr("host"), tr("hosts")),
        fmt.count(len(project.policies.shown), tr("visible place"), tr("visible places")),
    ]
    ui.text(("here", "rules"), " · ".join(counted), tone="muted", style="small")


# The settings of personas, system prompts and the program's prompts: a list, and a form for one of them.

EDITOR_PX = 230.0
PREVIEW_CHARS, REMOVED_CHARS = 160, 400
ABOUT_PROMPTS = {
    "role.md": tr("The first instructions that a model gets"),
    "role-open.md": tr("The first instructions that small and open models get"),
    "harvest-conversation.md": tr("Instructions for the model that harvests a conversation"),
    "compress-discussion.md": tr("Request to summarize messages that the model will no longer read"),
    "continue.md": tr("Request to continue a reply that broke off"),
    "delegate.md": tr("Introduction to a task that a model delegates"),
}
GROUPS = (
    (TextTable.PERSONAS, tr("Personas"), "persona", tr("Who the model is, chosen per discussion.")),
    (TextTable.SYSTEM_PROMPTS, tr("System prompts"), "system_prompt_preset", tr("Rules for the work, chosen per discussion.")),
)  # fmt: skip


def texts_section(desk: Desk) -> None:
    """Draw the list, or the form of the one that is being written. Sends SaveNamedText, SavePrompt and their kin."""
    form = desk.view.of(SettingsView).text_form
    if form is not None:
        _form(desk, form)
        return
    desk.ui.text("title", tr("Personas and prompts"), style="h2")
    project = desk.state.config.project
    if any(one.place[0] in {"personas", "system_prompts", "prompts"} for one in project.asked):
        with desk.ui.row("trust"):
            words = tr("Personas and prompts of this folder do not apply until you review its requests.")
            desk.ui.text("words", words, tone="warn", width=0, wraps=True)
            if desk.ui.button("trust", tr("Review requests"), is_small=True):
                desk.view.dialog = Dialog(kind="trust")
    for table, title, setting, what in GROUPS:
        with desk.ui.group(table.value, gap=8):
            _group(desk, table, title, setting, what)
        desk.ui.gap(8)
    _prompts(desk)


def _group(desk: Desk, table: TextTable, title: str, setting: str, what: str) -> None:
    ui, known = desk.ui, texts_of(desk.state.config.project, table)
    with ui.row("head"):
        ui.text("title", title, style="h3")
        ui.push()
        if ui.button("new", tr("New {kind}", kind=table.word), icon="plus", is_small=True):
            desk.view.of(SettingsView).text_form = TextForm(table=table.value)
    ui.text("what", what, tone="muted", style="small", wraps=True)
    if known:
        _default(desk, table, setting, known)
    else:
        ui.text("none", tr("None yet."), tone="faint", style="small")
    for text in known.values():
        with ui.surface(("text", text.name), "card", padding=(16, 8)), ui.row("line"):
            ui.text("name", text.name, style="strong", tip=text.name)
            shown = one_line(text.text, PREVIEW_CHARS)
            ui.text("preview", shown, tone="muted", style="small", width=0, tip=text.source or shown)
            if users := _users(desk, table, text.name):
                said = fmt.count(users, tr("discussion"), tr("discussions"))
                ui.text(
                    "users",
                    said,
                    tone="faint",
                    style="small",
                    tip=tr("Used by {discussions}", discussions=said),
                )
            if ui.button(
                "edit", "", icon="pen", kind="ghost", tip=tr("Change {name}", name=text.name), is_small=True
            ):
                desk.view.of(SettingsView).text_form = TextForm(
                    table=table.value, old_name=text.name, name=text.name, text=text.text, base=text.text
                )
            if ui.button(
                "delete",
                "",
                icon="trash-can",
                kind="ghost",
                tip=tr("Delete {name}", name=text.name),
                is_small=True,
            ):
                shown = one_line(text.text, REMOVED_CHARS)
                ask_removal(
                    desk,
                    text.name,
                    f"“{shown}”",
                    DeleteNamedText(table=table, name=text.name, base=text.text),
                )


def _default(desk: Desk, table: TextTable, setting: str, known: dict[str, NamedText]) -> None:
    ai = desk.state.config.settings.ai
    now = ai.persona if table is TextTable.PERSONAS else ai.system_prompt_preset
    names = dict.fromkeys([*known, now])
    options = [
        Option(value="", label=tr("None")),
        *(
            Option(value=name, label=name if name in known else tr("{name} (missing)", name=name))
            for name in names
            if name
        ),
    ]
    with desk.ui.row("default"):
        tip = tr("{kind} of new discussions", kind=capital(table.word))
        desk.ui.text("label", tip, style="small", tone="muted")
        chosen = desk.ui.combo("choice", options, now, tip=tip, width=240)
    if chosen is not None:
        desk.send(ChangeSetting(f"ai_settings.{setting}", chosen or None))


def _users(desk: Desk, table: TextTable, name: str) -> int:
    rows = desk.state.discussions.summaries
    users: int = desk.view.memo.get(
        ("users", table.value, name), (rows,), lambda: len(users_of(desk.state, table, name))
    )
    return users


def _prompts(desk: Desk) -> None:
    ui, config = desk.ui, desk.state.config
    ui.text("prompts", tr("Prompts of the program"), style="h3")
    what = tr(
        "Texts that the program itself sends to models. Your text wins over the project's text and the shipped text."
    )
    ui.text("prompts what", what, tone="muted", style="small", wraps=True)
    for name, text in config.prompts.items():
        source = config.prompt_sources.get(name, "")
        with ui.surface(("prompt", name), "card", padding=(16, 8)), ui.row("line"):
            ui.text("name", name, style="strong", tip=name)
            about = ABOUT_PROMPTS.get(name) or one_line(text, PREVIEW_CHARS)
            ui.text("preview", about, tone="muted", style="small", width=0, tip=source or about)
            is_own = _is_own(desk, source)
            ui.badge("whose", tr("yours") if is_own else tr("project's") if source else tr("shipped"),
                     tone="accent" if is_own else "muted", tip=source)  # fmt: skip
            if ui.button(
                "edit", "", icon="pen", kind="ghost", tip=tr("Change {name}", name=name), is_small=True
            ):
                desk.view.of(SettingsView).text_form = TextForm(
                    table="prompts", old_name=name, name=name, text=text, base=text
                )
            if is_own and ui.button("reset", "", icon="rotate-left", kind="ghost", is_small=True,
                                    tip=tr("Restore the shipped text of {name}", name=name)):  # fmt: skip
                desk.send(ResetPrompt(name=name, base=text))


def _is_own(desk: Desk, source: str) -> bool:
    home = desk.state.program.home
    return bool(source and home) and source.startswith(home)


def _form(desk: Desk, form: TextForm) -> None:
    ui = desk.ui
    _follow(desk, form)
    word = tr("prompt") if form.table == "prompts" else TextTable(form.table).word
    ui.text(
        "title",
        tr("Change {old_name}", old_name=form.old_name) if form.old_name else tr("New {kind}", kind=word),
        style="h2",
        tip=form.old_name,
    )
    if form.table != "prompts":
        is_first = not form.name and not form.text
        name = ui.text_input(
            "name", form.name, hint=tr("Name of the {kind}", kind=word), is_focused=is_first, width=360
        )
        form.name = form.name if name is None else name
    edited = ui.editor(("text", id(form)), form.text, hint=tr("Text for the model"), height=EDITOR_PX, revision=form.revision,
                       is_focused=bool(form.old_name) and not form.had_focus)  # fmt: skip
    form.had_focus = True
    if edited is not None:
        form.text = edited.text
    _notes(desk, form)
    if form.error:
        ui.text("error", form.error, tone="error", style="small", wraps=True)
    is_busy = bool(form.command_id)
    with ui.row("buttons"):
        can_save = bool(form.text.strip() and (form.name.strip() or form.table == "prompts")) and not is_busy
        is_asked = ui.button("save", tr("Save {kind}", kind=word), kind="primary", is_enabled=can_save, shortcut="Ctrl+Enter",
                             tip=tr("Save the {kind} (Ctrl+Enter)", kind=word))  # fmt: skip
        if is_asked and can_save:
            _save(desk, form)
        if ui.button("cancel", tr("Cancel"), tip=tr("Discard your changes")):
            desk.view.of(SettingsView).text_form = None
        if path := _path(desk, form):
            ui.push()
            file_button(ui, path, label=tr("Open in editor"))


def _notes(desk: Desk, form: TextForm) -> None:
    ui = desk.ui
    now = _text_now(desk, form)
    if (
        form.table != "prompts"
        and form.old_name
        and (users := _users(desk, TextTable(form.table), form.old_name))
    ):
        words = tr(
            "Used by {users}: a change rewrites their cache.",
            users=fmt.count(users, tr("discussion"), tr("discussions")),
        )
        ui.text("users", words, tone="muted", style="small", wraps=True)
    if form.command_id or not form.old_name or now == form.base:
        return
    with ui.surface("conflict", "inset", padding=(12, 8)), ui.row("line"):
        ui.icon("icon", "triangle-exclamation", tone="warn")
        words = (
            tr("This text is gone from its file.")
            if now is None
            else tr("The text in the file has changed meanwhile.")
        )
        ui.text("words", words, tone="warn", width=-260, wraps=True)
        ui.push()
        if now is None:
            if ui.button("new", tr("Save as new"), is_small=True):
                form.old_name = ""
            return
        if ui.button(
            "take",
            tr("Use file version"),
            is_small=True,
            tip=tr("Discard your changes, and take the text of the file"),
        ):
            form.take(now)
        if ui.button(
            "keep", tr("Keep my version"), is_small=True, tip=tr("Saving overwrites the text in the file")
        ):
            form.base, form.error = now, ""


def _text_now(desk: Desk, form: TextForm) -> str | None:
    """The text as the file has it now, None where it is gone."""
    if form.table == "prompts":
        return desk.state.config.prompts.get(form.old_name)
    text = texts_of(desk.state.config.project, TextTable(form.table)).get(form.old_name)
    return None if text is None else text.text


def _path(desk: Desk, form: TextForm) -> str:
    """The file that an editor would open."""
    if form.table == "prompts":
        return desk.state.config.prompt_sources.get(form.old_name, "")
    project = desk.state.config.project
    text = texts_of(project, TextTable(form.table)).get(form.old_name)
    return "" if text is None else text.source or f"{project.root}/manual_slop.toml"


def _save(desk: Desk, form: TextForm) -> None:
    form.error = ""
    if form.table == "prompts":
        form.command_id = desk.ask(SavePrompt(name=form.old_name, text=form.text, base=form.base))
        return
    base = form.base if form.old_name else None
    command = SaveNamedText(
        table=TextTable(form.table), name=form.name, text=form.text, old_name=form.old_name, base=base
    )
    form.command_id = desk.ask(command)


def _follow(desk: Desk, form: TextForm) -> None:
    """Close the form once its text is on disk; say in it why it is not."""
    outcome = outcome_of(desk.state, form.command_id) if form.command_id else None
    if outcome is None:
        return
    form.command_id = ""
    if outcome.is_done:
        desk.view.of(SettingsView).text_form = None
        return
    form.error = outcome.said
