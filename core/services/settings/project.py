"""The project's file: where the root is, what `manual_slop.toml` says, and what of it counts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from core.kernel.figures import count
from core.kernel.frame import clean
from core.kernel.language import spliced, tr
from core.kernel.opener import OddFileError, read_file, read_start
from core.kernel.paths import project_file
from core.kernel.patterns import late
from core.kernel.values.curation import NamedText, TextTable
from core.kernel.values.facts import GLOBAL, domain_name, is_domain, origin_name
from core.kernel.values.settings import SettingsFault
from core.services.settings.asked_values import ProjectFacts, Shown, asked_values, shown_as
from core.services.settings.project_tables import ProjectTables, TextSource, name_flaw, read_presets
from core.services.settings.settings_checks import Flaw, check_settings, is_mcp_key, unknown_keys, value_flaw
from core.services.settings.settings_schema import BY_KEY, VENDORS, Value
from core.services.settings.toml_document import Place

# Texts that a project brings into the context: read whole, bounded, and only from where they may come.

MAX_CONTEXT_FILE_BYTES = 262_144
"""A context, persona, system prompt or identity file over this is refused, not cut."""


class ContextFile(msgspec.Struct, frozen=True):
    """A file to read for layers 4 to 6.

    Args:
        path: absolute; name: how the context calls it; inside: the folder that it may not leave by a link.
    """

    path: Path
    name: str
    inside: Path


def is_inside(path: Path, folders: tuple[Path, ...]) -> bool:
    """True if a path, links resolved, lies in one of the folders, links resolved."""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(folder)) for folder in folders)


def read_context_file(file: ContextFile, allowed_roots: tuple[Path, ...]) -> NamedText | SettingsFault:
    """Read a text for the context.

    Returns:
        The text, LF and clean, with its file; or what is wrong with it and the remedy.
    """
    if not is_inside(file.path, (file.inside, *allowed_roots)):
        return fault(
            file,
            tr("is outside the project; name the folder in [project] allowed_roots of a trusted project"),
        )
    try:
        raw = read_start(os.path.realpath(file.path), MAX_CONTEXT_FILE_BYTES + 1, follows_links=False)
    except FileNotFoundError:
        return fault(file, tr("does not exist; correct the name or remove it from the settings"))
    except (OddFileError, IsADirectoryError):
        return fault(file, tr("is not a file"))
    except OSError as error:
        return fault(file, tr("cannot be read ({strerror}); check its permissions", strerror=error.strerror))
    if len(raw) > MAX_CONTEXT_FILE_BYTES:
        return fault(
            file,
            tr(
                "is over {MAX_CONTEXT_FILE_BYTES:,} bytes and is left out; shorten the file",
                MAX_CONTEXT_FILE_BYTES=MAX_CONTEXT_FILE_BYTES,
            ),
        )
    try:
        return NamedText(name=file.name, text=clean(raw.decode("utf-8-sig")), source=str(file.path))
    except UnicodeDecodeError:
        return fault(file, tr("is not UTF-8 and is left out; save the file as UTF-8"))


def fault(file: ContextFile, reason: str) -> SettingsFault:
    """Fault of a file by its name. `reason`: the end of the sentence."""
    return SettingsFault(path=str(file.path), line=None, reason=spliced("{} {}", file.name, reason))


MAX_TEXTS, MAX_ROOTS = 500, 100
"""Texts of one kind (context, personas, system prompts), and folders, that a file may name: what it asks for is read
before anybody trusts it."""
MAX_TEXTS_CHARS = 16_000_000
"""Characters of all texts of one kind in files together."""


def find_root(start: Path) -> Path:
    """The project's root: the nearest folder at or above `start` with `manual_slop.toml`, else with `.git`, else it.

    Args:
        start: an existing folder or not, any spelling.

    Returns:
        An absolute path, links resolved.
    """
    start = Path(os.path.realpath(start))
    folders = (start, *start.parents)
    for folder in folders:
        if project_file(folder).is_file():
            return folder
    for folder in folders:
        if (folder / ".git").exists():
            return folder
    return start


def read_project_data(data: Mapping[str, Any]) -> tuple[ProjectTables, list[Flaw]]:
    """Check a parsed `manual_slop.toml`. Pure.

    Returns:
        What holds of it, and the flaws in the order of their tables.
    """
    values, flaws = check_settings(data, is_project=True)
    head = data.get("project", {})
    if not isinstance(head, Mapping):
        flaws.append(Flaw(place=("project",), reason=tr("project must be a table ([project])")))
        head = {}
    context, context_flaws = _read_context(head.get("context", []))
    roots, root_flaws = _read_folders("allowed_roots", head.get("allowed_roots", []))
    memory, memory_flaws = _read_folders("memory", head.get("memory", []))
    presets, preset_flaws = read_presets(data.get("presets", {}))
    personas, persona_flaws = _read_texts("personas", data.get("personas", {}))
    prompts, prompt_flaws = _read_texts("system_prompts", data.get("system_prompts", {}))
    head_flaws = _head_flaws(head)
    bad = {str(flaw.place[-1]) for flaw in head_flaws}
    found = ProjectTables(
        name="" if "name" in bad else clean(head.get("name", "")),
        domain="" if "domain" in bad else str(head.get("domain", "")),
        context=context,
        has_identity=True if "identity" in bad else head.get("identity", True),
        memory=memory,
        allowed_roots=roots,
        presets=presets,
        personas=personas,
        system_prompts=prompts,
        values=values,
        raw=data,
    )
    return found, [
        *flaws, *head_flaws, *context_flaws, *root_flaws, *memory_flaws, *preset_flaws, *persona_flaws, *prompt_flaws
    ]  # fmt: skip


def _head_flaws(head: Mapping[str, Any]) -> list[Flaw]:
    flaws = [
        Flaw(place=("project", key), reason=spliced("project.{} {}", key, reason))
        for key, value in head.items()
        if key in {"name", "identity"} and (reason := value_flaw(BY_KEY[f"project.{key}"], value))
    ]
    domain = head.get("domain", "")
    if not (domain == "" or _may_name(domain)):
        said = tr(
            'must use a-z, 0-9, ".", "-" and "_"; begin with a letter or digit; not be {GLOBAL!r}',
            GLOBAL=GLOBAL,
        )
        flaws.append(Flaw(place=("project", "domain"), reason=tr("project.domain {reason}", reason=said)))
    return flaws + unknown_keys(
        head, ("name", "domain", "context", "identity", "memory", "allowed_roots"), ("project",), "project"
    )


def _may_name(value: Any) -> bool:
    return isinstance(value, str) and is_domain(value) and value != GLOBAL


def _read_context(value: Any) -> tuple[tuple[TextSource, ...], list[Flaw]]:
    """A text alone is a text; in a list, a text names a file, and a table says which of both it is."""
    place: Place = ("project", "context")
    if isinstance(value, str):
        return ((TextSource(name="project context", text=clean(value)),) if value.strip() else ()), []
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, list) or len(value) > MAX_TEXTS:
        what = tr(
            "project.context must be a text, or at most {MAX_TEXTS} files and texts", MAX_TEXTS=MAX_TEXTS
        )
        return (), [Flaw(place=place, reason=what)]
    sources: list[TextSource] = []
    flaws: list[Flaw] = []
    for index, row in enumerate(value):
        table = {"file": row} if isinstance(row, str) else row
        source, reason = _read_source(f"project context {index + 1}", table)
        if source is None:
            flaws.append(
                Flaw(
                    place=(*place, index),
                    reason=tr("project.context[{index}] {reason}", index=index, reason=reason),
                )
            )
        else:
            sources.append(replace(source, name=source.file or source.name))
    return tuple(dict.fromkeys(sources)), flaws


def _read_source(name: str, row: Any) -> tuple[TextSource | None, str]:
    """A table with either `text` or `file`."""
    if not isinstance(row, Mapping) or len(row.keys() & {"text", "file"}) != 1:
        return None, tr("must have either a text or a file")
    key = "text" if "text" in row else "file"
    if not isinstance(row[key], str) or (key == "file" and not row[key].strip()):
        return None, tr("must have a {key} in quotes", key=key)
    if key == "text":
        return TextSource(name=name, text=clean(row["text"])), ""
    return TextSource(name=name, file=clean(row["file"])), ""


def _read_folders(key: str, value: Any) -> tuple[tuple[str, ...], list[Flaw]]:
    is_list = isinstance(value, list) and len(value) <= MAX_ROOTS
    if not is_list or not all(isinstance(root, str) and root.strip() for root in value):
        what = tr("project.{key} must be a list of at most {MAX_ROOTS} folders", key=key, MAX_ROOTS=MAX_ROOTS)
        return (), [Flaw(place=("project", key), reason=what)]
    return tuple(value), []


def _read_texts(table: str, data: Any) -> tuple[dict[str, TextSource], list[Flaw]]:
    if not isinstance(data, Mapping):
        return {}, [Flaw(place=(table,), reason=tr("{table} must be tables ([{table}.<name>])", table=table))]
    if len(data) > MAX_TEXTS:
        return {}, [
            Flaw(
                place=(table,),
                reason=tr(
                    "{table} has {data:,} entries, but at most {MAX_TEXTS} count; remove some",
                    table=table,
                    data=len(data),
                    MAX_TEXTS=MAX_TEXTS,
                ),
            )
        ]
    found: dict[str, TextSource] = {}
    flaws: list[Flaw] = []
    for name, row in data.items():
        source, reason = _read_source(name, {"text": row} if isinstance(row, str) else row)
        reason = name_flaw(name) or reason
        if source is None or reason:
            flaws.append(Flaw(place=(table, name), reason=spliced("{}.{} {}", table, name, reason)))
        else:
            found[name] = source
    return found, flaws


def read_source(source: TextSource, root: Path, allowed: tuple[Path, ...]) -> NamedText | SettingsFault:
    """As `read_sources`, of one."""
    return read_sources((source,), root, allowed)[0]


def read_sources(
    sources: Iterable[TextSource], root: Path, allowed: tuple[Path, ...]
) -> tuple[NamedText | SettingsFault, ...]:
    """Texts of sources in their order: as they stand, or read from files, each file once.

    Args:
        root: paths are relative to it; allowed: folders outside that files may stand in.

    Returns:
        A text for each, or why there is none: behind `MAX_TEXTS_CHARS` of files no more are read.
    """
    read: dict[str, NamedText | SettingsFault] = {}
    found: list[NamedText | SettingsFault] = []
    left = MAX_TEXTS_CHARS
    for source in sources:
        if not source.file:
            found.append(NamedText(name=source.name, text=source.text, source=""))
            continue
        if source.file not in read:
            path = Path(os.path.abspath(root / os.path.expanduser(source.file)))
            file = ContextFile(path=path, name=source.name, inside=root)
            text = (
                fault(file, tr("is left out: the files before it use up the allowed size"))
                if left < 0
                else None
            )
            read[source.file] = one = text or read_context_file(file, allowed)
            left -= len(one.text) if isinstance(one, NamedText) else 0
        one = read[source.file]
        found.append(replace(one, name=source.name) if isinstance(one, NamedText) else one)
    return tuple(found)


# Facts of the disk that a project's file leads to: resolved paths, and texts in files that it names.

ReadTexts = Mapping[tuple[TextTable, str], NamedText | SettingsFault]
"""Texts of personas and system prompts by table and name, or why one cannot be read."""


def read_texts(tables: ProjectTables, root: Path) -> ReadTexts:
    """Read personas and system prompts, from folders that are only asked for too: a person is to see what they say."""
    allowed = tuple(path for path in map(Path, _folders(tables, root).values()) if path != Path())
    return {
        (table, name): text
        for table, sources in (
            (TextTable.PERSONAS, tables.personas),
            (TextTable.SYSTEM_PROMPTS, tables.system_prompts),
        )
        for name, text in zip(sources, read_sources(sources.values(), root, allowed), strict=True)
    }


def project_facts(
    tables: ProjectTables,
    root: Path,
    texts: ReadTexts,
    values: Mapping[str, Value] | None = None,
    own_servers: frozenset[str] = frozenset(),
) -> ProjectFacts:
    """Facts about what a project's file names.

    Args:
        texts: from `read_texts`; values: the person's settings by dotted key, for the addresses of providers.
        own_servers: those that these define, as `server_of` names them.
    """
    named = [item.path for preset in tables.presets.values() for item in preset.items]
    named += [source.file for source in tables.context if source.file]
    named += tables.memory
    outside = {path: _leads_to(path, root) for path in dict.fromkeys(named)}
    servers = {str(vendor): "" for vendor in VENDORS} | dict.fromkeys(
        (name for name in own_servers if not is_mcp_key(name)), ""
    )
    for key, value in (values or {}).items():
        if key.startswith("providers.") and key.endswith(".base_url"):
            servers[key.split(".")[1]] = str(value)
    return ProjectFacts(
        folders=_folders(tables, root),
        outside={path: real for path, real in outside.items() if real},
        texts={
            (table.value, name): found.text
            for (table, name), found in texts.items()
            if isinstance(found, NamedText)
        },
        servers=servers,
        own_servers=own_servers,
    )


def named_files(tables: ProjectTables, root: Path) -> tuple[Path, ...]:
    """Files that a project's texts stand in, absolute, whether they exist or not."""
    sources = (*tables.context, *tables.personas.values(), *tables.system_prompts.values())
    return tuple(
        Path(os.path.abspath(root / os.path.expanduser(source.file))) for source in sources if source.file
    )


