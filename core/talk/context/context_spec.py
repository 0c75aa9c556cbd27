"""From state to the inputs of a discussion's stack, tools that are offered among them, and the effects that follow."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from msgspec.structs import replace

from core.kernel.language import tr
from core.kernel.structures import GrownRuns
from core.kernel.values.agent import Mode
from core.kernel.values.curation import NamedText, Preset
from core.kernel.values.discussion import DiscussionMeta, Draft, OpenDiscussion, message_text_of
from core.kernel.values.facts import domain_name
from core.kernel.values.messages import Message, Role
from core.kernel.values.provider import Effort, ModelProfile, Switching
from core.kernel.values.retrieval import Corpus, RecallSpec
from core.kernel.values.spec import StackSpec, ToolOffer
from core.kernel.values.stack import DiscussionMetadata, StackInputs, ToolSchema
from core.kernel.values.state import AppState
from core.kernel.values.window import ViewLine, is_line_key
from core.services.providers.profiles import (
    fitting_temperature,
    fitting_top_p,
    takes_memory_alone,
    takes_metadata,
    takes_tools,
)
from core.services.providers.switches import REASONING, SWITCHES, refused_in, switching_of, without_thoughts
from core.services.settings.settings_rules import asked_places, profile_of
from core.services.spending.estimates import is_paid
from core.talk.context.context_messages import AssembleContext, LeaveStack
from core.talk.context.file_layers import identity_for, memory_for
from core.talk.discussion.cuts import as_sent, sent_view
from core.talk.discussion.log_content import model_view
from core.talk.discussion.open_calls import paired

# Tools that a discussion's model is offered, as far as its provider can pass them on.

TAKES_NONE = tr(
    "This model gets no tools: its provider does not pass them on. Choose another model for them."
)
TAKES_MEMORY = tr("This model gets only search_notes and read_note: its provider passes on no other tools.")
NO_PROJECT = tr("No project is open, so the model gets no file and command tools.")
UNTRUSTED = tr("The model gets no file and command tools until you trust this project.")


def gets_tools(state: AppState, meta: DiscussionMeta) -> bool:
    """True if the discussion has tools and they reach its model."""
    return meta.has_tools and can_take_tools(state, meta.provider)


def can_take_tools(state: AppState, provider: str) -> bool:
    """True if a provider passes tools on to its models; of one that is not known it is taken that it does."""
    status = state.config.providers.get(provider)
    return status is None or takes_tools(status.kind)


def offered_by_servers(state: AppState, discussion_id: str) -> tuple[ToolSchema, ...]:
    """Tools of MCP servers that a discussion's model is offered: all that a person approved, but while its last request is
    warm those of that one, with what came or went since where the model takes new ones as an addition. None in a folder that is
    not trusted.
    """
    if not state.config.project.is_trusted:
        return ()
    frozen = state.mcp.frozen.get(discussion_id)
    task = state.agent.delegations.get(discussion_id)
    if frozen is None and task is not None:  # at most what its parent has
        frozen = state.mcp.frozen.get(task.parent_id)
    row, turn = state.discussions.summaries.get(discussion_id), state.agent.turns.get(discussion_id)
    if frozen is None:
        return approved_by_now(state)
    is_round = (
        turn is not None and not turn.is_left
    )  # what comes in the middle of a turn waits for the next words
    if task is not None or row is None or is_round or added_switches(state, row.meta) is not Switching.ALL:
        return frozen
    known = {one.name: one for one in frozen}  # a tool of another meaning would rewrite all that was sent
    return tuple(known.get(one.name, one) for one in approved_by_now(state))


def approved_by_now(state: AppState) -> tuple[ToolSchema, ...]:
    """Tools of MCP servers that a person approved, sorted by name; whether their servers run counts for nothing."""
    kept = (one.kept for one in state.mcp.servers.values() if one.settings.is_enabled)
    schemas = (tool.schema for one in kept if one is not None for tool in one.tools)
    return tuple(sorted(schemas, key=lambda schema: schema.name))


def can_take_memory(state: AppState, provider: str) -> bool:
    """True if a provider passes the tools of memory on and no others, and search is on here."""
    status = state.config.providers.get(provider)
    return status is not None and takes_memory_alone(status.kind) and asked_places(state) is not None


def missing_tools(state: AppState, provider: str) -> str:
    """Sentence on what of the tools does not reach a provider's models, empty where all do."""
    if can_take_tools(state, provider):
        return ""
    return TAKES_MEMORY if can_take_memory(state, provider) else TAKES_NONE


