"""Identity and memory files that a model gets: the first by its family, the others as far as their budget reaches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from msgspec.structs import replace

from core.kernel.frame import clean, one_line, size_bytes
from core.kernel.tokens import estimate_tokens
from core.kernel.values.curation import NamedText, TextTable
from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.settings import Project
from core.kernel.values.state import AppState, Level
from core.kernel.values.updates import Result, decline, notify, with_project
from core.services.settings.asked_values import may_not_write
from core.services.settings.project_tables import name_flaw
from core.services.settings.settings_messages import NamedTextStored, WriteNamedText
from core.services.settings.settings_wording import refuse_write
from core.talk.context.context_messages import DeleteNamedText, SaveNamedText
from core.talk.discussion.discussion_messages import WriteMeta

MEMORY_TOKENS = 20_000
"""Budget of memory files."""

MANIFEST = "memory-manifest"

PREFERENCE = {
    "claude": ("CLAUDE.md", "AGENTS.md", "POC.md"),
    "": ("POC.md", "AGENTS.md", "CLAUDE.md"),
}
"""Names in order of preference: Anthropic's models and all others."""


def identity_for(family: str, found: Sequence[NamedText]) -> tuple[NamedText, ...]:
    """Choose one file of each directory: the family's favourite, or what stands in for it.

    Args:
        family: `ModelProfile.family`.
        found: the files that exist, outermost directory first, `source` their path.

    Returns:
        One text a directory, in the order in which the directories were found.
    """
    ranks = PREFERENCE.get(family, PREFERENCE[""])
    best: dict[str, NamedText] = {}
    for text in found:
        path = PurePath(text.source)
        present = best.get(str(path.parent))
        if present is None or _rank(path.name, ranks) < _rank(PurePath(present.source).name, ranks):
            best[str(path.parent)] = text
    return tuple(best.values())


def _rank(name: str, ranks: Sequence[str]) -> int:
    return ranks.index(name) if name in ranks else len(ranks)


def memory_for(found: Sequence[NamedText], budget: int = MEMORY_TOKENS) -> tuple[NamedText, ...]:
    """Memory files whole within a budget of tokens, and a manifest of all of them; nothing where there are none.

    Args:
        found: sorted by name. One that does not fit is passed over, the next may.
    """
    room, whole = budget, []
    rows = []
    for text in found:
        tokens = estimate_tokens(size_bytes(text.text))
        is_here = tokens <= room
        if is_here:
            room -= tokens
            whole.append(text)
        state = "in full above" if is_here else "not here, the budget of memory files is used up"
        heading = f", “{title}”" if (title := _heading(text.text)) else ""
        rows.append(f"- {text.name}{heading}, {size_bytes(text.text):,} bytes: {state}\n")
    return (*whole, NamedText(name=MANIFEST, text="".join(rows))) if rows else ()


def _heading(text: str) -> str:
    """First heading of a Markdown text, one line, empty where it has none."""
    lines = (line.strip() for line in text.split("\n"))
    return next((one_line(line.lstrip("#"), 120) for line in lines if line.startswith("#")), "")


# Personas and system prompts as they are edited: the project's file first, then the discussions that use
# them.


def texts_of(project: Project, table: TextTable) -> dict[str, NamedText]:
    """The personas or the system prompts of a project, by name."""
    return dict(project.personas if table is TextTable.PERSONAS else project.system_prompts)


def users_of(state: AppState, table: TextTable, name: str) -> tuple[str, ...]:
    """Ids of the discussions that use a persona or a system prompt."""
    rows = state.discussions.summaries.values()
    return tuple(row.meta.id for row in rows if name and _chosen(row.meta, table) == name)


def _chosen(meta: DiscussionMeta, table: TextTable) -> str:
    return meta.persona if table is TextTable.PERSONAS else meta.system_preset


