"""Conversations of the Harvest panel: every artifact with its class, what harvesting them takes, and Preview."""

from __future__ import annotations

from collections.abc import Hashable
from math import ceil

from core.kernel import figures as fmt
from core.kernel.language import capital, tr
from core.kernel.patterns import late
from core.kernel.values.harvest import Artifact, ArtifactClass, ArtifactFacts
from core.kernel.values.provider import ProviderKind
from core.knowledge.harvest.batch_step import HALF, offer_words
from core.knowledge.harvest.harvest_messages import ApplyHarvest, BatchHarvest, LookForHarvest, PreviewHarvest
from core.knowledge.harvest.modes import RECALL_ONLY, is_recall_only
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.base import view as selection
from panels.base.desk import READ_ONLY, Desk, ListRows
from panels.base.ui import Column, Option, Ui
from panels.base.view import Dialog, Same
from panels.harvest import harvest_facts
from panels.harvest.batches import batches_section
from panels.harvest.harvest_room import HarvestView
from panels.harvest.harvest_settings import settings_section
from panels.knowledge.rows import reader_fault, where_it_goes

FOOT_PX = 58.0
SHORT_FOOT_PX = 36.0
"""While a card stands over the part, there is no estimate and no note in the foot."""
NOTE_LINE_PX, NOTE_MORE_PX, NOTE_ROOM_PX = 660.0, 18.0, 500.0
"""Width from which the note in the foot stands in one line; the height of another; height of the panel that has room for it."""
ROW_PX, LED_ROW_PX = 42.0, 49.0
"""Height of a row of two lines, and of one with a button that leads to the discussion."""
CHAR_PX = 7.4
BUTTON_PX = 80.0
"""Width of a button's words: each character, and what stands around them."""
OFFER_PX = 320.0
"""Width from which the offer of a batch is said to its end; its tip says it at every width."""
BATCH_PX = 30.0
"""Height of the row that offers a batch, and of the gap above it."""
WIDE_PX = 720.0
"""From this width on, why, age and estimate have columns of their own."""

RANKS = {kind: rank for rank, kind in enumerate(
    (ArtifactClass.HARVEST, ArtifactClass.PRUNE, ArtifactClass.KEEP, ArtifactClass.USER_KEPT, ArtifactClass.LIVE)
)}  # fmt: skip
KINDS = (
    Option(value="", label=tr("All")),
    *(Option(value=kind.value, label=capital(harvest_facts.CLASS_WORDS[kind])) for kind in RANKS),
)
NOTHING_LEFT = tr("All readable conversations are in a batch: Collect reads the results so far.")
IN_A_BATCH_TIP = tr("This conversation is in a batch: reading it now would cost twice")
NARROW = (Column(label="", width=40), Column(label=tr("Conversation")))
WIDE = (Column(label="", width=40), Column(label=tr("Conversation")), Column(label=tr("State"), width=88), Column(label=tr("Why"), weight=0.5),
        Column(label=tr("Size"), width=72, is_number=True), Column(label=tr("Age"), width=88, is_number=True),
        Column(label=tr("Estimate"), width=172, is_number=True))  # fmt: skip


def conversations_section(desk: Desk) -> None:
    """Draw the part. O(visible)."""
    ui, own, harvest = desk.ui, desk.view.of(HarvestView), desk.state.harvest
    if own.are_settings_open:
        settings_section(desk)
        return
    _head(desk)
    if harvest.looked_at is None:
        ui.text("none", harvest_facts.not_looked(harvest), tone="muted", style="small", wraps=True)
        return
    _begun(desk)
    batches_section(desk)
    _filters(desk)
    shown = shown_artifacts(desk)
    has_room = ui.height() >= NOTE_ROOM_PX
    foot = _foot_px(desk, has_room=has_room) + (BATCH_PX if _has_batch_row(desk) else 0)
    with ui.surface("rows", "clear", height=-foot, padding=(0, 0)):
        if shown:
            is_wide = ui.width() >= WIDE_PX
            ui.table(
                "table",
                WIDE if is_wide else NARROW,
                ArtifactRows(desk=desk, rows=shown, is_wide=is_wide),
            )
        else:
            is_filtered = bool(own.query.strip() or own.kind)
            text = tr("No conversation matches.") if is_filtered else tr("There are no conversations yet.")
            ui.text("empty", text, tone="muted", style="small")
    _foot(desk, has_room=has_room)


