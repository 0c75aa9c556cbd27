"""What the person makes of a preview, as data: kept with every change, found again, forgotten once it is done."""

from __future__ import annotations

from msgspec.structs import replace

from core.app.app_messages import Effect
from core.kernel.values.harvest import HarvestLook, HarvestPreview, HarvestReport, Review
from core.kernel.values.knowledge import Category
from core.kernel.values.settings import CachingSettings, Settings
from core.knowledge.harvest.harvest_messages import (
    ApplyHarvest,
    DiscardPreview,
    DistilConversations,
    EditHarvestItem,
    HarvestEnded,
    HarvestLooked,
    HarvestProposed,
    HarvestReported,
    LookForHarvest,
    MoveHarvestItem,
    PreviewHarvest,
    TickHarvestItems,
    WriteReview,
)
from core.knowledge.harvest.preview import FIRST_SCREEN, choices_of, chosen
from core.services.spending.spending_messages import SpentCounted
from tests.core.app.playbook import START, Playbook, of
from tests.core.knowledge.harvest.test_step import LOOK, ONE, TWO, harvest, looked, part, previewed, ready


def reviewed(book: Playbook) -> HarvestPreview:
    """One unticked, another with the person's words; what is shown now."""
    book.play(TickHarvestItems(("one-0",), is_ticked=False))
    book.play(EditHarvestItem("two-1", "Two said so."))
    shown = harvest(book).preview
    assert shown is not None
    return shown


def kept() -> Review:
    """What the disk holds of such a review."""
    return choices_of(reviewed(previewed()))


def restarted(review: Review) -> Playbook:
    book = ready()
    book.play(LookForHarvest())
    book.play(HarvestLooked(replace(LOOK, review=review)))
    return book


def writes(effects: tuple[Effect, ...]) -> tuple[WriteReview, ...]:
    return of(effects, WriteReview)


def test_every_tick_edit_and_move_goes_to_the_disk_with_all_that_was_done() -> None:
    book = previewed()
    for command in (
        TickHarvestItems(("one-0",), is_ticked=False),
        EditHarvestItem("one-1", "One said more."),
        MoveHarvestItem("two-0", Category.QUESTIONS),
    ):
        effects = book.play(command)
        assert effects == (WriteReview({}, harvest(book).preview),)


def test_what_changes_nothing_is_not_written() -> None:
    book = previewed()

    assert book.play(TickHarvestItems(("one-0",), is_ticked=True)) == ()
    assert book.play(EditHarvestItem("one-0", " ")) == ()
    assert book.play(MoveHarvestItem("nobody", Category.FACTS)) == ()


def test_a_home_that_is_read_only_is_left_alone() -> None:
    book = previewed()
    book.state = replace(book.state, program=replace(book.state.program, is_home_read_only=True))

    assert book.play(TickHarvestItems(("one-0",), is_ticked=False)) == ()
    assert book.play(DiscardPreview()) == ()


def test_after_a_restart_each_part_arrives_as_the_person_left_it() -> None:
    expected = reviewed(previewed())
    book = restarted(kept())

    book.play(PreviewHarvest())
    book.play(HarvestProposed(part("one")))
    first = harvest(book).preview
    book.play(HarvestProposed(part("two")))

    assert first is not None
    assert [one.is_ticked for one in first.items] == [False, True]
    assert harvest(book).preview == expected


def test_what_the_first_screen_does_not_show_waits_for_a_tick_in_whatever_part_it_arrives() -> None:
    book = previewed()
    shown = harvest(book).preview
    assert shown is not None
    assert len(shown.items) > FIRST_SCREEN
    assert [one.is_ticked for one in shown.items] == [at < FIRST_SCREEN for at in range(len(shown.items))]
    below = shown.items[FIRST_SCREEN].id
    book.play(TickHarvestItems((below,), is_ticked=True))
    write = chosen(harvest(book).preview or shown, TWO.facts, START)
    assert [one.is_confirmed for one in write] == [False, True]  # a person ticked the second


def test_an_item_that_a_person_words_anew_is_wanted() -> None:
    book = previewed()
    shown = harvest(book).preview
    assert shown is not None
    book.play(EditHarvestItem(shown.items[FIRST_SCREEN].id, "Said better."))
    now = harvest(book).preview
    assert now is not None
    assert now.items[FIRST_SCREEN].is_ticked


