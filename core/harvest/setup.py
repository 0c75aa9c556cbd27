"""Parts of a run of the harvest, from its settings: one place for the window and the command line."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from core.base import paths
from core.harvest.classes import piece_bytes_for
from core.harvest.generation import Generate
from core.harvest.messages import HarvestRun
from core.harvest.scan import ScanRequest
from core.harvest.sources import Distiller, ReadMessages
from core.harvest.transcript_sources import unread_messages
from core.values.provider import ModelProfile


def scan_request(home: Path, run: HarvestRun, now: datetime) -> ScanRequest:
    """Request for the look at the disk.

    Args:
        now: UTC.
    """
    return ScanRequest(
        home,
        now,
        sources=tuple(Path(name).expanduser().absolute() for name in run.settings.harvest_sources),
        open_ids=run.open_ids,
        live_for=timedelta(days=run.settings.live_days),
        max_bytes=run.settings.max_source_bytes,
    )


def distiller(
    home: Path,
    run: HarvestRun,
    generate: Generate,
    profile: ModelProfile,
    read: ReadMessages = unread_messages,
) -> Distiller:
    """Distiller that asks the model of a run.

    Args:
        profile: what is known of that model; read: gives what is to be distilled of a conversation.
    """
    return Distiller(
        generate,
        run.provider,
        run.model,
        run.template.strip(),
        piece_bytes_for(profile),
        paths.knowledge_dir(home),
        read=read,
        root=run.project_root,
        allowed_roots=run.allowed_roots,
    )