def ticked(desk: Desk) -> harvest_facts.ArtifactChoice:
    """The candidates that are ticked, remembered."""
    _meet(desk)
    look, left_out = desk.state.harvest.look, desk.view.of(HarvestView).left_out
    return desk.view.memo.get(
        "harvest choice", (look, left_out), lambda: harvest_facts.choice(look, left_out)
    )


ONE_SCREEN = 12
"""Candidates that are ticked by themselves: what a person does not see, they did not choose."""


def _meet(desk: Desk) -> None:
    """Leave new candidates out as far as more than a screen of them would be ticked."""
    own, look = desk.view.of(HarvestView), desk.state.harvest.look
    if own.met_look is look:
        return
    own.met_look = look
    listed = [
        one.facts.path for one in sorted(look.artifacts, key=_rank) if one.kind is ArtifactClass.HARVEST
    ]
    fresh = [path for path in listed if path not in own.met]
    ticked_now = sum(path in own.met and path not in own.left_out for path in listed)
    beyond = fresh[max(0, ONE_SCREEN - ticked_now) :]
    own.left_out |= frozenset(beyond)
    own.met |= frozenset(fresh)


def shown_artifacts(desk: Desk) -> tuple[Artifact, ...]:
    """Artifacts that pass the filter: candidates first, the newest first in each class. Remembered."""
    memo, own = desk.view.memo, desk.view.of(HarvestView)
    artifacts = desk.state.harvest.look.artifacts
    ordered = memo.get("harvest artifacts", (artifacts,), lambda: tuple(sorted(artifacts, key=_rank)))
    query = own.query.strip().casefold()
    if not query and not own.kind:
        return ordered
    words = memo.get("harvest words", (ordered,), lambda: tuple(map(_words, ordered)))
    return memo.get("harvest shown", (ordered, query, own.kind), lambda: tuple(
        one for one, said in zip(ordered, words, strict=True)
        if query in said and (not own.kind or one.kind == own.kind)
    ))  # fmt: skip


def _rank(artifact: Artifact) -> tuple[int, float, str]:
    about = artifact.facts
    return RANKS[artifact.kind], -about.updated_at.timestamp(), about.path


def _words(artifact: Artifact) -> str:
    about = artifact.facts
    return f"{about.title}\n{about.name}\n{about.path}\n{artifact.why}".casefold()


def _head(desk: Desk) -> None:
    ui, state, own = desk.ui, desk.state, desk.view.of(HarvestView)
    harvest = state.harvest
    with ui.row("head"):
        ui.text("title", tr("Conversations"), style="strong")
        at = (
            tr("checked {looked_at}", looked_at=fmt.moment(harvest.looked_at, state.now))
            if harvest.looked_at is not None
            else ""
        )
        ui.text("at", at, tone="faint", style="small", width=0)
        if ui.button("look", "", icon="arrows-rotate", kind="ghost", is_small=True, is_enabled=not harvest.is_busy,
                     tip=tr("Look for conversations again; nothing on disk changes")):  # fmt: skip
            desk.send(LookForHarvest())
        if ui.button("settings", tr("Settings"), icon="sliders", kind="ghost", is_small=True,
                     tip=tr("Choose the model, the conversations to skip, and other folders")):  # fmt: skip
            own.are_settings_open = True
    if harvest.looked_at is None:
        return
    artifacts = harvest.look.artifacts
    memo = desk.view.memo
    line = memo.get("harvest counts", (artifacts,), lambda: harvest_facts.counts_line(artifacts))
    held = _held(desk)
    words = memo.get(
        "harvest count words", (artifacts, held), lambda: harvest_facts.counts_words(artifacts, held)
    )
    with ui.group("figures", gap=4):
        ui.text(
            "counts",
            words,
            style="small",
            wraps=True,
            tip=tr("Plan of a harvest for each conversation\n{line}", line=line),
        )
        model = selection.model_label(state, harvest.provider, harvest.model)
        found = ticked(desk)
        line = harvest_facts.estimate_line(harvest_facts.chosen_estimate(harvest, found), model)
        if not found.candidates:
            line = NOTHING_LEFT if held else nothing_old(desk)
        if artifacts and not _is_short(desk):
            ui.text("estimate", line, tone="muted", style="small", wraps=True)
    if is_recall_only(state.config.settings.knowledge):
        recall_row(desk)
    elif fault := reader_fault(state):
        ui.text("fault", fault, tone="warn", style="small", wraps=True)