def written_values(tables: ProjectTables, root: Path) -> tuple[Shown, ...]:
    """Values of tables that a person wrote into the project's file with this program: they are shown by that."""
    facts = project_facts(tables, root, read_texts(tables, root))
    return tuple(map(shown_as, asked_values(tables, facts)))


def _folders(tables: ProjectTables, root: Path) -> dict[str, str]:
    return {written: _leads_to(written, root) for written in tables.allowed_roots}


def _leads_to(path: str, root: Path) -> str:
    """The resolved path of what leads out of the project, empty for what does not or can be no path."""
    try:
        whole = root / os.path.expanduser(path)
        return "" if is_inside(whole, (root,)) else os.path.realpath(whole)
    except ValueError:
        return ""


# The repository that a folder is in: its name for facts, from its `origin` address or its folder.

_SECTION = late(r"\s*\[\s*([a-zA-Z0-9.-]+)(?:\s+\"((?:[^\"\\]|\\.)*)\")?\s*\]")
_URL = late(r"\s*url\s*=\s*(.*?)\s*$", re.IGNORECASE)
_MAX_BYTES = 1_000_000


def repository_domain(root: Path) -> str:
    """Domain of the repository at or above a folder; empty where there is none. Never fails.

    Args:
        root: absolute, links resolved.
    """
    for folder in (root, *root.parents):
        if (folder / ".git").exists():
            return domain_name(origin_name(_origin(folder / ".git"))) or domain_name(folder.name)
    return ""


