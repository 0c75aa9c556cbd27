"""The shapes of what is known and of the harvest, and the bodies and queries that ask for them."""

from __future__ import annotations

from collections.abc import Mapping

from core.hooks.building import (
    COUNT,
    FLAG,
    MONEY,
    TEXT,
    TIME,
    many,
    maybe,
    maybe_named,
    named,
    one_of,
    page,
    taken,
    whole,
)
from core.hooks.schema import Schema
from core.values.harvest import ArtifactClass, ArtifactKind, HarvestPhase
from core.values.knowledge import Category, DigestSwitch, LedgerStatus, NoteStatus

DEFAULT_LIMIT = 200
MAX_LIMIT = 5_000
MAX_CHOSEN = 100_000
ALL = "all"
"""Stands for every proposed item."""

PAGE_QUERY: Mapping[str, Schema] = {
    "limit": {
        "type": "integer",
        "minimum": 1,
        "maximum": MAX_LIMIT,
        "default": DEFAULT_LIMIT,
        "description": "At most so many rows of each list; its `total` says how many there are.",
    },
    "offset": {
        "type": "integer",
        "minimum": 0,
        "maximum": 1_000_000_000,
        "default": 0,
        "description": "The first row of each list, counted from 0.",
    },
}
KNOWLEDGE_QUERY: Mapping[str, Schema] = {
    **PAGE_QUERY,
    "file": {
        "type": "string",
        "maxLength": 200,
        "description": "Only this file: `facts.md`, or the `file` of notes.",
    },
}

TEXTS: Schema = {"type": "array", "items": TEXT, "maxItems": MAX_CHOSEN}
ITEM_PLACE = taken(("file", "first_line", "text"), file=TEXT, first_line=COUNT, text=TEXT)
"""How `POST /api/ui` names an item: as it stands in `GET /api/knowledge`, so that none that has changed is hit."""

_PATHS: Schema = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "maxLength": 4096},
    "maxItems": MAX_CHOSEN,
    "description": "`path` of rows of `artifacts`; without any, all of class `harvest`.",
}
_ITEMS: Schema = {
    "type": ["array", "string"],
    "items": TEXT,
    "maxItems": MAX_CHOSEN,
    "minLength": len(ALL),
    "maxLength": len(ALL),
    "description": f"Ids of the proposed items to write, the others are unticked; or {ALL!r}; as ticked without.",
}
_GIVEN_UP: Schema = {
    **_PATHS,
    "description": "Without a preview: `path` of candidates that go to the trash unharvested.",
}
_WAIT: Schema = {**FLAG, "description": "Answer when the run has ended, not when it has begun."}
_APPLY_ID: Schema = {
    "type": "string",
    "maxLength": 200,
    "description": "Of a row of `applies`; without one, the newest that stands.",
}

KNOWLEDGE_BODIES: Mapping[str, Schema] = {
    "look_harvest": taken(wait=_WAIT),
    "preview_harvest": taken(paths=_PATHS, wait=_WAIT),
    "apply_harvest": taken(items=_ITEMS, paths=_GIVEN_UP, wait=_WAIT),
    "undo_harvest": taken(apply_id=_APPLY_ID, wait=_WAIT),
    "cancel_harvest": taken(wait=_WAIT),
}

_COUNTS: Schema = {"type": "object", "additionalProperties": COUNT}
_CATEGORY = one_of(*Category)
_SWITCH = one_of(*DigestSwitch)

KNOWLEDGE_SHAPES: Mapping[str, Schema] = {
    "KnowledgeItem": whole(
        category=_CATEGORY,
        file=TEXT,
        first_line=COUNT,
        last_line=COUNT,
        section=TEXT,
        text=TEXT,
        source=maybe(TEXT),
        date=maybe(TEXT),
    ),
    "Digest": whole(switch=_SWITCH, is_on=FLAG, path=TEXT, size_bytes=COUNT, text=TEXT),
    "Knowledge": whole(
        switch=_SWITCH,
        is_on=FLAG,
        digest=named("Digest"),
        categories=many(whole(file=TEXT, problem=TEXT, total=COUNT, items=many(named("KnowledgeItem")))),
        notes=page(
            whole(
                file=TEXT,
                file_id=TEXT,
                heading=TEXT,
                path=TEXT,
                status=one_of(*NoteStatus),
                proposal=TEXT,
                problem=TEXT,
                total=COUNT,
                items=many(named("KnowledgeItem")),
            )
        ),
        problems=many(TEXT),
    ),
    "Artifact": whole(
        **{"class": one_of(*ArtifactClass)},
        why=TEXT,
        kind=one_of(*ArtifactKind),
        id=TEXT,
        name=TEXT,
        title=TEXT,
        path=TEXT,
        size_bytes=COUNT,
        new_bytes=COUNT,
        sha256=TEXT,
        updated_at=TIME,
        ledger_status=TEXT,
    ),
    "ProposedItem": whole(
        id=TEXT,
        category=_CATEGORY,
        head=TEXT,
        body=TEXT,
        source=TEXT,
        artifact_path=TEXT,
        near=many(TEXT),
        is_known=FLAG,
        is_ticked=FLAG,
        is_edited=FLAG,
    ),
    "HarvestFailure": whole(name=TEXT, path=TEXT, sha256=TEXT, reason=TEXT),
    "HarvestPreview": whole(
        conversations=COUNT,
        items=page(named("ProposedItem"), ticked=COUNT),
        failures=page(named("HarvestFailure")),
        dropped_rows=COUNT,
    ),
    "HarvestReport": whole(
        reclaimed_bytes=COUNT,
        reclaimed=page(TEXT),
        items=_COUNTS,
        known_items=COUNT,
        dropped_rows=COUNT,
        failures=page(named("HarvestFailure")),
        digest=TEXT,
        ledger=TEXT,
        stopped=TEXT,
    ),
    "UndoReport": whole(
        apply_id=TEXT, removed=COUNT, left=page(TEXT), restored=page(TEXT), problems=page(TEXT)
    ),
    "LedgerEntry": whole(
        sha256=TEXT,
        path=TEXT,
        status=one_of(*LedgerStatus),
        at=TEXT,
        deleted=FLAG,
        bytes=COUNT,
        items=_COUNTS,
        error=TEXT,
        undone_at=TEXT,
    ),
    "Apply": whole(id=TEXT, at=TEXT, undone_at=TEXT, conversations=COUNT, items=COUNT, reclaimed=COUNT),
    "Harvest": whole(
        phase=one_of(*HarvestPhase),
        is_cancelling=FLAG,
        progress=whole(done=COUNT, total=COUNT, doing=TEXT),
        provider=TEXT,
        model=TEXT,
        looked_at=maybe(TIME),
        artifacts=page(named("Artifact"), classes=_COUNTS),
        estimate=whole(
            candidate_bytes=COUNT,
            prune_bytes=COUNT,
            new_bytes=COUNT,
            input_tokens_est=COUNT,
            output_tokens_est=COUNT,
            cost_usd_est=MONEY,
        ),
        preview=maybe_named("HarvestPreview"),
        ledger=page(named("LedgerEntry"), statuses=_COUNTS),
        applies=page(named("Apply")),
        report=maybe_named("HarvestReport"),
        undone=maybe_named("UndoReport"),
        problem=TEXT,
        use=whole(calls=COUNT, usage=named("Usage"), cost_usd=MONEY),
    ),
}