def recall_row(desk: Desk) -> None:
    """Say that nothing is read in this mode, and lead to the choice of another."""
    ui, own = desk.ui, desk.view.of(HarvestView)
    with ui.row("recall"):
        ui.icon("icon", "circle-pause", tone="warn")
        ui.text("text", f"{RECALL_ONLY}.", tone="warn", style="small", wraps=True, width=0)
        if ui.button("mode", tr("Choose another mode"), is_small=True, tip=tr("Open the harvest settings")):
            own.tab, own.are_settings_open = "conversations", True


def _begun(desk: Desk) -> None:
    """Say that a review waits, and lead back to it."""
    ui, reviewed = desk.ui, _reviewed(desk)
    if not reviewed:
        return
    look = desk.state.harvest.look
    unread = harvest_facts.without_reply(look, reviewed)
    cost = harvest_facts.going_on_cost(look, unread)
    fault = harvest_facts.cannot_read(desk.state)
    can = not desk.state.program.is_home_read_only and not fault
    tip = fault or (
        tr("Your ticks, edits and categories are kept. So are the replies: no model is asked again")
        if not unread
        else tr(
            "Your ticks, edits and categories are kept. Conversations without a kept reply are read again"
        )
    )
    with ui.row("begun"):
        ui.icon("icon", "list-check", tone="accent")
        words = tr(
            "You began a review of {reviewed}.",
            reviewed=fmt.count(len(reviewed), tr("conversation"), tr("conversations")),
        )
        ui.text("text", words, style="small", width=0, tip=words)
        if ui.button("go on", tr("Continue ({cost})", cost=cost), is_small=True, is_enabled=can, tip=tip):
            desk.view.of(HarvestView).tab = "preview"
            desk.send(PreviewHarvest(paths=tuple(one.path for one in reviewed)))


def _reviewed(desk: Desk) -> tuple[ArtifactFacts, ...]:
    """The conversations of a review that waits, none while something else is under way. Remembered."""
    harvest = desk.state.harvest
    if harvest.preview is not None or harvest.is_busy or not harvest.review:
        return ()
    parts = (harvest.look, harvest.review)
    return desk.view.memo.get("harvest begun", parts, lambda: harvest_facts.begun(harvest))


def _filters(desk: Desk) -> None:
    ui, own = desk.ui, desk.view.of(HarvestView)
    with ui.row("filters"):
        typed = ui.text_input("query", own.query, hint=tr("Find a conversation"), icon="magnifying-glass")
        own.query = own.query if typed is None else typed
        chosen = ui.combo("kind", KINDS, own.kind, width=128, tip=tr("Show only one state"))
        own.kind = own.kind if chosen is None else chosen


