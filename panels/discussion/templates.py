"""Prompt templates in the composer: one is chosen, its variables are asked for, the text joins what is typed."""

from __future__ import annotations

from core.kernel.language import tr
from core.kernel.values.settings import PromptTemplate
from core.services.settings.templates import filled, unnamed_of, variables_of
from core.talk.discussion.discussion_messages import SetDraft
from panels.base.desk import Desk
from panels.base.ui import Option
from panels.base.view import Dialog
from panels.discussion.view import DiscussionView, TemplateForm

WIDTH_PX, FIELDS_PX = 520, 300
NONE = tr(
    "There are no templates. Save a text as prompts/templates/NAME.md in the project, or in knowledge/prompts/templates of the home."
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
        typed = ui.text_input(
            ("value", template.name, index), form.values.get(name, ""), hint=tr("Text"), is_focused=index == 0
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
