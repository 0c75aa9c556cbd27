"""Layers of files: identity and memory files by their family, and the set of curated files, whole, in slices or as outlines."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath

import msgspec
from msgspec.structs import replace

from core.kernel.frame import clean, empty_frame, frame, frame_ends, one_line, quoted, size_bytes
from core.kernel.language import as_sentences, tr
from core.kernel.tokens import estimate_tokens
from core.kernel.values.curation import (
    FileItem,
    FileMode,
    FileProblemKind,
    FileSnapshot,
    ItemFiles,
    LineRange,
    NamedText,
    Preset,
    TextTable,
)
from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.settings import Project
from core.kernel.values.stack import LayerId
from core.kernel.values.state import AppState, Level
from core.kernel.values.updates import Result, decline, notify, with_project
from core.services.settings.asked_values import may_not_write, refuse_write
from core.services.settings.project_tables import name_flaw
from core.services.settings.settings_messages import NamedTextStored, WriteNamedText
from core.talk.context.context_messages import DeleteNamedText, SaveNamedText
from core.talk.context.outline import why_no_outline
from core.talk.context.pieces import (
    AS_TEXT,
    Layer,
    Piece,
    StackMemo,
    digest,
    full_key,
    make_layer,
    text_piece,
    unique_key,
)
from core.talk.discussion.discussion_messages import WriteMeta

# Layers 9 and 10: the set of curated files, and each file whole, in slices, as an outline or as notes.

# Parts of a file: slices by lines or symbols with their numbers stated, and outlines.


def sliced_text(item: FileItem, file: FileSnapshot) -> str:
    """The chosen lines, in file order, overlapping ranges joined, each with its line numbers.

    A symbol or a range that the file does not have is a visible gap.
    """
    lines = file.text.split("\n")
    count = len(lines) - 1 if file.text.endswith("\n") else len(lines)
    by_name = {symbol.name: symbol.lines for symbol in reversed(file.symbols)}
    missing = [empty_frame("missing", symbol=name) for name in item.symbols if name not in by_name]
    wanted = [*item.slices, *(by_name[name] for name in item.symbols if name in by_name)]
    missing += [empty_frame("missing", lines=_numbers(r)) for r in wanted if r.first > count or r.first < 1]
    ranges = joined_ranges(
        LineRange(r.first, min(r.last, count)) for r in wanted if 1 <= r.first <= min(count, r.last)
    )
    shown = [frame("lines", _taken(lines, r), at=f"{_numbers(r)} of {count}") for r in ranges]
    return "".join([*shown, *missing])


def outline_text(file: FileSnapshot) -> str:
    """One line for each symbol: its line numbers and signature, indented by depth."""
    if not file.symbols:
        return empty_frame("missing", outline=why_no_outline(file.path, file.text))
    return "".join(f"{'  ' * s.depth}{_numbers(s.lines)}: {s.signature}\n" for s in file.symbols)


def joined_ranges(ranges: Iterable[LineRange]) -> list[LineRange]:
    """Ranges sorted, those that overlap or touch made one."""
    joined: list[LineRange] = []
    for current in sorted(ranges):
        if joined and current.first <= joined[-1].last + 1:
            joined[-1] = LineRange(joined[-1].first, max(joined[-1].last, current.last))
        else:
            joined.append(current)
    return joined


def _numbers(lines: LineRange) -> str:
    return str(lines.first) if lines.first == lines.last else f"{lines.first}-{lines.last}"


def _taken(lines: list[str], chosen: LineRange) -> str:
    return "\n".join(lines[chosen.first - 1 : chosen.last]) + "\n"


_WHY = {
    FileProblemKind.VANISHED: "the file is not there any more",
    FileProblemKind.BINARY: "binary",
    FileProblemKind.TOO_LARGE: "too large",
    FileProblemKind.UNREADABLE: "cannot be read",
    FileProblemKind.NOT_UTF8: "not UTF-8",
    FileProblemKind.NOT_A_FILE: "not a regular file",
    FileProblemKind.OUTSIDE: "outside the project",
    FileProblemKind.KEYS: "may hold keys",
    FileProblemKind.EMPTY_GLOB: "no file matches",
    FileProblemKind.TOO_MANY: "too many files match",
}
"""Words to a model about a problem. No figures: a refused file that grows must not change the context."""


class _Entry(msgspec.Struct, frozen=True):
    """A file with the item that asked for it, or an item that gives no file."""

    item: FileItem
    file: FileSnapshot | None
    problem: str = ""


class FilesCount(msgspec.Struct, frozen=True):
    """The files of a preset as they are sent: each once, those that cannot be read not among them.

    Args:
        tokens_est: of all that are counted; is_whole: whether that is all.
    """

    files: int
    tokens_est: int
    is_whole: bool


def count_files(items: Iterable[ItemFiles], sent: Mapping[str, int]) -> FilesCount:
    """Count the files of a preset's enabled items.

    Args:
        sent: tokens of each file in the stack as it would be sent, by path; before it is known, of whole files.
    """
    files, tokens, is_whole = 0, 0, True
    seen: set[str] = set()
    for found in items:
        for file in found.files if found.item.enabled else ():
            if file.path in seen:
                continue
            seen.add(file.path)
            files += file.problem is None
            whole = file.tokens if found.item.mode is FileMode.WHOLE else None
            known = sent.get(file.path, whole if file.problem is None else 0)
            tokens, is_whole = tokens + (known or 0), is_whole and known is not None
    return FilesCount(files=files, tokens_est=tokens, is_whole=is_whole)


def file_set_layer(preset_name: str, items: tuple[ItemFiles, ...]) -> Layer:
    """Layer 9: the paths of the preset in the order of layer 10, and how much of each is shown."""
    entries = list(_entries(items))
    if not entries:
        return make_layer(LayerId.FILE_SET, [])
    text = frame("preset", "".join(map(_listed, entries)), name=preset_name)
    return make_layer(LayerId.FILE_SET, [text_piece(LayerId.FILE_SET, "", text)])


def file_details_layer(items: tuple[ItemFiles, ...], memo: StackMemo) -> Layer:
    """Layer 10: one piece a file. Files that did not change are taken from the memo."""
    known = memo.pieces(LayerId.FILE_DETAILS)
    taken: set[str] = set()
    pieces: list[Piece] = []
    for entry in _entries(items):
        content = _content(entry)
        found = known.get(content) or known.put(content, (_rendered(entry),))
        pieces.append(_with_key(found[0], unique_key(_path(entry), taken)))
    known.keep()
    return make_layer(LayerId.FILE_DETAILS, pieces)


def _entries(items: tuple[ItemFiles, ...]) -> Iterator[_Entry]:
    """Pinned items first, then the preset's order. A file that is named by itself is left out of globs."""
    enabled = [found for found in items if found.item.enabled]
    enabled.sort(key=lambda found: not found.item.pinned)
    globs = [found.item.is_glob for found in enabled]
    pairs = list(zip(enabled, globs, strict=True))
    seen = {file.absolute_path for found, is_glob in pairs if not is_glob for file in found.files}
    for found, is_glob in pairs:
        if found.problem is not None:
            yield _Entry(item=found.item, file=None, problem=_WHY[found.problem.kind])
        for file in found.files:
            if is_glob:
                if file.absolute_path in seen:
                    continue
                seen.add(file.absolute_path)
            yield _Entry(item=found.item, file=file)


