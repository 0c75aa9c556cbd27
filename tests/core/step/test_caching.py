"""Invalidate, disable and enable as data; and commands that front ends without a selection need."""

from __future__ import annotations

from dataclasses import replace

from core.values import commands as c
from core.values import effects as f
from core.values import events as e
from core.values.discussion import DiscussionMeta, DiscussionSummary, OpenDiscussion
from core.values.provider import KeySource, ProviderKind, ProviderStatus
from tests.core.step.playbook import Playbook, of


def test_an_invalidation_counts_the_epoch_and_salts_the_next_request() -> None:
    play = Playbook().ready()
    chosen = play.discussion()
    assert play.ask(chosen, "one").spec.inputs.epoch == 0
    play.later(1)

    (write,) = of(play.play(c.InvalidateCache(chosen)), f.WriteMeta)
    play.play(c.InvalidateCache(chosen))

    assert write.meta.cache_epoch == 1
    assert play.state.summaries[chosen].meta.cache_epoch == 2
    other = play.discussion()
    assert play.ask(other, "two").spec.inputs.epoch == 0


def test_the_stack_is_assembled_anew_with_the_epoch() -> None:
    play = Playbook().ready()
    chosen = play.discussion()

    (assembled,) = of(play.play(c.InvalidateCache(chosen)), f.AssembleContext)

    assert assembled.spec.inputs.epoch == 1


def test_caching_is_switched_off_and_on_for_one_discussion_and_kept() -> None:
    play = Playbook().ready()
    chosen, other = play.discussion("a"), play.discussion("b")

    (off,) = of(play.play(c.DisableCaching(chosen)), f.WriteMeta)
    assert (off.meta.caching_enabled, play.state.summaries[other].meta.caching_enabled) == (False, True)
    assert of(play.play(c.DisableCaching(chosen)), f.WriteMeta) == ()

    (on,) = of(play.play(c.EnableCaching(chosen)), f.WriteMeta)
    assert on.meta.caching_enabled


def test_what_a_provider_cannot_do_is_said_and_not_pretended() -> None:
    play = Playbook().ready()
    chosen = play.discussion()
    old = ProviderStatus("old", ProviderKind.OPENAI, "OpenAI", KeySource.KEYRING)
    play.state = replace(play.state, providers={**play.state.providers, "old": old})
    play.play(c.SetModel(chosen, "old", "gpt-5.5"))

    assert of(play.play(c.DisableCaching(chosen)), f.WriteMeta) == ()
    assert play.state.summaries[chosen].meta.caching_enabled
    assert [n.id for n in play.state.notices] == [f"caching/{chosen}"]


def test_commands_for_a_discussion_that_is_not_there_change_nothing() -> None:
    play = Playbook().ready()
    before = play.state
    for command in (
        c.InvalidateCache("no"),
        c.DisableCaching("no"),
        c.EnableCaching("no"),
        c.ReadDiscussion("no"),
        c.MeasureContext("no"),
    ):
        assert play.play(command) == ()
    assert play.state == before


def test_a_log_is_read_and_measured_without_being_shown() -> None:
    play = Playbook().ready()
    shown = play.discussion("shown")
    hidden = "20261119-090000-hidden"
    row = DiscussionSummary(DiscussionMeta(hidden, "hidden", play.at, "embedded", "smollm2-135m"), play.at)
    play.play(e.SummariesLoaded((row,), is_complete=False))
    assert of(play.play(c.MeasureContext(hidden)), f.AssembleContext) == ()

    (load,) = of(play.play(c.ReadDiscussion(hidden)), f.LoadDiscussion)
    play.play(e.DiscussionLoaded(OpenDiscussion(hidden)))

    assert load.discussion_id == hidden
    assert of(play.play(c.ReadDiscussion(hidden)), f.LoadDiscussion) == ()
    (assemble,) = of(play.play(c.MeasureContext(hidden)), f.AssembleContext)
    assert assemble.spec.discussion_id == hidden
    assert play.state.selected_id == shown


def test_a_front_end_may_name_the_discussion_that_it_makes_unless_the_name_is_taken() -> None:
    play = Playbook().ready()
    wanted = "20261120-120000-abcdef"

    (create,) = of(play.play(c.CreateDiscussion("a", id=wanted)), f.CreateOnDisk)
    assert create.meta.id == wanted
    play.play(e.DiscussionCreated(DiscussionSummary(create.meta, play.at), OpenDiscussion(wanted)))

    for taken in (wanted, "../up", "x"):
        (again,) = of(play.play(c.CreateDiscussion("b", id=taken)), f.CreateOnDisk)
        assert again.meta.id not in {wanted, taken}


def test_a_preset_can_be_made_without_being_used() -> None:
    play = Playbook().ready()
    chosen = play.discussion()

    play.play(c.CreatePreset("core", is_used=False))
    assert play.state.summaries[chosen].meta.preset == ""
    play.play(c.CreatePreset("more"))
    assert play.state.summaries[chosen].meta.preset == "more"
