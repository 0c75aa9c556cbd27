"""The command palette: every action, discussion, message and item of knowledge by a few letters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.search_terms import begins_words, likest, plain_terms
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import ChangeSetting
from core.talk.discussion.discussion_messages import SearchDiscussions, SelectDiscussion
from panels.base.desk import KEY, Action, Desk, DrawDialog, flaw_of, normal_chord, run_action, with_chord
from panels.base.ui import Surface
from panels.base.view import Dialog
from panels.discussion.completions import choose_template
from panels.discussion.find_bar import landing_of
from panels.discussion.view import DiscussionView, Landing
from panels.knowledge.knowledge_room import KnowledgeView
from panels.settings.settings_room import PAGES
from panels.shell.layout import MENUS
from panels.shell.rooms import ROOMS

# Finds of the palette: actions, discussions, messages, knowledge, facts and presets, each with its kind.

SHOWN = 12
OF_A_KIND = 3
"""Lines of messages, of knowledge, of facts, of presets: each kind has its place beside the others."""
LEAST_CHARS = 3
"""Characters from which more than names is looked through."""
LABEL_CHARS = 90
SCATTERED = 100
"""Distance from which the letters of a query stand apart in a label."""


class PaletteHit(msgspec.Struct, frozen=True):
    """A line of the palette.

    Args:
        words: other words by which it is found; key: tells it from the others; run: what choosing it does; is_name: a command or a discussion, which come first.
    """

    label: str
    icon: str
    detail: str
    key: Hashable
    run: Callable[[Desk], None]
    is_name: bool = False
    words: str = ""


def hits(desk: Desk, query: str) -> tuple[PaletteHit, ...]:
    """Lines for what was typed, best first, a screenful at most. The same tuple while nothing that it depends on changed."""
    can_do: list[Action] = []
    off: list[Action] = []
    for action in desk.actions.values():
        if action.id != "palette":
            (can_do if action.is_enabled(desk) else off).append(action)
    state = desk.state
    labels = "\n\n".join("\n".join(one.shown_label(desk) for one in some) for some in (can_do, off))
    parts = (
        state.discussions.summaries, state.discussions.search, state.knowledge, state.config.project.presets,
        state.config.templates, query, labels,
    )  # fmt: skip
    return desk.view.memo.get("palette", parts, lambda: _search(desk, can_do, off, query))


def _search(
    desk: Desk, can_do: Sequence[Action], off: Sequence[Action], query: str
) -> tuple[PaletteHit, ...]:
    actions = [_action(desk, one) for one in can_do]
    if not query.strip():
        return tuple(actions[:SHOWN])
    named = [*actions, *_settings_pages(), *_discussions(desk.state)]
    names, others = best(named, query), _others(desk.state, query)
    if not names and not others:
        like = likest(query, [one.label for one in named], SHOWN)
        not_now = best((_off(desk, one) for one in off), query)
        return (*not_now, *(named[place] for place in like))[:SHOWN]
    return (*names[: SHOWN - len(others)], *others)


def _others(state: AppState, query: str) -> tuple[PaletteHit, ...]:
    if len(query.strip()) < LEAST_CHARS:
        return ()
    kinds = (
        _templates(state, query),
        _presets(state, query),
        _messages(state, query),
        _facts(state, query),
        _knowledge(state, query),
    )
    return tuple(hit for kind in kinds for hit in kind[:OF_A_KIND])[: SHOWN - OF_A_KIND]


def _action(desk: Desk, action: Action) -> PaletteHit:
    return PaletteHit(
        label=action.shown_label(desk),
        icon=action.icon,
        detail=action.shown_chord(desk.state),
        key=("action", action.id),
        run=lambda d: run_action(action.id, d),
        is_name=True,
        words=action.words,
    )


def _settings_pages() -> Iterable[PaletteHit]:
    for page in PAGES:
        yield PaletteHit(
            label=tr("Settings: {page}", page=page.label),
            icon=page.icon,
            detail="",
            key=("settings", page.id),
            run=_shows_settings(page.id),
            is_name=True,
            words=page.words,
        )


def _shows_settings(page_id: str) -> Callable[[Desk], None]:
    return lambda desk: desk.view.show_settings(page_id)


def _off(desk: Desk, action: Action) -> PaletteHit:
    """A command that cannot be done now: to find it and read so beats finding nothing."""

    def say(desk: Desk) -> None:
        why = action.why_not(desk) or tr("{label}: not possible now", label=action.shown_label(desk))
        desk.view.said = (desk.state.discussions.selected_id, why)

    return replace(_action(desk, action), detail=tr("not now"), run=say)


def _discussions(state: AppState) -> Iterable[PaletteHit]:
    for row in state.discussions.summaries.values():
        name, discussion_id = row.meta.name, row.meta.id
        yield PaletteHit(
            label=name, icon="comments", detail=tr("discussion"), key=("discussion", discussion_id),
            run=_opens(discussion_id), is_name=True,
        )  # fmt: skip


def _opens(discussion_id: str, landing: Landing | None = None) -> Callable[[Desk], None]:
    def run(desk: Desk) -> None:
        desk.view.page = "chat"
        if landing is not None:
            desk.view.of(DiscussionView).landing = landing
        desk.send(SelectDiscussion(discussion_id))

    return run


def _messages(state: AppState, query: str) -> list[PaletteHit]:
    found = state.discussions.search
    if found.query.strip() != query.strip():
        return []
    return [
        PaletteHit(
            label=one_line(found.lines.get(name, ""), LABEL_CHARS),
            icon="message",
            detail=tr("message · {name}", name=one_line(state.discussions.summaries[name].meta.name, 30)),
            key=("message", name, found.messages[name]),
            run=_opens(name, landing_of(found, query, name)),
        )
        for name in found.ids
        if name in found.messages and name in state.discussions.summaries
    ]


def _holds(text: str, terms: tuple[str, ...]) -> bool:
    folded = text.casefold()
    return all(term in folded for term in terms)


def _terms(query: str) -> tuple[str, ...]:
    return tuple(term.casefold() for term in plain_terms(query)) or (query.strip().casefold(),)


def _templates(state: AppState, query: str) -> list[PaletteHit]:
    terms = _terms(query)
    return [
        PaletteHit(
            label=name, icon="file-lines", detail=tr("template"), key=("template", name), run=_inserts(name)
        )
        for name in state.config.templates
        if _holds(name, terms)
    ]


def _inserts(name: str) -> Callable[[Desk], None]:
    def run(desk: Desk) -> None:
        choose_template(desk, name)

    return run


def _presets(state: AppState, query: str) -> list[PaletteHit]:
    terms = _terms(query)
    return [
        PaletteHit(
            label=name, icon="layer-group", detail=tr("preset"), key=("preset", name), run=_show_presets
        )
        for name in state.config.project.presets
        if _holds(name, terms)
    ]


def _show_presets(desk: Desk) -> None:
    desk.view.show_hub("presets")


def _facts(state: AppState, query: str) -> list[PaletteHit]:
    terms = _terms(query)
    facts = (one for one in state.knowledge.facts.facts if _holds(one.text, terms))
    return [
        PaletteHit(label=one_line(one.text, LABEL_CHARS), icon="lightbulb", detail=tr("fact · {domain}", domain=one.domain), key=("fact", one.id),
                   run=_shows_fact(query))
        for one, _ in zip(facts, range(OF_A_KIND), strict=False)
    ]  # fmt: skip


def _shows_fact(query: str) -> Callable[[Desk], None]:
    def run(desk: Desk) -> None:
        own = desk.view.of(KnowledgeView)
        own.tab, own.fact_query = "facts", " ".join(plain_terms(query))
        own.fact_domain = own.fact_category = own.fact_tag = ""
        desk.view.show_hub("knowledge")

    return run


def _knowledge(state: AppState, query: str) -> list[PaletteHit]:
    terms = _terms(query)
    items = (item for file in state.knowledge.categories for item in file.items if _holds(item.text, terms))
    return [
        PaletteHit(label=one_line(item.text, LABEL_CHARS), icon="book", detail=tr("knowledge · {file}", file=item.file),
                   key=("knowledge", item.file, item.first_line), run=_shows_item(query))
        for item, _ in zip(items, range(OF_A_KIND), strict=False)
    ]  # fmt: skip


def _shows_item(query: str) -> Callable[[Desk], None]:
    def run(desk: Desk) -> None:
        own = desk.view.of(KnowledgeView)
        own.tab, own.query = "items", query.strip()
        desk.view.show_hub("knowledge")

    return run


def best(named: Iterable[PaletteHit], query: str) -> tuple[PaletteHit, ...]:
    """The hits whose label has the letters of `query` in order, or that its words mean, best first, a screenful at most."""
    ranked = ((_rank(hit, query), index, hit) for index, hit in enumerate(named))
    found = sorted(((r, index, hit) for r, index, hit in ranked if r is not None), key=lambda one: one[:2])
    return tuple(hit for *_, hit in found[:SHOWN])


def _rank(hit: PaletteHit, query: str) -> int | None:
    """Distance of a hit from a query. Words that it means stand behind those that its label has, and before scattered letters."""
    own = rank(hit.label, query)
    if begins_words(query, hit.words):
        return SCATTERED - 1 if own is None else min(SCATTERED - 1, own)
    return own


def rank(label: str, query: str) -> int | None:
    """Distance of a label from a query, smaller is nearer; None where its letters are not there in order."""
    text, wanted = label.casefold(), "".join(query.casefold().split())
    at = text.find(query.casefold().strip())
    if at >= 0:
        return at if at == 0 or not text[at - 1].isalnum() else 20 + at
    position, gaps = -1, 0
    for letter in wanted:
        found = text.find(letter, position + 1)
        if found < 0:
            return None
        gaps += found - position - 1
        position = found
    return SCATTERED + gaps


# The command palette: every action and every discussion by a few letters, and all that holds the words that
# are typed.

ROW_PX = 34.0
HINT = tr("Type a command, a name, or words to find")


def palette(desk: Desk, dialog: Dialog) -> None:
    """Draw the palette. Enter does what is marked; Up and Down move the mark."""
    ui, view = desk.ui, desk.view
    chosen: PaletteHit | None = None
    with ui.dialog("palette", tr("Command palette"), width=560, is_summoned=True) as closed:
        typed = ui.text_input("query", dialog.text, hint=HINT,
                              icon="magnifying-glass", is_focused=True)  # fmt: skip
        if typed is not None:
            dialog.text, dialog.at, dialog.is_entered = typed, 0, False
            _look(desk, typed)
        found = hits(desk, dialog.text)
        dialog.at = _moved(desk, dialog.at, len(found))
        if not found:
            ui.text("none", tr("No command, name or text matches."), tone="muted", wraps=True)
        for index, hit in enumerate(found):
            kind: Surface = "card_selected" if index == dialog.at else "clear"
            with (
                ui.clickable(hit.key, kind, height=ROW_PX, padding=(10, 5)) as clicks,
                ui.row("line", height=ROW_PX - 10),
            ):
                ui.icon("icon", hit.icon)
                ui.text("label", hit.label, width=0)
                ui.text("detail", hit.detail, tone="faint", style="small")
            if clicks.clicked:
                chosen = hit
        if ui.shortcut("Enter", while_typing=True):
            dialog.is_entered = True
            _look(desk, dialog.text)
        if dialog.is_entered and (dialog.at or _is_settled(desk.state, found, dialog.text)):
            dialog.is_entered = False
            chosen = found[dialog.at] if found else chosen
    if chosen is None and not closed.clicked and not ui.shortcut("Escape"):
        return
    view.dialog = None
    if chosen is not None:
        chosen.run(desk)
    if dialog.text:
        _look(desk, view.of(DiscussionView).search_text)


def _moved(desk: Desk, at: int, count: int) -> int:
    step = int(desk.ui.shortcut("Down", while_typing=True)) - int(desk.ui.shortcut("Up", while_typing=True))
    return (at + step) % count if count else 0


def _is_settled(state: AppState, found: Sequence[PaletteHit], query: str) -> bool:
    """True if no message that is still looked for can become the first line: a name has the letters, or all was looked through."""
    wanted, search = _wanted(query), state.discussions.search
    if not wanted or (search.query == wanted and search.is_complete):
        return True
    return bool(found) and found[0].is_name and rank(found[0].label, query) is not None


def _wanted(query: str) -> str:
    return query.strip() if len(query.strip()) >= LEAST_CHARS else ""


def _look(desk: Desk, query: str) -> None:
    """Have messages looked through for what is typed; for that of the list's search again once the palette is closed."""
    wanted = _wanted(query)
    if wanted != desk.state.discussions.search.query:
        desk.send(SearchDiscussions(wanted))


