"""One dead server among the providers: nothing else fails for it, and nobody waits for it."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tests.core.front.cli.conftest import World
from tests.vendors.anthropic_server import AnthropicServer
from tests.vendors.compatible_server import MODEL


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A server that takes every connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def add_server(world: World, name: str, port: int) -> None:
    text = f'[providers.{name}]\nkind = "compatible"\nbase_url = "http://127.0.0.1:{port}/v1"\n'
    world.config.write_text(world.config.read_text() + text)


def was_asked(server: socket.socket) -> bool:
    try:
        server.accept()[0].close()
    except BlockingIOError:
        return False
    return True


@pytest.mark.parametrize(
    "command", [("send", "Hello"), ("context",), ("presets",), ("discussions",), ("models",)]
)
def test_a_command_asks_no_server_that_it_does_not_need(
    world: World, silent: socket.socket, command: tuple[str, ...]
) -> None:
    add_server(world, "other", silent.getsockname()[1])
    ended = world.run(*command)

    assert ended.code == 0, ended.err
    assert ended.out
    assert "other" not in ended.err
    assert not was_asked(silent)


def test_a_list_that_was_asked_for_is_of_every_server_that_answers(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    add_server(world, "aaa_gone", port)
    ended = world.run("models", "--refresh")

    assert MODEL in ended.out
    assert "aaa_gone: aaa_gone cannot be reached" in ended.err


def without_model(world: World) -> None:
    world.config.write_text(world.config.read_text().replace(f'model = "{MODEL}"\n', ""))


@pytest.mark.slow
@pytest.mark.parametrize("named", ["", 'model = ""\n', 'model = "  "\n'])
def test_a_server_without_a_model_in_the_settings_answers_with_its_first_whoever_else_has_a_key(
    world: World, named: str
) -> None:
    without_model(world)
    world.config.write_text(world.config.read_text() + named)
    with AnthropicServer() as vendor:
        ended = world.run("send", "Hello", "--json", ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=vendor.url)

    assert ended.code == 0, ended.err
    assert vendor.bodies == []
    assert ended.json["reply"]["model"] == MODEL
    assert [body["model"] for body in world.server.bodies] == [MODEL]
    assert world.run("discussions", "--json").json[0]["model"] == MODEL


def test_words_to_a_server_that_is_not_there_are_kept_and_go_to_its_first_model_once_it_is(
    world: World,
) -> None:
    without_model(world)
    address = world.config.read_text()
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    world.config.write_text(address.replace(world.server.url, f"http://127.0.0.1:{port}"))
    failed = world.run("send", "Hello")
    assert failed.code == 1
    assert "cannot be reached" in failed.err
    assert "The program keeps your message" in failed.err

    world.config.write_text(address)
    again = world.run("send", "--retry", "--discussion", "last", "--json")

    assert again.code == 0, again.err
    assert again.json["reply"]["model"] == MODEL