class ArtifactRows(ListRows[Artifact]):
    """The rows of the table."""

    is_wide: bool

    @property
    def revision(self) -> Hashable:
        """Differs when the rows do: only then are they laid out again."""
        return Same(self.rows), self.is_wide

    def key(self, index: int) -> Hashable:
        """A path."""
        return self.rows[index].facts.path

    def estimate_px(self, index: int, width: float) -> float:
        """Two lines where the window is narrow."""
        if self.is_wide:
            return 34.0
        return LED_ROW_PX if self.rows[index].facts.id in self.desk.state.discussions.summaries else ROW_PX

    def draw(self, index: int, ui: Ui) -> None:
        """Draw one call for each column."""
        artifact = self.rows[index]
        _tick(self.desk, ui, artifact)
        _name(self.desk, ui, artifact, is_wide=self.is_wide)
        if self.is_wide:
            _state(self.desk, ui, artifact)
            why = artifact.why or origin_words(artifact.facts.origin)
            ui.text("why", why, tone="muted", style="small", width=0, tip=artifact.facts.origin or why)
        if self.is_wide:
            ui.text(
                "size",
                fmt.size(artifact.facts.size_bytes),
                tip=tr("{size_bytes:,} bytes", size_bytes=artifact.facts.size_bytes),
            )
            at = artifact.facts.updated_at
            ui.text(
                "age",
                fmt.age(at, self.desk.state.now),
                tone="muted",
                tip=f"{at.astimezone():%Y-%m-%d %H:%M}",
            )
            ui.text("estimate", _estimate(self.desk, artifact), tone="muted", style="small")


def _state(desk: Desk, ui: Ui, artifact: Artifact) -> None:
    words, tone = (
        harvest_facts.class_words(artifact, _held(desk)),
        harvest_facts.CLASS_TONES.get(artifact.kind, "muted"),
    )
    tip = IN_A_BATCH_TIP if words == harvest_facts.IN_A_BATCH else harvest_facts.CLASS_TIPS[artifact.kind]
    ui.text("class", words, tone="muted" if words == harvest_facts.IN_A_BATCH else tone, tip=tip)


def _tick(desk: Desk, ui: Ui, artifact: Artifact) -> None:
    own, path = desk.view.of(HarvestView), artifact.facts.path
    if artifact.kind is not ArtifactClass.HARVEST or _is_in_batch(desk, artifact):
        ui.text("tick", "")
        return
    changed = ui.checkbox(
        "tick",
        "",
        path not in own.left_out,
        tip=tr("Read {facts}", facts=harvest_facts.name_of(artifact.facts)),
    )
    if changed is not None:
        own.left_out = own.left_out - {path} if changed else own.left_out | {path}


def _name(desk: Desk, ui: Ui, artifact: Artifact, *, is_wide: bool) -> None:
    about = artifact.facts
    name = harvest_facts.name_of(about)
    where = "\n".join(filter(None, (about.origin, about.path)))
    with ui.group("name", gap=2):
        if about.id in desk.state.discussions.summaries:
            with ui.row("line", gap=4):
                ui.text("name", name, width=0, tip=where)
                tip = tr("Show {name}", name=name)
                if ui.button("show", "", icon="arrow-right", kind="ghost", is_small=True, tip=tip):
                    show_discussion(desk, about.id)
        else:
            ui.text("name", name, width=0, tip=where)
        if not is_wide:
            parts = (
                artifact.why,
                _estimate(desk, artifact),
                fmt.size(about.size_bytes),
                fmt.age(about.updated_at, desk.state.now),
                origin_words(about.origin),
            )
            with ui.row("state", gap=8):
                line = " · ".join(filter(None, parts))
                ui.text("about", line, tone="muted", style="small", width=0, wraps=True)
                _state(desk, ui, artifact)


def origin_words(origin: str) -> str:
    """Origin of an imported talk in two words: `from ChatGPT`. `origin`: as its mark says it, in the language of its import."""
    found = _ORIGIN.search(origin)
    return tr("from {name}", name=found[1]) if found is not None else ""


_ORIGIN = late(r"\d{4}-\d{2}-\d{2} \S+ (.+?): ")


def show_discussion(desk: Desk, discussion_id: str) -> None:
    """Bring a discussion to the front."""
    desk.view.page = "chat"
    desk.send(SelectDiscussion(discussion_id))


def _estimate(desk: Desk, artifact: Artifact) -> str:
    if artifact.kind is not ArtifactClass.HARVEST:
        return ""
    look = desk.state.harvest.look
    if artifact.facts.sha256 in look.kept:
        return tr("replies kept, free")
    if _is_in_batch(desk, artifact):
        return ""
    return harvest_facts.row_estimate(look.estimate, artifact.facts)


