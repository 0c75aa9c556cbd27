"""Replies of several models side by side: what each said, cost and read from a cache; the dialog that asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import msgspec
from msgspec.structs import replace

from core.kernel import figures as fmt
from core.kernel.language import all_of, tr
from core.kernel.values.discussion import (
    CallPhase,
    ComparedModel,
    Comparison,
    LiveCall,
    OpenDiscussion,
    ReplyVersions,
    message_text_of,
    slash_input,
)
from core.kernel.values.messages import Message, Role, Status
from core.kernel.values.state import AppState
from core.kernel.values.updates import calls_in
from core.kernel.values.usage import Usage
from core.services.settings.settings_messages import PriceModels
from core.services.spending.estimates import next_call_usd, other_call_usd
from core.talk.discussion.discussion_messages import ChangeDiscussion, ChooseVersion, SetDraft
from core.talk.turn.comparison import LEAST, MOST
from core.talk.turn.turn_messages import CancelReply, CompareReplies
from panels.base import view
from panels.base.desk import Desk
from panels.base.gauge import model_value, remembered_options
from panels.base.ui import Option
from panels.base.view import Dialog
from panels.discussion.message_card import PHASES
from panels.discussion.message_rows import message_text, usage_details, usage_line
from panels.discussion.model_picker import offered_models
from panels.discussion.tool_mode import toggle_tools
from panels.discussion.view import DiscussionView

COLUMN_PX = 250.0
"""Least width of a column; as many stand beside one another as have room, the others below them."""
ROW_LEAST_PX, ROW_GAP_PX = 200.0, 8.0
"""Least height of a row of columns: its heads and a few lines of each reply."""
NONE = ""
TOOLS = tr("Turn the tools off first: compared models with tools would change the same files.")


class ReplyColumn(msgspec.Struct, frozen=True):
    """A column: who was asked, what came of it by now, and why it is not whole. `is_compared`: not a version alone."""

    asked: ComparedModel
    message: Message | None = None
    call: LiveCall | None = None
    problem: str = ""
    waits: bool = False
    is_compared: bool = False


def columns_of(opened: OpenDiscussion, calls: Sequence[LiveCall], shown_id: str) -> tuple[ReplyColumn, ...]:
    """The columns that are shown: of the last comparison, or the versions of a reply.

    Args:
        calls: under way in the discussion.
        shown_id: a version of that reply; empty: the comparison.
    """
    if not shown_id:
        return _compared(opened, opened.comparison, calls) if opened.comparison is not None else ()
    versions = _versions(opened, shown_id)
    found = [opened.message_anywhere(one) for one in versions.ids] if versions is not None else []
    return tuple(_of_message(message) for message in found[-MOST:] if message is not None)


def _compared(
    opened: OpenDiscussion, comparison: Comparison, calls: Sequence[LiveCall]
) -> tuple[ReplyColumn, ...]:
    live = {call.id: call for call in calls if call.compared is not None}
    return tuple(
        ReplyColumn(
            asked=one.asked,
            message=opened.message_anywhere(one.reply_id) if one.reply_id else None,
            call=live.get(one.call_id),
            problem=one.problem,
            waits=not (one.is_over or one.call_id),
            is_compared=True,
        )
        for one in comparison.replies
    )


def _versions(opened: OpenDiscussion, message_id: str) -> ReplyVersions | None:
    return next((one for one in opened.versions.values() if message_id in one.ids), None)


def _of_message(message: Message) -> ReplyColumn:
    problem = "" if message.status is Status.COMPLETE else tr("This reply is incomplete.")
    return ReplyColumn(
        asked=ComparedModel(provider=message.provider, model=message.model), message=message, problem=problem
    )


def speed_line(usage: Usage) -> str:
    """Speed of a reply in words: `43 tokens/s, the first after 0.8 s`; empty where nobody measured it."""
    parts = []
    if usage.writing_s is not None and usage.output_tokens:
        parts.append(tr("{tokens:,.0f} tokens/s", tokens=usage.output_tokens / usage.writing_s))
    if usage.time_to_first_token_s is not None:
        parts.append(
            tr(
                "first token after {time_to_first_token_s}",
                time_to_first_token_s=fmt.span(usage.time_to_first_token_s),
            )
        )
    return ", ".join(parts)


def total_line(columns: Sequence[ReplyColumn]) -> str:
    """Cost of all columns by now, an unknown one told as such; empty while none is there."""
    costs = [one.message.usage.cost_usd for one in columns if one.message is not None and one.message.usage]
    if not costs:
        return ""
    unknown = sum(cost is None for cost in costs)
    known = sum(cost for cost in costs if cost is not None)
    if not unknown:
        return tr("{cost} in total", cost=fmt.money(known))
    rest = tr("{unknown} of unknown price", unknown=fmt.count(unknown, tr("reply"), tr("replies")))
    if len(costs) == unknown:
        return tr("{cost} in total", cost=rest)
    return tr("{cost} in total, and {rest}", cost=fmt.money(known), rest=rest)


def side_by_side(desk: Desk, opened: OpenDiscussion) -> bool:
    """Draw the columns in place of the messages, where they are open; whether they are. Sends ChooseVersion, CompareReplies, CancelReply."""
    own = desk.view.of(DiscussionView)
    if opened.id not in own.side_by_side:
        return False
    calls = calls_in(desk.state, opened.id)
    shown_id = own.side_by_side[opened.id]
    columns = columns_of(opened, calls, shown_id)
    if not columns:
        if shown_id:  # a comparison may still wait for a yes past a limit: its columns stand once it begins
            del own.side_by_side[opened.id]
        return False
    ui = desk.ui
    with ui.row("side head"):
        ui.text("title", tr("Side by side"), style="strong")
        ui.text("total", total_line(columns), tone="muted", style="small")
        ui.push()
        if len(calls) > 1 and ui.button("stop", tr("Stop all"), icon="stop", is_small=True):
            desk.send(CancelReply(discussion_id=opened.id))
        if ui.button("back", tr("Back to the discussion"), icon="arrow-left", is_small=True):
            del own.side_by_side[opened.id]
    _prompt(desk, opened, columns)
    with ui.surface("columns", "clear", height=0, padding=(0, 0)):
        _columns(desk, opened, columns)
    return True


def _columns(desk: Desk, opened: OpenDiscussion, columns: Sequence[ReplyColumn]) -> None:
    """Draw the columns in rows that share the height; where that is too little, whole ones in a list."""
    ui = desk.ui
    across = max(1, min(len(columns), int(ui.width() // COLUMN_PX)))
    rows = ceil(len(columns) / across)
    high = (ui.height() - ROW_GAP_PX * (rows - 1)) / rows
    if high < ROW_LEAST_PX:
        with ui.surface("list", "clear", height=0, padding=(0, 0), scrolls=True), ui.group("all"):
            for number, column in enumerate(columns):
                with ui.surface(("column", number), "card", padding=(12, 10)):
                    _column(desk, opened, column)
        return
    with ui.group("all", gap=ROW_GAP_PX):
        for first in range(0, len(columns), across):
            with ui.row(("columns", first), height=high):
                for number, column in enumerate(columns[first : first + across], start=first):
                    with ui.surface(("column", number), "card", height=high, padding=(12, 10)):
                        _column(desk, opened, column)


def _prompt(desk: Desk, opened: OpenDiscussion, columns: Sequence[ReplyColumn]) -> None:
    """The first line of the message that all of them answer."""
    asked = opened.comparison.prompt_id if opened.comparison is not None else ""
    shown = next((one.message.id for one in columns if one.message is not None), "")
    words = ""
    for message in opened.messages:
        if message.role is Role.USER:
            words = message.text
        if message.id in (asked, shown):
            break
    line = words.strip().split("\n", 1)[0]
    if line:
        desk.ui.text("asked", line, tone="muted", tip=words[:2000])


def _column(desk: Desk, opened: OpenDiscussion, column: ReplyColumn) -> None:
    """Draw a column: its head stays in sight, with the buttons that keep the reply; what it says is scrolled."""
    ui, message = desk.ui, column.message
    asked = column.asked
    with ui.row("head"):
        ui.text("name", view.model_label(desk.state, asked.provider, asked.model), style="strong")
        if not asked.has_memory:
            ui.badge(
                "memory",
                tr("without knowledge"),
                tip=tr("This reply used no knowledge, no facts and no recall"),
            )
    if message is not None and message.usage is not None:
        usage = message.usage
        ui.text("usage", usage_line(usage), tone="muted", style="small", wraps=True, tip=usage_details(usage))
        if speed := speed_line(usage):
            ui.text("speed", speed, tone="muted", style="small", wraps=True)
    if message is not None:
        with ui.group("answers", gap=4):
            _keep(desk, opened, column, message)
    with ui.surface("said", "clear", height=0, padding=(0, 0), scrolls=True):
        _said(desk, opened, column)


def _said(desk: Desk, opened: OpenDiscussion, column: ReplyColumn) -> None:
    ui, message, call = desk.ui, column.message, column.call
    if column.waits:
        ui.text(
            "waits",
            tr("The program asks this model as soon as your message is on disk."),
            tone="muted",
            wraps=True,
        )
    if column.problem:
        with ui.row("problem"):
            ui.icon("icon", "circle-exclamation", tone="warn")
            ui.text("text", column.problem, tone="warn", style="small", wraps=True)
    if column.problem and column.is_compared and call is None:
        tip = tr("Ask this model once more; the other columns stay")
        is_free = not desk.is_replying
        if ui.button(
            "again", tr("Ask again"), icon="arrows-rotate", is_small=True, is_enabled=is_free, tip=tip
        ):
            desk.send(CompareReplies(discussion_id=opened.id, models=(column.asked,), is_again=True))
    if call is not None:
        _live(desk, call)
    if message is not None:
        message_text(ui, message, root=desk.state.config.project.root)


def _live(desk: Desk, call: LiveCall) -> None:
    ui = desk.ui
    with ui.row("live"):
        ui.text("phase", PHASES[call.phase], tone="muted", style="small")
        ui.push()
        can_stop = call.phase not in {CallPhase.STOPPING, CallPhase.STORING}
        tip = tr("Stop this reply; the others go on")
        if ui.button("stop", tr("Stop"), icon="stop", is_small=True, is_enabled=can_stop, tip=tip):
            desk.send(CancelReply(discussion_id=call.discussion_id, call_id=call.id))
    if call.text:
        ui.markdown("text", call.text, is_streaming=True)


def _keep(desk: Desk, opened: OpenDiscussion, column: ReplyColumn, message: Message) -> None:
    """Buttons that put a version into the conversation, and go on with its model."""
    own, meta = desk.view.of(DiscussionView), desk.summary.meta if desk.summary is not None else None
    asked = column.asked
    is_free = not desk.is_replying
    kept = desk.ui.button("keep", tr("Keep this reply"), icon="check", is_small=True, is_enabled=is_free,
                          tip=tr("This reply stays in the discussion; the others remain as versions"))  # fmt: skip
    is_other = meta is not None and (meta.provider, meta.model) != (asked.provider, asked.model)
    went_on = is_other and desk.ui.button(
        "go on",
        tr("Continue with this model"),
        kind="link",
        is_small=True,
        is_enabled=is_free,
        tip=tr("This reply stays in the discussion, and its model answers you from now on"),
    )
    if not (kept or went_on):
        return
    desk.send(ChooseVersion(discussion_id=opened.id, message_id=message.id))
    if went_on:
        changes = {"provider": asked.provider, "model": asked.model}
        desk.send(ChangeDiscussion(discussion_id=opened.id, changes=changes))
    own.side_by_side.pop(opened.id, None)
    own.scroll_to = -1


# The dialog.


def begin_comparison(desk: Desk) -> None:
    """Open the dialog: the discussion's model and the one that was used last stand there."""
    own, summary = desk.view.of(DiscussionView), desk.summary
    if summary is None:
        return
    others = [model_value(one.provider, one.model) for one in offered_models(desk)]
    first = [model_value(summary.meta.provider, summary.meta.model)] if _words(desk) else []
    own.comparing = [*(first + others)[:LEAST], *[NONE] * MOST][:MOST]
    own.compares_memory = False
    desk.view.dialog = Dialog(kind="compare")
    desk.send(PriceModels())