def save(state: AppState, command: SaveNamedText) -> Result:
    """Write one, new or in the place of another. What the file says by then is the worker's to look at."""
    name, known = " ".join(clean(command.name).split()), texts_of(state.config.project, command.table)
    word = command.table.word
    problem = ""
    if reason := name_flaw(name):
        problem = f"{name!r} cannot name a {word}: {reason}."
    elif name != command.old_name and name in known:
        problem = f"There is a {word} {name!r} already. Choose another name."
    elif command.old_name and command.old_name not in known:
        problem = f"There is no {word} {command.old_name!r} any more. Save it as a new one."
    elif not command.text.strip():
        problem = f"The {word} {name!r} has no text. Write what the model should be told."
    if problem:
        return decline(state, command.command_id, "text", problem), ()
    if declined := _unwritable(state, command, name, f"{name!r} is not saved"):
        return declined, ()
    root, text = state.config.project.root, clean(command.text)
    effect = WriteNamedText(
        root=root,
        table=command.table,
        name=name,
        text=text,
        old_name=command.old_name,
        base=command.base,
        used_by=command.used_by,
    )
    return state, (effect,)


def delete(state: AppState, command: DeleteNamedText) -> Result:
    """Take one out of the file."""
    if command.name not in texts_of(state.config.project, command.table):
        return state, ()
    if declined := _unwritable(state, command, command.name, f"{command.name!r} is not deleted"):
        return declined, ()
    root = state.config.project.root
    return state, (
        WriteNamedText(root=root, table=command.table, name=command.name, text=None, base=command.base),
    )


def _unwritable(
    state: AppState, command: SaveNamedText | DeleteNamedText, name: str, what: str
) -> AppState | None:
    """Say why nothing can be written to the project's file, None where it can be."""
    project = state.config.project
    if not project.root:
        detail = "Open one first."
        return decline(state, command.command_id, "text", f"{what}: no project folder is open.", detail)
    if may_not_write(project, command.table.value, name):
        return refuse_write(state, command.command_id, "text", what)
    return None


def stored(state: AppState, event: NamedTextStored) -> Result:
    """The file says so now: it counts at once, and discussions follow a new name or let go of what is deleted."""
    project, old = state.config.project, event.old_name or event.name
    known = texts_of(project, event.table)
    users = users_of(state, event.table, old)
    if event.text is None:
        known.pop(old, None)
        state, metas = _choose(state, event.table, users, "")
        state = _say_deleted(state, event, users)
    else:
        text = NamedText(name=event.name, text=event.text, source=event.source)
        if old in known:
            known = {
                (text.name if key == old else key): (text if key == old else t) for key, t in known.items()
            }
        else:
            known[text.name] = text
        idle = tuple(key for key in event.used_by if not _uses_any(state, event.table, key))
        state, metas = _choose(state, event.table, (*users, *idle), event.name)
    is_persona = event.table is TextTable.PERSONAS
    project = replace(project, personas=known) if is_persona else replace(project, system_prompts=known)
    return with_project(state, project), metas


def _uses_any(state: AppState, table: TextTable, discussion_id: str) -> bool:
    row = state.discussions.summaries.get(discussion_id)
    return row is None or bool(_chosen(row.meta, table))


def _choose(state: AppState, table: TextTable, ids: tuple[str, ...], name: str) -> Result:
    rows, effects = dict(state.discussions.summaries), []
    for key in ids:
        old = rows[key].meta
        is_persona = table is TextTable.PERSONAS
        meta = replace(old, persona=name) if is_persona else replace(old, system_preset=name)
        if meta != old:
            rows[key] = replace(rows[key], meta=meta)
            effects.append(WriteMeta(meta))
    return replace(state, discussions=replace(state.discussions, summaries=rows)), tuple(effects)


def _say_deleted(state: AppState, event: NamedTextStored, users: tuple[str, ...]) -> AppState:
    used = "" if not users else f" {len(users)} discussion{'s' if len(users) > 1 else ''} used it."
    kept = f"Its text still stands in {event.source}" if event.source else ""
    again = SaveNamedText(table=event.table, name=event.name, text=event.old_text, used_by=users)
    text = f"The {event.table.word} {event.name!r} is deleted.{used}"
    return notify(state, "text", Level.INFO, text, kept, action=again, action_label="Undo")
