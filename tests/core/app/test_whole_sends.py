"""The whole program without a window: what waits in a queue, and what is attached."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.app.execution import act
from core.kernel.errors import SlopError
from core.talk.discussion.discussion_messages import AttachFile, ChangeDiscussion, ReadDiscussion
from core.talk.turn.turn_messages import SendQueued
from tests.command_forks import FORKS
from tests.core.app.programs import until
from tests.core.app.test_whole import CHILD, World, ask, texts
from tests.pdfs import encrypted_pdf, make_pdf
from tests.vendors.compatible_server import VLLM, CompatibleServer, Said
from tests.vendors.loopback import Gate, HoldAfter


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    with CompatibleServer(VLLM) as server:
        world = World(tmp_path, server)
        yield world
        world.stop()


QUEUEING_CHILD = CHILD.replace(
    "print(chosen",
    """controller.send(SendPrompt(chosen, "And at night?", may_queue=True))
controller.wait_for(lambda s: bool(s.discussions.open[chosen].queue), 30)
print(chosen""",
)


@pytest.mark.slow
def test_a_queue_survives_a_kill_and_sends_nothing_until_the_person_says_so(world: World) -> None:
    world.server.replies.extend([Said("It turns every six hours, " * 40), Said("Just so.")])
    gate = Gate()
    world.server.faults.append(HoldAfter(27, gate))
    child = FORKS.program(QUEUEING_CHILD, world.home, world.project)
    chosen = child.line()
    assert chosen
    child.kill()
    child.communicate()
    gate.open()

    first = world.start()
    state = until(first, lambda s: chosen in s.discussions.open)
    assert [prompt.text for prompt in state.discussions.open[chosen].queue] == ["And at night?"]
    assert state.discussions.open[chosen].queue_hold
    assert len(world.server.bodies) == 1

    second = world.start(owns_home=False)
    second.send(ReadDiscussion(chosen))
    until(second, lambda s: chosen in s.discussions.open)
    for controller in (first, second):
        controller.send(SendQueued(chosen))
    for controller in (first, second):
        until(
            controller,
            lambda s: chosen not in s.turns.calls and not s.discussions.open[chosen].queue,
        )
    until(first, lambda s: texts(s, chosen)[-1:] == ["Just so."] or not s.discussions.open[chosen].queue)
    assert [body["messages"][-1]["content"].count("And at night?") for body in world.server.bodies] == [0, 1]


def test_a_pdf_goes_as_its_text_and_the_same_bytes_every_turn(world: World, tmp_path: Path) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    source = tmp_path / "tides.pdf"
    source.write_bytes(make_pdf("Tides turn every six hours", "And twelve minutes"))
    act(controller, AttachFile(chosen, str(source)))
    (part,) = controller.snapshot().discussions.open[chosen].draft.attachments
    assert part.pages == 2

    ask(controller, chosen, "When?")
    controller.stop()
    second = world.start()
    second.send(ReadDiscussion(chosen))
    until(second, lambda s: chosen in s.discussions.open)
    ask(second, chosen, "And then?")

    one, two = (json.dumps(body["messages"]) for body in world.server.bodies)
    assert "[Page 2]\\nAnd twelve minutes" in one
    begin = one.index("<attachment")
    assert one[begin : one.index("</attachment>")] in two
    assert "%PDF" not in one + two


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (encrypted_pdf("secret"), "asks for a password"),
        (b"PK\x03\x04\0\xff", "the file is damaged"),
        (b"\x7fELF\0", "No provider takes"),
    ],
)
def test_what_nobody_takes_is_refused_at_the_door_and_words_go_on_being_saved(
    world: World, tmp_path: Path, data: bytes, why: str
) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    source = tmp_path / "report"
    source.write_bytes(data)

    with pytest.raises(SlopError, match=why):
        act(controller, AttachFile(chosen, str(source)))

    act(controller, ChangeDiscussion(discussion_id=chosen, changes={"name": "Tides"}))
    assert controller.snapshot().discussions.open[chosen].draft.attachments == ()
    assert any(why in notice.text for notice in controller.snapshot().program.notices)