def _is_in_batch(desk: Desk, artifact: Artifact) -> bool:
    return artifact.facts.sha256 in _held(desk)


def _held(desk: Desk) -> frozenset[str]:
    batches = desk.state.harvest.look.batches
    return desk.view.memo.get("harvest waiting", (batches,), lambda: harvest_facts.in_batches(batches))


def _foot_px(desk: Desk, *, has_room: bool) -> float:
    """Height of the button and of the note below it, which takes as many lines as it needs where the rows leave it room."""
    if _is_short(desk):
        return SHORT_FOOT_PX
    if not has_room:
        return FOOT_PX
    lines = ceil(NOTE_LINE_PX / max(1.0, desk.ui.width() or NOTE_LINE_PX))
    return FOOT_PX + NOTE_MORE_PX * (lines - 1)


def _foot(desk: Desk, *, has_room: bool) -> None:
    """Draw the buttons and the note. `has_room`: as the whole part has it, of which little is left here."""
    ui, state = desk.ui, desk.state
    found = ticked(desk)
    with ui.group("foot", gap=6):
        with ui.row("buttons"):
            _preview_button(desk, found)
            ui.push()
            with ui.menu(
                "more", "", icon="ellipsis", tip=tr("More actions for the conversations")
            ) as is_open:
                if is_open:
                    _menu(desk, found)
        if _has_batch_row(desk):
            _batch_button(desk, found)
        if not _is_short(desk):
            note = tr(
                "Nothing on disk changes before you choose Apply. {where_conversations_go}",
                where_conversations_go=where_it_goes(state),
            )
            if has_room:
                ui.text("note", note, tone="muted", style="small", wraps=True)
            else:
                ui.text("note", note, tone="muted", style="small", width=0, tip=note)


def nothing_old(desk: Desk) -> str:
    """Sentence that no conversation is old enough, with the setting that decides."""
    days = desk.state.config.settings.knowledge.live_days
    return tr(
        "Nothing to harvest: all unread conversations changed within {days:g} days. Change the days in Settings.",
        days=days,
    )


def _is_short(desk: Desk) -> bool:
    """True if a run, a problem or a review that waits takes room above."""
    return desk.state.harvest.is_busy or bool(desk.state.harvest.problem or _reviewed(desk))


def _preview_button(desk: Desk, found: harvest_facts.ArtifactChoice) -> None:
    ui, harvest = desk.ui, desk.state.harvest
    if harvest.preview is not None and harvest.phase != "previewing":
        if ui.button("shown", tr("Back to the preview"), icon="chevron-right", kind="primary"):
            desk.view.of(HarvestView).tab = "preview"
        return
    price = fmt.price(harvest_facts.chosen_estimate(harvest, found).cost_usd)
    label = tr(
        "Preview {conversations} ({price})",
        conversations=fmt.count(len(found.paths), tr("conversation"), tr("conversations")),
        price=price,
    )
    if not found.paths or is_recall_only(desk.state.config.settings.knowledge):
        label = tr("Preview")
    elif 0 < ui.width() < CHAR_PX * len(label) + BUTTON_PX:
        label = tr("Preview {count:,} ({price})", count=len(found.paths), price=price)
    can, why = _can_preview(desk, found)
    if ui.button("preview", label, icon="wand-magic-sparkles", kind="primary", is_enabled=can, tip=why):
        preview(desk, found)


def preview(desk: Desk, found: harvest_facts.ArtifactChoice) -> None:
    """Have the ticked candidates read."""
    desk.view.of(HarvestView).tab = "preview"
    desk.send(PreviewHarvest(paths=() if found.is_all else found.paths))