def _words(desk: Desk) -> str:
    """The composer's words, which are compared where there are any."""
    opened = desk.opened
    text = "" if opened is None else desk.view.of(DiscussionView).composer(opened.id).text.strip()
    return "" if slash_input(text) is not None and text else text


def chosen_models(desk: Desk) -> tuple[ComparedModel, ...]:
    """The models of the dialog, the first once more without memory where that is ticked."""
    own = desk.view.of(DiscussionView)
    parts = [value.partition("\n") for value in own.comparing if value]
    models = [ComparedModel(provider=provider, model=model) for provider, _, model in parts]
    bare = [replace(models[0], has_memory=False)] if own.compares_memory and models else []
    return tuple(dict.fromkeys((*models, *bare)))


def column_usd(state: AppState, discussion_id: str, asked: ComparedModel) -> float | None:
    """Expected cost of a column: of the discussion's own model by what is cached, of another without a cache."""
    meta = state.discussions.summaries[discussion_id].meta
    if (meta.provider, meta.model) == (asked.provider, asked.model) and asked.has_memory:
        own = next_call_usd(state, discussion_id)
        if own is not None:
            return own
    return other_call_usd(state, discussion_id, asked.provider, asked.model)


def total_price(prices: Sequence[float | None]) -> str:
    """The price of all columns before they are asked for, in words; what is unknown is counted."""
    known, unknown = [one for one in prices if one is not None], sum(one is None for one in prices)
    parts = [tr("About {price}", price=fmt.money(sum(known)))] if known else []
    parts += (
        [tr("{unknown} of unknown price", unknown=fmt.count(unknown, tr("reply"), tr("replies")))]
        if unknown
        else []
    )
    return all_of(parts)


