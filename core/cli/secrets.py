"""`secrets`: keys, tokens and passwords in all that we keep, told by place and kind, and taken out after a yes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import UTC, datetime

from msgspec.structs import replace

from core.app.home import alone
from core.base.figures import count
from core.cli.arguments import Options
from core.cli.confirmation import can_ask, check_terminal, confirm_final
from core.cli.forget import run_forget
from core.cli.output import Console
from core.cli.session import FrontEnd
from core.forgetting.secret_finds import SecretReport, report_data, report_lines
from core.forgetting.secret_search import clean_secrets, search_secrets
from core.settings.loader import config_request


def run_secrets(options: Options, make_front: Callable[[Options], FrontEnd], console: Console) -> int:
    """Look for secrets; with `--clean`, take them out where the person says yes.

    Args:
        make_front: makes a controller for each conversation that the person has forgotten.

    Returns:
        1 where a secret is there still or something could not be read, else 0.

    Raises:
        UsageError: nobody can be asked. SlopError: nothing could be cleaned.
    """
    given = options.given
    if given.clean and not given.yes:
        check_terminal(console, "Cleaning needs your yes")
    home = config_request(start=options.start, home=options.home, overrides=options.overrides).home
    with console.waiting("Looking for secrets"):
        report = search_secrets(home)
    if not given.clean:
        return _told(report, options, console)
    if report.cleanable:
        for line in report_lines(report):
            console.note(line)
        asked = f"Take {count(report.cleanable, 'secret')} out?"
        if confirm_final(console, asked, "clean", is_yes=given.yes):
            with console.waiting("Cleaning"), alone(home):
                report = clean_secrets(home, datetime.now(UTC))
        else:
            console.note("Nothing was cleaned.")
    code = _told(report, options, console)
    if options.is_json or not report.discussion_ids or not can_ask(console):
        return code
    for discussion_id in report.discussion_ids:
        named = argparse.Namespace(what=discussion_id, branches=False, yes=False)
        asked_for = replace(options, command="forget", given=named)
        run_forget(asked_for, make_front(asked_for), console)
    return _code(search_secrets(home))


def _told(report: SecretReport, options: Options, console: Console) -> int:
    for problem in report.problems:
        console.note(f"manual-slop: warning: {problem}")
    if options.is_json:
        console.json(report_data(report))
    else:
        console.write("".join(f"{line}\n" for line in report_lines(report)))
    return _code(report)


def _code(report: SecretReport) -> int:
    return int(bool(report.finds or report.problems))
