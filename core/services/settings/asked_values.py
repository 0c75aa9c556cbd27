"""Values that a project asks for: what is compared, how each reads, which weigh, and the one wording of the question."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from core.kernel import figures
from core.kernel.errors import at_line
from core.kernel.frame import one_line
from core.kernel.language import all_of, any_of, joined, spliced, tr
from core.kernel.values.curation import FileItem, FileMode, Preset, TextTable
from core.kernel.values.provider import ProviderKind
from core.kernel.values.settings import AskedValue, Project, SettingsFault
from core.kernel.values.state import AppState, CommandOutcome, Level
from core.kernel.values.updates import conclude, dismiss, notify
from core.services.providers.key_names import KEYLESS, key_variables, sharers
from core.services.settings.project_tables import ProjectTables, TextSource, item_table, may_set, server_of
from core.services.settings.settings_checks import is_mcp_key
from core.services.settings.settings_messages import TrustProject
from core.services.settings.settings_schema import VENDORS, Value

# Values that a project asks for: each with what is compared and how it reads; which were shown, and what
# counts of them.

Shown = tuple[tuple[str, ...], str]
"""Place and value of something that a person was shown."""

_KEPT_CHARS = 200
"""A longer value is compared, and kept, by its hash."""

_VENDOR_HOSTS = {
    ProviderKind.ANTHROPIC: "api.anthropic.com",
    ProviderKind.OPENAI: "api.openai.com",
    ProviderKind.GEMINI: "generativelanguage.googleapis.com",
    ProviderKind.CLAUDE_CODE: tr("Claude Code, under the account that is logged in there"),
}


class ProjectFacts(msgspec.Struct, frozen=True):
    """Facts of the disk and of the person's settings about what a project's file names.

    Args:
        folders: for each allowed root as written its resolved path; one inside the project has none, for it gives nothing.
        outside: for each path as written that leads out of the project its resolved path.
        texts: texts of personas and system prompts by table and name, LF and clean; absent where it cannot be read.
        servers: addresses of the person's providers by id, empty for the vendor's own.
        own_servers: those that the person's settings define, as `server_of` names them, which a project cannot change.
    """

    folders: Mapping[str, str] = msgspec.field(default_factory=dict)
    outside: Mapping[str, str] = msgspec.field(default_factory=dict)
    texts: Mapping[tuple[str, str], str] = msgspec.field(default_factory=dict)
    servers: Mapping[str, str] = msgspec.field(default_factory=dict)
    own_servers: frozenset[str] = frozenset()


def asked_values(tables: ProjectTables, facts: ProjectFacts) -> tuple[AskedValue, ...]:
    """All that a project asks for and may have, in the order in which it is shown. Pure and total.

    Nothing that a person would have without the project's file is asked for: an item that is switched off, the default.
    """
    return tuple(_asked(tables, facts))


def unshown(asked: Collection[AskedValue], shown: frozenset[Shown]) -> tuple[AskedValue, ...]:
    """The values that no person was shown, each with what was shown last in its place."""
    now = {shown_as(one) for one in asked}
    gone = dict(sorted(shown - now))
    return tuple(replace(one, was=gone.get(one.place, "")) for one in asked if shown_as(one) not in shown)


def shown_as(asked: AskedValue) -> Shown:
    """Place and value: all that is kept of a value once it was shown."""
    return asked.place, asked.value


def question_id(asked: Collection[AskedValue]) -> str:
    """Id of a question of trust, by all that it asks for: a yes to one does not answer another. Empty for no question."""
    if not asked:
        return ""
    rows = sorted([*one.place, one.value] for one in asked)
    return _sha256(json.dumps(rows, ensure_ascii=False))


def may_not_write(project: Project, table: str, name: str) -> bool:
    """True where writing an entry of a table would write over what the person was not shown."""
    is_unseen = any(one.place[:2] == (table, name) for one in project.asked)
    return project.has_file and (not project.is_trusted or is_unseen)


def counting(tables: ProjectTables, facts: ProjectFacts, shown: frozenset[Shown]) -> ProjectTables:
    """The tables with nothing in them but what was shown; `allowed_roots` resolved, no name and nothing raw."""

    def counts(asked: AskedValue) -> bool:
        return shown_as(asked) in shown

    presets = {}
    for name, preset in tables.presets.items():
        items = tuple(item for item in preset.items if not item.enabled or counts(_item(name, item, facts)))
        if items or not preset.items:
            presets[name] = Preset(name, items)
    servers = {one.place[1] for one in _servers(tables.values, facts) if counts(one)}
    servers |= {f"mcp.servers.{one.place[1]}" for one in _mcp_servers(tables.raw, facts) if counts(one)}
    return ProjectTables(
        context=tuple(source for source in tables.context if counts(_context(source, facts))),
        domain=tables.domain if counts(_domain(tables.domain)) else "",
        has_identity=tables.has_identity or not counts(_NO_IDENTITY),
        memory=tuple(name for name in tables.memory if counts(_memory(name, facts))),
        allowed_roots=tuple(one.value for one in _folders(tables, facts) if counts(one)),
        presets=presets,
        personas=_counting_texts(tables.personas, TextTable.PERSONAS, facts, shown),
        system_prompts=_counting_texts(tables.system_prompts, TextTable.SYSTEM_PROMPTS, facts, shown),
        values={
            key: value
            for key, value in tables.values.items()
            if may_set(key, facts.own_servers)
            and (server_of(key) in servers if server_of(key) else counts(_setting(key, value, facts, {})))
        },
        prompts={name: text for name, text in tables.prompts.items() if counts(_prompt(name, text))},
    )


def _counting_texts(
    sources: Mapping[str, TextSource], table: TextTable, facts: ProjectFacts, shown: frozenset[Shown]
) -> dict[str, TextSource]:
    return {
        name: source
        for name, source in sources.items()
        if shown_as(_text(table, name, source, facts)) in shown
    }


def _asked(tables: ProjectTables, facts: ProjectFacts) -> Iterator[AskedValue]:
    yield from _servers(tables.values, facts)
    addresses = {
        key.split(".")[1]: str(value)
        for key, value in tables.values.items()
        if key.endswith(".base_url") and may_set(key, facts.own_servers)
    }
    for key, value in tables.values.items():
        if not server_of(key) and may_set(key, facts.own_servers):
            yield _setting(key, value, facts, addresses)
    yield from _folders(tables, facts)
    for name, preset in tables.presets.items():
        yield from (_item(name, item, facts) for item in preset.items if item.enabled)
    yield from (_context(source, facts) for source in tables.context)
    for table, sources in (
        (TextTable.PERSONAS, tables.personas),
        (TextTable.SYSTEM_PROMPTS, tables.system_prompts),
    ):
        yield from (_text(table, name, source, facts) for name, source in sources.items())
    yield from (_prompt(name, text) for name, text in tables.prompts.items())
    if tables.domain:
        yield _domain(tables.domain)
    yield from (_memory(name, facts) for name in dict.fromkeys(tables.memory))
    if not tables.has_identity:
        yield _NO_IDENTITY
    yield from _mcp_servers(tables.raw, facts)


def _domain(name: str) -> AskedValue:
    return AskedValue(place=("domain",), value=name, words=tr("facts about {name!r}", name=name))


def _memory(folder: str, facts: ProjectFacts) -> AskedValue:
    leads_to = facts.outside.get(folder, "")
    return AskedValue(
        place=("memory", folder),
        value=_kept(f"folder {leads_to}".strip()),
        words=_place_words(folder, leads_to),
    )


def _place_words(name: str, leads_to: str) -> str:
    """A file or folder that the project names, and where it lies if that is outside the project."""
    shown = one_line(name, 120)
    return (
        tr("{name} (outside the project: {leads_to})", name=shown, leads_to=leads_to) if leads_to else shown
    )


def asked_identity(name: str, text: str = "") -> AskedValue:
    """An identity file of a folder, by its name from the project's root: it counts once a person was shown that it is there.

    Args:
        text: of the file as it stands now, which the question shows.
    """
    return AskedValue(place=("identity_files", name), value="file", words=one_line(name, 120), text=text)


_NO_IDENTITY = AskedValue(place=("identity",), value="off", words="off")


_NOT_ASKED = frozenset({"path", "mode", "pinned", "enabled"})
"""Keys of an item that stand elsewhere in what is asked for, or give a model nothing more."""


def _item(preset: str, item: FileItem, facts: ProjectFacts) -> AskedValue:
    rest = {key: value for key, value in item_table(item).items() if key not in _NOT_ASKED}
    leads_to = facts.outside.get(item.path, "")
    if leads_to:
        rest["outside"] = leads_to
    said = [] if item.mode is FileMode.WHOLE else [item.mode.value]
    said += [tr("outside the project: {leads_to}", leads_to=leads_to)] if leads_to else []
    said += [tr("including files that .gitignore excludes")] if item.include_ignored else []
    said += (
        [tr("with this note for the model: “{notes}”", notes=one_line(item.notes, 120))] if item.notes else []
    )
    words = one_line(item.path, 120) + (spliced(" ({})", joined(", ", said)) if said else "")
    return AskedValue(
        place=("presets", preset, item.path), value=_kept(f"{item.mode.value}{_rest(rest)}"), words=words
    )


def _folders(tables: ProjectTables, facts: ProjectFacts) -> Iterator[AskedValue]:
    for written in dict.fromkeys(tables.allowed_roots):
        if path := facts.folders.get(written, ""):
            words = (
                path
                if path == written
                else tr("{path} (in manual_slop.toml: {written})", path=path, written=one_line(written, 120))
            )
            yield AskedValue(place=("folders", path), value=path, words=words)


def _context(source: TextSource, facts: ProjectFacts) -> AskedValue:
    if not source.file:
        return AskedValue(
            place=("context", source.name), value=_sha256(source.text), words="a text", text=source.text
        )
    leads_to = facts.outside.get(source.file, "")
    return AskedValue(
        place=("context", source.file),
        value=_kept(f"file {leads_to}".strip()),
        words=_place_words(source.file, leads_to),
    )


def _text(table: TextTable, name: str, source: TextSource, facts: ProjectFacts) -> AskedValue:
    text = facts.texts.get((table.value, name))
    short = one_line(name, 120)
    words = (
        tr("{name} with the text in {file}", name=short, file=one_line(source.file, 120))
        if source.file
        else tr("{name}, with its text", name=short)
    )
    if text is None:
        unread = tr("{text} (the file is unreadable now)", text=words)
        return AskedValue(place=(table.value, name), value="unreadable", words=unread)
    return AskedValue(place=(table.value, name), value=_sha256(text), words=words, text=text)


def _prompt(name: str, text: str) -> AskedValue:
    return AskedValue(place=("prompts", name), value=_sha256(text), words=f"prompts/{name}", text=text)


def _setting(key: str, value: Value, facts: ProjectFacts, addresses: Mapping[str, str]) -> AskedValue:
    short = one_line(str(value), 120)
    is_whole = short == str(value)
    words = f"{key} = {short}" if is_whole else tr("{key}, a text", key=key)
    if key == "ai_settings.provider":
        address = addresses.get(str(value), facts.servers.get(str(value), ""))
        known = {*facts.servers, *addresses}
        words = spliced("{}. {}", words, destination(str(value), address, known))
    text = "" if is_whole else str(value)
    return AskedValue(
        place=("settings", key), value=_kept(json.dumps(value, ensure_ascii=False)), words=words, text=text
    )


def _servers(values: Mapping[str, Value], facts: ProjectFacts) -> Iterator[AskedValue]:
    """One value a server: its address and its name count together or not at all."""
    rows: dict[str, dict[str, Value]] = {}
    for key, value in values.items():
        if (name := server_of(key)) and not is_mcp_key(key) and may_set(key, facts.own_servers):
            rows.setdefault(name, {})[key.split(".")[2]] = value
    for name, row in sorted(rows.items()):
        address = str(row.pop("base_url", ""))
        rest = _rest(row)
        value = (address or "no address") + rest
        words = spliced(
            "{}. {}",
            tr("{name} at {address}", name=name, address=one_line(value, 200)),
            destination(name, address, {*facts.servers, *rows}),
        )
        yield AskedValue(place=("servers", name), value=_kept(value), words=words)


def destination(provider: str, address: str, known: Collection[str]) -> str:
    """Sentence on the host that words go to, and the key that goes with them.

    Args:
        provider: its id; address: empty for the vendor's own; known: ids of all providers.
    """
    if provider == ProviderKind.EMBEDDED.value:
        return tr("Discussions with this provider stay on this machine")
    vendor = next((kind for kind in VENDORS if kind == provider), None)
    host = _host(address) or (_VENDOR_HOSTS.get(vendor, "") if vendor else "")
    if not host:
        return tr("This provider has no address, so the program cannot send to the provider")
    goes = tr("The program sends discussions with this provider to {host}", host=host)
    if provider in KEYLESS:
        return goes
    if shared := sharers(provider, known):
        sharing = tr(
            "The variable {variable} also fits {others}, so no provider gets its key. The program sends a key that you stored as {provider!r}",
            variable=key_variables(provider)[0],
            others=all_of(shared),
            provider=provider,
        )
        return spliced("{}. {}", goes, sharing)
    names = any_of(key_variables(provider))
    key = tr(
        "The program sends the key named {provider!r} ({names}, the keyring, the data folder)",
        provider=provider,
        names=names,
    )
    return spliced("{}. {}", goes, key)


def _host(address: str) -> str:
    try:
        return urlsplit(address).netloc
    except ValueError:
        return address


def _mcp_servers(raw: Mapping[str, Any], facts: ProjectFacts) -> Iterator[AskedValue]:
    """MCP servers. Their values are never repeated: a secret may stand in them. Each is asked about once more, whole,
    before it starts (`core.mcp.approvals`).
    """
    mcp = raw.get("mcp")
    row = mcp.get("servers") if isinstance(mcp, Mapping) else None
    if isinstance(row, Mapping):
        for name, one in row.items():
            if f"mcp.servers.{name}" in facts.own_servers:
                continue
            command = _command(one)
            words = one_line(name, 120) + (f" ({command})" if command else "")
            yield AskedValue(place=("mcp", name), value=_sha256(_canonical(one)), words=words)
    elif row is not None:
        yield AskedValue(place=("mcp",), value=_sha256(_canonical(row)), words="mcp")


def _command(row: Any) -> str:
    if not isinstance(row, Mapping):
        return ""
    words = [
        row.get("command", "") or row.get("url", ""),
        *(row["args"] if isinstance(row.get("args"), list) else []),
    ]
    return one_line(" ".join(str(word) for word in words if word), 80)


def _rest(row: Mapping[str, Any]) -> str:
    return f" {_canonical(row)}" if row else ""


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _kept(value: str) -> str:
    return value if len(value) <= _KEPT_CHARS else _sha256(value)


def _sha256(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


# Wording of the question whether a project's values may count: one text for window, command line and Hook
# API. Pure.

MAX_LINES = 200
MAX_ITEMS = 200
MAX_TEXT_CHARS = 4_000
"""Items and characters of a question; the rest is counted, and stands in the files."""


class AskedLine(msgspec.Struct, frozen=True):
    """Line of the question. `text`: what a text says, empty for other values."""

    words: str
    text: str = ""


_TITLES = {
    "servers": "Server",
    "settings": "Setting",
    "domain": tr("Knowledge for this project's discussions"),
    "folders": tr("Outside folder that presets and searches may read, and that gets index files"),
    "context": tr("Project context"),
    "identity_files": tr("File that tells a model how to work"),
    "memory": tr("Folder with memory files for models"),
    "personas": tr("Persona"),
    "system_prompts": tr("System prompt"),
    "prompts": tr("Text that the program itself sends to models"),
    "mcp": tr("MCP server (a command)"),
}


def trust_title(project: Project) -> str:
    """Question in one line. Empty where nothing is asked for."""
    if not project.asked:
        return ""
    name = one_line(project.name, 80) or project.root
    if project.is_trusted:
        return tr("The project “{name}” asks for something new. Review it before it applies.", name=name)
    return tr("Do you trust the project “{name}”?", name=name)


def trust_reason(project: Project) -> str:
    """The reason for the question, and the values that hold until the answer."""
    if project.is_trusted:
        return tr("This folder's other settings already apply. These apply only after you agree:")
    if project.was_trusted_unseen:
        return tr(
            "You trusted this folder before the program kept a list of its requests. Look at this list once. Until then, nothing in its manual_slop.toml applies:"
        )
    if not project.has_file:
        return tr(
            "This folder has text that models take as instructions. Until you trust the folder, the text stays out of the context:"
        )
    return tr(
        "The manual_slop.toml asks for more than an untrusted folder may have. Until you trust the folder, the program holds back:"
    )


def trust_command(root: str) -> str:
    """The command that shows the question about a folder on a terminal and takes the answer."""
    return f"manual-slop trust {shlex.quote(root)}"


def asked_lines(asked: Sequence[AskedValue]) -> tuple[AskedLine, ...]:
    """Lines of the question, a preset's items in one of them. Texts are whole up to `MAX_TEXT_CHARS`."""
    lines: list[AskedLine] = []
    items: dict[str, list[str]] = {}
    for one in asked:
        if one.place[0] == "presets":
            items.setdefault(one.place[1], []).append(_told(one.words, one))
        else:
            lines.append(_line(one))
    lines += [
        AskedLine(tr("Context preset {name}: {files}.", name=one_line(name, 120), files=_listed(said)))
        for name, said in items.items()
    ]
    if len(lines) > MAX_LINES:
        more = AskedLine(
            tr("And {lines:,} more: read manual_slop.toml before you agree.", lines=len(lines) - MAX_LINES)
        )
        return (*lines[:MAX_LINES], more)
    return tuple(lines)


