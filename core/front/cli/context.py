"""`context`: the stack that a model would see, and the length of its stable prefix."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from core.app.execution import act
from core.front.cli.arguments import Options
from core.front.cli.format import INDENT, context_text, say_losses
from core.front.cli.output import Console, folded
from core.front.cli.search import recall_for
from core.front.cli.session import FrontEnd, check_name, find_discussion, session
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.o200k import count_tokens
from core.kernel.values.curation import ItemFiles
from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary, OpenDiscussion
from core.kernel.values.provider import ModelProfile
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import ContextReport, layer_data
from core.kernel.values.state import AppState
from core.knowledge.knowledge_worker import Layer7
from core.retrieval.retrieval_report import recalled_data, recalled_text
from core.services.settings.settings_rules import default_model, named_provider, profile_of, starting_model
from core.talk.context.assembly_desk import HomeScaleStore
from core.talk.context.context_spec import stack_spec
from core.talk.context.file_reader import read_items
from core.talk.context.outline import symbols_of
from core.talk.context.stack import AggregateStack, build_stack
from core.talk.discussion.discussion_messages import SelectDiscussion

NEW_ID = "new"


def run_context(options: Options, front: FrontEnd, console: Console) -> int:
    """Print the stack of a discussion, or of one that would be started now. Writes nothing. Returns 0."""
    given = options.given
    with session(front, console) as found:
        state, chosen = _opened(front, found, given.discussion or NEW_ID)
    state = _as_asked(state, chosen, options)
    spec = stack_spec(state, chosen)
    if given.message is not None:
        spec = replace(spec, inputs=replace(spec.inputs, user_text=clean(given.message)))
    say_losses(spec, console)
    with console.waiting(tr("Reading the preset's files")):
        items = read_items(
            spec.root,
            spec.preset.items,
            spec.limits,
            spec.allowed_roots,
            outline=symbols_of,
            shown=spec.shown,
        )
        digest, facts, notes, _ = Layer7(Path(state.program.home)).read(spec, items)
        inputs = replace(spec.inputs, items=items, digest=digest, domain_facts=facts, notes=notes)
    with console.waiting(tr("Searching for passages that fit the message")):
        recalled = recall_for(replace(spec, inputs=inputs), Path(state.program.home))
    stack = build_stack(replace(inputs, retrieved=recalled.text))
    if given.text:
        if console.is_json:
            console.json({"text": stack.text})
        else:
            console.write(stack.text)
        return 0
    with console.waiting(tr("Counting tokens")):
        profile = profile_of(state, spec.inputs.provider, spec.inputs.model)
        scale = HomeScaleStore(Path(state.program.home)).load()
        report = make_report(stack, items, profile, scale.request_factor(profile, spec.discussion_id))
    _print(options, console, state, spec, stack, replace(report, recalled=recalled))
    return 0


def _opened(front: FrontEnd, state: AppState, wanted: str) -> tuple[AppState, str]:
    if wanted == NEW_ID:
        return with_new_discussion(state), NEW_ID
    chosen = find_discussion(state, wanted)
    return act(front, SelectDiscussion(chosen)), chosen


def with_new_discussion(state: AppState) -> AppState:
    """The state as if a discussion had just been started with the settings' defaults."""
    ai = state.config.settings.ai
    at = state.now or datetime.now(UTC)
    first = starting_model(state, named_provider(state))
    meta = DiscussionMeta(
        id=NEW_ID,
        name=tr("New discussion"),
        created_at=at,
        provider=first.provider,
        model=first.model,
        effort=ai.effort,
        persona=ai.persona,
        system_preset=ai.system_prompt_preset,
    )
    return replace(
        state,
        discussions=replace(
            state.discussions,
            summaries={**state.discussions.summaries, NEW_ID: DiscussionSummary(meta=meta, updated_at=at)},
            open={**state.discussions.open, NEW_ID: OpenDiscussion(id=NEW_ID)},
        ),
    )