def missing_in_folder(state: AppState) -> str:
    """Sentence on why the folder that is open has no tools for files and commands, empty where it has."""
    project = state.config.project
    if not project.root:
        return NO_PROJECT
    return "" if project.is_trusted else UNTRUSTED


# Sentence of layer 6 on the notes: where a model has the tools of memory and folders of notes are searched.

GUIDE = NamedText(
    name="notes",
    text="The person's notes have a router: read_note with index.md gives it, it comes first and says which folder's "
    "index.md holds what, and search_notes is for fuzzy recall of what no index names.",
)
"""The same for every project, so that another folder of notes rewrites no prefix."""


def notes_guide(state: AppState, *, has_memory: bool) -> tuple[NamedText, ...]:
    """The sentence, none where there is nothing to read by it.

    Args:
        has_memory: the model is offered `search_notes` and `read_note`.
    """
    asked = asked_places(state)
    has_router = asked is not None and bool(asked.roots) and Corpus.NOTES in asked.corpora
    return (GUIDE,) if has_memory and has_router else ()


# From state to the inputs of a discussion's stack, and the effects that follow from a change of them.


def preset_of(state: AppState, name: str) -> Preset:
    """The preset by its name; an unknown one is empty, so that a deleted preset sends nothing."""
    return state.config.project.presets.get(name, Preset(name))


def stack_spec(
    state: AppState,
    discussion_id: str,
    user_message: Message | None = None,
    kept_out: tuple[str, ...] | None = None,
    *,
    is_round: bool = False,
    version_of: str = "",
) -> StackSpec:
    """Everything a worker needs to assemble a discussion's stack.

    Args:
        user_message: the message about to be sent; None takes the draft.
        kept_out: sources that are not recalled for it; None: those that are kept out of the draft's.
        is_round: what followed the message, results of tools at its end, goes along: its turn is running.
        version_of: of such a round, the reply that another one is asked for of: it and all behind it do not go.
    """
    meta = state.discussions.summaries[discussion_id].meta
    opened = state.discussions.open.get(discussion_id, OpenDiscussion(id=discussion_id))
    preset = preset_of(state, meta.preset)
    profile = profile_of(state, meta.provider, meta.model)
    tools = tools_offered(state, meta)
    guide = notes_guide(state, has_memory=tools is not None and tools.has_memory)
    asks_nothing = is_round or (user_message is not None and user_message.is_of_program)
    return StackSpec(
        discussion_id=discussion_id,
        inputs=_inputs(
            state,
            meta,
            opened,
            preset,
            user_message,
            version_of if is_round else None,
            profile=profile,
            guide=guide,
        ),
        preset=preset,
        root=state.config.project.root,
        allowed_roots=state.config.project.allowed_roots,
        limits=state.config.settings.files,
        shown=state.config.project.policies.shown,
        previous=opened.last_request,
        profile=profile,
        effort=Effort(meta.effort),
        max_output_tokens=meta.max_output_tokens or state.config.settings.ai.max_output_tokens,
        temperature=fitting_temperature(profile, meta.temperature),
        top_p=fitting_top_p(profile, meta.top_p),
        knowledge=state.config.settings.knowledge,
        fact_domains=_fact_domains(state, meta),
        caching=state.config.settings.caching,
        caching_enabled=meta.caching_enabled,
        recall=None
        if asks_nothing
        else _recall_spec(state, opened.kept_out if kept_out is None else kept_out),
        waiting=_waiting(state, opened),
        tools=tools,
        told=opened.told_turn,
        is_task=bool(meta.delegated_by) and user_message is not None and user_message.is_autonomous,
        switching=switching(state, meta.provider, meta.model),
        takes_reasoning=REASONING not in refused_in(state, meta.provider, meta.model),
        is_paid=is_paid(opened, (meta.provider, meta.model)),
    )


