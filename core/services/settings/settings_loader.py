"""Reads every source of settings and the project, keeps the last good of a broken file, and says what is wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from core.kernel.errors import ConfigError, at_line
from core.kernel.language import as_sentences, spliced, tr
from core.kernel.paths import CONFIG_FILE, CONFIG_VARIABLE, config_dir, home_dir, project_file
from core.kernel.surroundings import current_folder
from core.kernel.values.curation import NamedText, TextTable
from core.kernel.values.facts import domain_name
from core.kernel.values.mcp import McpApproved, McpOrigin
from core.kernel.values.settings import Project, Settings, SettingsFault
from core.services.settings.asked_values import (
    Shown,
    asked_identity,
    asked_values,
    counting,
    shown_as,
    unshown,
)
from core.services.settings.project import (
    ContextFile,
    ReadTexts,
    find_identity,
    find_memory,
    find_root,
    identity_paths,
    is_strange,
    memory_folders,
    named_files,
    project_facts,
    read_project_data,
    read_sources,
    read_texts,
    repository_domain,
)
from core.services.settings.project_tables import ProjectTables, held_back, policies_at, server_of
from core.services.settings.prompts import project_prompts
from core.services.settings.settings_checks import Flaw, check_settings, did_you_mean, setting_for, value_flaw
from core.services.settings.settings_file import parse, read_text
from core.services.settings.settings_merge import SettingSource, environment_source, from_text, merge
from core.services.settings.settings_schema import BY_KEY, Value
from core.services.settings.settings_writer import merge_working, read_working
from core.services.settings.toml_document import lines_of
from core.services.settings.trust import approvals_file, approved_servers, trust_record

TRUST_FILE = "trusted.toml"
MAX_FAULTS = 100
"""Faults of one file that are named; of more, how many there are."""
KEPT = tr("The program keeps the earlier settings")

T = TypeVar("T")


class ConfigRequest(msgspec.Struct, frozen=True):
    """Places to read from.

    Args:
        config_file: user settings; trust_file: the list of trusted folders; home: the person's data.
        root: the project's root, links resolved; start: the working directory, at or below root.
        environ: environment variables; overrides: values of the command line by dotted key, checked.
    """

    config_file: Path
    trust_file: Path
    home: Path
    root: Path
    start: Path
    environ: Mapping[str, str] = msgspec.field(default_factory=dict)
    overrides: Mapping[str, Value] = msgspec.field(default_factory=dict)


class LoadedSettings(msgspec.Struct, frozen=True):
    """Settings as read.

    Args:
        user_values, project_data: what held of each file, the last good for the next load.
        watched: absolute paths whose change calls for another load, those included that do not exist yet.
        asked: all that the project asks for, shown or not; approved: what a person approved of MCP servers, by name.
    """

    settings: Settings
    project: Project
    faults: tuple[SettingsFault, ...]
    user_values: Mapping[str, Value]
    project_data: ProjectTables
    watched: tuple[str, ...]
    asked: frozenset[Shown] = frozenset()
    approved: Mapping[str, McpApproved] = msgspec.field(default_factory=dict)


def config_request(
    *,
    start: Path | None = None,
    home: Path | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Value] | None = None,
) -> ConfigRequest:
    """The usual places: what is not given comes from the process.

    Args:
        start: the folder to work in, by default the current one; its project's root is found from it.
        home: the person's data, by default `home_dir()`; overrides: values of the command line by dotted key.

    Raises:
        ConfigError: the current folder was deleted.
    """
    environ = os.environ if environ is None else environ
    if start is None and not current_folder():
        raise ConfigError(
            tr("The current folder no longer exists"),
            remedy=tr("Go to a folder that exists, then start again"),
        )
    start = Path(os.path.realpath(start or current_folder()))
    named = environ.get(CONFIG_VARIABLE, "")
    config_file = Path(named).expanduser().absolute() if named else config_dir() / CONFIG_FILE
    return ConfigRequest(
        config_file=config_file,
        trust_file=config_file.parent / TRUST_FILE,
        home=home or home_dir(),
        root=find_root(start),
        start=start,
        environ=environ,
        overrides=overrides or {},
    )


def check_override(key: str, text: str) -> Value:
    """A value of the command line for a key.

    Raises:
        ConfigError: no such setting, or not a value of it.
    """
    setting = setting_for(key)
    if setting is None or not setting.field:
        raise ConfigError(
            tr("{key!r} is not a setting{key2}", key=key, key2=did_you_mean(key, tuple(BY_KEY))),
            remedy=tr("See docs/settings.md"),
        )
    value = from_text(setting, text)
    if reason := value_flaw(setting, value):
        raise ConfigError(spliced("{} {}", key, reason))
    return value


def load(request: ConfigRequest, last_good: LoadedSettings | None = None) -> LoadedSettings:
    """Read settings and project.

    Args:
        request: where from; last_good: the load before, whose values stand in for a file that is broken now.

    Returns:
        Settings, project and faults. Never raises for what stands in files: every flaw is a fault.
    """
    user_values, user_faults, unread = _read_user(request, last_good)
    data, project_faults, has_file = _read_project(request, last_good)
    environment, environment_faults = environment_source(request.environ)
    record = trust_record(request.root, request.trust_file)
    is_asking = has_file or record is not None
    tables = replace(data, prompts=project_prompts(request.root)) if is_asking else ProjectTables()
    texts = read_texts(tables, request.root)
    facts = project_facts(
        tables, request.root, texts, {**user_values, **environment.values}, _own_servers(user_values)
    )
    shown = frozenset() if record is None or record.shown is None else record.shown
    is_trusted = record is not None and record.shown is not None
    counted = counting(tables, facts, shown) if is_trusted else ProjectTables()
    places = identity_paths(request.root, request.start, (request.home,)) if counted.has_identity else ()
    settings, merge_faults = _merge(request, user_values, counted, environment)
    settings = replace(settings, unread=unread)
    project, text_faults, watched = _build_project(request, tables, counted, texts, places)
    strange = {
        text.name: asked_identity(text.name, text.text) for text in project.identity if is_strange(text)
    }
    asked = (*asked_values(tables, facts), *(strange.values() if tables.has_identity else ()))
    counts = {name for name, one in strange.items() if is_trusted and shown_as(one) in shown}
    identity = tuple(text for text in project.identity if not is_strange(text) or text.name in counts)
    project = replace(
        project,
        name=(tables.name if is_trusted else "") or project.name,
        has_file=has_file,
        is_trusted=is_trusted,
        identity=identity,
        was_trusted_unseen=record is not None and not is_trusted,
        asked=unshown(asked, shown),
        held_back=held_back(data, facts.own_servers),
        policies=policies_at(
            settings.tools,
            str(request.root),
            data.values,
            _resolved,
            is_unread=bool(unread) or (has_file and bool(project_faults) and not data.raw),
        ),
    )
    faults = (*user_faults, *project_faults, *environment_faults, *merge_faults, *text_faults)
    return LoadedSettings(
        settings=settings,
        project=project,
        faults=faults,
        user_values=user_values,
        project_data=data,
        watched=(*watched, str(approvals_file(request.trust_file))),
        asked=frozenset(map(shown_as, asked)),
        approved=approved_servers(approvals_file(request.trust_file), str(request.root), settings.mcp),
    )


def _resolved(folder: str) -> str:
    return os.path.realpath(os.path.expanduser(folder))


def _merge(
    request: ConfigRequest,
    user_values: Mapping[str, Value],
    counted: ProjectTables,
    environment: SettingSource,
) -> tuple[Settings, tuple[SettingsFault, ...]]:
    """Merge all sources, and say what the settings would be without the project's file."""
    user = SettingSource(name=str(request.config_file), values=user_values, labels={})
    project = SettingSource(name=str(project_file(request.root)), values=counted.values, labels={})
    command_line = SettingSource(name=tr("command line"), values=request.overrides, labels={})
    settings, faults = merge((user, project, environment, command_line))
    if not counted.values:
        return settings, faults
    own, _ = merge((user, environment, command_line))
    added = frozenset(settings.servers) - frozenset(own.servers)
    mcp = {
        name: server if name in own.mcp else replace(server, origin=McpOrigin.PROJECT)
        for name, server in settings.mcp.items()
    }
    own_ai = None if own.ai == settings.ai else own.ai
    return replace(settings, own_ai=own_ai, project_servers=added, mcp=mcp), faults


