"""Every kind of node at every name of the home: a start and a send go on, in bounded time, and what is wrong is said."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from core.app import home as store_home
from core.app import peek
from core.kernel import paths
from core.kernel.diagnostics import start_log
from core.kernel.errors import SlopError
from core.kernel.values.state import AppState
from core.knowledge.categories import CATEGORY_NAMES
from core.talk.discussion.catalog import Catalog
from core.talk.discussion.discussion_messages import CreateDiscussion, SelectDiscussion
from core.talk.discussion.discussion_store import create
from core.talk.turn.turn_messages import SendPrompt
from tests.core.app.programs import Programs, until
from tests.core.kernel.nodes import NO_FILES, NODES, put
from tests.core.records import ID, NOW, meta, user
from tests.patience import ends
from tests.vendors.compatible_server import MODEL, VLLM, CompatibleServer, Said

OF_A_DISCUSSION = (
    paths.LOG_FILE, paths.META_FILE, paths.CACHE_FILE, paths.DRAFT_FILE, paths.DRAFT_ATTACHMENTS_FILE, paths.QUEUE_FILE,
    paths.REPLY_FILE, paths.LOCK_FILE, paths.REPLY_LOCK_FILE, paths.LEFTOVERS_LOCK_FILE, paths.TOOLS_LOCK_FILE,
)  # fmt: skip
ESSENTIAL = (paths.HOME_FILE, paths.HOME_LOCK_FILE)
"""Without these nobody can say whose home it is; a start may end there, with a sentence."""
OF_THE_HOME = (
    paths.OWNER_FILE, paths.RAISE_FILE, paths.STATE_FILE, paths.JOURNAL_FILE, paths.HOOK_TOKEN_FILE, paths.HOOK_FILE,
    paths.IMPORTED_FILE, paths.CACHING_FILE, paths.TOKENS_FILE, f"{paths.RESERVES_DIR}/{paths.RESERVES_FILE}", f"{paths.RESERVES_DIR}/{paths.LOCK_FILE}",
    "keys/local", "keys/anthropic", "CLAUDE.md", "AGENTS.md",
    f"trash/{paths.AGES_FILE}", f"trash/20260101-000000-20260101-000000-aaaaaa/{paths.WHY_FILE}",
    *(f"knowledge/{name}" for name in (
        *CATEGORY_NAMES, "digest.md", "ledger.json", "ledger.journal", ".ledger.sha256", ".withdrawals", paths.LOCK_FILE,
        ".harvest.lock", ".harvest.holder", paths.REVIEW_FILE, paths.PROPOSALS_FILE, "files/1:2.md", "prompts/role.md", "prompts/harvest.md",
        "applies/20260101-000000-aaaaaa.jsonl", "evidence.jsonl", "events.jsonl", ".seen.json", "index.json", "SCHEMA.md",
        "global/facts.yaml", "repos/tides.yaml", "agents/tides.yaml", "batches/tides.jsonl", "versions/20260101-facts.md",
        "drafts/tides.md", ".spent/2026-01-01.jsonl", ".replies/aa/bb.json", ".withdrawal.lock",
    )),
    *(f"knowledge/prompts/{name}" for name in ("continue.md", "delegate.md", "compress-discussion.md", "merge-knowledge.md")),
    *(f"forgetting/20260101-000000-aaaaaa{ending}" for ending in (".intent.json", ".receipt.json", ".server.json")),
    f"{paths.INBOX_DIR}/tides.txt", f"{paths.INBOX_DIR}/{paths.INBOX_TAKEN_DIR}/tides.txt", "memory/tides.md", "POC.md",
    "backups/format-1-20260101-000000/in-progress.toml", "working/tides.toml",
)  # fmt: skip
ELSEWHERE = {paths.PROJECT_FILE, paths.CONFIG_FILE, paths.MODELS_FILE, paths.PRICES_FILE}
"""Names of files that do not lie in the home."""


class World(Programs):
    """A home with a discussion for each name that one has, and a server."""

    def __init__(self, base: Path, server: CompatibleServer) -> None:
        super().__init__(base)
        self.server = server
        self.by_name = {name: f"2026082{number}-101112-qwerty" for number, name in enumerate(OF_A_DISCUSSION)}
        store_home.open_home(self.home, NOW)
        for discussion_id in self.by_name.values():
            create(self.home, meta(discussion_id), [user("m1", "Kept words.")])

    def spoil(self, kind: str) -> None:
        """Put a node at every name that is not essential."""
        for name in OF_THE_HOME:
            put(self.home / name, kind)
        for name, discussion_id in self.by_name.items():
            put(paths.discussion_dir(self.home, discussion_id) / name, kind)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with CompatibleServer(VLLM) as server:
        config = tmp_path / "config.toml"
        config.write_text(
            f'[providers.local]\nkind = "compatible"\nbase_url = "{server.url}/v1"\n'
            f'[ai_settings]\nprovider = "local"\nmodel = "{MODEL}"\n'
        )
        monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(config))
        world = World(tmp_path, server)
        yield world
        world.stop()


def is_told(state: AppState, discussion_id: str, name: str, kind: str) -> bool:
    """Whether a discussion is open, or its row says why not; and what is no file in it is named."""
    opened = state.discussions.open.get(discussion_id)
    row = state.discussions.summaries.get(discussion_id)
    said = [*(opened.repaired if opened is not None else ()), row.problem if row is not None else ""]
    is_named = any(name in sentence for sentence in said)
    if name == paths.LOG_FILE and kind in {*NO_FILES, "a huge file of holes"}:
        return is_named
    return opened is not None and (is_named or kind not in NO_FILES)


def test_every_file_that_the_program_names_is_met() -> None:
    named = {value for key, value in vars(paths).items() if key.endswith("_FILE") and isinstance(value, str)}
    met = {name.rpartition("/")[2] for name in (*OF_A_DISCUSSION, *ESSENTIAL, *OF_THE_HOME)}
    assert named - met - ELSEWHERE == set()


@pytest.mark.slow
@pytest.mark.parametrize("kind", NODES)
def test_a_start_and_a_send_go_on(world: World, kind: str) -> None:
    world.spoil(kind)
    controller = ends(world.start)
    controller.send(CreateDiscussion("fresh"))
    state = until(controller, lambda s: bool(set(s.discussions.open) - set(world.by_name.values())))
    chosen = (set(state.discussions.open) - set(world.by_name.values())).pop()
    world.server.replies.append(Said("It turns."))
    controller.send(SendPrompt(chosen, "When does the tide turn?"))
    state = until(
        controller,
        lambda s: (
            chosen not in s.turns.calls
            and [m.text for m in s.discussions.open[chosen].messages][1:] == ["It turns."]
        ),
    )
    for name, discussion_id in world.by_name.items():
        controller.send(SelectDiscussion(discussion_id))
        until(controller, lambda s, one=discussion_id, name=name: is_told(s, one, name, kind))  # type: ignore[misc]
    ends(world.stop)

    if kind in NO_FILES:
        notice = next(notice for notice in state.program.notices if notice.id == "home-odd")
        assert {paths.STATE_FILE, paths.CACHING_FILE, paths.JOURNAL_FILE} <= {
            line.split(" ")[0] for line in notice.detail.splitlines()
        }
    assert [m.text for m in state.discussions.open[chosen].messages] == [
        "When does the tide turn?",
        "It turns.",
    ]


@pytest.mark.parametrize("kind", NODES)
@pytest.mark.parametrize("name", ESSENTIAL)
def test_a_home_that_cannot_be_told_is_said_in_a_sentence_or_opened(
    tmp_path: Path, name: str, kind: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    put(home / name, kind)

    assert peek.is_owned(home) is False
    said = ""
    try:
        lock = store_home.own(home)
        assert lock is not None
        try:
            store_home.open_home(home, NOW)
        finally:
            lock.release()
    except SlopError as error:
        said = str(error)
    assert said == "" or name in said


@pytest.mark.parametrize("kind", NODES)
def test_the_window_s_first_look_waits_for_nothing(tmp_path: Path, kind: str) -> None:
    put(tmp_path / paths.STATE_FILE, kind)

    assert isinstance(peek.last_state(tmp_path), str)


@pytest.mark.parametrize("kind", NO_FILES)
def test_what_can_be_made_again_is_done_without(tmp_path: Path, kind: str) -> None:
    """The index and the diagnostic log lie outside the home: nothing waits for them either."""
    index, diagnostics = put(tmp_path / "catalog.sqlite", kind), put(tmp_path / "manual-slop.log", kind)
    home = tmp_path / "home"
    store_home.open_home(home, NOW)
    create(home, meta(), [user("m1")])

    with closing(Catalog(home, index, may_start_child=False)) as catalog:
        assert [one.meta.id for step in catalog.refresh() for one in step.summaries] == [ID]
        assert [one.meta.id for one in catalog.load_summaries()] == [ID]
    assert start_log(tmp_path) is None

    assert not index.is_file()
    assert not diagnostics.is_file()


@pytest.mark.parametrize("kind", [*NO_FILES, "a link to a file of the person's"])
@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_a_file_beside_the_index_is_judged_like_the_index(tmp_path: Path, ending: str, kind: str) -> None:
    """SQLite itself follows links and waits at pipes."""
    index, victim = tmp_path / "catalog.sqlite", tmp_path / "diary.txt"
    victim.write_text("mine")
    victim.chmod(0o644)
    beside = index.with_name(index.name + ending)
    if kind in NODES:
        put(beside, kind)
    else:
        beside.symlink_to(victim)
    home = tmp_path / "home"
    store_home.open_home(home, NOW)
    create(home, meta(), [user("m1")])

    with closing(Catalog(home, index, may_start_child=False)) as catalog:
        assert [one.meta.id for step in catalog.refresh() for one in step.summaries] == [ID]

    assert not index.exists()
    assert (victim.read_text(), victim.stat().st_mode & 0o777) == ("mine", 0o644)
    assert os.path.lexists(beside)
