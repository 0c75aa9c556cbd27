"""The picker of a discussion's model, other models for one reply, and the choosers of files to attach or export to."""

from __future__ import annotations

import msgspec

from core.kernel import figures as fmt
from core.kernel.language import capital, tr
from core.kernel.values.discussion import MAX_OUTPUT_TOKENS, DiscussionMeta, DiscussionSummary, OpenDiscussion
from core.kernel.values.messages import Message
from core.kernel.values.provider import Effort, ModelProfile, ProviderKind
from core.kernel.values.state import AppState
from core.services.settings.settings_rules import profile_of
from core.talk.discussion.discussion_messages import AttachFile, ChangeDiscussion, ExportDiscussion
from core.talk.turn.turn_messages import RegenerateReply
from panels.base import view as selection
from panels.base.desk import Desk
from panels.base.gauge import model_value, option_parts, price_text, remembered_options
from panels.base.ui import Option
from panels.base.view import Dialog
from panels.discussion.view import DiscussionView

# The picker of a discussion's model: what it costs, how hard it thinks, how it chooses words, how long it
# may be.

SLIDER_PX = 30.0
LABEL_PX = 120.0
STEP = 0.05
USUAL_TEMPERATURE = 1.0
USUAL_TOP_P = 0.9
NO_LEVELS = tr("This model has no effort levels.")
_EFFORT_LABELS = {
    Effort.AUTO: tr("Auto effort"),
    Effort.NONE: tr("No thinking"),
    Effort.MINIMAL: tr("Minimal effort"),
    Effort.LOW: tr("Low effort"),
    Effort.MEDIUM: tr("Medium effort"),
    Effort.HIGH: tr("High effort"),
    Effort.XHIGH: tr("Extra high effort"),
    Effort.MAX: tr("Maximum effort"),
}


def model_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the picker. Sends ChangeDiscussion."""
    ui, row = desk.ui, desk.state.discussions.summaries.get(dialog.subject)
    if row is None:
        desk.view.dialog = None
        return
    meta = row.meta
    profile = profile_of(desk.state, meta.provider, meta.model)
    with ui.dialog("model", tr("Model"), width=520) as closed:
        model_combo(desk, meta, 0)
        ui.text("facts", _facts(desk.state, meta, profile), tone="muted", style="small", wraps=True)
        ui.gap(8)
        if options := effort_options(profile):
            with ui.row("effort"):
                ui.text("label", tr("Effort"), width=LABEL_PX)
                effort = ui.combo(
                    "effort",
                    options,
                    meta.effort,
                    width=200,
                    tip=tr("How much the model thinks before it replies"),
                )
            if effort is not None:
                desk.send(ChangeDiscussion(discussion_id=meta.id, changes={"effort": effort}))
        if profile.max_temperature is not None:
            _temperature(desk, meta, profile.max_temperature)
            _top_p(desk, meta)
        elif profile.id:
            ui.text("fixed", tr("This model takes no temperature and no top-p."), tone="muted", style="small")
        _max_output(desk, dialog, meta, profile)
        with ui.row("buttons"):
            ui.push()
            is_done = ui.button("done", tr("Done"), kind="primary")
    if is_done or closed.clicked:
        desk.view.dialog = None


def model_combo(desk: Desk, meta: DiscussionMeta, width: float) -> None:
    """Draw the choice of every model, by provider. Sends ChangeDiscussion."""
    options = remembered_options(desk.state, desk.view.memo)
    value = model_value(meta.provider, meta.model)
    if all(option.value != value for option in options):
        label = selection.model_label(desk.state, meta.provider, meta.model)
        options = (
            Option(value=value, label=label, group=selection.provider_label(desk.state, meta.provider)),
            *options,
        )
    chosen = desk.ui.combo(
        "model", options, value, width=width, tip=tr("Model; you can change the model during a discussion")
    )
    if chosen is not None and chosen != value:
        provider, _, model = chosen.partition("\n")
        desk.send(ChangeDiscussion(discussion_id=meta.id, changes={"provider": provider, "model": model}))


def effort_options(profile: ModelProfile | None) -> tuple[Option, ...]:
    """The levels of effort of a model; empty if it has none."""
    if profile is None or not profile.efforts:
        return ()
    levels = dict.fromkeys((Effort.AUTO, *profile.efforts))
    return tuple(Option(value=level.value, label=_EFFORT_LABELS[level]) for level in levels)


def efforts_of(desk: Desk) -> tuple[str, ...]:
    """The levels of effort of the discussion's model, `auto` first; empty if it has none."""
    meta = desk.summary.meta if desk.summary is not None else None
    profile = selection.profile(desk.state, meta.provider, meta.model) if meta is not None else None
    return tuple(option.value for option in effort_options(profile))


def why_no_effort(desk: Desk) -> str:
    """Reason why there is no next level of effort, in a sentence."""
    return NO_LEVELS if desk.summary is not None else tr("Choose a discussion first.")


