"""The dialogs of a discussion: choosers of a file to attach and of a place to export to."""

from __future__ import annotations

from core.talk.discussion.discussion_export import ENDINGS, file_name
from core.talk.discussion.discussion_messages import AttachFile, ExportDiscussion
from panels.base.desk import Desk
from panels.base.view import Dialog
from panels.discussion.model_picker import model_dialog
from panels.discussion.other_models import regenerate_dialog


def discussion_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the dialog that is open, one of a discussion's."""
    match dialog.kind:
        case "export_markdown":
            _export(desk, dialog, "markdown")
        case "export_page":
            _export(desk, dialog, "page")
        case "model":
            model_dialog(desk, dialog)
        case "regenerate_with":
            regenerate_dialog(desk, dialog)
        case "export_json":
            _export(desk, dialog, "json")
        case _:
            _attach(desk, dialog)


def _attach(desk: Desk, dialog: Dialog) -> None:
    picked = desk.ui.file_dialog("attach", "Attach file", start=desk.state.config.project.root)
    if picked is not None:
        desk.view.dialog = None
        for path in picked:
            desk.send(AttachFile(discussion_id=dialog.subject, path=path))


def _export(desk: Desk, dialog: Dialog, form: str) -> None:
    summary = desk.state.discussions.summaries.get(dialog.subject)
    if summary is None:
        desk.view.dialog = None
        return
    name = file_name(summary.meta.name) + ENDINGS[form]
    picked = desk.ui.file_dialog(f"export {form}", f"Export {summary.meta.name}", picks="save",
                                 start=desk.state.config.project.root, name=name)  # fmt: skip
    if picked is not None:
        desk.view.dialog = None
        if picked:
            # The chooser has asked before it picked a file that is there.
            desk.send(
                ExportDiscussion(discussion_id=dialog.subject, form=form, path=picked[0], replaces=True)
            )