# The dialogs over the window, by kind: the rooms', the palette, the list of shortcuts.

CHORD_PX = 150.0
MORE_CHORDS = (
    (tr("Earlier messages, while the composer is empty"), "Up, Down"),
    (tr("Complete, choose, accept a suggestion"), "Tab, Up and Down, Enter"),
    (tr("Next and previous match"), "F3, Shift+F3"),
    (tr("Close open dialogs, then stop the reply"), "Escape"),
)


def dialogs(desk: Desk) -> None:
    """Draw the open dialog, if any."""
    dialog = desk.view.dialog
    if dialog is None:
        return
    draw = DIALOGS.get(dialog.kind)
    if draw is None:
        desk.view.dialog = None
        return
    draw(desk, dialog)


def _shortcuts(desk: Desk, dialog: Dialog) -> None:
    """Draw the list of shortcuts, each of which can be changed. Sends ChangeSetting."""
    ui = desk.ui
    with (
        ui.dialog("shortcuts", tr("Keyboard shortcuts"), width=560, height=560) as closed,
        ui.surface("list", "clear", height=0, padding=(0, 0), scrolls=True),
    ):
        ui.text("how", tr("Click a shortcut, then press the new keys."), tone="muted", style="small")
        for menu in MENUS:
            ui.text(("menu", menu), menu, style="small_strong", tone="muted")
            for action in desk.actions.values():
                if action.menu == menu and (action.chord or action.heard_chord(desk.state)):
                    _shortcut(desk, dialog, action)
        ui.text("more title", tr("More shortcuts"), style="small_strong", tone="muted")
        for label, chord in MORE_CHORDS:
            _chord(desk, label, chord)
        _unbound(desk, dialog)
    if closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None