def _line(asked: AskedValue) -> AskedLine:
    table = asked.place[0]
    if table == "identity":
        return AskedLine(tr("This folder turns identity files (CLAUDE.md, AGENTS.md, POC.md) off."))
    characters = figures.count(len(asked.text), tr("character"), tr("characters"))
    size = spliced(" ({})", characters) if asked.text else ""
    told = _told(spliced("{}{}", asked.words, size), asked)
    return AskedLine(spliced("{}: {}.", _TITLES[table], told), _settings_wording_text(asked.text))


def _told(words: str, asked: AskedValue) -> str:
    """A value in words, with what it was when the person last saw it."""
    if not asked.was:
        return words
    if asked.was.startswith("sha256:"):
        return tr("{value} (changed since you saw it)", value=words)
    return tr("{value} (before: {was})", value=words, was=one_line(asked.was, 200))


def _listed(words: Sequence[str]) -> str:
    return figures.first_of(words, MAX_ITEMS)


def _settings_wording_text(text: str) -> str:
    left = len(text) - MAX_TEXT_CHARS
    return (
        text
        if left <= 0
        else tr(
            "{text}\n… and {left}",
            text=text[:MAX_TEXT_CHARS],
            left=figures.count(left, tr("more character"), tr("more characters")),
        )
    )