def _origin(git: Path) -> str:
    """Address of `origin`, empty where there is none. A worktree's `.git` is a file that leads to its repository."""
    if git.is_file():
        led = _text(git).removeprefix("gitdir:").strip()
        git = git.parent / led
        common = _text(git / "commondir").strip()
        git = git / common if common else git
    section = ("", "")
    for line in _text(git / "config").splitlines():
        if head := _SECTION.match(line):
            section = (head[1].lower(), head[2] or "")
        elif section == ("remote", "origin") and (found := _URL.match(line)):
            return found[1].strip('"')
    return ""


def _text(path: Path) -> str:
    try:
        return read_file(path, _MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


# Identity and memory files: where CLAUDE.md, AGENTS.md and POC.md may stand, and what they say.

IDENTITY_NAMES = ("CLAUDE.md", "AGENTS.md", "POC.md")
HOME_PREFIX = "home:"
"""Prefix of the name of a file of the home: its path would differ between machines."""


def repository_root(start: Path, otherwise: Path) -> Path:
    """The nearest folder at or above `start` that holds a `.git` with something in it, else `otherwise`."""
    for folder in (start, *start.parents):
        git = folder / ".git"
        if git.exists() and not is_empty_folder(git):
            return folder
    return otherwise


def identity_paths(root: Path, start: Path, homes: Iterable[Path]) -> tuple[ContextFile, ...]:
    """Paths where identity files may stand, most general first: homes, then from the repository's root down
    to `start`.

    A link may not leave the folder that it stands in: the repository around an opened folder may hold all that a
    person has, and what a stranger put there must not reach for it.

    Args:
        root: the project's root, resolved; start: the working directory, inside root; homes: person's own folders.
    """
    top = repository_root(start, root)
    folders = [folder for folder in reversed((start, *start.parents)) if folder.is_relative_to(top)]
    places = [
        ContextFile(path=home / name, name=f"{HOME_PREFIX}{name}", inside=home)
        for home in homes
        for name in IDENTITY_NAMES
    ]
    for folder in folders:
        shown = Path(os.path.relpath(folder, root)).as_posix()
        prefix = "" if shown == "." else f"{shown}/"
        places += [
            ContextFile(path=folder / name, name=f"{prefix}{name}", inside=folder) for name in IDENTITY_NAMES
        ]
    return tuple(places)


def is_strange(text: NamedText) -> bool:
    """True for one of the opened folder or its repository: a person is asked for it, those of their home always count."""
    return not text.name.startswith(HOME_PREFIX)


def find_identity(
    places: Iterable[ContextFile], allowed_roots: tuple[Path, ...], taken: Iterable[str] = ()
) -> tuple[tuple[NamedText, ...], tuple[SettingsFault, ...]]:
    """Read the identity files that exist.

    Args:
        places: from `identity_paths`; allowed_roots: folders outside that links may lead to. A link from one place to
            another says nothing new and is passed over.
        taken: absolute paths already in the project's context, which are left out.

    Returns:
        The texts in the order of `places`, and what could not be read, by file.
    """
    texts: list[NamedText] = []
    faults: list[SettingsFault] = []
    seen = {os.path.realpath(path) for path in taken}
    places = [place for place in places if os.path.lexists(place.path) and not is_empty_folder(place.path)]
    itself = {real for place in places if (real := os.path.realpath(place.path)) == _unlinked(place.path)}
    for place in places:
        real = os.path.realpath(place.path)
        if real in itself and real != _unlinked(place.path) and not is_inside(place.path, (place.inside,)):
            continue
        found = read_context_file(place, allowed_roots)
        if isinstance(found, SettingsFault):
            faults.append(found)
        elif real not in seen and found.text.strip():
            seen.add(real)
            texts.append(found)
    return tuple(texts), tuple(faults)


def is_empty_folder(path: Path) -> bool:
    """True for a folder with nothing in it: it says nothing, and may only hold a name while a command runs."""
    try:
        return not path.is_symlink() and path.is_dir() and not os.listdir(path)
    except OSError:
        return False


def _unlinked(path: Path) -> str:
    """Path of a file whose folder's links are resolved, its own not."""
    return os.path.join(os.path.realpath(path.parent), path.name)


# Memory files: the Markdown files of the person's own folder and of those that a project names.

MEMORY_FOLDER = "memory"
"""Folder of memory files in the data folder."""

MAX_MEMORY_FILES = 200
"""Files of one folder, at most; of more the first by name count, and the program says so."""


def memory_folders(home: Path, root: Path, named: Iterable[str]) -> tuple[tuple[Path, str], ...]:
    """Folders of memory files with the prefix of their files' names, the home's first.

    Args:
        named: as the project's file has them, those alone that count.
    """
    own = (home / MEMORY_FOLDER, f"{HOME_PREFIX}{MEMORY_FOLDER}/")
    others = (
        (Path(os.path.abspath(root / os.path.expanduser(name))), f"{Path(name).as_posix().rstrip('/')}/")
        for name in dict.fromkeys(named)
    )
    return (own, *others)


def find_memory(
    folders: Sequence[tuple[Path, str]], home: Path, root: Path, allowed_roots: tuple[Path, ...]
) -> tuple[tuple[NamedText, ...], tuple[SettingsFault, ...], tuple[Path, ...]]:
    """Read the memory files that exist. A link must not lead out of its own folder.

    Args:
        folders: from `memory_folders`; allowed_roots: folders outside the project that its own may lie in.

    Returns:
        The texts sorted by name, what could not be read by file, and the paths that were looked at.
    """
    texts: list[NamedText] = []
    faults: list[SettingsFault] = []
    paths: list[Path] = []
    seen: set[str] = set()
    for folder, prefix in folders:
        paths.append(folder)
        allowed = (home,) if prefix.startswith(HOME_PREFIX) else (root, *allowed_roots)
        if not is_inside(folder, allowed):
            reason = tr(
                "lies outside the project; trust the project, then add the folder to allowed_roots under [project]"
            )
            faults.append(
                SettingsFault(
                    path=str(folder),
                    line=None,
                    reason=tr("The memory folder {folder} {reason}", folder=prefix, reason=reason),
                )
            )
            continue
        names, fault = _names(folder, prefix)
        faults += fault
        for name in names:
            path = folder / name
            paths.append(path)
            found = read_context_file(ContextFile(path=path, name=f"{prefix}{name}", inside=folder), ())
            real = os.path.realpath(path)
            if isinstance(found, SettingsFault):
                faults.append(found)
            elif real not in seen and found.text.strip():
                seen.add(real)
                texts.append(found)
    return tuple(sorted(texts, key=lambda text: text.name)), tuple(faults), tuple(paths)


def _names(folder: Path, prefix: str) -> tuple[list[str], list[SettingsFault]]:
    """Names of a folder's Markdown files, sorted; none where it is not there. No folder below it is looked into."""
    try:
        found = sorted(
            name for name in os.listdir(folder) if name.endswith(".md") and not name.startswith(".")
        )
    except FileNotFoundError:
        return [], []
    except OSError as error:
        reason = tr(
            "The program cannot read the memory folder {prefix} ({strerror})",
            prefix=prefix,
            strerror=error.strerror,
        )
        return [], [SettingsFault(path=str(folder), line=None, reason=reason)]
    found = [name for name in found if not (folder / name).is_dir()]
    if len(found) <= MAX_MEMORY_FILES:
        return found, []
    more = len(found) - MAX_MEMORY_FILES
    reason = tr(
        "The memory folder {prefix} has {more} too many; only the first by name count",
        prefix=prefix,
        more=count(more, tr("file"), tr("files")),
    )
    return found[:MAX_MEMORY_FILES], [
        SettingsFault(path=str(folder), line=None, reason=reason, is_grave=False)
    ]
