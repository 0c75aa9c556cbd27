"""The built-in model's slot: what is saved, restored, deleted and when, with a fake server that writes real files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.errors import FailureKind, ProviderError
from core.services.providers.embedded.server import SavedPrefixes, WarmSlot

TOKENS = 500


class Server:
    """One slot: `holds` is whose prefix is in it. A saved file holds that name, padded to a size."""

    def __init__(self, folder: Path, size_bytes: int = 0) -> None:
        self.folder = folder
        self.size_bytes = size_bytes
        self.holds = ""
        self.actions: list[str] = []
        self.failure: ProviderError | None = None

    def act(self, action: str, file_name: str) -> int:
        self.actions.append(action)
        if action == "save":
            (self.folder / file_name).write_text(self.holds.ljust(self.size_bytes))
        if self.failure is not None:
            raise self.failure
        if action == "restore":
            self.holds = (self.folder / file_name).read_text().strip()
        if action == "erase":
            self.holds = ""
        return TOKENS

    def says(self, slot: WarmSlot, discussion: str, tokens: int = TOKENS, pid: int = 1) -> str:
        """A whole call. Returns whose prefix it found."""
        slot.enter(pid, discussion, self.act)
        found, self.holds = self.holds, discussion
        slot.leave(pid, discussion, tokens)
        return found


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


def saved_in(folder: Path, budget_bytes: int = 10_000, version: str = "v1") -> SavedPrefixes:
    return SavedPrefixes(folder, version, budget_bytes)


def file_of(server: Server, saved: SavedPrefixes, name: str) -> Path:
    """Save a discussion's prefix, and find the file."""
    before = set(server.folder.iterdir())
    server.holds = name
    assert saved.save(name, server.act)
    (made,) = set(server.folder.iterdir()) - before
    return made


def files(folder: Path) -> list[str]:
    return sorted(path.read_text().strip() for path in folder.iterdir())


def test_what_one_start_saved_the_next_one_reads_back(server: Server, tmp_path: Path) -> None:
    first = WarmSlot(saved_in(tmp_path))
    server.says(first, "a")
    first.keep(server.act)
    server.holds = ""
    later = WarmSlot(saved_in(tmp_path))

    assert server.says(later, "a", pid=2) == "a"
    assert [path.name[32:] for path in tmp_path.iterdir()] == ["-1.kv"]


def test_another_discussion_saves_what_it_drives_out(server: Server, tmp_path: Path) -> None:
    slot = WarmSlot(saved_in(tmp_path))
    server.says(slot, "a")
    server.says(slot, "b")

    assert files(tmp_path) == ["a"]
    assert server.says(slot, "a") == "b"  # the server has it in memory: nothing is read back
    assert files(tmp_path) == ["a", "b"]
    assert "restore" not in server.actions


def test_a_new_process_knows_nothing_and_is_given_what_is_saved(server: Server, tmp_path: Path) -> None:
    slot = WarmSlot(saved_in(tmp_path))
    server.says(slot, "a")
    slot.keep(server.act)
    server.holds = ""

    assert server.says(slot, "a", pid=2) == "a"


def test_a_prefix_is_saved_again_only_when_it_has_grown(server: Server, tmp_path: Path) -> None:
    slot = WarmSlot(saved_in(tmp_path))
    for tokens in (1000, 1500, 2023, 2024, 2100):
        server.says(slot, "a", tokens)
        slot.keep(server.act)
    assert server.actions == ["save", "save"]
    slot.keep(server.act, 1)
    assert server.actions == ["save"] * 3
    slot.keep(server.act, 1)
    assert server.actions == ["save"] * 3


def test_nothing_is_saved_or_read_while_a_call_is_under_way(server: Server, tmp_path: Path) -> None:
    slot = WarmSlot(saved_in(tmp_path))
    server.says(slot, "a")
    slot.keep(server.act)
    slot.enter(1, "b", server.act)
    slot.enter(1, "c", server.act)
    slot.keep(server.act, 1)
    slot.leave(1, "b", TOKENS)
    slot.keep(server.act, 1)
    assert server.actions == ["save"]
    server.holds = "c"
    slot.leave(1, "c", TOKENS)
    slot.keep(server.act)
    assert files(tmp_path) == ["a", "c"]


def test_the_longest_unused_goes_when_the_budget_is_full(tmp_path: Path) -> None:
    server = Server(tmp_path, size_bytes=400)
    saved = saved_in(tmp_path, 1000)
    for number, name in enumerate("ab"):
        os.utime(file_of(server, saved, name), (number, number))
    file_of(server, saved, "c")

    assert files(tmp_path) == ["b", "c"]


def test_reading_one_back_makes_it_the_last_used(tmp_path: Path) -> None:
    server = Server(tmp_path, size_bytes=400)
    saved = saved_in(tmp_path, 1000)
    for number, name in enumerate("ab"):
        os.utime(file_of(server, saved, name), (number, number))
    assert saved.restore("a", server.act) == TOKENS
    file_of(server, saved, "c")

    assert files(tmp_path) == ["a", "c"]


def test_what_is_larger_than_the_whole_budget_is_not_kept(tmp_path: Path) -> None:
    server = Server(tmp_path, size_bytes=2000)
    server.holds = "a"

    assert not saved_in(tmp_path, 1000).save("a", server.act)
    assert files(tmp_path) == []


