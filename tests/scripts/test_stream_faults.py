"""The script of foreign streams: its table, and that it fails where a stream does. `make faults` tries 100,000."""

from __future__ import annotations

import pytest

from scripts import stream_faults
from tests.core.services.providers.typed_fuzz import Bench, recordings

pytestmark = pytest.mark.filterwarnings("ignore:.* is not a valid:UserWarning")


def test_it_tries_every_vendor_and_says_how_many_held(capsys: pytest.CaptureFixture[str]) -> None:
    assert stream_faults.main(["--streams", "48", "--processes", "1"]) == 0

    head, *rows, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["vendor", "status", "events", "fields", "streams", "outcome"]
    assert {row.split()[0] for row in rows} == {"anthropic", "gemini", "openai", "compatible", "claude_code"}
    assert all(row.endswith("all held") for row in rows)
    assert last.startswith("48 streams, all held")


def test_a_stream_that_does_what_it_must_not_fails_the_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bench, "problem", lambda *_: "the call did not end")

    assert stream_faults.main(["--streams", "24", "--processes", "1"]) == 1
    assert "FAILED, the first: the call did not end" in capsys.readouterr().out


def test_processes_share_the_streams(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of a server without an SDK: two processes would load three SDKs each, for ten seconds."""
    own = [one for one in recordings() if one.kind == "compatible"]
    monkeypatch.setattr(stream_faults, "recordings", lambda: own)
    streams = 8 * len(own)
    assert stream_faults.main(["--streams", str(streams), "--processes", "2"]) == 0

    assert capsys.readouterr().out.splitlines()[-1].startswith(f"{streams} streams, all held")
