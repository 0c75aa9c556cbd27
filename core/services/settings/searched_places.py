"""Places that are searched, as settings and project name them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from core.kernel.values.retrieval import AskedPlaces, Corpus, EmbeddingServer
from core.kernel.values.settings import Project, RetrievalSettings, SettingsFault
from core.kernel.values.state import AppState

_NAMES = frozenset(corpus.value for corpus in Corpus)


def asked_places(state: AppState) -> AskedPlaces | None:
    """Places that are searched here by settings and project, None while retrieval is off."""
    return places_of(state.config.settings.retrieval, state.config.project)


def offered_places(state: AppState) -> AskedPlaces:
    """Places that would be searched here if every corpus were on, also while retrieval is off."""
    every = replace(state.config.settings.retrieval, enabled=True, corpora=tuple(Corpus))
    found = places_of(every, state.config.project)
    assert found is not None
    return found


def navigation_bounds(faults: Sequence[SettingsFault], project: Project) -> tuple[str, ...]:
    """Folders in which index files of what is no longer searched may lie.

    None while settings are at fault or do not count yet: nobody knows then which folders are searched.
    """
    is_known = not faults and not any("retrieval" in part for one in project.asked for part in one.place)
    return (project.root, *project.allowed_roots) if is_known and project.root else ()


def places_of(settings: RetrievalSettings, project: Project) -> AskedPlaces | None:
    """As `asked_places`, from the settings alone."""
    if not settings.enabled:
        return None
    server = EmbeddingServer(
        provider=settings.embedder, model=settings.embedding_model, dimension=settings.embedding_dimension
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
