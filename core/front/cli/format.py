"""Printed forms of discussions, layers, usage and models: values to text and to plain data. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from core.front.cli.output import Console, folded, table
from core.front.cli.stops import in_terminal
from core.kernel import paths
from core.kernel.figures import PRICE_UNKNOWN, age, money, rate, span
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.values.agent import Mode
from core.kernel.values.discussion import (
    FLAGS,
    DiscussionMeta,
    DiscussionSummary,
)
from core.kernel.values.messages import Message
from core.kernel.values.provider import ModelPrice, ModelProfile, ProviderStatus
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import LAYER_TITLES, ContextReport
from core.kernel.values.usage import Usage, upkeep_data, usage_data
from core.services.providers.profiles import ending_words
from core.talk.context.context_step import losses_sentences
from core.talk.context.context_worker import LossesSaid

INDENT = "  "
NAME_CHARS = 48
SHOWN_HASH = 12


def usage_line(message: Message) -> str:
    """One line: who answered, tokens, cost, times. What was not reported is left out."""
    usage = message.usage or Usage()
    mark = "≈" if usage.is_estimate else ""
    parts = [f"{message.provider}/{message.model}"]
    if usage.input_tokens is not None:
        cached = (
            tr(" ({cache_read_tokens:,} cached)", cache_read_tokens=usage.cache_read_tokens)
            if usage.cache_read_tokens
            else ""
        )
        parts.append(
            tr(
                "{about}{input_tokens:,} in{cached}",
                about=mark,
                input_tokens=usage.input_tokens,
                cached=cached,
            )
        )
    if usage.output_tokens is not None:
        parts.append(tr("{about}{output_tokens:,} out", about=mark, output_tokens=usage.output_tokens))
    if usage.input_tokens is not None or usage.cost_usd is not None:
        parts.append(money(usage.cost_usd, "terminal", is_estimate=usage.is_estimate))
    if usage.time_to_first_token_s is not None:
        parts.append(
            tr(
                "first token after {time_to_first_token_s}",
                time_to_first_token_s=span(usage.time_to_first_token_s, "terminal"),
            )
        )
    if usage.duration_s is not None:
        parts.append(span(usage.duration_s, "terminal"))
    return " · ".join(parts)


def message_data(message: Message) -> dict[str, Any]:
    """A message as plain data."""
    return {
        "id": message.id,
        "at": message.at.isoformat(),
        "role": message.role.value,
        "status": message.status.value,
        **({"is_autonomous": True} if message.is_autonomous else {}),
        **({"asks_rest": True} if message.asks_rest else {}),
        "text": message.text,
        "reasoning": message.reasoning,
        "provider": message.provider,
        "model": message.model,
        "usage": usage_data(message.usage or Usage()),
    }


def discussions_text(
    rows: Iterable[DiscussionSummary],
    now: datetime,
    lines: Mapping[str, str] | None = None,
    columns: int | None = None,
) -> str:
    """The list of discussions as a table; `lines` holds what a search found, by id; `columns`: of the terminal."""
    name_chars = NAME_CHARS if columns is None else max(NAME_CHARS, columns)
    cells = []
    for row in rows:
        meta = row.meta
        flags = "".join(flag.sign for name, flag in FLAGS.items() if getattr(meta, name)) + _tools(meta)
        flags += "(task) " if meta.delegated_by else ""
        name = f"{flags}{one_line(meta.name, name_chars)}" + (f"  [{row.problem}]" if row.problem else "")
        found = one_line((lines or {}).get(meta.id, ""), 60)
        cells.append(
            (
                meta.id,
                age(row.updated_at, now, "terminal"),
                str(row.turns),
                f"{meta.provider}/{meta.model}",
                name,
            )
            + ((found,) if lines is not None else ())
        )
    if not cells:
        return tr("You have no discussions.\n")
    head = ("id", "age", "turns", "model", "name", *(("found",) if lines is not None else ()))
    return table(head, cells, numbers=frozenset({1, 2}), kept=frozenset({0}), columns=columns)


def _tools(meta: DiscussionMeta) -> str:
    """Flag of a discussion with tools, with its mode unless it is the usual one."""
    if not meta.has_tools:
        return ""
    return "(tools) " if meta.mode is Mode.ASK else f"(tools, {meta.mode.value.replace('_', ' ')}) "


def discussion_data(row: DiscussionSummary) -> dict[str, Any]:
    """A discussion of the list as plain data."""
    meta = row.meta
    return {
        "id": meta.id,
        "name": meta.name,
        "created_at": meta.created_at.isoformat(),
        "updated_at": row.updated_at.isoformat(),
        "turns": row.turns,
        "provider": meta.provider,
        "model": meta.model,
        "preset": meta.preset,
        **{name: getattr(meta, name) for name in FLAGS},
        "has_tools": meta.has_tools,
        "mode": meta.mode.value,
        "parent_id": meta.parent_id,
        "delegated_by": meta.delegated_by,
        "preview": row.preview,
        "origin": row.origin,
        "problem": row.problem,
        "usage": usage_data(row.usage),
        "upkeep": upkeep_data(row.upkeep),
    }


def newest_first(rows: Iterable[DiscussionSummary]) -> list[DiscussionSummary]:
    """Pinned ones first, then by the time of the last change; tasks behind the discussion that gave them away."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    ordered = sorted(
        rows, key=lambda row: (not row.meta.pinned, -((row.updated_at - epoch).total_seconds()), row.meta.id)
    )
    known = {row.meta.id for row in ordered if not row.meta.delegated_by}
    tasks: dict[str, list[DiscussionSummary]] = {}
    for row in ordered:
        if row.meta.delegated_by and row.meta.parent_id in known and not row.meta.pinned:
            tasks.setdefault(row.meta.parent_id, []).append(row)
    placed = {row.meta.id for each in tasks.values() for row in each}
    alone = (row for row in ordered if row.meta.id not in placed)
    return [one for row in alone for one in (row, *tasks.get(row.meta.id, ()))]