def _shortcut(desk: Desk, dialog: Dialog, action: Action) -> None:
    if not action.is_bound or action.chord_of is not None:
        _chord(desk, action.shown_label(desk), action.shown_chord(desk.state))
        return
    if dialog.subject == action.id:
        _edit_shortcut(desk, dialog, action)
        return
    with desk.ui.row(("chord", action.id)):
        desk.ui.text("label", action.shown_label(desk))
        desk.ui.push()
        chord = action.heard_chord(desk.state) or tr("none")
        tip = tr("Change the shortcut of {label}", label=action.label)
        if desk.ui.button("change", chord, kind="ghost", is_small=True, tip=tip):
            dialog.subject, dialog.text = action.id, action.heard_chord(desk.state)


def _edit_shortcut(desk: Desk, dialog: Dialog, action: Action) -> None:
    """The field for another chord; a chord that cannot be, or is taken, is said under it."""
    ui, own = desk.ui, desk.state.config.settings.appearance.shortcuts
    if pressed := ui.pressed_chord():
        # A field that is typed in takes no text from outside: another one stands in its place.
        dialog.text, dialog.at = pressed, dialog.at + 1
    chord = normal_chord(dialog.text)
    why = "" if chord == action.heard_chord(desk.state) else flaw_of(chord) or _taken(desk, action, chord)
    with ui.group(("edit", action.id), gap=4):
        with ui.row("line"):
            ui.text("label", action.shown_label(desk), style="strong")
            ui.push()
            typed = ui.text_input(
                ("chord", dialog.at), dialog.text, hint="Ctrl+Shift+P", width=CHORD_PX, is_focused=True
            )
            if typed is not None:
                dialog.text = typed
            is_set = ui.button("set", tr("Set"), kind="primary", is_small=True, is_enabled=not why)
            is_set = is_set or (not why and ui.shortcut("Enter", while_typing=True))
            is_usual = ui.button(
                "usual",
                tr("Reset"),
                is_small=True,
                tip=tr("Use the original shortcut {value} again", value=action.chord or tr("none")),
            )
            is_none = ui.button("none", tr("None"), is_small=True, tip=tr("Use no shortcut for this command"))
        if why:
            ui.text("why", why, tone="warn", style="small", wraps=True)
    if is_set or is_usual or is_none:
        dialog.subject = ""
        desk.send(
            ChangeSetting(KEY, with_chord(own, action.id, chord if is_set else None if is_usual else ""))
        )


def _taken(desk: Desk, action: Action, chord: str) -> str:
    """The action that has a chord already, in a sentence; empty where none has."""
    for one in desk.actions.values():
        if one.id != action.id and chord in {one.shown_chord(desk.state), one.second_chord}:
            return tr(
                "{shortcut} belongs to {label}. Change that shortcut first.", shortcut=chord, label=one.label
            )
    return ""


def _unbound(desk: Desk, dialog: Dialog) -> None:
    """Actions without a shortcut, so that one can be given to them."""
    desk.ui.text("unbound", tr("Without a shortcut"), style="small_strong", tone="muted")
    for action in desk.actions.values():
        if not action.chord and not action.heard_chord(desk.state):
            _shortcut(desk, dialog, action)


def _chord(desk: Desk, label: str, chord: str) -> None:
    with desk.ui.row(("chord", label)):
        desk.ui.text("label", label)
        desk.ui.push()
        desk.ui.badge("chord", chord)


DIALOGS: dict[str, DrawDialog] = {kind: draw for room in ROOMS for kind, draw in room.dialogs.items()}
DIALOGS |= {"palette": palette, "shortcuts": _shortcuts}