def _own_servers(user_values: Mapping[str, Value]) -> frozenset[str]:
    return frozenset(filter(None, map(server_of, user_values)))


def _read_user(
    request: ConfigRequest, last_good: LoadedSettings | None
) -> tuple[Mapping[str, Value], tuple[SettingsFault, ...], str]:
    """The person's own values, their faults, and `Settings.unread`."""
    flaws: list[Flaw] | None = None

    def check(data: Mapping[str, Any]) -> tuple[dict[str, Value], list[Flaw]]:
        nonlocal flaws
        values, flaws = check_settings(data, is_project=False)
        return values, flaws

    stand_in = last_good.user_values if last_good else None
    values, faults, is_there = _read_file(request.config_file, check, {}, stand_in)
    if not is_there or (last_good is not None and not last_good.settings.unread):
        return values, faults, ""
    file = str(request.config_file)
    if flaws is None:
        unread = [_unread(at_line(file, fault.line), fault.reason) for fault in faults]
    else:
        grave = (flaw for flaw in flaws if flaw.is_grave and flaw.place[:1] in _WHO_AND_HOW_MUCH)
        unread = [_unread(file, flaw.reason) for flaw in grave]
    return values, faults, next(iter(unread), "")


_WHO_AND_HOW_MUCH = frozenset({("providers",), ("ai_settings",)})
"""Tables that say who gets the words and what may be spent."""


