"""The settings page: providers and keys, servers, models, appearance, files, project, prompts, about."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.kernel import figures as fmt
from core.kernel.frame import one_line
from core.kernel.language import LANGUAGES, language, tr
from core.kernel.values.settings import FileLimits, Project
from core.services.settings.asked_values import AskedLine, asked_lines, question_id, trust_reason, trust_title
from core.services.settings.settings_messages import ChangeSetting, OpenProject, TrustProject
from panels.base.desk import READ_ONLY, Desk, answers, send_chord
from panels.base.gauge import file_button
from panels.base.ui import Option, Surface, Tone, Ui
from panels.base.view import Dialog, WindowView
from panels.settings.all_settings import all_section, parse_size, search_field
from panels.settings.providers import models_section, providers_section, servers_section
from panels.settings.settings_room import PAGES, SCALES
from panels.settings.texts import labelled, notifications_section, policies_section, texts_section

NAV_PX = 232.0
PAGE_PX, PAGE_LEAST_PX = 720.0, 240.0
NAV_NARROW_PX, NARROW_PX = 64.0, 600.0
"""Width of the sections while the page is narrow (their icons alone), and the width below which it is."""
LICENCES = (
    ("Manual Slop", "MIT"),
    ("Inter, JetBrains Mono, Noto Sans CJK, Noto Emoji (merged as Slop Sans and Slop Mono)", "OFL 1.1"),
    ("Font Awesome Free icons", "OFL 1.1"),
    ("Dear PyGui, Dear ImGui", "MIT"),
    ("SmolLM2-135M-Instruct weights", "Apache-2.0"),
    ("all-MiniLM-L6-v2 weights", "Apache-2.0"),
    ("multilingual-e5-small weights", "MIT"),
    ("o200k vocabulary (OpenAI)", "MIT"),
)


def settings_panel(desk: Desk) -> None:
    """Draw the page. Sends ChangeSetting, StoreKey, SaveServer, TrustProject and their kin."""
    ui, view = desk.ui, desk.view
    is_narrow = 0 < ui.width() < NARROW_PX
    with ui.row("page", gap=0, height=0):
        nav_px = NAV_NARROW_PX if is_narrow else NAV_PX
        with ui.surface("sections", "pane", width=nav_px, height=0, padding=(12, 16), scrolls=True):
            if not is_narrow:
                ui.text("title", tr("Settings"), style="h2")
                ui.gap(8)
                search_field(desk)
                ui.gap(4)
            with ui.group("list", gap=2):
                _navigation(view, ui, has_words=not is_narrow)
        with (
            ui.surface("content", "pane", height=0, padding=(12 if is_narrow else 24, 16), scrolls=True),
            ui.surface(
                "column", "clear", width=min(PAGE_PX, max(PAGE_LEAST_PX, ui.width() - 8)), padding=(0, 0)
            ),
        ):
            if is_narrow and view.settings_section == "all":
                search_field(desk)
            _DRAWN.get(view.settings_section, providers_section)(desk)


def _navigation(view: WindowView, ui: Ui, *, has_words: bool) -> None:
    ids = [page.id for page in PAGES]
    at = ids.index(view.settings_section) if view.settings_section in ids else 0
    step = ui.shortcut("Down") - ui.shortcut("Up")
    if step and 0 <= at + step < len(ids):
        had_keyboard = ui.is_focused(ids[at])
        view.settings_section = ids[at + step]
        if had_keyboard:
            ui.focus(view.settings_section)
    for page in PAGES:
        is_active = page.id == view.settings_section
        kind: Surface = "card_selected" if is_active else "clear"
        tip, side = ("", 10) if has_words else (page.label, 4)
        with (
            ui.clickable(page.id, kind, height=34, padding=(side, 5), tip=tip) as clicks,
            ui.row("line", height=24),
        ):
            ui.icon("icon", page.icon, tone="accent" if is_active else "muted")
            if has_words:
                ui.text("label", page.label, tone="text" if is_active else "muted")
        if clicks.clicked:
            view.settings_section = page.id


def _appearance(desk: Desk) -> None:
    ui, look = desk.ui, desk.state.config.settings.appearance
    ui.text("title", tr("Appearance"), style="h2")
    with labelled(ui, "theme row", tr("Theme")):
        theme = ui.combo(
            "theme",
            (Option(value="dark", label=tr("Dark")), Option(value="light", label=tr("Light"))),
            look.theme,
            tip=tr("Theme"),
        )
    if theme is not None:
        desk.send(ChangeSetting("appearance.theme", theme))
    with labelled(ui, "language row", tr("Language")):
        languages = [Option(value=tag, label=name) for tag, name in LANGUAGES.items()]
        tag = ui.combo("language", languages, look.language, tip=tr("Language"))
    if tag is not None:
        desk.send(ChangeSetting("appearance.language", tag))
    if look.language != language():
        ui.text(
            "language note", tr("Restart the program to change the language."), tone="muted", style="small"
        )
    with labelled(ui, "scale row", tr("Interface size")):
        scales = sorted({*SCALES, look.ui_scale})
        options = [Option(value=f"{scale:g}", label=f"{scale:.0%}") for scale in scales]
        scale = ui.combo("scale", options, f"{look.ui_scale:g}", tip=tr("Interface size (Ctrl+= and Ctrl+-)"))
    if scale is not None:
        desk.send(ChangeSetting("appearance.ui_scale", float(scale)))
    with labelled(ui, "send row", tr("Send with")):
        keys = (Option(value="ctrl+enter", label="Ctrl+Enter"), Option(value="enter", label="Enter"))
        key = ui.combo("send key", keys, look.send_key, tip=tr("Key that sends"))
    if key is not None:
        desk.send(ChangeSetting("appearance.send_key", key))
    other = "Ctrl+Enter" if send_chord(desk.state) == "Enter" else "Enter"
    ui.text("send note", tr("{other} starts a new line.", other=other), tone="muted", style="small")


LIMIT_FROM_PX = 600.0
"""Width from which a limit is said in words beside its field, else below it."""
LIMITS: tuple[tuple[str, str, Callable[[FileLimits], int], Callable[[int], str]], ...] = (
    ("max_file_bytes", tr("Largest file in a preset"), lambda f: f.max_file_bytes, fmt.size),
    (
        "max_glob_files",
        tr("Most files per glob"),
        lambda f: f.max_glob_files,
        lambda n: fmt.count(n, tr("file"), tr("files")),
    ),
    ("max_attachment_bytes", tr("Largest attachment"), lambda f: f.max_attachment_bytes, fmt.size),
    (
        "paste_as_attachment_chars",
        tr("Turn pastes into attachments from (characters)"),
        lambda f: f.paste_as_attachment_chars,
        lambda n: fmt.count(n, tr("character"), tr("characters")),
    ),
)


def _files(desk: Desk) -> None:
    ui = desk.ui
    is_beside = not 0 < ui.width() < LIMIT_FROM_PX
    ui.text("title", tr("Files"), style="h2")
    for key, label, read, say in LIMITS:
        value = read(desk.state.config.settings.files)
        with labelled(ui, key, label, 320):
            is_size = key.endswith("_bytes")
            shown = fmt.size(value) if is_size and parse_size(fmt.size(value)) == value else str(value)
            typed = ui.text_input("value", shown, width=140, submits=True, tip=label)
            if is_beside and not is_size:
                ui.text("said", say(value), tone="muted", style="small")
        if not is_beside and not is_size:
            ui.text((key, "said"), say(value), tone="muted", style="small")
        if typed is None or typed.strip() == shown:
            continue
        if is_size and (size := parse_size(typed)) and size != value:
            desk.send(ChangeSetting(f"files.{key}", size))
            continue
        if is_size:
            continue
        digits = typed.strip().replace("_", "").replace(",", "")
        if digits.isdecimal() and len(digits) < 16 and int(digits) > 0:
            desk.send(ChangeSetting(f"files.{key}", int(digits)))


def _project(desk: Desk) -> None:
    ui, project = desk.ui, desk.state.config.project
    ui.text("title", tr("Project"), style="h2")
    if not project.root:
        ui.text(
            "none", tr("No project folder is open. You can still add files by their full path."), wraps=True
        )
        return
    with ui.row("head"):
        ui.text("name", project.name or tr("Without a name"), style="strong")
        if project.has_file:
            ui.push()
            file_button(ui, f"{project.root}/manual_slop.toml", label=tr("Open in editor"))
    ui.selectable_text("root", project.root, mono=True, height=28)
    if not project.has_file:
        text = tr("This folder has no manual_slop.toml yet; saving a context preset writes one.")
        ui.text("no file", text, tone="muted", wraps=True)
    with ui.row("trust"):
        tone: Tone = "ok" if project.is_trusted and not project.asked else "warn"
        ui.icon("icon", "shield-halved", tone=tone)
        ui.text("state", _trust_state(project), wraps=True, width=0)
        if project.is_trusted and ui.button("stop", tr("Stop trusting")):
            desk.send(TrustProject(is_trusted=False))
        is_open = bool(project.asked) or not project.is_trusted
        label = tr("Review requests") if project.asked else tr("Trust folder…")
        if is_open and ui.button("look", label, kind="primary"):
            desk.view.dialog = Dialog(kind="trust")
    if project.asked:
        ui.text(
            "asked title",
            tr("These settings of the folder wait until you have reviewed them"),
            style="strong",
        )
        for index, line in enumerate(asked_lines(project.asked)):
            ui.text(("asked", index), f"•  {line.words}", wraps=True, style="small")
    if project.held_back:
        ui.text("held title", tr("Never applies"), style="strong")
        for index, sentence in enumerate(project.held_back):
            ui.text(("held", index), f"•  {sentence}", wraps=True, style="small")
    if project.allowed_roots:
        ui.text("roots title", tr("Outside folders that this project's presets may read"), style="strong")
        for root in project.allowed_roots:
            ui.text(("root", root), root, style="mono_small")


def _trust_state(project: Project) -> str:
    if not project.is_trusted:
        return tr("You do not trust this folder yet.")
    return (
        tr("This folder asks for settings that you have not seen.")
        if project.asked
        else tr("You trust this folder: its settings apply.")
    )


def _about(desk: Desk) -> None:
    ui, state = desk.ui, desk.state
    ui.text("title", tr("About Manual Slop"), style="h2")
    ui.text("what", tr("A workbench for curated sessions with language models."), tone="muted")
    ui.text("home label", tr("Folder with all your data"), style="strong")
    ui.selectable_text("home", state.program.home or tr("not open yet"), mono=True, height=28)
    if state.program.is_home_read_only:
        ui.text("read only", f"{READ_ONLY}.", tone="warn", wraps=True)
    if state.program.versions:
        ui.text("versions label", tr("Versions"), style="strong")
        for name, version in state.program.versions.items():
            _pair(ui, ("version", name), name, version)
    ui.text("licences label", tr("Licences"), style="strong")
    for name, licence in LICENCES:
        _pair(ui, ("licence", name), name, licence)


def _pair(ui: Ui, key: tuple[str, str], name: str, value: str) -> None:
    with ui.row(key):
        ui.text("name", name, width=0, tone="muted", tip=name)
        ui.text("value", value)


_DRAWN: dict[str, Callable[[Desk], None]] = {
    "providers": providers_section,
    "servers": servers_section,
    "models": models_section,
    "appearance": _appearance,
    "notifications": notifications_section,
    "files": _files,
    "tools": policies_section,
    "project": _project,
    "prompts": texts_section,
    "all": all_section,
    "about": _about,
}


# The dialogs of the project: the chooser of its folder, and the question whether what it asks for may
# count.

QUESTION_WIDTH_PX, QUESTION_HEIGHT_PX, BUTTONS_PX = 640, 560, 44
"""Size of the question; it is as high as its words where the folder asks for little."""
LITTLE_LINES, LITTLE_CHARS = 6, 600
"""The most requests, and the most characters of them, that need no list of their own to be scrolled."""
ASKS_NOTHING = tr(
    "The folder itself sets nothing. If its files ask for something later, the program shows you first."
)
TOOLS_THEN = tr(
    "A model that you give tools may then read this folder. It asks you before it changes a file or runs a command."
)


def open_project_dialog(desk: Desk) -> None:
    """Draw the chooser of a folder. Sends OpenProject."""
    picked = desk.ui.file_dialog(
        "open project", tr("Open project folder"), start=desk.state.config.project.root, picks="folder"
    )
    if picked is not None:
        desk.view.dialog = None
        if picked:
            desk.send(OpenProject(picked[0]))


def trust_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw all that the project asks for beside what was shown before. Sends TrustProject for what stood there.

    `dialog.subject` is the id of the question that was on the screen in the frame before: a press that meets a changed
    one is no yes to it.
    """
    ui, project = desk.ui, desk.state.config.project
    if project.is_trusted and not project.asked:
        desk.view.dialog = None
        return
    question = desk.view.memo.get("question of trust", (project.asked,), lambda: question_id(project.asked))
    is_same = dialog.text == project.root and dialog.subject == question
    if dialog.text == project.root and not is_same:
        dialog.at = 1
    title = trust_title(project) or tr("Do you trust the project “{name}”?", name=one_line(project.name, 80))
    has_list = bool(project.asked or project.held_back)
    is_long = has_list and not _asks_little(desk, project)
    height = QUESTION_HEIGHT_PX if is_long else None
    with ui.dialog("trust", title, width=QUESTION_WIDTH_PX, height=height) as closed:
        ui.text("root", project.root, style="mono_small", tone="muted", tip=project.root)
        ui.text("tools", TOOLS_THEN, tone="muted", wraps=True)
        ui.text("why", _reason(project), tone="muted", wraps=True)
        if dialog.at:
            changed = tr("The folder's requests have changed meanwhile: you now see the current ones.")
            ui.text("changed", changed, tone="warn", wraps=True)
        if has_list:
            with ui.surface(
                "asked", "inset", height=-BUTTONS_PX if is_long else None, padding=(12, 8), scrolls=is_long
            ):
                _asked(desk, project)
        answer = answers(
            ui, tr("Not now"), tr("Trust these requests") if project.asked else tr("Trust this folder")
        )
    dialog.subject, dialog.text = question, project.root
    if answer == "yes" and is_same:
        desk.send(TrustProject(is_trusted=True, shown=question))
    if (answer == "yes" and is_same) or answer == "no" or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None


