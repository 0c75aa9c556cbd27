"""Messages over HTTP: sent, waited for, followed as events, cancelled; failures told, words kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from core.kernel.errors import StorageError
from core.kernel.values.messages import Status
from core.talk.discussion.discussion_messages import SelectDiscussion
from tests.core.front.hooks.conftest import AS_PERSON, World, events
from tests.vendors.compatible_server import Said
from tests.vendors.loopback import DropAfter, Gate, HangUp, HoldAfter


def test_a_message_is_sent_and_the_answer_waited_for(running: World) -> None:
    chosen = running.discussion()
    running.server.replies.append(Said("Every six hours.", reasoning="The moon."))

    answer = running.client.post(f"/api/discussions/{chosen}/messages", {"text": "When?", "wait": True})

    assert answer.status_code == 200
    found = answer.json()
    assert found["reply"]["text"] == "Every six hours."
    assert found["reply"]["reasoning"] == "The moon."
    assert found["is_stopped"] is False
    assert running.texts(chosen) == ["When?", "Every six hours."]
    prompt = running.client.get(f"/api/discussions/{chosen}/messages").json()["messages"][0]
    assert prompt["id"] == found["message_id"]


def test_half_a_reply_is_answered_with_why_it_is_none(running: World) -> None:
    chosen = running.discussion()
    running.server.replies += [Said("Half of", finish="length"), Said("Half of", finish="a_word_of_tomorrow")]
    path = f"/api/discussions/{chosen}/messages"

    cut = running.client.post(path, {"text": "When?", "wait": True}).json()
    told = events(running.client.post(path, {"text": "When?"}, Accept="text/event-stream").text)[-1]

    assert (cut["reply"]["text"], cut["reply"]["status"], cut["is_stopped"]) == ("Half of", "partial", True)
    assert cut["failure"]["code"] == "cut_off"
    assert "(length)" in cut["failure"]["message"]
    assert (told[0], told[1]["failure"]["code"]) == ("done", "unknown_end")


def test_a_message_is_sent_and_answered_at_once_when_it_is_on_disk(running: World) -> None:
    chosen = running.discussion()
    gate = Gate()
    running.server.faults.append(HoldAfter(0, gate))

    answer = running.client.post(f"/api/discussions/{chosen}/messages", {"text": "When?\r\n\u0000Now"})

    assert answer.status_code == 202
    log = (running.home / "discussions" / chosen / "log.jsonl").read_text(encoding="utf-8")
    assert "When?\\nNow" in log
    found = running.client.get(f"/api/discussions/{chosen}/messages").json()
    assert found["messages"][0]["text"] == "When?\nNow"
    assert found["call"]["message_id"] == answer.json()["message_id"]
    gate.open()
    running.until(lambda s: not s.turns.calls)


def test_a_reply_comes_as_events(running: World) -> None:
    chosen = running.discussion()
    running.server.replies.append(Said("It turns every six hours.", reasoning="Moon."))

    answer = running.client.post(
        f"/api/discussions/{chosen}/messages", {"text": "When?"}, Accept="text/event-stream"
    )

    assert answer.headers["content-type"].startswith("text/event-stream")
    found = events(answer.text)
    names = [name for name, _ in found]
    assert names[0] == "accepted"
    assert names[-1] == "done"
    assert "".join(data["text"] for name, data in found if name == "text") == "It turns every six hours."
    assert "".join(data["text"] for name, data in found if name == "reasoning") == "Moon."
    assert found[-1][1]["reply"]["text"] == "It turns every six hours."


@contextmanager
def held_events(running: World, chosen: str, gate: Gate) -> Iterator[Iterator[str]]:
    """Lines of the events of a message whose reply waits at the gate in its middle."""
    running.server.replies.append(Said("It turns every six hours."))
    running.server.faults.append(HoldAfter(6, gate))
    path = f"/api/discussions/{chosen}/messages"
    headers = {"Accept": "text/event-stream"}
    with running.client.http.stream("POST", path, json={"text": "When?"}, headers=headers) as answer:
        yield answer.iter_lines()


def test_events_come_while_the_reply_does(running: World) -> None:
    chosen, gate = running.discussion(), Gate()
    with held_events(running, chosen, gate) as lines:
        while not next(lines).startswith("event: text"):
            pass
        assert chosen in running.state.turns.calls
        gate.open()
        assert any(line == "event: done" for line in lines)


def test_a_reader_of_events_that_leaves_does_not_stop_the_reply(running: World) -> None:
    chosen, gate = running.discussion(), Gate()
    with held_events(running, chosen, gate) as lines:
        next(lines)
    gate.open()

    state = running.until(lambda s: not s.turns.calls)
    assert state.discussions.open[chosen].messages[-1].status is Status.COMPLETE


def test_a_failed_provider_is_answered_with_its_reason_and_the_words_are_kept(running: World) -> None:
    chosen = running.discussion()
    running.model(chosen, "local", "none-such")

    answer = running.client.post(f"/api/discussions/{chosen}/messages", {"text": "When?", "wait": True})

    assert answer.status_code == 502
    assert answer.json()["error"]["code"] == "unknown_model"
    assert running.texts(chosen) == ["When?"]


def test_a_failed_provider_ends_the_events_with_an_error(running: World) -> None:
    chosen = running.discussion()
    running.server.faults.append(DropAfter(4))

    answer = running.client.post(
        f"/api/discussions/{chosen}/messages", {"text": "When?"}, Accept="text/event-stream"
    )

    assert events(answer.text)[-1][0] == "error"
    assert events(answer.text)[-1][1]["code"] == "stream_dropped"


def test_a_second_message_while_a_reply_comes_is_refused_and_the_first_goes_on(running: World) -> None:
    chosen = running.discussion()
    gate = Gate()
    running.server.faults.append(HoldAfter(2, gate))
    path = f"/api/discussions/{chosen}/messages"
    assert running.client.post(path, {"text": "one"}).status_code == 202

    refused = running.client.post(path, {"text": "two"})

    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "busy")
    gate.open()
    running.until(lambda s: not s.turns.calls)
    assert running.texts(chosen)[0] == "one"
    assert "two" not in running.texts(chosen)


def test_of_messages_sent_at_the_same_time_one_is_taken_and_the_others_are_told(running: World) -> None:
    chosen = running.discussion()
    gate = Gate()
    running.server.faults.append(HoldAfter(2, gate))
    statuses: list[int] = []

    def send(number: int) -> None:
        path = f"/api/discussions/{chosen}/messages"
        statuses.append(running.client.post(path, {"text": f"text {number}"}).status_code)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gate.open()

    assert sorted(statuses) == [202, 409, 409, 409, 409]
    running.until(lambda s: not s.turns.calls)


def test_words_that_cannot_be_written_are_not_said_to_be(
    running: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.talk.discussion import log

    chosen = running.discussion()

    def full(*_args: object, **_kwargs: object) -> None:
        raise StorageError("No space is left on the disk", remedy="Free some space", errno=28)

    monkeypatch.setattr(log, "append", full)
    answer = running.client.post(f"/api/discussions/{chosen}/messages", {"text": "When?"})

    assert answer.status_code == 500
    assert "No space" in answer.json()["error"]["message"]
    assert running.server.bodies == []


def test_cancel_stops_the_reply_and_keeps_what_came(running: World) -> None:
    chosen = running.discussion()
    running.server.replies.append(Said("It turns every six hours."))
    gate = Gate()
    running.server.faults.append(HoldAfter(6, gate))
    running.client.post(f"/api/discussions/{chosen}/messages", {"text": "When?"})
    running.until(lambda s: bool(s.turns.calls[chosen].text))

    answer = running.client.post(f"/api/discussions/{chosen}/cancel")

    assert answer.json() == {"discussion_id": chosen, "is_stopped": True}
    assert running.state.discussions.open[chosen].messages[-1].status is Status.INTERRUPTED
    gate.open()
    again = running.client.post(f"/api/discussions/{chosen}/cancel")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "nothing_runs")


def test_who_waits_is_told_that_the_reply_was_stopped(running: World) -> None:
    chosen = running.discussion()
    running.server.replies.append(Said("It turns every six hours."))
    gate = Gate()
    running.server.faults.append(HoldAfter(6, gate))
    answers: list[Any] = []
    path = f"/api/discussions/{chosen}/messages"
    waiting = threading.Thread(
        target=lambda: answers.append(running.client.post(path, {"text": "When?", "wait": True}))
    )
    waiting.start()
    running.until(lambda s: chosen in s.turns.calls and bool(s.turns.calls[chosen].text))

    running.client.post(f"/api/discussions/{chosen}/cancel")
    waiting.join()
    gate.open()

    assert answers[0].json()["is_stopped"] is True
    assert answers[0].json()["reply"]["status"] == "interrupted"


def test_messages_of_a_discussion_that_is_not_shown_are_read_and_the_shown_one_stays(world: World) -> None:
    world.start()
    first, second = world.discussion("first"), world.discussion("second")
    world.client.post(f"/api/discussions/{first}/messages", {"text": "When?", "wait": True})
    world.stop()
    world.start()
    world.until(lambda s: second in s.discussions.open)
    world.controller.send(SelectDiscussion(second))
    world.until(lambda s: s.discussions.selected_id == second)

    assert world.texts(first)[0] == "When?"
    assert world.state.discussions.selected_id == second


def test_a_server_that_is_gone_is_waited_for_and_said_as_events(running: World) -> None:
    chosen = running.discussion()
    running.server.faults.append(HangUp())

    answer = running.client.post(
        f"/api/discussions/{chosen}/messages", {"text": "When?"}, Accept="text/event-stream"
    )

    names = [name for name, _ in events(answer.text)]
    assert "retrying" in names
    assert names[-1] == "done"


def test_at_a_spend_limit_nothing_is_sent_unless_the_request_says_so(world: World) -> None:
    with world.config.open("a", encoding="utf-8") as config:
        config.write("spend_limit_usd = 0\n")
    world.start()
    chosen = world.discussion()
    path = f"/api/discussions/{chosen}/messages"

    refused = world.client.post(path, {"text": "When?", "wait": True})
    asked = world.client.post(
        "/api/ui", {"panel": "composer", "action": "send_prompt", "discussion_id": chosen, "text": "When?"}
    )
    assert [refused.status_code, asked.status_code] == [409, 409]
    assert refused.json()["error"]["code"] == asked.json()["error"]["code"] == "spend_limit"
    assert "$0.00 for this discussion" in refused.json()["error"]["message"]
    assert world.texts(chosen) == []

    assert (
        world.state.discussions.open[chosen].refusal is None
    )  # the window is not asked what this request was told

    past = {"text": "When?", "wait": True, "over_limit": True}
    assert world.client.post(path, past).json()["error"]["code"] == "needs_person"
    assert world.texts(chosen) == []
    sent = world.client.post(path, past, **AS_PERSON)
    assert sent.status_code == 200
    assert world.texts(chosen)[0] == "When?"

    again = {"panel": "conversation", "action": "regenerate_reply", "discussion_id": chosen}
    assert world.client.post("/api/ui", again).json()["error"]["code"] == "spend_limit"
    assert world.client.post("/api/ui", {**again, "over_limit": True}).status_code == 403
    assert world.client.post("/api/ui", {**again, "over_limit": True}, **AS_PERSON).status_code == 202
    world.until(lambda s: chosen not in s.turns.calls)
    assert world.texts(chosen)[0] == "When?"


def test_a_message_waits_for_the_reply_under_way_when_it_is_asked_to(running: World) -> None:
    chosen = running.discussion()
    path = f"/api/discussions/{chosen}/messages"
    gate = Gate()
    running.server.replies.extend([Said("One."), Said("Two.")])
    running.server.faults.append(HoldAfter(0, gate))
    running.client.post(path, {"text": "first"})
    assert running.client.post(path, {"text": "second"}).json()["error"]["code"] == "busy"

    queued = running.client.post(path, {"text": "second", "queue": True}).json()

    assert queued["is_queued"] is True
    found = running.client.get(path).json()
    assert [(one["id"], one["text"]) for one in found["queue"]] == [(queued["message_id"], "second")]
    assert found["queue_hold"] == ""
    gate.open()
    running.until(lambda s: len(s.discussions.open[chosen].messages) == 4)
    assert running.texts(chosen) == ["first", "One.", "second", "Two."]


def test_who_waits_for_a_queued_message_gets_its_own_reply(running: World) -> None:
    chosen = running.discussion()
    path = f"/api/discussions/{chosen}/messages"
    gate = Gate()
    running.server.replies.extend([Said("One."), Said("Two.")])
    running.server.faults.append(HoldAfter(2, gate))
    running.client.post(path, {"text": "first"})

    def open_once_queued() -> None:
        running.until(lambda s: bool(s.discussions.open[chosen].queue))
        gate.open()

    opener = threading.Thread(target=open_once_queued)
    opener.start()

    answer = running.client.post(path, {"text": "second", "queue": True}, Accept="text/event-stream")

    opener.join()
    found = events(answer.text)
    assert found[0][1]["is_queued"] is True
    assert "".join(data["text"] for name, data in found if name == "text") == "Two."
    assert found[-1][1]["reply"]["text"] == "Two."


def test_who_waits_for_a_queued_message_is_told_that_it_is_held_and_it_can_be_taken_back(
    running: World,
) -> None:
    chosen = running.discussion()
    path = f"/api/discussions/{chosen}/messages"
    gate = Gate()
    running.server.replies.append(Said("One."))
    running.server.faults.append(HoldAfter(2, gate))
    running.client.post(path, {"text": "first"})
    running.until(lambda s: chosen in s.turns.calls and s.turns.calls[chosen].text != "")
    queued = running.client.post(path, {"text": "second", "queue": True}).json()
    running.client.post(f"/api/discussions/{chosen}/cancel")
    gate.open()

    found = running.client.get(path).json()
    assert "stopped" in found["queue_hold"]
    taken = {"panel": "composer", "action": "take_back_queued", "discussion_id": chosen}
    running.client.post("/api/ui", {**taken, "prompt_id": queued["message_id"]})
    state = running.until(lambda s: not s.discussions.open[chosen].queue)
    assert state.discussions.open[chosen].draft.text == "second"