def _unread(place: str, reason: str) -> str:
    said = reason.removesuffix(".")
    return tr(
        "The program cannot read your settings, so your providers and limits are unknown. {said}: {place}",
        said=said,
        place=place,
    )


def _read_project(
    request: ConfigRequest, last_good: LoadedSettings | None
) -> tuple[ProjectTables, tuple[SettingsFault, ...], bool]:
    is_same = last_good is not None and last_good.project.root == str(request.root)
    stand_in = last_good.project_data if last_good and is_same else None
    return _read_file(project_file(request.root), read_project_data, ProjectTables(), stand_in)


def _read_file(
    path: Path,
    check: Callable[[Mapping[str, Any]], tuple[T, list[Flaw]]],
    empty: T,
    last_good: T | None,
) -> tuple[T, tuple[SettingsFault, ...], bool]:
    """Read and check one file; a broken one gives the last good, or what holds of it where there is none."""
    try:
        text = read_text(path)
        data = None if text is None else parse(text, path)
    except ConfigError as error:
        kept = KEPT if last_good is not None else ""
        reason = as_sentences(error.what, error.remedy, kept)
        return (
            (empty if last_good is None else last_good),
            (SettingsFault(path=str(path), line=error.line, reason=reason),),
            True,
        )
    if text is None or data is None:
        return empty, (), False
    found, flaws = check(data)
    is_broken = last_good is not None and any(flaw.is_grave for flaw in flaws)
    faults = _faults(path, text, flaws, is_kept=is_broken)
    return (last_good if is_broken and last_good is not None else found), faults, True


def _faults(path: Path, text: str, flaws: list[Flaw], *, is_kept: bool) -> tuple[SettingsFault, ...]:
    """Flaws with their lines, those that matter most where there are more than anybody reads."""
    shown = (
        flaws if len(flaws) <= MAX_FAULTS else sorted(flaws, key=lambda flaw: not flaw.is_grave)[:MAX_FAULTS]
    )
    kept = KEPT if is_kept else ""
    faults = [
        SettingsFault(
            path=str(path),
            line=line,
            reason=as_sentences(flaw.reason, kept if flaw.is_grave else ""),
            is_grave=flaw.is_grave,
        )
        for flaw, line in zip(shown, lines_of(text, [flaw.place for flaw in shown]), strict=True)
    ]
    if more := len(flaws) - len(shown):
        faults.append(
            SettingsFault(
                path=str(path),
                line=None,
                reason=tr("1 more fault is in this file")
                if more == 1
                else tr("{more:,} more faults are in this file", more=more),
                is_grave=False,
            )
        )
    return tuple(faults)


def _own_domain(root: Path) -> str:
    """The domain of a folder by itself: its repository's; one that is called a project without one has its own name."""
    return repository_domain(root) or (domain_name(root.name) if project_file(root).is_file() else "")


def _build_project(
    request: ConfigRequest,
    tables: ProjectTables,
    counted: ProjectTables,
    texts: ReadTexts,
    places: tuple[ContextFile, ...],
) -> tuple[Project, tuple[SettingsFault, ...], tuple[str, ...]]:
    """Make the project of what counts, and of all its identity files. Trust and what is asked for are the caller's.

    Args:
        places: where identity files may stand.
    """
    allowed = tuple(Path(root) for root in counted.allowed_roots)
    faults: list[SettingsFault] = []

    def good(found: Iterable[NamedText | SettingsFault]) -> tuple[NamedText, ...]:
        rows = tuple(found)
        faults.extend(row for row in rows if isinstance(row, SettingsFault))
        return tuple(row for row in rows if isinstance(row, NamedText))

    context = good(read_sources(counted.context, request.root, allowed))
    personas = good(texts[TextTable.PERSONAS, name] for name in counted.personas)
    prompts = good(texts[TextTable.SYSTEM_PROMPTS, name] for name in counted.system_prompts)
    identity, identity_faults = find_identity(
        places, allowed, (text.source for text in context if text.source)
    )
    folders = memory_folders(request.home, request.root, counted.memory)
    memory, memory_faults, memory_paths = find_memory(folders, request.home, request.root, allowed)
    working, working_faults = read_working(request.home, request.root)
    presets, unsaved = merge_working(counted.presets, working)
    project = Project(
        root=str(request.root),
        name=request.root.name,
        domain=counted.domain or _own_domain(request.root),
        context=context,
        identity=identity,
        memory=memory,
        presets=presets,
        unsaved_presets=unsaved,
        filed_presets=counted.presets,
        personas={text.name: text for text in personas},
        system_prompts={text.name: text for text in prompts},
        allowed_roots=counted.allowed_roots,
        prompts=counted.prompts,
    )
    files = (
        request.config_file,
        request.trust_file,
        project_file(request.root),
        *(place.path for place in places),
        *memory_paths,
        *named_files(tables, request.root),
    )
    watched = tuple(dict.fromkeys(str(path) for path in files))
    return project, (*faults, *identity_faults, *memory_faults, *working_faults), watched
