"""Reads every source of settings and the project, keeps the last good of a broken file, and says what is wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from core.base.errors import ConfigError
from core.base.paths import CONFIG_FILE, config_dir, home_dir, project_file
from core.settings.checks import Flaw, check_settings, did_you_mean, setting_for, value_flaw
from core.settings.identity_files import find_identity, identity_paths
from core.settings.merge import SettingSource, environment_source, from_text, merge
from core.settings.preset_drafts import merge_working, read_working
from core.settings.project import ProjectTables, TextSource, find_root, read_project_data, read_source
from core.settings.restrictions import allowed_roots, counting_values, held_back
from core.settings.schema import BY_KEY, Value
from core.settings.toml_places import lines_of
from core.settings.toml_text import parse, read_text
from core.settings.trust import is_trusted
from core.values.curation import NamedText
from core.values.settings import Project, Settings, SettingsFault

CONFIG_VARIABLE = "MANUAL_SLOP_CONFIG"
TRUST_FILE = "trusted.toml"
MAX_FAULTS = 100
"""Faults of one file that are named; of more, how many there are."""

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
    """

    settings: Settings
    project: Project
    faults: tuple[SettingsFault, ...]
    user_values: Mapping[str, Value]
    project_data: ProjectTables
    watched: tuple[str, ...]


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
    """
    environ = os.environ if environ is None else environ
    start = Path(os.path.realpath(start or Path.cwd()))
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
            f"{key!r} is not a setting{did_you_mean(key, tuple(BY_KEY))}", remedy="See docs/settings.md"
        )
    value = from_text(setting, text)
    if reason := value_flaw(setting, value):
        raise ConfigError(f"{key} {reason}")
    return value


def load(request: ConfigRequest, last_good: LoadedSettings | None = None) -> LoadedSettings:
    """Read settings and project.

    Args:
        request: where from; last_good: the load before, whose values stand in for a file that is broken now.

    Returns:
        Settings, project and faults. Never raises for what stands in files: every flaw is a fault.
    """
    user_values, user_faults = _read_user(request, last_good)
    data, project_faults, has_file = _read_project(request, last_good)
    is_counted = has_file and is_trusted(request.root, request.trust_file)
    own_servers = {key.split(".")[1] for key in user_values if key.startswith("providers.")}
    environment, environment_faults = environment_source(request.environ)
    settings, merge_faults = merge(
        (
            SettingSource(str(request.config_file), user_values, {}),
            SettingSource(
                str(project_file(request.root)), counting_values(data, own_servers) if is_counted else {}, {}
            ),
            environment,
            SettingSource("command line", request.overrides, {}),
        )
    )
    project, text_faults, watched = _build_project(
        request, data, own_servers, has_file=has_file, is_counted=is_counted
    )
    faults = (*user_faults, *project_faults, *environment_faults, *merge_faults, *text_faults)
    return LoadedSettings(settings, project, faults, user_values, data, watched)


def _read_user(
    request: ConfigRequest, last_good: LoadedSettings | None
) -> tuple[Mapping[str, Value], tuple[SettingsFault, ...]]:
    def check(data: Mapping[str, Any]) -> tuple[dict[str, Value], list[Flaw]]:
        return check_settings(data, is_project=False)

    stand_in = last_good.user_values if last_good else None
    values, faults, _ = _read_file(request.config_file, check, {}, stand_in)
    return values, faults


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
        kept = "; the settings read before stay" if last_good is not None else ""
        reason = ". ".join(part for part in (error.what, error.remedy) if part)
        return (
            (empty if last_good is None else last_good),
            (SettingsFault(str(path), error.line, reason + kept),),
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
    kept = "; the settings read before stay" if is_kept else ""
    faults = [
        SettingsFault(str(path), line, flaw.reason + (kept if flaw.is_grave else ""), flaw.is_grave)
        for flaw, line in zip(shown, lines_of(text, [flaw.place for flaw in shown]), strict=True)
    ]
    if more := len(flaws) - len(shown):
        faults.append(
            SettingsFault(str(path), None, f"{more:,} more faults are in this file", is_grave=False)
        )
    return tuple(faults)


def _build_project(
    request: ConfigRequest, data: ProjectTables, own_servers: set[str], *, has_file: bool, is_counted: bool
) -> tuple[Project, tuple[SettingsFault, ...], tuple[str, ...]]:
    counted = data if is_counted else ProjectTables()
    roots = allowed_roots(data, request.root, is_trusted=is_counted)
    reader = _Reader(request.root, tuple(Path(root) for root in roots))
    context = reader.read(counted.context)
    personas = {text.name: text for text in reader.read(tuple(counted.personas.values()))}
    prompts = {text.name: text for text in reader.read(tuple(counted.system_prompts.values()))}
    places = identity_paths(request.root, request.start, (request.home,)) if counted.has_identity else ()
    identity, identity_faults = find_identity(
        places, reader.allowed, (text.source for text in context if text.source)
    )
    working, working_faults = read_working(request.home, request.root)
    presets, unsaved = merge_working(counted.presets, working)
    project = Project(
        root=str(request.root),
        name=counted.name or request.root.name,
        has_file=has_file,
        is_trusted=is_trusted(request.root, request.trust_file),
        held_back=held_back(data, request.root, own_servers, is_trusted=is_counted) if has_file else (),
        context=context,
        identity=identity,
        presets=presets,
        unsaved_presets=unsaved,
        personas=personas,
        system_prompts=prompts,
        allowed_roots=roots,
    )
    files = (
        request.config_file,
        request.trust_file,
        project_file(request.root),
        *(place.path for place in places),
    )
    watched = tuple(dict.fromkeys((*(str(path) for path in files), *reader.paths)))
    return project, (*reader.faults, *identity_faults, *working_faults), watched


class _Reader:
    """Reads the texts of a project and collects what could not be read, and what was asked for."""

    def __init__(self, root: Path, allowed: tuple[Path, ...]) -> None:
        self.root = root
        self.allowed = allowed
        self.faults: list[SettingsFault] = []
        self.paths: list[str] = []

    def read(self, sources: tuple[TextSource, ...]) -> tuple[NamedText, ...]:
        """The texts that could be read, in order."""
        texts: list[NamedText] = []
        for source in sources:
            if source.file:
                self.paths.append(os.path.abspath(self.root / Path(source.file).expanduser()))
            found = read_source(source, self.root, self.allowed)
            if isinstance(found, SettingsFault):
                self.faults.append(found)
            else:
                texts.append(found)
        return tuple(texts)