def _reason(project: Project) -> str:
    return trust_reason(project) if project.asked else ASKS_NOTHING


def _asks_little(desk: Desk, project: Project) -> bool:
    lines = _lines_of_trust(desk, project)
    words = (*project.held_back, *(f"{line.words}{line.text}" for line in lines))
    breaks = sum(line.text.count("\n") for line in lines)
    return len(words) + breaks <= LITTLE_LINES and sum(map(len, words)) <= LITTLE_CHARS


def _lines_of_trust(desk: Desk, project: Project) -> Sequence[AskedLine]:
    return desk.view.memo.get("lines of trust", (project.asked,), lambda: asked_lines(project.asked))


def _asked(desk: Desk, project: Project) -> None:
    ui = desk.ui
    lines = _lines_of_trust(desk, project)
    for index, line in enumerate(lines):
        ui.text(("asked", index), f"•  {line.words}", wraps=True)
        if line.text:
            with ui.surface(("text", index), "card", padding=(12, 8)):
                ui.text("text", line.text, style="mono_small", wraps=True)
    if project.held_back:
        ui.text("held title", tr("The program ignores the following, even if you agree"), style="strong")
        for index, sentence in enumerate(project.held_back):
            ui.text(("held", index), f"•  {sentence}", style="small", wraps=True)
