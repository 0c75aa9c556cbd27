"""What is written to and read from the home, in the order asked for, on one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from core.errors import SlopError, StorageError
from core.knowledge.harvest_review import keep_review
from core.knowledge_text.harvest_review import folded
from core.store import attachments, discussions, home, log, meta, trash
from core.text import one_line
from core.values import effects as f
from core.values import events as e
from core.values.discussion import DiscussionMeta, DiscussionSummary, OpenDiscussion
from core.values.effects import Effect
from core.values.messages import Message, Role
from core.values.usage import Usage, add_usage
from core.workers.queue import Emit
from core.workers.seen import Seen

STATE_HEAD = "selected = "


class Journals(Protocol):
    """The reply journals that are open."""

    def drop(self, discussion_id: str) -> None:
        """The reply is in the log: its journal may go."""
        ...


class DiskHandler:
    """Carries out the disk worker's effects.

    Args:
        root: the home; clock: UTC; emit: the controller's inbox; journals: of the replies under way.
        max_attachment_bytes: asked anew each time, a setting.
    """

    def __init__(
        self,
        root: Path,
        clock: Callable[[], datetime],
        emit: Emit,
        journals: Journals,
        max_attachment_bytes: Callable[[], int],
    ) -> None:
        self._root = root
        self._clock = clock
        self._emit = emit
        self._journals = journals
        self._max_attachment_bytes = max_attachment_bytes
        self._seen = Seen(root)

    def handle(self, effect: Effect) -> None:
        """Carry out one effect. Raises StorageError for what has no event of its own."""
        match effect:
            case f.AppendRecords():
                self._append(effect)
            case f.CreateOnDisk():
                discussions.create(self._root, effect.meta)
                self._created(effect.meta)
            case f.BranchOnDisk():
                parent = meta.read_meta(self._root, effect.parent_id).meta
                made = discussions.branch(self._root, parent, effect.message_id, effect.meta)
                self._created(made)
            case f.LoadDiscussion():
                loaded = self._load(effect.discussion_id)
                row = summarise(loaded.meta, loaded.discussion)
                self._emit(e.DiscussionLoaded(loaded.discussion, row))
            case f.WriteMeta():
                meta.write_meta(self._root, effect.meta)
                self._seen.wrote_meta(effect.meta.id)
                self._emit(e.MetaWritten(effect.meta.id))
            case f.LookAtDiscussions():
                self._look_at(effect.discussion_ids)
            case f.WriteDraft():
                self._write_draft(effect)
            case f.WriteReview():
                keep_review(self._root, folded(effect.review, effect.preview))
            case f.TrashOnDisk():
                item = trash.delete(self._root, effect.discussion_id, self._clock(), effect.why)
                self._seen.forget(effect.discussion_id)
                self._emit(e.DiscussionTrashed(replace(item, name=effect.name)))
            case f.RestoreOnDisk():
                self._restore(effect.discussion_id)
            case f.StoreAttachment():
                self._attach(effect)
            case f.WriteExport():
                self._export(effect)
            case f.WriteWindow():
                home.write_state(self._root, join_state(effect.window_toml, effect.selected_id))
            case _:
                raise AssertionError(effect)

    def _append(self, effect: f.AppendRecords) -> None:
        try:
            went = log.append(self._root, effect.discussion_id, effect.records)
        except SlopError as error:
            detail = ". ".join(filter(None, (error.remedy.removesuffix("."), error.where)))
            self._emit(e.WriteFailed(effect.discussion_id, effect.token, error.what, detail, effect.records))
            return
        if effect.drops_reply_journal:
            self._journals.drop(effect.discussion_id)
        self._emit(e.RecordsAppended(effect.discussion_id, effect.records, effect.token))
        if self._seen.appended(effect.discussion_id, went):
            self._tell_changed(effect.discussion_id)

    def _load(self, discussion_id: str) -> discussions.Loaded:
        self._seen.look(discussion_id)
        return discussions.load(self._root, discussion_id, self._clock())

    def _look_at(self, discussion_ids: Iterable[str]) -> None:
        """Tell what another program did to discussions, if anything; the trash once, however many came or went."""
        has_moved = False
        for discussion_id in discussion_ids:
            if not (self._root / "discussions" / discussion_id).is_dir():
                has_moved = True
                self._seen.forget(discussion_id)
                self._emit(e.DiscussionVanished(discussion_id))
            else:
                has_moved = has_moved or not self._seen.knows(discussion_id)
                if self._seen.look(discussion_id):
                    self._tell_changed(discussion_id)
        if has_moved:
            self._emit(e.TrashListed(tuple(reversed(trash.items(self._root)))))

    def _tell_changed(self, discussion_id: str) -> None:
        loaded = self._load(discussion_id)
        summary = summarise(loaded.meta, loaded.discussion)
        self._emit(e.DiscussionChangedOutside(summary, loaded.discussion))

    def _created(self, new: DiscussionMeta) -> None:
        loaded = self._load(new.id)
        self._emit(e.DiscussionCreated(summarise(loaded.meta, loaded.discussion), loaded.discussion))

    def _write_draft(self, effect: f.WriteDraft) -> None:
        if (self._root / "discussions" / effect.discussion_id).is_dir():
            meta.write_draft(self._root, effect.discussion_id, effect.draft)

    def _restore(self, discussion_id: str) -> None:
        back = trash.restore(self._root, discussion_id)
        loaded = self._load(back)
        self._emit(e.DiscussionRestored(summarise(loaded.meta, loaded.discussion)))

    def _attach(self, effect: f.StoreAttachment) -> None:
        data, name = (effect.text.encode(), effect.name) if effect.text else self._read_file(effect.path)
        self._check_size(len(data), name, effect.path)
        part = attachments.save(self._root, effect.discussion_id, data, name)
        self._emit(e.AttachmentStored(effect.discussion_id, part))

    def _check_size(self, size_bytes: int, name: str, path: str) -> None:
        limit = self._max_attachment_bytes()
        if size_bytes > limit:
            raise StorageError(
                f"{name!r} is {size_bytes:,} bytes, more than an attachment may have ({limit:,})",
                remedy="Attach a part of it, add it to a context preset in slices, or raise files.max_attachment_bytes",
                where=path,
            )

    def _read_file(self, path: str) -> tuple[bytes, str]:
        source = Path(path).expanduser()
        if not source.is_file():
            raise StorageError(f"{path!r} is not a file", remedy="Choose a file that exists", where=path)
        self._check_size(source.stat().st_size, source.name, path)
        try:
            return source.read_bytes(), source.name
        except OSError as error:
            raise StorageError(
                f"Cannot read {path!r}: {error.strerror}", where=path, errno=error.errno
            ) from error

    def _export(self, effect: f.WriteExport) -> None:
        from core.export import export_json, export_markdown
        from core.store.atomic import write_file

        loaded = discussions.load(self._root, effect.discussion_id, self._clock())
        render = export_json if effect.form == "json" else export_markdown
        target = Path(effect.path).expanduser()
        write_file(target, render(loaded.meta, loaded.discussion).encode("utf-8", "replace"))
        self._emit(e.OperationDone("export", f"Exported {loaded.meta.name!r}.", str(target)))


def summarise(found: DiscussionMeta, discussion: OpenDiscussion) -> DiscussionSummary:
    """The row of the list that a loaded discussion gives. What deleted replies cost was paid all the same."""
    messages = discussion.messages
    usage = Usage()
    for entry in discussion.entries:
        if isinstance(entry, Message) and entry.usage is not None:
            usage = add_usage(usage, entry.usage)
    last: Message | None = messages[-1] if messages else None
    return DiscussionSummary(
        meta=found,
        updated_at=last.at if last is not None else found.created_at,
        turns=sum(1 for m in messages if m.role is Role.USER),
        usage=usage,
        preview=one_line(last.text, 160) if last is not None else "",
    )


def supersedes(newer: Effect, older: Effect) -> bool:
    """A draft or meta makes an earlier one of the same discussion needless, the window's state and a review any earlier one."""
    match newer, older:
        case f.WriteMeta(), f.WriteMeta():
            return newer.meta.id == older.meta.id
        case f.WriteDraft(), f.WriteDraft():
            return newer.discussion_id == older.discussion_id
        case (f.WriteWindow(), f.WriteWindow()) | (f.WriteReview(), f.WriteReview()):
            return True
        case _:
            return False


def keeps(effect: Effect) -> bool:
    """What is written again until it is on disk: it says how things stand, whenever that is."""
    return isinstance(effect, f.WriteDraft | f.WriteMeta | f.WriteReview | f.WriteWindow)


def join_state(window_toml: str, selected_id: str) -> str:
    """`state.toml`: the selected discussion, then the window's own tables."""
    return f'{STATE_HEAD}"{selected_id}"\n{window_toml}'


def split_state(text: str) -> tuple[str, str]:
    """The window's tables and the selected discussion of a `state.toml`; a foreign one is all window's."""
    head, _, rest = text.partition("\n")
    if not head.startswith(STATE_HEAD):
        return text, ""
    return rest, head.removeprefix(STATE_HEAD).strip().strip('"')
