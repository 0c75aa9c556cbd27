"""`presets`, `models` and `usage`: what there is to choose from, and what calls have used and cost."""

from __future__ import annotations

from core.app.execution import act
from core.front.cli.arguments import Options
from core.front.cli.cache_price import is_priced
from core.front.cli.format import model_data, models_text
from core.front.cli.output import Console, table
from core.front.cli.session import FrontEnd, check_name, session
from core.kernel.errors import SlopError
from core.kernel.figures import count
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.values.provider import ProviderStatus
from core.kernel.values.state import AppState
from core.kernel.values.usage import UsageBy, UsageQuery, UsageReport
from core.services.settings.settings_messages import PriceModels, RefreshModels, UpdatePrices
from core.services.spending.spending_messages import CountUsage
from core.services.spending.usage_table import (
    HEAD,
    report_csv,
    report_data,
    report_notes,
    speed_text,
    sum_cells,
)

# `presets` and `models`: what there is to choose from.

REFRESH_S = 60.0


def run_presets(options: Options, front: FrontEnd, console: Console) -> int:
    """Print the project's presets, personas and system prompts. Returns 0."""
    with session(front, console) as state:
        project = state.config.project
    if options.is_json:
        console.json(
            {
                "project": project.root,
                "is_trusted": project.is_trusted,
                "presets": {
                    name: [{"path": i.path, "mode": i.mode.value, "enabled": i.enabled} for i in preset.items]
                    for name, preset in project.presets.items()
                },
                "personas": sorted(project.personas),
                "system_prompts": sorted(project.system_prompts),
            }
        )
        return 0
    rows = [
        ("preset", name, count(len(preset.items), tr("item"), tr("items")))
        for name, preset in project.presets.items()
    ]
    rows += [("persona", text.name, one_line(text.text, 60)) for text in project.personas.values()]
    rows += [
        (tr("system prompt"), text.name, one_line(text.text, 60)) for text in project.system_prompts.values()
    ]
    listed = table((), rows, kept=frozenset({0, 1}), columns=console.columns) if rows else ""
    console.write(listed or tr("{root} has no presets.\n", root=project.root))
    return 0


def run_models(options: Options, front: FrontEnd, console: Console) -> int:
    """Print providers and their models. Returns 0, or 1 when a list was asked for and a server did not give it."""
    given = options.given
    failures: list[str] = []
    with session(front, console) as state:
        check_name("provider", given.provider, tuple(state.config.providers))
        chosen = [s for s in state.config.providers.values() if given.provider in {"", s.id}]
        if given.update_prices:
            failures += _update_prices(front, console)
        for status in chosen if given.refresh else ():
            if status.is_ready:
                failures += _refresh(front, console, status.id)
        front.send(PriceModels())
        front.wait_for(is_priced, REFRESH_S)
        _print_models(front.snapshot(), chosen, console, is_json=options.is_json)
    for failure in failures:
        console.note(tr("manual-slop: {failure}", failure=failure))
    return 1 if failures else 0


def _print_models(state: AppState, chosen: list[ProviderStatus], console: Console, *, is_json: bool) -> None:
    if not is_json:
        console.write(
            models_text(chosen, state.config.models, console.columns, state.config.prices, state.now)
        )
        return
    console.json(
        {
            s.id: {
                "label": s.label,
                "is_ready": s.is_ready,
                "problem": s.problem,
                "key_source": s.key_source.value,
                "models": [
                    model_data(model, state.config.prices.get((s.id, model.id)))
                    for model in state.config.models.get(s.id, ())
                ],
            }
            for s in chosen
        }
    )


def _update_prices(front: FrontEnd, console: Console) -> list[str]:
    """Take newer prices; what went wrong in a sentence: the prices stay as they were."""
    try:
        with console.waiting(tr("Downloading newer prices")):
            state = act(front, UpdatePrices(), REFRESH_S)
    except SlopError as error:
        return [str(error)]
    front.wait_for(lambda now: now.config.is_settled, REFRESH_S)
    for notice in state.program.notices:
        if notice.id == "prices":
            console.note(tr("manual-slop: {text}", text=notice.text))
    return []


def _refresh(front: FrontEnd, console: Console, provider: str) -> list[str]:
    """Ask one provider; what went wrong in sentences, so that the others are asked too."""
    try:
        with console.waiting(f"Asking {provider}"):
            act(front, RefreshModels(provider), REFRESH_S)
    except SlopError as error:
        return [f"{provider}: {error}"]
    return []


# `usage`: what calls have used and cost, by day, week, month, provider, model, discussion or kind of work.

COUNT_S = 60.0
NAME_CHARS = 40


def run_usage(options: Options, front: FrontEnd, console: Console) -> int:
    """Print what was used. Returns 0."""
    given = options.given
    query = UsageQuery(by=UsageBy(given.by), since=given.since, until=given.until)
    with session(front, console), console.waiting(tr("Adding up")):
        state = act(front, CountUsage(query), COUNT_S)
    report = state.spending.usage or UsageReport(query=query)
    if options.is_json:
        console.json(report_data(report))
    elif given.csv:
        console.write(report_csv(report))
    else:
        console.write(_text(report, console))
    return 0


def _text(report: UsageReport, console: Console) -> str:
    if not report.total.calls:
        return (
            tr("You sent no request in that time.\n")
            if report.query.since
            else tr("You have sent no request yet.\n")
        )
    rows = [
        (one_line(row.label or tr("no valid date"), NAME_CHARS), *sum_cells(row.sum)) for row in report.rows
    ]
    rows.append(("together", *sum_cells(report.total)))
    numbers = frozenset(range(1, len(HEAD)))
    text = table(HEAD, rows, numbers=numbers, kept=frozenset({0, 2}), columns=console.columns)
    notes = [*filter(None, (speed_text(report.total),)), *report_notes(report)]
    return text + "".join(f"{note}\n" for note in notes)
