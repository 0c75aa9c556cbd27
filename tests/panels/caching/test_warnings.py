"""What an action would lose of a warm prefix, and the spend limits."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.agent.agent_messages import SetTools
from core.app.app_messages import Command, Quit
from core.app.warm_loss import warm_loss
from core.kernel import figures as fmt
from core.kernel.structures import with_entry
from core.kernel.values.agent import Mode
from core.kernel.values.discussion import ReplyVersions
from core.kernel.values.knowledge import Category, Item
from core.kernel.values.messages import Message, Role, ToolResultPart
from core.kernel.values.provider import ModelPrice
from core.kernel.values.settings import CachingSettings, Settings
from core.kernel.values.stack import LayerId
from core.kernel.values.state import AppState
from core.kernel.values.usage import Usage
from core.knowledge.harvest.harvest_messages import UndoHarvest
from core.knowledge.knowledge_messages import DeleteDigest, DeleteKnowledgeItem, EditKnowledgeItem
from core.mcp.mcp_messages import OfferServerTools
from core.services.settings.settings_messages import ChangeSetting
from core.services.spending.estimates import fresh_token_usd
from core.talk.caching.caching_messages import DisableCaching, InvalidateCache
from core.talk.discussion.discussion_messages import (
    ChangeDiscussion,
    ChooseVersion,
    DeleteMessage,
    EditMessage,
    RestoreMessage,
)
from tests.panels import states
from tests.panels.caching import cache_states
from tests.panels.caching.cache_states import cached
from tests.state_fields import with_fields

SWITCH = ChangeDiscussion(discussion_id="d1", changes={"provider": "anthropic", "model": "claude-haiku-4.8"})


def _rewriting(state: AppState) -> AppState:
    """With changes edited in, not appended."""
    return replace(
        state, config=replace(state.config, settings=Settings(caching=CachingSettings(appends_changes=False)))
    )


def with_tools(state: AppState, *, has_tools: bool) -> AppState:
    found = state.discussions.summaries["d1"]
    meta = replace(found.meta, has_tools=has_tools)
    summaries = with_entry(state.discussions.summaries, "d1", replace(found, meta=meta))
    return replace(state, discussions=replace(state.discussions, summaries=summaries))


def test_switching_the_model_loses_the_whole_prefix() -> None:
    loss = warm_loss(cache_states.caching(), SWITCH)

    assert loss is not None
    assert (
        loss.sentence
        == "Anthropic caches 11.9k tokens of this discussion for another 4:32. Changing the model leaves them unused: sending them again costs about $0.060."
    )


@pytest.mark.parametrize("has_tools", [False, True])
def test_tools_that_are_given_or_taken_lose_the_whole_prefix_and_another_mode_nothing(
    has_tools: bool,
) -> None:
    state = with_tools(cache_states.caching(), has_tools=has_tools)

    loss = warm_loss(state, SetTools("d1", has_tools=not has_tools))

    assert loss is not None
    assert loss.sentence == (
        "Anthropic caches 11.9k tokens of this discussion for another 4:32. Changing the tools of this discussion leaves them"
        " unused: sending them again costs about $0.060."
    )
    assert warm_loss(state, SetTools("d1", has_tools=has_tools, mode=Mode.PLAN)) is None


def test_tools_of_servers_that_are_wanted_at_once_lose_the_prefix_where_they_are_not_added_behind_it() -> (
    None
):
    loss = warm_loss(with_tools(cache_states.caching(), has_tools=True), OfferServerTools("d1"))

    assert loss is not None
    assert "Changing the tools of MCP servers while the cache is warm leaves them unused" in loss.sentence


def test_the_persona_leaves_what_stands_before_it_on_the_wire() -> None:
    loss = warm_loss(
        cache_states.caching(), ChangeDiscussion(discussion_id="d1", changes={"persona": "terse reviewer"})
    )

    assert loss is not None
    assert "leaves 9.8k of them unused" in loss.sentence


ITEM = Item(Category.FACTS, "facts.md", "Tides are M2.")
WITHDRAWALS = (
    DeleteKnowledgeItem(ITEM),
    EditKnowledgeItem(ITEM, " \n"),
    DeleteDigest(),
    ChangeSetting("ai_settings.knowledge.digest_enabled", value=False),
    UndoHarvest(),
)


@pytest.mark.parametrize("command", WITHDRAWALS)
def test_all_that_takes_something_out_of_knowledge_says_what_the_warm_discussions_pay(
    command: Command,
) -> None:
    loss = warm_loss(cache_states.with_price_of_deletion(states.working()), command)

    assert loss is not None
    is_all = command in (DeleteDigest(), ChangeSetting("ai_settings.knowledge.digest_enabled", value=False))
    assert ("~11,400 tokens, est. $0.03" if is_all else "~12,300 tokens, est. $0.04") in loss.sentence
    assert warm_loss(states.working(), command) is None


def test_what_adds_to_knowledge_loses_nothing() -> None:
    state = cache_states.with_price_of_deletion(states.working())
    for command in (
        EditKnowledgeItem(ITEM, "Tides are S2."),
        ChangeSetting("ai_settings.knowledge.digest_enabled", value=True),
    ):
        assert warm_loss(state, command) is None


@pytest.mark.parametrize(
    "command",
    [
        InvalidateCache("d1"),
        DisableCaching("d1"),
        ChangeSetting("ai_settings.caching.anthropic_enabled", value=False),
        ChangeSetting("ai_settings.caching.appends_changes", value=False),
    ],
)
def test_caching_that_is_given_up_is_said(command: Command) -> None:
    loss = warm_loss(cache_states.caching(), command)

    assert loss is not None
    assert "11.9k tokens" in loss.sentence
    assert "$0.060" in loss.sentence
    assert warm_loss(cache_states.caching(caches={}), command) is None


@pytest.mark.parametrize("change", [EditMessage, DeleteMessage, RestoreMessage])
def test_a_message_that_is_changed_loses_what_stands_behind_it(change: type) -> None:
    """By the tokens of the request: what tools gave back counts, though it is no text of a message."""
    warm = {"d1": cached("d1", "anthropic", tokens_cached=40_000)}
    state = with_fields(_versioned("m2"), caches=warm, plans={})
    result = Message(
        "m2t", states.NOW, Role.TOOL, (ToolResultPart("1", "height = 1\n" * 900),), is_deleted=True
    )
    entries = state.discussions.open["d1"].entries
    state = states.with_opened(state, entries=(entries[0], result, *entries[1:]))
    texts = ("New text for this item",) if change is EditMessage else ()
    losses = [warm_loss(state, change("d1", name, *texts)) for name in ("m1", "m2t", "m2", "m3")]

    behind = {LayerId.METADATA, LayerId.TURNS, LayerId.USER}
    layers = [one for one in state.context.reports["d1"].layers if one.layer not in behind]
    lost = 40_000 - sum(one.tokens_est for one in layers)
    said = [None if loss is None else loss.sentence for loss in losses]
    assert [
        fmt.tokens(n) in (one or "") for n, one in zip((lost, lost - 64, lost - 64), said, strict=False)
    ] == [True] * 3
    assert said[3] is None, "no request holds it, or what stands behind it"
    assert warm_loss(state, change("d1", "gone", *texts)) is None


@pytest.mark.parametrize(("seconds", "is_lost"), [(50, False), (400, True)])
def test_a_switch_back_loses_nothing_while_the_model_before_still_holds_the_discussion(
    seconds: int, is_lost: bool
) -> None:
    state = _versioned("m2")
    price = ModelPrice(input_usd=1.0, output_usd=5.0)
    prices = {("anthropic", "claude-haiku-4.8"): price}
    state = replace(state, config=replace(state.config, prices=prices))
    said = state.discussions.open["d1"].messages
    held = Usage(input_tokens=12_010, cache_read_tokens=0, cache_write_tokens=12_000)
    model, at = SWITCH.changes["model"], states.NOW - timedelta(seconds=seconds)
    assert isinstance(model, str)
    before = replace(said[1], provider="anthropic", model=model, usage=held, at=at)
    now = replace(said[3], usage=Usage(), provider="anthropic", model="claude-opus-4.8")

    loss = warm_loss(states.with_opened(state, entries=(said[0], before, said[2], now)), SWITCH)

    assert (loss is not None) is is_lost


def test_the_same_words_change_no_message() -> None:
    assert warm_loss(cache_states.caching(), EditMessage("d1", "u2", "Question 2?")) is None


@pytest.mark.parametrize(
    "command",
    [
        ChangeDiscussion(discussion_id="d1", changes={"effort": "high"}),
        ChangeDiscussion(discussion_id="d1", changes={"system_preset": "strict"}),
        ChangeDiscussion(discussion_id="d1", changes={"persona": "x"}),
        SWITCH,
    ],
)
def test_every_change_of_what_stands_early_is_said(command: Command) -> None:
    assert warm_loss(cache_states.caching(), command) is not None


def _versioned(at: str, words: str = "Another answer.") -> AppState:
    """A warm discussion whose reply `m2` has another version, at a place of the assembled turns."""
    state = cache_states.caching()
    other = states.reply("m2b", words, version_of=at)
    versions = {at: ReplyVersions((at, "m2b"), at, {"m2b": (other,)})}
    said = [
        states.user("m1", "one"),
        states.reply("m2", "1"),
        states.user("m3", "two"),
        states.reply("m4", "2"),
    ]
    return states.with_opened(state, entries=tuple(said), versions=versions)


def test_another_version_of_an_early_reply_loses_what_stands_behind_it() -> None:
    warm = {"d1": cached("d1", "anthropic", tokens_cached=40_000)}
    state = with_fields(_versioned("m2"), caches=warm, plans={})
    behind = {LayerId.METADATA, LayerId.TURNS, LayerId.USER}
    layers = [layer for layer in state.context.reports["d1"].layers if layer.layer not in behind]

    loss = warm_loss(state, ChooseVersion("d1", "m2b"))

    assert loss is not None
    lost = 40_000 - sum(layer.tokens_est for layer in layers) - 64
    assert f"leaves {fmt.tokens(lost)} of them unused" in loss.sentence
    assert "Choosing another version leaves" in loss.sentence
    assert loss.verb == "Choose it"


def test_another_version_that_costs_nothing_is_chosen_without_a_question() -> None:
    """The last reply was never sent back; what there is not, is cold, or says the same loses nothing."""
    warm = {"d1": cached("d1", "anthropic", tokens_cached=400_000)}
    assert warm_loss(with_fields(_versioned("m4"), caches=warm), ChooseVersion("d1", "m2b")) is None
    assert warm_loss(with_fields(_versioned("m2"), caches=warm), ChooseVersion("d1", "none")) is None
    assert warm_loss(with_fields(_versioned("m2", "1"), caches=warm), ChooseVersion("d1", "m2b")) is None
    cold = with_fields(_versioned("m2"), caches={})
    assert warm_loss(cold, ChooseVersion("d1", "m2b")) is None


def test_a_preset_loses_nothing_while_changes_are_appended() -> None:
    change = ChangeDiscussion(discussion_id="d1", changes={"preset": "docs only"})
    state = cache_states.caching(caches={"d1": cached("d1", "anthropic", tokens_cached=12_000)})

    assert warm_loss(state, change) is None
    loss = warm_loss(_rewriting(state), change)
    assert loss is not None
    assert "leaves 6.5k of them unused" in loss.sentence


@pytest.mark.parametrize(
    "command",
    [
        ChangeDiscussion(discussion_id="d1", changes={"provider": "anthropic", "model": "claude-opus-4.8"}),
        ChangeDiscussion(discussion_id="d1", changes={"effort": "auto"}),
        ChangeDiscussion(discussion_id="d1", changes={"persona": ""}),
        ChangeDiscussion(discussion_id="d1", changes={"system_preset": ""}),
        ChangeDiscussion(discussion_id="d1", changes={"preset": "coding-strict"}),
        ChangeDiscussion(discussion_id="d1", changes={"name": "x"}),
        ChangeDiscussion(discussion_id="nobody", changes={"provider": "openai", "model": "gpt-5.6"}),
        Quit(),
    ],
)
def test_what_changes_nothing_loses_nothing(command: Command) -> None:
    assert warm_loss(_rewriting(cache_states.caching()), command) is None


def test_a_cold_prefix_cannot_be_lost() -> None:
    assert warm_loss(cache_states.caching(now=states.NOW + timedelta(hours=1)), SWITCH) is None
    assert warm_loss(cache_states.caching(caches={}), SWITCH) is None


def test_a_discussion_whose_caching_is_off_has_nothing_to_lose() -> None:
    state = cache_states.caching()
    row = state.discussions.summaries["d1"]
    off = replace(row, meta=replace(row.meta, caching_enabled=False))

    assert (
        warm_loss(
            replace(
                state,
                discussions=replace(
                    state.discussions, summaries=with_entry(state.discussions.summaries, "d1", off)
                ),
            ),
            SWITCH,
        )
        is None
    )


def test_a_cent_is_not_worth_a_question_and_an_unknown_price_cannot_be_told() -> None:
    cheap = cached("d1", "anthropic", tokens_cached=1_999)
    assert warm_loss(cache_states.caching(caches={"d1": cheap}), SWITCH) is None
    dearer = cached("d1", "anthropic", tokens_cached=2_001)
    assert warm_loss(cache_states.caching(caches={"d1": dearer}), SWITCH) is not None
    report = replace(states.report(), cost_usd=None)
    nobody_knows = cache_states.caching(plans={}, reports={"d1": report})
    assert warm_loss(nobody_knows, SWITCH) is None


def test_without_a_plan_the_price_is_that_of_the_context_report() -> None:
    state = cache_states.caching(plans={})

    assert fresh_token_usd(state, "d1") == pytest.approx(0.031 / states.report().total_tokens_est)
    assert fresh_token_usd(replace(state, context=replace(state.context, reports={})), "d1") is None


def test_a_lifetime_that_the_provider_manages_is_not_counted_down() -> None:
    state = cache_states.caching(caches={"d1": cached("d1", "anthropic", expires_at=None)})

    loss = warm_loss(state, SWITCH)

    assert loss is not None
    assert "of this discussion. Changing the model" in loss.sentence
