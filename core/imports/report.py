"""The report of an import, for a person and for programs."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import Any

from core.base.figures import count
from core.base.text import one_line
from core.values.imports import ImportFault, ImportReport, ImportRow

DRY = " (dry run: nothing was written)"
SHOWN_NAMES = 5
MAX_LISTED = 40
"""Conversations that a person is shown; programs are given all that the report lists."""


def report_text(report: ImportReport) -> str:
    """Report in lines: the conversations that add something, what is left out and why, and the sum."""
    lines = [_row(row, is_dry=report.is_dry) for row in report.rows if not row.why][:MAX_LISTED]
    more = report.new_count - len(lines)
    lines += [f"  … and {more:,} more"] if more > 0 else []
    lines += [f"  {line}" for line in left_out(report)]
    lines += [f"  not read: {fault_text(fault)}" for fault in report.faults]
    lines.append(f"{sum_text(report)}{DRY if report.is_dry and report.new_count else ''}")
    if report.stopped:
        lines.append(f"stopped: {report.stopped}")
    return "\n".join(lines) + "\n"


def left_out(report: ImportReport) -> tuple[str, ...]:
    """Lines on what an import does not take, each thing counted and named."""
    known = Counter(row.why for row in report.rows if row.why).most_common()
    others = report.other_files
    return (
        *(f"adds nothing: {number:,} ({why})" for why, number in known),
        *(f"left out: {word}: {number:,}" for word, number in report.skipped.items()),
        *((_no_conversation(report),) if others else ()),
    )


def _no_conversation(report: ImportReport) -> str:
    named = ", ".join(one_line(name, 60) for name in report.other_names[:SHOWN_NAMES])
    more = report.other_files - min(len(report.other_names), SHOWN_NAMES)
    rest = f" and {more:,} more" if more > 0 and named else ""
    what = count(report.other_files, "file holds", "files hold")
    return (
        f"{what} no conversation: {named}{rest}. To import a text file all the same, choose the file itself."
    )


def sum_text(report: ImportReport) -> str:
    """Sum of an import in one line; first of all that a file is cut off, or that nothing could be read."""
    if report.faults and not report.count:
        return f"Nothing could be read. {fault_text(report.faults[0])}"
    cut = next((one for one in report.faults if one.is_cut), None)
    return f"{_cut_text(cut) if cut is not None else ''}{_sum(report)}"


def _cut_text(cut: ImportFault) -> str:
    return f"{PurePath(cut.place.partition(': after ')[0]).name} is cut off in the middle; what came whole is taken. "


def _sum(report: ImportReport) -> str:
    found = f"{count(report.new_count, 'conversation')} of {report.count:,} in {count(report.files, 'file')}"
    if not report.new_count:
        return f"{count(report.count, 'conversation')} in {count(report.files, 'file')}: nothing new"
    grown = f", {report.grown:,} grown" if report.grown else ""
    made = f"{count(report.made, 'new discussion')}{grown}, {count(report.new_messages, 'message')}"
    return f"{found} would be {made}" if report.is_dry else f"{found}: {made}"


def fault_text(fault: ImportFault) -> str:
    """Fault in one line."""
    return f"{fault.place}: {fault.why}" + (f". {fault.remedy}" if fault.remedy else "")


def report_data(report: ImportReport) -> dict[str, Any]:
    """Report as plain data: for `--json` and the Hook API."""
    return {
        "dry_run": report.is_dry,
        "conversations": report.count,
        "new_conversations": report.new_count,
        "files": report.files,
        "other_files": report.other_files,
        "discussions_made": report.made,
        "discussions_grown": report.grown,
        "messages": report.new_messages,
        "skipped": dict(report.skipped),
        "stopped": report.stopped,
        "rows": [_row_data(row) for row in report.rows],
        "faults": [{"place": one.place, "why": one.why, "remedy": one.remedy} for one in report.faults],
    }


def _row(row: ImportRow, *, is_dry: bool) -> str:
    """A conversation that adds something. Before it does, with the id by which it is left out."""
    day = f"{row.at:%Y-%m-%d}" if row.at is not None else "no date   "
    what = "message" if row.new == 1 else "messages"
    branches = f", {row.branches} branches" if row.branches > 1 else ", 1 branch" if row.branches else ""
    return f"  {day}  {row.kind.value}  {row.new:,} {what}{branches}  {row.title}{f'  ({row.discussion_id})' if is_dry else ''}"


def _row_data(row: ImportRow) -> dict[str, Any]:
    return {
        "path": row.path,
        "kind": row.kind.value,
        "title": row.title,
        "at": row.at.isoformat() if row.at is not None else None,
        "messages": row.messages,
        "new": row.new,
        "branches": row.branches,
        "discussion_id": row.discussion_id,
        "why": row.why,
        "skipped": dict(row.skipped),
    }