def context_text(report: ContextReport, columns: int | None = None) -> str:
    """The stack as a table, its sum, the stable prefix, and what cannot be sent as asked."""
    mark = "" if report.is_exact else "≈"
    total = max(1, report.total_tokens_est)
    rows = [
        (
            str(int(layer.layer)),
            LAYER_TITLES[layer.layer],
            "stable" if layer.layer.is_stable else "",
            f"{layer.length_chars:,}",
            f"{layer.tokens_est:,}",
            f"{100 * layer.tokens_est / total:.0f}%",
            layer.sha256[:SHOWN_HASH] if layer.length_chars else "",
        )
        for layer in report.layers
    ]
    head = ("#", "layer", "", "characters", f"tokens{mark}", "share", "sha256")
    length = sum(layer.length_chars for layer in report.layers)
    limit = (
        tr(" of {limit_tokens:,}", limit_tokens=report.limit_tokens)
        if report.limit_tokens is not None
        else ""
    )
    cost = money(report.cost_usd, "terminal")
    lines = [
        tr(
            "total: {length:,} characters, {mark}{total_tokens_est:,} tokens{limit}, {cost}",
            length=length,
            mark=mark,
            total_tokens_est=report.total_tokens_est,
            limit=limit,
            cost=cost,
        ),
        tr(
            "stable prefix: {stable_length_chars:,} characters",
            stable_length_chars=report.stable_length_chars,
        ),
        *(tr("problem: {problem}", problem=problem) for problem in report.problems),
    ]
    stack = table(head, rows, numbers=frozenset({0, 3, 4, 5}), columns=columns)
    return stack + "\n" + "".join(f"{folded(line, columns, INDENT)}\n" for line in lines)


def models_text(
    providers: Iterable[ProviderStatus],
    models: Mapping[str, tuple[ModelProfile, ...]],
    columns: int | None = None,
    prices: Mapping[tuple[str, str], ModelPrice | None] | None = None,
    now: datetime | None = None,
) -> str:
    """Providers with whether they can be used, and their models below, each with its price and who says so, and its end where that is near."""
    blocks = []
    for status in providers:
        state = "ready" if status.is_ready else in_terminal(status.advice).removesuffix(".")
        rows = [
            (
                f"  {model.id}" + (f" ({ends})" if (ends := ending_words(model, now)) else ""),
                _window(model),
                price_words((prices or {}).get((status.id, model.id))),
                " ".join(effort.value for effort in model.efforts),
            )
            for model in models.get(status.id, ())
        ]
        listed = tr("  (no models known; try --refresh)\n")
        if rows:
            listed = table((), rows, numbers=frozenset({1}), kept=frozenset({0}), columns=columns)
        blocks.append(f"{folded(f'{status.id}: {status.label}, {state}', columns, INDENT)}\n{listed}")
    return "\n".join(blocks)


def price_words(price: ModelPrice | None) -> str:
    """A price for a million tokens, in and out, with who says so and of which day."""
    if price is None:
        return PRICE_UNKNOWN
    if not price.input_usd and not price.output_usd:
        return tr("free, {origin}", origin=price.origin) if price.origin else "free"
    return tr(
        "{input_usd} input, {output_usd} output, {origin}",
        input_usd=rate(price.input_usd),
        output_usd=rate(price.output_usd),
        origin=price.origin,
    )


def _window(model: ModelProfile) -> str:
    return (
        tr("{context_tokens:,} tokens", context_tokens=model.context_tokens)
        if model.context_tokens is not None
        else tr("context window unknown")
    )


def model_data(model: ModelProfile, price: ModelPrice | None) -> dict[str, Any]:
    """A model as plain data; `price` in US dollars for a million tokens, None where nobody knows it."""
    told = None
    if price is not None:
        told = {
            "input_usd": price.input_usd,
            "output_usd": price.output_usd,
            "source": price.source,
            "as_of": price.as_of,
        }
    return {
        "price": told,
        "id": model.id,
        "label": model.label,
        "context_tokens": model.context_tokens,
        "max_output_tokens": model.max_output_tokens,
        "efforts": [effort.value for effort in model.efforts],
        "takes_images": model.takes_images,
        "from_server": model.from_server,
        "ends_on": model.ends_on,
    }


# Losses of a preset's globs to `.gitignore`, said once on standard error, as the window says it.


def say_losses(spec: StackSpec, console: Console) -> None:
    """Say what was never said of the preset that a request is made of."""
    preset = spec.preset
    said = LossesSaid(paths.losses_file())
    if losses := said.fresh_in(spec.root, preset.items, spec.limits, tuple(spec.allowed_roots)):
        console.note(
            tr("manual-slop: warning: {warning}", warning=" ".join(losses_sentences(preset.name, losses)))
        )