def _as_asked(state: AppState, chosen: str, options: Options) -> AppState:
    """The discussion as the command line would have it, in this copy of the state only."""
    given = options.given
    check_name("provider", given.provider, tuple(state.config.settings.servers))
    check_name("preset", given.preset or "", tuple(state.config.project.presets))
    check_name("persona", given.persona or "", tuple(state.config.project.personas))
    check_name(tr("system prompt"), given.system or "", tuple(state.config.project.system_prompts))
    row = state.discussions.summaries[chosen]
    meta = row.meta
    provider = given.provider or meta.provider
    kept = meta.model if provider == meta.provider else default_model(state, provider)
    meta = replace(
        meta,
        provider=provider,
        model=given.model or kept,
        preset=meta.preset if given.preset is None else given.preset,
        persona=meta.persona if given.persona is None else given.persona,
        system_preset=meta.system_preset if given.system is None else given.system,
    )
    return replace(
        state,
        discussions=replace(
            state.discussions, summaries={**state.discussions.summaries, chosen: replace(row, meta=meta)}
        ),
    )


def make_report(
    stack: AggregateStack, items: tuple[ItemFiles, ...], profile: ModelProfile, factor: float
) -> ContextReport:
    """Measure a stack: tokens counted by o200k and scaled by the factor, as the window scales the same request."""
    from core.services.spending.pricing import input_usd_per_token

    counted = {segment.sha256: count_tokens(segment.text) for segment in stack.segments}
    layers = stack.report(counted, factor, profile)
    total = sum(layer.tokens_est for layer in layers)
    price = input_usd_per_token(profile.provider, profile.id, datetime.now(UTC))
    return ContextReport(
        layers=layers,
        texts=(),
        stable_length_chars=stack.stable_prefix_length,
        total_tokens_est=total,
        limit_tokens=profile.context_tokens,
        cost_usd=None if price is None else price * total,
        change=None,
        problems=tuple(_problems(items, total, profile)),
        is_exact=profile.family == "gpt",
        fits=profile.context_tokens is None or total <= profile.context_tokens,
    )


def _problems(items: tuple[ItemFiles, ...], total: int, profile: ModelProfile) -> list[str]:
    said = []
    if profile.context_tokens is not None and total > profile.context_tokens:
        said.append(
            tr(
                "{total:,} tokens do not fit the {context_tokens:,} of {value}; leave files out, or choose a model with a larger context",
                total=total,
                context_tokens=profile.context_tokens,
                value=profile.label or profile.id,
            )
        )
    said += [f"{item.item.path}: {item.problem.detail}" for item in items if item.problem is not None]
    return said + [
        f"{f.path}: {f.problem.detail}" for item in items for f in item.files if f.problem is not None
    ]


def _print(
    options: Options,
    console: Console,
    state: AppState,
    spec: StackSpec,
    stack: AggregateStack,
    report: ContextReport,
) -> None:
    name = state.discussions.summaries[spec.discussion_id].meta.name
    if options.is_json:
        console.json(
            {
                "discussion": "" if spec.discussion_id == NEW_ID else spec.discussion_id,
                "project": spec.root,
                "provider": spec.inputs.provider,
                "model": spec.inputs.model,
                "preset": spec.inputs.preset_name,
                "stable_prefix_length": stack.stable_prefix_length,
                "shared_prefix_length": stack.shared_prefix_length,
                "length_chars": len(stack.text),
                "tokens_est": report.total_tokens_est,
                "limit_tokens": report.limit_tokens,
                "is_exact": report.is_exact,
                "cost_usd": report.cost_usd,
                "wire_order": list(stack.wire_order),
                "layers": [
                    {**layer_data(layer), "is_stable": layer.layer.is_stable} for layer in report.layers
                ],
                "recalled": recalled_data(report.recalled),
                "problems": list(report.problems),
            }
        )
        return
    model = f"{spec.inputs.provider}/{spec.inputs.model}"
    about = tr(
        "{discussion} · {model} · preset {preset} · {folder}",
        discussion=name,
        model=model,
        preset=spec.preset.name or tr("none"),
        folder=spec.root,
    )
    console.line(f"{folded(about, console.columns, INDENT)}\n")
    console.write(context_text(report, console.columns))
    if said := recalled_text(report.recalled):
        console.write(f"\n{said}")
