"""A server that takes connections and never answers: the program's own work does not wait for it, nor does its end."""

from __future__ import annotations

import gc
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.app import outside
from core.app.execution import act
from core.kernel.values.provider import ProviderKind
from core.services.settings.settings_messages import ChangeSetting, RefreshModels
from tests.core.app.programs import Programs, until
from tests.patience import PATIENCE_S, ends
from tests.vendors.compatible_server import MODEL, VLLM, CompatibleServer


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Programs, socket.socket]]:
    config = tmp_path / "config.toml"
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(config))
    with socket.create_server(("127.0.0.1", 0)) as silent, CompatibleServer(VLLM) as server:
        config.write_text(
            f'[providers.silent]\nkind = "{ProviderKind.COMPATIBLE}"\n'
            f'base_url = "http://127.0.0.1:{silent.getsockname()[1]}/v1"\n'
            f'[providers.works]\nkind = "{ProviderKind.COMPATIBLE}"\nbase_url = "{server.url}/v1"\n'
        )
        made = Programs(tmp_path)
        yield made, silent
        made.stop()


@pytest.mark.slow
def test_settings_are_written_and_other_servers_asked_while_one_never_answers(
    world: tuple[Programs, socket.socket],
) -> None:
    program = world[0].start()
    until(program, lambda s: any(model.id == MODEL for model in s.config.models.get("works", ())))

    program.send(ChangeSetting("appearance.theme", "light"))
    until(program, lambda s: s.config.settings.appearance.theme == "light")
    state = act(program, RefreshModels("works"))

    assert not state.config.models.get("silent")


def test_the_end_does_not_wait_for_a_server_that_never_answers(
    world: tuple[Programs, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside, "STOP_WORKERS_S", 10 * PATIENCE_S)
    programs, silent = world
    program = programs.start()
    connection, _ = silent.accept()
    assert connection.recv(1) == b"G"  # the question is out
    ends(program.stop)

    connection.close()
    for thread in threading.enumerate():
        if thread.name.startswith("worker-models/"):
            thread.join(PATIENCE_S)
    gc.collect()