def shown_spec(state: AppState, discussion_id: str) -> StackSpec:
    """The spec of what would be sent next. The same object as long as nothing has changed that it is read from, so that its
    stack, too, is built once for all who ask of it.
    """
    opened = state.discussions.open.get(discussion_id)
    if opened is None:
        return stack_spec(state, discussion_id)
    made_of = (
        state.discussions.summaries[discussion_id].meta,
        *(getattr(opened, name) for name in _READ_OF_OPENED),
        state.turns.calls.get(discussion_id),
        state.config,
        state.knowledge,
        state.mcp,
        state.agent.delegations,
        state.agent.turns,
        state.caching.refusals,
        state.context.files_revision,
    )
    return opened.places.once("spec", made_of, lambda: stack_spec(state, discussion_id))


_READ_OF_OPENED = (
    "entries",
    "cut",
    "lines",
    "gone_calls",
    "draft",
    "kept_out",
    "last_request",
    "told_turn",
    "queue",
    "retrieved",
)
"""All but its places, which hold the spec: a ring would keep in memory what the program lets go of."""


def switching(state: AppState, provider: str, model: str) -> Switching:
    """Switches that a model takes in the conversation (`switches.py`), as far as is known: none where it refused one."""
    status = state.config.providers.get(provider)
    if status is None or SWITCHES in refused_in(state, provider, model):
        return Switching.NONE
    return switching_of(status.kind, model)


def added_switches(state: AppState, meta: DiscussionMeta) -> Switching:
    """Changes of a discussion that are told by an addition in its conversation: all that was sent stays as it is then."""
    is_kept = state.config.settings.caching.appends_changes and meta.caching_enabled
    return switching(state, meta.provider, meta.model) if is_kept else Switching.NONE


def _recall_spec(state: AppState, kept_out: tuple[str, ...]) -> RecallSpec | None:
    """Limits of what may go along with a message, None where ambient recall is off."""
    settings, asked = state.config.settings.retrieval, asked_places(state)
    if asked is None or not settings.ambient:
        return None
    return RecallSpec(asked=asked, tokens=settings.ambient_tokens, kept_out=(*settings.kept_out, *kept_out))


def tools_offered(state: AppState, meta: DiscussionMeta) -> ToolOffer | None:
    """The tools that a request of a discussion offers, None for none."""
    if meta.has_tools and can_take_memory(state, meta.provider):
        return ToolOffer(has_memory=True, only_memory=True)
    if not gets_tools(state, meta):
        return None
    is_delegated = bool(meta.delegated_by)
    return ToolOffer(
        is_trusted=state.config.project.is_trusted,
        has_memory=asked_places(state) is not None,
        servers=offered_by_servers(state, meta.id),
        is_delegated=is_delegated,
        reads_only=is_delegated and meta.mode is Mode.PLAN,
    )


def _waiting(state: AppState, opened: OpenDiscussion) -> tuple[str, ...]:
    """Messages that wait in the queue, and the one whose call is under way."""
    call = state.turns.calls.get(opened.id)
    called = (
        next(
            (
                e.text
                for e in reversed(opened.entries)
                if isinstance(e, Message) and e.id == call.user_message_id
            ),
            "",
        )
        if call is not None
        else ""
    )
    return tuple(filter(None, (called.strip(), *(one.text.strip() for one in opened.queue))))


def _inputs(
    state: AppState,
    meta: DiscussionMeta,
    opened: OpenDiscussion,
    preset: Preset,
    user_message: Message | None,
    round_version: str | None = None,
    *,
    profile: ModelProfile,
    guide: tuple[NamedText, ...] = (),
) -> StackInputs:
    """Inputs of a stack.

    Args:
        round_version: of a running turn's round the reply that goes with all behind it, empty: none.
        guide: to the person's notes, where the model can read them.
    """
    prompts = state.config.prompts
    status = state.config.providers.get(meta.provider)
    has_metadata = status is None or takes_metadata(status.kind)
    turns = _turns(opened, refused_in(state, meta.provider, meta.model, meta.id))
    said, attachments = message_text_of(opened.draft.text), opened.draft.attachments
    if round_version is not None:
        turns, said, attachments = _before(turns, round_version), "", ()
    elif user_message is not None:
        turns = _before(turns, user_message.id)
        said, attachments = as_sent(opened, user_message).text, user_message.attachments
    return StackInputs(
        provider=meta.provider,
        model=meta.model,
        epoch=meta.cache_epoch,
        role_text=prompts.get(f"role-{profile.family}.md", "") or prompts.get("role.md", ""),
        system_text=_system_text(state, meta),
        persona=state.config.project.personas.get(meta.persona),
        project=(
            *state.config.project.context,
            *identity_for(profile.family, state.config.project.identity),
            *memory_for(state.config.project.memory),
            *guide,
        ),
        metadata=_metadata(meta, _said(opened, turns), opened.places.grown)
        if has_metadata
        else DiscussionMetadata(),
        preset_name=preset.name if preset.items else "",
        turns=turns,
        user_text=said,
        attachments=attachments,
        takes_long_system=profile.takes_long_system,
        keeps_retrieved=not has_metadata,
        kept_retrieved=() if has_metadata else _kept(opened, turns),
        cut_id=opened.cut.id if opened.cut is not None else "",
    )