def next_effort(desk: Desk) -> None:
    """Go on to the level after the one that counts; behind the last one to the first. Sends ChangeDiscussion."""
    efforts = efforts_of(desk)
    if (summary := desk.summary) is not None and efforts:
        at = efforts.index(summary.meta.effort) if summary.meta.effort in efforts else -1
        desk.send(
            ChangeDiscussion(
                discussion_id=summary.meta.id, changes={"effort": efforts[(at + 1) % len(efforts)]}
            )
        )


def _facts(state: AppState, meta: DiscussionMeta, profile: ModelProfile) -> str:
    status = state.config.providers.get(meta.provider)
    key = (meta.provider, meta.model)
    price = state.config.prices.get(key)
    if price is not None:
        cost = (
            tr("Free.")
            if price.is_free
            else tr("{price} per million tokens.", price=capital(price_text(price)))
        )
        cost = tr("{cost} By {origin}.", cost=cost, origin=price.origin) if price.origin else cost
    else:
        cost = (
            tr("The price is unknown.")
            if key in state.config.prices
            else tr("The program is looking up the price.")
        )
    window = profile.context_tokens
    known = [
        tr("A small model that runs inside this program.")
        if status is not None and status.kind is ProviderKind.EMBEDDED
        else "",
        tr("Context window: {window} tokens.", window=fmt.tokens(window))
        if window
        else tr("The context window is unknown."),
        cost,
    ]
    return " ".join(part for part in known if part)


def _temperature(desk: Desk, meta: DiscussionMeta, highest: float) -> None:
    own = None if meta.temperature is None else min(meta.temperature, highest)
    tip = tr("Unticked, the model uses its own temperature")
    _sampling(desk, meta, "temperature", tr("Temperature"), own, USUAL_TEMPERATURE, (0.0, highest), tip)


def _top_p(desk: Desk, meta: DiscussionMeta) -> None:
    tip = tr("The model chooses among the likeliest words up to this share. Unticked, it uses its own share.")
    _sampling(desk, meta, "top_p", tr("Top-p"), meta.top_p, USUAL_TOP_P, (STEP, 1.0), tip)


def _sampling(
    desk: Desk,
    meta: DiscussionMeta,
    name: str,
    label: str,
    own: float | None,
    usual: float,
    ends: tuple[float, float],
    tip: str,
) -> None:
    """Draw a number of the model's that a person may choose; `own`: as chosen, None for the model's. Sends ChangeDiscussion."""
    ui = desk.ui
    with ui.row(name, height=SLIDER_PX):  # nothing below moves when the slider comes
        ui.text("label", label, width=LABEL_PX)
        is_own = ui.checkbox("own", tr("Set a value"), own is not None, tip=tip)
        if is_own is not None:
            desk.send(ChangeDiscussion(discussion_id=meta.id, changes={name: usual if is_own else None}))
        if own is None:
            return
        moved = ui.slider("value", own, *ends, form="%.2f", width=200)
    if moved is not None:
        value = round(round(moved / STEP) * STEP, 2)
        if value != own:
            desk.send(ChangeDiscussion(discussion_id=meta.id, changes={name: value}))


def _max_output(desk: Desk, dialog: Dialog, meta: DiscussionMeta, profile: ModelProfile) -> None:
    ui = desk.ui
    own = meta.max_output_tokens
    usual = desk.state.config.settings.ai.max_output_tokens or profile.max_output_tokens
    with ui.row("longest"):
        ui.text("label", tr("Longest reply"), width=LABEL_PX)
        typed = ui.text_input("tokens", "" if own is None else str(own), width=160, submits=True,
                              hint=f"{usual:,}" if usual else tr("Model default"))  # fmt: skip
        most = profile.max_output_tokens
        ui.text(
            "unit",
            tr("tokens, at most {most:,}", most=most) if most else tr("tokens"),
            tone="muted",
            style="small",
        )
    if typed is None:
        pass
    elif not typed.strip():
        dialog.text = ""
        desk.send(ChangeDiscussion(discussion_id=meta.id, changes={"max_output_tokens": None}))
    else:
        digits = typed.strip().replace(",", "").replace("_", "")
        is_number = digits.isascii() and digits.isdecimal() and 0 < int(digits[:12]) <= MAX_OUTPUT_TOKENS
        dialog.text = "" if is_number else tr("{typed!r} is not a number of tokens.", typed=typed.strip())
        if is_number:
            desk.send(ChangeDiscussion(discussion_id=meta.id, changes={"max_output_tokens": int(digits)}))
    if dialog.text:
        ui.text("error", dialog.text, tone="error", style="small", wraps=True)


# Other models for a reply: which are offered first, and the reply asked for again of one of them.

MOST_OFFERED = 6
"""Models in a menu; the rest are in the dialog."""


class OtherModel(msgspec.Struct, frozen=True):
    """A model that could answer."""

    provider: str
    model: str


