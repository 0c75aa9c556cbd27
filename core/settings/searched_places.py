"""Places that are searched, as settings and project name them."""

from __future__ import annotations

from core.values.retrieval import AskedPlaces, Corpus, EmbeddingServer
from core.values.settings import Project, RetrievalSettings
from core.values.state import AppState

_NAMES = frozenset(corpus.value for corpus in Corpus)


def asked_places(state: AppState) -> AskedPlaces | None:
    """Places that are searched here by settings and project, None while retrieval is off."""
    return places_of(state.config.settings.retrieval, state.config.project)


def places_of(settings: RetrievalSettings, project: Project) -> AskedPlaces | None:
    """As `asked_places`, from the settings alone."""
    if not settings.enabled:
        return None
    server = EmbeddingServer(settings.embedder, settings.embedding_model, settings.embedding_dimension)
    return AskedPlaces(
        settings.roots,
        project.root,
        project.allowed_roots,
        tuple(Corpus(name) for name in dict.fromkeys(settings.corpora) if name in _NAMES),
        settings.tag_fields,
        settings.date_fields,
        settings.server,
        server if settings.embedder else None,
    )