def _turns(opened: OpenDiscussion, refused: frozenset[str]) -> tuple[Message, ...]:
    """The turns that a model sees; several ask between two changes of a discussion.

    Args:
        refused: messages up to which the model refused its own thinking.
    """
    made_of = opened.entries, opened.cut, opened.lines, opened.gone_calls, refused

    def made() -> tuple[Message, ...]:
        return without_thoughts(paired(sent_view(opened), opened.places.grown), refused)

    return opened.places.once("turns", made_of, made)


def _said(opened: OpenDiscussion, turns: tuple[Message, ...]) -> tuple[Message, ...]:
    """Messages before what is sent, those that left the view among them."""
    if opened.cut is None:
        return turns
    said, last = model_view(opened), turns[-1].id if turns else ""
    end = next((at for at, message in enumerate(said, 1) if message.id == last), None)
    return _before(said, opened.cut.begins_at) if end is None else said[:end]


def _kept(opened: OpenDiscussion, turns: tuple[Message, ...]) -> tuple[tuple[str, str], ...]:
    """Recalled text that stays behind its message: Claude Code has cached it there."""
    known = opened.retrieved
    return tuple((turn.id, known[turn.id]) for turn in turns if turn.id in known) if known else ()


def _fact_domains(state: AppState, meta: DiscussionMeta) -> tuple[str, ...]:
    """Domains whose facts enter beside `global`: the repository's, and the persona's where it is in use."""
    project = state.config.project
    agent = domain_name(meta.persona) if meta.persona in project.personas else ""
    return tuple(dict.fromkeys(domain for domain in (project.domain, agent) if domain))


def _metadata(meta: DiscussionMeta, turns: tuple[Message, ...], grown: GrownRuns) -> DiscussionMetadata:
    roles = grown.each("roles", turns, lambda message: (message.role.value,))
    return DiscussionMetadata(
        name=meta.name, roles=tuple(sorted(set(roles))), turn_count=len(grown.each("asked", turns, _asked))
    )


def _before(turns: tuple[Message, ...], message_id: str) -> tuple[Message, ...]:
    """The turns up to a message or a version of it, itself and all after it left out."""
    for index, message in enumerate(turns if message_id else ()):
        if message_id in (message.id, message.version_of):
            return turns[:index]
    return turns


def _asked(message: Message) -> tuple[None, ...]:
    """One for each message with which the person began a turn."""
    return (None,) if message.role is Role.USER and not is_line_key(message.id) else ()


def _system_text(state: AppState, meta: DiscussionMeta) -> NamedText | None:
    if meta.system_preset:
        return state.config.project.system_prompts.get(meta.system_preset)
    text = state.config.settings.ai.system_prompt
    return NamedText(name="settings", text=text) if text else None


def context_effects(before: AppState, after: AppState, was: datetime | None) -> tuple[AssembleContext, ...]:
    """Assemble the selected discussion's stack anew when anything that enters it has changed, or what was cached of it
    has ended: the price of the next request is another one then. `was`: the time of the step before.
    """
    chosen = after.discussions.selected_id
    if not chosen or chosen not in after.discussions.open or chosen not in after.discussions.summaries:
        return ()
    has_ended = _ended(before, chosen, was) != _ended(before, chosen, after.now)
    is_anew = has_ended or (not _is_same(before, after) and _has_changed(before, after, chosen))
    return (AssembleContext(shown_spec(after, chosen)),) if is_anew else ()