def other_models(state: AppState, meta_provider: str, meta_model: str) -> tuple[OtherModel, ...]:
    """Models of providers that are ready, without the one that answers now.

    Those that the person used last stand first, the small built-in one behind all that the person never chose.
    """
    ready = {name for name, status in state.config.providers.items() if status.is_ready}
    rows = sorted(state.discussions.summaries.values(), key=_updated, reverse=True)
    used = (OtherModel(row.meta.provider, row.meta.model) for row in rows if row.meta.model)
    known = (
        OtherModel(provider, one.id)
        for provider, models in sorted(
            state.config.models.items(), key=lambda item: item[0] == ProviderKind.EMBEDDED
        )
        for one in models
    )
    now = OtherModel(meta_provider, meta_model)
    offered = (one for one in (*used, *known) if one.provider in ready and one != now)
    return tuple(dict.fromkeys(offered))


def _updated(row: DiscussionSummary) -> float:
    return row.updated_at.timestamp()


def offered_models(desk: Desk) -> tuple[OtherModel, ...]:
    """The same for the discussion that is shown, remembered."""
    state, summary = desk.state, desk.summary
    if summary is None:
        return ()
    now = (summary.meta.provider, summary.meta.model)
    parts = (state.discussions.summaries, *option_parts(state), *now)
    return desk.view.memo.get("other models", parts, lambda: other_models(state, *now))


def regenerate_with(desk: Desk, opened: OpenDiscussion, message: Message) -> None:
    """Draw the menu of models that this reply can be asked of anew. Sends RegenerateReply."""
    ui, models = desk.ui, offered_models(desk)
    if not models or desk.is_replying:
        return
    with ui.menu("regenerate with", tr("Regenerate with"), icon="arrows-rotate") as is_open:
        if not is_open:
            return
        for one in models[:MOST_OFFERED]:
            label = selection.model_label(desk.state, one.provider, one.model)
            if ui.menu_item(("with", one.provider, one.model), label):
                _again(desk, opened.id, message.id, one)
        if ui.menu_item("another", tr("Another model…"), icon="ellipsis"):
            desk.view.dialog = Dialog(kind="regenerate_with", subject=message.id)


def regenerate_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the choice among all models for the reply. Sends RegenerateReply."""
    ui, opened = desk.ui, desk.opened
    if opened is None:
        desk.view.dialog = None
        return
    options = (Option(value="", label=tr("Choose a model")), *remembered_options(desk.state, desk.view.memo))
    with ui.dialog("regenerate with", tr("Regenerate with another model"), width=520) as closed:
        chosen = ui.combo("model", options, dialog.text, width=0, tip=tr("Model that answers from now on"))
        if chosen is not None:
            dialog.text = chosen
        words = tr(
            "This model answers from now on in this discussion. The current reply stays as another version."
        )
        ui.text("what", words, tone="muted", style="small", wraps=True)
        with ui.row("buttons"):
            ui.push()
            is_closed = ui.button("cancel", tr("Cancel"))
            can = bool(dialog.text) and not desk.is_replying
            if ui.button("do", tr("Regenerate"), icon="arrows-rotate", kind="primary", is_enabled=can):
                provider, _, model = dialog.text.partition("\n")
                _again(desk, opened.id, dialog.subject, OtherModel(provider, model))
                is_closed = True
    if is_closed or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None


def _again(desk: Desk, discussion_id: str, message_id: str, one: OtherModel) -> None:
    regenerate(
        desk,
        RegenerateReply(
            discussion_id=discussion_id, message_id=message_id, provider=one.provider, model=one.model
        ),
    )


def regenerate(desk: Desk, asked: RegenerateReply) -> None:
    """Ask for another version of a reply, and show the end, where it arrives."""
    desk.view.of(DiscussionView).scroll_to = -1
    desk.send(asked)


# The dialogs of a discussion: choosers of a file to attach and of a place to export to.


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
    picked = desk.ui.file_dialog("attach", tr("Attach file"), start=desk.state.config.project.root)
    if picked is not None:
        desk.view.dialog = None
        for path in picked:
            desk.send(AttachFile(discussion_id=dialog.subject, path=path))


def _export(desk: Desk, dialog: Dialog, form: str) -> None:
    from core.talk.discussion.discussion_export import ENDINGS, file_name

    summary = desk.state.discussions.summaries.get(dialog.subject)
    if summary is None:
        desk.view.dialog = None
        return
    name = file_name(summary.meta.name) + ENDINGS[form]
    picked = desk.ui.file_dialog(f"export {form}", tr("Export {name}", name=summary.meta.name), picks="save",
                                 start=desk.state.config.project.root, name=name)  # fmt: skip
    if picked is not None:
        desk.view.dialog = None
        if picked:
            # The chooser has asked before it picked a file that is there.
            desk.send(
                ExportDiscussion(discussion_id=dialog.subject, form=form, path=picked[0], replaces=True)
            )
