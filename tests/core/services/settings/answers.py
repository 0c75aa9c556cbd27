"""A yes to all that a project asks for now, as the window and the command line give it."""

from __future__ import annotations

from core.services.settings.asked_values import shown_as
from core.services.settings.settings_loader import ConfigRequest, LoadedSettings, load
from core.services.settings.trust import trust


def trust_shown(request: ConfigRequest) -> LoadedSettings:
    """Say yes to what the project asks for, and read it again."""
    asked = load(request)
    trust(request.root, request.trust_file, map(shown_as, asked.project.asked), asked=asked.asked)
    return load(request)
