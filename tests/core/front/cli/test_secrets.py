"""`secrets`: tells places and kinds, cleans after a yes, offers to forget, and prints no secret."""

from __future__ import annotations

import pytest

from core.kernel import paths
from tests.core.app.forgetting.day import traces
from tests.core.app.forgetting.test_secrets import secret_of
from tests.core.front.cli.conftest import World
from tests.vendors.compatible_server import Said

KEY = secret_of(21)


def test_a_home_without_secrets_ends_with_nought(world: World) -> None:
    world.home.mkdir()
    ended = world.run("secrets")

    assert (ended.code, ended.out.startswith("The program found no secret")) == (0, True)


@pytest.mark.slow
def test_places_are_told_then_cleaned_after_a_yes_and_the_conversation_is_forgotten(world: World) -> None:
    world.server.replies.append(Said("Noted."))
    chosen = str(world.run("send", "--json", f"Keep {KEY} for me").json["discussion"])
    facts = paths.knowledge_dir(world.home) / "facts.md"
    facts.parent.mkdir(exist_ok=True)
    facts.write_text(f"# Facts\n\n- The key is {KEY}.\n")
    outs = [world.run("secrets"), world.run("secrets", "--json"), world.run("secrets", "--clean")]

    assert [one.code for one in outs] == [1, 1, 2]
    assert "knowledge/facts.md:3: key or token of a service" in outs[0].out
    assert f"  manual-slop forget {chosen}\n" in outs[0].out
    assert outs[1].json["files"] > 1
    assert outs[1].json["forget"] == [f"manual-slop forget {chosen}"]
    assert KEY in facts.read_text()

    outs.append(world.run("secrets", "--clean", given=b"y\nn\n", types=True))
    assert KEY in facts.read_text()
    outs.append(world.run("secrets", "--clean", given=b"clean\nn\n", types=True))
    assert (outs[-1].code, facts.read_text()) == (1, "# Facts\n\n- The key is [secret].\n")
    outs.append(world.run("secrets", "--clean", "--yes"))
    assert f"manual-slop forget {chosen}" in outs[-1].out
    outs.append(world.run("secrets", "--clean", given=b"forget\n", types=True))
    assert (outs[-1].code, traces(world.home, KEY.lower())) == (0, [])
    assert all(KEY[:10] not in one.out + one.err for one in outs)