def compare_dialog(desk: Desk) -> None:
    """Draw the choice of models with their prices. Sends CompareReplies."""
    ui, opened, summary = desk.ui, desk.opened, desk.summary
    if opened is None or summary is None:
        desk.view.dialog = None
        return
    own, words = desk.view.of(DiscussionView), _words(desk)
    listed = remembered_options(desk.state, desk.view.memo)
    options = (Option(value=NONE, label=tr("No model")), *_unlisted(desk, listed), *listed)
    with ui.dialog("compare", tr("Compare models"), width=620) as closed:
        about = (
            tr("Your draft goes to each of these models at once. Each reply becomes a version.")
            if words
            else tr(
                "The last message goes to each of these models at once. The current reply is a column too."
            )
        )
        ui.text("what", about, tone="muted", style="small", wraps=True)
        for number in range(MOST):
            _choice(desk, opened, options, number)
        label = tr("Also ask the first model without knowledge")
        tip = tr("Also send the message without knowledge, facts and recall, to see their effect")
        ticked = ui.checkbox("memory", label, own.compares_memory, tip=tip)
        own.compares_memory = own.compares_memory if ticked is None else ticked
        models = chosen_models(desk)
        standing = 0 if words else 1
        if summary.meta.has_tools:
            ui.text("tools", TOOLS, tone="warn", wraps=True)
            if ui.button("tools off", tr("Turn tools off"), icon="wrench", is_small=True):
                toggle_tools(desk)
        elif len(models) + standing > MOST:
            ui.text(
                "many",
                tr("You can compare at most {MOST} replies: leave one out.", MOST=MOST),
                tone="warn",
                wraps=True,
            )
        else:
            total = total_price([column_usd(desk.state, opened.id, one) for one in models])
            ui.text("total", total, style="small_strong")
        with ui.row("buttons"):
            ui.push()
            is_closed = ui.button("cancel", tr("Cancel"))
            can = (
                LEAST <= len(models) + standing <= MOST
                and not summary.meta.has_tools
                and not desk.is_replying
            )
            if ui.button("do", tr("Compare"), icon="table-columns", kind="primary", is_enabled=can):
                _ask(desk, opened, models, words)
                is_closed = True
    if is_closed or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None