@pytest.mark.parametrize("budget_bytes", [0, -1])
def test_without_a_budget_or_a_folder_nothing_is_asked_of_the_server(
    server: Server, tmp_path: Path, budget_bytes: int
) -> None:
    for saved in (saved_in(tmp_path, budget_bytes), SavedPrefixes(None, "v1")):
        slot = WarmSlot(saved)
        server.says(slot, "a")
        slot.keep(server.act, 1)
        server.says(slot, "b")
        assert not saved.has("a")

    assert server.actions == []


def test_a_save_that_fails_in_the_middle_leaves_what_was_there(server: Server, tmp_path: Path) -> None:
    saved = saved_in(tmp_path)
    server.holds = "whole"
    saved.save("a", server.act)
    server.holds = "torn"
    server.failure = ProviderError(FailureKind.SERVER_FAULT, "No space left on device")

    assert not saved.save("a", server.act)
    assert files(tmp_path) == ["whole"]


def test_a_file_that_the_server_refuses_is_deleted(server: Server, tmp_path: Path) -> None:
    saved = saved_in(tmp_path)
    file_of(server, saved, "a")
    server.failure = ProviderError(FailureKind.BAD_REQUEST, "Invalid slot save file", status=400)

    assert saved.restore("a", server.act) == 0
    assert not saved.has("a")


def test_a_file_that_the_server_dies_of_is_deleted_and_the_call_does_not_begin(
    server: Server, tmp_path: Path
) -> None:
    saved = saved_in(tmp_path)
    file_of(server, saved, "a")
    slot = WarmSlot(saved)
    server.failure = ProviderError(FailureKind.STREAM_DROPPED, "The connection broke")
    with pytest.raises(ProviderError):
        server.says(slot, "a")
    server.failure = None

    assert not saved.has("a")
    assert server.says(slot, "b", pid=2) == "a"  # the fake's slot, not what was saved
    slot.keep(server.act)
    assert files(tmp_path) == ["b"]


def test_a_torn_file_is_deleted_before_the_server_sees_it(server: Server, tmp_path: Path) -> None:
    """It would end the server's process."""
    saved = saved_in(tmp_path)
    file_of(server, saved, "a").write_text("")

    assert saved.restore("a", server.act) == 0
    assert server.actions == ["save"]
    assert files(tmp_path) == []


def test_a_longer_prefix_takes_the_place_of_the_one_before(server: Server, tmp_path: Path) -> None:
    saved = saved_in(tmp_path)
    file_of(server, saved, "a")
    server.holds = "a and more"
    saved.save("a", server.act)

    assert files(tmp_path) == ["a and more"]


def test_another_version_of_the_library_does_not_find_what_this_one_saved(
    server: Server, tmp_path: Path
) -> None:
    server.holds = "a"
    saved_in(tmp_path).save("a", server.act)

    assert not saved_in(tmp_path, version="v2").has("a")


def test_forgetting_deletes_the_file_and_empties_the_slot(server: Server, tmp_path: Path) -> None:
    slot = WarmSlot(saved_in(tmp_path))
    for name in "ab":
        server.says(slot, name)
        slot.keep(server.act)
    slot.forget("a", server.act)
    assert (files(tmp_path), server.holds) == (["b"], "b")
    slot.forget("b", server.act)
    assert (files(tmp_path), server.holds) == ([], "")
    slot.keep(server.act, 1)
    assert files(tmp_path) == []


def test_forgetting_works_without_a_server(server: Server, tmp_path: Path) -> None:
    saved = saved_in(tmp_path)
    server.holds = "a"
    saved.save("a", server.act)
    WarmSlot(saved).forget("a", None)

    assert files(tmp_path) == []


def test_a_call_of_a_process_that_has_died_does_not_count(server: Server, tmp_path: Path) -> None:
    slot = WarmSlot(saved_in(tmp_path))
    slot.enter(1, "a", server.act)
    server.says(slot, "b", pid=2)
    slot.leave(1, "a", TOKENS)
    slot.keep(server.act)

    assert files(tmp_path) == ["b"]


CALLS = st.lists(
    st.tuples(st.sampled_from(["call", "off", "keep", "forget", "restart"]), st.sampled_from("abc"))
)


@given(CALLS)
def test_a_file_never_holds_another_discussions_prefix(
    tmp_path_factory: pytest.TempPathFactory, calls: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("kv")
    server = Server(folder)
    saved = saved_in(folder)
    slot = WarmSlot(saved)
    pid, tokens, is_up = 1, 0, True
    for what, name in calls:
        tokens += 700
        is_up = is_up or what in {"call", "off"}
        match what:
            case "call":
                server.says(slot, name, tokens, pid)
            case "off":
                server.says(slot, "", tokens, pid)
            case "keep" if is_up:
                slot.keep(server.act)
            case "forget":
                slot.forget(name, server.act if is_up else None)
                assert not saved.has(name)
            case _:
                pid, server.holds, is_up = pid + 1, "", False

    for name in "abc":
        if saved.has(name):
            server.holds = ""
            saved.restore(name, server.act)
            assert server.holds == name
