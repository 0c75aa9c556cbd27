"""`doctor`: what is installed, found, configured and writable, each with its remedy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core.front.cli.arguments import Options
from core.front.cli.doctor_findings import Check, Finding, Verdict, fail
from core.front.cli.output import Console, folded, table
from core.front.cli.questions import confirm, confirm_final
from core.kernel import figures
from core.kernel.errors import SlopError
from core.kernel.language import tr

INDENT = " " * 6


def run_doctor(options: Options, console: Console) -> int:
    """Run every check and print the report.

    Returns:
        1 when anything failed, else 0; warnings alone are 0.
    """
    from core.front.cli.doctor_checks import machine_checks, setup_checks

    def look() -> list[Finding]:
        with console.waiting(tr("Checking")):
            checks = (*machine_checks(is_quick=options.given.quick), *setup_checks(options))
            return [finding for check in checks for finding in guarded(check)]

    findings = look()
    if options.given.repair and _repair(findings, console, is_yes=options.given.yes):
        findings = look()
    if options.is_json:
        console.json([_data(finding) for finding in findings])
    else:
        console.write(report(findings, console.columns))
    return 1 if any(finding.verdict is Verdict.FAIL for finding in findings) else 0


def _repair(findings: Iterable[Finding], console: Console, *, is_yes: bool) -> bool:
    """Offer each repair, one question each, and do those that the person says yes to. Returns whether any was done.

    Raises:
        UsageError: nobody can be asked.
    """
    offered = [(one, one.repair) for one in findings if one.repair is not None]
    if not offered:
        console.note(tr("manual-slop: the program can repair nothing here"))
        return False
    is_any = False
    for finding, repair in offered:
        console.shown(f"{finding.subject}: {finding.text}")
        question = f"{repair.what}?"
        is_agreed = (
            confirm_final(console, question, repair.word, is_yes=is_yes)
            if repair.word
            else confirm(console, question, is_yes=is_yes)
        )
        if not is_agreed:
            continue
        try:
            console.note(f"manual-slop: {repair.run()}")
            is_any = True
        except (SlopError, OSError) as error:
            console.note(tr("manual-slop: not repaired: {error}", error=error))
    return is_any


def guarded(check: Check) -> list[Finding]:
    """Run one check; what it raises is a finding, so that one broken thing hides no other."""
    try:
        return list(check())
    except (SlopError, OSError) as error:
        return [fail(getattr(check, "__name__", "check").strip("_").replace("_", " "), str(error), "")]


def report(findings: Iterable[Finding], columns: int | None = None) -> str:
    """The report as text: a line for each finding, its remedy below, and a sum; `columns`: of the terminal."""
    findings = list(findings)
    lines = table((), [(f.verdict.value, f.subject, f.text) for f in findings]).splitlines()
    shown = []
    for line, finding in zip(lines, findings, strict=True):
        shown.append(folded(line, columns, INDENT))
        if finding.remedy:
            shown.append(folded(f"{INDENT}→ {finding.remedy}", columns, f"{INDENT}  "))
    counts = {verdict: sum(f.verdict is verdict for f in findings) for verdict in Verdict}
    return "\n".join(shown) + tr(
        "\n\n{counts} failed, {counts2}\n",
        counts=counts[Verdict.FAIL],
        counts2=figures.count(counts[Verdict.WARN], tr("warning"), tr("warnings")),
    )


def _data(finding: Finding) -> dict[str, Any]:
    return {
        "subject": finding.subject,
        "verdict": finding.verdict.value,
        "text": finding.text,
        "remedy": finding.remedy,
    }
