"""The part of a conversation that is to be distilled now, and asking for it without paying twice."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.kernel.disk import OS_DISK, Disk
from core.kernel.errors import SlopError, StorageError
from core.kernel.language import as_sentences, tr
from core.kernel.values.facts import domain_name
from core.kernel.values.harvest import ArtifactFacts
from core.kernel.values.imports import TranscriptKind
from core.knowledge.harvest.distillation import (
    Generate,
    HarvestError,
    Related,
    distil,
    missing_prompts,
    nothing_known,
    without_known,
    without_quotes,
)
from core.knowledge.harvest.harvest_reply import Reply, read_reply
from core.knowledge.harvest.modes import is_small_model
from core.knowledge.harvest.replies import KeptReplies
from core.knowledge.harvest.transcript import Said
from core.knowledge.harvest.transcript_sources import (
    unread_messages,
    with_found_paths,
    working_folder,
    working_folders,
)
from core.services.settings.settings_loader import config_request, load

LEAST_FREE_BYTES = 4 * 1024 * 1024
"""Room that must be there before a model is asked: a reply that is paid for must find its place."""


def free_bytes(folder: Path) -> int:
    """Bytes that can still be written where a folder is, or will be."""
    there = folder
    while not there.exists():
        there = there.parent
    return shutil.disk_usage(there).free


ReadMessages = Callable[[TranscriptKind, bytes, int], tuple[Said, ...]]
"""`unread_messages`, or the same in another process. Raises ValueError, or SlopError where that process failed."""


class HarvestStoppedError(SlopError):
    """The run cannot go on: what was paid for could not be put on disk."""


class Distiller(msgspec.Struct, frozen=True):
    """Distils conversations with one model.

    Args:
        template: the prompt; piece_bytes: what one call reads at most; knowledge: the knowledge directory.
        free_bytes: room on the disk of a folder; read: gives what is to be distilled of a conversation.
        root: the opened project's, below which relative paths of notes are looked for, too; allowed_roots: further
            folders whose files notes may be about.
    """

    generate: Generate
    provider: str
    model: str
    template: str
    piece_bytes: int
    knowledge: Path
    disk: Disk = OS_DISK
    free_bytes: Callable[[Path], int] = free_bytes
    read: ReadMessages = unread_messages
    root: str = ""
    allowed_roots: tuple[str, ...] = ()

    def distil(self, facts: ArtifactFacts, data: bytes, related: Related = nothing_known) -> Reply:
        """Ask the model, or take the replies that an earlier run paid for.

        Args:
            facts: with the hash of `data`, the conversation's bytes; related: gives what a piece of it may contradict.

        Raises:
            HarvestError: the conversation cannot be read, or the replies were malformed; those are asked anew.
            HarvestStoppedError: a reply could not be kept. SlopError: whatever the provider raises.
        """
        ask = _KeptAsk(self, KeptReplies(self.knowledge, facts.sha256, disk=self.disk))
        try:
            said = distil(
                self._messages(facts, data),
                facts.title or facts.name,
                self.template,
                ask,
                piece_bytes=self.piece_bytes,
                related=self._may_tell(related),
            )
        except HarvestError:
            ask.forget_malformed()
            raise
        path = Path(facts.path)
        folders = working_folders(path, facts.folder or working_folder(facts.kind, data), self.root)
        folders = (*folders, *self.allowed_roots)
        return replace(said, items=with_found_paths(said.items, folders, str(Path.home())))

    def has_kept(self, facts: ArtifactFacts, data: bytes) -> bool:
        """True if the program has every reply that `distil` needs, so that `distil` calls no model. Writes nothing.

        Raises:
            SlopError: the conversation or a reply cannot be read.
        """
        return not self.missing(facts, data)

    def missing(self, facts: ArtifactFacts, data: bytes, related: Related = nothing_known) -> tuple[str, ...]:
        """Prompts without a kept reply that `distil` would begin with. Writes nothing.

        Args:
            related: as of `distil`; which replies are kept does not depend on it.

        Raises:
            HarvestError: it cannot be read, or what is kept is malformed, also the second time.
            SlopError: a reply cannot be read.
        """
        kept = KeptReplies(self.knowledge, facts.sha256, disk=self.disk)
        return missing_prompts(
            self._messages(facts, data),
            facts.title or facts.name,
            self.template,
            lambda prompt: _kept_reply(kept, prompt, self),
            piece_bytes=self.piece_bytes,
            related=self._may_tell(related),
        )

    def _may_tell(self, related: Related) -> Related:
        return nothing_known if is_small_model(self.provider) else related

    def _messages(self, facts: ArtifactFacts, data: bytes) -> tuple[Said, ...]:
        try:
            return self.read(facts.kind, data, facts.new_bytes)
        except ValueError as error:
            raise HarvestError(
                tr("the conversation cannot be read: {error}", error=error), where=facts.path
            ) from error


class _KeptAsk:
    """Asks through the kept replies, and remembers which were asked."""

    def __init__(self, distiller: Distiller, kept: KeptReplies) -> None:
        self._distiller, self._kept = distiller, kept
        self._asked: list[tuple[str, str]] = []

    def __call__(self, prompt: str) -> str:
        """The reply to a prompt: the kept one, else a new one, which is on disk before it is returned."""
        by, kept = self._distiller, self._kept
        text = _kept_reply(kept, prompt, by)
        if text is None:
            if by.free_bytes(by.knowledge) < LEAST_FREE_BYTES:
                raise HarvestStoppedError(
                    tr("The disk is nearly full. No model was asked, because its reply would be lost"),
                    remedy=tr("Free some space and try again"),
                    where=str(by.knowledge),
                )
            text = self._paid(prompt)
        self._asked.append((without_known(prompt), text))
        return text

    def _paid(self, prompt: str) -> str:
        """Ask the model. The reply has its place on disk before it is asked for, and is there once it is returned."""
        by = self._distiller
        with ExitStack() as places:
            with _or_stop(tr("no model was asked, because its reply would be lost")):
                key = without_known(prompt)
                place = places.enter_context(self._kept.place(key, by.provider, by.model))
            text = by.generate(prompt, by.provider, by.model)
            with _or_stop(tr("the program could not save the model's reply")):
                place.keep(text)
        return text

    def forget_malformed(self) -> None:
        """Drop the replies that nobody can read: the next run asks anew, and only for those."""
        for prompt, text in self._asked:
            try:
                read_reply(text)
            except ValueError:
                for form in (prompt, without_quotes(prompt)):
                    self._kept.drop(form, self._distiller.provider, self._distiller.model)


def _kept_reply(kept: KeptReplies, prompt: str, by: Distiller) -> str | None:
    """The reply to a prompt that was paid for, in the form of now or of before quotes were asked for."""
    prompt = without_known(prompt)
    found = kept.find(prompt, by.provider, by.model)
    return kept.find(without_quotes(prompt), by.provider, by.model) if found is None else found


@contextmanager
def _or_stop(what: str) -> Iterator[None]:
    """A disk that fails here ends the run."""
    try:
        yield
    except StorageError as error:
        raise HarvestStoppedError(
            as_sentences(what, error.what), remedy=error.remedy, where=error.where
        ) from error


# Domains of conversations: under which facts of the folder that each was begun in are kept.


class FolderDomains:
    """Domains of folders, each looked up once. Used by one thread at a time.

    Args:
        home: the person's data.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._known: dict[str, tuple[str, ...]] = {"": ()}

    def of(self, folder: str) -> tuple[str, ...]:
        """Domains of a project's root: its repository's, or none. A folder that is gone goes by its name."""
        if folder not in self._known:
            domain = self._domain(Path(folder))
            self._known[folder] = (domain,) if domain else ()
        return self._known[folder]

    def _domain(self, folder: Path) -> str:
        if not folder.is_dir():
            return domain_name(folder.name)
        return load(config_request(start=folder, home=self._home)).project.domain