# Notices that grow out of the state: settings faults, the trust of a project, the passing of time.

HELD_BACK = "held-back"
"""Id of the notice of what a project never gets."""


def show_settings_faults(state: AppState) -> AppState:
    """One notice a faulty settings file, all its faults in it; gone when the file is whole again."""
    by_file: dict[str, list[SettingsFault]] = {}
    for fault in state.config.settings_faults:
        by_file.setdefault(fault.path, []).append(fault)
    for notice in state.program.notices:
        if notice.id.startswith("settings/") and notice.id.removeprefix("settings/") not in by_file:
            state = dismiss(state, notice.id)
    for path, faults in by_file.items():
        first, *more = sorted(faults, key=lambda fault: not fault.is_grave)
        level = Level.ERROR if first.is_grave else Level.WARNING
        places = [at_line(fault.path, fault.line) for fault in (first, *more)]
        others = (
            spliced("{}: {}", place, fault.reason) for place, fault in zip(places[1:], more, strict=True)
        )
        detail = joined("\n", (places[0], *others))
        state = notify(state, f"settings/{path}", level, first.reason, detail, is_standing=True)
    return state


def show_trust(state: AppState) -> AppState:
    """Ask whether what the project asks for may count: once for each question, again for what it newly asks for. Where
    all of it is what no project gets, there is nothing to ask: that is said until the folder is trusted.
    """
    project = state.config.project
    if not project.asked:
        state = dismiss(state, "trust")
        is_said = bool(project.held_back) and not project.is_trusted
        return _say_held_back(state) if is_said else dismiss(state, HELD_BACK)
    state = dismiss(state, HELD_BACK)
    lines = (trust_reason(project), *(line.words for line in asked_lines(project.asked)), *project.held_back)
    return notify(state, "trust", Level.WARNING, trust_title(project), joined("\n", lines), is_standing=True)


def _say_held_back(state: AppState) -> AppState:
    project = state.config.project
    text = tr("{value} asks for settings that no project may have", value=project.name or project.root)
    return notify(state, HELD_BACK, Level.WARNING, text, joined("\n", project.held_back), is_standing=True)


def refuse_write(state: AppState, command_id: str, notice_id: str, what: str) -> AppState:
    """Say that nothing is written to a project's file that holds what the person has not seen, and offer the question.

    Args:
        what: what is not done (`'core' is not saved`).
    """
    project = state.config.project
    reason = (
        tr("the folder asks for settings that you have not seen")
        if project.is_trusted
        else tr("you do not trust the folder yet")
    )
    text = tr(
        "{what}: the program did not change the folder's manual_slop.toml, because {reason}.",
        what=what,
        reason=reason,
    )
    detail = tr("Your work is kept. Look at what the folder's manual_slop.toml asks for, then try again.")
    state = conclude(state, CommandOutcome(command_id=command_id, problem=text, remedy=detail))
    action = TrustProject(is_trusted=True, shown=question_id(project.asked))
    return notify(
        state, notice_id, Level.WARNING, text, detail, action=action, action_label=tr("Review requests")
    )