def _unlisted(desk: Desk, listed: Sequence[Option]) -> Iterator[Option]:
    """Chosen models that no provider lists now, as one used before and since gone from its server."""
    known = {one.value for one in listed}
    for value in dict.fromkeys(desk.view.of(DiscussionView).comparing):
        if value and value not in known:
            provider, _, model = value.partition("\n")
            yield Option(value=value, label=view.model_label(desk.state, provider, model))


def _choice(desk: Desk, opened: OpenDiscussion, options: Sequence[Option], number: int) -> None:
    """A model of the dialog with its price."""
    own, ui = desk.view.of(DiscussionView), desk.ui
    with ui.row(("choice", number)):
        tip = tr("Model {number} to compare", number=number + 1)
        chosen = ui.combo("model", options, own.comparing[number], width=330, tip=tip)
        if chosen is not None:
            own.comparing[number] = chosen
        provider, _, model = own.comparing[number].partition("\n")
        if not provider:
            return
        asked = ComparedModel(provider=provider, model=model)
        usd, is_known = (
            column_usd(desk.state, opened.id, asked),
            (provider, model) in desk.state.config.prices,
        )
        price = tr("looking up the price") if usd is None and not is_known else fmt.about_usd(usd)
        ui.text("price", price, tone="muted", style="small")


def _ask(desk: Desk, opened: OpenDiscussion, models: tuple[ComparedModel, ...], words: str) -> None:
    own = desk.view.of(DiscussionView)
    own.side_by_side[opened.id] = NONE
    if not words:
        desk.send(CompareReplies(discussion_id=opened.id, models=models))
        return
    composer = own.composer(opened.id)
    composer.history_at = 0
    text = message_text_of(composer.text)
    if text != composer.text:  # the draft that leaves is what is sent
        composer.pending.append(text)
        desk.send(SetDraft(opened.id, text))
    composer.hand_over(desk.ask(CompareReplies(discussion_id=opened.id, models=models, text=text)))
