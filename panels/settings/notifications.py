"""The settings page: notices of the desktop, and channels of messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.settings import ChannelSettings, Policies, PolicyAnswer, ToolSettings
from core.services.settings.settings_messages import ChangeSetting
from panels.base.desk import Desk
from panels.base.ui import Option, Ui
from panels.settings.settings_room import SettingsView

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
    what = tr("For finished replies, questions, approvals and the end of autonomy, in fixed words.")
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
        tr("The program supports no other messengers, such as Telegram."),
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
        said = ", ".join(channel.senders) or tr("nobody: no line counts until you name senders")
        ui.text("senders", tr("Accepted senders: {said}", said=said), style="small", wraps=True)
        is_on = ui.checkbox("enabled", tr("Connect while the program runs"), channel.is_enabled)
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
    PolicyAnswer.ASK: (tr("Ask"), tr("each time, unless a rule covers the call")),
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
        and ui.button("as everywhere", tr("Use the rules of every folder"), icon="rotate-left")
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
        Option(value=one, label=one, detail="" if one in tools.folders else tr("same as every folder"))
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
        options.insert(0, Option(value="", label=tr("Same as every folder")))
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
        ui.text(("here", name), f"{label}: {words.lower()}, {detail}", tone="muted", style="small")
    counted = [
        fmt.count(len(project.policies.prefixes), tr("command rule"), tr("command rules")),
        fmt.count(len(project.policies.hosts), tr("host"), tr("hosts")),
        fmt.count(len(project.policies.shown), tr("visible place"), tr("visible places")),
    ]
    ui.text(("here", "rules"), " · ".join(counted), tone="muted", style="small")