def _path(entry: _Entry) -> str:
    return entry.item.path if entry.file is None else entry.file.path


def _listed(entry: _Entry) -> str:
    path = quoted(_path(entry))
    if entry.file is None or entry.file.problem is not None:
        return f"{path} (not available)\n"
    match entry.item.mode:
        case FileMode.WHOLE:
            return f"{path}\n"
        case FileMode.SLICES:
            return f"{path} (slices)\n"
        case FileMode.OUTLINE:
            return f"{path} (outline)\n"
        case FileMode.NOTES:
            return f"{path} (notes only)\n"


def _content(entry: _Entry) -> Hashable:
    """All that the rendering of an entry depends on, by content."""
    item, file = entry.item, entry.file
    if file is None:
        return (item.path, entry.problem, item.notes)
    content = file.text_sha256 or file.text
    if item.mode is FileMode.WHOLE:
        return (file.path, content, file.problem, item.notes)
    return (file.path, content, file.problem, item.notes, item.mode, item.slices, item.symbols, file.symbols)


def _rendered(entry: _Entry) -> Piece:
    item, file = entry.item, entry.file
    notes = frame("notes", item.notes) if item.notes.strip() else ""
    if file is None:
        return _unavailable("files", item.path, entry.problem, notes)
    if file.problem is not None:
        return _unavailable("file", file.path, _WHY[file.problem.kind], notes)
    match item.mode:
        case FileMode.WHOLE:
            return _whole(file, notes)
        case FileMode.SLICES:
            return _framed(file, notes + sliced_text(item, file), "slices")
        case FileMode.OUTLINE:
            return _framed(file, notes + outline_text(file), "outline")
        case FileMode.NOTES:
            return _framed(file, notes, "notes only")


