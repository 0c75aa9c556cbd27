"""The benchmark of the scan for secrets measures what it says, at a small size."""

from __future__ import annotations

import pytest

from core.kernel.secrets import MASK, scrub
from tests.bench import sound_secrets


def test_each_file_holds_one_secret_in_so_much_source() -> None:
    texts = sound_secrets.files(6)

    assert [MASK in scrub(text) for text in texts] == [True] * 6
    assert all(abs(len(text) - sound_secrets.FILE_CHARS) < 3_000 for text in texts)
    assert len(set(texts)) == 6


def test_its_rows_hold_at_a_small_size(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sound_secrets, "FILES", 3)
    monkeypatch.setattr(sound_secrets, "RUNS", 1)

    rows = sound_secrets.rows()

    assert [row["unit"] for row in rows] == ["", "", "", "", "", "", "MB/s", "MB/s"]
    assert all(row["holds"] for row in rows[:6])
    assert "hex private key" in capsys.readouterr().out