def _is_same(before: AppState, after: AppState) -> bool:
    """True if no group is another one that anything of a stack is read from."""
    return (
        before.discussions is after.discussions
        and before.turns is after.turns
        and before.config is after.config
        and before.knowledge is after.knowledge
        and before.mcp is after.mcp
        and before.context.files_revision == after.context.files_revision
    )


def _has_changed(before: AppState, after: AppState, chosen: str) -> bool:
    has_changed = _context_key(before, chosen) != _context_key(after, chosen)
    if _begins_turn(after, chosen):
        return has_changed and _is_changed_besides(before, after, chosen)
    return has_changed or _begins_turn(before, chosen)


def _begins_turn(state: AppState, discussion_id: str) -> bool:
    """True while a call answers the person; what the further ones of a turn change is shown when the model answers."""
    call = state.turns.calls.get(discussion_id)
    return call is not None and not call.is_round


def _is_changed_besides(before: AppState, after: AppState, discussion_id: str) -> bool:
    """True if more has changed than what a call under way changes by itself: it assembles its own request, and the next one
    is another when the reply is there.
    """
    draft = after.discussions.open[discussion_id].draft
    then, now = (
        _context_key(_without_turn(state, discussion_id), discussion_id) for state in (before, after)
    )
    return then != now or (draft != Draft() and draft != before.discussions.open[discussion_id].draft)


_NO_LINES: Mapping[str, tuple[ViewLine, ...]] = {}


def _without_turn(state: AppState, discussion_id: str) -> AppState:
    """The state without what a call writes of its discussion: its words, its request, and the name that it gives."""
    opened, row = state.discussions.open.get(discussion_id), state.discussions.summaries.get(discussion_id)
    if opened is None or row is None:
        return state
    bare = replace(opened, entries=(), lines=_NO_LINES, last_request=None, draft=Draft())
    unnamed = replace(row, meta=replace(row.meta, name=""))
    discussions = replace(state.discussions, open={discussion_id: bare}, summaries={discussion_id: unnamed})
    return replace(state, discussions=discussions)


def left_effects(before: AppState, after: AppState) -> tuple[LeaveStack, ...]:
    """Order that the last stacks of discussions are dropped which are no longer open."""
    was, now = before.discussions.open, after.discussions.open
    return () if was is now else tuple(map(LeaveStack, sorted(was.keys() - now.keys())))


def _ended(state: AppState, discussion_id: str, now: datetime | None) -> tuple[bool, ...]:
    """Ends of the two lifetimes of what a provider holds of a discussion: True for each that has run out."""
    cache = state.caching.caches.get(discussion_id)
    if cache is None or now is None:
        return (False, False)
    return tuple(at is not None and at <= now for at in (cache.expires_at, cache.long_until))


def _context_key(state: AppState, discussion_id: str) -> tuple[object, ...]:
    """Identities of what enters a stack; equal keys mean equal stacks. O(1)."""
    opened = state.discussions.open.get(discussion_id)
    summary = state.discussions.summaries.get(discussion_id)
    if opened is None or summary is None:
        return (state.discussions.selected_id,)
    meta, project = summary.meta, state.config.project
    return (
        state.discussions.selected_id,
        meta,
        project.is_trusted,
        offered_by_servers(state, meta.id) if meta.has_tools else (),
        id(opened.entries),
        opened.cut,
        id(opened.lines),
        opened.gone_calls,
        opened.draft,
        opened.kept_out,
        id(opened.last_request),
        id(project.context),
        id(project.identity),
        id(project.memory),
        project.domain,
        project.presets.get(meta.preset),
        project.personas.get(meta.persona),
        project.system_prompts.get(meta.system_preset),
        id(state.config.prompts),
        id(state.config.models.get(meta.provider)),
        id(state.config.profiles),
        state.config.settings.ai,
        state.config.settings.files,
        state.config.settings.knowledge,
        state.config.settings.retrieval,
        state.knowledge.digest,
        state.knowledge.switch,
        state.knowledge.notes,
        id(state.knowledge.facts),
        state.context.files_revision,
    )