def _whole(file: FileSnapshot, notes: str) -> Piece:
    """The file as it is. Its digest is made from the content's, which reading has made already."""
    if notes:
        head, tail = frame_ends("content", file.text)
        return _framed(file, f"{notes}{head}{file.text}{tail}", "")
    head, tail = frame_ends("file", file.text, path=file.path)
    content = file.text_sha256 or digest(file.text)
    key = full_key(LayerId.FILE_DETAILS, file.path)
    return Piece(
        key=key, parts=(head, file.text, tail), sha256=digest(f"{head}{content}{tail}"), wire=AS_TEXT
    )


def _framed(file: FileSnapshot, body: str, shown: str) -> Piece:
    return text_piece(LayerId.FILE_DETAILS, file.path, frame("file", body, path=file.path, shown=shown))


def _unavailable(tag: str, path: str, why: str, notes: str) -> Piece:
    """A gap that the model and the person can see."""
    gap = empty_frame("unavailable", reason=why)
    return text_piece(LayerId.FILE_DETAILS, path, frame(tag, gap + notes, path=path))


def _with_key(piece: Piece, key: str) -> Piece:
    """The piece under the key that it has in this stack (a file may stand in a preset twice)."""
    full = full_key(LayerId.FILE_DETAILS, key)
    return piece if piece.key == full else replace(piece, key=full)


DEFAULT_PRESET = "default"


def free_name(presets: Mapping[str, Preset], wanted: str) -> str:
    """A name that no preset has yet: `wanted`, `wanted 2`, …"""
    names = (wanted, *(f"{wanted} {n}" for n in range(2, len(presets) + 3)))
    return next(name for name in names if name not in presets)


# Identity and memory files that a model gets: the first by its family, the others as far as their budget
# reaches.

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
        problem = tr(
            "{name!r} cannot be the name of a {kind}: {reason}.", name=name, kind=word, reason=reason
        )
    elif name != command.old_name and name in known:
        problem = tr("There is a {kind} {name!r} already. Choose another name.", kind=word, name=name)
    elif command.old_name and command.old_name not in known:
        problem = tr(
            "There is no {kind} {old_name!r} any more. Save the text as a new one.",
            kind=word,
            old_name=command.old_name,
        )
    elif not command.text.strip():
        problem = tr(
            "The {kind} {name!r} has no text. Write what the model should read.", kind=word, name=name
        )
    if problem:
        return decline(state, command.command_id, "text", problem), ()
    if declined := _unwritable(state, command, name, tr("The program did not save {name!r}", name=name)):
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
    if declined := _unwritable(
        state, command, command.name, tr("The program did not delete {name!r}", name=command.name)
    ):
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
        detail = tr("Open a project folder first.")
        return decline(
            state,
            command.command_id,
            "text",
            tr("{failure}: no project folder is open.", failure=what),
            detail,
        )
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
    used = tr("1 discussion used it.") if users else ""
    if len(users) > 1:
        used = tr("{count} discussions used it.", count=len(users))
    kept = tr("The deleted text is still in {source}", source=event.source) if event.source else ""
    again = SaveNamedText(table=event.table, name=event.name, text=event.old_text, used_by=users)
    gone = tr("The {kind} {name!r} is deleted.", kind=event.table.word, name=event.name)
    text = as_sentences(gone, used)
    return notify(state, "text", Level.INFO, text, kept, action=again, action_label=tr("Undo"))
