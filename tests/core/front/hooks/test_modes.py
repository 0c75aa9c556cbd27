"""A used home is the person's alone, whatever the umask of the shell that the program was started from."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.diagnostics import start_log
from core.kernel.surroundings import own_what_is_made
from core.signals.inbox import Inbox
from tests.core.front.hooks.conftest import World
from tests.core.front.hooks.harvest_world import asked, old_discussion, proposing


@pytest.fixture(params=[0, 0o077, 0o777], ids=oct)
def any_umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    own_what_is_made()
    try:
        yield
    finally:
        os.umask(before)


def loose(*folders: Path) -> list[str]:
    """Folders and files that others than their owner may enter or read, or that their owner may not."""
    return [
        f"{path} {mode:o}"
        for folder in folders
        for path in (folder, *sorted(folder.rglob("*")))
        if not path.is_symlink()
        and (mode := stat.S_IMODE(path.lstat().st_mode)) not in ({0o700} if path.is_dir() else {0o600, 0o700})
    ]


@pytest.mark.usefixtures("any_umask")
def test_a_used_home_is_the_persons_alone_under_any_umask(world: World) -> None:
    world.start()
    log = start_log(paths.log_dir())
    old_discussion(world, "tides")
    chosen = world.discussion()
    for text in ("One", "Two"):
        world.client.post(f"/api/discussions/{chosen}/messages", {"text": text, "wait": True})
    attach = {
        "panel": "composer",
        "action": "attach_text",
        "discussion_id": chosen,
        "text": "long " * 50,
        "name": "a",
    }
    assert world.client.post("/api/ui", attach).status_code == 202
    world.until(lambda s: bool(s.discussions.open[chosen].draft.attachments))
    world.client.put("/api/presets/core", {"items": [{"path": "tides.py"}]})
    world.server.replies.append(proposing("The moon pulls."))
    for action in ("look", "preview", "apply"):
        asked(world, action, {"items": "all"} if action == "apply" else None)
    world.client.post("/api/knowledge/digest")
    inbox = Inbox(world.home, lambda: datetime.now(UTC) + timedelta(hours=1))
    inbox.read()
    (world.home / "inbox" / "letter.txt").write_text("A letter.")
    (world.home / "inbox" / "letter.txt").chmod(0o600)
    inbox.read()
    delete = {"panel": "discussions", "action": "delete_discussion", "discussion_id": chosen}
    assert world.client.post("/api/ui", delete).status_code == 202
    world.until(lambda s: bool(s.discussions.trash))
    world.stop()

    assert log is not None
    assert (world.home / "inbox" / "waiting").is_dir()
    assert loose(world.home, paths.cache_dir(), paths.log_dir()) == []
