"""Which client speaks to which server, and what that costs before the first call."""

from __future__ import annotations

import subprocess
import sys

import pytest

from core.kernel.values.provider import ProviderKind
from core.services.providers.clients import make_provider
from tests.core.services.providers.outcomes import server_settings

HEAVY = ("anthropic", "google.genai", "openai", "httpx2", "xllamacpp", "pydantic")


@pytest.mark.parametrize("kind", ProviderKind)
def test_every_kind_has_a_client_that_can_be_closed_unused(kind: ProviderKind) -> None:
    provider = make_provider(server_settings(kind), "sk-0123456789")
    provider.close()
    provider.close()

    assert type(provider).__name__.lower().startswith(kind.replace("_", ""))


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="telepathy"):
        make_provider(server_settings("telepathy"), None)


def test_making_a_client_imports_no_sdk() -> None:
    program = (
        "import sys\n"
        "from core.services.providers.clients import make_provider\n"
        "from core.services.providers.model_data import packaged_models\n"
        "from core.kernel.values.provider import ProviderKind\n"
        "from core.kernel.values.settings import ServerSettings\n"
        "made = [make_provider(ServerSettings(k, k), 'x', packaged_models()) for k in ProviderKind]\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