def test_what_is_not_shown_again_is_still_kept() -> None:
    """Only one of two conversations is gone on with."""
    review = kept()
    book = restarted(review)
    book.play(PreviewHarvest((ONE.facts.path,)))
    book.play(HarvestProposed(part("one")))
    book.play(HarvestEnded())

    (write,) = writes(book.play(TickHarvestItems(("one-0",), is_ticked=True)))
    assert write.review == review

    (write,) = writes(book.play(DiscardPreview()))
    assert write == WriteReview({key: one for key, one in review.items() if key.startswith("two-")}, None)


def test_only_the_first_look_tells_what_is_kept_later_ones_may_be_behind() -> None:
    book = restarted({})
    book.play(LookForHarvest())
    book.play(HarvestLooked(replace(LOOK, review=kept())))

    assert harvest(book).review == {}


def test_a_preview_that_is_made_again_in_the_same_window_keeps_what_was_done_to_it() -> None:
    book = previewed()
    shown = reviewed(book)

    book.play(PreviewHarvest())
    book.play(HarvestProposed(part("one")))
    book.play(HarvestProposed(part("two")))

    assert harvest(book).preview == shown


def test_discarding_forgets_it_and_a_new_preview_is_as_it_was_proposed() -> None:
    book = previewed()
    reviewed(book)

    effects = book.play(DiscardPreview())

    assert effects == (WriteReview({}, None),)
    book.play(PreviewHarvest())
    book.play(HarvestProposed(part("one")))
    assert harvest(book).preview == part("one")


def test_while_parts_arrive_nothing_is_discarded_and_nothing_written() -> None:
    book = restarted(kept())
    book.play(PreviewHarvest())
    book.play(HarvestProposed(part("one")))

    assert book.play(DiscardPreview()) == ()
    assert harvest(book).review == kept()


def test_a_finished_apply_forgets_what_it_wrote() -> None:
    book = restarted(kept())
    book.play(PreviewHarvest())
    book.play(HarvestProposed(part("one")))
    book.play(HarvestProposed(part("two")))
    book.play(HarvestEnded())
    book.play(ApplyHarvest())
    assert book.play(TickHarvestItems(("one-1",), is_ticked=False)) == ()

    report = HarvestReport(is_dry=False, reclaimed=("one", "two"))
    effects = book.play(HarvestReported(result=report, look=HarvestLook()))

    assert writes(effects) == (WriteReview({}, None),)
    assert harvest(book).review == {}


def test_what_an_apply_could_not_write_is_kept_also_when_the_run_went_on() -> None:
    book = previewed()
    shown = reviewed(book)
    book.play(ApplyHarvest())

    report = HarvestReport(is_dry=False, reclaimed=("one",))
    effects = book.play(HarvestReported(result=report, look=HarvestLook((TWO,))))

    left = {key: one for key, one in choices_of(shown).items() if key.startswith("two-")}
    assert left
    assert writes(effects) == (WriteReview(left, None),)


def test_an_apply_that_was_stopped_keeps_what_it_leaves_in_the_preview() -> None:
    book = previewed()
    reviewed(book)
    book.play(ApplyHarvest())

    report = HarvestReport(is_dry=False, reclaimed=("one",), stopped="The disk is full")
    (write,) = writes(book.play(HarvestReported(result=report, look=HarvestLook((TWO,)))))

    assert write.preview == harvest(book).preview
    assert write.preview is not None
    assert [one.item.head for one in write.preview.items] == ["two says 0.", "Two said so."]
    assert all(key.startswith("two-") for key in write.review)


def test_giving_up_conversations_leaves_the_reviews_of_others() -> None:
    book = restarted(kept())
    book.play(ApplyHarvest((ONE.facts.path,)))

    book.play(
        HarvestReported(result=HarvestReport(is_dry=False, reclaimed=("one",)), look=HarvestLook((TWO,)))
    )

    assert harvest(book).review == kept()


def test_what_was_read_and_paid_for_before_is_previewed_also_when_the_day_has_no_money() -> None:
    book = looked(Settings(caching=CachingSettings(day_limit_usd=2.0)))
    look = replace(harvest(book).look, kept=frozenset({ONE.facts.sha256}))
    book.play(HarvestLooked(look))
    book.play(SpentCounted(START, 2.0))

    assert of(book.play(PreviewHarvest((ONE.facts.path,))), DistilConversations)