def _can_preview(desk: Desk, found: harvest_facts.ArtifactChoice) -> tuple[bool, str]:
    state = desk.state
    if state.program.is_home_read_only:
        return False, READ_ONLY
    if state.harvest.is_busy:
        return False, tr("Wait until the current work ends")
    if not found.candidates and state.harvest.look.batches:
        return False, tr("All readable conversations are in a batch: collect or cancel the batch")
    if not found.candidates:
        return False, tr("No unread conversation is old enough")
    if not found.paths:
        return False, tr("Tick a conversation first")
    if fault := harvest_facts.cannot_read(state):
        return False, fault
    return True, tr("The model reads the conversations and proposes items to keep; you choose")


def _menu(desk: Desk, found: harvest_facts.ArtifactChoice) -> None:
    own = desk.view.of(HarvestView)
    ui, view = desk.ui, desk.view
    artifacts = desk.state.harvest.look.artifacts
    if ui.menu_item("all", tr("Tick all"), is_enabled=not found.is_all):
        own.left_out = frozenset()
    if ui.menu_item("none", tr("Untick all"), is_enabled=bool(found.paths)):
        own.left_out = frozenset(a.facts.path for a in artifacts if a.kind is ArtifactClass.HARVEST)
    if _offers_batch(desk) and _is_short(desk):
        label, can_submit, _ = _batch_words(desk, found)
        if ui.menu_item("batch", label, icon="clock", is_enabled=can_submit):
            _submit(desk, found)
    ui.divider("line")
    is_free = not desk.state.harvest.is_busy and not desk.state.program.is_home_read_only
    can = is_free and desk.state.harvest.preview is None
    empty = fmt.count(found.pruned, tr("empty conversation"), tr("empty conversations"))
    if found.pruned and ui.menu_item(
        "prune", tr("Remove {empty}…", empty=empty), icon="broom", is_enabled=can
    ):
        view.dialog = Dialog(kind="harvest_give_up", command=ApplyHarvest())
    if ui.menu_item("give up", tr("Move {conversations} to the trash without harvesting…", conversations=fmt.count(len(found.ours), tr('conversation'), tr('conversations'))),
                    icon="trash-can", is_enabled=can and bool(found.ours), tone="error"):  # fmt: skip
        view.dialog = Dialog(kind="harvest_give_up", command=ApplyHarvest(paths=found.ours))


def _offers_batch(desk: Desk) -> bool:
    """True if what is ticked may go to a batch service; of a model on this machine there is none."""
    harvest = desk.state.harvest
    is_reviewed = harvest.preview is not None and harvest.phase != "previewing"
    may_read = not is_recall_only(desk.state.config.settings.knowledge)
    return may_read and harvest.provider != ProviderKind.EMBEDDED and not is_reviewed


def _has_batch_row(desk: Desk) -> bool:
    """True if the batch has a row of its own; while a card stands over the part, it is in the menu."""
    return _offers_batch(desk) and not _is_short(desk)


def _batch_button(desk: Desk, found: harvest_facts.ArtifactChoice) -> None:
    """The provider's batch service instead, with its price; collected here, then previewed as ever."""
    label, can, why = _batch_words(desk, found)
    tip = (
        tr(
            "Send {paths} to the provider's batch service, {HALF}",
            paths=fmt.count(len(found.paths), tr("conversation"), tr("conversations")),
            HALF=HALF,
        )
        if can
        else why
    )
    with desk.ui.row("batch row"):
        if desk.ui.button("batch", label, icon="clock", kind="ghost", is_small=True, is_enabled=can, tip=tip):
            _submit(desk, found)


def _batch_words(desk: Desk, found: harvest_facts.ArtifactChoice) -> tuple[str, bool, str]:
    """Offer of a batch with its price, whether it can be taken, and why not."""
    offer = offer_words(harvest_facts.chosen_estimate(desk.state.harvest, found).cost_usd)
    if 0 < desk.ui.width() < OFFER_PX:
        offer = offer.partition(",")[0]
    return tr("As a batch ({offer})", offer=offer) if found.paths else tr(
        "As a batch ({offer})", offer=HALF
    ), *_can_preview(desk, found)


def _submit(desk: Desk, found: harvest_facts.ArtifactChoice) -> None:
    desk.send(BatchHarvest(paths=() if found.is_all else found.paths))
