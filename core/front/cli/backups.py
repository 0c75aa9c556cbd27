"""`backup` and `restore`: a home as one archive, and an archive in the place of a home, after a yes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from core.app.backup import BackupDone, Manifest, back_up, restore
from core.front.cli.arguments import Options
from core.front.cli.output import Console
from core.front.cli.questions import check_terminal, confirm_final
from core.front.cli.version import version_text
from core.kernel.figures import count, size
from core.kernel.language import as_sentences, tr
from core.services.settings.settings_loader import config_request

SHOWN = 10


def _home(options: Options) -> Path:
    return config_request(start=options.start, home=options.home, overrides=options.overrides).home


def run_backup(options: Options, console: Console) -> int:
    """Write the home to an archive. Returns 1 where something was left out, else 0."""
    now = datetime.now(UTC)
    given = options.given.out or f"manual-slop-{now:%Y%m%d-%H%M%S}.tar.gz"
    target = Path(given).expanduser().absolute()
    with console.waiting(tr("Backing up")):
        done = back_up(_home(options), target, program=version_text(), now=now)
    left = "".join(f"\n  {line}" for line in done.left_out[:SHOWN])
    more = (
        tr("\n  and {left_out:,} more of these entries", left_out=len(done.left_out) - SHOWN)
        if len(done.left_out) > SHOWN
        else ""
    )
    console.note(
        tr("{done} written to {target}. The backup holds no keys.", done=_words(done), target=target)
    )
    if done.left_out:
        console.note(
            tr(
                "{left_out} left out:{left}{more}",
                left_out=count(len(done.left_out), tr("entry"), tr("entries")),
                left=left,
                more=more,
            )
        )
    if options.is_json:
        console.json(
            {
                "path": str(target),
                "files": done.files,
                "bytes": done.size_bytes,
                "left_out": list(done.left_out),
            }
        )
    return 1 if done.left_out else 0


def run_restore(options: Options, console: Console) -> int:
    """Put an archive in the place of the home, once the person has said yes. Returns 1 where they did not, else 0."""
    given, home = options.given, _home(options)
    archive = Path(given.archive).expanduser().absolute()
    if not given.yes:
        check_terminal(console, tr("Restoring needs your confirmation"))

    def agreed(manifest: Manifest) -> bool:
        held = BackupDone(files=len(manifest.files), size_bytes=sum(one.size for one in manifest.files))
        console.note(
            tr(
                "The backup of {made_at:%Y-%m-%d %H:%M} UTC is whole: {contents}. The backup replaces {home}; the program keeps your present files beside that folder.",
                contents=_words(held),
                made_at=manifest.made_at,
                home=home,
            )
        )
        return confirm_final(console, tr("Restore this backup?"), "restore", is_yes=given.yes)

    done = restore(archive, home, now=datetime.now(UTC), agreed=agreed)
    if done is None:
        console.note(tr("Nothing was changed."))
        return 1
    console.note(
        as_sentences(
            tr("{done} restored to {home}.", done=_words(done), home=home),
            tr("Your earlier files are in {aside}.", aside=done.aside) if done.aside else "",
        )
    )
    if options.is_json:
        console.json({"home": str(home), "files": done.files, "bytes": done.size_bytes, "aside": done.aside})
    return 0


def _words(done: BackupDone) -> str:
    return f"{count(done.files, tr('file'), tr('files'))}, {size(done.size_bytes, 'terminal')}"
