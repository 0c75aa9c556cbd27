"""The dialog of forgetting as a person meets it: what goes, that nothing brings it back, the receipt."""

from __future__ import annotations

from msgspec.structs import replace

from core.app.forgetting.forgetting_messages import DismissReceipt, ForgetDiscussion, ForgetItem, LookAtForget
from core.app.forgetting.forgetting_places import CANNOT, DELETE_SAYS, FORGET_SAYS, receipt_text
from core.kernel.values.knowledge import (
    Category,
    ForgetPreview,
    ForgetReceipt,
    ForgetTarget,
    ForgettingState,
    Item,
    PlaceReport,
)
from core.kernel.values.state import TrashItem
from core.knowledge.knowledge_messages import DeleteKnowledgeItem
from panels.base.view import Dialog
from panels.discussion.view import DiscussionView, FindView, Landing
from tests.panels import states
from tests.panels.screen import Screen

CHOSEN = states.working().discussions.selected_id
ITEM = Item(Category.FACTS, "facts.md", "Tides follow the moon.", None, "", 3, 3)


def screen(forgetting: ForgettingState | None = None, dialog: Dialog | None = None) -> Screen:
    state = replace(states.working(), forgetting=forgetting or ForgettingState())
    made = Screen(state)
    made.view.dialog = dialog
    made.ui.settle()
    return made


def test_a_conversation_is_forgotten_after_a_question_that_says_it_cannot_be_undone() -> None:
    made = screen(dialog=Dialog("forget", command=ForgetDiscussion(CHOSEN)))

    assert made.ui.shows("You cannot undo this")
    made.ui.click("Forget")
    assert made.asked == [LookAtForget(CHOSEN), ForgetDiscussion(CHOSEN, is_confirmed=True)]


def test_a_quote_that_is_looked_for_leaves_the_window_with_what_is_forgotten() -> None:
    made = screen(dialog=Dialog("forget", command=ForgetItem(ITEM)))
    own = made.view.of(DiscussionView)
    own.find, own.landing = FindView(is_open=True, query="the moon"), Landing(CHOSEN, "m", "the moon")

    made.ui.click("Forget")

    assert [own.find, own.landing] == [FindView(), None]


def test_cancel_forgets_nothing() -> None:
    made = screen(dialog=Dialog("forget", command=ForgetItem(ITEM)))

    assert made.ui.shows("Tides follow the moon.")
    made.ui.click("Cancel")
    assert (made.asked, made.view.dialog) == ([LookAtForget(item=ITEM)], None)


def test_before_the_deed_it_tells_what_goes_and_where_words_stay() -> None:
    preview = ForgetPreview(ForgetTarget((CHOSEN,)), 6, 5, holders=("x",))
    trash = (TrashItem("x", "Tides", states.NOW, "deleted", "/home/person/trash/x"),)
    state = replace(states.working(), forgetting=ForgettingState(preview=preview))
    made = Screen(replace(state, discussions=replace(state.discussions, trash=trash)))
    made.view.dialog = Dialog("forget", command=ForgetDiscussion(CHOSEN))
    made.ui.settle()

    assert made.ui.shows("The program also deletes 6 items and 5 structured facts.")
    assert made.ui.shows("Some of the words also stay in the conversation: Tides (in the trash).")


def test_what_is_looked_at_for_another_is_not_shown() -> None:
    made = screen(
        ForgettingState(preview=ForgetPreview(ForgetTarget(("other",)), 6, 5)),
        Dialog("forget", command=ForgetDiscussion(CHOSEN)),
    )

    assert not made.ui.shows("6 items")
    assert made.ui.shows("Looking for everything to forget…")


def test_delete_and_forget_of_an_item_tell_their_difference() -> None:
    made = screen(dialog=Dialog("delete_item", command=DeleteKnowledgeItem(ITEM)))

    assert made.ui.shows(DELETE_SAYS)
    assert made.ui.shows(FORGET_SAYS)


def test_a_conversation_in_the_trash_is_forgotten_from_its_row() -> None:
    trash = (TrashItem("x", "Tides", states.NOW, "deleted", "/home/person/trash/x"),)
    state = states.working()
    made = Screen(replace(state, discussions=replace(state.discussions, trash=trash)))
    made.view.of(DiscussionView).is_trash_open = True
    made.ui.settle()
    made.ui.click("Forget Tides…")

    assert made.view.dialog is not None
    assert made.view.dialog.command == ForgetDiscussion("x")


def test_branches_are_asked_about_and_go_only_when_ticked() -> None:
    state = states.working()
    row = state.discussions.summaries[CHOSEN]
    branch = replace(row, meta=replace(row.meta, id="20260101-000000-bbbbbb", parent_id=CHOSEN))
    rows = {**state.discussions.summaries, branch.meta.id: branch}
    made = Screen(replace(state, discussions=replace(state.discussions, summaries=rows)))
    made.view.dialog = Dialog("forget", command=ForgetDiscussion(CHOSEN))
    made.ui.settle()
    made.ui.click("Also forget its branches: 3 branches that begin with its messages")
    made.ui.click("Forget")

    assert made.asked == [
        LookAtForget(CHOSEN),
        LookAtForget(CHOSEN, with_branches=True),
        ForgetDiscussion(CHOSEN, with_branches=True, is_confirmed=True),
    ]


def test_the_receipt_says_what_went_what_may_be_left_and_what_cannot_be_reached() -> None:
    places = (
        PlaceReport("items", 3, "read again"),
        PlaceReport("catalog", 0, "", "another program uses the file"),
    )
    receipt = ForgetReceipt("i", "2026-11-23T00:00:00Z", ("d",), items=3, places=places, holders=("x",))
    made = screen(ForgettingState(receipt=receipt), Dialog("forget", at=1))

    for words in (
        "Forgotten: 1 conversation, 3 items",
        "3 items in category files and notes",
        "The list of conversations and its search index: another program uses the file",
        CANNOT[0],
        "x",
    ):
        assert made.ui.shows(words), words
    made.ui.click("Copy receipt")
    assert made.ui.copied == [receipt_text(receipt, {"x": "x"})]
    made.ui.click("Close")
    assert (made.asked, made.view.dialog) == ([DismissReceipt()], None)


def test_while_it_runs_the_dialog_says_so() -> None:
    made = screen(ForgettingState(ForgetTarget(("d",))), Dialog("forget", at=1))

    assert made.ui.shows("Searching every place…")
