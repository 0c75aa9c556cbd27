"""Rules over settings and project: the model that a new discussion takes, and the places that are searched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from core.kernel.errors import ConfigError
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.structures import ByIdentity
from core.kernel.values.provider import KeySource, ModelProfile, ProviderKind
from core.kernel.values.retrieval import AskedPlaces, Corpus, EmbeddingServer
from core.kernel.values.settings import Project, PromptTemplate, RetrievalSettings, SettingsFault
from core.kernel.values.state import AppState
from core.services.providers.profiles import find_profile, usual_model

# Rule for the model that a new discussion takes: as asked, as set, as last used, one with a key, the built-
# in one.

# Profiles of models as the state has them now.


def profile_of(state: AppState, provider: str, model: str) -> ModelProfile:
    """Profile of a model, the same before and after its server listed it by name."""
    status = state.config.providers.get(provider)
    told, profiles = state.config.models.get(provider, ()), state.config.profiles
    # of two for one model the first counts: what its server told
    known = _KNOWN.of((told, profiles), "", lambda: (*told, *profiles))
    return find_profile(known, provider, model, kind=status.kind.value if status is not None else "")


_KNOWN = ByIdentity(most=16)


def model_label(state: AppState, provider: str, model: str) -> str:
    """The name of a model as the person knows it."""
    known = next((one for one in state.config.models.get(provider, ()) if one.id == model), None)
    return (known.label if known is not None else "") or model or provider or tr("no model")


def default_model(state: AppState, provider: str) -> str:
    """The model that a new discussion of this provider starts with, empty where none is known."""
    return usual_model(state.config.settings.ai, provider, state.config.models.get(provider, ()))


def closed_models(state: AppState, provider: str) -> tuple[str, ...]:
    """All models of a provider that can have no others: the embedded one. Empty for servers, which may know more."""
    status = state.config.providers.get(provider)
    if status is None or status.kind is not ProviderKind.EMBEDDED:
        return ()
    known = (*state.config.models.get(provider, ()), *state.config.profiles)
    return tuple(sorted({profile.id for profile in known if profile.provider == provider}))


BUILT_IN = ProviderKind.EMBEDDED.value
"""Id of the provider that needs no key, no network and no money. Its model is small."""

_KEYED = (KeySource.ENVIRONMENT, KeySource.KEYRING, KeySource.FILE)


class StartingModel(msgspec.Struct, frozen=True):
    """Model of a new discussion. `instead_of`: the provider that the settings name and that is not ready."""

    provider: str
    model: str
    instead_of: str = ""


def starting_model(state: AppState, provider: str = "", model: str = "") -> StartingModel:
    """The model of a new discussion. Pure; the window, the command line and the Hook API all ask here.

    Args:
        provider, model: as asked for; empty where nobody asks. A provider that is asked for is taken, ready or not.

    Returns:
        What was asked for; else what the settings name (a trusted project's before the person's); else what was used
        last; else the first provider that has a key and a model; else the built-in model. Of all but the first only
        what is ready.
    """
    if provider:
        return StartingModel(provider=provider, model=model or default_model(state, provider))
    named = _named(state)
    if named and _is_ready(state, named):
        return StartingModel(provider=named, model=model or default_model(state, named))
    last = next(_others(state))
    return StartingModel(provider=last.provider, model=model or last.model, instead_of=named)


def named_provider(state: AppState) -> str:
    """The provider of a new discussion where one that is not ready must fail: as set, ready or not, else by the rule."""
    return _named(state) or starting_model(state).provider


def _named(state: AppState) -> str:
    """The provider that the settings name, or that offers the model which they name."""
    ai = state.config.settings.ai
    if ai.provider or not ai.model.strip():
        return ai.provider
    offering = (
        name for name, models in state.config.models.items() if any(model.id == ai.model for model in models)
    )
    return next(offering, "")


def _others(state: AppState) -> Iterator[StartingModel]:
    used = [row for row in state.discussions.summaries.values() if row.turns and row.meta.model]
    if used:
        meta = max(used, key=lambda row: (row.updated_at, row.meta.id)).meta
        if meta.provider in state.config.providers and _is_ready(state, meta.provider):
            yield StartingModel(provider=meta.provider, model=meta.model)
    for status in state.config.providers.values():
        model = default_model(state, status.id)
        if status.key_source in _KEYED and status.is_ready and model:
            yield StartingModel(provider=status.id, model=model)
    yield StartingModel(provider=BUILT_IN, model=default_model(state, BUILT_IN))


def _is_ready(state: AppState, provider: str) -> bool:
    """True unless the provider is known to be of no use: what is not looked up yet may be."""
    status = state.config.providers.get(provider)
    return status is None or status.is_ready


# Places that are searched, as settings and project name them.

_NAMES = frozenset(corpus.value for corpus in Corpus)


def asked_places(state: AppState) -> AskedPlaces | None:
    """Places that are searched here by settings and project, None while retrieval is off."""
    return _places(state, state.config.settings.retrieval)


def offered_places(state: AppState) -> AskedPlaces:
    """Places that would be searched here if every corpus were on, also while retrieval is off."""
    every = replace(state.config.settings.retrieval, enabled=True, corpora=tuple(Corpus))
    found = _places(state, every)
    assert found is not None
    return found


def navigation_bounds(faults: Sequence[SettingsFault], project: Project) -> tuple[str, ...]:
    """Folders in which index files of what is no longer searched may lie.

    None while settings are at fault or do not count yet: nobody knows then which folders are searched.
    """
    is_known = not faults and not any("retrieval" in part for one in project.asked for part in one.place)
    return (project.root, *project.allowed_roots) if is_known and project.root else ()


def _places(state: AppState, settings: RetrievalSettings) -> AskedPlaces | None:
    is_limited = state.config.settings.caching.day_limit_usd is not None
    return places_of(settings, state.config.project, is_limited=is_limited)


def places_of(
    settings: RetrievalSettings, project: Project, *, is_limited: bool = False
) -> AskedPlaces | None:
    """As `asked_places`, from the settings alone. `is_limited`: as of `EmbeddingServer`."""
    if not settings.enabled:
        return None
    server = EmbeddingServer(
        provider=settings.embedder,
        model=settings.embedding_model,
        dimension=settings.embedding_dimension,
        is_limited=is_limited,
    )
    return AskedPlaces(
        roots=settings.roots,
        project=project.root,
        allowed=project.allowed_roots,
        corpora=tuple(Corpus(name) for name in dict.fromkeys(settings.corpora) if name in _NAMES),
        tag_fields=settings.tag_fields,
        date_fields=settings.date_fields,
        server=settings.server,
        embedder=server if settings.embedder else None,
        shown=project.policies.shown,
    )


# Prompt templates with variables: their `{{name}}` filled with a person's values. `prompts` reads them.


_SHOWN_CHARS = 60
_BRACES = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_NAME = re.compile(r"\w[\w .-]*")


def variables_of(text: str) -> tuple[str, ...]:
    """Names of the variables of a template, in their order, each once."""
    names = (found[1].strip() for found in _BRACES.finditer(text))
    return tuple(dict.fromkeys(name for name in names if _NAME.fullmatch(name)))


def unnamed_of(text: str) -> str:
    """The first braces that name no variable, shortened; empty where all do."""
    for found in _BRACES.finditer(text):
        if not _NAME.fullmatch(found[1].strip()):
            return one_line(found[0], _SHOWN_CHARS)
    return ""


def filled(template: PromptTemplate, values: Mapping[str, str]) -> str:
    """The text with every variable replaced once: braces inside a value stay as they are.

    Raises:
        ConfigError: a value is missing, or one is given for a variable that the template does not have.
    """
    names = variables_of(template.text)
    listed = ", ".join(names) or tr("none")
    for given in values:
        if given not in names:
            raise ConfigError(
                tr("The template {name!r} has no variable {given!r}", name=template.name, given=given),
                remedy=tr("The template has these variables: {listed}", listed=listed),
                where=template.source,
            )
    missing = [name for name in names if name not in values]
    if missing:
        raise ConfigError(
            tr("The template {name!r} needs a value for {missing!r}", name=template.name, missing=missing[0]),
            remedy=tr("Give a value for each of: {missing}", missing=", ".join(missing)),
            where=template.source,
        )
    return _BRACES.sub(lambda found: values.get(found[1].strip(), found[0]), template.text)
